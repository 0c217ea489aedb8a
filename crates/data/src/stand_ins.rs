//! Numbers that mean a missing value: -200, -999, 9999.
//!
//! Instruments and old programs write such a number for a missing value. Such a number is farther from all values than
//! the values are from each other, and often occurs in several columns. As a value, it would dominate means, ranges and
//! distances. [`without_stand_ins`] replaces it by missing values and reports it. If you have named spellings of
//! missing values, Lehr looks for no others.

use std::collections::BTreeSet;

use crate::frame::{DataFrame, FrameColumn, ReadAs, Values};

/// Numbers that are known to mean a missing value; any other number must occur in two columns.
const KNOWN: [f64; 12] =
    [-99.0, -999.0, -9999.0, -99_999.0, -999_999.0, 999.0, 9999.0, 99_999.0, 999_999.0, -99.9, -999.9, -9999.9];
/// The minimum number of different values that a column must have in addition to the number.
const OTHERS: usize = 10;

/// Returns the table with missing values in place of numbers that mean one, and these numbers.
///
/// A table does not change if you named spellings of missing values when it was read.
///
/// # Example
/// ```
/// use lehr_data::frame::{DataFrame, FrameColumn};
/// use lehr_data::stand_ins::without_stand_ins;
/// let degrees = (0..40).map(|row| if row % 9 == 0 { -999.0 } else { f64::from(row) / 2.0 }).collect();
/// let frame = DataFrame::new("station.csv", vec![FrameColumn::numbers("degrees", degrees)])?;
/// let (frame, numbers) = without_stand_ins(frame)?;
/// assert_eq!((frame.column("degrees").unwrap().missing(), numbers), (5, vec![-999.0]));
/// assert!(frame.notes()[0].starts_with("-999 in \"degrees\" is read as a missing value"));
/// # Ok::<(), lehr_data::Error>(())
/// ```
///
/// # Errors
/// Never fails for a valid data frame.
pub fn without_stand_ins(frame: DataFrame) -> Result<(DataFrame, Vec<f64>), crate::Error> {
    if frame.dialect().is_some_and(|dialect| !dialect.missing.is_empty()) {
        return Ok((frame, Vec::new()));
    }
    let far: Vec<Vec<f64>> = frame.columns().iter().map(far_ends).collect();
    let candidates: BTreeSet<u64> = far.iter().flatten().map(|number| number.to_bits()).collect();
    let mut numbers: Vec<f64> = candidates.into_iter().map(f64::from_bits).collect();
    numbers.retain(|number| KNOWN.contains(number) || far.iter().filter(|ends| ends.contains(number)).count() > 1);
    numbers.sort_by(f64::total_cmp);
    if numbers.is_empty() {
        return Ok((frame, numbers));
    }
    let (name, dialect) = (frame.name().to_owned(), frame.dialect().cloned());
    let mut notes = frame.notes().to_vec();
    let mut columns = frame.columns().to_vec();
    for number in &numbers {
        let mut changed = Vec::new();
        for column in &mut columns {
            // Once the number is known, it only needs to be at an end of the range in other columns.
            let (low, high) = ends(column);
            let Some(values) = measures(column).filter(|_| *number == low || *number == high) else { continue };
            let gaps = values.iter().map(|value| if value == number { f64::NAN } else { *value }).collect();
            changed.push(format!("{:?}", column.name));
            column.values = Values::Numbers(gaps);
        }
        let where_ = match &changed[..] {
            [one] => one.clone(),
            [first, second] => format!("{first} and {second}"),
            [first, rest @ ..] => format!("{first} and {} more columns", rest.len()),
            [] => continue,
        };
        notes.push(format!(
            "{number} in {where_} is read as a missing value: it is farther from the other values than they are from each other. With --na, only the values that you name are missing"
        ));
    }
    let mut frame = DataFrame::new(&name, columns)?.with_notes(notes);
    if let Some(mut dialect) = dialect {
        // With these numbers in the dialect, the next file is read in the same way.
        dialect.missing = numbers.iter().map(f64::to_string).collect();
        frame = frame.with_dialect(dialect);
    }
    Ok((frame, numbers))
}

