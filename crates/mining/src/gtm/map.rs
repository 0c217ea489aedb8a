//! A fitted map: its position and stretch in the space of the data, and the placement of new rows.

use lehr_numerics::tiles::Tiles;
use serde::{Deserialize, Serialize};

use super::basis::Grid;
use super::m_step::{Frame, Sheet};
use super::parameters::Parameters;
use super::place::{Placed, Placing};
use super::table::flags;
use crate::Error;
use crate::drawn::drawn;
use crate::input::Input;
use crate::round::{LeafCells, on_threads};
use crate::rows::{RowMajor, RowMajorMut};

/// The number of rows placed together.
const BLOCK: usize = 256;
/// The minimum number of rows for which several threads are used.
const WORTH_THREADS: usize = 8 * BLOCK;

/// A map of one to three dimensions in the space of the data: `y(z) = origin + sum_m phi_m(z) w_m`, and the variance of
/// the noise around it.
///
/// # Example
/// ```
/// use lehr_data::Points;
/// use lehr_mining::{Execution, anneal::Silent, gtm::{Parameters, Start, fit}};
/// // Rows along a line of slope 2.
/// let values: Vec<f64> = (0..40).flat_map(|i| [i as f64, 2.0 * i as f64]).collect();
/// let points = Points::new(values, 2)?;
/// let parameters = Parameters { latent: 1, start: Some(Start::Plane), ..Parameters::default() };
/// let map = fit(&points, &parameters, &Execution::default(), &mut Silent)?.map;
/// let (start, end) = (map.at(&[-1.0]), map.at(&[1.0]));
/// assert!(start[0] < 8.0 && end[0] > 31.0 && (end[1] - 2.0 * end[0]).abs() < 1.0);
/// let placed = map.project(&Points::new(vec![0.0, 0.0, 19.5, 39.0], 2)?, 1)?;
/// assert!(placed.position(0)[0] < -0.8 && placed.position(1)[0].abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Map {
    grid: Grid,
    /// The origin of the images, D numbers.
    origin: Vec<f64>,
    /// The weights of the basis functions, M x D.
    weights: Vec<f64>,
    noise: f64,
}

/// Rows on a map, in the order in which they were given.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    /// The number of dimensions of the map.
    pub latent: usize,
    /// The posterior mean of each row: N x L, row-major, -1 to 1. Between two distant modes, the mean may be far from
    /// both; a high entropy shows this.
    pub positions: Vec<f64>,
    /// The most likely node of each row; the first if several are equally likely.
    pub modes: Vec<u32>,
    /// The posterior probability of the most likely node.
    pub probabilities: Vec<f64>,
    /// The entropy of the posterior over nodes, in nats; 0 if one node has all of it.
    pub entropies: Vec<f64>,
    /// The log-density `ln p(x)` of each row's non-missing values, in the input's units. Outliers have low values.
    pub log_densities: Vec<f64>,
}

impl Projection {
    /// The posterior mean of a row.
    ///
    /// # Panics
    /// Panics if there is no such row.
    pub fn position(&self, row: usize) -> &[f64] {
        RowMajor::new(&self.positions, self.latent).row(row)
    }

    pub(crate) fn with_room(latent: usize, rows: usize) -> Self {
        Self {
            latent,
            positions: vec![0.0; rows * latent],
            modes: vec![0; rows],
            probabilities: vec![0.0; rows],
            entropies: vec![0.0; rows],
            log_densities: vec![0.0; rows],
        }
    }

    /// Copies the position of row `at` of `placed` to `row`.
    pub(crate) fn set(&mut self, row: usize, placed: &Placed, at: usize) {
        let own = RowMajorMut::new(&mut self.positions, self.latent).into_row(row);
        own.copy_from_slice(RowMajor::new(&placed.positions, self.latent).row(at));
        self.modes[row] = placed.modes[at];
        self.probabilities[row] = placed.probabilities[at];
        self.entropies[row] = placed.entropies[at];
        self.log_densities[row] = placed.log_densities[at];
    }
}

