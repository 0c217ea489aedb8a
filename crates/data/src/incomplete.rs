//! Rows of numbers with missing values, such as records of surveys and hospitals.
//!
//! [`Points`] have no missing values, because only you can say what a mean with missing values should be. A
//! dissimilarity of two records can leave out values that either record lacks. This type is for methods that do so. In
//! memory, NaN means missing; an infinite value is a fault.

use xxhash_rust::xxh3::Xxh3;

use crate::duplicates::Duplicates;
use crate::error::{Column, Error, Fault, Faults, Place};
use crate::left_out::LeftOut;
use crate::points::Points;

/// Owned, checked rows of numbers with missing values.
///
/// # Example
/// ```
/// use lehr_data::Incomplete;
/// let records = Incomplete::new(vec![1.0, f64::NAN, 3.0, 8.0], 2)?;
/// assert_eq!((records.len(), records.missing()), (2, 1));
/// assert_eq!(records.standardised().row(0)[0], -1.0);
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Incomplete {
    /// The values, row by row; finite or NaN.
    values: Vec<f64>,
    dimension: usize,
    columns: Vec<String>,
    ids: Option<Vec<String>>,
    missing: usize,
    left_out: Vec<LeftOut>,
    /// Notes for the user: decisions made while reading.
    notes: Vec<String>,
    name: String,
}

#[allow(clippy::len_without_is_empty)] // there is always at least one row
impl Incomplete {
    /// Creates rows from row-major `values`; NaN means missing. The columns are called `x0`, `x1`, ….
    ///
    /// # Errors
    /// - [`Error::Shape`] if `dimension` is 0 or does not divide the number of values; [`Error::Empty`] if there are
    ///   none.
    /// - [`Error::Faults`] with each infinite value.
    pub fn new(values: Vec<f64>, dimension: usize) -> Result<Self, Error> {
        let columns = (0..dimension).map(|index| format!("x{index}")).collect();
        Self::named(values, columns, "rows")
    }

    /// Creates rows with names for the columns, and with a name for messages.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Incomplete::new).
    ///
    /// # Example
    /// ```
    /// use lehr_data::Incomplete;
    /// let fault = Incomplete::named(vec![1.0, f64::INFINITY], vec!["age".into()], "people.csv").unwrap_err();
    /// assert!(fault.to_string().starts_with("people.csv, row 2, column 1 (\"age\")"), "{fault}");
    /// ```
    pub fn named(values: Vec<f64>, columns: Vec<String>, name: &str) -> Result<Self, Error> {
        let dimension = columns.len();
        if dimension == 0 || !values.len().is_multiple_of(dimension) {
            let expected = "rows of at least 1 column".into();
            return Err(Error::Shape {
                what: name.into(),
                expected,
                found: format!("{} in rows of {dimension}", values.len()),
            });
        }
        if values.is_empty() {
            return Err(Error::Empty { name: name.into(), found: "no rows" });
        }
        let mut faults = Faults::new(name);
        for (index, value) in values.iter().enumerate().filter(|(_, value)| value.is_infinite()) {
            let column = Column { index: index % dimension, name: Some(columns[index % dimension].clone()) };
            faults.add_with(|| Fault {
                place: Place::Row((index / dimension) as u64),
                column: Some(column),
                expected: "a finite number, or a missing one".into(),
                found: value.to_string(),
            });
        }
        faults.or(())?;
        let missing = values.iter().filter(|value| value.is_nan()).count();
        Ok(Incomplete {
            values,
            dimension,
            columns,
            ids: None,
            missing,
            left_out: Vec::new(),
            notes: Vec::new(),
            name: name.into(),
        })
    }

    /// Sets the ids of the rows.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] if the number of ids differs from the number of rows.
    pub fn with_ids(self, ids: Vec<String>) -> Result<Self, Error> {
        if ids.len() != self.len() {
            let expected = format!("{}, one a row", self.len());
            return Err(Error::Shape { what: "ids".into(), expected, found: ids.len().to_string() });
        }
        Ok(self.with_read_ids(Some(ids)))
    }

