//! A port's decisions under its lock: which waiter is shown an item, which policy applies to a post, and where a
//! withdrawn offer goes.

use std::task::{Context, Poll, Waker};

use lehr_sync::Arc;

use super::options::{Discard, DiscardedItem, Loss, Options, Overflow};
use super::predicate::accepts;
use super::queue::Queue;
use super::waiters::{Left, Predicate, Standing, Ticket, Waiters, Want};
use super::wake::Wake;
use crate::calls::Frame;
use crate::error::{PostError, Reason};

/// The state that a port's lock protects. Invariants whenever the lock is free:
///
/// 1. No listed waiter for one item would accept an available item. Otherwise the item would have been offered to that
///    waiter.
/// 2. A watcher that has not been woken since its last look lacks items at one or more of its ports.
pub(crate) struct State<T> {
    pub(crate) queue: Queue<T>,
    pub(crate) waiters: Waiters<T>,
    /// Whether no more items can arrive, because `close` was called and no permit exists.
    pub(crate) is_closed: bool,
    /// The options of the port; `None` for a port without options.
    pub(crate) options: Option<Box<Options<T>>>,
}

/// The reason why a receive fails, without the port's name, because the name is not formatted under the lock.
pub(super) enum Unreceived {
    Closed,
    Predicate(String),
}

pub(super) type Polled<T> = (Poll<Result<T, Unreceived>>, (Option<Left<T>>, Option<Waker>));

impl<T> State<T> {
    /// Appends an item and shows it to the waiters.
    #[inline]
    pub(crate) fn append(&mut self, item: T, call: Option<&Arc<Frame>>, wake: &mut Wake) {
        let sequence = self.queue.push(item, None);
        if let Some(arrivals) = self.options.as_mut().and_then(|options| options.arrivals.as_mut()) {
            arrivals.note(sequence, &self.queue);
        }
        if self.waiters.has_listed() {
            let place = self.queue.len() - 1;
            self.offer(place, sequence, call, wake);
        }
    }

    /// Posts an item according to the port's policy; returns the item that the port gave up for the new item, or
    /// `None`.
    pub(super) fn admit(
        &mut self,
        item: T,
        call: Option<&Arc<Frame>>,
        wake: &mut Wake,
    ) -> Result<Option<Loss<T>>, PostError<T>> {
        let len = self.queue.len();
        let Some(options) = self.options.as_mut().filter(|_| !self.is_closed) else {
            if self.is_closed {
                return Err(PostError { item, reason: Reason::Closed });
            }
            self.append(item, call, wake);
            return Ok(None);
        };
        if options.is_closing {
            return Err(PostError { item, reason: Reason::Closed });
        }
        let mut loss = None;
        if let Some(limit) = options.limit.filter(|_| !options.has_room(len)) {
            match limit.overflow {
                Overflow::Wait | Overflow::Reject => return Err(PostError { item, reason: Reason::Full }),
                Overflow::DropNewest => {
                    options.dropped_newest += 1;
                    let discarded = DiscardedItem { item, reason: Discard::Newest };
                    let context = crate::context::current::capture();
                    return Ok(Some(Loss { sink: options.sink.clone(), discarded, context }));
                }
                Overflow::DropOldest => {
                    loss = self.give_up_oldest(wake);
                    if loss.is_none() {
                        return Err(PostError { item, reason: Reason::Full });
                    }
                }
            }
        }
        self.append(item, call, wake);
        Ok(loss)
    }

    /// Takes a place for a permit, according to the port's policy; returns the item that the port gave up for the
    /// permit, or `None`.
    pub(super) fn take_place(&mut self, wake: &mut Wake) -> Result<Option<Loss<T>>, Reason> {
        if self.is_closed {
            return Err(Reason::Closed);
        }
        let len = self.queue.len();
        let options = self.options.get_or_insert_with(|| Box::new(Options::default()));
        if options.is_closing {
            return Err(Reason::Closed);
        }
        let mut loss = None;
        if !options.has_room(len) {
            if options.limit.is_none_or(|limit| limit.overflow != Overflow::DropOldest) {
                return Err(Reason::Full);
            }
            loss = Some(self.give_up_oldest(wake).ok_or(Reason::Full)?);
        }
        self.options.as_mut().expect("made above").permit();
        Ok(loss)
    }

    /// Gives up the oldest item, if there is one; the caller passes the item to the sink after releasing the lock.
    fn give_up_oldest(&mut self, wake: &mut Wake) -> Option<Loss<T>> {
        let element = self.queue.take_any()?;
        if let Some(ticket) = element.offered_to {
            self.disappoint(ticket, element.sequence, wake);
        }
        let options = self.options.as_mut()?;
        options.dropped_oldest += 1;
        Some(Loss {
            sink: options.sink.clone(),
            discarded: DiscardedItem { item: element.item, reason: Discard::Oldest },
            context: element.context,
        })
    }

    /// Grants the places that became free to waiting requests. If the port is closed and empty, wakes the waiters for
    /// its end. Call this method after removing items, under the same lock.
    #[inline]
    pub(crate) fn after_removal(&mut self, wake: &mut Wake) {
        if let Some(options) = &mut self.options {
            options.grant(self.queue.len(), wake);
            if self.is_closed && self.queue.is_empty() {
                options.announce_end(wake);
            }
        }
    }

    /// Ends the port if it is closing and no permit is left, because no more items can come.
    pub(super) fn end_if_closing(&mut self, wake: &mut Wake) {
        let Some(options) = &mut self.options else { return };
        if options.is_closing && options.permits() == 0 && !self.is_closed {
            self.is_closed = true;
            self.waiters.wake_all(wake);
            self.after_removal(wake);
        }
    }

