//! Receives and probes as futures, which keep their ticket while they wait and give it up when they are dropped.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::pipeline::Incoming;
use super::{Envelope, Fabric, Message, Pattern, Ticket};
use crate::error::Error;

/// Waits for a message and takes it. Cancel-safe: if dropped while it waits, it has taken no message.
#[must_use = "a receive does nothing until it is awaited"]
pub(crate) struct Receiving<'a> {
    place: Pending<'a>,
}

/// Waits for a message and passes it to `read`. Cancel-safe: if dropped while it waits, it has taken no message.
#[must_use = "a receive does nothing until it is awaited"]
pub(crate) struct Reading<'a, F> {
    place: Pending<'a>,
    read: F,
}

/// Waits for a message, and returns its envelope without taking it. Cancel-safe.
#[must_use = "a probe does nothing until it is awaited"]
pub(crate) struct Probing<'a> {
    place: Pending<'a>,
}

struct Pending<'a> {
    fabric: &'a dyn Fabric,
    pattern: Pattern,
    turn: Ticket,
    waiting_in: &'static str,
}

impl<'a> Pending<'a> {
    fn new(fabric: &'a dyn Fabric, pattern: Pattern, waiting_in: &'static str) -> Self {
        Self { fabric, pattern, turn: Ticket::default(), waiting_in }
    }
}

impl<'a> Receiving<'a> {
    pub(crate) fn new(fabric: &'a dyn Fabric, pattern: Pattern, waiting_in: &'static str) -> Self {
        Self { place: Pending::new(fabric, pattern, waiting_in) }
    }
}

impl<'a, F: FnMut(Envelope, &mut Incoming<'_>) -> Result<(), Error>> Reading<'a, F> {
    pub(crate) fn new(fabric: &'a dyn Fabric, pattern: Pattern, waiting_in: &'static str, read: F) -> Self {
        Self { place: Pending::new(fabric, pattern, waiting_in), read }
    }
}

impl<'a> Probing<'a> {
    pub(crate) fn new(fabric: &'a dyn Fabric, pattern: Pattern, waiting_in: &'static str) -> Self {
        Self { place: Pending::new(fabric, pattern, waiting_in) }
    }
}

impl Future for Receiving<'_> {
    type Output = Result<Message, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Pending { fabric, pattern, turn, waiting_in } = &mut self.place;
        fabric.poll_receive(pattern, turn, waiting_in, context)
    }
}

impl<F: FnMut(Envelope, &mut Incoming<'_>) -> Result<(), Error> + Unpin> Future for Reading<'_, F> {
    type Output = Result<(), Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { place: Pending { fabric, pattern, turn, waiting_in }, read } = &mut *self;
        fabric.poll_read(pattern, turn, waiting_in, context, read)
    }
}

impl Future for Probing<'_> {
    type Output = Result<Envelope, Error>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Pending { fabric, pattern, turn, waiting_in } = &mut self.place;
        fabric.poll_probe(pattern, turn, waiting_in, context)
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        if self.turn.number().is_some() {
            self.fabric.forget(&mut self.turn);
        }
    }
}
