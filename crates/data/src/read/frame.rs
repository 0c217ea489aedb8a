//! A table as people have it into a [`DataFrame`]: what each column is shows in all of its values.
//!
//! In the order in which a table visits it: its rows become a [`Grid`] of fields; every column is surveyed, and all of them are decided on together (`written.rs`); then each becomes
//! values. Whatever is decided and is not the usual is a note of the data frame.

use std::collections::HashSet;
use std::io::Read;
use std::path::Path;

use super::grid::Grid;
use super::header::has_header;
use super::records::{Record, Records};
use super::source::Source;
use super::written::{self, Survey, gap};
use super::{Dialect, Form, Format, Selection, TableForm, form_of};
use crate::error::{Column, Error, Fault, Faults, Place, quoted};
use crate::frame::{DataFrame, FrameColumn};

/// Rows on which it is decided whether the first one has names.
const SAMPLE_ROWS: usize = 100;

/// A table of named columns of numbers, categories and times, each read as all of its values show.
///
/// What `form` leaves open is found out; what is found out stands in the data frame: of each column in
/// [`read_as`](FrameColumn::read_as), of the table in [`dialect`](DataFrame::dialect) and for people in [`notes`](DataFrame::notes).
///
/// # Errors
/// As [`points`](super::points), except that text and gaps are no faults. [`Error::Faults`] for rows that have more or fewer fields than the others.
///
/// # Example
/// ```
/// use lehr_data::frame::Values;
/// use lehr_data::read::{TableForm, data_frame};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("kunden.csv");
/// std::fs::write(&path, "Name;Umsatz;Ort\nA;1.818,99 €;Bern\nB;;Basel\n").unwrap();
/// let frame = data_frame(&path, &TableForm::default())?;
/// let sales = frame.column("Umsatz").unwrap();
/// assert_eq!(sales.read_as.to_string(), "number, decimal ',', thousands '.', €");
/// let Values::Numbers(values) = &sales.values else { unreachable!() };
/// assert!(values[0] == 1818.99 && values[1].is_nan());
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn data_frame(path: &Path, form: &TableForm) -> Result<DataFrame, Error> {
    of_source(Source::open(path)?, form)
}

/// As [`data_frame`], from a reader; `name` is what messages call it.
///
/// # Errors
/// As [`data_frame`], except for those of opening a file.
///
/// # Example
/// ```
/// use lehr_data::read::{TableForm, data_frame_from};
/// let frame = data_frame_from("city,share\nBern,1.7%\nBasel,n/a\n".as_bytes(), "t.csv", &TableForm::default())?;
/// let share = frame.column("share").unwrap();
/// assert_eq!((share.read_as.to_string(), share.missing()), ("number, per cent".to_owned(), 1));
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn data_frame_from(reader: impl Read, name: &str, form: &TableForm) -> Result<DataFrame, Error> {
    of_source(Source::new(reader, name)?, form)
}

fn of_source(mut source: Source<'_>, form: &TableForm) -> Result<DataFrame, Error> {
    match form_of(&mut source, &Selection::default())? {
        Form::Text => of_text(source, form),
        _ => Err(Error::Format {
            name: source.name().into(),
            expected: "a table of text".into(),
            found: "another file".into(),
        }),
    }
}

/// Rows of fields, and which of them are values.
struct Laid {
    grid: Grid,
    /// The first row of values.
    first: usize,
    names: Vec<String>,
    dialect: Dialect,
    notes: Vec<String>,
}

