//! Models rows of bits as draws from Bernoulli distributions.
//!
//! This file computes the cost of a row in a component, the frequencies of a component, and the coordinates for the
//! component's stability test.
//!
//! A component has a frequency `y_j` for each column. The cost of a row `x` in nats is `E = -sum_j [x_j ln y_j + (1 -
//! x_j) ln(1 - y_j)]`. It equals the cost of the empty row, `-sum_j ln(1 - y_j)`, plus `ln((1 - y_j) / y_j)` for each
//! set bit. A squared distance of a row of bits is also a constant plus a term for each set bit, so both use the same
//! kernels. `docs/design/bits.md` derives the formulas of this file.

use lehr_numerics::bits::for_each_set_bit;
use lehr_numerics::elementary::ln;

use super::row_major::RowMajor;

/// Frequencies are kept at least this far from 0 and 1 when costs are computed. A bit that never occurred in a
/// component then costs 27.7 nats. Without this bound, its cost would be infinite.
const LEAST: f64 = 1.0 / (1u64 << 40) as f64;

fn inside(frequency: f64) -> f64 {
    frequency.clamp(LEAST, 1.0 - LEAST)
}

/// The variance of a bit with this frequency.
fn variance(frequency: f64) -> f64 {
    let y = inside(frequency);
    y * (1.0 - y)
}

/// Returns the cost of the empty row in a component, and for each column the amount that a set bit adds.
pub(crate) fn form(frequencies: &[f64]) -> (f64, impl Iterator<Item = f64> + '_) {
    let constant = -frequencies.iter().map(|&y| ln(1.0 - inside(y))).sum::<f64>();
    let term = |&y: &f64| {
        let y = inside(y);
        ln((1.0 - y) / y)
    };
    (constant, frequencies.iter().map(term))
}

/// Returns the distance between two frequencies of a column: their squared difference, divided by the larger of their
/// variances. To second order, this distance is the sum of the two Kullback-Leibler divergences between the
/// frequencies. The distance is at least four times the squared difference.
pub(crate) fn apart(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (a - b) * (a - b) / variance(a).max(variance(b)) }
}

/// Returns twice the increase of the cost, to second order, when two components with these masses are merged. This is
/// Ward's criterion, with squared differences divided by the variances of the merged component.
pub(crate) fn merging_cost(masses: [f64; 2], a: &[f64], b: &[f64]) -> f64 {
    let sum = masses[0] + masses[1];
    if sum <= 0.0 {
        return 0.0;
    }
    let [p, q] = masses.map(|mass| mass / sum);
    let column = |(a, b): (&f64, &f64)| (a - b) * (a - b) / variance(p * a + q * b);
    p * q * sum * a.iter().zip(b).map(column).sum::<f64>()
}

/// Bernoulli distributions with a prior count, in stored weights.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Bernoulli {
    /// The prior count. The count is added to the ones and to the zeros of every column in every component.
    pub prior: f64,
}

impl Bernoulli {
    /// Returns the frequency of a column that minimises the cost with the prior, in a component of positive mass.
    /// `ones` is the mass of the rows in which the bit is set.
    pub fn frequency(&self, ones: f64, mass: f64) -> f64 {
        // Rounding may make the sum of ones larger than the mass.
        ((ones + self.prior) / (mass + 2.0 * self.prior)).clamp(0.0, 1.0)
    }

    /// Returns the cost of the prior: the sum of `-b ln(y (1 - y))` over these frequencies, where `b` is the prior
    /// count. If this cost is included, no iteration raises the free energy.
    pub fn penalty(&self, frequencies: &[f64]) -> f64 {
        if self.prior == 0.0 {
            return 0.0;
        }
        -self.prior * frequencies.iter().map(|&y| ln(variance(y))).sum::<f64>()
    }

    /// Returns the mean of the rows of a component and the unit of each column, for the component's stability test. The
    /// unit of a constant column is 0.
    ///
    /// The unit of a column is the standard deviation of a bit in one half of the component. The frequency of each half
    /// includes a prior of its own.
    pub fn frame(&self, frequencies: &[f64], mass: f64) -> (Vec<f64>, Vec<f64>) {
        let b = self.prior;
        let mean = |&y: &f64| if mass > 0.0 { ((y * (mass + 2.0 * b) - b) / mass).clamp(0.0, 1.0) } else { y };
        let means: Vec<f64> = frequencies.iter().map(mean).collect();
        let unit = |&mean: &f64| {
            let half = (mass * mean + 2.0 * b) / (mass + 4.0 * b).max(f64::MIN_POSITIVE);
            if half > LEAST && half < 1.0 - LEAST { (half * (1.0 - half)).sqrt() } else { 0.0 }
        };
        let units = means.iter().map(unit).collect();
        (means, units)
    }

    /// Returns the temperature below which a component of this mass divides. `eigenvalue` is the largest eigenvalue of
    /// the component's covariance, in the units of [`frame`](Self::frame).
    pub fn critical_temperature(&self, eigenvalue: f64, mass: f64) -> f64 {
        // If the rows differ, the largest eigenvalue is about 1. A tiny eigenvalue is the rounding error of equal rows.
        if eigenvalue > ROUNDING { eigenvalue * mass / (mass + 4.0 * self.prior).max(f64::MIN_POSITIVE) } else { 0.0 }
    }
}

