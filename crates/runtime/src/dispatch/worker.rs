//! A worker takes jobs from its own queue, then from the common queue, and then steals. A worker without a job searches
//! for a while, and then sleeps.

use std::cell::Cell;

use crossbeam_deque::{Steal, Worker};
use lehr_sync::{Arc, AtomicUsize, Moment, Ordering, fence, spin_loop, thread};

use super::closure::Cells;
use super::current::{Current, ForkBell, NOBODY};
use super::in_place::Catch;
use super::thief::Thief;
use super::{ABORTING, Closure, Job, Shared};
use crate::fork_join::Fork;
use crate::queue::priority::Rotation;

/// After this many jobs from its own queue, a worker looks at the common queue first. Without this rule, tasks that
/// keep waking each other could delay posts from outside without end. The number is a prime, so that it does not fall
/// into step with a program's own rhythm.
const OUTSIDE_EVERY: u32 = 61;

/// The maximum number of jobs that a worker takes from the common queue at once.
const OUTSIDE_SHARE: usize = 32;

/// Counts of a worker's work since the dispatcher started.
///
/// # Example
/// See [`Handle::counters`](crate::Handle::counters).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of jobs run: polls of tasks, and calls of closures, which include help for parallel loops.
    pub polls: usize,
    /// The number of times that the worker took jobs, or the half of a fork, from another worker's queue.
    pub steals: usize,
    /// The number of times that the worker fell asleep.
    pub sleeps: usize,
    /// Whether the worker is inside a job at this moment.
    pub is_running: bool,
}

/// The counters of one worker, which only the worker writes and any thread may read.
pub(crate) struct Tally {
    /// The number of beginnings and ends of jobs: odd while a job runs. A thief sees by it whether its victim makes
    /// progress; at a shutdown, the owner sees by it which workers are in user code.
    turns: AtomicUsize,
    /// The number of closures of the crate's users that the worker has called.
    calls: AtomicUsize,
    steals: AtomicUsize,
    sleeps: AtomicUsize,
}

impl Tally {
    pub(crate) fn new() -> Self {
        Self {
            turns: AtomicUsize::new(0),
            calls: AtomicUsize::new(0),
            steals: AtomicUsize::new(0),
            sleeps: AtomicUsize::new(0),
        }
    }

    pub(crate) fn read(&self) -> Counters {
        // Relaxed: counts for people; nothing is concluded from them.
        let read = |count: &AtomicUsize| count.load(Ordering::Relaxed);
        let turns = read(&self.turns);
        Counters {
            polls: turns.div_ceil(2),
            steals: read(&self.steals),
            sleeps: read(&self.sleeps),
            is_running: turns % 2 == 1,
        }
    }

    /// Returns the number of closures that ran to their end or panicked.
    pub(crate) fn calls(&self) -> usize {
        // Relaxed: as in `read`; the shutdown reads it after the worker has ended.
        self.calls.load(Ordering::Relaxed)
    }

    /// Returns the number of beginnings and ends of jobs.
    pub(crate) fn turns(&self) -> usize {
        // Relaxed: as in `read`; a thief that reads an old value steals too early or too late.
        self.turns.load(Ordering::Relaxed)
    }

    /// Returns whether the worker is inside a job; the job may have ended by the time the caller knows.
    pub(crate) fn is_running(&self) -> bool {
        // Relaxed: as in `read`; the shutdown, which does conclude something from it, looks again until it is stable.
        self.turns() % 2 == 1
    }

    /// Counts a fork that was taken from another worker.
    pub(super) fn count_steal(&self) {
        Self::count(&self.steals);
    }

    /// Adds one by a load and a store, because the worker is the only writer.
    fn count(count: &AtomicUsize) {
        // Relaxed: as in `read`.
        count.store(count.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
}

/// The role of a thread that takes jobs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// A worker, which has a queue from which other workers steal.
    Worker,
    /// A spare that replaces a blocked worker; it has no queue.
    Spare,
}

/// The main loop of a worker thread.
pub(crate) fn run(shared: Arc<Shared>, index: usize, local: Worker<Job>, forks: Worker<Fork>) {
    serve(&shared, index, local, Role::Worker, Some(forks).filter(|_| shared.threads > 1));
    leave(&shared);
}

/// Takes jobs and runs them until the dispatcher ends or, for a spare, until it goes off duty.
pub(super) fn serve(shared: &Arc<Shared>, index: usize, local: Worker<Job>, role: Role, forks: Option<Worker<Fork>>) {
    let doing = shared.doing.get(index).cloned();
    let worker = Current {
        dispatcher: shared.identity,
        index,
        local,
        shared: shared.clone(),
        cells: Cells::default(),
        queues_for: Cell::new(if role == Role::Spare { NOBODY } else { shared.identity }),
        is_away: Cell::new(false),
        doing,
        budget: Cell::new(0),
        looks: Cell::new(0),
        forks,
        bell: ForkBell::default(),
        catch: Catch::default(),
    };
    worker.live(|| {
        let tally = &shared.counters[index];
        let mut run =
            Run { shared, role, index, local: &worker.local, jobs: 0, thief: Thief::new(index, shared.threads) };
        let mut turns = Rotation::new();
        while let Some(job) = run.next(&mut turns) {
            let is_call = job.is_counted_call();
            Tally::count(&tally.turns);
            worker.begin(shared.sleep.looks());
            job.run();
            if is_call {
                Tally::count(&tally.calls);
            }
            Tally::count(&tally.turns);
        }
    });
    // The remaining jobs go to the thread that shuts down: it drops them only after every worker has ended.
    while let Some(job) = worker.local.pop() {
        shared.injector.push(job);
    }
    // A leaked worker gets here after that; see `drop_late`.
    fence(Ordering::SeqCst);
    shared.drop_late();
}

/// Records that a worker or spare thread has ended.
pub(super) fn leave(shared: &Shared) {
    // Release: pairs with the Acquire load in `end`, so that the jobs that `serve` left are visible to it.
    shared.running.fetch_sub(1, Ordering::Release);
    shared.live.ring();
}

/// Returns whether a thread should stop taking jobs.
fn is_over(shared: &Shared, role: Role) -> bool {
    // Acquire: pairs with the Release store in `end`.
    shared.stage.load(Ordering::Acquire) == ABORTING || (role == Role::Spare && shared.spares.are_too_many())
}

struct Run<'a> {
    shared: &'a Shared,
    role: Role,
    index: usize,
    local: &'a Worker<Job>,
    /// The number of jobs since the common queue was last checked first.
    jobs: u32,
    /// The worker's observations about the other workers' queues.
    thief: Thief,
}

