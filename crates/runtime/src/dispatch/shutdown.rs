//! Ends a dispatcher and reports the fate of its work.

use std::time::Duration;

use crossbeam_deque::Steal;
use lehr_sync::{Arc, Moment, Ordering, fence, thread};

use super::{ABORTING, DRAINING, Dispatcher, Job, Shared};
use crate::queue::{Core, QueueCounters};

/// The time for a poll or a wake in progress to end after the limit of a drain has passed. A poll and a wake usually
/// take microseconds; this longer time is for a machine that has given its cores to other work.
const GRACE: Duration = Duration::from_millis(100);

/// The interval at which a drain checks whether the closures are done.
const CLOSURES_LOOK: Duration = Duration::from_millis(1);

/// The way in which a dispatcher ends.
///
/// # Example
/// See [`Dispatcher::shutdown`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shutdown {
    /// Accept no new work from outside, and let tasks that run, are queued or wait finish; after `limit`, abort the
    /// remaining tasks. A task that is still in the middle of a poll a tenth of a second later counts as leaked.
    /// Nothing can stop such a task, and its thread ends by itself as soon as the poll does.
    Drain {
        /// The maximum time to wait for the tasks.
        limit: Duration,
    },
    /// Let polls in progress end, and drop all other tasks. When the shutdown returns, no code of any task runs any
    /// more and the destructors of all futures have run.
    Abort,
}

/// The fate of the tasks and threads of a dispatcher that was shut down.
///
/// # Example
/// See [`Dispatcher::shutdown`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of tasks and closures that ended after the shutdown began. The turns of persistent receivers and of
    /// interleaves are tasks too.
    pub finished: usize,
    /// Tasks whose futures were dropped before their end, and closures that were not called.
    pub aborted: usize,
    /// The number of worker threads that were still in user code after the limit of a drain had passed.
    pub leaked: usize,
    /// The fate of the tasks of each named queue, in order of registration. `finished` and `aborted` include these
    /// tasks.
    pub queues: Vec<QueueReport>,
}

/// The fate of the tasks of one named queue after the shutdown began.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use lehr_runtime::{Dispatcher, Shutdown};
/// let dispatcher = Dispatcher::new(1).unwrap();
/// let queue = dispatcher.queue("jobs").suspended().build().unwrap();
/// queue.spawn(async {}).unwrap().detach();
/// let report = dispatcher.shutdown(Shutdown::Drain { limit: Duration::from_millis(1) });
/// assert_eq!((report.queues[0].name.as_str(), report.queues[0].aborted), ("jobs", 1)); // nobody resumed it
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueReport {
    /// The queue's name.
    pub name: String,
    /// The number of tasks that ran to their end or panicked.
    pub finished: usize,
    /// Tasks whose futures were dropped before their end.
    pub aborted: usize,
    /// The number of tasks that the queue discarded. [`Report::aborted`] counts them, [`Report::finished`] does not.
    pub discarded: usize,
}

/// The queues of a dispatcher, with their counters when the shutdown began.
struct Before(Vec<(Arc<Core>, QueueCounters)>);

impl Before {
    fn new(shared: &Shared) -> Self {
        Self(shared.queues.all().into_iter().map(|queue| (queue.clone(), queue.counters())).collect())
    }

    /// Adds the queues that were made while the dispatcher drained.
    fn add_new(&mut self, shared: &Shared) {
        for queue in shared.queues.all() {
            if !self.0.iter().any(|(known, _)| Arc::ptr_eq(known, &queue)) {
                self.0.push((queue, QueueCounters::default()));
            }
        }
    }

    fn report(&self) -> Vec<QueueReport> {
        let one = |(queue, before): &(Arc<Core>, QueueCounters)| {
            let after = queue.counters();
            QueueReport {
                name: queue.name().to_owned(),
                finished: after.finished - before.finished,
                aborted: after.aborted - before.aborted,
                discarded: after.discarded - before.discarded,
            }
        };
        self.0.iter().map(one).collect()
    }
}

