//! Dissimilarities for `lehr.pairwise_distances`.
//!
//! Python passes the options as JSON. `lehr_methods::distances` declares the options, so they have the same meaning as
//! in `lehr distances`.

use lehr_data::gower;
use lehr_distances::{Error, Half, Precision, all_pairs};
use lehr_methods::distances::{self, Element, Items, Options};
use lehr_methods::options::Kind;
use lehr_runtime::Dispatcher;
use numpy::IntoPyArray;
use pyo3::prelude::*;
use serde_json::Value;

use crate::items::{Fingerprints, Sequences};
use crate::job::ProcessGroup;
use crate::tables::Table;
use crate::{arrays, errors, watch};

/// Computes the dissimilarities of all pairs of items: sequences, fingerprints, or rows of numbers with NaN for missing
/// values.
#[pyfunction]
#[pyo3(signature = (items, options, *, condensed = false, threads = None, callback = None))]
pub(crate) fn distances_of<'py>(
    py: Python<'py>,
    items: &Bound<'py, PyAny>,
    options: &str,
    condensed: bool,
    threads: Option<usize>,
    callback: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = read(options)?;
    let items = held(items, &options)?.scaled(&options);
    check(&options, &items)?;
    let asked = Request { items, options, is_condensed: condensed, threads, callback };
    match asked.options.element {
        Element::F64 => asked.computed::<f64>(py),
        Element::F32 => asked.computed::<f32>(py),
        Element::U16 | Element::I16be => Err(told("element: expected f64 or f32 of an array, found fixed point")),
    }
}

/// Computes the dissimilarities of items to other items: an array with a row for each item and a column for each other
/// item.
#[pyfunction]
#[pyo3(signature = (items, others, options, *, threads = None))]
pub(crate) fn distances_between<'py>(
    py: Python<'py>,
    items: &Bound<'py, PyAny>,
    others: &Bound<'py, PyAny>,
    options: &str,
    threads: Option<usize>,
) -> PyResult<Bound<'py, PyAny>> {
    let options = read(options)?;
    let (items, others) = (held(items, &options)?, held(others, &options)?);
    check(&options, &items)?;
    let (rows, columns) = (items.len(), others.len());
    let all: Vec<usize> = (0..columns).collect();
    let both = others.joined(&all, &items, &options).map_err(|what| errors::value(format!("Y: {what}")))?;
    let threads = ProcessGroup::new(py, threads)?.execution.threads;
    let computed = py.detach(|| -> Result<Vec<f64>, Error> {
        // Each thread gets several chunks, because alignments take different times.
        let chunk = rows.div_ceil(8 * threads).clamp(1, 64);
        let dispatcher = Dispatcher::new(threads).map_err(|cause| Error::Unsuited {
            name: "n_jobs".into(),
            expected: "threads that can be started".into(),
            found: cause.to_string(),
        })?;
        both.compared(&options, |metric| {
            let pieces = (0..rows).step_by(chunk).map(|first| async move {
                let last = rows.min(first + chunk);
                let mut values = vec![0.0; (last - first) * columns];
                metric.tile(columns + first..columns + last, 0..columns, &mut values);
                values
            });
            let mut values = Vec::with_capacity(rows * columns);
            for piece in dispatcher.run_all(pieces.collect::<Vec<_>>()) {
                values.extend(piece.unwrap_or_else(|failure| panic!("{failure}")));
            }
            Ok::<_, Error>(values)
        })
    });
    let values = computed.map_err(errors::distances)?;
    if let Some(place) = values.iter().position(|value| value.is_infinite()) {
        let (row, column) = (place / columns, place % columns);
        return Err(errors::value(format!(
            "the dissimilarity of row {row} of X and row {column} of Y (counted from 0) is more than a number holds"
        )));
    }
    Ok(match options.element {
        Element::F32 => arrays::table(py, values.iter().map(|value| *value as f32).collect(), columns)?.into_any(),
        _ => arrays::table(py, values, columns)?.into_any(),
    })
}

