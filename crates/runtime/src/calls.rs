//! The chain of handlers that wait for one another. The chain is recorded so that a call fails if it could never be
//! answered.
//!
//! While a handler of an interleave is polled, its thread knows which operation of which interleave it polls. A request
//! that this handler makes carries a [`Frame`], and so does every request that is made while answering it. If a chain
//! already runs in an interleave and calls the interleave again, the chain would wait for itself. The interleave
//! detects this at once, when the request is posted, under the same lock under which the chain's operation would end.
//! So whether such a call fails does not depend on timing.
//!
//! Only requests carry a chain of handlers. If a handler posts without awaiting an answer, nothing in the chain waits
//! for the post. The post waits its turn like any other item. The requests of a task that the handler spawns wait their
//! turn in the same way. (If a handler awaits such a task, or an answer that comes by a separate port, the deadlock is
//! not detected.)

use std::any::Any;
use std::cell::{Cell, RefCell};

use lehr_sync::Arc;

/// A handler that was granted its start and has not ended. The high half of the word is the handler's slot, and the low
/// half counts the uses of the slot. The slot and its use are in one word, because reading two words consistently costs
/// as much as a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operation(u64);

impl Operation {
    pub(crate) fn new(slot: u32, generation: u32) -> Self {
        Self((u64::from(slot) << 32) | u64::from(generation))
    }

    pub(crate) fn slot(self) -> usize {
        (self.0 >> 32) as usize
    }

    pub(crate) fn generation(self) -> u32 {
        self.0 as u32
    }

    /// Returns the operation that uses the same slot next.
    pub(crate) fn next(self) -> Self {
        Self((self.0 & !u64::from(u32::MAX)) | u64::from(self.generation().wrapping_add(1)))
    }

    /// Returns the number of the slot, so that the slot can be used again.
    pub(crate) fn into_slot(self) -> u32 {
        (self.0 >> 32) as u32
    }
}

/// An operation that waits for an answer, with the frame of the operation that waits for this operation in turn.
#[derive(Debug)]
pub(crate) struct Frame {
    place: CallSite,
    parent: Option<Arc<Frame>>,
}

/// An operation, and the interleave in which it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CallSite {
    pub(crate) interleave: u64,
    pub(crate) operation: Operation,
}

impl Frame {
    /// Returns the operations of this interleave in the chain, the caller first.
    pub(crate) fn operations(&self, interleave: u64) -> impl Iterator<Item = Operation> {
        std::iter::successors(Some(self), |frame| frame.parent.as_deref())
            .filter(move |frame| frame.place.interleave == interleave)
            .map(|frame| frame.place.operation)
    }
}

/// The state that the guard of an operation held, on its way back to the turn that runs the operation. If this value is
/// dropped on the way, it gives the state back.
pub(crate) type Left = Box<dyn Any + Send>;

/// The operation that a thread is polling.
#[derive(Default)]
struct Here {
    place: Cell<Option<CallSite>>,
    /// The frame of the request that the operation serves, if it serves one.
    caller: RefCell<Option<Arc<Frame>>>,
    /// The state that the operation's guard has left, if the guard was dropped in this very poll.
    left: Cell<Option<Left>>,
}

#[allow(clippy::missing_const_for_thread_local, reason = "the model checkers' macros take no const block")]
mod current {
    use super::Here;

    lehr_sync::thread_local! {
        pub(super) static HERE: Here = Here::default();
    }
}
use current::HERE;

/// Replaces the operation that the thread polls. Dropping this value restores the outer operation, even after a panic.
struct Elsewhere<'a> {
    here: &'a Here,
    place: Option<CallSite>,
    /// The outer caller; `None` if the caller was not changed.
    caller: Option<Option<Arc<Frame>>>,
    left: Option<Left>,
}

impl<'a> Elsewhere<'a> {
    fn go(here: &'a Here, place: Option<CallSite>, caller: Option<&Arc<Frame>>) -> Self {
        let outer = here.place.replace(place);
        // Hardly any operation has a caller. If neither this operation nor the outer one has a caller, the slower cell
        // is not touched.
        let hides = caller.is_some() || outer.is_some();
        let before = hides.then(|| here.caller.replace(caller.cloned()));
        Self { here, place: outer, caller: before, left: here.left.take() }
    }
}

impl Drop for Elsewhere<'_> {
    fn drop(&mut self) {
        self.here.place.set(self.place);
        let _inner = self.caller.take().map(|before| self.here.caller.replace(before));
        // After a panic, a guard may have left its state here. Dropping it gives the state back.
        let _left = self.here.left.replace(self.left.take());
    }
}

/// Runs `poll` as part of the operation at `place`, which runs for `caller`. Also returns the state that the
/// operation's guard left, if the guard was dropped meanwhile.
pub(crate) fn within<R>(place: CallSite, caller: Option<&Arc<Frame>>, poll: impl FnOnce() -> R) -> (R, Option<Left>) {
    HERE.with(|here| {
        let _elsewhere = Elsewhere::go(here, Some(place), caller);
        let result = poll();
        (result, here.left.take())
    })
}

/// Runs `poll` outside every operation, for a task that is polled inside the poll of another task.
pub(crate) fn nowhere<R>(poll: impl FnOnce() -> R) -> R {
    HERE.with(|here| {
        let _elsewhere = Elsewhere::go(here, None, None);
        poll()
    })
}

/// Hands the state of a guard to the turn of the operation at `place`, if this thread is polling that operation.
///
/// # Errors
/// Returns the state if this thread is not polling that operation, because no turn would collect the state.
pub(crate) fn leave<G: Any + Send>(place: CallSite, left: Box<G>) -> Result<(), Box<G>> {
    let mut left = Some(left);
    // A thread that is ending polls no operation.
    let _ = HERE.try_with(|here| {
        if here.place.get() == Some(place) {
            here.left.set(left.take().map(|left| left as Left));
        }
    });
    left.map_or(Ok(()), Err)
}

/// Returns the frame of a request made here; `None` outside the handlers of interleaves.
pub(crate) fn frame() -> Option<Arc<Frame>> {
    let frame = HERE.try_with(|here| {
        let place = here.place.get()?;
        let parent = here.caller.borrow().clone();
        Some(Arc::new(Frame { place, parent }))
    });
    frame.ok().flatten()
}
