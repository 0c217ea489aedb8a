//! The bytes of a data source: peeked before they are consumed, decompressed if they are gzip, and split into lines as
//! text.
//!
//! For all readers, this module handles what surrounds a file's contents: compression ([`Unpacked`]), a byte order
//! mark, line ends, and the check for UTF-8. Compression is detected from the first bytes, not the name, so that a
//! wrongly named file can be read. A [`Source`] has a window of bytes that grows on demand, and returns slices of it.
//! It knows its position, so a reader can report where a fault is.

use std::cell::Cell;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use crate::error::Error;
use crate::object::{self, Opened};
use crate::read::Encoding;
use crate::read::decode::{Decoder, utf32};
use crate::read::unpack::{Damage, MAGIC, Unpacked, repeated};

/// The number of bytes that are requested at once.
const CHUNK: usize = 64 * 1024;
/// The number of bytes of an object that are requested at once, if all of it is read.
const OBJECT_PIECE: usize = 8 << 20;
/// The number of bytes of a text that are examined to detect its line ends.
pub(crate) const HEAD_BYTES: usize = 64 * 1024;
/// The mark that some programs write before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Opens a file or the object of a URL, to read all of it once.
pub(crate) fn open(path: &Path) -> Result<Box<dyn Read + Send>, Error> {
    Ok(Opened::open(path)?.whole(OBJECT_PIECE))
}

pub(crate) struct Source<'a> {
    name: String,
    reader: Unpacked<'a>,
    /// The number of bytes that the decompressor has read.
    taken: Rc<Cell<u64>>,
    /// The length of a file on disk.
    length: Option<u64>,
    /// The path of a file, to open it again, or the object, which is of one version.
    again: Option<Again>,
    /// The bytes that were read; the bytes before `start` are consumed.
    buffer: Vec<u8>,
    start: usize,
    /// The offset of `buffer[start]` in the decompressed bytes.
    offset: u64,
    is_at_end: bool,
    /// The error that stopped a [`Source::peek`], which the next read reports.
    pending: Option<io::Error>,
    /// The byte that ends lines; `None` until it is needed.
    terminator: Option<u8>,
}

/// The file or object from which a source can be read again, at any position.
enum Again {
    /// A file. It is opened again, because readers of one opening share its position.
    File(PathBuf),
    Object(Opened),
}

