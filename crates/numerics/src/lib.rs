//! Kernels over slices: exponentials, soft and hard assignment, eigenpairs, random numbers by index.
//!
//! The kernels use no ranks and no threads, and do not allocate in loops: each result depends only on the arguments.
//! All results have the same bits on every processor.
//!
//! - [`tiles`] holds the rows, in memory or in a file. It is the only module that writes: if the caller requests it,
//!   tiles larger than memory go to a file.
//! - [`soft`] and [`nearest`] pass over a block of rows and compute the sums for the next centres. [`shortest`]
//!   computes the distances from which k-means++ draws.
//! - [`lanes`] has the arithmetic operations of the kernels. [`dispatch`] chooses the instruction set.
//! - [`compact`] and [`guttman`] read dissimilarities of all pairs in their compact, stored form. [`compact`]
//!   multiplies them with columns, and [`guttman`] makes a pass of SMACOF.
//! - [`gaussian`] does for mixtures what [`soft`] does for centres. [`observed`] is [`soft`] for rows with missing
//!   cells.
//! - [`bits`] and [`sparse`] are [`soft`] and [`nearest`] for rows of bits, and for rows that store only nonzero
//!   values.
//! - [`dot`] is the scalar product. [`factor`], [`cholesky`] and [`elementary`] replace libraries whose results depend
//!   on the processor.

#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "tests compare with the system's functions"))]

pub mod bits;
pub mod cholesky;
pub mod compact;
pub mod compensated;
pub mod dispatch;
pub mod dot;
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

/// Runs the example of the crate's README as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
