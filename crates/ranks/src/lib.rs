//! Runs one program on many ranks, which communicate by messages and collectives.
//!
//! [`run`] starts a program once per rank, as tasks on a dispatcher, and gives each rank a [`Communicator`]:
//!
//! | call | effect |
//! | --- | --- |
//! | [`send`](Communicator::send), [`receive`](Communicator::receive), [`receive_any`](Communicator::receive_any), [`probe`](Communicator::probe) | messages between two ranks; there are also synchronous, persistent and combined forms |
//! | [`shift`](Communicator::shift), [`exchange`](Communicator::exchange), [`exchange_on`](Communicator::exchange_on) | values to and from neighbours on a line, a ring, a [`Grid`] |
//! | [`barrier`](Communicator::barrier) | waits until all ranks have arrived |
//! | [`broadcast`](Communicator::broadcast), [`scatter`](Communicator::scatter) | the root sends all ranks the same values; sends each rank its own part |
//! | [`gather`](Communicator::gather), [`all_gather`](Communicator::all_gather), [`all_to_all`](Communicator::all_to_all) | all ranks send their values to the root; send them to all ranks; send each rank a part |
//! | [`reduce`](Communicator::reduce), [`all_reduce`](Communicator::all_reduce), [`reduce_scatter`](Communicator::reduce_scatter) | the combination of all ranks' values at the root; on all ranks; in parts over all ranks |
//! | [`scan`](Communicator::scan), [`exclusive_scan`](Communicator::exclusive_scan) | the combination of the values of all ranks up to this rank; of the ranks before this rank |
//! | [`all_reduce_leaves`](Communicator::all_reduce_leaves) | the combination of all ranks' leaves, on all ranks |
//! | [`split`](Communicator::split), [`duplicate`](Communicator::duplicate) | new communicators of some of the ranks; of all ranks |
//!
//! For each function of MPI, `docs/guide/mpi.md` names the corresponding call. A [`fabric`] decides where ranks are and
//! how messages move; results have the same bits on all fabrics.
//!
//! Reductions over rows follow one tree over *leaves*, which are blocks of rows whose size depends only on the number
//! of rows ([`Partition`], [`Fold`]). So results have the same bits on any layout. [`drive`] runs a method, written
//! once as a [`Program`], under any [`Engine`]. A method can also be a [`map_reduce`](Communicator::map_reduce). A
//! method reports its progress to an observer ([`observe`]).
//!
//! ```
//! use lehr_ranks::{Layout, run};
//! let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
//! let maxima = run(&dispatcher, Layout::threads(3), |mut comm| async move {
//!     let mut highest = [10.0 * comm.rank() as f64];
//!     comm.all_reduce(&mut highest, |left, right| left[0] = f64::max(left[0], right[0])).await.unwrap();
//!     highest[0]
//! });
//! assert_eq!(maxima.unwrap(), [20.0, 20.0, 20.0]);
//! ```
//!
//! This crate deliberately contains no mathematics and no data. Read next: `fabric.rs` for the interface between ranks,
//! `engine.rs` for the interface between methods and engines.
#![deny(unsafe_code)]

mod check;
mod collective;
mod communicator;
mod engine;
mod error;
pub mod fabric;
pub mod frame;
mod group;
mod launch;
mod layout;
mod map_reduce;
mod message;
pub mod observe;
mod partition;
mod persistent;
mod point_to_point;
mod posted;
mod reduction;
mod settings;
pub mod timing;
mod topology;
pub mod trace;
mod value;

pub use communicator::Communicator;
pub use engine::{
    CellBytes, Engine, Execution, Job, LeafCells, OneThread, Outcome, Pending, Processes, Program, Round, Rounds, drive,
};
pub use error::Error;
pub use launch::{run, run_on};
pub use layout::Layout;
pub use map_reduce::{Iterated, MapReduce, Step};
pub use message::Plain;
pub use partition::Partition;
pub use persistent::{PersistentReceive, PersistentSend};
pub use point_to_point::{Status, Wanted};
pub use posted::{PostedReceive, PostedSend};
pub use reduction::{Combine, Fold, Node};
pub use settings::Order;
pub use topology::{Boundary, Grid};

/// The guide's chapter for readers who know MPI, included so that its examples are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guide/mpi.md")]
struct Guide;

/// The crate's README, included so that its example is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
