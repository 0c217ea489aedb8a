//! The only door of this crate to threads, channels and the numbers of processes.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "this is the door")]

use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
pub(crate) use std::sync::{OnceLock, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{JoinHandle, Thread};
use std::time::Duration;

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
pub(crate) fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// Something that one thread uses at a time.
#[derive(Debug)]
pub(crate) struct Held<T>(Mutex<T>);

impl<T> Held<T> {
    pub(crate) fn new(of: T) -> Self {
        Self(Mutex::new(of))
    }

    /// Uses it. Not to be called from within.
    pub(crate) fn with<R>(&self, of: impl FnOnce(&mut T) -> R) -> R {
        of(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How often a wait looks whether it is to end.
const TICK: Duration = Duration::from_millis(50);

/// Wakes a thread that sleeps in [`wait_for`].
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls a future on this thread until it is ready; nothing if `stop` is said before.
pub(crate) fn wait_for<F: Future>(future: F, stop: &Stop) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        if stop.is_said() {
            return None;
        }
        std::thread::park_timeout(TICK);
    }
}
