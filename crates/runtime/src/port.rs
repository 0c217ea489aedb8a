//! `Port<T>`: a typed queue with any number of posters and any number of waiters.
//!
//! Posting never blocks and never runs a handler; it appends the item, chooses its receiver, and wakes that task. The
//! item itself stays in the queue until the task fetches it. So a pending receive, take or join holds no item. Dropping
//! it at any moment loses no item and changes no order.
//!
//! An item goes to the first receiver for single items that accepts it, in order of registration. If no receiver
//! accepts the item, it goes to the first take or join that it satisfies. [`Port::try_receive`] ignores this order.
//! `try_receive` takes the oldest item, even if that item was offered to a receiver. The receiver that loses the item
//! keeps waiting in its old position.
//!
//! The parts that only some ports have, such as a capacity, permits or a discard sink, are stored separately, in
//! `port/options.rs`. Read next: `port/waiters.rs`, then `arbiter.rs`.

pub(crate) mod builder;
pub(crate) mod counting_filter;
pub(crate) mod gauges;
pub(crate) mod once;
pub(crate) mod options;
pub(crate) mod permit;
pub(crate) mod persistent;
pub(crate) mod persistent_waiter;
mod plain;
pub(crate) mod predicate;
pub(crate) mod queue;
mod state;
pub(crate) mod waiters;
pub(crate) mod wake;

use std::fmt;
use std::task::{Context, Poll};

use lehr_sync::{Arc, SpinLock, process::next_identity};

use crate::arbiter::Locked;
use crate::arbiter::receive::Receive;
use crate::arbiter::take::Take;
use crate::error::{PostError, ReceiveError, ReceiveErrorKind, Refusal};
use options::{Discard, DiscardedItem, Options};
use queue::Queue;
use state::Unreceived;
use waiters::{Predicate, Standing, Ticket, Waiters};
use wake::Wake;

pub(crate) use state::State;

/// A typed first-in-first-out queue with an identity, any number of posters and any number of receivers. Cheap to
/// clone: clones are the same port.
///
/// A port is unbounded unless it is created with a capacity ([`Port::bounded`], [`Port::builder`]). The items of one
/// poster keep their order. Receivers without predicates take items in order of arrival.
///
/// # Example
/// ```
/// use lehr_runtime::{Port, block_on};
/// let port = Port::new();
/// port.post("one").unwrap();
/// port.post("two").unwrap();
/// assert_eq!(block_on(port.receive()), Ok("one"));
/// assert_eq!(port.len(), 1);
/// ```
pub struct Port<T> {
    pub(crate) core: Arc<Core<T>>,
}

pub(crate) struct Core<T> {
    /// A number that is unique in the process and increases with each new port. Ports are locked in ascending order of
    /// this number.
    pub(crate) identity: u64,
    pub(crate) name: Option<Box<str>>,
    pub(crate) state: SpinLock<State<T>>,
}

impl<T> Drop for Core<T> {
    fn drop(&mut self) {
        let (sink, elements) = {
            let mut state = self.state.lock();
            let Some(sink) = state.options.as_ref().and_then(|options| options.sink.clone()) else { return };
            (sink, state.queue.take_all())
        };
        elements.into_iter().for_each(|element| sink(DiscardedItem { item: element.item, reason: Discard::Abandoned }));
    }
}

impl<T> Clone for Port<T> {
    fn clone(&self) -> Self {
        Self { core: self.core.clone() }
    }
}

