//! Named queues of a dispatcher. Each queue has a policy that admits its tasks and a rank among the other queues. A
//! queue can be suspended and closed.
//!
//! The dispatcher's workers poll a task of a queue like any other task. But for its first poll and after every wake,
//! the task is added to its own queue and not to a worker's queue. So the queue's rank applies for the whole life of
//! the task. Admission is checked once, before the first poll, so a task that has begun is never discarded.
//!
//! Refused work is not lost: [`Rejected`] gives the future back. A discarded task is dropped, so that the permits and
//! replies that it holds are resolved. The task's handle returns [`TaskError::Discarded`], and the queue counts the
//! task and calls its sink.
//!
//! For the choice of the next job, see `queue/priority.rs`; for the admission of tasks, `queue/admission.rs`.

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
/// The queue lives until its dispatcher ends, or until it has been closed and its last task has ended.
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

/// The state of a queue: gauges of the present moment, and counts since the queue was created.
///
/// To get the rate of a queue, read `scheduled` twice and divide the difference by the time between the readings.
///
/// # Example
/// See [`Queue::suspend`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounters {
    /// The number of tasks that wait for their first poll; [`Admission::Depth`] limits it.
    pub depth: usize,
    /// The number of tasks that have begun, were woken and wait for a worker.
    pub woken: usize,
    /// The number of spawns that wait for admission.
    pub waiting: usize,
    /// The number of tasks that were admitted and have not ended.
    pub living: usize,
    /// The number of admitted tasks.
    pub scheduled: usize,
    /// The number of tasks that ran to their end or panicked.
    pub finished: usize,
    /// The number of tasks dropped after admission and before their end: cancelled, or aborted by a shutdown.
    pub aborted: usize,
    /// The number of tasks discarded by the policy or by [`Queue::clear`].
    pub discarded: usize,
    /// The number of spawns that were refused; their futures were given back.
    pub rejected: usize,
}

impl Queue {
    /// Returns the name of the queue.
    ///
    /// # Example
    /// See [`is_suspended`](Self::is_suspended).
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// Returns a handle that represents this queue where a handle is needed, as in [`Port::on`](crate::Port::on).
    ///
    /// Unless the queue is closed, it admits tasks spawned through the handle without checking the policy. A receiver
    /// leaves the items that it cannot start in its port, so discarding a receiver's task would lose work for no
    /// reason.
    ///
    /// # Example
    /// See [`Queue`].
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs a future as a task of this queue if the policy admits it at once; never waits.
    ///
    /// If the policy discards a task, `spawn` still returns `Ok`. The discarded task, which is this task or the oldest,
    /// ends as [`TaskError::Discarded`].
    ///
    /// # Errors
    /// Returns the future with [`Rejection::Full`] or [`Rejection::Rate`] if the policy rejects the task or would wait
    /// (to wait, use [`spawn_wait`](Self::spawn_wait)). Returns the future with [`Rejection::Closed`] if the queue is
    /// closed.
    ///
    /// Cost: the same as [`Handle::spawn`], plus three short locks of the queue over the life of a task that is never
    /// woken.
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
                // Relaxed: the count is only for statistics.
                self.core.tally.rejected.fetch_add(1, Ordering::Relaxed);
                Err(Rejected { future, reason })
            }
        }
    }

    /// Waits until the policy admits a task, and spawns it. Waiting spawns are admitted in the order in which they were
    /// first polled.
    ///
    /// The spawn waits only if the policy is `Wait`; with any other policy it works as [`spawn`](Self::spawn) does. A
    /// waiting spawn blocks no thread, so a task on the queue's own dispatcher may wait too. Cancel-safe: if you drop
    /// the spawn, its future is dropped, no task is spawned, and the next waiter gets the place. The spawn is woken
    /// when its turn comes or the queue is closed.
    ///
    /// # Errors
    /// Fails as [`spawn`](Self::spawn) does.
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

    /// Stops polling tasks of the queue until [`resume`](Self::resume) is called; polls in progress end. Tasks are
    /// still admitted, and woken tasks wait in the queue. Suspending a suspended queue changes nothing.
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

    /// Lets the tasks run again, in the order in which they were spawned or woken.
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

    /// Returns whether the queue is suspended.
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

    /// Admits no more tasks from now on. Admitted tasks still run, unless [`clear`](Self::clear) is called too. Spawns
    /// that wait for admission fail with [`Rejection::Closed`].
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

    /// Returns whether the queue admits no more tasks, because of [`close`](Self::close) or the end of its dispatcher.
    ///
    /// # Example
    /// See [`is_suspended`](Self::is_suspended).
    pub fn is_closed(&self) -> bool {
        self.core.state.lock().is_closed
    }

    /// Discards every waiting task that was spawned on the queue itself and has not begun. Returns their number. Tasks
    /// spawned through a handle count as begun. Every task discarded in this way ends as [`TaskError::Discarded`].
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

    /// Returns the present counters of the queue. The counters are read one after the other, so changes in between can
    /// make a sum of counters inexact.
    ///
    /// # Example
    /// See [`suspend`](Self::suspend).
    pub fn counters(&self) -> QueueCounters {
        self.core.counters()
    }
}

impl TaskError {
    /// Returns whether the queue discarded the task before it began.
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
