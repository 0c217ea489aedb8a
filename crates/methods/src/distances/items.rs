//! Items, and the metric that options select for them.

use lehr_data::duplicates::Duplicates;
use lehr_data::scale::scales_differ_incomplete;
use lehr_data::sequences::Alphabet;
use lehr_data::{FingerprintKind, Fingerprints, Incomplete, Sequences};
use lehr_distances::scoring::{Matrix, Scoring};
use lehr_distances::sequence::{self, Aligned};
use lehr_distances::tanimoto::Tanimoto;
use lehr_distances::{Error, columns, rows};
use serde_json::{Map, Value};

use super::{Letters, Metric, Options};

/// The key for the columns by which rows were compared, among the parameters of dissimilarities.
pub const COLUMN_NAMES: &str = "column_names";
/// The key that says whether the columns were standardised first.
pub const STANDARDISED: &str = "standardised";
/// The key for the column of ids, if the user gave one.
pub const ID_COLUMN: &str = "id_column";
/// The key for the alphabet of sequences.
pub const ALPHABET: &str = "alphabet";
/// The key for the kind of fingerprints that were made of molecules.
pub const FINGERPRINT: &str = "fingerprint";

/// A kind of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// Nucleotide or protein sequences.
    Sequences,
    /// Rows of bits.
    Fingerprints,
    /// Rows of numbers.
    Rows,
}

impl ItemKind {
    /// Returns the name in messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sequences => "sequences",
            Self::Fingerprints => "fingerprints",
            Self::Rows => "rows",
        }
    }
}

/// The items to compare.
///
/// # Example
/// ```
/// use lehr_data::sequences::{Alphabet, Sequences};
/// use lehr_distances::Error;
/// use lehr_methods::distances::{Items, Options};
/// let genes = Items::Sequences(Sequences::new(&["ACGTACGTAC", "ACGTACCTAC"], Alphabet::Dna)?);
/// let mut value = [0.0];
/// genes.compared(&Options::default(), |metric| Ok::<_, Error>(metric.tile(0..1, 1..2, &mut value))).unwrap();
/// assert_eq!(value, [1.0 - 9.0 / 10.0]);
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub enum Items {
    /// Nucleotide or protein sequences.
    Sequences(Sequences),
    /// Fingerprints of compounds.
    Fingerprints(Fingerprints),
    /// Rows of a table, which are scaled if the options say so.
    Records(Incomplete),
}

#[allow(clippy::len_without_is_empty, reason = "there is always at least one item")]
impl Items {
    /// Returns the kind of the items.
    pub fn kind(&self) -> ItemKind {
        match self {
            Items::Sequences(_) => ItemKind::Sequences,
            Items::Fingerprints(_) => ItemKind::Fingerprints,
            Items::Records(_) => ItemKind::Rows,
        }
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        match self {
            Items::Sequences(sequences) => sequences.len(),
            Items::Fingerprints(prints) => prints.len(),
            Items::Records(records) => records.len(),
        }
    }

    /// Returns an identifier for each item: from the data, or the number of the item.
    pub fn ids(&self) -> Vec<String> {
        match self {
            Items::Sequences(sequences) => sequences.ids().to_vec(),
            Items::Fingerprints(prints) => prints.ids().to_vec(),
            Items::Records(records) => {
                let numbered = || (0..records.len()).map(|row| row.to_string()).collect();
                records.ids().map_or_else(numbered, <[String]>::to_vec)
            }
        }
    }

    /// Returns the structures of the items in SMILES, if the items are molecules.
    pub fn smiles(&self) -> Option<&[String]> {
        if let Items::Fingerprints(prints) = self { prints.smiles() } else { None }
    }

    /// Returns a checksum of the items as they are compared, without their names and identifiers.
    pub fn fingerprint(&self) -> u64 {
        match self {
            Items::Sequences(sequences) => sequences.fingerprint(),
            Items::Fingerprints(prints) => prints.fingerprint(),
            Items::Records(records) => records.fingerprint(),
        }
    }

