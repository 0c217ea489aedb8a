//! The role of the calling thread: a worker of some dispatcher, or no worker. The role is checked at every wake, so it
//! is a single pointer.

use std::cell::Cell;
use std::ptr;

use crossbeam_deque::Worker;
use lehr_sync::Arc;

use super::closure::Cells;
use super::in_place::Catch;
use super::watchdog::Doing;
use super::{Job, Shared};
use crate::fork_join::Fork;
use crate::timer::Clock;

/// The state of a worker, which only its own thread uses.
pub(crate) struct Current {
    pub(crate) dispatcher: u64,
    pub(crate) index: usize,
    pub(crate) local: Worker<Job>,
    pub(crate) shared: Arc<Shared>,
    /// Empty cells for the closures that the worker queues.
    pub(super) cells: Cells,
    /// The dispatcher whose tasks the worker may put into its own queue: its own dispatcher, or [`NOBODY`] if its queue
    /// must not be used.
    pub(crate) queues_for: Cell<u64>,
    /// Whether the worker is in a section that blocks, while a spare does its work.
    pub(crate) is_away: Cell<bool>,
    /// The name of the current job and the reason why the worker blocks, for the watchdog; `None` if there is no
    /// watchdog.
    pub(crate) doing: Option<Arc<Doing>>,
    /// The number of waits that may still be answered at once in the running job, before it must let other jobs run.
    pub(crate) budget: Cell<u32>,
    /// The number of looks of the watch when the running job began.
    pub(crate) looks: Cell<usize>,
    /// The halves of the worker's forks that no worker has begun; `None` if no worker could steal them.
    pub(crate) forks: Option<Worker<Fork>>,
    /// Decides when the worker next rings for a fork.
    pub(crate) bell: ForkBell,
    /// The task that the worker polls in the middle of another poll.
    pub(super) catch: Catch,
}

/// Decides when a worker that forks rings for a sleeper. The worker rings at the first fork. After each ring that
/// brought no worker in time, the worker waits for twice as many forks. So long halves find help, and short halves cost
/// no system call.
#[derive(Default)]
pub(crate) struct ForkBell {
    /// The number of forks until the next ring.
    left: Cell<u32>,
    /// The number of forks without a ring that will follow the next ring.
    silence: Cell<u32>,
}

/// The maximum number of forks without a wake-up. This number of the smallest forks takes a millisecond or two.
const SILENCE_MAX: u32 = 1 << 16;

/// The identity that stands for no dispatcher.
pub(crate) const NOBODY: u64 = 0;

/// The number of waits that a task may find answered at once before it must let the other tasks of its worker run.
const BUDGET: u32 = 128;

impl Current {
    #[inline]
    pub(crate) fn is_of(&self, shared: &Shared) -> bool {
        self.dispatcher == shared.identity
    }

    /// Returns whether tasks woken by this dispatcher's tasks belong in this worker's queue.
    #[inline]
    pub(crate) fn keeps(&self, shared: &Shared) -> bool {
        self.queues_for.get() == shared.identity
    }

