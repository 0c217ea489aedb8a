//! Named queues of a dispatcher: whose tasks are admitted by a policy, ranked against other queues, suspended and closed.
//!
//! A task of a queue is polled by the dispatcher's workers as any other, but what makes it ready (its first poll, and every
//! wake after that) goes to its queue and not to a worker, so the queue's place among the others holds for the whole life of
//! the task. Admission is asked once, before the first poll: what has begun is never thrown away.
//!
//! What is refused is not lost. [`Rejected`] gives the future back; a discarded task is dropped, so that the permits and
//! replies it holds resolve, its handle answers [`TaskError::Discarded`], and the queue counts it and tells its sink.
//!
//! Not here: what a worker takes next (`queue/priority.rs`), who may come in (`queue/admission.rs`). Read next: those two.

pub(crate) mod admission;
pub(crate) mod priority;
mod queued;
mod waiting;

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::sync::Weak;
use std::time::Duration;

use crossbeam_utils::CachePadded;

pub use admission::{Admission, DepthOverflow, RateOverflow};
pub use priority::Priority;
pub use waiting::SpawnWait;

use crate::dispatch::{Dispatcher, Handle, Job, Shared};
use crate::error::TaskError;
use crate::sync::{Arc, AtomicUsize, Mutex, Ordering};
use crate::task::{Task, admit};
use crate::timer::Scheduled;
use admission::{Gauge, Verdict};
use priority::Registry;
use queued::{Queued, Standing};
use waiting::Waiting;

/// Why a queue could not be made.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, QueueError};
/// let dispatcher = Dispatcher::new(1).unwrap();
/// let first = dispatcher.queue("disk").build().unwrap();
/// assert_eq!(dispatcher.queue("disk").build().unwrap_err(), QueueError::NameTaken { name: "disk".to_owned() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum QueueError {
    /// The dispatcher has a queue of this name that has not ended.
    NameTaken {
        /// The name.
        name: String,
    },
    /// A setting that no task could ever meet, such as a depth of 0.
    Setting {
        /// The queue's name.
        name: String,
        /// What is wrong with it.
        what: &'static str,
    },
    /// The dispatcher has been shut down.
    Closed,
}

impl fmt::Display for QueueError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameTaken { name } => write!(formatter, "the dispatcher has a queue called {name:?} already"),
            Self::Setting { name, what } => write!(formatter, "queue {name:?}: {what}"),
            Self::Closed => formatter.write_str("the dispatcher has been shut down"),
        }
    }
}

impl std::error::Error for QueueError {}

/// A spawn that a queue refused, with the future given back.
///
/// # Example
/// ```
/// use lehr_runtime::{Admission, DepthOverflow, Dispatcher, Rejection, block_on};
/// let dispatcher = Dispatcher::new(1).unwrap();
/// let admission = Admission::Depth { max: 1, overflow: DepthOverflow::Reject };
/// let queue = dispatcher.queue("disk").admission(admission).suspended().build().unwrap();
/// let first = queue.spawn(async { 1 }).unwrap();
/// let rejected = queue.spawn(async { 2 }).unwrap_err();
/// assert_eq!(rejected.reason, Rejection::Full);
/// assert_eq!(block_on(rejected.future), 2);
/// ```
pub struct Rejected<F> {
    /// What was to be spawned, not polled yet.
    pub future: F,
    /// Why it was refused.
    pub reason: Rejection,
}

/// Why a queue refuses a task.
///
/// # Example
/// See [`Rejected`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// As many tasks as its depth allows wait to be begun, or others wait for a place.
    Full,
    /// It has admitted as many as its rate allows for now, or others wait for their turn.
    Rate,
    /// It was closed, or its dispatcher has begun to shut down.
    Closed,
}

impl fmt::Display for Rejection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Full => "the queue is full",
            Self::Rate => "the queue admits no more for now",
            Self::Closed => "the queue is closed",
        })
    }
}

