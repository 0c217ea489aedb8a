//! A reply: the right and the duty to answer one request, once.
//!
//! A request travels through a port like any item. The request carries a [`Reply`], and its sender keeps the
//! [`Answer`], a future. Reply and answer share only one small cell, without a port or a registration. Unlike a channel
//! of capacity one, a reply cannot be forgotten. If a reply is dropped unanswered, by a bug, by a panic or because the
//! item was discarded, the answer is [`Refusal::NoReply`]. So the sender of the request gets an error at once, instead
//! of waiting for ever.
//!
//! Read next: [`Port::ask`], then `error.rs` for the reasons.

use std::cell::Cell as LocalCell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use lehr_sync::{Arc, SpinLock};

use crate::error::{PostError, Refusal};
use crate::port::Port;

#[allow(clippy::missing_const_for_thread_local, reason = "the model checkers' macros take no const block")]
mod stopping {
    use super::LocalCell;

    lehr_sync::thread_local! {
        /// Whether replies that this thread drops are refused as [`Refusal::Stopping`].
        pub(super) static STOPPING: LocalCell<bool> = LocalCell::new(false);
    }
}
use stopping::STOPPING;

/// Runs `discard`; a reply that `discard` drops unanswered refuses its request as [`Refusal::Stopping`].
pub(crate) fn while_stopping<R>(discard: impl FnOnce() -> R) -> R {
    /// Restores the flag, even if `discard` panics.
    struct Restore(bool);
    impl Drop for Restore {
        fn drop(&mut self) {
            STOPPING.with(|stopping| stopping.set(self.0));
        }
    }
    let _restore = Restore(STOPPING.with(|stopping| stopping.replace(true)));
    discard()
}

/// The state that the two ends share. User values are moved out of the cell under its lock and dropped after the lock's
/// release.
enum Cell<T> {
    /// The request has no answer yet; the waker is called when it gets one.
    Open(Option<Waker>),
    /// The request has been answered or refused, and its sender has not fetched the result yet.
    Answered(Result<T, Refusal>),
    /// One end has been dropped, or the answer has been fetched.
    Over,
}

/// The right to answer one request. Answer it, refuse it, or pass it on; dropping it refuses the request as
/// [`Refusal::NoReply`].
///
/// # Example
/// ```
/// use lehr_runtime::{Refusal, Reply, block_on};
/// let (reply, answer) = Reply::new();
/// reply.answer(6 * 7).unwrap();
/// assert_eq!(block_on(answer), Ok(42));
///
/// let (forgotten, answer) = Reply::<i32>::new();
/// drop(forgotten);
/// assert_eq!(block_on(answer), Err(Refusal::NoReply));
/// ```
#[must_use = "a reply that is dropped refuses its question: answer it"]
pub struct Reply<T> {
    /// The shared cell; `None` once the reply has been used, so that dropping it does nothing.
    cell: Option<Arc<SpinLock<Cell<T>>>>,
}

/// The future of an answer; see [`Reply`] and [`Port::ask`].
///
/// Cancel-safe: dropping the future gives the request up. The holder of the reply can check this with
/// [`Reply::is_wanted`]. A later answer is returned to the holder; an answer that is already there is dropped.
///
/// # Errors
/// Returns the [`Refusal`] of the reply's holder.
///
/// # Panics
/// Panics if the future is polled again after it was ready.
///
/// # Example
/// ```
/// use lehr_runtime::{Refusal, Reply, block_on};
/// let (reply, answer) = Reply::<u8>::new();
/// reply.refuse(Refusal::Overloaded);
/// assert_eq!(block_on(answer), Err(Refusal::Overloaded));
/// ```
#[must_use = "an answer that is not awaited is given up"]
pub struct Answer<T> {
    /// The shared cell; `None` once the answer has been fetched.
    cell: Option<Arc<SpinLock<Cell<T>>>>,
}

impl<T> Reply<T> {
    /// Creates a reply and the future of its answer. [`Port::ask`] creates a reply and its answer, and posts the
    /// request, in a single call.
    ///
    /// Cost: one allocation.
    ///
    /// # Example
    /// See [`Reply`].
    #[allow(clippy::new_ret_no_self, reason = "the two ends are made together or not at all")]
    pub fn new() -> (Self, Answer<T>) {
        let cell = Arc::new(SpinLock::new(Cell::Open(None)));
        (Self { cell: Some(cell.clone()) }, Answer { cell: Some(cell) })
    }

    /// Answers the request and wakes its sender.
    ///
    /// # Errors
    /// Returns the value if the sender no longer waits.
    ///
    /// Cost: one lock, and one wake-up if the sender is already waiting.
    ///
    /// # Example
    /// ```
    /// let (reply, answer) = lehr_runtime::Reply::new();
    /// drop(answer);
    /// assert_eq!(reply.answer("too late"), Err("too late"));
    /// ```
    pub fn answer(mut self, value: T) -> Result<(), T> {
        self.settle(Ok(value)).map_err(|unwanted| match unwanted {
            Ok(value) => value,
            Err(_) => unreachable!("an answer comes back as an answer"),
        })
    }

