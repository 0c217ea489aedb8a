//! The leaf of each row, and the order of the leaves.
//!
//! Rows of weight 0 are set aside first, so that they have no influence, not even on where leaves are cut. Each leaf
//! has its share of them as *bystanders*, which only get labels at the end.
//!
//! Rows are sorted in sections of 65,536 consecutive rows, each in the order of a k-d tree. In up to 16 dimensions, the
//! cells of the tree are the leaves. So a leaf has a small bounding box, and only the centres near it matter; this
//! gives most of the speed at low temperatures. The leaves of a section are then shuffled, so that every rank has some
//! of each region. The length of a section is fixed. So a rank, or a reader of a file larger than memory, can build its
//! own leaves from only some of the rows. It gets the same leaves.

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

/// The number of cells of a summary in a leaf, in more dimensions than [`FEW`]. Small leaves are of use only if their
/// boxes keep most centres away, which they do in few dimensions.
const CELLS_OF_LEAF: usize = 128;
const FEW: usize = 4;

impl Layout {
    /// Lays out the rows of positive weight and those of weight 0, both in the input's order.
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
    /// The number of rows in a leaf; the last leaf may have fewer.
    pub leaf_rows: usize,
    pub leaves: usize,
    /// A number of rows for which [`Partition`] makes as many leaves.
    pub dealt: usize,
}

/// Leaves are never enlarged until there are fewer than this, because ranks share them.
const LEAST_LEAVES: usize = 64;
/// In many dimensions, a pass over this many rows takes longer than adding up their sums.
const WIDE_LEAF_ROWS: usize = 512;

impl Deal {
    /// Distributes rows. A leaf's sums are as long as all centres together, whatever its rows, so wide rows need larger
    /// leaves. In few dimensions the sums are short.
    fn of(count: usize, dimension: usize) -> Self {
        let partition = Partition::new(count, 1);
        let plain = Self { leaf_rows: partition.leaf_size(), leaves: partition.leaves(), dealt: count };
        if dimension > DIRECT_DIMENSION { plain.in_about(count, count / WIDE_LEAF_ROWS) } else { plain }
    }

    /// Distributes sparse rows. If a leaf has fewer values than a few times the columns, adding up its sums takes
    /// longer than its pass.
    fn of_sparse(count: usize, values: usize, dimension: usize) -> Self {
        Self::of(count, dimension).in_about(count, values / (4 * dimension))
    }

    /// Uses fewer leaves if `enough` of them suffice, but at least [`LEAST_LEAVES`].
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

/// The number of values of a row that are stored.
fn values_of(input: Input<'_>, row: u32) -> usize {
    if let Input::Sparse(rows) = input { rows.row(row as usize).0.len() } else { input.dimension() }
}

/// Sorts rows in the order of a k-d tree. It halves them along the widest column, at a whole number of leaves, until
/// one leaf is left.
fn arrange(input: Input<'_>, rows: &mut [u32], leaf_rows: usize, keys: &mut Vec<(f64, u32)>) {
    if rows.len() <= leaf_rows {
        // Within a leaf, rows keep the order of the input.
        rows.sort_unstable();
        return;
    }
    let widest = widest_column(input, rows);
    let half = rows.len().div_ceil(leaf_rows).div_ceil(2) * leaf_rows;
    // The values are stored beside the row numbers, so that comparisons read memory in order. Equal values keep the
    // order of the input, so that the result depends on the data alone.
    keys.clear();
    keys.extend(rows.iter().map(|&row| (input.value(row as usize, widest), row)));
    keys.select_nth_unstable_by(half, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    rows.iter_mut().zip(keys.iter()).for_each(|(row, key)| *row = key.1);
    let (left, right) = rows.split_at_mut(half);
    arrange(input, left, leaf_rows, keys);
    arrange(input, right, leaf_rows, keys);
}

/// The column in which the rows have the largest range; the first if several are equal.
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
        // It compares halves, because the difference of two finite numbers may overflow.
        let width = most / 2.0 - least / 2.0;
        if width > widest.1 {
            widest = (j, width);
        }
    }
    widest.0
}

/// Puts the whole leaves of a section in bit-reversed order, so that any run of leaves is a sample of all regions.
///
/// A rank owns a run of leaves. The work differs between regions. Few centres matter to a sparse region, and a trial of
/// the swap search touches only one corner of the data. In this order, every rank has its share of each region.
fn shuffle(rows: &mut [u32], leaf_rows: usize) {
    let whole = rows.len() / leaf_rows;
    let mut order: Vec<usize> = (0..whole).collect();
    order.sort_by_key(|leaf| leaf.reverse_bits());
    let dealt: Vec<u32> = order.iter().flat_map(|&leaf| RowMajor::new(rows, leaf_rows).row(leaf)).copied().collect();
    rows[..dealt.len()].copy_from_slice(&dealt);
}
