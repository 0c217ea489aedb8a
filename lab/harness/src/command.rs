//! One measurement a file.

pub mod distances;
pub mod kernels;
pub mod maps;
pub mod mixtures;
pub mod overhead;
pub mod pairwise;
pub mod people;
pub mod quality;
pub mod runs;
pub mod topographic;
