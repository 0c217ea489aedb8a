//! The only door of this crate to locks and to the system's scheduler.
#![allow(clippy::disallowed_types, reason = "this is the door")]

use std as imp;

pub(crate) use imp::sync::{Arc, MutexGuard};
pub(crate) use imp::thread::yield_now;

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
