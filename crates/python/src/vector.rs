//! Vector annealing for `lehr.DAClustering`.

use lehr_data::Incomplete;
use lehr_mining::anneal::{Split, Step, Suggestion};
use lehr_mining::number::Number;
use lehr_mining::summary::Summary;
use lehr_mining::vector::{self, Borders, Centroids, Checkpoint, Cluster, Model};
use numpy::{IntoPyArray, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, Array, Columns, OwnedRows, Rows};
use crate::fit::{Fit, Run};
use crate::{errors, job, learnt};

/// Clusters the rows of `x` by deterministic annealing.
#[pyfunction]
pub(crate) fn fit_vector<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    run: Run<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let fit = Fit::<Checkpoint>::new(py, "DAClustering.fit", run)?;
    let done = fit.rows(
        Rows::new(x, sample_weight)?,
        |rows, wanted, execution, relay| vector::cluster(rows, wanted, execution, relay),
        |rows, start, execution, relay| vector::resume(rows, start, execution, relay),
    )?;
    done.found(errors::mining, found)
}

fn found<'py>(py: Python<'py>, model: Model) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("cluster_centers", arrays::table(py, model.centers, model.dimension)?)?;
    found.set_item("labels", arrays::labels(&model.labels).into_pyarray(py))?;
    found.set_item("probabilities", model.probabilities.into_pyarray(py))?;
    found.set_item("borders", borders(&model.borders))?;
    found.set_item("clusters", clusters(py, &model.clusters)?)?;
    found.set_item("inertia", model.sum_of_squares)?;
    found.set_item("free_energy", model.free_energy)?;
    found.set_item("temperature", model.last_temperature)?;
    found.set_item("critical_temperature", model.critical_temperature)?;
    found.set_item("n_iter", model.iterations)?;
    found.set_item("history", history(py, &model.history)?)?;
    found.set_item("splits", splits(py, &model.splits)?)?;
    found.set_item("candidates", candidates(py, model.number.as_ref())?)?;
    found.set_item("reason", model.number.as_ref().map(Number::reason))?;
    found.set_item("warnings", model.warnings)?;
    Ok(found)
}

/// Returns the borders between clusters as JSON, in the format of a model file.
pub(crate) fn borders(borders: &Borders) -> String {
    serde_json::to_string(borders).expect("borders are finite numbers")
}

/// Divides the rows of `x` into at most `cells` cells. Returns a dictionary with the `means` of the cells, their
/// `weights`, and the sum of squares that the cells hide (`hidden`).
#[pyfunction]
pub(crate) fn summarize<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    cells: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let points = arrays::points(x, sample_weight)?;
    let Summary { dimension, means, weights, hidden } = py.detach(|| Summary::of(&points, cells));
    let found = PyDict::new(py);
    found.set_item("means", arrays::table(py, means, dimension)?)?;
    found.set_item("weights", weights.into_pyarray(py))?;
    found.set_item("hidden", hidden)?;
    Ok(found)
}

/// Computes the probability of each cluster for each row of `x`, as an N x K array. `fields` are the clusters in the
/// format of a model file. With `has_gaps`, rows must be in double precision.
#[pyfunction]
pub(crate) fn memberships<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    fields: &str,
    has_gaps: bool,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let centroids: Centroids = learnt::read(fields)?;
    centroids.check().map_err(errors::mining)?;
    let (width, incomplete) = (centroids.len(), |cause: lehr_data::Error| errors::value(cause.to_string()));
    let all = if has_gaps {
        let values = arrays::matrix(&x.extract::<PyReadonlyArray2<'_, f64>>()?);
        let rows = Incomplete::new(values, centroids.dimension()).map_err(incomplete)?;
        py.detach(|| centroids.memberships_incomplete(&rows))
    } else {
        let rows = Rows::new(x, None)?;
        py.detach(|| centroids.memberships(rows.input()))
    };
    arrays::table(py, all.map_err(errors::mining)?, width)
}

