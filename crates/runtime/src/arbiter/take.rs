//! Takes a number of items from one port, either all of them at once or none.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{Verdict, judge, probe, take, unwatch, watch};
use crate::context::{self, WithContext};
use crate::dispatch::may_go_on;
use crate::error::ReceiveError;
use crate::port::Port;
use crate::port::waiters::{Ticket, Want};
use crate::port::wake::Wake;

/// The future of [`Port::take`].
///
/// # Example
/// See [`Port::take`].
#[must_use = "a take does nothing unless awaited"]
#[derive(Debug)]
pub struct Take<'a, T> {
    branch: (&'a Port<T>, usize),
    ticket: Option<Ticket>,
}

impl<'a, T> Take<'a, T> {
    pub(crate) fn new(port: &'a Port<T>, count: usize) -> Self {
        Self { branch: (port, count), ticket: None }
    }

    /// Also returns the [`Context`](crate::Context) of the items. If the items have several contexts, this is a new
    /// context. Its parent is the context of the first item, and its [links](crate::Context::links) are the other
    /// contexts. So an error in the returned context reaches the sink of each context, once.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Context, Port, block_on};
    /// let port = Port::new();
    /// (0..2).for_each(|i| Context::named(format!("{i}")).build().run(|| port.post(i)).unwrap());
    /// let (items, context) = block_on(port.take(2).with_context()).unwrap();
    /// assert_eq!((items, context.unwrap().links()[0].name()), (vec![0, 1], Some("1")));
    /// ```
    #[track_caller]
    pub fn with_context(self) -> WithContext<Self> {
        WithContext::new(self)
    }
}

impl<T> Future for Take<'_, T> {
    type Output = Result<Vec<T>, ReceiveError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        context::current::settle();
        let this = &mut *self;
        if this.ticket.is_none() && !may_go_on(context) {
            return Poll::Pending;
        }
        let port = this.branch.0;
        let mut state = port.core.state.lock();
        let (outcome, late) = match judge(&[probe(&this.branch, &state, this.ticket)]) {
            Verdict::Take(claim) => {
                let items = take(&this.branch, &mut state, this.ticket, &claim);
                (Poll::Ready(Some(items)), unwatch(&mut state, &mut this.ticket))
            }
            Verdict::Closed(_) => (Poll::Ready(None), unwatch(&mut state, &mut this.ticket)),
            Verdict::Yield => {
                context.waker().wake_by_ref();
                (Poll::Pending, watch(&mut state, &mut this.ticket, || Want::Take(this.branch.1), true, context))
            }
            Verdict::Wait => {
                (Poll::Pending, watch(&mut state, &mut this.ticket, || Want::Take(this.branch.1), false, context))
            }
        };
        // This take may have been woken for items of which some are gone since then. The remaining items may be enough
        // for another take.
        let mut wake = Wake::default();
        let available = state.queue.available();
        state.waiters.wake_takes(available, &mut wake);
        drop(state);
        drop(late);
        drop(wake);
        outcome.map(|items| items.ok_or_else(|| port.closed()))
    }
}

impl<T> Drop for Take<'_, T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.branch.0.leave(ticket);
        }
    }
}
