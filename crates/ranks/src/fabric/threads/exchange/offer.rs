//! Long messages that the receiver reads in the sender's memory, while the sender spins.
//!
//! By default, a message is copied twice: into the lane's memory and out of it. Because of the copies, a send never
//! waits, and a call can be abandoned. For long messages, the second copy is half of the cost of an exchange. So a
//! sender that spins anyway *lends* its message first: the receiver may read the message in the sender's own memory. An
//! offer lasts no longer than one poll of the sender. Before that poll returns, the sender *revokes* an offer that was
//! not taken: it copies the message into the lane's memory as usual. So no offer outlives its borrow, whatever happens
//! to the future.
//!
//! | `OfferSlot::state` | meaning | who sets it |
//! | --- | --- | --- |
//! | `OFFERED` | the parts may be taken | the sender, before it fills the slot |
//! | `TAKING` | the receiver reads the parts | the receiver, from `OFFERED` |
//! | `TAKEN` | the receiver has read the parts | the receiver |
//! | `REVOKED` | the message is in the slot's memory in the lane | the sender, from `OFFERED` |
//!
//! The sender and the receiver leave `OFFERED` by a compare-and-exchange, so only one of them succeeds. A sender that
//! is too late to revoke waits for the length of a copy, until the receiver has read the message.

use lehr_sync::{Arc, AtomicUsize, Cell, Ordering, spin_loop, thread::yield_now};

use super::lane::Lane;

/// The maximum number of parts of a lent message.
pub(super) const PARTS: usize = 3;

const TAKEN: usize = 0;
const OFFERED: usize = 1;
const TAKING: usize = 2;
const REVOKED: usize = 3;

/// The number of checks before a sender that waits for a reader yields its core.
const LOOKS: u32 = 10_000;

/// The state of a lane slot's current offer, and the addresses of the lent parts.
pub(super) struct OfferSlot {
    state: AtomicUsize,
    /// The address and the length of each part in the sender's memory; unused entries have length 0.
    parts: Cell<[(*const u8, usize); PARTS]>,
}

// SAFETY: only the receiver that has taken the offer (`take`) reads the addresses, while its sender keeps the parts in
// place (`Offer`).
unsafe impl Sync for OfferSlot {}
// SAFETY: as above.
unsafe impl Send for OfferSlot {}

/// A message that the sender has offered to the receiver. Once it is dropped, nothing reads the parts.
pub(super) struct Offer<'a> {
    lane: Arc<Lane>,
    slot: usize,
    parts: &'a [&'a [u8]],
}

/// Ends the receiver's reading of an offer when dropped, even if the reader panics.
struct Taking<'a>(&'a OfferSlot);

impl Drop for Taking<'_> {
    fn drop(&mut self) {
        // Release: the receiver's reads are over. Pairs with the Acquire in `Offer::is_taken`.
        self.0.state.store(TAKEN, Ordering::Release);
    }
}

impl OfferSlot {
    pub(super) fn new() -> Self {
        Self { state: AtomicUsize::new(TAKEN), parts: Cell::new([(std::ptr::null(), 0); PARTS]) }
    }

    /// Shows the parts of a lent message to `read` and returns true; returns false if the offer was revoked. The
    /// receiver calls this method once, when the slot holds that message.
    pub(super) fn take(&self, read: &mut dyn FnMut(&[&[u8]])) -> bool {
        // Acquire: pairs with the Release in `Offer::drop`; what was deposited instead is visible. The slot's flag
        // makes the parts visible.
        if self.state.compare_exchange(OFFERED, TAKING, Ordering::Acquire, Ordering::Acquire).is_err() {
            return false;
        }
        let _taking = Taking(self);
        // SAFETY: the sender wrote them before it filled the slot, and writes them again only when it fills the slot
        // again, after we have taken the message.
        let parts = self.parts.read(|parts| unsafe { *parts });
        let part = |(address, length): (*const u8, usize)| {
            if length == 0 {
                return &[][..];
            }
            // SAFETY: these are the sender's slices, which it keeps borrowed until it has seen `TAKEN` (`Offer::drop`);
            // the slices made here end before that.
            unsafe { std::slice::from_raw_parts(address, length) }
        };
        read(&parts.map(part));
        true
    }
}

impl<'a> Offer<'a> {
    /// Offers a message in a slot that is free and belongs to the sender, before the slot is filled.
    pub(super) fn make(lane: Arc<Lane>, slot: usize, parts: &'a [&'a [u8]]) -> Self {
        let mut lent = [(std::ptr::null(), 0); PARTS];
        for (lent, part) in lent.iter_mut().zip(parts) {
            *lent = (part.as_ptr(), part.len());
        }
        assert!(parts.len() <= PARTS, "a message that is lent has few parts");
        let offered = &lane.offers[slot];
        // SAFETY: the slot is free, so its receiver no longer uses the last offer here.
        offered.parts.write(|parts| unsafe { *parts = lent });
        // Relaxed: published by the slot's flag.
        offered.state.store(OFFERED, Ordering::Relaxed);
        Self { lane, slot, parts }
    }

    /// Whether the receiver has read the message.
    pub(super) fn is_taken(&self) -> bool {
        // Acquire: pairs with the Release in `Taking::drop`; the reads are over.
        self.lane.offers[self.slot].state.load(Ordering::Acquire) == TAKEN
    }
}

impl Drop for Offer<'_> {
    fn drop(&mut self) {
        let offered = &self.lane.offers[self.slot];
        // Relaxed: decided by the exchange below.
        if offered.state.load(Ordering::Relaxed) == OFFERED {
            self.lane.deposit(self.slot, self.parts);
            // Release: publishes the deposit. Pairs with the Acquire in `take`. Relaxed: `is_taken` checks the failure.
            if offered.state.compare_exchange(OFFERED, REVOKED, Ordering::Release, Ordering::Relaxed).is_ok() {
                return;
            }
            self.lane.withdraw(self.slot);
        }
        let mut looks = 0;
        while !self.is_taken() {
            looks += 1;
            if looks < LOOKS { spin_loop() } else { yield_now() }
        }
    }
}
