//! Where rows are stored while leaves are made: in memory, or in a file that is mapped when all rows have been written.

use lehr_data::Spill;
use lehr_numerics::lanes::Real;
use lehr_numerics::tiles::Written;
use lehr_spill::{Slab, Writer};

use super::store::RowStore;
use crate::Error;

/// Stores rows one store after another, in memory or in a file.
pub(super) enum SpillWriter<T: Real> {
    Memory,
    File(Writer<T::Line>),
}

/// A store that has been written; [`SpillWriter::end`] returns the file from which to read it.
pub(super) enum Put<T: Real> {
    Here(RowStore<T>),
    There(Written),
}

impl<T: Real> SpillWriter<T> {
    /// Prepares for stores of this many lines in all, whose space is reserved at once.
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

    /// Returns all lines that were written to a file.
    pub fn end(self) -> Result<Option<Slab<T::Line>>, Error> {
        match self {
            SpillWriter::Memory => Ok(None),
            SpillWriter::File(file) => Ok(Some(file.finish()?)),
        }
    }
}

impl<T: Real> Put<T> {
    /// Returns the store.
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
