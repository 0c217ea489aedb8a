//! The components of a mixture: weights, means and covariances, and the factors that a pass over the rows needs.

use lehr_numerics::cholesky::{cholesky, inverse_of_factor, packed_row, triangle};
use lehr_numerics::elementary::ln;
use lehr_numerics::gaussian::{self, Scatter, Whitening};
use serde::{Deserialize, Serialize};

use super::parameters::Covariance;
use crate::rows::RowMajor;

/// `ln(2 pi)`.
const LN_TAU: f64 = 1.837_877_066_409_345_3;

/// Weighted Gaussians, in any unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Gaussians {
    pub covariance: Covariance,
    pub dimension: usize,
    /// The weights: K numbers that add up to 1.
    pub weights: Vec<f64>,
    /// The means, K x D.
    pub means: Vec<f64>,
    /// The covariances: K variances (spherical), K x D variances (diagonal), one packed lower triangle (tied) or K
    /// packed lower triangles (full).
    pub covariances: Vec<f64>,
}

impl Covariance {
    /// The number of values that describe one covariance.
    pub(crate) const fn len(self, dimension: usize) -> usize {
        match self {
            Covariance::Spherical => 1,
            Covariance::Diagonal => dimension,
            Covariance::Tied | Covariance::Full => triangle(dimension),
        }
    }

    /// The kind of second moments that the M-step needs.
    pub(crate) const fn scatter(self) -> Scatter {
        match self {
            Covariance::Spherical | Covariance::Diagonal => Scatter::Diagonal,
            Covariance::Tied => Scatter::Pooled,
            Covariance::Full => Scatter::Full,
        }
    }

    const fn whitening(self) -> Whitening {
        match self {
            Covariance::Spherical | Covariance::Diagonal => Whitening::Diagonal,
            Covariance::Tied | Covariance::Full => Whitening::Triangular,
        }
    }
}

impl Gaussians {
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    pub fn mean(&self, k: usize) -> &[f64] {
        RowMajor::new(&self.means, self.dimension).row(k)
    }

    /// The covariance of component `k`, or the common covariance if covariances are tied.
    pub fn numbers(&self, k: usize) -> &[f64] {
        let length = self.covariance.len(self.dimension);
        let at = if self.covariance == Covariance::Tied { 0 } else { k };
        RowMajor::new(&self.covariances, length).row(at)
    }

    /// The covariance of component `k` as a packed lower triangle.
    pub fn packed(&self, k: usize) -> Vec<f64> {
        let numbers = self.numbers(k);
        match self.covariance {
            Covariance::Tied | Covariance::Full => numbers.to_vec(),
            Covariance::Spherical | Covariance::Diagonal => {
                let mut packed = vec![0.0; triangle(self.dimension)];
                for j in 0..self.dimension {
                    packed[triangle(j) + j] = numbers[j.min(numbers.len() - 1)];
                }
                packed
            }
        }
    }

    /// Returns the matrix that whitens rows of component `k`, and the logarithm of this matrix's determinant. Returns
    /// `None` if the covariance is not positive definite.
    fn whitened(&self, k: usize) -> Option<(Vec<f64>, f64)> {
        let numbers = self.numbers(k);
        if self.covariance.whitening() == Whitening::Triangular {
            let matrix = inverse_of_factor(self.dimension, &cholesky(self.dimension, numbers)?);
            let log_determinant = (0..self.dimension).map(|j| ln(matrix[triangle(j) + j])).sum();
            return Some((matrix, log_determinant));
        }
        let matrix: Vec<f64> = (0..self.dimension).map(|j| 1.0 / numbers[j.min(numbers.len() - 1)].sqrt()).collect();
        let log_determinant = matrix.iter().map(|&w| ln(w)).sum();
        matrix.iter().all(|w| w.is_finite() && *w > 0.0).then_some((matrix, log_determinant))
    }

    /// Prepares components for a pass at a temperature. Each row counts as a small cloud; `clouds` has the variance of
    /// a cloud along each column. If `clouds` is empty, rows count as points.
    ///
    /// The mean log-density over a cloud is the log-density at its centre, minus half of `sum_j cloud_j (S^-1)_jj`. The
    /// clouds change nothing else in the pass. The M-step adds their variances to the covariances.
    ///
    /// # Errors
    /// Returns the index of the first component whose covariance is not positive definite.
    pub fn ready(&self, temperature: f64, clouds: &[f64]) -> Result<gaussian::Components<f64>, usize> {
        let mut components = gaussian::Components::new(self.dimension, self.covariance.whitening(), temperature);
        let mut tied = None;
        for k in 0..self.len() {
            if self.covariance != Covariance::Tied || tied.is_none() {
                let (matrix, log_determinant) = self.whitened(k).ok_or(k)?;
                let blur = blur(self.covariance.whitening(), &matrix, clouds);
                tied = Some((matrix, log_determinant - 0.5 * blur));
            }
            let (matrix, log_factor) = tied.as_ref().expect("made at the first component");
            let constant = 0.5 * self.dimension as f64 * LN_TAU;
            components.push(self.mean(k), matrix, ln(self.weights[k]) + log_factor - constant);
        }
        Ok(components)
    }

