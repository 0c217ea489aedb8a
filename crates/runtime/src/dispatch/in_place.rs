//! Polls the task that a post wakes directly on the posting thread, if the poster has nothing to do until the answer
//! comes.
//!
//! Normally, a task that asks posts its request, waits, and leaves its worker. The worker takes the answering task from
//! its queue, and then the asking task again. If nothing else is queued, this order is known beforehand, and the
//! answering task can be polled in the middle of the asking task's poll. Polling it there saves two passages through
//! the queue, and the answer is ready when the asking task first looks for it.
//!
//! The worker would have made the same poll of the same task next, so the guarantees for tasks are unchanged. One
//! thread polls a task at a time, and queued work runs in order. A task that waits often without suspending lets the
//! other tasks run ([`may_go_on`](super::may_go_on)). There is one difference: a thief and a watchdog count both polls
//! as one job.

use std::cell::Cell;

use super::{Runnable, with_current};
use crate::calls;

/// The maximum depth of nested polls in place, because each nested poll needs more of the stack.
const DEPTH: u32 = 4;

/// The work that a worker holds back for [`in_place`].
#[derive(Default)]
pub(crate) struct Catch {
    /// Whether to hold back the next task that is woken on this worker.
    is_open: Cell<bool>,
    caught: Cell<Option<Runnable>>,
    depth: Cell<u32>,
}

impl Catch {
    /// Returns whether the next woken task should be held back; the caller then passes it to [`hold`](Self::hold).
    #[inline]
    pub(super) fn takes(&self) -> bool {
        self.is_open.get()
    }

    /// Holds a task back. No other task is held back until the next call of `open`.
    pub(super) fn hold(&self, runnable: Runnable) {
        self.is_open.set(false);
        // The slot is empty, because `close` has taken the task of the last time out of it.
        self.caught.set(Some(runnable));
    }

    fn open(&self) -> bool {
        let may = !self.is_open.get() && self.depth.get() < DEPTH;
        if may {
            self.is_open.set(true);
        }
        may
    }

    fn close(&self) -> Option<Runnable> {
        self.is_open.set(false);
        self.caught.take()
    }
}

/// Calls `post`, and polls the first task that it wakes immediately, instead of leaving the task to the queue.
///
/// The immediate poll needs a worker that has nothing else queued, and a task of its own dispatcher; otherwise this
/// function only calls `post`. Call this function as part of a wait, and look for the answer after `post`. The polled
/// task may take as long as a handler does. Don't hold a lock that a handler may need.
///
/// Cost: less than a passage through the queue.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, Port, Reply, block_on, in_place};
/// let dispatcher = Dispatcher::new(1).unwrap();
/// let double = Port::<(u32, Reply<u32>)>::new();
/// let _receiver = double.on(dispatcher.handle(), 1, |(n, reply)| async move { reply.answer(2 * n).unwrap() });
/// let asker = dispatcher.spawn(async move {
///     double.ask(|reply| (1, reply)).unwrap().await.unwrap(); // the receiver waits for the next from now on
///     let answer = in_place(|| double.ask(|reply| (21, reply)).unwrap());
///     (answer.is_ready(), answer.await)
/// });
/// assert_eq!(block_on(asker), Ok((true, Ok(42))));
/// ```
#[inline]
pub fn in_place<R>(post: impl FnOnce() -> R) -> R {
    /// Queues the held-back task, if `post` panics.
    struct Closing;
    impl Drop for Closing {
        fn drop(&mut self) {
            if let Some(runnable) = with_current(|current| current.and_then(|current| current.catch.close())) {
                runnable.schedule();
            }
        }
    }

    let is_open = with_current(|current| {
        current.is_some_and(|current| !current.is_away.get() && current.local.is_empty() && current.catch.open())
    });
    if !is_open {
        return post();
    }
    let closing = Closing;
    let result = post();
    std::mem::forget(closing);
    if let Some(runnable) = with_current(|current| current.and_then(|current| current.catch.close())) {
        poll(runnable);
    }
    result
}

/// Polls a task inside the poll of another task.
fn poll(runnable: Runnable) {
    /// Restores the depth, even if the poll panics.
    struct Rising;
    impl Drop for Rising {
        fn drop(&mut self) {
            with_current(|current| {
                if let Some(current) = current {
                    current.catch.depth.set(current.catch.depth.get() - 1);
                }
            });
        }
    }

    with_current(|current| {
        if let Some(current) = current {
            current.catch.depth.set(current.catch.depth.get() + 1);
        }
    });
    let _rising = Rising;
    // Calls of the inner task are not made on behalf of the handler in whose poll it happens to run.
    calls::nowhere(|| runnable.run());
}
