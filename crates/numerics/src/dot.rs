//! The scalar product of two vectors.

/// Returns the scalar product of two vectors of the same length. It adds to eight independent sums, because the
/// additions of a single sum would wait for each other. The result has the same bits on every machine.
///
/// # Example
/// ```
/// use lehr_numerics::dot::dot;
/// assert_eq!(dot(&[1.0, 2.0, 3.0], &[1.0, 1.0, 2.0]), 9.0);
/// ```
#[inline]
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    debug_assert_eq!(a.len(), b.len());
    let (a_eights, a_rest) = a.as_chunks::<8>();
    let (b_eights, b_rest) = b.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (a, b) in a_eights.iter().zip(b_eights) {
        (0..8).for_each(|lane| sums[lane] += a[lane] * b[lane]);
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + b) + (c + d)) + ((e + f) + (g + h)) + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_a_plain_loop_for_every_length() {
        for length in 0..40 {
            let (a, b): (Vec<f64>, Vec<f64>) = (0..length).map(|i| (f64::from(i) - 7.0, f64::from(3 * i % 11))).unzip();
            // Whole numbers add up exactly in any order.
            assert_eq!(dot(&a, &b), a.iter().zip(&b).map(|(x, y)| x * y).sum::<f64>());
        }
    }
}
