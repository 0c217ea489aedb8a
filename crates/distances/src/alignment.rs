//! Aligns all pairs of sequences: the score of the best alignment, its length, and how many of its letters agree.
//!
//! [`Aligner`] holds the sequences in the kernel's form; [`Aligner::tile`] aligns one block of sequences with another.
//! A line aligns 8, 16 or 32 pairs at a time, one in each lane, and no lane depends on another. The score itself
//! carries the counts, as `alignment/packing.rs` describes. The recurrences are in `alignment/kernel.rs`. The tests
//! compare with [`mod@reference`].

pub(crate) mod kernel;
mod packing;
pub mod reference;

use std::fmt;
use std::ops::Range;

use lehr_data::Sequences;
use lehr_data::sequences::Alphabet;

use crate::Error;
use crate::dispatch;
use crate::lanes::Number;
use crate::scoring::Scoring;
use kernel::{Group, State, Sweep, Weights};
use packing::Packing;

/// The part of two sequences that is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Mode {
    /// The parts of both sequences that score highest together (Smith and Waterman, 1981; Gotoh, 1982).
    #[default]
    Local,
    /// All of both sequences (Needleman and Wunsch, 1970).
    Global,
    /// All of both sequences, but gaps at either end cost nothing and are not counted. For sequences of different
    /// lengths.
    SemiGlobal,
}

impl fmt::Display for Mode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Mode::Local => "local",
            Mode::Global => "global",
            Mode::SemiGlobal => "semi-global",
        })
    }
}

/// The counts to compute for the best alignment, in addition to its score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Counted {
    /// No counts. Without them, lanes can be half as wide.
    Score,
    /// Matches, and all columns of the alignment, with or without a gap.
    Columns,
    /// Matches, and the columns with two letters.
    Letters,
    /// Matches, the columns with two letters, and the transitions (A-G, C-T) among them. For nucleotides.
    Transitions,
}

/// The best alignment of two sequences.
///
/// Among alignments with the same score, the best has the most matches, then the fewest columns, then the fewest
/// transitions. Counts that were not requested ([`Counted`]) are 0 and are not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Alignment {
    /// The score.
    pub score: i64,
    /// The number of columns in which both sequences have the same letter, even one that stands for several nucleotides
    /// or amino acids.
    pub matches: usize,
    /// The number of columns that [`Counted`] selects.
    pub columns: usize,
    /// The number of columns with A and G, or C and T.
    pub transitions: usize,
}

/// Sequences prepared for alignment with each other.
///
/// # Example
/// ```
/// use lehr_data::sequences::{Alphabet, Sequences};
/// use lehr_distances::alignment::{Aligner, Counted, Mode};
/// use lehr_distances::scoring::Scoring;
/// let genes = Sequences::new(&["ACGTACGTACGTACGTACGT", "ACGTACGTACCCGTACGTACGT"], Alphabet::Dna)?;
/// let aligner = Aligner::new(&genes, &Scoring::usual(Alphabet::Dna), Mode::Global, Counted::Columns)?;
/// let found = aligner.pair(0, 1);
/// assert_eq!((found.score, found.matches, found.columns), (82, 20, 22));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Aligner {
    /// Each letter as its index among the symbols that occur.
    codes: Vec<u8>,
    ends: Vec<usize>,
    symbols: usize,
    longest: usize,
    mode: Mode,
    packing: Packing,
    /// The packed value of each pair of symbols, at index `first * symbols + second`.
    table: Vec<i64>,
    open: i64,
    extend: i64,
}

