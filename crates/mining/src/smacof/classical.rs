//! Classical scaling: initial positions from the leading eigenvectors of the centred squares.
//!
//! Torgerson 1952: with the centring J, `-1/2 J D² J` is the matrix of inner products if the distances are Euclidean.
//! The Lanczos recurrence finds the leading eigenvectors of this matrix. It keeps all vectors orthogonal, and each step
//! takes one product with the matrix. No squared or centred matrix is stored. A missing square is replaced by the mean
//! of its row, plus the mean of its column, minus the mean of the whole matrix. Such a square adds nothing to the
//! centred matrix.

use lehr_numerics::compact::{Columns, Entry};
use lehr_numerics::factor::eigenpairs;
use lehr_numerics::lanes::Real;
use lehr_numerics::random::Stream;

use super::problem::Problem;
use crate::Error;
use crate::gather::Side;
use crate::product::products;
use crate::round::Rounds;

/// The number of Lanczos steps if there are few dimensions. More steps are not needed, because the positions are only a
/// start.
const STEPS: usize = 30;
/// If the remainder of a vector is below this share of its length, the remainder is a rounding error, and the Krylov
/// space is exhausted.
const EXHAUSTED: f64 = 1e-10;
/// The spread, as a share of the map's size, in dimensions for which the squares have no positive eigenvalue. Without
/// this spread, the map would stay flat in these dimensions.
const THICKNESS: f64 = 1e-3;

/// Returns centred positions in the matrix's unit, and the number of passes over the matrix.
pub(crate) async fn classical<T: Real>(
    rounds: &mut dyn Rounds,
    problem: &Problem<'_, T>,
    seed: u64,
    turn: &mut Side,
) -> Result<(Vec<f64>, u64), Error> {
    let (items, dimension) = (problem.items(), problem.dimension);
    let squares = Squares::new(rounds, problem, turn).await?;
    let stream = Stream::new(seed, "classical scaling");
    let most = (STEPS + 2 * dimension).min(items - 1);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut images: Vec<Vec<f64>> = Vec::new();
    let mut drawn = 0;
    let mut next: Option<Vec<f64>> = None;
    while basis.len() < most {
        let mut vector = next.take().unwrap_or_else(|| {
            drawn += 1;
            (0..items).map(|item| stream.normal(((drawn - 1) * items + item) as u64)).collect()
        });
        center(&mut vector);
        let before = length(&vector);
        // Orthogonalise twice: the second time removes the rounding errors of the first.
        for _ in 0..2 {
            for other in &basis {
                let along = dot(&vector, other);
                vector.iter_mut().zip(other).for_each(|(x, other)| *x -= along * other);
            }
        }
        let after = length(&vector);
        if after.is_nan() || after <= EXHAUSTED * before || after == 0.0 {
            if drawn > basis.len() + 2 {
                break;
            }
            continue;
        }
        vector.iter_mut().for_each(|x| *x /= after);
        let image = squares.apply(rounds, problem, &vector, turn).await?;
        next = Some(image.clone());
        basis.push(vector);
        images.push(image);
    }
    let count = basis.len();
    let mut positions = vec![0.0; items * dimension];
    if count > 0 {
        let projected: Vec<f64> = (0..count * count).map(|at| dot(&basis[at / count], &images[at % count])).collect();
        let pairs = eigenpairs(count, &projected).unwrap_or_default();
        for (k, (value, vector)) in pairs.iter().take(dimension).enumerate().filter(|(_, (value, _))| *value > 0.0) {
            let mut column = vec![0.0; items];
            for (part, basis) in vector.iter().zip(&basis) {
                column.iter_mut().zip(basis).for_each(|(x, basis)| *x += part * basis);
            }
            lehr_numerics::factor::orient(&mut column);
            for (item, x) in column.iter().enumerate() {
                positions[item * dimension + k] = x * value.sqrt();
            }
        }
    }
    thicken(&mut positions, dimension, seed);
    Ok((positions, count as u64 + 1))
}

/// Spreads items by a small share of the map's size in dimensions in which they all coincide.
fn thicken(positions: &mut [f64], dimension: usize, seed: u64) {
    let sizes: Vec<f64> =
        (0..dimension).map(|k| positions.iter().skip(k).step_by(dimension).map(|x| x * x).sum::<f64>()).collect();
    let items = positions.len() / dimension;
    let largest = sizes.iter().copied().fold(0.0, f64::max);
    let spread = if largest > 0.0 { THICKNESS * (largest / items as f64).sqrt() } else { THICKNESS };
    let stream = Stream::new(seed, "flat dimensions");
    for k in (0..dimension).filter(|&k| sizes[k] <= 1e-12 * largest) {
        for item in 0..items {
            positions[item * dimension + k] = spread * stream.normal((item * dimension + k) as u64);
        }
    }
}

/// The centred squares as an operator.
struct Squares {
    /// The mean square of each row, minus half of the mean square of the whole matrix; used if pairs are missing.
    means: Vec<f64>,
}

impl Squares {
    async fn new<T: Real>(rounds: &mut dyn Rounds, problem: &Problem<'_, T>, turn: &mut Side) -> Result<Self, Error> {
        if !problem.matrix.has_gaps() {
            return Ok(Self { means: Vec::new() });
        }
        let mut ones = Columns::new(problem.items(), 1);
        ones.fill(|_, _| 1.0);
        let (mut sums, entries) = (Vec::new(), [Entry::Square, Entry::Present]);
        products(rounds, &problem.matrix, &ones, &entries, &problem.gather, turn, &mut sums).await?;
        let (all, count) = sums.chunks_exact(2).fold((0.0, 0.0), |(all, count), row| (all + row[0], count + row[1]));
        let means = sums.chunks_exact(2).map(|row| row[0] / row[1].max(1.0) - 0.5 * all / count).collect();
        Ok(Self { means })
    }

    async fn apply<T: Real>(
        &self,
        rounds: &mut dyn Rounds,
        problem: &Problem<'_, T>,
        u: &[f64],
        turn: &mut Side,
    ) -> Result<Vec<f64>, Error> {
        let items = problem.items();
        let mut products_of_rows = Vec::new();
        let mut image: Vec<f64>;
        if self.means.is_empty() {
            let mut column = Columns::new(items, 1);
            column.fill(|item, _| u[item]);
            let entries = [Entry::Square];
            products(rounds, &problem.matrix, &column, &entries, &problem.gather, turn, &mut products_of_rows).await?;
            image = products_of_rows;
        } else {
            let mut columns = Columns::new(items, 2);
            columns.fill(|item, k| if k == 0 { u[item] } else { self.means[item] * u[item] });
            let entries = [Entry::Square, Entry::Present];
            products(rounds, &problem.matrix, &columns, &entries, &problem.gather, turn, &mut products_of_rows).await?;
            let (sum, mean_sum) = (u.iter().sum::<f64>(), dot(u, &self.means));
            // Adds, for each missing pair, (mean_i + mean_j) u_j.
            image = products_of_rows
                .chunks_exact(4)
                .zip(&self.means)
                .map(|(row, mean)| row[0] + mean * (sum - row[2]) + (mean_sum - row[3]))
                .collect();
        }
        center(&mut image);
        image.iter_mut().for_each(|x| *x *= -0.5);
        Ok(image)
    }
}

fn center(vector: &mut [f64]) {
    let mean = vector.iter().sum::<f64>() / vector.len() as f64;
    vector.iter_mut().for_each(|x| *x -= mean);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn length(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}
