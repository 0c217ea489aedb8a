//! Multidimensional scaling for `lehr.SMACOF`.

use lehr_data::dissimilarities::Dissimilarities;
use lehr_mining::smacof::{self, Checkpoint, Input, Interpolation, Map, Shepard, Stop};
use numpy::{IntoPyArray, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, Columns};
use crate::errors;
use crate::fit::{Beginning, Fit, Run};
use crate::job::ProcessGroup;
use crate::watch;

/// The number of cells on each side of the Shepard diagram.
const BINS: usize = 100;

/// Computes positions of items in few dimensions from their dissimilarities, an N x N array.
#[pyfunction]
#[pyo3(signature = (dissimilarities, sample_weight, run, *, pair_weight = None, init = None, fixed = Vec::new()))]
pub(crate) fn embed<'py>(
    py: Python<'py>,
    dissimilarities: &Bound<'py, PyAny>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    run: Run<'py>,
    pair_weight: Option<&Bound<'py, PyAny>>,
    init: Option<PyReadonlyArray2<'py, f64>>,
    fixed: Vec<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let fit = Fit::<Checkpoint>::new(py, "SMACOF.fit", run)?;
    let given = EmbeddingInput {
        matrix: arrays::dissimilarities(dissimilarities)?,
        pair_weights: pair_weight.map(arrays::dissimilarities).transpose()?,
        weights: sample_weight.as_ref().map(arrays::numbers),
        positions: init.as_ref().map(arrays::matrix),
        fixed,
    };
    drop((sample_weight, init));
    let done = fit.run(given, EmbeddingInput::hashes, |given, beginning, execution, relay| {
        let map = match beginning {
            Beginning::Anew(wanted) => smacof::embed(&given.input(), &wanted, execution, relay),
            Beginning::From(start) => smacof::resume(&given.input(), start, execution, relay),
        }?;
        let shepard = Shepard::new(&given.matrix, &map, BINS);
        Ok((map, shepard))
    })?;
    done.found(errors::mining, |py, (map, shepard)| found(py, map, shepard))
}

/// The input of an embedding, which the run owns because it may outlive the call.
struct EmbeddingInput {
    matrix: Dissimilarities,
    pair_weights: Option<Dissimilarities>,
    weights: Option<Vec<f64>>,
    positions: Option<Vec<f64>>,
    fixed: Vec<usize>,
}

impl EmbeddingInput {
    fn input(&self) -> Input<'_> {
        Input {
            dissimilarities: &self.matrix,
            weights: self.weights.as_deref(),
            pair_weights: self.pair_weights.as_ref(),
            positions: self.positions.as_deref(),
            fixed: &self.fixed,
        }
    }

    fn hashes(&self) -> Vec<u64> {
        let fixed: Vec<f64> = self.fixed.iter().map(|item| *item as f64).collect();
        let vectors = [self.weights.as_deref(), self.positions.as_deref(), Some(&fixed[..])];
        let matrices = [arrays::hash(&self.matrix), self.pair_weights.as_ref().map_or(0, arrays::hash)];
        matrices.into_iter().chain(vectors.map(|numbers| arrays::hash_numbers(numbers.unwrap_or_default()))).collect()
    }
}

