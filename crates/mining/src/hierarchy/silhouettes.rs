//! Silhouettes (Rousseeuw 1987): how much closer an item is to its own cluster than to the nearest other cluster.
//!
//! An item's silhouette is (b − a) / max(a, b). Here a is its mean dissimilarity to the other items of its cluster, and b
//! the smallest mean dissimilarity to the items of another cluster. The silhouette of an item alone in its cluster is 0.
//! Means are weighted by the weights of the items; an item's own weight does not count in a.

use lehr_numerics::lanes::Real;

use super::Problem;
use super::cut::Tree;
use crate::round::{LeafCells, Partition, Round};
use crate::validity::silhouette;

/// The dissimilarities of an item to the clusters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Means {
    /// The weighted sum of dissimilarities to the items of its own cluster.
    pub own: f64,
    /// The weighted mean dissimilarity to the items of the nearest other cluster; infinite if there is none.
    pub nearest: f64,
}

impl Means {
    /// Appends means as bytes, for other processes.
    pub fn write(means: &Vec<Self>, bytes: &mut Vec<u8>) {
        for Self { own, nearest } in means {
            bytes.extend_from_slice(&own.to_le_bytes());
            bytes.extend_from_slice(&nearest.to_le_bytes());
        }
    }

    /// Reads the bytes of [`write`](Self::write).
    pub fn read(means: &mut Vec<Self>, bytes: &[u8]) {
        let (numbers, _) = bytes.as_chunks::<8>();
        let (pairs, _) = numbers.as_chunks::<2>();
        let read = |[own, nearest]: &[[u8; 8]; 2]| Self {
            own: f64::from_le_bytes(*own),
            nearest: f64::from_le_bytes(*nearest),
        };
        *means = pairs.iter().map(read).collect();
    }

    /// The silhouette of an item of this weight, in a cluster of this weight.
    pub fn silhouette(self, weight: f64, cluster: f64) -> f64 {
        let others = cluster - weight;
        if others > 0.0 { silhouette(self.own / others, self.nearest) } else { 0.0 }
    }
}

/// Adds up an item's dissimilarities by cluster.
fn sums<T: Real>(problem: &Problem<'_, T>, item: usize, labels: &[u32], sums: &mut [f64]) {
    sums.fill(0.0);
    for (other, &label) in labels.iter().enumerate() {
        // No pair is missing: this was checked before.
        sums[label as usize] += problem.weights[other] * problem.matrix.get(item, other).unwrap_or(0.0);
    }
}

/// Sums up the weights of each cluster.
pub(super) fn weights<T: Real>(problem: &Problem<'_, T>, labels: &[u32], clusters: usize) -> Vec<f64> {
    let mut of = vec![0.0; clusters];
    labels.iter().zip(&problem.weights).for_each(|(&label, weight)| of[label as usize] += weight);
    of
}

/// Returns the means of an item from the clusters, the sums to them and their weights.
fn means(sums: impl Iterator<Item = (usize, f64, f64)>, own: usize) -> Means {
    let mut found = Means { own: 0.0, nearest: f64::INFINITY };
    for (cluster, sum, weight) in sums {
        if cluster == own {
            found.own = sum;
        } else {
            found.nearest = found.nearest.min(sum / weight);
        }
    }
    found
}

/// While numbers of clusters are compared, clusters of less than this share of the weight, or of fewer items, are set
/// apart. Otherwise one outlier beside all other items would often have the largest mean, because the nearest other
/// cluster of all those items is far away.
const LEAST_SHARE: f64 = 0.01;
const LEAST_ITEMS: usize = 2;

/// The sums of silhouettes, times weights, for each number of clusters from `most` down to 2. Items are not compared with
/// clusters that are set apart, and the silhouettes of items in such clusters are 0.
pub(super) struct Levels<'a, T: Real> {
    problem: &'a Problem<'a, T>,
    partition: Partition,
    labels: Vec<u32>,
    weights: Vec<f64>,
    /// The number of items of each cluster of the finest level.
    items: Vec<usize>,
    /// The pairs of clusters that the joins above the finest level unite: the second becomes part of the first.
    unions: Vec<(usize, usize)>,
    /// The least weight of a cluster that is not set apart.
    least: f64,
}

