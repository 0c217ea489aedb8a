//! A job from the view of its method: its resources, requests to stop, and where to report and to save.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use lehr_data::write::AtomicFile;
use lehr_mining::Execution;
use lehr_ranks::observe::{AnyCheckpoint, Interrupt};
use lehr_ranks::timing::Stopwatch;
use lehr_sync::{Arc, Mutex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io::Write;
use xxhash_rust::xxh3::xxh3_64;

use crate::method::Failure;

/// The name of a job's log file in its temporary folder.
const LOG: &str = "log";

/// The minimum interval between two saves, in seconds. A job that should stop saves at once.
const SAVE_SECONDS: f64 = 1.0;

/// The progress of a job.
///
/// # Example
/// ```
/// let progress = lehr_jobs::Progress::new(0.5, "annealing").figure("clusters", 7.0);
/// assert_eq!(serde_json::to_string(&progress).unwrap(), r#"{"fraction":0.5,"stage":"annealing","figures":{"clusters":7.0}}"#);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Progress {
    /// The estimated share of the work that is done, from 0 to 1.
    pub fraction: f64,
    /// The current stage.
    pub stage: String,
    /// The method's own figures, such as `temperature` and `clusters`.
    #[serde(default)]
    pub figures: BTreeMap<String, f64>,
}

impl Progress {
    /// Creates progress with this share of the work and this stage.
    ///
    /// # Example
    /// See [`Progress`].
    pub fn new(fraction: f64, stage: impl Into<String>) -> Self {
        Self { fraction: fraction.clamp(0.0, 1.0), stage: stage.into(), figures: BTreeMap::new() }
    }

    /// Adds a figure, unless it is infinite or NaN.
    ///
    /// # Example
    /// See [`Progress`].
    pub fn figure(mut self, name: impl Into<String>, value: f64) -> Self {
        if value.is_finite() {
            self.figures.insert(name.into(), value);
        }
        self
    }

    /// Returns the share of the work in whole per cent, and the stage: a new report is sent when one of them changes.
    fn gist(&self) -> (u32, &str) {
        ((self.fraction * 100.0) as u32, &self.stage)
    }
}

/// The reason why a job should stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A client cancelled the job.
    Cancelled,
    /// The node is stopping; the job continues after its restart.
    Interrupted,
}

/// A division of a component of an annealing, and the end of the component that it created.
///
/// A run begins with component 0. The k-th division creates component k.
///
/// # Example
/// ```
/// use lehr_jobs::Split;
/// let split: Split = serde_json::from_str(r#"{ "temperature": 2.5, "parent": 0, "merged_at": null, "merged_into": null }"#).unwrap();
/// assert_eq!((split.parent, split.merged_into), (0, None));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Split {
    /// The temperature at which the component was divided.
    pub temperature: f64,
    /// The number of the component that was divided.
    pub parent: u64,
    /// The temperature at which the new component was merged into another or removed; `null` if it lasts.
    pub merged_at: Option<f64>,
    /// The number of the component that it was merged into; `null` if it lasts, or was removed without one.
    pub merged_into: Option<u64>,
}

/// A receiver of a job's progress.
pub(crate) trait Listener: Send {
    /// Sends the latest progress, and the divisions so far, if the previous report has been received. Returns whether
    /// they were sent.
    fn tell(&mut self, progress: &Progress, splits: &[Split]) -> bool;
}

/// The place of a job's saved state.
#[derive(Clone, Debug)]
pub(crate) enum Saved {
    /// The state is in a file.
    File(PathBuf),
    /// The state is in memory, until the process ends.
    Memory(Arc<Mutex<Volatile>>),
}

/// The saved state of a job when nothing is kept on disk, or a copy of the state of another process.
#[derive(Debug, Default)]
pub(crate) struct Volatile {
    bytes: Option<Vec<u8>>,
    /// The folder of the log, which is a file in all cases.
    folder: Option<tempfile::TempDir>,
}

impl Saved {
    /// Returns a copy of the state that the first process of a job resumes from.
    ///
    /// # Errors
    /// Returns an error if the log's file cannot be written.
    pub(crate) fn copied(checkpoint: Option<&[u8]>, log: Option<&[u8]>) -> std::io::Result<Self> {
        let mut copy = Volatile { bytes: checkpoint.map(<[u8]>::to_vec), folder: None };
        if let Some(log) = log {
            let folder = tempfile::tempdir()?;
            std::fs::write(folder.path().join(LOG), log)?;
            copy.folder = Some(folder);
        }
        Ok(Self::Memory(Arc::new(Mutex::new(copy))))
    }

