//! Data mining by deterministic annealing and related methods, on any number of threads and ranks.
//!
//! | you have | use |
//! | --- | --- |
//! | points in a space with a meaningful distance | [`vector::cluster`] |
//! | points in a space with a meaningful distance, and you want a well-known baseline | [`kmeans::cluster`] |
//! | a stream of rows that can be read only once, and an approximation is enough | [`minibatch::cluster`] |
//! | groups of different widths, shapes and densities, perhaps rows with missing values, and you want likelihoods | [`mixture::fit`] |
//! | rows of many columns, perhaps with missing values, and you want a map of the rows | [`gtm::fit`] |
//! | dissimilarities of all pairs | [`pairwise::cluster`] |
//! | dissimilarities of all pairs, and you want an item in the middle of each cluster | [`kmedoids::cluster`] |
//! | dissimilarities of all pairs, and you want a tree of the items | [`hierarchy::cluster`] |
//! | dissimilarities of all pairs, and groups of any shape with noise between them | [`hdbscan::cluster`] |
//! | dissimilarities of all pairs, and you want a map of the items | [`smacof::embed`] |
//! | rows, and you want the state at a temperature of your choice | [`vector::equilibrium`] |
//! | the clusters found and known classes, to compare them | [`agreement::Agreement`] |
//! | clusters without known classes, and you want to know how separate they are | [`validity::of_rows`] |
//! | clusters, and you want to know where active items are frequent | [`enrichment::Enrichment`] |
//!
//! Each method consists of a few files with the same names: parameters, E-step, M-step, model. Results are
//! bit-identical for every engine and every number of ranks and threads. Only `round.rs` has access to ranks. The
//! methods use these modules, which do not depend on any method:
//!
//! - [`number`]: estimates how many clusters the rows have;
//! - `summary`: replaces many rows by a few weighted points;
//! - `rows`: stores rows in leaves, in stored units, as numbers, as bits or sparsely;
//! - `lloyd`: computes centres, hard assignments and labels; uses `rows`;
//! - `borders`: estimates the probability that a row belongs to its cluster;
//! - [`anneal`]: contains the annealing loop, growth, observers and checkpoints.
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
pub mod hdbscan;
pub mod hierarchy;
mod input;
pub mod kmeans;
pub mod kmedoids;
mod links;
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
pub mod summary;
pub mod validity;
pub mod vector;

pub use error::Error;
pub use input::Input;
pub use lehr_ranks::{Engine, Execution};

/// Runs the example of the crate's README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
