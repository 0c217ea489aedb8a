//! Decompositions of small dense matrices, with the same bits on every machine.
//!
//! Every rank decomposes the reduced sums by itself and bases decisions on the result, so ranks on different processors
//! must get the same bits. Linear algebra libraries choose the order of their sums to suit the processor, so their last
//! bits differ. This file computes additions, products, quotients and square roots in a fixed order, and IEEE 754 fixes
//! the results. `docs/design/numerics.md` describes the cost of a fixed order.

/// The maximum number of sweeps over all pairs of coordinates. Convergence is quadratic: a matrix of 64 coordinates
/// needs about ten sweeps.
const MOST_SWEEPS: usize = 60;

/// Returns the largest eigenvalue of a symmetric matrix and its unit eigenvector, whose largest coordinate is positive.
///
/// `matrix` is n x n, row-major. Only the lower triangle determines the eigenvalues. Returns `None` if any number is
/// not finite, even above the diagonal. If several eigenvalues are equal, the vector is in the space of their
/// eigenvectors, and the same on every machine. The relative error is a few rounding units times n, whatever the size
/// of the entries.
///
/// Source: Jacobi's rotations, pair by pair (Golub and Van Loan, *Matrix Computations*, 8.5). Cost: about 30 n^3
/// operations, and two allocations of n^2 numbers. It is meant for n up to about a hundred.
///
/// # Panics
/// Panics if `matrix` is not n x n, or if n is 0.
///
/// # Example
/// ```
/// let (value, vector) = lehr_numerics::factor::leading_eigenpair(2, &[2.0, 0.0, 0.0, 5.0]).unwrap();
/// assert_eq!((value, vector), (5.0, vec![0.0, 1.0]));
/// ```
pub fn leading_eigenpair(n: usize, matrix: &[f64]) -> Option<(f64, Vec<f64>)> {
    Some(eigenpairs(n, matrix)?.swap_remove(0))
}

/// Returns all eigenvalues of a symmetric matrix, the largest first, each with its unit eigenvector, whose largest
/// coordinate is positive.
///
/// Returns `None` in the same case as [`leading_eigenpair`]; the relative error and the cost are the same too. Equal
/// eigenvalues are in the order of the coordinates at which they were found.
///
/// # Panics
/// Panics if `matrix` is not n x n, or if n is 0.
///
/// # Example
/// ```
/// let pairs = lehr_numerics::factor::eigenpairs(2, &[2.0, 0.0, 0.0, 5.0]).unwrap();
/// assert_eq!(pairs, [(5.0, vec![0.0, 1.0]), (2.0, vec![1.0, 0.0])]);
/// ```
pub fn eigenpairs(n: usize, matrix: &[f64]) -> Option<Vec<(f64, Vec<f64>)>> {
    assert!(n > 0 && matrix.len() == n * n, "a square matrix");
    if !matrix.iter().all(|value| value.is_finite()) {
        return None;
    }
    let largest = (0..n).flat_map(|i| &matrix[i * n..=i * n + i]).fold(0.0f64, |most, value| most.max(value.abs()));
    if n == 1 || largest == 0.0 {
        let axis = |p: usize| (0..n).map(|q| f64::from(u8::from(p == q))).collect();
        return Some((0..n).map(|p| (matrix[0], axis(p))).collect());
    }
    // Entries are scaled to about 1 by a power of two, which is exact; then products neither overflow nor underflow.
    let exponent = (largest.to_bits() >> 52) as i32 - 1023;
    let (down, up) = (-(exponent / 2), -(exponent - exponent / 2));
    let scaled = |value: f64| value * 2f64.powi(down) * 2f64.powi(up);
    let mut a = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            a[i * n + j] = scaled(matrix[i * n + j]);
            a[j * n + i] = a[i * n + j];
        }
    }
    // Row p of `vectors` becomes the eigenvector of the eigenvalue that ends at a[p, p].
    let mut vectors = vec![0.0; n * n];
    (0..n).for_each(|p| vectors[p * n + p] = 1.0);
    for _ in 0..MOST_SWEEPS {
        let mut is_diagonal = true;
        for p in 0..n - 1 {
            for q in p + 1..n {
                let off = a[p * n + q];
                let beside = (a[p * n + p].abs() * a[q * n + q].abs()).sqrt();
                if off == 0.0 || off.abs() <= 0.25 * f64::EPSILON * beside {
                    continue;
                }
                is_diagonal = false;
                rotate(n, &mut a, &mut vectors, p, q);
            }
        }
        if is_diagonal {
            break;
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&p, &q| a[q * n + q].total_cmp(&a[p * n + p]));
    let pair = |&p: &usize| {
        let mut vector = vectors[p * n..][..n].to_vec();
        let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
        vector.iter_mut().for_each(|x| *x /= length);
        orient(&mut vector);
        (a[p * n + p] * 2f64.powi(-down) * 2f64.powi(-up), vector)
    };
    Some(order.iter().map(pair).collect())
}