impl<'a> Source<'a> {
    /// Opens a file or the object of a URL; its path is the name in messages.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let opened = Opened::open(path)?;
        let length = opened.length();
        let of_file = || length.map(|_| Again::File(path.to_path_buf()));
        let again = if object::url(path).is_some() { Some(Again::Object(opened.clone())) } else { of_file() };
        Ok(Source { length, again, ..Source::new(opened.whole(OBJECT_PIECE), &object::shown(path))? })
    }

    /// Decompresses gzip, judging by the first bytes, and skips UTF-8 byte order marks, which no binary format begins
    /// with.
    pub(crate) fn new(reader: impl Read + 'a, name: &str) -> Result<Self, Error> {
        let taken = Rc::new(Cell::new(0));
        let counted = Counted { reader, taken: Rc::clone(&taken) };
        let reader = Unpacked::new(counted, u64::MAX).map_err(|cause| stopped(name, cause, String::new()))?;
        let source = Source {
            name: name.into(),
            reader,
            taken,
            length: None,
            again: None,
            buffer: Vec::new(),
            start: 0,
            offset: 0,
            is_at_end: false,
            pending: None,
            terminator: None,
        };
        Ok(source.without_marks())
    }

    /// Skips all byte order marks. If only the first were skipped, a source made of the first bytes would skip the next.
    fn without_marks(mut self) -> Self {
        while self.peek(BYTE_ORDER_MARK.len()) == BYTE_ORDER_MARK {
            self.consume(BYTE_ORDER_MARK.len());
        }
        self
    }

    /// Returns the rest of the source, decoded into UTF-8.
    pub(crate) fn decoded(self, encoding: Encoding) -> Result<Self, Error> {
        let window = io::Cursor::new(self.buffer[self.start..].to_vec());
        let pending = Pending(self.pending);
        let decoder = Decoder::new(window.chain(pending.chain(self.reader)), encoding);
        let reader = Unpacked::new(decoder, u64::MAX).map_err(|cause| stopped(&self.name, cause, String::new()))?;
        let decoded = Source {
            name: self.name,
            reader,
            taken: self.taken,
            length: self.length,
            again: None,
            buffer: Vec::new(),
            start: 0,
            offset: 0,
            is_at_end: false,
            pending: None,
            terminator: None,
        };
        Ok(decoded.without_marks())
    }

    /// Returns the name of the source in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the buffered bytes, without reading more.
    pub(crate) fn window(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// Returns the number of unconsumed bytes, if this is known before reading.
    pub(crate) fn left(&self) -> Option<u64> {
        self.length.filter(|_| !self.reader.is_packed()).map(|length| length.saturating_sub(self.offset))
    }

    /// Opens the file again for reading at any position. Returns `None` if it is compressed or was not opened by its
    /// path.
    pub(crate) fn again(&self) -> Result<Option<Opened>, Error> {
        match self.again.as_ref().filter(|_| !self.reader.is_packed()) {
            None => Ok(None),
            Some(Again::Object(object)) => Ok(Some(object.clone())),
            Some(Again::File(path)) => Opened::open(path).map(Some),
        }
    }

    /// Returns the share of the file that was read, from 0 to 1. Returns `None` if the length of the source is unknown.
    pub(crate) fn fraction(&self) -> Option<f64> {
        self.length.map(|length| (self.taken.get() as f64 / length.max(1) as f64).min(1.0))
    }

    /// Returns the offset of the window's first byte in the decompressed bytes.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads until the window has at least `bytes` bytes or the source ends; the window may be longer.
    ///
    /// For text, `lines` is the number of lines read so far; it is used only in messages.
    pub(crate) fn fill(&mut self, bytes: usize, lines: Option<u64>) -> Result<&[u8], Error> {
        while self.window().len() < bytes && !self.is_at_end {
            self.more(lines)?;
        }
        Ok(self.window())
    }

    /// Returns the first `bytes` bytes of the window, or fewer if the source ends or fails before. If it fails, the
    /// next read reports the failure with its position.
    pub(crate) fn peek(&mut self, bytes: usize) -> &[u8] {
        while self.window().len() < bytes && !self.is_at_end && self.pending.is_none() {
            self.pending = self.chunk().err();
        }
        &self.window()[..bytes.min(self.window().len())]
    }

    /// Reads another chunk; returns false at the end of the source.
    pub(crate) fn more(&mut self, lines: Option<u64>) -> Result<bool, Error> {
        if self.is_at_end {
            return Ok(false);
        }
        let read = match self.pending.take() {
            Some(cause) => Err(cause),
            None => self.chunk(),
        };
        read.map_err(|cause| self.stopped(cause, lines))
    }

    fn chunk(&mut self) -> io::Result<bool> {
        if self.start >= CHUNK {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        let filled = self.buffer.len();
        self.buffer.resize(filled + CHUNK, 0);
        let read = loop {
            match self.reader.read(&mut self.buffer[filled..]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other,
            }
        };
        self.buffer.truncate(filled + *read.as_ref().unwrap_or(&0));
        self.is_at_end = read? == 0;
        Ok(!self.is_at_end)
    }

    /// Returns the last byte of line ends. This byte is a line feed (alone or after a carriage return), or a lone
    /// carriage return, as on old Macintosh systems. The first line end outside quotes decides.
    ///
    /// # Errors
    /// Returns [`Error::Encoding`] for UTF-16 with a byte order mark and for UTF-32, and errors of reading.
    pub(crate) fn terminator(&mut self) -> Result<u8, Error> {
        if let Some(terminator) = self.terminator {
            return Ok(terminator);
        }
        let head = self.fill(HEAD_BYTES, Some(0))?;
        let marks = [(&b"\xff\xfe"[..], "FF FE"), (b"\xfe\xff", "FE FF")];
        let mark = marks.into_iter().find(|(mark, _)| head.starts_with(mark));
        let of_16 = || mark.map(|(_, bytes)| format!("{bytes}, the byte order mark of UTF-16"));
        if let Some(found) = utf32(head).map(str::to_owned).or_else(of_16) {
            return Err(Error::Encoding { name: self.name.clone(), line: 1, byte: 0, found });
        }
        let terminator = terminator_of(head);
        self.terminator = Some(terminator);
        Ok(terminator)
    }

    /// Makes sure that the window has the whole next line. Returns its length with the line end, if it has one; `None`
    /// at the end of the source.
    ///
    /// `lines` is the number of lines read so far. For a line longer than `bytes_max`, returns the error from
    /// `too_long`.
    pub(crate) fn line(
        &mut self,
        lines: u64,
        bytes_max: usize,
        too_long: impl FnOnce() -> Error,
    ) -> Result<Option<usize>, Error> {
        let terminator = self.terminator()?;
        // If carriage returns end lines, a line feed after one belongs to the same line end.
        if terminator == b'\r' && self.fill(1, Some(lines))?.starts_with(b"\n") {
            self.consume(1);
        }
        // The number of bytes of the window that are known to have no line end.
        let mut seen = 0;
        loop {
            if let Some(place) = self.window()[seen..].iter().position(|byte| *byte == terminator) {
                return Ok(Some(seen + place + 1));
            }
            seen = self.window().len();
            if seen > bytes_max {
                return Err(too_long());
            }
            if !self.more(Some(lines))? {
                return Ok((seen > 0).then_some(seen));
            }
        }
    }

    /// Returns bytes as text, or an error with its position if they are not UTF-8 or have zero bytes. The bytes begin
    /// at `at` in the window, in line `line`.
    pub(crate) fn text<'t>(&self, bytes: &'t [u8], at: usize, line: u64) -> Result<&'t str, Error> {
        let text = std::str::from_utf8(bytes);
        let valid = text.as_ref().map_or_else(|error| error.valid_up_to(), |text| text.len());
        let (position, found) = match (bytes[..valid].iter().position(|byte| *byte == 0), text) {
            (None, Ok(text)) => return Ok(text),
            (Some(position), _) => (position, "a zero byte, as UTF-16, UTF-32 and binary files have".to_string()),
            (None, Err(_)) => {
                let byte = bytes[valid];
                let latin = char::from(byte);
                let looks_like =
                    if latin.is_alphanumeric() { format!(" ({latin:?} in Latin-1)") } else { String::new() };
                (valid, format!("the byte {byte:02X}{looks_like}"))
            }
        };
        let terminator = self.terminator.unwrap_or(b'\n');
        let line = line + bytes[..position].iter().filter(|byte| **byte == terminator).count() as u64;
        let byte = self.offset + (at + position) as u64;
        Err(Error::Encoding { name: self.name.clone(), line, byte, found })
    }

    /// Removes the first `bytes` bytes from the window.
    pub(crate) fn consume(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.window().len());
        self.start += bytes;
        self.offset += bytes as u64;
    }

    fn stopped(&self, cause: io::Error, lines: Option<u64>) -> Error {
        let mut read = format!("{} unpacked bytes", self.offset + self.window().len() as u64);
        if let Some(lines) = lines {
            read.push_str(&format!(" ({lines} line{})", if lines == 1 { "" } else { "s" }));
        }
        stopped(&self.name, cause, read)
    }
}

