//! Squared distances of rows from one position, to the last digit: what is reported, drawn or decided by a distance itself.

use lehr_data::{Fingerprints, Sparse};
use lehr_numerics::bits::for_each_set_bit;
use lehr_numerics::lanes::Real;

use super::Rows;
use super::bernoulli::form;
use super::input::Input;
use super::sparse::{SparseDistance, entries};

/// Squared distances of rows of the input from one stored position.
#[derive(Debug)]
pub(crate) enum DistanceTo<'a> {
    /// The difference of each coordinate.
    Numbers { input: Input<'a>, center: Vec<f64>, origin: &'a [f64], unit: f64 },
    /// By the set bits.
    Bits { rows: &'a Fingerprints, distance: BitDistance },
    /// By what is not 0.
    Sparse { rows: &'a Sparse, unit: f64, distance: SparseDistance<'a> },
}

impl<'a> DistanceTo<'a> {
    pub fn new<T: Real>(rows: &'a Rows<T>, input: Input<'a>, center: &[f64]) -> Self {
        match input {
            Input::Numbers(_) => {
                Self::Numbers { input, center: center.to_vec(), origin: &rows.units.origin, unit: rows.units.length }
            }
            Input::Bits(bits) => Self::Bits { rows: bits, distance: BitDistance::to(rows, center) },
            Input::Sparse(sparse) => {
                let distance = SparseDistance::to(&rows.units.scaled_origin, center);
                Self::Sparse { rows: sparse, unit: rows.units.length, distance }
            }
        }
    }

    /// From row `row` of the input.
    pub fn of(&self, row: u32) -> f64 {
        match self {
            Self::Numbers { input, center, origin, unit } => {
                let mut sum = 0.0;
                input.for_each_value(row as usize, |j, value| {
                    let apart = (value - origin[j]) / unit - center[j];
                    sum += apart * apart;
                });
                sum
            }
            Self::Bits { rows, distance } => distance.of(rows.row(row as usize)),
            Self::Sparse { rows, unit, distance } => distance.of(entries(rows, row as usize, *unit)),
        }
    }
}

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
