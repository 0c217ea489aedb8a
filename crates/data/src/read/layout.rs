//! Finds the table in a file. Titles and units may be above it, totals and sources below it, and foreign rows inside
//! it.
//!
//! The fields and types of most rows show what a row of the table looks like. A row is left out only if it cannot be a
//! row of the table, and a note reports it. Rows that may be totals are set aside until the numbers are known. A row is
//! a total if it is the sum of the rows above (`frame.rs`).

use std::collections::{BTreeMap, HashSet};

use super::csv::{are_row_numbers, is_infinite};
use super::grid::Grid;
use super::header::{has_header, note_on_counts};
use super::records::Record;
use super::written::{gap::is_gap, is_value};
use super::{Dialect, Ragged, Selection, TableForm};
use crate::error::{Error, Fault, Faults, Place, quoted};

/// The maximum number of title rows above a table, and of header rows.
const TITLE_ROWS: usize = 50;
const HEADER_ROWS: usize = 4;
/// The maximum number of rows below a table that may be notes.
const FOOTER_ROWS: usize = 20;
/// The number of rows that are examined to detect the types of columns.
const SAMPLE_ROWS: usize = 100;

/// A table whose position is known.
pub(super) struct Laid {
    pub(super) names: Vec<String>,
    /// The grid's rows that belong to the table.
    pub(super) rows: Vec<usize>,
    /// The rows after `rows` whose first words mark them as totals.
    pub(super) totals: Vec<usize>,
    /// Whether the first column names the rows, because it has no name itself.
    pub(super) names_rows: bool,
    pub(super) dialect: Dialect,
    pub(super) notes: Vec<String>,
    /// The faults of rows with too many or too few fields, which are not in `rows`.
    pub(super) faults: Faults,
}

/// Words at the start of notes below a table.
const NOTES: [&str; 22] = [
    "source",
    "sources",
    "quelle",
    "quellen",
    "note",
    "notes",
    "anmerkung",
    "hinweis",
    "stand",
    "fuente",
    "fonte",
    "nota",
    "remarque",
    "*",
    "**",
    "©",
    "(c)",
    "copyright",
    "downloaded",
    "generated",
    "http",
    "#",
];

/// Words at the start of rows with totals.
const TOTALS: [&str; 25] = [
    "total",
    "totals",
    "grand total",
    "subtotal",
    "sub-total",
    "sum",
    "summe",
    "gesamt",
    "gesamtsumme",
    "insgesamt",
    "somme",
    "totale",
    "totaal",
    "suma",
    "soma",
    "average",
    "avg",
    "mean",
    "mittelwert",
    "durchschnitt",
    "moyenne",
    "media",
    "median",
    "count",
    "anzahl",
];

