//! Medoids, the nearest medoids of each item, and swaps that lower the cost.
//!
//! If candidate c replaces medoid m, the cost changes by a sum over items. The sums for all m together read each
//! dissimilarity to c only once (Schubert and Rousseeuw 2021, eq. 6 to 9). For this, the cost of removing each medoid
//! is stored, and an item changes only the sum of its own medoid.

use lehr_numerics::lanes::Real;

use crate::matrix::Matrix;
use crate::round::{LeafCells, Partition, Round};

/// The minimum share of the cost that a swap must gain. Smaller changes may be rounding errors.
const LEAST_GAIN: f64 = 1e-12;

/// The items and their weights.
pub(super) struct Problem<'a, T: Real> {
    pub matrix: Matrix<'a, T>,
    /// The weights, scaled to about 1.
    pub weights: Vec<f64>,
    /// The unit in which weights are stored.
    pub weight_unit: f64,
}

impl<T: Real> Problem<'_, T> {
    pub fn items(&self) -> usize {
        self.matrix.items
    }

    /// The unit in which dissimilarities are stored.
    pub fn unit(&self) -> f64 {
        self.matrix.unit
    }

    /// Overwrites `row` with the dissimilarities of an item.
    fn read(&self, item: usize, row: &mut [f64]) {
        // No pair is missing: this was checked before.
        row.iter_mut().enumerate().for_each(|(other, value)| *value = self.matrix.get(item, other).unwrap_or(0.0));
    }
}

/// The medoids, and the two nearest of them for each item.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Assigned {
    pub medoids: Vec<u32>,
    /// The index of the nearest medoid; the lower index if two medoids are equally near.
    pub nearest: Vec<u32>,
    pub distance: Vec<f64>,
    /// The distance to the second nearest medoid; infinite while there is only one.
    second: Vec<f64>,
    /// The change of the cost if each medoid were removed.
    removal: Vec<f64>,
    pub cost: f64,
}

impl Assigned {
    /// Assigns every item to the nearest of these medoids.
    pub fn new<T: Real>(problem: &Problem<'_, T>, medoids: Vec<u32>) -> Self {
        let items = problem.items();
        let mut assigned = Self {
            nearest: vec![0; items],
            distance: vec![f64::INFINITY; items],
            second: vec![f64::INFINITY; items],
            ..Self::default()
        };
        let mut row = vec![0.0; items];
        for (place, &medoid) in medoids.iter().enumerate() {
            problem.read(medoid as usize, &mut row);
            for item in 0..items {
                if row[item] < assigned.distance[item] {
                    assigned.second[item] = assigned.distance[item];
                    assigned.distance[item] = row[item];
                    assigned.nearest[item] = place as u32;
                } else if row[item] < assigned.second[item] {
                    assigned.second[item] = row[item];
                }
            }
        }
        assigned.medoids = medoids;
        assigned.sum_up(problem);
        assigned
    }

    fn sum_up<T: Real>(&mut self, problem: &Problem<'_, T>) {
        self.cost = self.distance.iter().zip(&problem.weights).map(|(distance, weight)| weight * distance).sum();
        self.removal = vec![0.0; self.medoids.len()];
        if self.medoids.is_empty() {
            // Without medoids, distances are infinite, and an item of weight 0 would make the sum NaN.
            self.cost = f64::INFINITY;
            return;
        }
        for (item, &place) in self.nearest.iter().enumerate() {
            self.removal[place as usize] += self.loss(problem, item, self.second[item]);
        }
    }

    /// The change of an item's cost if the distance to its nearest medoid changes; 0 for an item of weight 0.
    fn loss<T: Real>(&self, problem: &Problem<'_, T>, item: usize, distance: f64) -> f64 {
        let weight = problem.weights[item];
        if weight > 0.0 { weight * (distance - self.distance[item]) } else { 0.0 }
    }

    /// Finds the best medoid to swap for a candidate, and the change of the cost. `row` holds the candidate's
    /// dissimilarities.
    fn best_swap<T: Real>(&self, problem: &Problem<'_, T>, row: &[f64], change: &mut Vec<f64>) -> (usize, f64) {
        change.clear();
        change.extend_from_slice(&self.removal);
        let mut shared = 0.0;
        for (item, &distance) in row.iter().enumerate() {
            if distance >= self.second[item] || problem.weights[item] == 0.0 {
                continue;
            }
            let (weight, place) = (problem.weights[item], self.nearest[item] as usize);
            if distance < self.distance[item] {
                shared += weight * (distance - self.distance[item]);
                change[place] += weight * (self.distance[item] - self.second[item]);
            } else {
                change[place] += weight * (distance - self.second[item]);
            }
        }
        let mut best = 0;
        for place in 1..change.len() {
            if change[place] < change[best] {
                best = place;
            }
        }
        (best, change[best] + shared)
    }

    fn is_worth(&self, change: f64) -> bool {
        change < -LEAST_GAIN * self.cost
    }
}

