//! The sequential model: every item ends once, in a known way.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// The ways in which an item may end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    /// A consumer took the item.
    Consumed,
    /// The item was in its port when the world had ended.
    Left,
    /// The post of the item was refused, and the poster got the item back.
    Returned,
    /// The port gave the item up by its policy, and reported this.
    Discarded,
    /// The item was in a wait for a place that was cancelled, which drops the item.
    Withdrawn,
    /// The item was dropped without a report.
    Lost,
}

/// The ends of all items of a world.
#[derive(Default)]
pub struct Ledger {
    made: AtomicU64,
    ends: Mutex<Vec<(u64, End, &'static str)>>,
}

/// An item. When an item is dropped, it records in its ledger the end that its last owner has set.
pub struct Item {
    pub poster: usize,
    pub number: usize,
    number_in_all: u64,
    /// The receiver to which the item was last posted, which is named if the item is lost.
    meant_for: &'static str,
    end: End,
    ledger: Arc<Ledger>,
}

impl Item {
    pub fn new(ledger: &Arc<Ledger>, poster: usize, number: usize) -> Self {
        // Relaxed: the numbers need only be different.
        let number_in_all = ledger.made.fetch_add(1, Ordering::Relaxed);
        Self { poster, number, number_in_all, meant_for: "its poster", end: End::Lost, ledger: ledger.clone() }
    }

    /// Sets the end that is recorded if the item is dropped from now on.
    pub fn may(&mut self, end: End) {
        self.end = end;
    }

    /// Sets the name of the receiver to which the item is posted.
    pub fn meant_for(mut self, whom: &'static str) -> Self {
        self.meant_for = whom;
        self
    }

    /// Ends the item, in the given way.
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
    /// Checks that every item has ended once and that no item is lost; counts the ends.
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

/// The numbers of items that ended in each way.
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
