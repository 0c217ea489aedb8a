//! Computes accurate squared distances of rows of bits from one position. They are used for reported values, and for
//! decisions that depend on the distance itself.

use lehr_numerics::bits::for_each_set_bit;
use lehr_numerics::lanes::Real;

use super::Rows;
use super::bernoulli::form;

/// Computes squared distances or costs of rows of bits from one stored position, in double precision. A distance is the
/// distance of the empty row, plus an amount for each set bit.
#[derive(Debug)]
pub(crate) struct BitDistance {
    constant: f64,
    terms: Vec<f64>,
}

impl BitDistance {
    pub fn to<T: Real>(rows: &Rows<T>, center: &[f64]) -> Self {
        if rows.bernoulli.is_some() {
            let (constant, terms) = form(center);
            return Self { constant, terms: terms.collect() };
        }
        let (position, unit) = (rows.units.position(center), rows.units.length);
        let constant = position.iter().map(|y| (y / unit) * (y / unit)).sum();
        Self { constant, terms: position.iter().map(|y| (1.0 - 2.0 * y) / unit / unit).collect() }
    }

    /// Returns the distance, or the cost, of the row that these words encode.
    pub fn of(&self, words: &[u64]) -> f64 {
        let mut sum = self.constant;
        for_each_set_bit(words, |j| sum += self.terms[j]);
        // Rounding may make a distance of 0 negative.
        sum.max(0.0)
    }
}
