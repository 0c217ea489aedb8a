//! Who may come into a queue: unbounded, by depth, by rate; and what becomes of those who may not.
//!
//! A place is taken before the task is made, so that a refused future can be given back, and filled afterwards. Between the
//! two the place counts, so a policy is never exceeded by two who came together.

use super::{DiscardReason, Rejection};

/// Who may come into a queue. Asked once for each task, before its first poll.
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
    /// Everybody.
    #[default]
    Unbounded,
    /// As long as fewer than `max` tasks wait for their first poll. What has begun does not count, be it suspended or woken.
    Depth {
        /// How many may wait; at least 1.
        max: usize,
        /// What becomes of one more.
        overflow: DepthOverflow,
    },
}

/// What becomes of a task too many.
///
/// # Example
/// See [`Rejected`](super::Rejected).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DepthOverflow {
    /// It comes in; the oldest task that has not begun is thrown away.
    DropOldest,
    /// It is thrown away.
    DropNewest,
    /// Its future is given back.
    Reject,
    /// [`Queue::spawn_wait`](super::Queue::spawn_wait) waits for a place; [`Queue::spawn`](super::Queue::spawn) gives the
    /// future back.
    Wait,
}

impl Admission {
    /// Why nobody could ever come in.
    pub(super) fn fault(self) -> Option<&'static str> {
        match self {
            Self::Depth { max: 0, .. } => Some("a depth of 0 admits nobody"),
            Self::Unbounded | Self::Depth { .. } => None,
        }
    }
}

/// What a policy says to a task.
pub(super) enum Verdict {
    /// It has a place.
    Admitted,
    /// It is thrown away.
    Discard(DiscardReason),
    /// Its future goes back.
    Refused(Rejection),
}

/// A policy and what it has given out.
pub(super) struct Gauge {
    policy: Admission,
    /// Places taken and not filled yet.
    reserved: usize,
}

impl Gauge {
    pub(super) fn new(policy: Admission) -> Self {
        Self { policy, reserved: 0 }
    }

    /// Asks for a place where `depth` tasks wait to begin and, if `is_crowded`, others wait for a place.
    pub(super) fn ask(&mut self, depth: usize, is_crowded: bool) -> Verdict {
        let Admission::Depth { overflow, .. } = self.policy else {
            self.reserve();
            return Verdict::Admitted;
        };
        if self.has_room(depth) && !is_crowded {
            self.reserve();
            return Verdict::Admitted;
        }
        match overflow {
            DepthOverflow::DropOldest => {
                self.reserve();
                Verdict::Admitted
            }
            DepthOverflow::DropNewest => Verdict::Discard(DiscardReason::Newest),
            DepthOverflow::Reject | DepthOverflow::Wait => Verdict::Refused(Rejection::Full),
        }
    }

    /// Whether refused spawns may wait.
    pub(super) fn lets_wait(&self) -> bool {
        matches!(self.policy, Admission::Depth { overflow: DepthOverflow::Wait, .. })
    }

    /// Whether there is a place free.
    pub(super) fn has_room(&self, depth: usize) -> bool {
        match self.policy {
            Admission::Unbounded => true,
            Admission::Depth { max, .. } => depth + self.reserved < max,
        }
    }

    /// Takes a place, free or not.
    pub(super) fn reserve(&mut self) {
        self.reserved += 1;
    }

    /// A place that was taken is filled, or given back.
    pub(super) fn enter(&mut self) {
        self.reserved -= 1;
    }

    /// Whether the oldest must go, now that `depth` tasks wait to begin.
    pub(super) fn is_displacing(&self, depth: usize) -> bool {
        matches!(self.policy, Admission::Depth { max, overflow: DepthOverflow::DropOldest } if depth > max)
    }
}
