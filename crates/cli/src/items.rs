//! The items of `lehr distances`: read, collapsed, and compared as the plan says.

use std::path::Path;

use lehr_data::duplicates::Duplicates;
use lehr_data::{Fingerprints, Incomplete, Sequences, read};
use lehr_distances::Metric;
use lehr_distances::columns;
use lehr_distances::rows;
use lehr_distances::sequence::Aligned;
use lehr_distances::tanimoto::Tanimoto;

use crate::exit::Failure;
use crate::plan::distances::What;

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
    /// Reads what the plan names.
    ///
    /// # Errors
    /// What is wrong with the file.
    ///
    /// # Panics
    /// If the plan names a matrix, which has no items.
    pub fn read(what: &What, input: &Path) -> Result<Self, Failure> {
        Ok(match what {
            What::Sequences(expected, _) | What::Aligned(expected, _) => {
                Items::Sequences(read::fasta::sequences(input, *expected)?)
            }
            What::Fingerprints => Items::Fingerprints(read::fps::fingerprints(input)?),
            What::Rows { selection, standardise, .. } => {
                let records = read::incomplete(input, selection)?;
                Items::Records(if *standardise { records.standardised() } else { records })
            }
            What::Matrix => unreachable!("a matrix is converted, not computed"),
        })
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
