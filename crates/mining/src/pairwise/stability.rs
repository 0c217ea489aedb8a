//! The stability of each component: the leading eigenvalue of its members' centred dissimilarities.
//!
//! With `q`, the normalised weights of the members, a component divides below the largest eigenvalue of this matrix:
//!
//! ```text
//! G_ij = -sqrt(q_i q_j) (D_ij - B_i - B_j - 2 A)
//! ```
//!
//! For squared Euclidean distances, this is twice the largest eigenvalue of the component's covariance. Dissimilarities
//! that are not distances make G indefinite, so power iteration could end at the most negative eigenvalue. Instead each
//! component climbs to its algebraically largest eigenvalue ([`Climb`]). All components share the products with the
//! matrix, which is read once for each step.

use lehr_numerics::compact::{Columns, Entry};
use lehr_numerics::lanes::Real;
use lehr_numerics::random::Stream;

use super::field::{Means, Problem};
use crate::Error;
use crate::anneal::climb::{Climb, unit};
use crate::gather::Side;
use crate::product::products;
use crate::round::Rounds;
use crate::rows::RowMajor;

/// The maximum number of passes over the matrix in a division test.
pub(crate) const STEPS: usize = 24;
/// The maximum number of passes over the matrix in the search for the first critical temperature.
pub(crate) const FIRST_STEPS: usize = 200;
/// A division test, or the search for the first critical temperature, ends when all eigenvalues change by less than
/// this relative amount.
pub(crate) const TOLERANCE: f64 = 1e-5;
pub(crate) const FIRST_TOLERANCE: f64 = 1e-13;
/// The length of the random vector that is added to a vector before it is used again. Without it, the search could not
/// leave an exact eigenvector even if another eigenvalue has become the largest.
const KICK: f64 = 0.02;

/// The result of a division test for a component.
#[derive(Clone, Debug)]
pub(crate) struct Unstable {
    /// The temperature below which the component divides.
    pub critical: f64,
    /// For each item, the change of its field if the component is divided by one unit along the eigenvector.
    pub along: Vec<f64>,
}

/// The operator G of all components.
pub(crate) struct Centered<'a, 'm, T: Real> {
    pub problem: &'a Problem<'m, T>,
    /// The memberships, N x K.
    pub memberships: &'a [f64],
    pub means: &'a Means,
    /// The fields B, N x K.
    pub fields: &'a [f64],
}

impl<T: Real> Centered<'_, '_, T> {
    fn count(&self) -> usize {
        self.means.own.len()
    }

    /// `sqrt(q)` of an item in a component.
    fn root(&self, item: usize, k: usize) -> f64 {
        let mass = self.means.masses[k].max(f64::MIN_POSITIVE);
        (self.problem.weights[item] * self.memberships[item * self.count() + k] / mass).sqrt()
    }

    /// Computes, for each component and item, `-(D u - B (1'u) - B'u - 2 A (1'u))_i` with `u = sqrt(q) v`. Missing
    /// pairs are left out, and the known pairs count as all pairs.
    async fn moves(
        &self,
        rounds: &mut dyn Rounds,
        vectors: &[&[f64]],
        turn: &mut Side,
    ) -> Result<Vec<Vec<f64>>, Error> {
        let (items, count) = (self.problem.items(), self.count());
        let has_gaps = self.problem.matrix.has_gaps();
        let width = if has_gaps { 2 * count } else { count };
        let u = |item: usize, k: usize| self.root(item, k) * vectors[k][item];
        let mut columns = Columns::new(items, width);
        columns.fill(|item, at| {
            if at < count { u(item, at) } else { u(item, at - count) * self.fields[item * count + at - count] }
        });
        let mut out = Vec::new();
        let entries = [Entry::Value, Entry::Present];
        let entries = if has_gaps { &entries[..] } else { &entries[..1] };
        products(rounds, &self.problem.matrix, &columns, entries, &self.problem.gather, turn, &mut out).await?;
        let mut moves = vec![vec![0.0; items]; count];
        for (k, moves) in moves.iter_mut().enumerate() {
            let own = self.means.own[k];
            let sum: f64 = (0..items).map(|item| u(item, k)).sum();
            let cross: f64 = (0..items).map(|item| u(item, k) * self.fields[item * count + k]).sum();
            for (item, moved) in moves.iter_mut().enumerate() {
                let field = self.fields[item * count + k];
                *moved = if has_gaps {
                    let row = RowMajor::new(&out, 2 * width).row(item);
                    let (here, known) = (row[k], &row[width..]);
                    -(here - field * known[k] - known[count + k] - 2.0 * own * known[k])
                } else {
                    -(out[item * count + k] - field * sum - cross - 2.0 * own * sum)
                };
            }
        }
        Ok(moves)
    }

