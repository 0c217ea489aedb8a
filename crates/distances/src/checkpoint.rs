//! Stores the finished steps of a run on disk, so that a run that was stopped or killed can be resumed.
//!
//! The file is a log: a header that identifies the data and the dissimilarity, then one record for each step. Records
//! are only appended. However a run ends, the records that it has appended are valid. A truncated record is ignored,
//! and its step is computed again.
//!
//! | part | bytes |
//! | --- | --- |
//! | header | a line of text `lehr distances checkpoint 1`, a line of JSON |
//! | record | the length of its values and their XXH3, 8 bytes each, little-endian; the values |

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use xxhash_rust::xxh3::xxh3_64;

use crate::Error;
use crate::half::Precision;
use crate::metric::Metric;
use crate::pairs::Finished;
use crate::schedule::Schedule;

const MAGIC: &str = "lehr distances checkpoint 1";

/// Returns the header of a log, with the data and the dissimilarity that it belongs to.
fn head<T: Precision>(metric: &dyn Metric) -> Value {
    json!({
        "metric": metric.name(),
        "parameters": metric.parameters(),
        "items": metric.items(),
        "fingerprint": format!("{:016x}", metric.fingerprint()),
        "precision": T::NAME,
    })
}

/// Writes finished steps to a log, in order.
///
/// # Example
/// ```
/// use lehr_data::Incomplete;
/// use lehr_distances::checkpoint::{LogReader, Log};
/// use lehr_distances::{Control, Error, Finished, Observer, Progress, Silent, all_pairs, all_pairs_keeping, rows::{Compared, Measure}};
///
/// // Stops after so many steps.
/// struct After(usize);
///
/// impl Observer for After {
///     fn progress(&mut self, _: &Progress) -> Control {
///         self.0 -= 1;
///         if self.0 == 0 { Control::Stop } else { Control::Continue }
///     }
/// }
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("checkpoint");
/// let rows = Incomplete::new((0..300).map(f64::from).collect(), 1)?;
/// let metric = Compared::new(&rows, Measure::Euclidean)?;
/// let execution = lehr_ranks::Execution::default();
/// let mut log = Log::create::<f32>(&path, &metric)?;
/// let mut keep = |finished: &Finished<'_>| log.append(finished).unwrap();
/// let stopped = all_pairs_keeping::<f32>(&metric, &execution, None, &mut After(3), &mut keep);
/// assert!(matches!(stopped, Err(Error::Stopped)) && log.steps() == 3);
///
/// let mut kept = LogReader::open::<f32>(&path, &metric)?;
/// let half = all_pairs::<f32>(&metric, &execution, Some(&mut kept), &mut Silent)?;
/// assert_eq!(half.get(0, 299), 299.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
    /// The number of steps in the log.
    steps: usize,
    bytes: Vec<u8>,
}

impl Log {
    /// Begins a log, and replaces any existing file.
    ///
    /// # Errors
    /// Returns [`Error::File`].
    pub fn create<T: Precision>(path: &Path, metric: &dyn Metric) -> Result<Self, Error> {
        let failed = |source| Error::File { path: path.into(), source };
        let mut file = File::create(path).map_err(failed)?;
        writeln!(file, "{MAGIC}\n{}", head::<T>(metric)).map_err(failed)?;
        Ok(Self { path: path.into(), file, steps: 0, bytes: Vec::new() })
    }

    /// Resumes the log of an interrupted run after its last valid record, and truncates the rest.
    ///
    /// Cost: reads the whole log once.
    ///
    /// # Errors
    /// Returns the same errors as [`LogReader::open`].
    pub fn resume<T: Precision>(path: &Path, metric: &dyn Metric) -> Result<Self, Error> {
        let mut kept = LogReader::open::<T>(path, metric)?;
        while kept.next_step()?.is_some() {}
        let failed = |source| Error::File { path: path.into(), source };
        let mut file = OpenOptions::new().write(true).open(path).map_err(failed)?;
        file.set_len(kept.end).map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        Ok(Self { path: path.into(), file, steps: kept.step, bytes: Vec::new() })
    }

