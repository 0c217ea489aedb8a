//! Sparse rows, which store only the nonzero columns of each row, with optional weights and ids; checked once, then
//! immutable.
//!
//! Examples are the word counts of a text, the purchases of a customer, and the genes observed in a cell. A row may
//! have a hundred values in tens of thousands of columns. Rows are stored in compressed sparse row format (CSR), one
//! after another. In each row, the column numbers ascend without repetition, and no stored value is 0. A row may be
//! empty. [`crate::read::svmlight`] and [`crate::read::matrix_market`] read sparse rows from files.

use std::collections::HashMap;

use xxhash_rust::xxh3::Xxh3;

use crate::error::{Column, Error, Fault, Faults, Place};
use crate::points::{Points, checked_weights};

/// The number of the first column in a file and in the names of columns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FirstColumn {
    /// Columns count from 0.
    #[default]
    Zero,
    /// Columns count from 1.
    One,
}

impl FirstColumn {
    /// Returns the number of the first column: 0 or 1.
    pub fn number(self) -> u32 {
        match self {
            FirstColumn::Zero => 0,
            FirstColumn::One => 1,
        }
    }
}

/// Owned, checked sparse rows.
///
/// # Example
/// ```
/// use lehr_data::Sparse;
/// let rows = Sparse::from_rows([vec![(0, 1.0), (3, 2.5)], vec![], vec![(2, -1.0)]], 4)?;
/// assert_eq!((rows.len(), rows.dimension(), rows.nonzeros()), (3, 4, 3));
/// assert_eq!(rows.row(0), (&[0, 3][..], &[1.0, 2.5][..]));
/// assert_eq!(rows.value(2, 2), -1.0);
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    dimension: usize,
    /// The first index of each row in `columns` and `values`; the last entry is the end.
    starts: Vec<usize>,
    /// The columns of all values, ascending within a row.
    columns: Vec<u32>,
    /// The values, finite and not 0.
    values: Vec<f64>,
    first_column: FirstColumn,
    /// The original columns that are kept, ascending, and the number of original columns. `None`: all columns are kept.
    kept: Option<(Vec<u32>, usize)>,
    /// A weight for each row: finite, >= 0, at least one > 0, and with a finite sum.
    weights: Option<Vec<f64>>,
    ids: Option<Vec<String>>,
    name: String,
}

#[allow(clippy::len_without_is_empty)] // there is always at least one row
impl Sparse {
    /// The maximum number of columns. Centres are not sparse, so a stray column number would take gigabytes.
    pub const COLUMNS_MAX: usize = 1 << 24;

    /// Creates rows of `dimension` columns in compressed row format: row `r` has the columns and values from
    /// `starts[r]` to `starts[r + 1]`. Within a row, columns may be in any order. Values of 0 are dropped.
    ///
    /// Cost: one pass, and a sort of each row whose columns do not ascend.
    ///
    /// # Errors
    /// - [`Error::Shape`] if there are no columns or more than [`Sparse::COLUMNS_MAX`], or if starts, columns and
    ///   values do not agree.
    /// - [`Error::Empty`] if there are no rows.
    /// - [`Error::Faults`] with each value that is not finite, each column that occurs twice in a row, and each column
    ///   beyond the last.
    pub fn new(starts: Vec<usize>, columns: Vec<u32>, values: Vec<f64>, dimension: usize) -> Result<Self, Error> {
        let shape = |expected: String, found: String| Error::Shape { what: "sparse rows".into(), expected, found };
        if dimension == 0 || dimension > Self::COLUMNS_MAX {
            return Err(shape(format!("1 to {} columns", Self::COLUMNS_MAX), dimension.to_string()));
        }
        if columns.len() != values.len() {
            return Err(shape(format!("{} values, one a column", columns.len()), values.len().to_string()));
        }
        if starts.len() < 2 {
            return Err(Error::Empty { name: "sparse rows".into(), found: "no rows" });
        }
        let ascend = starts.windows(2).all(|pair| pair[0] <= pair[1]);
        if starts[0] != 0 || !ascend || starts[starts.len() - 1] != columns.len() {
            return Err(shape(format!("starts that ascend from 0 to {}", columns.len()), "others".into()));
        }
        let (ids, weights, name) = (None, None, "sparse rows".into());
        let mut rows = Sparse {
            dimension,
            starts,
            columns,
            values,
            first_column: FirstColumn::Zero,
            kept: None,
            weights,
            ids,
            name,
        };
        rows.sort();
        let mut faults = Faults::new("sparse rows");
        for row in 0..rows.len() {
            let (columns, values) = rows.row(row);
            for (place, (&column, &value)) in columns.iter().zip(values).enumerate() {
                if column as usize >= dimension {
                    let (expected, found) = (format!("columns below {dimension}"), format!("column {column}"));
                    faults.add_with(|| Fault { place: Place::Row(row as u64), column: None, expected, found });
                } else if !value.is_finite() {
                    faults.add_with(|| rows.fault(row, column, "a finite number", value.to_string()));
                } else if place > 0 && columns[place - 1] == column {
                    faults.add_with(|| rows.fault(row, column, "each column once", "it again".into()));
                }
            }
        }
        faults.or(())?;
        rows.drop_zeros();
        Ok(rows)
    }

