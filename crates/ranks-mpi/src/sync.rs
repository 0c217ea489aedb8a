//! The only door of this crate to locks and to the system's scheduler.
#![allow(clippy::disallowed_types, reason = "this is the door")]

use std as imp;

pub(crate) use imp::sync::{Arc, MutexGuard};
pub(crate) use imp::thread::{sleep, yield_now};

/// A number that one task counts, and others may only see late.
#[derive(Debug, Default)]
pub(crate) struct Count(imp::sync::atomic::AtomicU32);

impl Count {
    pub(crate) fn reset(&self) {
        // Relaxed: nothing is read because of it.
        self.0.store(0, imp::sync::atomic::Ordering::Relaxed);
    }

    /// Counts one more, and says how many there were before.
    pub(crate) fn increment(&self) -> u32 {
        // Relaxed: as above.
        self.0.fetch_add(1, imp::sync::atomic::Ordering::Relaxed)
    }
}

/// How many cores the machine has, whichever of them this process is bound to.
pub(crate) fn cores() -> usize {
    let bound = || imp::thread::available_parallelism().map_or(1, imp::num::NonZero::get);
    let Ok(online) = imp::fs::read_to_string("/sys/devices/system/cpu/online") else { return bound() };
    count(online.trim()).unwrap_or_else(bound)
}

/// The length of a list of ranges, such as `0-3,8`.
fn count(list: &str) -> Option<usize> {
    let length = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        last.parse::<usize>().ok()?.checked_sub(first.parse().ok()?).map(|more| more + 1)
    };
    list.split(',').map(length).sum()
}

/// A lock whose guard comes back even if a holder panicked: what it protects here is changed in steps that cannot panic between
/// two consistent states.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(imp::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(imp::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(imp::sync::PoisonError::into_inner)
    }

    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(imp::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(imp::sync::TryLockError::WouldBlock) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores_are_counted() {
        assert_eq!(["0", "0-1", "0-3,8", "0-1,4-7"].map(count), [Some(1), Some(2), Some(5), Some(6)]);
        assert_eq!(["", "a", "3-1"].map(count), [None, None, None]);
        assert!(cores() > 0);
    }
}
