//! Finds the two directions in which the rows of a wide table vary most, so that they can be drawn.
//! Power iteration on a sample finds the directions, which is accurate enough for a picture. If the variances along
//! both directions are nearly the same, any two directions in their plane would show as much. No method uses these
//! axes, so this code is in the report. `lehr-numerics` has the factors that methods use.

use lehr_data::Sparse;
use lehr_mining::drawn::drawn;

/// The maximum number of values in the sample; for sparse rows, of values that are not 0. `AXES_PASSES` is the maximum
/// number of iterations.
const AXES_WORK: usize = 2_000_000;
const AXES_PASSES: usize = 40;

/// The two directions in which rows vary most.
pub struct PrincipalAxes {
    mean: Vec<f64>,
    directions: [Vec<f64>; 2],
    /// The share of the total variance along each direction.
    pub shares: [f64; 2],
}

impl PrincipalAxes {
    /// Computes the axes from rows. `read` copies a row and returns its weight. Uses a sample if there are many rows.
    /// Cost: at most [`AXES_WORK`] × 8 × [`AXES_PASSES`] operations.
    pub fn of(dimension: usize, rows: usize, read: impl Fn(usize, &mut [f64]) -> f64) -> Self {
        let every = rows.div_ceil((AXES_WORK / dimension).max(2)).max(1);
        let mut values = vec![0.0; rows.div_ceil(every) * dimension];
        let sample: Vec<(&[f64], f64)> = values
            .chunks_exact_mut(dimension)
            .enumerate()
            .map(|(place, row)| {
                let weight = read(place * every, row);
                (&*row, weight)
            })
            .collect();
        let total: f64 = sample.iter().map(|(_, weight)| weight).sum();
        // A sample may have only rows of weight 0; then all its rows count equally.
        let weight_of = |weight: f64| if total > 0.0 { weight / total } else { 1.0 / sample.len() as f64 };
        let mut mean = vec![0.0; dimension];
        for (row, weight) in &sample {
            add(&mut mean, row, weight_of(*weight));
        }
        let variance: f64 = sample
            .iter()
            .map(|(row, weight)| {
                weight_of(*weight) * row.iter().zip(&mean).map(|(value, mean)| (value - mean).powi(2)).sum::<f64>()
            })
            .sum();
        let mut directions = starts(dimension);
        let mut along = [0.0; 2];
        for _ in 0..AXES_PASSES {
            orthonormal(&mut directions);
            let mut next = [vec![0.0; dimension], vec![0.0; dimension]];
            for (row, weight) in &sample {
                for (axis, next) in next.iter_mut().enumerate() {
                    let score: f64 =
                        row.iter().zip(&mean).zip(&directions[axis]).map(|((value, mean), d)| (value - mean) * d).sum();
                    let factor = weight_of(*weight) * score;
                    for ((slot, value), mean) in next.iter_mut().zip(*row).zip(&mean) {
                        *slot += factor * (value - mean);
                    }
                }
            }
            along = std::array::from_fn(|axis| dot(&next[axis], &directions[axis]));
            if next.iter().any(|direction| dot(direction, direction) == 0.0) {
                break;
            }
            directions = next;
        }
        Self::finished(mean, directions, along, variance)
    }

    /// Computes the axes from rows of a sparse table, or from a sample if the rows have many values. The rows stay
    /// sparse, because `(x - mean) . d` is `x . d - mean . d`.
    pub fn of_sparse(sparse: &Sparse, rows: &[usize]) -> Self {
        let dimension = sparse.dimension();
        let values: usize = rows.iter().map(|row| sparse.row(*row).0.len()).sum();
        let every = values.div_ceil(AXES_WORK).max(1);
        let sample: Vec<usize> =
            drawn(rows.len(), rows.len().div_ceil(every)).into_iter().map(|place| rows[place]).collect();
        let entries = |row: usize| {
            let (columns, values) = sparse.row(row);
            columns.iter().zip(values).map(|(column, value)| (*column as usize, *value))
        };
        let total: f64 = sample.iter().map(|row| sparse.weight(*row)).sum();
        // A sample may have only rows of weight 0; then all its rows count equally.
        let share = |row: usize| if total > 0.0 { sparse.weight(row) / total } else { 1.0 / sample.len() as f64 };
        let (mut mean, mut square) = (vec![0.0; dimension], 0.0);
        for &row in &sample {
            for (j, value) in entries(row) {
                mean[j] += share(row) * value;
                square += share(row) * value * value;
            }
        }
        let variance = square - dot(&mean, &mean);
        let mut directions = starts(dimension);
        let mut along = [0.0; 2];
        for _ in 0..AXES_PASSES {
            orthonormal(&mut directions);
            let mut next = [vec![0.0; dimension], vec![0.0; dimension]];
            for (next, direction) in next.iter_mut().zip(&directions) {
                let (of_mean, mut factors) = (dot(&mean, direction), 0.0);
                for &row in &sample {
                    let score: f64 = entries(row).map(|(j, value)| value * direction[j]).sum();
                    let factor = share(row) * (score - of_mean);
                    factors += factor;
                    entries(row).for_each(|(j, value)| next[j] += factor * value);
                }
                add(next, &mean, -factors);
            }
            along = std::array::from_fn(|axis| dot(&next[axis], &directions[axis]));
            if next.iter().any(|direction| dot(direction, direction) == 0.0) {
                break;
            }
            directions = next;
        }
        Self::finished(mean, directions, along, variance)
    }

