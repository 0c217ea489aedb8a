//! Generative topographic maps for `lehr.GTM`.

use lehr_mining::gtm::{self, Checkpoint, Map, Model, Projection, Start};
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde::{Deserialize, Serialize};

use crate::arrays::{self, Columns, Records};
use crate::fit::{Fit, Run};
use crate::{errors, job};

/// Fits a map to the rows of `x`, with NaN for missing values.
#[pyfunction]
pub(crate) fn fit_gtm<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    run: Run<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let fit = Fit::<Checkpoint>::new(py, "GTM.fit", run)?;
    let done = fit.rows(
        Records::new(x, sample_weight)?,
        |rows, wanted, execution, relay| gtm::fit(rows, wanted, execution, relay),
        |rows, start, execution, relay| gtm::resume(rows, start, execution, relay),
    )?;
    done.found(errors::mining, found)
}

fn found<'py>(py: Python<'py>, model: Model) -> PyResult<Bound<'py, PyDict>> {
    let found = placed(py, model.places)?;
    found.update(parts(py, &model.map)?.as_mapping())?;
    found.set_item("log_likelihood", model.log_likelihood)?;
    found.set_item("is_annealed", model.start == Start::Annealed)?;
    let candidates = Columns::of(py, &model.candidates)
        .with("is_annealed", |candidate| candidate.start == Start::Annealed)?
        .with("log_likelihood", |candidate| candidate.log_likelihood)?
        .with("order", |candidate| candidate.order)?
        .with("is_converged", |candidate| candidate.is_converged)?
        .with("n_iter", |candidate| candidate.sweeps as i64)?;
    found.set_item("candidates", candidates.done())?;
    let history = Columns::of(py, &model.history)
        .with("temperature", |step| step.temperature)?
        .with("objective", |step| step.objective)?
        .with("noise_variance", |step| step.noise)?
        .with("softness", |step| step.softness)?
        .with("sweeps", |step| step.sweeps as i64)?;
    found.set_item("history", history.done())?;
    found.set_item("ascent", model.ascent.into_pyarray(py))?;
    found.set_item("critical_temperature", model.critical_temperature)?;
    found.set_item("is_converged", model.is_converged)?;
    found.set_item("n_iter", model.sweeps)?;
    found.set_item("warnings", model.warnings)?;
    Ok(found)
}

/// Returns the parts of a map that an estimator keeps, including the requested width.
pub(crate) fn parts<'py>(py: Python<'py>, map: &Map) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let parts = Parts::of(map)?;
    found.set_item("n_nodes", parts.grid.nodes)?;
    found.set_item("n_basis", parts.grid.basis)?;
    found.set_item("width", parts.grid.width)?;
    found.set_item("weights", arrays::table(py, parts.weights, parts.origin.len())?)?;
    found.set_item("origin", parts.origin.into_pyarray(py))?;
    found.set_item("noise_variance", parts.noise)?;
    let nodes = (0..map.len()).flat_map(|k| map.node(k)).collect();
    found.set_item("nodes", arrays::table(py, nodes, map.latent())?)?;
    found.set_item("order", map.order())?;
    Ok(found)
}

/// Converts the positions of rows on a map to a dictionary.
fn placed(py: Python<'_>, places: Projection) -> PyResult<Bound<'_, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("positions", arrays::table(py, places.positions, places.latent)?)?;
    found.set_item("modes", arrays::labels(&places.modes).into_pyarray(py))?;
    found.set_item("probabilities", places.probabilities.into_pyarray(py))?;
    found.set_item("entropies", places.entropies.into_pyarray(py))?;
    found.set_item("log_densities", places.log_densities.into_pyarray(py))?;
    Ok(found)
}

/// The fields of a map in the format of a model file. The conversion between a map and these fields goes through this
/// format, and [`Map::check`] checks the map.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parts {
    grid: Grid,
    origin: Vec<f64>,
    weights: Vec<f64>,
    noise: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Grid {
    latent: usize,
    nodes: usize,
    basis: usize,
    width: f64,
}

impl Parts {
    fn of(map: &Map) -> PyResult<Self> {
        let value = serde_json::to_value(map).and_then(serde_json::from_value);
        value.map_err(|cause| errors::runtime(format!("a map has other fields than expected: {cause}")))
    }

    fn map(&self) -> PyResult<Map> {
        let value = serde_json::to_value(self).and_then(serde_json::from_value);
        let map: Map = value.map_err(|cause| errors::value(format!("no map: {cause}")))?;
        map.check().map_err(errors::mining)?;
        Ok(map)
    }
}

/// A map in the form that an estimator passes: the parts that `fit_gtm` returned.
#[derive(FromPyObject)]
pub(crate) struct FittedMap<'py> {
    #[pyo3(item("nodes"))]
    nodes: usize,
    #[pyo3(item("basis"))]
    basis: usize,
    #[pyo3(item("latent"))]
    latent: usize,
    #[pyo3(item("width"))]
    width: f64,
    #[pyo3(item("noise"))]
    noise: f64,
    #[pyo3(item("origin"))]
    origin: PyReadonlyArray1<'py, f64>,
    #[pyo3(item("weights"))]
    weights: PyReadonlyArray2<'py, f64>,
}

impl FittedMap<'_> {
    fn map(&self) -> PyResult<Map> {
        let grid = Grid { latent: self.latent, nodes: self.nodes, basis: self.basis, width: self.width };
        let (origin, weights) = (arrays::numbers(&self.origin), arrays::matrix(&self.weights));
        Parts { grid, origin, weights, noise: self.noise }.map()
    }
}

/// Finds the positions of new rows on a map. Missing values are NaN.
#[pyfunction]
#[pyo3(signature = (x, map, *, threads = None))]
pub(crate) fn project<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    map: FittedMap<'py>,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let map = map.map()?;
    let rows = arrays::records(x)?;
    let places = py.detach(|| map.project(&rows, job::threads(threads))).map_err(errors::mining)?;
    placed(py, places)
}

/// Converts positions on a map of L dimensions, an N x L array, to points in the space of the data. Also computes how
/// far the map is stretched at each position.
#[pyfunction]
pub(crate) fn images<'py>(
    py: Python<'py>,
    places: PyReadonlyArray2<'py, f64>,
    map: FittedMap<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let map = map.map()?;
    if places.as_array().ncols() != map.latent() {
        let (expected, found) = (map.latent(), places.as_array().ncols());
        return Err(errors::value(format!("expected places of {expected} coordinates, found {found}")));
    }
    let numbers = arrays::matrix(&places);
    drop(places);
    let (values, magnifications) = py.detach(|| {
        let each = || numbers.chunks_exact(map.latent());
        let values: Vec<f64> = each().flat_map(|place| map.at(place)).collect();
        let magnifications: Vec<f64> = each().map(|place| map.magnification(place)).collect();
        (values, magnifications)
    });
    let found = PyDict::new(py);
    found.set_item("data", arrays::table(py, values, map.dimension())?)?;
    found.set_item("magnifications", magnifications.into_pyarray(py))?;
    Ok(found)
}
