//! Reads workbooks of Excel (`.xlsx`, `.xls`) and OpenDocument (`.ods`): the cells of one sheet.
//!
//! `calamine` reads the files. Cells have types: a number stays a number, and its format makes it a date. The position
//! of the table on the sheet is detected as in text (`layout.rs`), because people put titles above it and totals below
//! it.

use std::io::Cursor;
use std::panic::{AssertUnwindSafe, catch_unwind};

use calamine::{Data, ExcelDateTime, Ods, Range, Reader, Xls, Xlsx};

use super::contents::LOOKED_AT;
use super::grid::{Grid, Kind};
use super::source::Source;
use super::{Dialect, Format, TableForm};
use crate::error::{Error, quoted};

/// The first bytes of workbooks.
const ZIP: &[u8] = b"PK\x03\x04";
const OLD: &[u8] = b"\xd0\xcf\x11\xe0";
/// The maximum number of cells of a sheet, because a small file may claim that its last cell is far away.
const CELLS_MAX: usize = 1 << 28;
/// The factor by which a page about the data has fewer cells than the largest sheet.
const SMALL: usize = 4;

/// Returns the kind of workbook, by its first bytes and its name.
pub(super) fn kind(source: &mut Source<'_>) -> Option<Format> {
    let name = source.name().to_lowercase();
    let head = source.peek(LOOKED_AT);
    if head.starts_with(OLD) {
        return Some(Format::Xls);
    }
    if !head.starts_with(ZIP) {
        return None;
    }
    let has = |word: &[u8]| head.windows(word.len()).any(|window| window == word);
    if has(b"opendocument.spreadsheet") || name.ends_with(".ods") {
        return Some(Format::Ods);
    }
    (has(b"[Content_Types].xml") || has(b"xl/") || name.ends_with(".xlsx")).then_some(Format::Xlsx)
}

/// The cells of a sheet.
pub(super) struct Cells {
    pub(super) grid: Grid,
    pub(super) dialect: Dialect,
    pub(super) notes: Vec<String>,
}

/// Returns the cells of the requested sheet, or of the first sheet that is not small compared with others.
pub(super) fn cells(mut source: Source<'_>, format: Format, form: &TableForm) -> Result<Cells, Error> {
    while source.more(None)? {}
    let (name, bytes) = (source.name().to_owned(), source.window().to_vec());
    let damaged = |found: String| Error::Format {
        name: name.clone(),
        expected: "a workbook that can be read here (.xlsx, .xls or .ods)".into(),
        found,
    };
    // If the library panics on unexpected bytes, the file is damaged.
    let read = catch_unwind(AssertUnwindSafe(|| match format {
        Format::Ods => {
            of(Ods::new(Cursor::new(bytes)).map_err(|error| damaged(error.to_string()))?, &name, form, &damaged)
        }
        Format::Xls => {
            of(Xls::new(Cursor::new(bytes)).map_err(|error| damaged(error.to_string()))?, &name, form, &damaged)
        }
        _ => of(Xlsx::new(Cursor::new(bytes)).map_err(|error| damaged(error.to_string()))?, &name, form, &damaged),
    }));
    let (range, sheet, notes) = read.unwrap_or_else(|_| Err(damaged("damage".into())))?;
    let (height, width) = range.get_size();
    if height.saturating_mul(width) > CELLS_MAX {
        return Err(damaged(format!("a sheet of {height} x {width} cells")));
    }
    let first = range.start().map_or(0, |(row, _)| u64::from(row));
    let mut grid = Grid::default();
    for (place, row) in range.rows().enumerate() {
        grid.begin(first + place as u64 + 1);
        row.iter().for_each(|cell| push(&mut grid, cell));
    }
    Ok(Cells { grid, dialect: Dialect { format, sheet: Some(sheet), ..Dialect::default() }, notes })
}

