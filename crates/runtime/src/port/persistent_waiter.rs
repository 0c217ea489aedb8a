//! A waiter that stays at its port and is offered item after item. The branches of an interleave are persistent
//! waiters.
//!
//! An item that a persistent waiter takes is marked as offered to it. The item stays in its position in the port as
//! long as the interleave makes it wait. The interleave records the item's sequence number, in the order in which posts
//! to all its ports arrive. So the port still counts the item, and any receiver may take it with [`Port::try_receive`].
//! When the persistent waiter leaves, items that it had not fetched are offered to the next waiters, in their original
//! order.

use lehr_sync::Arc;

use super::options::{Discard, DiscardedItem, Loss};
use super::queue::Queue;
use super::waiters::{Standing, Ticket, Waiters, Want};
use super::wake::Wake;
use super::{Port, State};
use crate::calls::Frame;
use crate::context::Context;
use crate::error::Refusal;
use crate::reply::while_stopping;

/// The decisions that the owner of a persistent waiter makes about items. The port calls these methods under its lock,
/// so they may take only locks that come after port locks.
pub(crate) trait PersistentWaiter<T>: Send + Sync {
    /// Decides about an item that has become available. `call` is present if the poster waits for an answer to the
    /// item.
    fn arrives(&self, item: &T, sequence: u64, ticket: Ticket, call: Option<&Arc<Frame>>, wake: &mut Wake) -> Response;

    /// Decides about an item before it is posted, if its poster would wait for an answer.
    fn judge(&self, item: &T, call: &Frame) -> Judgement;

    /// Handles the loss of an item that the waiter took but had not fetched: another receiver has fetched it.
    fn loses(&self, sequence: u64, wake: &mut Wake);
}

/// A persistent waiter's response to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// The item is for other waiters.
    Pass,
    /// The waiter takes the item, and may take the next item too.
    Take,
    /// The waiter takes the item, and wants no other item.
    TakeLast,
}

/// A persistent waiter's judgement of a call that has not been posted.
#[derive(Debug)]
pub(crate) enum Judgement {
    /// The call is for other waiters.
    OfOthers,
    /// The waiter would take the call.
    Admissible,
    /// The waiter would take the call, but the poster of the call would wait for ever.
    Deadlock(Refusal),
}

impl<T> Port<T> {
    /// Registers a persistent waiter and shows it the items that the port already holds. `settled` gets the waiter's
    /// ticket under the port's lock, and returns whether the waiter is still wanted.
    pub(crate) fn reside(&self, resident: Arc<dyn PersistentWaiter<T>>, settled: impl FnOnce(Ticket) -> bool) {
        let mut wake = Wake::default();
        let _dropped_after_the_lock = {
            let mut state = self.core.state.lock();
            let order = state.waiters.next_order();
            let waker = std::task::Waker::noop().clone();
            let ticket = state.waiters.register(order, Want::PersistentWaiter(Box::new(resident)), Some(waker));
            if settled(ticket) {
                state.show_all(ticket, &mut wake);
                None
            } else {
                Some(state.waiters.remove(ticket))
            }
        };
        drop(wake);
        self.settle_predicates();
    }

    /// Removes a persistent waiter if it is still there. Items that it took and did not fetch are offered to other
    /// waiters, oldest first.
    pub(crate) fn depart(&self, ticket: Ticket, identity: *const ()) {
        let mut wake = Wake::default();
        let _dropped_after_the_lock = {
            let mut state = self.core.state.lock();
            if state.waiters.resident(ticket) != Some(identity) {
                return;
            }
            let left = state.waiters.remove(ticket);
            let places: Vec<usize> = state.queue.offered_to(ticket).collect();
            for place in places {
                // Items are freed one by one. A watcher is woken when the number of items equals its need, so the
                // number must not jump past the need.
                state.queue.withdraw(place);
                let sequence = state.queue.element(place).sequence;
                state.offer(place, sequence, None, &mut wake);
            }
            left
        };
        drop(wake);
        self.settle_predicates();
    }

    /// Fetches an item that a persistent waiter took, with the context in which it was posted. Returns `None` if
    /// another receiver has fetched the item or the persistent waiter has left. If `is_last` is true, the persistent
    /// waiter leaves.
    ///
    /// `identity` is the persistent waiter's address. The address is needed because another waiter may have the ticket
    /// by now.
    pub(crate) fn fetch(
        &self,
        ticket: Ticket,
        sequence: u64,
        identity: *const (),
        is_last: bool,
    ) -> Option<(T, Option<Context>)> {
        let mut wake = Wake::default();
        let (element, _dropped_after_the_lock) = {
            let mut state = self.core.state.lock();
            if state.waiters.resident(ticket) != Some(identity) {
                return None;
            }
            let element = state.queue.remove_offered(ticket, sequence)?;
            state.after_removal(&mut wake);
            (element, is_last.then(|| state.waiters.remove(ticket)))
        };
        wake.ring();
        self.settle_predicates();
        Some((element.item, element.context))
    }

