//! Decides when a worker's queued work is worth stealing.
//!
//! Two tasks that exchange messages wake each other on one worker in a tenth of a microsecond. If a thief takes one of
//! them to another core, each of their messages crosses between cores, which is three to five times slower. The thief
//! also takes the task from a worker that would have run it at once. So queued work is stolen only if it *waits*. Work
//! waits if its owner has been inside one job for [`STUCK`]. Work also waits if the owner would need longer than
//! [`WORTH`] to finish its queue at its present pace.
//!
//! A look costs the owner time too, because it takes the cache lines of the queue away from the owner. A worker that
//! makes progress is examined less and less often.
//!
//! Halves of forks wait in separate queues, and are taken at once, because a fork asks for help. But looks for forks
//! are rationed in the same way, unless the last fork that was taken was worth it.

use std::time::Duration;

use crossbeam_deque::Steal;
use lehr_sync::Moment;

use super::Shared;
use crate::fork_join::Fork;

/// If the owner of a queue has been in one job for this long, the queue is stuck behind the job. The time is about the
/// cost of a steal.
const STUCK: Duration = Duration::from_nanos(250);

/// If the owner needs longer than this to empty its queue, the queue is worth sharing.
const WORTH: Duration = Duration::from_micros(4);

/// The maximum time for which a worker that makes progress is not examined.
const LEFT_ALONE: Duration = Duration::from_micros(20);

/// The interval at which a thief looks for forks, if the last fork was not worth taking.
const FORKS_EVERY: Duration = Duration::from_micros(1);

/// If a fork keeps its thief busy for this long, it was worth taking. This time is a few times the cost of a steal.
const FORK_WORTH: Duration = Duration::from_micros(2);

/// The observations of a searching worker about the other workers.
pub(crate) struct Thief {
    own: usize,
    /// The time of the last look for forks; the field below is the pause after this look.
    forks: Option<Moment>,
    forks_pause: Duration,
    /// The time when the worker took its last fork; `None` once the worker has looked for forks again.
    fork_taken: Option<Moment>,
    /// The index of the worker to look at first, which is the last victim.
    first: usize,
    seen: Box<[Seen]>,
}

/// The findings of the last look at a worker.
#[derive(Clone, Copy)]
struct Seen {
    turns: usize,
    at: Option<Moment>,
    /// The time for which the worker is not examined after that look.
    pause: Duration,
}

impl Seen {
    const NOTHING: Self = Self { turns: 0, at: None, pause: Duration::ZERO };
}

impl Thief {
    pub(crate) fn new(own: usize, workers: usize) -> Self {
        Self {
            own,
            forks: None,
            forks_pause: FORKS_EVERY,
            fork_taken: None,
            first: (own + 1) % workers,
            seen: vec![Seen::NOTHING; workers].into(),
        }
    }

    /// Takes the oldest, and therefore the largest, fork of some worker.
    pub(crate) fn take_fork(&mut self, shared: &Shared, now: Moment) -> Option<Fork> {
        if let Some(taken) = self.fork_taken.take() {
            self.forks_pause = if now.since(taken) >= FORK_WORTH { Duration::ZERO } else { FORKS_EVERY };
        }
        if self.forks.is_some_and(|at| now.since(at) < self.forks_pause) {
            return None;
        }
        self.forks = Some(now);
        let workers = self.seen.len();
        for step in 0..workers {
            let victim = (self.first + step) % workers;
            let queue = &shared.forks[victim];
            if victim == self.own || queue.is_empty() {
                continue;
            }
            if let Steal::Success(fork) = queue.steal() {
                self.first = victim;
                self.fork_taken = Some(Moment::now());
                return Some(fork);
            }
        }
        None
    }

    /// Returns a worker whose queue is worth stealing from.
    pub(crate) fn choose(&mut self, shared: &Shared, now: Moment) -> Option<usize> {
        let workers = self.seen.len();
        for step in 0..workers {
            let victim = (self.first + step) % workers;
            if victim != self.own && self.is_worth_it(shared, victim, now) {
                self.first = victim;
                return Some(victim);
            }
        }
        None
    }

    /// Returns whether some queue is worth stealing from, for a worker about to sleep or on watch. The method examines
    /// every queue, even a queue that is in its pause.
    pub(crate) fn sees_waiting_work(&mut self, shared: &Shared) -> bool {
        for seen in &mut self.seen {
            seen.pause = Duration::ZERO;
        }
        shared.has_forks() || self.choose(shared, Moment::now()).is_some()
    }

    fn is_worth_it(&mut self, shared: &Shared, victim: usize, now: Moment) -> bool {
        let seen = &mut self.seen[victim];
        let Some(past) = seen.at.map(|at| now.since(at)) else {
            *seen = Seen { turns: shared.counters[victim].turns(), at: Some(now), pause: STUCK };
            return false;
        };
        if past < seen.pause {
            return false;
        }
        let turns = shared.counters[victim].turns();
        let queued = shared.stealers[victim].len();
        if turns == seen.turns {
            // The worker has been in one job, or in none, since that look, so work that comes into its queue waits.
            // Looking costs nothing to a worker that does not touch its queue.
            seen.pause = Duration::ZERO;
            return queued > 0 && past >= STUCK;
        }
        // Two turns are one job. The time to empty the queue at the observed pace is queued x past / jobs.
        let jobs = turns.wrapping_sub(seen.turns).div_ceil(2);
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        if past.saturating_mul(count(queued)) / count(jobs) > WORTH {
            return true;
        }
        *seen = Seen { turns, at: Some(now), pause: (seen.pause * 2).clamp(STUCK, LEFT_ALONE) };
        false
    }
}
