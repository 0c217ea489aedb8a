//! Who waits at a port and in which order: the one place where arbiters plug in.
//!
//! A port knows waiters, not arbiters. There are two kinds ([`Want`]). A waiter for *one* item is offered the first arriving
//! item that it accepts: the item is marked and the waiter woken to fetch it. A *watcher* (a take or a join, later a choice)
//! is never offered anything; it is woken when the port holds enough for it, and looks for itself, at all its ports together.
//!
//! Waiters stand in a list in order of registration, in slots that are used again, so that waiting costs no allocation.

use std::task::Waker;

/// The identity of a waiter at its port: its slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u32);

/// Decides whether a receiver wants an item. Called under the port's lock, so it must be quick and leave ports alone.
pub(crate) type Predicate<T> = Box<dyn Fn(&T) -> bool + Send>;

/// What a waiter waits for.
pub(crate) enum Want<T> {
    /// One item that the predicate, if there is one, accepts.
    One(Option<Predicate<T>>),
    /// So many available items, to be looked at together with other ports.
    Watch(usize),
}

/// How a waiter stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// In the list.
    Waiting,
    /// Not in the list: the item with this sequence number is marked as its own.
    Offered(u64),
    /// Not in the list: its predicate panicked with this text.
    Failed(String),
}

struct Slot<T> {
    /// Position in the order of registration; ascending along the list.
    order: u64,
    want: Want<T>,
    standing: Standing,
    /// Whom to wake; empty once it has been used, until the waiter looks again.
    waker: Option<Waker>,
    previous: Option<Ticket>,
    next: Option<Ticket>,
}

/// See the module's page.
pub(crate) struct Waiters<T> {
    slots: Vec<Option<Slot<T>>>,
    free: Vec<Ticket>,
    first: Option<Ticket>,
    last: Option<Ticket>,
    next_order: u64,
}

/// What the port gets back of a waiter that leaves. Its parts may run user code when they are dropped: drop it after the lock.
pub(crate) struct Left<T> {
    pub(crate) standing: Standing,
    _want: Want<T>,
    _waker: Option<Waker>,
}

