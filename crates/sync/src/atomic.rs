//! Atomic numbers and flags. They are types of their own and not re-exports. The lints ban the types of `std` outside
//! this crate, and treat a re-export as the type of `std`.

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
    /// Creates a flag that is raised or not.
    #[inline]
    pub fn new(value: bool) -> Self {
        Self(imp::sync::atomic::AtomicBool::new(value))
    }

    /// Raises or lowers the flag.
    #[inline]
    pub fn store(&self, value: bool, order: Ordering) {
        self.0.store(value, order);
    }

    /// Lowers a raised flag; returns false if it was not raised. Acquire if it was: pairs with the Release of the
    /// thread that raised it.
    ///
    /// A compare-and-exchange and not a swap: loom lets a swap read an older value although its write is the latest,
    /// which loses the flag.
    #[inline]
    pub fn put_down(&self) -> bool {
        self.0.compare_exchange(true, false, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

/// A number that is counted on the path of every request, without a lock. The model checkers never see it: it is always
/// the atomic of `std`.
#[derive(Debug, Default)]
pub struct Count(AtomicU64);

impl Count {
    /// Adds this amount, and returns the number before.
    #[inline]
    pub fn add(&self, amount: u64) -> u64 {
        // Relaxed: nothing is concluded from one count about another value. A thread that must see a count is ordered
        // by other means, such as the lock of an answer.
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
