//! What the method of distances is told: how items are compared, and which words go together.

use lehr_data::sequences::Alphabet;
use lehr_distances::alignment::Mode;
use lehr_distances::scoring::{Matrix, Scoring};
use lehr_distances::{Error, columns, rows, sequence};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What [`Distances`](crate::Distances) is told. The default aligns sequences and takes the share of different letters, compares fingerprints by Tanimoto, and measures Euclidean distances of records.
///
/// # Example
/// ```
/// use lehr_jobs::distances::{Measure, Options};
/// let options: Options = serde_json::from_str(r#"{ "measure": "manhattan", "standardise": true }"#).unwrap();
/// assert_eq!((options.measure, options.bits), (Some(Measure::Manhattan), 32));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// What is measured. Default: identity of sequences, Tanimoto of fingerprints, Euclidean of records.
    pub measure: Option<Measure>,
    /// How sequences are laid beside each other. Default: local.
    pub alignment: Option<Alignment>,
    /// What letters mean. Default: found out.
    pub alphabet: Option<Letters>,
    /// What a pair of letters is worth: ednafull, blosum62 or EQUAL/DIFFERENT such as 5/-4. Default: by the alphabet.
    pub scores: Option<String>,
    /// What opening a gap costs. Default: by the alphabet.
    pub gap_open: Option<i32>,
    /// What each letter of a gap costs. Default: by the alphabet.
    pub gap_extend: Option<i32>,
    /// The least overlap of a local alignment, as a share of the shorter sequence, 0 to 1; pairs below it have no value. Default: 0.7.
    pub overlap: Option<f64>,
    /// The columns of records. Default: all of numbers, except weights and ids.
    pub columns: Option<Vec<String>>,
    /// The column of ids. Default: the one that the data set says, or the number of the row.
    pub id: Option<String>,
    /// Whether columns of records are scaled to mean 0 and standard deviation 1. Default: no.
    pub standardise: bool,
    /// Whether equal items become one, with their number as its weight. Default: no.
    pub collapse: bool,
    /// Bits of a dissimilarity: 64, 32, or 16 (fixed point, to 8e-6 of the largest). Default: 32.
    pub bits: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            measure: None,
            alignment: None,
            alphabet: None,
            scores: None,
            gap_open: None,
            gap_extend: None,
            overlap: None,
            columns: None,
            id: None,
            standardise: false,
            collapse: false,
            bits: 32,
        }
    }
}

/// What is measured; names as `lehr distances` has them, with `_`.
///
/// # Example
/// ```
/// assert_eq!(serde_json::to_string(&lehr_jobs::distances::Measure::PDistance).unwrap(), "\"p_distance\"");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// Of an alignment: the share of its columns that are not equal letters.
    Identity,
    /// The same, columns with gaps left out.
    IdentityWithoutGaps,
    /// The share of different letters, corrected for repeated changes (Jukes and Cantor).
    JukesCantor,
    /// The same, with transitions apart (Kimura).
    Kimura,
    /// 1 less the score over the smaller of both scores with themselves.
    ScoreOverSmaller,
    /// The same over the larger.
    ScoreOverLarger,
    /// The same over the mean.
    ScoreOverMean,
    /// Of sequences that stand below each other: the number of different places.
    Hamming,
    /// The share of different places.
    PDistance,
    /// Of fingerprints: 1 less common bits over all bits.
    Tanimoto,
    /// Of records: the root of the sum of squared differences.
    Euclidean,
    /// The sum of squared differences.
    SquaredEuclidean,
    /// The sum of differences.
    Manhattan,
    /// 1 less the cosine of the angle.
    Cosine,
    /// 1 less Pearson's correlation.
    Correlation,
}

/// How sequences are laid beside each other.
///
/// # Example
/// ```
/// assert_eq!(serde_json::to_string(&lehr_jobs::distances::Alignment::SemiGlobal).unwrap(), "\"semi_global\"");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Alignment {
    /// The parts that fit best (Smith and Waterman).
    Local,
    /// From end to end (Needleman and Wunsch).
    Global,
    /// The same, gaps at the ends for free.
    SemiGlobal,
    /// They stand below each other as they are.
    Given,
}

/// What letters mean.
///
/// # Example
/// ```
/// assert_eq!(serde_json::to_string(&lehr_jobs::distances::Letters::Dna).unwrap(), "\"dna\"");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Letters {
    /// Nucleotides.
    Dna,
    /// Amino acids.
    Protein,
}

/// What a table holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Sequences,
    Fingerprints,
    Records,
}