impl<T> Waiters<T> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new(), first: None, last: None, next_order: 0 }
    }

    /// The next position in the order of registration.
    pub(crate) fn next_order(&mut self) -> u64 {
        self.next_order += 1;
        self.next_order
    }

    /// How many wait, offered or not.
    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Adds a waiter at its place in the order.
    pub(crate) fn register(&mut self, order: u64, want: Want<T>, waker: Waker) -> Ticket {
        let slot = Slot { order, want, standing: Standing::Waiting, waker: Some(waker), previous: None, next: None };
        let ticket = match self.free.pop() {
            Some(ticket) => {
                self.slots[ticket.0 as usize] = Some(slot);
                ticket
            }
            None => {
                let ticket = Ticket(u32::try_from(self.slots.len()).expect("fewer than 2^32 waiters at one port"));
                self.slots.push(Some(slot));
                ticket
            }
        };
        self.link(ticket);
        ticket
    }

    /// How the waiter stands.
    pub(crate) fn standing(&self, ticket: Ticket) -> &Standing {
        &self.slot(ticket).standing
    }

    /// Leaves word whom to wake; gives back the waker that it replaces, to be dropped after the lock.
    pub(crate) fn set_waker(&mut self, ticket: Ticket, waker: &Waker) -> Option<Waker> {
        let slot = self.slot_mut(ticket);
        if slot.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
            return None;
        }
        slot.waker.replace(waker.clone())
    }

    /// Removes a waiter.
    pub(crate) fn remove(&mut self, ticket: Ticket) -> Left<T> {
        if self.slot(ticket).standing == Standing::Waiting {
            self.unlink(ticket);
        }
        let slot = self.slots[ticket.0 as usize].take().expect("a ticket is removed once, by its owner");
        self.free.push(ticket);
        if self.free.len() == self.slots.len() && self.slots.len() > 64 {
            // After a burst the memory goes back.
            self.slots = Vec::new();
            self.free = Vec::new();
        }
        Left { standing: slot.standing, _want: slot.want, _waker: slot.waker }
    }

    /// Shows an item that has become available to the waiters in order. The first that accepts it is offered it; the watchers
    /// before that one, for whom `available` (counting this item) is exactly enough, are woken.
    ///
    /// Exactly, because a watcher that already had enough here was woken then, and waits for another port.
    pub(crate) fn offer(&mut self, item: &T, sequence: u64, available: usize, wake: &mut Wake) -> Option<Ticket> {
        let mut place = self.first;
        while let Some(ticket) = place {
            let slot = self.slots[ticket.0 as usize].as_mut().expect("the list holds only waiters");
            place = slot.next;
            match &slot.want {
                Want::Watch(needed) => {
                    if *needed == available {
                        wake.add(slot.waker.take());
                    }
                }
                Want::One(None) => {
                    self.settle(ticket, Standing::Offered(sequence), wake);
                    return Some(ticket);
                }
                Want::One(Some(predicate)) => match super::accepts(predicate.as_ref(), item) {
                    Ok(true) => {
                        self.settle(ticket, Standing::Offered(sequence), wake);
                        return Some(ticket);
                    }
                    Ok(false) => {}
                    Err(message) => self.settle(ticket, Standing::Failed(message), wake),
                },
            }
        }
        None
    }

    /// Takes an offer back because somebody else has fetched the item: the waiter stands in the list again.
    pub(crate) fn disappoint(&mut self, ticket: Ticket) {
        self.slot_mut(ticket).standing = Standing::Waiting;
        self.link(ticket);
    }

    /// What the waiter wants; for a search on its behalf.
    pub(crate) fn want(&self, ticket: Ticket) -> &Want<T> {
        &self.slot(ticket).want
    }

    /// Marks a listed waiter as offered or failed, takes it off the list and has it woken.
    pub(crate) fn settle(&mut self, ticket: Ticket, standing: Standing, wake: &mut Wake) {
        self.unlink(ticket);
        let slot = self.slot_mut(ticket);
        slot.standing = standing;
        wake.add(slot.waker.take());
    }

    /// Wakes every waiter in the list: the port closes.
    pub(crate) fn wake_all(&mut self, wake: &mut Wake) {
        let mut place = self.first;
        while let Some(ticket) = place {
            let slot = self.slot_mut(ticket);
            wake.add(slot.waker.take());
            place = slot.next;
        }
    }

    fn slot(&self, ticket: Ticket) -> &Slot<T> {
        self.slots[ticket.0 as usize].as_ref().expect("a ticket stays valid until its owner removes it")
    }

    fn slot_mut(&mut self, ticket: Ticket) -> &mut Slot<T> {
        self.slots[ticket.0 as usize].as_mut().expect("a ticket stays valid until its owner removes it")
    }

    /// Puts a slot into the list, from the end: almost always it belongs there.
    fn link(&mut self, ticket: Ticket) {
        let order = self.slot(ticket).order;
        let mut previous = self.last;
        while let Some(before) = previous {
            if self.slot(before).order <= order {
                break;
            }
            previous = self.slot(before).previous;
        }
        let next = match previous {
            Some(before) => self.slot_mut(before).next.replace(ticket),
            None => self.first.replace(ticket),
        };
        match next {
            Some(after) => self.slot_mut(after).previous = Some(ticket),
            None => self.last = Some(ticket),
        }
        let slot = self.slot_mut(ticket);
        (slot.previous, slot.next) = (previous, next);
    }

    fn unlink(&mut self, ticket: Ticket) {
        let slot = self.slot_mut(ticket);
        let (previous, next) = (slot.previous.take(), slot.next.take());
        match previous {
            Some(before) => self.slot_mut(before).next = next,
            None => self.first = next,
        }
        match next {
            Some(after) => self.slot_mut(after).previous = previous,
            None => self.last = previous,
        }
    }
}

/// Wakers gathered under a lock, to be woken after it: waking may run other code of ours, and dropping a waker may too.
#[derive(Default)]
pub(crate) struct Wake {
    first: Option<Waker>,
    rest: Vec<Waker>,
}

impl Wake {
    fn add(&mut self, waker: Option<Waker>) {
        let Some(waker) = waker else { return };
        if self.first.is_none() {
            self.first = Some(waker);
        } else {
            self.rest.push(waker);
        }
    }

    /// Wakes them, in the order in which they were added.
    pub(crate) fn all(self) {
        self.first.into_iter().chain(self.rest).for_each(Waker::wake);
    }
}
