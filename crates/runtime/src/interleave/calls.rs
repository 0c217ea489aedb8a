//! Who is calling: the chain of handlers that wait for one another, kept so that a call which could never be answered fails.
//!
//! While a handler of an interleave is polled, its thread knows which operation of which interleave it is. A request that this
//! handler makes carries a [`Frame`], and so does every request that is made while answering it. An interleave that is asked by
//! a chain which already runs in it would make the chain wait for itself. It knows so at once, when the request is posted, under
//! the same lock under which the chain's operation would end; so the answer does not depend on timing.
//!
//! Only requests carry a chain. What a handler posts without waiting for an answer, and what a task that it spawns asks, waits
//! its turn like anything else: nobody in the chain waits for it. (A handler that awaits such a task, or an answer that comes
//! by a port of its own, is not seen.)

use std::cell::{Cell, RefCell};

use super::admission::Operation;
use crate::sync::Arc;

/// An operation that waits for an answer, and for whose sake it runs itself.
#[derive(Debug)]
pub(crate) struct Frame {
    place: Place,
    parent: Option<Arc<Frame>>,
}

/// An operation of some interleave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) interleave: u64,
    pub(crate) operation: Operation,
}

impl Frame {
    /// The operations of this interleave in the chain, the caller first.
    pub(super) fn operations(&self, interleave: u64) -> impl Iterator<Item = Operation> {
        std::iter::successors(Some(self), |frame| frame.parent.as_deref())
            .filter(move |frame| frame.place.interleave == interleave)
            .map(|frame| frame.place.operation)
    }
}

#[allow(clippy::missing_const_for_thread_local, reason = "the model checkers' macros take no const block")]
mod current {
    use super::{Arc, Cell, Frame, Place, RefCell};

    crate::sync::thread_local! {
        pub(super) static PLACE: Cell<Option<Place>> = Cell::new(None);
        pub(super) static CALLER: RefCell<Option<Arc<Frame>>> = RefCell::new(None);
    }
}
use current::{CALLER, PLACE};

/// Runs `poll` as part of the operation at `place`, which runs for the sake of `caller`.
pub(super) fn within<R>(place: Place, caller: Option<&Arc<Frame>>, poll: impl FnOnce() -> R) -> R {
    /// Puts the outer operation back, also if `poll` panics.
    struct Restore(Option<Place>, Option<Option<Arc<Frame>>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            PLACE.with(|current| current.set(self.0));
            if let Some(before) = self.1.take() {
                let _inner = CALLER.with(|current| current.replace(before));
            }
        }
    }

    let outer = PLACE.with(|current| current.replace(Some(place)));
    // Hardly anything has a caller: then the slower cell is not touched, except to hide an outer caller.
    let hides = caller.is_some() || outer.is_some();
    let before = hides.then(|| CALLER.with(|current| current.replace(caller.cloned())));
    let _restore = Restore(outer, before);
    poll()
}

/// Runs `poll` as part of no operation: a task inside the poll of another.
pub(crate) fn nowhere<R>(poll: impl FnOnce() -> R) -> R {
    /// Puts the outer operation and its caller back, also if `poll` panics.
    struct Restore(Option<Place>, Option<Option<Arc<Frame>>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            PLACE.with(|current| current.set(self.0));
            if let Some(before) = self.1.take() {
                let _inner = CALLER.with(|current| current.replace(before));
            }
        }
    }

    let outer = PLACE.with(|current| current.replace(None));
    let before = outer.is_some().then(|| CALLER.with(|current| current.replace(None)));
    let _restore = Restore(outer, before);
    poll()
}

/// The frame of a request made here; none outside the handlers of interleaves.
pub(crate) fn frame() -> Option<Arc<Frame>> {
    let place = PLACE.with(Cell::get)?;
    let parent = CALLER.with(|current| current.borrow().clone());
    Some(Arc::new(Frame { place, parent }))
}
