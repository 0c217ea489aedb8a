//! Detects a column that counts the rows: an index that was exported with the table.
//!
//! Such a column has a number in every row, so methods would use it as a coordinate; as the widest column, it would
//! dominate distances. Its values rise by the same whole number from row to row; nothing else distinguishes it.

use crate::{Incomplete, Points};

/// The number of rows below which values may rise evenly by chance.
const ROWS_MIN: usize = 10;

/// Returns a warning that names the first column whose values rise by the same nonzero whole number from each row to
/// the next. Returns `None` if there is no such column, if it is the only column, or if there are fewer than ten rows.
///
/// Cost: one pass; for most columns it ends after three rows.
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
    counter(points.columns(), points.len(), |row, column| points.row(row)[column])
}

/// Like [`counts_rows`], for rows with missing values. A column with missing values does not count the rows.
///
/// # Example
/// ```
/// use lehr_data::{Incomplete, counter::counts_rows_incomplete};
/// let values = (0..20).flat_map(|row| [f64::from(row), if row == 7 { f64::NAN } else { f64::from(row) }]).collect();
/// let rows = Incomplete::named(values, vec!["n".into(), "x".into()], "rows.csv")?;
/// assert!(counts_rows_incomplete(&rows).unwrap().starts_with("column \"n\" counts the rows (0, 1, 2, ...)"));
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn counts_rows_incomplete(rows: &Incomplete) -> Option<String> {
    counter(rows.columns(), rows.len(), |row, column| rows.row(row)[column])
}

fn counter(names: &[String], rows: usize, value: impl Fn(usize, usize) -> f64) -> Option<String> {
    if rows < ROWS_MIN || names.len() < 2 {
        return None;
    }
    let column = (0..names.len()).find(|&column| {
        let step = value(1, column) - value(0, column);
        step != 0.0
            && step.fract() == 0.0
            && value(0, column).fract() == 0.0
            && (1..rows).all(|row| value(row, column) - value(row - 1, column) == step)
    })?;
    Some(format!(
        "column {:?} counts the rows ({}, {}, {}, ...): it is clustered as if it were a measurement; \
         leave it out by choosing the columns, or take it as the id",
        names[column],
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
