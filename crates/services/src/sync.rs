//! The only door of this crate to locks shared between threads.
//!
//! Everything that waits here waits in ports, replies and interleaves of `lehr-runtime`, whose protocols the model checkers
//! know. What is left are short critical sections without a wait inside: tables of services, of subscribers and of keys.
#![allow(clippy::disallowed_types, reason = "this is the door")]

use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use std::sync::{Arc, OnceLock, Weak};

/// A number that is counted on the way of every request, without a lock.
#[derive(Debug, Default)]
pub(crate) struct Count(AtomicU64);

impl Count {
    pub(crate) fn add(&self, amount: u64) {
        // Relaxed: nothing is concluded from one count about another value. Whoever was answered finds the request counted, since the answer's own lock orders the two.
        self.0.fetch_add(amount, Ordering::Relaxed);
    }

    /// For a count that has one writer at a time.
    pub(crate) fn set(&self, value: u64) {
        // Relaxed: who needs to see it is ordered after the writer by other means, which it names.
        self.0.store(value, Ordering::Relaxed);
    }

    pub(crate) fn get(&self) -> u64 {
        // Relaxed: see above.
        self.0.load(Ordering::Relaxed)
    }
}

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
