//! The sequential model: every item ends once, and how is known.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// How an item may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// A consumer took it.
    Consumed,
    /// It was in its port when the world had ended.
    Left,
    /// Its post was refused, and the poster has it back.
    Returned,
    /// The port gave it up by its policy and reported that.
    Discarded,
    /// It was in a wait for a place that was cancelled, which drops it.
    Withdrawn,
    /// Somebody dropped it without a word.
    Lost,
}

/// What happened to all items of a world.
#[derive(Default)]
pub struct Ledger {
    made: AtomicU64,
    ends: Mutex<Vec<(u64, End, &'static str)>>,
}

/// An item. It tells its ledger when it is dropped; what it tells is decided by whoever had it last.
pub struct Item {
    pub poster: usize,
    pub number: usize,
    number_in_all: u64,
    /// What it was last meant for; named if it is lost.
    meant_for: &'static str,
    end: End,
    ledger: Arc<Ledger>,
}

impl Item {
    pub fn new(ledger: &Arc<Ledger>, poster: usize, number: usize) -> Self {
        // Relaxed: only distinctness is needed.
        let number_in_all = ledger.made.fetch_add(1, Ordering::Relaxed);
        Self { poster, number, number_in_all, meant_for: "its poster", end: End::Lost, ledger: ledger.clone() }
    }

    /// From here on being dropped is an end of this kind.
    pub fn may(&mut self, end: End) {
        self.end = end;
    }

    /// Says whom it is posted to.
    pub fn meant_for(mut self, whom: &'static str) -> Self {
        self.meant_for = whom;
        self
    }

    /// Ends it.
    pub fn ends(mut self, end: End) {
        self.end = end;
    }
}

impl Drop for Item {
    fn drop(&mut self) {
        self.ledger.ends.lock().unwrap().push((self.number_in_all, self.end, self.meant_for));
    }
}

impl Ledger {
    /// Closes the books: every item has ended once and none is lost.
    pub fn close(&self) -> Result<Summary, String> {
        let made = self.made.load(Ordering::Relaxed);
        let mut ends = self.ends.lock().unwrap().clone();
        ends.sort_unstable_by_key(|(item, ..)| *item);
        if let Some(pair) = ends.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(format!("item {} ended twice: {:?} and {:?}", pair[0].0, pair[0].1, pair[1].1));
        }
        let missing = made - ends.len() as u64;
        if missing > 0 {
            return Err(format!("{missing} of {made} items have not ended: somebody still holds them"));
        }
        let lost: Vec<_> = ends.iter().filter(|(_, end, _)| *end == End::Lost).map(|(_, _, whom)| *whom).collect();
        if !lost.is_empty() {
            return Err(format!("{} of {made} items were lost, posted to {}", lost.len(), lost.join(", ")));
        }
        let mut summary = Summary::default();
        for (_, end, _) in ends {
            summary.count(end);
        }
        Ok(summary)
    }
}

/// How many items ended in which way.
#[derive(Default)]
pub struct Summary([u64; 5]);

impl Summary {
    const ENDS: [(End, &str); 5] = [
        (End::Consumed, "consumed"),
        (End::Left, "left"),
        (End::Returned, "returned"),
        (End::Discarded, "discarded"),
        (End::Withdrawn, "withdrawn"),
    ];

    fn count(&mut self, end: End) {
        let place = Self::ENDS.iter().position(|(known, _)| *known == end).expect("no item was lost");
        self.0[place] += 1;
    }

    pub fn add(&mut self, other: &Self) {
        self.0.iter_mut().zip(other.0).for_each(|(sum, more)| *sum += more);
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts: Vec<String> =
            Self::ENDS.iter().zip(self.0).map(|((_, name), count)| format!("{count} {name}")).collect();
        formatter.write_str(&parts.join(", "))
    }
}
