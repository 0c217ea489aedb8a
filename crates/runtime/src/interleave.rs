//! An interleave: handlers for one state, in groups that determine which may run at the same time.
//!
//! Handlers that read the state run together, a handler that writes runs alone, and one last handler ends the
//! interleave. An interleave schedules *messages*; it is not a lock in user code. While a handler may not start, its
//! message stays in its port and no task waits. An asynchronous handler keeps its exclusivity while it is suspended.
//!
//! - *concurrent* ([`Handlers::concurrent`]): the handler sees a [`Snapshot`] of the state, and runs at the same time
//!   as other concurrent handlers.
//! - *exclusive* ([`Handlers::exclusive`]): the handler has the state ([`Exclusive`]) and runs alone.
//! - *independent* ([`Handlers::independent`]): the handler sees the latest snapshot, runs at any time and never waits.
//! - *teardown* ([`Handlers::teardown`]): the handler runs once and consumes the state. Before it runs, the ports of
//!   all branches except independent branches are closed, and their running handlers end.
//!
//! The setting [`Order`] decides which handler goes first; the default is the order of arrival, across all ports. On
//! purpose, an interleave has no limit on waiting items, which you can set on the ports, and no lock for code outside
//! handlers.
//!
//! Read next: `interleave/admission.rs` (which handler may start), `interleave/branch.rs` (the path of an item),
//! `docs/design/interleave.md`.

mod admission;
mod branch;
mod core;
mod guard;
mod multi_port;
mod source;
mod teardown;

use std::fmt;
use std::future::Future;
use std::ops::Deref;
use std::task::{Wake as WakeTask, Waker};

use lehr_sync::{Arc, SpinLock, process::next_identity};

pub use self::core::Failure;
pub use admission::{Activity, Order};
pub use guard::{Exclusive, Snapshot};
pub use source::{Both, IntoSource, Item, Items, Several, Source, Waits};

use self::core::{Core, Inner};
use crate::dispatch::Handle;
use crate::error::TaskError;
use crate::port::Port;
use admission::{Admission, Phase};
use guard::{Concurrently, Exclusively, Independently, Version};
use teardown::Teardown;

/// The branches of an interleave. Each branch says which handler gets the items of which port, and in which group.
///
/// A handler is called with its guard and an item, and returns a future. Write the type of the guard, as in
/// `|state: Exclusive<Counter>, n|`: it determines the group, and tells the compiler the type of the state.
///
/// # Example
/// See [`Interleave`].
///
/// A reader cannot change the state:
/// ```compile_fail
/// # use lehr_runtime::{Handlers, Port, Snapshot};
/// let port = Port::new();
/// Handlers::new().concurrent(&port, |mut state: Snapshot<Vec<u8>>, item: u8| async move { state.push(item) });
/// ```
/// A handler for one group cannot be added to another group:
/// ```compile_fail
/// # use lehr_runtime::{Exclusive, Handlers, Port};
/// let port = Port::new();
/// Handlers::new().concurrent(&port, |mut state: Exclusive<Vec<u8>>, item: u8| async move { state.push(item) });
/// ```
#[must_use = "handlers do nothing until an interleave is started with them"]
pub struct Handlers<S> {
    installations: Vec<Installation<S>>,
}

type Installation<S> = Box<dyn FnOnce(&Arc<Core<S>>) + Send>;

impl<S> fmt::Debug for Handlers<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Handlers").field("branches", &self.installations.len()).finish_non_exhaustive()
    }
}

impl<S> Default for Handlers<S> {
    fn default() -> Self {
        Self { installations: Vec::new() }
    }
}

