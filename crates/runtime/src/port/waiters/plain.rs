//! The fast path for waiters that take any item, while no other kind of waiter waits. Nearly every message takes this
//! path, which `port/plain.rs` calls.

use std::task::Waker;

use super::Waiters;
use super::slot::{Slot, SlotState, Standing, Ticket, Want};

impl<T> Waiters<T> {
    /// Returns the first waiter for a single item, if it has no predicate.
    #[inline]
    pub(crate) fn first_plain(&self) -> Option<Ticket> {
        let ticket = self.singles.first?;
        matches!(self.slot(ticket).want, Want::One(None)).then_some(ticket)
    }

    /// Returns whether there is a waiter that has not been offered or promised an item.
    #[inline]
    pub(crate) fn has_listed(&self) -> bool {
        self.singles.first.is_some() || self.takes.first.is_some() || self.watchers.first.is_some()
    }

    /// Offers an item to the waiter that `first_plain` returned; returns the waker to call.
    #[inline]
    pub(crate) fn settle_plain(&mut self, ticket: Ticket, sequence: u64) -> Option<Waker> {
        let next = self.slot(ticket).place.neighbours().1;
        self.singles.first = next;
        match next {
            Some(after) => self.set_previous(after, None),
            None => self.singles.last = None,
        }
        let slot = self.slot_mut(ticket);
        slot.place = SlotState::new(Standing::Offered(sequence));
        slot.waker.take()
    }

    /// Registers a waiter that takes any item, behind all other waiters. The waiter gets the next position in the order
    /// of registration, or its own earlier position, `order`. An `order` is allowed only if no other waiter for one
    /// item is listed.
    #[inline]
    pub(crate) fn register_plain(&mut self, order: Option<u64>, waker: Waker) -> Ticket {
        let last = self.singles.last;
        debug_assert!(order.is_none() || last.is_none(), "a kept place is looked for the general way");
        let order = order.unwrap_or_else(|| self.next_order());
        let place = SlotState::between(last, None);
        self.used += 1;
        let ticket = match self.free {
            Some(ticket) => {
                let slot = &mut self.slots[ticket.index()];
                self.free = slot.place.next_free();
                // Writes field by field, because a free slot already accepts any item. Otherwise the new slot would be
                // built on the stack, and the old slot dropped.
                slot.order = order;
                slot.place = place;
                let none = slot.waker.replace(waker);
                debug_assert!(none.is_none() && matches!(slot.want, Want::One(None)), "this is how slots are left");
                std::mem::forget(none);
                ticket
            }
            None => self.push(Slot { waker: Some(waker), order, want: Want::One(None), place }),
        };
        match last {
            Some(before) => {
                self.set_next(before, Some(ticket));
            }
            None => self.singles.first = Some(ticket),
        }
        self.singles.last = Some(ticket);
        ticket
    }

    /// Removes a waiter without a predicate, if it has been offered an item; returns the item's sequence number.
    #[inline]
    pub(crate) fn fetch_plain(&mut self, ticket: Ticket) -> Option<u64> {
        if self.used == 1 && self.slots.len() > 64 {
            // The last waiter after a burst: `remove` frees the memory.
            return None;
        }
        let slot = &mut self.slots[ticket.index()];
        let Slot { want: Want::One(None), waker: None, .. } = slot else { return None };
        let Standing::Offered(sequence) = slot.place.standing() else { return None };
        slot.place = SlotState::free(self.free);
        self.free = Some(ticket);
        self.used -= 1;
        Some(sequence)
    }
}