/// Returns the values of a numeric column, except for yes and no and for times.
fn measures(column: &FrameColumn) -> Option<&[f64]> {
    match (&column.values, &column.read_as) {
        (Values::Numbers(values), ReadAs::Number | ReadAs::WrittenNumber(_)) => Some(values),
        _ => None,
    }
}

/// Returns the smallest and the largest value; NaN if there are none.
fn ends(column: &FrameColumn) -> (f64, f64) {
    let values = measures(column).unwrap_or_default();
    let there = || values.iter().copied().filter(|value| !value.is_nan());
    (there().fold(f64::NAN, f64::min), there().fold(f64::NAN, f64::max))
}

/// Returns the smallest and the largest value of a column, each only if several rows have it and it is far from all
/// other values. Far means farther than the other values are from each other.
fn far_ends(column: &FrameColumn) -> Vec<f64> {
    let Some(values) = measures(column) else { return Vec::new() };
    let mut sorted: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let runs: Vec<&[f64]> = sorted.chunk_by(|a, b| a == b).collect();
    let count = runs.len();
    if count < OTHERS + 1 {
        return Vec::new();
    }
    let value = |place: usize| runs[place][0];
    let mut found = Vec::new();
    if runs[0].len() > 1 && value(1) - value(0) > value(count - 1) - value(1) {
        found.push(value(0));
    }
    if runs[count - 1].len() > 1 && value(count - 1) - value(count - 2) > value(count - 2) - value(0) {
        found.push(value(count - 1));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: &str, stand_in: f64, every: usize, scale: f64) -> FrameColumn {
        let value = |row: usize| if row.is_multiple_of(every) { stand_in } else { scale * row as f64 };
        FrameColumn::numbers(name, (0..60).map(value).collect())
    }

    fn missing(columns: Vec<FrameColumn>) -> Vec<usize> {
        let (frame, _) = without_stand_ins(DataFrame::new("t", columns).unwrap()).unwrap();
        frame.columns().iter().map(FrameColumn::missing).collect()
    }

    #[test]
    fn a_number_that_is_not_known_must_show_in_two_columns() {
        assert_eq!(missing(vec![column("a", -200.0, 20, 0.1)]), [0]);
        assert_eq!(missing(vec![column("a", -200.0, 20, 0.1), column("b", -200.0, 30, 1.0)]), [3, 2]);
        // In the third column it is at the end, but not far away.
        let three = vec![column("a", -200.0, 20, 0.1), column("b", -200.0, 30, 1.0), column("c", -200.0, 20, 20.0)];
        assert_eq!(missing(three), [3, 2, 3]);
    }

    #[test]
    fn values_that_are_merely_far_stay() {
        // The number occurs only once, or is as near to the other numbers as these are to each other.
        assert_eq!(missing(vec![column("a", -999.0, 60, 0.1)]), [0]);
        assert_eq!(missing(vec![column("a", -999.0, 20, 40.0)]), [0]);
        // There are few different values, as with grades or answers.
        let answers = (0..60).map(|row| if row % 9 == 0 { 99.0 } else { f64::from(row % 5) }).collect();
        assert_eq!(missing(vec![FrameColumn::numbers("a", answers)]), [0]);
    }

    #[test]
    fn what_a_person_named_is_left_to_them() {
        let dialect = crate::read::Dialect { missing: vec!["-1".into()], ..crate::read::Dialect::default() };
        let frame = DataFrame::new("t", vec![column("a", -999.0, 20, 0.1)]).unwrap().with_dialect(dialect);
        let (frame, numbers) = without_stand_ins(frame).unwrap();
        assert_eq!((frame.columns()[0].missing(), numbers.len(), frame.notes().len()), (0, 0, 0));
    }
}
