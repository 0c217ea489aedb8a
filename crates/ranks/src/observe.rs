//! How a run reports its progress, and how it is stopped: one kind of observer for all methods.
//!
//! A method reports its stage, its progress and some figures by name ([`Progress`]), so that an observer need not know
//! which method it is.

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
    /// The part of the work under way: `annealing`, `fitting from the plane`, `iterating`, `comparing`.
    pub stage: Cow<'static, str>,
    /// Estimated share of the work done, 0 to 1; `None` if the amount is unknown, as for a stream.
    pub fraction: Option<f64>,
    /// The method's own figures, by name, in a fixed order.
    pub figures: Vec<(&'static str, f64)>,
}

impl Progress {
    /// The figure of a name, if the method reports it at present.
    ///
    /// # Example
    /// See [`Progress`].
    pub fn figure(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|(of, _)| *of == name).map(|(_, value)| *value)
    }
}

/// Whether to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Control {
    /// Go on.
    Continue,
    /// Stop at once: the run passes on its checkpoint, if it has one, and ends with its method's error `Stopped`.
    Stop,
}

/// Watches a run.
///
/// The run calls it on one rank only, between two steps. So it may take a fraction of a second, and may print.
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
    /// Hears how far the run is after each step, and returns whether it continues.
    fn progress(&mut self, progress: &Progress) -> Control {
        let _ = progress;
        Control::Continue
    }

    /// Gets, after each step, everything that is needed to resume from here.
    ///
    /// Writing it costs far more than being offered it. So an observer writes it every few seconds at most, and always
    /// after it returned [`Control::Stop`].
    fn checkpoint(&mut self, checkpoint: &dyn AnyCheckpoint) {
        let _ = checkpoint;
    }

    /// Returns the interrupt that may stop the run within a step.
    ///
    /// The run asks once, before it begins. In a job of several processes all observers should have one; the lead's
    /// decides whether steps can be interrupted.
    fn interrupt(&self) -> Option<Interrupt> {
        None
    }

    /// After an interrupt of this or another process, receives the state at which the given-up step began, instead of
    /// the next progress.
    ///
    /// Not called before the first step, because there is nothing to resume from. The run ends with its method's error
    /// `Stopped`. By default this is a checkpoint like any other, but no other comes after it.
    fn interrupted(&mut self, checkpoint: &dyn AnyCheckpoint) {
        self.checkpoint(checkpoint);
    }

    /// The trace in which the run records the actions of each rank, if one is requested.
    ///
    /// The run asks once, before it begins. In a job of several processes the observers of all of them have a trace, or
    /// none has; at the end the lead's is whole.
    fn trace(&self) -> Option<&Trace> {
        None
    }
}

/// Watches nothing and never stops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {}

/// A checkpoint of any method.
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
    /// Writes it to a file that the method reads, whole or not at all; a file there before is replaced.
    ///
    /// # Errors
    /// Fails if the folder cannot be written to or the disk is full. The message is the method's own.
    fn write(&self, path: &Path) -> io::Result<()>;

    /// The same as JSON, for callers that keep it among other things.
    ///
    /// # Errors
    /// Fails if its numbers cannot be written.
    fn to_json(&self) -> io::Result<Vec<u8>>;
}

impl dyn AnyCheckpoint {
    /// The checkpoint of one method, if it is that.
    ///
    /// # Example
    /// See [`AnyCheckpoint`].
    pub fn downcast_ref<C: 'static>(&self) -> Option<&C> {
        let any: &dyn Any = self;
        any.downcast_ref()
    }
}

/// Says whether to give a run up at once, in the middle of a pass over its rows.
///
/// A run asks its observer between steps, and a step over very many rows may take minutes. If the observer has an
/// interrupt ([`Observer::interrupt`]), the run asks that before each leaf of rows (some hundreds to thousands of
/// them). It leaves out the rest of the pass, and the step counts as never begun. It gives its observer the
/// checkpoint from before that step; a run that resumes from there ends with the same bits. Before the first step there
/// is nothing to resume from, because the run is still finding its start. It is given up all the same, and gives no
/// checkpoint.
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
    /// Interrupts from the moment that `is_asked` says so. All threads of a run call it, before each leaf; it should
    /// return at once, and never take its answer back.
    ///
    /// # Example
    /// See [`Interrupt`].
    pub fn when(is_asked: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_asked))
    }

    /// Whether to give the run up.
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