pub(super) fn lay(name: &str, grid: &mut Grid, form: &TableForm, mut dialect: Dialect) -> Result<Laid, Error> {
    let mut notes = Vec::new();
    let mut width = usual_width(grid);
    if width == 1 {
        grid.fill_blank_lines();
    }
    let top = title_rows(grid, width);
    if top > 0 {
        let (first, last) = (grid.line(0), grid.line(top - 1));
        let lines = if first == last { format!("line {first} is") } else { format!("lines {first} to {last} are") };
        notes.push(format!(
            "{lines} a title, {}; left out",
            quoted(grid.fields(0).find(|field| !field.trim().is_empty()).unwrap_or_default().trim())
        ));
        dialect.skipped += top;
    }
    let names_rows = has_row_names(grid, top, width);
    let own = grid.width(top);
    if own != width && !names_rows && !ends_with_delimiter(grid, top, width) && form.ragged.is_none() {
        let mut faults = Faults::new(name);
        let expected = format!("{width} fields");
        faults.add(Fault { place: Place::Line(grid.line(top)), column: None, expected, found: own.to_string() });
        return Err(Error::Faults(faults));
    }
    let typed = typed_columns(grid, top, width);
    let header_rows = header_rows(name, grid, top, &typed, names_rows, form)?;
    if header_rows == 0 && form.header.is_none() {
        let sample = sample(grid, top);
        notes.extend(note_on_counts(&sample[0], &sample[1..]));
    }
    let first = top + header_rows;
    dialect.header_rows = header_rows;
    if first >= grid.rows() {
        let found = if grid.rows() == 0 { "an empty file" } else { "a header and no rows" };
        return Err(Error::Empty { name: name.into(), found });
    }
    let mut rows: Vec<usize> = (first..grid.rows()).collect();
    without_repeated_header(grid, top, header_rows, &mut rows, &mut notes);
    dialect.footer_rows = without_footer(grid, width, &typed, &mut rows, &mut notes);
    let totals = totals(grid, &rows);
    let kept = rows.len() - totals.len();
    if kept > 0 {
        rows.truncate(kept);
    }
    let totals = if kept > 0 { totals } else { Vec::new() };
    blank_lines(grid, &rows, width, &mut notes);
    let has_names = header_rows > 0;
    // A delimiter at the end of every row does not separate fields.
    let is_empty = |column: usize| rows.iter().all(|row| grid.field(*row, column).trim().is_empty());
    let is_unnamed = |column: usize| !has_names || grid.field(top, column).trim().is_empty();
    let usual = width;
    let ends_in_nothing = |width: usize| width > 1 && is_unnamed(width - 1) && is_empty(width - 1);
    while !names_rows && ends_in_nothing(width) && (has_names || rows.len() > 1) {
        width -= 1;
    }
    if width < usual {
        notes.push("rows end with a delimiter; no column is made of what is behind it".into());
    }
    let faults = ragged(name, grid, width, usual, &mut rows, form, &mut notes)?;
    if rows.is_empty() {
        faults.or(())?;
        return Err(Error::Empty { name: name.into(), found: "no rows that can be read" });
    }
    let names = names(grid, top, header_rows, width, names_rows, &mut notes);
    let has_row_numbers = || {
        let is_nameless = (top..first).all(|row| grid.field(row, 0).trim().is_empty());
        has_names && width > 1 && is_nameless && are_row_numbers(rows.iter().map(|row| Some(grid.field(*row, 0))))
    };
    let names_rows = names_rows || has_row_numbers();
    Ok(Laid { names, rows, totals, names_rows, dialect, notes, faults })
}

/// Returns the most common number of fields in a row.
fn usual_width(grid: &Grid) -> usize {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    for row in 0..grid.rows() {
        *counts.entry(grid.width(row)).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(width, count)| (*count, *width)).map_or(0, |(width, _)| width)
}

fn filled(grid: &Grid, row: usize) -> usize {
    grid.fields(row).filter(|field| !field.trim().is_empty()).count()
}

/// Returns the number of rows above the table.
fn title_rows(grid: &Grid, width: usize) -> usize {
    if width < 2 {
        return 0;
    }
    let most = TITLE_ROWS.min(grid.rows().saturating_sub(1));
    let mut top = 0;
    while top < most {
        let is_blank = filled(grid, top) == 0;
        let is_other =
            grid.width(top) != width && !has_row_names(grid, top, width) && !ends_with_delimiter(grid, top, width);
        // A header with one name too few or too many is reported, and not mistaken for a title.
        let is_near = grid.width(top).abs_diff(width) == 1 && filled(grid, top) >= 3 && !grid.fields(top).any(is_value);
        let next = (top + 1..grid.rows()).find(|row| filled(grid, *row) > 0);
        let is_above =
            |next: usize| filled(grid, next) * 5 >= width * 4 && (top + 1..next).all(|row| filled(grid, row) == 0);
        // The row has names of groups of columns, each above its first column, and the names of the columns follow.
        let are_groups = |next: usize| {
            (2..=width / 2).contains(&filled(grid, next))
                && !grid.fields(next).any(is_value)
                && next + 1 < grid.rows()
                && filled(grid, next + 1) * 5 >= width * 4
                && !grid.fields(next + 1).any(is_value)
        };
        // The row has a single name, padded with delimiters.
        let is_padded = width > 2
            && filled(grid, top) == 1
            && grid.width(top) == width
            && next.is_some_and(|next| is_above(next) || filled(grid, next) == 1 || are_groups(next));
        if !(is_blank || (is_other && !is_near) || is_padded) {
            break;
        }
        top += 1;
    }
    // A title must be followed by rows of the usual width.
    if (top..grid.rows()).any(|row| grid.width(row) == width) && top < most.max(1) { top } else { 0 }
}

