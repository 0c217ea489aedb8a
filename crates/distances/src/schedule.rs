//! The schedule: which leaf computes which block of pairs, and in which step.
//!
//! Items are divided into the leaves of [`Partition`], whose size depends on N alone. Of two symmetric pairs of leaves,
//! one is enough. The usual triangle would give the first leaf a whole row of pairs, and the last leaf only one pair.
//! Here, the leaves form a *circle* of m leaves. Leaf I takes the leaves I, I + 1, …, I + m / 2, as many as any other
//! leaf. So ranks with the same number of leaves have the same work:
//!
//! ```text
//!        0 1 2 3 4          leaf I and the leaf k further on: step k
//!      0 a b c . .
//!      1 . a b c .          m = 5: three steps, each leaf has one tile in each
//!      2 . . a b c
//!      3 c . . a b
//!      4 b c . . a
//! ```
//!
//! If m is even, both opposite leaves would compute their pair in step k = m / 2. So only every other leaf of each half
//! computes this pair. In step 0, only pairs above the diagonal count. A step is cut into parts of at most
//! [`PART_ROWS`] rows per leaf, so that a run can report and stop often.

use std::ops::Range;

use lehr_ranks::Partition;

/// The maximum number of rows of a leaf that one step handles.
pub(crate) const PART_ROWS: usize = 32;

/// The division of the pairs of N items into tiles.
///
/// # Example
/// ```
/// use lehr_distances::Schedule;
/// let schedule = Schedule::new(96); // three leaves of 32
/// assert_eq!((schedule.leaves(), schedule.steps()), (3, 2));
/// assert_eq!(schedule.tile(0, 1), Some((0..32, 32..64)));
/// assert_eq!(schedule.tile(2, 1), Some((64..96, 0..32)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    partition: Partition,
    parts: usize,
}

impl Schedule {
    /// Creates the schedule for `items` items.
    ///
    /// # Panics
    /// Panics if `items` is 0.
    pub fn new(items: usize) -> Self {
        assert!(items > 0, "there is at least one item");
        let partition = Partition::new(items, 1);
        Self { partition, parts: partition.leaf_size().min(items).div_ceil(PART_ROWS) }
    }

    /// Returns the number of leaves into which the items are divided.
    pub fn leaves(&self) -> usize {
        self.partition.leaves()
    }

    /// Returns the items of a leaf.
    pub(crate) fn leaf_rows(&self, leaf: usize) -> Range<usize> {
        self.partition.leaf_rows(leaf)
    }

    /// Returns the number of steps; in each step, a leaf has at most one tile.
    pub fn steps(&self) -> usize {
        (self.leaves() / 2 + 1) * self.parts
    }

    /// Returns the rows and columns of a leaf's tile in a step; `None` if the leaf has no tile. If the ranges overlap,
    /// which happens only in the first steps, the pairs above the diagonal count.
    ///
    /// # Panics
    /// Panics if the leaf or the step does not exist.
    pub fn tile(&self, leaf: usize, step: usize) -> Option<(Range<usize>, Range<usize>)> {
        assert!(step < self.steps(), "step {step} of {}", self.steps());
        let (leaves, apart, part) = (self.leaves(), step / self.parts, step % self.parts);
        if apart > 0 && 2 * apart == leaves && !self.has_opposite(leaf) {
            return None;
        }
        let own = self.partition.leaf_rows(leaf);
        let rows = own.end.min(own.start + part * PART_ROWS)..own.end.min(own.start + (part + 1) * PART_ROWS);
        let columns = self.partition.leaf_rows((leaf + apart) % leaves);
        // Within a leaf, earlier parts have computed the pairs left of this part.
        let columns = if apart == 0 { rows.start..columns.end } else { columns };
        (!rows.is_empty()).then_some((rows, columns))
    }

    /// Returns the number of pairs that count in a leaf's tile of a step.
    pub fn pairs(&self, leaf: usize, step: usize) -> u64 {
        let Some((rows, columns)) = self.tile(leaf, step) else { return 0 };
        let (height, width) = (rows.len() as u64, columns.len() as u64);
        if rows.start == columns.start { height * width - height * (height + 1) / 2 } else { height * width }
    }

