//! Replaces many rows by a few weighted points: the means of small cells, and the cost that they hide.
//!
//! Suppose that all rows of a cell have the same nearest centre. Then the sum of squared distances has two parts: the
//! weighted squared distances of the cells' means, and the scatter within the cells. So the scatter within cells gives
//! an exact bound. For any centres, the rows cost at most as much as the cells plus that scatter. See
//! `docs/design/summary.md`.
//!
//! Each leaf, which is a small box, divides its own rows into cells. One thread then divides the means of all these
//! cells again. Neither step depends on the number of ranks. The scatters that the two steps hide add up.

mod division;

use lehr_data::Points;
use lehr_numerics::elementary::{exp, ln};

use crate::Error;
use crate::round::{LeafCells, Round, Rounds, total_of};
use crate::rows::{RowMajor, Rows, Scalar};
use division::{Division, Positions};

/// Leaves make this many times the wanted number of cells, because no later step joins cells that leaves have divided.
const FINER: usize = 4;
/// A leaf makes at most this many times its share of these cells.
const MOST_OF_SHARE: usize = 16;

/// The means of cells, their weights, and the cost that they hide.
///
/// # Example
/// ```
/// use lehr_data::Points;
/// use lehr_mining::summary::Summary;
/// let points = Points::new(vec![0.0, 1.0, 10.0, 12.0], 1)?;
/// let summary = Summary::of(&points, 2);
/// assert_eq!((summary.means, summary.weights, summary.hidden), (vec![0.5, 11.0], vec![2.0, 2.0], 2.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The number of columns.
    pub dimension: usize,
    /// The means, one row for each cell.
    pub means: Vec<f64>,
    /// The weight of each cell, which is the sum of its rows' weights.
    pub weights: Vec<f64>,
    /// The sum over all rows of weight times squared distance from the mean of the row's cell.
    pub hidden: f64,
}

impl Summary {
    /// Divides points into at most `cells` cells, and at least one. Points of weight 0 are in no cell. Equal points are
    /// in the same cell. If no point has a weight, there are no cells.
    ///
    /// The means of summaries are points again. So a summary of several summaries is a summary of their rows. It hides
    /// the sum of what the summaries hide and what it hides of their means.
    ///
    /// Complexity: N x D operations for each of about log2(cells) levels, on one thread. Memory: a copy of the points.
    pub fn of(points: &Points, cells: usize) -> Self {
        let dimension = points.dimension();
        let mut positions = Positions::new(dimension);
        (0..points.len()).filter(|&row| points.weight(row) > 0.0).for_each(|row| {
            positions.push(points.row(row), points.weight(row));
        });
        let mut division = Division::new(&mut positions);
        while division.len() < cells && division.divide_widest(0.0) {}
        Self::of_cells(dimension, division, 0.0)
    }

    /// Reads the cells of a division. `hidden` is the cost that the divided points hide themselves.
    fn of_cells(dimension: usize, division: Division<'_>, hidden: f64) -> Self {
        let (mut means, mut weights) = (Vec::new(), Vec::new());
        let scatter = division.end(|weight, mean| {
            weights.push(weight);
            means.extend_from_slice(mean);
        });
        Self { dimension, means, weights, hidden: hidden + scatter }
    }
}

/// The number of cells to make, and the condition under which fewer are enough.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wanted {
    /// The maximum number of cells.
    pub cells: usize,
    /// The number of clusters to find.
    pub clusters: usize,
    /// Division ends once the cells hide at most this share of the cost that `clusters` cells would hide.
    pub share: f64,
}

/// The cells of a leaf: the weight and the mean of each cell, one cell after another.
pub(crate) type LeafSummary = Vec<f64>;

/// Lets every leaf divide its rows into cells, and returns the cost that the cells hide. Afterwards, all processes have
/// the cells of all leaves.
///
/// # Errors
/// Returns the errors of rounds.
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
    // If rows are spread evenly, n cells together have n^(-2/D) of the whole scatter, so each has n^(-(D+2)/D) of it.
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

/// Divides the means of all leaves' cells, which hide the cost `hidden`, into the wanted number of cells. One thread
/// does this, in a fixed order.
pub(crate) fn merge(dimension: usize, leaves: &LeafCells<LeafSummary>, hidden: f64, wanted: Wanted) -> Summary {
    let mut positions = Positions::new(dimension);
    for leaf in 0..leaves.len() {
        leaves.with(leaf, |cells| {
            RowMajor::new(cells, 1 + dimension).rows().for_each(|cell| positions.push(&cell[1..], cell[0]));
        });
    }
    // The cost that one cell for each cluster would hide: about that of the best clusters, and not less.
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
    Summary::of_cells(dimension, division, hidden)
}

/// Sums a power of the scatter over leaves.
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

