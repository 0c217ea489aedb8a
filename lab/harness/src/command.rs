//! The subcommands of the program: one file for each measurement, and one for the sessions of all labs.

pub mod distances;
pub mod kernels;
pub mod labs;
pub mod maps;
pub mod mixtures;
pub mod overhead;
pub mod pairwise;
pub mod people;
pub mod quality;
pub mod runs;
pub mod topographic;
