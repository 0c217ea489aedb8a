//! Stores the rows of a leaf in one of three ways: as numbers, as bits, or sparse.
//!
//! In more than 16 columns, rows of bits stay bits, and sparse rows stay sparse. In up to 16 columns, both become
//! numbers, except rows of bits whose cost is not a squared distance. Centres and sums are numbers in all three cases.
//! [`Units`] converts between the coordinates of bits and stored coordinates.
//!
//! Sparse rows are divided by the unit, but their values are not relative to the origin. The squared distance of each
//! row from the origin is stored with the row, and sums are corrected at the end of a round.
//!
//! A round implements its computation for each of the three ways ([`OverStore`]), and [`RowStore::apply`] chooses
//! between them.

use lehr_numerics::bits::{BitRows, for_each_set_bit};
use lehr_numerics::compensated::Sum;
use lehr_numerics::lanes::Real;
use lehr_numerics::sparse::SparseRows;
use lehr_numerics::tiles::{DIRECT_DIMENSION, Tiles};

use super::input::Input;
use super::units::Units;

/// How all leaves of a run store their rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    /// Rows are numbers: stored coordinates.
    Numbers,
    /// Rows are the bits of the input.
    Bits,
    /// Rows are the nonzero values of the input, divided by the unit.
    Sparse,
}

impl Storage {
    /// Returns the storage for these rows. `is_squared` says whether their cost is a squared distance.
    pub fn of(input: Input<'_>, is_squared: bool) -> Self {
        let is_wide = input.dimension() > DIRECT_DIMENSION;
        match input {
            Input::Bits(_) if is_wide || !is_squared => Self::Bits,
            Input::Sparse(_) if is_wide => Self::Sparse,
            _ => Self::Numbers,
        }
    }
}

/// Rows in the form that kernels read.
#[derive(Clone, Debug)]
pub(crate) enum RowStore<T: Real> {
    Numbers(Tiles<T>),
    Bits(BitRows),
    Sparse(SparseRows<T>),
}

/// A computation with one implementation for each way of storing rows. `W` is the memory that an implementation uses,
/// including its output.
pub(crate) trait OverStore<T: Real, W> {
    fn over_numbers(&self, tiles: &Tiles<T>, work: W);
    fn over_bits(&self, bits: &BitRows, work: W);
    fn over_sparse(&self, rows: &SparseRows<T>, work: W);
}

impl<T: Real> RowStore<T> {
    /// Runs the implementation of a computation for the way in which these rows are stored.
    #[inline]
    pub fn apply<W>(&self, computation: &impl OverStore<T, W>, work: W) {
        match self {
            Self::Numbers(tiles) => computation.over_numbers(tiles, work),
            Self::Bits(bits) => computation.over_bits(bits, work),
            Self::Sparse(rows) => computation.over_sparse(rows, work),
        }
    }

    /// The tiles, if the rows are stored as numbers.
    ///
    /// # Panics
    /// Panics for rows of bits and sparse rows. A method without kernels for these rows does not accept them as input.
    pub fn numbers(&self) -> &Tiles<T> {
        match self {
            Self::Numbers(tiles) => tiles,
            Self::Bits(_) | Self::Sparse(_) => unreachable!("this method takes rows of numbers only"),
        }
    }

    /// The rows, which must be bits.
    ///
    /// # Panics
    /// Panics for other rows. Only passes that have checked the storage ask for bits.
    pub fn bits(&self) -> &BitRows {
        match self {
            Self::Bits(rows) => rows,
            Self::Numbers(_) | Self::Sparse(_) => unreachable!("rows of bits only"),
        }
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        match self {
            Self::Numbers(tiles) => tiles.rows(),
            Self::Bits(rows) => rows.rows(),
            Self::Sparse(rows) => rows.rows(),
        }
    }

    /// The stored weight of row `index`.
    pub fn weight(&self, index: usize) -> f64 {
        match self {
            Self::Numbers(tiles) => tiles.weight(index),
            Self::Bits(rows) => rows.weight(index),
            Self::Sparse(rows) => rows.weight(index),
        }
    }

    /// The smallest value of each coordinate, followed by the largest value of each coordinate. Empty for rows of bits
    /// and sparse rows.
    pub fn bounds(&self) -> Vec<f64> {
        if let Self::Numbers(tiles) = self { tiles.bounds() } else { Vec::new() }
    }

    /// The weighted sum of squared lengths, `sum w |x|^2`. For rows of bits it is `sum w c`, where `of_bits` returns
    /// the cost `c` of a row.
    pub fn square(&self, of_bits: impl Fn(&[u64]) -> f64) -> f64 {
        match self {
            Self::Numbers(tiles) => tiles.square(),
            Self::Sparse(rows) => rows.square(),
            Self::Bits(bits) => Sum::of((0..bits.rows()).map(|row| bits.weight(row) * of_bits(bits.row(row)))),
        }
    }

    /// Copies row `index` to `out` as a stored position.
    pub fn read_row(&self, units: &Units, index: usize, out: &mut [f64]) {
        match self {
            Self::Numbers(tiles) => tiles.read_row(index, out),
            Self::Bits(rows) => {
                out.fill(0.0);
                for_each_set_bit(rows.row(index), |j| out[j] = 1.0);
                units.store(out);
            }
            Self::Sparse(rows) => {
                out.iter_mut().zip(&units.scaled_origin).for_each(|(value, zero)| *value = -zero);
                rows.row(index).for_each(|(j, value)| out[j] += value);
            }
        }
    }
}