    /// Runs a section in which this thread does not count as a worker, except for a shutdown.
    pub(crate) fn away<R>(&self, section: impl FnOnce() -> R) -> R {
        /// Restores the worker's state, even if the section panics.
        struct Back<'a>(&'a Current);
        impl Drop for Back<'_> {
            fn drop(&mut self) {
                self.0.is_away.set(false);
            }
        }
        self.is_away.set(true);
        let _back = Back(self);
        self.sharing(section)
    }

    /// Runs a section in which woken and spawned tasks are queued for all workers.
    pub(crate) fn sharing<R>(&self, section: impl FnOnce() -> R) -> R {
        /// Restores the worker's own queue, even if the section panics.
        struct Again<'a>(&'a Current, u64);
        impl Drop for Again<'_> {
            fn drop(&mut self) {
                self.0.queues_for.set(self.1);
            }
        }
        let _again = Again(self, self.queues_for.replace(NOBODY));
        section()
    }

    /// Returns whether other workers may steal this worker's forks.
    #[inline]
    pub(crate) fn has_thieves(&self) -> bool {
        self.forks.is_some()
    }

    /// Puts the half of a fork where other workers find it.
    #[inline]
    pub(crate) fn push_fork(&self, fork: Fork) {
        match &self.forks {
            Some(forks) => forks.push(fork),
            None => unreachable!("only who has thieves forks"),
        }
        if self.shared.sleep.is_nobody_looking() {
            self.ring_for_fork();
        }
    }

    /// Takes the latest half back. Returns `None` if the latest half was stolen; in this case, all older halves were
    /// stolen too.
    #[inline]
    pub(crate) fn pop_fork(&self) -> Option<Fork> {
        self.forks.as_ref().and_then(Worker::pop)
    }

    #[cold]
    fn ring_for_fork(&self) {
        let ForkBell { left, silence } = &self.bell;
        // A worker that was woken when all slept finds no sleeper on watch, and must not skip the ring: SLEEP.md, case
        // 6.
        if left.get() > 0 && self.shared.sleep.is_watched() {
            left.set(left.get() - 1);
            return;
        }
        left.set(silence.get());
        silence.set((silence.get() * 2 + 1).min(SILENCE_MAX));
        self.shared.sleep.notify();
    }

    /// Notes that another worker took a half, so the next fork rings again.
    pub(crate) fn fork_was_taken(&self) {
        self.bell.left.set(0);
        self.bell.silence.set(0);
    }

    /// Counts a fork that this worker took from another worker.
    pub(crate) fn count_steal(&self) {
        self.shared.counters[self.index].count_steal();
    }

    /// Resets the budget for a new job, and notes the number of looks of the watch.
    #[inline]
    pub(crate) fn begin(&self, looks: usize) {
        self.budget.set(BUDGET);
        self.looks.set(looks);
    }

    /// Makes the calling thread this worker while `life` runs.
    pub(crate) fn live<R>(&self, life: impl FnOnce() -> R) -> R {
        /// Clears the pointer, even if `life` panics.
        struct Leaving;
        impl Drop for Leaving {
            fn drop(&mut self) {
                CURRENT.with(|current| current.set(ptr::null()));
            }
        }
        let before = CURRENT.with(|current| current.replace(self));
        assert!(before.is_null(), "a thread is one worker");
        let _leaving = Leaving;
        life()
    }
}

#[cfg(not(any(loom, shuttle)))]
lehr_sync::thread_local! {
    static CURRENT: Cell<*const Current> = const { Cell::new(ptr::null()) };
}

#[cfg(any(loom, shuttle))]
#[allow(clippy::missing_const_for_thread_local, reason = "the model checkers' macros take no const block")]
mod modelled {
    use super::{Cell, Current, ptr};

    lehr_sync::thread_local! {
        pub(super) static CURRENT: Cell<*const Current> = Cell::new(ptr::null());
    }
}
#[cfg(any(loom, shuttle))]
use modelled::CURRENT;

/// Calls `look` with the worker that the calling thread is, or with `None` if the thread is not a worker.
#[inline]
pub(crate) fn with_current<R>(look: impl FnOnce(Option<&Current>) -> R) -> R {
    // In a model, thread-local state is gone before a thread has ended; the thread is no longer a worker then.
    let current = CURRENT.try_with(Cell::get).unwrap_or(ptr::null());
    // SAFETY: the pointer is null, or set by `live`, which borrows the worker until it has cleared the pointer again;
    // this thread is inside `live` now, so the worker outlives this call, and `look` cannot keep the reference beyond
    // it. The worker is only ever shared.
    look(unsafe { current.as_ref() })
}

/// Returns the clock of the dispatcher whose worker calls this.
pub(crate) fn current_clock() -> Option<Clock> {
    with_current(|current| current.map(|current| current.shared.clock.clone()))
}

/// Returns whether the task may continue; every wait calls this function at its first poll. Without this check, a task
/// that always finds its item at once would keep its worker for ever. If the result is false, the task has been woken
/// again, and the wait must return pending.
#[inline]
pub(crate) fn may_go_on(context: &std::task::Context<'_>) -> bool {
    let may = with_current(|current| {
        let Some(current) = current else { return true };
        let left = current.budget.get();
        current.budget.set(left.saturating_sub(1));
        left > 0 || current.is_away.get()
    });
    if !may {
        context.waker().wake_by_ref();
    }
    may
}

/// Returns whether waits on the calling thread count against a budget: the thread must be a worker outside a section
/// that blocks.
pub(crate) fn is_counted() -> bool {
    with_current(|current| current.is_some_and(|current| !current.is_away.get()))
}

/// Runs `poll` without counting the waits in it. A choice is one wait: if the budget ran out between two of its
/// branches, a branch could be passed over.
pub(crate) fn as_one_wait<R>(poll: impl FnOnce() -> R) -> R {
    let before = with_current(|current| current.map(|current| current.budget.replace(u32::MAX)));
    let output = poll();
    if let Some(before) = before {
        with_current(|current| current.expect("the same thread as before").budget.set(before));
    }
    output
}
