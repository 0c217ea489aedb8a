//! Sparse rows in the form that kernels read: their squared lengths, and the columns and values that are not 0.

use crate::lanes::Real;

/// The number of additional columns, in which each row has a value: its squared length, and 1.
pub(super) const BEYOND: usize = 2;

/// A block of weighted sparse rows.
#[derive(Clone, Debug)]
pub struct SparseRows<T: Real> {
    pub(super) dimension: usize,
    /// The start of each row in `columns` and `values`; the last entry is the end.
    pub(super) starts: Vec<usize>,
    pub(super) columns: Vec<u32>,
    pub(super) values: Vec<T>,
    /// The squared distance of each row from the origin.
    pub(super) lengths: Vec<T>,
    pub(super) weights: Vec<f64>,
    /// The columns in which some row has a value, in ascending order.
    pub(super) used: Vec<u32>,
    pub(super) square: f64,
}

impl<T: Real> SparseRows<T> {
    /// Copies rows. `row(i)` returns the columns and values of the i-th of `rows` rows; values are divided by `unit`.
    /// `length(i)` is the row's squared length relative to the origin, in the same unit, and `weight(i)` its weight.
    ///
    /// # Panics
    /// Panics if there is no row, if a row does not have as many values as columns, or if a column is beyond the last.
    ///
    /// # Example
    /// ```
    /// use lehr_numerics::sparse::SparseRows;
    /// let (columns, values) = ([0, 3], [2.0, 4.0]);
    /// // From the origin (0, 0, 0, 1) in units of 2.
    /// let rows = SparseRows::<f64>::new(1, 4, 2.0, |_| (&columns, &values), |_| 1.0 + 1.0, |_| 3.0);
    /// assert_eq!(rows.row(0).collect::<Vec<_>>(), [(0, 1.0), (3, 2.0)]);
    /// assert_eq!((rows.rows(), rows.square()), (1, 6.0));
    /// ```
    pub fn new<'a>(
        rows: usize,
        dimension: usize,
        unit: f64,
        row: impl Fn(usize) -> (&'a [u32], &'a [f64]),
        length: impl Fn(usize) -> f64,
        weight: impl Fn(usize) -> f64,
    ) -> Self {
        assert!(rows > 0, "at least one row");
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for index in 0..rows {
            let (row_columns, row_values) = row(index);
            assert_eq!(row_columns.len(), row_values.len());
            assert!(row_columns.iter().all(|column| (*column as usize) < dimension), "{dimension} columns");
            columns.extend_from_slice(row_columns);
            values.extend(row_values.iter().map(|value| T::from_f64(value / unit)));
            starts.push(columns.len());
        }
        let mut used = columns.clone();
        used.sort_unstable();
        used.dedup();
        let lengths: Vec<f64> = (0..rows).map(length).collect();
        let weights: Vec<f64> = (0..rows).map(weight).collect();
        let square = lengths.iter().zip(&weights).map(|(length, weight)| weight * length).sum();
        let lengths = lengths.into_iter().map(T::from_f64).collect();
        Self { dimension, starts, columns, values, lengths, weights, used, square }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.weights.len()
    }

    /// Returns the number of columns.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Returns the columns and values of a row.
    ///
    /// # Panics
    /// Panics if `index` is not below [`SparseRows::rows`].
    pub fn row(&self, index: usize) -> impl Iterator<Item = (usize, f64)> + Clone + '_ {
        let (columns, values) = self.entries(index);
        columns.iter().zip(values).map(|(column, value)| (*column as usize, value.to_f64()))
    }

    /// Returns the weight of a row.
    ///
    /// # Panics
    /// Panics if `index` is not below [`SparseRows::rows`].
    pub fn weight(&self, index: usize) -> f64 {
        self.weights[index]
    }

    /// Returns the weighted sum of the rows' squared lengths relative to the origin.
    pub fn square(&self) -> f64 {
        self.square
    }

    #[inline(always)]
    pub(super) fn entries(&self, index: usize) -> (&[u32], &[T]) {
        let (from, to) = (self.starts[index], self.starts[index + 1]);
        (&self.columns[from..to], &self.values[from..to])
    }
}