impl<S: Clone + Send + Sync + 'static> Handlers<S> {
    /// Creates an empty set of branches.
    ///
    /// # Example
    /// See [`Interleave`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds handlers that read the state. Concurrent handlers run together, but never with exclusive handlers.
    ///
    /// Concurrent handlers see the changes that every earlier exclusive handler made. If a concurrent handler makes a
    /// request to a concurrent branch of its own interleave, the request starts at once, even if other items wait. Such
    /// a start is safe because the handler shares the state already.
    ///
    /// # Example
    /// See [`Interleave`].
    pub fn concurrent<I, H, F>(self, source: I, handler: H) -> Self
    where
        I: IntoSource,
        H: Fn(Snapshot<S>, Item<I>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let source = source.into_source();
        self.with(move |core| I::Waits::install::<S, Concurrently, H, F>(source, core, handler))
    }

    /// Adds handlers that may change the state. Even while such a handler is suspended, only independent handlers may run
    /// beside it.
    ///
    /// A request from such a handler to its own interleave fails at once ([`Refusal::WouldDeadlock`](crate::Refusal))
    /// unless it is made in [`Exclusive::reenter`].
    ///
    /// # Example
    /// See [`Interleave`].
    pub fn exclusive<I, H, F>(self, source: I, handler: H) -> Self
    where
        I: IntoSource,
        H: Fn(Exclusive<S>, Item<I>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let source = source.into_source();
        self.with(move |core| I::Waits::install::<S, Exclusively, H, F>(source, core, handler))
    }

    /// Adds handlers that run at any time, even together with an exclusive handler and during the teardown. Independent
    /// handlers see the state that the last dropped exclusive guard left.
    ///
    /// If there is an independent branch, the first change of each exclusive handler copies the state.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Exclusive, Handlers, Interleave, Port, Reply, Snapshot, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let (work, glance, begun) = (Port::new(), Port::<Reply<u32>>::new(), Port::new());
    /// let out = begun.clone();
    /// let handlers = Handlers::new()
    ///     .exclusive(&work, move |mut done: Exclusive<u32>, ()| {
    ///         *done += 1;
    ///         out.post(()).unwrap();
    ///         async move {
    ///             std::future::pending::<()>().await; // never lets go
    ///             drop(done);
    ///         }
    ///     })
    ///     .independent(&glance, |done: Snapshot<u32>, reply| async move { drop(reply.answer(*done)) });
    /// let _interleave = Interleave::start(dispatcher.handle(), 0, handlers);
    /// work.post(()).unwrap();
    /// block_on(begun.receive()).unwrap();
    /// assert_eq!(block_on(glance.ask(|reply| reply).unwrap()), Ok(0)); // does not wait, and does not see what is half done
    /// ```
    pub fn independent<I, H, F>(self, source: I, handler: H) -> Self
    where
        I: IntoSource,
        H: Fn(Snapshot<S>, Item<I>) -> F + Send + Sync + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let source = source.into_source();
        self.with(move |core| I::Waits::install::<S, Independently, H, F>(source, core, handler))
    }

    /// Adds the handler that ends the interleave and gets the state. If there are several teardown handlers, the first
    /// item decides which of them runs.
    ///
    /// Once an item for the teardown has arrived, no other handler starts, except independent handlers and handlers of
    /// calls that running handlers wait for. Before the post of that item returns, the ports of all branches except
    /// independent branches are closed, so later posters get an error. When the last running handler has ended, the
    /// pending items stay in their ports, in their positions, for any other receiver. Then the teardown handler runs
    /// alone.
    ///
    /// The teardown does not answer requests among the pending items. The senders of these requests wait until a
    /// receiver takes or [drains](Port::drain) the requests, unless you set the interleave to
    /// [refuse](Settings::refuse_pending) them.
    ///
    /// # Example
    /// See [`Interleave`].
    pub fn teardown<I, H, F, T>(self, source: I, handler: H) -> Self
    where
        I: IntoSource<Waits = Items<T>>,
        T: Send + 'static,
        H: FnOnce(S, T) -> F + Send + 'static,
        F: Future<Output = ()> + Send + 'static,
    {
        let source = source.into_source();
        self.with(move |core| Teardown::install(core, source, handler))
    }

    fn with(mut self, installation: impl FnOnce(&Arc<Core<S>>) + Send + 'static) -> Self {
        self.installations.push(Box::new(installation));
        self
    }
}

/// The settings of an interleave that has not started yet.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, Exclusive, Handlers, Order, Port, Settings};
/// let dispatcher = Dispatcher::new(2).unwrap();
/// let add = Port::named("add");
/// let handlers = Handlers::new().exclusive(&add, |mut total: Exclusive<u64>, n: u64| async move { *total += n });
/// let settings = Settings::new().named("total").order(Order::PhaseFair).max_concurrent(8);
/// let interleave = settings.start(dispatcher.handle(), 0, handlers);
/// # drop(interleave);
/// ```
#[must_use = "settings do nothing until an interleave is started with them"]
#[derive(Default)]
pub struct Settings {
    name: String,
    order: Order,
    max_concurrent: Option<usize>,
    keeps_ports_open: bool,
    refuses_pending: bool,
    on_failure: Option<Box<dyn Fn(Failure) + Send + Sync>>,
}

impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Settings")
            .field("name", &self.name)
            .field("order", &self.order)
            .field("max_concurrent", &self.max_concurrent)
            .field("keeps_ports_open", &self.keeps_ports_open)
            .field("refuses_pending", &self.refuses_pending)
            .finish_non_exhaustive()
    }
}

impl Settings {
    /// Creates the default settings: no name, [`Order::Arrival`], any number of concurrent handlers, ports closed by
    /// the teardown.
    ///
    /// # Example
    /// See [`Settings`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name of the interleave in messages.
    ///
    /// # Example
    /// See [`Settings`].
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the order in which waiting handlers start.
    ///
    /// # Example
    /// See [`Settings`].
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Sets the maximum number of concurrent handlers that may run at once, of all branches together. Requests that
    /// concurrent handlers make to concurrent branches of their own interleave do not count.
    ///
    /// # Panics
    /// Panics if `count` is 0.
    ///
    /// # Example
    /// See [`Settings`].
    pub fn max_concurrent(mut self, count: usize) -> Self {
        assert!(count > 0, "an interleave that may run no concurrent handler would starve their items");
        self.max_concurrent = Some(count);
        self
    }

    /// Makes the teardown leave the ports open, for receivers that come after the interleave. Posters then get no error
    /// when the interleave has ended.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Exclusive, Handlers, Port, Settings, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let (add, stop) = (Port::new(), Port::new());
    /// let handlers = Handlers::new()
    ///     .exclusive(&add, |mut total: Exclusive<u64>, n: u64| async move { *total += n })
    ///     .teardown(&stop, |_: u64, ()| async {});
    /// let interleave = Settings::new().keep_ports_open().start(dispatcher.handle(), 0, handlers);
    /// stop.post(()).unwrap();
    /// block_on(interleave.ended()).unwrap();
    /// add.post(1).unwrap();
    /// assert_eq!(add.try_receive(), Some(1)); // for whoever comes next
    /// ```
    pub fn keep_ports_open(mut self) -> Self {
        self.keeps_ports_open = true;
        self
    }

    /// Makes the end of the interleave refuse all items in the ports that it closes. Every request in these ports fails
    /// as [`Refusal::Stopping`](crate::Refusal), so no sender waits for an answer that will never come. Use this
    /// setting for services, whose items are all requests. Items that are not requests are dropped. If the port of a
    /// dropped item has a [discard sink](crate::PortBuilder::on_discard), the sink gets the item. Items that are
    /// offered to another receiver of the port go to that receiver.
    ///
    /// The refusal comes before the teardown handler begins (for the ports of independent branches, after it has
    /// ended), or when the dispatcher ends. An interleave that closes no ports refuses no items. Ports stay open with
    /// [`keep_ports_open`](Self::keep_ports_open), and after [`Interleave::stop`] or dropping the interleave.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Exclusive, Handlers, Port, Refusal, Reply, Settings, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let (work, stop, begun) = (Port::<(u32, Reply<u32>)>::new(), Port::new(), Port::new());
    /// let (out, gate) = (begun.clone(), Port::<()>::new());
    /// let wait = gate.clone();
    /// let handlers = Handlers::new()
    ///     .exclusive(&work, move |_: Exclusive<()>, (number, reply): (u32, Reply<u32>)| {
    ///         out.post(()).unwrap();
    ///         let wait = wait.clone();
    ///         async move {
    ///             wait.receive().await.unwrap();
    ///             reply.answer(number).unwrap();
    ///         }
    ///     })
    ///     .teardown(&stop, |(), ()| async {});
    /// let interleave = Settings::new().refuse_pending().start(dispatcher.handle(), (), handlers);
    /// let (first, second) = (work.ask(|reply| (1, reply)).unwrap(), work.ask(|reply| (2, reply)).unwrap());
    /// block_on(begun.receive()).unwrap();
    /// stop.post(()).unwrap();
    /// gate.post(()).unwrap();
    /// assert_eq!((block_on(first), block_on(second)), (Ok(1), Err(Refusal::Stopping)));
    /// block_on(interleave.ended()).unwrap();
    /// ```
    pub fn refuse_pending(mut self) -> Self {
        self.refuses_pending = true;
        self
    }

