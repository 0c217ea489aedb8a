//! Gathers values that leaves compute for their rows, such as memberships, positions or directions, so that every rank
//! has all of them.
//!
//! The totals of a round are small and go through the reduction tree. Values for each row are larger, so each leaf
//! writes its values into its own cell, and every loop copies all cells after the round. Cells have two sides, which
//! rounds use alternately, so a loop that is already in the next round writes to the other side. No rank can be two
//! rounds ahead, because a round ends only when all leaves have been mapped.

use crate::Error;
use crate::round::{LeafCells, Partition, Rounds};

/// Memory for the values of all rows.
pub(crate) struct Gather {
    cells: LeafCells<[Vec<f64>; 2]>,
}

/// The side of the cells that a loop uses next. Every gathering switches it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Side(usize);

impl Gather {
    /// Allocates memory for this many items.
    pub fn new(items: usize) -> Self {
        Self { cells: LeafCells::new(Partition::new(items, 1).leaves(), |_| Default::default()) }
    }

    /// Calls `write` with the memory for a leaf's values, all of which it must overwrite. `length` is the number of the
    /// leaf's rows, times the number of values for each row.
    pub fn write<R>(&self, leaf: usize, turn: Side, length: usize, write: impl FnOnce(&mut [f64]) -> R) -> R {
        self.cells.with(leaf, |sides| {
            let side = &mut sides[turn.0];
            side.clear();
            side.resize(length, 0.0);
            write(side)
        })
    }

    /// After the round, copies the values of all rows in order, and switches to the other side.
    ///
    /// # Errors
    /// Returns the errors of the ranks.
    pub async fn collect(&self, rounds: &mut dyn Rounds, turn: &mut Side, all: &mut Vec<f64>) -> Result<(), Error> {
        let side = turn.0;
        let write = |sides: &[Vec<f64>; 2], bytes: &mut Vec<u8>| {
            sides[side].iter().for_each(|number| bytes.extend_from_slice(&number.to_le_bytes()));
        };
        let read = |sides: &mut [Vec<f64>; 2], bytes: &[u8]| {
            let (numbers, _) = bytes.as_chunks::<8>();
            sides[side].clear();
            sides[side].extend(numbers.iter().map(|number| f64::from_le_bytes(*number)));
        };
        rounds.share(&self.cells, write, read).await?;
        all.clear();
        for leaf in 0..self.cells.len() {
            self.cells.with(leaf, |sides| all.extend_from_slice(&sides[side]));
        }
        turn.0 = 1 - side;
        Ok(())
    }
}
