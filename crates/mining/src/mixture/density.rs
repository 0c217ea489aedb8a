//! Evaluates the density of a mixture for new rows, and draws rows from a mixture.

use lehr_data::Points;
use lehr_numerics::cholesky::{cholesky, packed_row, triangle};
use lehr_numerics::gaussian::{Components, GaussianScratch, posterior};
use lehr_numerics::random::Stream;
use lehr_numerics::tiles::Tiles;
use serde::{Deserialize, Serialize};

use super::e_step::likeliest;
use super::gaussians::Gaussians;
use super::parameters::Covariance;
use super::patterns::{grouped, order};
use crate::Error;
use crate::input::Input;
use crate::round::{LeafCells, on_threads};
use crate::rows::{RowMajor, RowMajorMut};

/// The number of rows in a block. The scores of a block fit into the cache.
const BLOCK: usize = 256;
/// The number of rows that a thread takes at once.
const ROWS_AT_ONCE: usize = 8 * BLOCK;
/// The minimum number of rows for which other threads are used.
const WORTH_THREADS: usize = 4 * ROWS_AT_ONCE;

/// A mixture of Gaussians: a density over points.
///
/// # Example
/// ```
/// use lehr_data::Points;
/// use lehr_mining::mixture::{Covariance, Mixture};
/// // Two standard Gaussians, at 0 and at 4, the second with a quarter of the weight.
/// let mixture = Mixture::new(Covariance::Spherical, 1, vec![0.75, 0.25], vec![0.0, 4.0], vec![1.0, 1.0])?;
/// let posterior = mixture.posterior(&Points::new(vec![0.0, 4.0], 1)?, 1)?;
/// assert_eq!(posterior.labels, [0, 1]);
/// let density: f64 = (0.75 + 0.25 * (-8.0f64).exp()) / std::f64::consts::TAU.sqrt();
/// assert!((posterior.log_densities[0] - density.ln()).abs() < 1e-14);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Mixture(Gaussians);

/// The memberships, labels and densities of rows in a mixture.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// The number of components.
    pub components: usize,
    /// The probability that each row belongs to each component: N x K, row-major. The probabilities of a row add up
    /// to 1. The vector is empty if only labels were requested ([`Mixture::assign`]).
    pub memberships: Vec<f64>,
    /// For each row, the component with the largest membership; the first if several tie.
    pub labels: Vec<u32>,
    /// For each row, its membership in the component of its label.
    pub probabilities: Vec<f64>,
    /// The log-density `ln p(x)` of each row, in the input's units.
    pub log_densities: Vec<f64>,
}

impl Mixture {
    pub(crate) fn from_gaussians(gaussians: Gaussians) -> Self {
        Self(gaussians)
    }

    /// Creates a mixture from weights (K), means (K x D) and covariances. The covariances are K variances (spherical),
    /// K x D variances (diagonal), one matrix (tied) or K matrices (full). A matrix is given as its lower triangle, row
    /// by row: `D (D + 1) / 2` numbers.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if lengths disagree, a number is not finite, or weights are not positive or do not
    /// add up to 1 (within 1e-6). Returns [`Error::Collapsed`] if a covariance is not positive definite.
    pub fn new(
        covariance: Covariance,
        dimension: usize,
        weights: Vec<f64>,
        means: Vec<f64>,
        covariances: Vec<f64>,
    ) -> Result<Self, Error> {
        let mixture = Self(Gaussians { covariance, dimension, weights, means, covariances });
        mixture.check()?;
        Ok(mixture)
    }

    /// Checks a mixture that comes from outside, for example from a file.
    ///
    /// # Errors
    /// Returns the errors of [`Mixture::new`].
    pub fn check(&self) -> Result<(), Error> {
        let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
        let Gaussians { covariance, dimension, weights, means, covariances } = &self.0;
        let count = weights.len();
        if *dimension == 0 || count == 0 {
            return wrong("weights", "at least one component and one column", format!("{count} and {dimension}"));
        }
        let matrices = if *covariance == Covariance::Tied { 1 } else { count };
        if means.len() != count * dimension || covariances.len() != matrices * covariance.len(*dimension) {
            return wrong(
                "means",
                "as many numbers of means and covariances as weights and columns ask for",
                format!("{} and {}", means.len(), covariances.len()),
            );
        }
        if !means.iter().chain(covariances).all(|number| number.is_finite()) {
            return wrong("means", "finite numbers", "one that is not".into());
        }
        let sum: f64 = weights.iter().sum();
        if !(weights.iter().all(|weight| *weight > 0.0) && (sum - 1.0).abs() <= 1e-6) {
            return wrong("weights", "positive numbers that add up to 1", format!("numbers that add up to {sum}"));
        }
        self.0.ready(1.0, &[]).map_err(|component| Error::Collapsed { component, components: count })?;
        Ok(())
    }

