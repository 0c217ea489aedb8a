//! Reads the header of a page, in the compact protocol of Thrift: it describes the bytes before they are decompressed.
//!
//! This module keeps only the numbers of a header and of its structures, and skips statistics. The lengths in a header
//! are not trusted: reading stops at the end of the column's bytes. The code that decompresses a page checks the sizes
//! in its header.

use std::io::{self, ErrorKind, Read};

use parquet::basic::Encoding;

/// The maximum depth of nested structures; a page has two levels.
const DEPTH: u32 = 8;

/// The type of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Values, compressed together with their levels.
    Data,
    /// Compressed values, after uncompressed levels.
    SecondData,
    /// The words that other pages refer to by number.
    Dictionary,
    /// A page that a reader may skip.
    Other,
}

/// The header of a page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Header {
    pub kind: Kind,
    pub packed: u32,
    pub unpacked: u32,
    /// The CRC-32 of the compressed bytes, if the writer stored it.
    pub checksum: Option<u32>,
    pub values: u32,
    pub nulls: u32,
    pub rows: u32,
    pub encoding: Encoding,
    pub definition_encoding: Encoding,
    pub repetition_encoding: Encoding,
    pub definition_bytes: u32,
    pub repetition_bytes: u32,
    /// Whether the values of a [`Kind::SecondData`] are compressed.
    pub is_packed: bool,
    pub is_sorted: bool,
}

impl Header {
    /// Reads a header.
    ///
    /// # Errors
    /// Returns an error if the header is malformed or ends too early.
    pub(super) fn read(input: &mut impl Read) -> io::Result<Self> {
        let mut numbers = Numbers::default();
        structure(input, 0, &mut |field, number| numbers.put(field, number))?;
        let kind = match numbers.get(1, 0)? {
            0 => Kind::Data,
            2 => Kind::Dictionary,
            3 => Kind::SecondData,
            _ => Kind::Other,
        };
        // The field of the structure for each kind, and the fields in it.
        let of = match kind {
            Kind::Data => 5,
            Kind::Dictionary => 7,
            Kind::SecondData | Kind::Other => 8,
        };
        let encoding = |field| numbers.get(of, field).and_then(encoding_of);
        let second = |field| if kind == Kind::SecondData { numbers.get(of, field).and_then(size) } else { Ok(0) };
        let (values, told) = if kind == Kind::Other {
            (0, Encoding::PLAIN)
        } else {
            (size(numbers.get(of, 1)?)?, encoding(if kind == Kind::SecondData { 4 } else { 2 })?)
        };
        Ok(Self {
            kind,
            packed: size(numbers.get(3, 0)?)?,
            unpacked: size(numbers.get(2, 0)?)?,
            // The format stores the bits as a signed number.
            checksum: numbers.get(4, 0).ok().map(|sum| sum as u32),
            values,
            encoding: told,
            definition_encoding: if kind == Kind::Data { encoding(3)? } else { Encoding::RLE },
            repetition_encoding: if kind == Kind::Data { encoding(4)? } else { Encoding::RLE },
            nulls: second(2)?,
            rows: second(3)?,
            definition_bytes: second(5)?,
            repetition_bytes: second(6)?,
            is_packed: numbers.get(of, 7).map_or(true, |flag| flag != 0),
            is_sorted: kind == Kind::Dictionary && numbers.get(of, 3).is_ok_and(|flag| flag != 0),
        })
    }
}

fn wrong(what: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.into())
}

fn size(number: i64) -> io::Result<u32> {
    u32::try_from(number).map_err(|_| wrong(format!("a page's header says {number} where a size is expected")))
}

#[expect(deprecated, reason = "old files name it for levels that they do not have")]
fn encoding_of(number: i64) -> io::Result<Encoding> {
    Ok(match number {
        0 => Encoding::PLAIN,
        2 => Encoding::PLAIN_DICTIONARY,
        3 => Encoding::RLE,
        4 => Encoding::BIT_PACKED,
        5 => Encoding::DELTA_BINARY_PACKED,
        6 => Encoding::DELTA_LENGTH_BYTE_ARRAY,
        7 => Encoding::DELTA_BYTE_ARRAY,
        8 => Encoding::RLE_DICTIONARY,
        9 => Encoding::BYTE_STREAM_SPLIT,
        _ => return Err(wrong(format!("a page's header says encoding {number}, which is not read here"))),
    })
}

/// The numbers of a header. Its own fields have the key `(field, 0)`, and the fields of a structure in it have the key
/// `(structure, field)`.
#[derive(Debug, Default)]
struct Numbers([[Option<i64>; 9]; 9]);

impl Numbers {
    fn put(&mut self, (outer, inner): (i16, i16), number: i64) {
        let place = usize::try_from(outer).ok().zip(usize::try_from(inner).ok());
        if let Some(slot) = place.and_then(|(outer, inner)| self.0.get_mut(outer)?.get_mut(inner)) {
            *slot = Some(number);
        }
    }

