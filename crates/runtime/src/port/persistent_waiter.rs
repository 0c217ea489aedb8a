//! A persistent waiter: a waiter that stays at its port and is offered item after item. The branches of an interleave
//! are persistent waiters.
//!
//! An item that a persistent waiter takes is marked as offered to it. It stays in its place in the port as long as the
//! interleave makes it wait. The interleave notes its sequence number, in the order in which posts of all its ports
//! arrive. So the port still counts the item, and any receiver may take it with [`Port::try_receive`]. When the
//! persistent waiter leaves, items that it had not fetched are offered to the next in order, in the old order.

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

/// The owner's decisions about a persistent waiter's items. Called under the port's lock, so it may take locks that
/// come after those of ports, and no others.
pub(crate) trait PersistentWaiter<T>: Send + Sync {
    /// An item has become available. `call` is there if the poster waits for an answer to it.
    fn arrives(&self, item: &T, sequence: u64, ticket: Ticket, call: Option<&Arc<Frame>>, wake: &mut Wake) -> Response;

    /// Returns the judgement of an item whose poster would wait for an answer to it.
    fn judge(&self, item: &T, call: &Frame) -> Judgement;

    /// Another receiver has fetched an item that it took but had not fetched.
    fn loses(&self, sequence: u64, wake: &mut Wake);
}

/// A persistent waiter's response to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Response {
    /// It is for others.
    Pass,
    /// It is mine, and so may the next be.
    Take,
    /// It is mine, and I want no other.
    TakeLast,
}

/// A persistent waiter's judgement of a call that has not been posted.
#[derive(Debug)]
pub(crate) enum Judgement {
    /// It is for others.
    OfOthers,
    /// I would take it.
    Admissible,
    /// I would take it, and its poster would wait for ever.
    Deadlock(Refusal),
}

impl<T> Port<T> {
    /// Registers a persistent waiter and shows it the items that the port already holds. `settled` gets its ticket
    /// under the port's lock, and returns whether the persistent waiter is still wanted.
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

    /// A persistent waiter goes away, if it has not: items that it took and did not fetch are offered to the others,
    /// oldest first.
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
                // One by one: a watcher is woken when the items are as many as it needs, so their number must not leap
                // over that.
                state.queue.withdraw(place);
                let sequence = state.queue.element(place).sequence;
                state.offer(place, sequence, None, &mut wake);
            }
            left
        };
        drop(wake);
        self.settle_predicates();
    }

    /// A persistent waiter fetches an item that it took, with the context that it was posted in. `None` if the item was
    /// fetched elsewhere or the persistent waiter has left. With `is_last` the persistent waiter leaves.
    ///
    /// `identity` is the persistent waiter's address: a ticket alone may have become another waiter's.
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

    /// Items that a persistent waiter took and cannot handle go back to their places. They are offered, in order, to
    /// those that wait for them. The persistent waiter must pass them over meanwhile, and keeps waiting.
    pub(crate) fn decline(&self, items: &[(Ticket, u64)], identity: *const ()) {
        let mut wake = Wake::default();
        {
            let mut state = self.core.state.lock();
            for &(ticket, sequence) in items {
                // Somebody else may have taken it.
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

    /// Takes out the items that are being handed to no receiver, oldest first, and refuses the questions among them
    /// because the service is stopping. The port's sink, if it has one, is given the items.
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

    /// Like [`fetch`](Self::fetch), for an item that the persistent waiter is not going to handle: one that wanted a
    /// single item waits on.
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

    /// Shows a persistent waiter all that is available, oldest first.
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

    /// Another receiver has fetched an item that a persistent waiter took.
    pub(super) fn rob(&mut self, ticket: Ticket, sequence: u64, wake: &mut Wake) {
        if let Want::PersistentWaiter(resident) = self.waiters.want(ticket) {
            resident.loses(sequence, wake);
        }
        if self.waiters.standing(ticket) != Standing::Waiting {
            // It wanted one only and has lost it: it waits on at its old place.
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