/// A cluster of a level: its weight and its number of items.
#[derive(Clone, Copy)]
struct Size {
    weight: f64,
    items: usize,
}

impl<'a, T: Real> Levels<'a, T> {
    /// Prepares the levels of a tree, of which the finest has `most` clusters.
    pub fn new(problem: &'a Problem<'a, T>, partition: Partition, tree: &Tree, most: usize) -> Self {
        let (roots, labels) = tree.cut(most);
        let weights = weights(problem, &labels, most);
        let mut cluster = vec![usize::MAX; tree.items + tree.joins.len()];
        roots.iter().enumerate().for_each(|(number, &root)| cluster[root] = number);
        let first = tree.items - most;
        let unite = |(place, join): (usize, &super::Join)| {
            let (left, right) = (cluster[join.left], cluster[join.right]);
            cluster[tree.items + place] = left;
            (left, right)
        };
        let unions = tree.joins.iter().enumerate().skip(first).take(most - 2).map(unite).collect();
        let total: f64 = weights.iter().sum();
        let mut items = vec![0; most];
        labels.iter().for_each(|&label| items[label as usize] += 1);
        Self { problem, partition, labels, weights, items, unions, least: LEAST_SHARE * total }
    }
}

impl<T: Real> Round for Levels<'_, T> {
    fn len(&self) -> usize {
        self.unions.len() + 1
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        let clusters = self.weights.len();
        let mut to = vec![0.0; clusters];
        partial.fill(0.0);
        for item in self.partition.leaf_rows(leaf) {
            let weight = self.problem.weights[item];
            sums(self.problem, item, &self.labels, &mut to);
            let mut sizes: Vec<Size> =
                self.weights.iter().zip(&self.items).map(|(&weight, &items)| Size { weight, items }).collect();
            let is_compared = |size: &Size| size.items >= LEAST_ITEMS && size.weight >= self.least;
            let mut own = self.labels[item] as usize;
            for (level, sum) in partial.iter_mut().enumerate() {
                if let Some(&(left, right)) = level.checked_sub(1).map(|union| &self.unions[union]) {
                    to[left] += to[right];
                    sizes[left].weight += sizes[right].weight;
                    sizes[left].items += sizes[right].items;
                    sizes[right].items = 0;
                    own = if own == right { left } else { own };
                }
                if is_compared(&sizes[own]) {
                    let compared = to.iter().zip(&sizes).enumerate().filter(|(_, (_, size))| is_compared(size));
                    let compared = compared.map(|(cluster, (&sum, size))| (cluster, sum, size.weight));
                    *sum += weight * means(compared, own).silhouette(weight, sizes[own].weight);
                }
            }
        }
    }

    fn name(&self) -> &'static str {
        "silhouettes of each number of clusters"
    }
}

/// Stores the means of every item at one level.
pub(super) struct AtLevel<'a, T: Real> {
    pub problem: &'a Problem<'a, T>,
    pub partition: Partition,
    pub labels: &'a [u32],
    pub weights: &'a [f64],
    pub means: &'a LeafCells<Vec<Means>>,
}

impl<T: Real> Round for AtLevel<'_, T> {
    fn len(&self) -> usize {
        0
    }

    fn map(&self, leaf: usize, _: &mut [f64]) {
        let mut to = vec![0.0; self.weights.len()];
        let of_item = |item: usize| {
            sums(self.problem, item, self.labels, &mut to);
            let sums = to.iter().zip(self.weights).enumerate().map(|(cluster, (&sum, &weight))| (cluster, sum, weight));
            means(sums, self.labels[item] as usize)
        };
        let found = self.partition.leaf_rows(leaf).map(of_item).collect();
        self.means.with(leaf, |means| *means = found);
    }

    fn name(&self) -> &'static str {
        "silhouettes of the items"
    }
}