impl Map {
    pub(crate) fn new(grid: Grid, origin: Vec<f64>, weights: Vec<f64>, noise: f64) -> Self {
        Self { grid, origin, weights, noise }
    }

    /// Checks a map that comes from outside, for example from a file.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if lengths disagree, a number is not finite, the noise is not positive, or the grid
    /// is invalid.
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
        let Grid { latent, nodes, basis, width } = self.grid;
        if self.origin.is_empty() {
            return wrong("origin", "a number for each column", "none".into());
        }
        if !(1..=3).contains(&latent) {
            return wrong("latent", "1, 2 or 3", latent.to_string());
        }
        // The limits of a fit apply to the grid. The rows passed here only need enough columns.
        let points = lehr_data::Points::new(vec![0.0; latent], latent)?;
        Parameters { latent, nodes: Some(nodes), basis: Some(basis), width, ..Parameters::default() }.check(&points)?;
        if self.weights.len() != self.grid.functions() * self.origin.len() {
            let expected = "a number for each basis function and column";
            return wrong("weights", expected, self.weights.len().to_string());
        }
        if !self.weights.iter().chain(&self.origin).all(|number| number.is_finite()) {
            return wrong("weights", "finite numbers", "one that is not".into());
        }
        if !(self.noise.is_normal() && self.noise > 0.0) {
            return wrong("noise", "a positive number", self.noise.to_string());
        }
        Ok(())
    }

    /// The number of dimensions of the map.
    pub fn latent(&self) -> usize {
        self.grid.latent
    }

    /// The number of columns of the data.
    pub fn dimension(&self) -> usize {
        self.origin.len()
    }

    /// The number of nodes along each axis.
    pub fn side(&self) -> usize {
        self.grid.nodes
    }

    /// The number of nodes.
    #[allow(clippy::len_without_is_empty)] // there are always some
    pub fn len(&self) -> usize {
        self.grid.len()
    }

    /// The number of basis functions, including the constant.
    pub fn functions(&self) -> usize {
        self.grid.functions()
    }

    /// The number of free parameters of the map: the weights and the noise.
    pub fn free_parameters(&self) -> usize {
        self.weights.len() + 1
    }

    /// The position of node `k` on the map, -1 to 1 along each axis. The last axis varies fastest.
    ///
    /// # Panics
    /// Panics if there is no such node.
    pub fn node(&self, k: usize) -> Vec<f64> {
        assert!(k < self.len(), "node {k} of {}", self.len());
        self.grid.node(k)[..self.latent()].to_vec()
    }

    /// The variance of the noise around the map, equal for all columns.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// The image of a map position in the space of the data.
    ///
    /// # Panics
    /// Panics if `place` does not have one coordinate for each dimension of the map.
    pub fn at(&self, place: &[f64]) -> Vec<f64> {
        assert_eq!(place.len(), self.latent());
        let mut image = self.along(&self.grid.functions_at(place));
        image.iter_mut().zip(&self.origin).for_each(|(y, origin)| *y += origin);
        image
    }

    /// The magnification of the map at a position: the length, area or volume in the space of the data, per unit on the
    /// map. It is `sqrt det(J J')` with `J = dy/dz`.
    ///
    /// # Panics
    /// Panics if `place` does not have one coordinate for each dimension of the map.
    pub fn magnification(&self, place: &[f64]) -> f64 {
        assert_eq!(place.len(), self.latent());
        let mut before: Vec<Vec<f64>> = Vec::new();
        let mut volume = 1.0;
        for axis in 0..self.latent() {
            // Orthogonalise the slopes: the remainders are the sides of a box with the same volume.
            let mut slope = self.along(&self.grid.slopes_at(place, axis));
            for other in &before {
                let inner: f64 = slope.iter().zip(other).map(|(a, b)| a * b).sum();
                slope.iter_mut().zip(other).for_each(|(a, b)| *a -= inner * b);
            }
            let length = slope.iter().map(|a| a * a).sum::<f64>().sqrt();
            volume *= length;
            if length > 0.0 {
                slope.iter_mut().for_each(|a| *a /= length);
            }
            before.push(slope);
        }
        volume
    }

    /// Places rows on the map, which stays as it is. The rows' weights have no effect.
    ///
    /// The result has the same bits for any number of threads. Cost: N x K x D multiply-adds and N x K exponentials.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if the rows have a different number of columns, and the errors of the threads.
    pub fn project<'a>(&self, input: impl Into<Input<'a>>, threads: usize) -> Result<Projection, Error> {
        let input = input.into();
        let dimension = self.dimension();
        if input.dimension() != dimension {
            return Err(Error::Parameter {
                name: "points",
                expected: "as many columns as the map has",
                found: format!("{} columns, where the map has {dimension}", input.dimension()),
            });
        }
        let images = self.images();
        let placing = Placing::new(self.grid, dimension, &images, self.noise);
        let blocks = LeafCells::new(input.len().div_ceil(BLOCK), |_| Placed::default());
        let threads = if input.len() < WORTH_THREADS { 1 } else { threads };
        on_threads(threads, blocks.len(), |block| {
            let first = block * BLOCK;
            let count = BLOCK.min(input.len() - first);
            let filled = (input.missing() > 0).then(|| self.filled(&input, first, count));
            let observed = filled.as_ref().map(|_| flags(count, dimension, |i| input.row(first + i)));
            let row = |i| match &filled {
                Some(values) => RowMajor::new(values, dimension).row(i),
                None => input.row(first + i),
            };
            let tiles = Tiles::new(count, dimension, &self.origin, row, |_| 1.0);
            blocks.with(block, |placed| placing.add(&tiles, observed.as_ref(), placed));
        })?;
        let mut projection = Projection::with_room(self.latent(), input.len());
        for (block, placed) in blocks.into_values().enumerate() {
            (0..placed.modes.len()).for_each(|at| projection.set(block * BLOCK + at, &placed, at));
        }
        Ok(projection)
    }

    /// Copies some rows, with the origin in place of missing values.
    fn filled(&self, input: &Input<'_>, first: usize, count: usize) -> Vec<f64> {
        let cells = (first..first + count).flat_map(|i| input.row(i).iter().zip(&self.origin));
        cells.map(|(x, origin)| if x.is_nan() { *origin } else { *x }).collect()
    }

    /// The topological order of the map, -1 to 1. It is Spearman's correlation between the distances of node pairs on
    /// the map and in the data space. On the map, each axis is scaled by its average stretch. The order is near 1 for a
    /// map without folds, whatever its proportions. If there are more than 1,000 nodes, it is computed from a
    /// sample of 1,000 nodes.
    pub fn order(&self) -> f64 {
        let images = self.images();
        let images = RowMajor::new(&images, self.dimension());
        let chosen = drawn(self.len(), 1000);
        // Squared lengths of the axes, up to a common factor.
        let stretch: Vec<f64> = (0..self.latent())
            .map(|axis| {
                let square = |k: usize| -> f64 {
                    let slope = self.along(&self.grid.slopes_at(&self.node(k), axis));
                    slope.iter().map(|a| a * a).sum()
                };
                chosen.iter().map(|&k| square(k)).sum()
            })
            .collect();
        let (mut on_map, mut in_space): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        for (i, &a) in chosen.iter().enumerate() {
            for &b in &chosen[..i] {
                let (u, v) = (self.grid.node(a), self.grid.node(b));
                on_map.push((0..self.latent()).map(|axis| stretch[axis] * (u[axis] - v[axis]).powi(2)).sum());
                let (u, v) = (images.row(a), images.row(b));
                in_space.push(u.iter().zip(v).map(|(a, b)| (a - b) * (a - b)).sum());
            }
        }
        rank_correlation(&on_map, &in_space)
    }

    /// The images of all nodes minus the origin, K x D.
    fn images(&self) -> Vec<f64> {
        let frame = Frame { phi: self.grid.matrix(), functions: self.grid.functions(), prior: 0.0, cloud: 0.0 };
        frame.images(&Sheet { weights: self.weights.clone(), noise: self.noise })
    }

    /// Returns a linear combination of the weights, D numbers.
    fn along(&self, factors: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; self.dimension()];
        for (factor, weights) in factors.iter().zip(self.weights.chunks_exact(self.dimension())) {
            sum.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += factor * weight);
        }
        sum
    }
}

