//! One-time receivers: a handler that waits at a port for one item, without a task.
//!
//! A one-time receiver is the cheapest way to wait, even for millions of items at once. A one-time receiver needs a
//! slot in the port's list and one small allocation for its handler. A suspended task would also need a cell and an
//! entry in the list of living tasks. When the item is there, the handler is queued for a worker as a closure.

use std::fmt;
use std::sync::Weak;
use std::task::{Context, Poll, Wake, Waker};

use lehr_sync::{Arc, SpinLock};

use crate::context::{Context as ItemContext, current, in_context};
use crate::dispatch::{Closure, Handle, Job, Shared};
use crate::port::waiters::{Standing, Ticket, Want};
use crate::port::wake::Wake as ManyWakers;
use crate::port::{Core, Port, State};

/// A one-time receiver that is waiting; see [`Port::once`]. Dropping this value removes it from its port.
///
/// # Example
/// See [`Port::once`].
#[must_use = "the receiver leaves its port when this is dropped: keep it, or call `detach`"]
pub struct Once {
    waiting: Option<Arc<dyn Leave>>,
}

impl fmt::Debug for Once {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Once").finish_non_exhaustive()
    }
}

impl Once {
    /// Lets the receiver wait as long as its port exists.
    ///
    /// # Example
    /// See [`Port::once`].
    pub fn detach(mut self) {
        self.waiting = None;
    }
}

impl Drop for Once {
    fn drop(&mut self) {
        if let Some(waiting) = self.waiting.take() {
            waiting.leave();
        }
    }
}

/// A one-time receiver for items of any type.
trait Leave: Send + Sync {
    fn leave(&self);
}

/// The state of a one-time receiver. The waker in the port's list keeps it alive. The state's reference to the port is
/// weak, because with a strong reference neither the port nor the receiver would ever be dropped.
struct Waiting<T, H> {
    port: Weak<Core<T>>,
    shared: Arc<Shared>,
    stage: SpinLock<Stage<H>>,
}

/// The part of a one-time receiver that changes. The lock of this part is taken before a port's lock, and never under a
/// port's lock.
struct Stage<H> {
    ticket: Option<Ticket>,
    handler: Option<H>,
}

impl<T: Send + 'static> Port<T> {
    /// Registers a handler for one item. The handler is called once on a worker of `dispatcher`. The handler gets the
    /// oldest item in the port, or else the next item that no earlier receiver wants. Registration is complete when
    /// this method returns.
    ///
    /// The handler must not block or wait; for work that waits, use [`receive`](Self::receive) in a task. Until the
    /// handler is called, the item stays in its port: dropping the receiver, or the end of its dispatcher, loses
    /// nothing. If the port is closed or dropped first, the handler is dropped without having been called.
    ///
    /// Cost: one allocation, and a slot in the port's list: about 100 bytes for each waiting receiver.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Port, block_on};
    /// let dispatcher = Dispatcher::new(2).unwrap();
    /// let (questions, answers) = (Port::new(), Port::new());
    /// let out = answers.clone();
    /// questions.once(dispatcher.handle(), move |number: i32| out.post(number + 1).unwrap()).detach();
    /// questions.post(41).unwrap();
    /// assert_eq!(block_on(answers.receive()), Ok(42));
    /// questions.post(1).unwrap();
    /// assert_eq!(questions.len(), 1, "it was for one item only");
    /// ```
    pub fn once<H>(&self, dispatcher: &Handle, handler: H) -> Once
    where
        H: FnOnce(T) + Send + 'static,
    {
        let waiting = Arc::new(Waiting {
            port: Arc::downgrade(&self.core),
            shared: dispatcher.shared.clone(),
            stage: SpinLock::new(Stage { ticket: None, handler: Some(handler) }),
        });
        let waker = Waker::from(waiting.clone());
        let mut wake = ManyWakers::default();
        {
            let mut stage = waiting.stage.lock();
            stage.ticket = Some(self.core.state.lock().enlist(waker, &mut wake));
        }
        // Waking takes the lock of the stage, so it must happen after that lock is released.
        drop(wake);
        Once { waiting: Some(waiting) }
    }
}

impl<T> State<T> {
    /// Registers a waiter for one item. If an item is available, it is offered to the waiter; if the port is closed,
    /// the waiter is woken to notice this. The item stays in the port until the waiter fetches it.
    fn enlist(&mut self, waker: Waker, wake: &mut ManyWakers) -> Ticket {
        let order = self.waiters.next_order();
        // Invariant 1 of the port: no earlier receiver wants an available item.
        let oldest = self.queue.available_items().next().map(|(place, _)| place);
        let ticket = self.waiters.register(order, Want::One(None), Some(waker));
        if let Some(place) = oldest {
            let sequence = self.queue.element(place).sequence;
            self.waiters.settle(ticket, Standing::Offered(sequence), wake);
            self.queue.offer(place, ticket);
        } else if self.is_closed {
            self.waiters.call(ticket, wake);
        }
        ticket
    }
}

impl<T: Send + 'static, H: FnOnce(T) + Send + 'static> Waiting<T, H> {
    /// Takes an item from the port and passes it, with the handler, to `run`. If there is no item, waits in the port's
    /// list.
    fn look(self: Arc<Self>, run: impl FnOnce(T, H, Option<ItemContext>)) {
        let Some(core) = self.port.upgrade() else { return };
        let port = Port { core };
        let waker = Waker::from(self.clone());
        // Dropped after the lock of the stage is released, because waking a task that waits for the item's place may
        // run any code.
        let mut wake = ManyWakers::default();
        let mut stage = self.stage.lock();
        if stage.handler.is_none() {
            // The receiver has left, so an item taken now would be lost.
            return;
        }
        let (answer, contexts) = current::collect(|| {
            port.poll_receive_and_wake_later(&mut stage.ticket, &mut Context::from_waker(&waker), &mut wake)
        });
        let handler = match answer {
            Poll::Pending => return,
            Poll::Ready(_) => stage.handler.take(),
        };
        drop(stage);
        drop(wake);
        if let (Poll::Ready(Ok(item)), Some(handler)) = (answer, handler) {
            // An item has at most one context.
            run(item, handler, contexts.into_iter().next());
        }
    }
}

impl<T: Send + 'static, H: FnOnce(T) + Send + 'static> Leave for Waiting<T, H> {
    fn leave(&self) {
        let (ticket, _dropped_after_the_lock) = {
            let mut stage = self.stage.lock();
            (stage.ticket.take(), stage.handler.take())
        };
        if let (Some(ticket), Some(core)) = (ticket, self.port.upgrade()) {
            Port { core }.leave(ticket);
        }
    }
}

/// Called when the port has an item for the receiver, or has been closed.
impl<T: Send + 'static, H: FnOnce(T) + Send + 'static> Wake for Waiting<T, H> {
    fn wake(self: Arc<Self>) {
        /// The call of a handler, on its way to a worker. If the call is dropped instead of being run, it gives the
        /// item back to the port.
        struct Call<T: Send + 'static, H: FnOnce(T) + Send + 'static>(Option<Arc<Waiting<T, H>>>);

        impl<T: Send + 'static, H: FnOnce(T) + Send + 'static> Drop for Call<T, H> {
            fn drop(&mut self) {
                if let Some(waiting) = self.0.take() {
                    waiting.leave();
                }
            }
        }

        let shared = self.shared.clone();
        let mut call = Call(Some(self));
        if shared.accepts() {
            shared.push(Job::call(Closure::new(move || {
                if let Some(waiting) = call.0.take() {
                    waiting.look(|item, handler, context| in_context(context, || handler(item)));
                }
            })));
        }
    }
}