impl<F> fmt::Debug for Rejected<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Rejected").field("reason", &self.reason).finish_non_exhaustive()
    }
}

impl<F> fmt::Display for Rejected<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "task not spawned: {}", self.reason)
    }
}

impl<F> std::error::Error for Rejected<F> {}

/// A task that was thrown away before it began, as the queue's sink is told.
///
/// # Example
/// See [`QueueBuilder::on_discard`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discarded {
    /// The queue's name.
    pub queue: String,
    /// Why this task.
    pub reason: DiscardReason,
}

/// Why a task was thrown away.
///
/// # Example
/// See [`QueueBuilder::on_discard`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiscardReason {
    /// The queue was full, and this was the oldest task that had not begun.
    Oldest,
    /// The queue was full when this task came.
    Newest,
    /// The queue had admitted as many as its rate allows when this task came.
    Rate,
    /// [`Queue::clear`] was called.
    Cleared,
}

type Sink = Arc<dyn Fn(Discarded) + Send + Sync>;

/// Settings of a queue before it exists. Made by [`Dispatcher::queue`].
///
/// # Example
/// See [`Dispatcher::queue`].
#[must_use = "a queue exists once it is built"]
pub struct QueueBuilder {
    handle: Handle,
    name: String,
    admission: Admission,
    priority: Priority,
    sink: Option<Sink>,
    is_suspended: bool,
}

impl fmt::Debug for QueueBuilder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("QueueBuilder").field("name", &self.name).finish_non_exhaustive()
    }
}

impl QueueBuilder {
    /// Who may come in. Default: [`Admission::Unbounded`].
    ///
    /// # Example
    /// See [`Rejected`].
    pub fn admission(mut self, admission: Admission) -> Self {
        self.admission = admission;
        self
    }

    /// Its rank among the queues of the dispatcher. Default: a share of weight 1.
    ///
    /// # Example
    /// See [`Dispatcher::queue`].
    pub fn priority(mut self, priority: Priority) -> Self {
        self.priority = priority;
        self
    }

    /// Who is told of each task that is thrown away. Called on the thread that caused it, under no lock; it must be quick,
    /// for it may be a poster's. A panic of it is the poster's panic.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Admission, DepthOverflow, DiscardReason, Dispatcher, Port};
    /// let (dispatcher, lost) = (Dispatcher::new(1).unwrap(), Port::new());
    /// let out = lost.clone();
    /// let queue = dispatcher
    ///     .queue("frames")
    ///     .admission(Admission::Depth { max: 1, overflow: DepthOverflow::DropOldest })
    ///     .on_discard(move |discarded| out.post(discarded.reason).unwrap())
    ///     .suspended()
    ///     .build()
    ///     .unwrap();
    /// let (first, second) = (queue.spawn(async {}).unwrap(), queue.spawn(async {}).unwrap());
    /// assert_eq!(lost.try_receive(), Some(DiscardReason::Oldest));
    /// # drop((first, second));
    /// ```
    pub fn on_discard(mut self, sink: impl Fn(Discarded) + Send + Sync + 'static) -> Self {
        self.sink = Some(Arc::new(sink));
        self
    }

    /// It begins suspended, as after [`Queue::suspend`].
    ///
    /// # Example
    /// See [`Queue::close`].
    pub fn suspended(mut self) -> Self {
        self.is_suspended = true;
        self
    }

