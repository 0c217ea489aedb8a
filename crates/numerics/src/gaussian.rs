//! Gaussian components: computes memberships of rows together with the sums for the next components (the E-step and
//! M-step of a mixture in one pass).
//!
//! Each row `x` has a weight `w`; each component has a weight `P_k`, a mean `u_k` and a covariance `S_k`. At a
//! temperature T (paper 004, section 7), where T = 1 is ordinary EM:
//!
//! ```text
//! score_k = [ln P_k - ln det(2 pi S_k) / 2 - |W_k (x - u_k)|^2 / 2] / T      W_k S_k W_k' = 1
//! m_k = exp(score_k) / sum_l exp(score_l)
//! C_k += w m_k      M_k += w m_k (x - u_k)      Q_k += w m_k (x - u_k) (x - u_k)'      L += T w ln sum_k exp(score_k)
//! ```
//!
//! Moments are relative to the component's mean, so that a narrow component far from the origin loses no digits. The
//! memberships of all rows are never stored. Four tiles at a time are scored, exponentiated and summed while they are
//! in the first-level cache. Scores are in units of `ln 2`, as in [`crate::soft`].

use crate::cholesky::triangle;
use crate::dispatch::kernel;
use crate::lanes::{Lanes, Line, Real};
use crate::line_sums::add_line_sums;
use crate::soft::{finish, shares};
use crate::tiles::Tiles;

/// The number of tiles handled together, so that a sum is loaded and stored once for all of them.
const GROUP: usize = 4;

/// The shape of the matrices that whiten the rows of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whitening {
    /// One factor for each coordinate: D numbers.
    Diagonal,
    /// The inverse of the Cholesky factor of the covariance, packed ([`crate::cholesky`]): D (D + 1) / 2 numbers.
    Triangular,
}

/// The second moments that a pass sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scatter {
    /// The second moment of each coordinate: D numbers for each component.
    Diagonal,
    /// The second moments of all pairs of coordinates: the lower triangle row by row, D (D + 1) / 2 numbers for each
    /// component.
    Full,
    /// The second moments of all components together, relative to the mean of each component: D (D + 1) / 2 numbers
    /// after the last component.
    Pooled,
}

impl Scatter {
    /// Returns the number of sums for each component: mass, first moment and its own second moments.
    pub const fn per_component(self, dimension: usize) -> usize {
        1 + dimension
            + match self {
                Scatter::Diagonal => dimension,
                Scatter::Full => triangle(dimension),
                Scatter::Pooled => 0,
            }
    }

    /// Returns the number of all sums of a pass over `components` components.
    pub const fn len(self, dimension: usize, components: usize) -> usize {
        let pooled = if matches!(self, Scatter::Pooled) { triangle(dimension) } else { 0 };
        components * self.per_component(dimension) + pooled
    }
}

/// Components prepared for one temperature, in the rows' precision.
#[derive(Clone, Debug)]
pub struct Components<T: Real> {
    dimension: usize,
    whitening: Whitening,
    temperature: f64,
    /// The square root of `log2 e / (2 T)`, by which the matrices are multiplied.
    scale: f64,
    means: Vec<T>,
    matrices: Vec<T>,
    offsets: Vec<T>,
}

impl<T: Real> Components<T> {
    /// Creates an empty set of components, for `dimension` coordinates and a temperature, which is a pure number above
    /// 0.
    ///
    /// # Panics
    /// Panics if `temperature` is not positive, or if `dimension` is 0.
    pub fn new(dimension: usize, whitening: Whitening, temperature: f64) -> Self {
        assert!(temperature > 0.0 && dimension > 0, "a positive temperature and a coordinate");
        Self {
            dimension,
            whitening,
            temperature,
            scale: (std::f64::consts::LOG2_E / (2.0 * temperature)).sqrt(),
            means: Vec::new(),
            matrices: Vec::new(),
            offsets: Vec::new(),
        }
    }

    /// Adds a component. `log_factor` is the part of its score that does not depend on the row:
    /// `ln P_k - ln det(2 pi S_k) / 2`.
    ///
    /// # Panics
    /// Panics if `mean` does not have D numbers, or if the shape of `matrix` differs from the chosen [`Whitening`].
    pub fn push(&mut self, mean: &[f64], matrix: &[f64], log_factor: f64) {
        assert_eq!(mean.len(), self.dimension);
        assert_eq!(matrix.len(), self.matrix_len());
        self.means.extend(mean.iter().map(|&u| T::from_f64(u)));
        self.matrices.extend(matrix.iter().map(|&w| T::from_f64(w * self.scale)));
        self.offsets.push(T::from_f64(log_factor * std::f64::consts::LOG2_E / self.temperature));
    }

