//! Mini-batch k-means for `lehr.MiniBatchKMeans`.

use lehr_mining::minibatch::{self, Checkpoint, Model};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, Columns};
use crate::errors;
use crate::fit::{Beginning, Fit, Run};

/// Clusters a stream. `pull(rows)` returns a pair: the next rows, and their weights or `None`. At the end of the
/// stream, `pull` returns `None` instead.
#[pyfunction]
pub(crate) fn fit_minibatch<'py>(
    py: Python<'py>,
    pull: &Bound<'py, PyAny>,
    run: Run<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let fit = Fit::<Checkpoint>::new(py, "MiniBatchKMeans.fit", run)?;
    let done = fit.stream(pull, |stream, beginning, execution, relay| match beginning {
        Beginning::Anew(wanted) => minibatch::cluster(stream, &wanted, execution, relay),
        Beginning::From(start) => minibatch::resume(stream, start, execution, relay),
    })?;
    done.found(errors::mining, found)
}

fn found<'py>(py: Python<'py>, model: Model) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let clusters = Columns::of(py, &model.clusters)
        .with("n_samples", |cluster| cluster.rows as i64)?
        .with("weight", |cluster| cluster.weight)?
        .with("remembered", |cluster| cluster.counts)?
        .with("spread", |cluster| cluster.spread)?;
    found.set_item("clusters", clusters.done())?;
    found.set_item("cluster_centers", arrays::table(py, model.centers, model.dimension)?)?;
    found.set_item("n_batches", model.batches)?;
    found.set_item("warnings", model.warnings)?;
    Ok(found)
}
