//! The dispatcher: a fixed set of worker threads that poll tasks.
//!
//! Work waits in a first-in-first-out queue for each worker and in one queue for posts from outside; a worker without
//! work steals. A woken task is queued at the worker that wakes it. So two tasks that wake each other stay on one core
//! until another core is idle. Idle workers search for a while before they sleep ([`Idle`]). The reason is that waking
//! a sleeping core takes tens of microseconds, while a searching worker finds a message in a tenth of a microsecond.
//!
//! Other files have the timers, the context that follows messages, and the named queues with admission policies and
//! priorities. Named queues are in `queue.rs`; while they have work, a worker looks there before its own queue. Read
//! next: `dispatch/worker.rs`, then `dispatch/SLEEP.md`.

mod blocking;
#[allow(unsafe_code, reason = "closures lie in cells that are used again; the file says why that is right")]
mod closure;
#[allow(unsafe_code, reason = "one thread-local pointer; the file says why it is valid")]
mod current;
mod in_place;
mod live;
mod pinning;
#[allow(unsafe_code, reason = "a task or a closure in one word; the file says why that is right")]
mod queue;
mod shutdown;
pub(crate) mod sleep;
mod thief;
pub(crate) mod watchdog;
mod worker;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use crossbeam_deque::{Injector, Stealer};
use crossbeam_utils::CachePadded;
use lehr_sync::{Arc, AtomicUsize, Ordering, process::next_identity, thread};

pub use shutdown::{QueueReport, Report, Shutdown};
pub use worker::Counters;

use crate::context;
use crate::error::TaskError;
use crate::fork_join::Fork;
use crate::queue::priority::Registry;
use crate::task::{Task, admit};
use crate::timer::Clock;
use blocking::Spares;
pub use blocking::blocking;
pub(crate) use closure::Closure;
pub(crate) use current::{Current, as_one_wait, current_clock, is_counted, may_go_on, with_current};
pub use in_place::in_place;
pub(crate) use live::{Guard, Live};
use pinning::Pinning;
pub(crate) use queue::Job;
use sleep::Sleep;
use watchdog::{Doing, Watchdog};
pub use watchdog::{Named, Stuck, named};

/// The stage in which tasks are accepted and run.
pub(crate) const RUNNING: usize = 0;
/// The stage in which tasks run, but only tasks of this dispatcher may add new tasks.
pub(crate) const DRAINING: usize = 1;
/// The stage in which nothing is polled any more; scheduled tasks are dropped.
pub(crate) const ABORTING: usize = 2;

/// The time for which an idle worker looks for work before it sleeps.
///
/// A searching worker takes over work within a fraction of a microsecond, but keeps a core busy. A sleeping worker
/// takes tens of microseconds to wake. If there are more workers than cores, no worker spins, whatever is set here: a
/// worker that has work makes better use of the core.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use lehr_runtime::Idle;
/// assert_eq!(Idle::default(), Idle { spin: Duration::from_micros(50), yielding: Duration::from_micros(50) });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// The time for which a worker looks without a pause.
    pub spin: Duration,
    /// The time after `spin` for which a worker yields its core, and looks again each time it gets the core back.
    pub yielding: Duration,
}

impl Idle {
    /// Workers sleep at once. Use this policy for a dispatcher that should cost nothing while it waits.
    pub const SLEEP: Self = Self { spin: Duration::ZERO, yielding: Duration::ZERO };
}

impl Default for Idle {
    fn default() -> Self {
        Self { spin: Duration::from_micros(50), yielding: Duration::from_micros(50) }
    }
}

/// The reason why a dispatcher could not be started.
///
/// # Example
/// See [`Builder::cores`].
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// More threads were requested than [`Builder::THREADS_MAX`].
    TooManyThreads {
        /// The requested number of threads.
        threads: usize,
    },
    /// [`Builder::cores`] names a core that this process may not run on, or that the machine does not have.
    NoSuchCore {
        /// The core that the list names.
        core: usize,
        /// The cores that the process may run on.
        available: Vec<usize>,
    },
    /// The system refused to bind a thread to a core.
    Pinning {
        /// The requested core.
        core: usize,
    },
    /// The system refused to start another thread. The threads that were already started have ended again.
    Thread(std::io::Error),
}