    /// The number of components, at least 1.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The number of columns of the points.
    pub fn dimension(&self) -> usize {
        self.0.dimension
    }

    /// The covariance type.
    pub fn form(&self) -> Covariance {
        self.0.covariance
    }

    /// The weights of the components, which add up to 1.
    pub fn weights(&self) -> &[f64] {
        &self.0.weights
    }

    /// The means, K x D, row-major.
    pub fn means(&self) -> &[f64] {
        &self.0.means
    }

    /// The covariances, in the order in which [`Mixture::new`] takes them.
    pub fn numbers(&self) -> &[f64] {
        &self.0.covariances
    }

    /// The mean of component `k`.
    ///
    /// # Panics
    /// Panics if there is no component `k`.
    pub fn mean(&self, k: usize) -> &[f64] {
        self.0.mean(k)
    }

    /// The covariance of component `k`, D x D, row-major.
    ///
    /// # Panics
    /// Panics if there is no component `k`.
    pub fn covariance(&self, k: usize) -> Vec<f64> {
        let (dimension, packed) = (self.0.dimension, self.0.packed(k));
        let entry = |i: usize, j: usize| packed[triangle(i.max(j)) + i.min(j)];
        (0..dimension).flat_map(|i| (0..dimension).map(move |j| (i, j))).map(|(i, j)| entry(i, j)).collect()
    }

