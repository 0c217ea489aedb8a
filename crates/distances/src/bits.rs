//! Counts bits, for a few rows against a block of other rows: the loops for fingerprints and aligned sequences.
//!
//! The other rows are stored *across*, in groups of [`LANES`]: word w of the eight rows, then their word w + 1. So a
//! group is contiguous in memory, and eight of its words fill a wide register. The loops are inlined into one copy for
//! each instruction set ([`crate::dispatch`]). Counts stay in registers: each word of the other rows is read once and
//! compared with several rows. The loops that turn counts into numbers are here too. Compiled for the most basic
//! processor, they would take longer than the counting.

use std::borrow::Cow;
use std::ops::Range;

/// The number of other rows that are counted at a time: the words of a 512-bit register.
pub(crate) const LANES: usize = 8;

/// The number of rows that are counted at a time.
pub(crate) const ROWS: usize = 4;

/// One word of each of eight other rows.
pub(crate) type Words = [u64; LANES];

/// A count for each row with each of eight other rows.
pub(crate) type Counts = [Words; ROWS];

/// Counts the bits that each row has in common with each of the other rows. `counts[g][r][j]` belongs to row r and the
/// other row 8 g + j.
#[inline(always)]
pub(crate) fn common(rows: [&[u64]; ROWS], others: &[Words], counts: &mut [Counts]) {
    let width = rows[0].len();
    let rows = rows.map(|row| &row[..width]);
    for (group, counts) in others.chunks_exact(width).zip(counts) {
        let mut sums = [[0; LANES]; ROWS];
        for (word, theirs) in group.iter().enumerate() {
            for (sums, row) in sums.iter_mut().zip(&rows) {
                let mine = row[word];
                for (sum, theirs) in sums.iter_mut().zip(theirs) {
                    *sum += u64::from((mine & theirs).count_ones());
                }
            }
        }
        *counts = sums;
    }
}

/// Counts the places in which the symbols of each row and each of the other rows differ. `counts` is laid out as in
/// [`common`]. A symbol has `planes` bits. Plane p has bit p of all places, and a row is its planes one after another.
#[inline(always)]
pub(crate) fn differing(rows: [&[u64]; ROWS], others: &[Words], planes: usize, counts: &mut [Counts]) {
    match planes {
        1 => differing_in::<1>(rows, others, counts),
        2 => differing_in::<2>(rows, others, counts),
        3 => differing_in::<3>(rows, others, counts),
        4 => differing_in::<4>(rows, others, counts),
        _ => differing_in::<5>(rows, others, counts),
    }
}

#[inline(always)]
fn differing_in<const PLANES: usize>(rows: [&[u64]; ROWS], others: &[Words], counts: &mut [Counts]) {
    let words = rows[0].len() / PLANES;
    let rows = rows.map(|row| &row[..PLANES * words]);
    for (group, counts) in others.chunks_exact(PLANES * words).zip(counts) {
        let mut sums = [[0; LANES]; ROWS];
        for word in 0..words {
            for (sums, row) in sums.iter_mut().zip(&rows) {
                let mut differ = [0; LANES];
                for plane in 0..PLANES {
                    let (mine, theirs) = (row[plane * words + word], &group[plane * words + word]);
                    for (differ, theirs) in differ.iter_mut().zip(theirs) {
                        *differ |= mine ^ theirs;
                    }
                }
                for (sum, differ) in sums.iter_mut().zip(differ) {
                    *sum += u64::from(differ.count_ones());
                }
            }
        }
        *counts = sums;
    }
}

/// The number of bit planes of a nucleotide. One plane shows whether there is a letter, and one whether it is certain.
/// Two show the nucleotide (A 0, G 1, C 2, T 3).
pub(crate) const NUCLEOTIDE_PLANES: usize = 4;

/// The counts of a row with eight other rows: places with two letters, with the same certain nucleotide, and with a
/// transition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Substitutions {
    pub compared: Words,
    pub equal: Words,
    pub transitions: Words,
}

/// Counts for one row: `counts[g]` belongs to the other rows from number 8 g on.
#[inline(always)]
pub(crate) fn substitutions(row: &[u64], others: &[Words], counts: &mut [Substitutions]) {
    let words = row.len() / NUCLEOTIDE_PLANES;
    let row = &row[..NUCLEOTIDE_PLANES * words];
    for (group, counts) in others.chunks_exact(NUCLEOTIDE_PLANES * words).zip(counts) {
        let mut sums = Substitutions::default();
        for word in 0..words {
            let mine = |plane: usize| row[plane * words + word];
            let theirs = |plane: usize| &group[plane * words + word];
            let (present, certain, low, high) = (mine(0), mine(1), mine(2), mine(3));
            let (presents, certains, lows, highs) = (theirs(0), theirs(1), theirs(2), theirs(3));
            for j in 0..LANES {
                let same_kind = certain & certains[j] & !(high ^ highs[j]);
                let differ = low ^ lows[j];
                sums.compared[j] += u64::from((present & presents[j]).count_ones());
                sums.equal[j] += u64::from((same_kind & !differ).count_ones());
                sums.transitions[j] += u64::from((same_kind & differ).count_ones());
            }
        }
        *counts = sums;
    }
}

