//! A method at work on a thread of its own, and the Python thread that waits for it.
//!
//! Methods call their observer on a worker; Python's signals are for the main thread, and a callback expects the thread that called `fit`. So the work
//! goes to another thread, and this one waits without holding the interpreter: it wakes for news, calls the callback, answers, and looks every few
//! hundredths of a second whether a signal has come. The observer waits for the answer, so a callback sees every step and may stop at just that one.
//!
//! When a signal raises (Ctrl-C), the run is told to stop before its next leaf of rows. What it does before its first pass and after its last may take longer than a person waits: alone,
//! this thread then leaves the run behind, which owns all that it works on, ends as soon as it can and touches no Python. In a job the others wait for
//! our part, so it is not left behind; a second Ctrl-C is.
//!
//! Nobody can wait for ever: the work ends its channels when it ends, even by a panic, and the waiting thread its own when it goes.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lehr_mining::anneal::{self, Control, Interrupt};
use lehr_mining::{gtm, kmeans, mixture, pairwise, smacof};
use lehr_ranks::timing::Stopwatch;
use pyo3::prelude::*;

use crate::errors;
use crate::fit::Checkpoint;
use crate::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use crate::sync::{Stop, spawn};

/// How often signals are looked at.
const TICK: Duration = Duration::from_millis(50);
/// Ticks that a run has to stop before it is left behind.
const GRACE: usize = 10;
/// Seconds between two checkpoints.
const CHECKPOINT_S: f64 = 5.0;

/// How far a run is, as a callback sees it.
#[pyclass(frozen, get_all, module = "lehr", name = "Progress")]
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// What is being done.
    stage: String,
    /// Estimate of the share of the work that is done, 0 to 1.
    fraction: f64,
    /// In the squared unit of the points, or the unit of the dissimilarities.
    temperature: Option<f64>,
    /// Clusters or components at present.
    n_clusters: Option<usize>,
    /// The quantity that falls: free energy, stress, mean squared distance, or a likelihood with its sign turned.
    objective: Option<f64>,
    /// Sweeps or iterations so far; pairs finished, for dissimilarities.
    n_iter: u64,
}

#[pymethods]
impl Progress {
    fn __repr__(&self) -> String {
        format!("Progress(stage={:?}, fraction={:.3}, n_iter={})", self.stage, self.fraction, self.n_iter)
    }
}

/// Where checkpoints go.
struct Saver {
    path: Option<PathBuf>,
    since: Stopwatch,
    failure: Option<String>,
}

impl Saver {
    /// Writes every few seconds, and always at a stop: the last one offered is the one to go on from.
    fn offer(&mut self, is_last: bool, write: impl FnOnce(&Path) -> Result<(), lehr_mining::Error>) {
        let Some(path) = &self.path else { return };
        if !is_last && self.since.seconds() < CHECKPOINT_S {
            return;
        }
        if let Err(error) = write(path) {
            // A disk that is full costs the checkpoint, not the run.
            self.failure.get_or_insert_with(|| error.to_string());
        }
        self.since = Stopwatch::start();
    }
}

/// What a run tells, on its way to the thread that waits.
pub(crate) struct Relay {
    /// News, and what the callback made of them; none without a callback.
    line: Option<(SyncSender<Progress>, Receiver<bool>)>,
    stop: Stop,
    saver: Saver,
}

impl Relay {
    fn tell(&mut self, progress: impl FnOnce() -> Progress) -> Control {
        if let Some((news, answers)) = &self.line {
            // Whoever waited may have gone: then nobody wants the result.
            let goes_on = news.send(progress()).is_ok() && answers.recv().unwrap_or(false);
            if !goes_on {
                self.stop.say();
            }
        }
        if self.stop.is_said() { Control::Stop } else { Control::Continue }
    }

    fn tell_step(&mut self, progress: &anneal::Progress<'_>) -> Control {
        self.tell(|| Progress {
            stage: progress.stage.name().to_owned(),
            fraction: progress.fraction,
            temperature: Some(progress.step.temperature),
            n_clusters: Some(progress.step.clusters),
            objective: Some(progress.step.free_energy),
            n_iter: progress.sweeps,
        })
    }