/// Returns Spearman's rank correlation, in which equal numbers share a rank; 0 if one of the two lists is constant.
fn rank_correlation(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = (a.len() as f64 - 1.0) / 2.0;
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>();
    let scale = (product(&a, &a) * product(&b, &b)).sqrt();
    if scale > 0.0 { product(&a, &b) / scale } else { 0.0 }
}

fn ranks(numbers: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&i, &j| numbers[i].total_cmp(&numbers[j]));
    let mut ranks = vec![0.0; numbers.len()];
    let mut first = 0;
    while first < order.len() {
        let equal = order[first..].iter().take_while(|&&i| numbers[i] == numbers[order[first]]).count().max(1);
        let shared = first as f64 + (equal as f64 - 1.0) / 2.0;
        order[first..first + equal].iter().for_each(|&i| ranks[i] = shared);
        first += equal;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_numbers_share_their_ranks() {
        assert_eq!(ranks(&[3.0, 1.0, 3.0, 0.0]), [2.5, 1.0, 2.5, 0.0]);
        assert!((rank_correlation(&[1.0, 2.0, 3.0], &[1.0, 10.0, 100.0]) - 1.0).abs() < 1e-15);
        assert!((rank_correlation(&[1.0, 2.0, 3.0], &[5.0, 4.0, -3.0]) + 1.0).abs() < 1e-15);
        assert_eq!(rank_correlation(&[1.0, 1.0], &[1.0, 2.0]), 0.0);
    }

    /// Returns a plane in three dimensions through (1, 2, 3), fitted to the functions by least squares.
    fn plane() -> Map {
        let grid = Grid { latent: 2, nodes: 9, basis: 4, width: 1.0 };
        let frame = Frame { phi: grid.matrix(), functions: grid.functions(), prior: 0.0, cloud: 0.0 };
        let images: Vec<f64> =
            (0..grid.len()).flat_map(|k| [3.0 * grid.node(k)[0], 2.0 * grid.node(k)[1], 0.0]).collect();
        Map::new(grid, vec![1.0, 2.0, 3.0], frame.fitted(&images), 0.1)
    }

    #[test]
    fn magnification_is_the_area_of_small_steps() {
        let map = plane();
        let (place, step) = ([0.2, -0.3], 1e-5);
        let slope = |axis: usize| -> Vec<f64> {
            let mut ends = [place, place];
            ends[0][axis] -= step;
            ends[1][axis] += step;
            let (before, after) = (map.at(&ends[0]), map.at(&ends[1]));
            after.iter().zip(&before).map(|(a, b)| (a - b) / (2.0 * step)).collect()
        };
        let (u, v) = (slope(0), slope(1));
        let cross = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
        let area = cross.iter().map(|x| x * x).sum::<f64>().sqrt();
        let found = map.magnification(&place);
        assert!((found - area).abs() < 1e-6 * area, "{found} for {area}");
        // The functions approximate the plane, whose area is 6.
        assert!((found - 6.0).abs() < 1.0, "{found}");
        assert!(map.order() > 0.9, "{}", map.order());
    }

    #[test]
    fn what_is_no_map_is_refused() {
        plane().check().unwrap();
        let cases = [
            Map { noise: 0.0, ..plane() },
            Map { origin: vec![0.0; 2], ..plane() },
            Map { weights: vec![f64::NAN; 51], ..plane() },
            Map { grid: Grid { basis: 1000, ..plane().grid }, ..plane() },
            Map { grid: Grid { latent: 4, ..plane().grid }, ..plane() },
        ];
        for map in cases {
            assert!(matches!(map.check(), Err(Error::Parameter { .. })), "{map:?}");
        }
    }
}
