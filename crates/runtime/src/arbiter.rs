//! Probe, claim, take: the protocol by which every waiter at ports gets its items.
//!
//! An arbiter looks at all its ports with their locks held (*probe*). Then the arbiter decides irrevocably (*claim*),
//! and only then it removes items (*take*). An arbiter never has to undo a step: before the claim nothing has been
//! removed, and after the claim nothing can fail. Only a successful probe creates a [`Claim`], and every take needs
//! one, so taking without a claim does not compile.
//!
//! **Lock order, everywhere in this crate: ports in ascending identity, then an arbiter's own state, then a
//! dispatcher's queue.**
//!
//! No lock is held while a task is woken, a handler runs or a user's value is dropped. Predicates are the only
//! exception: they run under a lock, as their documentation says.
//!
//! A choice needs no protocol, because its branches hold nothing. A choice polls its branches in order, and the first
//! branch that claims wins (`choice.rs`).

pub mod choice;
pub mod exchange;
pub mod gather;
pub mod join;
pub mod receive;
pub mod take;

use std::task::{Context, Waker};

use lehr_sync::SpinLockGuard;

use crate::port::counting_filter::CountingFilter;
use crate::port::waiters::{Left, Ticket, Want};
use crate::port::wake::Wake;
use crate::port::{Port, State};

/// The readiness of one port for an arbiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ready {
    /// The port has enough items to take.
    Yes,
    /// The port has enough items, but other woken waiters have been passed over so often that it is their turn.
    Later,
    /// The port does not have enough items yet.
    NotYet,
    /// The port will never have enough items, because it is closed.
    Never,
}

/// The right to take items. A probe creates the claim when it finds enough items at every port. A claim is valid only
/// while the locks of the ports are held.
pub(crate) struct Claim(());

/// An arbiter's decision after it has looked at all its ports.
pub(crate) enum Verdict {
    /// Every port has enough items to take.
    Take(Claim),
    /// The port at this position will never have enough items.
    Closed(usize),
    /// Every port has enough items, but at one port it is the turn of other waiters: look again after them.
    Yield,
    /// Some port lacks items: wait to be woken.
    Wait,
}

impl Verdict {
    /// Turns a take into a wait unless `may_take` returns true: a branch of an interleave takes only when it may run.
    pub(crate) fn if_allowed(self, may_take: &mut dyn FnMut() -> bool) -> Self {
        if matches!(self, Self::Take(_)) && !may_take() { Self::Wait } else { self }
    }
}

/// Returns the verdict of an arbiter, given the readiness of each of its ports.
pub(crate) fn judge(ready: &[Ready]) -> Verdict {
    if let Some(branch) = ready.iter().position(|ready| *ready == Ready::Never) {
        Verdict::Closed(branch)
    } else if ready.contains(&Ready::NotYet) {
        Verdict::Wait
    } else if ready.contains(&Ready::Later) {
        Verdict::Yield
    } else {
        Verdict::Take(Claim(()))
    }
}

/// Seals [`Branch`] and the sets of branches: implementations outside this crate could break the protocol.
pub(crate) mod sealed {
    pub trait Sealed {}
}

/// One port's part in a join: `&port` asks for one item, `(&port, n)` for `n` items in a `Vec`. You may also give the
/// port by value, for a join that outlives the scope in which it is made.
///
/// Sealed: the protocol of this module is not open to other crates.
///
/// # Example
/// See [`join`](crate::join()).
pub trait Branch: sealed::Sealed + Unpin {
    /// The type of the items of the branch's port.
    type Item;
    /// The type of the join's output for this branch.
    type Output;

    /// Returns the branch's port.
    fn port(&self) -> &Port<Self::Item>;
    /// Returns the number of items that the branch asks for.
    fn needed(&self) -> usize;
    /// Returns the same branch with an owned port, for a task.
    #[doc(hidden)]
    type Owned: Branch<Item = Self::Item, Output = Self::Output, Owned = Self::Owned>;
    #[doc(hidden)]
    fn gather(&self, items: &mut dyn Iterator<Item = Self::Item>) -> Self::Output;
    #[doc(hidden)]
    fn owned(&self) -> Self::Owned;
}

impl<T> sealed::Sealed for &Port<T> {}

impl<T> Branch for &Port<T> {
    type Item = T;
    type Output = T;
    type Owned = Port<T>;

    fn port(&self) -> &Port<T> {
        self
    }

    fn needed(&self) -> usize {
        1
    }

    fn gather(&self, items: &mut dyn Iterator<Item = T>) -> T {
        only(items)
    }

    fn owned(&self) -> Port<T> {
        Port::clone(self)
    }
}

impl<T> sealed::Sealed for Port<T> {}