    /// Appends the steps that the log does not contain yet.
    ///
    /// Cost: writes the bytes of the new steps once.
    ///
    /// # Errors
    /// Returns [`Error::File`]. The records that were in the file before are still valid.
    pub fn append(&mut self, finished: &Finished<'_>) -> Result<(), Error> {
        let failed = |source| Error::File { path: self.path.clone(), source };
        while self.steps < finished.steps {
            self.bytes.clear();
            self.bytes.resize(16, 0);
            (finished.write)(self.steps, &mut self.bytes);
            let (length, hash) = ((self.bytes.len() - 16) as u64, xxh3_64(&self.bytes[16..]));
            self.bytes[..8].copy_from_slice(&length.to_le_bytes());
            self.bytes[8..16].copy_from_slice(&hash.to_le_bytes());
            self.file.write_all(&self.bytes).map_err(failed)?;
            self.steps += 1;
        }
        Ok(())
    }

    /// Returns the number of steps in the log.
    pub fn steps(&self) -> usize {
        self.steps
    }
}

/// Reads the finished steps of a log in order, up to the first incomplete or damaged record.
pub struct LogReader {
    path: PathBuf,
    reader: Box<dyn BufRead + Send>,
    schedule: Schedule,
    value_bytes: usize,
    step: usize,
    /// The end of the last valid record.
    end: u64,
}

impl std::fmt::Debug for LogReader {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LogReader").field("path", &self.path).field("step", &self.step).finish_non_exhaustive()
    }
}

impl LogReader {
    /// Opens the log of an interrupted run.
    ///
    /// # Errors
    /// Returns [`Error::File`] if the log cannot be read, and [`Error::CheckpointDamaged`] if the file is not a log.
    /// Returns [`Error::OtherRun`] if it belongs to other data, another dissimilarity or another precision.
    pub fn open<T: Precision>(path: &Path, metric: &dyn Metric) -> Result<Self, Error> {
        let file = File::open(path).map_err(|source| Error::File { path: path.into(), source })?;
        Self::begin::<T>(Box::new(BufReader::new(file)), path, metric)
    }

    /// Reads a log from bytes in memory, for example the log of another process. Messages call it `path`.
    ///
    /// # Errors
    /// Returns the same errors as [`LogReader::open`].
    pub fn of_bytes<T: Precision>(bytes: Vec<u8>, path: &Path, metric: &dyn Metric) -> Result<Self, Error> {
        Self::begin::<T>(Box::new(Cursor::new(bytes)), path, metric)
    }

    fn begin<T: Precision>(
        mut reader: Box<dyn BufRead + Send>,
        path: &Path,
        metric: &dyn Metric,
    ) -> Result<Self, Error> {
        let failed = |source| Error::File { path: path.into(), source };
        let damaged = |reason: &str| Error::CheckpointDamaged { path: path.into(), reason: reason.into() };
        let mut end = 0;
        let mut line = || -> Result<Vec<u8>, Error> {
            let mut line = Vec::new();
            // A header is short, but a file of another kind may have no line end at all.
            reader.by_ref().take(1 << 20).read_until(b'\n', &mut line).map_err(failed)?;
            end += line.len() as u64;
            if line.pop() == Some(b'\n') { Ok(line) } else { Err(damaged("its head is cut")) }
        };
        if line()? != MAGIC.as_bytes() {
            return Err(damaged(&format!("its first line is not {MAGIC:?}")));
        }
        let found: Value = serde_json::from_slice(&line()?).map_err(|error| damaged(&error.to_string()))?;
        let expected = head::<T>(metric);
        if found != expected {
            return Err(Error::OtherRun {
                path: path.into(),
                expected: expected.to_string(),
                found: found.to_string(),
            });
        }
        let schedule = Schedule::new(metric.items());
        Ok(Self { path: path.into(), reader, schedule, value_bytes: T::BYTES, step: 0, end })
    }

    /// Returns the bytes of the next step; `None` after the last valid step.
    pub(crate) fn next_step(&mut self) -> Result<Option<Vec<u8>>, Error> {
        if self.step == self.schedule.steps() {
            return Ok(None);
        }
        let tile = |leaf| self.schedule.tile(leaf, self.step).map_or(0, |(rows, columns)| rows.len() * columns.len());
        let expected = (0..self.schedule.leaves()).map(tile).sum::<usize>() * self.value_bytes;
        let mut bytes = vec![0; 16 + expected];
        match self.reader.read_exact(&mut bytes) {
            Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(source) => return Err(Error::File { path: self.path.clone(), source }),
            Ok(()) => {}
        }
        let values = bytes.split_off(16);
        let (length, hash) = bytes.split_at(8);
        if length != (expected as u64).to_le_bytes() || hash != xxh3_64(&values).to_le_bytes() {
            return Ok(None);
        }
        self.step += 1;
        self.end += 16 + expected as u64;
        Ok(Some(values))
    }
}