    /// Climbs to each component's leading eigenvalue, from `starts` (N numbers for each component, of any length) if
    /// there are any. Returns the results with eigenvectors of unit length, and the number of passes over the matrix.
    pub async fn climb(
        &self,
        rounds: &mut dyn Rounds,
        starts: &mut Vec<f64>,
        seed: u64,
        steps: usize,
        tolerance: f64,
        turn: &mut Side,
    ) -> Result<(Vec<Unstable>, u64), Error> {
        let (items, count) = (self.problem.items(), self.count());
        let stream = Stream::new(seed, "division directions");
        let has_starts = starts.len() == items * count;
        let mut vectors: Vec<Vec<f64>> = (0..count)
            .map(|k| {
                let mut vector: Vec<f64> = (0..items)
                    .map(|item| {
                        let random = stream.normal((k * items + item) as u64) * self.root(item, k);
                        if has_starts { starts[k * items + item] + KICK * random } else { random }
                    })
                    .collect();
                self.center(&mut vector, k);
                unit(&mut vector);
                vector
            })
            .collect();
        let mut climbs: Vec<Climb> = Vec::with_capacity(count);
        let mut readings = 0;
        loop {
            let shown: Vec<&[f64]> = vectors.iter().map(Vec::as_slice).collect();
            let moves = self.moves(rounds, &shown, turn).await?;
            readings += 1;
            let images = moves.into_iter().enumerate().map(|(k, mut image)| {
                image.iter_mut().enumerate().for_each(|(item, x)| *x *= self.root(item, k));
                image
            });
            if climbs.is_empty() {
                climbs.extend(images.zip(&vectors).map(|(image, vector)| Climb::begin(vector.clone(), image)));
            } else {
                for ((climb, image), vector) in climbs.iter_mut().zip(images).zip(&vectors) {
                    climb.take(vector.clone(), image);
                }
            }
            let is_done = climbs.iter().all(|climb| climb.change <= tolerance * climb.value.abs());
            if is_done || readings >= steps {
                break;
            }
            for (k, (climb, vector)) in climbs.iter().zip(&mut vectors).enumerate() {
                climb.residual(vector);
                self.center(vector, k);
                unit(vector);
            }
        }
        let shown: Vec<&[f64]> = climbs.iter().map(|climb| climb.vector()).collect();
        let moves = self.moves(rounds, &shown, turn).await?;
        let shares = if self.problem.matrix.has_gaps() { self.shares(rounds, turn).await? } else { vec![1.0; count] };
        starts.clear();
        climbs.iter().for_each(|climb| starts.extend_from_slice(climb.vector()));
        let unstable = climbs
            .iter()
            .zip(moves)
            .zip(shares)
            .map(|((climb, along), share)| Unstable {
                critical: (climb.value / share).max(0.0),
                along: along.into_iter().map(|x| x / share).collect(),
            })
            .collect();
        Ok((unstable, readings as u64 + 1))
    }

    /// Removes the part along `sqrt(q)`, which G maps to 0.
    fn center(&self, vector: &mut [f64], k: usize) {
        let along: f64 = vector.iter().enumerate().map(|(item, x)| x * self.root(item, k)).sum();
        vector.iter_mut().enumerate().for_each(|(item, x)| *x -= along * self.root(item, k));
    }

    /// The share of each component's pairs that have a dissimilarity.
    async fn shares(&self, rounds: &mut dyn Rounds, turn: &mut Side) -> Result<Vec<f64>, Error> {
        let (items, count) = (self.problem.items(), self.count());
        let mut columns = Columns::new(items, count);
        columns.fill(|item, k| self.root(item, k) * self.root(item, k));
        let mut known = Vec::new();
        let entries = [Entry::Present];
        products(rounds, &self.problem.matrix, &columns, &entries, &self.problem.gather, turn, &mut known).await?;
        let share = |k: usize| {
            (0..items).map(|item| self.root(item, k) * self.root(item, k) * known[item * count + k]).sum::<f64>()
        };
        Ok((0..count).map(|k| share(k).clamp(f64::MIN_POSITIVE, 1.0)).collect())
    }
}