    /// Returns the number of components.
    pub fn len(&self) -> usize {
        self.offsets.len()
    }

    /// Returns whether there are no components.
    pub fn is_empty(&self) -> bool {
        self.offsets.is_empty()
    }

    fn matrix_len(&self) -> usize {
        match self.whitening {
            Whitening::Diagonal => self.dimension,
            Whitening::Triangular => triangle(self.dimension),
        }
    }
}

/// The buffers of this module's functions, which are reused from block to block so that loops do not allocate.
#[derive(Clone, Debug, Default)]
pub struct GaussianScratch<T: Real> {
    scores: Vec<T::Line>,
    /// The differences of a group of tiles from one mean: coordinate by coordinate, tile by tile.
    differences: Vec<T::Line>,
    sums: Vec<T::Line>,
    /// The logarithm of each row's sum in the last [`posterior`], in units of ln 2.
    log_sums: Vec<T::Line>,
}

/// The totals over all components of a block, which [`gaussian_sums`] computes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GaussianTotals {
    /// The total `T sum w ln sum_k exp(score_k)`: at temperature 1, the weighted log-likelihood.
    pub log_likelihood: f64,
    /// The total `sum w (1 - max_k m_k)`.
    pub softness: f64,
}

/// Adds the sums of one block to `sums`: for each component its mass, and its first and second moments relative to its
/// mean. [`Scatter`] selects the second moments.
///
/// Cost: rows x K x (D or D^2 / 2 multiply-adds for the scores, as many for the second moments, one exponential). It
/// allocates nothing once `scratch` has grown.
///
/// # Panics
/// Panics if shapes disagree, or if there is no component.
///
/// # Example
/// ```
/// use lehr_numerics::{gaussian::{gaussian_sums, Components, GaussianScratch, Scatter, Whitening}, tiles::Tiles};
/// let rows = [[-1.0], [3.0]];
/// let tiles = Tiles::<f64>::new(2, 1, &[0.0], |i| &rows[i], |_| 1.0);
/// let mut components = Components::new(1, Whitening::Diagonal, 1.0);
/// components.push(&[1.0], &[0.5], 0.0); // standard deviation 2
/// let mut sums = [0.0; 3];
/// let totals = gaussian_sums(&tiles, &components, Scatter::Diagonal, &mut GaussianScratch::default(), &mut sums);
/// assert_eq!(sums, [2.0, 0.0, 8.0]); // all the mass, a mean in the middle, squares of 4 and 4
/// assert!((totals.log_likelihood + 1.0).abs() < 1e-14);
/// ```
pub fn gaussian_sums<T: Real>(
    tiles: &Tiles<T>,
    components: &Components<T>,
    scatter: Scatter,
    scratch: &mut GaussianScratch<T>,
    sums: &mut [f64],
) -> GaussianTotals {
    let dimension = tiles.dimension();
    assert!(!components.is_empty(), "at least one component");
    assert_eq!(dimension, components.dimension);
    assert_eq!(sums.len(), scatter.len(dimension, components.len()));
    scratch.scores.resize(components.len() * GROUP, T::Line::default());
    scratch.differences.resize(dimension * GROUP, T::Line::default());
    scratch.sums.clear();
    scratch.sums.resize(sums.len(), T::Line::default());
    let (log_sum, softness) = sums_of(tiles, components, scatter, scratch);
    add_line_sums::<T>(&scratch.sums, sums);
    GaussianTotals { log_likelihood: components.temperature * std::f64::consts::LN_2 * log_sum, softness }
}