    /// Frees items that a persistent waiter took and cannot handle, and offers them, in order, to other waiters. During
    /// this call, the persistent waiter must not take the freed items; it keeps waiting.
    pub(crate) fn decline(&self, items: &[(Ticket, u64)], identity: *const ()) {
        let mut wake = Wake::default();
        {
            let mut state = self.core.state.lock();
            for &(ticket, sequence) in items {
                // Another receiver may have taken the item.
                let Some(place) = state.place_of(ticket, sequence, identity) else { continue };
                if state.waiters.standing(ticket) != Standing::Waiting {
                    state.waiters.disappoint(ticket);
                }
                state.queue.withdraw(place);
                state.offer(place, sequence, None, &mut wake);
            }
        }
        drop(wake);
        self.settle_predicates();
    }

    /// Removes the items that are not offered to a receiver, oldest first. The requests among these items are refused
    /// because the service is stopping. If the port has a sink, the sink gets the items.
    pub(crate) fn refuse_left(&self) {
        let mut wake = Wake::default();
        let (elements, sink) = {
            let mut state = self.core.state.lock();
            let elements = state.queue.take_available();
            state.after_removal(&mut wake);
            (elements, state.options.as_ref().and_then(|options| options.sink.clone()))
        };
        drop(wake);
        for element in elements {
            let discarded = DiscardedItem { item: element.item, reason: Discard::Stopping };
            let loss = Loss { sink: sink.clone(), discarded, context: element.context };
            while_stopping(|| loss.report());
        }
    }

    /// Works as [`fetch`](Self::fetch) does, for an item that the persistent waiter will not handle: a waiter that
    /// wanted a single item keeps waiting.
    pub(crate) fn shed(&self, ticket: Ticket, sequence: u64, identity: *const ()) -> Option<T> {
        let mut wake = Wake::default();
        let item = {
            let mut state = self.core.state.lock();
            let place = state.place_of(ticket, sequence, identity)?;
            let item = state.queue.remove(place).into_item();
            state.rob(ticket, sequence, &mut wake);
            state.after_removal(&mut wake);
            item
        };
        drop(wake);
        self.settle_predicates();
        Some(item)
    }
}

impl<T> State<T> {
    fn place_of(&self, ticket: Ticket, sequence: u64, identity: *const ()) -> Option<usize> {
        let place = self.queue.find_offered(ticket, sequence)?;
        (self.waiters.resident(ticket) == Some(identity)).then_some(place)
    }

    /// Shows a persistent waiter all available items, oldest first.
    fn show_all(&mut self, ticket: Ticket, wake: &mut Wake) {
        for place in 0..self.queue.len() {
            let element = self.queue.element(place);
            if element.offered_to.is_none() {
                let sequence = element.sequence;
                match show(&mut self.waiters, &self.queue, place, ticket, wake) {
                    Response::Pass => {}
                    Response::Take => self.queue.offer(place, ticket),
                    Response::TakeLast => {
                        self.waiters.settle(ticket, Standing::Offered(sequence), wake);
                        self.queue.offer(place, ticket);
                        return;
                    }
                }
            }
        }
    }

    /// Tells a persistent waiter that another receiver has fetched an item that the waiter took.
    pub(super) fn rob(&mut self, ticket: Ticket, sequence: u64, wake: &mut Wake) {
        if let Want::PersistentWaiter(resident) = self.waiters.want(ticket) {
            resident.loses(sequence, wake);
        }
        if self.waiters.standing(ticket) != Standing::Waiting {
            // The waiter wanted only one item and has lost it, so it keeps waiting in its old position.
            self.waiters.disappoint(ticket);
            self.show_all(ticket, wake);
        }
    }
}

fn show<T>(waiters: &mut Waiters<T>, queue: &Queue<T>, place: usize, ticket: Ticket, wake: &mut Wake) -> Response {
    let element = queue.element(place);
    match waiters.want(ticket) {
        Want::PersistentWaiter(resident) => resident.arrives(&element.item, element.sequence, ticket, None, wake),
        _ => Response::Pass,
    }
}
