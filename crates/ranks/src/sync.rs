//! The only door of this crate to atomics, locks and cells shared between threads: `std`, or the model checkers' under
//! `--cfg loom` and `--cfg shuttle`. Threads come from the dispatcher of `lehr-runtime`, the clock is in `timing.rs`.
#![allow(clippy::disallowed_types, reason = "this is the door")]

pub(crate) use std::sync::Arc;

#[cfg(loom)]
use loom as imp;
#[cfg(shuttle)]
use shuttle as imp;
#[cfg(not(any(loom, shuttle)))]
use std as imp;

pub(crate) use imp::sync::MutexGuard;
pub(crate) use imp::sync::atomic::{Ordering, fence};

#[cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]
pub(crate) use imp::sync::atomic::compiler_fence;

/// A value that the process finds out once.
#[cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]
macro_rules! once {
    ($type:ty, $value:expr) => {{
        static ONCE: std::sync::OnceLock<$type> = std::sync::OnceLock::new();
        *ONCE.get_or_init(|| $value)
    }};
}
#[cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]
pub(crate) use once;

/// A lock whose guard comes back even if a holder panicked. Where user code runs under it (a leaf's cell), the panic ends the
/// whole round, and nobody reads what it left.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(imp::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(imp::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// An atomic number. A type of its own, since to the lints a re-export is still the type of `std`, which they ban outside
/// this file.
#[derive(Debug)]
#[repr(transparent)]
pub(crate) struct AtomicUsize(imp::sync::atomic::AtomicUsize);

impl Default for AtomicUsize {
    fn default() -> Self {
        Self::new(0)
    }
}

macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        impl AtomicUsize {
            pub(crate) fn new(value: usize) -> Self {
                Self(imp::sync::atomic::AtomicUsize::new(value))
            }

            $(#[inline]
            pub(crate) fn $name(&self, $($argument: $type),*) -> $output {
                self.0.$name($($argument),*)
            })*
        }
    };
}

forward! {
    load(order: Ordering) -> usize;
    store(value: usize, order: Ordering) -> ();
    fetch_add(value: usize, order: Ordering) -> usize;
    fetch_sub(value: usize, order: Ordering) -> usize;
    fetch_xor(value: usize, order: Ordering) -> usize;
    compare_exchange(current: usize, new: usize, success: Ordering, failure: Ordering) -> Result<usize, usize>;
}

/// A cell whose accesses a protocol orders. Under loom each access is checked against all others.
#[derive(Debug)]
pub(crate) struct Cell<T>(#[cfg(not(loom))] std::cell::UnsafeCell<T>, #[cfg(loom)] loom::cell::UnsafeCell<T>);

impl<T> Cell<T> {
    pub(crate) fn new(value: T) -> Self {
        #[cfg(not(loom))]
        return Self(std::cell::UnsafeCell::new(value));
        #[cfg(loom)]
        return Self(loom::cell::UnsafeCell::new(value));
    }

    /// A pointer to read through.
    pub(crate) fn read<R>(&self, look: impl FnOnce(*const T) -> R) -> R {
        #[cfg(not(loom))]
        return look(self.0.get());
        #[cfg(loom)]
        return self.0.with(look);
    }

    /// A pointer to write through.
    pub(crate) fn write<R>(&self, change: impl FnOnce(*mut T) -> R) -> R {
        #[cfg(not(loom))]
        return change(self.0.get());
        #[cfg(loom)]
        return self.0.with_mut(change);
    }
}

pub(crate) use imp::thread::yield_now;

/// Tells the core that this is a waiting loop; in a model, lets the others run.
pub(crate) fn spin_loop() {
    #[cfg(not(any(loom, shuttle)))]
    std::hint::spin_loop();
    #[cfg(any(loom, shuttle))]
    imp::thread::yield_now();
}
