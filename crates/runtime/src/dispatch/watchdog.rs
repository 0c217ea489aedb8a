//! The watchdog: a thread that checks whether workers make progress, and reports workers that do not.
//!
//! A worker counts the beginnings and ends of its jobs anyway, for thieves and for the shutdown; the watchdog reads
//! that count now and then. A count that is odd and does not change means a job that does not end. So watching costs a
//! worker nothing. Only the name of a job is recorded, if it has one ([`named`], [`blocking`](super::blocking)) and if
//! there is a watchdog.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use lehr_sync::{Arc, AtomicBool, Moment, Ordering, SpinLock, thread};
use pin_project_lite::pin_project;

use super::{Shared, with_current};

/// A worker that has been in one job for too long, as the watchdog reports it to its sink. Each job that takes too long
/// is reported once.
///
/// # Example
/// See [`Builder::watchdog`](crate::Builder::watchdog).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stuck {
    /// The number of the worker, from 0. The numbers of spare threads follow those of the workers.
    pub worker: usize,
    /// The name of the worker's thread.
    pub thread: String,
    /// The innermost name of the task that is being polled, if the task was [`named`].
    pub task: Option<String>,
    /// The reason why the worker blocks, if it is in a [`blocking`](super::blocking) section.
    pub reason: Option<&'static str>,
    /// The time for which the watchdog has seen the worker in the job; the job may have lasted longer.
    pub since: Duration,
    /// The number of jobs that wait in this worker's own queue. Other workers take over the jobs of a stuck worker,
    /// unless all workers are stuck.
    pub behind: usize,
    /// Whether all workers of the dispatcher are stuck.
    pub are_all: bool,
}

/// The name of a worker's current job and the reason why the worker blocks, if there are any.
#[derive(Debug, Default)]
pub(crate) struct Doing {
    note: SpinLock<Note>,
}

#[derive(Clone, Debug, Default)]
struct Note {
    task: Option<Arc<str>>,
    reason: Option<&'static str>,
}

impl Doing {
    /// Records the name of the current task, and returns the earlier name.
    fn begin(&self, name: Arc<str>) -> Option<Arc<str>> {
        self.note.lock().task.replace(name)
    }

    fn end(&self, before: Option<Arc<str>>) {
        // Dropped after the lock.
        let _name = std::mem::replace(&mut self.note.lock().task, before);
    }

    /// Records a reason for blocking while `body` runs.
    pub(crate) fn because<R>(&self, reason: &'static str, body: impl FnOnce() -> R) -> R {
        struct Restore<'a>(&'a Doing, Option<&'static str>);
        impl Drop for Restore<'_> {
            fn drop(&mut self) {
                self.0.note.lock().reason = self.1;
            }
        }
        let before = self.note.lock().reason.replace(reason);
        let _restore = Restore(self, before);
        body()
    }
}

/// Gives a future a name. The watchdog reports the name while the future is polled, and an
/// [`Inspector`](crate::Inspector) shows it for the future's task. Names nest: the watchdog reports the innermost name,
/// the inspector shows the outermost name.
///
/// Cost: a lock at the first poll and at the end, and one look at a thread-local pointer for each poll. With a
/// watchdog, also two uncontended locks for each poll.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, block_on, named};
/// let dispatcher = Dispatcher::new(1).unwrap();
/// assert_eq!(block_on(dispatcher.spawn(named("answer", async { 42 }))), Ok(42));
/// ```
pub fn named<F: Future>(name: impl Into<Arc<str>>, future: F) -> Named<F> {
    Named { noted: None, name: name.into(), future }
}

pin_project! {
    /// The future of [`named`].
    ///
    /// # Example
    /// See [`named`].
    #[must_use = "futures do nothing unless awaited"]
    pub struct Named<F> {
        noted: Option<Noted>,
        name: Arc<str>,
        #[pin]
        future: F,
    }
}

impl<F> fmt::Debug for Named<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Named").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<F: Future> Future for Named<F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        struct Ending<'a>(&'a Doing, Option<Arc<str>>);
        impl Drop for Ending<'_> {
            fn drop(&mut self) {
                self.0.end(self.1.take());
            }
        }
        let this = self.project();
        if this.noted.is_none() {
            *this.noted =
                with_current(|current| current.map(|current| Noted::new(&current.shared, context.waker(), this.name)));
        }
        let doing = with_current(|current| current.and_then(|current| current.doing.clone()));
        let _ending = doing.as_deref().map(|doing| Ending(doing, doing.begin(this.name.clone())));
        this.future.poll(context)
    }
}