/// Returns whether a header has one field less or more than the rows below it, because of a delimiter at their ends.
fn ends_with_delimiter(grid: &Grid, row: usize, width: usize) -> bool {
    let own = grid.width(row);
    let is_empty = |row: usize, column: usize| grid.field(row, column).trim().is_empty();
    let rows = || (row + 1..grid.rows().min(row + SAMPLE_ROWS)).filter(|row| grid.width(*row) == width);
    (own == width + 1 && is_empty(row, width) && filled(grid, row) == width)
        || (own + 1 == width && rows().count() > 0 && rows().all(|row| is_empty(row, width - 1)))
}

/// Returns whether rows begin with an unnamed field that has the names of the rows, as R writes them.
fn has_row_names(grid: &Grid, row: usize, width: usize) -> bool {
    if row + 1 >= grid.rows() || grid.width(row) + 1 != width || width < 2 {
        return false;
    }
    let are_words = grid.fields(row).all(|field| !field.trim().is_empty() && !is_value(field));
    let below = || (row + 1..grid.rows().min(row + SAMPLE_ROWS)).filter(|row| grid.width(*row) == width);
    let has_values = grid.fields(row + 1).any(is_value);
    let names: HashSet<&str> = below().map(|row| grid.field(row, 0)).collect();
    let is_last_filled = below().any(|row| !grid.field(row, width - 1).trim().is_empty());
    are_words && has_values && names.len() == below().count() && is_last_filled
}

/// Returns which columns have mostly numbers or dates below a row.
fn typed_columns(grid: &Grid, top: usize, width: usize) -> Vec<bool> {
    let last = grid.rows().min(top + 1 + SAMPLE_ROWS);
    (0..width)
        .map(|column| {
            let (mut values, mut others) = (0, 0);
            for row in top + 1..last {
                let field = grid.field(row, column);
                if is_gap(field, &[]) {
                } else if is_value(field) {
                    values += 1;
                } else {
                    others += 1;
                }
            }
            values > others
        })
        .collect()
}

/// Returns the number of rows that name the columns.
fn header_rows(
    name: &str,
    grid: &Grid,
    top: usize,
    typed: &[bool],
    has_row_names: bool,
    form: &TableForm,
) -> Result<usize, Error> {
    let is_name = |field: &str| !is_gap(field, &[]) && !is_value(field) && !is_infinite(field);
    // Returns whether a row has words above values, and whether it has values there.
    let above = |row: usize| {
        let columns = || (0..typed.len()).filter(|column| typed[*column]);
        let field = |column: usize| grid.field(row, if has_row_names && column > 0 { column - 1 } else { column });
        (columns().any(|column| is_name(field(column))), columns().any(|column| is_value(field(column))))
    };
    if form.header == Some(false) {
        return Ok(0);
    }
    let is_header = match above(top) {
        _ if form.header == Some(true) || has_row_names => true,
        (true, false) => true,
        (false, true)
            if !typed.is_empty()
                && (0..typed.len()).all(|column| !typed[column] || is_value(grid.field(top, column)))
                && has_written(grid, top) =>
        {
            false
        }
        _ => has_header(name, &sample(grid, top), &Selection::default())?,
    };
    if !is_header {
        return Ok(0);
    }
    let mut rows = 1;
    // Two rows of names are detected only above values, so there must be values.
    while rows < HEADER_ROWS
        && !has_row_names
        && top + rows + 1 < grid.rows()
        && grid.width(top + rows) == grid.width(top)
        && form.header.is_none()
        && above(top).0
        && above(top + rows) == (true, false)
        && !is_data_like(grid, top + rows, typed)
    {
        rows += 1;
    }
    Ok(rows)
}

/// Returns the row at `top` and the rows below it that decide about the header.
fn sample(grid: &Grid, top: usize) -> Vec<Record> {
    let rows = top..grid.rows().min(top + 1 + SAMPLE_ROWS);
    rows.map(|row| Record::of(grid.line(row), grid.fields(row))).collect()
}