    /// Returns the distinct items, and for each item the distinct item that it equals.
    pub fn distinct(&self) -> (Self, Duplicates) {
        match self {
            Items::Sequences(sequences) => {
                let (distinct, duplicates) = sequences.distinct();
                (Items::Sequences(distinct), duplicates)
            }
            Items::Fingerprints(prints) => {
                let (distinct, duplicates) = prints.distinct();
                (Items::Fingerprints(distinct), duplicates)
            }
            Items::Records(records) => {
                let (distinct, duplicates) = records.distinct();
                (Items::Records(distinct), duplicates)
            }
        }
    }

    /// Returns some of the items, in the given order.
    ///
    /// # Panics
    /// Panics if there is no such item, or if `rows` is empty.
    pub fn select(&self, rows: &[usize]) -> Self {
        match self {
            Items::Sequences(sequences) => Items::Sequences(sequences.select(rows)),
            Items::Fingerprints(prints) => Items::Fingerprints(prints.select(rows)),
            Items::Records(records) => Items::Records(records.select(rows)),
        }
    }

    /// Returns whether two of the items are equal.
    pub fn are_equal(&self, a: usize, b: usize) -> bool {
        match self {
            Items::Sequences(sequences) => sequences.sequence(a) == sequences.sequence(b),
            Items::Fingerprints(prints) => prints.row(a) == prints.row(b),
            Items::Records(records) => {
                let mut pairs = records.row(a).iter().zip(records.row(b));
                pairs.all(|(x, y)| x == y || x.is_nan() && y.is_nan())
            }
        }
    }

    /// Returns the items in the form in which they are compared: rows are scaled if the options say so.
    pub fn scaled(self, options: &Options) -> Self {
        match self {
            Items::Records(records) if options.standardize => Items::Records(records.standardised()),
            items => items,
        }
    }

    /// Returns a warning if the spreads of columns differ so much that one column decides all distances, see
    /// [`scales_differ_incomplete`]. Gower's dissimilarity scales each column itself.
    pub fn scale_warning(&self, options: &Options) -> Option<String> {
        match self {
            Items::Records(records) if options.metric != Some(Metric::Gower) => scales_differ_incomplete(records),
            _ => None,
        }
    }

    /// Returns some of these items, unchanged, followed by other items, to compare all with each other. If the options
    /// scale rows, all rows are scaled by the means and deviations of all items of `self`.
    ///
    /// # Errors
    /// Returns the kind that the other items should have, if they are of another kind.
    pub fn joined(&self, rows: &[usize], others: &Self, options: &Options) -> Result<Self, String> {
        match (self, others) {
            (Items::Sequences(own), Items::Sequences(others)) => {
                if options.compares_places() && own.longest() != others.longest() {
                    return Err(format!("expected sequences of {} places, found {}", own.longest(), others.longest()));
                }
                let own = rows.iter().map(|row| own.sequence(*row));
                let texts: Vec<&[u8]> = own.chain((0..others.len()).map(|row| others.sequence(row))).collect();
                let alphabet = others.alphabet();
                Ok(Items::Sequences(Sequences::new(&texts, alphabet).expect("sequences that were read are sequences")))
            }
            (Items::Fingerprints(own), Items::Fingerprints(others)) => {
                if own.bits() != others.bits() {
                    return Err(format!("expected fingerprints of {} bits, found {}", own.bits(), others.bits()));
                }
                let own = rows.iter().flat_map(|row| own.row(*row));
                let words = own.chain((0..others.len()).flat_map(|row| others.row(row))).copied().collect();
                Ok(Items::Fingerprints(
                    Fingerprints::new(words, others.bits()).expect("fingerprints that were read are fingerprints"),
                ))
            }
            (Items::Records(own), Items::Records(others)) => {
                if own.columns() != others.columns() {
                    let (expected, found) = (own.columns().join(", "), others.columns().join(", "));
                    return Err(format!("expected the columns {expected}, found {found}"));
                }
                let scaled = |records: &Incomplete| {
                    if options.standardize { records.standardised_as(own) } else { records.clone() }
                };
                let (first, second) = (scaled(own), scaled(others));
                let values = rows.iter().flat_map(|row| first.row(*row)).chain(second.values()).copied().collect();
                Ok(Items::Records(
                    Incomplete::named(values, own.columns().to_vec(), own.name())
                        .map_err(|cause| format!("expected rows with values: {cause}"))?,
                ))
            }
            _ => Err("expected items of the same kind".to_owned()),
        }
    }

