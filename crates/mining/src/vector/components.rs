//! Mass-constrained centres: where they are, how much of the weight each holds, and when it may divide.

use serde::{Deserialize, Serialize};

use crate::rows::RowMajor;

/// Whether a centre's mass takes part in the assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Mode {
    /// `g_k = 1`: every centre counts the same. The hard limit is the ordinary one.
    Plain,
    /// `g_k = P_k`, learnt: a centre and its exact copies count as one, so the solution does not depend on how many
    /// copies there are.
    Mass,
}

/// The state that is annealed. Positions are stored ones (see [`crate::rows::Rows`]).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Components {
    pub dimension: usize,
    /// K x D.
    pub centers: Vec<f64>,
    /// Adding up to 1.
    pub priors: Vec<f64>,
    /// The division test is passed over at temperatures above this; infinite where there is nothing to wait for.
    pub hold_until: Vec<f64>,
    /// K x D, unit length: where the last division test got to. In many dimensions only.
    pub directions: Vec<f64>,
}

impl Components {
    /// One component in the middle of everything.
    pub fn one(dimension: usize) -> Self {
        Self {
            dimension,
            centers: vec![0.0; dimension],
            priors: vec![1.0],
            hold_until: vec![f64::MAX],
            directions: Vec::new(),
        }
    }

    /// Components at given positions with equal priors.
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

    /// The distance of two centres, as `column` measures each coordinate.
    fn apart(&self, a: usize, b: usize, column: impl Fn(f64, f64) -> f64) -> f64 {
        self.center(a).iter().zip(self.center(b)).map(|(x, y)| column(*x, *y)).sum()
    }

    /// Divides component `k` along `direction`, which has unit length, or the length of the displacement, which is 1
    /// then. The copies are at `+-displacement` with half the prior each, the new one last.
    ///
    /// `imbalance` is a tiny relative difference of the two displacements: on data with an exact symmetry it decides
    /// which way a saddle is left.
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

    /// Merges components that are less than `squared_radius` apart, the later one into the earlier; those merged wait
    /// until `hold_until`. Returns how many went. They are the sum over the columns of `column` apart, which is no less
    /// than the squared difference.
    pub fn merge(&mut self, squared_radius: f64, hold_until: f64, column: impl Fn(f64, f64) -> f64) -> usize {
        if !self.has_pair_within(squared_radius, &column) {
            return 0;
        }
        let before = self.len();
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
                } else {
                    b += 1;
                }
            }
            a += 1;
        }
        before - self.len()
    }

    /// Whether two components are less than `squared_radius` apart. Cost: K log K where few are near in the first
    /// coordinate, which spares the K^2 / 2 distances of merging at nearly every temperature.
    fn has_pair_within(&self, squared_radius: f64, column: impl Fn(f64, f64) -> f64) -> bool {
        let first = |k: usize| self.centers[k * self.dimension];
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_unstable_by(|&a, &b| first(a).total_cmp(&first(b)));
        order.iter().enumerate().any(|(place, &a)| {
            let near = |&&b: &&usize| (first(b) - first(a)) * (first(b) - first(a)) < squared_radius;
            order[place + 1..].iter().take_while(near).any(|&b| self.apart(a, b, &column) < squared_radius)
        })
    }

    /// Takes away components lighter than this share of the whole; those left wait until `hold_until`. Returns the
    /// number of removed components.
    ///
    /// With a prior of its own each of two copies may cost more than one that has all rows and one that has none.
    /// Dividing it was then useless.
    pub fn drop_lighter(&mut self, least: f64, hold_until: f64) -> usize {
        let before = self.len();
        (0..before)
            .rev()
            .filter(|&k| self.priors[k] < least)
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|k| self.remove(k));
        if self.len() < before {
            self.hold_until.iter_mut().for_each(|until| *until = until.min(hold_until));
        }
        before - self.len()
    }

    /// Takes component `k` away; the later ones move up.
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

/// The distance of two coordinates, by their squared difference.
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
            assert_eq!(components.clone().merge(nearest, 0.0, squared), 0);
            assert!(components.clone().merge(nearest * (1.0 + 1e-15), 0.0, squared) > 0);
        }
        assert!(!Components::one(2).has_pair_within(f64::MAX, squared));
    }
}