/// Returns the error for reading that stopped after `read`: damaged bytes, or another reason.
pub(crate) fn stopped(name: &str, cause: io::Error, read: String) -> Error {
    let name = name.to_owned();
    match Damage::of(&cause) {
        None => Error::Read { name, cause },
        Some(Damage::CutShort) => Error::CutShort { name, expected: "the rest of a gzip file".into(), read },
        Some(Damage::Unsound(said)) => {
            Error::Format { name, expected: "a sound gzip file".into(), found: format!("damage after {read}: {said}") }
        }
        Some(Damage::Nested) => Error::Format {
            name,
            expected: "a file that is packed once".into(),
            found: "a gzip file within a gzip file; unpack it first".into(),
        },
        Some(Damage::TooLong(bytes)) => {
            Error::Format { name, expected: format!("at most {bytes} bytes when unpacked"), found: "more".into() }
        }
    }
}

/// Returns the last byte of the line ends of a text that begins with `head`.
fn terminator_of(head: &[u8]) -> u8 {
    let first = |heeds_quotes: bool| {
        let mut is_quoted = false;
        head.iter().position(|byte| {
            is_quoted ^= heeds_quotes && *byte == b'"';
            !is_quoted && matches!(byte, b'\n' | b'\r')
        })
    };
    // A quote that is never closed is a letter.
    let Some(place) = first(true).or_else(|| first(false)) else { return b'\n' };
    let ends = head[place..].iter().take_while(|byte| matches!(byte, b'\n' | b'\r'));
    if ends.copied().any(|byte| byte == b'\n') { b'\n' } else { b'\r' }
}

