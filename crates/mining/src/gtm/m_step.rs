//! The M-step of a map: computes the sheet, the noise and the objective from the sums of a pass.
//!
//! The sheet is computed first, from the memberships and the old noise. Then the noise is computed from the new sheet
//! and the old memberships. In this order, neither step lowers the objective at any temperature.

use lehr_numerics::cholesky::solve;
use lehr_numerics::elementary::ln;
use serde::{Deserialize, Serialize};

use super::basis::{factored, gram};
use super::e_step::{TOTALS, per_node};
use super::table::Table;

/// A stretched sheet, in stored units.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sheet {
    /// The weights of the basis functions, M x D.
    pub weights: Vec<f64>,
    /// The variance around the sheet, `1 / beta`.
    pub noise: f64,
}

/// The constants of a fit.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The basis functions at all nodes, K x M.
    pub phi: Vec<f64>,
    /// The number of functions M, including the constant.
    pub functions: usize,
    /// The precision `alpha` of the prior, in stored units.
    pub prior: f64,
    /// The variance of the cloud that represents a row.
    pub cloud: f64,
}

impl Frame {
    /// The images of all nodes, K x D.
    pub fn images(&self, sheet: &Sheet) -> Vec<f64> {
        let dimension = sheet.weights.len() / self.functions;
        let mut images = vec![0.0; self.phi.len() / self.functions * dimension];
        for (image, phi) in images.chunks_exact_mut(dimension).zip(self.phi.chunks_exact(self.functions)) {
            for (phi, weights) in phi.iter().zip(sheet.weights.chunks_exact(dimension)) {
                image.iter_mut().zip(weights).for_each(|(y, w)| *y += phi * w);
            }
        }
        images
    }

    /// Returns the weights with which the sheet fits `images` (K x D) best, by least squares.
    pub fn fitted(&self, images: &[f64]) -> Vec<f64> {
        let dimension = images.len() / (self.phi.len() / self.functions);
        let factor = factored(self.functions, gram(&self.phi, self.functions, |_| 1.0, 0.0));
        let mut weights = self.moments(images, dimension);
        solve(self.functions, &factor, dimension, &mut weights);
        weights
    }

    /// Returns `Phi' X`, M x D.
    fn moments(&self, x: &[f64], dimension: usize) -> Vec<f64> {
        let mut moments = vec![0.0; self.functions * dimension];
        for (x, phi) in x.chunks_exact(dimension).zip(self.phi.chunks_exact(self.functions)) {
            for (moment, phi) in moments.chunks_exact_mut(dimension).zip(phi) {
                moment.iter_mut().zip(x).for_each(|(sum, x)| *sum += phi * x);
            }
        }
        moments
    }

    /// Returns the log-likelihood in stored units. `free_energy` is the first total of a pass with this sheet at
    /// temperature 1.
    pub fn log_likelihood(&self, table: &Table, sheet: &Sheet, free_energy: f64) -> f64 {
        let count = (self.phi.len() / self.functions) as f64;
        let of_cells = -0.5 * table.cells * ln(std::f64::consts::TAU * sheet.noise);
        of_cells - table.rows.total_weight * ln(count) - 0.5 * free_energy / sheet.noise
    }

    /// Returns the objective per unit of weight: the tempered log-likelihood minus the prior's cost, with a cloud in
    /// place of each row. `free_energy` is the first total of a pass with this sheet.
    ///
    /// At temperature 1, without prior and clouds, this is the log-likelihood in stored units.
    pub fn objective(&self, table: &Table, sheet: &Sheet, free_energy: f64) -> f64 {
        let square: f64 = sheet.weights.iter().map(|w| w * w).sum();
        let cost = 0.5 * (table.cells * self.cloud / sheet.noise + self.prior * square);
        (self.log_likelihood(table, sheet, free_energy) - cost) / table.rows.total_weight
    }