impl Aligner {
    /// Prepares all sequences; gaps of aligned sequences are removed.
    ///
    /// Cost: one pass over the letters, and one byte for each letter.
    ///
    /// # Errors
    /// Returns [`Error::Unsuited`] if the scoring is for another alphabet, or if transitions are requested for
    /// proteins. Returns the same error if sequences are so long that a score with its counts does not fit into 64
    /// bits.
    pub fn new(sequences: &Sequences, scoring: &Scoring, mode: Mode, counted: Counted) -> Result<Self, Error> {
        let alphabet = sequences.alphabet();
        let unsuited =
            |expected: String, found: String| Error::Unsuited { name: sequences.name().into(), expected, found };
        if scoring.matrix().alphabet() != alphabet {
            let expected = format!("sequences for the matrix {}", scoring.matrix());
            return Err(unsuited(expected, alphabet_name(alphabet).into()));
        }
        if counted == Counted::Transitions && alphabet != Alphabet::Dna {
            return Err(unsuited("nucleotides, which have transitions".into(), alphabet_name(alphabet).into()));
        }
        let occurring: Vec<u8> =
            alphabet.letters().iter().copied().filter(|letter| sequences.letters().contains(letter)).collect();
        let mut code = [u8::MAX; 256];
        occurring.iter().enumerate().for_each(|(place, letter)| code[usize::from(*letter)] = place as u8);
        let (mut codes, mut ends, mut longest) = (Vec::with_capacity(sequences.letters().len()), Vec::new(), 0);
        for row in 0..sequences.len() {
            let start = codes.len();
            let letters = sequences.sequence(row).iter().map(|letter| code[usize::from(*letter)]);
            codes.extend(letters.filter(|code| *code != u8::MAX));
            longest = longest.max(codes.len() - start);
            ends.push(codes.len());
        }
        let packing = Packing::new(scoring, mode, counted, longest).ok_or_else(|| {
            unsuited(
                "sequences short enough for a score and its counts in 64 bits".into(),
                format!("{longest} letters"),
            )
        })?;
        let table = occurring
            .iter()
            .flat_map(|x| occurring.iter().map(move |y| (*x, *y)))
            .map(|(x, y)| {
                // Equal letters match, even ambiguous ones, so a masked sequence is equal to itself.
                let is_match = x == y;
                packing.letters(
                    scoring.matrix().score(x, y),
                    is_match,
                    alphabet == Alphabet::Dna && is_transition(x, y),
                )
            })
            .collect();
        let (open, extend) = (packing.gap(scoring.open()), packing.gap(scoring.extend()));
        Ok(Self { codes, ends, symbols: occurring.len(), longest, mode, packing, table, open, extend })
    }

    /// Returns the number of sequences.
    #[allow(clippy::len_without_is_empty)] // there is always at least one
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns the number of letters of a sequence, without gaps.
    pub fn length(&self, index: usize) -> usize {
        self.sequence(index).len()
    }

    /// Returns the width of a lane, in bits: 16, 32 or 64.
    pub fn lane_bits(&self) -> u32 {
        self.packing.width()
    }

    /// Aligns two sequences.
    ///
    /// Cost: the same as for a whole line of pairs. For many pairs, use [`Aligner::tile`].
    ///
    /// # Panics
    /// Panics if either sequence does not exist.
    pub fn pair(&self, i: usize, j: usize) -> Alignment {
        let mut found = Alignment::default();
        self.align(i..i + 1, j..j + 1, |_, _| true, |_, _, alignment| found = alignment);
        found
    }

    /// Aligns each sequence of `rows` with each of `columns`, and passes every alignment to
    /// `each(row, column, alignment)`. If both ranges begin with the same sequence, it aligns only pairs with
    /// `row < column`.
    ///
    /// # Example
    /// ```
    /// use lehr_data::sequences::{Alphabet, Sequences};
    /// use lehr_distances::alignment::{Aligner, Counted, Mode};
    /// use lehr_distances::scoring::{Matrix, Scoring};
    /// let scoring = Scoring::new(Matrix::simple(Alphabet::Dna, 1, -1)?, 2, 1)?;
    /// let genes = Sequences::new(&["ACGT", "ACG", "CGT", "T"], Alphabet::Dna)?;
    /// let aligner = Aligner::new(&genes, &scoring, Mode::Local, Counted::Score)?;
    /// let mut scores = Vec::new();
    /// aligner.tile(0..2, 0..4, |i, j, found| scores.push((i, j, found.score)));
    /// scores.sort();
    /// assert_eq!(scores, [(0, 1, 3), (0, 2, 3), (0, 3, 1), (1, 2, 2), (1, 3, 0)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: length x length cells for each pair. A cell takes eleven vector operations for 8, 16 or 32 pairs at once.
    ///
    /// # Panics
    /// Panics if a range exceeds the sequences.
    pub fn tile(&self, rows: Range<usize>, columns: Range<usize>, each: impl FnMut(usize, usize, Alignment)) {
        if rows.start == columns.start {
            self.align(rows, columns, |row, last| row < last, each);
        } else {
            self.align(rows, columns, |_, _| true, each);
        }
    }

    fn align(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        wanted: impl Fn(usize, usize) -> bool,
        each: impl FnMut(usize, usize, Alignment),
    ) {
        match self.packing.width() {
            16 => self.align_in::<i16>(rows, columns, wanted, each),
            32 => self.align_in::<i32>(rows, columns, wanted, each),
            _ => self.align_in::<i64>(rows, columns, wanted, each),
        }
    }

