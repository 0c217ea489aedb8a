//! A task of a queue as a future: it can be thrown away with an answer, and it reports its end to its queue.
//!
//! Dropping a task that waits in a queue would end it as *cancelled*, the act of its owner. To end as
//! *discarded* it is polled once. The discarding thread raises a mark and runs the task; the task sees the mark at its
//! first poll, drops the future and answers. So the answer takes the way of every other, and costs a queued task one
//! look at its first poll and no other task anything.

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
        /// The task that this thread runs next is to end as discarded. Put down by that task.
        pub(super) static DISCARDING: Cell<bool> = Cell::new(false);
    }
}
use mark::DISCARDING;

/// Ends a task that has not begun as [`TaskError::Discarded`](crate::TaskError::Discarded); its future is dropped when
/// this returns.
pub(super) fn discard(job: Job) {
    DISCARDING.with(|mark| mark.set(true));
    job.run();
    // A task that was cancelled meanwhile is dropped without a poll.
    DISCARDING.with(|mark| mark.set(false));
}

/// The end of a queue's task.
#[derive(Clone, Copy)]
pub(super) enum End {
    Finished,
    Discarded,
    Dropped,
}

/// Tells the queue how its task ended, when the task is dropped.
pub(super) struct Standing {
    core: Arc<Core>,
    end: End,
}

impl Standing {
    /// The standing of a task that the queue has counted as living.
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
    /// See the module's page.
    pub(super) struct Queued<F> {
        // Before `inner`, whose drop takes the task off the list of the living: when that list is empty, and a drain
        // goes on to its report, every queue has heard of its tasks' ends.
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
            // Put down before the future is dropped: what its destructors run is not meant.
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