impl<T> Default for Port<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Port<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Port").field("name", &self.name()).field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<T> Port<T> {
    /// Creates an open, empty port, named after its number.
    ///
    /// # Example
    /// See [`Port`].
    pub fn new() -> Self {
        Self::with(None, None)
    }

    /// Creates an open, empty port with a name for messages.
    ///
    /// # Example
    /// ```
    /// let orders = lehr_runtime::Port::<u8>::named("orders");
    /// assert_eq!(orders.name(), "port \"orders\"");
    /// ```
    pub fn named(name: impl Into<String>) -> Self {
        Self::with(Some(name.into().into_boxed_str()), None)
    }

    fn with(name: Option<Box<str>>, options: Option<Box<Options<T>>>) -> Self {
        let state = State { queue: Queue::new(), waiters: Waiters::new(), is_closed: false, options };
        Self { core: Arc::new(Core { identity: next_identity(), name, state: SpinLock::new(state) }) }
    }

    /// Returns the name of the port in messages: `port "name"`, or `port 7` if it is named after its identity.
    ///
    /// # Example
    /// See [`Port::named`].
    pub fn name(&self) -> String {
        match &self.core.name {
            Some(name) => format!("port {name:?}"),
            None => format!("port {}", self.core.identity),
        }
    }

    /// Appends an item to the port. Posting never waits and never runs a handler on the calling thread. But a post
    /// calls the predicates of waiting receivers, under the port's lock. A full port follows its
    /// [`Overflow`](options::Overflow) policy; to wait for a place, use [`post_wait`](Self::post_wait).
    ///
    /// # Errors
    /// Returns [`PostError`] with the item if the port is closed, or if it is full and its policy is to refuse the
    /// item.
    ///
    /// Cost: one lock, and one wake-up if a waiter gets the item. Amortised over many posts, there is no allocation.
    ///
    /// # Example
    /// ```
    /// let port = lehr_runtime::Port::new();
    /// port.post(1).unwrap();
    /// assert_eq!(port.try_receive(), Some(1));
    /// ```
    pub fn post(&self, item: T) -> Result<(), PostError<T>> {
        let mut state = self.core.state.lock();
        match state.post_plainly(item) {
            Ok(waker) => {
                drop(state);
                if let Some(waker) = waker {
                    waker.wake();
                }
                Ok(())
            }
            Err(item) => self.post_by_policy(item, state, Wake::default()),
        }
    }

    /// Posts an item in the general case. The port may be closed or have options, or waiters other than plain receivers
    /// may wait.
    #[inline(never)]
    fn post_by_policy(&self, item: T, mut state: Locked<'_, T>, mut wake: Wake) -> Result<(), PostError<T>> {
        let admitted = state.admit(item, None, &mut wake);
        drop(state);
        wake.ring();
        self.settle_predicates();
        if let Some(loss) = admitted? {
            loss.report();
        }
        Ok(())
    }

    /// Posts an item whose poster will wait for an answer.
    ///
    /// # Errors
    /// Returns [`PostError`] as [`post`](Self::post) does, or the reason why no answer could ever come; in the latter
    /// case the item is dropped.
    pub(crate) fn post_call(&self, item: T) -> Result<Result<(), Refusal>, PostError<T>> {
        let Some(frame) = crate::calls::frame() else { return self.post(item).map(Ok) };
        let mut wake = Wake::default();
        let admitted = {
            let mut state = self.core.state.lock();
            if let Some(refusal) = state.waiters.judge(&item, &frame) {
                drop(state);
                self.settle_predicates();
                return Ok(Err(refusal));
            }
            state.admit(item, Some(&frame), &mut wake)
        };
        wake.ring();
        self.settle_predicates();
        if let Some(loss) = admitted? {
            loss.report();
        }
        Ok(Ok(()))
    }

    /// Appends an item without the current context. Use this method for tokens and buffers that are used again, which
    /// would otherwise carry the context of their last user. In all other respects, this method works as
    /// [`post`](Self::post) does.
    ///
    /// # Errors
    /// Fails as [`post`](Self::post) does.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Context, Port, block_on};
    /// let tokens = Port::new();
    /// Context::named("request").build().run(|| tokens.post_detached(1)).unwrap();
    /// assert!(block_on(tokens.receive().with_context()).unwrap().1.is_none());
    /// ```
    pub fn post_detached(&self, item: T) -> Result<(), PostError<T>> {
        crate::context::current::detached(|| self.post(item))
    }

    /// Removes the oldest item, if there is one, even if that item is offered to a receiver.
    ///
    /// # Example
    /// ```
    /// let port = lehr_runtime::Port::new();
    /// assert_eq!(port.try_receive(), None);
    /// port.post(1).unwrap();
    /// assert_eq!(port.try_receive(), Some(1));
    /// ```
    pub fn try_receive(&self) -> Option<T> {
        let mut state = self.core.state.lock();
        match state.take_plainly() {
            Some(taken) => taken,
            None => self.try_receive_generally(state),
        }
    }

    /// Works as [`try_receive`](Self::try_receive) does, in the general case. The port may have options, and the item
    /// may be offered to a receiver or carry a context.
    #[inline(never)]
    fn try_receive_generally(&self, mut state: Locked<'_, T>) -> Option<T> {
        let mut wake = Wake::default();
        let element = state.queue.take_any()?;
        if let Some(ticket) = element.offered_to {
            state.disappoint(ticket, element.sequence, &mut wake);
        }
        state.after_removal(&mut wake);
        drop(state);
        let (item, _context) = (element.item, element.context);
        drop(wake);
        self.settle_predicates();
        Some(item)
    }

    /// Removes all items in the port, oldest first, even items that are offered to receivers. A closed port gets no
    /// more items; on an open port, waiters keep waiting.
    ///
    /// Cost: one lock, held for a time that grows with the number of items that were offered to receivers.
    ///
    /// # Example
    /// ```
    /// let port = lehr_runtime::Port::new();
    /// (1..=3).for_each(|i| port.post(i).unwrap());
    /// assert_eq!(port.drain(), [1, 2, 3]);
    /// assert!(port.is_empty());
    /// ```
    pub fn drain(&self) -> Vec<T> {
        let mut wake = Wake::default();
        let elements = {
            let mut state = self.core.state.lock();
            let elements = state.queue.take_all();
            // The queue is empty now, so a receiver that loses its item only goes back to its position in the order.
            elements
                .iter()
                .filter_map(|element| Some((element.offered_to?, element.sequence)))
                .for_each(|(ticket, sequence)| state.disappoint(ticket, sequence, &mut wake));
            state.after_removal(&mut wake);
            elements
        };
        drop(wake);
        self.settle_predicates();
        elements.into_iter().map(|element| element.item).collect()
    }

    /// Waits for the oldest item that no earlier waiter wants, and takes it.
    ///
    /// Cancel-safe: a pending receive holds no item. A post whose item goes to this receive wakes the receive, and so
    /// does [`close`](Self::close).
    ///
    /// # Errors
    /// Returns [`ReceiveErrorKind::Closed`](crate::ReceiveErrorKind::Closed) if the port is closed and has no item left
    /// for this receive.
    ///
    /// A receive that is not awaited does nothing, and the compiler warns about it:
    // Catalogue: 14
    /// ```compile_fail
    /// #![deny(unused_must_use)]
    /// lehr_runtime::Port::<u8>::new().receive();
    /// ```
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Port, block_on};
    /// let port = Port::named("in");
    /// port.post(1).unwrap();
    /// port.close();
    /// assert_eq!(block_on(port.receive()), Ok(1));
    /// assert!(block_on(port.receive()).unwrap_err().is_closed());
    /// ```
    pub fn receive(&self) -> Receive<'_, T> {
        Receive::new(self, None)
    }

    /// Waits for the oldest item that `predicate` accepts, and takes it. The other items stay in the port, in order.
    ///
    /// The predicate runs under the port's lock, on the thread that posts or that polls: it must be quick and must not
    /// use ports. If the predicate panics, the item stays and only this receive fails. In debug builds, a predicate
    /// that takes more than 10 ms is reported to the process's hook ([`set_error_hook`](crate::set_error_hook)) with
    /// the port's name. The report does not affect the receive. Cancel-safe, as [`receive`](Self::receive) is.
    ///
    /// # Errors
    /// Returns [`ReceiveErrorKind::Closed`](crate::ReceiveErrorKind::Closed) or
    /// [`ReceiveErrorKind::Predicate`](crate::ReceiveErrorKind::Predicate).
    ///
    /// Cost: one call of the predicate for each item in the port, then one call for each item that is posted while the
    /// receive waits.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Port, block_on};
    /// let port = Port::new();
    /// (1..=3).for_each(|i| port.post(i).unwrap());
    /// assert_eq!(block_on(port.receive_if(|i| i % 2 == 0)), Ok(2));
    /// assert_eq!((port.try_receive(), port.try_receive()), (Some(1), Some(3)));
    /// ```
    ///
    /// This example shows the report of a slow predicate:
    /// ```standalone_crate
    /// # #[cfg(debug_assertions)] {
    /// # use std::time::{Duration, Instant};
    /// # use lehr_runtime::{Port, block_on, set_error_hook};
    /// let (port, seen) = (Port::named("slow"), Port::new());
    /// let out = seen.clone();
    /// set_error_hook(move |failure| out.post(failure.message()).unwrap());
    /// port.post(1).unwrap();
    /// let dawdle = |_: &i32| {
    ///     let start = Instant::now();
    ///     while start.elapsed() < Duration::from_millis(11) {}
    ///     true
    /// };
    /// assert_eq!(block_on(port.receive_if(dawdle)), Ok(1));
    /// assert!(seen.try_receive().unwrap().starts_with("a predicate on port \"slow\" took"));
    /// # }
    /// ```
    pub fn receive_if(&self, predicate: impl Fn(&T) -> bool + Send + 'static) -> Receive<'_, T> {
        Receive::new(self, Some(Box::new(Box::new(predicate))))
    }

    /// Waits until the port has `count` available items and takes them together, oldest first. With a `count` of 0 the
    /// future is ready at once.
    ///
    /// Cancel-safe: until there are enough items, all items stay in the port.
    ///
    /// # Errors
    /// Returns [`ReceiveErrorKind::Closed`](crate::ReceiveErrorKind::Closed) if the port is closed and holds fewer than
    /// `count` items.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Port, block_on};
    /// let port = Port::new();
    /// (1..=3).for_each(|i| port.post(i).unwrap());
    /// assert_eq!(block_on(port.take(2)), Ok(vec![1, 2]));
    /// assert_eq!(port.len(), 1);
    /// ```
    pub fn take(&self, count: usize) -> Take<'_, T> {
        Take::new(self, count)
    }

    /// Refuses posts from now on, including posts that wait for a place. Items in the port can still be received; a
    /// receive that finds no item returns `Closed`. While [`Permit`](crate::Permit)s exist, the port still accepts
    /// their items, and receives wait for them.
    ///
    /// Besides this method, an interleave's teardown closes the ports of its branches, and so does the end of its
    /// dispatcher. Posters and receivers use the same handles, so the port cannot tell when its last poster is gone.
    /// The task that feeds a loop of receives must therefore close the port on every way out. Alternatively, the owner
    /// of the posting and the receiving task closes the port when one of them has failed. Closing does not answer the
    /// requests in the port. To refuse these requests by dropping them, call [`drain`](Self::drain).
    ///
    /// # Example
    /// ```
    /// let port = lehr_runtime::Port::new();
    /// port.post(1).unwrap();
    /// port.close();
    /// assert!(port.post(2).is_err());
    /// assert_eq!(port.try_receive(), Some(1));
    /// ```
    pub fn close(&self) {
        let mut wake = Wake::default();
        let mut state = self.core.state.lock();
        if state.is_closed {
            return;
        }
        match &mut state.options {
            Some(options) => {
                options.is_closing = true;
                options.revoke(&mut wake);
                state.end_if_closing(&mut wake);
            }
            None => {
                state.is_closed = true;
                state.waiters.wake_all(&mut wake);
            }
        }
        drop(state);
    }

    /// Returns whether [`close`](Self::close) was called. To check for the end, use [`is_drained`](Self::is_drained).
    ///
    /// # Example
    /// See [`Port::is_drained`].
    pub fn is_closed(&self) -> bool {
        let state = self.core.state.lock();
        state.is_closed || state.options.as_ref().is_some_and(|options| options.is_closing)
    }

    /// Returns the number of items in the port, including items that are offered to a receiver and not fetched yet. The
    /// number may be out of date when you read it.
    ///
    /// # Example
    /// See [`Port`].
    pub fn len(&self) -> usize {
        self.core.state.lock().queue.len()
    }

    /// Returns whether the port holds no items.
    ///
    /// # Example
    /// See [`Port::drain`].
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of items for which the port has memory. After a burst, this number falls again, to a few
    /// dozen when the port is empty. For the number of *places*, see [`capacity`](Self::capacity).
    ///
    /// # Example
    /// ```
    /// let port = lehr_runtime::Port::new();
    /// (0..10_000).for_each(|i| port.post(i).unwrap());
    /// assert!(port.allocated() >= 10_000);
    /// port.drain();
    /// assert!(port.allocated() < 100);
    /// ```
    pub fn allocated(&self) -> usize {
        self.core.state.lock().queue.capacity()
    }

    /// Returns the number of waiting receives, takes and joins. A receive, take or join counts from its first poll on;
    /// a persistent receiver counts once for each free turn.
    ///
    /// # Example
    /// ```
    /// use std::{future::Future, pin::pin, task::{Context, Waker}};
    /// let port = lehr_runtime::Port::<u8>::new();
    /// {
    ///     let mut receive = pin!(port.receive());
    ///     assert_eq!(port.waiting(), 0);
    ///     assert!(receive.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    ///     assert_eq!(port.waiting(), 1);
    /// }
    /// assert_eq!(port.waiting(), 0);
    /// ```
    pub fn waiting(&self) -> usize {
        self.core.state.lock().waiters.len()
    }

    /// Drops the payload of a predicate's panic, and reports a predicate that took too long. Call this method after
    /// releasing the lock.
    #[inline]
    pub(crate) fn settle_predicates(&self) {
        predicate::settle(|| self.name());
    }

    pub(crate) fn closed(&self) -> ReceiveError {
        ReceiveErrorKind::Closed { port: self.name() }.into()
    }

    /// Polls a receive; see [`Receive`].
    #[inline]
    pub(crate) fn poll_receive(
        &self,
        ticket: &mut Option<Ticket>,
        order: Option<u64>,
        predicate: &mut Option<Predicate<T>>,
        context: &mut Context<'_>,
    ) -> Poll<Result<T, ReceiveError>> {
        let mut state = self.core.state.lock();
        if predicate.is_none()
            && let Some(polled) = state.receive_plainly(ticket, order, context.waker())
        {
            return polled.map(Ok);
        }
        self.poll_receive_generally(state, ticket, order, predicate, context)
    }

    /// Polls a receive in the general case. The receive may have a predicate, the port may be closed or have options,
    /// or the receiver was woken and finds no item.
    #[inline(never)]
    fn poll_receive_generally(
        &self,
        state: Locked<'_, T>,
        ticket: &mut Option<Ticket>,
        order: Option<u64>,
        predicate: &mut Option<Predicate<T>>,
        context: &mut Context<'_>,
    ) -> Poll<Result<T, ReceiveError>> {
        let mut wake = Wake::default();
        let outcome = self.poll_receive_by_rule(state, ticket, order, predicate, context, &mut wake);
        drop(wake);
        self.settle_predicates();
        outcome
    }

    /// Polls a receive without a predicate, for a caller that holds its own lock and wakes the waiters after releasing
    /// it.
    pub(crate) fn poll_receive_and_wake_later(
        &self,
        ticket: &mut Option<Ticket>,
        context: &mut Context<'_>,
        wake: &mut Wake,
    ) -> Poll<Result<T, ReceiveError>> {
        let mut state = self.core.state.lock();
        match state.receive_plainly(ticket, None, context.waker()) {
            Some(polled) => polled.map(Ok),
            None => self.poll_receive_by_rule(state, ticket, None, &mut None, context, wake),
        }
    }

    /// Polls a receive in the general case, and adds the waiters to wake to `wake`.
    fn poll_receive_by_rule(
        &self,
        mut state: Locked<'_, T>,
        ticket: &mut Option<Ticket>,
        order: Option<u64>,
        predicate: &mut Option<Predicate<T>>,
        context: &mut Context<'_>,
        wake: &mut Wake,
    ) -> Poll<Result<T, ReceiveError>> {
        let (outcome, _dropped_after_the_lock) = {
            let polled = state.poll_receive(ticket, order, predicate, context);
            if polled.0.is_ready() {
                state.after_removal(wake);
            }
            drop(state);
            polled
        };
        outcome.map(|outcome| {
            outcome.map_err(|refusal| match refusal {
                Unreceived::Closed => self.closed(),
                Unreceived::Predicate(message) => ReceiveErrorKind::Predicate { port: self.name(), message }.into(),
            })
        })
    }

    /// Removes a waiter from the port. An item that was offered to the removed waiter is offered to the next waiter.
    #[cold]
    #[inline(never)]
    pub(crate) fn leave(&self, ticket: Ticket) {
        let mut wake = Wake::default();
        let _dropped_after_the_lock = {
            let mut state = self.core.state.lock();
            let left = state.waiters.remove(ticket);
            if let Standing::Offered(sequence) = left.standing {
                state.withdraw(sequence, &mut wake);
            }
            // The removed waiter may be a take that was woken for items that the next take can use.
            let available = state.queue.available();
            state.waiters.wake_takes(available, &mut wake);
            left
        };
        drop(wake);
        self.settle_predicates();
    }
}
