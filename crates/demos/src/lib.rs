//! The demonstrations of `lehr demo`: built-in data, the methods, and the reports.
//!
//! - [`application`]: genes, patients and compounds, which are compared, clustered and mapped by the jobs of services;
//! - [`census`]: census blocks, and the workflows that cluster them;
//! - [`pubchem`]: a stand-in for PubChem, and the workflow that asks it;
//! - [`regions`]: regions with inhabitants, clustered in three ways;
//! - [`samples`]: the built-in data, as a service.
//!
//! The command reads its arguments, calls this crate and writes the files. This crate neither prints nor chooses
//! folders.
#![forbid(unsafe_code)]

pub mod application;
pub mod census;
pub mod pubchem;
pub mod regions;
pub mod samples;

mod error;

pub use error::Error;
