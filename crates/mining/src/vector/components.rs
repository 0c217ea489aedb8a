//! Mass-constrained centres: for each, its position, its share of the weight, and the temperature at which it may
//! divide.

use serde::{Deserialize, Serialize};

use crate::anneal::Removed;
use crate::rows::RowMajor;

/// Whether the masses of centres count in the assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// `g_k = 1`: every centre counts equally. At low temperatures, this becomes ordinary hard assignment.
    Plain,
    /// `g_k = P_k`: the mass of each centre is learnt. A centre and its exact copies together count as one centre, so
    /// the solution does not depend on the number of copies.
    Mass,
}

/// The state that is annealed. Positions are in stored units (see [`crate::rows::Rows`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Components {
    pub dimension: usize,
    /// The positions, K x D.
    pub centers: Vec<f64>,
    /// The priors, which add up to 1.
    pub priors: Vec<f64>,
    /// The temperature above which a component is not tested for division; infinite if the component need not wait.
    pub hold_until: Vec<f64>,
    /// The unit vectors that the last division test found, K x D. They are only used in many dimensions.
    pub directions: Vec<f64>,
}

impl Components {
    /// Creates one component at the origin.
    pub fn one(dimension: usize) -> Self {
        Self {
            dimension,
            centers: vec![0.0; dimension],
            priors: vec![1.0],
            hold_until: vec![f64::MAX],
            directions: Vec::new(),
        }
    }

    /// Creates components at given positions with equal priors.
    pub fn at(dimension: usize, centers: Vec<f64>) -> Self {
        let count = centers.len() / dimension;
        let priors = vec![1.0 / count as f64; count];
        Self { dimension, centers, priors, hold_until: vec![f64::MAX; count], directions: Vec::new() }
    }

    pub fn len(&self) -> usize {
        self.priors.len()
    }

    #[inline]
    pub fn center(&self, k: usize) -> &[f64] {
        RowMajor::new(&self.centers, self.dimension).row(k)
    }

    #[inline]
    pub fn direction(&self, k: usize) -> &[f64] {
        RowMajor::new(&self.directions, self.dimension).row(k)
    }

    /// Returns the distance of two centres: the sum of `column` over their coordinates.
    fn apart(&self, a: usize, b: usize, column: impl Fn(f64, f64) -> f64) -> f64 {
        self.center(a).iter().zip(self.center(b)).map(|(x, y)| column(*x, *y)).sum()
    }

    /// Divides component `k` along `direction`, which has unit length. The copies are at `+-displacement` with half the
    /// prior each; the new copy comes last. If `displacement` is 1, `direction` itself is the displacement.
    ///
    /// `imbalance` is a tiny relative difference of the two displacements. For data with an exact symmetry, it decides
    /// the direction in which the system leaves a saddle point.
    pub fn divide(&mut self, k: usize, direction: &[f64], displacement: f64, imbalance: f64, hold_until: f64) {
        let dimension = self.dimension;
        for j in 0..dimension {
            let y = self.centers[k * dimension + j];
            self.centers.push(y - direction[j] * displacement * (1.0 - imbalance));
            self.centers[k * dimension + j] = y + direction[j] * displacement * (1.0 + imbalance);
        }
        self.priors[k] /= 2.0;
        self.priors.push(self.priors[k]);
        self.hold_until[k] = hold_until;
        self.hold_until.push(hold_until);
        if !self.directions.is_empty() {
            self.directions.extend_from_within(k * dimension..(k + 1) * dimension);
        }
    }

