//! Kernels over slices: exponentials, soft and hard assignment, eigenpairs, counted random numbers.
//!
//! No input or output, no ranks, no threads, no allocation in loops: everything here is a function of its arguments. Rows stand in [`tiles`];
//! [`soft`] and [`nearest`] go over a block of them and add up what the next centres are made of; [`lanes`] is the arithmetic
//! that both are written in, with the same bits on every processor; [`dispatch`] chooses the instruction set. [`factor`] and [`elementary`] keep that promise
//! where a library would not.

pub mod dispatch;
pub mod elementary;
pub mod factor;
pub mod lanes;
pub mod membership;
pub mod nearest;
#[cfg(test)]
mod oracle;
mod products;
pub mod random;
pub mod soft;
pub mod tiles;
