//! Calls from a chain that already runs in the interleave. Such a call may deadlock, share the state, or enter through
//! lent exclusivity.
//!
//! For the chain of calls, see `calls.rs`.

use std::task::Waker;

use lehr_sync::Arc;

use super::lane::Entry;
use super::{Admission, Group, Operation};
use crate::calls::Frame;
use crate::error::Refusal;
use crate::port::wake::Wake;

/// The relation of a chain of calls to the running operations.
pub(super) enum Relation {
    /// No operation of the chain runs in this interleave, or none that matters for the call.
    Stranger,
    /// The chain passes through this operation, which has lent its exclusivity.
    Lender(Operation),
    /// An operation of the chain shares the state already, and the call only needs to share the state too.
    Sharer,
    /// An operation of this lane would have to end before the call can start, but this operation waits for the call.
    Deadlock(usize),
}

impl Admission {
    /// Handles the arrival of a call whose chain may already run in this interleave. Returns the entry as an error if
    /// it must wait like any other entry.
    pub(super) fn arrive_in_call(
        &mut self,
        lane: usize,
        entry: Entry,
        call: &Arc<Frame>,
        wake: &mut Wake,
    ) -> Result<(), Entry> {
        match self.relation(lane, call) {
            Relation::Stranger | Relation::Deadlock(_) => return Err(entry),
            Relation::Lender(operation) if self.stack.last() == Some(&operation) => self.start(lane, entry, true, wake),
            Relation::Lender(_) => self.nested.push_back((lane, entry)),
            // The caller shares the state already, so its call delays no other handler. If the call waited behind an
            // exclusive item, which waits for the caller, that would be the deadlock of recursive readers.
            Relation::Sharer => self.start(lane, entry, false, wake),
        }
        Ok(())
    }

    /// Returns how a chain of calls that wants to start in `lane` relates to the operations running here. The innermost
    /// operation of the chain that runs here decides.
    pub(super) fn relation(&self, lane: usize, call: &Frame) -> Relation {
        let group = self.lane(lane).group;
        if group.list().is_none() {
            return Relation::Stranger;
        }
        for operation in call.operations(self.identity) {
            let Some(running) = self.running(operation) else { continue };
            if running.is_lent {
                return Relation::Lender(operation);
            }
            let is_concurrent = self.lane(running.lane).group == Group::Concurrent;
            if running.is_stacked || (is_concurrent && group == Group::Exclusive) {
                return Relation::Deadlock(running.lane);
            }
            if is_concurrent {
                return Relation::Sharer;
            }
        }
        Relation::Stranger
    }

    /// Returns the reason why a call to `lane` could never be answered, if there is one.
    pub(in crate::interleave) fn judge(&self, lane: usize, call: &Frame) -> Option<Refusal> {
        let Relation::Deadlock(holder) = self.relation(lane, call) else { return None };
        let name = |lane| self.lane(lane).name.clone().into_boxed_str();
        Some(Refusal::WouldDeadlock { running: name(holder), requested: name(lane) })
    }

    /// Starts a waiting call from the chain of the operation `top` or, if there is none, lets `top` continue.
    pub(super) fn start_nested(&mut self, top: Operation, wake: &mut Wake) {
        let Some(running) = self.running_mut(top) else { return };
        if !running.is_lent {
            return;
        }
        let lender = running.lender.take();
        let identity = self.identity;
        let next = self.nested.iter().position(|(_, entry)| {
            entry.call.as_ref().is_some_and(|call| call.operations(identity).any(|operation| operation == top))
        });
        match next.and_then(|place| self.nested.remove(place)) {
            Some((lane, entry)) => {
                self.running_mut(top).expect("it is on the stack").lender = lender;
                self.start(lane, entry, true, wake);
            }
            None => wake.add(lender),
        }
    }

    /// Lends the exclusivity of an operation to the calls of its chain.
    pub(in crate::interleave) fn lend(&mut self, operation: Operation) {
        if let Some(running) = self.running_mut(operation) {
            running.is_lent = true;
        }
    }

    /// Takes the exclusivity back for the lender, and returns true. If calls still run, returns false and calls the
    /// waker when they have ended.
    pub(in crate::interleave) fn reclaim(&mut self, operation: Operation, waker: &Waker, wake: &mut Wake) -> bool {
        if self.stack.last() == Some(&operation) {
            self.end_loan(operation, wake);
            return true;
        }
        if let Some(running) = self.running_mut(operation) {
            running.lender = Some(waker.clone());
        }
        false
    }

    /// Ends a loan: calls that came through it and have not started wait like all other items.
    pub(in crate::interleave) fn end_loan(&mut self, operation: Operation, wake: &mut Wake) {
        if let Some(running) = self.running_mut(operation) {
            running.is_lent = false;
        }
        let identity = self.identity;
        let waiting = std::mem::take(&mut self.nested);
        for (index, entry) in waiting {
            let is_of_the_loan =
                entry.call.as_ref().is_some_and(|call| call.operations(identity).any(|caller| caller == operation));
            if !is_of_the_loan {
                self.nested.push_back((index, entry));
                continue;
            }
            let lane = self.lane_mut(index);
            let group = lane.group;
            let place = lane.pending.partition_point(|other| other.stamp < entry.stamp);
            lane.pending.insert(place, entry);
            self.count_pending(group, 1);
            self.relist(index);
        }
        self.pump(wake);
    }
}
