//! Squared distances of rows of bits from one position, to the last digit: for values that are reported or decided by a
//! distance itself.

use lehr_numerics::bits::for_each_set_bit;
use lehr_numerics::lanes::Real;

use super::Rows;
use super::bernoulli::form;

/// Squared distances of rows of bits from one stored position, or their costs there, in double precision. They are the
/// value of the empty row, and the amount that each set bit adds.
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

    /// From the row that these words are.
    pub fn of(&self, words: &[u64]) -> f64 {
        let mut sum = self.constant;
        for_each_set_bit(words, |j| sum += self.terms[j]);
        // What rounding leaves of nothing is no distance below it.
        sum.max(0.0)
    }
}