/// Returns whether a row has a value in a notation of people, such as a price or a date. Such a value cannot be a name
/// either.
fn has_written(grid: &Grid, row: usize) -> bool {
    grid.fields(row).any(|field| is_value(field) && field.trim().parse::<f64>().is_err())
}

/// Returns whether a row below the names has data with missing or wrong values: it has words in at most half of the
/// typed columns.
fn is_data_like(grid: &Grid, row: usize, typed: &[bool]) -> bool {
    let columns: Vec<usize> = (0..typed.len()).filter(|column| typed[*column]).collect();
    let words = columns
        .iter()
        .filter(|column| !is_gap(grid.field(row, **column), &[]) && !is_value(grid.field(row, **column)))
        .count();
    words * 2 <= columns.len()
}

/// Leaves out rows that repeat the header, as in a file made of several tables with the same header.
fn without_repeated_header(
    grid: &Grid,
    top: usize,
    header_rows: usize,
    rows: &mut Vec<usize>,
    notes: &mut Vec<String>,
) {
    if header_rows == 0 {
        return;
    }
    let is_same = |row: usize, header: usize| {
        grid.width(row) == grid.width(header)
            && grid.fields(row).zip(grid.fields(header)).all(|(field, name)| field.trim() == name.trim())
    };
    // A row of missing values or numbers may equal the names by chance.
    let is_word = |header: usize| grid.fields(header).any(|field| !is_gap(field, &[]) && !is_value(field));
    let headers: Vec<usize> = (top..top + header_rows).filter(|row| is_word(*row)).collect();
    let before = rows.len();
    let first = rows.iter().copied().find(|row| headers.iter().any(|header| is_same(*row, *header)));
    let Some(first) = first else { return };
    rows.retain(|row| !headers.iter().any(|header| is_same(*row, *header)));
    let count = before - rows.len();
    let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
    notes.push(format!(
        "the names of the columns occur {times} more among the rows, first in line {}; left out",
        grid.line(first)
    ));
}

/// Leaves out notes below the table and empty rows. Returns the number of rows left out.
fn without_footer(grid: &Grid, width: usize, typed: &[bool], rows: &mut Vec<usize>, notes: &mut Vec<String>) -> usize {
    let mut left = 0;
    let mut said: Option<(u64, u64, String)> = None;
    while rows.len() > 1 {
        let row = rows[rows.len() - 1];
        let count = filled(grid, row);
        // The number of empty rows is not limited: a spreadsheet writes every row that was ever formatted.
        if count > 0 && left >= FOOTER_ROWS {
            break;
        }
        let text = grid.fields(row).find(|field| !field.trim().is_empty()).unwrap_or_default().trim();
        let is_nothing = count == 0 && width > 1;
        // A row may begin with a missing value and have no others.
        let is_word = !is_value(text) && !is_gap(text, &[]);
        let is_alone = count == 1 && width > 1 && is_word && grid.field(row, 0).trim() == text;
        let is_apart =
            grid.blank_lines_before(row) > 0 || rows.len() > 1 && width > 1 && filled(grid, rows[rows.len() - 2]) == 0;
        let lower = text.to_lowercase();
        let begins = NOTES.iter().any(|word| {
            lower.strip_prefix(word).is_some_and(|rest| {
                rest.is_empty() || !rest.starts_with(char::is_alphanumeric) || *word == "http" || *word == "#"
            })
        });
        let is_of_values = typed.first() == Some(&true);
        let is_note = is_alone && (is_apart || begins || is_of_values)
            || (width == 1 && begins && is_of_values && !is_value(text));
        if !is_nothing && !is_note {
            break;
        }
        if is_note {
            let line = grid.line(row);
            said = Some(match said {
                None => (line, line, text.to_owned()),
                Some((_, last, _)) => (line, last, text.to_owned()),
            });
        }
        rows.pop();
        left += 1;
    }
    if let Some((first, last, text)) = said {
        let lines = if first == last {
            format!("line {first}, {}, is a note", quoted(&text))
        } else {
            format!("lines {first} to {last}, from {} on, are notes", quoted(&text))
        };
        notes.push(format!("{lines} below the table; left out"));
    } else if left > 0 {
        notes.push(format!("{left} rows of empty fields at the end; left out"));
    }
    left
}

