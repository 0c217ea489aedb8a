//! One program on many ranks.
//!
//! [`run`] starts a program once per rank, as tasks on a dispatcher, and gives each a [`Communicator`]:
//!
//! | call | what all ranks have afterwards |
//! | --- | --- |
//! | [`barrier`](Communicator::barrier) | arrived |
//! | [`broadcast`](Communicator::broadcast) | the root's values |
//! | [`gather`](Communicator::gather) | nothing; the root, everybody's values |
//! | [`all_reduce`](Communicator::all_reduce) | the combination of everybody's values |
//! | [`all_reduce_leaves`](Communicator::all_reduce_leaves) | the root of the tree over everybody's leaves |
//!
//! Reductions over rows follow one tree over *leaves*, blocks of rows whose size depends on the number of rows alone
//! ([`Partition`], [`Fold`]), so that results have the same bits on any layout. [`drive`] runs a method, written once as a
//! [`Program`], under any [`Engine`].
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
//! Deliberately not here: any mathematics, any data. Read next: `fabric.rs` for the seam between ranks, `engine.rs` for the
//! seam between methods and those who run them.
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
mod message;
mod partition;
mod persistent;
mod point_to_point;
mod reduction;
mod settings;
mod sync;
pub mod timing;
mod topology;
mod value;

pub use communicator::Communicator;
pub use engine::{Engine, Execution, LeafCells, Program, Round, Rounds, drive};
pub use error::Error;
pub use launch::{run, run_on};
pub use layout::Layout;
pub use message::Plain;
pub use partition::Partition;
pub use persistent::{PersistentReceive, PersistentSend};
pub use point_to_point::{Status, Wanted};
pub use reduction::{Combine, Fold, Node};
pub use settings::Order;
pub use topology::{Boundary, Grid};
