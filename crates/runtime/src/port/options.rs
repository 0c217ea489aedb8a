//! Options that only some ports have: a capacity, permits, a discard sink, times of arrival, turns among receivers.
//!
//! All options of a port are in one box, which a plain port does not allocate. So in a port without options, a message
//! costs one more pointer check. Each item and each *permit* takes one place in the port; together, items and permits
//! never exceed the capacity. Waiters for a place are in order, and a place that becomes free is *granted* to the first
//! of them. From the grant on, the place belongs to the waiter, as a permit. So no poster can overtake the waiter
//! between its wake-up and its post.
//!
//! Invariant whenever the port's lock is free: while any waiter has no grant, no place is free.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::num::NonZeroUsize;
use std::task::Waker;
use std::time::Duration;

use lehr_sync::{Arc, Moment};

use super::queue::Queue;
use super::wake::Wake;
use crate::context::{Context, in_context};

/// How a full port handles another item.
///
/// # Example
/// ```
/// use lehr_runtime::{Overflow, Port};
/// let last_three = Port::bounded(3, Overflow::DropOldest);
/// (1..=5).for_each(|i| last_three.post(i).unwrap());
/// assert_eq!(last_three.drain(), [3, 4, 5]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Overflow {
    /// `post` gives the item back; `post_wait` and `reserve` wait for a place, in order.
    Wait,
    /// `post`, `post_wait` and `reserve` are refused at once.
    Reject,
    /// The oldest item is dropped, even if it is already offered to a receiver. The new item is refused only if every
    /// place is taken by a permit.
    DropOldest,
    /// The new item is dropped; a `reserve` is refused.
    DropNewest,
}

/// An item that a port gave up, with the reason.
///
/// # Example
/// See [`PortBuilder::on_discard`](super::builder::PortBuilder::on_discard).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DiscardedItem<T> {
    /// The item.
    pub item: T,
    /// The reason why the item was given up.
    pub reason: Discard,
}

impl<T> fmt::Debug for DiscardedItem<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("DiscardedItem").field("reason", &self.reason).finish_non_exhaustive()
    }
}

/// The reason why a port gave up an item.
///
/// # Example
/// See [`PortBuilder::on_discard`](super::builder::PortBuilder::on_discard).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Discard {
    /// The item was the oldest in a full port whose policy is [`Overflow::DropOldest`].
    Oldest,
    /// The item was posted to a full port whose policy is [`Overflow::DropNewest`].
    Newest,
    /// The item was still in the port when the last handle of the port was dropped.
    Abandoned,
    /// The item was still in the port when an interleave ended that [refuses](crate::Settings::refuse_pending) the
    /// remaining items.
    Stopping,
}

/// The sink that gets the items that a port gives up.
pub(crate) type Sink<T> = Arc<dyn Fn(DiscardedItem<T>) + Send + Sync>;

/// An item that the port gave up under the lock, and that the sink gets after the lock is released.
#[must_use = "the sink is told of a discarded item after the lock"]
pub(crate) struct Loss<T> {
    pub(crate) sink: Option<Sink<T>>,
    pub(crate) discarded: DiscardedItem<T>,
    /// The context in which the item was posted.
    pub(crate) context: Option<Context>,
}

impl<T> Loss<T> {
    /// Passes the item to the port's sink. Without a sink the item is dropped; the port has counted it.
    pub(crate) fn report(self) {
        if let Some(sink) = self.sink {
            in_context(self.context, || sink(self.discarded));
        }
    }
}

/// The capacity of a port, and the policy for posts when the port is full.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) capacity: NonZeroUsize,
    pub(crate) overflow: Overflow,
}

/// The options of a port; see the documentation of this module.
pub(crate) struct Options<T> {
    pub(crate) limit: Option<Limit>,
    pub(crate) sink: Option<Sink<T>>,
    /// Whether persistent receivers take turns instead of keeping their position.
    pub(crate) is_fair: bool,
    pub(crate) arrivals: Option<Arrivals>,
    /// Whether [`Port::close`](crate::Port::close) was called. From then on, the port accepts only the posts of
    /// existing permits.
    pub(crate) is_closing: bool,
    /// The number of permits, including granted places.
    permits: usize,
    /// The number of items that were given up after they had entered the port.
    pub(crate) dropped_oldest: u64,
    /// The number of items that were given up before they entered the port.
    pub(crate) dropped_newest: u64,
    /// The waiters for a place, by number, in order. Requests below `first_ungranted` have been granted a place.
    requests: BTreeMap<u64, Option<Waker>>,
    first_ungranted: u64,
    next_number: u64,
    /// The waiters for the end of the port (closed and empty), by number.
    mourners: BTreeMap<u64, Waker>,
}

impl<T> Default for Options<T> {
    fn default() -> Self {
        Self {
            limit: None,
            sink: None,
            is_fair: false,
            arrivals: None,
            is_closing: false,
            permits: 0,
            dropped_oldest: 0,
            dropped_newest: 0,
            requests: BTreeMap::new(),
            first_ungranted: 0,
            next_number: 0,
            mourners: BTreeMap::new(),
        }
    }
}

