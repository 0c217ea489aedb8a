//! Cells without rules of their own.

#[cfg(loom)]
use loom::cell::UnsafeCell;
#[cfg(not(loom))]
use std::cell::UnsafeCell;

/// A cell whose accesses a protocol orders. Under loom each access is checked against all others.
#[derive(Debug)]
pub struct Cell<T>(UnsafeCell<T>);

impl<T> Cell<T> {
    /// A cell that holds this.
    #[inline]
    pub fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Gives a pointer to read through.
    #[inline]
    pub fn read<R>(&self, look: impl FnOnce(*const T) -> R) -> R {
        #[cfg(not(loom))]
        return look(self.0.get());
        #[cfg(loom)]
        return self.0.with(look);
    }

    /// Gives a pointer to write through.
    #[inline]
    pub fn write<R>(&self, change: impl FnOnce(*mut T) -> R) -> R {
        #[cfg(not(loom))]
        return change(self.0.get());
        #[cfg(loom)]
        return self.0.with_mut(change);
    }

    /// The value to look at. Loom checks the access when the reference is requested.
    ///
    /// # Safety
    /// Nobody writes while the reference lives.
    #[inline]
    pub unsafe fn shared(&self) -> &T {
        // SAFETY: the caller's promise.
        self.read(|value| unsafe { &*value })
    }

    /// The value to change. Loom checks the access when the reference is requested.
    ///
    /// # Safety
    /// Nobody else reads or writes while the reference lives.
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "the point of a cell")]
    pub unsafe fn exclusive(&self) -> &mut T {
        // SAFETY: the caller's promise.
        self.write(|value| unsafe { &mut *value })
    }
}