impl fmt::Display for StartError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooManyThreads { threads } => {
                write!(formatter, "{threads} threads requested; a dispatcher has at most {}", Builder::THREADS_MAX)
            }
            Self::NoSuchCore { core, available } => {
                write!(formatter, "core {core} requested; this process may run on {available:?}")
            }
            Self::Pinning { core } => write!(formatter, "the system would not bind a thread to core {core}"),
            Self::Thread(error) => write!(formatter, "the system would not start another thread: {error}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::TooManyThreads { .. } | Self::NoSuchCore { .. } | Self::Pinning { .. } => None,
            Self::Thread(error) => Some(error),
        }
    }
}

/// Settings of a dispatcher before it starts.
///
/// # Example
/// ```
/// use lehr_runtime::{Builder, Idle};
/// let dispatcher = Builder::new().name("sensors").threads(2).idle(Idle::SLEEP).start().unwrap();
/// assert_eq!(dispatcher.threads(), 2);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    name: Option<String>,
    threads: usize,
    idle: Idle,
    weight: u32,
    pinning: Pinning,
    spares: Option<usize>,
    stack_bytes: Option<usize>,
    watchdog: Option<watchdog::Plan>,
    clock: Clock,
}

impl Builder {
    /// The maximum number of threads of a dispatcher.
    pub const THREADS_MAX: usize = 1024;

    /// The maximum number of spare threads that a dispatcher may start, unless [`spares`](Self::spares) sets another
    /// limit.
    pub const SPARES: usize = 64;

    /// Creates the default settings: as many threads as the machine runs at once, named `lehr-0`, `lehr-1`, …, with the
    /// default [`Idle`].
    ///
    /// # Example
    /// See [`Builder`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the prefix of the threads' names; a dash and a number follow. Default: `lehr`.
    ///
    /// # Example
    /// See [`Builder`].
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the number of threads. The default is 0: as many threads as the machine runs at once or, if
    /// [`cores`](Self::cores) are set, one for each different core.
    ///
    /// # Example
    /// See [`Builder`].
    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Sets the time for which workers look for work before they sleep.
    ///
    /// # Example
    /// See [`Builder`].
    pub fn idle(mut self, idle: Idle) -> Self {
        self.idle = idle;
        self
    }

    /// Sets the weight of tasks spawned on the dispatcher itself, compared with its named queues
    /// ([`Priority::Share`](crate::Priority::Share)). 0, the default, means 1.
    pub fn weight(mut self, weight: u32) -> Self {
        self.weight = weight;
        self
    }

    /// Sets the clock of the dispatcher's tasks. Default: a [real](Clock::real) clock for this dispatcher alone.
    /// Several dispatchers may share a clock.
    ///
    /// # Example
    /// See [`Clock`].
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Sets the maximum number of spare threads, which replace workers in a section that [blocks](crate::blocking).
    /// Spare threads start when first needed. Default: [`SPARES`](Self::SPARES).
    pub fn spares(mut self, spares: usize) -> Self {
        self.spares = Some(spares.min(Self::THREADS_MAX));
        self
    }

    /// Sets the stack size of each worker and of each spare thread, for deep recursion in joins. Default: the size that
    /// Rust's library gives a thread, which is 2 MiB unless `RUST_MIN_STACK` is set. The system rounds the size, and
    /// takes memory only for the part in use.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Builder, fork_join::join};
    /// fn depth(levels: u32) -> u32 {
    ///     if levels == 0 { 0 } else { join(|| depth(levels - 1), || 1).0 + 1 }
    /// }
    /// let dispatcher = Builder::new().threads(2).stack_bytes(64 << 20).start().unwrap();
    /// assert_eq!(dispatcher.handle().install(|| depth(10_000)), 10_000);
    /// ```
    pub fn stack_bytes(mut self, bytes: usize) -> Self {
        self.stack_bytes = Some(bytes);
        self
    }

    /// Binds each worker to one core: the first worker to the first core of the list, and so on. If there are more
    /// workers than cores, the list is used again from the start. Default: no worker is bound.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Builder, StartError};
    /// let elsewhere = Builder::new().cores([1_000_000]).start();
    /// assert!(matches!(elsewhere, Err(StartError::NoSuchCore { core: 1_000_000, .. })));
    /// ```
    pub fn cores(mut self, cores: impl IntoIterator<Item = usize>) -> Self {
        self.pinning = Pinning::Listed(cores.into_iter().collect());
        self
    }

