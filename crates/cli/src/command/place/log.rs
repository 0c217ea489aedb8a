//! The items placed so far, on disk. Blocks of items are appended to a log, so that a run that was stopped or killed
//! can be resumed.
//!
//! A line of text comes first, then a line of JSON that identifies the map and the items. Then come records: the length
//! of their values in bytes and the XXH3 of the values (8 bytes each, little-endian), and the values. However a run
//! ends, complete records are valid; an incomplete record is ignored, and its items are placed again.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use lehr_ranks::timing::Stopwatch;
use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use crate::exit::{Failure, Kind};
use crate::progress::Saved;

const MAGIC: &str = "lehr placing checkpoint 2";

/// The identity of a log: its map and items.
#[derive(Clone, Debug, PartialEq)]
pub struct Head {
    /// The number of new items.
    pub items: usize,
    /// The number of values of an item.
    pub width: usize,
    /// The fingerprint of the map, the items and their comparison.
    pub fingerprint: String,
}

impl Head {
    fn value(&self) -> Value {
        json!({ "items": self.items, "width": self.width, "fingerprint": self.fingerprint })
    }
}

/// A log that is being written; its file is created when there is something to keep.
pub struct Log {
    path: PathBuf,
    head: Head,
    file: Option<File>,
    /// The number of values in the file.
    kept: usize,
    since: Stopwatch,
    saved: Saved,
}

impl Log {
    /// Creates a log to be written at `path`.
    pub fn new(path: PathBuf, head: Head) -> Self {
        Self { path, head, file: None, kept: 0, since: Stopwatch::start(), saved: Saved::Nothing }
    }

    /// Resumes the log at `path`; returns the rows that it has.
    ///
    /// # Errors
    /// Returns [`Kind::BadData`] if the file is not such a log, or belongs to other items or another map. Returns
    /// [`Kind::Environment`] if it cannot be read or written.
    pub fn resume(path: &Path, head: &Head) -> Result<(Self, Vec<f64>), Failure> {
        let unreadable =
            |cause: std::io::Error| Failure::new(Kind::Environment, format!("{}: {cause}", path.display()));
        let mut reader = BufReader::new(File::open(path).map_err(unreadable)?);
        let mut lines = [const { Vec::new() }; 2];
        for line in &mut lines {
            // The head is short; a longer line without an end is not a head.
            reader.by_ref().take(1 << 16).read_until(b'\n', line).map_err(unreadable)?;
        }
        let begins = lines[0].trim_ascii_end() == MAGIC.as_bytes();
        let Some(found) = serde_json::from_slice::<Value>(&lines[1]).ok().filter(|_| begins) else {
            let message = format!("{}: expected a checkpoint of lehr place", path.display());
            return Err(Failure::new(Kind::BadData, message));
        };
        if found != head.value() {
            let message = format!("{}: the checkpoint is of other items, another map or other options", path.display());
            return Err(Failure::new(Kind::BadData, message)
                .with_hint("--resume needs the files and options of the run that was stopped"));
        }
        let (mut rows, mut end) = (Vec::new(), (lines[0].len() + lines[1].len()) as u64);
        while let Some((values, bytes)) = record(&mut reader, head, rows.len()) {
            rows.extend(values);
            end += bytes;
        }
        let mut file = OpenOptions::new().write(true).open(path).map_err(unreadable)?;
        file.set_len(end).and_then(|()| file.seek(SeekFrom::End(0))).map_err(unreadable)?;
        let log = Self {
            path: path.into(),
            head: head.clone(),
            file: Some(file),
            kept: rows.len(),
            since: Stopwatch::start(),
            saved: Saved::Checkpoint,
        };
        Ok((log, rows))
    }

    /// Returns the seconds since the last append.
    pub fn seconds(&self) -> f64 {
        self.since.seconds()
    }

    /// Appends the rows that are not in the log yet. For the outcome, see [`saved`](Self::saved).
    pub fn append(&mut self, rows: &[f64]) {
        self.since = Stopwatch::start();
        self.saved = match self.appended(&rows[self.kept..]) {
            Ok(()) => {
                self.kept = rows.len();
                Saved::Checkpoint
            }
            Err(cause) => Saved::Failed(format!("{}: {cause}", self.path.display())),
        };
    }

