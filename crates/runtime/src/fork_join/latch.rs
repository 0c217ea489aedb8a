//! The wait of one worker for one other: set once, by the worker that took the fork.
//!
//! | state | meaning | who sets it |
//! | --- | --- | --- |
//! | `AWAKE` | not over; the owner will look again itself | at the beginning |
//! | `ASLEEP` | not over; the owner sleeps, or is about to, and has left its name | the owner, from `AWAKE` |
//! | `DONE` | over | the other |
//! | `RETURNED` | over: it was not done, and the owner is to do it | the other |
//!
//! A latch is on its owner's stack, and is gone as soon as the owner has seen the end. So the other worker may not
//! touch it after it has written the end, and fetches the name before.
//!
//! *The interleaving to fear*: the owner looks and it is not over. The other writes the end and sees no sleeper. The
//! owner goes to sleep for ever.
//!
//! *It cannot happen*: both write by an exchange that expects `AWAKE`, so one of them fails and knows. Model:
//! `a_latch_is_not_slept_through`.

use std::time::Duration;

use lehr_sync::{Arc, AtomicUsize, Cell, Ordering, thread};

const AWAKE: usize = 0;
const ASLEEP: usize = 1;
const DONE: usize = 2;
const RETURNED: usize = 3;

/// The end of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The fork has been done.
    Done,
    /// The waiter must run it.
    Returned,
}

/// See the module's page.
pub struct Latch {
    state: AtomicUsize,
    /// The sleeper. Written by the owner while `AWAKE`, read by the other while `ASLEEP`.
    sleeper: Cell<Option<thread::Thread>>,
}

// SAFETY: the cell is written by the owner alone and only while `AWAKE`, and read by the other only while `ASLEEP`; the
// exchange between the two states orders them.
unsafe impl Sync for Latch {}

impl Default for Latch {
    fn default() -> Self {
        Self::new()
    }
}

impl Latch {
    /// Not over.
    #[inline]
    pub fn new() -> Self {
        Self { state: AtomicUsize::new(AWAKE), sleeper: Cell::new(None) }
    }

    /// Returns the end, if it has arrived; the other's earlier writes are visible then.
    #[inline]
    pub fn end(&self) -> Option<End> {
        // Acquire: pairs with the Releases in `set`.
        match self.state.load(Ordering::Acquire) {
            DONE => Some(End::Done),
            RETURNED => Some(End::Returned),
            _ => None,
        }
    }

    /// Sleeps until the end, until `limit` has passed, or for no reason; the owner only. A model has no clock, and no
    /// limit.
    pub fn sleep(&self, limit: Duration) {
        // Relaxed: only the owner writes `ASLEEP`; an end that is missed here is seen by the exchange, or rings.
        if self.state.load(Ordering::Relaxed) != ASLEEP {
            // SAFETY: not `ASLEEP`, and only we write that: the other does not read the cell.
            unsafe { *self.sleeper.exclusive() = Some(thread::current()) };
            // Release: publishes the name to the failing exchange in `set`. Relaxed on failure: the caller looks again
            // by `end`.
            if self.state.compare_exchange(AWAKE, ASLEEP, Ordering::Release, Ordering::Relaxed).is_err() {
                return;
            }
        }
        if cfg!(any(loom, shuttle)) { thread::park() } else { thread::park_timeout(limit) }
    }

    /// Ends the wait and wakes the owner. The owner sees everything that the caller did.
    ///
    /// # Safety
    /// `this` points to a latch that lives until its owner has seen the end, and nothing else ends it.
    pub unsafe fn set(this: *const Self, end: End) {
        let end = match end {
            End::Done => DONE,
            End::Returned => RETURNED,
        };
        // SAFETY: the caller's promise; not used after the end is written, from when on the owner may take the latch
        // away.
        let state = unsafe { &(*this).state };
        // Release: publishes what was done; pairs with the Acquire in `end`. Acquire on failure: pairs with the Release
        // in `sleep`.
        if state.compare_exchange(AWAKE, end, Ordering::Release, Ordering::Acquire).is_ok() {
            return;
        }
        // SAFETY: `ASLEEP`, as nobody else ends it: the owner has written the cell, does not write it again, and keeps
        // the latch.
        let sleeper = unsafe { (*this).sleeper.shared().clone() };
        // Release: as above.
        state.store(end, Ordering::Release);
        if let Some(sleeper) = sleeper {
            sleeper.unpark();
        }
    }

    /// [`set`](Self::set) for a latch that is held by a count.
    pub fn set_counted(self: &Arc<Self>) {
        // SAFETY: the count keeps it. That nobody else ends it is the caller's to see to; a second end would be
        // harmless here, the latch being alive: it reads a name that is no longer written.
        unsafe { Self::set(Arc::as_ptr(self), End::Done) };
    }
}