fn of_text(source: Source<'_>, form: &TableForm) -> Result<DataFrame, Error> {
    let name = source.name().to_owned();
    let mut records = Records::new(source, form.delimiter.map(|delimiter| delimiter as u8))?;
    let (mut grid, mut sample, mut record) = (Grid::default(), Vec::new(), Record::default());
    while records.read(&mut record)? {
        if sample.len() <= SAMPLE_ROWS {
            sample.push(record.clone());
        }
        grid.add(&record);
    }
    if sample.is_empty() {
        return Err(Error::Empty { name, found: "an empty file" });
    }
    let selection = Selection { header: form.header, ..Selection::default() };
    let has_header = has_header(&name, &sample, &selection)?;
    let first = usize::from(has_header);
    if grid.rows() == first {
        return Err(Error::Empty { name, found: "a header and no rows" });
    }
    let mut notes = Vec::new();
    let names = if has_header {
        unique((0..grid.width(0)).map(|column| grid.field(0, column)), &mut notes)
    } else {
        (0..grid.width(0)).map(|column| format!("x{column}")).collect()
    };
    let dialect = Dialect {
        format: Format::Delimited,
        delimiter: Some(records.delimiter() as char),
        header_rows: first,
        ..Dialect::default()
    };
    frame(&name, Laid { grid, first, names, dialect, notes }, form)
}

/// Names that are all there and all different, as near to those of the file as can be.
fn unique<'t>(names: impl Iterator<Item = &'t str>, notes: &mut Vec<String>) -> Vec<String> {
    let given: Vec<String> = names.map(|name| name.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let all: HashSet<&str> = given.iter().map(String::as_str).collect();
    let mut used: HashSet<String> = HashSet::new();
    let mut unique = Vec::with_capacity(given.len());
    for (column, name) in given.iter().enumerate() {
        let mut candidate = if name.is_empty() { format!("x{column}") } else { name.clone() };
        let (base, mut count) = (candidate.clone(), 1);
        while used.contains(&candidate) || (candidate != *name && all.contains(&*candidate)) {
            count += 1;
            candidate = format!("{base} {count}");
        }
        if name.is_empty() {
            notes.push(format!("column {} has no name; called {candidate:?}", column + 1));
        } else if candidate != *name {
            notes.push(format!("column {} is called {name:?} as one before it; called {candidate:?}", column + 1));
        }
        used.insert(candidate.clone());
        unique.push(candidate);
    }
    unique
}

/// Surveys the columns of rows that are laid out, decides on them and reads them.
fn frame(name: &str, laid: Laid, form: &TableForm) -> Result<DataFrame, Error> {
    let Laid { grid, first, names, mut dialect, mut notes } = laid;
    let mut faults = Faults::new(name);
    let width = names.len();
    for row in (first..grid.rows()).filter(|row| grid.width(*row) != width) {
        let (expected, found) = (format!("{width} fields"), grid.width(row).to_string());
        faults.add_with(|| Fault { place: Place::Line(grid.line(row)), column: None, expected, found });
    }
    faults.or(())?;
    let mut surveys: Vec<Survey> = names.iter().map(|_| Survey::default()).collect();
    for row in first..grid.rows() {
        for (column, survey) in surveys.iter_mut().enumerate() {
            let field = grid.field(row, column);
            if !gap::is_gap(field, &form.missing) {
                survey.look(row, field.trim(), grid.kind(row, column));
            }
        }
    }
    let decided = written::decide(&names, &surveys, &grid, form, grid.rows() - first);
    notes.extend(decided.notes);
    (dialect.decimal, dialect.dates) = (decided.decimal, decided.dates);
    dialect.missing = form.missing.clone();
    let mut faults = Faults::new(name);
    let mut columns = Vec::with_capacity(width);
    for (column, (called, read_as)) in names.iter().zip(decided.read_as).enumerate() {
        let (values, misfits) = written::values(&read_as, column, first..grid.rows(), &grid, &form.missing);
        for row in misfits {
            faults.add_with(|| Fault {
                place: Place::Line(grid.line(row)),
                column: Some(Column { index: column, name: Some(called.clone()) }),
                expected: format!("a value as this column had before ({read_as})"),
                found: quoted(grid.field(row, column).trim()),
            });
        }
        columns.push(FrameColumn { name: called.clone(), values, read_as });
    }
    faults.or(())?;
    Ok(DataFrame::new(name, columns)?.with_notes(notes).with_dialect(dialect))
}
