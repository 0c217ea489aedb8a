//! Decides which leaf each row belongs to, and the order of the leaves.
//!
//! Rows of weight 0 are set aside first, so that they do not even influence where leaves are cut. They are distributed
//! over the leaves as *bystanders*, which only get labels at the end.
//!
//! Rows of numbers in up to 16 dimensions are sorted in sections of 65,536 consecutive rows. Each section is sorted in
//! the order of a k-d tree, and the cells of the tree are the leaves. A leaf therefore has a small bounding box, and
//! only the centres near the box matter. These boxes give most of the speed at low temperatures. The leaves of a
//! section are then shuffled, so that every rank has leaves from each region. The length of a section is fixed. A rank,
//! or a reader of a file larger than memory, can therefore build the same leaves from only some of the rows.

use lehr_numerics::tiles::DIRECT_DIMENSION;

use super::input::Input;
use super::row_major::RowMajor;
use super::store::Storage;
use crate::Error;
use crate::round::{LeafCells, Partition, on_threads};

/// The number of rows that are sorted together.
const SECTION: usize = 1 << 16;

/// The rows of each leaf.
pub(super) struct Layout {
    pub deal: Deal,
    /// The rows of positive weight, leaf after leaf.
    pub heavy: Vec<u32>,
    /// The rows of weight 0.
    light: Vec<u32>,
}

/// The number of cells of a summary in a leaf, in more than [`FEW`] dimensions. Smaller leaves are useful only in few
/// dimensions, where most centres are too far from a leaf's box to matter.
const CELLS_OF_LEAF: usize = 128;
const FEW: usize = 4;

impl Layout {
    /// Lays out the rows of positive weight (`heavy`) and the rows of weight 0 (`light`), both in the order of the
    /// input.
    ///
    /// # Errors
    /// Returns the errors of the threads.
    pub fn new(
        input: Input<'_>,
        heavy: Vec<u32>,
        light: Vec<u32>,
        storage: Storage,
        threads: usize,
    ) -> Result<Self, Error> {
        let dimension = input.dimension();
        let deal = if storage == Storage::Sparse {
            let values = heavy.iter().map(|&row| values_of(input, row)).sum();
            Deal::of_sparse(heavy.len(), values, dimension)
        } else {
            Deal::of(heavy.len(), dimension)
        };
        Self::dealt(input, deal, heavy, light, storage, threads)
    }

    fn dealt(
        input: Input<'_>,
        deal: Deal,
        mut heavy: Vec<u32>,
        light: Vec<u32>,
        storage: Storage,
        threads: usize,
    ) -> Result<Self, Error> {
        if input.dimension() <= DIRECT_DIMENSION && storage == Storage::Numbers {
            let mut sections = heavy.chunks_mut(SECTION.max(deal.leaf_rows));
            let sections = LeafCells::new(sections.len(), |_| sections.next().expect("as many as there are"));
            on_threads(threads, sections.len(), |index| {
                sections.with(index, |section| {
                    arrange(input, section, deal.leaf_rows, &mut Vec::new());
                    shuffle(section, deal.leaf_rows);
                });
            })?;
        }
        Ok(Self { deal, heavy, light })
    }

    /// Lays out the cells of a summary.
    ///
    /// # Errors
    /// Returns the errors of the threads.
    pub fn of_cells(input: Input<'_>) -> Result<Self, Error> {
        let (count, dimension) = (input.len(), input.dimension());
        let deal = Deal::of(count, dimension);
        let deal = if dimension > FEW { deal.in_about(count, count / CELLS_OF_LEAF) } else { deal };
        Self::dealt(input, deal, (0..count as u32).collect(), Vec::new(), Storage::Numbers, 1)
    }

    /// The rows of positive weight in a leaf.
    pub fn rows(&self, leaf: usize) -> &[u32] {
        let leaf_rows = self.deal.leaf_rows;
        &self.heavy[leaf * leaf_rows..self.heavy.len().min((leaf + 1) * leaf_rows)]
    }

    /// The rows of weight 0 in a leaf.
    pub fn bystanders(&self, leaf: usize) -> &[u32] {
        let (count, leaves) = (self.light.len(), self.deal.leaves);
        &self.light[count * leaf / leaves..count * (leaf + 1) / leaves]
    }
}

/// How rows are distributed over leaves.
pub(super) struct Deal {
    /// The number of rows in a leaf. The last leaf may have fewer.
    pub leaf_rows: usize,
    pub leaves: usize,
    /// A number of rows for which [`Partition`] makes the same number of leaves.
    pub dealt: usize,
}

/// The minimum number of leaves that remain when leaves are enlarged. The ranks share the leaves, so there must be
/// enough of them.
const LEAST_LEAVES: usize = 64;
/// The number of rows in a leaf in many dimensions, if there are enough rows. A pass over this many rows takes longer
/// than adding up the sums of the leaf.
const WIDE_LEAF_ROWS: usize = 512;