    /// Computes the memberships, labels and densities of rows. The rows' weights have no effect.
    ///
    /// For a row with missing cells, the memberships and the density are those of its present cells. The memberships of
    /// a row without any value are the components' weights, and its log-density is 0.
    ///
    /// The result is bit-identical for any number of threads. Cost: N x K x D (spherical, diagonal) or N x K x D² / 2
    /// multiply-adds, and N x K exponentials. Each pattern of missing cells costs K x D³ more. Memory: N x K numbers,
    /// but only N numbers for [`Mixture::assign`].
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if the rows and the mixture have different numbers of columns. Returns
    /// [`Error::TooManyPoints`] if there are too many rows, and [`Error::Ranks`] if a thread fails.
    ///
    /// # Example
    /// ```
    /// use lehr_data::Incomplete;
    /// use lehr_mining::mixture::{Covariance, Mixture};
    /// let mixture = Mixture::new(Covariance::Diagonal, 2, vec![1.0], vec![0.0, 5.0], vec![1.0, 9.0])?;
    /// let posterior = mixture.posterior(&Incomplete::new(vec![0.0, f64::NAN], 2)?, 1)?;
    /// assert!((posterior.log_densities[0] + 0.5 * std::f64::consts::TAU.ln()).abs() < 1e-14); // of the first column alone
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn posterior<'a>(&self, rows: impl Into<Input<'a>>, threads: usize) -> Result<Posterior, Error> {
        self.apply(rows.into(), threads, true)
    }

    /// Does the same as [`Mixture::posterior`], but does not keep the memberships.
    ///
    /// # Errors
    /// Returns the errors of [`Mixture::posterior`].
    pub fn assign<'a>(&self, rows: impl Into<Input<'a>>, threads: usize) -> Result<Posterior, Error> {
        self.apply(rows.into(), threads, false)
    }

    fn apply(&self, input: Input<'_>, threads: usize, with_memberships: bool) -> Result<Posterior, Error> {
        let (dimension, count) = (self.0.dimension, self.0.len());
        if input.dimension() != dimension {
            return Err(Error::Parameter {
                name: "points",
                expected: "as many columns as the mixture has",
                found: format!("{} columns, where the mixture has {dimension}", input.dimension()),
            });
        }
        if u32::try_from(input.len()).is_err() {
            return Err(Error::TooManyPoints { points: input.len() });
        }
        let mut numbers: Vec<u32> = (0..input.len() as u32).collect();
        let patterns = if input.missing() > 0 {
            order(&input, &mut numbers);
            grouped(&input, &numbers, |observed, rows| (observed, rows.len()))
        } else {
            vec![((0..dimension).collect(), input.len())]
        };
        let mut found = Posterior {
            components: count,
            memberships: vec![0.0; if with_memberships { input.len() * count } else { 0 }],
            labels: vec![0; input.len()],
            probabilities: vec![0.0; input.len()],
            log_densities: vec![0.0; input.len()],
        };
        let mut blocks = Vec::new();
        let (mut left, mut out) = (&numbers[..], Part::all(&mut found));
        for (observed, rows) in &patterns {
            let (of_pattern, others) = left.split_at(*rows);
            left = others;
            for rows in of_pattern.chunks(ROWS_AT_ONCE) {
                blocks.push((&observed[..], rows, out.take(rows.len(), count), Ok(())));
            }
        }
        let mut blocks = blocks.into_iter();
        let blocks = LeafCells::new(blocks.len(), |_| blocks.next().expect("as many as there are"));
        let threads = if input.len() < WORTH_THREADS { 1 } else { threads };
        on_threads(threads, blocks.len(), |block| {
            // Each block prepares the components for its pattern again, because the components for all patterns may not
            // fit in memory.
            blocks.with(block, |(observed, rows, part, outcome)| {
                if observed.is_empty() {
                    return part.fill_from_weights(&self.0.weights);
                }
                match self.0.of_columns(observed).ready(1.0, &[]) {
                    Ok(components) => part.fill(&input, observed, rows, &components),
                    Err(component) => *outcome = Err(Error::Collapsed { component, components: count }),
                }
            });
        })?;
        blocks.into_values().try_for_each(|(_, _, _, outcome)| outcome)?;
        if input.missing() > 0 {
            found = found.in_order_of(&numbers);
        }
        Ok(found)
    }

    /// Draws rows from the mixture, and returns them with the component of each row. The same seed gives the same rows
    /// in every version of Lehr.
    ///
    /// # Errors
    /// Returns [`Error::Parameter`] if `rows` is 0, and [`Error::Collapsed`] if a covariance is not positive definite.
    ///
    /// # Example
    /// ```
    /// use lehr_mining::mixture::{Covariance, Mixture};
    /// let mixture = Mixture::new(Covariance::Spherical, 1, vec![0.5, 0.5], vec![-100.0, 100.0], vec![1.0, 1.0])?;
    /// let (points, labels) = mixture.sample(1000, 7)?;
    /// assert!((0..1000).all(|i| (points.row(i)[0] > 0.0) == (labels[i] == 1)));
    /// # Ok::<(), lehr_mining::Error>(())
    /// ```
    pub fn sample(&self, rows: usize, seed: u64) -> Result<(Points, Vec<u32>), Error> {
        if rows == 0 {
            return Err(Error::Parameter { name: "rows", expected: "at least 1", found: "0".into() });
        }
        let (dimension, count) = (self.0.dimension, self.0.len());
        let factors: Vec<Vec<f64>> = (0..count)
            .map(|k| cholesky(dimension, &self.0.packed(k)).ok_or(Error::Collapsed { component: k, components: count }))
            .collect::<Result<_, _>>()?;
        let (choice, noise) = (Stream::new(seed, "mixture component"), Stream::new(seed, "mixture sample"));
        let mut values = Vec::with_capacity(rows * dimension);
        let mut labels = Vec::with_capacity(rows);
        for row in 0..rows {
            let mut left = choice.uniform(row as u64);
            let mut k = 0;
            while k + 1 < count && left >= self.0.weights[k] {
                left -= self.0.weights[k];
                k += 1;
            }
            let z: Vec<f64> = (0..dimension).map(|j| noise.normal((row * dimension + j) as u64)).collect();
            for (i, mean) in self.0.mean(k).iter().enumerate() {
                let factor = packed_row(&factors[k], i);
                values.push(mean + factor.iter().zip(&z).map(|(factor, z)| factor * z).sum::<f64>());
            }
            labels.push(k as u32);
        }
        Ok((Points::new(values, dimension)?, labels))
    }
}

