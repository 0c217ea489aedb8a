//! Runs a method on its own thread, while the Python thread waits for it.
//!
//! Methods call their observer on a worker. But Python handles signals on the main thread, and a callback expects the
//! thread that called `fit`. So the method runs on a second thread, and the calling thread waits without holding the
//! interpreter lock. The calling thread wakes for news, calls the callback and answers. Every 50 ms, it checks for
//! signals. The observer waits for the answer, so a callback sees every step, and can stop the run at exactly that
//! step.
//!
//! When a signal raises an exception (Ctrl-C), the run is asked to stop before its next block of rows. Work before the
//! first pass and after the last pass may take too long to wait for. Without a job, the waiting thread then abandons
//! the run. The run owns all its data, ends as soon as it can and does not touch Python. In a job, other processes wait
//! for this process, so the run is abandoned only after a second Ctrl-C.
//!
//! The batches of a stream also come from Python, and the method requests them in the same way. A generator may use
//! resources that only the calling thread may use, such as a connection to SQLite.
//!
//! No wait is endless. The method closes its channels when it ends, even by a panic. The waiting thread closes its own
//! channels when it leaves.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use lehr_data::Points;
use lehr_mining::minibatch::Source;
use lehr_ranks::observe::{self, AnyCheckpoint, Control, Interrupt, Observer};
use lehr_ranks::timing::Stopwatch;
use lehr_sync::{Arc, process::Flag, thread::spawn};
use pyo3::prelude::*;

use crate::{arrays, errors};

/// The interval between checks for signals.
const TICK: Duration = Duration::from_millis(50);
/// The number of ticks for which the waiting thread waits for a run to stop, before it abandons the run.
const GRACE: usize = 10;
/// The seconds between two checkpoints.
const CHECKPOINT_S: f64 = 5.0;

/// The progress of a run, which a callback receives.
#[pyclass(frozen, get_all, module = "lehr", name = "Progress")]
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// The current stage of the run, in words.
    stage: String,
    /// The estimated share of the work that is done, from 0 to 1.
    fraction: f64,
    /// The current temperature, in the squared unit of the points, or in the unit of the dissimilarities; `None`
    /// without annealing.
    temperature: Option<f64>,
    /// The current number of clusters or components.
    n_clusters: Option<usize>,
    /// The quantity that decreases: free energy, stress, mean squared distance, cost, or a negative likelihood.
    objective: Option<f64>,
    /// The number of passes or iterations so far. For dissimilarities, the number of finished pairs.
    n_iter: u64,
}

impl Progress {
    fn of(progress: &observe::Progress) -> Self {
        let first = |names: &[&str]| names.iter().find_map(|name| progress.figure(name));
        // The likelihood is negated, so that it decreases like the other objectives.
        let likelihood = || first(&["log_likelihood", "objective"]).map(|likelihood| -likelihood);
        Self {
            stage: progress.stage.to_string(),
            fraction: progress.fraction.unwrap_or(0.0),
            temperature: progress.figure("temperature"),
            n_clusters: first(&["clusters", "components"]).map(|count| count as usize),
            objective: first(&["free_energy", "mean_cost", "stress", "cost"]).or_else(likelihood),
            n_iter: first(&["sweeps", "iteration", "done"]).unwrap_or(0.0) as u64,
        }
    }
}

#[pymethods]
impl Progress {
    fn __repr__(&self) -> String {
        format!("Progress(stage={:?}, fraction={:.3}, n_iter={})", self.stage, self.fraction, self.n_iter)
    }
}

/// Writes checkpoints.
struct Saver {
    path: Option<PathBuf>,
    since: Stopwatch,
    failure: Option<String>,
}

impl Saver {
    /// Writes the checkpoint, unless the previous one is less than five seconds old. When the run stops, always writes
    /// the checkpoint, because the next run resumes from it.
    fn offer(&mut self, is_last: bool, checkpoint: &dyn AnyCheckpoint) {
        let Some(path) = &self.path else { return };
        if !is_last && self.since.seconds() < CHECKPOINT_S {
            return;
        }
        if let Err(error) = checkpoint.write(path) {
            // A full disk must not end the run, only its checkpoints.
            self.failure.get_or_insert_with(|| error.to_string());
        }
        self.since = Stopwatch::start();
    }
}

/// A message from the method to the waiting thread.
enum News {
    Progress(Progress),
    /// A request for up to this many rows of the stream.
    Wants(usize),
}

/// Passes a run's reports to the waiting thread.
pub(crate) struct Relay {
    /// The channels for reports and for the callback's answers; `None` if there is no callback.
    line: Option<(SyncSender<News>, Receiver<bool>)>,
    stop: Arc<Flag>,
    saver: Saver,
}

/// A stream from Python: the method requests rows, and the waiting thread reads them.
pub(crate) struct Pulled {
    news: SyncSender<News>,
    batches: Receiver<Option<Points>>,
}

impl Source for Pulled {
    /// Returns the next rows. If the waiting thread has left, returns the end of the stream; the observer then notices
    /// the request to stop.
    fn next(&mut self, rows: usize) -> Result<Option<Points>, lehr_data::Error> {
        let asked = self.news.send(News::Wants(rows));
        Ok(asked.ok().and_then(|()| self.batches.recv().ok()).flatten())
    }
}