/// A reader that fails with the error that stopped a peek, if there is one.
struct Pending(Option<io::Error>);

impl Read for Pending {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.as_ref().map_or(Ok(0), |error| Err(repeated(error)))
    }
}

/// A reader that counts the bytes it passes on.
struct Counted<R> {
    reader: R,
    taken: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.taken.set(self.taken.get() + read as u64);
        Ok(read)
    }
}

/// Returns the name of an unsupported format, if the first bytes belong to one.
pub(crate) fn foreign_format(head: &[u8]) -> Option<&'static str> {
    const FOREIGN: [(&[u8], &str); 11] = [
        (b"PK\x03\x04", "a ZIP archive (as .npz and .xlsx files are)"),
        (crate::read::PARQUET, "a Parquet file"),
        (b"PARE", "a Parquet file whose footer is encrypted"),
        (&MAGIC, "a gzip file within a gzip file"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (b"ARROW1", "an Arrow file: save it as Parquet"),
        (b"BZh", "a bzip2 file"),
        (b"\xfd7zXZ\0", "an xz file"),
        (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
        (b"%PDF-", "a PDF file"),
        (b"\xd0\xcf\x11\xe0", "an old Excel or Word file"),
    ];
    FOREIGN.iter().find(|(magic, _)| head.starts_with(magic)).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn all(bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let mut source = Source::new(bytes, "s")?;
        while source.more(Some(3))? {}
        Ok(source.window().to_vec())
    }

    #[test]
    fn members_of_a_gzip_file_are_one_text() {
        assert_eq!(all(&[gzip(b"one,"), gzip(b"two")].concat()).unwrap(), b"one,two");
        assert_eq!(all(b"plain").unwrap(), b"plain");
        assert_eq!(all(b"").unwrap(), b"");
        assert_eq!(all(b"\x1f").unwrap(), b"\x1f");
    }

    #[test]
    fn a_gzip_file_cut_anywhere_is_told_from_a_damaged_one() {
        let whole = gzip(b"a text that is long enough to be cut in many places");
        for end in 2..whole.len() {
            assert!(matches!(all(&whole[..end]), Err(Error::CutShort { .. })), "cut at {end}");
        }
        let mut damaged = whole.clone();
        let checksum = damaged.len() - 8;
        damaged[checksum] ^= 1;
        let message = all(&damaged).unwrap_err().to_string();
        assert!(
            message.starts_with("s: expected a sound gzip file, found damage after 51 unpacked bytes (3 lines)"),
            "{message}"
        );
    }

    #[test]
    fn what_stops_a_look_ahead_is_told_by_who_reads_on() {
        let whole = gzip(b"a text that is long enough to be cut in many places");
        let mut source = Source::new(&whole[..whole.len() - 4], "s").unwrap();
        assert_eq!(source.peek(1000), b"a text that is long enough to be cut in many places");
        assert_eq!(source.peek(6), b"a text");
        let message = source.more(Some(7)).unwrap_err().to_string();
        assert!(message.contains("the end of the file after 51 unpacked bytes (7 lines)"), "{message}");
    }

    #[test]
    fn a_failing_disk_is_not_the_datas_fault() {
        struct Failing;
        impl Read for Failing {
            fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
                Err(io::Error::other("bad sector"))
            }
        }
        let whole = gzip(b"a text");
        let mut source = Source::new((&whole[..5]).chain(Failing), "s").unwrap();
        assert_eq!(source.more(None).unwrap_err().to_string(), "s: cannot be read: bad sector");
    }
}
