//! Data sets and mining methods as services.
//!
//! A data set is a [`Table`] with a name in the service of data sets ([`DatasetService`], contract
//! [`datasets::Datasets`]). A method is a function of tables ([`Method`]). The service around it (contract
//! [`jobs::Jobs`], one for all methods) runs it as jobs. They queue, report their progress, can be cancelled, and
//! survive a restart. Outputs are data sets again, so that a next step takes them by name. [`Distances`] compares
//! items; all that `lehr-methods` declares join it ([`declared`]).
//!
//! | wanted | found |
//! | --- | --- |
//! | bringing data in, reading rows | operations in [`datasets`] |
//! | ordering a job, waiting for it, its rows | operations in [`jobs`] |
//! | a method of your own | [`Method`], and `examples/joined_method.rs` |
//! | what finished jobs have found, under names | [`reports`] |
//! | how jobs are run: cores, threads, processes | [`Settings`] |
//! | the work of such a process | [`processes`] |
//! | data sets of other nodes | [`fetch`], [`store`], [`upload`] |
//! | all of it on a node | [`Setup`] |
//! | a backup of the folder of a node | [`backup`] |
//!
//! Deliberately not here: HTTP (crate `lehr-node`), mathematics (crate `lehr-mining`). For the reasons, see
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
mod job;
pub mod jobs;
mod matrix;
mod method;
mod methods;
mod options;
mod predict;
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
pub use format::{Dialect, Form, Piece, Reading, RowFormat};
pub use handle::Handle;
pub use job::{Job, Progress};
pub use method::{Failure, Inputs, Method, Outputs};
pub use settings::Settings;
pub use setup::Setup;
pub use table::{Builder, Columns, Kind, Table};
pub use transfer::{fetch, store, upload};

/// The example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
