//! Fills missing values from the nearest rows by the columns that both have (k-nearest-neighbour imputation).

use crate::describe::median_of_sorted;

/// The maximum number of rows that values are taken from.
const DONORS: usize = 2_000;
/// The number of nearest rows whose values fill a missing value.
const NEAREST: usize = 5;

/// Fills the missing values (NaN) of each row from the nearest rows that have a value there.
///
/// A number becomes the median of their values, so that an outlier among them does not make an outlier of the row. A
/// feature of a category, for which `is_number` is false, becomes the mean: the share of the rows that have its text.
///
/// The distance of two rows is the mean squared difference over the features that both have. Donors are evenly spaced
/// rows, so that the result depends only on the rows. Values stay missing if no donor shares a feature with the row.
///
/// Source: Troyanskaya et al. 2001 (KNNimpute), with equal weights; the median is ours.
pub(super) fn from_nearest(values: &mut [f64], width: usize, is_number: impl Fn(usize) -> bool) {
    let rows = values.len() / width;
    let step = rows.div_ceil(DONORS).max(1);
    let donors: Vec<f64> = (0..rows).step_by(step).flat_map(|row| &values[row * width..][..width]).copied().collect();
    let mut near: Vec<(f64, usize)> = Vec::new();
    for row in values.chunks_exact_mut(width).filter(|row| row.iter().any(|value| value.is_nan())) {
        near.clear();
        near.extend(
            donors.chunks_exact(width).enumerate().filter_map(|(donor, other)| Some((apart(row, other)?, donor))),
        );
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for feature in 0..width {
            if !row[feature].is_nan() {
                continue;
            }
            let there = near.iter().map(|(_, donor)| donors[donor * width + feature]).filter(|value| !value.is_nan());
            let mut nearest: Vec<f64> = there.take(NEAREST).collect();
            if !nearest.is_empty() {
                // Filled values do not influence distances, because distances were computed before.
                row[feature] = if is_number(feature) {
                    nearest.sort_unstable_by(f64::total_cmp);
                    median_of_sorted(&nearest)
                } else {
                    mean(&nearest)
                };
            }
        }
    }
}

/// Returns the mean of at least one value.
fn mean(values: &[f64]) -> f64 {
    values.iter().map(|value| value / values.len() as f64).sum()
}

/// Returns the mean squared difference of two rows over the columns that both have, if there are any.
fn apart(left: &[f64], right: &[f64]) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0usize);
    for (a, b) in left.iter().zip(right) {
        if !a.is_nan() && !b.is_nan() {
            sum += (a - b) * (a - b);
            count += 1;
        }
    }
    (count > 0).then(|| sum / count as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_gets_the_median_of_the_nearest_that_have_a_value() {
        // There are two groups; the row with the missing value is in the second, whose third feature is about 9.
        let mut values = Vec::new();
        for row in 0..6 {
            values.extend([f64::from(row) * 0.01, 0.0, 1.0]);
        }
        for row in 0..6 {
            values.extend([5.0 + f64::from(row) * 0.01, 5.0, 9.0]);
        }
        values.extend([5.0, f64::NAN, f64::NAN]);
        from_nearest(&mut values, 3, |_| true);
        assert_eq!(values[36..], [5.0, 5.0, 9.0]);
    }

    #[test]
    fn an_outlier_among_the_nearest_does_not_fill_a_number_and_a_category_gets_shares() {
        // By the first feature, the five rows are the nearest ones; the second of them has an income of a million.
        let mut values = [
            [1.0, 30.0, 1.0],
            [1.0, 1e6, 0.0],
            [1.0, 31.0, 1.0],
            [1.0, 32.0, 0.0],
            [1.0, 33.0, 0.0],
            [1.0, f64::NAN, f64::NAN],
        ]
        .concat();
        from_nearest(&mut values, 3, |feature| feature < 2);
        assert_eq!(values[15..], [1.0, 32.0, 0.4]);
    }

    #[test]
    fn two_nearest_rows_give_their_mean_without_overflow() {
        let mut values = vec![1.0, f64::MAX, 1.0, f64::MAX, 1.0, f64::NAN];
        from_nearest(&mut values, 2, |_| true);
        assert_eq!(values[5], f64::MAX);
    }

    #[test]
    fn a_row_without_anything_keeps_its_gaps() {
        let mut values = vec![1.0, 2.0, f64::NAN, f64::NAN];
        from_nearest(&mut values, 2, |_| true);
        assert!(values[2].is_nan() && values[3].is_nan());
    }
}
