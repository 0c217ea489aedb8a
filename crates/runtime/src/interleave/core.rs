//! The core that the branches, the guards and the handles of one interleave share: admission and the state, under one
//! lock.
//!
//! The lock of an interleave is taken after port locks and before queue locks. Decisions made under the lock take
//! effect after its release: wakers are collected in a [`Wake`], and user values are dropped after the release.

use std::task::Waker;

use lehr_sync::{Arc, SpinLock};

use super::admission::{Admission, Lane, Operation, Phase};
use super::guard::Version;
use crate::context;
use crate::dispatch::Handle;
use crate::error::TaskError;
use crate::port::Port;
use crate::port::waiters::Ticket;
use crate::port::wake::Wake;

/// The core of an interleave; see the documentation of this module.
pub struct Core<S> {
    pub(super) identity: u64,
    pub(super) name: String,
    pub(super) handle: Handle,
    pub(super) keeps_ports_open: bool,
    /// Whether the items that remain in closed ports are refused.
    pub(super) refuses_pending: bool,
    pub(super) on_failure: Option<Box<dyn Fn(Failure) + Send + Sync>>,
    pub(super) inner: SpinLock<Inner<S>>,
    /// A port that is closed when the interleave has ended.
    pub(super) end: Port<std::convert::Infallible>,
}

pub struct Inner<S> {
    pub(super) admission: Admission,
    /// The state that the last exclusive handler left; `None` while a handler changes it in place, and after the
    /// teardown.
    pub(super) state: Option<Version<S>>,
    /// The branches, by the numbers of their lanes.
    pub(super) members: Vec<Option<Seat>>,
    /// The number of independent branches. If there are any, the old state stays visible while a new state is made.
    pub(super) independents: usize,
    /// Whether the state is read from outside ([`latest`](super::InterleaveHandle::latest)). If so, the state must be
    /// visible even between the drop of a guard and the end of its handler.
    pub(super) is_followed: bool,
    /// Set while the teardown handler runs: the waker to call if it is cancelled.
    pub(super) teardown: Option<Waker>,
    /// The outcome, once the interleave has ended.
    pub(super) outcome: Option<Result<(), TaskError>>,
}

/// A branch of the interleave, with its ticket and its identity.
pub(super) struct Seat {
    /// The identity of the branch. The lane's number is not enough, because lane numbers are reused.
    pub(super) identity: u64,
    pub(super) member: Arc<dyn Member>,
    /// The branch's ticket, once it has registered at its port.
    pub(super) ticket: Option<Ticket>,
    pub(super) is_independent: bool,
}

/// A branch of any kind: it takes single items, several items together, or the teardown item.
pub(super) trait Member: Send + Sync {
    /// Returns whether the branch waits at the port with this identity.
    fn is_at(&self, port: u64) -> bool;
    /// Closes all ports of the branch.
    fn close_ports(&self);
    /// Ends the branch's registrations at its ports.
    fn leave(&self, ticket: Option<Ticket>);
    /// Refuses the items left in the branch's ports.
    fn refuse_left(&self);
    /// Returns the address of a persistent waiter: see [`Port::fetch`].
    fn identity(&self) -> *const ();
}

/// A branch that is a persistent waiter of one port.
pub(super) trait AtPort: Send + Sync {
    type Item: Send;
    fn port(&self) -> &Port<Self::Item>;
}

impl<B: AtPort> Member for B {
    fn is_at(&self, port: u64) -> bool {
        self.port().core.identity == port
    }

    fn close_ports(&self) {
        self.port().close();
    }

    fn leave(&self, ticket: Option<Ticket>) {
        if let Some(ticket) = ticket {
            self.port().depart(ticket, self.identity());
        }
    }

    fn refuse_left(&self) {
        self.port().refuse_left();
    }

    fn identity(&self) -> *const () {
        std::ptr::from_ref(self).cast()
    }
}

/// A handler that did not finish, and why.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, Handlers, Interleave, Port, Settings, Snapshot, block_on};
/// let dispatcher = Dispatcher::new(1).unwrap();
/// let (risky, failures) = (Port::named("risky"), Port::new());
/// let out = failures.clone();
/// let settings = Settings::new().on_failure(move |failure| out.post(failure.to_string()).unwrap());
/// let handlers = Handlers::new().concurrent(&risky, |_: Snapshot<()>, _: u8| async { panic!("no luck") });
/// let _interleave = settings.start(dispatcher.handle(), (), handlers);
/// risky.post(1).unwrap();
/// assert_eq!(block_on(failures.receive()).unwrap(), "port \"risky\": the task panicked: no luck");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The name of the operation in messages.
    pub operation: String,
    /// The reason why the handler ended.
    pub error: TaskError,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.operation, self.error)
    }
}

/// When dropped, wakes the tasks that wait for the end.
struct Signal<'a>(&'a Port<std::convert::Infallible>);