    pub(crate) fn forget(&self) {
        match self {
            // A file that cannot be removed is harmless, and the next start tries again. The folder with the extension
            // `run` has the files of the job's processes.
            Self::File(path) => {
                let _ = std::fs::remove_file(path);
                let _ = std::fs::remove_file(before(path));
                let _ = std::fs::remove_file(path.with_extension("log"));
                let _ = std::fs::remove_dir_all(path.with_extension("run"));
            }
            Self::Memory(saved) => *saved.lock() = Volatile::default(),
        }
    }
}

/// A method's view of the job that it runs for.
///
/// # Example
/// ```
/// use lehr_jobs::{Job, Progress};
/// let job = Job::alone();
/// job.report(Progress::new(0.1, "reading"));
/// job.save(b"row 7")?;
/// assert_eq!((job.saved()?.as_deref(), job.is_stopping()), (Some(b"row 7".as_slice()), false));
/// # Ok::<(), lehr_jobs::Failure>(())
/// ```
pub struct Job {
    id: String,
    threads: usize,
    signal: Signal,
    saved: Saved,
    since_save: Mutex<Option<Stopwatch>>,
    reports: Mutex<Reports>,
    warnings: Mutex<Vec<String>>,
    /// The processes that run the job together, if there are several.
    processes: Option<lehr_ranks::Job>,
    is_lead: bool,
}

#[derive(Default)]
struct Reports {
    listener: Option<Box<dyn Listener>>,
    last: Option<Progress>,
    splits: Vec<Split>,
}

/// A request to stop a job, shared with the service.
#[derive(Clone, Debug, Default)]
pub(crate) struct Signal(Arc<Mutex<Option<Stop>>>);

impl Signal {
    /// Requests that the job stop. A cancelled job stays cancelled.
    pub(crate) fn stop(&self, why: Stop) {
        let mut signal = self.0.lock();
        if *signal != Some(Stop::Cancelled) {
            *signal = Some(why);
        }
    }

