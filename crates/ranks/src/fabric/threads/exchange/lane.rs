//! A lane for messages in one direction between two ranks. A lane is a short ring of cache lines, each of which holds a
//! flag and a short message.
//!
//! The sender's end and the receiver's end belong to one rank each, so that no lock is needed. A message moves between
//! the cores in one cache line, which only the sender writes. The receiver counts the taken messages in its own line,
//! and updates this number only now and then. So the sender seldom has to fetch the receiver's line. A long message is
//! in separate memory, which the receiver returns for reuse.
//!
//! Sending never waits. A sender that finds the ring full *spills*: it puts its messages into a queue under a lock,
//! until the receiver has emptied the queue. In a one-way call, the sender waits for room only after it has sent, so
//! that its next message finds a free slot.
//!
//! A sender may lend a long message instead of copying it (`offer.rs`).
//!
//! | shared word | meaning | who writes it |
//! | --- | --- | --- |
//! | `Slot::sent` | n + 1: the slot holds message n | the sender |
//! | `Lane::taken` | the number of messages taken out of slots, as last reported by the receiver | the receiver |
//! | `Lane::has_spilled` | 1 if there are messages in the queue | both ranks, under the queue's lock |
//!
//! Order: while the sender spills, it fills no slot. When the lane begins to spill, the messages in the slots are older
//! than the messages in the queue. The receiver looks at its slot, then at `has_spilled`, and then, under the lock, at
//! its slot again. So at the second look, the messages sent before the first spilled message are visible.

use std::collections::VecDeque;

use crossbeam_utils::CachePadded;
use lehr_sync::{Arc, AtomicUsize, Cell, Mutex, Ordering};

use super::offer::{Offer, OfferSlot};

/// The number of slots of a lane: enough for the messages of several shifts by which one rank may be ahead of another.
const SLOTS: usize = if cfg!(any(loom, shuttle)) { 2 } else { 8 };

/// The maximum number of bytes of a message that fit in a line of 64 bytes, next to the flag, the head and the length.
const SHORT: usize = 32;

/// The bit of a length that says that the message was lent.
const LENT: usize = 1 << (usize::BITS - 1);

/// The maximum number of long messages whose memory a lane keeps for reuse.
const KEPT: usize = 2;

/// The call that a message belongs to, and a number that must be the same on all ranks.
pub(super) type Head = [u64; 2];

/// The state that the sender's and the receiver's end share.
pub(super) struct Lane {
    slots: [CachePadded<Slot>; SLOTS],
    /// The long message of each slot.
    long: [Cell<Vec<u8>>; SLOTS],
    /// The offer of each slot.
    pub(super) offers: [OfferSlot; SLOTS],
    taken: CachePadded<AtomicUsize>,
    has_spilled: CachePadded<AtomicUsize>,
    spilled: Mutex<VecDeque<(Head, Vec<u8>)>>,
    /// The memory of long messages that were received, for reuse.
    returned: Mutex<Vec<Vec<u8>>>,
}

#[repr(C)]
struct Slot {
    sent: AtomicUsize,
    line: Cell<Line>,
}

#[repr(C)]
struct Line {
    head: Head,
    length: usize,
    /// The message, if it is short.
    short: [u8; SHORT],
}

// SAFETY: the sender alone writes a slot's line and its long message while the slot is free. The receiver alone
// accesses them while the slot holds a message. The flags hand them over.
unsafe impl Sync for Lane {}
// SAFETY: nothing in it is bound to a thread.
unsafe impl Send for Lane {}

/// The sender's end of a lane.
pub(super) struct Outgoing {
    pub(super) to: usize,
    lane: Arc<Lane>,
    /// The number of messages put into slots.
    sent: usize,
    /// The number of messages known to have been taken out of slots.
    freed: usize,
    is_spilling: bool,
}

/// The receiver's end of a lane.
pub(super) struct Incoming {
    pub(super) from: usize,
    lane: Arc<Lane>,
    /// The number of messages taken out of slots.
    taken: usize,
    /// The number of taken messages, as last reported to the sender.
    told: usize,
}

/// The place of a lane's next message, a slot or the queue, and the head of that message.
#[derive(Clone, Copy)]
pub(super) enum NextMessage {
    Slot(Head),
    Queue(Head),
}