    /// Sets the ids that a reader found, if it found any.
    pub(crate) fn with_read_ids(mut self, ids: Option<Vec<String>>) -> Self {
        debug_assert!(ids.as_ref().is_none_or(|ids| ids.len() == self.len()));
        self.ids = ids;
        self
    }

    pub(crate) fn with_notes(mut self, notes: Vec<String>) -> Self {
        self.notes = notes;
        self
    }

    pub(crate) fn with_left_out(mut self, left_out: Vec<LeftOut>) -> Self {
        self.left_out = left_out;
        self
    }

    /// Replaces the values. They must not be infinite, and values may be missing only where they were before.
    pub(crate) fn with_values(&self, values: Vec<f64>) -> Self {
        debug_assert!(values.len() == self.values.len() && !values.iter().any(|value| value.is_infinite()));
        Incomplete { values, ..self.clone() }
    }

    /// Returns the number of rows, at least 1.
    pub fn len(&self) -> usize {
        self.values.len() / self.dimension
    }

    /// Returns the number of columns, at least 1.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns all values, row by row; NaN means missing.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns a row.
    ///
    /// # Panics
    /// Panics if there is no row `index`.
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.dimension..][..self.dimension]
    }

    /// Returns the values of a column that are not missing, as points with one column; `None` if all are missing.
    pub(crate) fn present(&self, column: usize) -> Option<Points> {
        let cells = self.values[column..].iter().step_by(self.dimension).copied();
        Points::new(cells.filter(|cell| !cell.is_nan()).collect(), 1).ok()
    }

    /// Returns the number of missing values.
    pub fn missing(&self) -> usize {
        self.missing
    }

    /// Returns the names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the ids, if there are any.
    pub fn ids(&self) -> Option<&[String]> {
        self.ids.as_deref()
    }

    /// Returns the non-numeric columns of the source table that you did not request.
    pub fn left_out(&self) -> &[LeftOut] {
        &self.left_out
    }

    /// Returns unusual decisions made while reading the table, one sentence each: the notes of the data frame
    /// ([`DataFrame::notes`](crate::frame::DataFrame::notes)) and the notations of numbers.
    ///
    /// # Example
    /// ```
    /// use lehr_data::read::{Selection, incomplete_from};
    /// let rows = incomplete_from("a;b\n1,5;2\n2,5;3\n".as_bytes(), "t.csv", &Selection::default())?;
    /// assert_eq!(rows.notes(), ["\"a\" is read as number, decimal ','"]);
    /// # Ok::<(), lehr_data::Error>(())
    /// ```
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Returns the name in messages: the path of the file, or `rows`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Scales each column to mean 0 and population standard deviation 1 over its present values. A constant column
    /// becomes 0.
    pub fn standardised(&self) -> Self {
        self.standardised_as(self)
    }

    /// Scales columns by the means and standard deviations of other rows, so that new rows have the same units as rows
    /// that were standardised before. A column that is constant in the other rows becomes 0. A column without values
    /// there stays unchanged.
    ///
    /// # Panics
    /// Panics if the other rows have a different number of columns.
    pub fn standardised_as(&self, others: &Self) -> Self {
        assert_eq!(self.dimension, others.dimension, "rows of one dimension");
        let mut scaled = self.clone();
        for column in 0..self.dimension {
            let present = || others.values[column..].iter().step_by(self.dimension).filter(|value| !value.is_nan());
            let count = present().count() as f64;
            if count == 0.0 {
                continue;
            }
            let mean = present().sum::<f64>() / count;
            let deviation = (present().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt();
            for value in scaled.values[column..].iter_mut().step_by(self.dimension) {
                // In a constant column, present values become 0, and missing values stay missing.
                *value = if deviation > 0.0 { (*value - mean) / deviation } else { *value * 0.0 + 0.0 };
            }
        }
        scaled
    }

    /// Returns the distinct rows in the order of their first occurrence, with their ids or, without ids, with their row
    /// numbers. Also returns, for each row, which distinct row it equals. Missing values count as equal.
    pub fn distinct(&self) -> (Self, Duplicates) {
        let key = |row: usize| self.row(row).iter().map(|value| one_form(*value).to_bits()).collect::<Vec<u64>>();
        let duplicates = Duplicates::of((0..self.len()).map(key));
        (self.select(duplicates.first()), duplicates)
    }

    /// Returns some of the rows, in the given order. Without ids, a row's number here becomes its id, because the
    /// selected rows are numbered differently.
    ///
    /// # Panics
    /// Panics if there is no such row, or if `rows` is empty.
    pub fn select(&self, rows: &[usize]) -> Self {
        assert!(!rows.is_empty(), "at least one row");
        let values: Vec<f64> = rows.iter().flat_map(|&row| self.row(row)).copied().collect();
        let id = |row: usize| self.ids.as_ref().map_or_else(|| row.to_string(), |ids| ids[row].clone());
        Incomplete {
            dimension: self.dimension,
            columns: self.columns.clone(),
            ids: Some(rows.iter().map(|&row| id(row)).collect()),
            missing: values.iter().filter(|value| value.is_nan()).count(),
            left_out: self.left_out.clone(),
            notes: self.notes.clone(),
            name: self.name.clone(),
            values,
        }
    }

    /// Returns a checksum of the data: XXH3 (64 bits) over shape and values, without ids and names.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Xxh3::new();
        hash.update(b"incomplete");
        hash.update(&(self.dimension as u64).to_le_bytes());
        for value in &self.values {
            hash.update(&one_form(*value).to_bits().to_le_bytes());
        }
        hash.digest()
    }
}

