//! A lock for a few instructions: one exchange takes it, one store releases it.
//!
//! The locks of the runtime protect sections of some ten nanoseconds, on the path of every message. A lock that can put
//! waiting threads to sleep in the kernel must check for sleepers when it is released. This check is a second exchange,
//! which on an uncontended port costs as much as the rest of a post. A thread that finds this lock taken checks it
//! again for a while, then yields its core, then sleeps for longer and longer. The sleep is necessary because the
//! holder may have lost its core. The holder may never get a core back while its waiters keep theirs.
//!
//! In builds for the model checkers, their lock replaces this lock (`lib.rs`). This lock has its own models in
//! `lehr-runtime`.

use std::fmt;
use std::ops::{Deref, DerefMut};

use super::{Cell, Ordering, imp, spin_loop, thread};

/// The number of times that a thread checks a taken lock before it yields its core. The checks take about a
/// microsecond, ten times the length of a section. (In a model every check yields the core.)
const LOOKS: u32 = if cfg!(loom) { 0 } else { 64 };

/// The number of times that a thread yields its core before it sleeps. Yielding does not help a holder of lower
/// priority; sleeping does.
const YIELDS: u32 = if cfg!(loom) { u32::MAX } else { 64 };

/// The shortest and the longest sleep, in microseconds.
const SLEEP: (u64, u64) = (50, 1_000);

/// Mutual exclusion for short sections. If a holder panics, the lock is released. User code never runs while a thread
/// holds this lock, so the protected value is consistent even after a panic.
pub struct SpinLock<T> {
    is_taken: imp::sync::atomic::AtomicBool,
    value: Cell<T>,
}

// SAFETY: `value` is reached only through a guard, and there is at most one guard at a time (see `lock`), so sharing
// the lock moves the value from thread to thread, which `T: Send` allows.
unsafe impl<T: Send> Sync for SpinLock<T> {}

impl<T> SpinLock<T> {
    /// Creates a free lock.
    pub fn new(value: T) -> Self {
        Self { is_taken: imp::sync::atomic::AtomicBool::new(false), value: Cell::new(value) }
    }

    /// Waits until the lock is free and takes it.
    #[inline]
    pub fn lock(&self) -> SpinLockGuard<'_, T> {
        if !self.try_take() {
            self.wait();
        }
        SpinLockGuard { lock: self, _not_send: std::marker::PhantomData }
    }

    #[inline]
    fn try_take(&self) -> bool {
        // Acquire: pairs with the Release in the guard's drop, so that this holder sees the writes of the last holder.
        self.is_taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    #[cold]
    fn wait(&self) {
        let (mut looks, mut yields, mut sleep) = (0, 0, SLEEP.0);
        loop {
            // Relaxed: this read is only a hint that the exchange may succeed. A read leaves the cache line with the
            // holder.
            if !self.is_taken.load(Ordering::Relaxed) && self.try_take() {
                return;
            }
            if looks < LOOKS {
                looks += 1;
                spin_loop();
            } else if yields < YIELDS {
                yields += 1;
                thread::yield_now();
            } else {
                thread::sleep(std::time::Duration::from_micros(sleep));
                sleep = (sleep * 2).min(SLEEP.1);
            }
        }
    }
}

impl<T> fmt::Debug for SpinLock<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SpinLock").finish_non_exhaustive()
    }
}

impl<T: Default> Default for SpinLock<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

/// The right to access the value; dropping the guard releases the lock. The guard stays on its thread, as the guards of
/// other locks do.
pub struct SpinLockGuard<'a, T> {
    lock: &'a SpinLock<T>,
    _not_send: std::marker::PhantomData<*const ()>,
}

impl<T> Deref for SpinLockGuard<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: this guard is the only one (the exchange in `try_take` succeeds for one thread between two Release
        // stores), and the reference cannot outlive it.
        unsafe { self.lock.value.shared() }
    }
}

impl<T> DerefMut for SpinLockGuard<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as in `deref`; `&mut self` excludes other references made through this guard.
        unsafe { self.lock.value.exclusive() }
    }
}

impl<T> Drop for SpinLockGuard<'_, T> {
    #[inline]
    fn drop(&mut self) {
        // Release: pairs with the Acquire in `try_take`. A store is enough, because only the holder writes while the
        // lock is taken.
        self.lock.is_taken.store(false, Ordering::Release);
    }
}
