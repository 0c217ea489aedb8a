//! One measurement a file.

pub mod kernels;
pub mod overhead;
pub mod quality;
pub mod runs;
