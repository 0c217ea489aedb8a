//! The fast path of most messages: a port without options, and a receiver without a predicate.
//!
//! This file does the work of `port.rs` and `waiters.rs` in the plain case: no policy, no predicate, no take or join to
//! wake. The methods of this file make the same decisions with a third of the instructions. If the case is not plain,
//! they change nothing and say so, and their caller takes the general path under the same lock.

use std::task::{Poll, Waker};

use super::State;
use super::waiters::Ticket;
use crate::context;

impl<T> State<T> {
    /// Posts an item; returns the waiter to wake, or the item if the general path must be taken.
    #[inline]
    pub(crate) fn post_plainly(&mut self, item: T) -> Result<Option<Waker>, T> {
        if self.is_closed || self.options.is_some() {
            return Err(item);
        }
        let receiver = self.waiters.first_plain();
        if receiver.is_none() && self.waiters.has_listed() {
            return Err(item);
        }
        let sequence = self.queue.push(item, receiver);
        Ok(receiver.and_then(|ticket| self.waiters.settle_plain(ticket, sequence)))
    }

    /// Takes the oldest item, if there is one. The outer `None` says that the general path must be taken.
    #[inline]
    pub(crate) fn take_plainly(&mut self) -> Option<Option<T>> {
        // If contexts are in use, the item may have been posted in a context.
        let is_plain = self.options.is_none() && !self.queue.has_offered() && !context::current::in_use();
        is_plain.then(|| self.queue.take_oldest())
    }

    /// Polls a receive without a predicate. The receive may have a position of its own in the order of registration,
    /// which matters only if other waiters are listed. Returns `None` if the general path must be taken.
    #[inline]
    pub(crate) fn receive_plainly(
        &mut self,
        ticket: &mut Option<Ticket>,
        order: Option<u64>,
        waker: &Waker,
    ) -> Option<Poll<T>> {
        if self.options.is_some() {
            return None;
        }
        if let Some(known) = *ticket {
            let sequence = self.waiters.fetch_plain(known)?;
            *ticket = None;
            return Some(Poll::Ready(self.queue.remove_numbered(sequence).into_item()));
        }
        // Invariant 1 of `State`: no earlier receiver wants an available item.
        if let Some(item) = self.queue.take_oldest() {
            return Some(Poll::Ready(item));
        }
        if self.is_closed || (order.is_some() && self.waiters.has_listed()) {
            return None;
        }
        *ticket = Some(self.waiters.register_plain(order, waker.clone()));
        Some(Poll::Pending)
    }
}