/// Computes the Jaccard distances `1 - c / (a + b - c)` of a row with `own` set bits from rows with `theirs` set bits.
/// Two rows without set bits are at distance 0.
#[inline(always)]
pub(crate) fn jaccard(own: u32, theirs: &[u32], counts: &[Counts], row: usize, values: &mut [f64]) {
    let number = |common: u64, count: u32| {
        let common = narrow(common);
        let either = own + count - common;
        let value = 1.0 - f64::from(common) / f64::from(either.max(1));
        if either == 0 { 0.0 } else { value }
    };
    // Work in chunks of eight, so that the compiler knows the number of iterations.
    let (theirs, their_rest) = theirs.as_chunks::<LANES>();
    let (values, rest) = values.as_chunks_mut::<LANES>();
    for ((values, theirs), counts) in values.iter_mut().zip(theirs).zip(counts) {
        for ((value, count), common) in values.iter_mut().zip(theirs).zip(&counts[row]) {
            *value = number(*common, *count);
        }
    }
    for ((value, count), common) in rest.iter_mut().zip(their_rest).zip(last(counts, row)) {
        *value = number(*common, *count);
    }
}

/// Divides the counts of row `row` by `whole`.
#[inline(always)]
pub(crate) fn shares(whole: f64, counts: &[Counts], row: usize, values: &mut [f64]) {
    let (values, rest) = values.as_chunks_mut::<LANES>();
    for (values, counts) in values.iter_mut().zip(counts) {
        for (value, count) in values.iter_mut().zip(&counts[row]) {
            *value = f64::from(narrow(*count)) / whole;
        }
    }
    for (value, count) in rest.iter_mut().zip(last(counts, row)) {
        *value = f64::from(narrow(*count)) / whole;
    }
}

/// Converts a count to 32 bits, because registers convert only half a word to a floating-point number. A row has fewer
/// than 2^32 bits.
#[inline(always)]
fn narrow(count: u64) -> u32 {
    count as u32
}

/// Returns the counts of a row with the last group, which may be smaller than eight.
#[inline(always)]
fn last(counts: &[Counts], row: usize) -> &[u64] {
    counts.last().map_or(&[], |counts| &counts[row])
}

/// Splits rows into groups of [`ROWS`]; the last group repeats its last row.
pub(crate) fn in_turn(rows: Range<usize>) -> impl Iterator<Item = [usize; ROWS]> {
    rows.clone().step_by(ROWS).map(move |first| std::array::from_fn(|place| (first + place).min(rows.end - 1)))
}

/// All rows of a set, stored across; they take as much memory as the rows themselves.
#[derive(Debug)]
pub(crate) struct Across {
    words: Vec<Words>,
    width: usize,
}

impl Across {
    /// Stores rows of `width` words across.
    pub(crate) fn new<'a>(rows: impl ExactSizeIterator<Item = &'a [u64]>, width: usize) -> Self {
        Self { words: across(rows, width), width }
    }

    /// Returns some of the rows, stored across. If they begin with a whole group, they are borrowed, and the last group
    /// may have further rows. Otherwise, the rows `row(index)` are stored across again.
    pub(crate) fn rows<'a>(&'a self, rows: Range<usize>, row: impl Fn(usize) -> &'a [u64]) -> Cow<'a, [Words]> {
        if rows.start.is_multiple_of(LANES) {
            return Cow::Borrowed(&self.words[rows.start / LANES * self.width..rows.end.div_ceil(LANES) * self.width]);
        }
        Cow::Owned(across(rows.map(row), self.width))
    }
}

