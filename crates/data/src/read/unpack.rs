//! Decompresses gzip while it is read, up to a limit.
//!
//! Gzip is recognised by its first two bytes. Several members in succession are one text, as from `cat a.gz b.gz`; the
//! checksum and the length of each are verified. Nested gzip is not decompressed, because each layer would multiply a
//! few bytes. A fault in compressed bytes is an [`io::Error`] that contains a [`Damage`], so that callers can
//! distinguish it from a failing disk.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

/// The first bytes of every gzip file.
pub(crate) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// A fault in the compressed bytes, as opposed to a failure of the disk.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Damage {
    #[error("a gzip file that ends too early")]
    CutShort,
    #[error("a damaged gzip file: {0}")]
    Unsound(String),
    #[error("a gzip file within a gzip file")]
    Nested,
    #[error("more than {0} bytes")]
    TooLong(u64),
}

impl Damage {
    /// Returns the damage that an error contains, if the error is about bytes.
    pub(crate) fn of(error: &io::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}

/// Returns an error with the same meaning. A reader that failed returns it at every call, because a caller may have put
/// the first error aside to return earlier bytes.
pub(crate) fn repeated(error: &io::Error) -> io::Error {
    match Damage::of(error) {
        Some(damage) => damage.clone().into(),
        None => io::Error::new(error.kind(), error.to_string()),
    }
}

impl From<Damage> for io::Error {
    fn from(damage: Damage) -> Self {
        io::Error::new(io::ErrorKind::InvalidData, damage)
    }
}

/// A reader that returns the plain bytes of a plain or compressed source, and fails once they exceed a limit.
///
/// All readers of this crate decompress their input. To limit the size, put this reader before them.
///
/// # Example
/// ```
/// use std::io::Write;
/// use lehr_data::read::{Selection, Unpacked, points_from};
/// let mut packed = flate2::write::GzEncoder::new(Vec::new(), Default::default());
/// packed.write_all(b"x,y\n").unwrap();
/// packed.write_all(&b"1,2\n".repeat(100_000)).unwrap();
/// let packed = packed.finish().unwrap();
/// assert!(packed.len() < 4096);
/// let mut bytes = Unpacked::new(&packed[..], 10_000)?;
/// let error = points_from(&mut bytes, "t.csv.gz", &Selection::default()).unwrap_err();
/// assert!(bytes.is_over());
/// assert_eq!(error.to_string(), "t.csv.gz: expected at most 10000 bytes when unpacked, found more");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Unpacked<'a> {
    plain: Box<dyn Read + 'a>,
    is_packed: bool,
    /// Whether the reader below the decompressor failed, so that the error does not concern the bytes.
    failed: Rc<Cell<bool>>,
    bytes_max: u64,
    given: u64,
    is_over: bool,
    /// The error that ended the reading. A decompressor that has failed says that its bytes end.
    ended: Option<io::Error>,
}

impl<'a> Unpacked<'a> {
    /// Examines the first two bytes of `reader`, and decompresses gzip. `bytes_max` limits the plain bytes.
    ///
    /// # Errors
    /// Returns the errors of reading the first two bytes.
    pub fn new(reader: impl Read + 'a, bytes_max: u64) -> io::Result<Self> {
        let failed = Rc::new(Cell::new(false));
        let mut reader = Witness { reader, failed: Rc::clone(&failed) };
        let mut magic = Vec::with_capacity(MAGIC.len());
        reader.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic)?;
        let is_packed = magic == MAGIC;
        let whole = io::Cursor::new(magic).chain(reader);
        let plain: Box<dyn Read + 'a> = if is_packed { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
        Ok(Unpacked { plain, is_packed, failed, bytes_max, given: 0, is_over: false, ended: None })
    }

    /// Returns whether the bytes were compressed.
    pub fn is_packed(&self) -> bool {
        self.is_packed
    }

    /// Returns whether there were more plain bytes than the limit.
    pub fn is_over(&self) -> bool {
        self.is_over
    }

    fn told(&self, error: io::Error) -> io::Error {
        if !self.is_packed || self.failed.get() || error.kind() == io::ErrorKind::Interrupted {
            return error;
        }
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Damage::CutShort.into(),
            _ => Damage::Unsound(error.to_string()).into(),
        }
    }

    fn next(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut read = self.plain.read(buffer).map_err(|error| self.told(error))?;
        // The first two bytes are examined together.
        while self.is_packed && self.given == 0 && read == 1 && buffer.len() > 1 {
            match self.plain.read(&mut buffer[1..]).map_err(|error| self.told(error))? {
                0 => break,
                more => read += more,
            }
        }
        if self.is_packed && self.given == 0 && buffer[..read].starts_with(&MAGIC) {
            return Err(Damage::Nested.into());
        }
        self.given += read as u64;
        self.is_over |= self.given > self.bytes_max;
        if self.is_over { Err(Damage::TooLong(self.bytes_max).into()) } else { Ok(read) }
    }
}

impl Read for Unpacked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(error) = &self.ended {
            return Err(repeated(error));
        }
        let read = self.next(buffer);
        if let Err(error) = &read
            && error.kind() != io::ErrorKind::Interrupted
        {
            self.ended = Some(repeated(error));
        }
        read
    }
}

/// A reader that passes bytes on, and records whether the reader below failed.
struct Witness<R> {
    reader: R,
    failed: Rc<Cell<bool>>,
}

impl<R: Read> Read for Witness<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.reader.read(buffer);
        if let Err(error) = &result {
            self.failed.set(error.kind() != io::ErrorKind::Interrupted);
        }
        result
    }
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

    fn all(bytes: &[u8], bytes_max: u64) -> Result<Vec<u8>, Damage> {
        let mut plain = Vec::new();
        let read = Unpacked::new(bytes, bytes_max).unwrap().read_to_end(&mut plain);
        read.map(|_| plain).map_err(|error| Damage::of(&error).expect("damage").clone())
    }

    #[test]
    fn the_limit_is_of_plain_bytes_and_holds_to_the_byte() {
        let packed = gzip(&[7; 100_000]);
        assert!(packed.len() < 1000);
        assert_eq!(all(&packed, 100_000).unwrap().len(), 100_000);
        assert_eq!(all(&packed, 99_999), Err(Damage::TooLong(99_999)));
        assert_eq!(all(b"plain", 5).unwrap(), b"plain");
        assert_eq!(all(b"plain", 4), Err(Damage::TooLong(4)));
    }

    #[test]
    fn a_gzip_file_within_another_is_not_unpacked_again() {
        assert_eq!(all(&gzip(&gzip(b"text")), 1 << 20), Err(Damage::Nested));
        // Nested gzip is found even if its first byte arrives alone.
        assert_eq!(all(&[gzip(b"\x1f"), gzip(b"\x8btext")].concat(), 1 << 20), Err(Damage::Nested));
    }

    #[test]
    fn checksum_and_length_of_each_member_are_verified() {
        let members = [gzip(b"one,"), gzip(b"two")].concat();
        assert_eq!(all(&members, 100).unwrap(), b"one,two");
        let first = gzip(b"one,").len();
        for place in [first - 8, first - 4, members.len() - 8, members.len() - 4] {
            let mut damaged = members.clone();
            damaged[place] ^= 1;
            assert!(matches!(all(&damaged, 100), Err(Damage::Unsound(_))), "byte {place}");
        }
        for end in (first + 1..members.len()).chain(3..first) {
            assert_eq!(all(&members[..end], 100), Err(Damage::CutShort), "cut at {end}");
        }
    }
}
