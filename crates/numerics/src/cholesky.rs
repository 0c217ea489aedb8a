//! Computes the Cholesky factor of a small covariance and its inverse, and solves with it, with the same bits on every
//! machine.
//!
//! Matrices are packed: the lower triangle row by row, `n (n + 1) / 2` numbers. Additions, products, quotients and
//! roots are computed in a fixed order, because every rank factors the reduced sums by itself (see [`crate::factor`]).

/// Returns the number of entries in the lower triangle of an n x n matrix. Row n of a larger triangle begins at this
/// index.
///
/// # Example
/// ```
/// assert_eq!(lehr_numerics::cholesky::triangle(3), 6);
/// ```
pub const fn triangle(n: usize) -> usize {
    n * (n + 1) / 2
}

/// Returns row `i` of a packed lower triangle, up to the diagonal.
///
/// # Panics
/// Panics if the triangle does not have row `i`.
///
/// # Example
/// ```
/// assert_eq!(lehr_numerics::cholesky::packed_row(&[1.0, 2.0, 3.0], 1), [2.0, 3.0]);
/// ```
#[inline]
pub fn packed_row(packed: &[f64], i: usize) -> &[f64] {
    &packed[triangle(i)..triangle(i + 1)]
}

/// Returns the lower triangular `L` with `L L' = matrix`. Returns `None` if the matrix is not positive definite beyond
/// rounding errors, or if a number is not finite.
///
/// A pivot counts as 0 if it is below `n` rounding units of its diagonal entry. Cost: n^3 / 3 operations, and one
/// allocation.
///
/// # Panics
/// Panics if `matrix` does not have [`triangle`]`(n)` numbers.
///
/// # Example
/// ```
/// use lehr_numerics::cholesky::cholesky;
/// assert_eq!(cholesky(2, &[4.0, 2.0, 5.0]), Some(vec![2.0, 1.0, 2.0]));
/// assert_eq!(cholesky(2, &[1.0, 1.0, 1.0]), None); // the second row is the first
/// ```
pub fn cholesky(n: usize, matrix: &[f64]) -> Option<Vec<f64>> {
    assert_eq!(matrix.len(), triangle(n), "a packed lower triangle");
    let mut factor = matrix.to_vec();
    for i in 0..n {
        let (above, row) = factor.split_at_mut(triangle(i));
        let row = &mut row[..=i];
        for j in 0..i {
            let other = &above[triangle(j)..][..=j];
            row[j] = (row[j] - dot(&row[..j], &other[..j])) / other[j];
        }
        let least = n as f64 * f64::EPSILON * row[i];
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        if !(pivot.is_finite() && pivot > least.max(0.0)) {
            return None;
        }
        row[i] = pivot.sqrt();
    }
    Some(factor)
}

/// Returns the inverse of a lower triangular factor: `W` with `W L = 1`, which is lower triangular too.
///
/// Cost: n^3 / 6 operations, and one allocation.
///
/// # Panics
/// Panics if `factor` does not have [`triangle`]`(n)` numbers.
///
/// # Example
/// ```
/// assert_eq!(lehr_numerics::cholesky::inverse_of_factor(2, &[2.0, 1.0, 2.0]), [0.5, -0.25, 0.5]);
/// ```
pub fn inverse_of_factor(n: usize, factor: &[f64]) -> Vec<f64> {
    assert_eq!(factor.len(), triangle(n), "a packed lower triangle");
    let mut inverse = vec![0.0; factor.len()];
    for i in 0..n {
        let row = &factor[triangle(i)..][..=i];
        for j in 0..i {
            let mut sum = 0.0;
            for (k, factor) in row.iter().enumerate().take(i).skip(j) {
                sum += factor * inverse[triangle(k) + j];
            }
            inverse[triangle(i) + j] = -sum / row[i];
        }
        inverse[triangle(i) + i] = 1.0 / row[i];
    }
    inverse
}