/// Stores rows of `width` words across, with rows of zeros to fill the last group.
fn across<'a>(rows: impl ExactSizeIterator<Item = &'a [u64]>, width: usize) -> Vec<Words> {
    let mut words = vec![[0; LANES]; rows.len().div_ceil(LANES) * width];
    for (j, row) in rows.enumerate() {
        for (w, word) in row.iter().enumerate() {
            words[j / LANES * width + w][j % LANES] = *word;
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{Across, LANES, ROWS, Substitutions, across};
    use crate::dispatch::{self, on_each};
    use lehr_numerics::random::Stream;

    fn words(count: usize, seed: u64) -> Vec<u64> {
        let stream = Stream::new(seed, "words");
        (0..count as u64).map(|at| stream.bits(2 * at) & stream.bits(2 * at + 1)).collect()
    }

    fn bit(words: &[u64], place: usize) -> bool {
        words[place / 64] >> (place % 64) & 1 == 1
    }

    /// Returns the rows that are counted together.
    fn first_rows(rows: &[u64], width: usize) -> [&[u64]; ROWS] {
        std::array::from_fn(|row| &rows[row * width..][..width])
    }

    #[test]
    fn counts_are_those_of_a_loop_over_bits_on_every_instruction_set() {
        on_each(|| {
            for (width, count) in [(1, 1), (2, 7), (3, 8), (17, 33), (5, 67), (4, 130)] {
                let (rows, all) = (words(ROWS * width, 1), words(width * count, 2));
                let others = across(all.chunks_exact(width), width);
                let mut counts = vec![[[9; LANES]; ROWS]; count.div_ceil(LANES)];
                let rows = first_rows(&rows, width);
                dispatch::common(rows, &others, &mut counts);
                for (r, row) in rows.iter().enumerate() {
                    for (j, other) in all.chunks_exact(width).enumerate() {
                        let expected = (0..64 * width).filter(|place| bit(row, *place) && bit(other, *place)).count();
                        assert_eq!(counts[j / LANES][r][j % LANES], expected as u64);
                    }
                }
            }
        });
    }

    #[test]
    fn symbols_differ_if_any_plane_does() {
        on_each(|| {
            for planes in 1..=5 {
                for (places, count) in [(1, 1), (2, 9), (3, 66)] {
                    let width = planes * places;
                    let (rows, all) = (words(ROWS * width, 3), words(width * count, 4));
                    let others = across(all.chunks_exact(width), width);
                    let mut counts = vec![[[9; LANES]; ROWS]; count.div_ceil(LANES)];
                    let rows = first_rows(&rows, width);
                    dispatch::differing(rows, &others, planes, &mut counts);
                    let symbol = |words: &[u64], place: usize| -> Vec<bool> {
                        (0..planes).map(|plane| bit(&words[plane * places..], place)).collect()
                    };
                    for (r, row) in rows.iter().enumerate() {
                        for (j, other) in all.chunks_exact(width).enumerate() {
                            let expected =
                                (0..64 * places).filter(|place| symbol(row, *place) != symbol(other, *place));
                            assert_eq!(counts[j / LANES][r][j % LANES], expected.count() as u64);
                        }
                    }
                }
            }
        });
    }

    #[test]
    fn substitutions_are_those_of_a_loop_over_places() {
        on_each(|| {
            for (places, count) in [(1, 3), (2, 8), (3, 21)] {
                let width = super::NUCLEOTIDE_PLANES * places;
                let (row, all) = (words(width, 5), words(width * count, 6));
                let others = across(all.chunks_exact(width), width);
                let mut counts = vec![Substitutions::default(); count.div_ceil(LANES)];
                dispatch::substitutions(&row, &others, &mut counts);
                let plane = |words: &[u64], plane: usize, place: usize| bit(&words[plane * places..], place);
                for (j, other) in all.chunks_exact(width).enumerate() {
                    let both = |p: usize, place: usize| plane(&row, p, place) && plane(other, p, place);
                    let alike = |p: usize, place: usize| plane(&row, p, place) == plane(other, p, place);
                    let number = |is_so: &dyn Fn(usize) -> bool| (0..64 * places).filter(|place| is_so(*place)).count();
                    let found = &counts[j / LANES];
                    let expected = [
                        number(&|place| both(0, place)),
                        number(&|place| both(1, place) && alike(3, place) && alike(2, place)),
                        number(&|place| both(1, place) && alike(3, place) && !alike(2, place)),
                    ];
                    let found = [found.compared, found.equal, found.transitions].map(|all| all[j % LANES] as usize);
                    assert_eq!(found, expected);
                }
            }
        });
    }

    #[test]
    fn rows_from_anywhere_on_are_laid_across_alike() {
        let (width, count) = (3, 21);
        let all = words(width * count, 7);
        let laid = Across::new(all.chunks_exact(width), width);
        for rows in [0..21, 8..21, 16..17, 3..20, 13..13, 8..8] {
            let found = laid.rows(rows.clone(), |row| &all[row * width..][..width]);
            assert_eq!(found.len(), rows.len().div_ceil(LANES) * width);
            for (j, row) in rows.enumerate() {
                for word in 0..width {
                    assert_eq!(found[j / LANES * width + word][j % LANES], all[row * width + word]);
                }
            }
        }
    }

    #[test]
    fn shares_of_counts_are_divided_once_on_every_instruction_set() {
        on_each(|| {
            let counts = [[[0, 1, 2, 3, 4, 5, 6, 7]; ROWS], [[3; LANES]; ROWS]];
            let mut values = [f64::NAN; 11];
            dispatch::shares(7.0, &counts, 1, &mut values);
            assert_eq!(values[..8], [0, 1, 2, 3, 4, 5, 6, 7].map(|count| f64::from(count) / 7.0));
            assert_eq!(values[8..], [3.0 / 7.0; 3]);
            dispatch::jaccard(0, &[0], &counts[..1], 2, &mut values[..1]);
            assert_eq!(values[0], 0.0);
            dispatch::jaccard(9, &[9; 11], &counts, 2, &mut values);
            let expected = |common: u32| 1.0 - f64::from(common) / f64::from(18 - common);
            assert_eq!(values[..8], [0, 1, 2, 3, 4, 5, 6, 7].map(expected));
            assert_eq!(values[8..], [expected(3); 3]);
        });
    }
}
