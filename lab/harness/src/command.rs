//! What the program's subcommands do: one measurement a file, and the labs' sessions in one.

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
