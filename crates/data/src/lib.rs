//! Reads, checks, writes and synthesises data sets.
//!
//! [`Points`] are the main type of this crate: rows of finite numbers with optional weights and ids, checked once and
//! immutable. They come from files ([`read`]), from the built-in sets ([`datasets`]) or from a generator with known
//! classes ([`synthetic`]). An ordinary table, with text, dates and missing values, is a
//! [`DataFrame`](frame::DataFrame).
//!
//! - Longitude and latitude become positions on the sphere ([`geography`]).
//! - Columns in different units can be scaled ([`scale`]).
//! - [`Sparse`] rows store only nonzero values, and [`Fingerprints`] store bits.
//! - Dissimilarities are computed from [`Sequences`] and [`Fingerprints`]; [`Dissimilarities`] are the result.
//! - Data larger than [`memory`] may be in a file ([`Spill`]).
//! - Results are written completely or not at all ([`write`](mod@write)).
//! - All faults in data are reported together, in one form ([`error`]).
//!
//! # Example
//!
//! Converts a table to positions in kilometres, and shows the error for a wrong table:
//!
//! ```
//! use lehr_data::{geography, read, read::Selection};
//! let selection = Selection {
//!     columns: Some(vec!["lon".into(), "lat".into()]),
//!     weights: Some("pop".into()),
//!     id: Some("block".into()),
//!     ..Selection::default()
//! };
//! let table = "block,pop,lon,lat\nA,120,8.54,47.38\nB,0,7.45,46.95\n";
//! let blocks = read::csv_points(table.as_bytes(), "blocks.csv", &selection)?;
//! assert_eq!(geography::on_sphere(&blocks)?.dimension(), 3);
//!
//! let table = "block,pop,lon,lat\nA,120,8.54,47.38\nB,many,7.45,\n";
//! let error = read::csv_points(table.as_bytes(), "blocks.csv", &selection).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "blocks.csv, line 3, column 4 (\"lat\"): expected a finite number, found an empty field\n\
//!      blocks.csv, line 3, column 2 (\"pop\"): expected a finite number, found \"many\"\n\
//!      blocks.csv: 2 faults in all"
//! );
//! # Ok::<(), lehr_data::Error>(())
//! ```
//!
//! This crate contains no methods: no distances, no clusters.
#![forbid(unsafe_code)]

mod contents;
pub mod counter;
pub mod datasets;
pub mod describe;
pub mod dissimilarities;
pub mod duplicates;
pub mod error;
pub mod fingerprints;
pub mod frame;
pub mod geography;
pub mod gower;
pub mod incomplete;
pub mod left_out;
pub mod memory;
pub mod object;
pub mod points;
pub mod preparation;
pub mod read;
pub mod scale;
pub mod sequences;
pub mod sparse;
pub mod stand_ins;
pub mod synthetic;
pub mod write;

pub use dissimilarities::Dissimilarities;
pub use error::{Error, Faults};
pub use fingerprints::{FingerprintKind, Fingerprints};
pub use incomplete::Incomplete;
pub use left_out::LeftOut;
pub use lehr_spill::Spill;
pub use points::Points;
pub use sequences::Sequences;
pub use sparse::Sparse;

/// The example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
