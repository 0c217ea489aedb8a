//! A method at work on its own thread, and the Python thread that waits for it.
//!
//! Methods call their observer on a worker; Python's signals are for the main thread, and a callback expects the thread
//! that called `fit`. So the work goes to another thread, and this one waits without holding the interpreter. It wakes
//! for news, calls the callback and answers. Every few hundredths of a second it looks whether a signal has arrived.
//! The observer waits for the answer, so a callback sees every step and may stop at just that one.
//!
//! When a signal raises (Ctrl-C), the run gets a request to stop before its next leaf of rows. Its work before its
//! first pass and after its last may take longer than a person waits. Alone, this thread then leaves the run behind,
//! which owns all its data, ends as soon as it can and touches no Python. In a job the others wait for our part, so it
//! is not left behind; a second Ctrl-C is.
//!
//! A stream's batches come from Python too, and the work asks for them in the same way. A generator may hold resources that are for
//! the calling thread alone, such as a connection to SQLite.
//!
//! No wait is endless. The work ends its channels when it ends, even by a panic, and the waiting thread ends its own
//! when it leaves.

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

/// The interval between looks for signals.
const TICK: Duration = Duration::from_millis(50);
/// Ticks that a run has to stop before it is left behind.
const GRACE: usize = 10;
/// Seconds between two checkpoints.
const CHECKPOINT_S: f64 = 5.0;

/// The progress of a run, as a callback sees it.
#[pyclass(frozen, get_all, module = "lehr", name = "Progress")]
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// The present stage.
    stage: String,
    /// Estimate of the share of the work that is done, 0 to 1.
    fraction: f64,
    /// In the squared unit of the points, or the unit of the dissimilarities.
    temperature: Option<f64>,
    /// Clusters or components at present.
    n_clusters: Option<usize>,
    /// The decreasing quantity: free energy, stress, mean squared distance, cost, or a negative likelihood.
    objective: Option<f64>,
    /// Sweeps or iterations so far; pairs finished, for dissimilarities.
    n_iter: u64,
}

impl Progress {
    fn of(progress: &observe::Progress) -> Self {
        let first = |names: &[&str]| names.iter().find_map(|name| progress.figure(name));
        // A likelihood, turned so that it falls as all the others do.
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

/// The target of checkpoints.
struct Saver {
    path: Option<PathBuf>,
    since: Stopwatch,
    failure: Option<String>,
}

impl Saver {
    /// Writes every few seconds, and always at a stop: the last one offered is the one to resume.
    fn offer(&mut self, is_last: bool, checkpoint: &dyn AnyCheckpoint) {
        let Some(path) = &self.path else { return };
        if !is_last && self.since.seconds() < CHECKPOINT_S {
            return;
        }
        if let Err(error) = checkpoint.write(path) {
            // A disk that is full costs the checkpoint, not the run.
            self.failure.get_or_insert_with(|| error.to_string());
        }
        self.since = Stopwatch::start();
    }
}

/// A message from the work to the thread that waits.
enum News {
    Progress(Progress),
    /// The stream should give this many rows, or fewer.
    Wants(usize),
}

/// A run's reports, on their way to the thread that waits.
pub(crate) struct Relay {
    /// The channels of reports and of the callback's answers; none without a callback.
    line: Option<(SyncSender<News>, Receiver<bool>)>,
    stop: Arc<Flag>,
    saver: Saver,
}

/// A stream from Python, requested by the work and read by the thread that waits.
pub(crate) struct Pulled {
    news: SyncSender<News>,
    batches: Receiver<Option<Points>>,
}

impl Source for Pulled {
    /// It is also the end of the stream when the waiting thread has gone. That thread has asked the run to stop, and
    /// its observer notices next.
    fn next(&mut self, rows: usize) -> Result<Option<Points>, lehr_data::Error> {
        let asked = self.news.send(News::Wants(rows));
        Ok(asked.ok().and_then(|()| self.batches.recv().ok()).flatten())
    }
}

impl Observer for Relay {
    fn progress(&mut self, progress: &observe::Progress) -> Control {
        if let Some((news, answers)) = &self.line {
            // Whoever waited may have gone: then nobody wants the result.
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

    /// The code that adds up rows looks for a request to stop before each leaf of them.
    fn interrupt(&self) -> Option<Interrupt> {
        let stop = self.stop.clone();
        Some(Interrupt::when(move || stop.is_up()))
    }

    /// For a run that was given up within a step, here or in another process of a job.
    fn interrupted(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.stop.raise();
        self.checkpoint(checkpoint);
    }
}

/// The outcome of a run, and the reason if a checkpoint was wanted and could not be kept.
pub(crate) struct Watched<T> {
    pub outcome: T,
    pub checkpoint_failure: Option<String>,
}

/// Does `work` on another thread while this one waits without the interpreter, calls `callback` with news, and looks for signals.
///
/// The callback stops the run by returning `False` or by raising.
///
/// # Errors
/// The exception that the callback or a signal handler raised; `RuntimeError` if no thread can be started.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    checkpoint: Option<PathBuf>,
    is_in_job: bool,
    work: impl FnOnce(&mut Relay) -> T + Send + 'static,
) -> PyResult<Watched<T>> {
    // Nothing asks it for rows.
    let none = py.None().into_bound(py);
    run_stream(py, &none, callback, checkpoint, is_in_job, |relay, _| work(relay))
}

/// Like [`run`], for the work on a stream. `pull(rows)` returns an array and its weights or `None`, or `None` at the
/// end.
///
/// # Errors
/// The errors of [`run`], and the exceptions of `pull`.
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
    // Held by the thread to its end, whether there is a callback or not: when it goes, the work is done.
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
        // The run may have ended meanwhile.
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
        // An observer or a stream that waits for an answer gets none, and stops.
        drop((answer, give));
        if !linger(py, news, is_in_job)? {
            return Err(raised);
        }
        let _ = py.detach(|| thread.join());
        return Err(raised);
    }
    match py.detach(|| thread.join()) {
        Ok(watched) => Ok(watched),
        // A panic is our fault; Python shows it as such.
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// The next rows of a stream.
fn batch(pull: &Bound<'_, PyAny>, rows: usize) -> PyResult<Option<Points>> {
    let Some((x, weights)) = pull.call1((rows,))?.extract::<Option<(Bound<'_, PyAny>, Option<_>)>>()? else {
        return Ok(None);
    };
    arrays::points(&x, weights).map(Some)
}

/// The next news, without the interpreter.
fn next(py: Python<'_>, news: Receiver<News>) -> (Receiver<News>, Result<News, RecvTimeoutError>) {
    py.detach(move || {
        let heard = news.recv_timeout(TICK);
        (news, heard)
    })
}

/// Waits until the work ends its channel.
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

/// Gives a run that was asked to stop the time to do so; returns whether it did. In a job it has all the time there is,
/// until another signal comes.
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
