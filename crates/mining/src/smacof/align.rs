//! Aligns one map with another: finds the rotation, reflection, translation and, on request, scale that bring items
//! nearest to their positions on the other map.
//!
//! The method is weighted orthogonal Procrustes analysis (Gower and Dijksterhuis 2004): if the cross-covariance is
//! `U S V'`, the rotation is `U V'`. Stress does not depend on orientation, so align maps before you compare them or
//! show them one after another.

use crate::Error;

/// The maximum number of sweeps of rotations; convergence is quadratic.
const MOST_SWEEPS: usize = 60;

/// The transformation that aligns one map with another.
#[derive(Clone, Debug, PartialEq)]
pub struct Alignment {
    /// The transformed map, N x dimension.
    pub positions: Vec<f64>,
    /// The rotation: an orthogonal matrix, dimension x dimension, row-major. A row vector relative to the mean, times
    /// this matrix and the scale, is the transformed vector relative to its mean.
    pub rotation: Vec<f64>,
    /// The scale; 1 unless scaling was requested.
    pub scale: f64,
    /// The weighted root mean square distance of items from their positions on the other map.
    pub error: f64,
}

/// Aligns `map` with `onto`. Both are N x dimension, for the same items in the same order. `weights` has one number for
/// each item; without weights, all items count equally.
///
/// With `is_scaled`, the map is also scaled. Reflections are allowed, because stress does not distinguish them.
///
/// # Errors
/// Returns [`Error::Parameter`] if shapes disagree or a number is not finite.
///
/// # Example
/// ```
/// // A triangle, and the same turned by a right angle and moved.
/// let triangle = [0.0, 0.0, 2.0, 0.0, 0.0, 1.0];
/// let turned = [5.0, 5.0, 5.0, 7.0, 4.0, 5.0];
/// let aligned = lehr_mining::smacof::align(&turned, &triangle, 2, None, false)?;
/// assert!(aligned.error < 1e-12);
/// # Ok::<(), lehr_mining::Error>(())
/// ```
pub fn align(
    map: &[f64],
    onto: &[f64],
    dimension: usize,
    weights: Option<&[f64]>,
    is_scaled: bool,
) -> Result<Alignment, Error> {
    let wrong = |name, expected, found: String| Err(Error::Parameter { name, expected, found });
    let items = map.len() / dimension.max(1);
    if dimension == 0 || items == 0 || map.len() != items * dimension || onto.len() != map.len() {
        return wrong(
            "map",
            "two maps of the same items and dimension",
            format!("{} and {} numbers", map.len(), onto.len()),
        );
    }
    if let Some(place) = map.iter().chain(onto).position(|x| !x.is_finite()) {
        return wrong("map", "finite positions", format!("another one at place {place}"));
    }
    let (weights, _) = crate::matrix::item_weights(weights, items)?;
    let total: f64 = weights.iter().sum();
    let mean = |of: &[f64], k: usize| {
        of.iter().skip(k).step_by(dimension).zip(&weights).map(|(x, weight)| x * weight).sum::<f64>() / total
    };
    let means: Vec<(f64, f64)> = (0..dimension).map(|k| (mean(map, k), mean(onto, k))).collect();
    let (mut cross, mut square) = (vec![0.0; dimension * dimension], 0.0);
    for item in 0..items {
        for a in 0..dimension {
            let from = weights[item] * (map[item * dimension + a] - means[a].0);
            square += from * (map[item * dimension + a] - means[a].0);
            for b in 0..dimension {
                cross[a * dimension + b] += from * (onto[item * dimension + b] - means[b].1);
            }
        }
    }
    let (rotation, sum) = nearest_rotation(dimension, cross);
    let scale = if is_scaled && square > 0.0 { sum / square } else { 1.0 };
    let mut positions = vec![0.0; map.len()];
    let mut error = 0.0;
    for item in 0..items {
        for b in 0..dimension {
            let turned: f64 =
                (0..dimension).map(|a| (map[item * dimension + a] - means[a].0) * rotation[a * dimension + b]).sum();
            let x = means[b].1 + scale * turned;
            positions[item * dimension + b] = x;
            error += weights[item] * (x - onto[item * dimension + b]).powi(2);
        }
    }
    Ok(Alignment { positions, rotation, scale, error: (error / total).sqrt() })
}

