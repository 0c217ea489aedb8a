//! Converts NumPy arrays and SciPy's sparse arrays to the crates' types, and back.
//!
//! Arrays of `float32` or `float64` may be in C or Fortran order, or have any strides. Each array is copied once, into
//! a vector that the crates own. The calling thread makes the copy while it holds the interpreter lock, so that no
//! other thread writes into the array meanwhile. To find the nearest centres, no copy is needed ([`Array`]). Results
//! are not copied, because NumPy takes over the vector.

use std::borrow::Cow;

use lehr_data::dissimilarities::{Dissimilarities, Form, Values};
use lehr_data::{Fingerprints, Incomplete, Points, Sparse};
use lehr_methods::UNLABELLED;
use lehr_mining::vector::{Input, Listed};
use numpy::ndarray::ArrayView2;
use numpy::{Element, IntoPyArray, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use xxhash_rust::xxh3::Xxh3Default;

use crate::{errors, items};

/// Returns the numbers of a two-dimensional array, row by row, and the number of its columns.
fn rows<T: Copy, N>(view: &ArrayView2<'_, T>, number: impl Fn(T) -> N) -> (Vec<N>, usize) {
    let values = match view.as_slice() {
        Some(slice) => slice.iter().map(|value| number(*value)).collect(),
        // The iterator follows the order of elements, not their order in memory.
        None => view.iter().map(|value| number(*value)).collect(),
    };
    (values, view.ncols())
}

/// Reads an array as rows of numbers in double precision, with the number of columns.
fn doubles(x: &Bound<'_, PyAny>) -> PyResult<(Vec<f64>, usize)> {
    if let Ok(array) = x.extract::<PyReadonlyArray2<'_, f64>>() {
        return Ok(rows(&array.as_array(), |value| value));
    }
    if let Ok(array) = x.extract::<PyReadonlyArray2<'_, f32>>() {
        return Ok(rows(&array.as_array(), f64::from));
    }
    Err(errors::value("expected a two-dimensional array of float64 or float32"))
}

/// Reads points from an N x D array, with optional weights.
pub(crate) fn points(x: &Bound<'_, PyAny>, weights: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<Points> {
    let (values, columns) = doubles(x)?;
    weighed(values, columns, weights)
}

fn weighed(values: Vec<f64>, columns: usize, weights: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<Points> {
    let points = Points::new(values, columns).map_err(errors::data)?.with_name("X");
    match weights {
        Some(weights) => points.with_weights(numbers(&weights)).map_err(errors::data),
        None => Ok(points),
    }
}

/// An array that is read in place. An array that is not in C order is copied to C order, in its own precision.
pub(crate) enum Array<'a> {
    F64(Cow<'a, [f64]>),
    F32(Cow<'a, [f32]>),
}

impl Array<'_> {
    pub(crate) fn listed(&self) -> Listed<'_> {
        match self {
            Array::F64(values) => Listed::F64(values),
            Array::F32(values) => Listed::F32(values),
        }
    }
}

/// Returns the numbers of an array, row by row; without a copy if the array is in C order.
pub(crate) fn in_c_order<'a, T: Element + Copy>(array: &'a PyReadonlyArray2<'_, T>) -> Cow<'a, [T]> {
    // NumPy also calls arrays in Fortran order contiguous, so check for C order.
    match array.as_array().to_slice() {
        Some(slice) => Cow::Borrowed(slice),
        None => Cow::Owned(array.as_array().iter().copied().collect()),
    }
}

/// Rows for a method, which the run owns because it may outlive the call.
pub(crate) trait OwnedRows: Send + 'static {
    /// The form in which the method takes the rows.
    type Input<'a>;

    fn input(&self) -> Self::Input<'_>;
    /// A hash that identifies the rows.
    fn fingerprint(&self) -> u64;
}

/// The input of a clustering with centres, in the form in which Python passed it.
pub(crate) enum Rows {
    Numbers(Points),
    Sparse(Sparse),
    Bits(Fingerprints),
}

