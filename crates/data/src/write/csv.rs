//! Writes text tables: a header, then rows of text and numbers.
//!
//! Fields are quoted only if necessary. Numbers have the shortest form that reads back bit-identically.

use std::io::{self, Write};
use std::path::Path;

use crate::error::Error;
use crate::points::Points;
use crate::write::AtomicFile;

/// A table that is written field by field, row by row.
///
/// # Example
/// ```
/// use lehr_data::write::csv::Table;
/// let mut text = Vec::new();
/// let mut table = Table::new(&mut text, &["id", "cluster", "probability"])?;
/// table.text("block, \"7\"")?;
/// table.count(3)?;
/// table.number(0.25)?;
/// table.end_row()?;
/// assert_eq!(text, b"id,cluster,probability\n\"block, \"\"7\"\"\",3,0.25\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct Table<W> {
    out: W,
    width: usize,
    /// The number of fields written in the current row.
    fields: usize,
}

impl<W: Write> Table<W> {
    /// Creates a table with these columns and writes the header. `out` should be buffered.
    pub fn new<S: AsRef<str>>(out: W, columns: &[S]) -> io::Result<Self> {
        let mut table = Table { out, width: columns.len(), fields: 0 };
        for column in columns {
            table.text(column.as_ref())?;
        }
        table.end_row()?;
        Ok(table)
    }

    /// Creates a table with this many columns whose header is written elsewhere. `out` should be buffered.
    ///
    /// # Example
    /// ```
    /// use lehr_data::write::csv::Table;
    /// let mut text = Vec::new();
    /// let mut rows = Table::rows(&mut text, 2);
    /// rows.count(7)?;
    /// rows.number(0.5)?;
    /// rows.end_row()?;
    /// assert_eq!(text, b"7,0.5\n");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn rows(out: W, width: usize) -> Self {
        Table { out, width, fields: 0 }
    }

    /// Writes a text field, in quotes if it has a delimiter, a quote, a line end, or spaces around it.
    pub fn text(&mut self, text: &str) -> io::Result<()> {
        self.next()?;
        // In a table of one column, an empty field is written as quotes, because an empty line would not be read as a
        // row.
        let is_plain =
            !text.contains([',', '"', '\n', '\r']) && text.trim() == text && (!text.is_empty() || self.width > 1);
        if is_plain {
            return self.out.write_all(text.as_bytes());
        }
        write!(self.out, "\"{}\"", text.replace('"', "\"\""))
    }

    /// Writes a number as a field, in the shortest form that reads back as the same number: `0.1`, `7`, `1e300`.
    pub fn number(&mut self, number: f64) -> io::Result<()> {
        self.next()?;
        write_number(&mut self.out, number)
    }

    /// Writes a signed integer as a field.
    pub fn integer(&mut self, number: i64) -> io::Result<()> {
        self.next()?;
        write!(self.out, "{number}")
    }

    /// Writes a non-negative integer as a field.
    pub fn count(&mut self, count: u64) -> io::Result<()> {
        self.next()?;
        write!(self.out, "{count}")
    }

    /// Ends the row.
    ///
    /// # Panics
    /// Panics if the number of fields in the row differs from the number of columns.
    pub fn end_row(&mut self) -> io::Result<()> {
        assert_eq!(self.fields, self.width, "fields in a row of a table");
        self.fields = 0;
        self.out.write_all(b"\n")
    }

    fn next(&mut self) -> io::Result<()> {
        self.fields += 1;
        if self.fields > 1 { self.out.write_all(b",") } else { Ok(()) }
    }
}

/// Writes points as a CSV file with a header: `id` if there are ids, the columns, and `weight` if there are weights.
///
/// Cost: about 100 ns per value.
///
/// # Errors
/// Returns [`Error::Write`] or [`Error::Directory`]; then no file is left behind.
///
/// # Example
/// ```
/// use lehr_data::{read, write, Points};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("points.csv");
/// let points = Points::new(vec![0.1, 7.0], 1)?.with_weights(vec![1.0, 2.5])?;
/// write::csv::points(&path, &points)?;
/// assert_eq!(std::fs::read_to_string(&path).unwrap(), "x0,weight\n0.1,1\n7,2.5\n");
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn points(path: &Path, points: &Points) -> Result<(), Error> {
    let mut file = AtomicFile::create(path)?;
    rows(&mut file, points).map_err(|cause| file.failed(cause))?;
    file.commit()
}

fn rows(out: impl Write, points: &Points) -> io::Result<()> {
    let id = points.ids().map(|_| "id");
    let weight = points.weights().map(|_| "weight");
    let columns: Vec<&str> = id.into_iter().chain(points.columns().iter().map(String::as_str)).chain(weight).collect();
    let mut table = Table::new(out, &columns)?;
    for row in 0..points.len() {
        if let Some(ids) = points.ids() {
            table.text(&ids[row])?;
        }
        for value in points.row(row) {
            table.number(*value)?;
        }
        if points.weights().is_some() {
            table.number(points.weight(row))?;
        }
        table.end_row()?;
    }
    Ok(())
}

/// Writes the standard library's shortest round-trip form, without the `.0` of whole numbers.
fn write_number(out: &mut impl Write, number: f64) -> io::Result<()> {
    if number == number.trunc() && number.abs() < 1e16 { write!(out, "{number}") } else { write!(out, "{number:?}") }
}
