//! The bytes of a data source: looked at before they are taken, and unpacked where they are gzip.
//!
//! Gzip is recognised by its first two bytes and never by a name, so that a wrongly named file still reads; several members one
//! after another are one text, as `cat a.gz b.gz` makes them. A [`Source`] keeps a window of bytes that grows as asked, hands out
//! slices of it, and knows how far it is, so that whoever finds something wrong can say where.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use flate2::read::MultiGzDecoder;

use crate::error::Error;

/// How many bytes are asked for at a time.
const CHUNK: usize = 64 * 1024;

/// Opens a file that is no folder.
pub(crate) fn open(path: &Path) -> Result<File, Error> {
    let failed = |cause| Error::Open { path: path.display().to_string(), cause };
    if std::fs::metadata(path).map_err(failed)?.is_dir() {
        return Err(Error::Directory { path: path.display().to_string() });
    }
    File::open(path).map_err(failed)
}

pub(crate) struct Source<'a> {
    name: String,
    reader: Box<dyn Read + 'a>,
    /// Set when the reader below the decompressor failed: then the error is not the data's fault.
    failed: Rc<Cell<bool>>,
    /// Bytes read from below the decompressor.
    taken: Rc<Cell<u64>>,
    is_gzip: bool,
    /// Of a file, as it is on the disk.
    length: Option<u64>,
    /// Of a file, to open it again.
    path: Option<PathBuf>,
    /// Bytes read and not yet dropped; those before `start` are spent.
    buffer: Vec<u8>,
    start: usize,
    /// Offset of `buffer[start]` from the start of the unpacked bytes.
    offset: u64,
    is_at_end: bool,
    /// What stopped a [`Source::peek`], for the next read to tell.
    pending: Option<io::Error>,
}

impl<'a> Source<'a> {
    /// A file under its own name.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = open(path)?;
        let length = file.metadata().ok().filter(|about| about.is_file()).map(|about| about.len());
        let again = length.map(|_| path.to_path_buf());
        Ok(Source { length, path: again, ..Source::new(file, &path.display().to_string())? })
    }

    /// Looks at the first bytes and unpacks if they are gzip's.
    pub(crate) fn new(reader: impl Read + 'a, name: &str) -> Result<Self, Error> {
        let (failed, taken) = (Rc::new(Cell::new(false)), Rc::new(Cell::new(0)));
        let mut reader = Witness { reader, failed: Rc::clone(&failed), taken: Rc::clone(&taken) };
        let mut magic = Vec::with_capacity(2);
        reader.by_ref().take(2).read_to_end(&mut magic).map_err(|cause| Error::Read { name: name.into(), cause })?;
        let is_gzip = magic == [0x1f, 0x8b];
        let whole = io::Cursor::new(magic).chain(reader);
        let reader: Box<dyn Read + 'a> = if is_gzip { Box::new(MultiGzDecoder::new(whole)) } else { Box::new(whole) };
        let name = name.into();
        let buffer = Vec::new();
        Ok(Source {
            name,
            reader,
            failed,
            taken,
            is_gzip,
            length: None,
            path: None,
            buffer,
            start: 0,
            offset: 0,
            is_at_end: false,
            pending: None,
        })
    }

    /// What messages call the source.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The bytes at hand, without reading more.
    pub(crate) fn window(&self) -> &[u8] {
        &self.buffer[self.start..]
    }

    /// How many bytes there are behind those that were consumed, if that can be known before they are read.
    pub(crate) fn left(&self) -> Option<u64> {
        self.length.filter(|_| !self.is_gzip).map(|length| length.saturating_sub(self.offset))
    }

    /// The file opened once more, to be read at any place, if its bytes are those of the disk.
    pub(crate) fn again(&self) -> Option<File> {
        File::open(self.path.as_ref().filter(|_| !self.is_gzip)?).ok()
    }

    /// How much of a file has been read, packed or not: 0 to 1; nothing where nobody knows how long the source is.
    pub(crate) fn fraction(&self) -> Option<f64> {
        self.length.map(|length| (self.taken.get() as f64 / length.max(1) as f64).min(1.0))
    }

    /// The offset of the window's first byte in the unpacked bytes.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads until the window has at least `bytes` bytes or the source ends; the window may be longer than asked.
    ///
    /// `lines` is how many lines of a text were read so far, if it is a text; it only serves the message.
    pub(crate) fn fill(&mut self, bytes: usize, lines: Option<u64>) -> Result<&[u8], Error> {
        while self.window().len() < bytes && !self.is_at_end {
            self.more(lines)?;
        }
        Ok(self.window())
    }

    /// The first `bytes` bytes of the window, fewer if the source ends or fails before them. The failure is told by who reads on, and knows how far it came.
    pub(crate) fn peek(&mut self, bytes: usize) -> &[u8] {
        while self.window().len() < bytes && !self.is_at_end && self.pending.is_none() {
            self.pending = self.chunk().err();
        }
        &self.window()[..bytes.min(self.window().len())]
    }

    /// Reads one chunk more; false at the end of the source.
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

    /// Makes the next line whole in the window: its length with the line end, if it has one; `None` at the end of the source.
    ///
    /// `lines` is how many were read so far; a line longer than `bytes_max` is the error that `too_long` makes.
    pub(crate) fn line(
        &mut self,
        lines: u64,
        bytes_max: usize,
        too_long: impl FnOnce() -> Error,
    ) -> Result<Option<usize>, Error> {
        // Bytes of the window in which there is no line end.
        let mut seen = 0;
        loop {
            if let Some(place) = self.window()[seen..].iter().position(|byte| *byte == b'\n') {
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

    /// Drops the first `bytes` bytes of the window.
    pub(crate) fn consume(&mut self, bytes: usize) {
        debug_assert!(bytes <= self.window().len());
        self.start += bytes;
        self.offset += bytes as u64;
    }

    fn stopped(&self, cause: io::Error, lines: Option<u64>) -> Error {
        let name = self.name.clone();
        if self.failed.get() || !self.is_gzip {
            return Error::Read { name, cause };
        }
        let mut read = format!("{} unpacked bytes", self.offset + self.window().len() as u64);
        if let Some(lines) = lines {
            read.push_str(&format!(" ({lines} line{})", if lines == 1 { "" } else { "s" }));
        }
        if cause.kind() == io::ErrorKind::UnexpectedEof {
            Error::CutShort { name, expected: "the rest of a gzip file".into(), read }
        } else {
            Error::Format { name, expected: "a sound gzip file".into(), found: format!("damage after {read}: {cause}") }
        }
    }
}

/// Passes bytes on, counts them, and remembers whether the reader below ever failed.
struct Witness<R> {
    reader: R,
    failed: Rc<Cell<bool>>,
    taken: Rc<Cell<u64>>,
}

impl<R: Read> Read for Witness<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let result = self.reader.read(buffer);
        if let Err(error) = &result {
            self.failed.set(error.kind() != io::ErrorKind::Interrupted);
        }
        self.taken.set(self.taken.get() + *result.as_ref().unwrap_or(&0) as u64);
        result
    }
}

/// What a file is whose first bytes are those of a format that is not read here.
pub(crate) fn foreign_format(head: &[u8]) -> Option<&'static str> {
    const FOREIGN: [(&[u8], &str); 9] = [
        (b"PK\x03\x04", "a ZIP archive (as .npz and .xlsx files are)"),
        (crate::read::PARQUET, "a Parquet file"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file"),
        (b"ARROW1", "an Arrow file"),
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