    fn get(&self, outer: usize, inner: usize) -> io::Result<i64> {
        self.0[outer][inner].ok_or_else(|| wrong(format!("a page's header has no field {outer}.{inner}")))
    }
}

/// Reads the fields of a structure up to its end; `put` receives the numbers of the first two levels.
fn structure(input: &mut impl Read, depth: u32, put: &mut dyn FnMut((i16, i16), i64)) -> io::Result<()> {
    let mut field = 0i16;
    loop {
        let head = byte(input)?;
        if head == 0 {
            return Ok(());
        }
        field = match head >> 4 {
            0 => i16::try_from(zigzag(input)?).map_err(|_| wrong("a field has a number of more than 16 bits"))?,
            delta => field.wrapping_add(i16::from(delta)),
        };
        let number = match head & 0x0f {
            1 => Some(1),
            2 => Some(0),
            4..=6 => Some(zigzag(input)?),
            12 if depth == 0 => {
                structure(input, 1, &mut |(inner, below), number| {
                    if below == 0 {
                        put((field, inner), number);
                    }
                })?;
                None
            }
            of => {
                pass(input, of, depth + 1)?;
                None
            }
        };
        if let Some(number) = number {
            put((field, 0), number);
        }
    }
}

/// Skips a value of this type.
fn pass(input: &mut impl Read, of: u8, depth: u32) -> io::Result<()> {
    if depth > DEPTH {
        return Err(wrong("a page's header is nested too deep"));
    }
    match of {
        // In a list or a map, a truth value takes a byte.
        1..=3 => drop(byte(input)?),
        4..=6 => drop(varint(input)?),
        7 => bytes(input, 8)?,
        8 => {
            let length = varint(input)?;
            bytes(input, length)?;
        }
        9 | 10 => {
            let head = byte(input)?;
            let length = if head >> 4 == 15 { varint(input)? } else { u64::from(head >> 4) };
            for _ in 0..length {
                pass(input, head & 0x0f, depth + 1)?;
            }
        }
        11 => {
            let length = varint(input)?;
            let kinds = if length > 0 { byte(input)? } else { 0 };
            for _ in 0..length {
                pass(input, kinds >> 4, depth + 1)?;
                pass(input, kinds & 0x0f, depth + 1)?;
            }
        }
        12 => structure(input, depth, &mut |_, _| {})?,
        13 => bytes(input, 16)?,
        _ => return Err(wrong(format!("a page's header has a field of an unknown type {of}"))),
    }
    Ok(())
}

fn byte(input: &mut impl Read) -> io::Result<u8> {
    let mut byte = [0];
    input.read_exact(&mut byte)?;
    Ok(byte[0])
}

fn bytes(input: &mut impl Read, length: u64) -> io::Result<()> {
    let passed = io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
    if passed == length { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

/// Reads a number of any length: seven bits per byte, lowest first.
pub(super) fn varint(input: &mut impl Read) -> io::Result<u64> {
    let mut number = 0u64;
    for shift in (0..64).step_by(7) {
        let byte = byte(input)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(wrong("a number has more than 64 bits"))
}

fn zigzag(input: &mut impl Read) -> io::Result<i64> {
    let number = varint(input)?;
    Ok((number >> 1) as i64 ^ -((number & 1) as i64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_says_its_sizes_and_statistics_are_passed_over() {
        // Type 0, 9 bytes uncompressed, 7 compressed; a structure of 3 values, PLAIN, RLE, RLE, and statistics with two
        // texts.
        let bytes = [
            0x15, 0, 0x15, 18, 0x15, 14, 0x2c, 0x15, 6, 0x15, 0, 0x15, 6, 0x15, 6, 0x1c, 0x18, 1, b'b', 0x18, 1, b'a',
            0, 0, 0, 99,
        ];
        let mut input = &bytes[..];
        let header = Header::read(&mut input).unwrap();
        assert_eq!((header.kind, header.unpacked, header.packed, header.values), (Kind::Data, 9, 7, 3));
        assert_eq!((header.encoding, header.definition_encoding), (Encoding::PLAIN, Encoding::RLE));
        assert_eq!(input, [99], "what follows a header is left");
        for length in 0..bytes.len() - 1 {
            assert!(Header::read(&mut &bytes[..length]).is_err(), "{length} bytes");
        }
    }

    #[test]
    fn what_no_header_says_is_an_error_and_ends() {
        let negative = [0x15, 0, 0x15, 19, 0x15, 14, 0];
        assert!(Header::read(&mut &negative[..]).is_err());
        // Endlessly nested structures and lists.
        assert!(Header::read(&mut &[0x1c; 1000][..]).unwrap_err().to_string().contains("too deep"));
        assert!(Header::read(&mut &[0x19; 1000][..]).unwrap_err().to_string().contains("too deep"));
        // A list that claims 2⁶³ elements, and a text of this length.
        for head in [[0x19, 0xf3], [0x18, 0xff]] {
            let bytes: Vec<u8> = head.into_iter().chain([0xff; 8]).chain([0x01, 0]).collect();
            assert!(Header::read(&mut &bytes[..]).is_err());
        }
    }
}
