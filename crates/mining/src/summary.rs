//! Few weighted points in the place of many rows: the means of small cells, and how much they hide.
//!
//! For any centres, the sum over rows of squared distances is the sum over cells of weight times squared distance of the mean, plus the scatter within cells, as long as the rows of a cell
//! have one centre. So the scatter within cells is an exact bound: no centres cost the rows more than they cost the cells and that scatter together. See `docs/design/summary.md`.
//!
//! Each leaf divides its own rows, which are a small box; one thread divides the cells of all leaves again. Neither asks how many ranks there are. Scatters add up.

mod division;

use lehr_numerics::elementary::{exp, ln};

use crate::Error;
use crate::round::{LeafCells, Round, Rounds, total_of};
use crate::rows::{RowMajor, Rows, Scalar};
use division::{Division, Positions};

/// Leaves make so many times the cells that are wanted: what leaves divide, nobody puts together again.
const FINER: usize = 4;
/// A leaf makes no more than so many times its share of these.
const MOST_OF_SHARE: usize = 16;

/// The means of cells and their weights, and what they hide; stored positions and weights.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Summary {
    pub dimension: usize,
    /// One row a cell.
    pub means: Vec<f64>,
    pub weights: Vec<f64>,
    /// The sum over rows of weight times squared distance from the mean of their cell.
    pub hidden: f64,
    /// What as many cells as there are to be clusters hide: more than the best clusters cost.
    pub coarse: f64,
}

impl Summary {
    /// How many cells there are.
    pub fn len(&self) -> usize {
        self.weights.len()
    }
}

/// How many cells, and when fewer are enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wanted {
    /// The most cells.
    pub cells: usize,
    /// As many clusters are to be found.
    pub clusters: usize,
    /// No more cells are made once they hide no more than this share of what `clusters` cells hide.
    pub share: f64,
}

/// A leaf's cells: the weight and the mean of each, one after the other.
pub(crate) type LeafSummary = Vec<f64>;

/// Has every leaf divide its rows into cells; returns what these hide. All processes then have all cells.
///
/// # Errors
/// Those of rounds.
pub(crate) async fn divide_leaves<T: Scalar>(
    rounds: &mut dyn Rounds,
    rows: &Rows<T>,
    wanted: Wanted,
    leaves: &LeafCells<LeafSummary>,
) -> Result<f64, Error> {
    let finer = FINER * wanted.cells;
    let exponent = rows.dimension as f64 / (rows.dimension as f64 + 2.0);
    let mut total = Vec::new();
    total_of(rounds, &ScatterRound { rows, exponent }, &mut total).await?;
    // Of rows spread evenly, n cells have a scatter of n^(-2/D) times that of the whole: each n^(-(D+2)/D) of it.
    let bound = if total[0] > 0.0 { exp(ln(total[0] / finer as f64) / exponent) } else { 0.0 };
    let most = (MOST_OF_SHARE * finer).div_ceil(rows.leaves.len().max(1));
    total_of(rounds, &DivisionRound { rows, bound, most, leaves }, &mut total).await?;
    let write = |cells: &LeafSummary, bytes: &mut Vec<u8>| {
        cells.iter().for_each(|value| bytes.extend_from_slice(&value.to_le_bytes()));
    };
    let read = |cells: &mut LeafSummary, bytes: &[u8]| {
        let (values, _) = bytes.as_chunks();
        *cells = values.iter().map(|value| f64::from_le_bytes(*value)).collect();
    };
    rounds.share(leaves, write, read).await?;
    Ok(total[0])
}

/// Divides the means of all leaves' cells, which hide `hidden`, into as many cells as are wanted. One thread's arithmetic in a fixed order.
pub(crate) fn merge(dimension: usize, leaves: &LeafCells<LeafSummary>, hidden: f64, wanted: Wanted) -> Summary {
    let mut positions = Positions::new(dimension);
    for leaf in 0..leaves.len() {
        leaves.with(leaf, |cells| {
            RowMajor::new(cells, 1 + dimension).rows().for_each(|cell| positions.push(&cell[1..], cell[0]));
        });
    }
    let mut coarse = f64::INFINITY;
    let mut division = Division::new(&mut positions);
    while division.len() < wanted.cells {
        let scatter = hidden + division.scatter();
        if division.len() <= wanted.clusters {
            coarse = scatter;
        }
        if scatter <= wanted.share * coarse || !division.divide_widest(0.0) {
            break;
        }
    }
    let (mut means, mut weights) = (Vec::new(), Vec::new());
    let scatter = division.end(|weight, mean| {
        weights.push(weight);
        means.extend_from_slice(mean);
    });
    Summary { dimension, means, weights, hidden: hidden + scatter, coarse }
}

/// The sum over leaves of a power of their scatter.
struct ScatterRound<'a, T: Scalar> {
    rows: &'a Rows<T>,
    exponent: f64,
}

impl<T: Scalar> Round for ScatterRound<'_, T> {
    fn len(&self) -> usize {
        1
    }

    fn name(&self) -> &'static str {
        "scatter of leaves"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        let mut positions = Positions::of_leaf(self.rows, leaf);
        let scatter = Division::new(&mut positions).scatter();
        partial[0] = if scatter > 0.0 { exp(self.exponent * ln(scatter)) } else { 0.0 };
    }
}

/// Divides the rows of each leaf; the total is what the cells hide.
struct DivisionRound<'a, T: Scalar> {
    rows: &'a Rows<T>,
    /// Cells of less scatter are not divided.
    bound: f64,
    /// The most cells of a leaf.
    most: usize,
    leaves: &'a LeafCells<LeafSummary>,
}

impl<T: Scalar> Round for DivisionRound<'_, T> {
    fn len(&self) -> usize {
        1
    }

    fn name(&self) -> &'static str {
        "cells of leaves"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        let mut positions = Positions::of_leaf(self.rows, leaf);
        let mut division = Division::new(&mut positions);
        while division.len() < self.most && division.divide_widest(self.bound) {}
        self.leaves.with(leaf, |cells| {
            cells.clear();
            partial[0] = division.end(|weight, mean| {
                cells.push(weight);
                cells.extend_from_slice(mean);
            });
        });
    }
}
