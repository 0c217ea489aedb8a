//! Data sets and mining methods as services.
//!
//! A data set is a [`Table`] with a name in the service of data sets ([`DatasetService`], contract
//! [`datasets::Datasets`]). A method is a function of tables ([`Method`]). The service of a method runs the method as
//! jobs; its contract, [`jobs::Jobs`], is the same for all methods. Jobs queue, report their progress, can be
//! cancelled, and survive a restart. The outputs of a job are data sets, so that the next job can take them by name.
//! [`Distances`] compares items; [`declared`] adds all methods that `lehr-methods` declares.
//!
//! | wanted | found |
//! | --- | --- |
//! | bringing data in, reading rows | the operations in [`datasets`] |
//! | requesting a job, waiting for it, reading its rows | the operations in [`jobs`] |
//! | a method of your own | [`Method`], and `examples/joined_method.rs` |
//! | the results of finished jobs, by name | [`reports`] |
//! | the items that are most like a chosen item | [`neighbors`] |
//! | models that answer requests at their own rate | [`predictions`] |
//! | the cores, threads and processes of jobs | [`Settings`] |
//! | running a job in several processes | [`processes`] |
//! | data sets of other nodes | [`fetch`], [`store`], [`upload`] |
//! | all these services on a node | [`Setup`] |
//! | a backup of the folder of a node | [`backup`] |
//!
//! This crate contains no HTTP (see `lehr-node`) and no mathematics (see `lehr-mining`). For the reasons, see
//! `docs/design/jobs.md`.
#![forbid(unsafe_code)]

pub mod backup;
mod bytes;
mod cores;
pub mod datasets;
pub mod declared;
pub mod distances;
mod format;
mod handle;
mod hosts;
mod job;
pub mod jobs;
mod matrix;
mod method;
mod methods;
pub mod neighbors;
mod options;
mod predict;
pub mod predictions;
pub mod processes;
pub mod reports;
mod runner;
mod service;
mod settings;
mod setup;
mod table;
mod transfer;
mod watch;

pub use bytes::Bytes;
pub use datasets::{DatasetService, Limits};
pub use declared::Fits;
pub use distances::Distances;
pub use format::{Dialect, Form, JsonRows, Piece, Reading, RowFormat};
pub use handle::Handle;
pub use hosts::HostSlots;
pub use job::{Job, Progress, Split};
pub use method::{Failure, Inputs, Method, Outputs};
pub use settings::Settings;
pub use setup::Setup;
pub use table::{Builder, Columns, Kind, Table};
pub use transfer::{fetch, store, upload};

/// The example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
