//! Judges all sides by the same function. The lab computes the sum of squares of given centres from the points, and
//! does not use the figures that sides report.

use lehr_data::Points;

/// Computes `sum_i w_i min_k |x_i - c_k|^2` for centres K x d. The time is proportional to n K d.
///
/// # Panics
/// Panics if `centers` is empty or does not consist of whole centres.
pub fn sum_of_squares(points: &Points, centers: &[f64]) -> f64 {
    let dimension = points.dimension();
    assert!(!centers.is_empty() && centers.len().is_multiple_of(dimension));
    let mut total = 0.0;
    for i in 0..points.len() {
        let weight = points.weight(i);
        if weight == 0.0 {
            continue;
        }
        let row = points.row(i);
        let mut nearest = f64::INFINITY;
        for center in centers.chunks_exact(dimension) {
            let distance: f64 = row.iter().zip(center).map(|(x, y)| (x - y) * (x - y)).sum();
            nearest = nearest.min(distance);
        }
        total += weight * nearest;
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_counts_its_weight_times_the_nearest_centre() {
        let points = Points::new(vec![0.0, 1.0, 5.0], 1).unwrap().with_weights(vec![1.0, 2.0, 0.0]).unwrap();
        assert_eq!(sum_of_squares(&points, &[0.0, 10.0]), 2.0);
        assert_eq!(sum_of_squares(&points, &[0.0, 1.0]), 0.0);
    }
}
