//! So many items of one port, together or not at all.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{Ready, claim, probe, take, unwatch, watch};
use crate::dispatch::may_go_on;
use crate::error::ReceiveError;
use crate::port::Port;
use crate::port::waiters::Ticket;

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
}

impl<T> Future for Take<'_, T> {
    type Output = Result<Vec<T>, ReceiveError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if this.ticket.is_none() && !may_go_on(context) {
            return Poll::Pending;
        }
        let port = this.branch.0;
        let mut state = port.core.state.lock();
        let ready = probe(&this.branch, &state);
        if let Some(claim) = claim([ready]) {
            let items = take(&this.branch, &mut state, &claim);
            let late = unwatch(&mut state, &mut this.ticket);
            drop(state);
            drop(late);
            return Poll::Ready(Ok(items));
        }
        if ready == Ready::Never {
            let late = unwatch(&mut state, &mut this.ticket);
            drop(state);
            drop(late);
            return Poll::Ready(Err(port.closed()));
        }
        let late = watch(&this.branch, &mut state, &mut this.ticket, context);
        drop(state);
        drop(late);
        Poll::Pending
    }
}

impl<T> Drop for Take<'_, T> {
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket.take() {
            self.branch.0.leave(ticket);
        }
    }
}
