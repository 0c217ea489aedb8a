//! The number of calls in one direction by which a rank may be ahead of another, over messages.
//!
//! A root that only sends, and a rank that only sends to the root, do not wait. Messages that they have sent and no
//! rank has taken fill caches, and then memory. So both sides of such a message count. The receiver sends a *credit*,
//! an empty message, after a fixed number of received messages. The sender waits when two credits are due. A credit for
//! sixteen short messages costs little, and a rank that is not ahead never waits for one.
//!
//! Both count equally, from the lengths alone, so that nothing needs to be said about the use of a credit. Long
//! messages count more.

use lehr_sync::{AtomicUsize, Ordering};

/// Messages for which there is a credit.
const CREDIT: usize = 16;
/// Bytes that count as one message more.
const BYTES: usize = 1 << 12;
/// Credits that may be due.
const DUE: usize = 2;

/// Counts of a rank's messages to and from the other ranks of a communicator, in one direction. Used by one task at a
/// time: a rank is in one collective at a time.
#[derive(Debug)]
pub(crate) struct Pace(Box<[Other]>);

#[derive(Debug, Default)]
struct Other {
    /// Counted since the last credit became due.
    sent: AtomicUsize,
    /// Credits that have not come.
    due: AtomicUsize,
    /// Counted since the last credit was given.
    heard: AtomicUsize,
}

/// Counts a message; returns whether a credit is full.
fn count(counter: &AtomicUsize, length: usize) -> bool {
    // Relaxed: one task at a time, here and in all that follows.
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

    /// Counts a message to a rank.
    pub(super) fn note_sent(&self, to: usize, length: usize) {
        if count(&self.0[to].sent, length) {
            self.0[to].due.fetch_add(1, Ordering::Relaxed); // one task at a time
        }
    }

    /// Whether this rank must wait for a credit of a rank before it continues.
    pub(super) fn is_ahead(&self, of: usize) -> bool {
        self.0[of].due.load(Ordering::Relaxed) >= DUE // one task at a time
    }

    /// Counts a credit of a rank.
    pub(super) fn note_credit(&self, from: usize) {
        self.0[from].due.fetch_sub(1, Ordering::Relaxed); // one task at a time
    }

    /// Counts a message of a rank; returns whether to give it a credit.
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