/// Finds the nearest centre of each row and, if `with_distances`, the distance to this centre. Returns a dictionary
/// with `labels` and `distances`; `distances` is `None` unless `with_distances`.
///
/// All threads read the array in place while other Python threads run. If another thread writes into the array
/// meanwhile, labels may belong to the old or the new values, as with NumPy's own functions.
#[pyfunction]
#[pyo3(signature = (x, centers, *, threads = None, with_distances = true))]
pub(crate) fn nearest<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    centers: PyReadonlyArray2<'py, f64>,
    threads: Option<usize>,
    with_distances: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let dimension = centers.as_array().ncols();
    let centroids = Centroids::new(dimension, arrays::matrix(&centers), 0.0).map_err(errors::mining)?;
    drop(centers);
    let threads = job::threads(threads);
    let single = x.extract::<PyReadonlyArray2<'_, f32>>().ok();
    let double = x.extract::<PyReadonlyArray2<'_, f64>>().ok();
    let array = match (&single, &double) {
        (Some(array), _) => Some((Array::F32(arrays::in_c_order(array)), array.as_array().dim())),
        (_, Some(array)) => Some((Array::F64(arrays::in_c_order(array)), array.as_array().dim())),
        (None, None) => None,
    };
    let (labels, distances) = if let Some((array, (rows, _))) = array {
        py.detach(|| {
            let (mut labels, mut distances) = (vec![0; rows], with_distances.then(|| vec![0.0; rows]));
            centroids.nearest(array.listed(), threads, &mut labels, distances.as_deref_mut())?;
            Ok((labels, distances))
        })
        .map_err(errors::mining)?
    } else {
        let rows = Rows::new(x, None)?;
        let said = py.detach(|| centroids.assign(rows.input())).map_err(errors::mining)?;
        (said.labels, with_distances.then_some(said.distances))
    };
    let found = PyDict::new(py);
    found.set_item("labels", arrays::labels(&labels).into_pyarray(py))?;
    found.set_item("distances", distances.map(|distances| distances.into_pyarray(py)))?;
    Ok(found)
}

/// Converts the clusters to columns, with one row for each cluster.
pub(crate) fn clusters<'py>(py: Python<'py>, clusters: &[Cluster]) -> PyResult<Bound<'py, PyDict>> {
    Ok(Columns::of(py, clusters)
        .with("n_samples", |cluster| cluster.rows as i64)?
        .with("weight", |cluster| cluster.weight)?
        .with("spread", |cluster| cluster.spread)?
        .with("probability", |cluster| cluster.probability)?
        .done())
}

/// Converts the history to columns, with one row for each temperature.
pub(crate) fn history<'py>(py: Python<'py>, steps: &[Step]) -> PyResult<Bound<'py, PyDict>> {
    Ok(Columns::of(py, steps)
        .with("temperature", |step| step.temperature)?
        .with("n_clusters", |step| step.clusters as i64)?
        .with("free_energy", |step| step.free_energy)?
        .with("mean_cost", |step| step.mean_cost)?
        .with("information", |step| step.information)?
        .with("softness", |step| step.softness)?
        .with("sweeps", |step| step.sweeps as i64)?
        .with("max_move", |step| step.max_move)?
        .with("next_critical", |step| step.next_critical)?
        .done())
}

/// Converts the splits to columns, with one row for each split.
pub(crate) fn splits<'py>(py: Python<'py>, splits: &[Split]) -> PyResult<Bound<'py, PyDict>> {
    Ok(Columns::of(py, splits)
        .with("temperature", |split| split.temperature)?
        .with("critical_temperature", |split| split.critical_temperature)?
        .with("parent", |split| split.parent as i64)?
        .with("n_clusters", |split| split.clusters as i64)?
        .with("merged_at", |split| split.merged_at.unwrap_or(f64::NAN))?
        .with("merged_into", |split| split.merged_into.map_or(-1, |other| other as i64))?
        .done())
}

/// Converts the candidates for the number of clusters to columns, by decreasing number. Returns `None` if the user gave
/// the number.
fn candidates<'py>(py: Python<'py>, number: Option<&Number>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(number) = number else { return Ok(None) };
    let columns = Columns::of(py, &number.candidates)
        .with("n_clusters", |candidate| candidate.clusters as i64)?
        .with("mean_cost", |candidate| candidate.mean_cost)?
        .with("separation", |candidate| candidate.separation.unwrap_or(f64::NAN))?
        .with("division", |candidate| candidate.division)?
        .with("is_separated", |candidate| i64::from(candidate.is_separated))?;
    Ok(Some(columns.done()))
}

/// Converts the plateaus to columns, with one row for each number of clusters. Returns `None` if the user gave the
/// number. If a plateau had not ended when annealing stopped, its last temperature is NaN.
pub(crate) fn plateaus<'py>(py: Python<'py>, suggestion: Option<&Suggestion>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(suggestion) = suggestion else { return Ok(None) };
    let columns = Columns::of(py, &suggestion.plateaus)
        .with("n_clusters", |plateau| plateau.clusters as i64)?
        .with("from_temperature", |plateau| plateau.from)?
        .with("to_temperature", |plateau| plateau.to.unwrap_or(f64::NAN))?;
    Ok(Some(columns.done()))
}
