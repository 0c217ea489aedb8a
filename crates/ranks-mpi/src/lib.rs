//! Ranks in several processes, on the MPI that the machine has.
//!
//! When a program starts under an MPI launcher, this crate finds and opens the MPI library, through the standard ABI of
//! MPI 5. So the same program runs where no MPI is installed, under the `mpiexec` of MPICH 5 (`pip install mpich`), and
//! on clusters.
//!
//! Read next: `library.rs` (finding the library), `process.rs` (starting and ending together), `link.rs` (frames
//! between processes).
#![deny(unsafe_code)]

mod abi;
mod cores;
mod environment;
mod error;
mod fabric;
mod launcher;
mod lent;
mod library;
mod link;
mod mpi;
mod mpi_job;
mod post;
mod process;
mod run;
mod supervisor;
mod trailer;
mod window;

pub use error::Error;
pub use launcher::Launcher;
pub use process::Process;
pub use supervisor::{Killed, Supervised, keep};

/// The crate's README, included so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
