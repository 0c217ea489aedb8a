//! Named queues of a dispatcher: whose tasks are admitted by a policy, ranked against other queues, suspended and
//! closed.
//!
//! The dispatcher's workers poll a task of a queue like any other. But its first poll, and every wake after that, goes
//! to its queue and not to a worker. So the queue's place among the others holds for the whole life of the task.
//! Admission is checked once, before the first poll: a task that has begun is never thrown away.
//!
//! Refused work is not lost. [`Rejected`] gives the future back. A discarded task is dropped, so that the permits and
//! replies it holds resolve. Its handle answers [`TaskError::Discarded`], and the queue counts it and calls its sink.
//!
//! Not here: the next choice of a worker (`queue/priority.rs`), the admission of tasks (`queue/admission.rs`). Read
//! next: those two.

pub(crate) mod admission;
mod builder;
mod core;
pub(crate) mod priority;
mod queued;
mod refusal;
mod waiting;

use std::fmt;
use std::future::Future;

use lehr_sync::{Arc, Ordering};

pub use admission::{Admission, DepthOverflow, RateOverflow};
pub use builder::QueueBuilder;
pub use priority::Priority;
pub use refusal::{DiscardReason, Discarded, QueueError, Rejected, Rejection};
pub use waiting::SpawnWait;

use crate::dispatch::Handle;
use crate::error::TaskError;
use crate::task::Task;
use admission::Verdict;
pub(crate) use core::Core;
use core::{Entrance, State};

/// A named queue of a dispatcher. Cheap to clone: clones are the same queue.
///
/// It lives as long as its dispatcher, or until it has been closed and its last task has ended.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, Port, block_on};
/// let dispatcher = Dispatcher::new(2).unwrap();
/// let queue = dispatcher.queue("readings").build().unwrap();
/// let (readings, doubled) = (Port::new(), Port::new());
/// let out = doubled.clone();
/// // A persistent receiver whose turns belong to the queue.
/// let receiver = readings.on(queue.handle(), 1, move |value: u32| {
///     let out = out.clone();
///     async move { out.post(2 * value).unwrap() }
/// });
/// readings.post(21).unwrap();
/// assert_eq!(block_on(doubled.receive()), Ok(42));
/// ```
#[derive(Clone)]
pub struct Queue {
    core: Arc<Core>,
    handle: Handle,
}

impl fmt::Debug for Queue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Queue").field("name", &self.core.name).finish_non_exhaustive()
    }
}

/// The state of a queue: gauges of this moment, and counts since it was made.
///
/// The rate of a queue is the difference of two readings of `scheduled` over the reader's own clock.
///
/// # Example
/// See [`Queue::suspend`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounters {
    /// Tasks that wait for their first poll, whose number [`Admission::Depth`] limits.
    pub depth: usize,
    /// Tasks that have begun, were woken and wait for a worker.
    pub woken: usize,
    /// Spawns that wait for admission.
    pub waiting: usize,
    /// Tasks admitted and not ended.
    pub living: usize,
    /// Tasks admitted.
    pub scheduled: usize,
    /// Tasks that have ended, be it a panic.
    pub finished: usize,
    /// Tasks dropped after admission and before their end: cancelled, or aborted by a shutdown.
    pub aborted: usize,
    /// Tasks thrown away by the policy or by [`Queue::clear`].
    pub discarded: usize,
    /// Spawns refused with the future given back.
    pub rejected: usize,
}

