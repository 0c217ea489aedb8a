//! The M-step of vector annealing: computes new centres from soft sums, and their stability from second moments.

use lehr_numerics::factor::leading_eigenpair;

use super::components::Components;
use crate::rows::bernoulli::{Bernoulli, apart};

/// A centre with less than this share of the mass does not move, because its mean would be a rounding error.
const LEAST_MASS: f64 = 1e-12;
/// Centres with less than this share of the mass do not count for convergence.
const COUNTED_MASS: f64 = 1e-9;

/// Updates centres and priors from the sums, which have `1 + D` numbers for each centre and whose masses add up to
/// `whole`. Returns the largest squared move. Moves of frequencies are in units of their variances.
pub(crate) fn update(components: &mut Components, sums: &[f64], whole: f64, bernoulli: Option<Bernoulli>) -> f64 {
    let Components { dimension, centers, priors, .. } = components;
    let mut largest = 0.0f64;
    let of_each = centers.chunks_exact_mut(*dimension).zip(priors).zip(sums.chunks_exact(1 + *dimension));
    for ((center, prior), sums) in of_each {
        let mass = sums[0];
        *prior = mass / whole;
        if *prior <= LEAST_MASS {
            continue;
        }
        let mut moved = 0.0;
        for (y, sum) in center.iter_mut().zip(&sums[1..]) {
            let next = match bernoulli {
                None => sum / mass,
                Some(bernoulli) => bernoulli.frequency(*sum, mass),
            };
            moved += if bernoulli.is_some() { apart(next, *y) } else { (next - *y) * (next - *y) };
            *y = next;
        }
        if *prior > COUNTED_MASS {
            largest = largest.max(moved);
        }
    }
    largest
}

/// The stability of a component.
#[derive(Clone, Debug)]
pub(crate) struct Stability {
    /// The temperature below which the component divides: twice the leading eigenvalue of its covariance.
    pub critical_temperature: f64,
    /// The leading eigenvector, of unit length.
    pub direction: Vec<f64>,
}

/// Returns the stability of each component, from its second moments about its centre, and the mean cost.
pub(crate) fn stabilities(dimension: usize, sums: &[f64]) -> (Vec<Stability>, f64) {
    let per_center = 1 + dimension + dimension * (dimension + 1) / 2;
    let mut cost = 0.0;
    let stabilities = sums
        .chunks_exact(per_center)
        .map(|sums| {
            let mass = sums[0];
            let mut matrix = vec![0.0; dimension * dimension];
            let mut n = 1 + dimension;
            for i in 0..dimension {
                for j in 0..=i {
                    matrix[i * dimension + j] = if mass > 0.0 { sums[n] / mass } else { 0.0 };
                    if i == j {
                        cost += sums[n];
                    }
                    n += 1;
                }
            }
            match leading_eigenpair(dimension, &matrix) {
                Some((value, direction)) => Stability { critical_temperature: 2.0 * value.max(0.0), direction },
                None => Stability { critical_temperature: 0.0, direction: vec![0.0; dimension] },
            }
        })
        .collect();
    (stabilities, cost)
}
