//! Gathers values that leaves compute for their rows, such as memberships, positions or directions, so that every rank
//! has all of them.
//!
//! Totals of a round are small and go through the reduction tree. Values for each row are not small, so a leaf writes
//! them into its own cell. When the round is over, every loop copies all cells. Cells have two sides, which are used
//! alternately. A loop that is already in the next round writes to the other side. No rank is two rounds ahead, because
//! a round ends only when all leaves have been mapped.

use crate::Error;
use crate::round::{LeafCells, Partition, Rounds};

/// Memory for values of each row.
pub(crate) struct Gather {
    cells: LeafCells<[Vec<f64>; 2]>,
}

/// The side in use. Each loop has one, and every gathering switches it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Side(usize);

impl Gather {
    /// Allocates memory for this many items.
    pub fn new(items: usize) -> Self {
        Self { cells: LeafCells::new(Partition::new(items, 1).leaves(), |_| Default::default()) }
    }

    /// Lets a leaf write its values. `length` is the number of its rows times the values of each; all are overwritten.
    pub fn write<R>(&self, leaf: usize, turn: Side, length: usize, write: impl FnOnce(&mut [f64]) -> R) -> R {
        self.cells.with(leaf, |sides| {
            let side = &mut sides[turn.0];
            side.clear();
            side.resize(length, 0.0);
            write(side)
        })
    }

    /// Copies the values of all rows in order, after the round, and switches to the other side.
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