    /// Updates the sheet from the sums of a pass.
    pub fn update(&self, table: &Table, sheet: &mut Sheet, total: &[f64]) {
        let (functions, dimension) = (self.functions, table.rows.dimension);
        let length = per_node(table);
        let sums = &total[TOTALS..];
        let has_gaps = table.observed.is_some();
        // The mass of column j in node k; the first moments follow.
        let mass = |k: usize, j: usize| sums[k * length + if has_gaps { j } else { 0 }];
        let firsts: Vec<f64> =
            sums.chunks_exact(length).flat_map(|sums| &sums[length - dimension..]).copied().collect();
        let diagonal = self.prior * sheet.noise;
        let mut weights = self.moments(&firsts, dimension);
        if has_gaps {
            for j in 0..dimension {
                let factor = factored(functions, gram(&self.phi, functions, |k| mass(k, j), diagonal));
                let mut column: Vec<f64> = weights[j..].iter().step_by(dimension).copied().collect();
                solve(functions, &factor, 1, &mut column);
                weights[j..].iter_mut().step_by(dimension).zip(column).for_each(|(weight, new)| *weight = new);
            }
        } else {
            let factor = factored(functions, gram(&self.phi, functions, |k| mass(k, 0), diagonal));
            solve(functions, &factor, dimension, &mut weights);
        }
        sheet.weights = weights;
        // sum w r |x - y|^2 = sum w |x|^2 + sum_k C_k |y_k|^2 - 2 S_k . y_k
        let images = self.images(sheet);
        let mut square = table.rows.square;
        for (k, (image, first)) in images.chunks_exact(dimension).zip(firsts.chunks_exact(dimension)).enumerate() {
            for (j, (y, s)) in image.iter().zip(first).enumerate() {
                square += (mass(k, j) * y - 2.0 * s) * y;
            }
        }
        // Rounding may take this difference below 0.
        sheet.noise = square.max(0.0) / table.cells + self.cloud;
    }
}

#[cfg(test)]
mod tests {
    use lehr_data::{Incomplete, Points};

    use super::*;
    use crate::input::Input;

    /// Returns the frame of two nodes and two functions, each of which is 1 at one node and 0 at the other.
    fn frame(prior: f64) -> Frame {
        Frame { phi: vec![1.0, 0.0, 0.0, 1.0], functions: 2, prior, cloud: 0.0 }
    }

    fn near(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-14)
    }

    #[test]
    fn each_node_goes_to_the_mean_of_its_rows_and_the_noise_is_what_is_left() {
        // Stored rows: -1.5, -0.5, 0.5, 1.5 (the unit is 1).
        let points = Points::new(vec![0.0, 1.0, 2.0, 3.0], 1).unwrap();
        let table = Table::new(&Input::from(&points)).unwrap();
        assert_eq!(table.rows.units.length, 1.0);
        let mut sheet = Sheet { weights: vec![0.0; 2], noise: 1.0 };
        frame(0.0).update(&table, &mut sheet, &[0.0, 0.0, 2.0, -2.0, 2.0, 2.0]);
        assert!(near(&sheet.weights, &[-1.0, 1.0]) && near(&[sheet.noise], &[0.25]), "{sheet:?}");
        // A prior of 2 and a noise of 0.25 count as half a row at 0.
        frame(2.0).update(&table, &mut sheet, &[0.0, 0.0, 2.0, -2.0, 2.0, 2.0]);
        assert!(near(&sheet.weights, &[-0.8, 0.8]) && near(&[sheet.noise], &[0.25 + 0.04]), "{sheet:?}");
    }

    #[test]
    fn columns_with_gaps_have_regressions_of_their_own() {
        let rows = Incomplete::new(vec![-1.0, -1.0, 1.0, f64::NAN, 0.0, 1.0], 2).unwrap();
        let table = Table::new(&Input::from(&rows)).unwrap();
        // The rows are around (0, 0): the unit is 1, and the mean of both columns is 0.
        assert_eq!((table.rows.units.length, table.rows.units.origin.as_slice()), (1.0, [0.0, 0.0].as_slice()));
        let mut sheet = Sheet { weights: vec![0.0; 4], noise: 1.0 };
        // The first node has the first row; the second node has the other two, one of which has a value in the second
        // column.
        let total = [0.0, 0.0, 1.0, 1.0, -1.0, -1.0, 2.0, 1.0, 1.0, 1.0];
        frame(0.0).update(&table, &mut sheet, &total);
        assert!(near(&sheet.weights, &[-1.0, -1.0, 0.5, 1.0]), "{sheet:?}");
        // What remains is 1/4 and 1/4 from the second node's first column, divided by five cells.
        assert!(near(&[sheet.noise], &[0.1]), "{sheet:?}");
    }

    #[test]
    fn a_sheet_fitted_to_images_gives_them_again() {
        let grid = crate::gtm::basis::Grid { latent: 1, nodes: 6, basis: 3, width: 1.0 };
        let frame = Frame { phi: grid.matrix(), functions: grid.functions(), prior: 0.0, cloud: 0.0 };
        let sheet = Sheet { weights: vec![1.0, -2.0, 0.5, 0.25, 3.0, 1.0, 0.0, -1.0], noise: 1.0 };
        let images = frame.images(&sheet);
        let again = frame.images(&Sheet { weights: frame.fitted(&images), noise: 1.0 });
        assert!(images.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-8));
    }
}
