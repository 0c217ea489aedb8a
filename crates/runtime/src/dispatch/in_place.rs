//! Polls a task that a post wakes on the posting thread, for an asker that has nothing to do until the answer is there.
//!
//! An asker posts, waits, and goes off its worker; the worker takes the answerer from its queue, and then the asker
//! again. If nothing else is queued, that order is known beforehand, and the answerer can be polled in the middle of
//! the asker's poll. This saves two passages through the queue, and the answer is there when the asker first looks for
//! it.
//!
//! It is the same poll of the same task that the worker would have made next, so the guarantees for tasks are
//! unchanged. One thread polls a task at a time, and queued work runs in order. A task that waits often without
//! suspending gives the others their turn ([`may_go_on`](super::may_go_on)). The one difference: both polls are one job
//! to a thief and to a watchdog.

use std::cell::Cell;

use super::{Runnable, with_current};
use crate::calls;

/// The deepest nesting of polls in place: each takes its handlers' part of the stack.
const DEPTH: u32 = 4;

/// The work that a worker holds back for [`in_place`].
#[derive(Default)]
pub(crate) struct Catch {
    /// Whether to hold back the next task that is woken near.
    is_open: Cell<bool>,
    caught: Cell<Option<Runnable>>,
    depth: Cell<u32>,
}

impl Catch {
    /// Returns whether a task that has been woken is to be held back; it is then given to [`hold`](Self::hold).
    #[inline]
    pub(super) fn takes(&self) -> bool {
        self.is_open.get()
    }

    /// Holds a task back. No other until the next request.
    pub(super) fn hold(&self, runnable: Runnable) {
        self.is_open.set(false);
        // Empty: whoever opened it took what was there before.
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

/// Calls `post`, and polls here and now the first task that it wakes, instead of leaving that to the queue.
///
/// Only on a worker that has nothing else queued, for a task of its own dispatcher; else this is `post()` and nothing
/// more. Call it as part of a wait. The polled task may take as long as a handler does, and a look at the answer
/// follows `post`. You must hold no lock that a handler may want.
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
    /// Queues the held-back tasks, if `post` panics.
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

/// Polls a task inside the poll of another.
fn poll(runnable: Runnable) {
    /// Comes up again, also if the poll panics.
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
    // Its own calls are not made for the sake of the handler that it happens to be polled in.
    calls::nowhere(|| runnable.run());
}
