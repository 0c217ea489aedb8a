//! The fields of a table as text, before their types are known.
//!
//! All values of a column decide its type, so all fields are kept until then, as one text with the end of each field.
//! This takes four bytes for each field in addition to its letters. Sheets and JSON documents have typed values; the
//! grid stores them in the notation of programming languages, with their types.

use std::collections::BTreeMap;

use super::records::Record;

/// The type of a value in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text whose type is not known.
    #[default]
    Text,
    /// A number.
    Number,
    /// True or false.
    Truth,
    /// A date, written as `2021-04-23` or `2021-04-23T10:15:00`; only in workbooks.
    #[cfg(feature = "sheets")]
    Time,
}

/// Rows of fields.
#[derive(Debug, Default)]
pub(super) struct Grid {
    text: String,
    /// The offset of each row's text.
    starts: Vec<usize>,
    /// The end of each field, counted from the start of its row.
    ends: Vec<u32>,
    /// The index of each row's first field.
    fields: Vec<usize>,
    /// For each row, its line or row in the file, counted from 1.
    lines: Vec<u64>,
    /// The type of each field, if the file has types.
    kinds: Vec<Kind>,
    /// The number of blank lines before a row, if there are any.
    blank: BTreeMap<usize, u64>,
}

impl Grid {
    pub(super) fn rows(&self) -> usize {
        self.lines.len()
    }

    /// Returns the number of fields of a row.
    pub(super) fn width(&self, row: usize) -> usize {
        self.fields.get(row + 1).copied().unwrap_or(self.ends.len()) - self.fields[row]
    }

    pub(super) fn line(&self, row: usize) -> u64 {
        self.lines[row]
    }

    /// Returns the text of a field; empty if the row has no such field.
    pub(super) fn field(&self, row: usize, column: usize) -> &str {
        let (first, start) = (self.fields[row], self.starts[row]);
        let last = self.fields.get(row + 1).copied().unwrap_or(self.ends.len());
        let place = first + column;
        if place >= last {
            return "";
        }
        let from = if column == 0 { 0 } else { self.ends[place - 1] as usize };
        &self.text[start + from..start + self.ends[place] as usize]
    }

    pub(super) fn fields(&self, row: usize) -> impl Iterator<Item = &str> {
        (0..self.width(row)).map(move |column| self.field(row, column))
    }

    pub(super) fn blank_lines_before(&self, row: usize) -> u64 {
        self.blank.get(&row).copied().unwrap_or_default()
    }

    /// Turns blank lines into rows: in a table of one column, they are rows without a value.
    pub(super) fn fill_blank_lines(&mut self) {
        if self.blank.is_empty() {
            return;
        }
        let mut filled = Self::default();
        for row in 0..self.rows() {
            let blank = if row == 0 { 0 } else { self.blank_lines_before(row) };
            for line in self.line(row) - blank..self.line(row) {
                filled.begin(line);
                filled.push("");
            }
            filled.begin(self.line(row));
            self.fields(row).for_each(|field| filled.push(field));
        }
        *self = filled;
    }

    pub(super) fn kind(&self, row: usize, column: usize) -> Kind {
        if self.kinds.is_empty() {
            return Kind::Text;
        }
        if column < self.width(row) { self.kinds[self.fields[row] + column] } else { Kind::Text }
    }

    /// Begins a row.
    pub(super) fn begin(&mut self, line: u64) {
        self.starts.push(self.text.len());
        self.fields.push(self.ends.len());
        self.lines.push(line);
    }

    /// Adds a field to the last row.
    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        let start = self.starts.last().copied().unwrap_or_default();
        self.ends.push((self.text.len() - start) as u32);
    }

    /// Like [`push`](Grid::push), with a type. Either all fields of a grid have a type, or none has.
    pub(super) fn push_typed(&mut self, text: &str, kind: Kind) {
        self.push(text);
        self.kinds.push(kind);
    }

    pub(super) fn add(&mut self, record: &Record) {
        if record.blank_lines_before > 0 {
            self.blank.insert(self.rows(), record.blank_lines_before);
        }
        self.begin(record.line);
        let (text, ends) = record.parts();
        self.text.push_str(text);
        self.ends.extend(ends.iter().map(|end| *end as u32));
    }
}
