//! Takes one item from one port, with or without a predicate.

use std::fmt;
use std::future::Future;
use std::num::NonZeroU64;
use std::pin::Pin;
use std::task::{Context, Poll};

use crate::context::{self, WithContext};
use crate::dispatch::may_go_on;
use crate::error::ReceiveError;
use crate::port::Port;
use crate::port::waiters::{Predicate, Ticket};

/// The future of [`Port::receive`] and [`Port::receive_if`].
///
/// # Example
/// See [`Port::receive`].
#[must_use = "a receive does nothing unless awaited"]
pub struct Receive<'a, T> {
    port: &'a Port<T>,
    predicate: Option<Predicate<T>>,
    ticket: Option<Ticket>,
    /// The position in the order of registration, if this is a receive of a persistent receiver, which keeps its
    /// position.
    order: Option<NonZeroU64>,
}

impl<'a, T> Receive<'a, T> {
    pub(crate) fn new(port: &'a Port<T>, predicate: Option<Predicate<T>>) -> Self {
        Self { port, predicate, ticket: None, order: None }
    }

    /// Also returns the [`Context`](crate::Context) that the item was posted in; the task stays in its own context.
    ///
    /// # Example
    /// See [`Inheritance`](crate::Inheritance).
    #[track_caller]
    pub fn with_context(self) -> WithContext<Self> {
        WithContext::new(self)
    }

    /// Creates a receive at a position in the order of registration that was reserved before.
    pub(crate) fn in_order(port: &'a Port<T>, order: u64, predicate: Option<Predicate<T>>) -> Self {
        Self { port, predicate, ticket: None, order: NonZeroU64::new(order) }
    }
}

impl<T> fmt::Debug for Receive<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Receive").field("port", &self.port).finish_non_exhaustive()
    }
}

impl<T> Future for Receive<'_, T> {
    type Output = Result<T, ReceiveError>;

    #[inline]
    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        context::current::settle();
        let this = &mut *self;
        if this.ticket.is_none() && !may_go_on(context) {
            return Poll::Pending;
        }
        this.port.poll_receive(&mut this.ticket, this.order.map(NonZeroU64::get), &mut this.predicate, context)
    }
}

impl<T> Drop for Receive<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(ticket) = self.ticket {
            self.port.leave(ticket);
        }
    }
}