impl Dispatcher {
    /// Ends the dispatcher and reports the outcomes of its tasks.
    ///
    /// If one of the dispatcher's own workers calls this method, the shutdown cannot wait for that worker, which then
    /// counts as leaked.
    ///
    /// # Example
    /// ```
    /// use std::time::Duration;
    /// use lehr_runtime::{Dispatcher, Port, Shutdown};
    /// let dispatcher = Dispatcher::new(2).unwrap();
    /// let never = Port::<()>::new();
    /// dispatcher.spawn(async move { never.receive().await }).detach();
    /// let report = dispatcher.shutdown(Shutdown::Drain { limit: Duration::from_millis(1) });
    /// assert_eq!((report.finished, report.aborted, report.leaked), (0, 1, 0));
    /// ```
    pub fn shutdown(mut self, how: Shutdown) -> Report {
        self.end(how)
    }

    pub(crate) fn end(&mut self, how: Shutdown) -> Report {
        let shared = self.handle.shared.clone();
        let before = shared.live.ended();
        let mut queues = Before::new(&shared);
        let calls_before = calls(&shared);
        let begin = Moment::now();
        shared.live.wait_begin();
        if let Shutdown::Drain { limit } = how {
            // Release: pairs with the Acquire loads in `start` and the workers.
            shared.stage.store(DRAINING, Ordering::Release);
            // From here on, spawns from outside that wait for a place in a queue are refused.
            shared.queues.all().iter().for_each(|queue| queue.wake_waiting());
            while shared.live.living() > 0 || is_calling(&shared) {
                let Some(left) = limit.checked_sub(begin.elapsed()) else { break };
                // The last task wakes this thread. Closures do not, because the workers that call them do not count
                // them.
                thread::park_timeout(if shared.live.living() > 0 { left } else { left.min(CLOSURES_LOOK) });
            }
        }
        // Release: as above.
        shared.stage.store(ABORTING, Ordering::Release);
        // Orders the stage before the last look at the queues; pairs with the fence in `Handle::install`.
        fence(Ordering::SeqCst);
        self.workers.extend(shared.spares.end());
        shared.sleep.wake_all();
        let is_own_worker = super::with_current(|current| current.is_some_and(|current| current.is_of(&shared)));
        let own = usize::from(is_own_worker);
        let leaked = match how {
            Shutdown::Drain { limit } => self.wait_for_workers(own, Some((begin, limit))),
            Shutdown::Abort => self.wait_for_workers(own, None),
        };
        queues.add_new(&shared);
        // A worker that is left behind keeps its task until the poll ends.
        let mut uncalled = if leaked == 0 { drop_all(&shared) } else { 0 };
        shared.live.wait_end();
        uncalled += drop_leftovers(&shared);
        let after = shared.live.ended();
        Report {
            finished: after.finished - before.finished + calls(&shared) - calls_before,
            aborted: after.aborted - before.aborted + uncalled,
            leaked,
            queues: queues.report(),
        }
    }

    /// Waits until all workers have ended, except this thread if it is a worker (`own` is then 1, otherwise 0), and
    /// joins them. Returns the number of workers that had not ended in time.
    ///
    /// Only a worker inside a job can be late. Any other worker ends as soon as the system gives it a core, however
    /// busy the machine is. So this method waits for such a worker without a limit.
    fn wait_for_workers(&mut self, own: usize, until: Option<(Moment, Duration)>) -> usize {
        let shared = &self.handle.shared;
        let workers = std::mem::take(&mut self.workers);
        loop {
            // Acquire: pairs with the Release in `worker::run`.
            let running = shared.running.load(Ordering::Acquire);
            if running <= own {
                break;
            }
            let Some((begin, limit)) = until else {
                thread::park();
                continue;
            };
            match (limit + GRACE).checked_sub(begin.elapsed()) {
                Some(left) => thread::park_timeout(left),
                // An ended worker is not in a job, so these are all the workers that have not ended.
                None if shared.counters.iter().filter(|tally| tally.is_running()).count() == running => return running,
                None => thread::park_timeout(Duration::from_millis(1)),
            }
        }
        if own == 0 {
            for worker in workers {
                // A worker catches the panics of tasks. A panic of the worker itself is our bug and is passed on,
                // except while another panic is unwinding.
                if let Err(payload) = worker.join()
                    && !std::thread::panicking()
                {
                    std::panic::resume_unwind(payload);
                }
            }
        }
        own
    }
}

/// Returns the number of closures that have been called.
fn calls(shared: &Shared) -> usize {
    shared.counters.iter().map(|tally| tally.calls()).sum()
}

