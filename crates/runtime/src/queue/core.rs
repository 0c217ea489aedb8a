//! The core that the tasks and the handles of a queue share: two lists of tasks, a policy, and counts.

use std::collections::VecDeque;
use std::future::Future;
use std::sync::Weak;
use std::time::Duration;

use crossbeam_utils::CachePadded;
use lehr_sync::{Arc, AtomicUsize, Ordering, SpinLock};

use super::QueueCounters;
use super::admission::{Admission, Gauge, Verdict};
use super::priority::{Priority, Registry};
use super::queued::{self, Queued, Standing};
use super::refusal::{DiscardReason, Discarded, Rejection};
use super::waiting::Waiting;
use crate::dispatch::{Job, Runnable, Shared};
use crate::task::{Task, admit};
use crate::timer::Scheduled;

/// A function that is called for each discarded task.
pub(super) type Sink = Arc<dyn Fn(Discarded) + Send + Sync>;

/// The state that the tasks and the handles of a queue share.
pub(crate) struct Core {
    pub(super) name: Box<str>,
    pub(crate) priority: Priority,
    pub(super) sink: Option<Sink>,
    pub(super) registry: Weak<Registry>,
    /// The number of jobs that workers may take from all queues of the dispatcher together; see [`Registry`].
    pub(super) takeable: Arc<CachePadded<AtomicUsize>>,
    pub(super) has_rate: bool,
    /// The number of tasks that workers may take from this queue: 0 while it is suspended. Written under the lock of
    /// `state`.
    pub(super) ready: AtomicUsize,
    /// The number of tasks that are admitted, or about to be, and have not ended.
    pub(super) living: AtomicUsize,
    pub(super) tally: CachePadded<Tally>,
    pub(super) state: SpinLock<State>,
}

pub(super) struct Tally {
    pub(super) finished: AtomicUsize,
    pub(super) aborted: AtomicUsize,
    pub(super) discarded: AtomicUsize,
    pub(super) rejected: AtomicUsize,
    pub(super) scheduled: AtomicUsize,
}

impl Tally {
    pub(super) fn new() -> Self {
        Self {
            finished: AtomicUsize::new(0),
            aborted: AtomicUsize::new(0),
            discarded: AtomicUsize::new(0),
            rejected: AtomicUsize::new(0),
            scheduled: AtomicUsize::new(0),
        }
    }
}

/// The way in which a task enters a queue.
#[derive(Clone, Copy)]
pub(super) enum Entrance {
    /// The policy gave the task a place.
    Asked,
    /// The policy was not checked for the task.
    Unasked,
    /// The policy discards the task.
    Discarded(DiscardReason),
    /// The queue is closed, so the task is cancelled.
    Closed,
}

/// A job to run, and its sequence number.
pub(super) struct Entry {
    pub(super) sequence: u64,
    pub(super) job: Job,
}

pub(super) struct State {
    /// Tasks that have not begun, by ascending sequence number. The queue's policy applies only to tasks that have not
    /// begun.
    pub(super) fresh: VecDeque<Entry>,
    /// Tasks that have begun and were woken, by ascending sequence number.
    pub(super) woken: VecDeque<Entry>,
    pub(super) next_sequence: u64,
    pub(super) is_suspended: bool,
    pub(super) is_closed: bool,
    /// Whether the dispatcher has ended. After the dispatcher's end, the queue keeps no more jobs.
    pub(super) has_ended: bool,
    pub(super) gauge: Gauge,
    pub(super) waiting: Waiting,
    /// The timer for the next token of a rate, while a spawn waits for the token.
    pub(super) alarm: Option<Scheduled>,
    /// The number of ticks of the rate so far.
    pub(super) ticks: u64,
}

impl State {
    pub(super) fn len(&self) -> usize {
        self.fresh.len() + self.woken.len()
    }

    pub(super) fn entry(&mut self, job: Job) -> Entry {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        Entry { sequence, job }
    }
}