    /// Gives each worker its own cores, so that workers that wait for each other in loops do not share a core. The
    /// cores that the calling thread may run on are divided into `parts` equal shares, and worker `i` moves only within
    /// share `first + i`. Without this setting, a system may run two such workers on one core for a whole time slice,
    /// while another core is idle. Each of the two workers then waits for the other worker, which cannot run meanwhile.
    /// With several processes on a machine, `parts` is the number of all their workers. `first` is the number of
    /// workers in the processes before this one.
    ///
    /// Lehr binds nothing if there are fewer cores than parts, or only one part. The same holds if `first` plus the
    /// workers exceeds `parts`, and on systems other than Linux. Threads that a worker starts run in its share.
    /// Replaces [`cores`](Self::cores). Default: all workers may run on every core, which is best beside other
    /// programs, and for tasks that seldom wait for each other in loops.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Builder, block_on};
    /// let dispatcher = Builder::new().threads(2).apart(0, 2).start().unwrap();
    /// assert_eq!(block_on(dispatcher.spawn(async { 1 + 1 })), Ok(2));
    /// ```
    pub fn apart(mut self, first: usize, parts: usize) -> Self {
        self.pinning = Pinning::Shares { first, parts };
        self
    }

    /// Starts a watchdog: a thread that calls `sink` when a worker has been in one job for longer than `limit`.
    /// Default: no thread watches.
    ///
    /// The sink runs on the watchdog's thread, once for each job that takes longer. Mark a job that blocks on purpose
    /// with [`blocking`](crate::blocking).
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_runtime::{Builder, Port, block_on, named};
    /// let reports = Port::new();
    /// let told = reports.clone();
    /// let sink = move |stuck| told.post(stuck).unwrap();
    /// let dispatcher = Builder::new().threads(1).watchdog(Duration::from_millis(1), sink).start().unwrap();
    /// let go_on = Port::new();
    /// let asked = go_on.clone();
    /// let slow = dispatcher.spawn(named("slow", async move { while asked.try_receive().is_none() {} }));
    /// let stuck = block_on(reports.receive()).unwrap();
    /// assert_eq!((stuck.task.as_deref(), stuck.are_all), (Some("slow"), true));
    /// go_on.post(()).unwrap();
    /// block_on(slow).unwrap();
    /// ```
    pub fn watchdog(mut self, limit: Duration, sink: impl Fn(Stuck) + Send + Sync + 'static) -> Self {
        self.watchdog = Some(watchdog::Plan { limit, sink: Arc::new(sink) });
        self
    }

