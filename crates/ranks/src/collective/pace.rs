//! Limits how many one-way messages a rank may be ahead of another rank, in collectives over messages.
//!
//! A root that only sends does not wait, nor does a rank that only sends to the root. Without a limit, messages that
//! were not yet received would fill the caches, and then the memory. So both the sender and the receiver count one-way
//! messages. The receiver sends a *credit*, an empty message, after a fixed number of received messages. The sender
//! waits while two credits are outstanding. A credit for sixteen short messages costs little, and a rank that is not
//! ahead never waits for a credit.
//!
//! The sender and the receiver compute the same count from the lengths of the messages. So a credit need not say which
//! messages it is for. Long messages count more than short messages.

use lehr_sync::{AtomicUsize, Ordering};

/// The number of short messages after which a credit is due.
const CREDIT: usize = 16;
/// The number of bytes of a message that count as one further message.
const BYTES: usize = 1 << 12;
/// The number of outstanding credits at which the sender waits.
const DUE: usize = 2;

/// Counts a rank's one-way messages to and from the other ranks of a communicator. Only one task at a time uses the
/// counters, because a rank is in one collective at a time.
#[derive(Debug)]
pub(crate) struct Pace(Box<[Other]>);

#[derive(Debug, Default)]
struct Other {
    /// The count of messages sent since the last credit became due.
    sent: AtomicUsize,
    /// The number of credits that are due and have not arrived.
    due: AtomicUsize,
    /// The count of messages received since the last credit was sent.
    heard: AtomicUsize,
}

/// Counts a message of `length` bytes; returns whether a credit is now due.
fn count(counter: &AtomicUsize, length: usize) -> bool {
    // Relaxed: only one task at a time uses the counters, here and below.
    let counted = counter.load(Ordering::Relaxed) + 1 + length / BYTES;
    let is_full = counted >= CREDIT;
    // Relaxed: as above.
    counter.store(if is_full { 0 } else { counted }, Ordering::Relaxed);
    is_full
}

impl Pace {
    pub(crate) fn new(size: usize) -> Self {
        Self((0..size).map(|_| Other::default()).collect())
    }

    /// Counts a message that was sent to a rank.
    pub(super) fn note_sent(&self, to: usize, length: usize) {
        if count(&self.0[to].sent, length) {
            self.0[to].due.fetch_add(1, Ordering::Relaxed); // one task at a time
        }
    }

    /// Whether this rank must wait for a credit from a rank before it continues.
    pub(super) fn is_ahead(&self, of: usize) -> bool {
        self.0[of].due.load(Ordering::Relaxed) >= DUE // one task at a time
    }

    /// Counts a credit that has arrived from a rank.
    pub(super) fn note_credit(&self, from: usize) {
        self.0[from].due.fetch_sub(1, Ordering::Relaxed); // one task at a time
    }

    /// Counts a message that has arrived from a rank; returns whether to send the rank a credit.
    pub(super) fn note_heard(&self, from: usize, length: usize) -> bool {
        count(&self.0[from].heard, length)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_ahead_by_two_credits_at_most_and_both_sides_count_alike() {
        let (sender, receiver) = (Pace::new(3), Pace::new(3));
        let (mut sent, mut heard, mut credits) = (0, 0, 0);
        let length = |message: usize| message * 977 % 20_000;
        while heard < 1000 {
            while !sender.is_ahead(2) {
                sender.note_sent(2, length(sent));
                sent += 1;
            }
            assert!(sent - heard <= DUE * CREDIT, "{sent} sent, {heard} heard");
            while heard < sent {
                credits += usize::from(receiver.note_heard(0, length(heard)));
                heard += 1;
            }
            while credits > 0 {
                sender.note_credit(2);
                credits -= 1;
            }
        }
        assert!(!sender.is_ahead(1));
    }
}
