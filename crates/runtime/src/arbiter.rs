//! Probe, claim, take: how everything that waits at ports gets its items.
//!
//! An arbiter looks at all its ports with their locks held (*probe*), decides the matter once and for all (*claim*), and only
//! then removes items (*take*). There is no way back and none is needed: before the claim nothing has been removed, after it
//! nothing can fail. [`Claim`] is a value that only a successful probe makes and every take asks for, so that taking without a
//! claim does not compile.
//!
//! **Lock order, everywhere in this crate: ports in ascending identity, then an arbiter's own state, then a dispatcher's
//! queue.** No lock is held while a task is woken, a handler runs or a value of the user's is dropped; predicates are the one
//! exception, and are documented so.
//!
//! A choice will be one more arbiter: its probe asks its branches in order, its claim is the one compare-and-swap that decides
//! between branches polled from different tasks. An interleave's claim asks its admission state, under the arbiter's lock.

pub mod join;
pub mod receive;
pub mod take;

use std::task::{Context, Waker};

use crate::port::waiters::{Left, Ticket, Want};
use crate::port::{Port, State};
use crate::sync::MutexGuard;

/// What an arbiter sees at one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ready {
    /// Enough to take.
    Yes,
    /// Not yet enough.
    NotYet,
    /// Never again enough: the port is closed.
    Never,
}

/// The right to take, made by a probe that found enough at every port, worth something only while their locks are held.
pub(crate) struct Claim(());

/// The claim of an arbiter without rivals: every port has enough.
pub(crate) fn claim(ready: impl IntoIterator<Item = Ready>) -> Option<Claim> {
    ready.into_iter().all(|ready| ready == Ready::Yes).then_some(Claim(()))
}

/// Keeps [`Branch`] and the sets of branches closed to the outside, where the protocol could not be relied upon.
pub(crate) mod sealed {
    pub trait Sealed {}
}

/// One port's part in a join: `&port` asks for one item, `(&port, n)` for `n` of them in a `Vec`.
///
/// Sealed: the protocol of this module is not open to other crates.
pub trait Branch: sealed::Sealed {
    /// The type of the port's items.
    type Item;
    /// What the join gives for this port.
    type Output;

    /// The port.
    fn port(&self) -> &Port<Self::Item>;
    /// How many items it asks for.
    fn needed(&self) -> usize;
    #[doc(hidden)]
    fn gather(&self, items: &mut dyn Iterator<Item = Self::Item>) -> Self::Output;
}

impl<T> sealed::Sealed for &Port<T> {}

impl<T> Branch for &Port<T> {
    type Item = T;
    type Output = T;

    fn port(&self) -> &Port<T> {
        self
    }

    fn needed(&self) -> usize {
        1
    }

    fn gather(&self, items: &mut dyn Iterator<Item = T>) -> T {
        items.next().expect("the claim proved that the port holds an item")
    }
}

impl<T> sealed::Sealed for (&Port<T>, usize) {}

impl<T> Branch for (&Port<T>, usize) {
    type Item = T;
    type Output = Vec<T>;

    fn port(&self) -> &Port<T> {
        self.0
    }

    fn needed(&self) -> usize {
        self.1
    }

    fn gather(&self, items: &mut dyn Iterator<Item = T>) -> Vec<T> {
        let mut output = Vec::with_capacity(self.1);
        output.extend(items);
        output
    }
}

pub(crate) type Locked<'a, T> = MutexGuard<'a, State<T>>;

/// What must not be dropped before the locks are.
#[allow(dead_code, reason = "held only to be dropped late")]
pub(crate) struct Late<T>(Option<Left<T>>, Option<Waker>);

/// Whether the branch has enough.
pub(crate) fn probe<B: Branch>(branch: &B, state: &State<B::Item>) -> Ready {
    if state.queue.available() >= branch.needed() {
        Ready::Yes
    } else if state.is_closed {
        Ready::Never
    } else {
        Ready::NotYet
    }
}

/// Takes the branch's items, oldest first.
pub(crate) fn take<B: Branch>(branch: &B, state: &mut State<B::Item>, _claim: &Claim) -> B::Output {
    let mut items = (0..branch.needed())
        .map(|_| state.queue.take_oldest().expect("the claim proved that the port holds enough, and its lock is held"));
    branch.gather(&mut items)
}

/// Registers the branch as a watcher, or refreshes its waker.
pub(crate) fn watch<B: Branch>(
    branch: &B,
    state: &mut State<B::Item>,
    ticket: &mut Option<Ticket>,
    context: &Context<'_>,
) -> Late<B::Item> {
    match *ticket {
        Some(known) => Late(None, state.waiters.set_waker(known, context.waker())),
        None => {
            let order = state.waiters.next_order();
            *ticket = Some(state.waiters.register(order, Want::Watch(branch.needed()), context.waker().clone()));
            Late(None, None)
        }
    }
}

/// Ends the branch's registration.
pub(crate) fn unwatch<T>(state: &mut State<T>, ticket: &mut Option<Ticket>) -> Late<T> {
    Late(ticket.take().map(|ticket| state.waiters.remove(ticket)), None)
}
