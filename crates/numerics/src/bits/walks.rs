//! Walks over the set bits of rows, one block of columns after another.
//!
//! The lines of a thousand columns do not fit into the first-level cache, and each row needs one line in six. So
//! columns are walked in blocks that fit into this cache, for one line of centres at a time. All rows go through a
//! block before the next block begins. If a row has few set bits, blocks are wider, because a short walk would not pay
//! off.

use std::ops::Range;

use super::rows::{BitRows, SLACK, places_of};
use crate::forms::Forms;
use crate::lanes::{Lanes, Real};

/// The number of words in a block, unless there are few bits: 384 columns, whose 64-byte lines fill three quarters of a
/// 32-KiB first-level cache.
const WORDS: usize = 6;
/// The minimum average number of a row's set bits in a block. If a block would have fewer, blocks are wider. Blocks
/// have equal widths, so each block has at least half of this number.
const BITS: usize = 32;
/// The number of rows that are walked together, and so share each load of a block's lines.
pub(super) const ROWS: usize = 128;
/// The number of sums to which lines are added alternately, because additions to a single sum would wait for each
/// other.
const SUMS: usize = 4;

/// The positions of the set bits of some rows. The memory is reused, so that loops allocate nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Walks {
    columns: usize,
    /// The number of columns in a block.
    width: usize,
    rows: usize,
    /// For each block, the positions of each row's bits within it. The positions of a row are padded to a multiple of
    /// [`SUMS`], with the padding column.
    places: Vec<u32>,
    /// The end of each row's positions in each block.
    ends: Vec<usize>,
}

impl Walks {
    /// Prepares for some rows. All these rows together determine the blocks of columns, so results do not depend on
    /// which rows are walked together.
    pub fn begin(&mut self, rows: &BitRows) {
        let words = rows.bits.div_ceil(64);
        let enough = (BITS * words * rows.rows()).div_ceil(rows.set.max(1));
        let blocks = words.div_ceil(enough.max(WORDS));
        self.columns = rows.bits;
        self.width = 64 * words.div_ceil(blocks);
    }

    fn blocks(&self) -> usize {
        self.columns.div_ceil(self.width)
    }

    /// Returns the first column of a block.
    fn first(&self, block: usize) -> usize {
        block * self.width
    }

    /// Finds the set bits of some of the rows.
    #[inline(always)]
    pub fn find(&mut self, rows: &BitRows, which: Range<usize>) {
        let (blocks, words) = (self.blocks(), self.width / 64);
        self.rows = which.len();
        // This is room for all rows, with padding for each block. Buffers never shrink.
        let room = rows.set + SUMS * blocks * which.len() + SLACK;
        if self.places.len() < room {
            self.places.resize(room, 0);
        }
        self.ends.clear();
        let mut at = 0;
        for block in 0..blocks {
            let none = (self.columns - self.first(block)) as u32;
            for index in which.clone() {
                let row = rows.row(index);
                let words = &row[block * words..row.len().min((block + 1) * words)];
                at += places_of(words, &mut self.places[at..]);
                self.places[at..at + SUMS - 1].fill(none);
                at = at.next_multiple_of(SUMS);
                self.ends.push(at);
            }
        }
    }

    /// Returns the positions of the rows' bits within a block, row after row.
    #[inline(always)]
    fn of_block(&self, block: usize) -> impl Iterator<Item = &[[u32; SUMS]]> {
        let before = block * self.rows;
        let mut start = if before == 0 { 0 } else { self.ends[before - 1] };
        self.ends[before..][..self.rows].iter().map(move |&end| {
            let (places, _) = self.places[start..end].as_chunks();
            start = end;
            places
        })
    }

    /// Calls `each` with the column of every set bit of row `index`, in ascending order.
    #[inline(always)]
    pub fn for_each_column(&self, index: usize, mut each: impl FnMut(usize)) {
        for block in 0..self.blocks() {
            let at = block * self.rows + index;
            let start = if at == 0 { 0 } else { self.ends[at - 1] };
            let first = self.first(block);
            for &place in &self.places[start..self.ends[at]] {
                if first + (place as usize) < self.columns {
                    each(first + place as usize);
                }
            }
        }
    }

