//! Atomic numbers and flags. The types are newtypes because Clippy bans the atomics of `std` outside this crate, and
//! would treat a re-export as the banned type.

use std::sync::atomic::AtomicU64;

use super::imp;

pub use imp::sync::atomic::{Ordering, fence};

#[cfg(not(any(loom, shuttle)))]
pub use std::sync::atomic::compiler_fence;

/// An atomic number.
#[derive(Debug)]
#[repr(transparent)]
pub struct AtomicUsize(imp::sync::atomic::AtomicUsize);

impl Default for AtomicUsize {
    fn default() -> Self {
        Self::new(0)
    }
}

macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        impl AtomicUsize {
            /// Creates a number with this value.
            #[inline]
            pub fn new(value: usize) -> Self {
                Self(imp::sync::atomic::AtomicUsize::new(value))
            }

            $(#[doc = concat!("As [`", stringify!($name), "`](std::sync::atomic::AtomicUsize::", stringify!($name), ") of `std`.")]
            #[allow(clippy::missing_errors_doc, reason = "std's page says it")]
            #[inline]
            pub fn $name(&self, $($argument: $type),*) -> $output {
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
    fetch_and(value: usize, order: Ordering) -> usize;
    fetch_xor(value: usize, order: Ordering) -> usize;
    compare_exchange(old: usize, new: usize, ok: Ordering, fail: Ordering) -> Result<usize, usize>;
    compare_exchange_weak(old: usize, new: usize, ok: Ordering, fail: Ordering) -> Result<usize, usize>;
}

/// An atomic flag.
#[derive(Debug)]
pub struct AtomicBool(imp::sync::atomic::AtomicBool);

impl AtomicBool {
    /// Creates a flag that is raised if `value` is true.
    #[inline]
    pub fn new(value: bool) -> Self {
        Self(imp::sync::atomic::AtomicBool::new(value))
    }

    /// Raises the flag if `value` is true, and lowers it otherwise.
    #[inline]
    pub fn store(&self, value: bool, order: Ordering) {
        self.0.store(value, order);
    }

    /// Lowers the flag and returns whether it was raised. If the flag was raised, the access is Acquire and pairs with
    /// the Release of the thread that raised it.
    /// This is a compare-and-exchange, because loom lets a swap read an older value although the swap's write is the
    /// latest. The raised flag would then be lost.
    #[inline]
    pub fn put_down(&self) -> bool {
        self.0.compare_exchange(true, false, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

/// A lock-free counter for the path of every request. It is always an atomic of `std`, so the model checkers don't see
/// the counter.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds `amount` and returns the previous number.
    #[inline]
    pub fn add(&self, amount: u64) -> u64 {
        // Relaxed: no thread infers another value from a count. If a thread must see a count, other means order it,
        // such as the lock of a reply.
        self.0.fetch_add(amount, std::sync::atomic::Ordering::Relaxed)
    }

    /// Sets the number, for a count that has one writer at a time.
    #[inline]
    pub fn set(&self, value: u64) {
        // Relaxed: as in `add`.
        self.0.store(value, std::sync::atomic::Ordering::Relaxed);
    }

    /// Returns the number.
    #[inline]
    pub fn get(&self) -> u64 {
        // Relaxed: as in `add`.
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }
}