/// The names of tasks, which inspectors read, by the address that identifies a task's wakers.
pub(crate) type Names = SpinLock<HashMap<usize, Arc<str>>>;

/// A task's entry in the list of names, which dropping this value removes. The entry is `None` if the task had a name
/// before.
struct Noted(Option<(Arc<Shared>, usize)>);

impl Noted {
    fn new(shared: &Arc<Shared>, waker: &Waker, name: &Arc<str>) -> Self {
        let task = waker.data().addr();
        let is_first = match shared.names.lock().entry(task) {
            Entry::Occupied(_) => false,
            Entry::Vacant(place) => {
                place.insert(name.clone());
                true
            }
        };
        Self(is_first.then(|| (shared.clone(), task)))
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        if let Some((shared, task)) = self.0.take() {
            // Dropped after the lock.
            let _name = shared.names.lock().remove(&task);
        }
    }
}

/// The watchdog's settings in a [`Builder`](super::Builder).
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) limit: Duration,
    pub(super) sink: Arc<dyn Fn(Stuck) + Send + Sync>,
}

impl fmt::Debug for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Watchdog").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// The running watchdog; dropping it ends its thread.
#[derive(Debug)]
pub(crate) struct Watchdog {
    is_over: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Watchdog {
    /// Starts the watchdog. `name` is the name of the dispatcher's threads.
    ///
    /// # Errors
    /// Fails if the system does not start a thread.
    pub(super) fn start(plan: Plan, name: &str, shared: &Arc<Shared>) -> std::io::Result<Self> {
        let is_over = Arc::new(AtomicBool::new(false));
        let mut watch = Watch {
            plan,
            name: name.to_owned(),
            shared: shared.clone(),
            seen: (0..shared.counters.len()).map(|_| Seen { turns: 0, at: Moment::now(), is_told: false }).collect(),
        };
        let over = is_over.clone();
        let thread = thread::spawn(format!("{name}-watchdog"), move || {
            // The period is half the limit, so a report is late by at most half the limit.
            let period = (watch.plan.limit / 2).clamp(Duration::from_millis(1), Duration::from_secs(1));
            while !over.put_down() {
                watch.look();
                thread::park_timeout(period);
            }
        })?;
        Ok(Self { is_over, thread: Some(thread) })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // Release: pairs with `put_down`.
        self.is_over.store(true, Ordering::Release);
        let Some(thread) = self.thread.take() else { return };
        thread.thread().unpark();
        // The watchdog's own sink may have dropped the dispatcher: then its thread ends by itself.
        if thread.thread().id() != thread::current_id() {
            // If the sink panicked, its message has been printed already; a drop has no better place to report it.
            let _ = thread.join();
        }
    }
}

struct Watch {
    plan: Plan,
    name: String,
    shared: Arc<Shared>,
    /// The findings of the last look at each worker.
    seen: Vec<Seen>,
}

/// Returns the name of the thread with a number. The numbers of spare threads follow those of the workers.
pub(super) fn thread_name(dispatcher: &str, number: usize, workers: usize) -> String {
    match number.checked_sub(workers) {
        None => format!("{dispatcher}-{number}"),
        Some(spare) => format!("{dispatcher}-spare-{spare}"),
    }
}

struct Seen {
    turns: usize,
    at: Moment,
    is_told: bool,
}

impl Watch {
    fn look(&mut self) {
        let now = Moment::now();
        for (seen, tally) in self.seen.iter_mut().zip(&self.shared.counters) {
            let turns = tally.turns();
            if turns != seen.turns {
                *seen = Seen { turns, at: now, is_told: false };
            }
        }
        let is_stuck = |seen: &Seen| seen.turns % 2 == 1 && now.since(seen.at) >= self.plan.limit;
        let are_all = self.seen.iter().take(self.shared.threads).all(is_stuck);
        let mut told = Vec::new();
        for (worker, seen) in self.seen.iter_mut().enumerate() {
            if !is_stuck(seen) || seen.is_told {
                continue;
            }
            seen.is_told = true;
            let note = self.shared.doing[worker].note.lock().clone();
            told.push(Stuck {
                worker,
                thread: thread_name(&self.name, worker, self.shared.threads),
                task: note.task.map(|name| name.to_string()),
                reason: note.reason,
                since: now.since(seen.at),
                behind: self.shared.stealers.get(worker).map_or(0, crossbeam_deque::Stealer::len),
                are_all,
            });
        }
        for stuck in told {
            (self.plan.sink)(stuck);
        }
    }
}
