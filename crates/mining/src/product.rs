//! A round that multiplies a matrix by columns. Each leaf computes the products of its own rows, and every rank
//! receives the products of all rows.

use std::cell::RefCell;

use lehr_numerics::compact::{Columns, Entry, add_products};
use lehr_numerics::lanes::Real;

use crate::Error;
use crate::gather::{Gather, Side};
use crate::matrix::Matrix;
use crate::round::{Partition, Round, Rounds, total_of};
use crate::rows::{RowMajor, RowMajorMut};

thread_local! {
    static SUMS: RefCell<Vec<f64>> = const { RefCell::new(Vec::new()) };
}

struct ProductRound<'a, T: Real> {
    matrix: &'a Matrix<'a, T>,
    columns: &'a Columns<T>,
    entries: &'a [Entry],
    gather: &'a Gather,
    turn: Side,
    partition: Partition,
}

impl<T: Real> Round for ProductRound<'_, T> {
    fn len(&self) -> usize {
        1
    }

    fn name(&self) -> &'static str {
        "matrix product"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        partial.fill(0.0);
        let rows = self.partition.leaf_rows(leaf);
        let (count, kinds) = (self.columns.count(), self.entries.len());
        self.gather.write(leaf, self.turn, rows.len() * kinds * count, |out| {
            SUMS.with_borrow_mut(|sums| {
                sums.clear();
                sums.resize(out.len(), 0.0);
                let parts = sums.chunks_exact_mut((rows.len() * count).max(1));
                let mut entries: Vec<_> = self.entries.iter().copied().zip(parts).collect();
                add_products(&self.matrix.block(rows.clone()), self.columns, &mut entries);
                // The products are written row by row, so that the gathered values are in the order of the items.
                let (mut out, sums) = (RowMajorMut::new(out, count), RowMajor::new(sums, count));
                for row in 0..rows.len() {
                    for kind in 0..kinds {
                        out.row(row * kinds + kind).copy_from_slice(sums.row(kind * rows.len() + row));
                    }
                }
            });
        });
    }
}

/// Writes the products of all rows with columns to `out`: N x entries x columns numbers, the same on every rank.
pub(crate) async fn products<T: Real>(
    rounds: &mut dyn Rounds,
    matrix: &Matrix<'_, T>,
    columns: &Columns<T>,
    entries: &[Entry],
    gather: &Gather,
    turn: &mut Side,
    out: &mut Vec<f64>,
) -> Result<(), Error> {
    let partition = Partition::new(matrix.items, 1);
    let round = ProductRound { matrix, columns, entries, gather, turn: *turn, partition };
    total_of(rounds, &round, &mut Vec::with_capacity(1)).await?;
    gather.collect(rounds, turn, out).await
}
