//! Rows of bits as draws from Bernoulli distributions.
//!
//! This file has the cost of a row in a component, the component's frequencies, and the coordinates for its stability
//! test.
//!
//! A component has a frequency `y_j` for each column. A row `x` costs `E = -sum_j [x_j ln y_j + (1 - x_j) ln(1 - y_j)]`
//! nats in it. That is `-sum_j ln(1 - y_j)` for the empty row, plus `ln((1 - y_j) / y_j)` for each set bit. Squared
//! distances of bits have the same form, a constant and terms, so their kernels are used. `docs/design/bits.md` derives
//! the formulas of this file.

use lehr_numerics::bits::for_each_set_bit;
use lehr_numerics::elementary::ln;

use super::row_major::RowMajor;

/// The bound on frequencies. Those nearer to 0 or 1 cost as much as the bound, which is 27.7 nats for a bit that never
/// occurred. Without this bound the cost would be infinite.
const LEAST: f64 = 1.0 / (1u64 << 40) as f64;

fn inside(frequency: f64) -> f64 {
    frequency.clamp(LEAST, 1.0 - LEAST)
}

/// The variance of a bit with this frequency.
fn variance(frequency: f64) -> f64 {
    let y = inside(frequency);
    y * (1.0 - y)
}

/// The cost of the empty row in a component, and the amount that each set bit adds.
pub(crate) fn form(frequencies: &[f64]) -> (f64, impl Iterator<Item = f64> + '_) {
    let constant = -frequencies.iter().map(|&y| ln(1.0 - inside(y))).sum::<f64>();
    let term = |&y: &f64| {
        let y = inside(y);
        ln((1.0 - y) / y)
    };
    (constant, frequencies.iter().map(term))
}

/// The distance of two frequencies of a column: their squared difference, divided by the larger of their variances. To
/// second order, it is the sum of the two divergences between them. It is at least four times the squared difference.
pub(crate) fn apart(a: f64, b: f64) -> f64 {
    if a == b { 0.0 } else { (a - b) * (a - b) / variance(a).max(variance(b)) }
}

/// Twice the increase of the cost, to second order, if two components of these masses are merged. It is Ward's rule in
/// units of the merged component's variances.
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
    /// The count that is added to the ones and to the zeros of every column of every component.
    pub prior: f64,
}

impl Bernoulli {
    /// The most likely frequency of a column in a component of positive mass. `ones` is the mass of the rows that have
    /// the bit set.
    pub fn frequency(&self, ones: f64, mass: f64) -> f64 {
        // Rounding may make the sum of ones larger than the mass.
        ((ones + self.prior) / (mass + 2.0 * self.prior)).clamp(0.0, 1.0)
    }

    /// The cost of the prior itself: `-b ln y (1 - y)` for each of these frequencies. If it is included, a pass cannot
    /// raise the free energy.
    pub fn penalty(&self, frequencies: &[f64]) -> f64 {
        if self.prior == 0.0 {
            return 0.0;
        }
        -self.prior * frequencies.iter().map(|&y| ln(variance(y))).sum::<f64>()
    }

    /// The frame for a component's stability test: the mean of its rows, from which its frequencies are computed, and
    /// the unit of each column. The unit is 0 for a constant column.
    ///
    /// The unit is the standard deviation at the frequency that each half of the component would have; each half has
    /// its own prior.
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

    /// The temperature below which a component of this mass divides, where `eigenvalue` is the leading one of its
    /// covariance in the units of [`frame`](Self::frame).
    pub fn critical_temperature(&self, eigenvalue: f64, mass: f64) -> f64 {
        // Any variation has an eigenvalue of about 1, so a tiny one is the rounding error of equal rows.
        if eigenvalue > ROUNDING { eigenvalue * mass / (mass + 4.0 * self.prior).max(f64::MIN_POSITIVE) } else { 0.0 }
    }
}

/// Smaller eigenvalues of correlations are rounding errors.
const ROUNDING: f64 = 1e-9;

/// The shift of frequencies when a component divides along a direction, in deviations of each column; at most half the
/// way to 0 or 1.
pub(crate) fn displacement(frequencies: &[f64], direction: &[f64], deviations: f64) -> Vec<f64> {
    let column = |(&y, &u): (&f64, &f64)| {
        let most = y.min(1.0 - y).max(0.0) / 2.0;
        (deviations * u * variance(y).sqrt()).clamp(-most, most)
    };
    frequencies.iter().zip(direction).map(column).collect()
}

/// The costs of rows of bits in each of several components, in double precision.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    constants: Vec<f64>,
    /// The terms of the columns, D x K.
    terms: Vec<f64>,
}

impl Costs {
    /// Prepares the costs in components with these frequencies (K x D).
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

    /// Computes the costs of the row that these words encode.
    pub fn of(&self, words: &[u64], out: &mut Vec<f64>) {
        out.clone_from(&self.constants);
        let terms = RowMajor::new(&self.terms, out.len());
        for_each_set_bit(words, |j| {
            out.iter_mut().zip(terms.row(j)).for_each(|(cost, term)| *cost += term);
        });
        // Rounding may take a cost of 0 below 0.
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
        // Bits that are always the same cost nothing if they have that value. The row is 1, 0, 1, 0, 1.
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