    /// Starts the threads. When this method returns, all threads exist, and each thread with a core of its own runs on
    /// that core.
    ///
    /// # Errors
    /// Returns [`StartError::TooManyThreads`], [`StartError::NoSuchCore`] or [`StartError::Pinning`] if the settings
    /// ask for too much, or [`StartError::Thread`] if the system refuses a thread.
    ///
    /// # Example
    /// See [`Builder`].
    pub fn start(self) -> Result<Dispatcher, StartError> {
        self.pinning.check()?;
        let available = self.pinning.distinct().unwrap_or_else(thread::available);
        let threads = if self.threads == 0 { available } else { self.threads };
        if threads > Self::THREADS_MAX {
            return Err(StartError::TooManyThreads { threads });
        }
        let idle = if threads > available { Idle { spin: Duration::ZERO, ..self.idle } } else { self.idle };
        let name = self.name.unwrap_or_else(|| "lehr".to_owned());
        let spares = self.spares.unwrap_or(Self::SPARES);
        let locals: Vec<_> = (0..threads).map(|_| crossbeam_deque::Worker::new_fifo()).collect();
        // The owner takes its latest fork first: a join takes back what it has just forked.
        let forks: Vec<_> = (0..threads).map(|_| crossbeam_deque::Worker::new_lifo()).collect();
        let shared = Arc::new(Shared {
            identity: next_identity(),
            threads,
            is_oversubscribed: threads > available,
            idle,
            injector: Injector::new(),
            stealers: locals.iter().map(crossbeam_deque::Worker::stealer).collect(),
            forks: forks.iter().map(crossbeam_deque::Worker::stealer).collect(),
            clock: self.clock,
            sleep: Sleep::with_spares(threads, spares, Some(sleep::WATCH)),
            spares: Spares::new(spares, name.clone(), self.stack_bytes),
            stage: CachePadded::new(AtomicUsize::new(RUNNING)),
            running: CachePadded::new(AtomicUsize::new(threads)),
            is_swept: AtomicUsize::new(0),
            live: Live::new(threads + 1),
            names: watchdog::Names::default(),
            queues: Arc::new(Registry::new(self.weight.max(1))),
            doing: (0..if self.watchdog.is_some() { threads + spares } else { 0 }).map(|_| Arc::default()).collect(),
            counters: (0..threads + spares).map(|_| CachePadded::new(worker::Tally::new())).collect(),
        });
        let mut dispatcher =
            Dispatcher { handle: Handle { shared, queue: None }, workers: Vec::with_capacity(threads), watchdog: None };
        let (told, heard) = std::sync::mpsc::channel();
        let mut shares = self.pinning.shares(threads).into_iter();
        for (index, (local, forks)) in locals.into_iter().zip(forks).enumerate() {
            let shared = dispatcher.handle.shared.clone();
            // On failure the dispatcher is dropped here, which ends and joins the threads that did start.
            let pinned = self.pinning.core_of(index).map(|core| (core, told.clone()));
            let share = shares.next();
            let started =
                thread::spawn_with_stack(watchdog::thread_name(&name, index, threads), self.stack_bytes, move || {
                    if let Some((core, told)) = pinned {
                        // No thread receives this any more if another thread could not be started.
                        let _ = told.send((core, pinning::pin(core)));
                    }
                    if let Some(share) = share {
                        pinning::keep_to(&share);
                    }
                    worker::run(shared, index, local, forks);
                });
            match started {
                Ok(worker) => dispatcher.workers.push(worker),
                Err(error) => {
                    let missing = threads - index;
                    // Relaxed: read only by `shutdown`, which this thread calls next.
                    dispatcher.handle.shared.running.fetch_sub(missing, Ordering::Relaxed);
                    return Err(StartError::Thread(error));
                }
            }
        }
        drop(told);
        // The channel ends when every worker has reported; it ends at once if no worker is pinned.
        if let Some((core, _)) = heard.iter().find(|(_, is_pinned)| !is_pinned) {
            return Err(StartError::Pinning { core });
        }
        if let Some(plan) = self.watchdog {
            let watchdog = Watchdog::start(plan, &name, &dispatcher.handle.shared).map_err(StartError::Thread)?;
            dispatcher.watchdog = Some(watchdog);
        }
        Ok(dispatcher)
    }
}

/// The owner of worker threads that poll tasks. When it has been dropped, everything it ran has ended and its threads
/// are gone. Exception: one of its own workers drops it, and cannot wait for itself.
///
/// Dropping the dispatcher is [`Shutdown::Abort`]: a task in the middle of a poll ends that poll first, and all other
/// tasks are dropped. Call [`shutdown`](Self::shutdown) to drain instead, or to get the report.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, Port, Shutdown, block_on};
/// let dispatcher = Dispatcher::new(2).unwrap();
/// let (questions, answers) = (Port::new(), Port::new());
/// let (inbox, outbox) = (questions.clone(), answers.clone());
/// dispatcher.spawn(async move { outbox.post(inbox.receive().await.unwrap() + 1).unwrap() }).detach();
/// questions.post(41).unwrap();
/// assert_eq!(block_on(answers.receive()), Ok(42));
/// let report = dispatcher.shutdown(Shutdown::Abort);
/// assert_eq!((report.aborted, report.leaked), (0, 0));
/// ```
#[derive(Debug)]
pub struct Dispatcher {
    pub(crate) handle: Handle,
    pub(crate) workers: Vec<thread::JoinHandle<()>>,
    /// The watchdog, which is dropped after the workers have ended.
    watchdog: Option<Watchdog>,
}

impl Dispatcher {
    /// Starts a dispatcher with `threads` workers (0: as many as the machine runs at once) and the defaults of
    /// [`Builder`].
    ///
    /// # Errors
    /// Fails as [`Builder::start`] does.
    ///
    /// # Example
    /// See [`Dispatcher`].
    pub fn new(threads: usize) -> Result<Self, StartError> {
        Builder::new().threads(threads).start()
    }

