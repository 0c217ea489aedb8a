//! The sheet before it is stretched: a grid of nodes on `[-1, 1]^L`, and smooth basis functions on the sheet.
//!
//! The functions are Gaussians of equal width, centred on a coarser grid of their own, and a constant. Everything is
//! computed from four numbers.

use lehr_numerics::cholesky::{cholesky, inverse_of_factor, packed_row, triangle};
use lehr_numerics::elementary::exp;
use lehr_numerics::factor::leading_eigenpair;
use serde::{Deserialize, Serialize};

/// The initial ridge for the diagonal of a matrix without a Cholesky factor, as a share of its mean diagonal entry. The
/// ridge grows tenfold until there is a factor.
const RIDGE: f64 = 1e-12;

/// A grid of nodes and a grid of basis functions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Grid {
    /// The number of dimensions, 1 to 3.
    pub latent: usize,
    /// The number of nodes along each axis, at least 2.
    pub nodes: usize,
    /// The number of functions along each axis, at least 2.
    pub basis: usize,
    /// The standard deviation of a function, divided by the distance to the next function.
    pub width: f64,
}

impl Grid {
    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.pow(self.latent as u32)
    }

    /// The number of functions, including the constant.
    pub fn functions(&self) -> usize {
        self.basis.pow(self.latent as u32) + 1
    }

    /// The position of a node; coordinates beyond the map's dimensions are 0. The last axis varies fastest.
    pub fn node(&self, k: usize) -> [f64; 3] {
        at(k, self.nodes, self.latent)
    }

    /// The neighbours of node `k` with higher numbers: at most one neighbour along each axis.
    pub fn next_nodes(&self, k: usize) -> impl Iterator<Item = usize> + '_ {
        (0..self.latent).filter_map(move |axis| {
            let step = self.nodes.pow((self.latent - 1 - axis) as u32);
            (k / step % self.nodes + 1 < self.nodes).then_some(k + step)
        })
    }

    /// The variance of the nodes along an axis.
    pub fn variance(&self) -> f64 {
        let n = self.nodes as f64;
        (n + 1.0) / (3.0 * (n - 1.0))
    }

    fn deviation(&self) -> f64 {
        self.width * 2.0 / (self.basis as f64 - 1.0)
    }

    /// The values of the functions at a position on the map. Cost: M exponentials.
    pub fn functions_at(&self, place: &[f64]) -> Vec<f64> {
        let scale = -0.5 / (self.deviation() * self.deviation());
        let gaussian = |m: usize| {
            let center = at(m, self.basis, self.latent);
            let square: f64 = place.iter().zip(&center).map(|(z, c)| (z - c) * (z - c)).sum();
            exp(scale * square)
        };
        (0..self.functions() - 1).map(gaussian).chain([1.0]).collect()
    }

    /// The derivatives of the functions along an axis, at a position on the map.
    pub fn slopes_at(&self, place: &[f64], axis: usize) -> Vec<f64> {
        let square = self.deviation() * self.deviation();
        let mut slopes = self.functions_at(place);
        let last = slopes.len() - 1;
        for (m, slope) in slopes[..last].iter_mut().enumerate() {
            *slope *= (at(m, self.basis, self.latent)[axis] - place[axis]) / square;
        }
        slopes[last] = 0.0;
        slopes
    }

    /// The values of the functions at all nodes, K x M.
    pub fn matrix(&self) -> Vec<f64> {
        (0..self.len()).flat_map(|k| self.functions_at(&self.node(k)[..self.latent])).collect()
    }
}

/// The position of point `index` of a grid with `count` points along each axis.
fn at(index: usize, count: usize, latent: usize) -> [f64; 3] {
    let mut place = [0.0; 3];
    let mut rest = index;
    for axis in (0..latent).rev() {
        place[axis] = 2.0 * (rest % count) as f64 / (count as f64 - 1.0) - 1.0;
        rest /= count;
    }
    place
}

/// Returns `sum_k masses[k] phi_k phi_k'` as a packed lower triangle, with `diagonal` added to its diagonal. `phi` is K
/// x M.
pub(crate) fn gram(phi: &[f64], functions: usize, mass: impl Fn(usize) -> f64, diagonal: f64) -> Vec<f64> {
    let mut gram = vec![0.0; triangle(functions)];
    for (k, phi) in phi.chunks_exact(functions).enumerate() {
        let mass = mass(k);
        for i in 0..functions {
            let factor = mass * phi[i];
            gram[triangle(i)..triangle(i + 1)].iter_mut().zip(phi).for_each(|(sum, phi)| *sum += factor * phi);
        }
    }
    (0..functions).for_each(|i| gram[triangle(i) + i] += diagonal);
    gram
}