fn found<'py>(py: Python<'py>, map: Map, shepard: Shepard) -> PyResult<Bound<'py, PyDict>> {
    let found = PyDict::new(py);
    let history = Columns::of(py, &map.history)
        .with("temperature", |iteration| iteration.temperature)?
        .with("stress", |iteration| iteration.stress)?;
    found.set_item("history", history.done())?;
    found.set_item("n_iter", map.history.len())?;
    found.set_item("embedding", arrays::table(py, map.positions, map.dimension)?)?;
    found.set_item("stress", map.stress)?;
    found.set_item("stress_1", map.stress_1)?;
    found.set_item("raw_stress", map.raw_stress)?;
    found.set_item("item_stress", map.item_stress.into_pyarray(py))?;
    found.set_item("is_converged", map.stop == Stop::Converged)?;
    found.set_item("stresses", map.stresses.into_pyarray(py))?;
    found.set_item("missing_pairs", map.missing_pairs)?;
    found.set_item("warnings", map.warnings)?;
    let diagram = PyDict::new(py);
    let counts: Vec<i64> = shepard.counts.iter().map(|count| *count as i64).collect();
    diagram.set_item("counts", arrays::table(py, counts, shepard.bins)?)?;
    diagram.set_item("largest_dissimilarity", shepard.largest_dissimilarity)?;
    diagram.set_item("largest_distance", shepard.largest_distance)?;
    diagram.set_item("correlation", shepard.correlation)?;
    found.set_item("shepard", diagram)?;
    Ok(found)
}

/// Places new items into a map that stays unchanged. The dissimilarities between new items and the items of the map are
/// an M x N array, with NaN for unknown values.
#[pyfunction]
#[pyo3(signature = (embedding, dissimilarities, *, neighbors, max_iter = 50, threads = None))]
pub(crate) fn interpolate<'py>(
    py: Python<'py>,
    embedding: PyReadonlyArray2<'py, f64>,
    dissimilarities: PyReadonlyArray2<'py, f64>,
    neighbors: usize,
    max_iter: usize,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyDict>> {
    let dimension = embedding.as_array().ncols();
    let (items, width) = dissimilarities.as_array().dim();
    let (map, to_map) = (arrays::matrix(&embedding), arrays::matrix(&dissimilarities));
    drop((embedding, dissimilarities));
    if map.len() != width * dimension {
        return Err(errors::value(format!(
            "expected dissimilarities to the {} items of the map, found {width}",
            map.len() / dimension.max(1)
        )));
    }
    let group = ProcessGroup::new(py, threads)?;
    group.agree(py, "SMACOF.transform", || {
        [arrays::hash_numbers(&map).to_le_bytes(), arrays::hash_numbers(&to_map).to_le_bytes()].concat()
    })?;
    let parameters = Interpolation { neighbours: neighbors, most_iterations: max_iter, leaves_out: false };
    let execution = group.execution;
    let watched = watch::run(py, None, None, group.is_in_job, move |_| {
        let row = |item: usize, row: &mut [f64]| row.copy_from_slice(&to_map[item * width..][..width]);
        smacof::interpolate(&map, dimension, items, &row, &parameters, &execution)
    })?;
    let placed = watched.outcome.map_err(errors::mining)?;
    let found = PyDict::new(py);
    found.set_item("positions", arrays::table(py, placed.positions, dimension)?)?;
    found.set_item("errors", placed.errors.into_pyarray(py))?;
    Ok(found)
}

/// Rotates, reflects, shifts and, on request, scales one map, to align it with another map of the same items.
#[pyfunction]
#[pyo3(signature = (embedding, onto, *, sample_weight = None, scale = false))]
pub(crate) fn align<'py>(
    py: Python<'py>,
    embedding: PyReadonlyArray2<'py, f64>,
    onto: PyReadonlyArray2<'py, f64>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    scale: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let (shape, other) = (embedding.as_array().dim(), onto.as_array().dim());
    if shape != other {
        return Err(errors::value(format!("expected two maps of one shape, found {shape:?} and {other:?}")));
    }
    let weights = sample_weight.as_ref().map(arrays::numbers);
    let (map, target) = (arrays::matrix(&embedding), arrays::matrix(&onto));
    let aligned = smacof::align(&map, &target, shape.1, weights.as_deref(), scale).map_err(errors::mining)?;
    let found = PyDict::new(py);
    found.set_item("positions", arrays::table(py, aligned.positions, shape.1)?)?;
    found.set_item("rotation", arrays::table(py, aligned.rotation, shape.1)?)?;
    found.set_item("scale", aligned.scale)?;
    found.set_item("error", aligned.error)?;
    Ok(found)
}
