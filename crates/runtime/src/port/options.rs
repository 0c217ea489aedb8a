//! Options that only some ports have: a capacity, permits, a discard sink, times of arrival, turns among receivers.
//!
//! All of it is in one box that a plain port does not allocate. So in a port without options, a message costs one
//! pointer check. A place in the port is taken by an item or by a *permit*; the two together never exceed the capacity.
//! Waiters for a place are in order, and a place that becomes free is *granted*. From that moment it is theirs, as a
//! permit, so that no poster can overtake them between their wake-up and their post.
//!
//! Invariant whenever the port's lock is free: a waiter is without a grant only if no place is free.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::num::NonZeroUsize;
use std::task::Waker;
use std::time::Duration;

use lehr_sync::{Arc, Moment};

use super::queue::Queue;
use super::wake::Wake;
use crate::context::{Context, in_context};

/// How a full port handles one more item.
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
    /// The oldest item makes place, even if it is being handed to a receiver. Refused only when every place is taken by
    /// a permit.
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
    /// The reason why it was given up.
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
    /// It was the oldest in a full port that drops the oldest.
    Oldest,
    /// It was posted to a full port that drops the newest.
    Newest,
    /// It was still in the port when the last handle of the port went away.
    Abandoned,
    /// It was still in the port when an interleave ended that [refuses](crate::Settings::refuse_pending) leftover
    /// items.
    Stopping,
}

/// The sink that gets the items that a port gives up.
pub(crate) type Sink<T> = Arc<dyn Fn(DiscardedItem<T>) + Send + Sync>;

/// An item given up under the lock, on its way to the sink.
#[must_use = "the sink is told of a discarded item after the lock"]
pub(crate) struct Loss<T> {
    pub(crate) sink: Option<Sink<T>>,
    pub(crate) discarded: DiscardedItem<T>,
    /// The context that the item was posted in.
    pub(crate) context: Option<Context>,
}

impl<T> Loss<T> {
    /// Tells the sink. Without one the item, which the port has counted, is dropped.
    pub(crate) fn report(self) {
        if let Some(sink) = self.sink {
            in_context(self.context, || sink(self.discarded));
        }
    }
}

/// A capacity and the policy beyond it.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    pub(crate) capacity: NonZeroUsize,
    pub(crate) overflow: Overflow,
}

/// See the module's page.
pub(crate) struct Options<T> {
    pub(crate) limit: Option<Limit>,
    pub(crate) sink: Option<Sink<T>>,
    /// Whether persistent receivers take turns instead of keeping their place.
    pub(crate) is_fair: bool,
    pub(crate) arrivals: Option<Arrivals>,
    /// `close` was called while permits were out: no more posts, except theirs.
    pub(crate) is_closing: bool,
    /// Permits that are out, granted places included.
    permits: usize,
    /// Items that were in the port and were given up.
    pub(crate) dropped_oldest: u64,
    /// Items that were given up before they entered.
    pub(crate) dropped_newest: u64,
    /// The waiters for a place, by number, in order. Requests below `first_ungranted` have been granted a place.
    requests: BTreeMap<u64, Option<Waker>>,
    first_ungranted: u64,
    next_number: u64,
    /// The waiters for the port to be closed and empty, by number.
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
    /// The place is the asker's: it counts as a permit.
    Granted,
    /// Its turn has not come; the waker that was replaced is to be dropped after the lock.
    Waiting(#[allow(dead_code, reason = "held only to be dropped late")] Option<Waker>),
    /// The port was closed meanwhile.
    Revoked,
}

impl<T> Options<T> {
    /// Returns whether one more item or permit fits beside `len` items.
    pub(crate) fn has_room(&self, len: usize) -> bool {
        self.limit.is_none_or(|limit| len + self.permits < limit.capacity.get())
    }

    pub(crate) fn permits(&self) -> usize {
        self.permits
    }

    /// Returns the number that wait for a place and have not been granted one.
    pub(crate) fn waiting(&self) -> usize {
        self.requests.range(self.first_ungranted..).count()
    }

    /// Takes a free place.
    pub(crate) fn permit(&mut self) {
        self.permits += 1;
    }

    /// A permit is used up or given back.
    pub(crate) fn release(&mut self) {
        self.permits -= 1;
    }

    /// Queues a request for a place when there is none; returns the request's number.
    pub(crate) fn request(&mut self, waker: &Waker) -> u64 {
        let number = self.number();
        self.requests.insert(number, Some(waker.clone()));
        number
    }

    /// Returns the state of a request; a granted one is over with this look.
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

    /// A request is given up; gives its waker, to be dropped after the lock. A place that it was granted is free again.
    pub(crate) fn withdraw(&mut self, number: u64) -> Option<Waker> {
        let waker = self.requests.remove(&number)?;
        if number < self.first_ungranted {
            self.permits -= 1;
        }
        waker
    }

    /// Grants free places, in order.
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

    /// The port closes: requests are revoked, granted ones too. Only permits with an owner remain.
    pub(crate) fn revoke(&mut self, wake: &mut Wake) {
        for (number, waker) in std::mem::take(&mut self.requests) {
            self.permits -= usize::from(number < self.first_ungranted);
            wake.add(waker);
        }
    }

    /// Waits for the end of the port, under a number of its own from the first time on.
    pub(crate) fn mourn(&mut self, number: &mut Option<u64>, waker: &Waker) -> Option<Waker> {
        let number = *number.get_or_insert_with(|| self.number());
        self.mourners.insert(number, waker.clone())
    }

    /// Waits no more for the end of the port.
    pub(crate) fn stop_mourning(&mut self, number: u64) -> Option<Waker> {
        self.mourners.remove(&number)
    }

    /// The port is closed and empty.
    pub(crate) fn announce_end(&mut self, wake: &mut Wake) {
        std::mem::take(&mut self.mourners).into_values().for_each(|waker| wake.add(Some(waker)));
    }

    fn number(&mut self) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        number
    }
}

/// The arrival times of items, for a port that measures them. Beside the queue and not in its elements, which the
/// others would pay for too.
#[derive(Default)]
pub(crate) struct Arrivals {
    /// Sequence number and time, ascending; entries of items that have left are dropped now and then.
    times: VecDeque<(u64, Moment)>,
}

impl Arrivals {
    /// Notes the arrival of the youngest item of `queue`.
    pub(crate) fn note<T>(&mut self, sequence: u64, queue: &Queue<T>) {
        self.times.push_back((sequence, Moment::now()));
        // Twice as many as needed: cleared at a constant cost per item.
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
