//! The context that a thread runs in: entered around polls, captured by posts and spawns.
//!
//! When items are taken from a port under its lock, [`leave`] puts their contexts into a thread-local list. Dropping a
//! context under the lock could run user code (with the last clone of a sink). [`collect`] picks up the requested
//! contexts; [`settle`] drops all other contexts after the lock is released.

use std::cell::RefCell;

use lehr_sync::process::Flag;

use super::Context;

/// Raised when the first context is made; before that, no thread-local is read.
pub(super) static CONTEXTS_IN_USE: Flag = Flag::new();

#[derive(Default)]
struct Local {
    current: Option<Context>,
    /// The innermost context that an unwinding panic has left.
    failed_in: Option<Context>,
    /// The contexts of the items that were just taken, if they were not yet collected or dropped.
    taken: Vec<Context>,
}

#[allow(clippy::missing_const_for_thread_local, reason = "the model checkers' macros take no const block")]
mod local {
    use super::{Local, RefCell};

    lehr_sync::thread_local! {
        pub(super) static LOCAL: RefCell<Local> = RefCell::new(Local::default());
    }
}

/// Calls `look` with the thread's data. `look` must not drop a context, because that may call this function again.
/// Returns `None` if the thread is ending.
fn with_local<R>(look: impl FnOnce(&mut Local) -> R) -> Option<R> {
    local::LOCAL.try_with(|local| look(&mut local.borrow_mut())).ok()
}

/// Returns whether a context was ever made.
#[inline]
pub(crate) fn in_use() -> bool {
    CONTEXTS_IN_USE.is_up()
}

/// Returns the context that the thread runs in.
#[inline]
pub(crate) fn current() -> Option<Context> {
    if !in_use() {
        return None;
    }
    with_local(|local| local.current.clone()).flatten()
}

/// Returns the context that a post or a spawn takes along: the current context as it is on the other side.
#[inline]
pub(crate) fn capture() -> Option<Context> {
    /// A separate cold function, so that programs without contexts do not pay for it.
    #[cold]
    fn across() -> Option<Context> {
        current().map(|context| context.across())
    }
    if in_use() { across() } else { None }
}

/// Runs `body` in no context, so that posts and spawns in it carry no context.
pub(crate) fn detached<R>(body: impl FnOnce() -> R) -> R {
    let _entered = in_use().then(|| enter(None));
    body()
}

/// Makes `context` current until the returned guard is dropped.
pub(crate) fn enter(context: Option<Context>) -> Entered {
    let replaced = with_local(|local| {
        // A context that is left here belongs to an earlier panic, which other code has caught.
        let stale = local.failed_in.take();
        (std::mem::replace(&mut local.current, context), stale)
    });
    let outer = replaced.and_then(|(outer, stale)| {
        drop(stale);
        outer
    });
    Entered { outer }
}

/// Restores the outer context when it is dropped; returned by [`enter`].
pub(crate) struct Entered {
    outer: Option<Context>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        let outer = self.outer.take();
        let is_panicking = std::thread::panicking();
        let left = with_local(|local| {
            let own = std::mem::replace(&mut local.current, outer);
            if is_panicking && local.failed_in.is_none() {
                local.failed_in = own;
                None
            } else {
                own
            }
        });
        drop(left);
    }
}

/// Returns the innermost context that the panic just caught went through, or else `own`.
pub(crate) fn failed_in(own: Option<&Context>) -> Option<Context> {
    if !in_use() {
        return None;
    }
    with_local(|local| local.failed_in.take()).flatten().or_else(|| own.cloned())
}

/// Stores the context of an item that is being taken, so that it can be collected later. This function may be called
/// under a port's lock.
#[inline]
pub(crate) fn leave(context: Option<Context>) {
    /// A separate cold function, so that programs without contexts do not pay for it.
    #[cold]
    #[inline(never)]
    fn keep(context: Context) {
        // On a thread that is ending, no code collects the context; it is dropped here.
        let _ = with_local(|local| local.taken.push(context));
    }
    if let Some(context) = context {
        keep(context);
    }
}

/// Drops the contexts that were not collected. Don't call `settle` under a lock.
#[inline]
pub(crate) fn settle() {
    /// Cold for the same reason as in [`leave`].
    #[cold]
    #[inline(never)]
    fn drop_taken() {
        drop(with_local(|local| std::mem::take(&mut local.taken)));
    }
    if in_use() {
        drop_taken();
    }
}

/// Runs `take` and returns the contexts of the items that it took, in the order of taking. This function may be called
/// under a lock.
pub(crate) fn collect<R>(take: impl FnOnce() -> R) -> (R, Vec<Context>) {
    if !in_use() {
        return (take(), Vec::new());
    }
    let before = with_local(|local| local.taken.len()).unwrap_or(0);
    let result = take();
    let taken = with_local(|local| local.taken.split_off(before.min(local.taken.len()))).unwrap_or_default();
    (result, taken)
}
