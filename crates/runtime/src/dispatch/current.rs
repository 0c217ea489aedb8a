//! What the calling thread is: a worker of some dispatcher, or none. Asked at every wake, so it is one pointer.

use std::cell::Cell;
use std::ptr;

use crossbeam_deque::Worker;

use super::{Job, Shared};

/// What a worker thread knows of itself.
pub(crate) struct Current {
    pub(crate) dispatcher: u64,
    pub(crate) index: usize,
    pub(crate) local: Worker<Job>,
}

impl Current {
    #[inline]
    pub(crate) fn is_of(&self, shared: &Shared) -> bool {
        self.dispatcher == shared.identity
    }

    /// Makes the calling thread this worker for as long as `life` runs.
    pub(crate) fn live<R>(&self, life: impl FnOnce() -> R) -> R {
        /// Takes the pointer away again, also if `life` panics.
        struct Leaving;
        impl Drop for Leaving {
            fn drop(&mut self) {
                CURRENT.with(|current| current.set(ptr::null()));
            }
        }
        let before = CURRENT.with(|current| current.replace(self));
        assert!(before.is_null(), "a thread is one worker");
        let _leaving = Leaving;
        life()
    }
}

#[cfg(not(any(loom, shuttle)))]
crate::sync::thread_local! {
    static CURRENT: Cell<*const Current> = const { Cell::new(ptr::null()) };
}

#[cfg(any(loom, shuttle))]
#[allow(clippy::missing_const_for_thread_local, reason = "the model checkers' macros take no const block")]
mod modelled {
    use super::{Cell, Current, ptr};

    crate::sync::thread_local! {
        pub(super) static CURRENT: Cell<*const Current> = Cell::new(ptr::null());
    }
}
#[cfg(any(loom, shuttle))]
use modelled::CURRENT;

/// Shows `look` what worker the calling thread is; nothing if it is none.
#[inline]
pub(crate) fn with_current<R>(look: impl FnOnce(Option<&Current>) -> R) -> R {
    // A model takes thread-local state away before a thread has ended; it is no longer a worker then.
    let current = CURRENT.try_with(Cell::get).unwrap_or(ptr::null());
    // SAFETY: null, or set by `live`, which borrows the worker until it has taken the pointer away again; this thread is inside `live`
    // now, so the worker outlives this call, and `look` cannot keep the reference beyond it. The worker is only ever shared.
    look(unsafe { current.as_ref() })
}
