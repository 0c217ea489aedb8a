//! Data mining by deterministic annealing and related methods, on any layout of ranks.
//!
//! | you have | use |
//! | --- | --- |
//! | points in a space with a meaningful distance | [`vector::cluster`] |
//! | such points, and you want a well-known baseline | [`kmeans::cluster`] |
//! | a stream of rows that can be read only once, and an approximation is enough | [`minibatch::cluster`] |
//! | groups of different widths, shapes and densities, perhaps rows with missing values, and you want likelihoods | [`mixture::fit`] |
//! | rows of many columns, perhaps with missing values, and you want to see them | [`gtm::fit`] |
//! | dissimilarities of all pairs | [`pairwise::cluster`] |
//! | dissimilarities of all pairs, and you want an item in the middle of each cluster | [`kmedoids::cluster`] |
//! | dissimilarities of all pairs, and you want to see them | [`smacof::embed`] |
//! | rows, and you want the state at a temperature of your choice | [`vector::equilibrium`] |
//! | found clusters and known classes | [`agreement::Agreement`] |
//! | clusters, and some items that are active | [`enrichment::Enrichment`] |
//!
//! Each method is a few files with the same names: parameters, E-step, M-step, model. Results have the same bits for
//! every engine and every number of ranks and threads. Only `round.rs` has access to ranks. The methods use these
//! modules, which depend on none of the methods:
//!
//! - [`number`]: estimates how many clusters the rows have;
//! - `summary`: replaces many rows by a few weighted points;
//! - `rows`: stores rows in leaves, in their units, as numbers, bits or sparse;
//! - `lloyd`: centres, hard assignment and labels; uses `rows`;
//! - `borders`: the probability that a row belongs to its cluster;
//! - [`anneal`]: the loop, growth, the observer and the checkpoint.
#![forbid(unsafe_code)]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests compare with the system's functions"))]

pub mod agreement;
pub mod anneal;
mod borders;
pub mod drawn;
pub mod enrichment;
mod error;
mod gather;
pub mod gtm;
mod input;
pub mod kmeans;
pub mod kmedoids;
mod lloyd;
mod matrix;
mod memory;
pub mod minibatch;
pub mod mixture;
pub mod number;
pub mod pairwise;
mod product;
mod round;
mod rows;
pub mod smacof;
mod summary;
pub mod vector;

pub use error::Error;
pub use input::Input;
pub use lehr_ranks::{Engine, Execution};

/// Runs the example of the crate's README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
