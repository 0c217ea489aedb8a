//! The role of the calling thread: a worker of some dispatcher, or none. Asked at every wake, so that it is one
//! pointer.

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

/// A worker thread's own state.
pub(crate) struct Current {
    pub(crate) dispatcher: u64,
    pub(crate) index: usize,
    pub(crate) local: Worker<Job>,
    pub(crate) shared: Arc<Shared>,
    /// Room for closures that it queues.
    pub(super) cells: Cells,
    /// The dispatcher of the tasks that it may put in its own queue: its own, or none if its queue is not to be used.
    pub(crate) queues_for: Cell<u64>,
    /// It is in a section that blocks, and a spare does its work.
    pub(crate) is_away: Cell<bool>,
    /// The trace that records its actions, if there is one.
    pub(crate) doing: Option<Arc<Doing>>,
    /// The largest number of waits that the running job may still find answered at once.
    pub(crate) budget: Cell<u32>,
    /// The number of times the watch had looked when it began.
    pub(crate) looks: Cell<usize>,
    /// The halves of its forks that no worker has begun; none if no worker could steal them.
    pub(crate) forks: Option<Worker<Fork>>,
    /// The time at which it next rings for a fork.
    pub(crate) bell: ForkBell,
    /// The task that it polls in the middle of another poll.
    pub(super) catch: Catch,
}

/// Decides when a worker that forks rings for a sleeper. It rings at once at first. After each ring that brought no
/// worker in time it waits for twice as many forks. So long halves find help, and empty ones cost no system call.
#[derive(Default)]
pub(crate) struct ForkBell {
    /// Forks that still pass in silence.
    left: Cell<u32>,
    /// The number of forks that pass in silence after the next ring.
    silence: Cell<u32>,
}

/// At most this many forks pass without a wake-up: a millisecond or two of the smallest forks.
const SILENCE_MAX: u32 = 1 << 16;

/// No dispatcher has this identity.
pub(crate) const NOBODY: u64 = 0;

/// Waits that a task finds answered at once before it gives the others of its worker a turn.
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

    /// Runs a section in which this thread is no worker, though its own for a shutdown.
    pub(crate) fn away<R>(&self, section: impl FnOnce() -> R) -> R {
        /// It is restored, also if the section panics.
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
        /// Queues for itself again, also if the section panics.
        struct Again<'a>(&'a Current, u64);
        impl Drop for Again<'_> {
            fn drop(&mut self) {
                self.0.queues_for.set(self.1);
            }
        }
        let _again = Again(self, self.queues_for.replace(NOBODY));
        section()
    }

    /// Returns whether others steal its forks.
    #[inline]
    pub(crate) fn has_thieves(&self) -> bool {
        self.forks.is_some()
    }

    /// Puts the half of a fork where others find it.
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

    /// Takes the latest half back; none if it was stolen, and then all older ones were too.
    #[inline]
    pub(crate) fn pop_fork(&self) -> Option<Fork> {
        self.forks.as_ref().and_then(Worker::pop)
    }

    #[cold]
    fn ring_for_fork(&self) {
        let ForkBell { left, silence } = &self.bell;
        // Whoever was woken when everybody slept finds nobody on watch, and may not be silent: SLEEP.md, case 6.
        if left.get() > 0 && self.shared.sleep.is_watched() {
            left.set(left.get() - 1);
            return;
        }
        left.set(silence.get());
        silence.set((silence.get() * 2 + 1).min(SILENCE_MAX));
        self.shared.sleep.notify();
    }

    /// Somebody was there to take a half: ringing is worth it.
    pub(crate) fn fork_was_taken(&self) {
        self.bell.left.set(0);
        self.bell.silence.set(0);
    }

    /// It has taken another worker's fork.
    pub(crate) fn count_steal(&self) {
        self.shared.counters[self.index].count_steal();
    }

    /// A new job begins.
    #[inline]
    pub(crate) fn begin(&self, looks: usize) {
        self.budget.set(BUDGET);
        self.looks.set(looks);
    }

    /// Makes the calling thread this worker for as long as `life` runs.
    pub(crate) fn live<R>(&self, life: impl FnOnce() -> R) -> R {
        /// Takes the pointer away again, also if `life` panics.
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

/// Shows `look` the worker of the calling thread; does nothing if the thread is none.
#[inline]
pub(crate) fn with_current<R>(look: impl FnOnce(Option<&Current>) -> R) -> R {
    // A model takes thread-local state away before a thread has ended; it is no longer a worker then.
    let current = CURRENT.try_with(Cell::get).unwrap_or(ptr::null());
    // SAFETY: null, or set by `live`, which borrows the worker until it has taken the pointer away again; this thread
    // is inside `live` now, so the worker outlives this call, and `look` cannot keep the reference beyond it. The
    // worker is only ever shared.
    look(unsafe { current.as_ref() })
}

/// Returns the clock of the dispatcher whose worker calls this.
pub(crate) fn current_clock() -> Option<Clock> {
    with_current(|current| current.map(|current| current.shared.clock.clone()))
}

/// Asked by every wait that is polled for the first time: whether the task may continue. A task that always finds its
/// item at once would otherwise keep its worker without end. If not, it has been woken, and is to say that it waits.
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

/// Returns whether the waits of the calling thread are counted: it is a worker, and at work.
pub(crate) fn is_counted() -> bool {
    with_current(|current| current.is_some_and(|current| !current.is_away.get()))
}

/// Runs `poll` without counting the waits in it. A choice is one wait: the count must not run out between two of its
/// branches, or one of them could be passed over.
pub(crate) fn as_one_wait<R>(poll: impl FnOnce() -> R) -> R {
    let before = with_current(|current| current.map(|current| current.budget.replace(u32::MAX)));
    let output = poll();
    if let Some(before) = before {
        with_current(|current| current.expect("the same thread as before").budget.set(before));
    }
    output
}