impl Drop for Signal<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl<S: Send + Sync + 'static> Core<S> {
    /// Counts a handler that did not finish, and reports it.
    pub(super) fn report(&self, operation: Operation, error: &TaskError) {
        let name = {
            let mut inner = self.inner.lock();
            inner.admission.count_failure(error.is_panic());
            self.on_failure.is_some().then(|| inner.admission.name(operation))
        };
        match (&self.on_failure, name, error) {
            (Some(tell), Some(operation), _) => tell(Failure { operation, error: error.clone() }),
            // The panic goes to one place: the sinks of the context that it went through, or else the process's hook.
            (None, _, TaskError::Panicked { message }) => context::closure_panicked(message.clone()),
            _ => {}
        }
    }

    /// Ends the interleave if its dispatcher is ending; called when a turn is dropped.
    pub(super) fn turn_dropped(&self) {
        if self.handle.is_aborting() {
            self.abort(true);
        }
    }

    /// Runs `change` under the lock; calls wakers and drops values after releasing the lock.
    pub(super) fn change<R>(&self, change: impl FnOnce(&mut Inner<S>, &mut Wake) -> R) -> R {
        let mut wake = Wake::default();
        let (result, gone) = {
            let mut inner = self.inner.lock();
            let result = change(&mut inner, &mut wake);
            // Both conditions are false while no branches come or go.
            let may_be_gone = inner.admission.has_retired() || inner.outcome.is_some();
            (result, may_be_gone.then(|| inner.take_gone()))
        };
        wake.ring();
        if let Some(gone) = gone {
            self.let_go(gone);
        }
        result
    }

    /// Drops parts that no longer belong to the interleave, and signals the end. Called after the lock is released.
    #[cold]
    #[inline(never)]
    fn let_go(&self, gone: Gone<S>) {
        // The signal is declared first, so that it is dropped last. Tasks that wait for the end are woken after the
        // values are gone, even if dropping a user value panics.
        let _end = gone.has_ended.then(|| Signal(&self.end));
        drop(gone);
    }

    /// Ends one holder's hold on an operation; the operation ends with its last holder.
    pub(super) fn release(&self, operation: Operation) {
        self.change(|inner, wake| inner.admission.release(operation, wake));
    }

    /// Reserves a lane for a branch, which `build` makes. Returns `None` if the interleave is no longer open.
    pub(super) fn seat<M: Member + 'static>(
        &self,
        identity: u64,
        is_independent: bool,
        build: impl FnOnce(usize) -> (Arc<M>, Lane),
    ) -> Option<Arc<M>> {
        let index = {
            let mut inner = self.inner.lock();
            if inner.admission.phase != Phase::Open {
                return None;
            }
            inner.independents += usize::from(is_independent);
            inner.admission.reserve()
        };
        let (member, lane) = build(index);
        let mut inner = self.inner.lock();
        inner.admission.add(index, lane);
        if inner.members.len() <= index {
            inner.members.resize_with(index + 1, || None);
        }
        inner.members[index] = Some(Seat { identity, member: member.clone(), ticket: None, is_independent });
        Some(member)
    }

    /// Records that a branch has registered at its port. Returns false if it must leave again, because the interleave
    /// is over.
    pub(super) fn settle(&self, index: usize, identity: u64, ticket: Ticket) -> bool {
        let mut inner = self.inner.lock();
        match inner.members[index].as_mut().filter(|seat| seat.identity == identity) {
            Some(seat) => {
                seat.ticket = Some(ticket);
                true
            }
            None => false,
        }
    }

    /// Closes the ports of all branches or, if `independents_too` is false, of all branches except the independent
    /// branches.
    pub(super) fn close_ports(&self, independents_too: bool) {
        let members: Vec<_> = {
            let inner = self.inner.lock();
            let seats = inner.members.iter().flatten();
            seats.filter(|seat| independents_too || !seat.is_independent).map(|seat| seat.member.clone()).collect()
        };
        members.iter().for_each(|member| member.close_ports());
    }

    /// Removes all branches, or all except the independent branches, from their ports. Items whose handlers have not
    /// started stay in the ports, unless the ports are closed and the remaining items must be refused.
    pub(super) fn leave_ports(&self, independents_too: bool, are_closed: bool) {
        let seats = self.change(|inner, wake| {
            let mut seats = Vec::new();
            for index in 0..inner.members.len() {
                if inner.members[index].as_ref().is_some_and(|seat| independents_too || !seat.is_independent) {
                    inner.admission.clear(index, wake);
                    inner.admission.lane_mut(index).is_spent = true;
                    seats.extend(inner.unseat(index).map(|seat| (index, seat)));
                }
            }
            inner.admission.wake_idle(wake);
            seats
        });
        for (_, seat) in &seats {
            seat.member.leave(seat.ticket);
        }
        if are_closed && self.refuses_pending {
            seats.iter().for_each(|(_, seat)| seat.member.refuse_left());
        }
        let _dropped_after_the_lock: Vec<_> = {
            let mut inner = self.inner.lock();
            seats.iter().map(|(index, seat)| inner.admission.remove_if_done(*index, seat.identity)).collect()
        };
    }

    /// Ends the interleave at once: branches leave their ports, and running handlers are cancelled.
    pub(super) fn abort(&self, closes_ports: bool) {
        let is_over = self.change(|inner, wake| {
            let is_over = inner.outcome.is_some();
            if !is_over {
                inner.outcome = Some(Err(TaskError::Cancelled));
                inner.admission.abort(wake);
                wake.add(inner.teardown.clone());
            }
            is_over
        });
        if !is_over {
            if closes_ports {
                self.close_ports(true);
            }
            self.leave_ports(true, closes_ports);
        }
    }

    /// Finishes the teardown: the last branches leave. The end is signalled when the last handler has ended.
    pub(super) fn finish(&self, outcome: Result<(), TaskError>) {
        if !self.keeps_ports_open {
            self.close_ports(true);
        }
        self.leave_for_good(outcome, !self.keeps_ports_open);
    }

    /// Finishes the teardown as `finish` does, but leaves the ports open.
    pub(super) fn finish_quietly(&self, outcome: Result<(), TaskError>) {
        self.leave_for_good(outcome, false);
    }

    fn leave_for_good(&self, outcome: Result<(), TaskError>, are_closed: bool) {
        self.leave_ports(true, are_closed);
        self.change(|inner, wake| {
            inner.outcome.get_or_insert(outcome);
            inner.admission.phase = Phase::Ended;
            inner.admission.wake_idle(wake);
        });
    }

    /// Returns the state, for the handler that consumes it.
    pub(super) fn consume_state(&self) -> Option<Version<S>> {
        let mut inner = self.inner.lock();
        if inner.independents > 0 { inner.state.clone() } else { inner.state.take() }
    }

    /// Returns the name of an operation of this interleave, for messages.
    pub(super) fn describe(&self, operation: &str) -> String {
        if self.name.is_empty() { operation.to_owned() } else { format!("{operation} of {}", self.name) }
    }
}