    /// Makes the queue.
    ///
    /// # Errors
    /// [`QueueError::NameTaken`], [`QueueError::Setting`], or [`QueueError::Closed`] after the dispatcher's end.
    ///
    /// # Example
    /// See [`Dispatcher::queue`].
    pub fn build(self) -> Result<Queue, QueueError> {
        if let Some(what) = self.admission.fault().or_else(|| self.priority.fault()) {
            return Err(QueueError::Setting { name: self.name, what });
        }
        let shared = self.handle.shared.clone();
        let registry = &shared.queues;
        let core = Arc::new(Core {
            name: self.name.into_boxed_str(),
            priority: self.priority,
            sink: self.sink,
            registry: Arc::downgrade(registry),
            takeable: registry.takeable.clone(),
            has_rate: matches!(self.admission, Admission::Rate { .. }),
            ready: AtomicUsize::new(0),
            living: AtomicUsize::new(0),
            tally: CachePadded::new(Tally::new()),
            state: Mutex::new(State {
                fresh: VecDeque::new(),
                woken: VecDeque::new(),
                next_sequence: 0,
                is_suspended: self.is_suspended,
                is_closed: false,
                has_ended: false,
                gauge: Gauge::new(self.admission),
                waiting: Waiting::default(),
                alarm: None,
                ticks: 0,
            }),
        });
        registry.register(&core)?;
        Ok(Queue { handle: Handle { shared, queue: Some(core.clone()) }, core })
    }
}

impl Dispatcher {
    /// Begins a queue called `name`, which must be unique among this dispatcher's queues.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Priority, block_on};
    /// let dispatcher = Dispatcher::new(2).unwrap();
    /// let queue = dispatcher.queue("requests").priority(Priority::Share { weight: 3 }).build().unwrap();
    /// assert_eq!(block_on(queue.spawn(async { 6 * 7 }).unwrap()), Ok(42));
    /// ```
    pub fn queue(&self, name: impl Into<String>) -> QueueBuilder {
        self.handle.queue(name)
    }
}

impl Handle {
    /// Begins a queue of this handle's dispatcher; see [`Dispatcher::queue`].
    ///
    /// # Example
    /// See [`Dispatcher::queue`].
    pub fn queue(&self, name: impl Into<String>) -> QueueBuilder {
        QueueBuilder {
            handle: Handle { shared: self.shared.clone(), queue: None },
            name: name.into(),
            admission: Admission::Unbounded,
            priority: Priority::default(),
            sink: None,
            is_suspended: false,
        }
    }
}

/// A named queue of a dispatcher. Cheap to clone: clones are the same queue.
///
/// It lives as long as its dispatcher, or until it has been closed and its last task has ended.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, Port, block_on};
/// let dispatcher = Dispatcher::new(2).unwrap();
/// let queue = dispatcher.queue("readings").build().unwrap();
/// let (readings, doubled) = (Port::new(), Port::new());
/// let out = doubled.clone();
/// // A persistent receiver whose turns belong to the queue.
/// let receiver = readings.on(queue.handle(), 1, move |value: u32| {
///     let out = out.clone();
///     async move { out.post(2 * value).unwrap() }
/// });
/// readings.post(21).unwrap();
/// assert_eq!(block_on(doubled.receive()), Ok(42));
/// ```
#[derive(Clone)]
pub struct Queue {
    core: Arc<Core>,
    handle: Handle,
}

impl fmt::Debug for Queue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Queue").field("name", &self.core.name).finish_non_exhaustive()
    }
}

/// What a queue has done and holds: gauges of this moment, and counts since it was made.
///
/// The rate of a queue is the difference of two readings of `scheduled` over the reader's own clock.
///
/// # Example
/// See [`Queue::suspend`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueCounters {
    /// Tasks that wait for their first poll: what [`Admission::Depth`] limits.
    pub depth: usize,
    /// Tasks that have begun, were woken and wait for a worker.
    pub woken: usize,
    /// Spawns that wait for admission.
    pub waiting: usize,
    /// Tasks admitted and not ended.
    pub living: usize,
    /// Tasks admitted.
    pub scheduled: usize,
    /// Tasks that came to their end, be it a panic.
    pub finished: usize,
    /// Tasks dropped after admission and before their end: cancelled, or aborted by a shutdown.
    pub aborted: usize,
    /// Tasks thrown away by the policy or by [`Queue::clear`].
    pub discarded: usize,
    /// Spawns refused with the future given back.
    pub rejected: usize,
}