    /// Merges components that are less than `squared_radius` apart, the later into the earlier; merged components wait
    /// until `hold_until`. Returns the removed components. The distance is the sum of `column` over the coordinates, and
    /// is at least the squared distance.
    pub fn merge(&mut self, squared_radius: f64, hold_until: f64, column: impl Fn(f64, f64) -> f64) -> Vec<Removed> {
        let mut removed = Vec::new();
        if !self.has_pair_within(squared_radius, &column) {
            return removed;
        }
        let mut a = 0;
        while a < self.len() {
            let mut b = a + 1;
            while b < self.len() {
                if self.apart(a, b, &column) < squared_radius {
                    let (p, q) = (self.priors[a], self.priors[b]);
                    let sum = p + q;
                    for j in 0..self.dimension {
                        let other = self.centers[b * self.dimension + j];
                        let y = &mut self.centers[a * self.dimension + j];
                        if sum > 0.0 {
                            *y = (p * *y + q * other) / sum;
                        }
                    }
                    self.priors[a] = sum;
                    self.hold_until[a] = hold_until;
                    self.remove(b);
                    removed.push(Removed { position: b, into: Some(a) });
                } else {
                    b += 1;
                }
            }
            a += 1;
        }
        removed
    }

    /// Whether two components are less than `squared_radius` apart. Cost: K log K, if few are close in the first
    /// coordinate. At almost every temperature, this test makes the K^2 / 2 distances of a merge unnecessary.
    fn has_pair_within(&self, squared_radius: f64, column: impl Fn(f64, f64) -> f64) -> bool {
        let first = |k: usize| self.centers[k * self.dimension];
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_unstable_by(|&a, &b| first(a).total_cmp(&first(b)));
        order.iter().enumerate().any(|(place, &a)| {
            let near = |&&b: &&usize| (first(b) - first(a)) * (first(b) - first(a)) < squared_radius;
            order[place + 1..].iter().take_while(near).any(|&b| self.apart(a, b, &column) < squared_radius)
        })
    }

    /// Removes components with less than this share of the weight; the remaining components wait until `hold_until`.
    /// Returns the removed components, the last first.
    ///
    /// With a prior for each, two copies of a component may cost more than one component with all rows and one with
    /// none. Then dividing the component was useless.
    pub fn drop_lighter(&mut self, least: f64, hold_until: f64) -> Vec<Removed> {
        let light: Vec<usize> = (0..self.len()).rev().filter(|&k| self.priors[k] < least).collect();
        light.iter().for_each(|&k| self.remove(k));
        if !light.is_empty() {
            self.hold_until.iter_mut().for_each(|until| *until = until.min(hold_until));
        }
        light.into_iter().map(|position| Removed { position, into: None }).collect()
    }

    /// Removes component `k`; later components move up by one.
    pub fn remove(&mut self, k: usize) {
        let range = k * self.dimension..(k + 1) * self.dimension;
        self.centers.drain(range.clone());
        if !self.directions.is_empty() {
            self.directions.drain(range);
        }
        self.priors.remove(k);
        self.hold_until.remove(k);
    }
}

/// Returns the squared difference of two coordinates.
pub(crate) fn squared(a: f64, b: f64) -> f64 {
    (a - b) * (a - b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lehr_numerics::random::Stream;

    #[test]
    fn a_near_pair_is_found_wherever_it_is_and_none_where_there_is_none() {
        let stream = Stream::new(4, "near pairs");
        for set in 0..200u64 {
            let dimension = 1 + set as usize % 3;
            let count = 2 + set as usize % 17;
            let at = |index: usize| stream.uniform(1000 * set + index as u64);
            let components = Components::at(dimension, (0..count * dimension).map(at).collect());
            let nearest = (0..count)
                .flat_map(|a| (0..a).map(move |b| (a, b)))
                .map(|(a, b)| components.apart(a, b, squared))
                .fold(f64::INFINITY, f64::min);
            assert!(!components.has_pair_within(nearest, squared), "set {set}");
            assert!(components.has_pair_within(nearest * (1.0 + 1e-15), squared), "set {set}");
            assert_eq!(components.clone().merge(nearest, 0.0, squared), []);
            assert!(!components.clone().merge(nearest * (1.0 + 1e-15), 0.0, squared).is_empty());
        }
        assert!(!Components::one(2).has_pair_within(f64::MAX, squared));
    }
}
