//! The place of the rows while leaves are made: they stay in memory, or go to a file that is mapped when all are
//! present.

use lehr_data::Spill;
use lehr_numerics::lanes::Real;
use lehr_numerics::tiles::Written;
use lehr_spill::{Slab, Writer};

use super::store::RowStore;
use crate::Error;

/// The writer of stores, one after the other.
pub(super) enum SpillWriter<T: Real> {
    Memory,
    File(Writer<T::Line>),
}

/// A store that was put somewhere; [`SpillWriter::end`] gives the handle to get it back.
pub(super) enum Put<T: Real> {
    Here(RowStore<T>),
    There(Written),
}

impl<T: Real> SpillWriter<T> {
    /// For stores of this many lines in all, which are reserved at once.
    pub fn new(spill: Option<&Spill>, lines: impl FnOnce() -> usize) -> Result<Self, Error> {
        Ok(match spill {
            None => SpillWriter::Memory,
            Some(spill) => SpillWriter::File(spill.writer(lines())?),
        })
    }

    pub fn put(&mut self, store: RowStore<T>) -> Result<Put<T>, Error> {
        match (self, store) {
            (SpillWriter::File(file), RowStore::Numbers(tiles)) => Ok(Put::There(tiles.write(file)?)),
            (_, store) => Ok(Put::Here(store)),
        }
    }

    /// All lines that went to a file.
    pub fn end(self) -> Result<Option<Slab<T::Line>>, Error> {
        match self {
            SpillWriter::Memory => Ok(None),
            SpillWriter::File(file) => Ok(Some(file.finish()?)),
        }
    }
}

impl<T: Real> Put<T> {
    /// The store.
    ///
    /// # Panics
    /// Panics if it went to a file and this is not the one.
    pub fn store(self, file: Option<&Slab<T::Line>>) -> RowStore<T> {
        match self {
            Put::Here(store) => store,
            Put::There(written) => RowStore::Numbers(written.tiles(file.expect("tiles went to a file"))),
        }
    }
}