impl Run<'_> {
    /// Returns the next job, after waiting for it as the idle policy says; `None` when the dispatcher ends.
    fn next(&mut self, turns: &mut Rotation) -> Option<Job> {
        if self.is_over() {
            return None;
        }
        let job = if self.shared.queues.has_work() { self.take_by_rank(turns) } else { self.take_near() };
        if job.is_some() {
            return job;
        }
        self.shared.sleep.start_search();
        let job = self.search(turns);
        if self.shared.sleep.stop_search() && (self.shared.has_work() || self.shared.has_forks()) {
            // We were the last searcher, and posters relied on us to see their work: hand that duty on.
            self.shared.sleep.notify();
        }
        job
    }

    fn is_over(&self) -> bool {
        is_over(self.shared, self.role)
    }

    /// Takes a job from the worker's own queue, and now and then from the common queue.
    #[inline]
    fn take_near(&mut self) -> Option<Job> {
        self.jobs += 1;
        if self.jobs >= OUTSIDE_EVERY {
            self.jobs = 0;
            if let Some(job) = self.take_from_outside() {
                return Some(job);
            }
        }
        self.local.pop()
    }

    /// Takes the next job by the ranks of the queues, while named queues have work. All queues without a name count as
    /// one queue.
    fn take_by_rank(&mut self, turns: &mut Rotation) -> Option<Job> {
        let shared = self.shared;
        turns.take(&shared.queues, || {
            // This also steals, because a worker that always has named work never searches.
            let near = self.take_near().or_else(|| self.take_from_outside());
            near.or_else(|| {
                let now = Moment::now();
                self.take_fork(now).or_else(|| self.steal(now))
            })
        })
    }

    fn search(&mut self, turns: &mut Rotation) -> Option<Job> {
        let mut since = Moment::now();
        loop {
            let now = Moment::now();
            if self.shared.queues.has_work()
                && let Some(job) = self.take_by_rank(turns)
            {
                return Some(job);
            }
            if let Some(job) = self.take_from_outside().or_else(|| self.take_fork(now)).or_else(|| self.steal(now)) {
                return Some(job);
            }
            if self.is_over() {
                return None;
            }
            let waited = now.since(since);
            if waited < self.shared.idle.spin {
                spin_loop();
            } else if waited - self.shared.idle.spin < self.shared.idle.yielding {
                thread::yield_now();
            } else {
                Tally::count(&self.shared.counters[self.index].sleeps);
                let (shared, role, thief) = (self.shared, self.role, &mut self.thief);
                // The last look includes the dispatcher's end, or a worker could sleep through it.
                shared.sleep.sleep(self.index, || {
                    !shared.injector.is_empty()
                        || shared.queues.has_work()
                        || is_over(shared, role)
                        || thief.sees_waiting_work(shared)
                });
                since = Moment::now();
            }
        }
    }

    fn take_from_outside(&self) -> Option<Job> {
        // One worker's share and not half of the queue: jobs that are posted together are mostly meant to run at the
        // same time. A spare takes one job: it has no queue that others look into.
        let share = match self.role {
            Role::Worker => (self.shared.injector.len() / self.shared.threads).clamp(1, OUTSIDE_SHARE),
            Role::Spare => 1,
        };
        loop {
            match self.shared.injector.steal_batch_with_limit_and_pop(self.local, share) {
                Steal::Success(job) => return Some(job),
                Steal::Empty => return None,
                Steal::Retry => spin_loop(),
            }
        }
    }

    fn take_fork(&mut self, now: Moment) -> Option<Job> {
        let fork = self.thief.take_fork(self.shared, now)?;
        self.shared.counters[self.index].count_steal();
        let index = self.index;
        // This job is not queued, so it is never dropped uncalled; the fork's owner waits for it.
        Some(Job::call(Closure::uncounted(move || fork.run(index))))
    }

    fn steal(&mut self, now: Moment) -> Option<Job> {
        let victim = self.thief.choose(self.shared, now)?;
        loop {
            let victim = &self.shared.stealers[victim];
            let stolen = match self.role {
                Role::Worker => victim.steal_batch_and_pop(self.local),
                Role::Spare => victim.steal(),
            };
            match stolen {
                Steal::Success(job) => {
                    Tally::count(&self.shared.counters[self.index].steals);
                    return Some(job);
                }
                Steal::Empty => return None,
                Steal::Retry => spin_loop(),
            }
        }
    }
}
