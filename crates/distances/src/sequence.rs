//! Dissimilarities of sequences that are not aligned yet. Each pair is aligned, and its alignment gives the
//! dissimilarity.

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use lehr_data::Sequences;
use serde_json::{Map, Value, json};

use crate::Error;
use crate::alignment::{Aligner, Alignment, Counted, Mode, reference};
use crate::correction::{jukes_cantor, kimura};
use crate::metric::Metric;
use crate::scoring::Scoring;

/// How an alignment becomes a dissimilarity. Equal sequences are at distance 0, even if no alignment of them has a
/// positive score, such as two sequences of `N`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Measure {
    /// `1 - matches / columns`, including columns with gaps, as in the papers (`docs/papers.md`). Equal letters match,
    /// even ambiguous or unknown ones (`N`, `X`, `*`). EMBOSS, parasail and BLAST count identities in the same way.
    #[default]
    Identity,
    /// `1 - matches / columns with two letters`, which ignores insertions and deletions.
    IdentityWithoutGaps,
    /// The share of mismatches among columns with two letters, with the correction of Jukes and Cantor. For
    /// nucleotides.
    JukesCantor,
    /// The distance from transitions and transversions, with the correction of Kimura. For nucleotides. A pair of
    /// letters that is neither a match nor a transition counts as a transversion.
    Kimura,
    /// `1 - S(a, b) / min(S(a, a), S(b, b))`, but at least 0. The pair has no dissimilarity unless the divisor is above
    /// 0.
    ScoreOverSmaller,
    /// `1 - S(a, b) / max(S(a, a), S(b, b))`.
    ScoreOverLarger,
    /// `1 - S(a, b) / sqrt(S(a, a) S(b, b))`.
    ScoreOverMean,
}

impl Measure {
    /// All measures of this type.
    pub const ALL: [Self; 7] = [
        Self::Identity,
        Self::IdentityWithoutGaps,
        Self::JukesCantor,
        Self::Kimura,
        Self::ScoreOverSmaller,
        Self::ScoreOverLarger,
        Self::ScoreOverMean,
    ];

    /// Returns the name in headers and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::IdentityWithoutGaps => "identity-without-gaps",
            Self::JukesCantor => "jukes-cantor",
            Self::Kimura => "kimura",
            Self::ScoreOverSmaller => "score-over-smaller",
            Self::ScoreOverLarger => "score-over-larger",
            Self::ScoreOverMean => "score-over-mean",
        }
    }

    fn counted(self) -> Counted {
        match self {
            Self::Identity => Counted::Columns,
            Self::IdentityWithoutGaps | Self::JukesCantor => Counted::Letters,
            Self::Kimura => Counted::Transitions,
            Self::ScoreOverSmaller | Self::ScoreOverLarger | Self::ScoreOverMean => Counted::Score,
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|measure| measure.name() == text).ok_or_else(|| format!("no such measure: {text:?}"))
    }
}

/// The parameters of a comparison. The defaults are the same as in the papers (`docs/papers.md`): the share of
/// identical letters in the best local alignment.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameters {
    /// How an alignment becomes a dissimilarity. Default: [`Measure::Identity`].
    pub measure: Measure,
    /// The part of the sequences that is aligned. Default: [`Mode::Local`].
    pub mode: Mode,
    /// The scoring of alignments; `None` for [`Scoring::usual`].
    pub scoring: Option<Scoring>,
    /// For local alignments: the minimum number of columns, as a fraction (0 to 1) of the length of the shorter
    /// sequence. Pairs with fewer columns have no dissimilarity, because a short perfect match would make unrelated
    /// sequences equal. Except for [`Measure::Identity`], only columns with two letters count. Measures from scores
    /// ignore this minimum. Default: 0.7.
    pub overlap_min: f64,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { measure: Measure::Identity, mode: Mode::Local, scoring: None, overlap_min: 0.7 }
    }
}

/// Sequences with a measure, as a [`Metric`].
///
/// # Example
/// ```
/// use lehr_data::sequences::{Alphabet, Sequences};
/// use lehr_distances::{Metric, sequence::{Aligned, Parameters}};
/// let genes = Sequences::new(&["ACGTACGTAC", "ACGTACCTAC", "ACGT"], Alphabet::Dna)?;
/// let metric = Aligned::new(&genes, &Parameters::default())?;
/// let mut values = [0.0; 9];
/// metric.tile(0..3, 0..3, &mut values);
/// assert_eq!(values[1], 1.0 - 9.0 / 10.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Aligned {
    aligner: Aligner,
    measure: Measure,
    mode: Mode,
    scoring: Scoring,
    overlap_min: f64,
    /// The score of each sequence with itself; empty unless the measure divides by it.
    own_scores: Vec<i64>,
    /// The first sequence with the same letters as this one, for each sequence.
    first_equal: Vec<usize>,
    fingerprint: u64,
}

