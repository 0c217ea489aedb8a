//! When a rank takes the interpreter lock again after a wait.
//!
//! A rank that sends a short message keeps the interpreter lock until its next wait. The receiver sees the message
//! earlier than that. If it asked for the lock at once, it would sleep, and waking it would take longer than all the
//! rest. So it spins until the sender releases the lock, if each rank has a hardware thread.

use lehr_sync::{Arc, Count, spin_loop};
use pyo3::prelude::*;

/// The number of looks before a rank asks for the lock in any case: some ten microseconds.
const LOOKS: u32 = 1000;

/// The ranks' knowledge of the interpreter lock, which the ranks of a process share.
#[derive(Clone)]
pub(super) struct Lock {
    /// 1 while a rank holds the lock, as far as ranks know. Other threads of the program do not say so.
    is_held: Arc<Count>,
    looks: u32,
}

impl Lock {
    /// `may_spin` says that each rank of the process has a hardware thread.
    pub(super) fn new(may_spin: bool) -> Self {
        // A Python without an interpreter lock has nothing to wait for.
        let looks = if may_spin && cfg!(not(Py_GIL_DISABLED)) { LOOKS } else { 0 };
        Self { is_held: Arc::default(), looks }
    }

    /// Waits without the interpreter lock.
    pub(super) fn released<T: Send>(&self, py: Python<'_>, wait: impl FnOnce() -> T + Send) -> T {
        let outcome = py.detach(|| {
            // The word is a hint, so it orders nothing. A wrong value costs a short spin, or a sleep.
            self.is_held.set(0);
            let outcome = wait();
            for _ in 0..self.looks {
                if self.is_held.get() == 0 {
                    break;
                }
                spin_loop();
            }
            outcome
        });
        self.is_held.set(1);
        outcome
    }
}
