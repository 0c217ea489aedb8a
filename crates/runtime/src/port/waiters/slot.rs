//! The slot of one waiter of a port. A slot holds the waiter's want, its state and its neighbours in 48 bytes.

use std::num::NonZeroU32;
use std::task::Waker;

use lehr_sync::Arc;

use crate::port::counting_filter::CountingFilter;
use crate::port::persistent_waiter::PersistentWaiter;
use crate::port::predicate::accepts;

/// The identity of a waiter at its port: the number of its slot, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(NonZeroU32);

impl Ticket {
    /// The maximum number of waiters of one port: a ticket must fit into 31 bits of [`SlotState`].
    const MAX: u32 = (1 << 31) - 1;

    /// Returns the ticket of the slot at `index`.
    pub(super) fn of(index: usize) -> Self {
        let number = u32::try_from(index + 1).ok().filter(|&number| number <= Self::MAX).and_then(NonZeroU32::new);
        Self(number.expect("fewer than 2^31 waiters at one port"))
    }

    pub(super) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// Decides whether a receiver wants an item. Called under the port's lock, so it must be quick and must not use ports.
///
/// The predicate is boxed twice because a pointer to a trait object takes two words. Every waiter would need space for
/// the second word.
pub(crate) type Predicate<T> = Box<Box<dyn Fn(&T) -> bool + Send>>;

/// The kind and number of items that a waiter wants.
pub(crate) enum Want<T> {
    /// One item; the predicate, if there is one, must accept it.
    One(Option<Predicate<T>>),
    /// Any number of items, one after the other, as long as the waiter stays at the port.
    PersistentWaiter(Box<Arc<dyn PersistentWaiter<T>>>),
    /// The waiter wants this many available items of this port alone.
    Take(usize),
    /// The waiter wants this many available items of this port, and items of other ports.
    Watch(usize),
    /// Items of certain classes, counted by the filter.
    Sort(Box<CountingFilter<T>>),
}

impl<T> Want<T> {
    /// Describes the wait for an inspector; the port's name follows.
    pub(super) fn reason(&self) -> String {
        match self {
            Self::One(None) => "receive at".to_owned(),
            Self::One(Some(_)) => "receive by a predicate at".to_owned(),
            Self::PersistentWaiter(_) => "handlers of an interleave at".to_owned(),
            Self::Take(count) => format!("take {count} at"),
            Self::Watch(count) => format!("{count} at, together with other ports,"),
            Self::Sort(_) => "one of each source at".to_owned(),
        }
    }

    /// Returns whether items are offered to the waiter one by one.
    pub(super) fn is_one(&self) -> bool {
        matches!(self, Self::One(_) | Self::PersistentWaiter(_))
    }
}

/// The state of a waiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// The waiter is in its list.
    Waiting,
    /// The waiter is not in its list: the item with this sequence number is reserved for it.
    Offered(u64),
    /// The waiter is not in its list: its predicate panicked. The panic message is stored outside the slots.
    Failed,
    /// The waiter is not in its list: it is a take that was woken for available items, which are not marked.
    Promised,
}

/// The state of a waiter, with its neighbours while it is in a list, in one word:
///
/// | bits 63, 62 | standing | the rest |
/// | --- | --- | --- |
/// | 00 | waiting | 31 bits each: the tickets of the waiters before (high) and after (low) this waiter in its list, 0 for none |
/// | 01 | offered | 62 bits: the item's sequence number |
/// | 10 | promised | nothing |
/// | 11 | failed | bit 61 is 0 |
/// | 11 | free: no waiter | bit 61 is 1; low 31 bits: the next free slot's ticket, 0 for none |
#[derive(Clone, Copy)]
pub(super) struct SlotState(u64);

impl SlotState {
    /// The state of a listed waiter that has no neighbours yet.
    pub(super) const WAITING: Self = Self(0);

    const OFFERED: u64 = 1 << 62;
    const PROMISED: u64 = 2 << 62;
    const FAILED: u64 = 3 << 62;
    const FREE: u64 = 7 << 61;
    const KIND: u64 = 3 << 62;

    pub(super) fn new(standing: Standing) -> Self {
        match standing {
            Standing::Waiting => Self::WAITING,
            Standing::Offered(sequence) => {
                debug_assert!(sequence & Self::KIND == 0, "no port lives to see 2^62 items");
                Self(Self::OFFERED | sequence)
            }
            Standing::Promised => Self(Self::PROMISED),
            Standing::Failed => Self(Self::FAILED),
        }
    }

    pub(super) fn between(previous: Option<Ticket>, next: Option<Ticket>) -> Self {
        let number = |ticket: Option<Ticket>| ticket.map_or(0, |ticket| u64::from(ticket.0.get()));
        Self(number(previous) << 31 | number(next))
    }

    /// Marks a slot as unused and chains it to the next unused slot.
    pub(super) fn free(next: Option<Ticket>) -> Self {
        Self(Self::FREE | next.map_or(0, |ticket| u64::from(ticket.0.get())))
    }

    pub(super) fn is_free(self) -> bool {
        self.0 & Self::FREE == Self::FREE
    }

    /// Returns the next free slot after this one.
    pub(super) fn next_free(self) -> Option<Ticket> {
        debug_assert!(self.is_free(), "the chain of free slots holds nothing else");
        Self::ticket(self.0)
    }

    pub(super) fn standing(self) -> Standing {
        debug_assert!(!self.is_free(), "a ticket stays valid until its owner removes it");
        match self.0 & Self::KIND {
            0 => Standing::Waiting,
            Self::OFFERED => Standing::Offered(self.0 & !Self::KIND),
            Self::PROMISED => Standing::Promised,
            _ => Standing::Failed,
        }
    }

    pub(super) fn is_listed(self) -> bool {
        self.0 & Self::KIND == 0
    }

    /// Returns the neighbours of a listed waiter.
    pub(super) fn neighbours(self) -> (Option<Ticket>, Option<Ticket>) {
        debug_assert!(self.is_listed(), "only a listed waiter has neighbours");
        (Self::ticket(self.0 >> 31), Self::ticket(self.0))
    }

    fn ticket(bits: u64) -> Option<Ticket> {
        NonZeroU32::new(bits as u32 & Ticket::MAX).map(Ticket)
    }
}

/// A waiter, or a free slot. A free slot accepts any item and has no waker, and its state marks it as free. All fields
/// are small, because a port may have ten million waiters.
pub(super) struct Slot<T> {
    /// The waker; `None` once it has been used, until the waiter looks again.
    pub(super) waker: Option<Waker>,
    /// The position in the order of registration; ascending along the list.
    pub(super) order: u64,
    pub(super) want: Want<T>,
    pub(super) place: SlotState,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Slot<[u64; 9]>>() == 48, "a waiter takes 48 bytes, whatever it waits for");

impl<T> Slot<T> {
    /// Returns whether a waiter for one item accepts this item.
    pub(super) fn accepts(&self, item: &T) -> Result<bool, String> {
        match &self.want {
            Want::One(None) => Ok(true),
            Want::One(Some(predicate)) => accepts(predicate.as_ref().as_ref(), item),
            Want::PersistentWaiter(_) | Want::Take(_) | Want::Watch(_) | Want::Sort(_) => Ok(false),
        }
    }
}
