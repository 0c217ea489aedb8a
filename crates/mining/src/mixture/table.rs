//! The rows of a mixture in the form that all sweeps use: in stored units, with their missing values.

use std::borrow::Cow;

use lehr_data::Points;
use lehr_numerics::elementary::ln;

use super::fit::{Columns, MOST_TIED};
use super::gaussians::Gaussians;
use super::parameters::Covariance;
use super::patterns::Patterns;
use super::single::{SingleEnd, single};
use crate::Error;
use crate::input::Input;
use crate::round::Execution;
use crate::rows::Rows;

/// The lower limit of the rows' scale. Below this limit, variances may underflow.
const NEAREST: f64 = 1e-120;
/// When to end the fit that fills missing values for the clustering: the remaining gain per unit of weight, and the
/// maximum number of passes.
const FILLED: SingleEnd = SingleEnd { left: 1e-6, most_sweeps: 200 };
/// The minimum regularisation of the fit that fills missing values. This minimum is above 0 because a fit that only
/// prepares a start must not fail.
const CLOUD: f64 = 1e-6;

/// The rows of a fit.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    pub input: Input<'a>,
    /// All rows with missing values filled. The clustering uses these rows.
    pub rows: Rows<f64>,
    /// The rows with their missing values, if there are any. The mixture is fitted to these rows.
    pub patterns: Option<Patterns>,
    /// The number of rows without any value, which count as rows of weight 0.
    pub empty_rows: usize,
}

impl<'a> Table<'a> {
    /// Arranges the rows, and fills missing values with the means of their columns. Cost: N log N and a copy of the
    /// rows, or N D log N and three copies if values are missing.
    ///
    /// # Errors
    /// Returns [`Error::Unobserved`] if a column has no values, and [`Error::TooManyPoints`] if there are too many
    /// rows. Returns [`Error::TooFar`] or [`Error::TooNear`] if squared distances would overflow or variances would
    /// underflow. Returns [`Error::Data`] for invalid weights.
    pub fn new(input: Input<'a>) -> Result<Self, Error> {
        let points = filled(&input)?;
        Self::of(input, &points)
    }

    /// Arranges the rows, and fills each missing value from the rest of its row, under the single Gaussian that fits
    /// all rows best. Filling with means would be worse, because clusters would then reflect which cells are missing as
    /// much as the values. If there are more than 64 columns, or if a column is constant, missing values are
    /// nevertheless filled with means.
    ///
    /// # Errors
    /// Returns the errors of [`new`](Self::new), and [`Error::Ranks`] if a rank fails.
    pub fn for_clusters(input: Input<'a>, regularisation: f64, execution: &Execution) -> Result<Self, Error> {
        let points = filled(&input)?;
        let table = Self::of(input, &points)?;
        if table.patterns.is_none() || input.dimension() > MOST_TIED {
            return Ok(table);
        }
        let columns = Columns::new(&table, Covariance::Spherical, regularisation.max(CLOUD))?;
        if columns.constant().next().is_some() {
            return Ok(table);
        }
        let one = single(&table, &columns, Covariance::Tied, FILLED, execution)?;
        Self::of(input, &table.expected(&points, &one)?)
    }

    /// Arranges the rows. `points` has the input's rows with missing values filled, where rows without any value have
    /// weight 0.
    fn of(input: Input<'a>, points: &Points) -> Result<Self, Error> {
        let rows = Rows::<f64>::new(points)?;
        if rows.units.length < NEAREST {
            return Err(Error::TooNear { distance: rows.units.length, least: NEAREST });
        }
        let patterns = (input.missing() > 0).then(|| Patterns::new(&input, points, &rows));
        let empty_rows = (0..input.len()).filter(|&row| input.is_empty_row(row)).count();
        Ok(Self { input, rows, patterns, empty_rows })
    }

    /// The log-likelihood per unit of weight in stored units, minus the log-likelihood per unit of weight in the
    /// input's units.
    pub fn log_unit(&self) -> f64 {
        let cells = match &self.patterns {
            Some(patterns) => patterns.cells / self.rows.total_weight,
            None => self.rows.dimension as f64,
        };
        cells * ln(self.rows.units.length)
    }

    /// The log-density of one row in stored units, minus its log-density in the input's units.
    pub fn log_unit_of(&self, row: usize) -> f64 {
        let there = match self.patterns {
            Some(_) => self.input.row(row).iter().filter(|x| !x.is_nan()).count(),
            None => self.rows.dimension,
        };
        there as f64 * ln(self.rows.units.length)
    }

    /// The indices of a leaf's rows in the input, bystanders last.
    pub fn rows_of(&self, leaf: usize) -> Vec<u32> {
        match &self.patterns {
            Some(patterns) => patterns.leaves[leaf].rows().collect(),
            None => {
                let leaf = &self.rows.leaves[leaf];
                leaf.rows.iter().chain(&leaf.bystander_rows).copied().collect()
            }
        }
    }

    /// Fills each missing value with its expectation under the component `one`, given the values that its row has.
    fn expected(&self, points: &Points, one: &Gaussians) -> Result<Points, Error> {
        let (rows, dimension) = (&self.rows, self.rows.dimension);
        let mut values = points.values().to_vec();
        for group in self.patterns.iter().flat_map(Patterns::groups) {
            let (Some(tiles), missing) = (&group.tiles, group.missing(dimension)) else { continue };
            let Some(told) = one.conditional(0, &group.observed, &missing) else { continue };
            let mut there = vec![0.0; group.observed.len()];
            for (index, &row) in group.rows.iter().enumerate() {
                tiles.read_row(index, &mut there);
                let from: Vec<f64> = there.iter().zip(&group.observed).map(|(x, &o)| x - one.mean(0)[o]).collect();
                for (m, &column) in missing.iter().enumerate() {
                    let told: f64 =
                        from.iter().enumerate().map(|(o, from)| from * told.regression[o * missing.len() + m]).sum();
                    let stored = one.mean(0)[column] + told;
                    let value = rows.units.origin[column] + rows.units.length * stored;
                    values[row as usize * dimension + column] = value.clamp(-f64::MAX, f64::MAX);
                }
            }
        }
        let weights = points.weights().map(<[f64]>::to_vec);
        let points = Points::new(values, dimension)?;
        Ok(match weights {
            Some(weights) => points.with_weights(weights)?,
            None => points,
        })
    }
}

/// Returns the rows with missing values replaced by the means of their columns. Rows without any value get weight 0.
fn filled<'a>(input: &Input<'a>) -> Result<Cow<'a, Points>, Error> {
    let points = input.filled()?;
    let rows = 0..input.len();
    if !rows.clone().any(|row| input.is_empty_row(row)) {
        return Ok(points);
    }
    let weights = rows.map(|row| if input.is_empty_row(row) { 0.0 } else { input.weight(row) }).collect();
    Ok(Cow::Owned(points.into_owned().with_weights(weights)?))
}
