//! EM at one temperature from a given start, and the temperature below which one component becomes two: the physics without the cooling.

use lehr_data::Points;
use lehr_numerics::cholesky::{cholesky, inverse_of_factor, triangle};
use lehr_numerics::factor::leading_eigenpair;

use super::course::{Columns, log_unit, sweep};
use super::density::Mixture;
use super::gaussians::Gaussians;
use super::m_step::for_pairs;
use super::model::in_input_units;
use super::parameters::Covariance;
use super::rows_of;
use crate::Error;
use crate::round::{Execution, Program, Rounds, drive};
use crate::vector::rows::Rows;

/// Matrices larger than this are not decomposed.
const MOST_SCORES: usize = 256;

/// Where one component becomes two.
#[derive(Clone, Debug, PartialEq)]
pub struct Critical {
    /// A pure number: 1 is ordinary EM. Two components that begin as one stay one above it.
    pub temperature: f64,
    /// The one component that accounts for all rows: their mean and covariance.
    pub mixture: Mixture,
    /// The displacement of the mean (D numbers, in the unit of the points) that grows fastest below the temperature; covariances change with it.
    pub direction: Vec<f64>,
}

/// Finds the temperature below which a single component of this form is unstable.
///
/// It is the largest eigenvalue of the covariance of the component's Fisher-normalised scores (`mining-spec` 3.2): whitened rows `z`, and beside them the part
/// that the free covariance adds, such as `(z z' - 1) / sqrt 2`. The transition may be discontinuous for skewed data. Tied covariances give 1: annealing cannot
/// help them.
///
/// Cost: one pass with M² operations a row and 30 M³ more, on this thread; M is D + 1 (spherical), 2 D (diagonal), D (tied), D (D + 3) / 2 (full).
///
/// # Errors
/// [`Error::Parameter`] if M is above 256; [`Error::Constant`], [`Error::Collapsed`] if the rows have no width along a column or a direction;
/// [`Error::TooFar`], [`Error::TooNear`].
///
/// # Example
/// ```
/// use lehr_data::Points;
/// use lehr_mining::mixture::{Covariance, critical_temperature};
/// // Two points: all of the variance is between the two.
/// let found = critical_temperature(&Points::new(vec![-1.0, 1.0], 1)?, Covariance::Tied)?;
/// assert!((found.temperature - 1.0).abs() < 1e-12 && found.direction == [1.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn critical_temperature(points: &Points, covariance: Covariance) -> Result<Critical, Error> {
    let dimension = points.dimension();
    let scores = match covariance {
        Covariance::Spherical => dimension + 1,
        Covariance::Diagonal => 2 * dimension,
        Covariance::Tied => dimension,
        Covariance::Full => dimension + triangle(dimension),
    };
    if scores > MOST_SCORES {
        return Err(Error::Parameter {
            name: "covariance",
            expected: "a form with at most 256 numbers a component (spherical D + 1, diagonal 2 D, tied D, full D (D + 3) / 2)",
            found: format!("{covariance} in {dimension} columns, {scores} numbers"),
        });
    }
    let rows = rows_of(points)?;
    let Columns { variances, .. } = Columns::new(points, &rows, covariance, 0.0)?;
    let moments = match covariance {
        Covariance::Spherical => vec![variances.iter().sum::<f64>() / dimension as f64],
        Covariance::Diagonal => variances,
        Covariance::Tied | Covariance::Full => second_moments(&rows),
    };
    let one =
        Gaussians { covariance, dimension, weights: vec![1.0], means: vec![0.0; dimension], covariances: moments };
    let factor = cholesky(dimension, &one.packed(0)).ok_or(Error::Collapsed { component: 0, components: 1 })?;
    let whitening = inverse_of_factor(dimension, &factor);
    let mut matrix = vec![0.0; scores * scores];
    let mut score = Vec::with_capacity(scores);
    for_rows(&rows, |row, weight| {
        score.clear();
        for i in 0..dimension {
            score.push(whitening[triangle(i)..][..=i].iter().zip(row).map(|(w, x)| w * x).sum::<f64>());
        }
        add_scores_of_covariance(covariance, dimension, &mut score);
        for i in 0..scores {
            for j in 0..=i {
                matrix[i * scores + j] += weight / rows.total_weight * score[i] * score[j];
            }
        }
    });
    let (temperature, vector) =
        leading_eigenpair(scores, &matrix).ok_or(Error::Collapsed { component: 0, components: 1 })?;
    let direction = (0..dimension)
        .map(|i| rows.unit * factor[triangle(i)..][..=i].iter().zip(&vector).map(|(l, v)| l * v).sum::<f64>())
        .collect();
    Ok(Critical { temperature, mixture: Mixture::from_gaussians(in_input_units(&rows, &one)), direction })
}

