//! Differences between clusters, and outliers, for `explain` and `outliers` of estimators.

use std::collections::HashMap;

use lehr_data::describe::describe_columns;
use lehr_methods::cluster::{Outlying, Standing};
use lehr_methods::explain::{self, Question};
use lehr_mining::vector::OUTLIER;
use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{self, Columns, OwnedRows, Rows};
use crate::errors;
use crate::tables::{Table, document};

/// Converts labels to the library's form, in which the largest number stands for a row without a cluster. Refuses
/// labels out of range.
fn checked(labels: &PyReadonlyArray1<'_, i32>, clusters: usize) -> PyResult<Vec<u32>> {
    let labels: Vec<u32> = labels.as_array().iter().map(|label| label.cast_unsigned()).collect();
    let wrong = labels.iter().find(|label| **label != OUTLIER && **label as usize >= clusters);
    match wrong {
        Some(label) => {
            let found = label.cast_signed();
            Err(errors::value(format!(
                "labels: expected -1 for rows in no cluster or 0 to {}, found {found}",
                clusters - 1
            )))
        }
        None => Ok(labels),
    }
}

/// Finds the differences between clusters in the columns of a table. With `is_described`, the roles of the columns
/// decide which columns are used. `logs` has the number that was added to each column before its logarithm was taken.
#[pyfunction]
pub(crate) fn explain_clusters<'py>(
    py: Python<'py>,
    table: &Table,
    labels: PyReadonlyArray1<'py, i32>,
    distances: PyReadonlyArray1<'py, f64>,
    clusters: usize,
    logs: HashMap<String, f64>,
    is_described: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let frame = &table.0;
    let (labels, distances) = (checked(&labels, clusters)?, arrays::numbers(&distances));
    if labels.len() != frame.rows() || distances.len() != frame.rows() {
        let (rows, found) = (frame.rows(), labels.len());
        return Err(errors::value(format!("expected one label a row, {rows}, found {found}")));
    }
    let labels: Vec<Option<usize>> =
        labels.iter().map(|label| (*label != OUTLIER).then_some(*label as usize)).collect();
    let explained = py.detach(|| {
        let accounts = is_described.then(|| describe_columns(frame));
        let log_offset = |column: &str| logs.get(column).copied();
        explain::explain(&Question {
            frame,
            accounts: accounts.as_deref(),
            log_offset: &log_offset,
            labels: &labels,
            distances: &distances,
            clusters,
            unnamed: &[],
        })
    });
    document(py, &explained)
}

/// Finds the outliers, by decreasing score, and the radius beyond which rows of an ordinary cluster are outliers.
#[pyfunction]
pub(crate) fn outliers<'py>(
    py: Python<'py>,
    x: &Bound<'py, PyAny>,
    sample_weight: Option<PyReadonlyArray1<'py, f64>>,
    labels: PyReadonlyArray1<'py, i32>,
    centers: PyReadonlyArray2<'py, f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let rows = Rows::new(x, None)?;
    let weights = sample_weight.as_ref().map(arrays::numbers);
    let (dimension, centers) = (centers.as_array().ncols(), arrays::matrix(&centers));
    let labels = checked(&labels, centers.len() / dimension.max(1))?;
    let found = py.detach(|| {
        let standing = Standing::of(rows.input(), &labels, &centers);
        Outlying::of_rows(rows.input(), weights.as_deref(), &labels, &centers, &standing)
    });
    let columns: Vec<Vec<(usize, f64)>> = found.rows.iter().map(|row| row.columns.clone()).collect();
    let table = Columns::of(py, &found.rows)
        .with("row", |row| row.row as i64)?
        .with("cluster", |row| row.cluster as i64)?
        .with("distance", |row| row.distance)?
        .with("score", |row| row.score)?
        .done();
    table.set_item("columns", columns)?;
    table.set_item("radius", found.radius)?;
    Ok(table)
}
