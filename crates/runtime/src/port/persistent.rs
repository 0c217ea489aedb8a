//! Persistent receivers: a handler that stays at a port and gets item after item.
//!
//! A receiver consists of a few tasks that take turns at the port, as many as its handler may run at once. These tasks
//! keep the receiver's position in the order of registration. So the receiver that was registered first gets every item
//! for which it has a free task. When all its tasks are busy, the next receiver gets the item. An item costs no
//! allocation and no new task.

use std::future::Future;

use lehr_sync::{Arc, SpinLock};

use crate::arbiter::receive::Receive;
use crate::context::{self, closure_panicked, turn};
use crate::dispatch::Handle;
use crate::error::{ReceiveErrorKind, TaskError};
use crate::port::Port;
use crate::port::waiters::Predicate;
use crate::task::{Task, all};

/// A persistent receiver. The receiver stays at its port until this value is dropped.
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
    tasks: Vec<Task<Result<(), String>>>,
}

/// Counts the remaining turns of a receiver, for reports of lost turns.
pub(crate) struct Turns {
    /// The name, in messages, of the port or ports at which the receiver stays.
    name: String,
    left: SpinLock<usize>,
}

impl Turns {
    pub(crate) fn new(name: String, count: usize) -> Arc<Self> {
        Arc::new(Self { name, left: SpinLock::new(count) })
    }

    /// Counts a lost turn and reports it to the process's error hook, because the program may never call
    /// [`Receiver::ended`].
    pub(crate) fn lose(&self, what: &str, message: &str) {
        let left = {
            let mut left = self.left.lock();
            *left -= 1;
            *left
        };
        let consequence = match left {
            0 => "its receiver has ended".to_owned(),
            1 => "its receiver goes on with 1 turn".to_owned(),
            left => format!("its receiver goes on with {left} turns"),
        };
        closure_panicked(format!("{what} of {} panicked: {message}; {consequence}", self.name));
    }
}

impl Receiver {
    /// Creates a receiver with the given tasks as its turns.
    pub(crate) fn of(tasks: Vec<Task<Result<(), String>>>) -> Self {
        Self { tasks }
    }

    /// Waits until the receiver has ended because its port was closed and drained.
    ///
    /// # Errors
    /// Returns the first panic of a handler or of a predicate. Returns [`TaskError::Cancelled`] if the dispatcher or
    /// the queue ended first. Each panic ends a turn and loses its item. A receiver with a concurrency of 1 then leaves
    /// its port. A receiver with a higher concurrency continues with one turn fewer. The process's
    /// [hook](crate::set_error_hook) is called at once for each panic. A panic that goes to the sink of a context ends
    /// no turn and is not returned here.
    ///
    /// # Example
    /// See [`Receiver`].
    pub async fn ended(self) -> Result<(), TaskError> {
        let mut outcomes = all(self.tasks).await.into_iter();
        outcomes.try_for_each(|outcome| outcome?.map_err(|message| TaskError::Panicked { message }))
    }

    /// Lets the receiver stay as long as its port and its dispatcher exist.
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
    /// Registers a handler for every item, beginning with the items already in the port.
    ///
    /// At most `concurrency` turns of the handler run at the same time, on the workers of `dispatcher`. With a
    /// `concurrency` of 1, turns never overlap and see the items in order. Items that come while all turns are busy
    /// stay in the port. Registration is complete when this method returns. A handler returns a future; if it has
    /// nothing to wait for, end it with `async {}`.
    ///
    /// Each turn runs in the [`Context`](crate::Context) in which its item was posted, and ends when this context ends.
    /// If the context has a sink for errors, a panic of the handler goes to that sink and the receiver continues.
    /// Otherwise the turn is lost: with a concurrency of 1 this is the end of the receiver, and later items stay in the
    /// port. The process's [hook](crate::set_error_hook) is called at once, with the port's name and the number of
    /// remaining turns; by default it prints. [`Receiver::ended`] returns the panic as an error too. To survive its
    /// panics, a handler needs a context with a sink, or must catch them itself.
    ///
    /// # Panics
    /// Panics if `concurrency` is 0.
    ///
    /// # Example
    /// For a plain example, see [`Receiver`]. This example shows the effect of a panic:
    /// ```standalone_crate
    /// use lehr_runtime::{Dispatcher, Port, block_on, set_error_hook};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let (numbers, told) = (Port::named("numbers"), Port::new());
    /// let out = told.clone();
    /// set_error_hook(move |failure| out.post(failure.message()).unwrap());
    /// let receiver = numbers.on(dispatcher.handle(), 1, |number: u32| async move { assert!(number > 0, "no number") });
    /// (0..=1).for_each(|number| numbers.post(number).unwrap());
    /// let text = "a handler of port \"numbers\" panicked: no number; its receiver has ended";
    /// assert_eq!(block_on(told.receive()).unwrap(), text);
    /// assert!(block_on(receiver.ended()).unwrap_err().is_panic());
    /// assert_eq!(numbers.drain(), [1]);
    /// ```
    pub fn on<H, F>(&self, dispatcher: &Handle, concurrency: usize, handler: H) -> Receiver
    where
        H: Fn(T) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send,
    {
        self.receiver(dispatcher, concurrency, || None, handler)
    }

    /// Registers a handler, as [`on`](Self::on) does, for the items that `predicate` accepts. Other items stay, in
    /// order, for other receivers.
    ///
    /// The predicate runs under the port's lock, as the predicate of [`receive_if`](Self::receive_if) does. If the
    /// predicate panics, the item stays, and the turn that called the predicate ends.
    ///
    /// Cost: the cost of [`on`](Self::on), and for each item a copy of the predicate. The copy needs one allocation, or
    /// two if the predicate captures anything.
    ///
    /// # Panics
    /// Panics if `concurrency` is 0.
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

    /// Creates a receiver with its turns; `predicate` makes the predicate of one receive.
    fn receiver<P, H, F>(&self, dispatcher: &Handle, concurrency: usize, predicate: P, handler: H) -> Receiver
    where
        P: Fn() -> Option<Predicate<T>> + Clone + Send + 'static,
        H: Fn(T) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send,
    {
        assert!(concurrency > 0, "a receiver that may run no handler would never receive");
        let order = self.core.state.lock().waiters.next_order_kept();
        let handler = Arc::new(handler);
        let turns = Turns::new(self.name(), concurrency);
        let tasks = (0..concurrency).map(|_| {
            let (port, predicate, handler, turns) = (self.clone(), predicate.clone(), handler.clone(), turns.clone());
            // The receiver's own task is in no context. Otherwise an error handler that is registered in the context
            // whose errors it handles would receive its own errors.
            context::current::detached(|| {
                dispatcher.spawn(async move {
                    loop {
                        match Receive::in_order(&port, order, predicate()).with_context().await {
                            Ok((item, context)) => turn(context, || handler(item))
                                .await
                                .inspect_err(|message| turns.lose("a handler", message))?,
                            Err(error) => {
                                let ReceiveErrorKind::Predicate { message, .. } = error.kind() else { return Ok(()) };
                                turns.lose("a predicate", message);
                                return Err(message.clone());
                            }
                        }
                    }
                })
            })
        });
        Receiver::of(tasks.collect())
    }
}