    /// Returns the facts about the comparison, in addition to the name of the metric. They are the metric's parameters
    /// the alphabet of sequences, and the kind of fingerprints of molecules. For rows, they are the columns and whether they were scaled.
    /// [`Options::completed`] takes options from these facts.
    pub fn parameters(&self, options: &Options, metric: &dyn lehr_distances::Metric) -> Map<String, Value> {
        let mut parameters = metric.parameters();
        if let Items::Records(records) = self {
            parameters.insert(COLUMN_NAMES.into(), records.columns().into());
            parameters.insert(STANDARDISED.into(), options.standardize.into());
            if let Some(id) = &options.id {
                parameters.insert(ID_COLUMN.into(), id.as_str().into());
            }
        }
        if let Items::Sequences(sequences) = self {
            let alphabet = Letters::from(sequences.alphabet());
            parameters.insert(ALPHABET.into(), alphabet.word().into());
        }
        if let Items::Fingerprints(prints) = self
            && prints.smiles().is_some()
        {
            parameters.insert(FINGERPRINT.into(), FingerprintKind::of_bits(prints.bits()).word().into());
        }
        parameters
    }

    /// Calls `go_on` with the metric that the options select for these items.
    ///
    /// # Errors
    /// Returns an error for unknown scores, for costs out of range and for items that do not suit the metric. Also
    /// returns the errors of `go_on`.
    pub fn compared<R, E: From<Error>>(
        &self,
        options: &Options,
        go_on: impl FnOnce(&dyn lehr_distances::Metric) -> Result<R, E>,
    ) -> Result<R, E> {
        match self {
            Items::Sequences(sequences) if options.compares_places() => {
                let ambiguous = options.ambiguous.unwrap_or_default().into();
                go_on(&columns::Compared::with_ambiguous(sequences, of_places(options.metric), ambiguous)?)
            }
            Items::Sequences(sequences) => {
                go_on(&Aligned::new(sequences, &of_alignments(options, sequences.alphabet())?)?)
            }
            Items::Fingerprints(prints) => go_on(&Tanimoto::new(prints)),
            Items::Records(records) => go_on(&rows::Compared::new(records, of_rows(options.metric))?),
        }
    }
}

fn of_places(metric: Option<Metric>) -> columns::Measure {
    match metric {
        Some(Metric::PDistance) => columns::Measure::Mismatches,
        Some(Metric::JukesCantor) => columns::Measure::JukesCantor,
        Some(Metric::Kimura) => columns::Measure::Kimura,
        _ => columns::Measure::Hamming,
    }
}

fn of_rows(metric: Option<Metric>) -> rows::Measure {
    match metric {
        Some(Metric::SquaredEuclidean) => rows::Measure::SquaredEuclidean,
        Some(Metric::Manhattan) => rows::Measure::Manhattan,
        Some(Metric::Cosine) => rows::Measure::Cosine,
        Some(Metric::Correlation) => rows::Measure::Correlation,
        Some(Metric::Gower) => rows::Measure::Gower,
        _ => rows::Measure::Euclidean,
    }
}

/// Returns how sequences of an alphabet are aligned. Parameters that are not given depend on the alphabet.
fn of_alignments(options: &Options, alphabet: Alphabet) -> Result<sequence::Parameters, Error> {
    let measure = match options.metric {
        Some(Metric::IdentityWithoutGaps) => sequence::Measure::IdentityWithoutGaps,
        Some(Metric::JukesCantor) => sequence::Measure::JukesCantor,
        Some(Metric::Kimura) => sequence::Measure::Kimura,
        Some(Metric::ScoreOverSmaller) => sequence::Measure::ScoreOverSmaller,
        Some(Metric::ScoreOverLarger) => sequence::Measure::ScoreOverLarger,
        Some(Metric::ScoreOverMean) => sequence::Measure::ScoreOverMean,
        _ => sequence::Measure::Identity,
    };
    let usual = Scoring::usual(alphabet);
    let matrix = match options.matrix.as_deref() {
        None => usual.matrix().clone(),
        Some(name) => scores(name, alphabet)?,
    };
    let open = options.gap_open.unwrap_or(usual.open());
    let scoring = Scoring::new(matrix, open, options.gap_extend.unwrap_or(usual.extend()))?;
    let defaults = sequence::Parameters::default();
    Ok(sequence::Parameters {
        measure,
        mode: options.alignment.map_or(defaults.mode, super::Alignment::mode),
        scoring: Some(scoring),
        overlap_min: options.overlap.unwrap_or(defaults.overlap_min),
    })
}