impl<T> Branch for Port<T> {
    type Item = T;
    type Output = T;
    type Owned = Self;

    fn port(&self) -> &Self {
        self
    }

    fn needed(&self) -> usize {
        1
    }

    fn gather(&self, items: &mut dyn Iterator<Item = T>) -> T {
        only(items)
    }

    fn owned(&self) -> Self {
        self.clone()
    }
}

impl<T> sealed::Sealed for (&Port<T>, usize) {}

impl<T> Branch for (&Port<T>, usize) {
    type Item = T;
    type Output = Vec<T>;
    type Owned = (Port<T>, usize);

    fn port(&self) -> &Port<T> {
        self.0
    }

    fn needed(&self) -> usize {
        self.1
    }

    fn gather(&self, items: &mut dyn Iterator<Item = T>) -> Vec<T> {
        several(self.1, items)
    }

    fn owned(&self) -> (Port<T>, usize) {
        (self.0.clone(), self.1)
    }
}

impl<T> sealed::Sealed for (Port<T>, usize) {}

impl<T> Branch for (Port<T>, usize) {
    type Item = T;
    type Output = Vec<T>;
    type Owned = Self;

    fn port(&self) -> &Port<T> {
        &self.0
    }

    fn needed(&self) -> usize {
        self.1
    }

    fn gather(&self, items: &mut dyn Iterator<Item = T>) -> Vec<T> {
        several(self.1, items)
    }

    fn owned(&self) -> Self {
        self.clone()
    }
}

fn only<T>(items: &mut dyn Iterator<Item = T>) -> T {
    items.next().expect("the claim proved that the port holds an item")
}

fn several<T>(count: usize, items: &mut dyn Iterator<Item = T>) -> Vec<T> {
    let mut output = Vec::with_capacity(count);
    output.extend(items);
    output
}

pub(crate) type Locked<'a, T> = SpinLockGuard<'a, State<T>>;

/// Values that must be dropped only after the locks are released: user values, and values whose drop wakes other
/// waiters.
#[allow(dead_code, reason = "held only to be dropped late")]
pub(crate) struct Late<T>(Option<Left<T>>, Option<Waker>, Wake);

impl<T> Late<T> {
    /// Returns the counting filter that the waiter left at the port.
    fn sorter(&mut self) -> Option<Box<CountingFilter<T>>> {
        match std::mem::replace(&mut self.0.as_mut()?.want, Want::Watch(0)) {
            Want::Sort(sorter) => Some(sorter),
            Want::One(_) | Want::PersistentWaiter(_) | Want::Take(_) | Want::Watch(_) => None,
        }
    }
}

/// Returns whether a branch's port has enough items for the branch.
pub(crate) fn probe<B: Branch>(branch: &B, state: &State<B::Item>, ticket: Option<Ticket>) -> Ready {
    if state.queue.available() >= branch.needed() {
        if state.waiters.must_yield(ticket) { Ready::Later } else { Ready::Yes }
    } else if state.is_closed {
        Ready::Never
    } else {
        Ready::NotYet
    }
}

/// Takes the branch's items, oldest first.
pub(crate) fn take<B: Branch>(
    branch: &B,
    state: &mut State<B::Item>,
    ticket: Option<Ticket>,
    _claim: &Claim,
) -> B::Output {
    state.waiters.takes(ticket);
    let mut items = (0..branch.needed())
        .map(|_| state.queue.take_oldest().expect("the claim proved that the port holds enough, and its lock is held"));
    branch.gather(&mut items)
}

/// Registers a waiter, or keeps a registered one waiting. A waiter that yields although it is `ready` to take counts as
/// woken from here on: the caller must tell its task to look again.
pub(crate) fn watch<T>(
    state: &mut State<T>,
    ticket: &mut Option<Ticket>,
    want: impl FnOnce() -> Want<T>,
    yields: bool,
    context: &Context<'_>,
) -> Late<T> {
    match *ticket {
        Some(known) if yields => Late(None, state.waiters.yields(known), Wake::default()),
        Some(known) => Late(None, state.waiters.set_waker(known, context.waker()), Wake::default()),
        None => {
            let order = state.waiters.next_order();
            let waker = (!yields).then(|| context.waker().clone());
            *ticket = Some(state.waiters.register(order, want(), waker));
            Late(None, None, Wake::default())
        }
    }
}

/// Ends a wait after its items have been taken, whether or not a waiter was registered.
pub(crate) fn unwatch<T>(state: &mut State<T>, ticket: &mut Option<Ticket>) -> Late<T> {
    let mut wake = Wake::default();
    let left = ticket.take().map(|ticket| state.waiters.remove(ticket));
    state.after_removal(&mut wake);
    Late(left, None, wake)
}
