//! Kernels over slices: exponentials, soft and hard assignment, eigenpairs, counted random numbers.
//!
//! No ranks, no threads, no allocation in loops: everything here is a function of its arguments. All of it gives the
//! same bits on every processor.
//!
//! - [`tiles`] hold the rows, in memory or in a file. Only they write: to a file larger than memory, if the caller
//!   wants one.
//! - [`soft`] and [`nearest`] pass over a block of rows and add up the sums for the next centres. [`shortest`] adds up
//!   the distances by which k-means++ draws.
//! - [`lanes`] is the arithmetic of the kernels. [`dispatch`] chooses the instruction set.
//! - [`compact`] and [`guttman`] read dissimilarities of all pairs as compactly as they are stored. The one forms
//!   products with columns, the other makes SMACOF's pass.
//! - [`gaussian`] serves mixtures as [`soft`] serves centres. [`observed`] is [`soft`] for rows with missing cells.
//! - [`bits`] and [`sparse`] are [`soft`] and [`nearest`] for rows of bits, and for rows that keep only the values that
//!   are not 0.
//! - [`factor`], [`cholesky`] and [`elementary`] replace libraries whose bits would depend on the processor.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests compare with the system's functions"))]

pub mod bits;
pub mod cholesky;
pub mod compact;
pub mod compensated;
pub mod dispatch;
pub mod elementary;
pub mod factor;
mod forms;
pub mod gaussian;
pub mod guttman;
pub mod lanes;
mod line_sums;
pub mod listed;
pub mod nearest;
pub mod observed;
#[cfg(test)]
mod oracle;
#[cfg(test)]
mod oracle_gaussian;
#[cfg(test)]
mod oracle_known;
#[cfg(test)]
mod oracle_pairs;
#[cfg(test)]
mod oracle_sparse;
mod products;
pub mod random;
pub mod shortest;
pub mod soft;
pub mod sparse;
pub mod tiles;

/// The example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