    /// Returns a handle that tasks can keep: it spawns on this dispatcher but does not keep the threads alive.
    ///
    /// # Example
    /// See [`Handle::spawn`].
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs a future as a task of this dispatcher; see [`Handle::spawn`].
    ///
    /// # Example
    /// See [`Dispatcher`].
    pub fn spawn<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        self.handle.spawn(future)
    }

    /// Returns the number of workers.
    ///
    /// # Example
    /// See [`Builder`].
    pub fn threads(&self) -> usize {
        self.handle.threads()
    }
}

impl Drop for Dispatcher {
    fn drop(&mut self) {
        if !self.workers.is_empty() {
            self.end(Shutdown::Abort);
        }
    }
}

/// Spawns on a dispatcher without owning it. Cheap to clone.
///
/// # Example
/// See [`Handle::spawn`].
#[derive(Clone)]
pub struct Handle {
    pub(crate) shared: Arc<Shared>,
    /// The named queue that the handle represents; `None` for the dispatcher itself.
    pub(crate) queue: Option<Arc<crate::queue::Core>>,
}

impl fmt::Debug for Handle {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Handle").field("threads", &self.shared.threads).finish_non_exhaustive()
    }
}

impl Handle {
    /// Runs a future as a task. The task is polled only on the workers, never by this call.
    ///
    /// After the dispatcher has begun to shut down, the future is dropped at once and the task ends as
    /// [`TaskError::Cancelled`]. While the dispatcher drains, tasks running on it may still spawn.
    ///
    /// Cost: one allocation (the future and its state), two uncontended locks for the list of living tasks.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, block_on};
    /// let dispatcher = Dispatcher::new(2).unwrap();
    /// let handle = dispatcher.handle().clone();
    /// let outer = dispatcher.spawn(async move { handle.spawn(async { 20 }).await.unwrap() + 1 });
    /// assert_eq!(block_on(outer), Ok(21));
    /// ```
    pub fn spawn<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        if let Some(queue) = &self.queue {
            // Boxed, so that a program with many kinds of tasks compiles the code of a queue's tasks once, and not once
            // for each kind.
            let future: Pin<Box<dyn Future<Output = F::Output> + Send>> = Box::pin(future);
            return queue.spawn_unasked(&self.shared, future);
        }
        let home = async_task::Builder::new().metadata(self.shared.clone());
        let (runnable, task) = admit(&self.shared.live, future, |future| home.spawn(|_| future, woken));
        self.shared.start(runnable);
        Task::new(task)
    }

    /// Spawns a future that is already on the heap. Use this method for many kinds of tasks with few tasks of each
    /// kind. Each kind of task compiles to some thousand lines, and boxed futures share one kind.
    pub(crate) fn spawn_boxed(&self, future: Pin<Box<dyn Future<Output = ()> + Send>>) -> Task<()> {
        self.spawn(future)
    }

    /// Calls a closure once on a worker. Such a call is the cheapest way to run something on another thread.
    ///
    /// The caller gets no handle: use [`spawn`](Self::spawn) for work that has a result, waits or may be cancelled. The
    /// closure must not block. A drain waits for the closure; an abort drops it if it has not begun.
    ///
    /// # Errors
    /// Returns the closure if the dispatcher has begun to shut down; while it drains, only closures from outside are
    /// refused.
    ///
    /// Cost on a worker: no lock and no shared counter. It allocates only for a closure above three words, or without a
    /// kept cell. Other threads always allocate.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Port, block_on};
    /// let dispatcher = Dispatcher::new(2).unwrap();
    /// let port = Port::new();
    /// let answers = port.clone();
    /// dispatcher.handle().execute(move || answers.post(6 * 7).unwrap()).ok().unwrap();
    /// assert_eq!(block_on(port.receive()), Ok(42));
    /// ```
    pub fn execute<F: FnOnce() + Send + 'static>(&self, closure: F) -> Result<(), F> {
        if !self.shared.accepts() {
            return Err(closure);
        }
        let job = Job::call(match context::current::capture() {
            None => Closure::new(closure),
            Some(context) => Closure::new(move || context.run(closure)),
        });
        match &self.queue {
            None => self.shared.push(job),
            Some(queue) => queue.schedule(&self.shared, job),
        }
        Ok(())
    }

    /// Returns the clock of the dispatcher's tasks.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_runtime::{Builder, Clock};
    /// let dispatcher = Builder::new().threads(1).clock(Clock::virtual_time()).start().unwrap();
    /// assert_eq!(dispatcher.handle().clock().now(), Duration::ZERO);
    /// ```
    pub fn clock(&self) -> &Clock {
        &self.shared.clock
    }

    /// Returns the number of workers of the dispatcher.
    ///
    /// # Example
    /// See [`Builder`].
    pub fn threads(&self) -> usize {
        self.shared.threads
    }

    /// Returns whether the dispatcher is ending and drops its tasks.
    pub(crate) fn is_aborting(&self) -> bool {
        // Acquire: pairs with the Release in `end`.
        self.shared.stage.load(Ordering::Acquire) == ABORTING
    }

    /// Returns whether there are more workers than the machine runs threads at once.
    pub fn is_oversubscribed(&self) -> bool {
        self.shared.is_oversubscribed
    }

    /// Returns the counts of each worker so far, by its index. After them come the counts of the spare threads that
    /// were ever started.
    ///
    /// # Example
    /// ```
    /// let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// lehr_runtime::block_on(dispatcher.spawn(async {})).unwrap();
    /// assert!(dispatcher.handle().counters()[0].polls >= 1);
    /// ```
    pub fn counters(&self) -> Vec<Counters> {
        let threads = self.shared.threads + self.shared.spares.started();
        self.shared.counters.iter().take(threads).map(|tally| tally.read()).collect()
    }
}

