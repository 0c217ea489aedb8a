//! The only door of this crate to threads, channels and the numbers of processes.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "this is the door")]

use std::io;

use std::sync::Arc;
pub(crate) use std::sync::{OnceLock, mpsc};
use std::thread::JoinHandle;

/// Starts a thread that goes on by itself if its handle is dropped.
///
/// # Errors
/// If the system gives none.
pub(crate) fn spawn<T: Send + 'static>(
    name: &str,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(body)
}

/// Said once, heard by whoever asks: stop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<OnceLock<()>>);

impl Stop {
    pub(crate) fn say(&self) {
        // A second word changes nothing.
        let _ = self.0.set(());
    }

    pub(crate) fn is_said(&self) -> bool {
        self.0.get().is_some()
    }
}

/// Waits for so long.
pub(crate) fn pause(time: std::time::Duration) {
    std::thread::sleep(time);
}
