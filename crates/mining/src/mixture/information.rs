//! Computes the scores of a single component from rows with missing values, and the information in the present cells.
//!
//! Two components at the same position separate below a certain temperature. Below this temperature T, the variance of
//! the scores exceeds T times the curvature of the likelihood along some direction of the parameters. Let `s_i` be the
//! score of row i, and J the observed information (minus the second derivative of the log-likelihood). The components
//! separate when `delta' (sum w s s' - T J) delta` becomes positive for some change `delta` of the parameters. Without
//! missing values, J is the Fisher information at the rows' mean and covariance. The critical temperature is then the
//! largest eigenvalue of the covariance of the normalised scores. A row that has the columns o contributes the
//! following score and curvature, where `K = S_oo⁻¹` and `y = K (x_o - u_o)`. B is a symmetric change of the
//! covariance, and a is a change of the mean:
//!
//! ```text
//! score      y of the mean, (y' B y - tr K B) / 2 of the covariance
//! curvature  a' K a + 2 a' K B y + y' B K B y - tr(K B K B) / 2      for a change (a, B)
//! ```

use lehr_numerics::cholesky::{cholesky, inverse_of_factor, packed_row, triangle};
use lehr_numerics::factor::leading_eigenpair;
use lehr_numerics::tiles::Tiles;

use super::gaussians::Gaussians;
use super::m_step::for_pairs;
use super::parameters::Covariance;
use super::patterns::Patterns;
use super::seen::entry;
use super::table::Table;
use crate::Error;

/// A change of the covariance, given by the entries to which the change adds 1.
type Change = Vec<(usize, usize)>;

/// Returns the changes that a covariance type allows: one change for each free number of the covariance.
fn changes(covariance: Covariance, dimension: usize) -> Vec<Change> {
    match covariance {
        Covariance::Tied => Vec::new(),
        Covariance::Spherical => vec![(0..dimension).map(|j| (j, j)).collect()],
        Covariance::Diagonal => (0..dimension).map(|j| vec![(j, j)]).collect(),
        Covariance::Full => {
            let mut changes = Vec::with_capacity(triangle(dimension));
            for_pairs(dimension, |_, i, j| changes.push(if i == j { vec![(i, i)] } else { vec![(i, j), (j, i)] }));
            changes
        }
    }
}

/// Returns the critical temperature: the largest quotient of the squared scores and the information over all directions
/// of the component's parameters. Also returns how the mean changes along the direction with the largest quotient, in
/// stored units.
///
/// # Errors
/// Returns [`Error::Parameter`] if the information is not positive definite, and [`Error::Collapsed`] if the covariance
/// is not positive definite.
pub(crate) fn leading(table: &Table<'_>, one: &Gaussians, numbers: usize) -> Result<(f64, Vec<f64>), Error> {
    let dimension = one.dimension;
    let mut told = Told::new(one, numbers);
    for group in table.patterns.iter().flat_map(Patterns::groups) {
        if let Some(tiles) = &group.tiles {
            told.add(tiles, &group.observed)?;
        }
    }
    let Told { widths, mut square, information, .. } = told;
    let untold = || Error::Parameter {
        name: "covariance",
        expected: "a form that the cells with values determine",
        found: format!("{} with columns that no row has together, or hardly any", one.covariance),
    };
    let white = inverse_of_factor(numbers, &cholesky(numbers, &information).ok_or_else(untold)?);
    for i in 0..numbers {
        for j in 0..i {
            square[j * numbers + i] = square[i * numbers + j];
        }
    }
    let normalised = congruent(numbers, &white, &square);
    let (temperature, vector) = leading_eigenpair(numbers, &normalised).ok_or_else(untold)?;
    let length = table.rows.total_weight.sqrt();
    let direction = (0..dimension)
        .map(|j| {
            let along: f64 = (j..numbers).map(|i| white[triangle(i) + j] * vector[i]).sum();
            length * widths[j] * along
        })
        .collect();
    Ok((temperature, direction))
}

/// The sums of squared scores and of information over groups of rows. Columns are divided by their standard deviations,
/// so that differences in scale do not reduce the precision.
struct Told<'a> {
    one: &'a Gaussians,
    numbers: usize,
    /// The component's covariance, as a packed lower triangle.
    packed: Vec<f64>,
    widths: Vec<f64>,
    changes: Vec<Change>,
    /// The sum of the squared scores, in the lower triangle of a full matrix.
    square: Vec<f64>,
    /// The information, as a packed lower triangle.
    information: Vec<f64>,
}

/// Weighted sums over the rows of a group.
struct Moments {
    mass: f64,
    /// The weighted sum of the rows' `y`: D numbers.
    first: Vec<f64>,
    /// The weighted sum of the rows' `y y'`: D x D numbers.
    second: Vec<f64>,
}

impl<'a> Told<'a> {
    fn new(one: &'a Gaussians, numbers: usize) -> Self {
        let packed = one.packed(0);
        let widths: Vec<f64> = (0..one.dimension).map(|j| packed[triangle(j) + j].sqrt()).collect();
        let changes = changes(one.covariance, one.dimension);
        let (square, information) = (vec![0.0; numbers * numbers], vec![0.0; triangle(numbers)]);
        Self { one, numbers, packed, widths, changes, square, information }
    }

