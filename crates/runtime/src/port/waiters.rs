//! The waiters of a port, in order of registration. Arbiters connect to ports only through this file.
//!
//! A port knows waiters, not arbiters. There are three lists of waiters, each in order of registration: waiters for one
//! item, takes and watchers ([`Want`]). Waiters are stored in slots that are reused, so that waiting costs no
//! allocation.
//!
//! A waiter for *one* item is offered the first arriving item that it accepts: the item is marked and the waiter woken
//! to fetch it. If no such waiter accepts an item, the port turns to the other two lists. The port does not offer items
//! to these waiters, but wakes them to look for items themselves. A *take* needs only this port, so it will find its
//! items. The port wakes only as many takes as it has items for. A *watcher* (a join, a gather, an exchange) may lack
//! items at another port. So the port wakes each watcher as soon as its need at this port is met.
//!
//! A waiter that takes items without having been woken overtakes woken waiters that have not looked yet. The port
//! counts how often this happens, and after [`PASSES`] times it lets the woken waiters go first
//! ([`Waiters::must_yield`]).
//!
//! Read next: `waiters/slot.rs`, `waiters/list.rs`.

mod list;
mod plain;
mod slot;

use std::task::Waker;

use lehr_sync::Arc;

use super::persistent_waiter::{Judgement, Response};
use super::wake::Wake;
use crate::calls::Frame;
use crate::error::Refusal;
use list::List;
use slot::{Slot, SlotState};

pub(crate) use slot::{Predicate, Standing, Ticket, Want};

/// The maximum number of times that waiters may take from a port before woken waiters that have not looked yet.
///
/// The limit is a compromise between two costs, and a power of two. With a limit of 1, two competing joins would
/// alternate for every item. With a limit of thousands, one of the joins would starve for that many items. Model
/// checkers use a small number, so that their runs reach the limit.
pub(crate) const PASSES: u32 = if cfg!(any(loom, shuttle)) { 2 } else { 32 };

/// A waiter's wait, as an inspector shows it.
pub(crate) struct Reason {
    pub(crate) text: String,
    /// The address that identifies the waiter's waker, if the waiter has a waker.
    pub(crate) task: Option<usize>,
    /// The waiter's slot, and its position in the order of registration.
    pub(crate) registration: (u32, u64),
    /// Whether the waiter uses this position only once. If so, slot and position identify the wait.
    pub(crate) is_for_once: bool,
}

/// The waiters of a port; see the documentation of this module.
pub(crate) struct Waiters<T> {
    slots: Vec<Slot<T>>,
    /// The first slot in the list of free slots.
    free: Option<Ticket>,
    /// The number of slots in use.
    used: u32,
    singles: List,
    takes: List,
    watchers: List,
    next_order: u64,
    /// A lower bound on the number of items that any listed take needs.
    least_taken: usize,
    /// The total number of items that the promised takes need.
    promised: usize,
    /// The number of takes and watchers that have been woken and have not looked at the port since then.
    woken: usize,
    /// The number of times in a row that other receivers have overtaken woken waiters.
    passes: u32,
    /// The panic messages of failed waiters' predicates.
    failures: Vec<(Ticket, String)>,
}

/// The parts of a waiter that has left the port. Dropping these parts may run user code, so drop them after releasing
/// the lock.
pub(crate) struct Left<T> {
    pub(crate) standing: Standing,
    pub(crate) want: Want<T>,
    /// The text of the predicate's panic, if the waiter has failed.
    pub(crate) failure: Option<String>,
    _waker: Option<Waker>,
}

impl<T> Waiters<T> {
    pub(crate) fn new() -> Self {
        Self {
            slots: Vec::new(),
            free: None,
            used: 0,
            singles: List::default(),
            takes: List::default(),
            watchers: List::default(),
            next_order: 0,
            least_taken: usize::MAX,
            promised: 0,
            woken: 0,
            passes: 0,
            failures: Vec::new(),
        }
    }

    /// Returns the waits, for an inspector.
    pub(crate) fn reasons(&self) -> impl Iterator<Item = Reason> {
        (0_u32..).zip(&self.slots).filter(|(_, slot)| !slot.place.is_free()).map(|(number, slot)| Reason {
            text: slot.want.reason(),
            task: slot.waker.as_ref().map(|waker| waker.data().addr()),
            registration: (number, slot.order),
            is_for_once: slot.order % 2 == 0,
        })
    }

    /// Returns the next position in the order of registration: an even number, for a waiter that registers there once.
    pub(crate) fn next_order(&mut self) -> u64 {
        self.next_order += 2;
        self.next_order
    }

