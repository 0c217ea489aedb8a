//! The spread of active items over clusters: their number in each, their enrichment there, and its probability by
//! chance.
//!
//! A screen is clustered to find clusters rich in active compounds: test the inactive and untested compounds in such a
//! cluster next. A small cluster may be rich by chance; the hypergeometric tail says how likely that is.

use lehr_numerics::elementary::{exp, ln};

/// One cluster's share.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// Items.
    pub items: u64,
    /// The active ones among them.
    pub active: u64,
    /// The number of times as frequent active items are in it as in all; 0 where none at all.
    pub factor: f64,
    /// The probability of at least this many among as many items drawn at random.
    pub chance: f64,
}

/// All clusters' shares.
#[derive(Debug, Clone, PartialEq)]
pub struct Enrichment {
    /// Items.
    pub items: u64,
    /// Active ones.
    pub active: u64,
    /// One for each cluster.
    pub clusters: Vec<Share>,
}

/// Clusters count as rich from this factor on.
pub const RICH: f64 = 2.0;

impl Enrichment {
    /// From the cluster of each item, and whether it is active.
    ///
    /// Cost: one pass, and for each cluster as many terms as it may have active items.
    ///
    /// # Panics
    /// Panics if a label is not below `clusters`.
    ///
    /// # Example
    /// ```
    /// use lehr_mining::enrichment::Enrichment;
    /// // Two of four items are active, and both are in the first cluster: one of the six ways to draw two.
    /// let found = Enrichment::new(&[0, 0, 1, 1], 2, |item| item < 2);
    /// assert_eq!((found.clusters[0].factor, found.in_rich()), (2.0, (2, 2)));
    /// assert!((found.clusters[0].chance - 1.0 / 6.0).abs() < 1e-12);
    /// assert_eq!(found.purity(), 1.0);
    /// ```
    pub fn new(labels: &[u32], clusters: usize, is_active: impl Fn(usize) -> bool) -> Self {
        let mut counts = vec![(0u64, 0u64); clusters];
        for (item, &label) in labels.iter().enumerate() {
            let (items, active) = &mut counts[label as usize];
            *items += 1;
            *active += u64::from(is_active(item));
        }
        let items = labels.len() as u64;
        let active = counts.iter().map(|(_, active)| active).sum();
        let logs = LogFactorials::up_to(items);
        let share = |(of, found): (u64, u64)| Share {
            items: of,
            active: found,
            factor: if of > 0 && active > 0 { found as f64 / of as f64 * (items as f64 / active as f64) } else { 0.0 },
            chance: logs.tail(items, active, of, found),
        };
        Self { items, active, clusters: counts.into_iter().map(share).collect() }
    }

    /// The share of active items in an active item's cluster, on average over the active items. It is the overall share
    /// of active items if clusters are uninformative, 1 if they separate the active ones, and 0 if none is active.
    pub fn purity(&self) -> f64 {
        let share =
            |of: &Share| if of.items > 0 { of.active as f64 * (of.active as f64 / of.items as f64) } else { 0.0 };
        let sum: f64 = self.clusters.iter().map(share).sum();
        if self.active > 0 { sum / self.active as f64 } else { 0.0 }
    }

    /// The active items in rich clusters ([`RICH`]), and all items in them.
    pub fn in_rich(&self) -> (u64, u64) {
        let rich = self.clusters.iter().filter(|share| share.factor >= RICH);
        rich.fold((0, 0), |(active, items), share| (active + share.active, items + share.items))
    }
}

struct LogFactorials(Vec<f64>);

impl LogFactorials {
    fn up_to(most: u64) -> Self {
        let mut logs = Vec::with_capacity(most as usize + 1);
        let mut sum = 0.0;
        logs.push(0.0);
        for n in 1..=most {
            sum += ln(n as f64);
            logs.push(sum);
        }
        Self(logs)
    }

    fn choose(&self, n: u64, k: u64) -> f64 {
        self.0[n as usize] - self.0[k as usize] - self.0[(n - k) as usize]
    }

    /// The probability of `found` or more active items among `of` drawn from `items` with `active` active ones.
    fn tail(&self, items: u64, active: u64, of: u64, found: u64) -> f64 {
        let all = self.choose(items, of);
        // As many inactive ones as are drawn besides must be there.
        let least = found.max((of + active).saturating_sub(items));
        let terms =
            (least..=of.min(active)).map(|k| exp(self.choose(active, k) + self.choose(items - active, of - k) - all));
        terms.sum::<f64>().min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_chances_are_those_of_an_urn() {
        // Ten items, four active; a cluster of three with two active, and the rest.
        let labels = [0, 0, 0, 1, 1, 1, 1, 1, 1, 1];
        let found = Enrichment::new(&labels, 2, |item| [0, 1, 5, 9].contains(&item));
        assert_eq!((found.items, found.active), (10, 4));
        let first = &found.clusters[0];
        assert_eq!((first.items, first.active), (3, 2));
        assert!((first.factor - (2.0 / 3.0) / 0.4).abs() < 1e-12);
        // (6 x 6 + 4) of 120 ways to draw three have two or three of the four.
        assert!((first.chance - 40.0 / 120.0).abs() < 1e-12, "{}", first.chance);
        // Seven drawn of ten with six inactive ones have at least one active one: two or more in all but 4 of 120 ways.
        assert!((found.clusters[1].chance - 116.0 / 120.0).abs() < 1e-12);
        assert_eq!(found.in_rich(), (0, 0));
        // Two of the active are among three with two, two among seven with two.
        assert!((found.purity() - (2.0 * 2.0 / 3.0 + 2.0 * 2.0 / 7.0) / 4.0).abs() < 1e-12, "{}", found.purity());
    }

    #[test]
    fn nothing_active_is_no_enrichment() {
        let found = Enrichment::new(&[0, 1, 1], 2, |_| false);
        assert!(found.clusters.iter().all(|share| share.factor == 0.0 && (share.chance - 1.0).abs() < 1e-12));
        assert_eq!(found.purity(), 0.0);
        let all = Enrichment::new(&[0, 1, 1], 2, |_| true);
        assert!(
            all.clusters.iter().all(|share| (share.factor - 1.0).abs() < 1e-12 && (share.chance - 1.0).abs() < 1e-12)
        );
    }
}
