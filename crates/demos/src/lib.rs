//! The demonstrations of `lehr demo`: built-in data, the methods, and the pages about the results.
//!
//! - [`application`]: genes, patients and compounds, which are compared, clustered and mapped by the jobs of services;
//! - [`census`]: census blocks, and the workflows that cluster them;
//! - [`regions`]: regions with inhabitants, clustered in three ways;
//! - [`samples`]: the data that are built in, as a service.
//!
//! The command reads its arguments, runs this, and writes files: nothing here prints, or uses a folder.
#![forbid(unsafe_code)]

pub mod application;
pub mod census;
pub mod regions;
pub mod samples;

mod error;

pub use error::Error;
