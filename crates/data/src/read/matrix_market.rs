//! Reads sparse rows from Matrix Market coordinate files (`.mtx`): a header, comments, a line of sizes, then
//! `row column value` on each line, counted from 1.
//!
//! Supported are `matrix coordinate` files with `real`, `integer` or `pattern` values (a pattern means 1) and the
//! symmetry `general`. Entries may come in any order, but each position only once; values of 0 are dropped. Dense
//! (`array`) files and complex numbers are refused. So are matrices that store only one half (`symmetric` and the
//! like), because they are not rows of a table.

use std::io::Read;
use std::path::Path;

use crate::error::{Error, Fault, Faults, Place, quoted};
use crate::object;
use crate::read::source::{Source, foreign_format, open};
use crate::sparse::{FirstColumn, Sparse};

/// The first bytes of a file.
const MAGIC: &[u8] = b"%%MatrixMarket";

/// The length at which a line means that the file is of another kind.
const LINE_MAX: usize = 1 << 16;

/// The number of rows without entries that the reader always accepts, and the number that it accepts for each entry.
/// Without these limits, a damaged line of sizes could demand any amount of memory.
const EMPTY_ROWS: u64 = 1 << 20;
const EMPTY_ROWS_OF_ENTRY: u64 = 256;

/// Returns whether to read a source as Matrix Market: it begins as Matrix Market, or is called `.mtx`.
pub(super) fn is_matrix_market(source: &mut Source<'_>) -> Result<bool, Error> {
    let is_called = source.name().to_lowercase().trim_end_matches(".gz").ends_with(".mtx");
    Ok(source.fill(MAGIC.len(), Some(0))?.starts_with(MAGIC) || is_called)
}

/// Reads sparse rows from a Matrix Market file, plain or gzip. The columns are named from `x1` on, because the format
/// counts from 1.
///
/// # Errors
/// - [`Error::Open`], [`Error::Directory`], [`Error::Read`]: the file cannot be read to its end.
/// - [`Error::CutShort`] if it has fewer entries than its line of sizes declares.
/// - [`Error::Format`] if it is of another kind, or a matrix of an unsupported kind; [`Error::Encoding`].
/// - [`Error::Faults`] with every line that is not an entry, and every position with two entries.
pub fn rows(path: &Path) -> Result<Sparse, Error> {
    rows_from(open(path)?, &object::shown(path))
}

/// Reads sparse rows from a reader of a Matrix Market file; messages call it `name`.
///
/// # Errors
/// Returns the errors of [`rows`], except for opening a file.
///
/// # Example
/// ```
/// use lehr_data::read::matrix_market::rows_from;
/// let text = "%%MatrixMarket matrix coordinate real general\n% two rows of three columns\n2 3 2\n2 1 0.5\n1 3 4\n";
/// let rows = rows_from(text.as_bytes(), "t.mtx")?;
/// assert_eq!((rows.len(), rows.dimension(), rows.row(1)), (2, 3, (&[0][..], &[0.5][..])));
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn rows_from(reader: impl Read, name: &str) -> Result<Sparse, Error> {
    read(Source::new(reader, name)?)
}

/// An entry with indices from 0, and its line.
struct Entry {
    row: u32,
    column: u32,
    value: f64,
    line: u64,
}

pub(super) fn read(mut source: Source<'_>) -> Result<Sparse, Error> {
    let name = source.name().to_owned();
    let wrong = |expected: &str, found: String| Error::Format { name: name.clone(), expected: expected.into(), found };
    if let Some(what) = foreign_format(source.fill(16, Some(0))?) {
        return Err(wrong("a Matrix Market file", what.into()));
    }
    let mut number = 0;
    let mut is_pattern = None;
    let mut sizes: Option<[u64; 3]> = None;
    let mut entries: Vec<Entry> = Vec::new();
    let mut faults = Faults::new(name.clone());
    let too_long = || wrong("a Matrix Market file", "a line longer than 64 KiB".into());
    while let Some(length) = source.line(number, LINE_MAX, too_long)? {
        number += 1;
        let line = &source.window()[..length];
        let text = source.text(line, 0, number)?;
        let text = text.trim();
        if number == 1 {
            is_pattern = Some(header(text).map_err(|(expected, found)| wrong(expected, found))?);
        } else if text.is_empty() || text.starts_with('%') {
            // Skip comments and blank lines, which are not rows here.
        } else if let Some(sizes) = sizes {
            match entry(text, sizes, is_pattern == Some(true), number) {
                Ok(_) if entries.len() as u64 + faults.total() >= sizes[2] => {
                    let found = format!("another in line {number}");
                    return Err(wrong(&format!("{} entries, as its line of sizes says", sizes[2]), found));
                }
                Ok(entry) => entries.push(entry),
                Err(expected) => {
                    let found = quoted(text);
                    faults.add_with(|| Fault { place: Place::Line(number), column: None, expected, found });
                }
            }
        } else {
            sizes = Some(
                sizes_of(text).map_err(|(expected, found)| wrong(&expected, format!("{found} in line {number}")))?,
            );
        }
        source.consume(length);
    }
    let Some(sizes) = sizes else {
        let found = if number == 0 { "an empty file" } else { "the end of the file" };
        return Err(wrong("a Matrix Market file with a line of sizes", found.into()));
    };
    faults.or(())?;
    let [rows, columns, count] = sizes;
    if (entries.len() as u64) < count {
        let (expected, read) = (format!("{count} entries"), format!("{} of them", entries.len()));
        return Err(Error::CutShort { name: name.clone(), expected, read });
    }
    if rows > EMPTY_ROWS.saturating_add(EMPTY_ROWS_OF_ENTRY.saturating_mul(count)) {
        return Err(wrong("rows of which some have entries", format!("{rows} rows with {count} entries together")));
    }
    in_rows(entries, rows as usize, columns as usize, &name)
}