/// Returns whether a text marks a row as a total.
pub(super) fn is_total(text: &str) -> bool {
    if !text.starts_with(char::is_alphabetic) {
        return false;
    }
    let text = text.to_lowercase();
    let text = text.trim_end_matches([':', '.']).trim();
    TOTALS
        .iter()
        .any(|word| text == *word || text.strip_prefix(word).is_some_and(|rest| rest.starts_with([' ', ':', '('])))
}

/// Returns the rows at the end whose first words mark them as totals.
fn totals(grid: &Grid, rows: &[usize]) -> Vec<usize> {
    let is_total =
        |row: usize| is_total(grid.fields(row).find(|field| !field.trim().is_empty()).unwrap_or_default().trim());
    let count = rows.iter().rev().take(FOOTER_ROWS).take_while(|row| is_total(**row)).count();
    rows[rows.len() - count..].to_vec()
}

fn blank_lines(grid: &Grid, rows: &[usize], width: usize, notes: &mut Vec<String>) {
    if width < 2 {
        return;
    }
    let blank: Vec<(u64, u64)> = rows
        .iter()
        .skip(1)
        .map(|row| (grid.line(*row), grid.blank_lines_before(*row)))
        .filter(|(_, count)| *count > 0)
        .collect();
    let count: u64 = blank.iter().map(|(_, count)| count).sum();
    if let Some((line, before)) = blank.first() {
        let lines = if count == 1 { "1 empty line".to_owned() } else { format!("{count} empty lines") };
        notes.push(format!("{lines} among the rows, the first at line {}; left out", line - before));
    }
}

/// Handles rows with too many or too few fields. A row may have up to `usual` fields if those beyond the last column
/// are empty.
fn ragged(
    name: &str,
    grid: &Grid,
    width: usize,
    usual: usize,
    rows: &mut Vec<usize>,
    form: &TableForm,
    notes: &mut Vec<String>,
) -> Result<Faults, Error> {
    let is_sound = |row: usize| {
        let own = grid.width(row);
        own == width
            || (own > width && own <= usual && (width..own).all(|column| grid.field(row, column).trim().is_empty()))
    };
    let wrong: Vec<usize> = rows.iter().copied().filter(|row| !is_sound(*row)).collect();
    if wrong.is_empty() {
        return Ok(Faults::new(name));
    }
    // A program that omits empty fields at the end of rows omits them in all rows.
    let last = |row: usize| grid.width(row).checked_sub(1).map(|column| grid.field(row, column).trim());
    let drops = wrong.len() >= 2
        && wrong.len() * 20 >= rows.len()
        && wrong.iter().all(|row| grid.width(*row) < width)
        && rows.iter().all(|row| last(*row).is_some_and(|field| !field.is_empty()));
    let count = wrong.len();
    let rows_have = if count == 1 { "1 row has".to_owned() } else { format!("{count} rows have") };
    match form.ragged {
        Some(Ragged::LeaveOut) => {
            notes.push(format!(
                "{rows_have} more or fewer than {width} fields, the first in line {}; left out",
                grid.line(wrong[0])
            ));
            rows.retain(|row| is_sound(*row));
            return Ok(Faults::new(name));
        }
        Some(Ragged::Fill) if wrong.iter().all(|row| grid.width(*row) < width) => {
            notes.push(format!(
                "{rows_have} fewer than {width} fields, the first in line {}; the others are missing",
                grid.line(wrong[0])
            ));
            return Ok(Faults::new(name));
        }
        _ if drops => {
            notes.push(format!("{rows_have} fewer than {width} fields. Some programs leave out empty fields at the end of a row; Lehr reads these as missing"));
            return Ok(Faults::new(name));
        }
        _ => {}
    }
    let other = grid.width(wrong[0]);
    let is_another = count > 2
        && wrong.iter().all(|row| grid.width(*row) == other)
        && wrong.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    let is_second = is_another && !grid.fields(wrong[0]).any(is_value) && grid.fields(wrong[1]).any(is_value);
    if is_second {
        return Err(Error::Format {
            name: format!("{name}, line {}", grid.line(wrong[0])),
            expected: format!("one table, of {width} columns"),
            found: format!("another one of {other}; save each in a file of its own"),
        });
    }
    let mut faults = Faults::new(name);
    rows.retain(|row| is_sound(*row));
    for row in wrong {
        let expected = if width == 1 { "1 field".to_owned() } else { format!("{width} fields") };
        faults.add_with(|| Fault {
            place: Place::Line(grid.line(row)),
            column: None,
            expected,
            found: grid.width(row).to_string(),
        });
    }
    Ok(faults)
}