    /// Shows an available item to the waiters.
    pub(super) fn offer(&mut self, place: usize, sequence: u64, call: Option<&Arc<Frame>>, wake: &mut Wake) {
        let available = self.queue.available();
        if let Some(ticket) = self.waiters.offer(&self.queue.element(place).item, sequence, available, call, wake) {
            self.queue.offer(place, ticket);
        }
    }

    /// Frees an item whose waiter has left. A waiter that was offered a later item gets the freed item instead, unless
    /// an earlier waiter takes it. Then the later item is free. So the remaining waiters get their items in order, as
    /// if the waiter had never been there. The last item freed in this way is shown to the waiters.
    pub(super) fn withdraw(&mut self, sequence: u64, wake: &mut Wake) {
        let mut free = self.queue.place_of(sequence);
        self.queue.withdraw(free);
        let (mut place, mut ahead) = (free, self.queue.offered_after(free));
        while ahead > 0 {
            place += 1;
            let Some(holder) = self.queue.element(place).offered_to else { continue };
            ahead -= 1;
            if self.waiters.would_accept(holder, &self.queue.element(free).item) {
                let (order, element) = (self.waiters.order(holder), self.queue.element(free));
                if let Some(ticket) = self.waiters.offer_before(order, &element.item, element.sequence, None, wake) {
                    self.queue.offer(free, ticket);
                    return;
                }
                self.queue.withdraw(place);
                self.queue.offer(free, holder);
                self.waiters.exchange_offer(holder, self.queue.element(free).sequence);
                free = place;
            }
        }
        let sequence = self.queue.element(free).sequence;
        self.offer(free, sequence, None, wake);
    }

    /// Handles the loss of an item that was offered to `ticket`, after another receiver has fetched it. The waiter gets
    /// the next item that it accepts, or keeps waiting.
    pub(super) fn disappoint(&mut self, ticket: Ticket, sequence: u64, wake: &mut Wake) {
        if matches!(self.waiters.want(ticket), Want::PersistentWaiter(_)) {
            return self.rob(ticket, sequence, wake);
        }
        self.waiters.disappoint(ticket);
        let found = match self.waiters.want(ticket) {
            Want::One(predicate) => self.queue.find(|item| match predicate {
                None => Ok(true),
                Some(predicate) => accepts(predicate.as_ref().as_ref(), item),
            }),
            Want::PersistentWaiter(_) | Want::Take(_) | Want::Watch(_) | Want::Sort(_) => {
                unreachable!("only a waiter for one item is ever offered one")
            }
        };
        match found {
            Ok(None) => {}
            Ok(Some(place)) => {
                let sequence = self.queue.element(place).sequence;
                self.waiters.settle(ticket, Standing::Offered(sequence), wake);
                self.queue.offer(place, ticket);
            }
            Err(message) => self.waiters.fail(ticket, message, wake),
        }
    }

    pub(super) fn poll_receive(
        &mut self,
        ticket: &mut Option<Ticket>,
        order: Option<u64>,
        predicate: &mut Option<Predicate<T>>,
        context: &mut Context<'_>,
    ) -> Polled<T> {
        let Some(known) = *ticket else { return (self.first_poll(ticket, order, predicate, context), (None, None)) };
        match self.waiters.standing(known) {
            Standing::Waiting if !self.is_closed => {
                let replaced = self.waiters.set_waker(known, context.waker());
                return (Poll::Pending, (None, replaced));
            }
            // Invariant 1: the queue has no item for this waiter, and no more items will come.
            Standing::Waiting | Standing::Offered(_) | Standing::Failed | Standing::Promised => {}
        }
        *ticket = None;
        let mut left = self.waiters.remove(known);
        let result = match left.standing {
            Standing::Waiting | Standing::Promised => Err(Unreceived::Closed),
            Standing::Failed => Err(Unreceived::Predicate(left.failure.take().unwrap_or_default())),
            Standing::Offered(sequence) => {
                let place = self.queue.place_of(sequence);
                Ok(self.queue.remove(place).into_item())
            }
        };
        (Poll::Ready(result), (Some(left), None))
    }

    fn first_poll(
        &mut self,
        ticket: &mut Option<Ticket>,
        order: Option<u64>,
        predicate: &mut Option<Predicate<T>>,
        context: &mut Context<'_>,
    ) -> Poll<Result<T, Unreceived>> {
        // Invariant 1: no earlier receiver wants an available item.
        let found = match predicate {
            None => Ok(self.queue.take_oldest()),
            Some(predicate) => self
                .queue
                .find(|item| accepts(predicate.as_ref().as_ref(), item))
                .map(|place| place.map(|place| self.queue.remove(place).into_item())),
        };
        match found {
            Err(message) => Poll::Ready(Err(Unreceived::Predicate(message))),
            Ok(Some(item)) => Poll::Ready(Ok(item)),
            Ok(None) if self.is_closed => Poll::Ready(Err(Unreceived::Closed)),
            Ok(None) => {
                // If receivers take turns, no receiver keeps its position.
                let kept = order.filter(|_| !self.options.as_ref().is_some_and(|options| options.is_fair));
                let order = kept.unwrap_or_else(|| self.waiters.next_order());
                let want = Want::One(predicate.take());
                *ticket = Some(self.waiters.register(order, want, Some(context.waker().clone())));
                Poll::Pending
            }
        }
    }
}
