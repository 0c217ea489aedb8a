//! Kernels over slices: exponentials, soft and hard assignment, eigenpairs, counted random numbers.
//!
//! No ranks, no threads, no allocation in loops: everything here is a function of its arguments. Rows stand in [`tiles`], the only ones that write: to a file that memory need not hold, if they are told to;
//! [`soft`] and [`nearest`] go over a block of them and add up what the next centres are made of, [`shortest`] what k-means++ draws the first ones by; [`lanes`] is the arithmetic
//! that both are written in, with the same bits on every processor; [`dispatch`] chooses the instruction set. Dissimilarities of all pairs are read as compact as they are stored, by products
//! with columns ([`compact`]) and by SMACOF's pass ([`guttman`]). [`gaussian`] is to mixtures what [`soft`] is to centres, [`observed`] is [`soft`] for rows with missing cells,
//! [`bits`] and [`sparse`] are [`soft`] and [`nearest`] for rows of bits and for rows of which only what is not 0 is kept. [`factor`], [`cholesky`] and [`elementary`] keep that promise
//! where a library would not.

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
pub mod membership;
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