impl What {
    fn name(self) -> &'static str {
        match self {
            Self::Sequences => "sequences",
            Self::Fingerprints => "fingerprints",
            Self::Records => "records",
        }
    }
}

impl Measure {
    fn what(self) -> What {
        match self {
            Self::Tanimoto => What::Fingerprints,
            Self::Euclidean | Self::SquaredEuclidean | Self::Manhattan | Self::Cosine | Self::Correlation => {
                What::Records
            }
            _ => What::Sequences,
        }
    }
}

impl Options {
    /// What can be said against them before there are data.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if !matches!(self.bits, 16 | 32 | 64) {
            faults.push(format!("bits: expected 16, 32 or 64, found {}", self.bits));
        }
        if self.columns.as_ref().is_some_and(Vec::is_empty) {
            faults.push("columns: expected at least one, found none".to_owned());
        }
        let needs_given = matches!(self.measure, Some(Measure::Hamming | Measure::PDistance));
        if needs_given && self.alignment.is_some_and(|alignment| alignment != Alignment::Given) {
            faults
                .push("alignment: expected given with hamming and p_distance, which compare place by place".to_owned());
        }
        if self.alignment == Some(Alignment::Given) && !self.compares_columns() {
            let measures = "hamming, p_distance, jukes_cantor or kimura";
            faults.push(format!("alignment: expected given with the measures {measures} only"));
        }
        let is_scored = self.scores.is_some() || self.gap_open.is_some() || self.gap_extend.is_some();
        if self.compares_columns() && (is_scored || self.overlap.is_some()) {
            faults.push("scores, gap_open, gap_extend, overlap: expected with alignments that are computed".to_owned());
        }
        if self.overlap.is_some() && matches!(self.alignment, Some(Alignment::Global | Alignment::SemiGlobal)) {
            faults.push("overlap: expected with local alignments only".to_owned());
        }
        if let Some(overlap) = self.overlap.filter(|overlap| !(0.0..=1.0).contains(overlap)) {
            faults.push(format!("overlap: expected 0 to 1, found {overlap}"));
        }
        if let Some(what) = self.measure.map(Measure::what) {
            faults.extend(self.suits(what).err());
        }
        faults
    }

    /// Whether they can be meant of what a table holds.
    ///
    /// # Errors
    /// What is expected, and what was found.
    pub(super) fn suits(&self, what: What) -> Result<(), String> {
        if let Some(of) = self.measure.map(Measure::what).filter(|of| *of != what) {
            return Err(format!("measure: expected one of {}, found one of {}", what.name(), of.name()));
        }
        let of_sequences = [
            (self.alignment.is_some(), "alignment"),
            (self.alphabet.is_some(), "alphabet"),
            (self.scores.is_some(), "scores"),
            (self.gap_open.is_some(), "gap_open"),
            (self.gap_extend.is_some(), "gap_extend"),
            (self.overlap.is_some(), "overlap"),
        ];
        let of_records = [(self.columns.is_some(), "columns"), (self.standardise, "standardise")];
        let wrong = |given: &[(bool, &str)], of: What| {
            let found = given.iter().find(|(is_given, _)| *is_given).filter(|_| of != what);
            found.map(|(_, option)| format!("{option}: expected with {}, found {}", of.name(), what.name()))
        };
        let wrong = wrong(&of_sequences, What::Sequences).or_else(|| wrong(&of_records, What::Records));
        wrong.map_or(Ok(()), Err)
    }

    /// Whether sequences are compared place by place, as they stand.
    pub(super) fn compares_columns(&self) -> bool {
        use Measure::*;
        match self.measure {
            Some(Hamming | PDistance) => true,
            Some(JukesCantor | Kimura) => self.alignment == Some(Alignment::Given),
            _ => false,
        }
    }

    pub(super) fn letters(&self, texts: &[String]) -> Alphabet {
        match self.alphabet {
            Some(Letters::Dna) => Alphabet::Dna,
            Some(Letters::Protein) => Alphabet::Protein,
            None => Alphabet::likely(texts.iter().map(String::as_bytes)),
        }
    }

    pub(super) fn of_columns(&self) -> columns::Measure {
        match self.measure {
            Some(Measure::PDistance) => columns::Measure::Mismatches,
            Some(Measure::JukesCantor) => columns::Measure::JukesCantor,
            Some(Measure::Kimura) => columns::Measure::Kimura,
            _ => columns::Measure::Hamming,
        }
    }

    pub(super) fn of_records(&self) -> rows::Measure {
        match self.measure {
            Some(Measure::SquaredEuclidean) => rows::Measure::SquaredEuclidean,
            Some(Measure::Manhattan) => rows::Measure::Manhattan,
            Some(Measure::Cosine) => rows::Measure::Cosine,
            Some(Measure::Correlation) => rows::Measure::Correlation,
            _ => rows::Measure::Euclidean,
        }
    }

    /// How sequences of an alphabet are aligned.
    ///
    /// # Errors
    /// [`Error::Parameter`]: scores that there are not, or costs beyond their range.
    pub(super) fn of_alignments(&self, alphabet: Alphabet) -> Result<sequence::Parameters, Error> {
        let measure = match self.measure {
            Some(Measure::IdentityWithoutGaps) => sequence::Measure::IdentityWithoutGaps,
            Some(Measure::JukesCantor) => sequence::Measure::JukesCantor,
            Some(Measure::Kimura) => sequence::Measure::Kimura,
            Some(Measure::ScoreOverSmaller) => sequence::Measure::ScoreOverSmaller,
            Some(Measure::ScoreOverLarger) => sequence::Measure::ScoreOverLarger,
            Some(Measure::ScoreOverMean) => sequence::Measure::ScoreOverMean,
            _ => sequence::Measure::Identity,
        };
        let mode = match self.alignment {
            Some(Alignment::Global) => Mode::Global,
            Some(Alignment::SemiGlobal) => Mode::SemiGlobal,
            _ => Mode::Local,
        };
        let usual = Scoring::usual(alphabet);
        let matrix = match self.scores.as_deref() {
            None => usual.matrix().clone(),
            Some(name) => scores(name, alphabet)?,
        };
        let (open, extend) = (self.gap_open.unwrap_or(usual.open()), self.gap_extend.unwrap_or(usual.extend()));
        let scoring = Some(Scoring::new(matrix, open, extend)?);
        let overlap_min = self.overlap.unwrap_or(sequence::Parameters::default().overlap_min);
        Ok(sequence::Parameters { measure, mode, scoring, overlap_min })
    }
}