    pub(crate) fn why(&self) -> Option<Stop> {
        *self.0.lock()
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Job").field("id", &self.id).field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl Job {
    pub(crate) fn new(
        id: String,
        threads: usize,
        signal: Signal,
        saved: Saved,
        listener: Option<Box<dyn Listener>>,
    ) -> Self {
        let reports = Mutex::new(Reports { listener, last: None, splits: Vec::new() });
        let (since_save, warnings) = (Mutex::default(), Mutex::default());
        Self { id, threads, signal, saved, since_save, reports, warnings, processes: None, is_lead: true }
    }

    /// Returns the job for one of several processes that run the job together.
    pub(crate) fn among(self, processes: Option<lehr_ranks::Job>, is_lead: bool) -> Self {
        Self { processes, is_lead, ..self }
    }

    /// Creates a job that saves its state to this file.
    #[cfg(test)]
    pub(crate) fn kept_at(checkpoint: PathBuf) -> Self {
        Self::new("kept".to_owned(), 1, Signal::default(), Saved::File(checkpoint), None)
    }

    /// Creates a job without a service, for tests of methods: nothing receives its reports or stops it, and its
    /// checkpoints are in memory.
    ///
    /// # Example
    /// See [`Job`].
    pub fn alone() -> Self {
        Self::new("alone".to_owned(), 1, Signal::default(), Saved::Memory(Arc::default()), None)
    }

    /// Returns the id of the job. If the service's document was lost or restored from a copy, an earlier job may have
    /// had the same id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the maximum number of threads that the job may use.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Returns the execution for methods on ranks: one rank for each thread, on a separate dispatcher. If several
    /// processes run the job, the execution includes the ranks of all processes.
    pub fn execution(&self) -> Execution {
        let all = Execution::default();
        // A layout may have more ranks in a process than the machine runs threads at once.
        let threads = if self.processes.is_some() { self.threads.min(all.threads) } else { self.threads };
        Execution { ranks: self.threads, threads, job: self.processes, ..all }
    }

    /// Returns whether this process returns the tables. If several processes run the job together, the tables of all
    /// other processes are ignored, so those processes need not make them.
    pub fn is_lead(&self) -> bool {
        self.is_lead
    }

    /// Returns whether the method should save its state and end with [`Failure::Stopped`]. Call this method several
    /// times a second.
    pub fn is_stopping(&self) -> bool {
        self.signal.why().is_some()
    }

    /// Returns the request to stop for use inside a step: code that sums rows checks it before each block of rows.
    pub(crate) fn interrupt(&self) -> Interrupt {
        let signal = self.signal.clone();
        Interrupt::when(move || signal.why().is_some())
    }

    /// Reports progress. Never waits: a report is dropped while an earlier one is being sent. It is also dropped if
    /// whole per cent and stage are unchanged.
    pub fn report(&self, progress: Progress) {
        let mut reports = self.reports.lock();
        let Reports { listener, last, splits } = &mut *reports;
        if last.as_ref().is_some_and(|last| last.gist() == progress.gist()) {
            return;
        }
        if listener.as_mut().is_none_or(|listener| listener.tell(&progress, splits)) {
            *last = Some(progress);
        }
    }

    /// Sets the divisions so far, which the next report takes along.
    pub(crate) fn set_splits(&self, splits: impl Iterator<Item = Split>) {
        let mut reports = self.reports.lock();
        reports.splits.clear();
        reports.splits.extend(splits);
    }

    /// Returns whether it is time to save: about once a second, and whenever the job should stop.
    pub fn is_save_due(&self) -> bool {
        let since = self.since_save.lock();
        self.is_stopping() || since.as_ref().is_none_or(|since| since.seconds() >= SAVE_SECONDS)
    }

    /// Saves bytes from which the job can resume. Replaces the previous bytes completely or not at all. The bytes
    /// survive a crash if the service keeps its jobs.
    ///
    /// # Errors
    /// Returns [`Failure::Environment`] if the bytes cannot be written. The method may continue; the previous
    /// checkpoint is still there.
    pub fn save(&self, bytes: &[u8]) -> Result<(), Failure> {
        match &self.saved {
            Saved::Memory(saved) => saved.lock().bytes = Some(bytes.to_vec()),
            Saved::File(path) => {
                let mut file = AtomicFile::create(path)?;
                let sum = xxh3_64(bytes).to_le_bytes();
                file.write_all(&sum).and_then(|()| file.write_all(bytes)).map_err(|cause| file.failed(cause))?;
                // A crash here leaves only the previous checkpoint, and the job resumes from it.
                let _ = std::fs::rename(path, before(path));
                file.commit()?;
            }
        }
        *self.since_save.lock() = Some(Stopwatch::start());
        Ok(())
    }

    /// Saves the state of a run as a checkpoint, if one is due. If saving fails, the run continues, and the previous
    /// checkpoint is still there.
    pub(crate) fn save_checkpoint(&self, checkpoint: &dyn AnyCheckpoint) {
        if self.is_save_due() {
            let bytes = checkpoint.to_json().map_err(|error| Failure::Internal(error.to_string()));
            let _ = bytes.and_then(|bytes| self.save(&bytes));
        }
    }

    /// Returns the path of a log, for methods whose results are too large to be saved again every second. The method
    /// appends finished results, and checks the results that the log already has. The file does not exist before the
    /// method creates it. The file survives a crash if the service keeps its jobs, and it is removed when the job is
    /// done.
    ///
    /// # Errors
    /// Returns [`Failure::Environment`] if its folder cannot be created.
    ///
    /// # Example
    /// ```
    /// use std::io::Write;
    /// let job = lehr_jobs::Job::alone();
    /// std::fs::File::options().create(true).append(true).open(job.log()?)?.write_all(b"row 7\n")?;
    /// assert_eq!(std::fs::read(job.log()?)?, b"row 7\n");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn log(&self) -> Result<PathBuf, Failure> {
        match &self.saved {
            Saved::File(path) => Ok(path.with_extension("log")),
            Saved::Memory(saved) => {
                let mut saved = saved.lock();
                if saved.folder.is_none() {
                    let failed = |error| Failure::Environment(format!("a folder for what {} saves: {error}", self.id));
                    saved.folder = Some(tempfile::tempdir().map_err(failed)?);
                }
                let folder = saved.folder.as_ref().map_or(std::path::Path::new(""), tempfile::TempDir::path);
                Ok(folder.join(LOG))
            }
        }
    }

