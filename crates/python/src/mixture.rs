//! Gaussian mixtures for `lehr.DAGaussianMixture`.

use lehr_mining::mixture::{self, Checkpoint, Covariance, Mixture, Model, Posterior};
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, Columns, Records};
use crate::fit::{Fit, Run};
use crate::{errors, job};

/// Fits a Gaussian mixture to the rows of `x`, with NaN for missing values.
#[pyfunction]
pub(crate) fn fit_mixture<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    run: Run<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let fit = Fit::<Checkpoint>::new(py, "DAGaussianMixture.fit", run)?;
    let done = fit.rows(
        Records::new(x, sample_weight)?,
        |rows, wanted, execution, relay| mixture::fit(rows, wanted, execution, relay),
        |rows, start, execution, relay| mixture::resume(rows, start, execution, relay),
    )?;
    done.found(errors::mining, found)
}

fn found<'py>(py: Python<'py>, model: Model) -> PyResult<Bound<'py, PyDict>> {
    let found = parts(py, &model.mixture)?;
    found.set_item("labels", arrays::labels(&model.labels).into_pyarray(py))?;
    found.set_item("probabilities", model.probabilities.into_pyarray(py))?;
    found.set_item("log_likelihood", model.criteria.log_likelihood)?;
    found.set_item("bic", model.criteria.bic)?;
    found.set_item("aic", model.criteria.aic)?;
    found.set_item("icl", model.criteria.icl)?;
    let candidates = Columns::of(py, &model.candidates)
        .with("n_components", |candidate| candidate.components as i64)?
        .with("log_likelihood", |candidate| candidate.criteria.log_likelihood)?
        .with("bic", |candidate| candidate.criteria.bic)?
        .with("aic", |candidate| candidate.criteria.aic)?
        .with("icl", |candidate| candidate.criteria.icl)?
        .with("is_converged", |candidate| candidate.is_converged)?;
    found.set_item("candidates", candidates.done())?;
    found.set_item("groups", model.groups.as_ref().map(|groups| groups.clusters))?;
    found.set_item("ascent", model.ascent.into_pyarray(py))?;
    found.set_item("is_converged", model.is_converged)?;
    found.set_item("n_iter", model.sweeps)?;
    found.set_item("warnings", model.warnings)?;
    Ok(found)
}

/// Returns the parts of a mixture that an estimator keeps.
pub(crate) fn parts<'py>(py: Python<'py>, mixture: &Mixture) -> PyResult<Bound<'py, PyDict>> {
    let parts = PyDict::new(py);
    parts.set_item("weights", mixture.weights().to_vec().into_pyarray(py))?;
    parts.set_item("means", arrays::table(py, mixture.means().to_vec(), mixture.dimension())?)?;
    parts.set_item("numbers", mixture.numbers().to_vec().into_pyarray(py))?;
    let matrices: Vec<f64> = match mixture.form() {
        Covariance::Spherical | Covariance::Diagonal => mixture.numbers().to_vec(),
        Covariance::Tied => mixture.covariance(0),
        Covariance::Full => (0..mixture.len()).flat_map(|k| mixture.covariance(k)).collect(),
    };
    parts.set_item("covariances", matrices.into_pyarray(py))?;
    Ok(parts)
}

/// The parts of a mixture that an estimator keeps: the covariance type, weights, means, and covariances as numbers.
#[derive(FromPyObject)]
pub(crate) struct FittedMixture<'py>(
    String,
    PyReadonlyArray1<'py, f64>,
    PyReadonlyArray2<'py, f64>,
    PyReadonlyArray1<'py, f64>,
);

impl FittedMixture<'_> {
    fn mixture(&self) -> PyResult<Mixture> {
        let Self(form, weights, means, numbers) = self;
        let form = Covariance::ALL
            .into_iter()
            .find(|covariance| covariance.name() == form)
            .ok_or_else(|| errors::value(format!("there are no {form:?} covariances")))?;
        let dimension = means.as_array().ncols();
        Mixture::new(form, dimension, arrays::numbers(weights), arrays::matrix(means), arrays::numbers(numbers))
            .map_err(errors::mining)
    }
}

/// Computes labels, log-densities and, on request, memberships of rows. Missing values are NaN.
#[pyfunction]
#[pyo3(signature = (x, mixture, *, threads = None, with_memberships = true))]
pub(crate) fn posterior<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    mixture: FittedMixture<'py>,
    threads: Option<usize>,
    with_memberships: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let mixture = mixture.mixture()?;
    let (rows, threads) = (arrays::records(x)?, job::threads(threads));
    let said = py.detach(|| match with_memberships {
        true => mixture.posterior(&rows, threads),
        false => mixture.assign(&rows, threads),
    });
    let Posterior { components, memberships, labels, log_densities, .. } = said.map_err(errors::mining)?;
    let found = PyDict::new(py);
    found.set_item("labels", arrays::labels(&labels).into_pyarray(py))?;
    found.set_item("log_densities", log_densities.into_pyarray(py))?;
    if with_memberships {
        found.set_item("memberships", arrays::table(py, memberships, components)?)?;
    }
    Ok(found)
}

/// Draws random rows from a mixture. Returns the rows and their components.
#[pyfunction]
pub(crate) fn sample<'py>(
    py: Python<'py>,
    rows: usize,
    seed: u64,
    mixture: FittedMixture<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let mixture = mixture.mixture()?;
    let (points, labels) = py.detach(|| mixture.sample(rows, seed)).map_err(errors::mining)?;
    let found = PyDict::new(py);
    found.set_item("data", arrays::table(py, points.values().to_vec(), points.dimension())?)?;
    found.set_item("labels", arrays::labels(&labels).into_pyarray(py))?;
    Ok(found)
}
