//! Calls methods through their declarations in `lehr_methods`: lists their options, and runs them on dissimilarities.

use std::path::Path;
use std::sync::Arc;

use lehr_methods::options::{Kind, OptionOf, Options, shown};
use lehr_methods::{Column, Data, Matrix, Method, Table, Takes, Task};
use lehr_mining::Error;
use numpy::{IntoPyArray, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use serde_json::{Value, json};

use crate::fit::{Beginning, Checkpoint, Fit, Run};
use crate::{arrays, errors};

/// Returns the options of `lehr distances` as JSON, in the same form as [`declared`].
#[pyfunction]
pub(crate) fn declared_of_distances() -> String {
    let options: Vec<Value> = lehr_methods::distances::options().iter().map(option).collect();
    Value::Array(options).to_string()
}

/// Returns all methods and their options, as JSON.
#[pyfunction]
pub(crate) fn declared() -> String {
    let methods = lehr_methods::ALL.iter().map(|method| {
        let about = method.about();
        let options: Vec<Value> = method.options().iter().map(option).collect();
        json!({ "name": about.name, "line": about.line, "options": options })
    });
    Value::Array(methods.collect()).to_string()
}

fn option(declared: &OptionOf) -> Value {
    let OptionOf { name, python, help, default, kind, .. } = declared;
    let kind = match kind {
        Kind::Flag => "flag",
        Kind::Count { .. } => "count",
        Kind::Number { .. } => "number",
        Kind::Choice(_) => "choice",
        Kind::Text => "text",
        Kind::Texts => "texts",
    };
    json!({ "name": name, "python": python, "help": help, "default": default, "kind": kind, "range": declared.range() })
}

/// Runs a method on the dissimilarities of items, an N x N array.
#[pyfunction]
pub(crate) fn run_matrix<'py>(
    py: Python<'py>,
    method: &str,
    dissimilarities: &Bound<'py, PyAny>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    run: Run<'py>,
) -> PyResult<Bound<'py, PyDict>> {
    let (wanted, options) = Wanted::new(method, run.parameters())?;
    let method = wanted.method;
    let fit = Fit::<Start>::of(py, method.about().name, wanted, run);
    let dissimilarities = arrays::dissimilarities(dissimilarities)?;
    let weights = sample_weight.as_ref().map(arrays::numbers);
    drop(sample_weight);
    let ids = (0..dissimilarities.items()).map(|item| item.to_string()).collect();
    // Tables are built after the run, from its result and its input.
    let matrix = Arc::new(Matrix { dissimilarities, ids, weights, classes: Vec::new(), smiles: None });
    let done = fit.run(
        matrix,
        |matrix| {
            let weights = matrix.weights.as_deref().unwrap_or_default();
            vec![arrays::hash(&matrix.dissimilarities), arrays::hash_numbers(weights)]
        },
        move |matrix, beginning, execution, observer| {
            let checkpoint = match &beginning {
                Beginning::Anew(_) => None,
                Beginning::From(start) => Some(start.content.as_slice()),
            };
            let task = Task { data: Data::Matrix(matrix), checkpoint, execution, observer };
            method.run(task, &options).map(|fit| (fit, Arc::clone(matrix)))
        },
    )?;
    done.found(errors::mining, |py, (fit, matrix)| {
        let data = Data::Matrix(&matrix);
        let tables = PyDict::new(py);
        for name in method.about().outputs {
            if let Some(found) = fit.table(name, data) {
                tables.set_item(name, table(py, found)?)?;
            }
        }
        let found = PyDict::new(py);
        found.set_item("tables", tables)?;
        let figures = PyDict::new(py);
        for (name, figure) in fit.figures(data) {
            figures.set_item(name, figure)?;
        }
        found.set_item("figures", figures)?;
        found.set_item("warnings", fit.warnings())?;
        Ok(found)
    })
}

/// Converts a table to a dictionary of columns.
fn table<'py>(py: Python<'py>, table: Table<'_>) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    for (name, column) in table.columns {
        match column {
            Column::Ids { given: Some(ids), .. } => columns.set_item(name, PyList::new(py, ids)?),
            Column::Ids { given: None, rows } => columns.set_item(name, counts(0..rows as u64).into_pyarray(py)),
            Column::Numbers(values) => columns.set_item(name, values.into_owned().into_pyarray(py)),
            Column::Weights(values) => columns.set_item(name, values.into_pyarray(py)),
            Column::Labels { of_rows, .. } => columns.set_item(name, arrays::labels(&of_rows).into_pyarray(py)),
            Column::Counts(values) => columns.set_item(name, counts(values).into_pyarray(py)),
            Column::Texts(values) => columns.set_item(name, PyList::new(py, values)?),
        }?;
    }
    Ok(columns)
}

fn counts(values: impl IntoIterator<Item = u64>) -> Vec<i64> {
    values.into_iter().map(u64::cast_signed).collect()
}

/// A method and its options.
struct Wanted {
    method: &'static dyn Method,
    /// The options with all defaults, in the form that [`Method::complete`] writes.
    options: String,
}

impl PartialEq for Wanted {
    fn eq(&self, other: &Self) -> bool {
        (self.method.about().name, &self.options) == (other.method.about().name, &other.options)
    }
}

impl Wanted {
    /// Reads options, and checks them against the method's declaration.
    fn new(name: &str, options: &str) -> PyResult<(Self, Options)> {
        let method = lehr_methods::find(name)
            .filter(|method| matches!(method.about().takes, Takes::Matrix(_)))
            .ok_or_else(|| errors::value(format!("there is no method {name:?} of dissimilarities")))?;
        let options: Options =
            serde_json::from_str(options).map_err(|cause| errors::value(format!("options: {cause}")))?;
        if let Some(raised) = method.options().iter().find_map(|declared| out_of_range(declared, &options)) {
            return Err(raised);
        }
        let faults = method.check(&options);
        if !faults.is_empty() {
            return Err(errors::value(faults.join("\n")));
        }
        let completed = method.complete(&options).map_err(errors::value)?;
        Ok((Self { method, options: completed }, options))
    }
}

/// Returns the exception for a number out of its range, in scikit-learn's wording.
fn out_of_range(declared: &OptionOf, options: &Options) -> Option<PyErr> {
    let value = options.get(&declared.name).filter(|value| value.is_number() && declared.fault(value).is_some())?;
    let name = declared.python.as_deref().unwrap_or(&declared.name);
    Some(errors::wrong_parameter(name, &declared.range()?, &shown(value)))
}

/// The checkpoint of a method that was called through its declaration.
struct Start {
    content: Vec<u8>,
    recorded: Wanted,
}

impl Checkpoint for Start {
    type Parameters = Wanted;

    fn parameters(&self) -> &Wanted {
        &self.recorded
    }

    fn read(path: &Path, wanted: &Wanted) -> Result<Self, Error> {
        let method = wanted.method;
        let content = method.read_checkpoint(path)?;
        let options =
            method.recorded(&content).and_then(|options| method.complete(&options).ok()).ok_or_else(|| {
                Error::CheckpointDamaged { path: path.into(), reason: "it records no options of this method".into() }
            })?;
        Ok(Self { content, recorded: Wanted { method, options } })
    }
}
