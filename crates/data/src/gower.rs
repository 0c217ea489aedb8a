//! Converts the rows of an ordinary table for Gower's dissimilarity.
//!
//! Source: J. C. Gower, *A general coefficient of similarity and some of its properties* (Biometrics 27, 1971). Numbers
//! differ by a share of their column's range, and categories by 0 or 1. A pair is compared in the columns where both
//! have values, with equal weights.
//!
//! Here, numbers and dates are divided by the range of their column, and each text of a category becomes a whole
//! number. So a column contributes the absolute difference, limited to 1. Different categories are at least 1 apart,
//! and shares of a range are at most 1.

use crate::describe::{Role, describe_columns};
use crate::error::Error;
use crate::frame::{DataFrame, FrameColumn, Values};
use crate::incomplete::Incomplete;
use crate::left_out::LeftOut;

/// Returns the rows of the table, with NaN for missing values. Without `columns`, it uses all measures, categories and
/// dates except the column `id`; [`Incomplete::left_out`] lists the other columns.
///
/// # Errors
/// - [`Error::NoSuchColumns`] if the table has no column with a given name or 0-based index.
/// - [`Error::Format`] if there is no column to compare by.
///
/// # Example
/// ```
/// use lehr_data::gower;
/// use lehr_data::read::{TableForm, data_frame_from};
/// let text = "age,city\n20,Bern\n30,Basel\n60,Bern\n20,\n30,Basel\n60,Bern\n";
/// let frame = data_frame_from(text.as_bytes(), "people.csv", &TableForm::default())?;
/// let rows = gower::rows(&frame, None, None)?;
/// assert_eq!((rows.columns(), rows.row(0)), (&["age".to_owned(), "city".to_owned()][..], &[0.0, 0.0][..]));
/// assert!((rows.row(1)[0] - 0.25).abs() < 1e-15 && rows.row(1)[1] == 1.0 && rows.row(3)[1].is_nan());
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn rows(frame: &DataFrame, columns: Option<&[String]>, id: Option<&str>) -> Result<Incomplete, Error> {
    let named = |wanted: &str| {
        let by_number = || wanted.parse::<usize>().ok().and_then(|place| frame.columns().get(place));
        frame.column(wanted).or_else(by_number)
    };
    let all_names = || frame.columns().iter().map(|column| column.name.clone()).collect();
    let wanted = columns.unwrap_or_default().iter().map(String::as_str).chain(id);
    let missing: Vec<String> = wanted.filter(|name| named(name).is_none()).map(str::to_owned).collect();
    if !missing.is_empty() {
        return Err(Error::NoSuchColumns { name: frame.name().into(), wanted: missing, columns: all_names() });
    }
    let id = id.and_then(named);
    let mut left_out = Vec::new();
    let chosen: Vec<&FrameColumn> = match columns {
        Some(columns) => columns.iter().filter_map(|name| named(name)).collect(),
        None => {
            let accounts = describe_columns(frame);
            let mut chosen = Vec::new();
            for (column, account) in frame.columns().iter().zip(&accounts) {
                if id.is_some_and(|id| id.name == column.name) {
                    continue;
                }
                if let Role::Measure | Role::Category | Role::Date = account.role {
                    chosen.push(column);
                } else {
                    let (column, kind) = (column.name.clone(), Some(account.role.to_string()));
                    left_out.push(LeftOut { column, example: String::new(), slip: None, kind });
                }
            }
            chosen
        }
    };
    if chosen.is_empty() {
        let found = format!("none among {}", left_out.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "));
        let expected = "a column of numbers, categories or dates".to_owned();
        return Err(Error::Format { name: frame.name().into(), expected, found });
    }
    let coded: Vec<Vec<f64>> = chosen.iter().map(|column| coded(column)).collect();
    let values = (0..frame.rows()).flat_map(|row| coded.iter().map(move |column| column[row])).collect();
    let names = chosen.iter().map(|column| column.name.clone()).collect();
    let ids = id.map(|id| frame.texts(&id.name)).transpose()?;
    let rows = Incomplete::named(values, names, frame.name())?;
    Ok(rows.with_read_ids(ids).with_left_out(left_out).with_notes(frame.notes().to_vec()))
}

/// Returns a column divided by its range, or the codes of its texts.
fn coded(column: &FrameColumn) -> Vec<f64> {
    match &column.values {
        Values::Numbers(values) | Values::Times(values) => {
            let known = || values.iter().copied().filter(|value| !value.is_nan());
            let (low, high) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
            // Halve both ends, because the range of numbers near `f64::MAX` would overflow.
            let range = 0.5 * high - 0.5 * low;
            let share = |value: &f64| {
                if range > 0.0 {
                    (0.5 * value - 0.5 * low) / range
                } else if value.is_nan() {
                    *value
                } else {
                    0.0
                }
            };
            values.iter().map(share).collect()
        }
        Values::Categories(texts) => {
            (0..texts.len()).map(|row| texts.code(row).map_or(f64::NAN, |code| code as f64)).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{TableForm, data_frame_from};

    fn people() -> DataFrame {
        let text = "name,age,city,since\nA,20,Bern,2020-01-01\nB,30,Basel,2020-01-11\nC,60,Bern,2020-01-05\nD,,Chur,\n";
        data_frame_from(text.as_bytes(), "people.csv", &TableForm::default()).unwrap()
    }

    #[test]
    fn numbers_and_dates_are_shares_of_their_ranges_and_texts_are_whole_numbers() {
        let wanted = ["age", "city", "since"].map(str::to_owned);
        let rows = gower_rows(Some(&wanted));
        let column = |place: usize| (0..4).map(|row| rows.row(row)[place]).collect::<Vec<_>>();
        assert_eq!(column(0)[..3], [0.0, 0.25, 1.0]);
        assert!(column(0)[3].is_nan() && column(2)[3].is_nan());
        let cities = column(1);
        assert!(cities[0] == cities[2] && (cities[0] - cities[1]).abs() >= 1.0 && cities[3].fract() == 0.0);
        assert!((column(2)[2] - 0.4).abs() < 1e-12);
        assert_eq!(rows.ids().unwrap(), ["A", "B", "C", "D"]);
    }

    fn gower_rows(columns: Option<&[String]>) -> Incomplete {
        rows(&people(), columns, Some("name")).unwrap()
    }

    #[test]
    fn columns_are_found_by_name_or_number_and_what_is_left_out_is_told() {
        let by_number = ["1".to_owned()];
        assert_eq!(gower_rows(Some(&by_number)).columns(), ["age"]);
        let error = rows(&people(), Some(&["height".to_owned()]), None).unwrap_err();
        assert!(error.to_string().contains("height"), "{error}");
        let text = "id,x,same\n1,5,a\n2,7,a\n3,9,a\n";
        let frame = data_frame_from(text.as_bytes(), "t.csv", &TableForm::default()).unwrap();
        let found = rows(&frame, None, None).unwrap();
        assert_eq!(found.columns(), ["x"]);
        let left: Vec<&str> = found.left_out().iter().map(|left| left.column.as_str()).collect();
        assert_eq!(left, ["id", "same"]);
        let frame = data_frame_from("id,same\n1,a\n2,a\n3,a\n".as_bytes(), "t.csv", &TableForm::default()).unwrap();
        let error = rows(&frame, None, None).unwrap_err();
        assert!(error.to_string().contains("expected a column of numbers, categories or dates"), "{error}");
    }

    #[test]
    fn a_column_of_one_value_or_of_the_largest_range_is_finite() {
        let values = |values: Vec<f64>| coded(&FrameColumn::numbers("x", values));
        assert_eq!(values(vec![3.0, 3.0]), [0.0, 0.0]);
        assert_eq!(values(vec![-f64::MAX, f64::MAX, 0.0]), [0.0, 1.0, 0.5]);
    }
}
