//! Where the blocks of leaves are put while leaves are made: they stay in memory, or go to a file that is mapped when all are there.
//!
//! Leaves are made one at a time, so that of rows that memory should not hold no more is there than a leaf.

use lehr_data::Spill;
use lehr_numerics::lanes::Real;
use lehr_numerics::tiles::Written;
use lehr_spill::{Slab, Writer};

use super::rows::Block;
use crate::Error;

/// Blocks are put here one after the other.
pub(super) enum Shelf<T: Real> {
    Memory,
    File(Writer<T::Line>),
}

/// A block that was put somewhere, to be had back from what [`Shelf::end`] gives.
pub(super) enum Put<T: Real> {
    Here(Block<T>),
    There(Written),
}

impl<T: Real> Shelf<T> {
    /// For blocks of so many lines in all, which are set aside at once.
    pub fn new(spill: Option<&Spill>, lines: impl FnOnce() -> usize) -> Result<Self, Error> {
        Ok(match spill {
            None => Shelf::Memory,
            Some(spill) => Shelf::File(spill.writer(lines())?),
        })
    }

    pub fn put(&mut self, block: Block<T>) -> Result<Put<T>, Error> {
        match (self, block) {
            (Shelf::File(file), Block::Numbers(tiles)) => Ok(Put::There(tiles.write(file)?)),
            (_, block) => Ok(Put::Here(block)),
        }
    }

    /// All lines that went to a file.
    pub fn end(self) -> Result<Option<Slab<T::Line>>, Error> {
        match self {
            Shelf::Memory => Ok(None),
            Shelf::File(file) => Ok(Some(file.finish()?)),
        }
    }
}

impl<T: Real> Put<T> {
    /// The block.
    ///
    /// # Panics
    /// If it went to a file and this is not the one.
    pub fn block(self, file: Option<&Slab<T::Line>>) -> Block<T> {
        match self {
            Put::Here(block) => block,
            Put::There(written) => Block::Numbers(written.tiles(file.expect("tiles went to a file"))),
        }
    }
}