impl Deal {
    /// Distributes rows of numbers or bits. The sums of a leaf are as long as all centres together, however few rows
    /// the leaf has. In many dimensions, leaves are therefore larger.
    fn of(count: usize, dimension: usize) -> Self {
        let partition = Partition::new(count, 1);
        let plain = Self { leaf_rows: partition.leaf_size(), leaves: partition.leaves(), dealt: count };
        if dimension > DIRECT_DIMENSION { plain.in_about(count, count / WIDE_LEAF_ROWS) } else { plain }
    }

    /// Distributes sparse rows. Leaves are enlarged if they have few values compared with the number of columns.
    /// Otherwise, adding up the sums of a leaf would take longer than the pass over its rows.
    fn of_sparse(count: usize, values: usize, dimension: usize) -> Self {
        Self::of(count, dimension).in_about(count, values / (4 * dimension))
    }

    /// Reduces the number of leaves to about `enough`, but at least [`LEAST_LEAVES`].
    fn in_about(self, count: usize, enough: usize) -> Self {
        let wanted = enough.max(LEAST_LEAVES);
        if wanted >= self.leaves {
            return self;
        }
        let leaf_rows = count.div_ceil(wanted);
        let leaves = count.div_ceil(leaf_rows);
        let dealt = leaves * Partition::new(leaves, 1).leaf_size();
        if Partition::new(dealt, 1).leaves() == leaves { Self { leaf_rows, leaves, dealt } } else { self }
    }
}

/// The number of stored values of a row.
fn values_of(input: Input<'_>, row: u32) -> usize {
    if let Input::Sparse(rows) = input { rows.row(row as usize).0.len() } else { input.dimension() }
}

/// Sorts rows in the order of a k-d tree. The rows are halved along their widest column, at a whole number of leaves,
/// until each part is one leaf.
fn arrange(input: Input<'_>, rows: &mut [u32], leaf_rows: usize, keys: &mut Vec<(f64, u32)>) {
    if rows.len() <= leaf_rows {
        // Within a leaf, rows keep the order of the input.
        rows.sort_unstable();
        return;
    }
    let widest = widest_column(input, rows);
    let half = rows.len().div_ceil(leaf_rows).div_ceil(2) * leaf_rows;
    // The values are stored beside the row numbers, so that comparisons read memory in order. Rows with equal values
    // are sorted by row number, so that the result depends on the data alone.
    keys.clear();
    keys.extend(rows.iter().map(|&row| (input.value(row as usize, widest), row)));
    keys.select_nth_unstable_by(half, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    rows.iter_mut().zip(keys.iter()).for_each(|(row, key)| *row = key.1);
    let (left, right) = rows.split_at_mut(half);
    arrange(input, left, leaf_rows, keys);
    arrange(input, right, leaf_rows, keys);
}

/// Returns the column in which the rows have the largest range. If several columns have the same range, the first of
/// these columns is returned.
fn widest_column(input: Input<'_>, rows: &[u32]) -> usize {
    let dimension = input.dimension();
    let (mut least, mut most) = (vec![f64::INFINITY; dimension], vec![f64::NEG_INFINITY; dimension]);
    let mut position = vec![0.0; dimension];
    for &row in rows {
        let row = match input {
            Input::Numbers(points) => points.row(row as usize),
            Input::Bits(_) | Input::Sparse(_) => {
                input.read(row as usize, &mut position);
                &position
            }
        };
        for ((least, most), &value) in least.iter_mut().zip(&mut most).zip(row) {
            *least = least.min(value);
            *most = most.max(value);
        }
    }
    let mut widest = (0, -1.0);
    for (j, (least, most)) in least.iter().zip(&most).enumerate() {
        // The values are halved first, because the difference of two finite numbers may overflow.
        let width = most / 2.0 - least / 2.0;
        if width > widest.1 {
            widest = (j, width);
        }
    }
    widest.0
}

/// Puts the complete leaves of a section in bit-reversed order, so that consecutive leaves are a sample of all regions.
///
/// A rank owns consecutive leaves, and the work differs between regions. For example, few centres matter to a sparse
/// region, and a trial of the swap search affects only one region of the data. In bit-reversed order, every rank has a
/// part of each region.
fn shuffle(rows: &mut [u32], leaf_rows: usize) {
    let whole = rows.len() / leaf_rows;
    let mut order: Vec<usize> = (0..whole).collect();
    order.sort_by_key(|leaf| leaf.reverse_bits());
    let dealt: Vec<u32> = order.iter().flat_map(|&leaf| RowMajor::new(rows, leaf_rows).row(leaf)).copied().collect();
    rows[..dealt.len()].copy_from_slice(&dealt);
}
