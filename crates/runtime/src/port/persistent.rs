//! Persistent receivers: a handler that stays at a port and gets item after item.
//!
//! A receiver is a few tasks that take turns at the port, as many as its handler may run at once. They keep the receiver's
//! place in the order of registration, so the receiver registered first gets every item that it has a free task for; when all
//! its tasks are busy, the next receiver in order gets it. An item costs no allocation and no new task.

use std::future::Future;

use crate::arbiter::receive::Receive;
use crate::context::{self, turn};
use crate::dispatch::Handle;
use crate::port::Port;
use crate::port::waiters::Predicate;
use crate::sync::Arc;
use crate::task::{Task, all};

/// A persistent receiver; it stays at its port until this is dropped.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, Port, block_on};
/// let dispatcher = Dispatcher::new(2).unwrap();
/// let (words, lengths) = (Port::new(), Port::new());
/// let out = lengths.clone();
/// let receiver = words.on(dispatcher.handle(), 1, move |word: &str| {
///     let out = out.clone();
///     async move { out.post(word.len()).unwrap() }
/// });
/// words.post("three").unwrap();
/// assert_eq!(block_on(lengths.receive()), Ok(5));
/// words.close();
/// assert!(block_on(receiver.ended()).is_ok());
/// ```
#[must_use = "the receiver leaves its port when this is dropped"]
#[derive(Debug)]
pub struct Receiver {
    tasks: Vec<Task<()>>,
}

impl Receiver {
    /// Of the turns that its tasks take.
    pub(crate) fn of(tasks: Vec<Task<()>>) -> Self {
        Self { tasks }
    }

    /// Waits until the receiver has ended because its port was closed and drained.
    ///
    /// # Errors
    /// The first panic of a handler: that turn of the handler is lost, with its item; a receiver with a limit of 1 then
    /// leaves its port, one with a higher limit goes on with a turn less.
    ///
    /// # Example
    /// See [`Receiver`].
    pub async fn ended(self) -> Result<(), crate::TaskError> {
        all(self.tasks).await.into_iter().collect()
    }

    /// Lets the receiver stay for as long as its port and its dispatcher.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Port, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let (words, seen) = (Port::new(), Port::new());
    /// let out = seen.clone();
    /// words
    ///     .on(dispatcher.handle(), 1, move |word: &str| {
    ///         out.post(word).unwrap();
    ///         async {}
    ///     })
    ///     .detach();
    /// words.post("still here").unwrap();
    /// assert_eq!(block_on(seen.receive()), Ok("still here"));
    /// ```
    pub fn detach(self) {
        self.tasks.into_iter().for_each(Task::detach);
    }
}

impl<T: Send + 'static> Port<T> {
    /// Registers a handler for every item, those already in the port first.
    ///
    /// At most `concurrency` turns of the handler run at the same time, on the workers of `dispatcher`; with 1 they never
    /// overlap and see the items in order. Items that come when all turns are taken stay in the port. Registration is done
    /// when this returns. A handler gives a future; one that has nothing to wait for ends with `async {}`.
    ///
    /// Each turn runs in the [`Context`](crate::Context) that its item was posted in, and ends with it. If that context has a sink
    /// for errors, a panic goes there and the receiver goes on; otherwise it ends the turn's task, see [`Receiver::ended`].
    ///
    /// # Panics
    /// If `concurrency` is 0.
    ///
    /// # Example
    /// See [`Receiver`].
    pub fn on<H, F>(&self, dispatcher: &Handle, concurrency: usize, handler: H) -> Receiver
    where
        H: Fn(T) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send,
    {
        self.receiver(dispatcher, concurrency, || None, handler)
    }

    /// The same for the items that `predicate` accepts; the others stay, in order, for other receivers.
    ///
    /// The predicate runs under the port's lock, as that of [`receive_if`](Self::receive_if). If it panics, the item stays, and
    /// the turn of the receiver that asked it ends.
    ///
    /// Cost: that of [`on`](Self::on), and a copy of the predicate for each item; in one allocation, or two if it captures anything.
    ///
    /// # Panics
    /// If `concurrency` is 0.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Port, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let (numbers, even) = (Port::new(), Port::new());
    /// let out = even.clone();
    /// let _receiver = numbers.on_if(dispatcher.handle(), 1, |number| number % 2 == 0, move |number: u32| {
    ///     out.post(number).unwrap();
    ///     std::future::ready(())
    /// });
    /// (1..=4).for_each(|number| numbers.post(number).unwrap());
    /// assert_eq!(block_on(even.take(2)), Ok(vec![2, 4]));
    /// assert_eq!(numbers.drain(), [1, 3]);
    /// ```
    pub fn on_if<P, H, F>(&self, dispatcher: &Handle, concurrency: usize, predicate: P, handler: H) -> Receiver
    where
        P: Fn(&T) -> bool + Clone + Send + 'static,
        H: Fn(T) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send,
    {
        let predicate = move || {
            let predicate: Predicate<T> = Box::new(Box::new(predicate.clone()));
            Some(predicate)
        };
        self.receiver(dispatcher, concurrency, predicate, handler)
    }

    /// The turns of a receiver; `predicate` makes what one receive asks.
    fn receiver<P, H, F>(&self, dispatcher: &Handle, concurrency: usize, predicate: P, handler: H) -> Receiver
    where
        P: Fn() -> Option<Predicate<T>> + Clone + Send + 'static,
        H: Fn(T) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send,
    {
        assert!(concurrency > 0, "a receiver that may run no handler would never receive");
        let order = self.core.state.lock().waiters.next_order();
        let handler = Arc::new(handler);
        let turns = (0..concurrency).map(|_| {
            let (port, predicate, handler) = (self.clone(), predicate.clone(), handler.clone());
            // The receiver's own task is in no context: an error handler registered in the very context whose errors it handles
            // would otherwise be told of its own.
            context::current::detached(|| {
                dispatcher.spawn(async move {
                    while let Ok((item, context)) = Receive::in_order(&port, order, predicate()).with_context().await {
                        turn(context, || handler(item)).await;
                    }
                })
            })
        });
        Receiver::of(turns.collect())
    }
}
