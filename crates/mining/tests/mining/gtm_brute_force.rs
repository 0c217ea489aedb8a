//! One sweep of GTM, computed directly from the formulas without code of Lehr, as a reference for fits.

use lehr_mining::gtm::{Map, Parameters};

/// A grid and its functions.
pub(crate) struct BruteForce {
    /// The values of the M functions at each of the K nodes, the constant last.
    phi: Vec<Vec<f64>>,
    /// The prior's precision, in units of 1 over the squared unit of the rows.
    pub alpha: f64,
    pub temperature: f64,
}

/// A sheet: the nodes' images minus the origin, and the noise.
#[derive(Clone, Debug)]
pub(crate) struct Sheet {
    pub images: Vec<Vec<f64>>,
    pub noise: f64,
}

/// Rows relative to an origin; missing cells are NaN.
pub(crate) struct Rows {
    pub rows: Vec<Vec<f64>>,
    pub weights: Vec<f64>,
}

impl Rows {
    /// Creates rows from row-major values, relative to the weighted mean of each column.
    pub fn new(values: &[f64], dimension: usize, weights: Option<&[f64]>) -> Self {
        let mut rows: Vec<Vec<f64>> = values.chunks_exact(dimension).map(<[f64]>::to_vec).collect();
        let weights = weights.map_or_else(|| vec![1.0; rows.len()], <[f64]>::to_vec);
        for j in 0..dimension {
            let (mut sum, mut total) = (0.0, 0.0);
            for (row, weight) in rows.iter().zip(&weights).filter(|(row, _)| !row[j].is_nan()) {
                sum += weight * row[j];
                total += weight;
            }
            rows.iter_mut().for_each(|row| row[j] -= sum / total);
        }
        Self { rows, weights }
    }

    /// The mean variance of a column over its present cells.
    pub fn variance(&self) -> f64 {
        let (mut square, mut cells) = (0.0, 0.0);
        for (row, weight) in self.rows.iter().zip(&self.weights) {
            for x in row.iter().filter(|x| !x.is_nan()) {
                square += weight * x * x;
                cells += weight;
            }
        }
        square / cells
    }
}

/// Returns the sheet of a fitted map, relative to the rows' mean.
pub(crate) fn sheet_of(map: &Map, means: &[f64]) -> Sheet {
    let image = |k: usize| -> Vec<f64> { map.at(&map.node(k)).iter().zip(means).map(|(y, mean)| y - mean).collect() };
    Sheet { images: (0..map.len()).map(image).collect(), noise: map.noise() }
}

impl BruteForce {
    /// Creates a grid of two dimensions.
    pub fn plane(nodes: usize, basis: usize, width: f64, alpha: f64, temperature: f64) -> Self {
        let place = |at: usize, count: usize| 2.0 * at as f64 / (count as f64 - 1.0) - 1.0;
        let deviation = width * 2.0 / (basis as f64 - 1.0);
        let mut phi = Vec::new();
        for a in 0..nodes {
            for b in 0..nodes {
                let mut functions = Vec::new();
                for c in 0..basis {
                    for d in 0..basis {
                        let (u, v) = (place(a, nodes) - place(c, basis), place(b, nodes) - place(d, basis));
                        functions.push((-(u * u + v * v) / (2.0 * deviation * deviation)).exp());
                    }
                }
                functions.push(1.0);
                phi.push(functions);
            }
        }
        Self { phi, alpha, temperature }
    }

    /// Creates the reference for a fit of two dimensions, with given numbers of nodes and functions, at temperature 1.
    pub fn of(parameters: &Parameters, variance: f64) -> Self {
        let (nodes, basis) = (parameters.nodes.unwrap(), parameters.basis.unwrap());
        Self::plane(nodes, basis, parameters.width, parameters.regularisation / variance, 1.0)
    }

    /// Makes one sweep of EM. Returns the new sheet and the tempered log-likelihood before the sweep, which is the
    /// log-likelihood at temperature 1.
    pub fn sweep(&self, rows: &Rows, sheet: &Sheet) -> (Sheet, f64) {
        let (count, functions, dimension) = (self.phi.len(), self.phi[0].len(), rows.rows[0].len());
        let mut log_likelihood = 0.0;
        let mut memberships = Vec::new();
        for (row, weight) in rows.rows.iter().zip(&rows.weights) {
            let cells = row.iter().filter(|x| !x.is_nan()).count() as f64;
            let scores: Vec<f64> =
                sheet.images.iter().map(|y| -square(row, y) / (2.0 * sheet.noise * self.temperature)).collect();
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = scores.iter().map(|score| (score - most).exp()).sum();
            log_likelihood += weight
                * (self.temperature * (most + sum.ln())
                    - (count as f64).ln()
                    - cells / 2.0 * (std::f64::consts::TAU * sheet.noise).ln());
            memberships.push(scores.iter().map(|score| (score - most).exp() / sum).collect::<Vec<f64>>());
        }
        let mut weights = vec![vec![0.0; dimension]; functions];
        for j in 0..dimension {
            let mut matrix = vec![vec![0.0; functions + 1]; functions];
            for ((row, weight), memberships) in rows.rows.iter().zip(&rows.weights).zip(&memberships) {
                if row[j].is_nan() {
                    continue;
                }
                for (phi, membership) in self.phi.iter().zip(memberships) {
                    for a in 0..functions {
                        for b in 0..functions {
                            matrix[a][b] += weight * membership * phi[a] * phi[b];
                        }
                        matrix[a][functions] += weight * membership * phi[a] * row[j];
                    }
                }
            }
            (0..functions).for_each(|a| matrix[a][a] += self.alpha * sheet.noise);
            let solution = solved(matrix);
            (0..functions).for_each(|a| weights[a][j] = solution[a]);
        }
        let image = |phi: &Vec<f64>| -> Vec<f64> {
            (0..dimension).map(|j| phi.iter().zip(&weights).map(|(phi, weights)| phi * weights[j]).sum()).collect()
        };
        let images: Vec<Vec<f64>> = self.phi.iter().map(image).collect();
        let (mut total, mut cells) = (0.0, 0.0);
        for ((row, weight), memberships) in rows.rows.iter().zip(&rows.weights).zip(&memberships) {
            cells += weight * row.iter().filter(|x| !x.is_nan()).count() as f64;
            total += weight * memberships.iter().zip(&images).map(|(r, y)| r * square(row, y)).sum::<f64>();
        }
        (Sheet { images, noise: total / cells }, log_likelihood)
    }
}

/// The squared distance over the present cells.
fn square(row: &[f64], image: &[f64]) -> f64 {
    row.iter().zip(image).filter(|(x, _)| !x.is_nan()).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// Solves a linear system by Gaussian elimination with pivoting; the last column is the right-hand side.
fn solved(mut matrix: Vec<Vec<f64>>) -> Vec<f64> {
    let n = matrix.len();
    for i in 0..n {
        let pivot = (i..n).max_by(|&a, &b| matrix[a][i].abs().total_cmp(&matrix[b][i].abs())).unwrap();
        matrix.swap(i, pivot);
        for k in i + 1..n {
            let factor = matrix[k][i] / matrix[i][i];
            for j in i..=n {
                let above = matrix[i][j];
                matrix[k][j] -= factor * above;
            }
        }
    }
    let mut solution = vec![0.0; n];
    for i in (0..n).rev() {
        let known: f64 = (i + 1..n).map(|j| matrix[i][j] * solution[j]).sum();
        solution[i] = (matrix[i][n] - known) / matrix[i][i];
    }
    solution
}
