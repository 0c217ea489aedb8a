//! The only door of this crate to locks and threads.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "this is the door")]

use std::io;

pub(crate) use std::hint::spin_loop;
pub(crate) use std::sync::{Arc, OnceLock};
pub(crate) use std::thread::yield_now;

/// A lock whose guard comes back even if a holder panicked: what it protects is changed in single steps.
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

/// A thread of the edge, joined when it is dropped.
#[derive(Debug)]
pub(crate) struct Thread(Option<std::thread::JoinHandle<()>>);

impl Thread {
    pub(crate) fn start(name: String, body: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        std::thread::Builder::new().name(name).spawn(body).map(|thread| Self(Some(thread)))
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // From its own last task there is nobody to wait for.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}