    /// Returns the bytes that this run or an earlier run saved last. If the last bytes are damaged, returns the bytes
    /// saved before them. If both are damaged, returns nothing. A run that resumes from an older state takes longer,
    /// reaches the same result, and has a [warning](Self::warn).
    ///
    /// # Errors
    /// Returns [`Failure::Environment`] if the bytes cannot be read.
    pub fn saved(&self) -> Result<Option<Vec<u8>>, Failure> {
        match &self.saved {
            Saved::Memory(saved) => Ok(saved.lock().bytes.clone()),
            Saved::File(path) => {
                let found = saved_in(path, &self.id)?;
                found.damage.into_iter().for_each(|text| self.warn(text));
                Ok(found.bytes)
            }
        }
    }

    /// Adds a warning to the result.
    pub fn warn(&self, text: impl Into<String>) {
        self.warnings.lock().push(text.into());
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.lock().clone()
    }
}

/// The saved state of a job that was read from a file.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Found {
    pub(crate) bytes: Option<Vec<u8>>,
    /// A description of the damage, and of the state from which the run resumes instead.
    pub(crate) damage: Option<String>,
}

/// Returns the path of the checkpoint before the last one.
fn before(path: &Path) -> PathBuf {
    path.with_extension("checkpoint-before")
}

/// Reads the saved state of a job from a file, if it exists.
///
/// # Errors
/// Returns the errors of [`Job::saved`].
pub(crate) fn saved_in(path: &Path, id: &str) -> Result<Found, Failure> {
    let mut is_damaged = false;
    for path in [path.to_path_buf(), before(path)] {
        let bytes = match std::fs::read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(Failure::Environment(format!("the checkpoint of {id}: {error}"))),
        };
        match bytes.split_first_chunk::<8>() {
            Some((sum, bytes)) if xxh3_64(bytes).to_le_bytes() == *sum => {
                let damage = is_damaged.then(|| {
                    format!("the last checkpoint of {id} was damaged: the job went on from the one before it")
                });
                return Ok(Found { bytes: Some(bytes.to_vec()), damage });
            }
            _ => is_damaged = true,
        }
    }
    let damage = is_damaged.then(|| format!("the checkpoints of {id} were damaged: the job started again"));
    Ok(Found { bytes: None, damage })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Taking(Arc<Mutex<Vec<Progress>>>, bool);

    impl Listener for Taking {
        fn tell(&mut self, progress: &Progress, _: &[Split]) -> bool {
            // Refuses every second report, as if the previous one had not been received.
            self.1 = !self.1;
            if self.1 {
                self.0.lock().push(progress.clone());
            }
            self.1
        }
    }

    #[test]
    fn reports_that_say_the_same_are_not_told_and_refused_ones_are_told_later() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let listener = Box::new(Taking(told.clone(), false));
        let saved = Saved::Memory(Arc::default());
        let job = Job::new("job".into(), 1, Signal::default(), saved, Some(listener));
        for fraction in [0.101, 0.102, 0.109, 0.2, 0.201, 0.3] {
            job.report(Progress::new(fraction, "a"));
        }
        let fractions: Vec<f64> = told.lock().iter().map(|progress| progress.fraction).collect();
        assert_eq!(fractions, [0.101, 0.201]);
    }

    #[test]
    fn a_damaged_checkpoint_is_found_out_and_the_one_before_takes_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("job.checkpoint");
        let job = Job::new("job".into(), 1, Signal::default(), Saved::File(path.clone()), None);
        assert_eq!(job.saved().unwrap(), None);
        assert!(job.is_save_due());
        job.save(b"first").unwrap();
        job.save(b"second").unwrap();
        assert_eq!(job.saved().unwrap().unwrap(), b"second");
        let flip = |path: &Path| {
            let mut bytes = std::fs::read(path).unwrap();
            *bytes.last_mut().unwrap() ^= 1;
            std::fs::write(path, bytes).unwrap();
        };
        assert!(job.warnings().is_empty());
        flip(&path);
        assert_eq!(job.saved().unwrap().unwrap(), b"first");
        assert_eq!(job.warnings(), ["the last checkpoint of job was damaged: the job went on from the one before it"]);
        flip(&before(&path));
        assert_eq!(job.saved().unwrap(), None);
        assert_eq!(job.warnings()[1], "the checkpoints of job were damaged: the job started again");
        // Act as if the process had stopped between the two renames of a save.
        job.save(b"third").unwrap();
        job.save(b"fourth").unwrap();
        std::fs::remove_file(&path).unwrap();
        assert_eq!(job.saved().unwrap().unwrap(), b"third");
        assert_eq!(job.warnings().len(), 2);
        job.saved.forget();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