/// Computes the memberships of each row of a block, whatever the row's weight, and `T ln sum_k exp(score_k)`: at
/// temperature 1, the logarithm of its density.
///
/// It overwrites `memberships`, rows x K, and `log_densities`, one number for each row. Cost: the cost of
/// [`gaussian_sums`] without moments.
///
/// # Panics
/// Panics if shapes disagree, or if there is no component.
///
/// # Example
/// ```
/// use lehr_numerics::{gaussian::{posterior, Components, GaussianScratch, Whitening}, tiles::Tiles};
/// let tiles = Tiles::<f64>::new(1, 1, &[0.0], |_| &[0.0], |_| 0.0);
/// let mut components = Components::new(1, Whitening::Diagonal, 1.0);
/// components.push(&[1.0], &[1.0], 0.0);
/// components.push(&[-1.0], &[1.0], 0.0);
/// let (mut memberships, mut log_densities) = ([0.0; 2], [0.0]);
/// posterior(&tiles, &components, &mut GaussianScratch::default(), &mut memberships, &mut log_densities);
/// assert_eq!(memberships, [0.5, 0.5]);
/// assert!((log_densities[0] - (2f64.ln() - 0.5)).abs() < 1e-14);
/// ```
pub fn posterior<T: Real>(
    tiles: &Tiles<T>,
    components: &Components<T>,
    scratch: &mut GaussianScratch<T>,
    memberships: &mut [f64],
    log_densities: &mut [f64],
) {
    let (dimension, count, rows) = (tiles.dimension(), components.len(), tiles.rows());
    assert!(!components.is_empty(), "at least one component");
    assert_eq!(dimension, components.dimension);
    assert!(memberships.len() == rows * count && log_densities.len() == rows, "a place for each row");
    scratch.scores.resize(tiles.weights().len() * count, T::Line::default());
    scratch.differences.resize(dimension * GROUP, T::Line::default());
    scratch.log_sums.resize(tiles.weights().len(), T::Line::default());
    memberships_of(tiles, components, scratch);
    let whole = tiles.weights().len() / GROUP * GROUP;
    for row in 0..rows {
        let (tile, lane) = (row / T::Line::COUNT, row % T::Line::COUNT);
        // The tiles of a group have the scores of a component side by side.
        let (first, tiles_of) = if tile < whole { (tile / GROUP * GROUP, GROUP) } else { (tile, 1) };
        let scores = scratch.scores[first * count + tile - first..].iter().step_by(tiles_of);
        for (membership, score) in memberships[row * count..][..count].iter_mut().zip(scores) {
            *membership = score.lanes()[lane].to_f64();
        }
        log_densities[row] =
            components.temperature * std::f64::consts::LN_2 * scratch.log_sums[tile].lanes()[lane].to_f64();
    }
}

kernel! {
    fn sums_of[T; V](tiles: &Tiles<T>, components: &Components<T>, scatter: Scatter, scratch: &mut GaussianScratch<T>) -> (f64, f64) {
        let dimension = tiles.dimension();
        let mut totals = [V::splat(T::default()); 2];
        let whole = tiles.weights().len() / GROUP * GROUP;
        for at in (0..whole).step_by(GROUP) {
            group::<T, V, GROUP>(&tiles.values()[at * dimension..], &tiles.weights()[at..], components, scatter, scratch, &mut totals);
        }
        for at in whole..tiles.weights().len() {
            group::<T, V, 1>(&tiles.values()[at * dimension..], &tiles.weights()[at..], components, scatter, scratch, &mut totals);
        }
        finish(totals)
    }
}

kernel! {
    fn memberships_of[T; V](tiles: &Tiles<T>, components: &Components<T>, scratch: &mut GaussianScratch<T>) {
        let dimension = tiles.dimension();
        let whole = tiles.weights().len() / GROUP * GROUP;
        for at in (0..whole).step_by(GROUP) {
            group_memberships::<T, V, GROUP>(&tiles.values()[at * dimension..], components, at, scratch);
        }
        for at in whole..tiles.weights().len() {
            group_memberships::<T, V, 1>(&tiles.values()[at * dimension..], components, at, scratch);
        }
    }
}

/// Writes the memberships of the rows of G tiles, the first of which is tile `at`, and the logarithms of their sums.
#[inline(always)]
fn group_memberships<T: Real, V: Lanes<Number = T>, const G: usize>(
    values: &[T::Line],
    components: &Components<T>,
    at: usize,
    scratch: &mut GaussianScratch<T>,
) {
    let count = components.len();
    let (scores, _) = scratch.scores[at * count..][..count * G].as_chunks_mut::<G>();
    let most = scored::<T, V, G>(values, components, &mut scratch.differences, scores);
    let mut sums = [V::splat(T::default()); G];
    for score in scores.iter_mut() {
        for t in 0..G {
            let value = V::load(&score[t]).sub(most[t]).exp2();
            value.store(&mut score[t]);
            sums[t] = sums[t].add(value);
        }
    }
    let one = V::splat(T::from_f64(1.0));
    let shares: [V; G] = std::array::from_fn(|t| one.div(sums[t]));
    for score in scores.iter_mut() {
        for t in 0..G {
            V::load(&score[t]).mul(shares[t]).store(&mut score[t]);
        }
    }
    for t in 0..G {
        most[t].add(sums[t].log2()).store(&mut scratch.log_sums[at + t]);
    }
}

/// Writes the differences of the rows of G tiles from a mean.
#[inline(always)]
fn differences_from<T: Real, V: Lanes<Number = T>, const G: usize>(
    values: &[T::Line],
    mean: &[T],
    out: &mut [[T::Line; G]],
) {
    let dimension = mean.len();
    for j in 0..dimension {
        let u = V::splat(mean[j]);
        for t in 0..G {
            V::load(&values[t * dimension + j]).sub(u).store(&mut out[j][t]);
        }
    }
}