/// Returns whether the calling thread is a worker of some dispatcher, where blocking is not allowed.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, block_on, is_on_worker};
/// assert!(!is_on_worker());
/// let dispatcher = Dispatcher::new(1).unwrap();
/// assert_eq!(block_on(dispatcher.spawn(async { is_on_worker() })), Ok(true));
/// ```
pub fn is_on_worker() -> bool {
    with_current(|current| current.is_some_and(|current| !current.is_away.get()))
}

/// A task to be polled; its metadata is its dispatcher.
pub(crate) type Runnable = async_task::Runnable<Arc<Shared>>;

/// A task to be queued, and its handle.
pub(crate) type Spawned<T> = (Runnable, async_task::Task<T, Arc<Shared>>);

/// Queues a task that has just been woken.
///
/// The callback for woken tasks is a function, and not a closure that holds the dispatcher. `async-task` would call
/// such a closure while holding an extra reference to the task, which costs three more atomic operations for each wake.
/// To save such operations too, a worker uses its own reference to the dispatcher in this function. A task's future is
/// dropped as soon as it has been polled to its end.
#[inline]
pub(crate) fn woken(runnable: Runnable) {
    let elsewhere = with_current(|current| match current {
        Some(current) if current.keeps(runnable.metadata()) => {
            current.shared.schedule_near(current, runnable);
            None
        }
        _ => Some(runnable),
    });
    if let Some(runnable) = elsewhere {
        let shared = runnable.metadata().clone();
        shared.schedule(runnable);
    }
}

/// The state of a dispatcher that its workers share.
pub(crate) struct Shared {
    /// A number that is unique in the process, by which a worker recognises its dispatcher.
    pub(crate) identity: u64,
    pub(crate) threads: usize,
    pub(crate) is_oversubscribed: bool,
    pub(crate) idle: Idle,
    /// Work from threads that are not workers of this dispatcher.
    pub(crate) injector: Injector<Job>,
    pub(crate) stealers: Box<[Stealer<Job>]>,
    /// For each worker, the halves of its forks. In every stage, a worker empties its queue of forks before the job
    /// that forked them ends.
    pub(crate) forks: Box<[Stealer<Fork>]>,
    /// The clock of the dispatcher's tasks.
    pub(crate) clock: Clock,
    pub(crate) sleep: Sleep,
    /// The stage: `RUNNING`, `DRAINING` or `ABORTING`. The stage only rises, and only the dispatcher's owner writes it.
    pub(crate) stage: CachePadded<AtomicUsize>,
    /// The number of workers that have not ended.
    pub(crate) running: CachePadded<AtomicUsize>,
    /// 1 once the owner of an ending dispatcher has dropped the remaining work and looks for the last time.
    /// [`Shared::drop_late`] drops work that comes later.
    pub(crate) is_swept: AtomicUsize,
    pub(crate) live: Live,
    /// The names of the tasks that have a name.
    pub(crate) names: watchdog::Names,
    /// The named queues of the dispatcher.
    pub(crate) queues: Arc<Registry>,
    /// The spare threads, which replace workers that block.
    pub(crate) spares: Spares,
    /// The current job of each worker, for the watchdog; empty if there is no watchdog.
    pub(crate) doing: Box<[Arc<Doing>]>,
    pub(crate) counters: Box<[CachePadded<worker::Tally>]>,
}