/// Returns the value with one form for NaN and for zero.
fn one_form(value: f64) -> f64 {
    if value.is_nan() { f64::NAN } else { value + 0.0 }
}

impl From<Points> for Incomplete {
    /// Converts points to rows without missing values, and drops their weights.
    fn from(points: Points) -> Self {
        let (columns, ids) = (points.columns().to_vec(), points.ids().map(<[String]>::to_vec));
        let (dimension, name) = (points.dimension(), points.name().to_owned());
        let (left_out, notes) = (points.left_out().to_vec(), points.notes().to_vec());
        Incomplete { values: points.values().to_vec(), dimension, columns, ids, missing: 0, left_out, notes, name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_leaves_gaps_and_constants_as_they_are() {
        let rows = Incomplete::new(vec![1.0, 5.0, f64::NAN, 5.0, 5.0, 5.0], 2).unwrap().standardised();
        assert_eq!(rows.row(0), [-1.0, 0.0]);
        assert!(rows.row(1)[0].is_nan());
        assert_eq!(rows.row(2), [1.0, 0.0]);
    }

    #[test]
    fn new_rows_are_scaled_as_those_before_them() {
        let before = Incomplete::new(vec![1.0, 5.0, f64::NAN, 5.0, 5.0, 5.0], 2).unwrap();
        let rows = Incomplete::new(vec![7.0, 5.0, f64::NAN, f64::NAN], 2).unwrap().standardised_as(&before);
        assert_eq!(rows.row(0), [2.0, 0.0]);
        assert!(rows.row(1).iter().all(|value| value.is_nan()));
    }

    #[test]
    fn infinity_is_a_fault_and_a_gap_is_none() {
        let message = Incomplete::new(vec![1.0, f64::INFINITY, f64::NAN, 2.0], 2).unwrap_err().to_string();
        assert_eq!(message, "rows, row 1, column 2 (\"x1\"): expected a finite number, or a missing one, found inf");
    }
}