    /// The width of each component: its smallest variance along a column, given the columns before, divided by the
    /// cloud's variance along that column. The width is near 1 if only the clouds keep the component from collapsing.
    pub fn widths(&self, clouds: &[f64]) -> Vec<f64> {
        let widths = |k: usize| -> f64 {
            let numbers = self.numbers(k);
            let over = |variance: f64, cloud: f64| if cloud > 0.0 { variance / cloud } else { f64::MAX };
            match self.covariance {
                Covariance::Spherical => over(numbers[0], clouds.iter().sum::<f64>() / clouds.len() as f64),
                Covariance::Diagonal => {
                    numbers.iter().zip(clouds).map(|(&v, &cloud)| over(v, cloud)).fold(f64::MAX, f64::min)
                }
                Covariance::Tied | Covariance::Full => match cholesky(self.dimension, numbers) {
                    Some(factor) => (0..self.dimension)
                        .map(|j| over(factor[triangle(j) + j] * factor[triangle(j) + j], clouds[j]))
                        .fold(f64::MAX, f64::min),
                    None => 0.0,
                },
            }
        };
        (0..self.len()).map(widths).collect()
    }

    /// Selects components in the given order, and normalises their weights to add up to 1.
    pub fn chosen(&self, order: &[usize]) -> Self {
        let sum: f64 = order.iter().map(|&k| self.weights[k]).sum();
        let covariances = match self.covariance {
            Covariance::Tied => self.covariances.clone(),
            _ => order.iter().flat_map(|&k| self.numbers(k)).copied().collect(),
        };
        Self {
            covariance: self.covariance,
            dimension: self.dimension,
            weights: order.iter().map(|&k| self.weights[k] / sum).collect(),
            means: order.iter().flat_map(|&k| self.mean(k)).copied().collect(),
            covariances,
        }
    }
}

/// Returns `sum_j cloud_j (W' W)_jj`, where W is the whitening matrix.
fn blur(whitening: Whitening, matrix: &[f64], clouds: &[f64]) -> f64 {
    match whitening {
        Whitening::Diagonal => matrix.iter().zip(clouds).map(|(w, cloud)| cloud * w * w).sum(),
        Whitening::Triangular => {
            let mut sum = 0.0;
            for i in 0..clouds.len() {
                for (w, cloud) in packed_row(matrix, i).iter().zip(clouds) {
                    sum += cloud * w * w;
                }
            }
            sum
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two(covariance: Covariance, covariances: &[f64]) -> Gaussians {
        Gaussians {
            covariance,
            dimension: 2,
            weights: vec![0.25, 0.75],
            means: vec![0.0, 0.0, 1.0, 2.0],
            covariances: covariances.to_vec(),
        }
    }

    #[test]
    fn every_form_gives_its_covariances_as_triangles() {
        assert_eq!(two(Covariance::Spherical, &[4.0, 9.0]).packed(1), [9.0, 0.0, 9.0]);
        assert_eq!(two(Covariance::Diagonal, &[4.0, 9.0, 1.0, 2.0]).packed(1), [1.0, 0.0, 2.0]);
        assert_eq!(two(Covariance::Tied, &[4.0, 1.0, 9.0]).packed(1), [4.0, 1.0, 9.0]);
        assert_eq!(two(Covariance::Full, &[4.0, 1.0, 9.0, 1.0, 0.5, 1.0]).packed(1), [1.0, 0.5, 1.0]);
    }

    #[test]
    fn a_collapsed_component_is_named() {
        assert_eq!(two(Covariance::Spherical, &[4.0, 0.0]).ready(1.0, &[]).err(), Some(1));
        assert_eq!(two(Covariance::Diagonal, &[4.0, 9.0, 1.0, 0.0]).ready(1.0, &[]).err(), Some(1));
        assert_eq!(two(Covariance::Full, &[4.0, 1.0, 9.0, 1.0, 1.0, 1.0]).ready(1.0, &[]).err(), Some(1));
        assert_eq!(two(Covariance::Tied, &[1.0, 1.0, 1.0]).ready(1.0, &[]).err(), Some(0));
        assert!(two(Covariance::Tied, &[1.0, 0.5, 1.0]).ready(1.0, &[]).is_ok());
    }

    #[test]
    fn chosen_components_keep_their_numbers_and_their_proportions() {
        let full = two(Covariance::Full, &[4.0, 1.0, 9.0, 1.0, 0.5, 1.0]);
        let turned = full.chosen(&[1, 0]);
        assert_eq!((turned.mean(0), turned.numbers(1)), ([1.0, 2.0].as_slice(), [4.0, 1.0, 9.0].as_slice()));
        assert_eq!((full.chosen(&[1]).weights, full.chosen(&[1]).len()), (vec![1.0], 1));
    }

    #[test]
    fn a_component_as_narrow_as_the_clouds_is_seen() {
        let widths = two(Covariance::Diagonal, &[4.0, 9.0, 1.0, 2e-6]).widths(&[1e-6, 1e-6]);
        assert!(widths[0] > 1e6 && (widths[1] - 2.0).abs() < 1e-9, "{widths:?}");
    }
}