    fn keep(&mut self, checkpoint: &impl Checkpoint) {
        self.saver.offer(self.stop.is_said(), |path| checkpoint.write(path));
    }

    /// Whoever adds up rows looks for a word to stop before each leaf of them.
    fn within_steps(&self) -> Interrupt {
        let stop = self.stop.clone();
        Interrupt::when(move || stop.is_said())
    }

    /// Of a run that was given up within a step, here or in another process of a job.
    fn keep_last(&mut self, checkpoint: &impl Checkpoint) {
        self.stop.say();
        self.keep(checkpoint);
    }
}

impl anneal::Observer for Relay {
    fn progress(&mut self, progress: &anneal::Progress<'_>) -> Control {
        self.tell_step(progress)
    }

    fn checkpoint(&mut self, checkpoint: &anneal::Checkpoint) {
        self.keep(checkpoint);
    }

    fn interrupt(&self) -> Option<Interrupt> {
        Some(self.within_steps())
    }

    fn interrupted(&mut self, checkpoint: &anneal::Checkpoint) {
        self.keep_last(checkpoint);
    }
}

impl anneal::Observer<pairwise::Checkpoint> for Relay {
    fn progress(&mut self, progress: &anneal::Progress<'_>) -> Control {
        self.tell_step(progress)
    }

    fn checkpoint(&mut self, checkpoint: &pairwise::Checkpoint) {
        self.keep(checkpoint);
    }

    fn interrupt(&self) -> Option<Interrupt> {
        Some(self.within_steps())
    }

    fn interrupted(&mut self, checkpoint: &pairwise::Checkpoint) {
        self.keep_last(checkpoint);
    }
}

impl anneal::Observer<kmeans::Checkpoint> for Relay {
    fn progress(&mut self, progress: &anneal::Progress<'_>) -> Control {
        self.tell(|| Progress {
            stage: progress.stage.name().to_owned(),
            fraction: progress.fraction,
            temperature: None,
            n_clusters: Some(progress.step.clusters),
            objective: Some(progress.step.mean_cost),
            n_iter: progress.sweeps,
        })
    }

    fn checkpoint(&mut self, checkpoint: &kmeans::Checkpoint) {
        self.keep(checkpoint);
    }

    fn interrupt(&self) -> Option<Interrupt> {
        Some(self.within_steps())
    }

    fn interrupted(&mut self, checkpoint: &kmeans::Checkpoint) {
        self.keep_last(checkpoint);
    }
}

impl gtm::Observer for Relay {
    fn progress(&mut self, progress: &gtm::Progress) -> Control {
        self.tell(|| Progress {
            stage: progress.stage.name().to_owned(),
            fraction: progress.fraction,
            // None is known before the principal axes are.
            temperature: (progress.temperature > 0.0).then_some(progress.temperature),
            n_clusters: None,
            objective: progress.objective.map(|objective| -objective),
            n_iter: progress.sweeps,
        })
    }

    fn checkpoint(&mut self, checkpoint: &gtm::Checkpoint) {
        self.keep(checkpoint);
    }

    fn interrupt(&self) -> Option<Interrupt> {
        Some(self.within_steps())
    }

    fn interrupted(&mut self, checkpoint: &gtm::Checkpoint) {
        self.keep_last(checkpoint);
    }
}

impl smacof::Observer for Relay {
    fn progress(&mut self, progress: &smacof::Progress) -> Control {
        self.tell(|| Progress {
            stage: "iterating".to_owned(),
            fraction: progress.fraction,
            temperature: (progress.temperature > 0.0).then_some(progress.temperature),
            n_clusters: None,
            objective: Some(progress.stress),
            n_iter: progress.iteration,
        })
    }

    fn checkpoint(&mut self, checkpoint: &smacof::Checkpoint) {
        self.keep(checkpoint);
    }

    fn interrupt(&self) -> Option<Interrupt> {
        Some(self.within_steps())
    }

    fn interrupted(&mut self, checkpoint: &smacof::Checkpoint) {
        self.keep_last(checkpoint);
    }
}