/// Returns whether closures may still be queued or running: a worker is in a job, or a queue is not empty.
fn is_calling(shared: &Shared) -> bool {
    shared.has_work() || shared.counters.iter().any(|tally| tally.is_running())
}

impl Shared {
    /// Hands over a task or a closure that will not run any more, so that it can be dropped. The dispatcher's owner
    /// drops it, because the owner checks the common queue until all tasks are gone. After the owner's last look,
    /// [`drop_late`](Self::drop_late) decides which thread drops it.
    ///
    /// This method never drops the work itself. Callers of wakers may hold locks. If dropping the future took a lock
    /// that the caller holds, the thread would wait for itself.
    pub(crate) fn surrender(&self, job: Job) {
        self.injector.push(job);
        // Required by `drop_late`.
        fence(Ordering::SeqCst);
        // The owner may be waiting for this very task; see `drop_all`.
        self.live.ring();
        self.drop_late();
    }

    /// Drops work that was queued after the owner's last look. A thread that saw a running dispatcher and then lost its
    /// core may queue work that no thread will ever look at. Call this method after the work is in the common queue and
    /// after a `SeqCst` fence ([`Sleep::notify`](super::sleep::Sleep::notify) is one).
    ///
    /// A separate thread drops the work, for the reason that [`surrender`](Self::surrender) gives. If the system cannot
    /// start a thread, the caller drops it.
    pub(crate) fn drop_late(&self) {
        // Relaxed: the caller's fence orders its push before this load, and the fence in `drop_leftovers` orders the
        // flag before the last look at the queues. So either we see the flag, or the owner sees the work.
        if self.is_swept.load(Ordering::Relaxed) == 1 {
            self.drop_late_elsewhere();
        }
    }

    #[cold]
    fn drop_late_elsewhere(&self) {
        let mut late = Vec::new();
        while !self.injector.is_empty() {
            late.extend(self.injector.steal().success());
        }
        if !late.is_empty() {
            // If no thread can be started, its closure is dropped with the error.
            drop(thread::spawn("lehr-reaper".to_owned(), move || drop(late)));
        }
    }
}

/// Drops the queued tasks and closures, and tasks that other threads are about to queue; returns the number of
/// closures.
///
/// If an outside thread has marked a task as woken, and lost its core before it queued the task, only that thread can
/// queue it. The dispatcher waits for the queueing, so that no destructor runs after the end; but it does not wait for
/// ever.
fn drop_all(shared: &Shared) -> usize {
    let (begin, mut uncalled) = (Moment::now(), drop_queued(shared));
    while shared.live.living() > 0
        && let Some(left) = GRACE.checked_sub(begin.elapsed())
    {
        // A thread that hands the task over wakes this one, and so does the end of the task.
        thread::park_timeout(left);
        uncalled += drop_queued(shared);
    }
    uncalled
}

/// Drops every task and closure that is left, including work that is queued while this function looks. Returns the
/// number of closures.
///
/// This function looks twice. Work that the first look finds is counted. Work that comes after the flag is set is
/// dropped as late and not counted. Work that comes between the two looks is seen by this function, or by the thread
/// that queued it.
fn drop_leftovers(shared: &Shared) -> usize {
    let uncalled = drop_queued(shared);
    // Relaxed, with the fence: see `Shared::drop_late`.
    shared.is_swept.store(1, Ordering::Relaxed);
    fence(Ordering::SeqCst);
    uncalled + drop_queued(shared)
}

/// Drops all waiting work, and all work that its destructors schedule; returns the number of closures.
fn drop_queued(shared: &Shared) -> usize {
    let mut uncalled = 0;
    let mut drop_job = |job: Job| {
        uncalled += usize::from(job.is_counted_call());
        drop(job);
    };
    loop {
        // This schedules each suspended task. Since the stage is `ABORTING`, the task goes to one of the queues below.
        shared.live.wake_all();
        loop {
            match shared.injector.steal() {
                Steal::Success(job) => drop_job(job),
                Steal::Empty => break,
                Steal::Retry => {}
            }
        }
        shared.queues.end().into_iter().for_each(&mut drop_job);
        // The queues of leaked workers are emptied here too; those workers keep only the poll in progress.
        for stealer in &shared.stealers {
            while let Steal::Success(job) = stealer.steal() {
                drop_job(job);
            }
        }
        if !shared.has_work() {
            break;
        }
    }
    uncalled
}