/// Returns the cells, the name of the sheet, and notes about its choice.
fn of<R>(
    mut book: R,
    name: &str,
    form: &TableForm,
    damaged: &dyn Fn(String) -> Error,
) -> Result<(Range<Data>, String, Vec<String>), Error>
where
    R: Reader<Cursor<Vec<u8>>>,
    R::Error: std::fmt::Display,
{
    let sheets = book.sheet_names();
    if let Some(asked) = &form.sheet {
        let numbered = asked.parse::<usize>().ok().and_then(|number| sheets.get(number.checked_sub(1)?));
        let Some(sheet) = sheets.iter().find(|sheet| *sheet == asked).or(numbered).cloned() else {
            let found = sheets.iter().map(|sheet| format!("{sheet:?}")).collect::<Vec<_>>().join(", ");
            return Err(Error::Format {
                name: name.into(),
                expected: format!("a sheet {}", quoted(asked)),
                found: format!("the sheets {found}"),
            });
        };
        let range = book.worksheet_range(&sheet).map_err(|error| damaged(error.to_string()))?;
        if range.is_empty() {
            return Err(Error::Empty { name: format!("{name}, sheet {sheet:?}"), found: "an empty sheet" });
        }
        return Ok((range, sheet, Vec::new()));
    }
    // A chart sheet has no cells.
    let mut ranges: Vec<(Range<Data>, String)> = sheets
        .into_iter()
        .filter_map(|sheet| Some((book.worksheet_range(&sheet).ok().filter(|range| !range.is_empty())?, sheet)))
        .collect();
    let counts: Vec<usize> = ranges.iter().map(|(range, _)| range.used_cells().count()).collect();
    let most = counts.iter().copied().max().unwrap_or_default();
    // A small page about the data often precedes the sheets with data.
    let Some(place) = counts.iter().position(|count| count * SMALL >= most) else {
        return Err(Error::Empty { name: name.into(), found: "a workbook without cells" });
    };
    let (range, sheet) = ranges.remove(place);
    let others = ranges.iter().map(|(_, sheet)| format!("{sheet:?}")).collect::<Vec<_>>().join(", ");
    let which = if place == 0 { "first sheet with cells" } else { "first sheet that is not small beside others" };
    let note = format!("the {which}, {sheet:?}, is read; there are also {others}");
    let notes = if ranges.is_empty() { Vec::new() } else { vec![note] };
    Ok((range, sheet, notes))
}

fn push(grid: &mut Grid, cell: &Data) {
    match cell {
        Data::Empty => grid.push_typed("", Kind::Text),
        Data::String(text) => grid.push_typed(text, Kind::Text),
        Data::Int(number) => grid.push_typed(&number.to_string(), Kind::Number),
        Data::Float(number) => grid.push_typed(&number.to_string(), Kind::Number),
        Data::Bool(truth) => grid.push_typed(if *truth { "true" } else { "false" }, Kind::Truth),
        Data::DateTime(time) => match date(time) {
            Some(text) => grid.push_typed(&text, Kind::Time),
            None => grid.push_typed(&time.as_f64().to_string(), Kind::Number),
        },
        Data::DateTimeIso(text) => grid.push_typed(text, Kind::Time),
        Data::DurationIso(text) => grid.push_typed(text, Kind::Text),
        Data::Error(error) => grid.push_typed(&error.to_string(), Kind::Text),
    }
}

/// Returns a date or a time of day in ISO 8601; `None` for a duration, which is a number of days.
fn date(time: &ExcelDateTime) -> Option<String> {
    if !time.is_datetime() || time.as_f64() < 0.0 {
        return None;
    }
    let (year, month, day, hour, minute, second, milli) = time.to_ymd_hms_milli();
    let fraction = if milli > 0 { format!(".{milli:03}") } else { String::new() };
    let clock = format!("{hour:02}:{minute:02}:{second:02}{fraction}");
    Some(if time.as_f64() < 1.0 {
        clock
    } else if time.as_f64().fract() == 0.0 {
        format!("{year:04}-{month:02}-{day:02}")
    } else {
        format!("{year:04}-{month:02}-{day:02}T{clock}")
    })
}
