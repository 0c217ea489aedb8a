//! Items that belong to the process and not to any model: always those of `std`.

use std::sync::{Arc, PoisonError, RwLock, atomic};

/// Returns the next of the identities 1, 2, 3, … of this process, in order of creation.
pub fn next_identity() -> u64 {
    static NEXT: atomic::AtomicU64 = atomic::AtomicU64::new(1);
    // Relaxed: only distinct identities and each thread's own order are promised; the counter publishes nothing.
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

    /// Returns whether the flag is raised, with one load whose branch a processor predicts.
    #[inline]
    pub fn is_up(&self) -> bool {
        // Relaxed: the flag says only that looking further is worth it. The raising thread and a thread that needs to
        // see the flag are ordered by whatever passes the thing itself between them (a port's lock, the start of a
        // task).
        self.0.load(atomic::Ordering::Relaxed)
    }

    /// Raises the flag. Raising it again changes nothing.
    pub fn raise(&self) {
        // Relaxed: as in `is_up`.
        self.0.store(true, atomic::Ordering::Relaxed);
    }
}

/// A setting of the process: read often, hardly ever written.
#[derive(Debug)]
pub struct Setting<T: ?Sized>(RwLock<Option<Arc<T>>>);

impl<T: ?Sized> Setting<T> {
    /// Creates a setting that is not set.
    pub const fn new() -> Self {
        Self(RwLock::new(None))
    }

    /// Returns the present value of the setting, if it is set.
    pub fn read(&self) -> Option<Arc<T>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets a new value and returns the earlier one, for you to drop.
    pub fn replace(&self, value: Option<Arc<T>>) -> Option<Arc<T>> {
        std::mem::replace(&mut *self.0.write().unwrap_or_else(PoisonError::into_inner), value)
    }
}

impl<T: ?Sized> Default for Setting<T> {
    fn default() -> Self {
        Self::new()
    }
}