/// Returns the Cholesky factor of a positive semidefinite matrix. If the matrix is singular, a small ridge is added to
/// its diagonal.
///
/// # Panics
/// Panics if a number is not finite.
pub(crate) fn factored(functions: usize, mut matrix: Vec<f64>) -> Vec<f64> {
    let mean = (0..functions).map(|i| matrix[triangle(i) + i]).sum::<f64>() / functions as f64;
    assert!(mean.is_finite(), "sums of finite rows");
    // Without any mass, for example for a column without values, the right-hand side is 0, so any ridge will do.
    let mut ridge = if mean > 0.0 { RIDGE * mean } else { 1.0 };
    loop {
        if let Some(factor) = cholesky(functions, &matrix) {
            return factor;
        }
        (0..functions).for_each(|i| matrix[triangle(i) + i] += ridge);
        ridge *= 10.0;
    }
}

/// Returns the largest eigenvalue of `P C`, at most 1. It is the share of a displacement of the nodes, minus its mean,
/// that the regularised regression on the functions lets through. `diagonal` is `alpha K / (beta N)`.
pub(crate) fn transmission(phi: &[f64], functions: usize, diagonal: f64) -> f64 {
    let count = phi.len() / functions;
    let factor = factored(functions, gram(phi, functions, |_| 1.0, diagonal));
    let inverse = inverse_of_factor(functions, &factor);
    let mut mean = vec![0.0; functions];
    for phi in phi.chunks_exact(functions) {
        mean.iter_mut().zip(phi).for_each(|(mean, phi)| *mean += phi / count as f64);
    }
    let centred: Vec<f64> =
        phi.chunks_exact(functions).flat_map(|phi| phi.iter().zip(&mean).map(|(phi, mean)| phi - mean)).collect();
    // W (Phi' C Phi) W', where W is the inverse of the factor, has the eigenvalues of P C. First, compute the rows of W
    // Phi'.
    let mut whitened = Vec::with_capacity(centred.len());
    for phi in centred.chunks_exact(functions) {
        for i in 0..functions {
            let row = packed_row(&inverse, i);
            whitened.push(row.iter().zip(phi).map(|(w, phi)| w * phi).sum::<f64>());
        }
    }
    let packed = gram(&whitened, functions, |_| 1.0, 0.0);
    let mut square = vec![0.0; functions * functions];
    for i in 0..functions {
        square[i * functions..=i * functions + i].copy_from_slice(packed_row(&packed, i));
    }
    leading_eigenpair(functions, &square).map_or(0.0, |(value, _)| value.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: Grid = Grid { latent: 2, nodes: 3, basis: 2, width: 1.0 };

    #[test]
    fn nodes_run_along_the_last_axis_first() {
        assert_eq!((GRID.len(), GRID.functions()), (9, 5));
        assert_eq!(GRID.node(0), [-1.0, -1.0, 0.0]);
        assert_eq!(GRID.node(1), [-1.0, 0.0, 0.0]);
        assert_eq!(GRID.node(8), [1.0, 1.0, 0.0]);
        assert_eq!(GRID.next_nodes(0).collect::<Vec<_>>(), [3, 1]);
        assert_eq!(GRID.next_nodes(2).collect::<Vec<_>>(), [5]);
        assert_eq!(GRID.next_nodes(8).count(), 0);
        // The nodes are at -1, 0 and 1.
        assert!((GRID.variance() - 2.0 / 3.0).abs() < 1e-15);
    }

    #[test]
    fn functions_are_gaussians_as_wide_as_they_are_apart_and_a_constant() {
        let functions = GRID.functions_at(&[-1.0, -1.0]);
        let next = (-0.5f64).exp();
        for (found, expected) in functions.iter().zip([1.0, next, next, next * next, 1.0]) {
            assert!((found - expected).abs() < 1e-15, "{functions:?}");
        }
    }

    #[test]
    fn slopes_are_those_of_small_steps() {
        let (place, step) = ([0.3, -0.45], 1e-6);
        for axis in 0..2 {
            let moved = |by: f64| {
                let mut place = place;
                place[axis] += by;
                GRID.functions_at(&place)
            };
            let (before, after) = (moved(-step), moved(step));
            for ((slope, before), after) in GRID.slopes_at(&place, axis).iter().zip(before).zip(after) {
                assert!((slope - (after - before) / (2.0 * step)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn without_a_prior_all_is_let_through_and_a_strong_prior_holds_all_back() {
        let phi = GRID.matrix();
        assert!((transmission(&phi, 5, 0.0) - 1.0).abs() < 1e-9);
        let some = transmission(&phi, 5, 0.1);
        assert!(some > 0.5 && some < 1.0, "{some}");
        assert!(transmission(&phi, 5, 1e9) < 1e-8);
    }

    #[test]
    fn a_singular_matrix_is_factored_with_a_little_more_on_its_diagonal() {
        let factor = factored(2, vec![1.0, 1.0, 1.0]);
        assert!((factor[0] - 1.0).abs() < 1e-9 && factor[2] > 0.0 && factor[2] < 1e-3, "{factor:?}");
        assert_eq!(factored(1, vec![0.0]), [1.0]);
    }
}
