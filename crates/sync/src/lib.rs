//! Locks, atomics, threads and the clock, which the other crates of Lehr use only through this crate.
//!
//! Ordinary builds use `std`. Under `--cfg loom` and `--cfg shuttle` the same names stand for the types of the model
//! checkers. So the protocols of `lehr-runtime` and `lehr-ranks` run unchanged inside the checkers. [`Arc`] always
//! comes from `std`, because no protocol depends on its reference counts. The types that belong to the process and
//! outlive a model ([`process`], [`Count`]) also come from `std`.
//!
//! | you need | use |
//! | --- | --- |
//! | a lock | [`Mutex`]; for sections of a few instructions on the path of every message, [`SpinLock`] |
//! | a number or flag that a protocol depends on | [`AtomicUsize`], [`AtomicBool`], [`Ordering`], [`fence`] |
//! | a number that is counted and reported | [`Count`] |
//! | a cell whose accesses a protocol orders | [`Cell`] |
//! | threads, parking, sleeping | [`thread`] |
//! | time since a moment, the time of day | [`Moment`], [`unix_ms`] |
//! | flags, settings and identities of the process | [`process`] |
//! There is no condition variable: a thread waits at ports and replies of the runtime, or parks.
//!
//! The dependencies of the runtime (the stealing deques of `crossbeam-deque`, the task cell of `async-task`) are not
//! modelled. The checkers treat each call to these dependencies as one step.
#![deny(unsafe_code)]
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "this is the door")]

mod atomic;
#[allow(unsafe_code, reason = "hands its caller's promise on")]
mod cell;
mod clock;
mod mutex;
pub mod process;
#[allow(unsafe_code, reason = "a lock gives out what is in its cell; the file says why that is right")]
#[cfg(not(shuttle))]
pub mod spin_lock;
pub mod thread;

#[cfg(loom)]
use loom as imp;
#[cfg(shuttle)]
use shuttle as imp;
#[cfg(not(any(loom, shuttle)))]
use std as imp;

pub use std::sync::{Arc, OnceLock, Weak};

pub use imp::thread_local;

#[cfg(not(any(loom, shuttle)))]
pub use atomic::compiler_fence;
pub use atomic::{AtomicBool, AtomicUsize, Count, Ordering, fence};
pub use cell::Cell;
pub use clock::{Moment, unix_ms, wall_time};
pub use mutex::{Mutex, MutexGuard};
#[cfg(not(any(loom, shuttle)))]
pub use spin_lock::{SpinLock, SpinLockGuard};

/// The model checkers' lock, which replaces [`spin_lock::SpinLock`]. The checkers treat taking this lock as one step; a
/// spin lock would be a loop to explore. The spin lock has its own models in `lehr-runtime`.
#[cfg(any(loom, shuttle))]
pub use mutex::{Mutex as SpinLock, MutexGuard as SpinLockGuard};

/// Tells the processor that the thread is in a spin loop. In a model, this function yields, because a waiting loop must
/// let the other threads run.
#[inline]
pub fn spin_loop() {
    #[cfg(not(any(loom, shuttle)))]
    std::hint::spin_loop();
    #[cfg(any(loom, shuttle))]
    thread::yield_now();
}
