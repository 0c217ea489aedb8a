//! Waits for a place in a bounded port: [`Port::post_wait`] and [`Port::reserve`].
//!
//! `post_wait` and `reserve` request a place, and take the place when it is granted (`options.rs`). If you drop the
//! future, the next waiter in order gets the place, even if it was already granted.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::options::{Overflow, Request};
use super::wake::Wake;
use super::{Port, State};
use crate::dispatch::may_go_on;
use crate::error::{PostError, Reason};

/// The right to post one item, for which a place is reserved; see [`Port::reserve`].
///
/// If you drop an unused permit, the next waiter gets its place. A port that is closed while permits exist still
/// accepts their items, and ends when the last permit is gone.
///
/// # Example
/// ```
/// use lehr_runtime::{Overflow, Port, Reason, block_on};
/// let port = Port::bounded(1, Overflow::Wait);
/// let permit = block_on(port.reserve()).unwrap();
/// assert_eq!(port.post(1).unwrap_err().reason, Reason::Full);
/// permit.post(2);
/// assert_eq!(port.try_receive(), Some(2));
/// ```
#[must_use = "a permit keeps a place until it is used or dropped"]
pub struct Permit<T> {
    /// The port; `None` once the permit has been used.
    port: Option<Port<T>>,
}

impl<T> Permit<T> {
    /// Posts the item into the reserved place. The post is never refused and never waits.
    ///
    /// # Example
    /// See [`Permit`].
    pub fn post(mut self, item: T) {
        let port = self.port.take().expect("a permit is used once");
        port.fill_place(item);
    }
}

impl<T> Drop for Permit<T> {
    fn drop(&mut self) {
        if let Some(port) = &self.port {
            port.give_place_back();
        }
    }
}

impl<T> fmt::Debug for Permit<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Permit").field("port", &self.port.as_ref().map(Port::name)).finish()
    }
}

/// A request for a place. Dropping this value withdraws a request that waits.
struct LinePosition<'a, T> {
    port: &'a Port<T>,
    /// The number of the request; `None` before it is made and after it has ended.
    number: Option<u64>,
}

impl<T> LinePosition<'_, T> {
    /// Polls a request that has been made. The poll is ready when the place is granted or the port is closed.
    fn poll(&mut self, number: u64, context: &Context<'_>) -> Poll<Result<(), Reason>> {
        // Declared before the guard, so that a waker in it is dropped after the lock is released.
        let seen;
        {
            let mut state = self.port.core.state.lock();
            let options = state.options.as_mut().expect("a request was made, so there are options");
            seen = options.look(number, context.waker());
        }
        match seen {
            Request::Waiting(_) => return Poll::Pending,
            Request::Granted => self.number = None,
            Request::Revoked => {
                self.number = None;
                return Poll::Ready(Err(Reason::Closed));
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<T> Drop for LinePosition<'_, T> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let mut wake = Wake::default();
        let _dropped_after_the_lock = {
            let mut state = self.port.core.state.lock();
            let waker = state.options.as_mut().and_then(|options| options.withdraw(number));
            state.after_removal(&mut wake);
            waker
        };
    }
}

/// The future of [`Port::post_wait`].
///
/// # Example
/// See [`Port::post_wait`].
#[must_use = "a post that waits does nothing unless awaited"]
pub struct PostWait<'a, T> {
    place: LinePosition<'a, T>,
    /// The item; `None` once it has been posted or given back.
    item: Option<T>,
}

impl<T> PostWait<'_, T> {
    /// Gives up waiting; returns the item if it was not posted.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Overflow, Port};
    /// let port = Port::bounded(1, Overflow::Wait);
    /// assert_eq!(port.post_wait("changed my mind").into_item(), Some("changed my mind"));
    /// assert!(port.is_empty());
    /// ```
    pub fn into_item(mut self) -> Option<T> {
        self.item.take()
    }
}

// The item is moved out by value and never pinned.
impl<T> Unpin for PostWait<'_, T> {}

impl<T> Future for PostWait<'_, T> {
    type Output = Result<(), PostError<T>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let port = this.place.port;
        if let Some(number) = this.place.number {
            return this.place.poll(number, context).map(|granted| {
                let item = this.item.take().expect("the item is there until it is posted");
                match granted {
                    Ok(()) => {
                        port.fill_place(item);
                        Ok(())
                    }
                    Err(reason) => Err(PostError { item, reason }),
                }
            });
        }
        if !may_go_on(context) {
            return Poll::Pending;
        }
        let item = this.item.take().expect("a post is not polled after it was ready");
        match port.post_or_request(item, context) {
            Ok(()) => Poll::Ready(Ok(())),
            Err((error, None)) => Poll::Ready(Err(error)),
            Err((error, Some(number))) => {
                (this.item, this.place.number) = (Some(error.item), Some(number));
                Poll::Pending
            }
        }
    }
}

impl<T> fmt::Debug for PostWait<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("PostWait").field("port", self.place.port).finish_non_exhaustive()
    }
}

/// The future of [`Port::reserve`].
///
/// # Example
/// See [`Port::reserve`].
#[must_use = "a reservation does nothing unless awaited"]
pub struct Reserve<'a, T> {
    place: LinePosition<'a, T>,
}

impl<T> Future for Reserve<'_, T> {
    type Output = Result<Permit<T>, Reason>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let port = self.place.port;
        if let Some(number) = self.place.number {
            return self.place.poll(number, context).map_ok(|()| Permit { port: Some(port.clone()) });
        }
        if !may_go_on(context) {
            return Poll::Pending;
        }
        match port.reserve_or_request(Some(context)) {
            Ok(permit) => Poll::Ready(Ok(permit)),
            Err((reason, None)) => Poll::Ready(Err(reason)),
            Err((_, number)) => {
                self.place.number = number;
                Poll::Pending
            }
        }
    }
}