/// The state of a request for a place.
pub(crate) enum Request {
    /// The request has a place, which counts as a permit.
    Granted,
    /// The request must wait for its turn. The replaced waker must be dropped after the lock.
    Waiting(#[allow(dead_code, reason = "held only to be dropped late")] Option<Waker>),
    /// The port was closed while the request waited.
    Revoked,
}

impl<T> Options<T> {
    /// Returns whether one more item or permit fits into the port, which holds `len` items.
    pub(crate) fn has_room(&self, len: usize) -> bool {
        self.limit.is_none_or(|limit| len + self.permits < limit.capacity.get())
    }

    pub(crate) fn permits(&self) -> usize {
        self.permits
    }

    /// Returns the number of requests that wait for a place and have not been granted one.
    pub(crate) fn waiting(&self) -> usize {
        self.requests.range(self.first_ungranted..).count()
    }

    /// Counts a new permit.
    pub(crate) fn permit(&mut self) {
        self.permits += 1;
    }

    /// Counts a permit that was used or given back.
    pub(crate) fn release(&mut self) {
        self.permits -= 1;
    }

    /// Queues a request for a place, when no place is free; returns the request's number.
    pub(crate) fn request(&mut self, waker: &Waker) -> u64 {
        let number = self.number();
        self.requests.insert(number, Some(waker.clone()));
        number
    }

    /// Returns the state of a request; a granted request ends with this call.
    pub(crate) fn look(&mut self, number: u64, waker: &Waker) -> Request {
        let Some(known) = self.requests.get_mut(&number) else { return Request::Revoked };
        if number < self.first_ungranted {
            self.requests.remove(&number);
            return Request::Granted;
        }
        if known.as_ref().is_some_and(|known| known.will_wake(waker)) {
            return Request::Waiting(None);
        }
        Request::Waiting(known.replace(waker.clone()))
    }

    /// Withdraws a request; returns its waker, to be dropped after the lock. A place that was granted to the request is
    /// free again.
    pub(crate) fn withdraw(&mut self, number: u64) -> Option<Waker> {
        let waker = self.requests.remove(&number)?;
        if number < self.first_ungranted {
            self.permits -= 1;
        }
        waker
    }

    /// Grants free places to waiting requests, in order.
    pub(crate) fn grant(&mut self, len: usize, wake: &mut Wake) {
        while self.first_ungranted < self.next_number && self.has_room(len) {
            let Some((&number, waker)) = self.requests.range_mut(self.first_ungranted..).next() else {
                self.first_ungranted = self.next_number;
                return;
            };
            self.first_ungranted = number + 1;
            self.permits += 1;
            wake.add(waker.take());
        }
    }

    /// Revokes all requests, including granted ones, because the port closes. After this call, only permits with an
    /// owner remain.
    pub(crate) fn revoke(&mut self, wake: &mut Wake) {
        for (number, waker) in std::mem::take(&mut self.requests) {
            self.permits -= usize::from(number < self.first_ungranted);
            wake.add(waker);
        }
    }

    /// Registers a waiter for the end of the port, and gives it a `number` at its first call. Returns the waker that it
    /// replaces.
    pub(crate) fn mourn(&mut self, number: &mut Option<u64>, waker: &Waker) -> Option<Waker> {
        let number = *number.get_or_insert_with(|| self.number());
        self.mourners.insert(number, waker.clone())
    }

    /// Removes a waiter for the end of the port.
    pub(crate) fn stop_mourning(&mut self, number: u64) -> Option<Waker> {
        self.mourners.remove(&number)
    }

    /// Wakes the waiters for the end of the port, because it is closed and empty.
    pub(crate) fn announce_end(&mut self, wake: &mut Wake) {
        std::mem::take(&mut self.mourners).into_values().for_each(|waker| wake.add(Some(waker)));
    }

    fn number(&mut self) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        number
    }
}

/// The arrival times of items, for a port that measures them. The times are stored outside the queue's elements, which
/// would otherwise be larger for all ports.
#[derive(Default)]
pub(crate) struct Arrivals {
    /// The sequence numbers and arrival times of items, ascending. Entries of items that have left the port are dropped
    /// from time to time.
    times: VecDeque<(u64, Moment)>,
}

impl Arrivals {
    /// Records the arrival of the latest item of `queue`.
    pub(crate) fn note<T>(&mut self, sequence: u64, queue: &Queue<T>) {
        self.times.push_back((sequence, Moment::now()));
        // Removes old entries when there are more than twice as many entries as items, so that the cost per item is
        // constant.
        if self.times.len() > 2 * queue.len() + 32 {
            let mut present = queue.sequences().peekable();
            self.times.retain(|&(sequence, _)| {
                while present.next_if(|&next| next < sequence).is_some() {}
                present.peek() == Some(&sequence)
            });
            self.times.shrink_to(2 * self.times.len());
        }
    }

    /// Returns the age of the oldest item of `queue`.
    pub(crate) fn age_of_oldest<T>(&mut self, queue: &Queue<T>) -> Option<Duration> {
        let oldest = queue.sequences().next()?;
        while self.times.front().is_some_and(|&(sequence, _)| sequence < oldest) {
            self.times.pop_front();
        }
        self.times.front().map(|(_, moment)| moment.elapsed())
    }
}