fn scores(name: &str, alphabet: Alphabet) -> Result<Matrix, Error> {
    match name.to_lowercase().as_str() {
        "ednafull" => return Ok(Matrix::ednafull()),
        "blosum62" => return Ok(Matrix::blosum62()),
        _ => {}
    }
    let parts =
        name.split_once('/').and_then(|(equal, different)| Some((equal.parse().ok()?, different.parse().ok()?)));
    let (equal, different) = parts.ok_or_else(|| Error::Parameter {
        name: "scores",
        expected: "ednafull, blosum62 or EQUAL/DIFFERENT such as 5/-4".to_owned(),
        found: format!("{name:?}"),
    })?;
    Matrix::simple(alphabet, equal, different)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(json: &str) -> Vec<String> {
        serde_json::from_str::<Options>(json).unwrap().faults()
    }

    #[test]
    fn words_that_do_not_go_together_are_all_named() {
        assert_eq!(faults("{}"), Vec::<String>::new());
        assert_eq!(faults(r#"{ "measure": "kimura", "alignment": "given" }"#), Vec::<String>::new());
        let found = faults(r#"{ "measure": "hamming", "alignment": "local", "bits": 8, "overlap": 2 }"#);
        assert_eq!(found.len(), 4, "{found:?}");
        let found = faults(r#"{ "measure": "tanimoto", "standardise": true }"#);
        assert_eq!(found, ["standardise: expected with records, found fingerprints"]);
        let found = faults(r#"{ "alignment": "given" }"#);
        assert!(found[0].starts_with("alignment: expected given with the measures hamming"), "{found:?}");
        let options: Options = serde_json::from_str(r#"{ "measure": "cosine" }"#).unwrap();
        let reason = options.suits(What::Sequences).unwrap_err();
        assert_eq!(reason, "measure: expected one of sequences, found one of records");
    }

    #[test]
    fn scores_are_known_by_name_or_given() {
        let of = |scores: &str| Options { scores: Some(scores.into()), ..Options::default() };
        for known in ["EDNAFULL", "5/-4"] {
            assert!(of(known).of_alignments(Alphabet::Dna).is_ok(), "{known}");
        }
        let error = of("pam").of_alignments(Alphabet::Dna).unwrap_err().to_string();
        assert_eq!(error, "scores: expected ednafull, blosum62 or EQUAL/DIFFERENT such as 5/-4, found \"pam\"");
    }
}
