//! State that a leaf keeps between rounds.

use std::fmt;

use crossbeam_utils::CachePadded;
use lehr_sync::Mutex;

/// Holds one cell of state for each leaf, which the worker that runs the leaf reads and changes. Only one worker at a
/// time runs a leaf, so a cell is never contended; each cell has its own cache lines.
///
/// # Example
/// ```
/// use lehr_ranks::LeafCells;
/// let cells = LeafCells::new(3, |leaf| leaf * 10);
/// cells.with(2, |cell| *cell += 1);
/// assert_eq!(cells.into_values().collect::<Vec<_>>(), [0, 10, 21]);
/// ```
pub struct LeafCells<T> {
    cells: Box<[CachePadded<Mutex<T>>]>,
}

impl<T> fmt::Debug for LeafCells<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("LeafCells").field("len", &self.len()).finish_non_exhaustive()
    }
}

impl<T> LeafCells<T> {
    /// Creates a cell for each of `leaves` leaves, filled by `fill`.
    pub fn new(leaves: usize, fill: impl FnMut(usize) -> T) -> Self {
        Self { cells: (0..leaves).map(fill).map(Mutex::new).map(CachePadded::new).collect() }
    }

    /// Returns the number of cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Passes the cell of a leaf to `change`. Waits while another worker uses the cell, which no engine allows within a
    /// round.
    ///
    /// Cost: one uncontended lock. Do not call `with` for the same leaf inside `change`: it would wait for ever.
    ///
    /// # Panics
    /// Panics if there is no leaf with this number.
    pub fn with<R>(&self, leaf: usize, change: impl FnOnce(&mut T) -> R) -> R {
        change(&mut self.cells[leaf].lock())
    }

    /// Returns the values of the cells, in order.
    pub fn into_values(self) -> impl Iterator<Item = T> {
        self.cells.into_iter().map(|cell| CachePadded::into_inner(cell).into_inner())
    }
}

/// Writes cells as bytes and reads them back, for processes that did not compute the cells' content.
pub trait CellBytes: Sync {
    /// Appends the content of a leaf's cell to `bytes`.
    fn write(&self, leaf: usize, bytes: &mut Vec<u8>);

    /// Overwrites a leaf's cell with the content that [`write`](Self::write) appended for this leaf.
    fn read(&self, leaf: usize, bytes: &[u8]);
}

/// Cells with functions that write them to bytes and read them back.
pub(super) struct AsBytes<'a, T, W, R> {
    pub cells: &'a LeafCells<T>,
    pub write: W,
    pub read: R,
}

impl<T, W, R> CellBytes for AsBytes<'_, T, W, R>
where
    T: Send,
    W: Fn(&T, &mut Vec<u8>) + Sync,
    R: Fn(&mut T, &[u8]) + Sync,
{
    fn write(&self, leaf: usize, bytes: &mut Vec<u8>) {
        self.cells.with(leaf, |cell| (self.write)(cell, bytes));
    }

    fn read(&self, leaf: usize, bytes: &[u8]) {
        self.cells.with(leaf, |cell| (self.read)(cell, bytes));
    }
}
