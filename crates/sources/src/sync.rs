//! The only door of this crate to locks and threads: the thread runs Tokio, for sockets and names.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "this is the door")]

use std::io;

pub(crate) use std::sync::Arc;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A lock whose guard comes back even if a holder panicked: what it protects is changed in single steps.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn lock(&self) -> std::sync::MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// A thread with a Tokio runtime; both end when it is dropped.
#[derive(Debug)]
pub(crate) struct Runtime {
    handle: Handle,
    /// Dropped before the thread is joined, which ends by it.
    end: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Runtime {
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let (handle, (end, ended)) = (runtime.handle().clone(), oneshot::channel::<()>());
        let thread = std::thread::Builder::new().name("lehr-sources".to_owned()).spawn(move || {
            let _ = runtime.block_on(ended);
        })?;
        Ok(Self { handle, end: Some(end), thread: Some(thread) })
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for Runtime {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            // From its own last task there is nobody to wait for.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}
