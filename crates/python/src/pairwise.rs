//! Pairwise annealing for `lehr.PairwiseClustering`.

use lehr_mining::pairwise::{self, Checkpoint, Model};
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, Columns};
use crate::errors;
use crate::fit::{Beginning, Fit, Run};
use crate::vector::{history, plateaus, splits};

/// Clusters items by their dissimilarities, an N x N array.
#[pyfunction]
pub(crate) fn fit_pairwise<'py>(
    py: Python<'py>,
    dissimilarities: &Bound<'py, PyAny>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    run: Run<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let fit = Fit::<Checkpoint>::new(py, "PairwiseClustering.fit", run)?;
    let matrix = arrays::dissimilarities(dissimilarities)?;
    let weights = sample_weight.as_ref().map(arrays::numbers);
    drop(sample_weight);
    let done = fit.run(
        (matrix, weights),
        |(matrix, weights)| vec![arrays::hash(matrix), arrays::hash_numbers(weights.as_deref().unwrap_or_default())],
        |(matrix, weights), beginning, execution, relay| match beginning {
            Beginning::Anew(wanted) => pairwise::cluster(matrix, weights.as_deref(), &wanted, execution, relay),
            Beginning::From(start) => pairwise::resume(matrix, weights.as_deref(), start, execution, relay),
        },
    )?;
    done.found(errors::mining, found)
}

fn found<'py>(py: Python<'py>, model: Model) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    found.set_item("labels", arrays::labels(&model.labels).into_pyarray(py))?;
    found.set_item("probabilities", model.probabilities.into_pyarray(py))?;
    let clusters = Columns::of(py, &model.clusters)
        .with("n_samples", |cluster| cluster.items as i64)?
        .with("weight", |cluster| cluster.weight)?
        .with("medoid", |cluster| cluster.medoid as i64)?
        .with("medoid_mean", |cluster| cluster.medoid_mean)?
        .with("mean_within", |cluster| cluster.mean_within)?
        .with("mean_nearest", |cluster| cluster.mean_nearest)?;
    found.set_item("clusters", clusters.done())?;
    let representatives: Vec<i64> =
        model.clusters.iter().flat_map(|cluster| cluster.representatives).map(|item| item as i64).collect();
    found.set_item("representatives", arrays::table(py, representatives, 3)?)?;
    found.set_item("cost", model.cost)?;
    found.set_item("free_energy", model.free_energy)?;
    found.set_item("temperature", model.last_temperature)?;
    found.set_item("critical_temperature", model.critical_temperature)?;
    found.set_item("n_iter", model.iterations)?;
    found.set_item("history", history(py, &model.history)?)?;
    found.set_item("splits", splits(py, &model.splits)?)?;
    found.set_item("plateaus", plateaus(py, model.suggestion.as_ref())?)?;
    found.set_item("is_damped", model.is_damped)?;
    found.set_item("missing_pairs", model.missing_pairs)?;
    found.set_item("warnings", model.warnings)?;
    Ok(found)
}
