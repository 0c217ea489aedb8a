//! What a map is fitted to: points, or rows with missing cells, as one type.

use lehr_data::{Incomplete, Points};
use lehr_numerics::tiles::Tiles;
use xxhash_rust::xxh3::Xxh3;

use crate::Error;
use crate::vector::rows::Rows;

/// Rows for a map: borrowed from [`Points`], or from [`Incomplete`] rows, whose missing cells are left out of every distance.
///
/// # Example
/// ```
/// use lehr_data::Incomplete;
/// use lehr_mining::gtm::Input;
/// let rows = Incomplete::new(vec![1.0, f64::NAN, 3.0, 8.0], 2)?;
/// let input = Input::from(&rows).with_weights(&[1.0, 2.0]);
/// assert_eq!((input.len(), input.dimension(), input.missing()), (2, 2, 1));
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    values: &'a [f64],
    columns: &'a [String],
    weights: Option<&'a [f64]>,
    name: &'a str,
    /// Of the values; weights given later are added.
    fingerprint: u64,
    missing: usize,
}

impl<'a> From<&'a Points> for Input<'a> {
    fn from(points: &'a Points) -> Self {
        Self {
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
    /// The same rows with a weight each; those they had are replaced. Checked when they are used.
    pub fn with_weights(mut self, weights: &'a [f64]) -> Self {
        let mut hash = Xxh3::new();
        hash.update(b"weighted");
        hash.update(&self.fingerprint.to_le_bytes());
        weights.iter().for_each(|weight| hash.update(&(weight + 0.0).to_le_bytes()));
        self.fingerprint = hash.digest();
        self.weights = Some(weights);
        self
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values.len() / self.columns.len()
    }

    /// How many columns there are.
    pub fn dimension(&self) -> usize {
        self.columns.len()
    }

    /// How many cells are missing.
    pub fn missing(&self) -> usize {
        self.missing
    }

    /// A number that tells these rows from others.
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// One row; NaN where a cell is missing.
    pub(crate) fn row(&self, index: usize) -> &'a [f64] {
        &self.values[index * self.columns.len()..][..self.columns.len()]
    }

    /// The rows with gaps filled by their column's mean over what is there of it, in rows of positive weight.
    ///
    /// # Errors
    /// [`Error::Unobserved`] if a column has no cell in them; [`Error::Data`] for faults of the weights.
    fn filled(&self) -> Result<Points, Error> {
        let columns = self.columns.to_vec();
        let dimension = columns.len();
        let mut values = self.values.to_vec();
        if self.missing > 0 {
            let (input, weights) = (*self, self.weights);
            let weight = move |row: usize| weights.map_or(1.0, |weights| weights.get(row).copied().unwrap_or(0.0));
            let mut unobserved = Vec::new();
            for j in 0..dimension {
                // The weight and the value of each cell of the column that is there.
                let there = || {
                    let cells = (0..input.len()).map(move |row| (weight(row), input.row(row)[j]));
                    cells.filter(|(weight, x)| *weight > 0.0 && !x.is_nan())
                };
                if there().next().is_none() {
                    unobserved.push(columns[j].clone());
                    continue;
                }
                // Of values over the largest, and weights over the largest: neither product nor sum overflows.
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
        Ok(match self.weights {
            Some(weights) => points.with_weights(weights.to_vec())?,
            None => points,
        })
    }
}

/// Which cells of a leaf are there: 1 or 0.
#[derive(Debug)]
pub(crate) struct Observed {
    pub tiles: Tiles<f64>,
    pub bystanders: Option<Tiles<f64>>,
}

/// The rows of a fit, in stored units, and what all sweeps need to know of them.
#[derive(Debug)]
pub(crate) struct Table {
    pub rows: Rows<f64>,
    /// One a leaf; nothing where no cell is missing.
    pub observed: Option<Vec<Observed>>,
    /// The stored weight of the rows that have each column.
    pub column_weights: Vec<f64>,
    /// Their sum: how many cells there are.
    pub cells: f64,
    /// The mean variance of a column, in stored units.
    pub variance: f64,
    /// Rows without any cell.
    pub empty_rows: usize,
}

impl Table {
    /// Arranges the rows. Cost: N log N; two copies of the rows, a third where cells are missing.
    ///
    /// # Errors
    /// [`Error::Unobserved`], [`Error::Constant`] if no column varies, [`Error::TooFar`], [`Error::TooManyPoints`], [`Error::TooNear`], [`Error::Data`].
    pub fn new(input: &Input<'_>) -> Result<Self, Error> {
        let points = input.filled()?;
        let rows = Rows::<f64>::new(&points)?;
        if rows.unit < super::NEAREST {
            return Err(Error::TooNear { distance: rows.unit, least: super::NEAREST });
        }
        let dimension = rows.dimension;
        let observed: Option<Vec<Observed>> = (input.missing > 0).then(|| {
            let flags = |rows: &[u32]| flags(rows.len(), dimension, |i| input.row(rows[i] as usize));
            let leaves = rows.leaves.iter();
            leaves
                .map(|leaf| Observed {
                    tiles: flags(&leaf.rows),
                    bystanders: leaf.bystanders.is_some().then(|| flags(&leaf.bystander_rows)),
                })
                .collect()
        });
        let mut column_weights = vec![0.0; dimension];
        let mut row = vec![1.0; dimension];
        for (index, leaf) in rows.leaves.iter().enumerate() {
            for at in 0..leaf.block.rows() {
                if let Some(observed) = &observed {
                    observed[index].tiles.read_row(at, &mut row);
                }
                let weight = leaf.block.weight(at);
                column_weights.iter_mut().zip(&row).for_each(|(sum, there)| *sum += weight * there);
            }
        }
        let cells: f64 = column_weights.iter().sum();
        let variance = rows.square / cells;
        if variance <= 0.0 || variance.is_nan() {
            let first = input.columns.iter().take(10).cloned().collect();
            return Err(Error::Constant { count: dimension, first });
        }
        let empty_rows = (0..input.len()).filter(|&row| input.row(row).iter().all(|x| x.is_nan())).count();
        Ok(Self { rows, observed, column_weights, cells, variance, empty_rows })
    }

    /// What a log-likelihood per unit of weight in stored units is more than one in the input's.
    pub fn log_unit(&self) -> f64 {
        self.cells / self.rows.total_weight * lehr_numerics::elementary::ln(self.rows.unit)
    }
}

/// Which cells of some rows are there, as tiles.
pub(crate) fn flags<'a>(count: usize, dimension: usize, row: impl Fn(usize) -> &'a [f64]) -> Tiles<f64> {
    let there: Vec<f64> = (0..count).flat_map(row).map(|x| if x.is_nan() { 0.0 } else { 1.0 }).collect();
    Tiles::new(count, dimension, &vec![0.0; dimension], |i| &there[i * dimension..][..dimension], |_| 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_filled_by_the_weighted_mean_of_their_column() {
        let rows = Incomplete::new(vec![1.0, f64::NAN, 4.0, 2.0, f64::NAN, 4.0, 100.0, 100.0], 2).unwrap();
        let filled = Input::from(&rows).with_weights(&[2.0, 1.0, 1.0, 0.0]).filled().unwrap();
        assert_eq!(filled.values(), [1.0, 3.0, 4.0, 2.0, 2.0, 4.0, 100.0, 100.0]);
        let table = Table::new(&Input::from(&rows)).unwrap();
        assert_eq!((table.column_weights.as_slice(), table.cells), ([3.0, 3.0].as_slice(), 6.0));
    }

    #[test]
    fn a_column_that_nobody_has_is_named() {
        let rows = Incomplete::new(vec![1.0, f64::NAN, 5.0, 2.0], 2).unwrap();
        let error = Table::new(&Input::from(&rows).with_weights(&[1.0, 0.0])).unwrap_err();
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