/// The round that divides the rows of each leaf. Its total is the cost that the cells hide.
struct DivisionRound<'a, T: Scalar> {
    rows: &'a Rows<T>,
    /// Cells with less scatter than this are not divided.
    bound: f64,
    /// The maximum number of cells of a leaf.
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

#[cfg(test)]
mod tests {
    use lehr_data::{Points, synthetic};
    use lehr_numerics::random::Stream;

    use super::*;
    use crate::round::{Execution, Program, drive};

    struct Summarize<'a> {
        rows: &'a Rows<f64>,
        wanted: Wanted,
        leaves: LeafCells<LeafSummary>,
    }

    impl Program for Summarize<'_> {
        type Output = f64;
        type Error = Error;

        async fn run(&self, rounds: &mut dyn Rounds) -> Result<f64, Error> {
            divide_leaves(rounds, self.rows, self.wanted, &self.leaves).await
        }
    }

    fn summary_of(rows: &Rows<f64>, wanted: Wanted, ranks: usize) -> Summary {
        let leaves = LeafCells::new(rows.leaves.len(), |_| LeafSummary::new());
        let program = Summarize { rows, wanted, leaves };
        let hidden = drive(&Execution { ranks, ..Execution::default() }, rows.dealt, &program).unwrap();
        merge(rows.dimension, &program.leaves, hidden, wanted)
    }

    /// The weighted sum of squared distances of rows from the nearest of some centres.
    fn cost<'a>(rows: impl Iterator<Item = (&'a [f64], f64)>, centers: &[f64], dimension: usize) -> f64 {
        let squared = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - y) * (x - y)).sum::<f64>();
        let nearest = |x: &[f64]| centers.chunks_exact(dimension).map(|y| squared(x, y)).fold(f64::INFINITY, f64::min);
        rows.map(|(x, weight)| weight * nearest(x)).sum()
    }

    #[test]
    fn no_centres_cost_the_rows_more_than_they_cost_the_cells_and_what_those_hide() {
        for (dimension, rows_of, cells, seed) in [(1, 3_000, 50, 1), (2, 9_000, 300, 2), (7, 5_000, 200, 3)] {
            let components = synthetic::random_components(6, dimension, 10.0, 0.9, seed);
            let (points, _) = synthetic::gaussian_mixture(rows_of, &components, seed);
            let weights = (0..points.len()).map(|row| (row % 4) as f64 / 3.0).collect();
            let points: Points = points.with_weights(weights).unwrap();
            let rows = Rows::<f64>::new(&points).unwrap();
            let wanted = Wanted { cells, clusters: 6, share: 0.0 };
            let summary = summary_of(&rows, wanted, 1);
            assert_eq!(summary, summary_of(&rows, wanted, 3), "whoever divides the leaves");
            assert_eq!(summary.weights.len(), cells);
            let weight: f64 = summary.weights.iter().sum();
            assert!((weight / rows.total_weight - 1.0).abs() < 1e-12);
            let stored: Vec<(Vec<f64>, f64)> = (0..points.len())
                .map(|row| {
                    let mut x = vec![0.0; dimension];
                    rows.units.read_stored((&points).into(), row as u32, &mut x);
                    (x, rows.units.stored_weight((&points).into(), row as u32))
                })
                .collect();
            let of_rows = |centers: &[f64]| cost(stored.iter().map(|(x, w)| (&x[..], *w)), centers, dimension);
            let means = || RowMajor::new(&summary.means, dimension).rows().zip(summary.weights.iter().copied());
            // With a single centre, all rows of a cell have the same nearest centre, so both costs are equal.
            let (whole, told) = (of_rows(&vec![0.25; dimension]), cost(means(), &vec![0.25; dimension], dimension));
            assert!(((told + summary.hidden) / whole - 1.0).abs() < 1e-12, "{told} and {} for {whole}", summary.hidden);
            let stream = Stream::new(seed, "centres");
            for trial in 0..20u64 {
                let clusters = 2 + trial % 7;
                let numbers = 0..clusters * dimension as u64;
                let centers: Vec<f64> = numbers.map(|number| stream.normal(trial * 100 + number)).collect();
                let (true_cost, told) = (of_rows(&centers), cost(means(), &centers, dimension));
                assert!(true_cost <= (told + summary.hidden) * (1.0 + 1e-12), "{true_cost} above {told}");
            }
        }
    }

    #[test]
    fn no_more_cells_are_made_than_decide_something() {
        let (points, _) = synthetic::gaussian_mixture(9_000, &synthetic::random_components(3, 1, 10.0, 0.9, 1), 1);
        let rows = Rows::<f64>::new(&points).unwrap();
        let of = |share| summary_of(&rows, Wanted { cells: 2_000, clusters: 3, share }, 2);
        let (all, few) = (of(0.0), of(0.01));
        assert!(few.weights.len() < all.weights.len() / 2 && few.hidden > all.hidden);
        assert_eq!(all.weights.len(), 2_000);
    }
}
