//! Soft sums with an outlier radius, for rows of numbers.
//!
//! With an outlier radius, the sums are computed with reduced weights. A row keeps the share `1 / (1 + g exp(-radius^2
//! / T) / Z)` of its weight, where `Z` is its sum over the centres. So the kernels for rows of numbers work without a
//! noise component, but a leaf takes two passes instead of one.

use lehr_numerics::elementary::{exp, ln};
use lehr_numerics::gaussian::{Components as Gaussians, Whitening, posterior};
use lehr_numerics::lanes::Real;
use lehr_numerics::tiles::Tiles;

use crate::lloyd::share_of;
use crate::rows::{RowMajor, WeightedScratch};

/// The sums of a leaf that involve the noise component.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Soaked {
    /// The free energy `-T sum w ln (Z + S)`.
    pub free_energy: f64,
    /// The softness `sum w (1 - max m)`, where memberships include the noise component's share.
    pub softness: f64,
    /// The weight in the noise component.
    pub weight: f64,
    /// The sum `sum w |x|^2` with the reduced weights.
    pub square: f64,
}

/// Returns the rows of a leaf with reduced weights, and the sums that involve the noise component. `score` is the score
/// of the noise component.
pub(crate) fn soak<'a, T: Real>(
    tiles: &Tiles<T>,
    centers: impl Iterator<Item = (&'a [f64], f64)>,
    temperature: f64,
    score: f64,
    scratch: &mut WeightedScratch<T>,
) -> (Tiles<T>, Soaked) {
    let (rows, dimension) = (tiles.rows(), tiles.dimension());
    // exp(-d / T) is a Gaussian of variance T / 2.
    let inverse = vec![(2.0 / temperature).sqrt(); dimension];
    let mut gaussians = Gaussians::new(dimension, Whitening::Diagonal, 1.0);
    for (center, log_prior) in centers {
        gaussians.push(center, &inverse, log_prior);
    }
    let count = gaussians.len();
    scratch.memberships.resize(rows * count, 0.0);
    scratch.log_sums.resize(rows, 0.0);
    posterior(tiles, &gaussians, &mut scratch.gaussian, &mut scratch.memberships, &mut scratch.log_sums);
    scratch.row.resize(dimension, 0.0);
    scratch.rows.clear();
    scratch.weights.clear();
    let mut soaked = Soaked::default();
    for (index, memberships) in scratch.memberships.chunks_exact(count).enumerate() {
        let (weight, log_sum) = (tiles.weight(index), scratch.log_sums[index]);
        let share = share_of(score, log_sum);
        tiles.read_row(index, &mut scratch.row);
        let most = memberships.iter().copied().fold(0.0, f64::max) * (1.0 - share);
        // The larger of both exponents is factored out of the logarithm.
        let above = log_sum.max(score);
        let log_total = above + ln(exp((log_sum - above).max(-700.0)) + exp((score - above).max(-700.0)));
        soaked.free_energy -= temperature * weight * log_total;
        soaked.softness += weight * (1.0 - most.max(share));
        soaked.weight += weight * share;
        let left = weight * (1.0 - share);
        soaked.square += left * scratch.row.iter().map(|x| x * x).sum::<f64>();
        scratch.weights.push(left);
        scratch.rows.extend_from_slice(&scratch.row);
    }
    let row = |index: usize| RowMajor::new(&scratch.rows, dimension).row(index);
    (Tiles::new(rows, dimension, &vec![0.0; dimension], row, |index| scratch.weights[index]), soaked)
}

#[cfg(test)]
mod tests {
    use lehr_numerics::random::Stream;
    use lehr_numerics::soft::{SoftCenters, SoftScratch, Sums, soft_sums};

    use super::*;
    use crate::lloyd::{plain_score, within};

    #[test]
    fn a_leaf_that_was_soaked_has_the_sums_of_a_component_that_is_equally_far_from_all() {
        let stream = Stream::new(2, "soaking");
        for dimension in [1usize, 2, 3, 20] {
            let (rows, count, temperature, squared_radius) = (37, 3, 2.0, 1.5 * dimension as f64);
            let values: Vec<f64> = (0..rows * dimension).map(|index| 2.0 * stream.normal(index as u64)).collect();
            let centers: Vec<f64> = (0..count * dimension).map(|index| stream.normal(9000 + index as u64)).collect();
            let (row, center) = (
                |i: usize| RowMajor::new(&values, dimension).row(i),
                |k: usize| RowMajor::new(&centers, dimension).row(k),
            );
            let (weight, log_prior) = (|i: usize| 1.0 + (i % 3) as f64, |k: usize| -0.3 * k as f64);
            let tiles = Tiles::<f64>::new(rows, dimension, &vec![0.0; dimension], row, weight);
            let score = plain_score(squared_radius, temperature);
            let with = (0..count).map(|k| (center(k), log_prior(k)));
            let (left, soaked) = soak(&tiles, with, temperature, score, &mut WeightedScratch::default());
            let mut soft = SoftCenters::default();
            soft.begin(dimension, temperature);
            (0..count).for_each(|k| soft.push(center(k), log_prior(k)));
            let mut sums = vec![0.0; count * (1 + dimension)];
            soft_sums(&left, &soft, Sums::First, &mut SoftScratch::default(), &mut sums);

            // The expected values are computed from the definition, row by row.
            let (mut expected, mut of_sponge) = (vec![0.0; count * (1 + dimension)], Soaked::default());
            for i in 0..rows {
                let squared = |k: usize| row(i).iter().zip(center(k)).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
                let terms: Vec<f64> = (0..count).map(|k| (log_prior(k) - squared(k) / temperature).exp()).collect();
                let all = terms.iter().sum::<f64>() + score.exp();
                let most = terms.iter().copied().fold(score.exp(), f64::max);
                of_sponge.free_energy -= temperature * weight(i) * all.ln();
                of_sponge.softness += weight(i) * (1.0 - most / all);
                of_sponge.weight += weight(i) * score.exp() / all;
                let square: f64 = row(i).iter().map(|x| x * x).sum();
                of_sponge.square += weight(i) * square * (1.0 - score.exp() / all);
                for (term, sums) in terms.iter().zip(expected.chunks_exact_mut(1 + dimension)) {
                    sums[0] += weight(i) * term / all;
                    sums[1..].iter_mut().zip(row(i)).for_each(|(sum, x)| *sum += weight(i) * term / all * x);
                }
            }
            let close = |found: f64, expected: f64| {
                assert!(
                    (found - expected).abs() < 1e-9 * expected.abs().max(1.0),
                    "{dimension}: {found} for {expected}"
                );
            };
            sums.iter().zip(&expected).for_each(|(found, expected)| close(*found, *expected));
            close(soaked.free_energy, of_sponge.free_energy);
            close(soaked.softness, of_sponge.softness);
            close(soaked.weight, of_sponge.weight);
            close(soaked.square, of_sponge.square);
            // The labels use the share that the noise component leaves to the nearest centre.
            for i in 0..rows {
                let squared = |k: usize| row(i).iter().zip(center(k)).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
                let least = (0..count).map(squared).fold(f64::INFINITY, f64::min);
                let nearest = (-least / temperature).exp();
                let all = nearest + score.exp();
                match within(squared_radius, least, temperature) {
                    Ok(inside) => close(inside, nearest / all),
                    Err(outside) => close(outside, score.exp() / all),
                }
                assert_eq!(within(squared_radius, least, temperature).is_err(), least > squared_radius);
            }
        }
    }
}
