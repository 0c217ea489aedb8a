//! Restricts components to the observed columns of rows with missing values.
//!
//! Consider a component with mean u and covariance S, and a row that has values in the columns o but not in the columns
//! m. The row's density is that of the Gaussian with mean `u_o` and covariance `S_oo`. Given the observed values, the
//! missing values are Gaussian too, with mean `u_m + S_mo S_oo⁻¹ (x_o - u_o)` and covariance `S_mm - S_mo S_oo⁻¹ S_om`.

use lehr_numerics::cholesky::{cholesky, solve, triangle};

use super::gaussians::Gaussians;
use super::m_step::for_pairs;
use super::parameters::Covariance;

/// A component's distribution of the missing columns, given the observed columns.
#[derive(Debug)]
pub(crate) struct Conditional {
    /// The regression `S_oo⁻¹ S_om`, o x m; empty if columns are independent within a component, or if no column is
    /// missing.
    pub regression: Vec<f64>,
    /// The covariance `S_mm - S_mo S_oo⁻¹ S_om` as a packed lower triangle.
    pub covariance: Vec<f64>,
}

impl Gaussians {
    /// Returns the components restricted to some columns.
    pub fn of_columns(&self, columns: &[usize]) -> Self {
        let means = (0..self.len()).flat_map(|k| columns.iter().map(move |&j| self.mean(k)[j])).collect();
        let dimension = self.dimension;
        let covariances = match self.covariance {
            Covariance::Spherical => self.covariances.clone(),
            Covariance::Diagonal => {
                (0..self.len()).flat_map(|k| columns.iter().map(move |&j| self.numbers(k)[j])).collect()
            }
            Covariance::Tied | Covariance::Full => self
                .covariances
                .chunks_exact(triangle(dimension))
                .flat_map(|matrix| {
                    let mut part = Vec::with_capacity(triangle(columns.len()));
                    for_pairs(columns.len(), |_, i, j| part.push(entry(matrix, columns[i], columns[j])));
                    part
                })
                .collect(),
        };
        Self {
            covariance: self.covariance,
            dimension: columns.len(),
            weights: self.weights.clone(),
            means,
            covariances,
        }
    }

    /// Returns component `k`'s distribution of the missing columns, given the observed columns. Returns `None` if the
    /// covariance of the observed columns is not positive definite.
    pub fn conditional(&self, k: usize, observed: &[usize], missing: &[usize]) -> Option<Conditional> {
        let numbers = self.numbers(k);
        let mut covariance = vec![0.0; triangle(missing.len())];
        if matches!(self.covariance, Covariance::Spherical | Covariance::Diagonal) {
            for (i, &column) in missing.iter().enumerate() {
                covariance[triangle(i) + i] = numbers[column.min(numbers.len() - 1)];
            }
            return Some(Conditional { regression: Vec::new(), covariance });
        }
        if missing.is_empty() {
            return Some(Conditional { regression: Vec::new(), covariance });
        }
        let mut among = Vec::with_capacity(triangle(observed.len()));
        for_pairs(observed.len(), |_, i, j| among.push(entry(numbers, observed[i], observed[j])));
        let factor = cholesky(observed.len(), &among)?;
        let across: Vec<f64> =
            observed.iter().flat_map(|&o| missing.iter().map(move |&m| entry(numbers, o, m))).collect();
        let mut regression = across.clone();
        solve(observed.len(), &factor, missing.len(), &mut regression);
        let width = missing.len();
        for_pairs(width, |n, i, j| {
            let told: f64 = (0..observed.len()).map(|o| across[o * width + i] * regression[o * width + j]).sum();
            covariance[n] = entry(numbers, missing[i], missing[j]) - told;
        });
        Some(Conditional { regression, covariance })
    }
}

/// Returns entry (i, j) of a symmetric matrix, which is given as a packed lower triangle.
pub(crate) fn entry(packed: &[f64], i: usize, j: usize) -> f64 {
    packed[triangle(i.max(j)) + i.min(j)]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(covariance: Covariance, covariances: &[f64]) -> Gaussians {
        Gaussians {
            covariance,
            dimension: 3,
            weights: vec![1.0],
            means: vec![1.0, 2.0, 3.0],
            covariances: covariances.to_vec(),
        }
    }

    #[test]
    fn what_is_missing_is_told_by_what_is_there() {
        // The matrix has the rows 4 2 0, 2 5 1 and 0 1 2; the first column is missing.
        let full = one(Covariance::Full, &[4.0, 2.0, 5.0, 0.0, 1.0, 2.0]);
        let part = full.of_columns(&[1, 2]);
        assert_eq!((part.means.as_slice(), part.numbers(0)), ([2.0, 3.0].as_slice(), [5.0, 1.0, 2.0].as_slice()));
        let told = full.conditional(0, &[1, 2], &[0]).unwrap();
        // The inverse of the matrix (5 1, 1 2) is (2 -1, -1 5) / 9.
        assert!((told.regression[0] - 4.0 / 9.0).abs() < 1e-15 && (told.regression[1] + 2.0 / 9.0).abs() < 1e-15);
        assert!((told.covariance[0] - (4.0 - 8.0 / 9.0)).abs() < 1e-15);
    }

    #[test]
    fn independent_columns_tell_nothing_of_each_other() {
        let told = one(Covariance::Diagonal, &[4.0, 5.0, 2.0]).conditional(0, &[1], &[0, 2]).unwrap();
        assert_eq!((told.regression.len(), told.covariance), (0, vec![4.0, 0.0, 2.0]));
        let told = one(Covariance::Spherical, &[7.0]).conditional(0, &[1], &[0, 2]).unwrap();
        assert_eq!(told.covariance, [7.0, 0.0, 7.0]);
        assert_eq!(one(Covariance::Diagonal, &[4.0, 5.0, 2.0]).of_columns(&[2, 0]).covariances, [2.0, 4.0]);
    }
}
