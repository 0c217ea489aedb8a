//! Kernels over slices: exponentials, soft assignment, leading eigenpairs, counted random numbers.
//!
//! No input or output, no ranks, no threads, no allocation in loops. Everything here is a function of its arguments.

pub mod dispatch;
pub mod lanes;
pub mod random;
pub mod soft;
pub mod tiles;