    /// Returns the position of a sparse row along the two axes, relative to the mean.
    pub fn project_sparse(&self, (columns, values): (&[u32], &[f64])) -> (f64, f64) {
        let along = |direction: &[f64]| {
            let row = columns.iter().zip(values).map(|(column, value)| value * direction[*column as usize]);
            row.sum::<f64>() - dot(&self.mean, direction)
        };
        (along(&self.directions[0]), along(&self.directions[1]))
    }

    fn finished(mean: Vec<f64>, mut directions: [Vec<f64>; 2], along: [f64; 2], variance: f64) -> Self {
        orthonormal(&mut directions);
        for direction in &mut directions {
            let largest = direction.iter().fold(0.0_f64, |most, &d| if d.abs() > most.abs() { d } else { most });
            if largest < 0.0 {
                direction.iter_mut().for_each(|d| *d = -*d);
            }
        }
        // If all rows are equal, rounding may leave a remainder, which does not count as variance.
        let varies = variance > 1e-24 * dot(&mean, &mean);
        let shares = along.map(|along| if varies { along / variance } else { 0.0 });
        PrincipalAxes { mean, directions, shares }
    }

    /// Returns the position of a row along the two axes, relative to the mean.
    pub fn project(&self, row: &[f64]) -> (f64, f64) {
        let along = |direction: &[f64]| {
            row.iter().zip(&self.mean).zip(direction).map(|((value, mean), d)| (value - mean) * d).sum::<f64>()
        };
        (along(&self.directions[0]), along(&self.directions[1]))
    }
}

/// Returns starting directions. Such directions are not at right angles to the principal axes, except for specially
/// constructed data.
fn starts(dimension: usize) -> [Vec<f64>; 2] {
    std::array::from_fn(|axis| (0..dimension).map(|i| 0.1 + scatter(i + 1 + axis * (dimension + 7))).collect())
}

/// Orthonormalises two vectors (Gram-Schmidt). If the second vector is a multiple of the first, a coordinate axis
/// replaces the second.
fn orthonormal(directions: &mut [Vec<f64>; 2]) {
    let [first, second] = directions;
    scale_to_one(first);
    for _ in 0..2 {
        let shared = dot(first, second);
        add(second, first, -shared);
    }
    if dot(second, second) < 1e-24 {
        let free = (0..first.len()).fold(0, |best, i| if first[i].abs() < first[best].abs() { i } else { best });
        second.fill(0.0);
        second[free] = 1.0;
        let shared = dot(first, second);
        add(second, first, -shared);
    }
    scale_to_one(second);
}

fn scale_to_one(direction: &mut [f64]) {
    let length = dot(direction, direction).sqrt();
    if length > 0.0 {
        direction.iter_mut().for_each(|value| *value /= length);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], row: &[f64], factor: f64) {
    for (slot, value) in to.iter_mut().zip(row) {
        *slot += factor * value;
    }
}

/// Returns numbers in [0, 1) that are evenly spread for any count: the fractional parts of the multiples of the golden
/// ratio.
pub fn scatter(index: usize) -> f64 {
    (index as f64 * 0.618_033_988_749_894_9).fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn principal_axes_of_a_known_cloud() {
        // The variance is 9 along (1, 1, 0)/sqrt 2, 1 along z, and 0 in the third direction.
        let rows: Vec<[f64; 3]> = (0..100)
            .map(|i| {
                let (a, z) = (if i % 2 == 0 { 3.0 } else { -3.0 }, if i % 4 < 2 { 1.0 } else { -1.0 });
                [5.0 + a / 2f64.sqrt(), a / 2f64.sqrt(), z]
            })
            .collect();
        let axes = PrincipalAxes::of(3, rows.len(), |index, row| {
            row.copy_from_slice(&rows[index]);
            1.0
        });
        assert!((axes.shares[0] - 0.9).abs() < 1e-9 && (axes.shares[1] - 0.1).abs() < 1e-9);
        assert!((axes.directions[0][0] - 0.5f64.sqrt()).abs() < 1e-6);
        assert!((axes.directions[1][2] - 1.0).abs() < 1e-6);
        let (x, y) = axes.project(&[5.0, 0.0, 2.0]);
        assert!(x.abs() < 1e-6 && (y - 2.0).abs() < 1e-6);
    }

    #[test]
    fn sparse_rows_have_the_axes_of_the_same_rows_with_their_zeros() {
        let rows = lehr_data::synthetic::topics(3, 40, 60, 9, 2).0;
        let all: Vec<usize> = (0..rows.len()).collect();
        let sparse = PrincipalAxes::of_sparse(&rows, &all);
        let full = PrincipalAxes::of(60, rows.len(), |index, row| {
            rows.read(index, row);
            1.0
        });
        assert!(sparse.shares.iter().zip(&full.shares).all(|(a, b)| (a - b).abs() < 1e-9 && *a > 0.05));
        let mut row = vec![0.0; 60];
        for index in all {
            rows.read(index, &mut row);
            let ((x, y), (u, v)) = (sparse.project_sparse(rows.row(index)), full.project(&row));
            assert!((x - u).abs() < 1e-9 && (y - v).abs() < 1e-9, "row {index}: {x}, {y} for {u}, {v}");
        }
    }

    #[test]
    fn equal_rows_have_axes_too() {
        let rows = [[1.0, 2.0, 3.0]; 5];
        let axes = PrincipalAxes::of(3, rows.len(), |index, row| {
            row.copy_from_slice(&rows[index]);
            0.0
        });
        let (x, y) = axes.project(&rows[0]);
        assert!(x.abs() < 1e-12 && y.abs() < 1e-12);
        assert_eq!(axes.shares, [0.0, 0.0]);
    }
}
