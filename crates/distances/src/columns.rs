//! Dissimilarities of sequences that are already aligned: they are compared position by position.
//!
//! Each sequence becomes a few bit planes with one bit for each position. A few operations on words then compare 64
//! positions (`bits.rs`).

use std::ops::Range;

use lehr_data::Sequences;
use lehr_data::sequences::{Alphabet, GAP};
use serde_json::{Map, Value, json};

use crate::Error;
use crate::bits::{Across, Counts, LANES, NUCLEOTIDE_PLANES, ROWS, Substitutions, Words, in_turn};
use crate::correction::{jukes_cantor, kimura};
use crate::dispatch;
use crate::metric::Metric;

/// The measure of how two aligned sequences differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// The share of all positions whose symbols differ; a gap is a symbol like any other.
    Hamming,
    /// The share of positions with different letters among the positions where both sequences have a letter
    /// (p-distance). For nucleotides.
    Mismatches,
    /// [`Measure::Mismatches`] with the correction of Jukes and Cantor.
    JukesCantor,
    /// The distance from transitions and transversions, with the correction of Kimura. A pair of letters that is
    /// neither equal nor a transition counts as a transversion.
    Kimura,
}

impl Measure {
    /// Returns the name in headers and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hamming => "hamming",
            Self::Mismatches => "p-distance",
            Self::JukesCantor => "jukes-cantor",
            Self::Kimura => "kimura",
        }
    }
}

/// How a position counts if a letter means several nucleotides (`N`, `R`, …).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Ambiguous {
    /// The pair leaves the position out, as it leaves out positions where either sequence has a gap (pairwise
    /// deletion). APE's `dist.dna` and MEGA do the same.
    #[default]
    Skip,
    /// The position counts as a difference, unless both have the same letter.
    Differ,
}

/// Aligned sequences with a measure, as a [`Metric`].
///
/// Equal sequences are at distance 0. [`Ambiguous`] decides how a position counts if a letter means several
/// nucleotides. [`Measure::Hamming`] treats such letters as symbols like any other. Two sequences without a position in
/// common have no p-distance.
///
/// # Example
/// ```
/// use lehr_data::sequences::{Alphabet, Sequences};
/// use lehr_distances::{Metric, columns::{Compared, Measure}};
/// let genes = Sequences::new(&["ACGT-ACG", "ACAT-TC-", "ACGTAACG"], Alphabet::Dna)?;
/// let value = |measure, i: usize, j: usize| {
///     let mut value = [0.0];
///     Compared::new(&genes, measure).unwrap().tile(i..i + 1, j..j + 1, &mut value);
///     value[0]
/// };
/// assert_eq!(value(Measure::Hamming, 0, 1), 3.0 / 8.0);
/// assert_eq!(value(Measure::Mismatches, 0, 1), 2.0 / 6.0);
/// assert_eq!(value(Measure::Mismatches, 0, 2), 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Compared {
    /// The bits of each row, row after row: `planes * words` words each.
    bits: Vec<u64>,
    across: Across,
    planes: usize,
    words: usize,
    places: usize,
    rows: usize,
    measure: Measure,
    /// For each row, the ambiguous letters and their positions; empty unless ambiguous letters count
    /// ([`Ambiguous::Differ`]).
    ambiguous: Vec<Vec<(u32, u8)>>,
    fingerprint: u64,
}

impl Compared {
    /// Turns sequences into bit planes and skips ambiguous letters. Cost: one pass over the letters; up to 10 bits for
    /// each letter.
    ///
    /// # Errors
    /// Returns the same errors as [`with_ambiguous`](Self::with_ambiguous).
    pub fn new(sequences: &Sequences, measure: Measure) -> Result<Self, Error> {
        Self::with_ambiguous(sequences, measure, Ambiguous::default())
    }