    /// Returns the next position in the order of registration: an odd number, for a waiter that comes back to this
    /// position.
    pub(crate) fn next_order_kept(&mut self) -> u64 {
        self.next_order() + 1
    }

    /// Returns the number of waiters, whether offered an item or not.
    pub(crate) fn len(&self) -> usize {
        self.used as usize
    }

    /// Adds a waiter in its position in the order. A waiter without a waker counts as woken: its task has been told to
    /// look again.
    #[inline]
    pub(crate) fn register(&mut self, order: u64, want: Want<T>, waker: Option<Waker>) -> Ticket {
        if let Want::Take(needed) = want {
            self.least_taken = self.least_taken.min(needed);
        }
        if waker.is_none() {
            self.woken += usize::from(!want.is_one());
            self.passes = 0;
        }
        self.used += 1;
        let ticket = match self.free {
            Some(ticket) => {
                let slot = &mut self.slots[ticket.index()];
                self.free = slot.place.next_free();
                *slot = Slot { waker, order, want, place: SlotState::WAITING };
                ticket
            }
            None => self.push(Slot { waker, order, want, place: SlotState::WAITING }),
        };
        self.link(ticket);
        ticket
    }

    /// Adds a slot for a waiter, because no slot is free. A large list grows by an eighth instead of doubling, so that
    /// it wastes little memory when there are millions of waiters.
    #[cold]
    #[inline(never)]
    fn push(&mut self, slot: Slot<T>) -> Ticket {
        let len = self.slots.len();
        if len == self.slots.capacity() {
            self.slots.reserve_exact(if len < 4096 { len.max(4) } else { len / 8 });
        }
        self.slots.push(slot);
        Ticket::of(len)
    }

    /// Returns the state of a waiter.
    pub(crate) fn standing(&self, ticket: Ticket) -> Standing {
        self.slot(ticket).place.standing()
    }

    /// Returns the message of the predicate's panic, if the waiter failed.
    pub(crate) fn failure(&self, ticket: Ticket) -> Option<&str> {
        self.failures.iter().find(|(failed, _)| *failed == ticket).map(|(_, text)| text.as_str())
    }