/// Parts that no longer belong to an interleave, to be dropped.
struct Gone<S> {
    _lanes: Vec<(usize, Lane)>,
    _seats: Vec<Seat>,
    _state: Option<Version<S>>,
    /// Whether the interleave has ended as well.
    has_ended: bool,
}

impl<S> Inner<S> {
    /// Takes the state out for a guard. If there are independent branches, which must keep seeing the state, returns a
    /// copy of the pointer.
    pub(super) fn take_out(&mut self) -> Option<Version<S>> {
        if self.independents > 0 {
            return self.state.clone();
        }
        self.admission.state_is_out();
        self.state.take()
    }

    /// Puts the state back; returns the version that it replaces.
    pub(super) fn put_back(&mut self, version: Version<S>, wake: &mut Wake) -> Option<Version<S>> {
        let before = self.state.replace(version);
        self.admission.state_is_back(self.independents > 0, wake);
        before
    }

    #[cold]
    #[inline(never)]
    fn take_gone(&mut self) -> Gone<S> {
        let lanes = self.admission.take_retired();
        let seats = lanes.iter().filter_map(|(index, lane)| self.unseat_own(*index, lane.identity)).collect();
        let is_done = self.outcome.is_some() && self.teardown.is_none() && self.admission.is_empty();
        let has_ended = is_done && self.admission.phase == Phase::Ended;
        // If there are independent branches, the state is still there after the teardown, for independent handlers that
        // were still running.
        let state = if has_ended { self.state.take() } else { None };
        Gone { _lanes: lanes, _seats: seats, _state: state, has_ended }
    }

    /// Returns the branches at the port with this identity, with their lanes.
    pub(super) fn at(&self, port: u64) -> impl Iterator<Item = (usize, Arc<dyn Member>)> {
        let seats = self.members.iter().enumerate().filter_map(|(index, seat)| Some((index, seat.as_ref()?)));
        seats.filter(move |(_, seat)| seat.member.is_at(port)).map(|(index, seat)| (index, seat.member.clone()))
    }

    /// Returns whether the branch still belongs to this interleave.
    pub(super) fn is_seated(&self, index: usize, identity: u64) -> bool {
        self.members[index].as_ref().is_some_and(|seat| seat.identity == identity)
    }

    /// Removes the branch if it still has this position.
    fn unseat_own(&mut self, index: usize, identity: u64) -> Option<Seat> {
        if self.is_seated(index, identity) { self.unseat(index) } else { None }
    }

    fn unseat(&mut self, index: usize) -> Option<Seat> {
        let seat = self.members[index].take();
        if seat.as_ref().is_some_and(|seat| seat.is_independent) {
            self.independents -= 1;
        }
        seat
    }
}
