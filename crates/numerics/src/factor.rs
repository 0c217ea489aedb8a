//! Decompositions of small dense matrices: the only file that names the linear algebra library.

use faer::{MatRef, Side};

/// The largest eigenvalue of a symmetric matrix, and its unit eigenvector with its largest coordinate positive.
///
/// `matrix` is n x n, row-major; only the lower triangle is read. `None` where the decomposition fails, which takes numbers that are
/// not finite. Of several equal eigenvalues the vector is any one of their space, the same one at every call.
///
/// Cost: about 10 n^3 operations, one allocation of the same size.
///
/// # Panics
/// If `matrix` is not n x n or n is 0.
///
/// # Example
/// ```
/// let (value, vector) = lehr_numerics::factor::leading_eigenpair(2, &[2.0, 0.0, 0.0, 5.0]).unwrap();
/// assert_eq!((value, vector), (5.0, vec![0.0, 1.0]));
/// ```
pub fn leading_eigenpair(n: usize, matrix: &[f64]) -> Option<(f64, Vec<f64>)> {
    assert!(n > 0 && matrix.len() == n * n, "a square matrix");
    if !matrix.iter().all(|value| value.is_finite()) {
        return None;
    }
    if n == 1 {
        return Some((matrix[0], vec![1.0]));
    }
    let decomposition = MatRef::from_row_major_slice(matrix, n, n).self_adjoint_eigen(Side::Lower).ok()?;
    // Eigenvalues come in rising order.
    let value = decomposition.S().column_vector()[n - 1];
    let mut vector: Vec<f64> = (0..n).map(|row| decomposition.U()[(row, n - 1)]).collect();
    orient(&mut vector);
    Some((value, vector))
}

/// Turns a vector so that its coordinate of largest absolute value (the first of several) is positive: an eigenvector has no sign of its own.
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
