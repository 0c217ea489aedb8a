//! A task of a queue as a future, which reports its end to its queue and can end as discarded.
//!
//! If a task that waits in a queue were dropped, it would end as *cancelled*, as if by its owner. To end as
//! *discarded*, the task is polled once. The discarding thread sets a flag and runs the task. The task sees the flag,
//! drops its future and returns the error. So the owner of a discarded task gets the error as the result of an ordinary
//! poll. A queued task reads the flag once, at its first poll; other tasks never read it.

use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use lehr_sync::Arc;
use pin_project_lite::pin_project;

use super::Core;
use crate::context::{Unclaimed, panicked};
use crate::dispatch::Job;

#[allow(clippy::missing_const_for_thread_local, reason = "the model checkers' macros take no const block")]
mod mark {
    use super::Cell;

    lehr_sync::thread_local! {
        /// Whether the next task that this thread runs must end as discarded. A task that sees the flag clears it.
        pub(super) static DISCARDING: Cell<bool> = Cell::new(false);
    }
}
use mark::DISCARDING;

/// Ends a task that has not begun as [`TaskError::Discarded`](crate::TaskError::Discarded); its future has been dropped
/// when this function returns.
pub(super) fn discard(job: Job) {
    DISCARDING.with(|mark| mark.set(true));
    job.run();
    // A task that was cancelled meanwhile is dropped without a poll, and does not clear the flag.
    DISCARDING.with(|mark| mark.set(false));
}

/// The end of a queue's task.
#[derive(Clone, Copy)]
pub(super) enum End {
    Finished,
    Discarded,
    Dropped,
}

/// Reports the task's end to its queue when the task is dropped.
pub(super) struct Standing {
    core: Arc<Core>,
    end: End,
}

impl Standing {
    /// Creates the standing of a task that the queue has counted as living.
    pub(super) fn new(core: Arc<Core>) -> Self {
        Self { core, end: End::Dropped }
    }
}

impl Drop for Standing {
    fn drop(&mut self) {
        self.core.ended(self.end);
    }
}

pin_project! {
    /// The task of a queue, as a future; see the documentation of this module.
    pub(super) struct Queued<F> {
        // Declared before `inner`, whose drop takes the task off the list of living tasks. When that list is empty and
        // a drain continues with its report, every queue knows how its tasks ended.
        standing: Standing,
        has_begun: bool,
        #[pin]
        inner: Option<F>,
    }
}

impl<F> Queued<F> {
    pub(super) fn new(standing: Standing, inner: F) -> Self {
        Self { has_begun: false, inner: Some(inner), standing }
    }
}

impl<T, F: Future<Output = Result<T, Unclaimed>>> Future for Queued<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        if !*this.has_begun {
            *this.has_begun = true;
            // Cleared before the future is dropped, because it must not apply to tasks that the future's destructors
            // run.
            if DISCARDING.with(|mark| mark.replace(false)) {
                this.standing.end = End::Discarded;
                // Unwind safety: the future is gone, whatever its destructors did.
                let dropped = catch_unwind(AssertUnwindSafe(|| this.inner.set(None)));
                return Poll::Ready(Err(match dropped {
                    Ok(()) => Unclaimed::discarded(),
                    Err(payload) => panicked(payload.as_ref(), None),
                }));
            }
        }
        let inner = this.inner.as_mut().as_pin_mut().expect("only a task that has ended has no future");
        let output = inner.poll(context);
        if output.is_ready() {
            this.standing.end = End::Finished;
        }
        output
    }
}
