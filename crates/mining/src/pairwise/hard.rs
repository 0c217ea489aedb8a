//! The finish of a clustering: each item is in one cluster, and no single move of an item improves the result.
//!
//! The cost H of hard clusters (Hofmann and Buhmann 1997) is given below. C is the mass of a cluster, and S is the
//! weighted sum of dissimilarities within it. O is the weight of the pairs that have a dissimilarity; if all pairs have
//! one, O is the squared mass.
//!
//! ```text
//! H = sum_k C_k S_k / (2 O_k)
//! ```
//!
//! First all items move at once to the cluster with their lowest field, as long as that lowers H. Then items move one
//! at a time, until no single move lowers H. A closed form of the stored sums gives the change of H by a move, and one
//! row of the matrix updates the sums.

use lehr_numerics::compact::{Columns, Entry};
use lehr_numerics::lanes::Real;

use super::field::Problem;
use crate::Error;
use crate::gather::Side;
use crate::product::products;
use crate::round::Rounds;
use crate::rows::RowMajor;

/// The maximum number of moves of all items at once.
const MOST_SWEEPS: usize = 100;
/// A gain below this share of the cost is a rounding error.
const ROUNDING: f64 = 1e-11;

/// Hard clusters, and the sums from which their cost follows. All of these are the same on every rank.
#[derive(Clone, Debug)]
pub(crate) struct Hard {
    pub labels: Vec<u32>,
    pub count: usize,
    pub masses: Vec<f64>,
    /// The number of items of positive weight in each cluster.
    members: Vec<usize>,
    /// S and O of each cluster.
    within: Vec<f64>,
    pairs: Vec<f64>,
    /// For each item and each cluster, the weighted sum of the item's dissimilarities to the members (N x K). `known`
    /// has the weight of these dissimilarities; it is empty if none is missing.
    sums: Vec<f64>,
    known: Vec<f64>,
    pub readings: u64,
}

impl Hard {
    /// Creates clusters from labels below `count`.
    pub async fn new<T: Real>(
        rounds: &mut dyn Rounds,
        problem: &Problem<'_, T>,
        labels: Vec<u32>,
        count: usize,
        turn: &mut Side,
    ) -> Result<Self, Error> {
        let mut hard = Self {
            labels,
            count,
            masses: Vec::new(),
            members: Vec::new(),
            within: Vec::new(),
            pairs: Vec::new(),
            sums: Vec::new(),
            known: Vec::new(),
            readings: 0,
        };
        hard.read(rounds, problem, turn).await?;
        Ok(hard)
    }

    /// Computes the sums in one pass over the matrix.
    async fn read<T: Real>(
        &mut self,
        rounds: &mut dyn Rounds,
        problem: &Problem<'_, T>,
        turn: &mut Side,
    ) -> Result<(), Error> {
        let (items, count) = (problem.items(), self.count);
        let mut columns = Columns::new(items, count);
        let is_in = |item: usize, k: usize| self.labels[item] as usize == k;
        columns.fill(|item, k| if is_in(item, k) { problem.weights[item] } else { 0.0 });
        let mut out = Vec::new();
        let has_gaps = problem.matrix.has_gaps();
        let entries = [Entry::Value, Entry::Present];
        let entries = if has_gaps { &entries[..] } else { &entries[..1] };
        products(rounds, &problem.matrix, &columns, entries, &problem.gather, turn, &mut out).await?;
        self.readings += 1;
        if has_gaps {
            self.sums = out.chunks_exact(2 * count).flat_map(|row| &row[..count]).copied().collect();
            self.known = out.chunks_exact(2 * count).flat_map(|row| &row[count..]).copied().collect();
        } else {
            self.sums = out;
        }
        self.masses = vec![0.0; count];
        self.members = vec![0; count];
        self.within = vec![0.0; count];
        self.pairs = vec![0.0; count];
        for item in 0..items {
            let (k, weight) = (self.labels[item] as usize, problem.weights[item]);
            self.masses[k] += weight;
            self.members[k] += usize::from(weight > 0.0);
            self.within[k] += weight * self.sums[item * count + k];
            if has_gaps {
                self.pairs[k] += weight * self.known[item * count + k];
            }
        }
        if !has_gaps {
            self.pairs = self.masses.iter().map(|mass| mass * mass).collect();
        }
        Ok(())
    }

    /// The mean dissimilarity within a cluster; 0 if it has no pairs.
    pub fn mean_within(&self, k: usize) -> f64 {
        if self.pairs[k] > 0.0 { self.within[k] / self.pairs[k] } else { 0.0 }
    }

    /// The cost H.
    pub fn cost(&self) -> f64 {
        (0..self.count).map(|k| 0.5 * self.masses[k] * self.mean_within(k)).sum()
    }