impl Queue {
    /// Returns its name.
    ///
    /// # Example
    /// See [`is_suspended`](Self::is_suspended).
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// Returns a handle that stands for this queue wherever one is requested: [`Port::on`](crate::Port::on), for
    /// example.
    ///
    /// A task spawned through it is admitted without asking the policy, unless the queue is closed. A receiver leaves
    /// items in its port that it cannot start, so discarding one would lose work for no reason.
    ///
    /// # Example
    /// See [`Queue`].
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs a future as a task of this queue if the policy admits it now; never waits.
    ///
    /// With a policy that discards, the answer is `Ok` all the same. The discarded task, this one or the oldest, ends
    /// as [`TaskError::Discarded`].
    ///
    /// # Errors
    /// Gives the future back: [`Rejection::Full`] and [`Rejection::Rate`] with a policy that rejects or waits (then
    /// [`spawn_wait`](Self::spawn_wait) waits), [`Rejection::Closed`].
    ///
    /// Cost: that of [`Handle::spawn`] and three short locks of the queue, over the life of a task that is never woken.
    ///
    /// # Example
    /// See [`Dispatcher::queue`](crate::Dispatcher::queue).
    pub fn spawn<F>(&self, future: F) -> Result<Task<F::Output>, Rejected<F>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match self.core.ask(&self.handle.shared) {
            Verdict::Admitted => Ok(self.core.admit(&self.handle.shared, future, Entrance::Asked)),
            Verdict::Discard(reason) => Ok(self.core.admit(&self.handle.shared, future, Entrance::Discarded(reason))),
            Verdict::Refused(reason) => {
                // Relaxed: a count for people.
                self.core.tally.rejected.fetch_add(1, Ordering::Relaxed);
                Err(Rejected { future, reason })
            }
        }
    }

    /// Waits until the policy admits a task, and spawns it. Waiting spawns are admitted in the order in which they were
    /// first polled.
    ///
    /// Only a policy that says `Wait` makes it wait; with any other it is [`spawn`](Self::spawn). It holds no thread
    /// while it waits, also not on a worker of the queue's own dispatcher. Cancel-safe: dropped, it has spawned
    /// nothing, drops the future, and gives its place to the next. Woken when its turn has come or the queue is closed.
    ///
    /// # Errors
    /// The same as for [`spawn`](Self::spawn).
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Admission, DepthOverflow, Dispatcher, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let admission = Admission::Depth { max: 1, overflow: DepthOverflow::Wait };
    /// let queue = dispatcher.queue("disk").admission(admission).build().unwrap();
    /// let inner = queue.clone();
    /// // On the only worker, into its own full queue: it suspends, and the worker goes on.
    /// let sum = dispatcher.spawn(async move {
    ///     let first = inner.spawn_wait(async { 1 }).await.unwrap();
    ///     let second = inner.spawn_wait(async { 2 }).await.unwrap();
    ///     first.await.unwrap() + second.await.unwrap()
    /// });
    /// assert_eq!(block_on(sum), Ok(3));
    /// ```
    pub fn spawn_wait<F>(&self, future: F) -> SpawnWait<'_, F>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        SpawnWait::new(self, future)
    }

    /// Lets no task of the queue be polled until [`resume`](Self::resume); polls in progress end. Tasks are still
    /// admitted, and woken tasks wait here. Suspending twice counts once.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let queue = dispatcher.queue("jobs").build().unwrap();
    /// queue.suspend();
    /// let task = queue.spawn(async { 1 }).unwrap();
    /// assert_eq!(queue.counters().depth, 1);
    /// queue.resume();
    /// assert_eq!(block_on(task), Ok(1));
    /// ```
    pub fn suspend(&self) {
        let mut state = self.core.state.lock();
        if !state.is_suspended {
            state.is_suspended = true;
            self.core.hide(state.len());
        }
    }

    /// Lets its tasks run again, in the order in which they came and were woken.
    ///
    /// # Example
    /// See [`suspend`](Self::suspend).
    pub fn resume(&self) {
        let shown = {
            let mut state = self.core.state.lock();
            if !state.is_suspended {
                return;
            }
            state.is_suspended = false;
            let shown = state.len();
            self.core.show(shown);
            shown
        };
        if shown > 0 {
            self.handle.shared.sleep.notify();
        }
    }

    /// Returns whether it is suspended.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::Dispatcher;
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let queue = dispatcher.queue("jobs").suspended().build().unwrap();
    /// assert!(queue.is_suspended() && !queue.is_closed());
    /// assert_eq!(queue.name(), "jobs");
    /// ```
    pub fn is_suspended(&self) -> bool {
        self.core.state.lock().is_suspended
    }

    /// Admits nothing from here on. Admitted tasks still run, unless [`clear`](Self::clear) is called too; spawns that
    /// wait for admission end as [`Rejection::Closed`].
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Rejection, TaskError, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let queue = dispatcher.queue("jobs").suspended().build().unwrap();
    /// let task = queue.spawn(async { 1 }).unwrap();
    /// queue.close();
    /// assert_eq!(queue.spawn(async { 2 }).unwrap_err().reason, Rejection::Closed);
    /// assert_eq!(queue.clear(), 1);
    /// assert_eq!(block_on(task), Err(TaskError::Discarded));
    /// ```
    pub fn close(&self) {
        self.core.close();
    }

    /// Returns whether it admits nothing more, because of [`close`](Self::close) or of its dispatcher's end.
    ///
    /// # Example
    /// See [`is_suspended`](Self::is_suspended).
    pub fn is_closed(&self) -> bool {
        self.core.state.lock().is_closed
    }

    /// Throws away every task that has not begun, each ending as [`TaskError::Discarded`]; gives their number.
    ///
    /// # Example
    /// See [`close`](Self::close).
    pub fn clear(&self) -> usize {
        let (gone, wake) = {
            let mut state = self.core.state.lock();
            let gone = std::mem::take(&mut state.fresh);
            if !state.is_suspended {
                self.core.hide(gone.len());
            }
            let depth = state.fresh.len();
            let State { gauge, waiting, .. } = &mut *state;
            (gone, waiting.grant(gauge, depth, None))
        };
        wake.all();
        let count = gone.len();
        for entry in gone {
            self.core.discard(entry.job, DiscardReason::Cleared);
        }
        count
    }

    /// Returns the numbers of the queue, read one after the other: a sum of them may be off by the changes meanwhile.
    ///
    /// # Example
    /// See [`suspend`](Self::suspend).
    pub fn counters(&self) -> QueueCounters {
        self.core.counters()
    }
}

impl TaskError {
    /// Returns whether the task was thrown away by its queue before it began.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::TaskError;
    /// assert!(TaskError::Discarded.is_discarded() && !TaskError::Cancelled.is_discarded());
    /// ```
    pub fn is_discarded(&self) -> bool {
        matches!(self, Self::Discarded)
    }
}
