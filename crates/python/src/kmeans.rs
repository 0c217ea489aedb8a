//! K-means for `lehr.KMeans`.

use std::path::PathBuf;

use lehr_mining::kmeans::{self, Checkpoint, Model, Parameters};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays;
use crate::errors;
use crate::job::Company;
use crate::vector;
use crate::watch;

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
    let wanted: Parameters = watch::parameters(parameters)?;
    let points = arrays::points(x, sample_weight.as_ref())?;
    drop(sample_weight);
    let company = Company::new(py, threads)?;
    let start = watch::saved(checkpoint.as_deref(), Checkpoint::read)?;
    if let Some(start) = &start {
        watch::same_parameters(checkpoint.as_deref(), &wanted, start.parameters())?;
    }
    company.agree(py, "KMeans.fit", || {
        let resumed = u8::from(start.is_some());
        [parameters.as_bytes(), &points.fingerprint().to_le_bytes(), &[resumed]].concat()
    })?;
    let execution = company.execution;
    let watched = watch::run(py, callback, checkpoint.clone(), company.is_in_job, move |relay| match start {
        None => kmeans::cluster(&points, &wanted, &execution, relay),
        Some(start) => kmeans::resume(&points, start, &execution, relay),
    })?;
    let model = watched.outcome.map_err(errors::mining)?;
    if company.is_lead {
        watch::remove(checkpoint.as_deref());
    }
    let found = found(py, model)?;
    found.set_item("checkpoint_failure", watched.checkpoint_failure)?;
    found.set_item("is_lead", company.is_lead)?;
    Ok(found)
}

fn found<'py>(py: Python<'py>, model: Model) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("cluster_centers", arrays::table(py, model.centers, model.dimension)?)?;
    found.set_item("labels", arrays::labels(&model.labels).into_pyarray(py))?;
    found.set_item("clusters", vector::clusters(py, &model.clusters)?)?;
    found.set_item("inertia", model.sum_of_squares)?;
    found.set_item("inertias", model.starts.into_pyarray(py))?;
    found.set_item("n_iter", model.iterations)?;
    found.set_item("warnings", model.warnings)?;
    Ok(found)
}
