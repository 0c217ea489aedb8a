//! The Rust extension of the Python package `lehr`, which computes on arrays without holding the interpreter lock.
//!
//! This crate only translates between estimators, which are in `python/lehr`, and methods, which are in the Rust
//! crates:
//!
//! - `arrays`: converts arrays to points.
//! - `tables`: converts tables to data frames.
//! - `explain`: finds differences between clusters, and outliers.
//! - `hierarchy`: writes trees in Newick's format.
//! - `report`: builds the page of a report.
//! - `watch`: runs a method on a separate thread, while Python handles callbacks and signals.
//! - `job`: connects the processes of an MPI job.
//! - `ranks`: runs users' programs on ranks.
//! - `ports`: lets asyncio wait at ports.
//! - `services`: serves Python objects as services.
//! - `errors`: converts errors to exceptions.
//!
//! `docs/design/python.md` gives the reasons.
#![forbid(unsafe_code)]

mod arrays;
mod datasets;
mod distances;
mod errors;
mod explain;
mod fit;
mod gtm;
mod hierarchy;
mod items;
mod job;
mod json;
mod kmeans;
mod learnt;
mod methods;
mod minibatch;
mod mixture;
mod model_file;
mod pairwise;
mod ports;
mod ranks;
mod reading;
mod report;
mod services;
mod smacof;
mod tables;
mod vector;
mod waiting;
mod watch;

/// The native part of `python/lehr`. This module is private: names and arguments change with the package.
#[pyo3::pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::datasets::{load_alu, load_points};
    #[pymodule_export]
    use crate::distances::distances_between;
    #[pymodule_export]
    use crate::distances::distances_of;
    #[pymodule_export]
    use crate::explain::{explain_clusters, outliers};
    #[pymodule_export]
    use crate::gtm::{fit_gtm, images, project};
    #[pymodule_export]
    use crate::hierarchy::newick;
    #[pymodule_export]
    use crate::items::{Fingerprints, Sequences, read_fasta, read_fps, read_molecules, shared_ids};
    #[pymodule_export]
    use crate::job::{abort, finish, is_joined, process};
    #[pymodule_export]
    use crate::kmeans::fit_kmeans;
    #[pymodule_export]
    use crate::learnt::{learnt, model_checksum, on_sphere, pmml_of};
    #[pymodule_export]
    use crate::methods::{declared, declared_of_distances, run_matrix};
    #[pymodule_export]
    use crate::minibatch::fit_minibatch;
    #[pymodule_export]
    use crate::mixture::{fit_mixture, posterior, sample};
    #[pymodule_export]
    use crate::model_file::{read_model, write_bytes, write_model};
    #[pymodule_export]
    use crate::pairwise::fit_pairwise;
    #[pymodule_export]
    use crate::ports::{Ended, PyDispatcher, PyInterleave, PyPort, Wait, choose, join_ports};
    #[pymodule_export]
    use crate::ranks::{Rank, Ranks, Request, begin_ranks, wait_any};
    #[pymodule_export]
    use crate::report::{merged_clusters, report_page};
    #[pymodule_export]
    use crate::services::{Ending, ServiceNode};
    #[pymodule_export]
    use crate::smacof::{align, embed, interpolate};
    #[pymodule_export]
    use crate::tables::{Table, back, isolated_rows, read_table};
    #[pymodule_export]
    use crate::vector::{fit_vector, memberships, nearest, summarize};
    #[pymodule_export]
    use crate::watch::Progress;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        lehr_stores::install(lehr_stores::Versions::Latest);
        module.add("Closed", module.py().get_type::<crate::errors::Closed>())?;
        module.add("Full", module.py().get_type::<crate::errors::Full>())?;
        module.add("RankError", module.py().get_type::<crate::errors::RankError>())?;
        module.add("Stopped", module.py().get_type::<crate::errors::Stopped>())?;
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
