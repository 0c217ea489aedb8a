//! The distances between the clusters that are left, and the joins that the nearest-neighbour chain finds.

use lehr_numerics::lanes::Real;

use super::Problem;
use super::parameters::Linkage;
use crate::links::Link;

/// The clusters that are left, and their distances.
pub(super) struct Joining<T> {
    linkage: Linkage,
    /// The lowest item of each cluster. A cluster's index here is its slot.
    items: Vec<u32>,
    /// The slot of each item that names a cluster.
    slots: Vec<u32>,
    weights: Vec<f64>,
    /// The distances, a row for each slot. The diagonal is infinite.
    distances: Vec<T>,
    /// 0 for a cluster that is left, infinity for a slot whose cluster was joined to another.
    barrier: Vec<T>,
    left: usize,
}

/// Distances are compared in groups of this many, so that the compiler uses vector instructions.
const GROUP: usize = 16;

impl<T: Real> Joining<T> {
    /// Begins with each item as a cluster.
    pub fn new(problem: &Problem<'_, T>, linkage: Linkage) -> Self {
        let items = problem.matrix.items;
        let mut distances = vec![T::from_f64(f64::INFINITY); items * items];
        for (i, row) in distances.chunks_exact_mut(items).enumerate() {
            for (j, value) in row.iter_mut().enumerate().filter(|(j, _)| *j != i) {
                // No pair is missing: this was checked before.
                let distance = problem.matrix.get(i, j).unwrap_or(0.0);
                let (a, b) = (problem.weights[i], problem.weights[j]);
                let is_ward = linkage == Linkage::Ward;
                *value = T::from_f64(if is_ward { 2.0 * a * b / (a + b) * distance * distance } else { distance });
            }
        }
        Self {
            linkage,
            items: (0..items as u32).collect(),
            slots: (0..items as u32).collect(),
            weights: problem.weights.clone(),
            distances,
            barrier: vec![T::from_f64(0.0); items],
            left: items,
        }
    }

    /// Extends the chain until two clusters are nearest to each other, joins them, and returns the join.
    pub fn next(&mut self, chain: &mut Vec<u32>) -> Link {
        loop {
            let Some(&tip) = chain.last() else {
                let first = self.barrier.iter().position(|barrier| barrier.to_f64() == 0.0);
                chain.push(self.items[first.expect("a cluster is left")]);
                continue;
            };
            let before = chain.len().checked_sub(2).map(|place| chain[place]);
            let (nearest, distance) = self.nearest(tip, before);
            if before == Some(nearest) {
                chain.truncate(chain.len() - 2);
                let found = Link { from: tip.min(nearest), to: tip.max(nearest), distance };
                self.join(&found);
                return found;
            }
            chain.push(nearest);
        }
    }

    /// Returns the cluster nearest to another, and the distance. If several are equally near, it is `before`, so that
    /// the chain ends, or else the one in the lowest slot.
    fn nearest(&self, of: u32, before: Option<u32>) -> (u32, f64) {
        let side = self.items.len();
        let slot = self.slots[of as usize] as usize;
        let row = &self.distances[slot * side..][..side];
        let least = least(row, &self.barrier);
        let is_before = |item: u32| row[self.slots[item as usize] as usize] == least;
        if let Some(before) = before.filter(|item| is_before(*item)) {
            return (before, least.to_f64());
        }
        let place = (0..side).find(|&place| row[place] + self.barrier[place] == least);
        (self.items[place.expect("another cluster is left")], least.to_f64())
    }

    /// Joins two clusters: the row of the lower item gets the distances of the joined cluster.
    pub fn join(&mut self, found: &Link) {
        let side = self.items.len();
        let [a, b] = [found.from, found.to].map(|item| self.slots[item as usize] as usize);
        let (weight_a, weight_b) = (self.weights[a], self.weights[b]);
        self.barrier[b] = T::from_f64(f64::INFINITY);
        for j in (0..side).filter(|&j| j != a) {
            if self.barrier[j].to_f64() != 0.0 {
                continue;
            }
            let [to_a, to_b] = [a, b].map(|slot| self.distances[slot * side + j].to_f64());
            let joined = match self.linkage {
                Linkage::Single => to_a.min(to_b),
                Linkage::Complete => to_a.max(to_b),
                Linkage::Weighted => 0.5 * (to_a + to_b),
                Linkage::Average => (weight_a * to_a + weight_b * to_b) / (weight_a + weight_b),
                Linkage::Ward => {
                    let weight = self.weights[j];
                    let total = weight_a + weight_b + weight;
                    ((weight_a + weight) * to_a + (weight_b + weight) * to_b - weight * found.distance) / total
                }
            };
            self.distances[a * side + j] = T::from_f64(joined);
            self.distances[j * side + a] = T::from_f64(joined);
        }
        self.weights[a] += weight_b;
        self.left -= 1;
        // Rows of clusters that are gone cost time in every search.
        if 2 * self.left <= side && side > GROUP {
            self.compact();
        }
    }

    /// Removes the slots without a cluster.
    fn compact(&mut self) {
        let side = self.items.len();
        let kept: Vec<usize> = (0..side).filter(|&slot| self.barrier[slot].to_f64() == 0.0).collect();
        let mut to = 0;
        for &row in &kept {
            for &column in &kept {
                self.distances[to] = self.distances[row * side + column];
                to += 1;
            }
        }
        self.distances.truncate(to);
        self.items = kept.iter().map(|&slot| self.items[slot]).collect();
        self.weights = kept.iter().map(|&slot| self.weights[slot]).collect();
        self.barrier = vec![T::from_f64(0.0); kept.len()];
        self.items.iter().enumerate().for_each(|(slot, &item)| self.slots[item as usize] = slot as u32);
    }
}

/// Returns the smallest distance of a row to a cluster that is left.
fn least<T: Real>(row: &[T], barrier: &[T]) -> T {
    let mut lanes = [T::from_f64(f64::INFINITY); GROUP];
    let (groups, rest) = row.as_chunks::<GROUP>();
    let (barriers, rest_of_barrier) = barrier.as_chunks::<GROUP>();
    for (group, barrier) in groups.iter().zip(barriers) {
        for lane in 0..GROUP {
            let value = group[lane] + barrier[lane];
            lanes[lane] = if value < lanes[lane] { value } else { lanes[lane] };
        }
    }
    let rest = rest.iter().zip(rest_of_barrier).map(|(value, barrier)| *value + *barrier);
    lanes.into_iter().chain(rest).fold(T::from_f64(f64::INFINITY), |a, b| if b < a { b } else { a })
}