impl<T> fmt::Debug for Reserve<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Reserve").field("port", self.place.port).finish_non_exhaustive()
    }
}

impl<T> Port<T> {
    /// Posts an item, and waits for a place if the port is full and its policy is [`Overflow::Wait`]. With any other
    /// policy, and on a port without a capacity, it posts at once, as [`post`](Self::post) does.
    ///
    /// Waiters get places in the order of their requests. Cancel-safe: if you drop the future before it is ready,
    /// nothing is posted and the next waiter gets the turn. [`PostWait::into_item`] gives the item back. The future is
    /// woken when an item leaves the port, when a permit is dropped, or by [`close`](Self::close).
    ///
    /// # Errors
    /// Returns [`PostError`] with the item if the port is or becomes closed, or if its policy is to refuse the item.
    ///
    /// # Panics
    /// Panics if the future is polled again after it was ready.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Overflow, Port, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let port = Port::bounded(2, Overflow::Wait);
    /// let source = port.clone();
    /// let poster = dispatcher.spawn(async move {
    ///     for i in 0..100 {
    ///         source.post_wait(i).await.unwrap(); // never more than two ahead
    ///     }
    /// });
    /// assert!((0..100).all(|i| block_on(port.receive()) == Ok(i)));
    /// block_on(poster).unwrap();
    /// ```
    pub fn post_wait(&self, item: T) -> PostWait<'_, T> {
        PostWait { place: LinePosition { port: self, number: None }, item: Some(item) }
    }

    /// Waits for a place, and reserves it for an item that you make later.
    ///
    /// On a port without a capacity there is always a place. Cancel-safe. Reservations and the posts of
    /// [`post_wait`](Self::post_wait) wait in the same order.
    ///
    /// # Errors
    /// Returns [`Reason::Closed`] if the port is or becomes closed, and [`Reason::Full`] if it is full and its policy
    /// is not [`Overflow::Wait`]. A port whose policy is [`Overflow::DropOldest`] gives up its oldest item for the
    /// permit, if it holds an item.
    ///
    /// # Example
    /// See [`Permit`].
    pub fn reserve(&self) -> Reserve<'_, T> {
        Reserve { place: LinePosition { port: self, number: None } }
    }

    /// Reserves a place if a place is free; never waits, and does not overtake waiters.
    ///
    /// # Errors
    /// Fails as [`reserve`](Self::reserve) does, and returns [`Reason::Full`] where that method would wait.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Overflow, Port};
    /// let port = Port::<u8>::bounded(1, Overflow::Wait);
    /// let permit = port.try_reserve().unwrap();
    /// assert!(port.try_reserve().is_err());
    /// drop(permit);
    /// assert!(port.try_reserve().is_ok());
    /// ```
    pub fn try_reserve(&self) -> Result<Permit<T>, Reason> {
        self.reserve_or_request(None).map_err(|(reason, _)| reason)
    }

    /// Posts an item according to the port's policy, or requests a place if the policy is to wait.
    fn post_or_request(&self, item: T, context: &Context<'_>) -> Result<(), (PostError<T>, Option<u64>)> {
        let mut wake = Wake::default();
        let (outcome, loss) = {
            let mut state = self.core.state.lock();
            match state.admit(item, None, &mut wake) {
                Ok(loss) => (Ok(()), loss),
                Err(error) => {
                    let number = (error.reason == Reason::Full).then(|| state.request_if_waiting(context)).flatten();
                    (Err((error, number)), None)
                }
            }
        };
        drop(wake);
        self.settle_predicates();
        if let Some(loss) = loss {
            loss.report();
        }
        outcome
    }

    /// Takes a place according to the port's policy. If the policy is to wait and there is a `context`, requests a
    /// place instead.
    fn reserve_or_request(&self, context: Option<&Context<'_>>) -> Result<Permit<T>, (Reason, Option<u64>)> {
        let mut wake = Wake::default();
        let loss = {
            let mut state = self.core.state.lock();
            match state.take_place(&mut wake) {
                Ok(loss) => loss,
                Err(reason) => {
                    let number = match context {
                        Some(context) if reason == Reason::Full => state.request_if_waiting(context),
                        _ => None,
                    };
                    return Err((reason, number));
                }
            }
        };
        // The place is taken. From here on, the permit gives the place back if it is dropped, even if the sink panics.
        let permit = Permit { port: Some(self.clone()) };
        drop(wake);
        self.settle_predicates();
        if let Some(loss) = loss {
            loss.report();
        }
        Ok(permit)
    }

    /// Puts an item into a place that was reserved for it.
    fn fill_place(&self, item: T) {
        let mut wake = Wake::default();
        let mut state = self.core.state.lock();
        state.release_place();
        state.append(item, None, &mut wake);
        state.end_if_closing(&mut wake);
        drop(state);
        drop(wake);
        self.settle_predicates();
    }

    fn give_place_back(&self) {
        let mut wake = Wake::default();
        let mut state = self.core.state.lock();
        state.release_place();
        state.end_if_closing(&mut wake);
        state.after_removal(&mut wake);
        drop(state);
    }
}

impl<T> State<T> {
    fn release_place(&mut self) {
        self.options.as_mut().expect("a permit is out, so there are options").release();
    }

    /// Requests a place at the end of the order, if the policy is to wait.
    fn request_if_waiting(&mut self, context: &Context<'_>) -> Option<u64> {
        let options = self.options.as_mut()?;
        let waits = options.limit.is_some_and(|limit| limit.overflow == Overflow::Wait);
        waits.then(|| options.request(context.waker()))
    }
}