    /// Calls `tell` for each handler of a branch that panics or is cancelled. This happens on that worker, while no
    /// lock is held. The teardown handler's failure is returned by `ended` only.
    ///
    /// Without this setting, a panic goes to the sinks of the [`Context`](crate::Context) in which the item was posted.
    /// If the context has no sink, the panic goes to the process's [hook](crate::set_error_hook).
    ///
    /// # Example
    /// See [`Failure`].
    pub fn on_failure(mut self, tell: impl Fn(Failure) + Send + Sync + 'static) -> Self {
        self.on_failure = Some(Box::new(tell));
        self
    }

    /// Starts an interleave around `state`; its handlers run on the workers of `dispatcher`. Items that are already in
    /// the ports count as arriving now, branch by branch.
    ///
    /// # Example
    /// See [`Settings`].
    pub fn start<S>(self, dispatcher: &Handle, state: S, handlers: Handlers<S>) -> Interleave<S>
    where
        S: Clone + Send + Sync + 'static,
    {
        let identity = next_identity();
        let inner = Inner {
            admission: Admission::new(identity, self.order, self.max_concurrent.unwrap_or(usize::MAX)),
            state: Some(Version { number: 0, state: Arc::new(state) }),
            members: Vec::new(),
            independents: 0,
            is_followed: false,
            teardown: None,
            outcome: None,
        };
        let core = Arc::new(Core {
            identity,
            name: self.name,
            handle: dispatcher.clone(),
            keeps_ports_open: self.keeps_ports_open,
            refuses_pending: self.refuses_pending,
            on_failure: self.on_failure,
            inner: SpinLock::new(inner),
            end: Port::new(),
        });
        handlers.installations.into_iter().for_each(|install| install(&core));
        Interleave { handle: InterleaveHandle { core }, is_detached: false }
    }
}

/// The owner of a running interleave. For the groups of handlers, see [`Handlers`].
///
/// Dropping this value ends the interleave at once: running handlers are cancelled, and the branches leave their ports,
/// which stay open with their items. To let running handlers finish, end the interleave by a teardown item or by
/// [`stop`](Self::stop). To let it live until its teardown without an owner, call [`detach`](Self::detach).
///
/// Cost: on an idle interleave, an item costs about as much as with a persistent receiver. An item needs no task or
/// allocation of its own. Each item takes the interleave's lock three times, or twice while one branch works through
/// its queue. Each start that has to wait, and each handler that runs beside others, may cost one task.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, Exclusive, Handlers, Interleave, Port, Snapshot, block_on};
///
/// let dispatcher = Dispatcher::new(2).unwrap();
/// let (add, read, stop) = (Port::named("add"), Port::named("read"), Port::named("stop"));
/// let handlers = Handlers::new()
///     .exclusive(&add, |mut total: Exclusive<u64>, n: u64| async move { *total += n })
///     .concurrent(&read, |total: Snapshot<u64>, answer: Port<u64>| async move { answer.post(*total).unwrap() })
///     .teardown(&stop, |total: u64, answer: Port<u64>| async move { answer.post(total).unwrap() });
/// let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
///
/// let answers = Port::new();
/// add.post(1).unwrap();
/// read.post(answers.clone()).unwrap(); // sees what was posted before it
/// add.post(2).unwrap();
/// assert_eq!(block_on(answers.receive()), Ok(1));
/// stop.post(answers.clone()).unwrap(); // what still runs comes to its end, what waits stays in its port
/// assert!(add.post(4).is_err());
/// block_on(interleave.ended()).unwrap();
/// assert_eq!(block_on(answers.receive()), Ok(if add.is_empty() { 3 } else { 1 }));
/// ```
#[must_use = "an interleave ends when this is dropped: keep it, or call `detach`"]
pub struct Interleave<S: Send + Sync + 'static> {
    handle: InterleaveHandle<S>,
    is_detached: bool,
}

impl<S: Send + Sync + 'static> fmt::Debug for Interleave<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.handle.fmt(formatter)
    }
}