/// A candidate, and the change of the cost that its swap makes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub change: f64,
    pub item: u32,
}

/// The best candidates of a leaf on two sides, which passes use alternately.
pub(super) type Sides = [Option<Candidate>; 2];

impl Candidate {
    /// Appends the result of a leaf as bytes, for other processes.
    pub fn write(cell: &Option<Self>, bytes: &mut Vec<u8>) {
        if let Some(Self { change, item }) = cell {
            bytes.extend_from_slice(&change.to_le_bytes());
            bytes.extend_from_slice(&item.to_le_bytes());
        }
    }

    /// Reads the bytes of [`write`](Self::write).
    pub fn read(cell: &mut Option<Self>, bytes: &[u8]) {
        *cell = bytes
            .split_first_chunk()
            .zip(bytes.last_chunk())
            .map(|((change, _), item)| Self { change: f64::from_le_bytes(*change), item: u32::from_le_bytes(*item) });
    }
}

/// Finds the item that lowers the cost most as an additional medoid. A partial result is the change of the cost, and
/// the item.
pub(super) struct Build<'a, T: Real> {
    pub problem: &'a Problem<'a, T>,
    pub assigned: &'a Assigned,
    pub partition: Partition,
}

/// A placeholder for the item if there is no candidate.
const NOBODY: f64 = -1.0;

impl<T: Real> Round for Build<'_, T> {
    fn len(&self) -> usize {
        2
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        let (problem, assigned) = (self.problem, self.assigned);
        let mut row = vec![0.0; problem.items()];
        partial.copy_from_slice(&[f64::INFINITY, NOBODY]);
        for item in self.partition.leaf_rows(leaf) {
            if problem.weights[item] == 0.0 || assigned.medoids.contains(&(item as u32)) {
                continue;
            }
            problem.read(item, &mut row);
            let gains = row.iter().zip(&assigned.distance).zip(&problem.weights).filter(|(_, weight)| **weight > 0.0);
            let change: f64 = if assigned.medoids.is_empty() {
                gains.map(|((distance, _), weight)| weight * distance).sum()
            } else {
                gains.map(|((distance, nearest), weight)| weight * (distance - nearest).min(0.0)).sum()
            };
            if change < partial[0] {
                partial.copy_from_slice(&[change, item as f64]);
            }
        }
    }

    /// Keeps the lower change; if both are equal, the left change, whose item has the lower number.
    fn combine(&self, left: &mut [f64], right: &[f64]) {
        if right[0] < left[0] {
            left.copy_from_slice(right);
        }
    }

    fn name(&self) -> &'static str {
        "one more medoid"
    }
}

/// Evaluates every item as a candidate for a swap, and stores the best candidate of each leaf. A partial result counts
/// the leaves that have a candidate.
pub(super) struct Swaps<'a, T: Real> {
    pub problem: &'a Problem<'a, T>,
    pub assigned: &'a Assigned,
    pub partition: Partition,
    pub best: &'a LeafCells<Sides>,
    /// The side of the cells that this pass writes; slower ranks may still read the other side.
    pub side: usize,
}

impl<T: Real> Round for Swaps<'_, T> {
    fn len(&self) -> usize {
        1
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        let (problem, assigned) = (self.problem, self.assigned);
        let (mut row, mut change) = (vec![0.0; problem.items()], Vec::new());
        let mut best: Option<Candidate> = None;
        for item in self.partition.leaf_rows(leaf) {
            if problem.weights[item] == 0.0 || assigned.medoids.contains(&(item as u32)) {
                continue;
            }
            problem.read(item, &mut row);
            let (_, change) = assigned.best_swap(problem, &row, &mut change);
            if assigned.is_worth(change) && best.is_none_or(|best| change < best.change) {
                best = Some(Candidate { change, item: item as u32 });
            }
        }
        partial[0] = f64::from(u8::from(best.is_some()));
        self.best.with(leaf, |sides| sides[self.side] = best);
    }

    fn name(&self) -> &'static str {
        "swaps of medoids"
    }
}

/// Tries the swaps one after another, the best first. Makes those that still lower the cost, and returns their number.
pub(super) fn take<T: Real>(problem: &Problem<'_, T>, assigned: &mut Assigned, mut candidates: Vec<Candidate>) -> u64 {
    candidates.sort_by(|a, b| a.change.total_cmp(&b.change).then(a.item.cmp(&b.item)));
    let (mut row, mut change) = (vec![0.0; problem.items()], Vec::new());
    let mut taken = 0;
    for candidate in candidates {
        problem.read(candidate.item as usize, &mut row);
        let (place, gain) = assigned.best_swap(problem, &row, &mut change);
        if assigned.is_worth(gain) {
            let mut medoids = std::mem::take(&mut assigned.medoids);
            medoids[place] = candidate.item;
            *assigned = Assigned::new(problem, medoids);
            taken += 1;
        }
    }
    taken
}
