//! Lets a Python thread wait for a future, or for a message of another thread.

use std::pin::pin;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use lehr_sync::{Arc, process::Flag, thread};
use pyo3::prelude::*;

/// The interval at which a waiting thread checks whether it should stop.
const TICK: Duration = Duration::from_millis(50);

/// Wakes a thread that sleeps in [`wait_for`].
struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a message without holding the interpreter lock, and handles signals meanwhile. Returns `None` if the sender
/// has ended.
pub(crate) fn receive<T: Send>(py: Python<'_>, mut from: Receiver<T>) -> PyResult<Option<T>> {
    loop {
        let heard;
        (from, heard) = py.detach(move || {
            let heard = from.recv_timeout(TICK);
            (from, heard)
        });
        match heard {
            Ok(message) => return Ok(Some(message)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        }
    }
}

/// Polls a future on this thread until it is ready. Returns `None` if `stop` is raised first.
pub(crate) fn wait_for<F: Future>(future: F, stop: &Flag) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        if stop.is_up() {
            return None;
        }
        thread::park_timeout(TICK);
    }
}