impl Posterior {
    /// Returns the result with the rows in the order of the input. Row `i` of `self` is row `numbers[i]` of the input.
    fn in_order_of(&self, numbers: &[u32]) -> Self {
        let mut found = self.clone();
        for (from, to) in numbers.iter().map(|&row| row as usize).enumerate() {
            found.labels[to] = self.labels[from];
            found.probabilities[to] = self.probabilities[from];
            found.log_densities[to] = self.log_densities[from];
            if !self.memberships.is_empty() {
                let memberships = RowMajor::new(&self.memberships, self.components).row(from);
                RowMajorMut::new(&mut found.memberships, self.components).row(to).copy_from_slice(memberships);
            }
        }
        found
    }
}

/// The part of a [`Posterior`] that holds the results of consecutive rows.
struct Part<'a> {
    /// The memberships, or an empty slice if only labels were requested.
    memberships: &'a mut [f64],
    labels: &'a mut [u32],
    probabilities: &'a mut [f64],
    log_densities: &'a mut [f64],
}

impl<'a> Part<'a> {
    fn all(found: &'a mut Posterior) -> Self {
        Self {
            memberships: &mut found.memberships,
            labels: &mut found.labels,
            probabilities: &mut found.probabilities,
            log_densities: &mut found.log_densities,
        }
    }

    /// Splits off the part of the first `rows` rows, and returns that part.
    fn take(&mut self, rows: usize, components: usize) -> Self {
        fn first<'a, T>(places: &mut &'a mut [T], count: usize) -> &'a mut [T] {
            places.split_off_mut(..count).expect("a place for each row")
        }
        let memberships = if self.memberships.is_empty() { 0 } else { rows * components };
        Self {
            memberships: first(&mut self.memberships, memberships),
            labels: first(&mut self.labels, rows),
            probabilities: first(&mut self.probabilities, rows),
            log_densities: first(&mut self.log_densities, rows),
        }
    }

    /// Computes the results of rows whose present cells are exactly those in the columns `observed`.
    fn fill(&mut self, input: &Input<'_>, observed: &[usize], rows: &[u32], components: &Components<f64>) {
        let (width, count) = (observed.len(), components.len());
        let (origin, mut scratch) = (vec![0.0; width], GaussianScratch::default());
        let mut memberships = vec![0.0; BLOCK.min(rows.len()) * count];
        let mut values = Vec::new();
        for (block, rows) in rows.chunks(BLOCK).enumerate() {
            let at = block * BLOCK..block * BLOCK + rows.len();
            let tiles = if width == input.dimension() {
                Tiles::new(rows.len(), width, &origin, |i| input.row(rows[i] as usize), |_| 1.0)
            } else {
                values.clear();
                let cells = |&row: &u32| observed.iter().map(move |&column| input.row(row as usize)[column]);
                values.extend(rows.iter().flat_map(cells));
                Tiles::new(rows.len(), width, &origin, |i| RowMajor::new(&values, width).row(i), |_| 1.0)
            };
            let memberships = match self.memberships.is_empty() {
                true => &mut memberships[..rows.len() * count],
                false => &mut self.memberships[at.start * count..at.end * count],
            };
            posterior(&tiles, components, &mut scratch, memberships, &mut self.log_densities[at.clone()]);
            let said = self.labels[at.clone()].iter_mut().zip(&mut self.probabilities[at]);
            for (memberships, (label, probability)) in memberships.chunks_exact(count).zip(said) {
                let likeliest = likeliest(memberships);
                (*label, *probability) = (likeliest.0 as u32, likeliest.1);
            }
        }
    }

    /// Writes the results of rows without any value, from the components' weights.
    fn fill_from_weights(&mut self, weights: &[f64]) {
        let (label, probability) = likeliest(weights);
        self.labels.fill(label as u32);
        self.probabilities.fill(probability);
        self.memberships.chunks_exact_mut(weights.len()).for_each(|row| row.copy_from_slice(weights));
    }
}
