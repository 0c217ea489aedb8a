//! K-means for `lehr.KMeans`.

use lehr_mining::kmeans::{self, Checkpoint, Model};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, Rows};
use crate::errors;
use crate::fit::{Fit, Run};
use crate::vector;

/// Clusters the rows of `x` by k-means.
#[pyfunction]
pub(crate) fn fit_kmeans<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    run: Run<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let fit = Fit::<Checkpoint>::new(py, "KMeans.fit", run)?;
    let done = fit.rows(
        Rows::new(x, sample_weight)?,
        |rows, wanted, execution, relay| kmeans::cluster(rows, wanted, execution, relay),
        |rows, start, execution, relay| kmeans::resume(rows, start, execution, relay),
    )?;
    done.found(errors::mining, found)
}

fn found<'py>(py: Python<'py>, model: Model) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("cluster_centers", arrays::table(py, model.centers, model.dimension)?)?;
    found.set_item("labels", arrays::labels(&model.labels).into_pyarray(py))?;
    found.set_item("borders", vector::borders(&model.borders))?;
    found.set_item("clusters", vector::clusters(py, &model.clusters)?)?;
    found.set_item("inertia", model.sum_of_squares)?;
    found.set_item("inertias", model.starts.into_pyarray(py))?;
    found.set_item("n_iter", model.best_iterations)?;
    found.set_item("warnings", model.warnings)?;
    Ok(found)
}