/// Returns the names of the columns, all different.
fn names(
    grid: &Grid,
    top: usize,
    header_rows: usize,
    width: usize,
    has_row_names: bool,
    notes: &mut Vec<String>,
) -> Vec<String> {
    if header_rows == 0 {
        return (0..width).map(|column| format!("x{column}")).collect();
    }
    let mut parts: Vec<Vec<String>> = (top..top + header_rows)
        .map(|row| {
            (0..width)
                .map(|column| {
                    if has_row_names {
                        if column == 0 { String::new() } else { grid.field(row, column - 1).to_owned() }
                    } else {
                        grid.field(row, column).to_owned()
                    }
                })
                .collect()
        })
        .collect();
    // Remove the mark of a comment line.
    if let Some(first) = parts[0].first_mut()
        && let Some(rest) = first.strip_prefix('#')
    {
        *first = rest.trim_start().to_owned();
    }
    if header_rows > 1 {
        let last_is_full = parts[header_rows - 1].iter().all(|part| !part.trim().is_empty());
        // The name of a group is above its first column.
        for row in parts.iter_mut().take(header_rows - 1).filter(|_| last_is_full) {
            for column in 1..width {
                if row[column].trim().is_empty() && !row[0].trim().is_empty() {
                    row[column] = row[column - 1].clone();
                }
            }
        }
        let (first, last) = (grid.line(top), grid.line(top + header_rows - 1));
        notes.push(format!("lines {first} to {last} name the columns; their names are put together"));
    }
    let given = (0..width).map(|column| {
        let mut words: Vec<String> = Vec::new();
        for row in &parts {
            let part = row[column].split_whitespace().collect::<Vec<_>>().join(" ");
            if !part.is_empty() && !words.contains(&part) {
                words.push(part);
            }
        }
        words.join(" ")
    });
    let given: Vec<String> = given.collect();
    if has_row_names {
        notes
            .push("rows have one field more than there are names; Lehr reads the first field as the row's name".into());
    }
    let of_empty = |column: usize| if has_row_names && column == 0 { "row".to_owned() } else { format!("x{column}") };
    let names = distinct(&given, of_empty);
    for (column, (name, given)) in names.iter().zip(&given).enumerate() {
        if given.is_empty() && !(has_row_names && column == 0) {
            notes.push(format!("column {} has no name; called {name:?}", column + 1));
        } else if let Some(note) = renamed(column, given, name) {
            notes.push(note);
        }
    }
    names
}

/// Returns names that are distinct, and as similar to the names in the file as possible. `of_empty` names a column
/// without a name.
pub(super) fn distinct(given: &[String], of_empty: impl Fn(usize) -> String) -> Vec<String> {
    let all: HashSet<&str> = given.iter().map(String::as_str).collect();
    let mut used: HashSet<String> = HashSet::new();
    let mut distinct = Vec::with_capacity(given.len());
    for (column, name) in given.iter().enumerate() {
        let base = if name.is_empty() { of_empty(column) } else { name.clone() };
        let (mut candidate, mut count) = (base.clone(), 1);
        while used.contains(&candidate) || (candidate != *name && all.contains(&*candidate)) {
            count += 1;
            candidate = format!("{base} {count}");
        }
        used.insert(candidate.clone());
        distinct.push(candidate);
    }
    distinct
}

/// Returns the note on a column whose name was given before.
pub(super) fn renamed(column: usize, given: &str, name: &str) -> Option<String> {
    let is_renamed = name != given && !given.is_empty();
    is_renamed.then(|| format!("column {} is called {given:?} as one before it; called {name:?}", column + 1))
}