    /// Stores the waker of a waiter that has looked without success. Returns the replaced waker, to be dropped after
    /// the lock.
    #[inline]
    pub(crate) fn set_waker(&mut self, ticket: Ticket, waker: &Waker) -> Option<Waker> {
        if self.has_looked(ticket) {
            self.passes = 0;
        }
        let slot = self.slot_mut(ticket);
        if slot.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            return None;
        }
        slot.waker.replace(waker.clone())
    }

    /// Lets a waiter that could take items yield to other waiters. The waiter's task has been told to look again, so
    /// the waiter counts as woken.
    pub(crate) fn yields(&mut self, ticket: Ticket) -> Option<Waker> {
        let was_woken = self.has_looked(ticket);
        self.woken += usize::from(was_woken);
        self.passes = 0;
        self.take_waker(ticket)
    }

    /// Returns whether other waiters were woken for items in the port, and have been passed over so often that it is
    /// their turn. Always false for a waiter that was woken itself.
    pub(crate) fn must_yield(&self, own: Option<Ticket>) -> bool {
        self.passes >= PASSES && self.woken > 0 && own.is_none_or(|own| self.slot(own).waker.is_some())
    }

    /// Records that a receiver, registered or not, is about to take items that are not offered to any waiter.
    pub(crate) fn takes(&mut self, own: Option<Ticket>) {
        if self.woken == 0 {
            return;
        }
        let was_woken = own.is_some_and(|own| self.slot(own).waker.is_none());
        self.count_passes(usize::from(was_woken));
    }

    /// Works as [`takes`](Self::takes) does, for a waiter with several registrations. The waiter counts as woken if any
    /// of its registrations was woken, and it does not overtake itself.
    pub(crate) fn takes_as_one(&mut self, own: &[Option<Ticket>]) {
        if self.woken > 0 {
            let woken = own.iter().flatten().filter(|own| self.slot(**own).waker.is_none()).count();
            self.count_passes(woken);
        }
    }

    /// Counts a take by a receiver of which `own` registrations were woken. The take overtakes all other woken waiters.
    fn count_passes(&mut self, own: usize) {
        if own > 0 {
            self.passes = 0;
        }
        self.passes += u32::from(self.woken > own);
    }

    /// Removes a waiter.
    #[inline]
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Left<T> {
        self.has_looked(ticket);
        let standing = self.standing(ticket);
        let failure = match standing {
            Standing::Waiting => {
                self.unlink(ticket);
                None
            }
            Standing::Failed => {
                let known = self.failures.iter().position(|(failed, _)| *failed == ticket);
                known.map(|known| self.failures.swap_remove(known).1)
            }
            Standing::Offered(_) | Standing::Promised => None,
        };
        let room = Slot { waker: None, order: 0, want: Want::One(None), place: SlotState::free(self.free) };
        let slot = std::mem::replace(&mut self.slots[ticket.index()], room);
        self.free = Some(ticket);
        self.used -= 1;
        if self.used == 0 && self.slots.len() > 64 {
            // Frees the memory after a burst.
            (self.slots, self.free) = (Vec::new(), None);
        }
        Left { standing, want: slot.want, failure, _waker: slot.waker }
    }

    /// Shows an available item to the waiters for single items, in order, and offers it to the first that accepts it.
    /// If no waiter accepts the item, wakes takes and watchers; `available` includes this item.
    ///
    /// `call` is present if the poster waits for an answer to the item.
    #[inline]
    pub(crate) fn offer(
        &mut self,
        item: &T,
        sequence: u64,
        available: usize,
        call: Option<&Arc<Frame>>,
        wake: &mut Wake,
    ) -> Option<Ticket> {
        let taker = self.offer_before(u64::MAX, item, sequence, call, wake);
        if taker.is_none() {
            self.wake_takes(available, wake);
            self.wake_watchers(item, available, wake);
        }
        taker
    }

    /// Shows an available item to the waiters for single items that registered before `end`, and offers it to the first
    /// that accepts it.
    #[inline]
    pub(crate) fn offer_before(
        &mut self,
        end: u64,
        item: &T,
        sequence: u64,
        call: Option<&Arc<Frame>>,
        wake: &mut Wake,
    ) -> Option<Ticket> {
        let mut place = self.singles.first;
        while let Some(ticket) = place {
            let slot = self.slot(ticket);
            if slot.order >= end {
                break;
            }
            place = slot.place.neighbours().1;
            if let Want::PersistentWaiter(resident) = &slot.want {
                match resident.arrives(item, sequence, ticket, call, wake) {
                    Response::Pass => continue,
                    Response::Take => return Some(ticket),
                    Response::TakeLast => {
                        self.settle(ticket, Standing::Offered(sequence), wake);
                        return Some(ticket);
                    }
                }
            }
            match slot.accepts(item) {
                Ok(true) => {
                    self.settle(ticket, Standing::Offered(sequence), wake);
                    return Some(ticket);
                }
                Ok(false) => {}
                Err(message) => self.fail(ticket, message, wake),
            }
        }
        None
    }

    /// Returns the reason why the poster of this item would wait for an answer for ever; `None` if it would not.
    pub(crate) fn judge(&self, item: &T, call: &Frame) -> Option<Refusal> {
        let mut place = self.singles.first;
        while let Some(ticket) = place {
            let slot = self.slot(ticket);
            place = slot.place.neighbours().1;
            match &slot.want {
                Want::PersistentWaiter(resident) => match resident.judge(item, call) {
                    Judgement::OfOthers => {}
                    Judgement::Admissible => return None,
                    Judgement::Deadlock(refusal) => return Some(refusal),
                },
                _ if slot.accepts(item).unwrap_or(false) => return None,
                _ => {}
            }
        }
        None
    }

    /// Returns the address of the persistent waiter with this ticket; `None` if it has left, even if the ticket has a
    /// new owner.
    pub(crate) fn resident(&self, ticket: Ticket) -> Option<*const ()> {
        match &self.slots.get(ticket.index())?.want {
            Want::PersistentWaiter(resident) => Some(Arc::as_ptr(resident).cast()),
            _ => None,
        }
    }

    /// Wakes, in order, each pending take for which enough unpromised items remain.
    pub(crate) fn wake_takes(&mut self, available: usize, wake: &mut Wake) {
        if available.saturating_sub(self.promised) < self.least_taken {
            return;
        }
        let mut least = usize::MAX;
        let mut place = self.takes.first;
        while let Some(ticket) = place {
            let slot = self.slot(ticket);
            place = slot.place.neighbours().1;
            let Want::Take(needed) = slot.want else { unreachable!("the list of takes holds nothing else") };
            let spare = available.saturating_sub(self.promised);
            if spare == 0 {
                return;
            }
            if needed <= spare {
                self.promised += needed;
                self.settle(ticket, Standing::Promised, wake);
            } else {
                least = least.min(needed);
            }
        }
        self.least_taken = least;
    }

    /// Wakes the watchers whose need at this port is met by this item.
    ///
    /// A watcher that counts items is woken if it needs exactly the present number of items. A watcher that needs fewer
    /// items was woken before, and waits for another port.
    fn wake_watchers(&mut self, item: &T, available: usize, wake: &mut Wake) {
        let mut place = self.watchers.first;
        while let Some(ticket) = place {
            let slot = self.slot_mut(ticket);
            place = slot.place.neighbours().1;
            let is_met = match &mut slot.want {
                Want::Watch(needed) => Ok(*needed == available),
                // A watcher that was woken counts its missing items again when it looks.
                Want::Sort(sorter) if slot.waker.is_some() => sorter.arrives(item),
                Want::Sort(_) => Ok(false),
                Want::One(_) | Want::PersistentWaiter(_) | Want::Take(_) => {
                    unreachable!("the list of watchers holds nothing else")
                }
            };
            match is_met {
                Ok(true) => wake.add(self.take_waker(ticket)),
                Ok(false) => {}
                Err(message) => self.fail(ticket, message, wake),
            }
        }
    }

    /// Returns whether a waiter for one item would accept this item. A panic of its predicate counts as a refusal; it
    /// is reported when the waiter itself decides.
    pub(crate) fn would_accept(&self, ticket: Ticket, item: &T) -> bool {
        self.slot(ticket).accepts(item).unwrap_or(false)
    }

    /// Returns the waiter's position in the order of registration.
    pub(crate) fn order(&self, ticket: Ticket) -> u64 {
        self.slot(ticket).order
    }

    /// Offers a waiter another item, instead of the item that was offered to it.
    pub(crate) fn exchange_offer(&mut self, ticket: Ticket, sequence: u64) {
        self.slot_mut(ticket).place = SlotState::new(Standing::Offered(sequence));
    }

    /// Puts a waiter back into its list, because another receiver has fetched the item that was offered to it.
    pub(crate) fn disappoint(&mut self, ticket: Ticket) {
        self.link(ticket);
    }

    /// Returns what the waiter wants, for a search on its behalf.
    pub(crate) fn want(&self, ticket: Ticket) -> &Want<T> {
        &self.slot(ticket).want
    }

    /// Returns what the waiter wants, for its owner to change.
    pub(crate) fn want_mut(&mut self, ticket: Ticket) -> &mut Want<T> {
        &mut self.slot_mut(ticket).want
    }

    /// Removes a waiter from its list, sets its state and wakes it.
    #[inline]
    pub(crate) fn settle(&mut self, ticket: Ticket, standing: Standing, wake: &mut Wake) {
        self.unlink(ticket);
        self.slot_mut(ticket).place = SlotState::new(standing);
        wake.add(self.take_waker(ticket));
    }

    /// Records that the predicate of a listed waiter has panicked with this text.
    #[cold]
    pub(crate) fn fail(&mut self, ticket: Ticket, message: String, wake: &mut Wake) {
        self.failures.push((ticket, message));
        self.settle(ticket, Standing::Failed, wake);
    }

    /// Wakes a listed waiter, which stays listed, so that it sees that the port is closed.
    pub(crate) fn call(&mut self, ticket: Ticket, wake: &mut Wake) {
        wake.add(self.take_waker(ticket));
    }

    /// Wakes every waiter in the lists, because the port closes.
    pub(crate) fn wake_all(&mut self, wake: &mut Wake) {
        for list in [self.singles, self.takes, self.watchers] {
            let mut place = list.first;
            while let Some(ticket) = place {
                place = self.slot(ticket).place.neighbours().1;
                wake.add(self.take_waker(ticket));
            }
        }
    }

    #[inline]
    fn slot(&self, ticket: Ticket) -> &Slot<T> {
        let slot = &self.slots[ticket.index()];
        debug_assert!(!slot.place.is_free(), "a ticket stays valid until its owner removes it");
        slot
    }

    #[inline]
    fn slot_mut(&mut self, ticket: Ticket) -> &mut Slot<T> {
        let slot = &mut self.slots[ticket.index()];
        debug_assert!(!slot.place.is_free(), "a ticket stays valid until its owner removes it");
        slot
    }

    /// Returns the waker, if it has not been used; the waiter counts as woken from here on.
    fn take_waker(&mut self, ticket: Ticket) -> Option<Waker> {
        let slot = self.slot_mut(ticket);
        let waker = slot.waker.take();
        let counts = waker.is_some() && !slot.want.is_one();
        self.woken += usize::from(counts);
        waker
    }

    /// Records that a waiter has looked at the port, which ends its promise. Returns whether the waiter had been woken.
    fn has_looked(&mut self, ticket: Ticket) -> bool {
        let slot = self.slot_mut(ticket);
        if slot.waker.is_some() || slot.want.is_one() {
            return false;
        }
        if let (Standing::Promised, &Want::Take(needed)) = (slot.place.standing(), &slot.want) {
            self.promised -= needed;
            self.least_taken = self.least_taken.min(needed);
            self.link(ticket);
        }
        self.woken -= 1;
        true
    }
}
