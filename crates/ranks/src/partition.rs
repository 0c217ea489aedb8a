//! The rows of each rank: rows are cut into leaves, and each rank gets a contiguous run of leaves.
//!
//! The size of a leaf depends only on the number of rows, never on ranks or threads. Leaves are the units of every
//! reduction, so that results have the same bits on any layout.

use std::ops::Range;

/// The minimum number of leaves, if there are enough rows. With so many leaves, a few ranks are balanced to within
/// about two per cent of their rows.
const LEAVES_MIN: usize = 256;
/// The minimum number of rows in a leaf: with fewer rows, the overhead would be noticeable.
const LEAF_ROWS_MIN: usize = 32;
/// The maximum number of rows in a leaf: with more rows, a leaf would not fit in a core's cache.
const LEAF_ROWS_MAX: usize = 4096;

/// The division of rows into leaves, and of leaves among ranks.
///
/// # Example
/// ```
/// use lehr_ranks::Partition;
/// let partition = Partition::new(1000, 3);
/// assert_eq!((partition.leaf_size(), partition.leaves()), (32, 32)); // 31 leaves of 32 rows and one of 8
/// assert_eq!(partition.leaf_rows(31), 992..1000);
/// assert_eq!(partition.leaves_of(1), 11..22);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Partition {
    rows: usize,
    ranks: usize,
    leaf_size: usize,
}

impl Partition {
    /// Cuts `rows` rows into leaves and distributes them to `ranks` ranks.
    ///
    /// # Panics
    /// Panics if `ranks` is 0.
    pub fn new(rows: usize, ranks: usize) -> Self {
        assert!(ranks > 0, "there is at least one rank");
        // The largest power of two that still gives `LEAVES_MIN` leaves: n.div_ceil(s) >= 256 holds if and only if s <=
        // s_max with s_max = (n - 1) / 255, rounded down.
        let size_max = rows.saturating_sub(1) / (LEAVES_MIN - 1);
        let leaf_size = if size_max == 0 { 1 } else { 1 << size_max.ilog2() };
        Self { rows, ranks, leaf_size: leaf_size.clamp(LEAF_ROWS_MIN, LEAF_ROWS_MAX) }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of ranks.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// Returns the number of rows in a leaf; the last leaf may have fewer.
    pub fn leaf_size(&self) -> usize {
        self.leaf_size
    }

    /// Returns the number of leaves; 0 if there are no rows.
    pub fn leaves(&self) -> usize {
        self.rows.div_ceil(self.leaf_size)
    }

    /// Returns the rows of a leaf.
    ///
    /// # Panics
    /// Panics if there is no leaf with this number.
    pub fn leaf_rows(&self, leaf: usize) -> Range<usize> {
        assert!(leaf < self.leaves(), "leaf {leaf} of {}", self.leaves());
        let start = leaf * self.leaf_size;
        start..self.rows.min(start + self.leaf_size)
    }

    /// Returns the leaves of a rank: contiguous, and ascending with the rank. The ranks' numbers of leaves differ by at
    /// most one.
    ///
    /// # Panics
    /// Panics if there is no rank with this number.
    pub fn leaves_of(&self, rank: usize) -> Range<usize> {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
        let (each, more) = (self.leaves() / self.ranks, self.leaves() % self.ranks);
        let start = rank * each + rank.min(more);
        start..start + each + usize::from(rank < more)
    }

    /// Returns the rows of a rank.
    ///
    /// # Panics
    /// Panics if there is no rank with this number.
    pub fn rows_of(&self, rank: usize) -> Range<usize> {
        let leaves = self.leaves_of(rank);
        self.rows.min(leaves.start * self.leaf_size)..self.rows.min(leaves.end * self.leaf_size)
    }

    /// Returns the number of rows of the rank with the most rows, divided by the mean: 1 is perfect balance. Returns 1
    /// if there are no rows.
    pub fn imbalance(&self) -> f64 {
        if self.rows == 0 {
            return 1.0;
        }
        let most = (0..self.ranks).map(|rank| self.rows_of(rank).len()).max().unwrap_or(0);
        most as f64 * self.ranks as f64 / self.rows as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaf_size_is_the_largest_power_of_two_with_256_leaves_within_its_bounds() {
        for rows in (0..70_000).chain([201_174, 1 << 20, (1 << 20) + 1, 5_000_000]) {
            let size = Partition::new(rows, 1).leaf_size();
            assert!(size.is_power_of_two() && (32..=4096).contains(&size));
            assert!(size == 32 || rows.div_ceil(size) >= 256, "{rows} rows, leaf of {size}");
            assert!(size == 4096 || rows.div_ceil(2 * size) < 256, "{rows} rows, leaf of {size}");
        }
        assert_eq!(Partition::new(201_174, 2).leaf_size(), 512);
    }

    #[test]
    fn every_row_belongs_to_one_leaf_and_one_rank() {
        for rows in [0, 1, 31, 32, 33, 1000, 12_345] {
            for ranks in [1, 2, 3, 7, 8, 500] {
                let partition = Partition::new(rows, ranks);
                let by_leaf: Vec<usize> = (0..partition.leaves()).flat_map(|leaf| partition.leaf_rows(leaf)).collect();
                let by_rank: Vec<usize> = (0..ranks).flat_map(|rank| partition.rows_of(rank)).collect();
                assert_eq!(by_leaf, (0..rows).collect::<Vec<_>>());
                assert_eq!(by_rank, by_leaf);
                let counts: Vec<usize> = (0..ranks).map(|rank| partition.leaves_of(rank).len()).collect();
                assert!(counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1);
            }
        }
    }
}
