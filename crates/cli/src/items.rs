//! The items of `lehr distances`: read, collapsed, and compared as the plan says.

use std::path::Path;

use lehr_data::duplicates::Duplicates;
use lehr_data::read::fasta::Expected;
use lehr_data::{Fingerprints, Incomplete, Sequences, memory, read};
use lehr_distances::Metric;
use lehr_distances::columns;
use lehr_distances::rows;
use lehr_distances::sequence::Aligned;
use lehr_distances::tanimoto::Tanimoto;
use serde_json::{Map, Value};

use crate::exit::Failure;
use crate::plan::distances::What;

/// The columns by which rows were compared, among the parameters of their dissimilarities.
pub const COLUMN_NAMES: &str = "column_names";
/// Whether they were scaled before, likewise.
pub const STANDARDISED: &str = "standardised";

/// What dissimilarities are computed of.
#[derive(Debug, Clone, PartialEq)]
pub enum Items {
    /// Genes or proteins.
    Sequences(Sequences),
    /// Compounds.
    Fingerprints(Fingerprints),
    /// Rows of a table, scaled if the plan says so.
    Records(Incomplete),
}

impl Items {
    /// Reads what the plan names, scaled as it says.
    ///
    /// # Errors
    /// What is wrong with the file.
    ///
    /// # Panics
    /// If the plan names a matrix, which has no items.
    pub fn read(what: &What, input: &Path) -> Result<Self, Failure> {
        Ok(match (Self::as_given(what, input)?, what) {
            (Items::Records(records), What::Rows { standardise: true, .. }) => Items::Records(records.standardised()),
            (items, _) => items,
        })
    }

    /// Reads what the plan names, in the numbers of the file.
    ///
    /// # Errors
    /// What is wrong with the file.
    ///
    /// # Panics
    /// If the plan names a matrix, which has no items.
    pub fn as_given(what: &What, input: &Path) -> Result<Self, Failure> {
        Ok(match what {
            What::Sequences(expected, _) | What::Aligned(expected, _) => {
                Items::Sequences(read::fasta::sequences(input, *expected)?)
            }
            What::Fingerprints => Items::Fingerprints(read::fps::fingerprints(input)?),
            What::Rows { selection, .. } => {
                memory::has_room(input, selection)?;
                Items::Records(read::incomplete(input, selection)?)
            }
            What::Matrix => unreachable!("a matrix is converted, not computed"),
        })
    }

    /// Reads more items of the kind that these are: letters that could be nucleotides or amino acids are what they are here.
    ///
    /// # Errors
    /// What is wrong with the file.
    ///
    /// # Panics
    /// If the plan is for items of another kind.
    pub fn more(&self, what: &What, input: &Path) -> Result<Self, Failure> {
        match (self, what) {
            (Items::Sequences(own), What::Sequences(expected, _) | What::Aligned(expected, _)) => {
                let expected = Expected { alphabet: Some(own.alphabet()), ..*expected };
                Ok(Items::Sequences(read::fasta::sequences(input, expected)?))
            }
            _ => Self::as_given(what, input),
        }
    }

    /// Some of these, as given, and others behind them, to be compared with each other. Rows are scaled, if the plan says so, by means and deviations of all of these.
    ///
    /// # Errors
    /// What the others are expected to be, and are not.
    pub fn joined(&self, rows: &[usize], others: &Self, what: &What) -> Result<Self, String> {
        match (self, others) {
            (Items::Sequences(own), Items::Sequences(others)) => {
                if matches!(what, What::Aligned(..)) && own.longest() != others.longest() {
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
                let is_scaled = matches!(what, What::Rows { standardise: true, .. });
                let scaled =
                    |records: &Incomplete| if is_scaled { records.standardised_as(own) } else { records.clone() };
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

    /// The distinct items, and which of these each was.
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

    /// Whether two of them are equal.
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

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Items::Sequences(sequences) => sequences.len(),
            Items::Fingerprints(prints) => prints.len(),
            Items::Records(records) => records.len(),
        }
    }

    /// An identifier for each: that of the file, or its number.
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

    /// What is to be known of how these are compared, beside the name of the dissimilarity: what it says itself, and of rows by which columns, and whether they were scaled.
    pub fn parameters(&self, what: &What, metric: &dyn Metric) -> Map<String, Value> {
        let mut parameters = metric.parameters();
        if let (Items::Records(records), What::Rows { standardise, .. }) = (self, what) {
            parameters.insert(COLUMN_NAMES.into(), records.columns().into());
            parameters.insert(STANDARDISED.into(), (*standardise).into());
        }
        parameters
    }

    /// Gives `go_on` the dissimilarity that the plan names, of these items.
    ///
    /// # Errors
    /// Items that do not suit it, and what `go_on` reports.
    ///
    /// # Panics
    /// If the plan is for items of another kind.
    pub fn compared<R>(
        &self,
        what: &What,
        go_on: impl FnOnce(&dyn Metric) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        match (self, what) {
            (Items::Sequences(sequences), What::Sequences(_, how)) => {
                go_on(&Aligned::new(sequences, &how.parameters(sequences.alphabet())?)?)
            }
            (Items::Sequences(sequences), What::Aligned(_, measure)) => {
                go_on(&columns::Compared::new(sequences, *measure)?)
            }
            (Items::Fingerprints(prints), What::Fingerprints) => go_on(&Tanimoto::new(prints)),
            (Items::Records(records), What::Rows { measure, .. }) => go_on(&rows::Compared::new(records, *measure)),
            _ => unreachable!("items are read as the plan says"),
        }
    }
}
