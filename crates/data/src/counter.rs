//! A column that counts the rows: an index that somebody exported with the table.
//!
//! It is a number in every row, so it is taken for a coordinate like any other, and being the widest it decides distances. Nothing in the values
//! says that it does not belong, except that it rises by the same whole number from row to row.

use crate::Points;

/// Fewer rows than this may well rise evenly by what they measure.
const ROWS_MIN: usize = 10;

/// A warning that names the first column whose values rise by the same whole number, not 0, from each row to the next; nothing if there is
/// none, if it is the only column, or if there are fewer than ten rows.
///
/// Cost: one pass, which most columns leave after three rows.
///
/// # Example
/// ```
/// use lehr_data::{counter::counts_rows, Points};
/// let values = (0..20).flat_map(|row| [1000.0 + f64::from(row), f64::from(row * row % 7)]).collect();
/// let points = Points::new(values, 2)?.with_columns(vec!["id".into(), "x".into()])?;
/// assert_eq!(
///     counts_rows(&points).unwrap(),
///     "column \"id\" counts the rows (1000, 1001, 1002, ...): it is clustered as if it were a measurement; leave it out by choosing the columns, or take it as the id"
/// );
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn counts_rows(points: &Points) -> Option<String> {
    if points.len() < ROWS_MIN || points.dimension() < 2 {
        return None;
    }
    let value = |row: usize, column: usize| points.row(row)[column];
    let column = (0..points.dimension()).find(|&column| {
        let step = value(1, column) - value(0, column);
        step != 0.0
            && step.fract() == 0.0
            && value(0, column).fract() == 0.0
            && (1..points.len()).all(|row| value(row, column) - value(row - 1, column) == step)
    })?;
    Some(format!(
        "column {:?} counts the rows ({}, {}, {}, ...): it is clustered as if it were a measurement; \
         leave it out by choosing the columns, or take it as the id",
        points.columns()[column],
        value(0, column),
        value(1, column),
        value(2, column),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(rows: usize, value: impl Fn(usize) -> f64) -> Option<String> {
        let values = (0..rows).flat_map(|row| [(row * row) as f64, value(row)]).collect();
        counts_rows(&Points::new(values, 2).unwrap())
    }

    #[test]
    fn only_an_even_rise_by_a_whole_number_counts() {
        assert!(of(50, |row| row as f64).unwrap().contains("\"x1\""));
        assert!(of(50, |row| -5.0 * row as f64).is_some());
        assert!(of(50, |row| row as f64 * 0.5).is_none());
        assert!(of(50, |row| if row == 30 { 0.0 } else { row as f64 }).is_none());
        assert!(of(50, |_| 3.0).is_none());
        assert!(of(9, |row| row as f64).is_none());
    }
}