impl Observer for Relay {
    fn progress(&mut self, progress: &observe::Progress) -> Control {
        if let Some((news, answers)) = &self.line {
            // If the waiting thread has left, the result is not needed.
            let goes_on = news.send(News::Progress(Progress::of(progress))).is_ok() && answers.recv().unwrap_or(false);
            if !goes_on {
                self.stop.raise();
            }
        }
        if self.stop.is_up() { Control::Stop } else { Control::Continue }
    }

    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.saver.offer(self.stop.is_up(), checkpoint);
    }

    /// Returns the request to stop, which methods check before each block of rows.
    fn interrupt(&self) -> Option<Interrupt> {
        let stop = self.stop.clone();
        Some(Interrupt::when(move || stop.is_up()))
    }

    /// Saves a run that was interrupted within a step, in this process or in another process of the job.
    fn interrupted(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.stop.raise();
        self.checkpoint(checkpoint);
    }
}

/// The outcome of a run, and the reason why a requested checkpoint could not be written, if there is one.
pub(crate) struct Watched<T> {
    pub outcome: T,
    pub checkpoint_failure: Option<String>,
}

/// Runs `work` on another thread. The calling thread waits without the interpreter lock, calls `callback` and checks
/// for signals.
///
/// The callback stops the run by returning `False` or by raising an exception.
///
/// # Errors
/// Returns the exception that the callback or a signal handler raised, or `RuntimeError` if no thread can be started.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    checkpoint: Option<PathBuf>,
    is_in_job: bool,
    work: impl FnOnce(&mut Relay) -> T + Send + 'static,
) -> PyResult<Watched<T>> {
    // This work does not request rows.
    let none = py.None().into_bound(py);
    run_stream(py, &none, callback, checkpoint, is_in_job, |relay, _| work(relay))
}

/// Runs work on a stream in the same way as [`run`]. `pull(rows)` returns a pair: an array, and its weights or `None`.
/// At the end of the stream, `pull` returns `None` instead.
///
/// # Errors
/// Returns the errors of [`run`], and the exceptions of `pull`.
pub(crate) fn run_stream<T: Send + 'static>(
    py: Python<'_>,
    pull: &Bound<'_, PyAny>,
    callback: Option<&Bound<'_, PyAny>>,
    checkpoint: Option<PathBuf>,
    is_in_job: bool,
    work: impl FnOnce(&mut Relay, &mut Pulled) -> T + Send + 'static,
) -> PyResult<Watched<T>> {
    let (tell, news) = sync_channel(1);
    let (answer, answers) = sync_channel(1);
    let (give, batches) = sync_channel(1);
    let stop = Arc::new(Flag::new());
    // The thread holds this channel until it ends, with or without a callback. So when the channel closes, the work is
    // done.
    let mut pulled = Pulled { news: tell.clone(), batches };
    let mut relay = Relay {
        line: callback.is_some().then_some((tell, answers)),
        stop: stop.clone(),
        saver: Saver { path: checkpoint, since: Stopwatch::start(), failure: None },
    };
    let thread = spawn("lehr-run", move || {
        let outcome = work(&mut relay, &mut pulled);
        drop(pulled);
        Watched { outcome, checkpoint_failure: relay.saver.failure }
    })
    .map_err(|cause| errors::runtime(format!("no thread to compute on: {cause}")))?;

    let waited = wait(py, news, |news| {
        // Sends may fail, because the run may have ended meanwhile.
        match (news, callback) {
            (News::Wants(rows), _) => {
                let _ = give.send(batch(pull, rows)?);
            }
            (News::Progress(progress), Some(callback)) => {
                let answered = callback.call1((progress,))?;
                let _ = answer.send(answered.is_none() || answered.is_truthy()?);
            }
            (News::Progress(_), None) => {}
        }
        Ok(())
    });
    if let Err((raised, news)) = waited {
        stop.raise();
        // An observer or a stream that waits for an answer receives an error, and stops.
        drop((answer, give));
        if !linger(py, news, is_in_job)? {
            return Err(raised);
        }
        let _ = py.detach(|| thread.join());
        return Err(raised);
    }
    match py.detach(|| thread.join()) {
        Ok(watched) => Ok(watched),
        // A panic is an error of this library. Python shows it as a `PanicException`.
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// Requests the next rows of a stream.
fn batch(pull: &Bound<'_, PyAny>, rows: usize) -> PyResult<Option<Points>> {
    let Some((x, weights)) = pull.call1((rows,))?.extract::<Option<(Bound<'_, PyAny>, Option<_>)>>()? else {
        return Ok(None);
    };
    arrays::points(&x, weights).map(Some)
}

/// Waits for the next news without the interpreter lock.
fn next(py: Python<'_>, news: Receiver<News>) -> (Receiver<News>, Result<News, RecvTimeoutError>) {
    py.detach(move || {
        let heard = news.recv_timeout(TICK);
        (news, heard)
    })
}

/// Handles news until the method closes its channel.
fn wait(
    py: Python<'_>,
    mut news: Receiver<News>,
    mut each: impl FnMut(News) -> PyResult<()>,
) -> Result<(), (PyErr, Receiver<News>)> {
    loop {
        let heard;
        (news, heard) = next(py, news);
        let looked = match heard {
            Ok(told) => each(told).and_then(|()| py.check_signals()),
            Err(RecvTimeoutError::Timeout) => py.check_signals(),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        if let Err(raised) = looked {
            return Err((raised, news));
        }
    }
}

/// Waits for the end of a run that was asked to stop, and returns whether it has ended. In a job, waits until the run
/// ends or another signal raises an exception; otherwise waits half a second.
fn linger(py: Python<'_>, mut news: Receiver<News>, is_in_job: bool) -> PyResult<bool> {
    let mut ticks = 0;
    loop {
        let heard;
        (news, heard) = next(py, news);
        match heard {
            Err(RecvTimeoutError::Disconnected) => return Ok(true),
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) if is_in_job => py.check_signals()?,
            Err(RecvTimeoutError::Timeout) => ticks += 1,
        }
        if ticks >= GRACE {
            return Ok(false);
        }
    }
}