impl mixture::Observer for Relay {
    fn progress(&mut self, progress: &mixture::Progress) -> Control {
        self.tell(|| Progress {
            stage: progress.stage.name().to_owned(),
            fraction: progress.fraction,
            temperature: progress.temperature,
            n_clusters: Some(progress.components),
            // It falls, as all the others do.
            objective: progress.log_likelihood.map(|likelihood| -likelihood),
            n_iter: progress.sweeps,
        })
    }

    fn checkpoint(&mut self, checkpoint: &mixture::Checkpoint) {
        self.keep(checkpoint);
    }

    fn interrupt(&self) -> Option<Interrupt> {
        Some(self.within_steps())
    }

    fn interrupted(&mut self, checkpoint: &mixture::Checkpoint) {
        self.keep_last(checkpoint);
    }
}

impl lehr_distances::Observer for Relay {
    fn progress(&mut self, progress: lehr_distances::Progress) -> lehr_distances::Control {
        let control = self.tell(|| Progress {
            stage: "comparing".to_owned(),
            fraction: if progress.pairs > 0 { progress.done as f64 / progress.pairs as f64 } else { 1.0 },
            temperature: None,
            n_clusters: None,
            objective: None,
            n_iter: progress.done,
        });
        match control {
            Control::Continue => lehr_distances::Control::Continue,
            Control::Stop => lehr_distances::Control::Stop,
        }
    }
}

/// What came of a run, and why no checkpoint could be kept, if one was wanted and could not.
pub(crate) struct Watched<T> {
    pub outcome: T,
    pub checkpoint_failure: Option<String>,
}

/// Does `work` on another thread while this one waits without the interpreter, calls `callback` with news, and looks for signals.
///
/// The callback stops the run by returning `False` or by raising.
///
/// # Errors
/// What the callback or a signal handler raised; `RuntimeError` if there is no thread to be had.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    callback: Option<&Bound<'_, PyAny>>,
    checkpoint: Option<PathBuf>,
    is_in_job: bool,
    work: impl FnOnce(&mut Relay) -> T + Send + 'static,
) -> PyResult<Watched<T>> {
    let (tell, news) = sync_channel(1);
    let (answer, answers) = sync_channel(1);
    let stop = Stop::default();
    // Held by the thread to its end, whether there is a callback or not: when it goes, the work is done.
    let alive = tell.clone();
    let mut relay = Relay {
        line: callback.is_some().then_some((tell, answers)),
        stop: stop.clone(),
        saver: Saver { path: checkpoint, since: Stopwatch::start(), failure: None },
    };
    let thread = spawn("lehr-run", move || {
        let outcome = work(&mut relay);
        drop(alive);
        Watched { outcome, checkpoint_failure: relay.saver.failure }
    })
    .map_err(|cause| errors::runtime(format!("no thread to compute on: {cause}")))?;

    let waited = wait(py, news, |progress| match callback {
        None => Ok(()),
        Some(callback) => {
            let answered = callback.call1((progress,))?;
            let goes_on = answered.is_none() || answered.is_truthy()?;
            // The run may have ended meanwhile.
            let _ = answer.send(goes_on);
            Ok(())
        }
    });
    if let Err((raised, news)) = waited {
        stop.say();
        // An observer that waits for an answer gets none, and stops.
        drop(answer);
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

/// The next news, without the interpreter.
fn next(py: Python<'_>, news: Receiver<Progress>) -> (Receiver<Progress>, Result<Progress, RecvTimeoutError>) {
    py.detach(move || {
        let heard = news.recv_timeout(TICK);
        (news, heard)
    })
}

/// Waits until the work ends its channel.
fn wait(
    py: Python<'_>,
    mut news: Receiver<Progress>,
    mut each: impl FnMut(Progress) -> PyResult<()>,
) -> Result<(), (PyErr, Receiver<Progress>)> {
    loop {
        let heard;
        (news, heard) = next(py, news);
        let looked = match heard {
            Ok(progress) => each(progress).and_then(|()| py.check_signals()),
            Err(RecvTimeoutError::Timeout) => py.check_signals(),
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        if let Err(raised) = looked {
            return Err((raised, news));
        }
    }
}

/// Gives a run that was told to stop the time to do so; whether it did. In a job it has all the time there is, until another signal comes.
fn linger(py: Python<'_>, mut news: Receiver<Progress>, is_in_job: bool) -> PyResult<bool> {
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
