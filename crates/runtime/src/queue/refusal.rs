//! Refusals: a queue that cannot be made, a spawn that is given back, a task that is discarded.

use std::fmt;

/// The reason why a queue could not be made.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, QueueError};
/// let dispatcher = Dispatcher::new(1).unwrap();
/// let first = dispatcher.queue("disk").build().unwrap();
/// assert_eq!(dispatcher.queue("disk").build().unwrap_err(), QueueError::NameTaken { name: "disk".to_owned() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueueError {
    /// The dispatcher has a queue of this name that has not ended.
    NameTaken {
        /// The name of the existing queue.
        name: String,
    },
    /// A setting, such as a depth of 0, would let no task run.
    Setting {
        /// The queue's name.
        name: String,
        /// The reason why the setting is invalid.
        what: &'static str,
    },
    /// The dispatcher has been shut down.
    Closed,
}

impl fmt::Display for QueueError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameTaken { name } => write!(formatter, "the dispatcher has a queue called {name:?} already"),
            Self::Setting { name, what } => write!(formatter, "queue {name:?}: {what}"),
            Self::Closed => formatter.write_str("the dispatcher has been shut down"),
        }
    }
}

impl std::error::Error for QueueError {}

/// A spawn that a queue refused; it gives the future back.
///
/// # Example
/// ```
/// use lehr_runtime::{Admission, DepthOverflow, Dispatcher, Rejection, block_on};
/// let dispatcher = Dispatcher::new(1).unwrap();
/// let admission = Admission::Depth { max: 1, overflow: DepthOverflow::Reject };
/// let queue = dispatcher.queue("disk").admission(admission).suspended().build().unwrap();
/// let first = queue.spawn(async { 1 }).unwrap();
/// let rejected = queue.spawn(async { 2 }).unwrap_err();
/// assert_eq!(rejected.reason, Rejection::Full);
/// assert_eq!(block_on(rejected.future), 2);
/// ```
pub struct Rejected<F> {
    /// The unpolled future of the refused spawn.
    pub future: F,
    /// The reason for the refusal.
    pub reason: Rejection,
}

/// The reason why a queue refuses a task.
///
/// # Example
/// See [`Rejected`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// The queue already has as many waiting tasks as its depth allows, or other spawns wait for a place.
    Full,
    /// The queue has admitted as many tasks as its rate allows for now, or other spawns wait for their turn.
    Rate,
    /// The queue was closed, or its dispatcher has begun to shut down.
    Closed,
}

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Full => "the queue is full",
            Self::Rate => "the queue admits no more for now",
            Self::Closed => "the queue is closed",
        })
    }
}

impl<F> fmt::Debug for Rejected<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Rejected").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl<F> fmt::Display for Rejected<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "task not spawned: {}", self.reason)
    }
}

impl<F> std::error::Error for Rejected<F> {}

/// A task that was discarded before it began, as the queue's sink gets it.
///
/// # Example
/// See [`QueueBuilder::on_discard`](super::QueueBuilder::on_discard).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discarded {
    /// The queue's name.
    pub queue: String,
    /// The reason why the task was discarded.
    pub reason: DiscardReason,
}

/// The reason why a task was discarded.
///
/// # Example
/// See [`QueueBuilder::on_discard`](super::QueueBuilder::on_discard).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiscardReason {
    /// The queue was full, and this was the oldest task that had not begun.
    Oldest,
    /// The queue was full when this task came.
    Newest,
    /// The queue had admitted as many tasks as its rate allows when this task came.
    Rate,
    /// [`Queue::clear`](super::Queue::clear) discarded the task.
    Cleared,
}
