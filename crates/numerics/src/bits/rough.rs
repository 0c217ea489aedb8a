//! Computes single distances between rows of bits and centres quickly, but not with the bits of the other kernels.
//!
//! The other kernels first find the positions of a row's set bits, because that pays off if the row is compared with
//! many centres. For one centre, it is faster to add all terms in order, and to leave out those whose bit is not set.
//! Single precision is enough to decide nearly all comparisons.

use super::BitRows;
use crate::lanes::{Lanes, Line, Real};

/// The number of sums to which lines are added alternately, because additions to a single sum would wait for each
/// other.
const SUMS: usize = 4;

/// The distances of several centres, centre by centre: a constant, and lines of terms in the order of the columns.
#[derive(Clone, Debug, Default)]
pub(super) struct RoughForms<T: Real> {
    lines: usize,
    constants: Vec<f64>,
    terms: Vec<T::Line>,
    /// The sum of the absolute values of each form's constant and of its largest term times any number of terms is at
    /// most `constant + number * largest`.
    pub largest: Vec<f64>,
}

impl<T: Real> RoughForms<T> {
    /// Makes room for `count` centres of `bits` columns.
    pub fn begin(&mut self, bits: usize, count: usize) {
        self.lines = bits.div_ceil(64) * (64 / T::Line::COUNT);
        self.constants.resize(count, 0.0);
        self.largest.resize(count, 0.0);
        self.terms.clear();
        self.terms.resize(count * self.lines, T::Line::default());
    }

    /// Sets the form of centre `k`.
    pub fn set(&mut self, k: usize, constant: f64, terms: impl Iterator<Item = f64>) {
        self.constants[k] = constant;
        self.largest[k] = 0.0;
        let lanes = T::Line::COUNT;
        let own = &mut self.terms[k * self.lines..][..self.lines];
        for (column, term) in terms.enumerate() {
            self.largest[k] = self.largest[k].max(term.abs());
            own[column / lanes].lanes_mut()[column % lanes] = T::from_f64(term);
        }
    }

    /// Returns an upper bound on the sum of the absolute terms of centre `k` in a row with at most `most` set bits.
    pub fn size(&self, k: usize, most: usize) -> f64 {
        self.constants[k].abs() + most as f64 * self.largest[k]
    }

    /// Returns the squared distance between a row and centre `k`. A sum has at most `most + 16` rounding errors.
    #[inline(always)]
    pub fn distance<V: Lanes<Number = T>>(&self, k: usize, rows: &BitRows, row: usize) -> f64 {
        let lanes = T::Line::COUNT;
        let mut sums = [V::splat(T::default()); SUMS];
        let lines = self.terms[k * self.lines..][..self.lines].chunks_exact(64 / lanes);
        for (lines, &word) in lines.zip(rows.row(row)) {
            for (place, line) in lines.iter().enumerate() {
                let sum = &mut sums[place % SUMS];
                *sum = sum.add_where((word >> (place * lanes)) as u32, V::load(line));
            }
        }
        let [a, b, c, d] = sums;
        (self.constants[k] + a.add(b).add(c.add(d)).sum()).max(0.0)
    }
}