impl<S: Clone + Send + Sync + 'static> Interleave<S> {
    /// Starts an interleave with the default [`Settings`].
    ///
    /// The state is `Clone` because an exclusive handler that changes it while a snapshot of it is in use changes a
    /// copy. Keep large parts of the state behind an `Arc`.
    ///
    /// # Example
    /// See [`Interleave`].
    pub fn start(dispatcher: &Handle, state: S, handlers: Handlers<S>) -> Self {
        Settings::new().start(dispatcher, state, handlers)
    }

    /// Ends the interleave as a teardown item would, but without a handler and without closing ports, and returns the
    /// state.
    ///
    /// No more handlers start, running handlers finish, and pending items stay in their ports. Dropping the future
    /// before it is ready has the same effect as dropping the interleave.
    ///
    /// # Errors
    /// Returns [`TaskError::Cancelled`] if a teardown item came first, or the dispatcher has ended.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Exclusive, Handlers, Interleave, Port, Reply, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let add = Port::<(u64, Reply<()>)>::new();
    /// let handlers = Handlers::new().exclusive(&add, |mut total: Exclusive<u64>, (n, reply): (u64, Reply<()>)| async move {
    ///     *total += n;
    ///     drop(reply.answer(()));
    /// });
    /// let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
    /// block_on(add.ask(|reply| (5, reply)).unwrap()).unwrap();
    /// assert_eq!(block_on(interleave.stop()), Ok(5));
    /// assert!(!add.is_closed()); // a teardown would have closed it
    /// ```
    pub async fn stop(self) -> Result<S, TaskError> {
        let core = &self.handle.core;
        let signal = Arc::new(Signal(Port::new()));
        let is_first = core.change(|inner, wake| {
            let is_first = inner.admission.close();
            if is_first {
                inner.admission.when_idle(Waker::from(signal.clone()), wake);
            }
            is_first
        });
        if !is_first {
            let _ = core.end.receive().await;
            return Err(TaskError::Cancelled);
        }
        // Aborting the interleave wakes this receive too, because it wakes and drops the signal.
        let idle = signal.0.receive();
        let mut idle = std::pin::pin!(idle);
        let mut end = std::pin::pin!(core.end.receive());
        std::future::poll_fn(|context| {
            if idle.as_mut().poll(context).is_ready() || end.as_mut().poll(context).is_ready() {
                std::task::Poll::Ready(())
            } else {
                std::task::Poll::Pending
            }
        })
        .await;
        core.leave_ports(false, false);
        let version = core.consume_state();
        core.finish_quietly(Ok(()));
        let _ = end.await;
        match (version, core.inner.lock().outcome.clone()) {
            (Some(version), Some(Ok(()))) => Ok(Arc::unwrap_or_clone(version.state)),
            _ => Err(TaskError::Cancelled),
        }
    }
}

impl<S: Send + Sync + 'static> Interleave<S> {
    /// Returns a handle that other code can keep; it does not keep the interleave alive.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Handlers, Interleave, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let interleave = Interleave::start(dispatcher.handle(), 7, Handlers::new());
    /// let observer = interleave.handle().clone(); // does not keep it going
    /// assert_eq!(observer.latest().as_deref(), Some(&7));
    /// block_on(interleave.stop()).unwrap();
    /// assert!(observer.latest().is_none());
    /// ```
    pub fn handle(&self) -> &InterleaveHandle<S> {
        &self.handle
    }

    /// Lets the interleave live without an owner until its teardown, or as long as its dispatcher.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Handlers, Interleave, Port, Reply, Snapshot, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let read = Port::<Reply<u32>>::new();
    /// let handlers = Handlers::new().concurrent(&read, |state: Snapshot<u32>, reply| async move { drop(reply.answer(*state)) });
    /// Interleave::start(dispatcher.handle(), 7, handlers).detach();
    /// assert_eq!(block_on(read.ask(|reply| reply).unwrap()), Ok(7));
    /// ```
    pub fn detach(mut self) {
        self.is_detached = true;
    }
}

impl<S: Send + Sync + 'static> Deref for Interleave<S> {
    type Target = InterleaveHandle<S>;

    fn deref(&self) -> &InterleaveHandle<S> {
        &self.handle
    }
}

impl<S: Send + Sync + 'static> Drop for Interleave<S> {
    fn drop(&mut self) {
        if !self.is_detached {
            self.handle.core.abort(false);
        }
    }
}

/// Access to an interleave without owning it: to add branches, to see its activity, to wait for its end. Clones refer
/// to the same interleave.
///
/// # Example
/// See [`Interleave::handle`].
pub struct InterleaveHandle<S> {
    core: Arc<Core<S>>,
}

impl<S> Clone for InterleaveHandle<S> {
    fn clone(&self) -> Self {
        Self { core: self.core.clone() }
    }
}

impl<S: Send + Sync + 'static> fmt::Debug for InterleaveHandle<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Interleave")
            .field("name", &self.core.name)
            .field("activity", &self.activity())
            .finish_non_exhaustive()
    }
}

