//! The state of a port ([`Gauges`]), and a wait for its end ([`Drained`]).

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use super::Port;
use super::options::Options;

/// The state of a port at one moment. The counts cost nothing, because they follow from the sequence number of the
/// latest item.
///
/// At any moment, `posted == received + discarded + len`.
///
/// # Example
/// ```
/// use lehr_runtime::Port;
/// let port = Port::builder().measure_age().build();
/// (0..3).for_each(|i| port.post(i).unwrap());
/// port.try_receive();
/// let gauges = port.gauges();
/// assert_eq!((gauges.len, gauges.posted, gauges.received, gauges.discarded), (2, 3, 1, 0));
/// assert!(gauges.age_of_oldest.is_some());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gauges {
    /// The number of items in the port, including items that are offered to a receiver and not fetched yet.
    pub len: usize,
    /// The number of places for items and permits; `None` if there is no limit.
    pub capacity: Option<usize>,
    /// The number of places reserved for permits.
    pub permits: usize,
    /// The number of receives, takes, joins and other arbiters that wait at the port.
    pub receivers_waiting: usize,
    /// The number of posts and reservations that wait for a place.
    pub posters_waiting: usize,
    /// The number of items that the port has accepted.
    pub posted: u64,
    /// The number of items that have been taken out of the port.
    pub received: u64,
    /// The number of items that the port has given up.
    pub discarded: u64,
    /// The time since the oldest item arrived, if there is one and the port was built to
    /// [`measure_age`](super::builder::PortBuilder::measure_age).
    pub age_of_oldest: Option<Duration>,
}

impl<T> Port<T> {
    /// Returns the port's state; it may be out of date when you read it.
    ///
    /// # Example
    /// See [`Gauges`].
    pub fn gauges(&self) -> Gauges {
        let mut state = self.core.state.lock();
        let state = &mut *state;
        let (len, entered) = (state.queue.len(), state.queue.pushed());
        let (mut dropped_oldest, mut dropped_newest) = (0, 0);
        let mut gauges = Gauges {
            len,
            capacity: None,
            permits: 0,
            receivers_waiting: state.waiters.len(),
            posters_waiting: 0,
            posted: 0,
            received: 0,
            discarded: 0,
            age_of_oldest: None,
        };
        if let Some(options) = &mut state.options {
            (dropped_oldest, dropped_newest) = (options.dropped_oldest, options.dropped_newest);
            gauges.capacity = options.limit.map(|limit| limit.capacity.get());
            gauges.permits = options.permits();
            gauges.posters_waiting = options.waiting();
            gauges.age_of_oldest = options.arrivals.as_mut().and_then(|arrivals| arrivals.age_of_oldest(&state.queue));
        }
        gauges.posted = entered + dropped_newest;
        gauges.discarded = dropped_oldest + dropped_newest;
        gauges.received = entered - dropped_oldest - len as u64;
        gauges
    }

    /// Returns the port's number of places for items and permits; `None` if there is no limit.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Overflow, Port};
    /// assert_eq!(Port::<u8>::bounded(8, Overflow::Wait).capacity(), Some(8));
    /// assert_eq!(Port::<u8>::new().capacity(), None);
    /// ```
    pub fn capacity(&self) -> Option<usize> {
        let state = self.core.state.lock();
        state.options.as_ref().and_then(|options| options.limit).map(|limit| limit.capacity.get())
    }

    /// Returns whether the port is closed and empty, and no permit exists: no more items will come out of the port.
    ///
    /// # Example
    /// ```
    /// let port = lehr_runtime::Port::new();
    /// port.post(1).unwrap();
    /// port.close();
    /// assert!(port.is_closed() && !port.is_drained());
    /// port.try_receive();
    /// assert!(port.is_drained());
    /// ```
    pub fn is_drained(&self) -> bool {
        let state = self.core.state.lock();
        state.is_closed && state.queue.is_empty()
    }

    /// Waits until the port is closed and empty, and no permit exists: no more items will come out of the port.
    /// Cancel-safe. Removing the last item and closing the port wake this future.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Port, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let port = Port::new();
    /// port.on(dispatcher.handle(), 1, |_: u8| async {}).detach();
    /// (0..10).for_each(|i| port.post(i).unwrap());
    /// port.close();
    /// block_on(port.drained());
    /// assert!(port.is_drained());
    /// ```
    pub fn drained(&self) -> Drained<'_, T> {
        Drained { port: self, number: None }
    }
}

/// The future of [`Port::drained`].
///
/// # Example
/// See [`Port::drained`].
#[must_use = "a wait does nothing unless awaited"]
pub struct Drained<'a, T> {
    port: &'a Port<T>,
    /// The number under which this future is registered, from its first poll on.
    number: Option<u64>,
}

impl<T> Future for Drained<'_, T> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Declared before the guard, so that a replaced waker is dropped after the lock is released.
        let _replaced;
        let mut state = self.port.core.state.lock();
        if state.is_closed && state.queue.is_empty() {
            return Poll::Ready(());
        }
        let options = state.options.get_or_insert_with(|| Box::new(Options::default()));
        _replaced = options.mourn(&mut self.number, context.waker());
        drop(state);
        Poll::Pending
    }
}

impl<T> Drop for Drained<'_, T> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let _dropped_after_the_lock = {
            let mut state = self.port.core.state.lock();
            state.options.as_mut().and_then(|options| options.stop_mourning(number))
        };
    }
}

impl<T> fmt::Debug for Drained<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Drained").field("port", self.port).finish_non_exhaustive()
    }
}
