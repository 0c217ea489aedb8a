//! Makes leaves. Each leaf contains the rows that one call of a kernel processes.
//!
//! If the rows are in a file larger than memory, leaves are made one at a time. Their tiles are written to another file
//! ([`super::spill`]), so memory holds only one leaf. The content and the order of the leaves are the same as in
//! memory.

use lehr_numerics::bits::BitRows;
use lehr_numerics::lanes::Real;
use lehr_numerics::sparse::SparseRows;
use lehr_numerics::tiles::Tiles;

use super::input::Input;
use super::layout::Layout;
use super::row_major::RowMajor;
use super::sparse::SparseDistance;
use super::spill::{Put, SpillWriter};
use super::store::{RowStore, Storage};
use super::units::Units;
use crate::Error;
use crate::round::{LeafCells, on_threads};

/// A leaf: rows that one call of a kernel processes.
#[derive(Clone, Debug)]
pub(crate) struct Leaf<T: Real> {
    pub store: RowStore<T>,
    /// The smallest value of each coordinate, followed by the largest value of each coordinate. Empty for rows of bits
    /// and sparse rows.
    pub bounds: Vec<f64>,
    /// The indices of the rows in the input.
    pub rows: Vec<u32>,
    /// Rows of weight 0, which only get labels.
    pub bystanders: Option<RowStore<T>>,
    pub bystander_rows: Vec<u32>,
}

/// The data that is needed to make the stores of leaves.
struct Maker<'a> {
    input: Input<'a>,
    units: &'a Units,
    storage: Storage,
    /// Computes the squared distances of sparse rows from the origin.
    from_origin: SparseDistance<'a>,
}

impl Maker<'_> {
    /// Makes a store with these rows of the input.
    fn store<T: Real>(&self, rows: &[u32]) -> RowStore<T> {
        let (units, dimension) = (self.units, self.input.dimension());
        let weight = |i: usize| units.stored_weight(self.input, rows[i]);
        match (self.input, self.storage) {
            (Input::Bits(bits), Storage::Bits) => {
                RowStore::Bits(BitRows::new(rows.len(), dimension, |i| bits.row(rows[i] as usize), weight))
            }
            (Input::Sparse(sparse), Storage::Sparse) => {
                let row = |i: usize| sparse.row(rows[i] as usize);
                let length = |i: usize| self.from_origin.of(units.entries(sparse, rows[i]));
                RowStore::Sparse(SparseRows::new(rows.len(), dimension, units.length, row, length, weight))
            }
            _ => {
                let mut scaled = vec![0.0; rows.len() * dimension];
                for (&row, values) in rows.iter().zip(scaled.chunks_exact_mut(dimension)) {
                    self.input.read(row as usize, values);
                    values.iter_mut().for_each(|value| *value *= units.per_length);
                }
                let row = |i: usize| RowMajor::new(&scaled, dimension).row(i);
                RowStore::Numbers(Tiles::new(rows.len(), dimension, &units.scaled_origin, row, weight))
            }
        }
    }
}

/// Makes all leaves.
///
/// # Errors
/// Returns [`Error::Spill`] if the tiles cannot be written to a file, and the errors of the threads.
pub(super) fn make<T: Real>(
    input: Input<'_>,
    layout: &Layout,
    units: &Units,
    storage: Storage,
    threads: usize,
) -> Result<Vec<Leaf<T>>, Error> {
    let dimension = input.dimension();
    let middle = vec![0.0; if storage == Storage::Sparse { dimension } else { 0 }];
    let maker = Maker { input, units, storage, from_origin: SparseDistance::to(&units.scaled_origin, &middle) };
    let leaves = 0..layout.deal.leaves;
    if input.spill().is_none() {
        let made = LeafCells::new(leaves.len(), |_| None);
        on_threads(threads, leaves.len(), |leaf| {
            let (rows, bystanders) = (layout.rows(leaf).to_vec(), layout.bystanders(leaf).to_vec());
            let of_bystanders = (!bystanders.is_empty()).then(|| maker.store(&bystanders));
            let store = maker.store(&rows);
            let bounds = store.bounds();
            let of_leaf = Leaf { store, bounds, rows, bystanders: of_bystanders, bystander_rows: bystanders };
            made.with(leaf, |cell| *cell = Some(of_leaf));
        })?;
        return Ok(made.into_values().map(|leaf| leaf.expect("each was made")).collect());
    }
    let lines = || {
        let of = |rows: &[u32]| if rows.is_empty() { 0 } else { Tiles::<T>::lines(rows.len(), dimension) };
        leaves.clone().map(|leaf| of(layout.rows(leaf)) + of(layout.bystanders(leaf))).sum::<usize>()
    };
    let mut writer = SpillWriter::new(input.spill(), lines)?;
    let mut made = Vec::with_capacity(leaves.len());
    for leaf in leaves.clone() {
        let (rows, bystanders) = (layout.rows(leaf).to_vec(), layout.bystanders(leaf).to_vec());
        let of_bystanders = (!bystanders.is_empty()).then(|| writer.put(maker.store(&bystanders))).transpose()?;
        let store = maker.store(&rows);
        let bounds = store.bounds();
        made.push((writer.put(store)?, bounds, rows, of_bystanders, bystanders));
    }
    let file = writer.end()?;
    let file = file.as_ref();
    let leaf = |(store, bounds, rows, bystanders, bystander_rows): (Put<T>, _, _, Option<_>, _)| Leaf {
        store: store.store(file),
        bounds,
        rows,
        bystanders: bystanders.map(|bystanders: Put<T>| bystanders.store(file)),
        bystander_rows,
    };
    Ok(made.into_iter().map(leaf).collect())
}
