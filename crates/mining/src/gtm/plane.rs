//! The principal axes of the rows. They determine how a map is laid out, and when it begins to unfold.
//!
//! Each column is divided by the square root of its weight; all weights are equal if no cell is missing. An eigenvalue
//! of the resulting matrix decides the stability of a collapsed map. This holds with missing values too, because a
//! missing cell adds nothing to any product. `docs/design/gtm.md` has the formula.

use lehr_numerics::factor::{eigenpairs, orient};
use lehr_numerics::random::Stream;
use serde::{Deserialize, Serialize};

use super::table::Table;
use crate::Error;
use crate::round::{Round, Rounds, total_of};
use crate::rows::{CovarianceRound, RowMajor};

/// Up to this dimension, the covariance matrix is formed, and all of its eigenvectors are found.
const LARGEST_FORMED: usize = 96;
/// The number of additional directions that are iterated with the requested directions, to speed up convergence.
const GUARDS: usize = 3;
/// The maximum number of rounds of the iteration, and the relative change of the eigenvalues at which the iteration
/// ends.
const MOST_ROUNDS: usize = 100;
const SETTLED: f64 = 1e-9;

/// A direction of unit length and the variance along it, in stored units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Axis {
    pub variance: f64,
    pub direction: Vec<f64>,
}

/// Returns the first `count` principal axes, the widest first; fewer if there are fewer columns.
pub(crate) async fn principal_axes(rounds: &mut dyn Rounds, table: &Table, count: usize) -> Result<Vec<Axis>, Error> {
    let dimension = table.rows.dimension;
    let scale: Vec<f64> = table.column_weights.iter().map(|weight| 1.0 / weight.sqrt()).collect();
    let mut total = Vec::new();
    if dimension <= LARGEST_FORMED {
        total_of(rounds, &CovarianceRound { rows: &table.rows }, &mut total).await?;
        for i in 0..dimension {
            for j in 0..=i {
                total[i * dimension + j] *= scale[i] * scale[j];
            }
        }
        let pairs = eigenpairs(dimension, &total).unwrap_or_default();
        let axis = |(variance, direction): (f64, Vec<f64>)| Axis { variance: variance.max(0.0), direction };
        return Ok(pairs.into_iter().take(count).map(axis).collect());
    }
    let wide = (count + GUARDS).min(dimension);
    let stream = Stream::new(0, "principal axes");
    let mut directions: Vec<f64> = (0..wide * dimension).map(|at| stream.normal(at as u64)).collect();
    orthonormalise(&mut directions, dimension);
    let mut values = vec![0.0; wide];
    for _ in 0..MOST_ROUNDS {
        total_of(rounds, &ProductRound { table, scale: &scale, directions: &directions }, &mut total).await?;
        // The Rayleigh-Ritz method finds the best axes within the span of the directions.
        let mut inner = vec![0.0; wide * wide];
        let (u, products) = (RowMajor::new(&directions, dimension), RowMajor::new(&total, dimension));
        for a in 0..wide {
            for b in 0..=a {
                let (u, product) = (u.row(b), products.row(a));
                inner[a * wide + b] = u.iter().zip(product).map(|(u, x)| u * x).sum();
            }
        }
        let Some(pairs) = eigenpairs(wide, &inner) else { break };
        let mut turned = vec![0.0; wide * dimension];
        let mut change = 0.0f64;
        let of_each = pairs.iter().zip(turned.chunks_exact_mut(dimension)).enumerate();
        for (a, ((value, mixing), turned)) in of_each {
            if a < count {
                change = change.max((value - values[a]).abs() / value.abs().max(f64::MIN_POSITIVE));
            }
            values[a] = *value;
            for (mixing, product) in mixing.iter().zip(total.chunks_exact(dimension)) {
                turned.iter_mut().zip(product).for_each(|(sum, x)| *sum += mixing * x);
            }
        }
        directions = turned;
        orthonormalise(&mut directions, dimension);
        if change <= SETTLED {
            break;
        }
    }
    let axes = directions.chunks_exact_mut(dimension).zip(&values).take(count);
    Ok(axes
        .map(|(direction, value)| {
            orient(direction);
            Axis { variance: value.max(0.0), direction: direction.to_vec() }
        })
        .collect())
}

/// Orthonormalises the directions by two passes of the Gram-Schmidt process; the second pass removes the rounding
/// errors of the first. A direction that depends linearly on earlier ones becomes 0.
fn orthonormalise(directions: &mut [f64], dimension: usize) {
    let count = directions.len() / dimension;
    for a in 0..count {
        let (before, rest) = directions.split_at_mut(a * dimension);
        let direction = &mut rest[..dimension];
        let length = |u: &[f64]| u.iter().map(|x| x * x).sum::<f64>().sqrt();
        let whole = length(&*direction);
        for _ in 0..2 {
            for other in before.chunks_exact(dimension) {
                let inner: f64 = other.iter().zip(&*direction).map(|(a, b)| a * b).sum();
                direction.iter_mut().zip(other).for_each(|(x, y)| *x -= inner * y);
            }
        }
        let left = length(&*direction);
        let factor = if left > 1e-12 * whole { 1.0 / left } else { 0.0 };
        direction.iter_mut().for_each(|x| *x *= factor);
    }
}

/// Multiplies the scaled covariance with some directions.
struct ProductRound<'a> {
    table: &'a Table,
    scale: &'a [f64],
    /// The directions to multiply with, one after another.
    directions: &'a [f64],
}

impl Round for ProductRound<'_> {
    fn len(&self) -> usize {
        self.directions.len()
    }

    fn key_len(&self) -> usize {
        self.table.rows.dimension
    }

    fn name(&self) -> &'static str {
        "principal axes"
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        partial.fill(0.0);
        let dimension = self.table.rows.dimension;
        let tiles = self.table.rows.leaves[leaf].store.numbers();
        let mut row = vec![0.0; dimension];
        for index in 0..tiles.rows() {
            tiles.read_row(index, &mut row);
            row.iter_mut().zip(self.scale).for_each(|(x, scale)| *x *= scale);
            let weight = tiles.weight(index);
            for (sum, u) in partial.chunks_exact_mut(dimension).zip(self.directions.chunks_exact(dimension)) {
                let along = weight * u.iter().zip(&row).map(|(u, x)| u * x).sum::<f64>();
                sum.iter_mut().zip(&row).for_each(|(sum, x)| *sum += along * x);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_become_orthonormal_and_copies_become_nothing() {
        let mut directions = vec![3.0, 4.0, 0.0, 6.0, 8.0, 0.0, 0.0, 5.0, 0.0];
        orthonormalise(&mut directions, 3);
        let expected = [0.6, 0.8, 0.0, 0.0, 0.0, 0.0, -0.8, 0.6, 0.0];
        assert!(directions.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15), "{directions:?}");
    }
}