/// Eigenvalues of a correlation matrix that are smaller than this are rounding errors.
const ROUNDING: f64 = 1e-9;

/// Returns how far each frequency moves when a component divides along a direction. `deviations` is the distance in
/// standard deviations of each column. A frequency moves at most half of the way to 0 or 1.
pub(crate) fn displacement(frequencies: &[f64], direction: &[f64], deviations: f64) -> Vec<f64> {
    let column = |(&y, &u): (&f64, &f64)| {
        let most = y.min(1.0 - y).max(0.0) / 2.0;
        (deviations * u * variance(y).sqrt()).clamp(-most, most)
    };
    frequencies.iter().zip(direction).map(column).collect()
}

/// Computes the costs of rows of bits in several components, in double precision.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    constants: Vec<f64>,
    /// The amount that a set bit adds in each column, for each component: D x K.
    terms: Vec<f64>,
}

impl Costs {
    /// Prepares to compute costs in components with these frequencies (K x D).
    pub fn new(dimension: usize, frequencies: &[f64]) -> Self {
        let count = frequencies.len() / dimension;
        let (mut constants, mut terms) = (Vec::with_capacity(count), vec![0.0; dimension * count]);
        for (k, frequencies) in frequencies.chunks_exact(dimension).enumerate() {
            let (constant, of_columns) = form(frequencies);
            constants.push(constant);
            of_columns.enumerate().for_each(|(j, term)| terms[j * count + k] = term);
        }
        Self { constants, terms }
    }

    /// Computes the cost, in each component, of the row that these words encode.
    pub fn of(&self, words: &[u64], out: &mut Vec<f64>) {
        out.clone_from(&self.constants);
        let terms = RowMajor::new(&self.terms, out.len());
        for_each_set_bit(words, |j| {
            out.iter_mut().zip(terms.row(j)).for_each(|(cost, term)| *cost += term);
        });
        // Rounding may make a cost of 0 negative.
        out.iter_mut().for_each(|cost| *cost = cost.max(0.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_costs_what_the_definition_says() {
        let frequencies = [0.5, 0.25, 0.9, 0.0, 1.0];
        let costs = Costs::new(5, &frequencies);
        let mut out = Vec::new();
        // A bit of frequency 0 or 1 costs nothing if it has its constant value. The row is 1, 0, 1, 0, 1.
        costs.of(&[0b10101], &mut out);
        let expected = -(0.5f64.ln() + 0.75f64.ln() + 0.9f64.ln());
        assert!((out[0] - expected).abs() < 1e-11, "{} for {expected}", out[0]);
        // A bit that differs from its constant value costs 40 ln 2.
        costs.of(&[0b01101], &mut out);
        let expected = expected + 80.0 * 2f64.ln();
        assert!((out[0] - expected).abs() < 1e-3, "{} for {expected}", out[0]);
    }

    #[test]
    fn the_frequency_is_where_the_cost_with_its_prior_is_least() {
        let bernoulli = Bernoulli { prior: 0.5 };
        let (ones, mass) = (3.0, 10.0);
        let y = bernoulli.frequency(ones, mass);
        assert_eq!(y, 3.5 / 11.0);
        let cost = |y: f64| -ones * y.ln() - (mass - ones) * (1.0 - y).ln() + bernoulli.penalty(&[y]);
        assert!(cost(y) < cost(y - 1e-3) && cost(y) < cost(y + 1e-3));
        assert_eq!(Bernoulli { prior: 0.0 }.frequency(10.0, 10.0), 1.0);
    }

    #[test]
    fn means_come_back_from_frequencies_and_what_does_not_vary_has_no_unit() {
        let with = Bernoulli { prior: 0.5 };
        let frequencies = [with.frequency(3.0, 10.0), with.frequency(0.0, 10.0)];
        let (means, units) = with.frame(&frequencies, 10.0);
        assert!((means[0] - 0.3).abs() < 1e-15 && means[1].abs() < 1e-15, "{means:?}");
        let half = 1.0 / 12.0;
        assert!((units[1] * units[1] - half * (1.0 - half)).abs() < 1e-15);
        assert_eq!(Bernoulli { prior: 0.0 }.frame(&[0.25, 0.0, 1.0], 4.0).1, [0.1875f64.sqrt(), 0.0, 0.0]);
    }

    #[test]
    fn apart_and_merging_cost_are_the_divergences_to_second_order() {
        let divergence = |a: f64, b: f64| a * (a / b).ln() + (1.0 - a) * ((1.0 - a) / (1.0 - b)).ln();
        let (a, b) = (0.2, 0.201);
        let both = divergence(a, b) + divergence(b, a);
        assert!((apart(a, b) / both - 1.0).abs() < 5e-3, "{} for {both}", apart(a, b));
        let (p, q) = (3.0, 1.0);
        let mean = (p * a + q * b) / (p + q);
        let more = p * divergence(a, mean) + q * divergence(b, mean);
        let found = merging_cost([p, q], &[a], &[b]) / 2.0;
        assert!((found / more - 1.0).abs() < 5e-3, "{found} for {more}");
        assert_eq!(apart(0.0, 0.0), 0.0);
    }

    #[test]
    fn a_division_stays_within_frequencies() {
        let moved = displacement(&[0.0, 1e-6, 0.5, 1.0], &[1.0, -1.0, 1.0, 1.0], 0.1);
        assert_eq!(moved, [0.0, -5e-7, 0.05, 0.0]);
    }
}