    /// Calls `each` with the alignments of the pairs for which `wanted(row, column)` is true. A row skips a line of
    /// columns if the line's last column is not wanted.
    fn align_in<N: Number>(
        &self,
        rows: Range<usize>,
        columns: Range<usize>,
        wanted: impl Fn(usize, usize) -> bool,
        mut each: impl FnMut(usize, usize, Alignment),
    ) {
        let free = self.mode != Mode::Global;
        let weights = Weights {
            open: N::narrow(self.open),
            extend: N::narrow(self.extend),
            border_open: N::narrow(if free { 0 } else { self.open }),
            border_extend: N::narrow(if free { 0 } else { self.extend }),
            ends_are_free: self.mode == Mode::SemiGlobal,
        };
        let mut state = State::new(self.longest);
        let mut found = Sweep::new();
        for start in columns.clone().step_by(N::LANES) {
            let lanes = start..columns.end.min(start + N::LANES);
            let group = self.group::<N>(lanes.clone());
            for row in rows.clone().filter(|row| wanted(*row, lanes.end - 1)) {
                let query = self.sequence(row);
                match self.mode {
                    Mode::Local => dispatch::sweep::<N, true>(query, &group, &weights, &mut state, &mut found),
                    _ => dispatch::sweep::<N, false>(query, &group, &weights, &mut state, &mut found),
                }
                for (column, value) in lanes.clone().zip(N::lanes(&found.best)) {
                    if wanted(row, column) {
                        each(row, column, self.packing.unpack(value.wide()));
                    }
                }
            }
        }
    }

    fn group<N: Number>(&self, lanes: Range<usize>) -> Group<N> {
        let sequences: Vec<&[u8]> = lanes.map(|column| self.sequence(column)).collect();
        let longest = sequences.iter().map(|sequence| sequence.len()).max().unwrap_or(0);
        let mut profile = vec![N::line(N::narrow(self.packing.beyond())); longest * self.symbols];
        for (lane, sequence) in sequences.iter().enumerate() {
            for (code, lines) in sequence.iter().zip(profile.chunks_exact_mut(self.symbols)) {
                let scores = &self.table[usize::from(*code) * self.symbols..][..self.symbols];
                for (score, line) in scores.iter().zip(lines) {
                    N::lanes_mut(line)[lane] = N::narrow(*score);
                }
            }
        }
        Group { profile, symbols: self.symbols, lengths: sequences.iter().map(|sequence| sequence.len()).collect() }
    }

    fn sequence(&self, index: usize) -> &[u8] {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        &self.codes[start..self.ends[index]]
    }
}

/// Returns whether two letters are the purines A and G, or the pyrimidines C and T.
pub(crate) fn is_transition(x: u8, y: u8) -> bool {
    matches!((x, y), (b'A', b'G') | (b'G', b'A') | (b'C', b'T') | (b'T', b'C'))
}

