//! Atomic numbers and flags. Types of their own, because to the lints a re-export is still the type of `std`, which
//! they ban outside this crate.

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
            /// A number that starts with this value.
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
    /// A flag that is up or not.
    #[inline]
    pub fn new(value: bool) -> Self {
        Self(imp::sync::atomic::AtomicBool::new(value))
    }

    /// Raises it or puts it down.
    #[inline]
    pub fn store(&self, value: bool, order: Ordering) {
        self.0.store(value, order);
    }

    /// Puts a raised flag down; false if it was not up. Acquire if it was: pairs with the Release of the thread that
    /// raised it.
    ///
    /// An exchange and not a swap: loom lets a swap read an older value and yet be the latest to write, which loses the
    /// flag.
    #[inline]
    pub fn put_down(&self) -> bool {
        self.0.compare_exchange(true, false, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

/// A number that is counted on the way of every request, without a lock. No model looks at it: `std` always.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Counts this many more, and gives how many there were before.
    #[inline]
    pub fn add(&self, amount: u64) -> u64 {
        // Relaxed: nothing is concluded from one count about another value. Whoever needs to see it is ordered by other
        // means, such as the lock of an answer.
        self.0.fetch_add(amount, std::sync::atomic::Ordering::Relaxed)
    }

    /// Sets it, for a count that has one writer at a time.
    #[inline]
    pub fn set(&self, value: u64) {
        // Relaxed: as in `add`.
        self.0.store(value, std::sync::atomic::Ordering::Relaxed);
    }

    /// The number of them.
    #[inline]
    pub fn get(&self) -> u64 {
        // Relaxed: as in `add`.
        self.0.load(std::sync::atomic::Ordering::Relaxed)
    }
}
