//! Finds the temperature below which one component splits into two.

use lehr_numerics::cholesky::{cholesky, inverse_of_factor, packed_row, triangle};
use lehr_numerics::factor::leading_eigenpair;

use super::density::Mixture;
use super::fit::Columns;
use super::gaussians::Gaussians;
use super::information;
use super::m_step::for_pairs;
use super::model::in_input_units;
use super::parameters::Covariance;
use super::single::{SingleEnd, single};
use super::table::Table;
use crate::Error;
use crate::input::Input;
use crate::round::Execution;
use crate::rows::Rows;

/// The maximum number of scores. The matrix to be decomposed has as many rows and columns as there are scores.
const MOST_SCORES: usize = 256;

/// The end of the fit of a single component to rows with missing values. The fit needs full precision, because the
/// critical temperature is a quotient of derivatives of the likelihood.
const LIKELIEST: SingleEnd = SingleEnd { left: 0.0, most_sweeps: 20_000 };

/// The temperature below which one component splits into two, and the direction in which it splits.
#[derive(Clone, Debug, PartialEq)]
pub struct Critical {
    /// The critical temperature, a pure number; ordinary EM has temperature 1. Above the critical temperature, two
    /// components that start out identical stay identical.
    pub temperature: f64,
    /// The single component that is fitted to all rows, with their mean and covariance.
    pub mixture: Mixture,
    /// The displacement of the means that grows fastest below the critical temperature: D numbers, in the unit of the
    /// points. The covariances change together with the means.
    pub direction: Vec<f64>,
}

/// Finds the critical temperature, below which a single component of this covariance type is unstable.
///
/// The critical temperature is the largest eigenvalue of the covariance of the component's Fisher-normalised scores.
/// The scores of a row are its whitened coordinates `z`, followed by the scores of the free covariance, such as
/// `(z z' - 1) / sqrt 2`. For skewed data, the transition may be discontinuous. For tied covariances, the critical
/// temperature is always 1, so annealing cannot help.
///
/// If cells are missing, the scores are those of the component that is most likely for the observed cells. The scores
/// are normalised by the information in the observed cells.
///
/// Cost: on the caller's thread, one pass with M² operations for each row, M² more for each pattern of missing cells,
/// and 30 M³. M is the number of scores: D + 1 (spherical), 2 D (diagonal), D (tied) or D (D + 3) / 2 (full).
///
/// # Errors
/// Returns [`Error::Parameter`] if M is above 256, or if the observed cells do not determine all M numbers. Returns
/// [`Error::Constant`] or [`Error::Collapsed`] if the rows have no width along a column or a direction. Returns
/// [`Error::Unobserved`] if a column has no values. Returns [`Error::TooFar`] or [`Error::TooNear`] if squared
/// distances would overflow or variances would underflow.
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
pub fn critical_temperature<'a>(input: impl Into<Input<'a>>, covariance: Covariance) -> Result<Critical, Error> {
    let input = input.into();
    let dimension = input.dimension();
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
    let table = Table::new(input)?;
    let columns = Columns::new(&table, covariance, 0.0)?;
    if table.patterns.is_some() {
        let one = single(&table, &columns, covariance, LIKELIEST, &Execution::default())?;
        let (temperature, direction) = information::leading(&table, &one, scores)?;
        let direction = direction.iter().map(|d| table.rows.units.length * d).collect();
        let mixture = Mixture::from_gaussians(in_input_units(&table.rows, &one));
        return Ok(Critical { temperature, mixture, direction });
    }
    let (rows, variances) = (table.rows, columns.variances);
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
            score.push(packed_row(&whitening, i).iter().zip(row).map(|(w, x)| w * x).sum::<f64>());
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
        .map(|i| rows.units.length * packed_row(&factor, i).iter().zip(&vector).map(|(l, v)| l * v).sum::<f64>())
        .collect();
    Ok(Critical { temperature, mixture: Mixture::from_gaussians(in_input_units(&rows, &one)), direction })
}

/// Appends the scores of the free covariance to `score`, which has the scores of the mean: the whitened row.
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
            // An off-diagonal entry represents itself and its mirror image.
            score.push(if i == j { (score[i] * score[i] - 1.0) / root } else { score[i] * score[j] });
        }),
    }
}

fn for_rows(rows: &Rows<f64>, mut each: impl FnMut(&[f64], f64)) {
    let mut row = vec![0.0; rows.dimension];
    for tiles in rows.leaves.iter().map(|leaf| leaf.store.numbers()) {
        for index in 0..tiles.rows() {
            tiles.read_row(index, &mut row);
            each(&row, tiles.weight(index));
        }
    }
}

/// Returns the rows' second moments about the origin, which is their mean, as a packed lower triangle.
fn second_moments(rows: &Rows<f64>) -> Vec<f64> {
    let mut moments = vec![0.0; triangle(rows.dimension)];
    for_rows(rows, |row, weight| {
        let share = weight / rows.total_weight;
        for_pairs(rows.dimension, |n, i, j| moments[n] += share * row[i] * row[j]);
    });
    moments
}