pub(crate) fn alphabet_name(alphabet: Alphabet) -> &'static str {
    match alphabet {
        Alphabet::Dna => "nucleotides",
        Alphabet::Protein => "amino acids",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dispatch::on_each;
    use lehr_numerics::random::Stream;
    use reference::align;

    /// Returns random sequences of the given lengths with a few ambiguous letters. Every third sequence is a mutated
    /// copy of the sequence before.
    fn sequences(alphabet: Alphabet, lengths: &[usize], seed: u64) -> Sequences {
        let stream = Stream::new(seed, "sequences");
        let letters = alphabet.letters();
        let certain = letters.iter().filter(|letter| alphabet.is_certain(**letter)).count();
        let mut texts: Vec<Vec<u8>> = Vec::new();
        let mut drawn = 0;
        let mut draw = |below: usize| {
            drawn += 1;
            (stream.bits(drawn) % below as u64) as usize
        };
        for (row, length) in lengths.iter().enumerate() {
            let mut text: Vec<u8> = match texts.last() {
                Some(before) if row % 3 == 1 => before.clone(),
                _ => Vec::new(),
            };
            text.resize(*length, b'A');
            for letter in &mut text {
                let keep = row % 3 == 1 && draw(4) > 0;
                if !keep {
                    *letter = if draw(40) == 0 { letters[draw(letters.len())] } else { letters[draw(certain)] };
                }
            }
            texts.push(text);
        }
        Sequences::new(&texts, alphabet).unwrap()
    }

    fn agrees(sequences: &Sequences, scoring: &Scoring, mode: Mode, counted: Counted, width: u32) {
        let aligner = Aligner::new(sequences, scoring, mode, counted).unwrap();
        assert_eq!(aligner.lane_bits(), width);
        let mut seen = 0;
        let everything = 0..sequences.len();
        aligner.tile(everything.clone(), everything, |i, j, found| {
            let expected = align(sequences.sequence(i), sequences.sequence(j), scoring, mode, counted);
            assert_eq!(found, expected, "{mode} {counted:?}, pair ({i}, {j})");
            seen += 1;
        });
        assert_eq!(seen, sequences.len() * (sequences.len() - 1) / 2, "each pair once");
    }

    #[test]
    fn every_instruction_set_mode_and_width_agrees_with_the_oracle() {
        let lengths = [1, 2, 3, 20, 41, 40, 7, 33, 60, 5, 12, 64, 31, 50, 9, 17, 28, 45, 1];
        on_each(|| {
            for mode in [Mode::Local, Mode::Global, Mode::SemiGlobal] {
                let dna = sequences(Alphabet::Dna, &lengths, 3);
                let scoring = Scoring::usual(Alphabet::Dna);
                agrees(&dna, &scoring, mode, Counted::Score, 16);
                agrees(&dna, &scoring, mode, Counted::Columns, 32);
                agrees(&dna, &scoring, mode, Counted::Letters, 32);
                let protein = sequences(Alphabet::Protein, &lengths, 4);
                agrees(&protein, &Scoring::usual(Alphabet::Protein), mode, Counted::Columns, 32);
            }
        });
    }

    /// Aligns 58 random sequences of 20 to 500 letters with 58 others.
    fn e24_random_pairs(mode: Mode, seed: u64) {
        const SIDE: usize = 58;
        let stream = Stream::new(seed, "lengths");
        let lengths: Vec<usize> = (0..2 * SIDE as u64).map(|row| 20 + (stream.bits(row) % 481) as usize).collect();
        let dna = sequences(Alphabet::Dna, &lengths, seed);
        let scoring = Scoring::usual(Alphabet::Dna);
        let oracle = |i: usize, j: usize| align(dna.sequence(i), dna.sequence(j), &scoring, mode, Counted::Columns);
        let expected: Vec<Alignment> =
            (0..SIDE).flat_map(|i| (SIDE..2 * SIDE).map(move |j| (i, j))).map(|(i, j)| oracle(i, j)).collect();
        let aligner = Aligner::new(&dna, &scoring, mode, Counted::Columns).unwrap();
        on_each(|| {
            let mut seen = 0;
            aligner.tile(0..SIDE, SIDE..2 * SIDE, |i, j, found| {
                assert_eq!(found, expected[i * SIDE + j - SIDE], "{mode}, pair ({i}, {j})");
                seen += 1;
            });
            assert_eq!(seen, SIDE * SIDE);
        });
    }

    // There are three sets of 58 x 58 = 3,364 pairs.
    #[test]
    fn e24_random_pairs_aligned_locally_are_the_oracles() {
        e24_random_pairs(Mode::Local, 24);
    }

    #[test]
    fn e24_random_pairs_aligned_globally_are_the_oracles() {
        e24_random_pairs(Mode::Global, 25);
    }

    #[test]
    fn e24_random_pairs_aligned_semi_globally_are_the_oracles() {
        e24_random_pairs(Mode::SemiGlobal, 26);
    }

    #[test]
    fn wide_lanes_agree_too() {
        // With scores of thousands for each letter, even short sequences need 32 bits or more.
        let dna = sequences(Alphabet::Dna, &[200, 180, 195, 4, 150, 199, 22, 170, 11], 5);
        let scoring = |equal: i32| {
            Scoring::new(crate::scoring::Matrix::simple(Alphabet::Dna, equal, -equal).unwrap(), 3 * equal, equal)
                .unwrap()
        };
        on_each(|| {
            for mode in [Mode::Local, Mode::Global, Mode::SemiGlobal] {
                agrees(&dna, &scoring(3000), mode, Counted::Score, 32);
                agrees(&dna, &scoring(3000), mode, Counted::Columns, 64);
                agrees(&dna, &scoring(1000), mode, Counted::Transitions, 64);
            }
        });
    }

    #[test]
    fn the_widest_value_of_a_lane_is_reached_and_does_not_overflow() {
        // The score is 5 x 6553 + 2 = 32767, the largest number of 16 bits, so one more letter takes 32 bits.
        let letters = |count: usize| Sequences::new(&["A".repeat(count), "A".repeat(count)], Alphabet::Dna).unwrap();
        let scoring = Scoring::usual(Alphabet::Dna);
        for (count, width) in [(6553, 16), (6554, 32)] {
            let aligner = Aligner::new(&letters(count), &scoring, Mode::Local, Counted::Score).unwrap();
            assert_eq!((aligner.lane_bits(), aligner.pair(0, 1).score), (width, 5 * count as i64));
        }
    }

    #[test]
    fn an_alignment_does_not_depend_on_which_sequence_comes_first() {
        let dna = sequences(Alphabet::Dna, &[30, 33, 29, 41, 8, 30], 7);
        for mode in [Mode::Local, Mode::Global, Mode::SemiGlobal] {
            for counted in [Counted::Columns, Counted::Letters, Counted::Transitions] {
                let aligner = Aligner::new(&dna, &Scoring::usual(Alphabet::Dna), mode, counted).unwrap();
                for (i, j) in [(0, 1), (2, 4), (3, 5), (1, 3)] {
                    assert_eq!(aligner.pair(i, j), aligner.pair(j, i));
                }
            }
        }
    }
}
