//! Running handlers: the holders of their operations, and their cancellation.

use std::task::Waker;

use super::{Admission, Operation};
use crate::port::wake::Wake;

pub(super) struct Running {
    pub(super) lane: usize,
    /// Whether the operation excludes other operations, and is therefore on `stack`.
    pub(super) is_stacked: bool,
    /// Whether the operation has lent its exclusivity to calls of its own chain.
    pub(super) is_lent: bool,
    pub(super) is_cancelled: bool,
    /// The number of parts that must end before the operation has ended: its turn and its guard.
    pub(super) holders: u8,
    /// The task to wake if the operation is cancelled.
    pub(super) waker: Option<Waker>,
    /// The task to wake when the calls to which the operation has lent its exclusivity have ended.
    pub(super) lender: Option<Waker>,
}

impl Running {
    /// Creates the state of a handler that starts; its turn is the first holder.
    pub(super) fn new(lane: usize, is_stacked: bool) -> Self {
        Self { lane, is_stacked, is_lent: false, is_cancelled: false, holders: 1, waker: None, lender: None }
    }
}

impl Admission {
    /// Adds a holder to a running operation.
    pub(in crate::interleave) fn hold(&mut self, operation: Operation) {
        if let Some(running) = self.running_mut(operation) {
            running.holders += 1;
        }
    }

    /// Registers the waker of a suspended handler, to be called if the handler is cancelled. Returns whether the
    /// handler has been cancelled already.
    pub(in crate::interleave) fn suspend(&mut self, operation: Operation, waker: &Waker) -> bool {
        let Some(running) = self.running_mut(operation) else { return false };
        if !running.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            running.waker = Some(waker.clone());
        }
        running.is_cancelled
    }

    pub(in crate::interleave) fn is_cancelled(&self, operation: Operation) -> bool {
        self.running(operation).is_some_and(|running| running.is_cancelled)
    }

    /// Cancels the handlers in the lanes that `which` selects; returns the number of cancelled handlers.
    pub(in crate::interleave) fn cancel(&mut self, which: impl Fn(usize) -> bool, wake: &mut Wake) -> usize {
        let mut count = 0;
        for running in self.operations.iter_mut().filter_map(|(_, running)| running.as_mut()) {
            if which(running.lane) && !running.is_cancelled {
                running.is_cancelled = true;
                count += 1;
                wake.add(running.waker.take());
            }
        }
        count
    }

    /// Returns the name of a running operation, for messages.
    pub(in crate::interleave) fn name(&self, operation: Operation) -> String {
        self.running(operation).map_or_else(String::new, |running| self.lane(running.lane).name.clone())
    }

    pub(super) fn running(&self, operation: Operation) -> Option<&Running> {
        let (generation, running) = self.operations.get(operation.slot())?;
        running.as_ref().filter(|_| *generation == operation.generation())
    }

    pub(super) fn running_mut(&mut self, operation: Operation) -> Option<&mut Running> {
        let (generation, running) = self.operations.get_mut(operation.slot())?;
        running.as_mut().filter(|_| *generation == operation.generation())
    }
}