/// Returns the orthogonal matrix nearest to `matrix`, and the sum of its singular values. One-sided rotations (Hestenes
/// 1958) are applied until the columns are orthogonal.
fn nearest_rotation(n: usize, mut matrix: Vec<f64>) -> (Vec<f64>, f64) {
    let mut right = vec![0.0; n * n];
    (0..n).for_each(|p| right[p * n + p] = 1.0);
    let column =
        |matrix: &[f64], p: usize, q: usize| (0..n).map(|i| matrix[i * n + p] * matrix[i * n + q]).sum::<f64>();
    for _ in 0..MOST_SWEEPS {
        let mut is_done = true;
        for p in 0..n {
            for q in p + 1..n {
                let (a, b, c) = (column(&matrix, p, p), column(&matrix, q, q), column(&matrix, p, q));
                if c.abs() <= 1e-16 * (a * b).sqrt() || c == 0.0 {
                    continue;
                }
                is_done = false;
                let ratio = (b - a) / (2.0 * c);
                let tangent = ratio.signum() / (ratio.abs() + (1.0 + ratio * ratio).sqrt());
                let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
                let sine = cosine * tangent;
                for of in [&mut matrix, &mut right] {
                    for i in 0..n {
                        let (x, y) = (of[i * n + p], of[i * n + q]);
                        (of[i * n + p], of[i * n + q]) = (cosine * x - sine * y, sine * x + cosine * y);
                    }
                }
            }
        }
        if is_done {
            break;
        }
    }
    let sizes: Vec<f64> = (0..n).map(|p| column(&matrix, p, p).sqrt()).collect();
    let most = sizes.iter().copied().fold(0.0, f64::max);
    // The left singular vectors. If a singular value is 0, any vector that is orthogonal to the other vectors will do.
    let mut left: Vec<Vec<f64>> = vec![Vec::new(); n];
    for p in (0..n).filter(|&p| sizes[p] > 1e-14 * most) {
        left[p] = (0..n).map(|i| matrix[i * n + p] / sizes[p]).collect();
    }
    for p in 0..n {
        let mut axis = 0;
        while left[p].is_empty() {
            let mut vector: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i == axis))).collect();
            for _ in 0..2 {
                for other in left.iter().filter(|other| !other.is_empty()) {
                    let along: f64 = vector.iter().zip(other).map(|(a, b)| a * b).sum();
                    vector.iter_mut().zip(other).for_each(|(x, other)| *x -= along * other);
                }
            }
            let length = vector.iter().map(|x| x * x).sum::<f64>().sqrt();
            // At least one of the n axes is more than 1 / sqrt(n) away from the span of the other vectors.
            if length > 0.5 / (n as f64).sqrt() {
                left[p] = vector.iter().map(|x| x / length).collect();
            }
            axis += 1;
        }
    }
    let rotation = (0..n * n).map(|at| (0..n).map(|p| left[p][at / n] * right[(at % n) * n + p]).sum()).collect();
    (rotation, sizes.iter().sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lehr_numerics::random::Stream;

    #[test]
    fn a_turned_reflected_scaled_and_moved_map_is_found_again() {
        for dimension in 1..=5 {
            let stream = Stream::new(dimension as u64, "alignment");
            let number = |index: usize| stream.normal(index as u64);
            let items = 20;
            // In every second map, all items have 0 in the last dimension.
            let flat = |k: usize| if dimension % 2 == 0 && k + 1 == dimension { 0.0 } else { 1.0 };
            let map: Vec<f64> = (0..items * dimension).map(|at| flat(at % dimension) * number(at)).collect();
            let (rotation, _) =
                nearest_rotation(dimension, (0..dimension * dimension).map(|at| number(1000 + at)).collect());
            let moved: Vec<f64> = (0..items * dimension)
                .map(|at| {
                    let (item, b) = (at / dimension, at % dimension);
                    let turned: f64 =
                        (0..dimension).map(|a| map[item * dimension + a] * rotation[a * dimension + b]).sum();
                    3.0 * turned + 7.0 * (1 + b) as f64
                })
                .collect();
            let found = align(&map, &moved, dimension, None, true).unwrap();
            assert!(found.error < 1e-12, "{dimension} dimensions: {}", found.error);
            assert!((found.scale - 3.0).abs() < 1e-13);
            let unscaled = align(&map, &moved, dimension, None, false).unwrap();
            assert_eq!(unscaled.scale, 1.0);
            for a in 0..dimension {
                for b in 0..dimension {
                    let dot: f64 = (0..dimension)
                        .map(|i| unscaled.rotation[i * dimension + a] * unscaled.rotation[i * dimension + b])
                        .sum();
                    assert!((dot - f64::from(u8::from(a == b))).abs() < 1e-13);
                }
            }
        }
    }

    #[test]
    fn items_of_weight_zero_have_no_say() {
        let (map, mut onto) = ([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0, 3.0]);
        onto[3] = 50.0;
        let found = align(&map, &onto, 1, Some(&[1.0, 1.0, 1.0, 0.0]), true).unwrap();
        assert_eq!((found.error, found.scale), (0.0, 1.0));
        assert!(align(&map, &onto[..3], 1, None, true).is_err());
    }
}