    /// The mean dissimilarity of an item to a cluster's members; if no dissimilarity is known, the mean within the
    /// cluster.
    pub fn mean(&self, item: usize, k: usize) -> f64 {
        let known = self.known(item, k);
        if known > 0.0 { self.sums[item * self.count + k] / known } else { self.mean_within(k) }
    }

    fn known(&self, item: usize, k: usize) -> f64 {
        if self.known.is_empty() { self.masses[k] } else { self.known[item * self.count + k] }
    }

    /// The field of an item in a cluster: for squared distances, the squared distance from the cluster's mean.
    pub fn field(&self, item: usize, k: usize) -> f64 {
        self.mean(item, k) - 0.5 * self.mean_within(k)
    }

    /// Improves the clusters until no single move lowers the cost.
    pub async fn finish<T: Real>(
        &mut self,
        rounds: &mut dyn Rounds,
        problem: &Problem<'_, T>,
        turn: &mut Side,
    ) -> Result<u64, Error> {
        for _ in 0..MOST_SWEEPS {
            let next: Vec<u32> = (0..problem.items()).map(|item| self.nearest(item)).collect();
            if next == self.labels {
                break;
            }
            let mut all = self.clone();
            all.labels = next;
            all.read(rounds, problem, turn).await?;
            self.readings = all.readings;
            // If a cluster is emptied, there are fewer clusters than requested. Single moves never empty a cluster.
            if all.members.contains(&0) || all.cost() >= self.cost() {
                break;
            }
            *self = all;
        }
        Ok(self.exchange(problem))
    }

    fn nearest(&self, item: usize) -> u32 {
        let own = self.labels[item] as usize;
        let mut best = (self.field(item, own), own);
        for k in 0..self.count {
            let field = self.field(item, k);
            if field < best.0 {
                best = (field, k);
            }
        }
        best.1 as u32
    }

    /// Moves single items as long as that lowers the cost, and returns the number of moves. Every rank makes the same
    /// moves.
    fn exchange<T: Real>(&mut self, problem: &Problem<'_, T>) -> u64 {
        let items = problem.items();
        let (mut moves, mut since) = (0, 0);
        let mut item = 0;
        // Each move lowers the cost by more than rounding, so the loop ends. The limit is for extreme values, for which
        // rounding errors may exceed the gain of a move.
        let most = 1000 * items as u64;
        while since < items && moves < most {
            let weight = problem.weights[item];
            let from = self.labels[item] as usize;
            since += 1;
            if weight == 0.0 {
                self.labels[item] = self.nearest(item);
            } else if self.members[from] > 1
                && let Some(to) = self.better(item, weight)
            {
                self.shift(problem, item, to);
                moves += 1;
                since = 0;
            }
            item = if item + 1 < items { item + 1 } else { 0 };
        }
        moves
    }

    fn half(&self, mass: f64, within: f64, pairs: f64) -> f64 {
        if pairs > 0.0 { 0.5 * mass * within / pairs } else { 0.0 }
    }

    /// The cluster to which moving an item lowers the cost most, if there is one.
    fn better(&self, item: usize, weight: f64) -> Option<usize> {
        let from = self.labels[item] as usize;
        let row = RowMajor::new(&self.sums, self.count).row(item);
        let cost = |k: usize| self.half(self.masses[k], self.within[k], self.pairs[k]);
        let own = weight * weight;
        let left = self.half(
            self.masses[from] - weight,
            self.within[from] - 2.0 * weight * row[from],
            self.pairs[from] - 2.0 * weight * self.known(item, from) + own,
        );
        let gain = cost(from) - left;
        let mut best = (ROUNDING * self.cost(), None);
        for k in (0..self.count).filter(|&k| k != from) {
            let joined = self.half(
                self.masses[k] + weight,
                self.within[k] + 2.0 * weight * row[k],
                self.pairs[k] + 2.0 * weight * self.known(item, k) + own,
            );
            let gained = gain - (joined - cost(k));
            if gained > best.0 {
                best = (gained, Some(k));
            }
        }
        best.1
    }

    fn shift<T: Real>(&mut self, problem: &Problem<'_, T>, item: usize, to: usize) {
        let (from, weight, count) = (self.labels[item] as usize, problem.weights[item], self.count);
        let own = weight * weight;
        self.within[from] -= 2.0 * weight * self.sums[item * count + from];
        self.within[to] += 2.0 * weight * self.sums[item * count + to];
        self.pairs[from] += own - 2.0 * weight * self.known(item, from);
        self.pairs[to] += own + 2.0 * weight * self.known(item, to);
        self.masses[from] -= weight;
        self.masses[to] += weight;
        self.members[from] -= 1;
        self.members[to] += 1;
        self.labels[item] = to as u32;
        for other in 0..problem.items() {
            if let Some(value) = problem.matrix.get(item, other) {
                self.sums[other * count + from] -= weight * value;
                self.sums[other * count + to] += weight * value;
                if !self.known.is_empty() {
                    self.known[other * count + from] -= weight;
                    self.known[other * count + to] += weight;
                }
            }
        }
    }

