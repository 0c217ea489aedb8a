//! Runs EM at one temperature from a given start, without cooling.

use super::density::Mixture;
use super::fit::{Columns, sweep};
use super::gaussians::Gaussians;
use super::model::in_input_units;
use super::table::Table;
use crate::Error;
use crate::input::Input;
use crate::round::{Execution, Program, Rounds, drive};

/// The components and the temperature that [`equilibrium`] starts from, and when to end.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// The components, in the units of the points.
    pub mixture: &'a Mixture,
    /// The temperature, a pure number above 0: 1 is ordinary EM.
    pub temperature: f64,
    /// The regularisation, as in [`super::Parameters::regularisation`]; 0 means no regularisation.
    pub regularisation: f64,
    /// The tolerance, at least 0. A sweep has reached the fixed point if it raises the objective per unit of weight by
    /// no more than the tolerance.
    pub tolerance: f64,
    /// The maximum number of passes over the points.
    pub most_sweeps: u64,
}

/// A fixed point, with its components in the order of the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// The components.
    pub mixture: Mixture,
    /// The objective `T ln sum_k exp(score / T)` per unit of weight before each sweep, in the input's units. The
    /// objective never falls. At temperature 1 without regularisation, the objective is the log-likelihood.
    pub objectives: Vec<f64>,
    /// Whether a sweep reached the fixed point before the maximum number of passes.
    pub converged: bool,
}

/// Iterates EM at one temperature to its fixed point.
///
/// Memberships are proportional to `[P_k N(x; u_k, S_k)]^(1 / T)` (paper 004 section 7); the M-step is the same as at
/// temperature 1. Cost: one pass for each sweep, as expensive as a pass of EM in [`super::fit`].
///
/// # Errors
/// Returns [`Error::Parameter`] if a number is outside its range, or if the mixture and the rows have different numbers
/// of columns. Returns [`Error::Constant`] or [`Error::Unobserved`] if columns do not vary or have no values. Returns
/// [`Error::Collapsed`] if a covariance is no longer positive definite. Returns [`Error::TooFar`] or [`Error::TooNear`]
/// if squared distances would overflow or variances would underflow.
///
/// # Example
/// ```
/// use lehr_data::Points;
/// use lehr_mining::{Execution, mixture::{Covariance, Mixture, Start, equilibrium}};
/// let points = Points::new(vec![1.0, 3.0], 1)?;
/// let start = Mixture::new(Covariance::Full, 1, vec![1.0], vec![0.0], vec![1.0])?;
/// let start = Start { mixture: &start, temperature: 1.0, regularisation: 0.0, tolerance: 1e-12, most_sweeps: 10 };
/// let found = equilibrium(&points, &start, &Execution::default())?;
/// assert_eq!((found.mixture.mean(0), found.mixture.covariance(0)), ([2.0].as_slice(), vec![1.0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn equilibrium<'a>(
    input: impl Into<Input<'a>>,
    start: &Start<'_>,
    execution: &Execution,
) -> Result<Equilibrium, Error> {
    let input = input.into();
    let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
    let mixture = start.mixture;
    if mixture.dimension() != input.dimension() {
        return wrong("mixture", "as many columns as the rows have", mixture.dimension().to_string());
    }
    if !(start.temperature.is_normal() && start.temperature > 0.0) {
        return wrong("temperature", "a positive number", start.temperature.to_string());
    }
    if !(0.0..=0.1).contains(&start.regularisation) {
        return wrong("regularisation", "0 to 0.1", start.regularisation.to_string());
    }
    if !(start.tolerance.is_finite() && start.tolerance >= 0.0) {
        return wrong("tolerance", "0 or a positive number", start.tolerance.to_string());
    }
    let table = Table::new(input)?;
    let (rows, columns) = (&table.rows, Columns::new(&table, mixture.form(), start.regularisation)?);
    let stored = Gaussians {
        covariance: mixture.form(),
        dimension: rows.dimension,
        weights: mixture.weights().to_vec(),
        means: mixture
            .means()
            .chunks_exact(rows.dimension)
            .flat_map(|mean| {
                mean.iter().zip(&rows.units.origin).map(|(u, zero)| (u - zero) / rows.units.length).collect::<Vec<_>>()
            })
            .collect(),
        covariances: mixture.numbers().iter().map(|number| number / rows.units.length / rows.units.length).collect(),
    };
    let fixed = FixedPoint { table: &table, gaussians: stored, columns, start: start.clone() };
    drive(execution, rows.dealt, &fixed)
}

struct FixedPoint<'a> {
    table: &'a Table<'a>,
    gaussians: Gaussians,
    columns: Columns,
    start: Start<'a>,
}

impl Program for FixedPoint<'_> {
    type Output = Equilibrium;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<Equilibrium, Error> {
        let mut gaussians = self.gaussians.clone();
        let (mut objectives, mut total): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut converged = false;
        while !converged && (objectives.len() as u64) < self.start.most_sweeps {
            let temperature = self.start.temperature;
            let objective = sweep(rounds, self.table, &mut gaussians, temperature, &self.columns, &mut total).await?;
            converged = objectives.last().is_some_and(|last| objective - last <= self.start.tolerance);
            objectives.push(objective);
        }
        let unit = self.table.log_unit();
        objectives.iter_mut().for_each(|objective| *objective -= unit);
        Ok(Equilibrium {
            mixture: Mixture::from_gaussians(in_input_units(&self.table.rows, &gaussians)),
            objectives,
            converged,
        })
    }
}
