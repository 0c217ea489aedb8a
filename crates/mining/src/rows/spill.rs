//! Stores rows while leaves are made, in memory or in a file. The file is mapped when all rows have been written.

use lehr_data::Spill;
use lehr_numerics::lanes::Real;
use lehr_numerics::tiles::Written;
use lehr_spill::{Slab, Writer};

use super::store::RowStore;
use crate::Error;

/// Keeps the stores of leaves in memory, or writes them to a file one after another.
pub(super) enum SpillWriter<T: Real> {
    Memory,
    File(Writer<T::Line>),
}

/// A store that was kept in memory, or written to the file that [`SpillWriter::end`] returns.
pub(super) enum Put<T: Real> {
    Here(RowStore<T>),
    There(Written),
}

impl<T: Real> SpillWriter<T> {
    /// Prepares for stores that have `lines` lines in total. If they are written to a file, its space is reserved
    /// first.
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

    /// Ends writing. Returns the file with all lines, or `None` if the stores are in memory.
    pub fn end(self) -> Result<Option<Slab<T::Line>>, Error> {
        match self {
            SpillWriter::Memory => Ok(None),
            SpillWriter::File(file) => Ok(Some(file.finish()?)),
        }
    }
}

impl<T: Real> Put<T> {
    /// Returns the store, and reads it from `file` if it was written there.
    ///
    /// # Panics
    /// Panics if the store was written to a file and `file` is not that file.
    pub fn store(self, file: Option<&Slab<T::Line>>) -> RowStore<T> {
        match self {
            Put::Here(store) => store,
            Put::There(written) => RowStore::Numbers(written.tiles(file.expect("tiles went to a file"))),
        }
    }
}
