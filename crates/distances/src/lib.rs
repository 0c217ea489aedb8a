//! Computes the dissimilarities of all pairs of N items: sequences aligned with each other, fingerprints, rows of
//! numbers.
//!
//! A [`Metric`] computes dissimilarities for a block of pairs at a time. [`all_pairs`] runs it over one half of the
//! symmetric matrix, on any number of ranks. It reports progress, and can be stopped and resumed. The result is a
//! [`Half`], which `lehr-data` writes as NPY.
//!
//! | data | metric |
//! | --- | --- |
//! | [`Sequences`] | [`sequence::Aligned`] aligns each pair; [`columns::Compared`] is for sequences that are aligned already |
//! | [`Fingerprints`](lehr_data::Fingerprints) | [`tanimoto::Tanimoto`] |
//! | [`Incomplete`](lehr_data::Incomplete) rows | [`rows::Compared`] |
//!
//! ```
//! use lehr_data::sequences::{Alphabet, Sequences};
//! use lehr_distances::{Silent, all_pairs, sequence::{Aligned, Parameters}};
//! let genes = Sequences::new(&["ACGTACGTAC", "ACGTACCTAC", "TTGTACCTAC"], Alphabet::Dna)?;
//! let metric = Aligned::new(&genes, &Parameters::default())?;
//! let half = all_pairs::<f64>(&metric, &lehr_ranks::Execution::default(), None, &mut Silent)?;
//! assert_eq!(half.get(0, 1), 1.0 - 9.0 / 10.0);
//! assert_eq!(half.get(1, 0), half.get(0, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! This crate neither uses dissimilarities (see `lehr-mining`) nor reads data (see `lehr-data`).
#![deny(unsafe_code)]

pub mod alignment;
mod bits;
pub mod checkpoint;
pub mod columns;
pub mod correction;
#[allow(unsafe_code)] // calls of functions for an instruction set
mod dispatch;
mod error;
mod half;
#[allow(unsafe_code)] // lanes/x86.rs: instructions
mod lanes;
mod metric;
mod pairs;
pub mod rows;
mod schedule;
pub mod scoring;
pub mod sequence;
pub mod tanimoto;

use lehr_data::Sequences;
use lehr_data::sequences::Alphabet;

pub use error::Error;
pub use half::{Half, Precision};
pub use lehr_ranks::observe::{Control, Observer, Progress, Silent};
pub use metric::Metric;
pub use pairs::{Finished, all_pairs, all_pairs_keeping};
pub use schedule::Schedule;

/// Refuses proteins if `is_needed`.
fn nucleotides_only(sequences: &Sequences, is_needed: bool, name: &str) -> Result<(), Error> {
    if is_needed && sequences.alphabet() != Alphabet::Dna {
        return Err(Error::Unsuited {
            name: sequences.name().into(),
            expected: format!("nucleotides, for {name}"),
            found: alignment::alphabet_name(sequences.alphabet()).into(),
        });
    }
    Ok(())
}

/// Runs the example of the crate's README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
