//! The agreement of two labellings of the same items: the clusters found, and known classes.
//!
//! The numbers of clusters are arbitrary, so the comparison is of pairs of items, not of labels. The adjusted Rand
//! index (Hubert and Arabie 1985) is the share of pairs that both labellings join or both separate, corrected for
//! chance. It is 1 for equal partitions, and about 0 for unrelated partitions.

use crate::rows::RowMajor;

/// Counts of items by cluster and class, and measures of agreement.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// The number of clusters: the largest label found, plus 1.
    pub clusters: usize,
    /// The number of classes: the largest label known, plus 1.
    pub classes: usize,
    /// For each cluster and class, the number of items that have both (clusters x classes).
    pub counts: Vec<u64>,
    /// The adjusted Rand index: at most 1, about 0 by chance. It is 1 if both labellings put all items in one cluster,
    /// or each item in its own.
    pub adjusted_rand: f64,
}

impl Agreement {
    /// Compares two labellings.
    ///
    /// Cost: one pass, and memory for clusters x classes numbers. Give outliers another label first. With
    /// [`OUTLIER`](crate::vector::OUTLIER), the table would need more than 30 GB.
    ///
    /// # Panics
    /// Panics if the labellings differ in length.
    ///
    /// # Example
    /// ```
    /// use lehr_mining::agreement::Agreement;
    /// let same = Agreement::new(&[1, 1, 0, 0], &[0, 0, 1, 1]);
    /// assert_eq!((same.counts, same.adjusted_rand), (vec![0, 2, 2, 0], 1.0));
    /// // Of six pairs, one is joined by both, two and three by one: (1 - 2 * 3 / 6) / ((2 + 3) / 2 - 2 * 3 / 6) = 0.
    /// assert_eq!(Agreement::new(&[0, 0, 1, 1], &[0, 0, 0, 1]).adjusted_rand, 0.0);
    /// ```
    pub fn new(found: &[u32], known: &[u32]) -> Self {
        assert_eq!(found.len(), known.len(), "two labels an item");
        let count = |labels: &[u32]| labels.iter().max().map_or(0, |most| *most as usize + 1);
        let (clusters, classes) = (count(found), count(known));
        let mut counts = vec![0u64; clusters * classes];
        for (cluster, class) in found.iter().zip(known) {
            counts[*cluster as usize * classes + *class as usize] += 1;
        }
        let pairs = |items: u64| items as f64 * (items as f64 - 1.0) / 2.0;
        let in_cluster = |cluster: usize| RowMajor::new(&counts, classes).row(cluster).iter().sum::<u64>();
        let in_class = |class: usize| counts.iter().skip(class).step_by(classes).sum::<u64>();
        let both: f64 = counts.iter().map(|items| pairs(*items)).sum();
        let ours: f64 = (0..clusters).map(|cluster| pairs(in_cluster(cluster))).sum();
        let theirs: f64 = (0..classes).map(|class| pairs(in_class(class))).sum();
        let all = pairs(found.len() as u64);
        let chance = if all > 0.0 { ours * theirs / all } else { 0.0 };
        let most = (ours + theirs) / 2.0;
        let adjusted_rand = if most > chance { (both - chance) / (most - chance) } else { 1.0 };
        Self { clusters, classes, counts, adjusted_rand }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Computes the index from its definition, over all pairs of items.
    fn by_pairs(a: &[u32], b: &[u32]) -> f64 {
        let (mut both, mut ours, mut theirs, mut all) = (0.0, 0.0, 0.0, 0.0);
        for i in 0..a.len() {
            for j in i + 1..a.len() {
                all += 1.0;
                ours += f64::from(a[i] == a[j]);
                theirs += f64::from(b[i] == b[j]);
                both += f64::from(a[i] == a[j] && b[i] == b[j]);
            }
        }
        (both - ours * theirs / all) / ((ours + theirs) / 2.0 - ours * theirs / all)
    }

    #[test]
    fn the_index_is_that_of_counting_all_pairs_and_symmetric() {
        let a: Vec<u32> = (0..60).map(|item| item * 7 % 13 % 4).collect();
        let b: Vec<u32> = (0..60).map(|item| item % 5).collect();
        let found = Agreement::new(&a, &b);
        assert_eq!((found.clusters, found.classes, found.counts.iter().sum::<u64>()), (4, 5, 60));
        assert!((found.adjusted_rand - by_pairs(&a, &b)).abs() < 1e-12);
        assert!((Agreement::new(&b, &a).adjusted_rand - found.adjusted_rand).abs() < 1e-12);
    }

    #[test]
    fn where_there_is_no_choice_labellings_agree() {
        for labels in [&[][..], &[0], &[0, 0, 0], &[0, 1, 2]] {
            assert_eq!(Agreement::new(labels, labels).adjusted_rand, 1.0, "{labels:?}");
        }
        // A single cluster says nothing about classes.
        assert_eq!(Agreement::new(&[0, 0, 0], &[0, 0, 1]).adjusted_rand, 0.0);
    }
}
