//! Fits the single component under which the rows are most likely. Without missing values, this component has the mean
//! and the covariance of the rows. With missing values, EM finds the component from any start, because there is only
//! one.

use super::fit::{Columns, left_to_gain, sweep};
use super::gaussians::Gaussians;
use super::m_step::for_pairs;
use super::parameters::Covariance;
use super::table::Table;
use crate::Error;
use crate::round::{Execution, Program, Rounds, drive};

/// When to end the fit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SingleEnd {
    /// The fit ends when, by estimate, the log-likelihood per unit of weight can rise by no more than this.
    pub left: f64,
    /// The maximum number of passes over the rows.
    pub most_sweeps: usize,
}

/// Fits a single component, in stored units.
///
/// # Errors
/// Returns [`Error::Collapsed`] if the component has no width along a direction, and [`Error::Ranks`] if a rank fails.
pub(crate) fn single(
    table: &Table<'_>,
    columns: &Columns,
    covariance: Covariance,
    end: SingleEnd,
    execution: &Execution,
) -> Result<Gaussians, Error> {
    drive(execution, table.rows.dealt, &Single { table, columns, covariance, end })
}

struct Single<'a> {
    table: &'a Table<'a>,
    columns: &'a Columns,
    covariance: Covariance,
    end: SingleEnd,
}

impl Program for Single<'_> {
    type Output = Gaussians;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<Gaussians, Error> {
        let dimension = self.table.rows.dimension;
        let variances = &self.columns.variances;
        let covariances = match self.covariance {
            Covariance::Spherical => vec![variances.iter().sum::<f64>() / dimension as f64],
            Covariance::Diagonal => variances.clone(),
            Covariance::Tied | Covariance::Full => {
                let mut packed = Vec::with_capacity(self.covariance.len(dimension));
                for_pairs(dimension, |_, i, j| packed.push(if i == j { variances[i] } else { 0.0 }));
                packed
            }
        };
        let means = vec![0.0; dimension];
        let mut gaussians =
            Gaussians { covariance: self.covariance, dimension, weights: vec![1.0], means, covariances };
        let (mut ascent, mut total) = (Vec::new(), Vec::new());
        while ascent.len() < self.end.most_sweeps {
            ascent.push(sweep(rounds, self.table, &mut gaussians, 1.0, self.columns, &mut total).await?);
            if left_to_gain(&ascent).is_some_and(|left| left <= self.end.left) {
                break;
            }
        }
        Ok(gaussians)
    }
}
