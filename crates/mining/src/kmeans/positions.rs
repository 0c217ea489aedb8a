//! Stores the positions with which rows are compared while centres are drawn. Each way of storing rows has its own
//! kernel, which needs the positions in its own form.
//!
//! Rows of numbers and of bits are compared in the precision in which they are stored. If a row equals a position,
//! their distance is exactly 0. For numbers, this holds because distances are computed from differences; for bits,
//! because all sums are integers. Distances of sparse rows are computed from differences in double precision.

use lehr_numerics::bits::{BitRows, HardBitCenters, bit_distances};
use lehr_numerics::lanes::Real;
use lehr_numerics::nearest::HardCenters;

use crate::lloyd::Centers;
use crate::rows::{Input, Rows, Scalar, Scratch, SparseDistance, Storage};

/// Positions with which rows are compared while centres are drawn.
pub(super) struct Positions<'a, T: Real> {
    pub stored: Centers,
    numbers: HardCenters<T>,
    /// The positions in the coordinates of bits; empty unless rows are bits.
    bits: HardBitCenters<T>,
    /// The squared distance in stored units that corresponds to a squared distance of 1 in the coordinates of bits.
    per_bit: f64,
    sparse: Vec<SparseDistance<'a>>,
    unit: f64,
}

impl<'a, T: Scalar> Positions<'a, T> {
    pub fn new(rows: &'a Rows<T>, stored: &Centers) -> Self {
        let (units, dimension) = (&rows.units, rows.dimension);
        let (mut numbers, mut bits, mut sparse) = (HardCenters::default(), HardBitCenters::default(), Vec::new());
        match rows.storage {
            Storage::Numbers => {
                numbers.begin(dimension);
                stored.rows().for_each(|position| numbers.push(position));
            }
            Storage::Bits => {
                bits.begin(dimension, stored.len());
                stored.rows().enumerate().for_each(|(k, position)| bits.set(k, &units.position(position)));
            }
            Storage::Sparse => {
                sparse.extend(stored.rows().map(|position| SparseDistance::to(&units.scaled_origin, position)));
            }
        }
        let per_bit = 1.0 / units.length / units.length;
        Self { stored: stored.clone(), numbers, bits, per_bit, sparse, unit: units.length }
    }

    /// The positions in the form that the kernel for rows of numbers reads.
    pub fn numbers(&self) -> &HardCenters<T> {
        &self.numbers
    }

    /// Returns whether a box may contain a row whose squared distance from position `k` is below `squared`.
    ///
    /// The box bounds the stored rows, and the position has the precision of the kernel. A margin covers the rounding
    /// error of a distance; this error grows with the dimension.
    pub fn may_be_within(&self, squared: f64, bounds: &[f64], k: usize) -> bool {
        let dimension = self.stored.dimension;
        let (least, most) = bounds.split_at(dimension);
        let margin = 1.0 - 4.0 * (dimension + 4) as f64 * T::EPSILON;
        let mut from_box = 0.0;
        for ((y, least), most) in self.numbers.positions()[k * dimension..][..dimension].iter().zip(least).zip(most) {
            let y = y.to_f64();
            let apart = (least - y).max(y - most).max(0.0);
            from_box += apart * apart;
        }
        from_box * margin < squared
    }

    /// Writes the squared distance of each row of bits in a leaf from each position to `scratch.sums`, rows x K.
    pub fn distances_of_bits(&self, rows: &BitRows, scratch: &mut Scratch<T>) {
        scratch.sums.clear();
        scratch.sums.resize(rows.rows() * self.stored.len(), 0.0);
        bit_distances(rows, &self.bits, &mut scratch.bits, &mut scratch.sums);
        scratch.sums.iter_mut().for_each(|distance| *distance *= self.per_bit);
    }

    /// Writes the squared distance of each sparse row in `rows` from each position to `scratch.sums`, rows x K.
    pub fn distances_of_sparse(&self, input: Input<'_>, rows: &[u32], scratch: &mut Scratch<T>) {
        let Input::Sparse(input) = input else { unreachable!("rows that are kept sparse were given so") };
        scratch.sums.clear();
        for &row in rows {
            let (columns, values) = input.row(row as usize);
            scratch.sums.extend(self.sparse.iter().map(|distance| distance.nearly(columns, values, self.unit)));
        }
    }
}