impl Rows {
    /// Reads an N x D array, a SciPy matrix or array in compressed row format, or fingerprints, with optional weights.
    pub(crate) fn new(x: &Bound<'_, PyAny>, weights: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<Self> {
        if let Ok(rows) = x.cast::<items::Fingerprints>() {
            let rows = rows.get().0.clone();
            return Ok(Rows::Bits(match weights {
                Some(weights) => rows.with_weights(numbers(&weights)).map_err(errors::data)?,
                None => rows,
            }));
        }
        if x.hasattr("indptr")? {
            let rows = sparse(x)?;
            return Ok(Rows::Sparse(match weights {
                Some(weights) => rows.with_weights(numbers(&weights)).map_err(errors::data)?,
                None => rows,
            }));
        }
        points(x, weights).map(Rows::Numbers)
    }
}

impl OwnedRows for Rows {
    type Input<'a> = Input<'a>;

    fn fingerprint(&self) -> u64 {
        self.input().fingerprint()
    }

    fn input(&self) -> Input<'_> {
        match self {
            Rows::Numbers(points) => points.into(),
            Rows::Sparse(rows) => rows.into(),
            Rows::Bits(rows) => rows.into(),
        }
    }
}

/// The input of a mixture or a map. Rows without missing values are points, as in the command, so that the package and
/// the command can resume each other's checkpoints.
pub(crate) enum Records {
    Whole(Points),
    Gaps(Incomplete, Option<Vec<f64>>),
}

impl Records {
    /// Reads an N x D array with NaN for missing values, and optional weights.
    pub(crate) fn new(x: &Bound<'_, PyAny>, weights: Option<PyReadonlyArray1<'_, f64>>) -> PyResult<Self> {
        let (values, columns) = doubles(x)?;
        if values.iter().any(|value| value.is_nan()) {
            let rows = Incomplete::new(values, columns).map_err(errors::data)?;
            return Ok(Records::Gaps(rows, weights.as_ref().map(numbers)));
        }
        weighed(values, columns, weights).map(Records::Whole)
    }
}

impl OwnedRows for Records {
    type Input<'a> = lehr_mining::Input<'a>;

    fn fingerprint(&self) -> u64 {
        self.input().fingerprint()
    }

    fn input(&self) -> lehr_mining::Input<'_> {
        match self {
            Records::Whole(points) => points.into(),
            Records::Gaps(rows, None) => rows.into(),
            Records::Gaps(rows, Some(weights)) => lehr_mining::Input::from(rows).with_weights(weights),
        }
    }
}

/// Reads sparse rows of float64 or float32 in SciPy's CSR format. The arrays of indices and values may be longer than
/// the rows need. Indices have 32 or 64 bits.
fn sparse(x: &Bound<'_, PyAny>) -> PyResult<Sparse> {
    let (_, dimension) = x.getattr("shape")?.extract::<(usize, usize)>()?;
    let starts: Vec<usize> = places(&x.getattr("indptr")?, "indptr")?;
    let end = starts.last().copied().unwrap_or(0);
    let mut columns: Vec<u32> = places(&x.getattr("indices")?, "indices")?;
    columns.truncate(end);
    let values = x.getattr("data")?;
    let mut values: Vec<f64> = if let Ok(values) = values.extract::<PyReadonlyArray1<'_, f64>>() {
        numbers(&values)
    } else if let Ok(values) = values.extract::<PyReadonlyArray1<'_, f32>>() {
        values.as_array().iter().map(|value| f64::from(*value)).collect()
    } else {
        return Err(errors::value("expected sparse rows of float64 or float32"));
    };
    values.truncate(end);
    Ok(Sparse::new(starts, columns, values, dimension).map_err(errors::data)?.with_name("X"))
}

/// Converts an index array of sparse rows to a vector of the type `T`.
fn places<T: TryFrom<i64>>(vector: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<T>> {
    let place = |found: i64| {
        T::try_from(found).map_err(|_| errors::value(format!("{name}: expected places from 0 on, found {found}")))
    };
    if let Ok(array) = vector.extract::<PyReadonlyArray1<'_, i32>>() {
        return array.as_array().iter().map(|found| place(i64::from(*found))).collect();
    }
    if let Ok(array) = vector.extract::<PyReadonlyArray1<'_, i64>>() {
        return array.as_array().iter().map(|found| place(*found)).collect();
    }
    Err(errors::value(format!("{name}: expected an array of int32 or int64")))
}

