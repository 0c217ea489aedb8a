//! Packs a score and its counts into one whole number, so that the best alignment carries its counts along.
//!
//! The percentage of identical letters needs two counts of the best alignment: its equal letters and its length. There
//! are two usual ways. A traceback stores every decision and walks back, which needs memory and branches. The other way
//! carries the counts beside the score and selects them with every maximum, which triples the work. Here, the counts
//! are *part of* the score:
//!
//! ```text
//! v = score · A + matches · B - columns · D - transitions        A > B > D, each above the largest sum of the later terms
//! ```
//!
//! All four add up along an alignment, and so does v. The recurrences for scores therefore find the alignment of the
//! largest v. The largest v has the highest score, then the most matches, then the fewest columns. Thousands of
//! alignments may have the best score. This order selects *one* of them, which does not depend on the order of
//! computation or of the sequences. Counts cost no instruction, but they cost bits: lanes are 16, 32 or 64 bits wide,
//! depending on the longest sequence.

use crate::alignment::{Alignment, Counted, Mode};
use crate::scoring::Scoring;

/// The bit position of each part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packing {
    /// The number of bits below the transitions, below the columns and below the matches. The transitions are lowest,
    /// and the score is highest.
    transitions: u32,
    columns: u32,
    matches: u32,
    counts_gaps: bool,
    /// The width of a lane: 16, 32 or 64 bits.
    width: u32,
}

impl Packing {
    /// Returns a packing for sequences of at most `longest` letters; `None` if 64 bits are too few.
    pub(super) fn new(scoring: &Scoring, mode: Mode, counted: Counted, longest: usize) -> Option<Self> {
        let bits = |most: usize| usize::BITS - most.leading_zeros();
        let (matches, columns, transitions) = match counted {
            Counted::Score => (0, 0, 0),
            Counted::Columns => (bits(longest), bits(2 * longest), 0),
            Counted::Letters => (bits(longest), bits(longest), 0),
            Counted::Transitions => (bits(longest), bits(longest), bits(longest)),
        };
        let (columns, matches) = (transitions + columns, transitions + columns + matches);
        // These are the largest and the smallest score that a value can have. The smallest has all letters of both
        // sequences in gaps, one more gap (kernel.rs), and one mismatch.
        let longest = longest as i128;
        let (open, extend) = (i128::from(scoring.open()), i128::from(scoring.extend()));
        let most = i128::from(scoring.matrix().largest().max(0)) * longest;
        let least = match mode {
            Mode::Local => open + extend,
            Mode::Global | Mode::SemiGlobal => 3 * open + extend * (2 * longest + 1),
        };
        let least = least + i128::from(scoring.matrix().smallest().unsigned_abs());
        // Add two: the counts reach at most one score further, and the second is a margin.
        let bound = (most.max(least) + 2) << matches;
        let width = [16, 32, 64].into_iter().find(|width| bound < 1 << (width - 1))?;
        Some(Self { transitions, columns, matches, counts_gaps: counted == Counted::Columns, width })
    }

    /// Returns the width of a lane, in bits.
    pub(super) fn width(&self) -> u32 {
        self.width
    }

    /// Returns the packed value that two aligned letters add.
    pub(super) fn letters(&self, score: i32, is_match: bool, is_transition: bool) -> i64 {
        let mut value = i64::from(score) << self.matches;
        if self.matches > self.columns && is_match {
            value += 1 << self.columns;
        }
        if self.columns > self.transitions {
            value -= 1 << self.transitions;
        }
        if self.transitions > 0 && is_transition {
            value -= 1;
        }
        value
    }

    /// Returns the packed value that a letter in a gap subtracts.
    pub(super) fn gap(&self, cost: i32) -> i64 {
        (i64::from(cost) << self.matches) + (i64::from(self.counts_gaps) << self.transitions)
    }

    /// Returns the packed score of a position beyond a sequence's end: below 0, so that no local alignment includes it.
    pub(super) fn beyond(&self) -> i64 {
        -1 << self.matches
    }

    /// Unpacks a value.
    pub(super) fn unpack(&self, value: i64) -> Alignment {
        let part = |bits: u32| (1i64 << bits) - 1;
        let below = value.wrapping_neg() & part(self.columns);
        let above = (value + below) >> self.columns;
        Alignment {
            score: above >> (self.matches - self.columns),
            matches: (above & part(self.matches - self.columns)) as usize,
            columns: (below >> self.transitions) as usize,
            transitions: (below & part(self.transitions)) as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lehr_data::sequences::Alphabet;

    #[test]
    fn what_is_packed_comes_out() {
        let scoring = Scoring::usual(Alphabet::Dna);
        let packing = Packing::new(&scoring, Mode::Global, Counted::Transitions, 300).unwrap();
        for (score, matches, columns, transitions) in
            [(0, 0, 0, 0), (1500, 300, 300, 0), (-2400, 0, 300, 300), (-1, 7, 9, 2)]
        {
            let value = (score << packing.matches) + (matches << packing.columns)
                - (columns << packing.transitions)
                - transitions;
            let found = packing.unpack(value);
            let expected = (score, matches as usize, columns as usize, transitions as usize);
            assert_eq!((found.score, found.matches, found.columns, found.transitions), expected);
        }
    }

    #[test]
    fn lanes_are_as_wide_as_needed() {
        let width = |counted, longest| {
            Packing::new(&Scoring::usual(Alphabet::Dna), Mode::Local, counted, longest).map(|packing| packing.width())
        };
        assert_eq!((width(Counted::Score, 300), width(Counted::Score, 7000)), (Some(16), Some(32)));
        assert_eq!((width(Counted::Columns, 319), width(Counted::Columns, 700)), (Some(32), Some(64)));
        assert_eq!(width(Counted::Transitions, 319), Some(64));
        assert_eq!(width(Counted::Transitions, 1 << 20), None);
    }
}