/// What a free covariance adds to the scores of its mean, the whitened row.
fn add_scores_of_covariance(covariance: Covariance, dimension: usize, score: &mut Vec<f64>) {
    let root = std::f64::consts::SQRT_2;
    match covariance {
        Covariance::Tied => {}
        Covariance::Spherical => {
            let square: f64 = score.iter().map(|z| z * z).sum();
            score.push((square - dimension as f64) / (2.0 * dimension as f64).sqrt());
        }
        Covariance::Diagonal => (0..dimension).for_each(|j| score.push((score[j] * score[j] - 1.0) / root)),
        Covariance::Full => for_pairs(dimension, |_, i, j| {
            // An entry off the diagonal stands for two.
            score.push(if i == j { (score[i] * score[i] - 1.0) / root } else { score[i] * score[j] });
        }),
    }
}

fn for_rows(rows: &Rows<f64>, mut each: impl FnMut(&[f64], f64)) {
    let mut row = vec![0.0; rows.dimension];
    for tiles in rows.leaves.iter().map(|leaf| leaf.block.numbers()) {
        for index in 0..tiles.rows() {
            tiles.read_row(index, &mut row);
            each(&row, tiles.weight(index));
        }
    }
}

/// Second moments about the origin, which is the mean, as a packed lower triangle.
fn second_moments(rows: &Rows<f64>) -> Vec<f64> {
    let mut moments = vec![0.0; triangle(rows.dimension)];
    for_rows(rows, |row, weight| {
        let share = weight / rows.total_weight;
        for_pairs(rows.dimension, |n, i, j| moments[n] += share * row[i] * row[j]);
    });
    moments
}

/// Where to start.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    /// The components, in the units of the points.
    pub mixture: &'a Mixture,
    /// A pure number, positive; 1 is ordinary EM.
    pub temperature: f64,
    /// As in [`super::Parameters::regularisation`]; 0 for none.
    pub regularisation: f64,
    /// The fixed point is reached when a sweep gains no more than this per unit of weight; not negative.
    pub tolerance: f64,
    /// Passes over the points at most.
    pub most_sweeps: u64,
}

/// A fixed point: components in the order of the start.
#[derive(Clone, Debug, PartialEq)]
pub struct Equilibrium {
    /// The components.
    pub mixture: Mixture,
    /// `T ln sum_k exp(score / T)` per unit of weight before each sweep, in the input's units: it never falls. At temperature 1 the log-likelihood, where there is no regularisation.
    pub objectives: Vec<f64>,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

/// Iterates EM at one temperature to its fixed point.
///
/// Memberships are in proportion to `[P_k N(x; u_k, S_k)]^(1 / T)` (paper 004 section 7, `mining-spec` 3.1); the M-step is that of temperature 1. Cost: passes as in [`super::fit`].
///
/// # Errors
/// [`Error::Parameter`] if a number is out of its range or the mixture has other columns; [`Error::Constant`], [`Error::Collapsed`], [`Error::TooFar`], [`Error::TooNear`].
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
pub fn equilibrium(points: &Points, start: &Start<'_>, execution: &Execution) -> Result<Equilibrium, Error> {
    let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
    let mixture = start.mixture;
    if mixture.dimension() != points.dimension() {
        return wrong("mixture", "as many columns as the points have", mixture.dimension().to_string());
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
    let rows = rows_of(points)?;
    let columns = Columns::new(points, &rows, mixture.form(), start.regularisation)?;
    let stored = Gaussians {
        covariance: mixture.form(),
        dimension: rows.dimension,
        weights: mixture.weights().to_vec(),
        means: mixture
            .means()
            .chunks_exact(rows.dimension)
            .flat_map(|mean| mean.iter().zip(&rows.origin).map(|(u, zero)| (u - zero) / rows.unit).collect::<Vec<_>>())
            .collect(),
        covariances: mixture.numbers().iter().map(|number| number / rows.unit / rows.unit).collect(),
    };
    let fixed = FixedPoint { rows: &rows, gaussians: stored, columns, start: start.clone() };
    drive(execution, rows.count, &fixed)
}

struct FixedPoint<'a> {
    rows: &'a Rows<f64>,
    gaussians: Gaussians,
    columns: Columns,
    start: Start<'a>,
}

impl Program for FixedPoint<'_> {
    type Output = Equilibrium;
    type Error = Error;

    async fn run<R: Rounds>(&self, mut rounds: R) -> Result<Equilibrium, Error> {
        let mut gaussians = self.gaussians.clone();
        let (mut objectives, mut total): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut converged = false;
        while !converged && (objectives.len() as u64) < self.start.most_sweeps {
            let temperature = self.start.temperature;
            let objective =
                sweep(&mut rounds, self.rows, &mut gaussians, temperature, &self.columns, &mut total).await?;
            converged = objectives.last().is_some_and(|last| objective - last <= self.start.tolerance);
            objectives.push(objective);
        }
        let unit = log_unit(self.rows);
        objectives.iter_mut().for_each(|objective| *objective -= unit);
        Ok(Equilibrium {
            mixture: Mixture::from_gaussians(in_input_units(self.rows, &gaussians)),
            objectives,
            converged,
        })
    }
}
