//! Admission to a queue, which is unbounded, limited by depth or limited by rate, and the handling of tasks beyond the
//! limit.
//!
//! A place is reserved before the task is created, so that a refused future can be given back. A reserved place counts
//! as taken until the task fills it, so simultaneous arrivals never exceed the limit.

use std::time::Duration;

use super::{DiscardReason, Rejection};

/// The policy that decides which tasks a queue admits. The policy is checked once for each task, before its first poll.
///
/// # Example
/// ```
/// use lehr_runtime::{Admission, DepthOverflow, Dispatcher, TaskError, block_on};
/// let dispatcher = Dispatcher::new(1).unwrap();
/// let admission = Admission::Depth { max: 2, overflow: DepthOverflow::DropOldest };
/// let queue = dispatcher.queue("frames").admission(admission).suspended().build().unwrap();
/// let [first, second, third] = [1, 2, 3].map(|frame| queue.spawn(async move { frame }).unwrap());
/// queue.resume();
/// assert_eq!(block_on(first), Err(TaskError::Discarded));
/// assert_eq!((block_on(second), block_on(third)), (Ok(2), Ok(3)));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Admission {
    /// Admits all tasks at once.
    #[default]
    Unbounded,
    /// Admits tasks as long as fewer than `max` tasks wait for their first poll. Tasks that have begun do not count,
    /// whether suspended or woken.
    Depth {
        /// The maximum number of tasks that may wait; at least 1.
        max: usize,
        /// The treatment of a task beyond the limit.
        overflow: DepthOverflow,
    },
    /// Admits at most `burst` tasks at once after a pause, and then `per_sec` tasks a second, by the clock of the
    /// dispatcher. The policy is a token bucket that holds up to `burst` tokens and gets `per_sec` new tokens a second.
    /// Each admitted task takes a token.
    Rate {
        /// The number of tasks that are admitted per second; positive.
        per_sec: f64,
        /// The maximum number of tasks that are admitted at once after a pause; at least 1.
        burst: u32,
        /// The treatment of a task beyond the limit.
        overflow: RateOverflow,
    },
}

/// The treatment of a task beyond a queue's depth.
///
/// # Example
/// See [`Rejected`](super::Rejected).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DepthOverflow {
    /// The task is admitted; the oldest task that has not begun is discarded.
    DropOldest,
    /// The task is discarded.
    DropNewest,
    /// The task is refused: its future is given back to the caller.
    Reject,
    /// [`Queue::spawn_wait`](super::Queue::spawn_wait) waits for a place; [`Queue::spawn`](super::Queue::spawn) gives
    /// the future back.
    Wait,
}

/// The treatment of a task that comes too early for a queue's rate.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use lehr_runtime::{Admission, Builder, Clock, RateOverflow, TaskError, block_on};
/// let clock = Clock::virtual_time();
/// let dispatcher = Builder::new().threads(1).clock(clock.clone()).start().unwrap();
/// let admission = Admission::Rate { per_sec: 10.0, burst: 1, overflow: RateOverflow::Drop };
/// let queue = dispatcher.queue("samples").admission(admission).build().unwrap();
/// let [first, second] = [1, 2].map(|sample| queue.spawn(async move { sample }).unwrap());
/// assert_eq!((block_on(first), block_on(second)), (Ok(1), Err(TaskError::Discarded)));
/// clock.advance(Duration::from_millis(100));
/// assert_eq!(block_on(queue.spawn(async { 3 }).unwrap()), Ok(3));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RateOverflow {
    /// The task is discarded.
    Drop,
    /// [`Queue::spawn_wait`](super::Queue::spawn_wait) waits for its turn; [`Queue::spawn`](super::Queue::spawn) gives
    /// the future back.
    Wait,
}

impl Admission {
    /// Returns the reason why no task could ever be admitted; `None` if the policy is valid.
    pub(super) fn fault(self) -> Option<&'static str> {
        match self {
            Self::Depth { max: 0, .. } => Some("a depth of 0 admits no task"),
            Self::Rate { burst: 0, .. } => Some("a burst of 0 admits no task"),
            Self::Rate { per_sec, burst, .. } => Bucket::new(per_sec, burst)
                .is_none()
                .then_some("a rate is positive, and not so small that a turn lasts centuries"),
            Self::Unbounded | Self::Depth { .. } => None,
        }
    }
}

/// A policy's verdict on a task.
pub(super) enum Verdict {
    /// The task has a place.
    Admitted,
    /// The task is discarded.
    Discard(DiscardReason),
    /// The task is refused: its future is given back to the caller.
    Refused(Rejection),
}

/// A policy, with the places that it has reserved.
pub(super) struct Gauge {
    policy: Admission,
    /// The number of places that are taken and not filled yet.
    reserved: usize,
    /// The token bucket, if the policy is a rate.
    bucket: Option<Bucket>,
}

/// A token bucket (in the virtual scheduling form of the algorithm). The bucket stores the time at which the next token
/// would be due if all tokens came evenly.
struct Bucket {
    /// The time between two tokens at the policy's rate.
    interval: Duration,
    /// The maximum time by which a token may be taken before it is due: `burst` - 1 intervals.
    slack: Duration,
    due: Duration,
}