impl Core {
    pub(super) fn new(
        name: Box<str>,
        admission: Admission,
        priority: Priority,
        sink: Option<Sink>,
        is_suspended: bool,
        registry: &Arc<Registry>,
    ) -> Self {
        Self {
            name,
            priority,
            sink,
            registry: Arc::downgrade(registry),
            takeable: registry.takeable.clone(),
            has_rate: matches!(admission, Admission::Rate { .. }),
            ready: AtomicUsize::new(0),
            living: AtomicUsize::new(0),
            tally: CachePadded::new(Tally::new()),
            state: SpinLock::new(State {
                fresh: VecDeque::new(),
                woken: VecDeque::new(),
                next_sequence: 0,
                is_suspended,
                is_closed: false,
                has_ended: false,
                gauge: Gauge::new(admission),
                waiting: Waiting::default(),
                alarm: None,
                ticks: 0,
            }),
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Adds jobs that workers may take. Call this method under the lock, and notify the workers after releasing it.
    pub(super) fn show(&self, count: usize) {
        // Relaxed: a worker that misses the change reads `takeable` again. The counter changes only under the lock.
        self.ready.fetch_add(count, Ordering::Relaxed);
        // Release: pairs with the Acquire load in `Registry::has_work`, so that a worker that sees the count sees the
        // queue's registration.
        self.takeable.fetch_add(count, Ordering::Release);
    }

    /// Removes jobs that workers may no longer take. Call this method under the lock.
    pub(super) fn hide(&self, count: usize) {
        // Relaxed, both: a worker that looks unsuccessfully finds the queue empty under its lock. The sum is changed
        // first. Otherwise a worker that saw the old sum and then found no queue ready would keep looking until the sum
        // is changed.
        self.takeable.fetch_sub(count, Ordering::Relaxed);
        self.ready.fetch_sub(count, Ordering::Relaxed);
    }

    /// Returns whether a worker may find a job in this queue.
    pub(crate) fn is_ready(&self) -> bool {
        // Relaxed: a hint; see `show`.
        self.ready.load(Ordering::Relaxed) > 0
    }

    /// Requests a place from the policy. If the verdict is `Admitted`, the place is taken.
    pub(super) fn ask(&self, shared: &Shared) -> Verdict {
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

    pub(super) fn count_admitted(&self) {
        // Relaxed: a count; `retire` looks at it under the lock.
        self.living.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the clock's time if the policy is a rate, because only a rate uses it.
    pub(super) fn now(&self, shared: &Shared) -> Option<Duration> {
        self.has_rate.then(|| shared.clock.now())
    }

    /// Admits waiters for which the rate has tokens, and schedules the next tick. Call this method while holding no
    /// lock.
    pub(super) fn tick(self: &Arc<Self>, shared: &Arc<Shared>) {
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
            // A later tick has seen every change that this tick saw, and keeps its own alarm.
            if state.ticks == number { state.alarm.replace(alarm) } else { Some(alarm) }
        };
    }

    /// Makes a task from a future, and lets it enter the queue. The task must have been counted as admitted.
    pub(super) fn admit<F>(self: &Arc<Self>, shared: &Arc<Shared>, future: F, entrance: Entrance) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let (core, home) = (self.clone(), async_task::Builder::new().metadata(shared.clone()));
        let schedule = move |runnable: Runnable| {
            let shared = runnable.metadata().clone();
            core.schedule(&shared, Job::task(runnable));
        };
        let standing = Standing::new(self.clone());
        let (runnable, task) =
            admit(&shared.live, future, |future| home.spawn(|_| Queued::new(standing, future), schedule));
        match entrance {
            Entrance::Asked => self.enter(shared, Job::task(runnable)),
            Entrance::Unasked => {
                // Relaxed: the count is only for statistics.
                self.tally.scheduled.fetch_add(1, Ordering::Relaxed);
                self.schedule(shared, Job::task(runnable));
            }
            Entrance::Discarded(reason) => self.discard(Job::task(runnable), reason),
            // Dropping the runnable cancels the task.
            Entrance::Closed => drop(runnable),
        }
        Task::new(task)
    }

    /// Spawns a task without checking the policy. If the queue is closed, the task is cancelled. The task counts as
    /// begun, so it is never discarded.
    pub(crate) fn spawn_unasked<F>(self: &Arc<Self>, shared: &Arc<Shared>, future: F) -> Task<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        let is_open = {
            // Counted under the lock, so that a queue that is being closed either sees this task or refuses it.
            let state = self.state.lock();
            self.count_admitted();
            !state.is_closed
        };
        let is_open = is_open && shared.accepts();
        self.admit(shared, future, if is_open { Entrance::Unasked } else { Entrance::Closed })
    }

    /// Queues a task for its first poll, and counts the place that was reserved for it as filled. If the queue has
    /// ended, drops the task. If the new task displaces the oldest task, discards the oldest.
    pub(super) fn enter(&self, shared: &Shared, job: Job) {
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
                // Relaxed: the count is only for statistics.
                self.tally.scheduled.fetch_add(1, Ordering::Relaxed);
                shared.sleep.notify();
            }
            Ok(Some(oldest)) => {
                // Relaxed: the count is only for statistics.
                self.tally.scheduled.fetch_add(1, Ordering::Relaxed);
                self.discard(oldest.job, DiscardReason::Oldest);
            }
            // After the lock, because this drops the future.
            Err(job) => drop(job),
        }
    }

    /// Queues a task that was woken, or that enters without a check of the policy. If the queue has ended, drops the
    /// task.
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
            Some(job) => shared.surrender(job),
        }
    }

    /// Removes the oldest job and returns it, for a worker to run. Returns `None` if the queue is empty or suspended.
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

    /// Discards a task that has not begun, and calls the sink, if the queue has one. Call this method while holding no
    /// lock.
    pub(super) fn discard(&self, job: Job, reason: DiscardReason) {
        // Relaxed: the count is only for statistics.
        self.tally.discarded.fetch_add(1, Ordering::Relaxed);
        queued::discard(job);
        if let Some(sink) = &self.sink {
            sink(Discarded { queue: self.name.to_string(), reason });
        }
    }

    pub(super) fn close(&self) {
        let wake = {
            let mut state = self.state.lock();
            state.is_closed = true;
            state.waiting.wake_everybody()
        };
        wake.all();
        self.retire();
    }

    /// Removes the queue from the registry if it is closed and its last task has ended.
    pub(super) fn retire(&self) {
        let is_over = {
            let state = self.state.lock();
            // Relaxed: read under the lock that every admission takes; a closed queue admits no more.
            state.is_closed && self.living.load(Ordering::Relaxed) == 0
        };
        if is_over && let Some(registry) = self.registry.upgrade() {
            registry.remove(self);
        }
    }

    /// Records that a task has ended: it finished, was discarded, or was dropped.
    pub(super) fn ended(&self, how: queued::End) {
        let count = match how {
            queued::End::Finished => Some(&self.tally.finished),
            queued::End::Discarded => None,
            queued::End::Dropped => Some(&self.tally.aborted),
        };
        if let Some(count) = count {
            // Relaxed: the count is for statistics, and for a shutdown after its workers have ended.
            count.fetch_add(1, Ordering::Relaxed);
        }
        // Relaxed: `retire` looks again under the lock.
        if self.living.fetch_sub(1, Ordering::Relaxed) == 1 {
            self.retire();
        }
    }

    /// Ends the queue, because the dispatcher has ended. Returns the queued tasks for the caller to drop. The queue
    /// keeps no tasks from here on.
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

    /// Wakes the waiting spawns, so that they see that the dispatcher accepts no more tasks.
    pub(crate) fn wake_waiting(&self) {
        let wake = self.state.lock().waiting.wake_everybody();
        wake.all();
    }

    pub(crate) fn counters(&self) -> QueueCounters {
        // Relaxed: the counts are only for statistics.
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