/// Writes the scores of the rows of G tiles, and returns the best score of each row.
#[inline(always)]
fn scored<T: Real, V: Lanes<Number = T>, const G: usize>(
    values: &[T::Line],
    components: &Components<T>,
    differences: &mut [T::Line],
    scores: &mut [[T::Line; G]],
) -> [V; G] {
    let dimension = components.dimension;
    let length = components.matrix_len();
    let (differences, _) = differences[..dimension * G].as_chunks_mut::<G>();
    let mut most = [V::splat(T::from_f64(f64::NEG_INFINITY)); G];
    for k in 0..scores.len() {
        differences_from::<T, V, G>(values, &components.means[k * dimension..][..dimension], differences);
        let matrix = &components.matrices[k * length..][..length];
        let mut value = [V::splat(components.offsets[k]); G];
        match components.whitening {
            Whitening::Diagonal => {
                for j in 0..dimension {
                    let w = V::splat(matrix[j]);
                    for t in 0..G {
                        let z = V::load(&differences[j][t]).mul(w);
                        value[t] = z.neg_mul_add(z, value[t]);
                    }
                }
            }
            Whitening::Triangular => {
                let mut n = 0;
                for i in 0..dimension {
                    let mut z = [V::splat(T::default()); G];
                    for j in 0..=i {
                        let w = V::splat(matrix[n]);
                        for t in 0..G {
                            z[t] = V::load(&differences[j][t]).mul_add(w, z[t]);
                        }
                        n += 1;
                    }
                    for t in 0..G {
                        value[t] = z[t].neg_mul_add(z[t], value[t]);
                    }
                }
            }
        }
        for t in 0..G {
            value[t].store(&mut scores[k][t]);
            most[t] = value[t].max(most[t]);
        }
    }
    most
}

#[inline(always)]
fn group<T: Real, V: Lanes<Number = T>, const G: usize>(
    values: &[T::Line],
    weights: &[T::Line],
    components: &Components<T>,
    scatter: Scatter,
    scratch: &mut GaussianScratch<T>,
    totals: &mut [V; 2],
) {
    let (dimension, count) = (components.dimension, components.len());
    let (scores, _) = scratch.scores[..count * G].as_chunks_mut::<G>();
    let most = scored::<T, V, G>(values, components, &mut scratch.differences, scores);
    let share = shares::<T, V, G>(scores, weights, most, totals);
    let (differences, _) = scratch.differences[..dimension * G].as_chunks_mut::<G>();
    let per_component = scatter.per_component(dimension);
    let (own, pooled) = scratch.sums.split_at_mut(count * per_component);
    for k in 0..count {
        differences_from::<T, V, G>(values, &components.means[k * dimension..][..dimension], differences);
        let mut member = share;
        for t in 0..G {
            member[t] = V::load(&scores[k][t]).mul(share[t]);
        }
        let (mass, moments) = own[k * per_component..][..per_component].split_at_mut(1);
        let (first, second) = moments.split_at_mut(dimension);
        let mut sum = V::load(&mass[0]);
        for t in 0..G {
            sum = sum.add(member[t]);
        }
        sum.store(&mut mass[0]);
        for j in 0..dimension {
            let mut sum = V::load(&first[j]);
            for t in 0..G {
                sum = member[t].mul_add(V::load(&differences[j][t]), sum);
            }
            sum.store(&mut first[j]);
        }
        match scatter {
            Scatter::Diagonal => {
                for j in 0..dimension {
                    let mut sum = V::load(&second[j]);
                    for t in 0..G {
                        let difference = V::load(&differences[j][t]);
                        sum = member[t].mul(difference).mul_add(difference, sum);
                    }
                    sum.store(&mut second[j]);
                }
            }
            Scatter::Full => pairs::<T, V, G>(dimension, differences, &member, second),
            Scatter::Pooled => pairs::<T, V, G>(dimension, differences, &member, pooled),
        }
    }
}

/// Adds the products of all pairs of coordinates, the lower triangle row by row.
#[inline(always)]
fn pairs<T: Real, V: Lanes<Number = T>, const G: usize>(
    dimension: usize,
    differences: &[[T::Line; G]],
    member: &[V; G],
    sums: &mut [T::Line],
) {
    let mut n = 0;
    for i in 0..dimension {
        let mut product = *member;
        for t in 0..G {
            product[t] = member[t].mul(V::load(&differences[i][t]));
        }
        for j in 0..=i {
            let mut sum = V::load(&sums[n]);
            for t in 0..G {
                sum = product[t].mul_add(V::load(&differences[j][t]), sum);
            }
            sum.store(&mut sums[n]);
            n += 1;
        }
    }
}
