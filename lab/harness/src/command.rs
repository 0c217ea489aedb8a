//! One measurement a file.

pub mod distances;
pub mod kernels;
pub mod maps;
pub mod overhead;
pub mod pairwise;
pub mod quality;
pub mod runs;
