//! K-means for `lehr.KMeans`.

use std::path::PathBuf;

use lehr_mining::kmeans::{self, Checkpoint, Model};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, Rows};
use crate::errors;
use crate::fit::{Beginning, Fit};
use crate::vector;

/// Clusters the rows of `x` by k-means.
#[pyfunction]
#[pyo3(signature = (x, sample_weight, parameters, *, threads = None, callback = None, checkpoint = None))]
pub(crate) fn fit_kmeans<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    parameters: &str,
    threads: Option<usize>,
    callback: Option<&Bound<'py, PyAny>>,
    checkpoint: Option<PathBuf>,
) -> PyResult<Bound<'py, PyDict>> {
    let fit = Fit::<Checkpoint>::new(py, "KMeans.fit", parameters, threads, callback, checkpoint)?;
    let rows = Rows::new(x, sample_weight.as_ref())?;
    drop(sample_weight);
    let done = fit.run(
        rows,
        |rows| vec![rows.input().fingerprint()],
        |rows, beginning, execution, relay| match beginning {
            Beginning::Anew(wanted) => kmeans::cluster(rows.input(), &wanted, execution, relay),
            Beginning::From(start) => kmeans::resume(rows.input(), start, execution, relay),
        },
    )?;
    done.found(errors::mining, found)
}

fn found<'py>(py: Python<'py>, model: Model) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("cluster_centers", arrays::table(py, model.centers, model.dimension)?)?;
    found.set_item("labels", arrays::labels(&model.labels).into_pyarray(py))?;
    found.set_item("clusters", vector::clusters(py, &model.clusters)?)?;
    found.set_item("inertia", model.sum_of_squares)?;
    found.set_item("inertias", model.starts.into_pyarray(py))?;
    found.set_item("n_iter", model.best_iterations)?;
    found.set_item("warnings", model.warnings)?;
    Ok(found)
}