    /// Writes `constant + terms of the set bits` of all centres to `out`: one line of centres for all rows, then the
    /// next line.
    #[inline(always)]
    pub fn add_up<T: Real, V: Lanes<Number = T>>(&self, forms: &Forms<T>, out: &mut [T::Line]) {
        for (line, out) in out.chunks_exact_mut(self.rows).enumerate() {
            out.fill(forms.constants[line]);
            let terms = &forms.terms[(self.columns + 1) * line..][..self.columns + 1];
            for block in 0..self.blocks() {
                let terms = &terms[self.first(block)..];
                for (places, out) in self.of_block(block).zip(out.iter_mut()) {
                    let mut sums = [V::splat(T::default()); SUMS];
                    for places in places {
                        for (sum, &place) in sums.iter_mut().zip(places) {
                            *sum = sum.add(V::load(&terms[place as usize]));
                        }
                    }
                    let [a, b, c, d] = sums;
                    V::load(out).add(a.add(b).add(c.add(d))).store(out);
                }
            }
        }
    }

    /// Returns the value of one form for row `index`: `constant` plus the `terms` of its set bits. `terms` has a term
    /// for each column and one for the padding column. The result has the same bits as a result of [`Walks::add_up`].
    #[inline(always)]
    pub fn add_up_one<T: Real>(&self, index: usize, constant: T, terms: &[T]) -> T {
        let mut value = constant;
        for block in 0..self.blocks() {
            let at = block * self.rows + index;
            let start = if at == 0 { 0 } else { self.ends[at - 1] };
            let (places, _) = self.places[start..self.ends[at]].as_chunks::<SUMS>();
            let terms = &terms[self.first(block)..];
            let mut sums = [T::default(); SUMS];
            for places in places {
                for (sum, &place) in sums.iter_mut().zip(places) {
                    *sum = *sum + terms[place as usize];
                }
            }
            let [a, b, c, d] = sums;
            value = value + ((a + b) + (c + d));
        }
        value
    }

    /// Adds the memberships of each row to the lines of its set bits. `members` has one line of centres for all rows,
    /// then the next line. `columns` are laid out like [`Forms::terms`].
    #[inline(always)]
    pub fn add_to_columns<T: Real, V: Lanes<Number = T>>(&self, members: &[T::Line], columns: &mut [T::Line]) {
        let columns = columns.chunks_exact_mut(self.columns + 1);
        for (members, columns) in members.chunks_exact(self.rows).zip(columns) {
            for block in 0..self.blocks() {
                let columns = &mut columns[self.first(block)..];
                for (places, member) in self.of_block(block).zip(members) {
                    let member = V::load(member);
                    for &place in places.as_flattened() {
                        let column = &mut columns[place as usize];
                        V::load(column).add(member).store(column);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// Returns random rows of `columns` bits, a share `part` of which is set.
    fn rows(count: usize, columns: usize, part: f64) -> BitRows {
        let stream = Stream::new(columns as u64, "walks");
        let width = columns.div_ceil(64);
        let mut words = vec![0u64; count * width];
        for place in 0..count * columns {
            let (row, column) = (place / columns, place % columns);
            words[row * width + column / 64] |= u64::from(stream.uniform(place as u64) < part) << (column % 64);
        }
        BitRows::new(count, columns, |i| &words[i * width..][..width], |_| 1.0)
    }

    #[test]
    fn every_set_bit_is_met_once_whichever_rows_are_walked_together() {
        for columns in [1, 64, 383, 384, 385, 1047, 3000] {
            for part in [0.0, 0.01, 0.2, 1.0] {
                let rows = rows(9, columns, part);
                let mut walks = Walks::default();
                walks.begin(&rows);
                for which in [0..9, 4..5, 7..9] {
                    walks.find(&rows, which.clone());
                    for index in which.clone() {
                        let mut met = Vec::new();
                        walks.for_each_column(index - which.start, |column| met.push(column));
                        let mut expected = Vec::new();
                        super::super::for_each_set_bit(rows.row(index), |column| expected.push(column));
                        assert_eq!(met, expected, "{columns} columns, {part} set, row {index} of {which:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn blocks_fit_the_cache_but_where_bits_are_few() {
        let width = |columns, part| {
            let mut walks = Walks::default();
            walks.begin(&rows(20, columns, part));
            walks.width
        };
        assert_eq!(width(1047, 0.2), 384);
        // Folded fingerprints give two blocks, with about 19 set bits each.
        assert_eq!(width(1024, 0.037), 512);
        assert_eq!(width(1047, 0.0), 1088);
        assert_eq!(width(100, 0.5), 128);
        // If one in a hundred of 30,000 bits is set, 32 set bits are in about 3,200 columns.
        assert!((2500..4000).contains(&width(30_000, 0.01)), "{}", width(30_000, 0.01));
    }
}
