//! The three ways in which a leaf stores its rows: as numbers, as bits, or sparse.
//!
//! Rows of bits stay bits and sparse rows stay sparse, if there are kernels that read them in that form. Centres and
//! sums are numbers in all three cases; [`Units`] converts between the coordinates of bits and stored coordinates.
//! Sparse rows are divided by the unit, but not moved to the origin. The squared length of each from the origin is
//! stored with it, and sums are corrected at the end of a round. In up to 16 columns, bits and sparse rows become
//! numbers, except rows of bits whose cost is not a squared distance.
//!
//! No code outside this file checks which of the three a store is; a round implements its computation for each of them
//! ([`OverStore`]).

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
    /// Stored coordinates.
    Numbers,
    /// The bits of the input.
    Bits,
    /// The nonzero values of the input, in stored units.
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
    /// [`Storage::Numbers`].
    Numbers(Tiles<T>),
    /// [`Storage::Bits`].
    Bits(BitRows),
    /// [`Storage::Sparse`].
    Sparse(SparseRows<T>),
}

/// A computation with one implementation for each way of storing rows. `W` is its work space and output.
pub(crate) trait OverStore<T: Real, W> {
    fn over_numbers(&self, tiles: &Tiles<T>, work: W);
    fn over_bits(&self, bits: &BitRows, work: W);
    fn over_sparse(&self, rows: &SparseRows<T>, work: W);
}

impl<T: Real> RowStore<T> {
    /// Runs the implementation for the storage of these rows.
    #[inline]
    pub fn apply<W>(&self, computation: &impl OverStore<T, W>, work: W) {
        match self {
            Self::Numbers(tiles) => computation.over_numbers(tiles, work),
            Self::Bits(bits) => computation.over_bits(bits, work),
            Self::Sparse(rows) => computation.over_sparse(rows, work),
        }
    }

    /// The tiles of rows of numbers.
    ///
    /// # Panics
    /// Panics for bits and sparse rows, which only methods with kernels for them accept as input.
    pub fn numbers(&self) -> &Tiles<T> {
        match self {
            Self::Numbers(tiles) => tiles,
            Self::Bits(_) | Self::Sparse(_) => unreachable!("this method takes rows of numbers only"),
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

    /// The smallest values of all coordinates, followed by the largest; empty for bits and sparse rows.
    pub fn bounds(&self) -> Vec<f64> {
        if let Self::Numbers(tiles) = self { tiles.bounds() } else { Vec::new() }
    }

    /// The sum `sum w |x|^2`; for rows of bits `sum w c`, where `of_bits` returns the cost `c` of a row.
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
