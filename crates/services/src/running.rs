//! The running handlers of a service, the times when they began to wait, and what they wait for. These records show why
//! a service is stuck.
//!
//! A handler that does not wait is never recorded. Such a handler ends with its first poll, and recording costs it only
//! two stores to a thread-local word. A handler is recorded at its first wait, with the task that it runs in, and gives
//! its reason at each wait. A request to another service gives the reason itself (`waiting_for`). The runtime's
//! inspector finds waits at ports and timers by the task.
//!
//! This module does not see a handler that computes, or blocks its thread, within its first poll. But the queue behind
//! such a handler shows in the counts, and the runtime's watchdog names its worker.

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
    /// The reason that the polled handler has just given for its wait.
    static REASON: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The waiting handlers of a service.
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
    /// The time of the handler's first wait, by the clock of the host.
    pub(crate) since: Option<Duration>,
    /// The identity of the task in which the handler runs.
    pub(crate) task: usize,
    /// The answer that the handler waits for, if it waits for one.
    pub(crate) reason: Option<String>,
}

impl Handling {
    /// Returns the waiting handlers, in the order of their first waits.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.entries.lock().waiting.values().cloned().collect()
    }
}

/// An entry that is removed when its handler ends.
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
    /// A handler whose waits are recorded.
    pub(crate) struct Watched<'a, F> {
        call: &'a Call,
        operation: &'static str,
        noted: Option<Noted>,
        #[pin]
        handler: F,
    }
}

/// Returns the handler with its waits recorded.
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

/// Restores the earlier value of `IS_HANDLING` after a poll, even if the handler panics. A handler may be polled within
/// another handler.
struct Polled(bool);

impl Drop for Polled {
    fn drop(&mut self) {
        IS_HANDLING.set(self.0);
    }
}

/// Returns the time left of the request whose handler is being polled; `None` outside a handler. A handler runs on the
/// workers of its host, so its deadline is on the host's clock. Outside a handler, the clock of a deadline is unknown.
pub(crate) fn time_left() -> Option<Duration> {
    if !IS_HANDLING.get() {
        return None;
    }
    let deadline = Context::current()?.deadline()?;
    Some(deadline.saturating_sub(Clock::current().now()))
}

/// Records that a handler waits, and for what. Handlers that do not wait never call this function.
#[cold]
fn note(call: &Call, operation: &'static str, noted: &mut Option<Noted>, task: usize) {
    let reason = REASON.take();
    let shared = call.shared();
    // The clock is read before the lock is taken, because a clock may be the user's code.
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
    /// A future that gives the reason of its wait, if a handler waits for it.
    pub(crate) struct WaitingFor<W, F> {
        what: W,
        #[pin]
        future: F,
    }
}

/// Gives the reason of a handler's wait while `future` is not ready. Calls `what` only in that case.
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
