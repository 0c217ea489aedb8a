//! The agreement of two labellings of the same items: the clusters found, and known classes.
//!
//! The numbers of clusters are arbitrary, so the comparison is of pairs of items or of information, not of labels. The
//! adjusted Rand index (Hubert and Arabie 1985) is the share of pairs that both labellings join or both separate,
//! corrected for chance. The adjusted mutual information (Vinh, Epps and Bailey 2010) is the information that one
//! labelling has about the other, corrected for chance. Both are 1 for equal partitions, and about 0 for unrelated
//! partitions. Homogeneity, completeness and their mean, the V-measure (Rosenberg and Hirschberg 2007), are not corrected.

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
    /// The mutual information of cluster and class, in nats.
    pub mutual_information: f64,
    /// The entropy of the clusters, in nats.
    pub cluster_entropy: f64,
    /// The entropy of the classes, in nats.
    pub class_entropy: f64,
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
        let (in_clusters, in_classes) = margins(&counts, clusters, classes);
        let pairs = |items: &u64| *items as f64 * (*items as f64 - 1.0) / 2.0;
        let both: f64 = counts.iter().map(pairs).sum();
        let ours: f64 = in_clusters.iter().map(pairs).sum();
        let theirs: f64 = in_classes.iter().map(pairs).sum();
        let all = pairs(&(found.len() as u64));
        let chance = if all > 0.0 { ours * theirs / all } else { 0.0 };
        let most = (ours + theirs) / 2.0;
        let adjusted_rand = if most > chance { (both - chance) / (most - chance) } else { 1.0 };
        let mutual_information = information(&counts, &in_clusters, &in_classes);
        let (cluster_entropy, class_entropy) = (entropy(&in_clusters), entropy(&in_classes));
        Self { clusters, classes, counts, adjusted_rand, mutual_information, cluster_entropy, class_entropy }
    }

    /// Returns the share of the classes' information that the clusters have: 1 if each cluster has items of one class
    /// only.
    pub fn homogeneity(&self) -> f64 {
        if self.class_entropy > 0.0 { self.mutual_information / self.class_entropy } else { 1.0 }
    }

    /// Returns the share of the clusters' information that the classes have: 1 if all items of a class are in one
    /// cluster.
    pub fn completeness(&self) -> f64 {
        if self.cluster_entropy > 0.0 { self.mutual_information / self.cluster_entropy } else { 1.0 }
    }

    /// Returns the harmonic mean of homogeneity and completeness. It equals the mutual information divided by the mean
    /// of the entropies.
    pub fn v_measure(&self) -> f64 {
        let (a, b) = (self.homogeneity(), self.completeness());
        if a + b > 0.0 { 2.0 * a * b / (a + b) } else { 0.0 }
    }

    /// Returns the adjusted mutual information: at most 1, about 0 by chance. The information is divided by the mean of
    /// the entropies, after the information that is expected by chance is subtracted from both.
    ///
    /// # Example
    /// ```
    /// use lehr_mining::agreement::Agreement;
    /// assert_eq!(Agreement::new(&[1, 1, 0, 0], &[0, 0, 1, 1]).adjusted_mutual_information(), 1.0);
    /// ```
    ///
    /// Cost: clusters x classes x the items of the smaller of the two, and memory for a number for each item.
    pub fn adjusted_mutual_information(&self) -> f64 {
        let (in_clusters, in_classes) = margins(&self.counts, self.clusters, self.classes);
        let groups = |counts: &[u64]| counts.iter().filter(|count| **count > 0).count();
        let items: u64 = in_clusters.iter().sum();
        let (clusters, classes) = (groups(&in_clusters), groups(&in_classes));
        if clusters == classes && (clusters <= 1 || clusters as u64 == items) {
            // There is no choice: both have all items in one group, or each item in its own.
            return 1.0;
        }
        let chance = expected_information(&in_clusters, &in_classes);
        let most = 0.5 * (self.cluster_entropy + self.class_entropy) - chance;
        // Rounding may leave a difference from 0 where there is none.
        let most = if most < 0.0 { most.min(-f64::EPSILON) } else { most.max(f64::EPSILON) };
        (self.mutual_information - chance) / most
    }
}

/// Counts the items of each cluster and of each class.
fn margins(counts: &[u64], clusters: usize, classes: usize) -> (Vec<u64>, Vec<u64>) {
    let in_cluster = |cluster: usize| RowMajor::new(counts, classes).row(cluster).iter().sum();
    let in_class = |class: usize| counts.iter().skip(class).step_by(classes).sum();
    ((0..clusters).map(in_cluster).collect(), (0..classes).map(in_class).collect())
}