impl NextMessage {
    pub(super) fn head(self) -> Head {
        match self {
            Self::Slot(head) | Self::Queue(head) => head,
        }
    }
}

impl Lane {
    pub(super) fn new() -> Self {
        let line = || Line { head: [0; 2], length: 0, short: [0; SHORT] };
        let zero = || CachePadded::new(AtomicUsize::new(0));
        Self {
            slots: std::array::from_fn(|_| {
                CachePadded::new(Slot { sent: AtomicUsize::new(0), line: Cell::new(line()) })
            }),
            long: std::array::from_fn(|_| Cell::new(Vec::new())),
            offers: std::array::from_fn(|_| OfferSlot::new()),
            taken: zero(),
            has_spilled: zero(),
            spilled: Mutex::default(),
            returned: Mutex::default(),
        }
    }

    /// Copies a message into the long memory of a slot, which no reader looks at yet.
    pub(super) fn deposit(&self, slot: usize, parts: &[&[u8]]) {
        let mut memory = self.returned.lock().pop().unwrap_or_default();
        memory.clear();
        parts.iter().for_each(|part| memory.extend_from_slice(part));
        // SAFETY: the slot is free; or its message is lent, and its receiver looks here only after it finds that the
        // offer was revoked.
        self.long[slot].write(|long| unsafe { *long = memory });
    }

    /// Takes back the long memory of a slot, unread, because the receiver has taken the offer.
    pub(super) fn withdraw(&self, slot: usize) {
        // SAFETY: as in `deposit`; a receiver that has taken an offer does not look here.
        let memory = self.long[slot].write(|long| unsafe { std::mem::take(&mut *long) });
        self.give_back(memory);
    }

    fn give_back(&self, memory: Vec<u8>) {
        let mut returned = self.returned.lock();
        if returned.len() < KEPT {
            returned.push(memory);
        }
    }
}

impl Outgoing {
    pub(super) fn new(to: usize, lane: Arc<Lane>) -> Self {
        Self { to, lane, sent: 0, freed: 0, is_spilling: false }
    }

    /// Whether there is a slot for the next message. Only a receiver that takes messages frees slots.
    pub(super) fn has_room(&mut self) -> bool {
        let lane = &*self.lane;
        // Acquire: pairs with the store in `Incoming::take`, which empties the queue.
        if self.is_spilling && lane.has_spilled.load(Ordering::Acquire) != 0 {
            return false;
        }
        if self.sent - self.freed == SLOTS {
            // Acquire: as in `send`.
            self.freed = lane.taken.load(Ordering::Acquire);
        }
        self.sent - self.freed < SLOTS
    }

    /// Sends a message that consists of `parts`. The caller must wake the receiver if it sleeps.
    pub(super) fn send(&mut self, head: Head, parts: &[&[u8]]) {
        let lane = &*self.lane;
        if self.sent - self.freed == SLOTS {
            // Acquire: pairs with the Release in `Incoming::take`; the receiver has read these slots.
            self.freed = lane.taken.load(Ordering::Acquire);
        }
        let is_full = self.sent - self.freed == SLOTS;
        if is_full || self.is_spilling {
            let mut spilled = lane.spilled.lock();
            self.is_spilling = is_full || !spilled.is_empty();
            if self.is_spilling {
                spilled.push_back((head, parts.concat()));
                // Release: pairs with the Acquire in `Incoming::first`, so that the slots filled before are visible.
                lane.has_spilled.store(1, Ordering::Release);
                return;
            }
        }
        let length = parts.iter().map(|part| part.len()).sum();
        if length > SHORT {
            lane.deposit(self.sent % SLOTS, parts);
        }
        self.fill(head, length, parts);
    }

