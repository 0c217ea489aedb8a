//! Declares every method once for all front ends.
//!
//! The file of a method declares its name ([`About`]), its options (a struct), its run, and its results ([`Fit`]). The
//! command, the services, the Python package and the reference are derived from this declaration. So a method has the
//! same options, ranges, defaults and words everywhere. A new method needs one file here, its algorithm in
//! `lehr-mining`, and a line in [`ALL`].
//!
//! ```
//! let gtm = lehr_methods::find("gtm").unwrap();
//! let declared = gtm.options();
//! let dimensions = declared.iter().find(|option| option.name == "dimensions").unwrap();
//! assert_eq!(dimensions.help_line(), "Give the map this many dimensions, 1 to 3 [default: 2]");
//! ```
#![forbid(unsafe_code)]

pub mod cluster;
pub mod distances;
pub mod embed;
pub mod explain;
pub mod gtm;
pub mod hdbscan;
pub mod hierarchy;
pub mod isolated;
pub mod items;
pub mod kmedoids;
pub mod minibatch;
pub mod mixture;
pub mod numbers;
pub mod options;
pub mod origin;
pub mod pairwise;
pub mod pmml;
pub mod predict;
pub mod prepared;
pub mod rows;

mod classes;
mod clusters;
mod course;
mod data;
mod method;
mod model;
mod refusal;
mod sections;
mod stream;
mod table;

pub use classes::Classes;
pub use course::splits_so_far;
pub use data::{Data, Matrix, MatrixWords, Missing, NotOnSphere, RowsWords, StreamWords, Takes};
pub use method::{About, Content, Declared, Fit, Method, Passed, Spent, Task, Temperature};
pub use model::{Learnt, ModelFile, Unreadable, model_checksum};
pub use options::{OptionOf, Options};
pub use rows::{Frame, Rows, append_frame};
pub use sections::{Named, Sections};
pub use stream::Stream;
pub use table::{Column, Table, UNLABELLED, shown_label};

/// All declared methods, in the order in which front ends list them.
#[rustfmt::skip] // A line a method.
pub const ALL: &[&dyn Method] = &[
    &cluster::Cluster,
    &minibatch::Minibatch,
    &mixture::Mixture,
    &gtm::Gtm,
    &kmedoids::KMedoids,
    &hierarchy::Hierarchy,
    &hdbscan::Hdbscan,
    &pairwise::Pairwise,
    &embed::Embedding,
];

/// Returns the method with this name.
pub fn find(name: &str) -> Option<&'static dyn Method> {
    ALL.iter().copied().find(|method| method.about().name == name)
}

/// The example of the crate's README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