    /// Returns the position of pair (i, j): leaf, step, row and column within the tile.
    pub(crate) fn place(&self, i: usize, j: usize) -> (usize, usize, usize, usize) {
        let size = self.partition.leaf_size();
        let (i, j) = if self.is_at(i / size, j / size, i, j) { (i, j) } else { (j, i) };
        let (leaf, other) = (i / size, j / size);
        let apart = (other + self.leaves() - leaf) % self.leaves();
        let row = i - leaf * size;
        let part = row / PART_ROWS;
        let first_column = if apart == 0 { leaf * size + part * PART_ROWS } else { other * size };
        (leaf, apart * self.parts + part, row % PART_ROWS, j - first_column)
    }

    /// Returns whether the pair (i, j), in this order, is in a tile of i's leaf.
    fn is_at(&self, leaf: usize, other: usize, i: usize, j: usize) -> bool {
        let leaves = self.leaves();
        let apart = (other + leaves - leaf) % leaves;
        match apart {
            0 => i < j,
            _ if 2 * apart == leaves => self.has_opposite(leaf),
            _ => 2 * apart < leaves,
        }
    }

    /// Returns whether this leaf computes the tile that it shares with the opposite leaf. Even leaves of the first half
    /// compute it, and so do leaves opposite the odd leaves of the first half.
    fn has_opposite(&self, leaf: usize) -> bool {
        let half = self.leaves() / 2;
        (leaf % half).is_multiple_of(2) == (leaf < half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_one_place_and_is_found_there() {
        for items in [1, 2, 31, 32, 33, 64, 65, 97, 128, 150, 257] {
            let schedule = Schedule::new(items);
            let mut seen = vec![0; items * items];
            let mut pairs = 0;
            for leaf in 0..schedule.leaves() {
                for step in 0..schedule.steps() {
                    pairs += schedule.pairs(leaf, step);
                    let Some((rows, columns)) = schedule.tile(leaf, step) else { continue };
                    for i in rows.clone() {
                        for j in columns.clone() {
                            if rows.start == columns.start && j <= i {
                                continue;
                            }
                            seen[i.min(j) * items + i.max(j)] += 1;
                            let expected = (leaf, step, i - rows.start, j - columns.start);
                            assert_eq!(schedule.place(i, j), expected);
                            assert_eq!(schedule.place(j, i), expected);
                        }
                    }
                }
            }
            assert_eq!(pairs, (items * (items - 1) / 2) as u64);
            for i in 0..items {
                for j in 0..items {
                    assert_eq!(seen[i * items + j], u8::from(i < j), "pair ({i}, {j}) of {items}");
                }
            }
        }
    }

    #[test]
    fn large_leaves_are_handled_in_parts() {
        // 20,000 items give leaves of 64 rows, in two parts.
        let schedule = Schedule::new(20_000);
        assert_eq!((schedule.leaves(), schedule.steps()), (313, 2 * 157));
        assert_eq!(schedule.tile(1, 1), Some((96..128, 96..128)));
        assert_eq!(schedule.tile(312, 3), None, "the last leaf has 32 rows, which are its first part");
        let all: u64 = (0..313).flat_map(|leaf| (0..314).map(move |step| schedule.pairs(leaf, step))).sum();
        assert_eq!(all, 20_000 * 19_999 / 2);
    }

    #[test]
    fn ranks_have_the_same_work_to_within_a_tile_a_leaf() {
        for items in [3000, 10_000, 10_016] {
            let schedule = Schedule::new(items);
            for ranks in [2, 3, 8, 24] {
                let partition = Partition::new(items, ranks);
                let work: Vec<u64> = (0..ranks)
                    .map(|rank| {
                        let leaves = partition.leaves_of(rank);
                        leaves.flat_map(|leaf| (0..schedule.steps()).map(move |step| schedule.pairs(leaf, step))).sum()
                    })
                    .collect();
                // A leaf's work in a step is 32 rows x half of all columns. Ranks differ by at most one leaf, and by
                // the rows that the last leaf lacks.
                let leaf = 32 * items as u64 / 2;
                let (least, most) = (work.iter().min().unwrap(), work.iter().max().unwrap());
                assert!(most - least <= 2 * leaf, "{items} items on {ranks} ranks: {least} to {most}");
            }
        }
    }
}
