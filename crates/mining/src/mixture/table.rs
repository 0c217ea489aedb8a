//! The rows of a mixture as all sweeps see them: in stored units, with their gaps.

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

/// Deviations below this have variances that a number may not hold.
const NEAREST: f64 = 1e-120;
/// The limits of the fit that fills missing values for the clustering: the gain left per unit of weight, and the number
/// of passes.
const FILLED: SingleEnd = SingleEnd { left: 1e-6, most_sweeps: 200 };
/// Its rows are clouds of at least this share of a column's variance: it is a start, and must not fail.
const CLOUD: f64 = 1e-6;

/// The rows of a fit.
#[derive(Debug)]
pub(crate) struct Table<'a> {
    pub input: Input<'a>,
    /// All rows, gaps filled: the rows to cluster.
    pub rows: Rows<f64>,
    /// The same rows with their gaps, if there are any: the rows to fit.
    pub patterns: Option<Patterns>,
    /// Rows without any value, which count as rows of weight 0.
    pub empty_rows: usize,
}

impl<'a> Table<'a> {
    /// Arranges the rows; gaps are filled by the means of the values that their columns have. Cost: N log N, a copy of
    /// the rows; with gaps N D log N and three.
    ///
    /// # Errors
    /// Returns [`Error::Unobserved`], [`Error::TooFar`], [`Error::TooNear`], [`Error::TooManyPoints`] or
    /// [`Error::Data`].
    pub fn new(input: Input<'a>) -> Result<Self, Error> {
        let points = filled(&input)?;
        Self::of(input, &points)
    }

    /// The same, but each missing value is filled from the rest of its row, under the one Gaussian that fits all rows
    /// best. Filling by means would be worse: clusters would show which cells are missing as much as the values. Up to
    /// 64 columns, all of which vary.
    ///
    /// # Errors
    /// The same as for [`new`](Self::new); [`Error::Ranks`].
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

    /// `points`: the input's rows without gaps, those without any value of weight 0.
    fn of(input: Input<'a>, points: &Points) -> Result<Self, Error> {
        let rows = Rows::<f64>::new(points)?;
        if rows.units.length < NEAREST {
            return Err(Error::TooNear { distance: rows.units.length, least: NEAREST });
        }
        let patterns = (input.missing() > 0).then(|| Patterns::new(&input, points, &rows));
        let empty_rows = (0..input.len()).filter(|&row| input.is_empty_row(row)).count();
        Ok(Self { input, rows, patterns, empty_rows })
    }

    /// The difference of a log-likelihood per unit of weight in stored units from that in the input's.
    pub fn log_unit(&self) -> f64 {
        let cells = match &self.patterns {
            Some(patterns) => patterns.cells / self.rows.total_weight,
            None => self.rows.dimension as f64,
        };
        cells * ln(self.rows.units.length)
    }

    /// The same of the log-density of one row.
    pub fn log_unit_of(&self, row: usize) -> f64 {
        let there = match self.patterns {
            Some(_) => self.input.row(row).iter().filter(|x| !x.is_nan()).count(),
            None => self.rows.dimension,
        };
        there as f64 * ln(self.rows.units.length)
    }

    /// The places of a leaf's rows in the input, those that count first.
    pub fn rows_of(&self, leaf: usize) -> Vec<u32> {
        match &self.patterns {
            Some(patterns) => patterns.leaves[leaf].rows().collect(),
            None => {
                let leaf = &self.rows.leaves[leaf];
                leaf.rows.iter().chain(&leaf.bystander_rows).copied().collect()
            }
        }
    }

    /// The rows with each gap at its expectation under one component, given the values that the row has.
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

/// The rows with gaps filled by means; those without any value weigh nothing.
fn filled<'a>(input: &Input<'a>) -> Result<Cow<'a, Points>, Error> {
    let points = input.filled()?;
    let rows = 0..input.len();
    if !rows.clone().any(|row| input.is_empty_row(row)) {
        return Ok(points);
    }
    let weights = rows.map(|row| if input.is_empty_row(row) { 0.0 } else { input.weight(row) }).collect();
    Ok(Cow::Owned(points.into_owned().with_weights(weights)?))
}
