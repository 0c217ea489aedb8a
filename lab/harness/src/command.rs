//! One measurement a file.

pub mod distances;
pub mod kernels;
pub mod overhead;
pub mod quality;
pub mod runs;
