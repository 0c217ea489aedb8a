//! The running handlers of a service, their starting times, and the things that they wait for. Read it to see why
//! something is stuck.
//!
//! A handler that does not wait is never noted. It is at its end after its first poll, and costs two stores to a
//! thread's own word. A waiting handler is noted at its first wait, with the task that it runs in, and names its reason
//! at each wait. An answer of another service says so itself (`waiting_for`). The runtime's inspector knows a wait at a
//! port or a timer, by the task.
//!
//! This does not see a handler that computes, or blocks its thread, within its first poll. The queue behind it is seen,
//! and the runtime's watchdog names its worker.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context as Polling, Poll};
use std::time::Duration;

use lehr_runtime::{Clock, Context};
use lehr_sync::{Arc, Mutex};
use pin_project_lite::pin_project;

use crate::call::Call;
use crate::shared::Shared;

thread_local! {
    /// Whether a handler is being polled on this thread.
    static IS_HANDLING: Cell<bool> = const { Cell::new(false) };
    /// The reason of a wait that the polled handler has just given.
    static REASON: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The handlers of a service that wait.
#[derive(Debug, Default)]
pub(crate) struct Handling {
    entries: Mutex<Entries>,
}

#[derive(Debug, Default)]
struct Entries {
    next: u64,
    waiting: BTreeMap<u64, Entry>,
}

/// A handler that has waited at least once.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) operation: &'static str,
    pub(crate) caller: Option<Box<str>>,
    /// By the clock of the host.
    pub(crate) since: Option<Duration>,
    /// The identity of the task that it runs in.
    pub(crate) task: usize,
    /// The answer that it waits for, if it waits for one.
    pub(crate) reason: Option<String>,
}

impl Handling {
    /// Those that wait, in the order in which they first did.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.entries.lock().waiting.values().cloned().collect()
    }
}

/// An entry that disappears with its handler.
struct Noted {
    shared: Arc<Shared>,
    number: u64,
}

impl Drop for Noted {
    fn drop(&mut self) {
        let gone = self.shared.handling.entries.lock().waiting.remove(&self.number);
        drop(gone);
    }
}

pin_project! {
    /// A handler whose waits are noted.
    pub(crate) struct Watched<'a, F> {
        call: &'a Call,
        operation: &'static str,
        noted: Option<Noted>,
        #[pin]
        handler: F,
    }
}

/// Notes the waits of a handler.
pub(crate) fn watched<'a, F: Future>(call: &'a Call, operation: &'static str, handler: F) -> Watched<'a, F> {
    Watched { call, operation, noted: None, handler }
}

impl<F: Future> Future for Watched<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, polling: &mut Polling<'_>) -> Poll<F::Output> {
        let this = self.project();
        let polled = {
            let _polled = Polled(IS_HANDLING.replace(true));
            this.handler.poll(polling)
        };
        if polled.is_pending() {
            note(this.call, this.operation, this.noted, polling.waker().data().addr());
        }
        polled
    }
}

/// Says that the handler is no longer polled, also if it panics. One that is polled within another gives the word back
/// to that.
struct Polled(bool);

impl Drop for Polled {
    fn drop(&mut self) {
        IS_HANDLING.set(self.0);
    }
}

/// Returns the time left of the request whose handler is being polled. A handler runs on the workers of its host, and
/// so by its clock; elsewhere it is unknown by which clock a deadline was set.
pub(crate) fn time_left() -> Option<Duration> {
    if !IS_HANDLING.get() {
        return None;
    }
    let deadline = Context::current()?.deadline()?;
    Some(deadline.saturating_sub(Clock::current().now()))
}

/// Not inlined: a future that does not wait does not come here.
#[cold]
fn note(call: &Call, operation: &'static str, noted: &mut Option<Noted>, task: usize) {
    let reason = REASON.take();
    let shared = call.shared();
    // Asked before the lock: a clock may be the user's.
    let since = if noted.is_none() { shared.host().map(|host| host.clock().now()) } else { None };
    let mut entries = shared.handling.entries.lock();
    match noted {
        Some(noted) => {
            if let Some(entry) = entries.waiting.get_mut(&noted.number) {
                (entry.reason, entry.task) = (reason, task);
            }
        }
        None => {
            entries.next += 1;
            let number = entries.next;
            let caller = call.caller().map(Box::from);
            entries.waiting.insert(number, Entry { operation, caller, since, task, reason });
            drop(entries);
            *noted = Some(Noted { shared: shared.clone(), number });
        }
    }
}

pin_project! {
    /// A wait that names its reason, if a handler waits.
    pub(crate) struct WaitingFor<W, F> {
        what: W,
        #[pin]
        future: F,
    }
}

/// Names the reason of a handler's wait while `future` is not there. `what` is called only then.
pub(crate) fn waiting_for<W: Fn() -> String, F: Future>(what: W, future: F) -> WaitingFor<W, F> {
    WaitingFor { what, future }
}

impl<W: Fn() -> String, F: Future> Future for WaitingFor<W, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, polling: &mut Polling<'_>) -> Poll<F::Output> {
        let this = self.project();
        let polled = this.future.poll(polling);
        if polled.is_pending() && IS_HANDLING.get() {
            REASON.set(Some((this.what)()));
        }
        polled
    }
}