impl Queue {
    /// Its name.
    ///
    /// # Example
    /// See [`is_suspended`](Self::is_suspended).
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// A handle that stands for this queue wherever one is asked for: [`Port::on`](crate::Port::on), for example.
    ///
    /// What is spawned through it is admitted without asking the policy, unless the queue is closed: a receiver leaves in
    /// its port what it cannot start, so throwing it away would lose what nobody asked to lose.
    ///
    /// # Example
    /// See [`Queue`].
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Runs a future as a task of this queue if the policy admits it now; never waits.
    ///
    /// With a policy that discards, the answer is `Ok` all the same, and the task that is thrown away, this one or the
    /// oldest, ends as [`TaskError::Discarded`].
    ///
    /// # Errors
    /// Gives the future back: [`Rejection::Full`] and [`Rejection::Rate`] with a policy that rejects or waits (then
    /// [`spawn_wait`](Self::spawn_wait) waits), [`Rejection::Closed`].
    ///
    /// Cost: that of [`Handle::spawn`] and three short locks of the queue, over the life of a task that is never woken.
    ///
    /// # Example
    /// See [`Dispatcher::queue`].
    pub fn spawn<F>(&self, future: F) -> Result<Task<F::Output>, Rejected<F>>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        match self.core.ask(&self.handle.shared) {
            Verdict::Admitted => Ok(self.core.admit(&self.handle.shared, future, Entrance::Asked)),
            Verdict::Discard(reason) => Ok(self.core.admit(&self.handle.shared, future, Entrance::Discarded(reason))),
            Verdict::Refused(reason) => {
                // Relaxed: a count for people.
                self.core.tally.rejected.fetch_add(1, Ordering::Relaxed);
                Err(Rejected { future, reason })
            }
        }
    }

    /// Waits until the policy admits a task, and spawns it. Waiting spawns are admitted in the order in which they were
    /// first polled.
    ///
    /// Only a policy that says `Wait` makes it wait; with any other it is [`spawn`](Self::spawn). It holds no thread while
    /// it waits, also not on a worker of the queue's own dispatcher. Cancel-safe: dropped, it has spawned nothing, drops the
    /// future, and gives its place to the next. Woken when its turn has come or the queue is closed.
    ///
    /// # Errors
    /// As [`spawn`](Self::spawn).
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Admission, DepthOverflow, Dispatcher, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let admission = Admission::Depth { max: 1, overflow: DepthOverflow::Wait };
    /// let queue = dispatcher.queue("disk").admission(admission).build().unwrap();
    /// let inner = queue.clone();
    /// // On the only worker, into its own full queue: it suspends, and the worker goes on.
    /// let sum = dispatcher.spawn(async move {
    ///     let first = inner.spawn_wait(async { 1 }).await.unwrap();
    ///     let second = inner.spawn_wait(async { 2 }).await.unwrap();
    ///     first.await.unwrap() + second.await.unwrap()
    /// });
    /// assert_eq!(block_on(sum), Ok(3));
    /// ```
    pub fn spawn_wait<F>(&self, future: F) -> SpawnWait<'_, F>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        SpawnWait::new(self, future)
    }

    /// Lets no task of the queue be polled until [`resume`](Self::resume); polls in progress end. Tasks are still admitted,
    /// and what is woken waits here. Suspending twice counts once.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let queue = dispatcher.queue("jobs").build().unwrap();
    /// queue.suspend();
    /// let task = queue.spawn(async { 1 }).unwrap();
    /// assert_eq!(queue.counters().depth, 1);
    /// queue.resume();
    /// assert_eq!(block_on(task), Ok(1));
    /// ```
    pub fn suspend(&self) {
        let mut state = self.core.state.lock();
        if !state.is_suspended {
            state.is_suspended = true;
            self.core.hide(state.len());
        }
    }

    /// Lets its tasks run again, in the order in which they came and were woken.
    ///
    /// # Example
    /// See [`suspend`](Self::suspend).
    pub fn resume(&self) {
        let shown = {
            let mut state = self.core.state.lock();
            if !state.is_suspended {
                return;
            }
            state.is_suspended = false;
            let shown = state.len();
            self.core.show(shown);
            shown
        };
        if shown > 0 {
            self.handle.shared.sleep.notify();
        }
    }

    /// Whether it is suspended.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::Dispatcher;
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let queue = dispatcher.queue("jobs").suspended().build().unwrap();
    /// assert!(queue.is_suspended() && !queue.is_closed());
    /// assert_eq!(queue.name(), "jobs");
    /// ```
    pub fn is_suspended(&self) -> bool {
        self.core.state.lock().is_suspended
    }

    /// Admits nothing from here on. What was admitted still runs, unless [`clear`](Self::clear) is called too; spawns that
    /// wait for admission end as [`Rejection::Closed`].
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, Rejection, TaskError, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let queue = dispatcher.queue("jobs").suspended().build().unwrap();
    /// let task = queue.spawn(async { 1 }).unwrap();
    /// queue.close();
    /// assert_eq!(queue.spawn(async { 2 }).unwrap_err().reason, Rejection::Closed);
    /// assert_eq!(queue.clear(), 1);
    /// assert_eq!(block_on(task), Err(TaskError::Discarded));
    /// ```
    pub fn close(&self) {
        self.core.close();
    }

    /// Whether it admits nothing more, because of [`close`](Self::close) or of its dispatcher's end.
    ///
    /// # Example
    /// See [`is_suspended`](Self::is_suspended).
    pub fn is_closed(&self) -> bool {
        self.core.state.lock().is_closed
    }

    /// Throws away every task that has not begun, each ending as [`TaskError::Discarded`]; gives their number.
    ///
    /// # Example
    /// See [`close`](Self::close).
    pub fn clear(&self) -> usize {
        let (gone, wake) = {
            let mut state = self.core.state.lock();
            let gone = std::mem::take(&mut state.fresh);
            if !state.is_suspended {
                self.core.hide(gone.len());
            }
            let depth = state.fresh.len();
            let State { gauge, waiting, .. } = &mut *state;
            (gone, waiting.grant(gauge, depth, None))
        };
        wake.all();
        let count = gone.len();
        for entry in gone {
            self.core.discard(entry.job, DiscardReason::Cleared);
        }
        count
    }

    /// What it holds and has done, read one after the other: a sum of them may be off by what happened meanwhile.
    ///
    /// # Example
    /// See [`suspend`](Self::suspend).
    pub fn counters(&self) -> QueueCounters {
        self.core.counters()
    }
}

