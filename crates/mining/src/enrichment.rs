//! How active items are spread over clusters: their number in each cluster, their enrichment, and the probability of at
//! least this many by chance.
//!
//! For example, cluster a screen to find clusters rich in active compounds, then test the inactive and untested
//! compounds in them. A small cluster may be rich by chance; the hypergeometric tail is the probability of such a
//! result.

use lehr_numerics::elementary::{exp, ln};

/// Active items in one cluster.
#[derive(Debug, Clone, PartialEq)]
pub struct Share {
    /// The number of items.
    pub items: u64,
    /// The number of active items.
    pub active: u64,
    /// The share of active items in the cluster, divided by their share of all items; 0 if no items are active.
    pub factor: f64,
    /// The probability that at least this many items are active if the cluster's items are drawn at random.
    pub chance: f64,
}

/// Active items in all clusters.
#[derive(Debug, Clone, PartialEq)]
pub struct Enrichment {
    /// The number of items.
    pub items: u64,
    /// The number of active items.
    pub active: u64,
    /// The figures for each cluster.
    pub clusters: Vec<Share>,
}

/// The factor from which a cluster counts as rich.
pub const RICH: f64 = 2.0;

impl Enrichment {
    /// Counts the active items in each cluster, given the cluster of each item and whether the item is active.
    ///
    /// Cost: one pass, and one term for each possible number of active items in each cluster.
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

    /// The share of active items in an active item's cluster, averaged over the active items. It is 1 if clusters
    /// separate active from inactive items, and the overall share of active items if clusters are uninformative. It is
    /// 0 if no item is active.
    pub fn purity(&self) -> f64 {
        let share =
            |of: &Share| if of.items > 0 { of.active as f64 * (of.active as f64 / of.items as f64) } else { 0.0 };
        let sum: f64 = self.clusters.iter().map(share).sum();
        if self.active > 0 { sum / self.active as f64 } else { 0.0 }
    }

    /// Returns the number of active items in rich clusters ([`RICH`]), and the number of all items in rich clusters.
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

    /// The probability of `found` or more active items in a draw of `of` from `items`, of which `active` are active.
    fn tail(&self, items: u64, active: u64, of: u64, found: u64) -> f64 {
        let all = self.choose(items, of);
        // If the draw exceeds the inactive items, the rest of it must be active.
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
        // Ten items, four of them active: a cluster of three with two active ones, and a cluster of the rest.
        let labels = [0, 0, 0, 1, 1, 1, 1, 1, 1, 1];
        let found = Enrichment::new(&labels, 2, |item| [0, 1, 5, 9].contains(&item));
        assert_eq!((found.items, found.active), (10, 4));
        let first = &found.clusters[0];
        assert_eq!((first.items, first.active), (3, 2));
        assert!((first.factor - (2.0 / 3.0) / 0.4).abs() < 1e-12);
        // Of 120 ways to draw three, 6 x 6 + 4 contain two or three of the four.
        assert!((first.chance - 40.0 / 120.0).abs() < 1e-12, "{}", first.chance);
        // A draw of seven from ten has at least one active item, because six are inactive. It has two or more in all
        // but 4 of 120 ways.
        assert!((found.clusters[1].chance - 116.0 / 120.0).abs() < 1e-12);
        assert_eq!(found.in_rich(), (0, 0));
        // The cluster of three items has two active items, and so has the cluster of seven items.
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
