//! The three lists of a port's waiters. Each list consists of links between slots, in order of registration.

use super::Waiters;
use super::slot::{SlotState, Ticket, Want};

/// The waiters of one kind, in order of registration.
#[derive(Clone, Copy, Default)]
pub(super) struct List {
    pub(super) first: Option<Ticket>,
    pub(super) last: Option<Ticket>,
}

impl<T> Waiters<T> {
    fn list_mut(&mut self, ticket: Ticket) -> &mut List {
        match self.slot(ticket).want {
            Want::One(_) | Want::PersistentWaiter(_) => &mut self.singles,
            Want::Take(_) => &mut self.takes,
            Want::Watch(_) | Want::Sort(_) => &mut self.watchers,
        }
    }

    /// Adds a slot to its list, searching from the end, where it almost always belongs.
    #[inline]
    pub(super) fn link(&mut self, ticket: Ticket) {
        let order = self.slot(ticket).order;
        let mut previous = self.list_mut(ticket).last;
        while let Some(before) = previous {
            let slot = self.slot(before);
            if slot.order <= order {
                break;
            }
            previous = slot.place.neighbours().0;
        }
        let next = match previous {
            Some(before) => self.set_next(before, Some(ticket)),
            None => self.list_mut(ticket).first.replace(ticket),
        };
        match next {
            Some(after) => self.set_previous(after, Some(ticket)),
            None => self.list_mut(ticket).last = Some(ticket),
        }
        self.slot_mut(ticket).place = SlotState::between(previous, next);
    }

    /// Removes a waiter from its list; the caller sets its new state.
    #[inline]
    pub(super) fn unlink(&mut self, ticket: Ticket) {
        let (previous, next) = self.slot(ticket).place.neighbours();
        match previous {
            Some(before) => {
                self.set_next(before, next);
            }
            None => self.list_mut(ticket).first = next,
        }
        match next {
            Some(after) => self.set_previous(after, previous),
            None => self.list_mut(ticket).last = previous,
        }
    }

    /// Changes the successor of a listed waiter; returns the earlier successor.
    #[inline]
    pub(super) fn set_next(&mut self, ticket: Ticket, next: Option<Ticket>) -> Option<Ticket> {
        let slot = self.slot_mut(ticket);
        let (previous, replaced) = slot.place.neighbours();
        slot.place = SlotState::between(previous, next);
        replaced
    }

    #[inline]
    pub(super) fn set_previous(&mut self, ticket: Ticket, previous: Option<Ticket>) {
        let slot = self.slot_mut(ticket);
        slot.place = SlotState::between(previous, slot.place.neighbours().1);
    }
}