/// Solves `L L' X = B` with a lower triangular factor. `right` holds B on entry and X on return, n x `columns`,
/// row-major.
///
/// Cost: n^2 x columns multiply-adds. It allocates nothing.
///
/// # Panics
/// Panics if `factor` does not have [`triangle`]`(n)` numbers, or `right` does not have n x `columns`.
///
/// # Example
/// ```
/// use lehr_numerics::cholesky::{cholesky, solve};
/// let factor = cholesky(2, &[4.0, 2.0, 5.0]).unwrap();
/// let mut right = [8.0, 12.0]; // 4 x + 2 y and 2 x + 5 y
/// solve(2, &factor, 1, &mut right);
/// assert_eq!(right, [1.0, 2.0]);
/// ```
pub fn solve(n: usize, factor: &[f64], columns: usize, right: &mut [f64]) {
    assert_eq!(factor.len(), triangle(n), "a packed lower triangle");
    assert_eq!(right.len(), n * columns, "a row for each of the factor's");
    for i in 0..n {
        let (above, rest) = right.split_at_mut(i * columns);
        let (row, of_factor) = (&mut rest[..columns], &factor[triangle(i)..][..=i]);
        for (k, &entry) in of_factor[..i].iter().enumerate() {
            subtract(row, entry, &above[k * columns..][..columns]);
        }
        row.iter_mut().for_each(|x| *x /= of_factor[i]);
    }
    for i in (0..n).rev() {
        let (head, below) = right.split_at_mut((i + 1) * columns);
        let row = &mut head[i * columns..];
        for k in i + 1..n {
            subtract(row, factor[triangle(k) + i], &below[(k - i - 1) * columns..][..columns]);
        }
        let pivot = factor[triangle(i) + i];
        row.iter_mut().for_each(|x| *x /= pivot);
    }
}

/// Computes `row -= factor * other`.
fn subtract(row: &mut [f64], factor: f64, other: &[f64]) {
    row.iter_mut().zip(other).for_each(|(x, y)| *x -= factor * y);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// Returns the covariance of random rows, which is positive definite if there are more rows than columns.
    fn covariance(n: usize, rows: usize) -> Vec<f64> {
        let stream = Stream::new(n as u64, "cholesky");
        let x = |row: usize, j: usize| stream.normal((row * n + j) as u64);
        let mut matrix = Vec::new();
        for i in 0..n {
            for j in 0..=i {
                matrix.push((0..rows).map(|row| x(row, i) * x(row, j)).sum());
            }
        }
        matrix
    }

    #[test]
    fn a_factor_times_itself_is_the_matrix_and_times_its_inverse_is_one() {
        for n in [1, 2, 3, 5, 8, 13, 40] {
            let matrix = covariance(n, 3 * n);
            let factor = cholesky(n, &matrix).unwrap();
            let inverse = inverse_of_factor(n, &factor);
            let scale = (0..n).map(|i| matrix[triangle(i) + i]).fold(0.0, f64::max);
            for i in 0..n {
                for j in 0..=i {
                    let product: f64 = (0..=j).map(|k| factor[triangle(i) + k] * factor[triangle(j) + k]).sum();
                    let expected = matrix[triangle(i) + j];
                    assert!((product - expected).abs() <= 4.0 * n as f64 * f64::EPSILON * scale, "{n}: {i}, {j}");
                    let one: f64 = (j..=i).map(|k| inverse[triangle(i) + k] * factor[triangle(k) + j]).sum();
                    assert!((one - f64::from(u8::from(i == j))).abs() < 1e-11, "{n}: {i}, {j}: {one}");
                }
            }
        }
    }

    #[test]
    fn what_is_solved_for_gives_the_right_side_again() {
        for n in [1, 2, 5, 17, 40] {
            let matrix = covariance(n, 3 * n);
            let factor = cholesky(n, &matrix).unwrap();
            let expected: Vec<f64> = (0..n * 3).map(|i| (i as f64 * 0.7).sin()).collect();
            let entry = |i: usize, j: usize| matrix[triangle(i.max(j)) + i.min(j)];
            let mut right = vec![0.0; n * 3];
            for i in 0..n {
                for c in 0..3 {
                    right[i * 3 + c] = (0..n).map(|j| entry(i, j) * expected[j * 3 + c]).sum();
                }
            }
            solve(n, &factor, 3, &mut right);
            for (found, expected) in right.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-11, "{n}: {found} for {expected}");
            }
        }
    }

    #[test]
    fn what_is_not_positive_definite_has_no_factor() {
        assert_eq!(cholesky(3, &covariance(3, 2)), None);
        assert_eq!(cholesky(1, &[0.0]), None);
        assert_eq!(cholesky(1, &[-1.0]), None);
        assert_eq!(cholesky(1, &[f64::NAN]), None);
        assert_eq!(cholesky(1, &[f64::INFINITY]), None);
        assert_eq!(cholesky(2, &[1.0, 2.0, 1.0]), None);
        assert_eq!(cholesky(0, &[]), Some(Vec::new()));
    }
}
