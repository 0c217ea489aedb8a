//! The leaf of each row, and the order of the leaves.
//!
//! Rows of weight 0 are set aside before anything is counted, so that they influence nothing, not even where the leaves
//! are cut. Each leaf has its share of them as *bystanders*, which are only labelled at the end.
//!
//! Within a section of 65,536 consecutive rows, the rows are put in the order of a k-d tree. Its cells are the leaves
//! (up to 16 dimensions). A leaf is then a small box and only the centres near it matter to it, which is most of the
//! speed at low temperatures. The leaves of a section are then dealt out, so that every rank has some of each region. A
//! section's length is fixed. So a rank, or a reader of a file larger than memory, can build its own leaves from a part
//! of the rows. It gets the same ones.

use lehr_numerics::tiles::DIRECT_DIMENSION;

use super::input::Input;
use super::row_major::RowMajor;
use super::store::Storage;
use crate::Error;
use crate::round::{LeafCells, Partition, on_threads};

/// Rows put in order together.
const SECTION: usize = 1 << 16;

/// The rows of each leaf.
pub(super) struct Layout {
    pub deal: Deal,
    /// Rows of positive weight, leaf after leaf.
    pub heavy: Vec<u32>,
    /// Rows of weight 0.
    light: Vec<u32>,
}

impl Layout {
    /// Lays out the rows of positive weight, and those of weight 0, each in the input's order.
    ///
    /// # Errors
    /// The errors of the threads.
    pub fn new(
        input: Input<'_>,
        mut heavy: Vec<u32>,
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
        if dimension <= DIRECT_DIMENSION && storage == Storage::Numbers {
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

    /// The rows of a leaf that count.
    pub fn rows(&self, leaf: usize) -> &[u32] {
        let leaf_rows = self.deal.leaf_rows;
        &self.heavy[leaf * leaf_rows..self.heavy.len().min((leaf + 1) * leaf_rows)]
    }

    /// The rows of weight 0 that a leaf carries.
    pub fn bystanders(&self, leaf: usize) -> &[u32] {
        let (count, leaves) = (self.light.len(), self.deal.leaves);
        &self.light[count * leaf / leaves..count * (leaf + 1) / leaves]
    }
}

/// How rows are dealt out in leaves.
pub(super) struct Deal {
    /// The last leaf may have fewer.
    pub leaf_rows: usize,
    pub leaves: usize,
    /// A number of rows of which [`Partition`] makes as many leaves.
    pub dealt: usize,
}

/// No fewer leaves than these are made of more: ranks share them.
const LEAST_LEAVES: usize = 64;
/// A pass over this many rows takes longer than adding up their sums, in many dimensions.
const WIDE_LEAF_ROWS: usize = 512;

impl Deal {
    /// A leaf's sums are as long as all centres together, whatever its rows. In few dimensions they are short.
    fn of(count: usize, dimension: usize) -> Self {
        let partition = Partition::new(count, 1);
        let plain = Self { leaf_rows: partition.leaf_size(), leaves: partition.leaves(), dealt: count };
        if dimension > DIRECT_DIMENSION { plain.in_about(count, count / WIDE_LEAF_ROWS) } else { plain }
    }

    /// The same of sparse rows: a leaf of fewer values than a few times the columns takes longer to add up than to go
    /// over.
    fn of_sparse(count: usize, values: usize, dimension: usize) -> Self {
        Self::of(count, dimension).in_about(count, values / (4 * dimension))
    }

    /// Fewer leaves if this many are enough, and [`LEAST_LEAVES`] are there.
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

/// The number of values of a row that are kept.
fn values_of(input: Input<'_>, row: u32) -> usize {
    if let Input::Sparse(rows) = input { rows.row(row as usize).0.len() } else { input.dimension() }
}

/// Puts rows in the order of a k-d tree: halves along the widest coordinate, at a whole number of leaves, until one
/// leaf is left.
fn arrange(input: Input<'_>, rows: &mut [u32], leaf_rows: usize, keys: &mut Vec<(f64, u32)>) {
    if rows.len() <= leaf_rows {
        // The order inside a leaf is the input's.
        rows.sort_unstable();
        return;
    }
    let widest = widest_column(input, rows);
    let half = rows.len().div_ceil(leaf_rows).div_ceil(2) * leaf_rows;
    // Values beside their rows: comparisons then read memory in its order. Equal values in the order of the input: the
    // arrangement is a function of the data alone.
    keys.clear();
    keys.extend(rows.iter().map(|&row| (input.value(row as usize, widest), row)));
    keys.select_nth_unstable_by(half, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    rows.iter_mut().zip(keys.iter()).for_each(|(row, key)| *row = key.1);
    let (left, right) = rows.split_at_mut(half);
    arrange(input, left, leaf_rows, keys);
    arrange(input, right, leaf_rows, keys);
}

/// The first of the columns in which some rows spread farthest.
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
        // Halves, because the difference of two finite numbers may overflow.
        let width = most / 2.0 - least / 2.0;
        if width > widest.1 {
            widest = (j, width);
        }
    }
    widest.0
}

/// Puts the whole leaves of a section in bit-reversed order, so that any run of leaves is a sample of all regions.
///
/// A rank owns a run of leaves. Work is uneven over regions: few centres matter to a sparse one, and a trial of the
/// swap search touches one corner of the data. Dealt like this, every rank has its share of each.
fn shuffle(rows: &mut [u32], leaf_rows: usize) {
    let whole = rows.len() / leaf_rows;
    let mut order: Vec<usize> = (0..whole).collect();
    order.sort_by_key(|leaf| leaf.reverse_bits());
    let dealt: Vec<u32> = order.iter().flat_map(|&leaf| RowMajor::new(rows, leaf_rows).row(leaf)).copied().collect();
    rows[..dealt.len()].copy_from_slice(&dealt);
}