    /// Adds the squared scores and the information of rows that have values in the columns `observed`.
    ///
    /// # Errors
    /// Returns [`Error::Collapsed`] if the covariance of these columns is not positive definite.
    fn add(&mut self, tiles: &Tiles<f64>, observed: &[usize]) -> Result<(), Error> {
        let precision = self.precision(observed)?;
        let moments = self.add_scores(tiles, observed, &precision);
        self.add_information(&precision, &moments);
        Ok(())
    }

    /// Returns K, the inverse of the observed columns' covariance, as a D x D matrix with zeros for missing columns.
    fn precision(&self, observed: &[usize]) -> Result<Vec<f64>, Error> {
        let (width, dimension) = (observed.len(), self.one.dimension);
        let mut among = Vec::with_capacity(triangle(width));
        for_pairs(width, |_, i, j| {
            let (a, b) = (observed[i], observed[j]);
            among.push(entry(&self.packed, a, b) / (self.widths[a] * self.widths[b]));
        });
        let factor = cholesky(width, &among).ok_or(Error::Collapsed { component: 0, components: 1 })?;
        let white = inverse_of_factor(width, &factor);
        let mut precision = vec![0.0; dimension * dimension];
        for i in 0..width {
            for j in 0..width {
                let sum: f64 = (i.max(j)..width).map(|k| white[triangle(k) + i] * white[triangle(k) + j]).sum();
                precision[observed[i] * dimension + observed[j]] = sum;
            }
        }
        Ok(precision)
    }

    /// Adds the squared scores of some rows, and returns the moments of their `y`.
    fn add_scores(&mut self, tiles: &Tiles<f64>, observed: &[usize], precision: &[f64]) -> Moments {
        let (dimension, numbers) = (self.one.dimension, self.numbers);
        let k = |a: usize, b: usize| precision[a * dimension + b];
        // For a missing column, K and y are 0, so these rows contribute nothing to changes along that column.
        let traces: Vec<f64> = self.changes.iter().map(|change| change.iter().map(|&(a, b)| k(a, b)).sum()).collect();
        let (mut there, mut y, mut score) = (vec![0.0; observed.len()], vec![0.0; dimension], vec![0.0; numbers]);
        let (mut mass, mut first, mut second) = (0.0, vec![0.0; dimension], vec![0.0; dimension * dimension]);
        for index in 0..tiles.rows() {
            tiles.read_row(index, &mut there);
            for (x, &column) in there.iter_mut().zip(observed) {
                *x = (*x - self.one.mean(0)[column]) / self.widths[column];
            }
            for &a in observed {
                y[a] = observed.iter().zip(&there).map(|(&b, x)| k(a, b) * x).sum();
            }
            let weight = tiles.weight(index);
            mass += weight;
            for &a in observed {
                first[a] += weight * y[a];
                observed.iter().for_each(|&b| second[a * dimension + b] += weight * y[a] * y[b]);
            }
            score[..dimension].copy_from_slice(&y);
            for ((score, change), trace) in score[dimension..].iter_mut().zip(&self.changes).zip(&traces) {
                *score = 0.5 * (change.iter().map(|&(a, b)| y[a] * y[b]).sum::<f64>() - trace);
            }
            for i in 0..numbers {
                (0..=i).for_each(|j| self.square[i * numbers + j] += weight * score[i] * score[j]);
            }
        }
        Moments { mass, first, second }
    }

    /// Adds the information of a group of rows, given the moments of the group.
    fn add_information(&mut self, precision: &[f64], Moments { mass, first, second }: &Moments) {
        let (dimension, changes) = (self.one.dimension, &self.changes);
        let k = |a: usize, b: usize| precision[a * dimension + b];
        for_pairs(self.numbers, |n, i, j| {
            self.information[n] += match (i.checked_sub(dimension), j.checked_sub(dimension)) {
                (None, _) => mass * k(i, j),
                (Some(i), None) => changes[i].iter().map(|&(a, b)| k(j, a) * first[b]).sum(),
                (Some(i), Some(j)) => {
                    let mut sum = 0.0;
                    for &(a, b) in &changes[i] {
                        for &(c, d) in &changes[j] {
                            sum += k(b, c) * (second[d * dimension + a] - 0.5 * mass * k(d, a));
                        }
                    }
                    sum
                }
            };
        });
    }
}

/// Returns `W M W'`, where W is lower triangular and packed.
fn congruent(n: usize, white: &[f64], matrix: &[f64]) -> Vec<f64> {
    let row = |i: usize| packed_row(white, i);
    let mut half = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            half[i * n + j] = row(i).iter().enumerate().map(|(k, w)| w * matrix[k * n + j]).sum();
        }
    }
    let mut whole = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..n {
            whole[i * n + j] = row(j).iter().enumerate().map(|(k, w)| w * half[i * n + k]).sum();
        }
    }
    whole
}