    /// Creates rows from their columns and values.
    ///
    /// # Errors
    /// Returns the errors of [`Sparse::new`].
    pub fn from_rows<R: IntoIterator<Item = (u32, f64)>>(
        rows: impl IntoIterator<Item = R>,
        dimension: usize,
    ) -> Result<Self, Error> {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for (column, value) in row {
                columns.push(column);
                values.push(value);
            }
            starts.push(columns.len());
        }
        Self::new(starts, columns, values, dimension)
    }

    /// Creates `rows` rows from triplets (row, column, value) in any order.
    ///
    /// # Errors
    /// Returns the errors of [`Sparse::new`]; [`Error::Faults`] with each triplet whose row does not exist.
    ///
    /// # Example
    /// ```
    /// use lehr_data::Sparse;
    /// let rows = Sparse::from_triplets([(2, 0, 1.0), (0, 1, 4.0), (2, 1, 0.0)], 3, 2)?;
    /// assert_eq!((rows.row(0), rows.row(2)), ((&[1][..], &[4.0][..]), (&[0][..], &[1.0][..])));
    /// let twice = Sparse::from_triplets([(0, 1, 4.0), (0, 1, 2.0)], 1, 2).unwrap_err();
    /// assert_eq!(twice.to_string(), "sparse rows, row 1, column 2 (\"x1\"): expected each column once, found it again");
    /// # Ok::<(), lehr_data::Error>(())
    /// ```
    pub fn from_triplets(
        triplets: impl IntoIterator<Item = (usize, u32, f64)>,
        rows: usize,
        dimension: usize,
    ) -> Result<Self, Error> {
        let triplets: Vec<(usize, u32, f64)> = triplets.into_iter().collect();
        let mut faults = Faults::new("sparse rows");
        let mut starts = vec![0; rows + 1];
        for (place, &(row, ..)) in triplets.iter().enumerate() {
            match starts.get_mut(1..).and_then(|counts| counts.get_mut(row)) {
                Some(count) => *count += 1,
                None => {
                    let (expected, found) =
                        (format!("rows below {rows}"), format!("row {row} in the triplet of index {place}"));
                    faults.add_with(|| Fault { place: Place::Whole, column: None, expected, found });
                }
            }
        }
        faults.or(())?;
        (0..rows).for_each(|row| starts[row + 1] += starts[row]);
        let mut next = starts.clone();
        let (mut columns, mut values) = (vec![0; triplets.len()], vec![0.0; triplets.len()]);
        for (row, column, value) in triplets {
            (columns[next[row]], values[next[row]]) = (column, value);
            next[row] += 1;
        }
        Self::new(starts, columns, values, dimension)
    }

    /// Creates sparse rows from points, with their weights and ids.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] if there are more than [`Sparse::COLUMNS_MAX`] columns.
    pub fn from_points(points: &Points) -> Result<Self, Error> {
        let row = |row| (0u32..).zip(points.row(row).iter().copied()).filter(|(_, value)| *value != 0.0);
        let mut rows = Self::from_rows((0..points.len()).map(row), points.dimension())?.with_name(points.name());
        rows.weights = points.weights().map(<[f64]>::to_vec);
        rows.ids = points.ids().map(<[String]>::to_vec);
        Ok(rows)
    }

    /// Sorts the columns of each row. The order of equal columns does not matter, because they are refused.
    fn sort(&mut self) {
        let mut order: Vec<(u32, f64)> = Vec::new();
        for row in 0..self.len() {
            let range = self.starts[row]..self.starts[row + 1];
            let (columns, values) = (&mut self.columns[range.clone()], &mut self.values[range]);
            if columns.windows(2).all(|pair| pair[0] <= pair[1]) {
                continue;
            }
            order.clear();
            order.extend(columns.iter().copied().zip(values.iter().copied()));
            order.sort_by_key(|(column, _)| *column);
            for ((column, value), sorted) in columns.iter_mut().zip(values).zip(&order) {
                (*column, *value) = *sorted;
            }
        }
    }

    fn drop_zeros(&mut self) {
        if !self.values.contains(&0.0) {
            return;
        }
        let (mut kept, mut from) = (0, 0);
        for row in 0..self.len() {
            let to = self.starts[row + 1];
            for place in from..to {
                if self.values[place] != 0.0 {
                    (self.columns[kept], self.values[kept]) = (self.columns[place], self.values[place]);
                    kept += 1;
                }
            }
            (from, self.starts[row + 1]) = (to, kept);
        }
        self.columns.truncate(kept);
        self.values.truncate(kept);
    }

    fn fault(&self, row: usize, column: u32, expected: &str, found: String) -> Fault {
        let name = Some(self.column_name(column as usize));
        let column = Some(Column { index: column as usize, name });
        Fault { place: Place::Row(row as u64), column, expected: expected.into(), found }
    }

    /// Sets the weights of the rows.
    ///
    /// # Errors
    /// - [`Error::Shape`] if the number of weights differs from the number of rows.
    /// - [`Error::Faults`] with each weight that is negative or not finite, or if all weights are 0, or if their sum is
    ///   not finite.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self, Error> {
        self.weights = Some(checked_weights(weights, self.len(), &self.name)?);
        Ok(self)
    }

    /// Sets the ids of the rows.
    ///
    /// # Errors
    /// Returns [`Error::Shape`] if the number of ids differs from the number of rows.
    pub fn with_ids(mut self, ids: Vec<String>) -> Result<Self, Error> {
        if ids.len() != self.len() {
            let (expected, found) = (format!("{}, one a row", self.len()), ids.len().to_string());
            return Err(Error::Shape { what: "ids".into(), expected, found });
        }
        self.ids = Some(ids);
        Ok(self)
    }

    /// Sets the name in messages; readers use the path.
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the number of the first column, from which columns are named.
    pub fn with_first_column(mut self, first_column: FirstColumn) -> Self {
        self.first_column = first_column;
        self
    }

    /// Sets the number of columns; added columns are 0 everywhere. A file mentions only the columns that it uses; this
    /// gives its rows the columns of a model.
    ///
    /// # Errors
    /// - [`Error::Shape`] if there are no columns or more than [`Sparse::COLUMNS_MAX`].
    /// - [`Error::Faults`] with each row that has a column beyond the last.
    ///
    /// # Example
    /// ```
    /// use lehr_data::Sparse;
    /// let rows = Sparse::from_rows([vec![(0, 1.0), (3, 2.5)], vec![(1, 1.0)]], 4)?;
    /// assert_eq!(rows.clone().with_dimension(9)?.dimension(), 9);
    /// let refused = rows.with_dimension(3).unwrap_err().to_string();
    /// assert_eq!(refused, "sparse rows, row 1, column 4 (\"x3\"): expected 3 columns, found a value of 2.5");
    /// # Ok::<(), lehr_data::Error>(())
    /// ```
    pub fn with_dimension(mut self, dimension: usize) -> Result<Self, Error> {
        if dimension == 0 || dimension > Self::COLUMNS_MAX {
            let expected = format!("1 to {} columns", Self::COLUMNS_MAX);
            return Err(Error::Shape { what: self.name, expected, found: dimension.to_string() });
        }
        let mut faults = Faults::new(self.name.clone());
        for row in 0..self.len() {
            let (columns, values) = self.row(row);
            if let (Some(&column), Some(value)) = (columns.last(), values.last())
                && column as usize >= dimension
            {
                let expected = format!("{dimension} columns");
                faults.add_with(|| self.fault(row, column, &expected, format!("a value of {value}")));
            }
        }
        faults.or(())?;
        self.dimension = dimension;
        Ok(self)
    }

    /// Removes the columns without values, if they are at least half of all columns. Centres are not sparse: with one
    /// stray column number, each centre would have millions of zeros. Columns keep their names. The first column stays,
    /// because its name shows where columns count from.
    ///
    /// # Example
    /// ```
    /// use lehr_data::Sparse;
    /// let rows = Sparse::from_rows([vec![(2, 1.0), (9_000_000, 2.5)], vec![]], 10_000_000)?.without_unused();
    /// assert_eq!((rows.dimension(), rows.unused(), rows.row(0)), (3, 9_999_997, (&[1, 2][..], &[1.0, 2.5][..])));
    /// assert_eq!([0, 1, 2].map(|column| rows.column_name(column)), ["x0", "x2", "x9000000"]);
    /// # Ok::<(), lehr_data::Error>(())
    /// ```
    pub fn without_unused(mut self) -> Self {
        let mut used: Vec<u32> = self.columns.clone();
        used.push(0);
        used.sort_unstable();
        used.dedup();
        if used.len() > self.dimension / 2 {
            return self;
        }
        for column in &mut self.columns {
            // All columns are among the used ones.
            *column = used.binary_search(column).unwrap_or_default() as u32;
        }
        let (kept, of) = match self.kept {
            Some((kept, of)) => (used.iter().map(|column| kept[*column as usize]).collect(), of),
            None => (used, self.dimension),
        };
        self.dimension = kept.len();
        self.kept = Some((kept, of));
        self
    }

    /// Returns the number of columns that [`without_unused`](Self::without_unused) removed.
    pub fn unused(&self) -> usize {
        self.kept.as_ref().map_or(0, |(kept, of)| of - kept.len())
    }

    /// Returns the rows in the columns with these names, plus one column with the Euclidean length of the row over all
    /// other columns. For a centre that is 0 in this column, distances are the same as if it were 0 in each of the
    /// other columns.
    ///
    /// # Example
    /// ```
    /// use lehr_data::Sparse;
    /// let rows = Sparse::from_rows([vec![(0, 3.0), (2, 1.0), (5, 4.0)], vec![(2, 2.0)]], 6)?;
    /// let rows = rows.in_columns(&["x1".to_owned(), "x2".to_owned()]);
    /// assert_eq!((rows.row(0), rows.row(1)), ((&[1, 2][..], &[1.0, 5.0][..]), (&[1][..], &[2.0][..])));
    /// # Ok::<(), lehr_data::Error>(())
    /// ```
    pub fn in_columns(&self, names: &[String]) -> Self {
        let place: HashMap<&str, u32> = names.iter().map(String::as_str).zip(0..).collect();
        let rest = names.len() as u32;
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in 0..self.len() {
            let (from, to) = self.row(row);
            let mut length = 0.0_f64;
            for (&column, &value) in from.iter().zip(to) {
                match place.get(&*self.column_name(column as usize)) {
                    Some(&place) => {
                        columns.push(place);
                        values.push(value);
                    }
                    None => length = libm::hypot(length, value),
                }
            }
            if length > 0.0 {
                columns.push(rest);
                values.push(length.min(f64::MAX));
            }
            starts.push(columns.len());
        }
        let (weights, ids, name) = (self.weights.clone(), self.ids.clone(), self.name.clone());
        let (dimension, first_column) = (names.len() + 1, FirstColumn::Zero);
        let mut rows = Sparse { dimension, starts, columns, values, first_column, kept: None, weights, ids, name };
        rows.sort();
        rows
    }

    /// Returns the rows with each column divided by its divisor. Values that would overflow become the largest finite
    /// number of the same sign.
    ///
    /// # Panics
    /// Panics if there is not one finite positive divisor for each column.
    pub fn divided(&self, divisors: &[f64]) -> Self {
        assert_eq!(divisors.len(), self.dimension, "a divisor for each column");
        assert!(divisors.iter().all(|divisor| divisor.is_finite() && *divisor > 0.0), "divisors above 0");
        let mut rows = self.clone();
        for (value, &column) in rows.values.iter_mut().zip(&rows.columns) {
            *value = (*value / divisors[column as usize]).clamp(-f64::MAX, f64::MAX);
        }
        rows.drop_zeros();
        rows
    }

    /// Returns the number of rows, at least 1.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the number of columns, at least 1.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns the number of nonzero values.
    pub fn nonzeros(&self) -> usize {
        self.values.len()
    }

    /// Returns the share of nonzero values.
    pub fn density(&self) -> f64 {
        self.nonzeros() as f64 / self.len() as f64 / self.dimension as f64
    }

    /// Returns the nonzero columns of a row, ascending, and their values.
    ///
    /// # Panics
    /// Panics if there is no row `index`.
    pub fn row(&self, index: usize) -> (&[u32], &[f64]) {
        let range = self.starts[index]..self.starts[index + 1];
        (&self.columns[range.clone()], &self.values[range])
    }

    /// Returns the value of a row in a column.
    ///
    /// # Panics
    /// Panics if there is no row `index`.
    pub fn value(&self, index: usize, column: usize) -> f64 {
        let (columns, values) = self.row(index);
        columns.binary_search(&(column as u32)).map_or(0.0, |place| values[place])
    }

    /// Copies a row to `out`, including zeros.
    ///
    /// # Panics
    /// Panics if there is no row `index`, or if `out` does not have one element per column.
    pub fn read(&self, index: usize, out: &mut [f64]) {
        assert_eq!(out.len(), self.dimension);
        out.fill(0.0);
        let (columns, values) = self.row(index);
        columns.iter().zip(values).for_each(|(&column, &value)| out[column as usize] = value);
    }

    /// Returns the first index of each row in [`columns`](Self::columns) and [`values`](Self::values); the last entry
    /// is the end.
    pub fn starts(&self) -> &[usize] {
        &self.starts
    }

    /// Returns the columns of all values, row by row.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Returns all nonzero values, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Returns the number of the first column.
    pub fn first_column(&self) -> FirstColumn {
        self.first_column
    }

    /// Returns the name of a column: `x` and its number, counted from the number of the first column.
    /// [`without_unused`](Self::without_unused) does not change names.
    pub fn column_name(&self, column: usize) -> String {
        let column =
            self.kept.as_ref().map_or(column, |(kept, _)| kept.get(column).map_or(column, |kept| *kept as usize));
        format!("x{}", column + self.first_column.number() as usize)
    }

    /// Returns the weights, if there are any.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Returns the weight of a row; 1 if there are no weights.
    ///
    /// # Panics
    /// Panics if there are weights and no row `index`.
    pub fn weight(&self, index: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[index])
    }

    /// Returns the sum of the weights, which is finite and positive, or the number of rows if there are no weights.
    pub fn total_weight(&self) -> f64 {
        self.weights.as_ref().map_or(self.len() as f64, |weights| weights.iter().sum())
    }

    /// Returns the ids, if there are any.
    pub fn ids(&self) -> Option<&[String]> {
        self.ids.as_deref()
    }

    /// Returns the name in messages: the path of the file, or `sparse rows`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns a checksum of the data: XXH3 (64 bits) over shape, columns, values and weights, without ids and names.
    pub fn fingerprint(&self) -> u64 {
        let mut hash = Xxh3::new();
        hash.update(b"sparse");
        hash.update(&(self.dimension as u64).to_le_bytes());
        self.starts.iter().for_each(|start| hash.update(&(*start as u64).to_le_bytes()));
        self.columns.iter().for_each(|column| hash.update(&column.to_le_bytes()));
        self.values.iter().for_each(|value| hash.update(&value.to_bits().to_le_bytes()));
        if let Some(weights) = &self.weights {
            hash.update(b"weights");
            weights.iter().for_each(|weight| hash.update(&weight.to_bits().to_le_bytes()));
        }
        hash.digest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(result: Result<Sparse, Error>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn rows_are_sorted_and_zeros_dropped() {
        let rows = Sparse::new(vec![0, 3, 3, 5], vec![4, 0, 2, 1, 3], vec![4.0, -0.0, 2.0, 0.0, 3.0], 5).unwrap();
        assert_eq!(
            (rows.starts(), rows.columns(), rows.values()),
            (&[0, 2, 2, 3][..], &[2, 4, 3][..], &[2.0, 4.0, 3.0][..])
        );
        let mut row = [9.0; 5];
        rows.read(0, &mut row);
        assert_eq!(row, [0.0, 0.0, 2.0, 0.0, 4.0]);
        assert_eq!((rows.value(0, 4), rows.value(0, 0), rows.row(1).0.len()), (4.0, 0.0, 0));
        let points = Points::new(vec![0.0, 0.0, 2.0, 0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0], 5);
        assert_eq!(Sparse::from_points(&points.unwrap()).unwrap().fingerprint(), rows.fingerprint());
    }

    #[test]
    fn every_wrong_value_is_a_fault_of_its_row_and_column() {
        let rows = [vec![(1, f64::NAN), (2, 1.0)], vec![(7, 1.0)], vec![(2, 1.0), (0, 1.0), (2, 3.0)]];
        assert_eq!(
            message(Sparse::from_rows(rows, 3)),
            "sparse rows, row 1, column 2 (\"x1\"): expected a finite number, found NaN\n\
             sparse rows, row 2: expected columns below 3, found column 7\n\
             sparse rows, row 3, column 3 (\"x2\"): expected each column once, found it again\n\
             sparse rows: 3 faults in all"
        );
        assert_eq!(
            message(Sparse::from_triplets([(0, 0, 1.0), (5, 0, 1.0)], 2, 1)),
            "sparse rows: expected rows below 2, found row 5 in the triplet of index 1"
        );
        // The largest number has no successor.
        let told = message(Sparse::from_triplets([(usize::MAX, 0, 1.0), (1, 0, 1.0), (2, 0, 1.0)], 2, 1));
        let words = |row: usize, index: usize| {
            format!("sparse rows: expected rows below 2, found row {row} in the triplet of index {index}\n")
        };
        assert_eq!(told, words(usize::MAX, 0) + &words(2, 2) + "sparse rows: 2 faults in all");
    }

    #[test]
    fn shapes_that_do_not_agree_are_refused() {
        let new = |starts: &[usize], values: usize, dimension| {
            message(Sparse::new(starts.to_vec(), vec![0; 2], vec![1.0; values], dimension))
        };
        assert_eq!(new(&[0, 1, 2], 2, 0), "sparse rows: expected 1 to 16777216 columns, found 0");
        assert!(new(&[0, 1, 2], 2, (1 << 24) + 1).contains("1 to 16777216 columns"));
        assert_eq!(new(&[0, 1, 2], 3, 1), "sparse rows: expected 2 values, one a column, found 3");
        assert_eq!(new(&[0], 2, 1), "sparse rows: expected rows of numbers, found no rows");
        for starts in [&[0, 1][..], &[1, 2], &[0, 2, 1, 2], &[0, 3]] {
            assert_eq!(new(starts, 2, 1), "sparse rows: expected starts that ascend from 0 to 2, found others");
        }
    }

    #[test]
    fn weights_columns_and_values_tell_data_from_others_and_names_do_not() {
        let rows = |column, value| Sparse::from_rows([vec![(column, value)], vec![(0, 1.0)]], 4).unwrap();
        let one = rows(2, 3.0);
        let named =
            one.clone().with_name("other").with_first_column(FirstColumn::One).with_ids(vec!["a".into(), "b".into()]);
        assert_eq!(named.unwrap().fingerprint(), one.fingerprint());
        let others = [
            rows(1, 3.0).fingerprint(),
            rows(2, 3.5).fingerprint(),
            one.clone().with_dimension(5).unwrap().fingerprint(),
            one.clone().with_weights(vec![1.0, 1.0]).unwrap().fingerprint(),
            Sparse::from_rows([vec![(0, 1.0), (2, 3.0)], vec![]], 4).unwrap().fingerprint(),
        ];
        for (index, other) in others.iter().enumerate() {
            assert_ne!(one.fingerprint(), *other);
            assert!(!others[..index].contains(other));
        }
        assert!(one.with_weights(vec![1.0, -1.0]).unwrap_err().to_string().contains("a weight of 0 or more"));
    }

    #[test]
    fn columns_are_divided_and_what_becomes_nothing_is_dropped() {
        let rows = Sparse::from_rows([vec![(0, 6.0), (1, 1e-300)], vec![(1, 1e300)]], 2).unwrap();
        let divided = rows.divided(&[2.0, 1e-10]);
        assert_eq!((divided.value(0, 0), divided.value(1, 1)), (3.0, f64::MAX));
        assert_eq!(rows.divided(&[1.0, 1e100]).nonzeros(), 2);
    }
}