/// Reads the items that Python passed.
fn held(items: &Bound<'_, PyAny>, options: &Options) -> PyResult<Items> {
    Ok(if let Ok(sequences) = items.cast::<Sequences>() {
        Items::Sequences(sequences.get().0.clone())
    } else if let Ok(prints) = items.cast::<Fingerprints>() {
        Items::Fingerprints(prints.get().0.clone())
    } else if let Ok(frame) = items.cast::<Table>() {
        let rows = gower::rows(&frame.get().0, options.columns.as_deref(), None);
        Items::Records(rows.map_err(|error| errors::value(error.to_string()))?)
    } else {
        Items::Records(arrays::records(items)?)
    })
}

/// Checks whether the options suit the items.
fn check(options: &Options, items: &Items) -> PyResult<()> {
    let faults = [options.faults(), options.suits(items.kind()).err().into_iter().collect()].concat();
    faults.first().map_or(Ok(()), |fault| Err(told(fault)))
}

/// Reads the options, and checks that each value of an option with fixed choices is one of the choices.
fn read(options: &str) -> PyResult<Options> {
    let given: Value = serde_json::from_str(options).map_err(|cause| errors::value(format!("options: {cause}")))?;
    for option in distances::options().iter().filter(|option| matches!(option.kind, Kind::Choice(_))) {
        if let Some(fault) = given.get(&option.name).filter(|word| !word.is_null()).and_then(|word| option.fault(word))
        {
            // Python spells words with hyphens, as the command does.
            return Err(told(&fault.replace('_', "-")));
        }
    }
    serde_json::from_value(given).map_err(|cause| errors::value(format!("options: {cause}")))
}

/// Converts the error of an option to an exception in scikit-learn's wording.
fn told(fault: &str) -> PyErr {
    let parts = fault.split_once(": expected ").and_then(|(name, rest)| Some((name, rest.rsplit_once(", found ")?)));
    let Some((name, (expected, found))) = parts else { return errors::value(fault.to_owned()) };
    let declared = distances::options().into_iter().find(|option| option.name == name);
    let name = declared.and_then(|option| option.python).unwrap_or_else(|| name.to_owned());
    errors::wrong_parameter(&name, expected, found)
}

/// A request for the dissimilarities of all pairs.
struct Request<'a, 'py> {
    items: Items,
    options: Options,
    is_condensed: bool,
    threads: Option<usize>,
    callback: Option<&'a Bound<'py, PyAny>>,
}

impl<'py> Request<'_, 'py> {
    /// Computes all pairs on another thread, and returns the dissimilarities as an array of NumPy.
    fn computed<T: Precision + numpy::Element>(self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let Self { items, options, is_condensed, threads, callback } = self;
        // Memory must hold the computed half and the array that is made from it.
        if let Some(available) = lehr_data::memory::available() {
            let share = if is_condensed { available / 2 } else { available / 3 };
            Half::<T>::fits(items.len(), share).map_err(errors::distances)?;
        }
        let group = ProcessGroup::new(py, threads)?;
        group.agree(py, "pairwise_distances", || {
            [format!("{options:?}").as_bytes(), &items.fingerprint().to_le_bytes()].concat()
        })?;
        let execution = group.execution;
        let watched = watch::run(py, callback, None, group.is_in_job, move |relay| {
            let half = items.compared(&options, |metric| {
                let half = all_pairs::<T>(metric, &execution, None, &mut *relay)?;
                let mut largest = 0.0_f64;
                half.for_each(|value| largest = largest.max(value));
                half.held(largest, metric)?;
                Ok::<_, Error>(half)
            })?;
            Ok::<_, Error>((half.items(), written(&half, is_condensed)))
        })?;
        let (items, values) = watched.outcome.map_err(errors::distances)?;
        if is_condensed {
            return Ok(values.into_pyarray(py).into_any());
        }
        Ok(arrays::table(py, values, items)?.into_any())
    }
}

/// Returns the dissimilarities in the order of the resulting array: all rows or, if condensed, the part above the
/// diagonal.
fn written<T: Precision>(half: &Half<T>, is_condensed: bool) -> Vec<T> {
    let items = half.items();
    let count = if is_condensed { items * items.saturating_sub(1) / 2 } else { items * items };
    let mut values = Vec::with_capacity(count);
    let mut row = vec![0.0; items];
    for item in 0..items {
        half.row(item, &mut row);
        let first = if is_condensed { item + 1 } else { 0 };
        values.extend(row[first..].iter().map(|value| T::from_f64(*value)));
    }
    values
}