/// What the tasks and the handles of a queue share.
pub(crate) struct Core {
    name: Box<str>,
    pub(crate) priority: Priority,
    sink: Option<Sink>,
    registry: Weak<Registry>,
    /// What workers may take from all queues of the dispatcher together; see [`Registry`].
    takeable: Arc<CachePadded<AtomicUsize>>,
    has_rate: bool,
    /// What they may take from this one: nothing while it is suspended. Written under the lock of `state`.
    ready: AtomicUsize,
    /// Tasks admitted, or about to be, and not ended.
    living: AtomicUsize,
    tally: CachePadded<Tally>,
    state: Mutex<State>,
}

struct Tally {
    finished: AtomicUsize,
    aborted: AtomicUsize,
    discarded: AtomicUsize,
    rejected: AtomicUsize,
    scheduled: AtomicUsize,
}

impl Tally {
    fn new() -> Self {
        Self {
            finished: AtomicUsize::new(0),
            aborted: AtomicUsize::new(0),
            discarded: AtomicUsize::new(0),
            rejected: AtomicUsize::new(0),
            scheduled: AtomicUsize::new(0),
        }
    }
}

/// How a task comes into a queue.
#[derive(Clone, Copy)]
enum Entrance {
    /// The policy gave it a place.
    Asked,
    /// The policy was not asked.
    Unasked,
    /// The policy throws it away.
    Discarded(DiscardReason),
    /// The queue is closed.
    Closed,
}

