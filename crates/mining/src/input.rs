//! The input of mixtures and maps: a single type for points and for rows with missing cells.

use std::borrow::Cow;

use lehr_data::{Incomplete, Points};
use xxhash_rust::xxh3::Xxh3;

use crate::Error;
use crate::rows::RowMajor;

/// Rows for a mixture or a map, borrowed from [`Points`] or from [`Incomplete`] rows. Distances and densities leave out
/// missing cells.
///
/// # Example
/// ```
/// use lehr_data::Incomplete;
/// use lehr_mining::Input;
/// let rows = Incomplete::new(vec![1.0, f64::NAN, 3.0, 8.0], 2)?;
/// let input = Input::from(&rows).with_weights(&[1.0, 2.0]);
/// assert_eq!((input.len(), input.dimension(), input.missing()), (2, 2, 1));
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The points from which the rows were borrowed. `None` if the rows are incomplete or got other weights.
    points: Option<&'a Points>,
    values: &'a [f64],
    columns: &'a [String],
    weights: Option<&'a [f64]>,
    name: &'a str,
    /// The fingerprint of the rows, including weights set by [`with_weights`](Self::with_weights).
    fingerprint: u64,
    missing: usize,
}

impl<'a> From<&'a Points> for Input<'a> {
    fn from(points: &'a Points) -> Self {
        Self {
            points: Some(points),
            values: points.values(),
            columns: points.columns(),
            weights: points.weights(),
            name: points.name(),
            fingerprint: points.fingerprint(),
            missing: 0,
        }
    }
}

impl<'a> From<&'a Incomplete> for Input<'a> {
    fn from(rows: &'a Incomplete) -> Self {
        Self {
            points: None,
            values: rows.values(),
            columns: rows.columns(),
            weights: None,
            name: rows.name(),
            fingerprint: rows.fingerprint(),
            missing: rows.missing(),
        }
    }
}

#[allow(clippy::len_without_is_empty)] // there is always at least one row
impl<'a> Input<'a> {
    /// Sets the weight of each row, which replaces any earlier weight. The weights are checked only when they are used.
    pub fn with_weights(mut self, weights: &'a [f64]) -> Self {
        let mut hash = Xxh3::new();
        hash.update(b"weighted");
        hash.update(&self.fingerprint.to_le_bytes());
        weights.iter().for_each(|weight| hash.update(&(weight + 0.0).to_le_bytes()));
        self.fingerprint = hash.digest();
        self.weights = Some(weights);
        self.points = None;
        self
    }

    /// Returns the rows as points, which are borrowed if possible and copied otherwise. Returns `None` if a value is
    /// missing or the weights are invalid.
    pub(crate) fn points(&self) -> Option<Cow<'a, Points>> {
        if let Some(points) = self.points {
            return Some(Cow::Borrowed(points));
        }
        if self.missing > 0 {
            return None;
        }
        let points = Points::new(self.values.to_vec(), self.dimension()).ok()?;
        let points = match self.weights {
            Some(weights) => points.with_weights(weights.to_vec()).ok()?,
            None => points,
        };
        Some(Cow::Owned(points))
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.values.len() / self.columns.len()
    }

    /// The number of columns.
    pub fn dimension(&self) -> usize {
        self.columns.len()
    }

    /// The number of missing cells.
    pub fn missing(&self) -> usize {
        self.missing
    }

    /// A hash that identifies the values and the weights of the rows.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// The names of the columns.
    pub(crate) fn columns(&self) -> &'a [String] {
        self.columns
    }

    /// The weight of a row, or 1 if no weights were given. If there are fewer weights than rows, the remaining rows
    /// have weight 0, and a later check of the weights fails.
    pub(crate) fn weight(&self, row: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights.get(row).copied().unwrap_or(0.0))
    }

    /// Whether a row has no value.
    pub(crate) fn is_empty_row(&self, row: usize) -> bool {
        self.missing > 0 && self.row(row).iter().all(|x| x.is_nan())
    }

    /// The values of a row, with NaN for each missing cell.
    pub(crate) fn row(&self, index: usize) -> &'a [f64] {
        RowMajor::new(self.values, self.columns.len()).row(index)
    }

    /// Returns the rows with each missing value replaced by the weighted mean of its column.
    ///
    /// # Errors
    /// Returns [`Error::Unobserved`] if a column has no value in rows of positive weight, and [`Error::Data`] for
    /// invalid weights.
    pub(crate) fn filled(&self) -> Result<Cow<'a, Points>, Error> {
        if let Some(points) = self.points {
            return Ok(Cow::Borrowed(points));
        }
        let columns = self.columns.to_vec();
        let dimension = columns.len();
        let mut values = self.values.to_vec();
        if self.missing > 0 {
            let input = *self;
            let mut unobserved = Vec::new();
            for j in 0..dimension {
                // The weight and value of each present cell of the column, in rows of positive weight.
                let there = || {
                    let cells = (0..input.len()).map(move |row| (input.weight(row), input.row(row)[j]));
                    cells.filter(|(weight, x)| *weight > 0.0 && !x.is_nan())
                };
                if there().next().is_none() {
                    unobserved.push(columns[j].clone());
                    continue;
                }
                // Values are divided by the largest value and weights by the largest weight, so that products and sums
                // do not overflow.
                let largest = there().fold(f64::MIN_POSITIVE, |most, (_, x)| most.max(x.abs()));
                let heaviest = there().fold(f64::MIN_POSITIVE, |most, (w, _)| most.max(w));
                let total: f64 = there().map(|(w, _)| w / heaviest).sum();
                let mean = there().map(|(w, x)| w / heaviest * (x / largest)).sum::<f64>() / total * largest;
                values[j..].iter_mut().step_by(dimension).filter(|x| x.is_nan()).for_each(|x| *x = mean);
            }
            if !unobserved.is_empty() {
                let count = unobserved.len();
                unobserved.truncate(10);
                return Err(Error::Unobserved { count, first: unobserved });
            }
        }
        let points = Points::new(values, dimension)?.with_columns(columns)?.with_name(self.name);
        Ok(Cow::Owned(match self.weights {
            Some(weights) => points.with_weights(weights.to_vec())?,
            None => points,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_filled_by_the_weighted_mean_of_their_column() {
        let rows = Incomplete::new(vec![1.0, f64::NAN, 4.0, 2.0, f64::NAN, 4.0, 100.0, 100.0], 2).unwrap();
        let filled = Input::from(&rows).with_weights(&[2.0, 1.0, 1.0, 0.0]).filled().unwrap();
        assert_eq!(filled.values(), [1.0, 3.0, 4.0, 2.0, 2.0, 4.0, 100.0, 100.0]);
    }

    #[test]
    fn a_column_that_nobody_has_is_named() {
        let rows = Incomplete::new(vec![1.0, f64::NAN, 5.0, 2.0], 2).unwrap();
        let error = Input::from(&rows).with_weights(&[1.0, 0.0]).filled().unwrap_err();
        assert!(matches!(&error, Error::Unobserved { count: 1, first } if first[..] == ["x1"]), "{error}");
    }

    #[test]
    fn weights_are_part_of_the_fingerprint() {
        let rows = Incomplete::new(vec![1.0, f64::NAN, 5.0, 2.0], 2).unwrap();
        let weighted = |weights: &[f64]| Input::from(&rows).with_weights(weights).fingerprint();
        assert_ne!(weighted(&[1.0, 2.0]), weighted(&[2.0, 1.0]));
        assert_ne!(weighted(&[1.0, 1.0]), Input::from(&rows).fingerprint());
    }
}
