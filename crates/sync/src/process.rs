//! Flags, settings and identities of the process. These types do not belong to a model, so they always use the types of
//! `std`.

use std::sync::{Arc, PoisonError, RwLock, atomic};

/// Returns a new identity in this process: 1, 2, 3, … in order of creation.
pub fn next_identity() -> u64 {
    static NEXT: atomic::AtomicU64 = atomic::AtomicU64::new(1);
    // Relaxed: the function only promises that identities differ, and ascend within a thread. The counter publishes no
    // other data.
    NEXT.fetch_add(1, atomic::Ordering::Relaxed)
}

/// A flag that is raised once and stays up.
#[derive(Debug, Default)]
pub struct Flag(atomic::AtomicBool);

impl Flag {
    /// Creates a flag that is not raised.
    pub const fn new() -> Self {
        Self(atomic::AtomicBool::new(false))
    }

    /// Returns whether the flag is raised. The cost is one load, and a branch that the processor predicts.
    #[inline]
    pub fn is_up(&self) -> bool {
        // Relaxed: the flag is only a hint to look further. The thread that raises the flag and a thread that must see
        // it are ordered by other means (a port's lock, the start of a task).
        self.0.load(atomic::Ordering::Relaxed)
    }

    /// Raises the flag. Raising it again changes nothing.
    pub fn raise(&self) {
        // Relaxed: as in `is_up`.
        self.0.store(true, atomic::Ordering::Relaxed);
    }
}

/// A setting of the process, which is read often and hardly ever written.
#[derive(Debug)]
pub struct Setting<T: ?Sized>(RwLock<Option<Arc<T>>>);

impl<T: ?Sized> Setting<T> {
    /// Creates a setting that is not set.
    pub const fn new() -> Self {
        Self(RwLock::new(None))
    }

    /// Returns the current value of the setting; `None` if it is not set.
    pub fn read(&self) -> Option<Arc<T>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets a new value and returns the previous value, which the caller drops.
    pub fn replace(&self, value: Option<Arc<T>>) -> Option<Arc<T>> {
        std::mem::replace(&mut *self.0.write().unwrap_or_else(PoisonError::into_inner), value)
    }
}

impl<T: ?Sized> Default for Setting<T> {
    fn default() -> Self {
        Self::new()
    }
}