/// Returns whether the file has a pattern; the error has the expected and the found value.
fn header(text: &str) -> Result<bool, (&'static str, String)> {
    const EXPECTED: &str = "a Matrix Market file that begins with \"%%MatrixMarket matrix coordinate\"";
    let words: Vec<String> = text.split_ascii_whitespace().map(str::to_lowercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let [magic, object, format, field, symmetry] = words[..] else { return Err((EXPECTED, quoted(text))) };
    if magic != "%%matrixmarket" || object != "matrix" {
        return Err((EXPECTED, quoted(text)));
    }
    match (format, field, symmetry) {
        ("coordinate", "real" | "integer" | "pattern", "general") => Ok(field == "pattern"),
        ("coordinate", "real" | "integer" | "pattern", _) => {
            Err(("a general matrix, which has every entry of its rows", format!("a {symmetry} one")))
        }
        ("coordinate", ..) => Err(("real, integer or pattern entries", format!("{field} ones"))),
        _ => {
            Err(("coordinates; a dense matrix is read from a table of text or an NPY file", format!("{format} format")))
        }
    }
}

/// Returns the numbers of rows, columns and entries.
fn sizes_of(text: &str) -> Result<[u64; 3], (String, String)> {
    let numbers: Vec<u64> = text.split_ascii_whitespace().map_while(|field| field.parse().ok()).collect();
    let fields = text.split_ascii_whitespace().count();
    let ([rows, columns, entries], 3) = (&numbers[..], fields) else {
        return Err(("a line of sizes: rows, columns, entries".into(), quoted(text)));
    };
    if !(1..=u64::from(u32::MAX)).contains(rows) {
        return Err((format!("1 to {} rows", u32::MAX), rows.to_string()));
    }
    if !(1..=Sparse::COLUMNS_MAX as u64).contains(columns) {
        return Err((format!("1 to {} columns", Sparse::COLUMNS_MAX), columns.to_string()));
    }
    Ok([*rows, *columns, *entries])
}

/// Returns the entry of a line; the error is the expected form.
fn entry(text: &str, [rows, columns, _]: [u64; 3], is_pattern: bool, line: u64) -> Result<Entry, String> {
    let mut fields = text.split_ascii_whitespace();
    let whole = || match is_pattern {
        true => "a row and a column".to_owned(),
        false => "a row, a column and a finite number".to_owned(),
    };
    let mut place = |most: u64, what: &str| -> Result<u32, String> {
        let field = fields.next().ok_or_else(whole)?;
        let number: u64 = field.parse().map_err(|_| whole())?;
        if (1..=most).contains(&number) { Ok((number - 1) as u32) } else { Err(format!("a {what} from 1 to {most}")) }
    };
    let (row, column) = (place(rows, "row")?, place(columns, "column")?);
    let value = match is_pattern {
        true => 1.0,
        false => {
            let value = fields.next().and_then(|field| field.parse::<f64>().ok());
            value.filter(|value| value.is_finite()).ok_or_else(whole)?
        }
    };
    if fields.next().is_some() {
        return Err(whole());
    }
    Ok(Entry { row, column, value, line })
}

/// Builds the sparse table from entries in any order. Returns an error that names the repeated entries.
fn in_rows(entries: Vec<Entry>, rows: usize, dimension: usize, name: &str) -> Result<Sparse, Error> {
    let mut starts = vec![0; rows + 1];
    entries.iter().for_each(|entry| starts[entry.row as usize + 1] += 1);
    (0..rows).for_each(|row| starts[row + 1] += starts[row]);
    let mut next = starts.clone();
    let mut places = vec![0; entries.len()];
    let order: &mut [usize] = &mut places;
    for (at, entry) in entries.iter().enumerate() {
        let next = &mut next[entry.row as usize];
        order[*next] = at;
        *next += 1;
    }
    let mut faults = Faults::new(name);
    for row in 0..rows {
        let order = &mut order[starts[row]..starts[row + 1]];
        let of = |place: usize| &entries[place];
        order.sort_by_key(|place| of(*place).column);
        for pair in order.windows(2).filter(|pair| of(pair[0]).column == of(pair[1]).column) {
            let (first, again) = (of(pair[0]), of(pair[1]));
            faults.add_with(|| Fault {
                place: Place::Line(again.line),
                column: None,
                expected: format!("one entry of row {} and column {}", again.row + 1, again.column + 1),
                found: format!("another after line {}", first.line),
            });
        }
    }
    faults.or(())?;
    let columns = places.iter().map(|place| entries[*place].column).collect();
    let values = places.iter().map(|place| entries[*place].value).collect();
    Ok(Sparse::new(starts, columns, values, dimension)?.with_name(name).with_first_column(FirstColumn::One))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rest: &str) -> Result<Sparse, Error> {
        rows_from(format!("%%MatrixMarket matrix coordinate real general\n{rest}").as_bytes(), "m.mtx")
    }

    fn message(rest: &str) -> String {
        read(rest).unwrap_err().to_string()
    }

    #[test]
    fn entries_come_in_any_order_and_rows_may_be_empty() {
        let rows = read("% by column\n%\n\n4 3 5\n1 1 1\n4 1 -2.5e0\n1 2 0\n4 3 7\n\n1 3 3\n").unwrap();
        assert_eq!((rows.len(), rows.dimension(), rows.nonzeros()), (4, 3, 4));
        assert_eq!(rows.row(0), (&[0, 2][..], &[1.0, 3.0][..]));
        assert_eq!(rows.row(3), (&[0, 2][..], &[-2.5, 7.0][..]));
        assert!(rows.row(1).0.is_empty() && rows.row(2).0.is_empty());
        let text = "%%matrixmarket MATRIX coordinate Pattern general\n2 2 2\n1 2\n2 1\n";
        let rows = rows_from(text.as_bytes(), "m").unwrap();
        assert_eq!((rows.value(0, 1), rows.value(1, 0), rows.nonzeros()), (1.0, 1.0, 2));
    }

    #[test]
    fn every_wrong_line_is_a_fault_and_a_place_has_one_entry() {
        assert_eq!(
            message("2 2 5\n0 1 3\n1 3 3\n1 1\n1 1 x\n1 1 2 3\n"),
            "m.mtx, line 3: expected a row from 1 to 2, found \"0 1 3\"\n\
             m.mtx, line 4: expected a column from 1 to 2, found \"1 3 3\"\n\
             m.mtx, line 5: expected a row, a column and a finite number, found \"1 1\"\n\
             m.mtx, line 6: expected a row, a column and a finite number, found \"1 1 x\"\n\
             m.mtx, line 7: expected a row, a column and a finite number, found \"1 1 2 3\"\n\
             m.mtx: 5 faults in all"
        );
        let twice = message("2 2 3\n2 1 3\n1 1 1\n2 1 4\n");
        assert_eq!(twice, "m.mtx, line 5: expected one entry of row 2 and column 1, found another after line 3");
    }

    #[test]
    fn counts_that_are_not_kept_are_told() {
        assert_eq!(message("2 2 3\n1 1 1\n"), "m.mtx: expected 3 entries, found the end of the file after 1 of them");
        let more = message("2 2 1\n1 1 1\n2 2 1\n");
        assert_eq!(more, "m.mtx: expected 1 entries, as its line of sizes says, found another in line 4");
        assert!(message("2 2\n").contains("a line of sizes: rows, columns, entries, found \"2 2\" in line 2"));
        assert!(message("0 2 0\n").contains("1 to 4294967295 rows, found 0"));
        assert!(message("2 99999999 0\n").contains("1 to 16777216 columns, found 99999999"));
        assert!(message("").ends_with("with a line of sizes, found the end of the file"));
        let claimed = message("4000000000 2 1\n1 1 1\n");
        assert!(claimed.ends_with("found 4000000000 rows with 1 entries together"), "{claimed}");
    }

    #[test]
    fn other_kinds_of_matrices_are_refused_by_name() {
        let message =
            |head: &str| rows_from(format!("{head}\n1 1 1\n1 1 1\n").as_bytes(), "m.mtx").unwrap_err().to_string();
        assert!(message("%%MatrixMarket matrix array real general").ends_with("found array format"));
        assert!(message("%%MatrixMarket matrix coordinate complex general").ends_with("found complex ones"));
        assert!(message("%%MatrixMarket matrix coordinate real symmetric").ends_with("found a symmetric one"));
        assert!(message("%%MatrixMarket matrix coordinate real").contains("begins with"));
        assert!(message("1 2 3").contains("found \"1 2 3\""));
        assert!(rows_from(&b"PK\x03\x04"[..], "m.mtx").unwrap_err().to_string().contains("a ZIP archive"));
    }
}
