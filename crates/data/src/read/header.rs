//! Detects whether the first row of a text table has names or values.
//!
//! 1. Three things decide first: the caller's choice; a `#` before the row, as NumPy writes it; columns requested by a
//!    name.
//! 2. A word in a wanted column is a name, so the row is a header. The mark of a missing value
//!    ([`MISSING`](super::csv::MISSING)) is not a word. Beside true numbers, text that begins with a digit, a sign or a
//!    point is not a name either. So a first row of values with an `n/a` or a `3.5x` is reported, and not mistaken for
//!    names.
//! 3. Numbers alone are names in two cases. Either they are years above columns without years, with a word or nothing
//!    beside them (`country,2019,2020`). There must be at least two years, ascending or descending, from 1700 to 2100.
//!    Or they count the columns from 0 or 1, with nothing beside them (`,0,1,2`).
//! 4. If such numbers are likely names, but the row does not show it, the table is refused. Reading them as values
//!    would silently change every result. This also holds for a single year beside a word, for evenly spaced years, and
//!    for at least three numbers that count columns of fractions.
//!
//! Any other row of numbers has values, and so has a row with a word that is repeated below it. If it counts the columns
//! from 0, as pandas names the columns of an array, a note says that it was read as values.

use super::Selection;
use super::csv::{is_gap, is_name, is_numeric, number};
use super::records::Record;
use crate::error::{Error, quoted};

/// The range of numbers that count as years.
const YEARS: std::ops::RangeInclusive<u32> = 1700..=2100;

/// Returns whether the first of these rows has names.
///
/// # Errors
/// Returns [`Error::Format`] if the row may have names or values.
pub(super) fn has_header(source: &str, sample: &[Record], selection: &Selection) -> Result<bool, Error> {
    if let Some(given) = selection.header {
        return Ok(given);
    }
    if sample[0].is_marked {
        return Ok(true);
    }
    let index = |column: &String| column.trim().parse::<usize>().ok();
    let asked = || selection.columns.iter().flatten().chain(&selection.weights).chain(&selection.id);
    if asked().any(|column| index(column).is_none()) {
        return Ok(true);
    }
    let (first, rows) = (&sample[0], &sample[1..]);
    let id = selection.id.as_ref().and_then(index);
    let wanted: Vec<usize> = match &selection.columns {
        Some(columns) => columns.iter().chain(&selection.weights).filter_map(index).collect(),
        None => (0..first.len())
            .filter(|column| Some(*column) != id && (rows.is_empty() || is_numeric(rows, *column)))
            .collect(),
    };
    if wanted.is_empty() {
        // No row has numbers; a later error reports it.
        return Ok(true);
    }
    let fields = || wanted.iter().filter_map(|column| first.field(*column));
    if rows.is_empty() && selection.columns.is_none() {
        return Ok(!fields().any(|field| number(field).is_some()));
    }
    let has_numbers = fields().any(|field| number(field).is_some());
    if fields().any(|field| number(field).is_none() && is_name(field.trim(), has_numbers)) {
        return Ok(true);
    }
    match names_of_numbers(first, rows, &wanted) {
        Some(true) => Ok(true),
        None => Ok(false),
        Some(false) => {
            let shown = first.fields().take(5).map(quoted).collect::<Vec<_>>().join(", ");
            let more = if first.len() > 5 { ", …" } else { "" };
            Err(Error::Format {
                name: format!("{source}, line {}", first.line),
                expected: "names or values, and to know which".into(),
                found: format!(
                    "{shown}{more}: numbers that may be the names of columns; say whether there is a header, or give a name a letter (such as \"y2019\")"
                ),
            })
        }
    }
}

/// Returns a note on a first row of values that counts the columns from 0, if other numbers are below it.
///
/// pandas writes such a header for an array.
pub(super) fn note_on_counts(first: &Record, rows: &[Record]) -> Option<String> {
    let counts =
        first.len() >= 2 && first.fields().enumerate().all(|(column, field)| whole(field) == Some(column as u32));
    let is_other = |field: &str| whole(field).is_none_or(|number| number as usize >= first.len());
    let shown = first.fields().take(5).map(str::trim).collect::<Vec<_>>().join(", ");
    let more = if first.len() > 5 { ", …" } else { "" };
    (counts && rows.iter().any(|row| row.fields().any(is_other))).then(|| {
        format!(
            "line {}: {shown}{more} are read as values; if they are names of columns, say that there is a header",
            first.line
        )
    })
}