/// Something to run, and when it came.
struct Entry {
    sequence: u64,
    job: Job,
}

struct State {
    /// Tasks that have not begun: what the policy is about. By ascending sequence.
    fresh: VecDeque<Entry>,
    /// Tasks that have, and were woken. By ascending sequence.
    woken: VecDeque<Entry>,
    next_sequence: u64,
    is_suspended: bool,
    is_closed: bool,
    /// The dispatcher has ended: nothing is kept any more.
    has_ended: bool,
    gauge: Gauge,
    waiting: Waiting,
    /// Rings when the next turn of a rate comes, while somebody waits for it.
    alarm: Option<Scheduled>,
    /// How often the rate was looked at.
    ticks: u64,
}

impl State {
    fn len(&self) -> usize {
        self.fresh.len() + self.woken.len()
    }

    fn entry(&mut self, job: Job) -> Entry {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        Entry { sequence, job }
    }
}

impl Core {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// More may be taken by workers. Under the lock; notify after it.
    fn show(&self, count: usize) {
        // Relaxed: a worker that misses it here reads `takeable` again. Only changed under the lock.
        self.ready.fetch_add(count, Ordering::Relaxed);
        // Release: pairs with the Acquire load in `Registry::has_work`; who sees the count sees the queue's registration.
        self.takeable.fetch_add(count, Ordering::Release);
    }

    /// Less may be taken. Under the lock.
    fn hide(&self, count: usize) {
        // Relaxed, both: whoever looks in vain finds the queue empty under its lock. The sum first: a worker that saw it and then found
        // no queue ready would look again and again until the second line has run.
        self.takeable.fetch_sub(count, Ordering::Relaxed);
        self.ready.fetch_sub(count, Ordering::Relaxed);
    }

    /// Whether a worker may find something here.
    pub(crate) fn is_ready(&self) -> bool {
        // Relaxed: a hint; see `show`.
        self.ready.load(Ordering::Relaxed) > 0
    }

    /// Asks the policy for a place; `Admitted` has taken it.
    fn ask(&self, shared: &Shared) -> Verdict {
        if !shared.accepts() {
            return Verdict::Refused(Rejection::Closed);
        }
        let now = self.now(shared);
        let mut state = self.state.lock();
        if state.is_closed {
            return Verdict::Refused(Rejection::Closed);
        }
        let (depth, is_crowded) = (state.fresh.len(), !state.waiting.is_empty());
        let verdict = state.gauge.ask(depth, is_crowded, now);
        if !matches!(verdict, Verdict::Refused(_)) {
            self.count_admitted();
        }
        verdict
    }

    fn count_admitted(&self) {
        // Relaxed: a count; `retire` looks at it under the lock.
        self.living.fetch_add(1, Ordering::Relaxed);
    }

    /// The time, for a policy that looks at it.
    fn now(&self, shared: &Shared) -> Option<Duration> {
        self.has_rate.then(|| shared.clock.now())
    }

    /// Lets in who waits for a turn of a rate that has come, and has itself called when the next one comes. Under no lock.
    fn tick(self: &Arc<Self>, shared: &Arc<Shared>) {
        let Some(now) = self.now(shared) else { return };
        let (wake, next, number) = {
            let mut state = self.state.lock();
            state.ticks += 1;
            let number = state.ticks;
            let depth = state.fresh.len();
            let State { gauge, waiting, .. } = &mut *state;
            let wake = waiting.grant(gauge, depth, Some(now));
            let is_over = state.is_closed || state.waiting.is_empty();
            let next = (!is_over).then(|| state.gauge.wait(now));
            (wake, next, number)
        };
        wake.all();
        let Some(next) = next else { return };
        let (core, dispatcher) = (Arc::downgrade(self), Arc::downgrade(shared));
        let alarm = shared.clock.schedule_in(next, move || {
            if let (Some(core), Some(shared)) = (core.upgrade(), dispatcher.upgrade()) {
                core.tick(&shared);
            }
        });
        let _old_or_late = {
            let mut state = self.state.lock();
            // A later tick has looked at all that this one saw, and keeps its own alarm.
            if state.ticks == number { state.alarm.replace(alarm) } else { Some(alarm) }
        };
    }