impl Aligned {
    /// Prepares all sequences.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if the overlap is not within 0 to 1. Returns [`Error::Unsuited`] as
    /// [`Aligner::new`] does, and if a measure for nucleotides gets proteins.
    pub fn new(sequences: &Sequences, parameters: &Parameters) -> Result<Self, Error> {
        let Parameters { measure, mode, ref scoring, overlap_min } = *parameters;
        if !(0.0..=1.0).contains(&overlap_min) {
            let expected = "a share of 0 to 1".to_owned();
            return Err(Error::Parameter { name: "overlap", expected, found: overlap_min.to_string() });
        }
        crate::nucleotides_only(sequences, matches!(measure, Measure::JukesCantor | Measure::Kimura), measure.name())?;
        let scoring = scoring.clone().unwrap_or_else(|| Scoring::usual(sequences.alphabet()));
        let aligner = Aligner::new(sequences, &scoring, mode, measure.counted())?;
        let own_scores = match measure.counted() {
            Counted::Score => {
                (0..sequences.len()).map(|row| own_score(sequences.sequence(row), &scoring, mode)).collect()
            }
            _ => Vec::new(),
        };
        let mut first = HashMap::new();
        let first_equal =
            (0..sequences.len()).map(|row| *first.entry(letters(sequences.sequence(row))).or_insert(row)).collect();
        let fingerprint = sequences.fingerprint();
        Ok(Self { aligner, measure, mode, scoring, overlap_min, own_scores, first_equal, fingerprint })
    }

    /// Returns the sequences, prepared for alignment.
    pub fn aligner(&self) -> &Aligner {
        &self.aligner
    }

    fn value(&self, i: usize, j: usize, alignment: Alignment) -> f64 {
        if self.first_equal[i] == self.first_equal[j] {
            return 0.0;
        }
        let Alignment { score, matches, columns, transitions } = alignment;
        let (columns, matches) = (columns as f64, matches as f64);
        let share = |count: f64| count / columns;
        if self.measure.counted() != Counted::Score {
            let shorter = self.aligner.length(i).min(self.aligner.length(j)) as f64;
            if columns == 0.0 || self.mode == Mode::Local && columns < self.overlap_min * shorter {
                return f64::NAN;
            }
        }
        let normalised = |own: f64| if own > 0.0 { (1.0 - score as f64 / own).max(0.0) } else { f64::NAN };
        let own = |index: usize| self.own_scores[index] as f64;
        match self.measure {
            Measure::Identity | Measure::IdentityWithoutGaps => 1.0 - share(matches),
            Measure::JukesCantor => jukes_cantor(share(columns - matches)),
            Measure::Kimura => {
                let transitions = transitions as f64;
                kimura(share(transitions), share(columns - matches - transitions))
            }
            Measure::ScoreOverSmaller => normalised(own(i).min(own(j))),
            Measure::ScoreOverLarger => normalised(own(i).max(own(j))),
            Measure::ScoreOverMean => normalised((own(i) * own(j)).max(0.0).sqrt()),
        }
    }
}

impl Metric for Aligned {
    fn items(&self) -> usize {
        self.aligner.len()
    }

    fn name(&self) -> &'static str {
        self.measure.name()
    }

    fn parameters(&self) -> Map<String, Value> {
        let mut parameters = Map::new();
        parameters.insert("alignment".into(), json!(self.mode.to_string()));
        parameters.insert("matrix".into(), json!(self.scoring.matrix().to_string()));
        parameters.insert("gap_open".into(), json!(self.scoring.open()));
        parameters.insert("gap_extend".into(), json!(self.scoring.extend()));
        if self.mode == Mode::Local && self.measure.counted() != Counted::Score {
            parameters.insert("overlap_min".into(), json!(self.overlap_min));
        }
        parameters
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn tile(&self, rows: Range<usize>, columns: Range<usize>, values: &mut [f64]) {
        assert_eq!(values.len(), rows.len() * columns.len(), "a value for each pair of the tile");
        let (first_row, first_column, width) = (rows.start, columns.start, columns.len());
        self.aligner.tile(rows, columns, |i, j, alignment| {
            values[(i - first_row) * width + j - first_column] = self.value(i, j, alignment);
        });
    }
}

/// Returns the letters of a sequence, without gaps.
fn letters(sequence: &[u8]) -> Vec<u8> {
    sequence.iter().copied().filter(|letter| *letter != lehr_data::sequences::GAP).collect()
}

/// Returns the score of a sequence with itself.
fn own_score(sequence: &[u8], scoring: &Scoring, mode: Mode) -> i64 {
    let matrix = scoring.matrix();
    let letters = letters(sequence);
    // If no letter scores more against another letter than against itself, and no own score is negative, no alignment
    // is better.
    let is_best = |letter: &u8| {
        let own = matrix.score(*letter, *letter);
        own >= 0 && matrix.alphabet().letters().iter().all(|other| matrix.score(*letter, *other) <= own)
    };
    if letters.iter().all(is_best) {
        return letters.iter().map(|letter| i64::from(matrix.score(*letter, *letter))).sum();
    }
    reference::align(&letters, &letters, scoring, mode, Counted::Score).score
}