/// Reads rows from an N x D array, with NaN for missing values.
pub(crate) fn records(x: &Bound<'_, PyAny>) -> PyResult<Incomplete> {
    let (values, columns) = doubles(x)?;
    Incomplete::new(values, columns).map_err(errors::data)
}

/// Reads dissimilarities from an N x N array, in the array's own precision, with NaN for missing pairs.
pub(crate) fn dissimilarities(matrix: &Bound<'_, PyAny>) -> PyResult<Dissimilarities> {
    let (values, rows_there, columns) = if let Ok(array) = matrix.extract::<PyReadonlyArray2<'_, f32>>() {
        let view = array.as_array();
        let (values, columns) = rows(&view, |value| value);
        (Values::F32(values), view.nrows(), columns)
    } else if let Ok(array) = matrix.extract::<PyReadonlyArray2<'_, f64>>() {
        let view = array.as_array();
        let (values, columns) = rows(&view, |value| value);
        (Values::F64(values), view.nrows(), columns)
    } else {
        return Err(errors::value("expected a two-dimensional array of float64 or float32"));
    };
    if rows_there != columns {
        return Err(errors::value(format!(
            "Precomputed metric requires shape (n_samples, n_samples). Got ({rows_there}, {columns})."
        )));
    }
    Dissimilarities::new(columns, Form::Full, values, 1.0).map_err(errors::data)
}

/// Returns the numbers of a one-dimensional array.
pub(crate) fn numbers<T: Element + Copy>(vector: &PyReadonlyArray1<'_, T>) -> Vec<T> {
    vector.as_array().iter().copied().collect()
}

/// Returns the numbers of a matrix, row by row.
pub(crate) fn matrix(x: &PyReadonlyArray2<'_, f64>) -> Vec<f64> {
    rows(&x.as_array(), |value| value).0
}

/// Turns a vector into a two-dimensional array without a copy.
pub(crate) fn table<'py, T: Element>(
    py: Python<'py>,
    values: Vec<T>,
    columns: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    let rows = values.len() / columns.max(1);
    values.into_pyarray(py).reshape([rows, columns])
}

/// Converts labels to the form of estimators, where an outlier and a row without values have the label -1.
pub(crate) fn labels(labels: &[u32]) -> Vec<i32> {
    labels.iter().map(|label| if *label == UNLABELLED { -1 } else { label.cast_signed() }).collect()
}

/// Builds a dictionary of one-dimensional arrays: the columns of a table with one row for each item of `rows`.
pub(crate) struct Columns<'py, 'a, R> {
    rows: &'a [R],
    dict: Bound<'py, PyDict>,
}

impl<'py, 'a, R> Columns<'py, 'a, R> {
    pub(crate) fn of(py: Python<'py>, rows: &'a [R]) -> Self {
        Self { rows, dict: PyDict::new(py) }
    }

    pub(crate) fn with<T: Element>(self, name: &str, of: impl Fn(&R) -> T) -> PyResult<Self> {
        let column: Vec<T> = self.rows.iter().map(of).collect();
        self.dict.set_item(name, column.into_pyarray(self.dict.py()))?;
        Ok(self)
    }

    pub(crate) fn done(self) -> Bound<'py, PyDict> {
        self.dict
    }
}

/// Returns a hash of a matrix.
pub(crate) fn hash(matrix: &Dissimilarities) -> u64 {
    let mut hash = Xxh3Default::new();
    match matrix.values() {
        Values::F64(values) => values.iter().for_each(|value| hash.update(&value.to_le_bytes())),
        Values::F32(values) => values.iter().for_each(|value| hash.update(&value.to_le_bytes())),
        Values::U16(values) => values.iter().for_each(|value| hash.update(&value.to_le_bytes())),
    }
    hash.digest()
}

/// Returns a hash of a vector.
pub(crate) fn hash_numbers(values: &[f64]) -> u64 {
    let mut hash = Xxh3Default::new();
    values.iter().for_each(|value| hash.update(&value.to_le_bytes()));
    hash.digest()
}