/// Rotates coordinates p and q so that a[p, q] becomes 0.
fn rotate(n: usize, a: &mut [f64], vectors: &mut [f64], p: usize, q: usize) {
    let off = a[p * n + q];
    let ratio = (a[q * n + q] - a[p * n + p]) / (2.0 * off);
    // This is the smaller root of t^2 + 2 ratio t = 1. Above 1e150, the square would overflow, and the root equals 1 /
    // (2 ratio) in every bit.
    let tangent = if ratio.abs() > 1e150 {
        0.5 / ratio
    } else {
        let size = 1.0 / (ratio.abs() + (ratio * ratio + 1.0).sqrt());
        if ratio < 0.0 { -size } else { size }
    };
    let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
    let sine = tangent * cosine;
    a[p * n + p] -= tangent * off;
    a[q * n + q] += tangent * off;
    a[p * n + q] = 0.0;
    a[q * n + p] = 0.0;
    for r in (0..n).filter(|&r| r != p && r != q) {
        let (x, y) = (a[p * n + r], a[q * n + r]);
        (a[p * n + r], a[q * n + r]) = (cosine * x - sine * y, sine * x + cosine * y);
        (a[r * n + p], a[r * n + q]) = (a[p * n + r], a[q * n + r]);
    }
    for r in 0..n {
        let (x, y) = (vectors[p * n + r], vectors[q * n + r]);
        (vectors[p * n + r], vectors[q * n + r]) = (cosine * x - sine * y, sine * x + cosine * y);
    }
}

/// Changes the sign of a vector, which is arbitrary for an eigenvector. Afterwards, the coordinate of largest absolute
/// value (the first of several) is positive.
///
/// # Example
/// ```
/// let mut vector = [0.6, -0.8];
/// lehr_numerics::factor::orient(&mut vector);
/// assert_eq!(vector, [-0.6, 0.8]);
/// ```
pub fn orient(vector: &mut [f64]) {
    let mut largest = 0.0f64;
    for &value in vector.iter() {
        if value.abs() > largest.abs() {
            largest = value;
        }
    }
    if largest < 0.0 {
        vector.iter_mut().for_each(|value| *value = -*value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// Returns the covariance of `rank` random vectors whose j-th coordinate is stretched by `stretch(j)`.
    fn covariance(n: usize, rank: usize, seed: u64, stretch: impl Fn(usize) -> f64) -> Vec<f64> {
        let stream = Stream::new(seed, "matrices");
        let x = |row: usize, j: usize| (stream.uniform((row * n + j) as u64) - 0.5) * stretch(j);
        (0..n * n).map(|at| (0..rank).map(|row| x(row, at / n) * x(row, at % n)).sum()).collect()
    }

    /// Returns whether `shift - matrix` is positive definite, so that all eigenvalues are below `shift`. It uses a
    /// Cholesky factor, which shares no code with rotations.
    fn is_above_all(shift: f64, n: usize, matrix: &[f64]) -> bool {
        let mut lower = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let known: f64 = (0..j).map(|k| lower[i * n + k] * lower[j * n + k]).sum();
                let rest = if i == j { shift } else { 0.0 } - matrix[i * n + j] - known;
                if i == j {
                    if rest <= 0.0 {
                        return false;
                    }
                    lower[i * n + i] = rest.sqrt();
                } else {
                    lower[i * n + j] = rest / lower[j * n + j];
                }
            }
        }
        true
    }

    #[test]
    fn no_eigenvalue_is_larger_and_the_vector_is_its_own() {
        for n in [1, 2, 3, 5, 8, 16, 33, 64] {
            for rank in [1, 2, n, 3 * n] {
                for stretch in [0.0, 3.0] {
                    let matrix = covariance(n, rank, (n + rank) as u64, |j| 10f64.powf(stretch * j as f64 / n as f64));
                    let (value, vector) = leading_eigenpair(n, &matrix).unwrap();
                    let tolerance = 1e-14 * n as f64 * value;
                    assert!(is_above_all(value + tolerance, n, &matrix), "{n} x {n} of rank {rank}");
                    assert!((vector.iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-15 * n as f64);
                    for i in 0..n {
                        let product: f64 = matrix[i * n..][..n].iter().zip(&vector).map(|(a, x)| a * x).sum();
                        assert!((product - value * vector[i]).abs() < tolerance, "{n} x {n} of rank {rank}, row {i}");
                    }
                }
            }
        }
    }

    #[test]
    fn entries_of_any_size_and_sign_are_decomposed() {
        // [[1, 2], [2, -2]] has the eigenvalues 2 and -3; the first is along (2, 1).
        for power in [-1074i32, -1060, -700, 0, 700, 1021] {
            let unit = 2f64.powi(power / 2) * 2f64.powi(power - power / 2);
            let (value, vector) = leading_eigenpair(2, &[unit, 0.0, 2.0 * unit, -2.0 * unit]).unwrap();
            assert!((value / unit - 2.0).abs() < 1e-15, "2^{power}: {}", value / unit);
            assert!((vector[0] - 2.0 * vector[1]).abs() < 1e-15, "{vector:?}");
        }
        assert_eq!(leading_eigenpair(3, &[0.0; 9]), Some((0.0, vec![1.0, 0.0, 0.0])));
        assert_eq!(leading_eigenpair(2, &[0.0, 1.0, 1.0, 0.0]).unwrap().0, 1.0);
        assert_eq!(leading_eigenpair(2, &[1.0, 0.0, f64::NAN, 1.0]), None);
        assert_eq!(leading_eigenpair(2, &[-1.0, 0.0, 0.0, -2.0]).unwrap().0, -1.0);
    }

    #[test]
    fn the_bits_are_the_same_on_every_machine() {
        // These values were recorded once. A library that sums as many numbers at once as a register holds gives other
        // values on other processors.
        let stream = Stream::new(1, "fixed matrix");
        let matrix: Vec<f64> = {
            let x = |i: usize, j: usize| stream.uniform((i * 13 + j) as u64) - 0.5;
            (0..169).map(|at| (0..40).map(|row| x(row, at / 13) * x(row, at % 13)).sum()).collect()
        };
        let (value, vector) = leading_eigenpair(13, &matrix).unwrap();
        let bits = vector.iter().fold(value.to_bits(), |hash, x| hash.rotate_left(5) ^ x.to_bits());
        assert_eq!(bits, 4_268_997_627_572_870_417);
    }
}
