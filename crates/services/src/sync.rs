//! The only door of this crate to locks shared between threads.
//!
//! Everything that waits here waits in ports, replies and interleaves of `lehr-runtime`, whose protocols the model checkers
//! know. What is left are short critical sections without a wait inside: tables of services, of subscribers and of keys.
#![allow(clippy::disallowed_types, reason = "this is the door")]

pub(crate) use std::sync::{Arc, OnceLock, Weak};

/// A lock whose guard comes back even if a holder panicked: no code of users runs under it, so what it protects is whole.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> std::sync::MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