impl Bucket {
    /// Creates a full bucket; `None` if the rate is invalid.
    fn new(per_sec: f64, burst: u32) -> Option<Self> {
        let interval = Duration::try_from_secs_f64(1.0 / per_sec).ok().filter(|_| per_sec > 0.0)?;
        let slack =
            interval.checked_mul(burst.checked_sub(1)?).filter(|slack| slack.as_secs() < u64::from(u32::MAX))?;
        (interval.as_secs() < u64::from(u32::MAX)).then_some(Self { interval, slack, due: Duration::ZERO })
    }

    /// Returns the time until the next token is available.
    fn wait(&self, now: Duration) -> Duration {
        self.due.saturating_sub(now + self.slack)
    }

    fn take(&mut self, now: Duration) -> bool {
        let has_token = self.wait(now).is_zero();
        if has_token {
            self.due = self.due.max(now) + self.interval;
        }
        has_token
    }

    fn give_back(&mut self) {
        self.due = self.due.saturating_sub(self.interval);
    }
}

impl Gauge {
    pub(super) fn new(policy: Admission) -> Self {
        let bucket = match policy {
            Admission::Rate { per_sec, burst, .. } => Bucket::new(per_sec, burst),
            _ => None,
        };
        Self { policy, reserved: 0, bucket }
    }

    /// Returns the time until the rate admits another task.
    pub(super) fn wait(&self, now: Duration) -> Duration {
        self.bucket.as_ref().map_or(Duration::ZERO, |bucket| bucket.wait(now))
    }

    /// Requests a place. `depth` is the number of tasks that wait to begin; `is_crowded` says that other spawns already
    /// wait for a place. Only a rate uses `now`.
    pub(super) fn ask(&mut self, depth: usize, is_crowded: bool, now: Option<Duration>) -> Verdict {
        if !is_crowded && self.take_place(depth, now) {
            return Verdict::Admitted;
        }
        match self.policy {
            Admission::Unbounded | Admission::Depth { overflow: DepthOverflow::DropOldest, .. } => {
                self.reserved += 1;
                Verdict::Admitted
            }
            Admission::Depth { overflow: DepthOverflow::DropNewest, .. } => Verdict::Discard(DiscardReason::Newest),
            Admission::Depth { .. } => Verdict::Refused(Rejection::Full),
            Admission::Rate { overflow: RateOverflow::Drop, .. } => Verdict::Discard(DiscardReason::Rate),
            Admission::Rate { overflow: RateOverflow::Wait, .. } => Verdict::Refused(Rejection::Rate),
        }
    }

    /// Returns whether spawns that the policy refuses may wait for a place.
    pub(super) fn lets_wait(&self) -> bool {
        matches!(
            self.policy,
            Admission::Depth { overflow: DepthOverflow::Wait, .. }
                | Admission::Rate { overflow: RateOverflow::Wait, .. }
        )
    }

    pub(super) fn is_rate(&self) -> bool {
        self.bucket.is_some()
    }

    /// Takes a place if a place is free; returns whether it took one. Only a rate uses `now`.
    pub(super) fn take_place(&mut self, depth: usize, now: Option<Duration>) -> bool {
        let is_free = match (self.policy, &mut self.bucket) {
            (Admission::Depth { max, .. }, _) => depth + self.reserved < max,
            (_, Some(bucket)) => now.is_some_and(|now| bucket.take(now)),
            (_, None) => true,
        };
        self.reserved += usize::from(is_free);
        is_free
    }

    /// Gives back a reserved place that will not be filled.
    pub(super) fn give_back(&mut self) {
        self.reserved -= 1;
        if let Some(bucket) = &mut self.bucket {
            bucket.give_back();
        }
    }

    /// Records that a reserved place is filled.
    pub(super) fn enter(&mut self) {
        self.reserved -= 1;
    }

    /// Returns whether the oldest task must be discarded, now that `depth` tasks wait to begin.
    pub(super) fn is_displacing(&self, depth: usize) -> bool {
        matches!(self.policy, Admission::Depth { max, overflow: DepthOverflow::DropOldest } if depth > max)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::time::Duration;

    use super::Bucket;

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn a_bucket_gives_its_burst_and_then_its_rate() {
        let mut bucket = Bucket::new(10.0, 3).unwrap();
        let hour = ms(3_600_000);
        assert_eq!((0..5).filter(|_| bucket.take(hour)).count(), 3);
        assert_eq!(bucket.wait(hour), ms(100));
        assert!(!bucket.take(hour + ms(99)) && bucket.take(hour + ms(100)) && !bucket.take(hour + ms(100)));
        bucket.give_back();
        assert!(bucket.take(hour + ms(100)));
        // After a pause of two intervals there are two tokens, not three.
        assert_eq!((0..5).filter(|_| bucket.take(hour + ms(300))).count(), 2);
    }

    #[test]
    fn what_is_no_rate_makes_no_bucket() {
        for per_sec in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY, 1e-300] {
            assert!(Bucket::new(per_sec, 1).is_none(), "{per_sec}");
        }
        assert!(Bucket::new(1.0, 0).is_none());
    }
}