/// Returns whether the numbers of a first row are certainly names (true) or possibly names (false); `None` if they are
/// values.
fn names_of_numbers(first: &Record, rows: &[Record], wanted: &[usize]) -> Option<bool> {
    // pandas writes an empty name above the index of a table.
    let is_unnamed = |column: &usize| first.field(*column).is_some_and(|field| field.trim().is_empty());
    let is_never_empty = |column: &usize| rows.iter().all(|row| !row.field(*column).is_some_and(is_gap));
    let has_unnamed = (0..first.len()).filter(|column| is_unnamed(column)).count() == 1
        && is_unnamed(&0)
        && is_never_empty(&0)
        && !rows.is_empty();
    let labelled: Vec<usize> = wanted.iter().copied().filter(|column| !(has_unnamed && *column == 0)).collect();
    let labels: Vec<u32> = labelled.iter().map(|column| whole(first.field(*column)?)).collect::<Option<_>>()?;
    let (first_label, last_label) = (*labels.first()?, *labels.last()?);
    let others = || (0..first.len()).filter(|column| !wanted.contains(column));
    if others().any(|column| comes_again(first, rows, column)) {
        return None;
    }
    let is_beside = has_unnamed || others().any(|column| is_word_above_others(first, rows, column));

    let in_most = |column: usize, is: &dyn Fn(&str) -> bool| {
        rows.iter().filter(|row| row.field(column).is_some_and(is)).count() * 2 > rows.len()
    };
    let is_year = |field: &str| whole(field).is_some_and(|year| YEARS.contains(&year));
    if labels.iter().all(|label| YEARS.contains(label)) && !labelled.iter().any(|&column| in_most(column, &is_year)) {
        let is_ordered = labels.is_sorted_by(|a, b| a < b) || labels.is_sorted_by(|a, b| a > b);
        let is_even =
            labels.windows(3).all(|three| i64::from(three[1]) * 2 == i64::from(three[0]) + i64::from(three[2]));
        let is_none_below =
            !rows.iter().any(|row| labelled.iter().any(|&column| row.field(column).is_some_and(is_year)));
        return match labels.len() {
            1 => (is_beside && is_none_below).then_some(has_unnamed),
            _ if is_ordered && is_beside => Some(true),
            // A table of only years is rare, and so is one with years only in its first row.
            _ if is_ordered && is_even && is_none_below => Some(false),
            _ => None,
        };
    }
    let counts = first_label <= 1 && labels.windows(2).all(|pair| pair[1] == pair[0] + 1) && last_label > first_label;
    if counts && has_unnamed {
        return Some(true);
    }
    let is_fraction = |field: &str| number(field).is_some_and(|number| number.fract() != 0.0);
    let have_fractions = labelled.iter().all(|&column| in_most(column, &is_fraction));
    (counts && labels.len() >= 3 && have_fractions).then_some(false)
}

/// Returns a whole number written only with digits.
fn whole(field: &str) -> Option<u32> {
    let field = field.trim();
    field.bytes().all(|byte| byte.is_ascii_digit()).then(|| field.parse().ok())?
}

/// Returns whether the first row has a word, with words below it.
fn is_word_above_others(first: &Record, rows: &[Record], column: usize) -> bool {
    first.field(column).is_some_and(is_word) && rows.iter().filter_map(|row| row.field(column)).any(is_word)
}

/// Returns whether a word of the first row is repeated below it, unlike a column's name.
fn comes_again(first: &Record, rows: &[Record], column: usize) -> bool {
    let word = first.field(column).map(str::trim).filter(|field| is_word(field));
    word.is_some_and(|word| rows.iter().filter_map(|row| row.field(column)).any(|field| field.trim() == word))
}

fn is_word(field: &str) -> bool {
    number(field).is_none() && !is_gap(field)
}
