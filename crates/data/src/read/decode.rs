//! Decodes text in other encodings than UTF-8 into UTF-8 while it is read.
//!
//! UTF-16 is recognised by its byte order mark, or because every other byte is 0, as in text of European languages.
//! Bytes that are not UTF-8 are read as Windows-1252, which includes Latin-1 and has a letter for every byte. But if
//! most non-ASCII letters are UTF-8, the text is damaged and is refused.

use std::io::{self, Read};

use super::Encoding;

/// The characters of the bytes 80 to 9F in Windows-1252; unassigned bytes are control characters.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}', '\u{90}', '‘', '’',
    '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

/// Returns the encoding of a text, judging by its first bytes, if it is not UTF-8.
pub(super) fn seen(head: &[u8]) -> Option<Encoding> {
    if head.starts_with(b"\xff\xfe") {
        return Some(Encoding::Utf16Le);
    }
    if head.starts_with(b"\xfe\xff") {
        return Some(Encoding::Utf16Be);
    }
    let pairs = head.as_chunks::<2>().0;
    let zeros = |place: usize| pairs.iter().filter(|pair| pair[place] == 0).count() * 10;
    let most = pairs.len() * 8;
    if pairs.len() < 2 {
        None
    } else if zeros(1) >= most && zeros(0) == 0 {
        Some(Encoding::Utf16Le)
    } else if zeros(0) >= most && zeros(1) == 0 {
        Some(Encoding::Utf16Be)
    } else {
        None
    }
}

/// Returns the evidence that a text is UTF-32, which is not supported: its byte order mark, or zeros in three of every
/// four bytes.
///
/// Call this before looking for UTF-16: the byte order mark of little-endian UTF-32 begins with the bytes of the UTF-16
/// mark.
pub(super) fn utf32(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"\xff\xfe\0\0") {
        return Some("FF FE 00 00, the byte order mark of UTF-32");
    }
    if head.starts_with(b"\0\0\xfe\xff") {
        return Some("00 00 FE FF, the byte order mark of UTF-32");
    }
    let letters = head.as_chunks::<4>().0;
    let is_ascii =
        |at: usize| letters.iter().all(|four| four[at] != 0 && (0..4).all(|place| place == at || four[place] == 0));
    (letters.len() > 1 && (is_ascii(0) || is_ascii(3))).then_some("three zero bytes of four, as UTF-32 has")
}

/// Counts that show whether text is mostly UTF-8, that is, whether it has more non-ASCII letters in UTF-8 than invalid
/// bytes.
#[derive(Debug, Default)]
pub(super) struct Census {
    letters: usize,
    others: usize,
    /// The start of a letter that is not complete yet.
    rest: Vec<u8>,
}

impl Census {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut self.rest);
        let mut bytes = &bytes[..];
        loop {
            let (text, error) = match std::str::from_utf8(bytes) {
                Ok(text) => (text, None),
                Err(error) => (std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(), Some(error)),
            };
            self.letters += text.chars().filter(|letter| !letter.is_ascii()).count();
            match error.map(|error| (error.valid_up_to(), error.error_len())) {
                None => return,
                Some((end, None)) => {
                    self.rest = bytes[end..].to_vec();
                    return;
                }
                Some((end, Some(length))) => {
                    self.others += 1;
                    bytes = &bytes[end + length..];
                }
            }
        }
    }

    pub(super) fn is_utf8(&self) -> bool {
        self.letters > self.others
    }
}

/// A reader that decodes another reader's text into UTF-8.
pub(super) struct Decoder<R> {
    reader: R,
    encoding: Encoding,
    /// Bytes that were read but not decoded: at most half of a letter.
    rest: Vec<u8>,
    decoded: Vec<u8>,
    given: usize,
    is_at_start: bool,
}

impl<R: Read> Decoder<R> {
    pub(super) fn new(reader: R, encoding: Encoding) -> Self {
        Decoder { reader, encoding, rest: Vec::new(), decoded: Vec::new(), given: 0, is_at_start: true }
    }