    /// Refuses the request, with a reason that its sender can act upon.
    ///
    /// # Example
    /// See [`Answer`].
    pub fn refuse(mut self, refusal: Refusal) {
        // If the sender is gone, the refusal is not needed.
        let _ = self.settle(Err(refusal));
    }

    /// Returns whether the sender still wants the answer. If the sender has dropped its [`Answer`], you can skip the
    /// work.
    ///
    /// # Example
    /// ```
    /// let (reply, answer) = lehr_runtime::Reply::<u8>::new();
    /// assert!(reply.is_wanted());
    /// drop(answer);
    /// assert!(!reply.is_wanted());
    /// ```
    pub fn is_wanted(&self) -> bool {
        self.cell.as_ref().is_some_and(|cell| matches!(*cell.lock(), Cell::Open(_)))
    }

    /// Stores the result for the sender and wakes it; returns the result if the sender is gone.
    fn settle(&mut self, result: Result<T, Refusal>) -> Result<(), Result<T, Refusal>> {
        let Some(cell) = self.cell.take() else { return Err(result) };
        let waker = {
            let mut cell = cell.lock();
            match &mut *cell {
                Cell::Open(waker) => {
                    let waker = waker.take();
                    *cell = Cell::Answered(result);
                    waker
                }
                Cell::Answered(_) | Cell::Over => {
                    drop(cell);
                    return Err(result);
                }
            }
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        // A used reply has no cell any more, and a sender that is gone needs no refusal.
        if self.cell.is_some() {
            let is_stopping = STOPPING.try_with(LocalCell::get).unwrap_or(false);
            let _ = self.settle(Err(if is_stopping { Refusal::Stopping } else { Refusal::NoReply }));
        }
    }
}

impl<T> fmt::Debug for Reply<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Reply").field("is_wanted", &self.is_wanted()).finish()
    }
}

impl<T> Answer<T> {
    /// Returns whether the answer or the refusal is available, so that awaiting it returns at once.
    ///
    /// # Example
    /// ```
    /// let (reply, answer) = lehr_runtime::Reply::new();
    /// assert!(!answer.is_ready());
    /// reply.answer(1).unwrap();
    /// assert!(answer.is_ready());
    /// # assert_eq!(lehr_runtime::block_on(answer), Ok(1));
    /// ```
    pub fn is_ready(&self) -> bool {
        self.cell.as_ref().is_some_and(|cell| matches!(*cell.lock(), Cell::Answered(_)))
    }
}

impl<T> Future for Answer<T> {
    type Output = Result<T, Refusal>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let shared = self.cell.as_ref().expect("an answer is not polled after it was ready");
        // Declared before the guard, so that a replaced waker is dropped after the lock is released.
        let replaced: Option<Waker>;
        let mut cell = shared.lock();
        match &mut *cell {
            Cell::Open(waker) => {
                if waker.as_ref().is_some_and(|known| known.will_wake(context.waker())) {
                    return Poll::Pending;
                }
                replaced = waker.replace(context.waker().clone());
                drop(cell);
                drop(replaced);
                Poll::Pending
            }
            Cell::Answered(_) => {
                let Cell::Answered(result) = std::mem::replace(&mut *cell, Cell::Over) else {
                    unreachable!("the lock is held since the look")
                };
                drop(cell);
                self.cell = None;
                Poll::Ready(result)
            }
            Cell::Over => unreachable!("only this end makes an open cell over, and then it has no cell"),
        }
    }
}

impl<T> Drop for Answer<T> {
    fn drop(&mut self) {
        let Some(cell) = self.cell.take() else { return };
        // An answer that was not fetched, or the waker, is dropped after the lock is released.
        let _left = std::mem::replace(&mut *cell.lock(), Cell::Over);
    }
}

impl<T> fmt::Debug for Answer<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Answer").field("is_ready", &self.is_ready()).finish()
    }
}

impl<T> Port<T> {
    /// Posts a request: `question` gets the reply that the item must carry. Returns the future of the answer.
    ///
    /// # Errors
    /// Returns [`PostError`] with the item and its reply if the port refuses the item. If a handler of an
    /// [`Interleave`](crate::Interleave) makes the request, and the answer would have to wait for that handler, the
    /// answer is [`Refusal::WouldDeadlock`] at once.
    ///
    /// Cost: a post and one allocation; in a handler of an interleave, another allocation for the chain of calls.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Port, Reply, block_on};
    /// struct Square { of: u64, reply: Reply<u64> }
    ///
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let port = Port::new();
    /// let _server = port.on(dispatcher.handle(), 1, |Square { of, reply }| async move {
    ///     let _ = reply.answer(of * of); // the asker may have gone
    /// });
    /// let answer = port.ask(|reply| Square { of: 12, reply }).unwrap();
    /// assert_eq!(block_on(answer), Ok(144));
    /// ```
    pub fn ask<R>(&self, question: impl FnOnce(Reply<R>) -> T) -> Result<Answer<R>, PostError<T>> {
        let (reply, answer) = Reply::new();
        match self.post_call(question(reply))? {
            Ok(()) => Ok(answer),
            Err(refusal) => Ok(Answer { cell: Some(Arc::new(SpinLock::new(Cell::Answered(Err(refusal))))) }),
        }
    }
}