    /// Like [`new`](Self::new), with a choice of how ambiguous letters count. [`Measure::Hamming`] ignores this choice.
    ///
    /// # Errors
    /// Returns [`Error::Unsuited`] if the sequences differ in length, or if they are proteins and the measure is for
    /// nucleotides.
    ///
    /// # Example
    /// ```
    /// use lehr_data::sequences::{Alphabet, Sequences};
    /// use lehr_distances::{Metric, columns::{Ambiguous, Compared, Measure}};
    /// let genes = Sequences::new(&["ACGN", "ACTN", "ACGA"], Alphabet::Dna)?;
    /// let value = |ambiguous, i: usize, j: usize| {
    ///     let mut value = [0.0];
    ///     let metric = Compared::with_ambiguous(&genes, Measure::Mismatches, ambiguous).unwrap();
    ///     metric.tile(i..i + 1, j..j + 1, &mut value);
    ///     value[0]
    /// };
    /// assert_eq!([Ambiguous::Skip, Ambiguous::Differ].map(|ambiguous| value(ambiguous, 0, 1)), [1.0 / 3.0, 0.25]);
    /// assert_eq!([Ambiguous::Skip, Ambiguous::Differ].map(|ambiguous| value(ambiguous, 0, 2)), [0.0, 0.25]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_ambiguous(sequences: &Sequences, measure: Measure, ambiguous: Ambiguous) -> Result<Self, Error> {
        crate::nucleotides_only(sequences, measure != Measure::Hamming, measure.name())?;
        let places = sequences.sequence(0).len();
        if let Some(row) = (0..sequences.len()).find(|row| sequences.sequence(*row).len() != places) {
            return Err(Error::Unsuited {
                name: sequences.name().into(),
                expected: format!("aligned sequences, all of {places} letters and gaps"),
                found: format!("{} in {:?}", sequences.sequence(row).len(), sequences.ids()[row]),
            });
        }
        let words = places.div_ceil(64);
        let (planes, symbols) = match measure {
            Measure::Hamming => hamming_symbols(sequences),
            _ => (NUCLEOTIDE_PLANES, nucleotide_symbols(ambiguous)),
        };
        let mut bits = vec![0u64; sequences.len() * planes * words];
        for (row, bits) in bits.chunks_exact_mut(planes * words).enumerate() {
            for (place, letter) in sequences.sequence(row).iter().enumerate() {
                let symbol = symbols[usize::from(*letter)];
                for plane in 0..planes {
                    bits[plane * words + place / 64] |= u64::from(symbol >> plane & 1) << (place % 64);
                }
            }
        }
        let (rows, fingerprint) = (sequences.len(), sequences.fingerprint());
        let is_ambiguous = |letter: u8| letter != GAP && !Alphabet::Dna.is_certain(letter);
        let found = |row: usize| {
            let letters = sequences.sequence(row).iter().enumerate();
            letters
                .filter(|(_, letter)| is_ambiguous(**letter))
                .map(|(place, letter)| (place as u32, *letter))
                .collect()
        };
        let counts_them = measure != Measure::Hamming && ambiguous == Ambiguous::Differ;
        let ambiguous = if counts_them { (0..rows).map(found).collect() } else { Vec::new() };
        let across = Across::new(bits.chunks_exact(planes * words), planes * words);
        Ok(Self { bits, across, planes, words, places, rows, measure, ambiguous, fingerprint })
    }

    /// Counts the positions at which two rows have the same ambiguous letter.
    fn equal_ambiguous(&self, row: usize, other: usize) -> f64 {
        let (Some(mine), Some(theirs)) = (self.ambiguous.get(row), self.ambiguous.get(other)) else { return 0.0 };
        let mut theirs = theirs.iter().peekable();
        let is_there = |letter: &&(u32, u8)| {
            while theirs.next_if(|other| other.0 < letter.0).is_some() {}
            theirs.peek() == Some(letter)
        };
        mine.iter().filter(is_there).count() as f64
    }

    fn row(&self, index: usize) -> &[u64] {
        let width = self.planes * self.words;
        &self.bits[index * width..][..width]
    }
}

impl Metric for Compared {
    fn items(&self) -> usize {
        self.rows
    }

    fn name(&self) -> &'static str {
        self.measure.name()
    }

    fn parameters(&self) -> Map<String, Value> {
        let mut parameters = Map::new();
        parameters.insert("alignment".into(), json!("as given"));
        parameters.insert("places".into(), json!(self.places));
        if !self.ambiguous.is_empty() {
            parameters.insert("ambiguous".into(), json!("differ"));
        }
        parameters
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn tile(&self, rows: Range<usize>, columns: Range<usize>, values: &mut [f64]) {
        assert_eq!(values.len(), rows.len() * columns.len(), "a value for each pair of the tile");
        let count = columns.len();
        if count == 0 {
            return;
        }
        let others = self.across.rows(columns.clone(), |column| self.row(column));
        let groups = count.div_ceil(LANES);
        if self.measure == Measure::Hamming {
            let mut counts = vec![Counts::default(); groups];
            for (rows, values) in in_turn(rows).zip(values.chunks_mut(ROWS * count)) {
                dispatch::differing(rows.map(|row| self.row(row)), &others, self.planes, &mut counts);
                for (place, values) in values.chunks_exact_mut(count).enumerate() {
                    dispatch::shares(self.places as f64, &counts, place, values);
                }
            }
            return;
        }
        let mut counts = vec![Substitutions::default(); groups];
        for (number, values) in rows.zip(values.chunks_exact_mut(count)) {
            dispatch::substitutions(self.row(number), &others, &mut counts);
            for (j, value) in values.iter_mut().enumerate() {
                let of = |counts: &Words| counts[j % LANES] as f64;
                let counts = &counts[j / LANES];
                let (compared, transitions) = (of(&counts.compared), of(&counts.transitions));
                let equal = of(&counts.equal) + self.equal_ambiguous(number, columns.start + j);
                let differing = compared - equal;
                *value = match self.measure {
                    _ if compared == 0.0 => f64::NAN,
                    Measure::JukesCantor => jukes_cantor(differing / compared),
                    Measure::Kimura => kimura(transitions / compared, (differing - transitions) / compared),
                    Measure::Hamming | Measure::Mismatches => differing / compared,
                };
            }
        }
    }
}

/// Returns the minimum number of planes that distinguish the symbols that occur, and the symbol of each letter.
fn hamming_symbols(sequences: &Sequences) -> (usize, [u8; 256]) {
    let mut symbols = [0; 256];
    let letters = sequences.alphabet().letters().iter().chain([&GAP]);
    let occurring: Vec<u8> = letters.copied().filter(|letter| sequences.letters().contains(letter)).collect();
    occurring.iter().enumerate().for_each(|(place, letter)| symbols[usize::from(*letter)] = place as u8);
    let planes = (usize::BITS - (occurring.len() - 1).leading_zeros()).max(1) as usize;
    (planes, symbols)
}

/// Returns the bits of each letter: present, certain, and two bits for the nucleotide (A 0, G 1, C 2, T 3). A
/// transition changes only the lower of these two bits.
fn nucleotide_symbols(ambiguous: Ambiguous) -> [u8; 256] {
    let mut symbols = [0; 256];
    let others = u8::from(ambiguous == Ambiguous::Differ);
    Alphabet::Dna.letters().iter().for_each(|letter| symbols[usize::from(*letter)] = others);
    for (place, letter) in b"AGCT".iter().enumerate() {
        symbols[usize::from(*letter)] = 0b0011 | (place as u8) << 2;
    }
    symbols
}