    /// Like [`send`](Self::send), but lends the message, and returns the offer, if the message is long and there is a
    /// slot for it.
    pub(super) fn lend<'a>(&mut self, head: Head, parts: &'a [&'a [u8]]) -> Option<Offer<'a>> {
        let length = parts.iter().map(|part| part.len()).sum::<usize>();
        if length <= SHORT || self.is_spilling || !self.has_room() {
            self.send(head, parts);
            return None;
        }
        let offer = Offer::make(self.lane.clone(), self.sent % SLOTS, parts);
        self.fill(head, length | LENT, parts);
        Some(offer)
    }

    /// Fills the next slot, which must be free, with the head, the length and, if it is short, the message.
    fn fill(&mut self, head: Head, length: usize, parts: &[&[u8]]) {
        let slot = &self.lane.slots[self.sent % SLOTS];
        slot.line.write(|line| {
            // SAFETY: the slot is free, so it belongs to the sender.
            let line = unsafe { &mut *line };
            (line.head, line.length) = (head, length);
            if length <= SHORT {
                let mut place = 0;
                for part in parts {
                    line.short[place..place + part.len()].copy_from_slice(part);
                    place += part.len();
                }
            }
        });
        // Release: publishes the message. Pairs with the Acquire in `Incoming::holds`.
        slot.sent.store(self.sent + 1, Ordering::Release);
        self.sent += 1;
    }
}

impl Incoming {
    pub(super) fn new(from: usize, lane: Arc<Lane>) -> Self {
        Self { from, lane, taken: 0, told: 0 }
    }

    /// Returns the head of the message in the next slot, if the slot holds a message.
    fn holds(&self) -> Option<Head> {
        let slot = &self.lane.slots[self.taken % SLOTS];
        // Acquire: pairs with the Release in `Outgoing::fill`; the message is visible.
        if slot.sent.load(Ordering::Acquire) != self.taken + 1 {
            return None;
        }
        // SAFETY: the slot holds a message, so it belongs to the receiver.
        Some(slot.line.read(|line| unsafe { (*line).head }))
    }

    /// Returns where the next message is, if it has arrived.
    pub(super) fn first(&self) -> Option<NextMessage> {
        if let Some(head) = self.holds() {
            return Some(NextMessage::Slot(head));
        }
        // Acquire: pairs with the Release in `Outgoing::send`; see the module's page.
        if self.lane.has_spilled.load(Ordering::Acquire) == 0 {
            return None;
        }
        let spilled = self.lane.spilled.lock();
        if let Some(head) = self.holds() {
            return Some(NextMessage::Slot(head));
        }
        spilled.front().map(|(head, _)| NextMessage::Queue(*head))
    }

    /// Takes the next message, which is at `place`, and shows its parts to `read`, once. Returns whether the sender can
    /// now see more room.
    pub(super) fn take(&mut self, place: NextMessage, read: &mut dyn FnMut(&[&[u8]])) -> bool {
        let lane = &*self.lane;
        if let NextMessage::Queue(_) = place {
            let mut spilled = lane.spilled.lock();
            let first = spilled.pop_front();
            let is_last = spilled.is_empty();
            if is_last {
                // Release: pairs with the Acquire in `Outgoing::has_room`. A sender that reads it late only takes the
                // lock without need.
                lane.has_spilled.store(0, Ordering::Release);
            }
            drop(spilled);
            let (_, bytes) = first.expect("the first message is in the queue, and nobody else takes it");
            read(&[&bytes]);
            return is_last;
        }
        let (slot, long) = (&lane.slots[self.taken % SLOTS], &lane.long[self.taken % SLOTS]);
        // SAFETY: the slot holds a message, so it belongs to the receiver until the receiver tells the sender that it
        // was taken.
        let length = slot.line.read(|line| unsafe { (*line).length });
        if length <= SHORT {
            slot.line.read(|line| {
                // SAFETY: as above.
                let line = unsafe { &*line };
                read(&[&line.short[..length]]);
            });
        } else if length & LENT == 0 || !lane.offers[self.taken % SLOTS].take(read) {
            // SAFETY: as above; an offer here was revoked.
            let memory = long.write(|long| unsafe { std::mem::take(&mut *long) });
            read(&[&memory]);
            lane.give_back(memory);
        }
        self.taken += 1;
        let is_due = self.taken - self.told >= SLOTS / 2;
        if is_due {
            self.told = self.taken;
            // Release: we have read these slots. Pairs with the Acquire in `Outgoing::send`.
            lane.taken.store(self.taken, Ordering::Release);
        }
        is_due
    }
}
