//! Calls predicates under their port's lock, returns their panics as errors and, in debug builds, measures their time.
//!
//! A slow predicate delays all users of its port. The fault of a slow predicate is in the program and not in the item,
//! so the receive does not fail. Lehr reports the predicate to the process's error hook, with the port's name, after
//! the lock is released. The time is wall time, so a predicate whose thread was preempted may be reported too. Release
//! builds read no clock.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lehr_sync::process::Flag;

use crate::error::panic_message;

/// Returns whether the predicate accepts the item.
///
/// # Errors
/// Returns the text of the predicate's panic.
pub(crate) fn accepts<T>(predicate: &(dyn Fn(&T) -> bool + Send), item: &T) -> Result<bool, String> {
    watch::timed(|| caught(|| predicate(item)))
}

/// Calls user code under a lock. A panic's payload is kept until [`settle`], because dropping it may run more user
/// code.
///
/// # Errors
/// Returns the panic's message if `ask` panics.
pub(crate) fn caught<R>(ask: impl FnOnce() -> R) -> Result<R, String> {
    // Unwind safety: the code that panicked is not called again, and it saw the item only through a shared reference.
    catch_unwind(AssertUnwindSafe(ask)).map_err(|payload| {
        let message = panic_message(payload.as_ref());
        HAS_PANICKED.raise();
        // If the thread is ending, its list of payloads is gone, and the payload is dropped at once.
        let _ = payloads::PAYLOADS.try_with(|payloads| payloads.borrow_mut().push(payload));
        message
    })
}

/// Whether any predicate has panicked in this process. Before the first panic, no code looks for payloads.
static HAS_PANICKED: Flag = Flag::new();

#[allow(clippy::missing_const_for_thread_local, reason = "the model checkers' macros take no const block")]
mod payloads {
    use super::{Any, RefCell};

    lehr_sync::thread_local! {
        /// The payloads of panics under a lock that this thread holds, or has just released.
        pub(super) static PAYLOADS: RefCell<Vec<Box<dyn Any + Send>>> = RefCell::new(Vec::new());
    }
}

/// Drops the payloads of predicates' panics. If dropping a payload panics, the payload of the second panic is leaked.
#[cold]
fn drop_payloads() {
    let payloads = payloads::PAYLOADS.try_with(|payloads| std::mem::take(&mut *payloads.borrow_mut()));
    for payload in payloads.into_iter().flatten() {
        // Unwind safety: the payload is not used afterwards.
        if let Err(second) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(second);
        }
    }
}

/// Drops the payloads of predicates' panics, and reports the slowest predicate if it was too slow. Call this function
/// after releasing the lock wherever predicates may have run.
#[inline]
pub(crate) fn settle(port: impl FnOnce() -> String) {
    if HAS_PANICKED.is_up() {
        drop_payloads();
    }
    if let Some(time) = watch::take_slow() {
        let limit = watch::LIMIT;
        let text = format!(
            "a predicate on {} took {time:.0?} under the port's lock; more than {limit:.0?} is too long",
            port()
        );
        crate::context::ContextError::new(text).deliver(None);
    }
}

#[cfg(all(debug_assertions, not(any(loom, shuttle))))]
mod watch {
    use std::cell::Cell;
    use std::time::Duration;

    use lehr_sync::{Moment, thread_local};

    /// The time limit above which a predicate is reported. A quick predicate takes about a thousandth of this limit, so
    /// only faulty predicates are reported.
    pub(super) const LIMIT: Duration = Duration::from_millis(10);

    thread_local! {
        /// The time of the slowest predicate that this thread has called since its last report. The time belongs to the
        /// thread and not to the port, because the predicate and the report are parts of one call.
        static SLOWEST: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    }

    pub(super) fn timed<R>(ask: impl FnOnce() -> R) -> R {
        let start = Moment::now();
        let answer = ask();
        let time = start.elapsed();
        if time > LIMIT {
            SLOWEST.with(|slowest| slowest.set(slowest.get().max(time)));
        }
        answer
    }

    pub(super) fn take_slow() -> Option<Duration> {
        let slowest = SLOWEST.with(|slowest| slowest.replace(Duration::ZERO));
        (slowest > Duration::ZERO).then_some(slowest)
    }
}

#[cfg(not(all(debug_assertions, not(any(loom, shuttle)))))]
mod watch {
    use std::time::Duration;

    pub(super) const LIMIT: Duration = Duration::MAX;

    #[inline]
    pub(super) fn timed<R>(ask: impl FnOnce() -> R) -> R {
        ask()
    }

    #[inline]
    pub(super) fn take_slow() -> Option<Duration> {
        None
    }
}