/// Returns the scores of letters: a matrix by name, or one score for equal letters and one for different ones.
fn scores(name: &str, alphabet: Alphabet) -> Result<Matrix, Error> {
    match name.to_lowercase().as_str() {
        "ednafull" => return Ok(Matrix::ednafull()),
        "blosum62" => return Ok(Matrix::blosum62()),
        _ => {}
    }
    let parts =
        name.split_once('/').and_then(|(equal, different)| Some((equal.parse().ok()?, different.parse().ok()?)));
    let (equal, different) = parts.ok_or_else(|| Error::Parameter {
        name: "matrix",
        expected: "ednafull, blosum62 or EQUAL/DIFFERENT such as 5/-4".to_owned(),
        found: format!("{name:?}"),
    })?;
    Matrix::simple(alphabet, equal, different)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distances::{Alignment, options};

    fn name_of(items: &Items, options: &Options) -> Result<&'static str, Error> {
        items.compared(options, |metric| Ok(metric.name()))
    }

    #[test]
    fn each_word_of_the_declaration_is_the_measure_of_that_name() {
        let genes = Items::Sequences(Sequences::new(&["ACGTACGTAC", "ACGTACCTAC"], Alphabet::Dna).unwrap());
        let prints = Items::Fingerprints(Fingerprints::new(vec![1, 3], 8).unwrap());
        let rows = Items::Records(Incomplete::new(vec![1.0, 2.0, 3.0, 5.0], 2).unwrap());
        let declared = options().into_iter().find(|option| option.name == "metric").unwrap();
        let crate::options::Kind::Choice(words) = declared.kind else { panic!("metrics are words") };
        assert_eq!(words.len(), 16);
        for (word, _) in words {
            let metric: Metric = serde_json::from_value(word.clone().into()).unwrap();
            let items = [&genes, &prints, &rows].into_iter().find(|items| items.kind() == metric.of()).unwrap();
            let told = Options { metric: Some(metric), ..Options::default() };
            assert_eq!(name_of(items, &told).unwrap(), word.replace('_', "-"));
            assert_eq!(metric.word(), word.replace('_', "-"));
        }
        for (items, usual) in [(&genes, "identity"), (&prints, "tanimoto"), (&rows, "euclidean")] {
            assert_eq!(name_of(items, &Options::default()).unwrap(), usual);
        }
        let given = Options { alignment: Some(Alignment::Given), ..Options::default() };
        assert_eq!(name_of(&genes, &given).unwrap(), "hamming");
    }

    #[test]
    fn scores_are_known_by_name_or_given() {
        let genes = Items::Sequences(Sequences::new(&["ACGTACGTAC", "ACGTACCTAC"], Alphabet::Dna).unwrap());
        let of = |matrix: &str| name_of(&genes, &Options { matrix: Some(matrix.into()), ..Options::default() });
        for known in ["EDNAFULL", "5/-4"] {
            assert!(of(known).is_ok(), "{known}");
        }
        let error = of("pam").unwrap_err().to_string();
        assert_eq!(error, "matrix: expected ednafull, blosum62 or EQUAL/DIFFERENT such as 5/-4, found \"pam\"");
    }

    #[test]
    fn a_cost_is_held_against_the_usual_one_that_was_not_given() {
        let genes = Items::Sequences(Sequences::new(&["ACGTACGTAC", "ACGTACCTAC"], Alphabet::Dna).unwrap());
        let error = name_of(&genes, &Options { gap_extend: Some(15), ..Options::default() }).unwrap_err();
        assert_eq!(error.to_string(), "gap_extend: expected 0 to the cost of opening a gap (14), found 15");
    }
}