    /// Decodes more bytes; returns false at the end.
    fn more(&mut self) -> io::Result<bool> {
        let mut chunk = [0; 16 * 1024];
        let read = self.reader.read(&mut chunk)?;
        self.rest.extend_from_slice(&chunk[..read]);
        self.decoded.clear();
        self.given = 0;
        let mut text = String::with_capacity(2 * self.rest.len());
        match self.encoding {
            Encoding::Utf8 => {
                self.decoded.append(&mut self.rest);
                return Ok(read > 0);
            }
            Encoding::Windows1252 => text.extend(self.rest.drain(..).map(|byte| match byte {
                0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
                byte => char::from(byte),
            })),
            Encoding::Utf16Le | Encoding::Utf16Be => {
                let mut end = self.rest.len() / 2 * 2;
                let unit = |pair: &[u8]| {
                    let pair = [pair[0], pair[1]];
                    if self.encoding == Encoding::Utf16Le { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) }
                };
                // The second half of a letter may follow.
                if read > 0 && end >= 2 && (0xd800..0xdc00).contains(&unit(&self.rest[end - 2..])) {
                    end -= 2;
                }
                let units: Vec<u16> = self.rest[..end].chunks_exact(2).map(unit).collect();
                text.extend(char::decode_utf16(units).map(|letter| letter.unwrap_or('\u{fffd}')));
                self.rest.drain(..end);
                if read == 0 && !self.rest.is_empty() {
                    self.rest.clear();
                    text.push('\u{fffd}');
                }
            }
        }
        let text = if self.is_at_start { text.trim_start_matches('\u{feff}') } else { &text };
        self.is_at_start &= text.is_empty();
        self.decoded.extend_from_slice(text.as_bytes());
        Ok(read > 0)
    }
}

impl<R: Read> Read for Decoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.decoded.len() {
            if !self.more()? && self.decoded.is_empty() {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.decoded.len() - self.given);
        buffer[..count].copy_from_slice(&self.decoded[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader that returns one byte at a time.
    struct Slowly<'b>(&'b [u8]);

    impl Read for Slowly<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let count = self.0.len().min(buffer.len()).min(1);
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    fn decoded(bytes: &[u8], encoding: Encoding) -> String {
        let mut text = String::new();
        Decoder::new(Slowly(bytes), encoding).read_to_string(&mut text).unwrap();
        let mut whole = String::new();
        Decoder::new(bytes, encoding).read_to_string(&mut whole).unwrap();
        assert_eq!(text, whole);
        text
    }

    #[test]
    fn text_is_the_same_in_every_encoding() {
        let text = "Zürich;5 €\n😀 naïve";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!(decoded(&[&b"\xff\xfe"[..], &little].concat(), Encoding::Utf16Le), text);
        assert_eq!(decoded(&big, Encoding::Utf16Be), text);
        assert_eq!(decoded(b"Z\xfcrich;5 \x80", Encoding::Windows1252), "Zürich;5 €");
        // Text with invalid characters is read to its end.
        assert_eq!(decoded(b"\x00\xd8a\0b", Encoding::Utf16Le), "\u{fffd}a\u{fffd}");
    }

    #[test]
    fn an_encoding_is_seen_by_its_first_bytes() {
        let text = "a;b\nü;5\n";
        let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
        assert_eq!((seen(&little), seen(&big)), (Some(Encoding::Utf16Le), Some(Encoding::Utf16Be)));
        assert_eq!(
            (seen(b"\xff\xfea"), seen(text.as_bytes()), seen(b"a"), seen(b"\0\0\0\0")),
            (Some(Encoding::Utf16Le), None, None, None)
        );
    }

    #[test]
    fn utf_32_is_told_from_utf_16() {
        let little: Vec<u8> = "\u{feff}a;b\n".chars().flat_map(|letter| u32::from(letter).to_le_bytes()).collect();
        let big: Vec<u8> = "\u{feff}a;b\n".chars().flat_map(|letter| u32::from(letter).to_be_bytes()).collect();
        for text in [&little[..], &big, &little[4..], &big[4..]] {
            assert!(utf32(text).unwrap().contains("UTF-32"), "{text:?}");
        }
        let of_16: Vec<u8> = "\u{feff}a;b\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        for text in [&of_16[..], &of_16[2..], b"", b"a,b\n", b"\0\0\0\0\0\0\0\0", b"a\0\0\0"] {
            assert_eq!(utf32(text), None, "{text:?}");
        }
    }

    #[test]
    fn damage_is_told_from_another_encoding() {
        let census = |bytes: &[u8]| {
            let (mut whole, mut parts) = (Census::default(), Census::default());
            whole.add(bytes);
            bytes.iter().for_each(|byte| parts.add(&[*byte]));
            assert_eq!(whole.is_utf8(), parts.is_utf8());
            whole.is_utf8()
        };
        assert!(census("äö".as_bytes()) && census(b"\xc3\xa4\xc3\xb6 \xff"));
        assert!(!census(b"Z\xfcrich") && !census(b"a"));
    }
}
