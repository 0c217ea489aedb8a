//! Walks over the set bits of some rows, block of columns by block of columns.
//!
//! The lines of a thousand columns do not fit the first-level cache, and each row needs one in six of them. So columns
//! are walked in blocks that fit it, for one line of centres at a time. All rows go through a block before the next
//! begins. If bits are so few that a walk would be over before it has begun, blocks are wider.

use std::ops::Range;

use super::rows::{BitRows, SLACK, places_of};
use crate::forms::Forms;
use crate::lanes::{Lanes, Real};

/// Words of a block, unless bits are few: 384 columns, whose lines of 64 bytes are three quarters of a first-level
/// cache of 32 KiB.
const WORDS: usize = 6;
/// Set bits that a row is to have in a block, on average, before columns are divided. They are divided evenly, so that
/// it has half as many at least.
const BITS: usize = 32;
/// Rows that are walked together: this many share one fetch of a block's lines.
pub(super) const ROWS: usize = 128;
/// Places are added up in this many sums at once, because one addition would have to wait for the one before.
const SUMS: usize = 4;

/// The positions of the set bits of some rows. Reused, so that loops allocate nothing.
#[derive(Clone, Debug, Default)]
pub(super) struct Walks {
    columns: usize,
    /// Columns of a block.
    width: usize,
    rows: usize,
    /// For each block the places of each row within it. After a row's last position come positions of the padding
    /// column, up to a whole number of [`SUMS`].
    places: Vec<u32>,
    /// The end of each row's positions, in the order of [`Walks::places`].
    ends: Vec<usize>,
}

impl Walks {
    /// Gets ready for rows of a leaf. The leaf decides how columns are divided, so results do not depend on the rows
    /// that are walked together.
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

    /// The first column of a block.
    fn first(&self, block: usize) -> usize {
        block * self.width
    }

    /// Looks where bits of some of the rows are set.
    #[inline(always)]
    pub fn find(&mut self, rows: &BitRows, which: Range<usize>) {
        let (blocks, words) = (self.blocks(), self.width / 64);
        self.rows = which.len();
        // For all rows of the leaf, each with a padding a block. Buffers never shrink.
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

    /// The places of the rows within a block, row after row.
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

    /// Calls `each` with the column of every set bit of the `index`-th of the rows, in rising order.
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

    /// Writes `constant + terms of the set bits` of all centres to `out`, a line of centres of all rows after another.
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

    /// The value of one form for the `index`-th row: `constant` and the `terms` of its set bits. `terms` has one for
    /// each column and one for the padding column. The bits are those of [`Walks::add_up`].
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

    /// Adds the memberships of each row to the lines of its set bits; `members` has a line of centres of all rows after
    /// another. `columns` are laid out like [`Forms::terms`].
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

    /// Rows of `columns` bits, a part of which is set.
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
        // Folded fingerprints: two blocks of some 19 set bits.
        assert_eq!(width(1024, 0.037), 512);
        assert_eq!(width(1047, 0.0), 1088);
        assert_eq!(width(100, 0.5), 128);
        // One in a hundred of 30,000: some 3,200 columns for 32 bits.
        assert!((2500..4000).contains(&width(30_000, 0.01)), "{}", width(30_000, 0.01));
    }
}
