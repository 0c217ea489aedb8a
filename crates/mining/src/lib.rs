//! Annealed clustering on any layout of ranks.
//!
//! | you have | use |
//! | --- | --- |
//! | points in a space where distance means something | [`vector::cluster`] |
//! | a temperature, and an interest in what happens there | [`vector::equilibrium`] |
//!
//! A method is a handful of files with the same names: parameters, E-step, M-step, model. [`anneal`] is the loop that all of them share, with
//! its observer and its checkpoint; `round.rs` is the only door to ranks. Results have the same bits for every engine and number of ranks and threads.
#![forbid(unsafe_code)]

pub mod anneal;
mod error;
mod round;
pub mod vector;

pub use error::Error;
pub use lehr_ranks::{Engine, Execution};