    fn appended(&mut self, rows: &[f64]) -> std::io::Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let file = match &mut self.file {
            Some(file) => file,
            None => {
                let mut file = File::create(&self.path)?;
                writeln!(file, "{MAGIC}\n{}", self.head.value())?;
                self.file.insert(file)
            }
        };
        let mut bytes = vec![0; 16];
        rows.iter().for_each(|number| bytes.extend(number.to_le_bytes()));
        let (length, hash) = ((bytes.len() - 16) as u64, xxh3_64(&bytes[16..]));
        bytes[..8].copy_from_slice(&length.to_le_bytes());
        bytes[8..16].copy_from_slice(&hash.to_le_bytes());
        let before = file.stream_position()?;
        file.write_all(&bytes).inspect_err(|_| {
            // A partly written record would be between complete ones.
            let _ = file.set_len(before).and_then(|()| file.seek(SeekFrom::End(0)));
        })
    }

    /// Returns the outcome of the last append.
    pub fn saved(&self) -> &Saved {
        &self.saved
    }

    /// Removes the log.
    pub fn discard(self) {
        if self.file.is_some() {
            // A log that remains is useless, and the next run reports it.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Returns the values of the next valid record of whole rows, and its length in the file.
fn record(reader: &mut impl Read, head: &Head, before: usize) -> Option<(Vec<f64>, u64)> {
    let mut start = [0; 16];
    reader.read_exact(&mut start).ok()?;
    let length = u64::from_le_bytes(start[..8].try_into().ok()?);
    let hash = u64::from_le_bytes(start[8..].try_into().ok()?);
    let width = head.width as u64;
    let most = (head.items as u64 * width).checked_sub(before as u64)?.checked_mul(8)?;
    if length == 0 || length > most || !length.is_multiple_of(8 * width) {
        return None;
    }
    let mut bytes = Vec::new();
    reader.take(length).read_to_end(&mut bytes).ok()?;
    if bytes.len() as u64 != length || xxh3_64(&bytes) != hash {
        return None;
    }
    let values = bytes.chunks_exact(8).map(|number| f64::from_le_bytes(number.try_into().expect("eight bytes")));
    Some((values.collect(), 16 + length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        Head { items: 5, width: 2, fingerprint: "0123".into() }
    }

    #[test]
    fn what_was_appended_is_read_back_and_a_record_that_was_cut_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
        let mut log = Log::new(path.clone(), head());
        assert_eq!(*log.saved(), Saved::Nothing);
        log.append(&[]);
        assert!(!path.exists(), "there was nothing to keep");
        log.append(&[0.5, 1.0, 1.5, 2.0]);
        log.append(&[0.5, 1.0, 1.5, 2.0, f64::MIN_POSITIVE, 3.0]);
        drop(log);
        let whole = std::fs::read(&path).unwrap();
        for cut in 1..16 + 16 {
            std::fs::write(&path, &whole[..whole.len() - cut]).unwrap();
            let (mut log, rows) = Log::resume(&path, &head()).unwrap();
            assert_eq!(rows, [0.5, 1.0, 1.5, 2.0], "{cut}");
            log.append(&[0.5, 1.0, 1.5, 2.0, f64::MIN_POSITIVE, 3.0]);
            assert_eq!(std::fs::read(&path).unwrap(), whole);
        }
        // Changes a bit of the second record.
        let mut damaged = whole.clone();
        *damaged.last_mut().unwrap() ^= 1;
        std::fs::write(&path, &damaged).unwrap();
        assert_eq!(Log::resume(&path, &head()).unwrap().1.len(), 4);
    }

    #[test]
    fn a_log_of_something_else_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("checkpoint");
        let told = |content: &[u8]| {
            std::fs::write(&path, content).unwrap();
            Log::resume(&path, &head()).err().unwrap().message
        };
        assert!(told(b"").contains("expected a checkpoint of lehr place"));
        assert!(told(&[b'x'; 1 << 17]).contains("expected a checkpoint"));
        Log::new(path.clone(), Head { items: 6, ..head() }).append(&[1.0, 2.0]);
        let other = {
            let mut log = Log::new(path.clone(), Head { items: 6, ..head() });
            log.append(&[1.0, 2.0]);
            std::fs::read(&path).unwrap()
        };
        assert!(told(&other).contains("other items, another map or other options"));
    }
}
