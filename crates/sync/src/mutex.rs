//! The lock for data that is not on the path of every message. Threads that wait for this lock sleep.

use std::sync::{PoisonError, TryLockError};

use super::imp;

pub use imp::sync::MutexGuard;

/// A lock that ignores poisoning: it can be taken even if a holder panicked. So code that changes the protected value
/// must not panic while the value is inconsistent. If a panic cannot be ruled out, it must end every thread that could
/// read the inconsistent value.
#[derive(Debug, Default)]
pub struct Mutex<T>(imp::sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Creates a free lock.
    #[inline]
    pub fn new(value: T) -> Self {
        Self(imp::sync::Mutex::new(value))
    }

    /// Waits until the lock is free and takes it.
    #[inline]
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock if it is free.
    #[inline]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Calls `change` with the protected value. `change` must not take the same lock.
    #[inline]
    pub fn with<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        change(&mut self.lock())
    }

    /// Returns the protected value.
    #[inline]
    pub fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn a_holder_that_panics_gives_the_lock_back() {
        let lock = Mutex::new(1);
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let mut value = lock.lock();
            *value = 2;
            assert!(lock.try_lock().is_none(), "it is taken");
            panic!("with the lock held");
        }));
        assert!(panicked.is_err());
        assert_eq!(*lock.lock(), 2);
        assert_eq!(lock.try_lock().as_deref(), Some(&2));
        assert_eq!(lock.into_inner(), 2);
    }
}
