//! A latch on which a worker waits for another worker. The worker that took the fork sets it once.
//!
//! | state | meaning | who sets it |
//! | --- | --- | --- |
//! | `AWAKE` | the wait is not over; the owner will look again itself | the initial state |
//! | `ASLEEP` | the wait is not over; the owner sleeps, or is about to sleep, and has left its handle | the owner, from `AWAKE` |
//! | `DONE` | the wait is over: the fork was run | the other worker |
//! | `RETURNED` | the wait is over: the fork was not run, and the owner must run it | the other worker |
//!
//! A latch is on its owner's stack, and is gone as soon as the owner has seen the end. So the other worker must not
//! touch the latch after it has written the end. The other worker fetches the owner's handle before it writes the end.
//!
//! *The interleaving to fear*: the owner sees that the wait is not over. The other worker writes the end and sees no
//! sleeper. The owner goes to sleep for ever.
//!
//! *This cannot happen*: both workers write by a compare-and-exchange that expects `AWAKE`, so one of them fails and
//! knows it. Model: `a_latch_is_not_slept_through`.

use std::time::Duration;

use lehr_sync::{Arc, AtomicUsize, Cell, Ordering, thread};

const AWAKE: usize = 0;
const ASLEEP: usize = 1;
const DONE: usize = 2;
const RETURNED: usize = 3;

/// The way in which a wait on a latch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The other worker has run the fork.
    Done,
    /// The owner must run the fork.
    Returned,
}

/// A latch on which a worker waits for another worker; see the [module](self).
pub struct Latch {
    state: AtomicUsize,
    /// The handle of the sleeper. The owner writes it while `AWAKE`, the other worker reads it while `ASLEEP`.
    sleeper: Cell<Option<thread::Thread>>,
}

// SAFETY: only the owner writes the cell, and only while `AWAKE`; the other worker reads it only while `ASLEEP`. The
// exchange between the two states orders them.
unsafe impl Sync for Latch {}

impl Default for Latch {
    fn default() -> Self {
        Self::new()
    }
}

impl Latch {
    /// Creates a latch whose wait is not over.
    #[inline]
    pub fn new() -> Self {
        Self { state: AtomicUsize::new(AWAKE), sleeper: Cell::new(None) }
    }

    /// Returns the end of the wait; `None` while it is not over. After the end, the other worker's earlier writes are
    /// visible.
    #[inline]
    pub fn end(&self) -> Option<End> {
        // Acquire: pairs with the Releases in `set`.
        match self.state.load(Ordering::Acquire) {
            DONE => Some(End::Done),
            RETURNED => Some(End::Returned),
            _ => None,
        }
    }

    /// Sleeps until the end, until `limit` has passed, or until a spurious wake-up. Only the latch's owner may call
    /// this method. Under a model checker there is no clock, so `limit` is ignored.
    pub fn sleep(&self, limit: Duration) {
        // Relaxed: only the owner writes `ASLEEP`; an end that is missed here is seen by the exchange, or wakes us.
        if self.state.load(Ordering::Relaxed) != ASLEEP {
            // SAFETY: the state is not `ASLEEP`, and only we write that: the other worker does not read the cell.
            unsafe { *self.sleeper.exclusive() = Some(thread::current()) };
            // Release: publishes the handle to the failing exchange in `set`. Relaxed on failure: the caller looks
            // again by `end`.
            if self.state.compare_exchange(AWAKE, ASLEEP, Ordering::Release, Ordering::Relaxed).is_err() {
                return;
            }
        }
        if cfg!(any(loom, shuttle)) { thread::park() } else { thread::park_timeout(limit) }
    }

    /// Ends the wait and wakes the owner. After the wait, the owner sees everything that the caller wrote before.
    ///
    /// # Safety
    /// `this` must point to a latch that lives until its owner has seen the end, and nothing else may end it.
    pub unsafe fn set(this: *const Self, end: End) {
        let end = match end {
            End::Done => DONE,
            End::Returned => RETURNED,
        };
        // SAFETY: the caller guarantees it. The reference is not used after the end is written; from then on the owner
        // may drop the latch.
        let state = unsafe { &(*this).state };
        // Release: publishes what was done; pairs with the Acquire in `end`. Acquire on failure: pairs with the Release
        // in `sleep`.
        if state.compare_exchange(AWAKE, end, Ordering::Release, Ordering::Acquire).is_ok() {
            return;
        }
        // SAFETY: the state is `ASLEEP`, because nothing else ends it: the owner has written the cell, does not write
        // it again, and keeps the latch.
        let sleeper = unsafe { (*this).sleeper.shared().clone() };
        // Release: as above.
        state.store(end, Ordering::Release);
        if let Some(sleeper) = sleeper {
            sleeper.unpark();
        }
    }

    /// Does the same as [`set`](Self::set) for a latch that an `Arc` keeps alive.
    pub fn set_counted(self: &Arc<Self>) {
        // SAFETY: the `Arc` keeps the latch alive. The caller must see to it that nothing else ends the latch; a second
        // end would be harmless here because the latch is alive: it reads a handle that is no longer written.
        unsafe { Self::set(Arc::as_ptr(self), End::Done) };
    }
}