    /// Merges the pair of clusters with the lowest merging cost until `clusters` are left. Returns the new labels, for
    /// which the sums must be computed again.
    pub fn merged_to<T: Real>(&self, problem: &Problem<'_, T>, clusters: usize) -> Vec<u32> {
        let count = self.count;
        // For each two clusters: the weighted sum of dissimilarities, and the weight of their pairs.
        let (mut between, mut pairs) = (vec![0.0; count * count], vec![0.0; count * count]);
        for item in 0..problem.items() {
            let (k, weight) = (self.labels[item] as usize, problem.weights[item]);
            for l in 0..count {
                between[k * count + l] += weight * self.sums[item * count + l];
                pairs[k * count + l] += weight * self.known(item, l);
            }
        }
        let mut masses = self.masses.clone();
        let mut into: Vec<usize> = (0..count).collect();
        let mut left: Vec<usize> = (0..count).filter(|&k| self.members[k] > 0).collect();
        while left.len() > clusters {
            let mut best = (f64::INFINITY, 0, 0);
            for (place, &a) in left.iter().enumerate() {
                for &b in &left[place + 1..] {
                    let cost = |k: usize| self.half(masses[k], between[k * count + k], pairs[k * count + k]);
                    let both = self.half(
                        masses[a] + masses[b],
                        between[a * count + a] + 2.0 * between[a * count + b] + between[b * count + b],
                        pairs[a * count + a] + 2.0 * pairs[a * count + b] + pairs[b * count + b],
                    );
                    let price = both - cost(a) - cost(b);
                    if price < best.0 {
                        best = (price, a, b);
                    }
                }
            }
            let (_, a, b) = best;
            for of in [&mut between, &mut pairs] {
                for l in 0..count {
                    of[a * count + l] += of[b * count + l];
                }
                for l in 0..count {
                    of[l * count + a] += of[l * count + b];
                }
            }
            masses[a] += masses[b];
            into.iter_mut().filter(|to| **to == b).for_each(|to| *to = a);
            left.retain(|&k| k != b);
        }
        let number = |k: usize| left.iter().position(|&l| l == into[k]).unwrap_or(0) as u32;
        self.labels.iter().map(|&label| number(label as usize)).collect()
    }
}

/// Returns the cost H of any clusters: half the sum, over clusters, of their weight times the weighted mean
/// dissimilarity within. The pairs include each item with itself.
///
/// For squared Euclidean distances, H is the sum of squares about the means. Missing pairs are left out of the means;
/// `labels` may be any numbers. The computation is in double precision, whatever the precision of the matrix. Cost: N²
/// operations.
///
/// # Errors
/// Returns [`Error::Parameter`] if there are not as many labels as items, or if weights are invalid.
///
/// # Example
/// ```
/// use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
/// // Points at 0, 2 and 10: squared distances 4, 100, 64.
/// let matrix = Dissimilarities::new(3, Form::Condensed, Values::F64(vec![4.0, 100.0, 64.0]), 1.0)?;
/// // About their mean, 0 and 2 have squares of 1 each.
/// assert_eq!(lehr_mining::pairwise::cost(&matrix, None, &[0, 0, 1])?, 2.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn cost(
    matrix: &lehr_data::dissimilarities::Dissimilarities,
    weights: Option<&[f64]>,
    labels: &[u32],
) -> Result<f64, Error> {
    if labels.len() != matrix.items() {
        let found = format!("{} for {} items", labels.len(), matrix.items());
        return Err(Error::Parameter { name: "labels", expected: "as many as items", found });
    }
    let (weights, unit) = crate::matrix::item_weights(weights, matrix.items())?;
    // The mass, S and O of each cluster.
    let mut sums = std::collections::BTreeMap::<u32, [f64; 3]>::new();
    for i in 0..matrix.items() {
        let (mut within, mut pairs) = (0.0, weights[i]);
        for j in (0..matrix.items()).filter(|&j| j != i && labels[j] == labels[i]) {
            if let Some(value) = matrix.get(i, j) {
                within += weights[j] * value;
                pairs += weights[j];
            }
        }
        let sums = sums.entry(labels[i]).or_default();
        sums[0] += weights[i];
        sums[1] += weights[i] * within;
        sums[2] += weights[i] * pairs;
    }
    let half = |[mass, within, pairs]: &[f64; 3]| if *pairs > 0.0 { 0.5 * mass * within / pairs } else { 0.0 };
    Ok(sums.values().map(half).sum::<f64>() * unit)
}