/// Which pending item [`InterleaveHandle::shed`] removes from the queue.
///
/// # Example
/// See [`InterleaveHandle::shed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shed {
    /// The item that has waited longest.
    Oldest,
    /// The item that arrived last.
    Newest,
}

/// The error of adding branches to an interleave that is ending or has ended.
///
/// # Example
/// See [`InterleaveHandle::combine`].
pub struct CombineError<S> {
    /// The branches that were not added, unchanged.
    pub handlers: Handlers<S>,
}

impl<S> fmt::Debug for CombineError<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("CombineError").finish_non_exhaustive()
    }
}

impl<S> fmt::Display for CombineError<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the interleave takes no more branches: it is ending or has ended")
    }
}

impl<S> std::error::Error for CombineError<S> {}

impl<S: Send + Sync + 'static> InterleaveHandle<S> {
    /// Adds branches to a running interleave. Old and new branches exclude each other as if all branches had been there
    /// from the start. Items in the ports of the new branches count as arriving now.
    ///
    /// # Errors
    /// Returns [`CombineError`] with the branches if the interleave has begun to end.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Exclusive, Handlers, Interleave, Port, block_on};
    /// let dispatcher = Dispatcher::new(2).unwrap();
    /// let interleave = Interleave::start(dispatcher.handle(), 1, Handlers::new());
    /// let (double, done) = (Port::new(), Port::new());
    /// let out = done.clone();
    /// let more = Handlers::new().exclusive(double.branch().once(), move |mut state: Exclusive<i32>, ()| {
    ///     *state *= 2;
    ///     out.post(*state).unwrap();
    ///     async {}
    /// });
    /// interleave.combine(more).unwrap();
    /// double.post(()).unwrap();
    /// assert_eq!(block_on(done.receive()), Ok(2));
    /// assert_eq!(block_on(interleave.stop()), Ok(2));
    /// ```
    pub fn combine(&self, handlers: Handlers<S>) -> Result<(), CombineError<S>> {
        if self.core.inner.lock().admission.phase != Phase::Open {
            return Err(CombineError { handlers });
        }
        handlers.installations.into_iter().for_each(|install| install(&self.core));
        Ok(())
    }

    /// Waits until the interleave has ended, by its teardown or by [`stop`](Interleave::stop), and no handler runs any
    /// more.
    ///
    /// Cancel-safe; any number of tasks may wait.
    ///
    /// # Errors
    /// Returns [`TaskError::Panicked`] if the teardown handler panicked, and [`TaskError::Cancelled`] if the interleave
    /// or its dispatcher was dropped first.
    ///
    /// # Example
    /// See [`Interleave`].
    pub async fn ended(&self) -> Result<(), TaskError> {
        let _ = self.core.end.receive().await;
        self.core.inner.lock().outcome.clone().unwrap_or(Err(TaskError::Cancelled))
    }

    /// Returns the present and past activity of the interleave.
    ///
    /// # Example
    /// See [`Activity`].
    pub fn activity(&self) -> Activity {
        self.core.inner.lock().admission.activity()
    }

    /// Returns the number of items in `port` that wait to be admitted. [`Port::len`] counts them too, and also an item
    /// whose handler has been granted its start and has not begun.
    ///
    /// # Example
    /// See [`cancel_at`](Self::cancel_at).
    pub fn pending_at<T>(&self, port: &Port<T>) -> usize {
        let inner = self.core.inner.lock();
        inner.at(port.core.identity).map(|(index, _)| inner.admission.lane(index).pending()).sum()
    }

    /// Takes a pending item of `port` away from the interleave, to shed load, if more than `deeper_than` items wait
    /// there. The caller owns the item, and can answer the request that it carries.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Exclusive, Handlers, Interleave, Port, Shed, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let (work, begun) = (Port::new(), Port::new());
    /// let out = begun.clone();
    /// let handlers = Handlers::new().exclusive(&work, move |_: Exclusive<()>, item: u32| {
    ///     out.post(item).unwrap();
    ///     std::future::pending()
    /// });
    /// let interleave = Interleave::start(dispatcher.handle(), (), handlers);
    /// (1..=3).for_each(|item| work.post(item).unwrap());
    /// assert_eq!(block_on(begun.receive()), Ok(1));
    /// assert_eq!(interleave.shed(&work, Shed::Oldest, 1), Some(2)); // 2 and 3 were waiting
    /// assert_eq!(interleave.shed(&work, Shed::Oldest, 1), None);
    /// ```
    pub fn shed<T>(&self, port: &Port<T>, which: Shed, deeper_than: usize) -> Option<T> {
        loop {
            let (item, member) = self.core.change(|inner, wake| {
                let found = inner
                    .at(port.core.identity)
                    .find(|(index, _)| inner.admission.lane(*index).pending() > deeper_than);
                let (index, member) = found?;
                let item = inner.admission.shed(index, which == Shed::Newest, deeper_than, wake)?;
                Some((item, member))
            })?;
            let (ticket, sequence) = item;
            // If another thread has just taken the item, the loop looks at the next item.
            if let Some(item) = port.shed(ticket, sequence, member.identity()) {
                return Some(item);
            }
        }
    }

    /// Cancels the running handlers of `port`: their futures are dropped, and their places become free. A suspended
    /// handler is dropped at once, and a running handler after the poll in progress. Returns the number of cancelled
    /// handlers.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Exclusive, Handlers, Interleave, Port, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let (work, begun) = (Port::new(), Port::new());
    /// let out = begun.clone();
    /// let handlers = Handlers::new().exclusive(&work, move |_: Exclusive<()>, item: u32| {
    ///     out.post(item).unwrap();
    ///     std::future::pending()
    /// });
    /// let interleave = Interleave::start(dispatcher.handle(), (), handlers);
    /// (1..=3).for_each(|item| work.post(item).unwrap());
    /// assert_eq!(block_on(begun.receive()), Ok(1));
    /// assert_eq!(interleave.pending_at(&work), 2); // 2 and 3
    /// assert_eq!(interleave.cancel_at(&work), 1); // the handler of 1, which would never end
    /// assert_eq!(block_on(begun.receive()), Ok(2)); // the next one may start
    /// ```
    pub fn cancel_at<T>(&self, port: &Port<T>) -> usize {
        self.core.change(|inner, wake| {
            let lanes: Vec<usize> = inner.at(port.core.identity).map(|(index, _)| index).collect();
            inner.admission.cancel(|lane| lanes.contains(&lane), wake)
        })
    }

    /// Returns the state if a concurrent handler could start now, which means that no exclusive handler runs or waits.
    /// So the returned snapshot has the changes of every earlier item. This method needs no turn and no task, and does
    /// not count as a handler. To do more than read the state, send an item.
    ///
    /// Cost: one lock.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Exclusive, Handlers, Interleave, Port, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let (add, begun) = (Port::new(), Port::new());
    /// let out = begun.clone();
    /// let handlers = Handlers::new().exclusive(&add, move |mut total: Exclusive<u64>, n: u64| {
    ///     *total += n;
    ///     out.post(()).unwrap();
    ///     async move {
    ///         std::future::pending::<()>().await; // never lets go
    ///         drop(total);
    ///     }
    /// });
    /// let interleave = Interleave::start(dispatcher.handle(), 7, handlers);
    /// assert_eq!(interleave.glance().as_deref(), Some(&7));
    /// add.post(1).unwrap();
    /// assert!(interleave.glance().is_none()); // it has arrived, whether it runs or not
    /// block_on(begun.receive()).unwrap();
    /// assert!(interleave.glance().is_none());
    /// ```
    pub fn glance(&self) -> Option<Snapshot<S>> {
        let inner = self.core.inner.lock();
        if inner.admission.may_glance() { inner.state.clone().map(Snapshot::of) } else { None }
    }

    /// Returns the state that the last dropped exclusive guard left. Returns `None` after the teardown. If no branch is
    /// independent, also returns `None` while a guard changes the state in place.
    ///
    /// The first call of this method enables the snapshots. Until then, a guard that is dropped in its handler's own
    /// poll may give the state back only when that poll ends. So the first call may return `None` if a handler has
    /// dropped its guard and continues to compute.
    ///
    /// # Example
    /// See [`Interleave::handle`].
    pub fn latest(&self) -> Option<Snapshot<S>> {
        let mut inner = self.core.inner.lock();
        inner.is_followed = true;
        inner.state.clone().map(Snapshot::of)
    }
}

/// Wakes the caller of `stop` when no handler of the interleave runs any more.
struct Signal(Port<()>);

impl WakeTask for Signal {
    fn wake(self: Arc<Self>) {
        // The port refuses the post only if no caller waits any more.
        let _ = self.0.post(());
    }
}
