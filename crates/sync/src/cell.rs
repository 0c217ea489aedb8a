//! Cells that don't check their accesses.

#[cfg(loom)]
use loom::cell::UnsafeCell;
#[cfg(not(loom))]
use std::cell::UnsafeCell;

/// A cell whose accesses a protocol orders. Loom checks each access against all other accesses.
#[derive(Debug)]
pub struct Cell<T>(UnsafeCell<T>);

impl<T> Cell<T> {
    /// Creates a cell with this value.
    #[inline]
    pub fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// Calls `look` with a pointer for reading the value.
    #[inline]
    pub fn read<R>(&self, look: impl FnOnce(*const T) -> R) -> R {
        #[cfg(not(loom))]
        return look(self.0.get());
        #[cfg(loom)]
        return self.0.with(look);
    }

    /// Calls `change` with a pointer for writing the value.
    #[inline]
    pub fn write<R>(&self, change: impl FnOnce(*mut T) -> R) -> R {
        #[cfg(not(loom))]
        return change(self.0.get());
        #[cfg(loom)]
        return self.0.with_mut(change);
    }

    /// Returns a reference for reading the value. Loom checks the access when the reference is requested.
    ///
    /// # Safety
    /// No thread may write the value while the reference lives.
    #[inline]
    pub unsafe fn shared(&self) -> &T {
        // SAFETY: the caller guarantees that no thread writes.
        self.read(|value| unsafe { &*value })
    }

    /// Returns a reference for changing the value. Loom checks the access when the reference is requested.
    ///
    /// # Safety
    /// No other reference to the value may be used while this reference lives.
    #[inline]
    #[allow(clippy::mut_from_ref, reason = "the point of a cell")]
    pub unsafe fn exclusive(&self) -> &mut T {
        // SAFETY: the caller guarantees that nothing else reads or writes the value.
        self.write(|value| unsafe { &mut *value })
    }
}