    /// Makes a task of a future. It must have been counted as admitted.
    fn admit<F>(self: &Arc<Self>, shared: &Arc<Shared>, future: F, entrance: Entrance) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let (core, scheduler) = (self.clone(), shared.clone());
        let schedule = move |runnable| core.schedule(&scheduler, Job::Task(runnable));
        let standing = Standing::new(self.clone());
        let (runnable, task) =
            admit(&shared.live, future, |future| async_task::spawn(Queued::new(standing, future), schedule));
        match entrance {
            Entrance::Asked => self.enter(shared, Job::Task(runnable)),
            Entrance::Unasked => {
                // Relaxed: a count for people.
                self.tally.scheduled.fetch_add(1, Ordering::Relaxed);
                self.schedule(shared, Job::Task(runnable));
            }
            Entrance::Discarded(reason) => self.discard(Job::Task(runnable), reason),
            // Cancels it.
            Entrance::Closed => drop(runnable),
        }
        Task::new(task)
    }

    /// Spawns without asking the policy, unless the queue is closed: then the task is cancelled. It counts as begun, so it is
    /// never thrown away.
    pub(crate) fn spawn_unasked<F>(self: &Arc<Self>, shared: &Arc<Shared>, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let is_open = {
            // Under the lock, so that a queue that is being closed either sees this task or refuses it.
            let state = self.state.lock();
            self.count_admitted();
            !state.is_closed
        };
        let is_open = is_open && shared.accepts();
        self.admit(shared, future, if is_open { Entrance::Unasked } else { Entrance::Closed })
    }

    /// Queues a task for its first poll, in the place that was taken for it. Whom it displaces is discarded.
    fn enter(&self, shared: &Shared, job: Job) {
        let displaced = {
            let mut state = self.state.lock();
            state.gauge.enter();
            if state.has_ended {
                Err(job)
            } else {
                let entry = state.entry(job);
                state.fresh.push_back(entry);
                let is_displacing = state.gauge.is_displacing(state.fresh.len());
                let displaced = if is_displacing { state.fresh.pop_front() } else { None };
                if !state.is_suspended && displaced.is_none() {
                    self.show(1);
                }
                Ok(displaced)
            }
        };
        match displaced {
            Ok(None) => {
                // Relaxed: a count for people.
                self.tally.scheduled.fetch_add(1, Ordering::Relaxed);
                shared.sleep.notify();
            }
            Ok(Some(oldest)) => {
                // Relaxed: a count for people.
                self.tally.scheduled.fetch_add(1, Ordering::Relaxed);
                self.discard(oldest.job, DiscardReason::Oldest);
            }
            // After the lock: this drops the future.
            Err(job) => drop(job),
        }
    }

    /// Queues a task that was woken.
    pub(crate) fn schedule(&self, shared: &Shared, job: Job) {
        let refused = {
            let mut state = self.state.lock();
            if state.has_ended {
                Some(job)
            } else {
                let entry = state.entry(job);
                state.woken.push_back(entry);
                if !state.is_suspended {
                    self.show(1);
                }
                None
            }
        };
        match refused {
            None => shared.sleep.notify(),
            // After the lock: this drops the future.
            Some(job) => drop(job),
        }
    }

    /// What came first, for a worker to run.
    pub(crate) fn pop(&self) -> Option<Job> {
        let (entry, wake) = {
            let mut state = self.state.lock();
            if state.is_suspended {
                return None;
            }
            let fresh = state.fresh.front().map_or(u64::MAX, |entry| entry.sequence);
            let woken = state.woken.front().map_or(u64::MAX, |entry| entry.sequence);
            if fresh < woken {
                let entry = state.fresh.pop_front()?;
                self.hide(1);
                let depth = state.fresh.len();
                let State { gauge, waiting, .. } = &mut *state;
                (entry, waiting.grant(gauge, depth, None))
            } else {
                let entry = state.woken.pop_front()?;
                self.hide(1);
                return Some(entry.job);
            }
        };
        wake.all();
        Some(entry.job)
    }

    /// Throws a task away that has not begun, and says so. Under no lock.
    fn discard(&self, job: Job, reason: DiscardReason) {
        // Relaxed: a count for people.
        self.tally.discarded.fetch_add(1, Ordering::Relaxed);
        queued::discard(job);
        if let Some(sink) = &self.sink {
            sink(Discarded { queue: self.name.to_string(), reason });
        }
    }

    fn close(&self) {
        let wake = {
            let mut state = self.state.lock();
            state.is_closed = true;
            state.waiting.wake_everybody()
        };
        wake.all();
        self.retire();
    }

    /// Leaves the registry if it is closed and its last task has ended.
    fn retire(&self) {
        let is_over = {
            let state = self.state.lock();
            // Relaxed: under the lock that every admission takes; a closed queue admits no more.
            state.is_closed && self.living.load(Ordering::Relaxed) == 0
        };
        if is_over && let Some(registry) = self.registry.upgrade() {
            registry.remove(self);
        }
    }

    /// A task has ended: by coming to its end, by being thrown away, or by being dropped.
    fn ended(&self, how: queued::End) {
        let count = match how {
            queued::End::Finished => Some(&self.tally.finished),
            queued::End::Discarded => None,
            queued::End::Dropped => Some(&self.tally.aborted),
        };
        if let Some(count) = count {
            // Relaxed: a count for people, and for a shutdown after its workers have ended.
            count.fetch_add(1, Ordering::Relaxed);
        }
        // Relaxed: `retire` looks again under the lock.
        if self.living.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.retire();
        }
    }

    /// The dispatcher has ended: gives back what is queued, to be dropped, and keeps nothing from here on.
    pub(crate) fn end(&self) -> Vec<Job> {
        let (left, wake, _alarm_is_cancelled_after_the_lock) = {
            let mut state = self.state.lock();
            state.is_closed = true;
            state.has_ended = true;
            if !state.is_suspended {
                self.hide(state.len());
            }
            let fresh = std::mem::take(&mut state.fresh);
            let woken = std::mem::take(&mut state.woken);
            let left = fresh.into_iter().chain(woken).map(|entry| entry.job).collect();
            (left, state.waiting.wake_everybody(), state.alarm.take())
        };
        wake.all();
        left
    }

    /// Wakes the spawns that wait, so that they see that the dispatcher accepts nothing from them any more.
    pub(crate) fn wake_waiting(&self) {
        let wake = self.state.lock().waiting.wake_everybody();
        wake.all();
    }

    pub(crate) fn counters(&self) -> QueueCounters {
        // Relaxed: counts for people.
        let read = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        let (depth, woken, waiting) = {
            let state = self.state.lock();
            (state.fresh.len(), state.woken.len(), state.waiting.len())
        };
        QueueCounters {
            depth,
            woken,
            waiting,
            living: read(&self.living),
            scheduled: read(&self.tally.scheduled),
            finished: read(&self.tally.finished),
            aborted: read(&self.tally.aborted),
            discarded: read(&self.tally.discarded),
            rejected: read(&self.tally.rejected),
        }
    }
}

impl TaskError {
    /// Whether the task was thrown away by its queue before it began.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::TaskError;
    /// assert!(TaskError::Discarded.is_discarded() && !TaskError::Cancelled.is_discarded());
    /// ```
    pub fn is_discarded(&self) -> bool {
        matches!(self, Self::Discarded)
    }
}
