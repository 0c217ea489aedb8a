//! The observer of a run, which receives the run's progress and can stop the run. All methods use the same kind of
//! observer.
//!
//! A method reports its stage, the share of the work done, and some named figures ([`Progress`]). So an observer need
//! not know which method runs.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::io;
use std::path::Path;

use lehr_sync::Arc;

use crate::trace::Trace;

/// The progress of a run.
///
/// # Example
/// ```
/// use lehr_ranks::observe::Progress;
/// let figures = vec![("done", 30.0), ("pairs", 45.0)];
/// let progress = Progress { stage: "comparing".into(), fraction: Some(30.0 / 45.0), figures };
/// assert_eq!((progress.figure("pairs"), progress.figure("sweeps")), (Some(45.0), None));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// The part of the work in progress, such as `annealing`, `fitting from the plane`, `iterating` or `comparing`.
    pub stage: Cow<'static, str>,
    /// The estimated share of the work done, 0 to 1; `None` if the amount of work is unknown, as for a stream.
    pub fraction: Option<f64>,
    /// The method's own figures, by name, in a fixed order.
    pub figures: Vec<(&'static str, f64)>,
}

impl Progress {
    /// Returns the figure with this name, if the method currently reports it.
    ///
    /// # Example
    /// See [`Progress`].
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|(of, _)| *of == name).map(|(_, value)| *value)
    }
}

/// An observer's decision whether the run continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// The run continues.
    Continue,
    /// The run stops at once: it gives its observer its checkpoint, if it has one, and ends with its method's error
    /// `Stopped`.
    Stop,
}

/// Watches a run: receives its progress and its checkpoints, and can stop it.
///
/// The run calls its observer on one rank only, between two steps. So the observer may take a fraction of a second, and
/// may print.
///
/// # Example
/// ```
/// use lehr_ranks::observe::{Control, Observer, Progress};
///
/// // Stops once half of the work is done.
/// struct Half;
///
/// impl Observer for Half {
///     fn progress(&mut self, progress: &Progress) -> Control {
///         if progress.fraction.is_some_and(|fraction| fraction >= 0.5) { Control::Stop } else { Control::Continue }
///     }
/// }
///
/// let progress = Progress { stage: "iterating".into(), fraction: Some(0.6), figures: vec![("stress", 0.1)] };
/// assert_eq!(Half.progress(&progress), Control::Stop);
/// ```
pub trait Observer: Send {
    /// Receives the progress after each step, and returns whether the run continues.
    fn progress(&mut self, progress: &Progress) -> Control {
        let _ = progress;
        Control::Continue
    }

    /// Receives, after each step, a checkpoint from which a run can resume.
    ///
    /// Writing a checkpoint costs far more than receiving the offer of a checkpoint. So an observer should write a
    /// checkpoint every few seconds at most, and always after it returned [`Control::Stop`].
    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        let _ = checkpoint;
    }

    /// Returns the interrupt that may stop the run within a step.
    ///
    /// The run calls this method once, before the ranks begin. In a job of several processes, all observers should have
    /// an interrupt. Steps can be interrupted only if the lead's observer has an interrupt.
    fn interrupt(&self) -> Option<Interrupt> {
        None
    }

    /// After an interrupt of this or another process, receives the state at the beginning of the abandoned step,
    /// instead of the next progress.
    ///
    /// The run does not call this method before the end of the first step, because there is nothing to resume from. The
    /// run ends with its method's error `Stopped`. By default, the state is passed to [`checkpoint`](Self::checkpoint);
    /// no other checkpoint follows.
    fn interrupted(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.checkpoint(checkpoint);
    }

    /// Returns the trace in which the run records the actions of each rank, if the observer wants a trace.
    ///
    /// The run calls this method once, before the ranks begin. In a job of several processes, either all observers must
    /// have a trace, or none. At the end, the lead's trace is complete.
    fn trace(&self) -> Option<&Trace> {
        None
    }
}

/// An observer that ignores everything and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// A checkpoint, of a type that does not depend on the method.
///
/// # Example
/// ```
/// use std::io;
/// use std::path::Path;
/// use lehr_ranks::observe::AnyCheckpoint;
///
/// struct Iterations(u64);
///
/// impl AnyCheckpoint for Iterations {
///     fn write(&self, path: &Path) -> io::Result<()> {
///         std::fs::write(path, self.to_json()?)
///     }
///     fn to_json(&self) -> io::Result<Vec<u8>> {
///         Ok(self.0.to_string().into_bytes())
///     }
/// }
///
/// let checkpoint: &dyn AnyCheckpoint = &Iterations(7);
/// assert_eq!(checkpoint.to_json()?, b"7");
/// assert_eq!(checkpoint.downcast_ref::<Iterations>().map(|iterations| iterations.0), Some(7));
/// assert!(checkpoint.downcast_ref::<String>().is_none());
/// # Ok::<(), io::Error>(())
/// ```
pub trait AnyCheckpoint: Any + Send {
    /// Writes the checkpoint to a file that the method reads; replaces an existing file. The file is written completely
    /// or not at all.
    ///
    /// # Errors
    /// Fails if the folder cannot be written to or the disk is full. The error's message comes from the method.
    fn write(&self, path: &Path) -> io::Result<()>;

    /// Returns the same content as JSON, for callers that keep it with other data.
    ///
    /// # Errors
    /// Fails if a number cannot be written as JSON.
    fn to_json(&self) -> io::Result<Vec<u8>>;
}

impl dyn AnyCheckpoint {
    /// Returns the checkpoint as the type `C` of one method, if it belongs to that method.
    ///
    /// # Example
    /// See [`AnyCheckpoint`].
    pub fn downcast_ref<C: 'static>(&self) -> Option<&C> {
        let any: &dyn Any = self;
        any.downcast_ref()
    }
}

/// Tells a run whether to stop at once, in the middle of a pass over its rows.
///
/// A run asks its observer between steps, and a step over very many rows may take minutes. If the observer has an
/// interrupt ([`Observer::interrupt`]), the run checks it before each leaf of rows (some hundreds to thousands of
/// rows). If the interrupt is set, the run skips the rest of the pass, and the step counts as never begun. The run
/// gives its observer the checkpoint from before that step. A run that resumes from this checkpoint ends with the same
/// bits. Before the first step, there is nothing to resume from, because the run is still initialising. A run that is
/// interrupted then stops without a checkpoint.
///
/// # Example
/// ```
/// use std::sync::{Arc, OnceLock};
/// use lehr_ranks::observe::Interrupt;
///
/// let said = Arc::<OnceLock<()>>::default();
/// let heard = said.clone();
/// let interrupt = Interrupt::when(move || heard.get().is_some());
/// assert!(!interrupt.is_asked());
/// // From any thread, at any time.
/// let _ = said.set(());
/// assert!(interrupt.is_asked());
/// ```
#[derive(Clone)]
pub struct Interrupt(Arc<dyn Fn() -> bool + Send + Sync>);

impl Interrupt {
    /// Creates an interrupt that is set once `is_asked` returns true. All threads of a run call `is_asked` before each
    /// leaf. So `is_asked` should return at once, and never return false after it has returned true.
    ///
    /// # Example
    /// See [`Interrupt`].
    pub fn when(is_asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_asked))
    }

    /// Whether the run should stop.
    ///
    /// # Example
    /// See [`Interrupt`].
    pub fn is_asked(&self) -> bool {
        (self.0)()
    }
}

impl fmt::Debug for Interrupt {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Interrupt").field("is_asked", &self.is_asked()).finish()
    }
}
