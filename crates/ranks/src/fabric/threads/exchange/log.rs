//! The log of each rank's calls, which the other ranks compare with their own log before they sleep.
//!
//! One-way calls (a broadcast, a reduction) let a rank run ahead of other ranks, because some of its calls do not wait.
//! So two ranks may have made different calls before they meet. Each rank therefore records each call: its kind and
//! number, and a digest of all calls so far. A rank that is about to sleep compares its digest with every other rank's
//! digest, at the last call that both have made. Of two ranks that differ, the rank that goes to sleep later sees the
//! difference. So if ranks have made different calls, at least one of them does not sleep.
//!
//! | shared word | meaning | who writes it |
//! | --- | --- | --- |
//! | `Log::made` | the number of calls that the rank has made | the log's rank, once per call |
//! | `Entry` | one of the rank's last calls | the log's rank, before it counts the call |
//!
//! As long as no rank sleeps, only the log's own rank accesses a log. So recording a call takes four stores to lines in
//! that rank's cache.

use lehr_sync::{AtomicUsize, Ordering, fence};

/// The number of calls that a log remembers. A rank cannot be that many calls ahead of another rank that it
/// communicates with.
const KEPT: usize = if cfg!(any(loom, shuttle)) { 4 } else { 64 };

/// A kind of call, and the call's number, which must be the same on all ranks.
type Head = [u64; 2];

/// The log of one rank's calls.
pub(super) struct Log {
    made: AtomicUsize,
    entries: [Entry; KEPT],
}

#[derive(Default)]
struct Entry {
    call: AtomicUsize,
    number: AtomicUsize,
    digest: AtomicUsize,
}

/// The state with which a rank writes to its own log: the number of its calls, and their digest.
#[derive(Default)]
pub(super) struct Pen {
    made: usize,
    digest: usize,
}

impl Pen {
    pub(super) fn digest(&self) -> u64 {
        self.digest as u64
    }
}

impl Log {
    pub(super) fn new() -> Self {
        Self { made: AtomicUsize::new(0), entries: std::array::from_fn(|_| Entry::default()) }
    }

    /// Records a call of this log's rank.
    pub(super) fn note(&self, pen: &mut Pen, head: Head) {
        let [call, number] = head.map(|word| word as usize);
        // The multiplication by the golden ratio and the rotation make the digest depend on the order of the words.
        let stir = |digest: usize, word: usize| {
            (digest.rotate_left(5) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15_u64 as usize)
        };
        pen.digest = stir(stir(pen.digest, call), number);
        let entry = &self.entries[pen.made % KEPT];
        // Release: a rank that sees one of the words below also sees the number of the earlier calls, and so knows that
        // the older entry is gone. Pairs with the fence in `at`.
        fence(Ordering::Release);
        // Relaxed: published by the store to `made`.
        entry.call.store(call, Ordering::Relaxed);
        // Relaxed: as above.
        entry.number.store(number, Ordering::Relaxed);
        // Relaxed: as above.
        entry.digest.store(pen.digest, Ordering::Relaxed);
        pen.made += 1;
        // Release: publishes the entry. Pairs with the Acquire in `made`.
        self.made.store(pen.made, Ordering::Release);
    }

    /// Returns the number of calls that the rank has made.
    pub(super) fn made(&self) -> usize {
        // Acquire: pairs with the Release in `note`; the entries are visible.
        self.made.load(Ordering::Acquire)
    }

    /// Returns a call that the rank is known to have made, and the digest up to that call. Returns `None` if the log no
    /// longer remembers the call.
    fn at(&self, place: usize) -> Option<(Head, usize)> {
        let entry = &self.entries[place % KEPT];
        // Relaxed, because `made` was read before, and is read again afterwards.
        let [call, number, digest] =
            [&entry.call, &entry.number, &entry.digest].map(|word| word.load(Ordering::Relaxed));
        // Acquire: pairs with the Release fence in `note`; if one of the words belongs to a later call, `made` below
        // counts all calls before that later call.
        fence(Ordering::Acquire);
        // Relaxed: ordered by the fence.
        let made = self.made.load(Ordering::Relaxed);
        (made - place < KEPT).then_some(([call as u64, number as u64], digest))
    }

    /// Returns the first remembered call in which this log and another differ, as each of the two ranks made it; `None`
    /// if the logs agree. If the logs differ only in calls that are no longer remembered, returns unknown calls.
    pub(super) fn divergence(&self, other: &Self) -> Option<[Head; 2]> {
        let both = self.made().min(other.made());
        let last = both.checked_sub(1)?;
        let (mine, theirs) = (self.at(last)?, other.at(last)?);
        if mine.1 == theirs.1 {
            return None;
        }
        let pairs = (both.saturating_sub(KEPT)..both).filter_map(|place| Some([self.at(place)?.0, other.at(place)?.0]));
        Some(pairs.into_iter().find(|[mine, theirs]| mine != theirs).unwrap_or_default())
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn log(calls: &[u64]) -> Log {
        let (log, mut pen) = (Log::new(), Pen::default());
        calls.iter().for_each(|&call| log.note(&mut pen, [call, 7]));
        log
    }

    #[test]
    fn ranks_that_made_the_same_calls_agree_however_far_one_is_ahead() {
        assert_eq!(log(&[]).divergence(&log(&[1, 2])), None);
        assert_eq!(log(&[1, 2]).divergence(&log(&[1, 2, 3, 4])), None);
        let many: Vec<u64> = (0..1000).collect();
        assert_eq!(log(&many).divergence(&log(&many[..990])), None);
    }

    #[test]
    fn the_first_call_in_which_two_differ_is_named_even_if_they_agree_again() {
        assert_eq!(log(&[1, 2, 3]).divergence(&log(&[1, 4, 3])), Some([[2, 7], [4, 7]]));
        // One rank has left out a call: the last calls are the same, but the digests are not.
        assert_eq!(log(&[1, 5, 1, 1]).divergence(&log(&[1, 1, 1, 1])), Some([[5, 7], [1, 7]]));
    }

    #[test]
    fn a_difference_of_long_ago_is_seen_and_not_named() {
        let (mut one, mut other) = (vec![0; 500], vec![0; 500]);
        (one[3], other[3]) = (1, 2);
        assert_eq!(log(&one).divergence(&log(&other)), Some([[0; 2]; 2]));
        one.truncate(400); // what the other did in call 400 is forgotten
        assert_eq!(log(&one).divergence(&log(&other)), None);
    }
}