impl Shared {
    /// Queues a new task. If this dispatcher accepts no more tasks, the task is cancelled.
    pub(crate) fn start(&self, runnable: Runnable) {
        if self.accepts() {
            self.push(Job::task(runnable));
        } else {
            // Dropping it cancels the task.
            drop(runnable);
        }
    }

    /// Returns whether the calling thread may add work.
    pub(crate) fn accepts(&self) -> bool {
        // Acquire: pairs with the Release in `end`, so that a late spawner sees everything the owner did before.
        match self.stage.load(Ordering::Acquire) {
            RUNNING => true,
            DRAINING => with_current(|current| current.is_some_and(|current| current.is_of(self))),
            _ => false,
        }
    }

    /// Queues a task that was woken.
    #[inline]
    pub(crate) fn schedule(&self, runnable: Runnable) {
        // Acquire: as in `start`.
        if self.stage.load(Ordering::Acquire) == ABORTING {
            self.surrender(Job::task(runnable));
        } else {
            self.push(Job::task(runnable));
        }
    }

    /// Queues a woken task in the calling worker's own queue, under the same condition as
    /// [`push_near`](Self::push_near). When the worker ends, the work in its queue goes to the thread that drops the
    /// remaining work.
    #[inline]
    fn schedule_near(&self, current: &current::Current, runnable: Runnable) {
        // Acquire: as in `start`. After an abort, tasks are no longer polled in place.
        if current.catch.takes() && self.stage.load(Ordering::Acquire) != ABORTING {
            current.catch.hold(runnable);
        } else {
            self.push_near(current, Job::task(runnable));
        }
    }

    /// Queues work in the calling worker's own queue. The worker must queue for this dispatcher
    /// ([`keeps`](current::Current::keeps)).
    #[inline]
    fn push_near(&self, current: &current::Current, job: Job) {
        current.local.push(job);
        self.sleep.notify_near(current.looks.get(), || current.local.len());
    }

    /// Queues work: on the calling worker if it belongs to this dispatcher, else for all workers.
    #[inline]
    pub(crate) fn push(&self, job: Job) {
        with_current(|current| match current {
            Some(current) if current.keeps(self) => self.push_near(current, job),
            _ => self.share(job),
        });
    }

    /// Queues work for the first worker that looks.
    pub(crate) fn share(&self, job: Job) {
        // The caller may lose its core here until the dispatcher has ended. A checker sees no step inside a push, so
        // this loop adds steps.
        #[cfg(shuttle)]
        for _ in 0..60 {
            thread::yield_now();
            // Relaxed: a model knows no other order.
            if self.stage.load(Ordering::Relaxed) != ABORTING {
                break;
            }
        }
        self.injector.push(job);
        self.sleep.notify();
        self.drop_late();
    }

    /// Returns whether some worker has a fork that no worker has begun.
    pub(crate) fn has_forks(&self) -> bool {
        self.forks.iter().any(|forks| !forks.is_empty())
    }

    /// Returns whether any queue of the dispatcher holds work. Forks do not count: they belong to a running job.
    pub(crate) fn has_work(&self) -> bool {
        !self.injector.is_empty() || self.queues.has_work() || self.stealers.iter().any(|stealer| !stealer.is_empty())
    }
}

impl TaskError {
    /// Returns whether the task panicked.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::TaskError;
    /// assert!(TaskError::Panicked { message: "no paper".into() }.is_panic() && !TaskError::Cancelled.is_panic());
    /// ```
    pub fn is_panic(&self) -> bool {
        matches!(self, Self::Panicked { .. })
    }
}