/// The entropy of groups of these sizes, in nats.
fn entropy(sizes: &[u64]) -> f64 {
    let total = sizes.iter().sum::<u64>() as f64;
    let of = |size: u64| {
        let share = size as f64 / total;
        if size > 0 { -share * libm::log(share) } else { 0.0 }
    };
    sizes.iter().map(|size| of(*size)).sum()
}

/// The mutual information of two labellings, in nats.
fn information(counts: &[u64], in_clusters: &[u64], in_classes: &[u64]) -> f64 {
    let total = in_clusters.iter().sum::<u64>() as f64;
    let of = |(place, count): (usize, &u64)| {
        let (a, b) = (in_clusters[place / in_classes.len()] as f64, in_classes[place % in_classes.len()] as f64);
        let count = *count as f64;
        if count > 0.0 { count / total * libm::log(count / a * (total / b)) } else { 0.0 }
    };
    counts.iter().enumerate().map(of).sum::<f64>().max(0.0)
}

/// The mutual information that is expected if items are labelled at random, in groups of these sizes (Vinh, Epps and
/// Bailey 2010, eq. 24a).
fn expected_information(in_clusters: &[u64], in_classes: &[u64]) -> f64 {
    let items = in_clusters.iter().sum::<u64>() as usize;
    let mut logs = vec![0.0; items + 1];
    for number in 1..=items {
        logs[number] = logs[number - 1] + libm::log(number as f64);
    }
    let total = items as f64;
    let mut expected = 0.0;
    for &a in in_clusters {
        for &b in in_classes {
            let (a, b) = (a as usize, b as usize);
            let fixed = logs[a] + logs[b] + logs[items - a] + logs[items - b] - logs[items];
            for both in (a + b).saturating_sub(items).max(1)..=a.min(b) {
                let chance = fixed - logs[both] - logs[a - both] - logs[b - both] - logs[items + both - a - b];
                let both = both as f64;
                expected += both / total * libm::log(total * both / (a as f64 * b as f64)) * libm::exp(chance);
            }
        }
    }
    expected
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
    fn information_is_that_of_the_definition_and_its_chance_that_of_all_permutations() {
        let a = [0, 0, 0, 1, 1, 2];
        let b = [0, 0, 1, 1, 1, 0];
        let found = Agreement::new(&a, &b);
        let third = libm::log(3.0) / 3.0;
        let expected_a = 0.5 * libm::log(2.0) + third + libm::log(6.0) / 6.0;
        assert!(
            (found.cluster_entropy - expected_a).abs() < 1e-14 && (found.class_entropy - libm::log(2.0)).abs() < 1e-14
        );
        // The mean over all 720 orders of the items.
        fn permuted(items: &mut Vec<u32>, from: usize, visit: &mut impl FnMut(&[u32])) {
            if from == items.len() {
                return visit(items);
            }
            for other in from..items.len() {
                items.swap(from, other);
                permuted(items, from + 1, visit);
                items.swap(from, other);
            }
        }
        let (mut sum, mut count) = (0.0, 0.0);
        permuted(&mut b.to_vec(), 0, &mut |items| {
            sum += Agreement::new(&a, items).mutual_information;
            count += 1.0;
        });
        let chance = sum / count;
        let mean = 0.5 * (found.cluster_entropy + found.class_entropy);
        let expected = (found.mutual_information - chance) / (mean - chance);
        assert!((found.adjusted_mutual_information() - expected).abs() < 1e-12);
        // These are scikit-learn's figures.
        assert!((expected - 0.182_823_817_279_242_3).abs() < 1e-12, "{expected}");
        assert!((found.homogeneity() - 0.540_852_082_972_755_5).abs() < 1e-12, "{}", found.homogeneity());
        assert!((found.v_measure() - found.mutual_information / mean).abs() < 1e-12);
    }

    #[test]
    fn where_there_is_no_choice_labellings_agree() {
        for labels in [&[][..], &[0], &[0, 0, 0], &[0, 1, 2]] {
            let same = Agreement::new(labels, labels);
            assert_eq!((same.adjusted_rand, same.adjusted_mutual_information()), (1.0, 1.0), "{labels:?}");
        }
        // A single cluster says nothing about classes.
        assert_eq!(Agreement::new(&[0, 0, 0], &[0, 0, 1]).adjusted_rand, 0.0);
    }
}
