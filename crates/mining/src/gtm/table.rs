//! The rows of a map in the form that all sweeps use: in stored units, with their missing cells.

use lehr_numerics::tiles::Tiles;

use crate::Error;
use crate::input::Input;
use crate::rows::{RowMajor, Rows};

/// The mask of a leaf's cells: 1 if present, 0 if missing.
#[derive(Debug)]
pub(crate) struct Observed {
    pub tiles: Tiles<f64>,
    pub bystanders: Option<Tiles<f64>>,
}

/// The rows of a fit in stored units, and facts about them that all sweeps need.
#[derive(Debug)]
pub(crate) struct Table {
    pub rows: Rows<f64>,
    /// The mask of each leaf; `None` if no cell is missing.
    pub observed: Option<Vec<Observed>>,
    /// For each column, the stored weight of the rows that have a value.
    pub column_weights: Vec<f64>,
    /// The sum of the column weights: the weighted number of present cells.
    pub cells: f64,
    /// The mean variance of a column, in stored units.
    pub variance: f64,
    /// The number of rows without any value.
    pub empty_rows: usize,
}

impl Table {
    /// Arranges the rows. Cost: N log N operations, and two copies of the rows, or three if cells are missing.
    ///
    /// # Errors
    /// Returns [`Error::Unobserved`], [`Error::Constant`] if no column varies, [`Error::TooFar`],
    /// [`Error::TooManyPoints`], [`Error::TooNear`] or [`Error::Data`].
    pub fn new(input: &Input<'_>) -> Result<Self, Error> {
        let points = input.filled()?;
        let rows = Rows::<f64>::new(&*points)?;
        if rows.units.length < super::NEAREST {
            return Err(Error::TooNear { distance: rows.units.length, least: super::NEAREST });
        }
        let dimension = rows.dimension;
        let observed: Option<Vec<Observed>> = (input.missing() > 0).then(|| {
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
            for at in 0..leaf.store.len() {
                if let Some(observed) = &observed {
                    observed[index].tiles.read_row(at, &mut row);
                }
                let weight = leaf.store.weight(at);
                column_weights.iter_mut().zip(&row).for_each(|(sum, there)| *sum += weight * there);
            }
        }
        let cells: f64 = column_weights.iter().sum();
        let variance = rows.square / cells;
        if variance <= 0.0 || variance.is_nan() {
            let first = input.columns().iter().take(10).cloned().collect();
            return Err(Error::Constant { count: dimension, first });
        }
        let empty_rows = (0..input.len()).filter(|&row| input.is_empty_row(row)).count();
        Ok(Self { rows, observed, column_weights, cells, variance, empty_rows })
    }

    /// The log-likelihood per unit of weight in stored units, minus the same in the units of the input.
    pub fn log_unit(&self) -> f64 {
        self.cells / self.rows.total_weight * lehr_numerics::elementary::ln(self.rows.units.length)
    }
}

/// Returns the mask of some rows' present cells, as tiles.
pub(crate) fn flags<'a>(count: usize, dimension: usize, row: impl Fn(usize) -> &'a [f64]) -> Tiles<f64> {
    let there: Vec<f64> = (0..count).flat_map(row).map(|x| if x.is_nan() { 0.0 } else { 1.0 }).collect();
    Tiles::new(count, dimension, &vec![0.0; dimension], |i| RowMajor::new(&there, dimension).row(i), |_| 1.0)
}

#[cfg(test)]
mod tests {
    use lehr_data::Incomplete;

    use super::*;

    #[test]
    fn each_column_has_the_weight_of_the_rows_that_have_it() {
        let rows = Incomplete::new(vec![1.0, f64::NAN, 4.0, 2.0, f64::NAN, 4.0, 100.0, 100.0], 2).unwrap();
        let table = Table::new(&Input::from(&rows)).unwrap();
        assert_eq!((table.column_weights.as_slice(), table.cells), ([3.0, 3.0].as_slice(), 6.0));
    }
}
