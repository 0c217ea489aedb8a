//! Faults in data, and how messages report them.
//!
//! A reader does not stop at the first fault. It counts all faults, keeps the first [`Faults::KEPT`], and reports them
//! in one form, so that a user can correct a file in one go:
//!
//! ```text
//! points.csv, line 7, column 3 ("area"): expected a finite number, found "n/a"
//! ```
//!
//! Messages count the lines, columns and rows of files (including NPY files) from 1, as editors and spreadsheets do.
//! Messages of the Python package count rows and columns of arrays from 0, and say so ([`Faults::from_zero`]). Items
//! are counted from 0 everywhere, as in the ids of results; messages say so too. A condition that stops a reader at
//! once has its own variant in [`Error`]: a missing file, a wrong encoding, a missing column. The command derives its
//! exit code from [`Error::class`].

use std::fmt;
use std::io;

use crate::contents::Contents;

/// The errors of reading, checking and writing data.
///
/// The text of each variant is complete: it names the source, the position, and the expected and the found value. It
/// includes the text of a stored [`io::Error`] (`cause`), so the chain of sources does not repeat it.
///
/// # Example
/// ```
/// use lehr_data::{error::Class, read, Error};
/// let error = read::points("nowhere.csv".as_ref(), &read::Selection::default()).unwrap_err();
/// assert_eq!(error.to_string(), "nowhere.csv: no such file");
/// assert_eq!(error.class(), Class::Environment);
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Invalid values, fields or rows: the first ten in full, and the total number.
    #[error(transparent)]
    Faults(#[from] Faults),
    /// There is nothing to read: an empty file, a header without rows, or an array without rows.
    #[error("{name}: expected rows of numbers, found {found}")]
    Empty {
        /// The name of the data in messages.
        name: String,
        /// The contents that were found instead.
        found: &'static str,
    },
    /// Requested columns do not exist.
    #[error("{}", no_such_columns(.name, .wanted, .columns))]
    NoSuchColumns {
        /// The name of the data in messages.
        name: String,
        /// The requested columns that do not exist, by name or by 0-based index.
        wanted: Vec<String>,
        /// The columns that exist, in order.
        columns: Vec<String>,
    },
    /// Several columns have the requested name.
    #[error(
        "{name}: expected one column {wanted:?}, found it at the indices {}; ask for it by index",
        list(.indices.iter(), |index| index.to_string())
    )]
    AmbiguousColumn {
        /// The name of the data in messages.
        name: String,
        /// The requested name.
        wanted: String,
        /// The positions of these columns, counted from 0.
        indices: Vec<usize>,
    },
    /// A column was chosen more than once: it would count twice, and results could not distinguish the two.
    #[error("{name}: expected each column to be chosen once, found {column:?} twice")]
    RepeatedColumn {
        /// The name of the data in messages.
        name: String,
        /// The column's name in the data.
        column: String,
    },
    /// The text has another encoding than UTF-8.
    #[error("{name}, line {line}, byte {byte} of the text: expected UTF-8, found {found}")]
    Encoding {
        /// The name of the data in messages.
        name: String,
        /// The line, counted from 1.
        line: u64,
        /// The offset from the start of the (decompressed) text, counted from 0.
        byte: u64,
        /// The bytes found and their likely format.
        found: String,
    },
    /// The file ends too early: a compressed file or an array was cut short.
    #[error("{name}: expected {expected}, found the end of the file after {read}")]
    CutShort {
        /// The name of the data in messages.
        name: String,
        /// The part that should have followed.
        expected: String,
        /// The position that reading reached.
        read: String,
    },
    /// The format of the file, or a variant of it, is not supported.
    #[error("{name}: expected {expected}, found {found}")]
    Format {
        /// The name of the data in messages.
        name: String,
        /// The formats that can be read.
        expected: String,
        /// The format that was found.
        found: String,
    },
    /// The file has contents for another reader.
    #[error("{name}: expected {expected}, found {found}")]
    Contents {
        /// The name of the data in messages.
        name: String,
        /// The formats that this reader reads.
        expected: &'static str,
        /// The format, judging by the first bytes.
        found: Contents,
    },
    /// Counts do not match, such as 3 weights for 4 points: a mistake of the calling program.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// The part with the wrong shape.
        what: String,
        /// The expected shape.
        expected: String,
        /// The shape found.
        found: String,
    },
    /// The file does not exist or may not be opened.
    #[error("{path}: {}", reason("cannot be opened", .cause))]
    Open {
        /// The path as given.
        path: String,
        /// The operating system's error.
        cause: io::Error,
    },
    /// The path is a folder, not a file.
    #[error("{path}: expected a file, found a directory")]
    Directory {
        /// The path as given.
        path: String,
    },
    /// Reading stopped for a reason outside the data.
    #[error("{name}: {}", reason("cannot be read", .cause))]
    Read {
        /// The name of the data in messages.
        name: String,
        /// The operating system's error.
        cause: io::Error,
    },
    /// The rows do not fit in memory.
    #[error("{name}: expected rows that fit in memory, found {} of numbers", lehr_spill::size(*.bytes))]
    Memory {
        /// The name of the data in messages.
        name: String,
        /// The number of bytes of numbers, as far as known.
        bytes: usize,
    },
    /// The folder for rows outside memory cannot store them. The incomplete file is removed.
    #[error(transparent)]
    Spill(#[from] lehr_spill::Error),
    /// A file could not be written. The incomplete file is removed.
    #[error("{path}: {}", reason("cannot be written", .cause))]
    Write {
        /// The path as given.
        path: String,
        /// The operating system's error.
        cause: io::Error,
    },
}

/// Whether the data or the environment is responsible for an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The user must change the data or the request.
    Data,
    /// A file is missing, access is denied, or a disk is full; the data are not to blame.
    Environment,
}

impl Error {
    /// Returns whether the data or the environment is responsible for the error, for exit codes and status codes.
    pub fn class(&self) -> Class {
        match self {
            Error::Open { .. }
            | Error::Directory { .. }
            | Error::Read { .. }
            | Error::Memory { .. }
            | Error::Spill(_)
            | Error::Write { .. } => Class::Environment,
            _ => Class::Data,
        }
    }

    /// Returns the error for rows that could not be stored; messages call the rows `name`.
    pub(crate) fn kept(name: &str, error: lehr_spill::Error) -> Self {
        match error {
            lehr_spill::Error::Memory { bytes } => Error::Memory { name: name.into(), bytes },
            other => Error::Spill(other),
        }
    }

    /// Returns the number of faults that are missing values. If there are no other faults, a reader of rows with
    /// missing values ([`read::incomplete`](crate::read::incomplete)) can read the same data.
    ///
    /// # Example
    /// ```
    /// use lehr_data::read::{Selection, points_from};
    /// let error = points_from("x,y\n1,NA\n3,4x\n,5\n".as_bytes(), "t.csv", &Selection::default()).unwrap_err();
    /// assert_eq!(error.gaps(), 2);
    /// ```
    pub fn gaps(&self) -> u64 {
        if let Error::Faults(faults) = self { faults.gaps() } else { 0 }
    }

    /// Returns whether the environment (a missing file, permissions, the disk), not the data, caused the error.
    pub fn is_environment(&self) -> bool {
        self.class() == Class::Environment
    }
}

/// The position of a [`Fault`] in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The whole source.
    Whole,
    /// A line of text, counted from 1.
    Line(u64),
    /// A row of an array, counted from 0 (messages count it from 1).
    Row(u64),
}

/// A column, as messages name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The index of the column, counted from 0 (messages count it from 1).
    pub index: usize,
    /// The name of the column, if it has one.
    pub name: Option<String>,
}

/// A fault and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line or row.
    pub place: Place,
    /// The column, if the fault is in one.
    pub column: Option<Column>,
    /// The expected value.
    pub expected: String,
    /// The value found; text from the data is quoted (see [`quoted`]).
    pub found: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.written(f, 1)
    }
}

impl Fault {
    /// Writes the fault with rows and columns of arrays counted from `first`; lines are always counted from 1.
    fn written(&self, f: &mut fmt::Formatter<'_>, first: u64) -> fmt::Result {
        let mut of_columns = 1;
        match self.place {
            Place::Whole => {}
            Place::Line(line) => write!(f, ", line {line}")?,
            Place::Row(row) => {
                of_columns = first;
                write!(f, ", row {}", row + first)?;
            }
        }
        if let Some(column) = &self.column {
            write!(f, ", column {}", column.index as u64 + of_columns)?;
            if let Some(name) = &column.name {
                write!(f, " ({name:?})")?;
            }
        }
        write!(f, ": expected {}, found {}", self.expected, self.found)
    }
}

/// All faults of a source: the first ten in full, and the total number.
///
/// # Example
/// ```
/// use lehr_data::error::{Column, Fault, Faults, Place, quoted};
/// let mut faults = Faults::new("points.csv");
/// faults.add(Fault {
///     place: Place::Line(7),
///     column: Some(Column { index: 2, name: Some("area".into()) }),
///     expected: "a finite number".into(),
///     found: quoted("n/a"),
/// });
/// assert_eq!(faults.to_string(), r#"points.csv, line 7, column 3 ("area"): expected a finite number, found "n/a""#);
/// assert_eq!(faults.total(), 1);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    name: String,
    kept: Vec<Fault>,
    total: u64,
    gaps: u64,
}

impl std::error::Error for Faults {}

impl Faults {
    /// The number of faults kept in full.
    pub const KEPT: usize = 10;

    /// Creates an empty list for the source that messages call `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Faults { name: name.into(), kept: Vec::new(), total: 0, gaps: 0 }
    }

    /// Counts a fault, and keeps it if it is among the first [`Faults::KEPT`].
    pub fn add(&mut self, fault: Fault) {
        self.add_with(|| fault);
    }

    /// Like [`add`](Faults::add), but formats the fault only if it is kept, so that a million invalid fields cost
    /// little more than counting them.
    pub fn add_with(&mut self, fault: impl FnOnce() -> Fault) {
        self.total += 1;
        if self.kept.len() < Self::KEPT {
            self.kept.push(fault());
        }
    }

    /// Like [`add_with`](Faults::add_with), for a missing value, so that callers can suggest a reader that accepts
    /// missing values.
    pub fn add_gap_with(&mut self, fault: impl FnOnce() -> Fault) {
        self.gaps += 1;
        self.add_with(fault);
    }

    /// Returns the number of faults that are missing values where a number was expected.
    pub fn gaps(&self) -> u64 {
        self.gaps
    }

    /// Returns the name of the source in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the first [`Faults::KEPT`] faults, in the order of their discovery.
    pub fn kept(&self) -> &[Fault] {
        &self.kept
    }

    /// Returns the total number of faults.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns whether there are no faults.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// Returns `value` if there are no faults, and otherwise the faults.
    pub fn or<T>(self, value: T) -> Result<T, Error> {
        if self.is_empty() { Ok(value) } else { Err(Error::Faults(self)) }
    }
}

/// A view of faults for programs that count from 0: see [`Faults::from_zero`].
struct FromZero<'a>(&'a Faults);

impl fmt::Display for FromZero<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.written(f, 0)?;
        if self.0.kept.iter().any(|fault| matches!(fault.place, Place::Row(_))) {
            write!(f, " (rows and columns are counted from 0)")?;
        }
        Ok(())
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.written(f, 1)
    }
}

impl Faults {
    /// Displays the faults with rows and columns of arrays counted from 0, as in programs that index them; the message
    /// says so.
    ///
    /// # Example
    /// ```
    /// use lehr_data::error::{Column, Fault, Faults, Place};
    /// let mut faults = Faults::new("X");
    /// let column = Some(Column { index: 2, name: None });
    /// faults.add(Fault { place: Place::Row(0), column, expected: "0".into(), found: "7".into() });
    /// assert_eq!(faults.to_string(), "X, row 1, column 3: expected 0, found 7");
    /// assert_eq!(
    ///     faults.from_zero().to_string(),
    ///     "X, row 0, column 2: expected 0, found 7 (rows and columns are counted from 0)"
    /// );
    /// ```
    pub fn from_zero(&self) -> impl fmt::Display + '_ {
        FromZero(self)
    }

    fn written(&self, f: &mut fmt::Formatter<'_>, first: u64) -> fmt::Result {
        for (index, fault) in self.kept.iter().enumerate() {
            let line_end = if index == 0 { "" } else { "\n" };
            write!(f, "{line_end}{}", self.name)?;
            fault.written(f, first)?;
        }
        match self.total {
            0 => write!(f, "{}: no faults", self.name),
            1 => Ok(()),
            total if total > self.kept.len() as u64 => {
                write!(f, "\n{}: {total} faults in all; the first {} are shown", self.name, self.kept.len())
            }
            total => write!(f, "\n{}: {total} faults in all", self.name),
        }
    }
}

/// Quotes text from the data for messages: control characters are escaped, and at most 40 characters are shown.
///
/// # Example
/// ```
/// use lehr_data::error::quoted;
/// assert_eq!(quoted("n/a"), r#""n/a""#);
/// assert_eq!(quoted(""), "an empty field");
/// ```
pub fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    if text.is_empty() {
        return "an empty field".into();
    }
    match text.char_indices().nth(SHOWN) {
        None => format!("{text:?}"),
        Some((end, _)) => format!("{:?}…", &text[..end]),
    }
}

/// Formats a number for messages, with an exponent if it would otherwise be a long run of zeros.
///
/// # Example
/// ```
/// use lehr_data::error::number;
/// assert_eq!([1e-300, 0.5, 2.0, 1e300].map(number), ["1e-300", "0.5", "2", "1e300"]);
/// ```
pub fn number(value: f64) -> String {
    let is_plain = value == 0.0 || !value.is_finite() || (1e-6..1e16).contains(&value.abs());
    if is_plain { value.to_string() } else { format!("{value:e}") }
}

/// Describes an error of the operating system, in plain words if it is a common one.
fn reason(what: &str, cause: &io::Error) -> String {
    match cause.kind() {
        // A store says more than the system.
        _ if cause.get_ref().is_some() => format!("{what}: {cause}"),
        io::ErrorKind::NotFound if what == "cannot be opened" => "no such file".into(),
        io::ErrorKind::NotFound => format!("{what}: no such directory"),
        io::ErrorKind::PermissionDenied => format!("{what}: permission denied"),
        io::ErrorKind::StorageFull => format!("{what}: no space left on the disk"),
        io::ErrorKind::ReadOnlyFilesystem => format!("{what}: the disk is read-only"),
        _ => format!("{what}: {cause}"),
    }
}

fn list<T>(items: impl Iterator<Item = T>, text: impl Fn(T) -> String) -> String {
    items.map(text).collect::<Vec<_>>().join(", ")
}

/// Returns a line for each column that does not exist, with the existing columns and, for a name, the most similar one.
fn no_such_columns(name: &str, wanted: &[String], columns: &[String]) -> String {
    const LISTED: usize = 40;
    let mut there = list(columns.iter().take(LISTED), |column| format!("{column:?}"));
    if columns.len() > LISTED {
        there.push_str(&format!(" and {} more", columns.len() - LISTED));
    }
    let one = |wanted: &String| match wanted.parse::<usize>() {
        Ok(index) => format!(
            "{name}: expected a column of index {index} (counted from 0), found {} column{}: {there}",
            columns.len(),
            if columns.len() == 1 { "" } else { "s" }
        ),
        Err(_) => match nearest(wanted, columns) {
            Some(near) => {
                format!("{name}: expected a column {wanted:?}, found the columns {there}; did you mean {near:?}?")
            }
            None => format!("{name}: expected a column {wanted:?}, found the columns {there}"),
        },
    };
    wanted.iter().map(one).collect::<Vec<_>>().join("\n")
}

/// Returns the column name most similar to `wanted`, ignoring case: at most one edit per three characters. A swap of
/// neighbours is one edit.
fn nearest<'a>(wanted: &str, columns: &'a [String]) -> Option<&'a str> {
    let folded = wanted.to_lowercase();
    columns
        .iter()
        .map(|column| (strsim::osa_distance(&folded, &column.to_lowercase()), column.as_str()))
        .filter(|(edits, _)| *edits <= folded.chars().count().div_ceil(3))
        .min_by_key(|(edits, _)| *edits)
        .map(|(_, column)| column)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_far_name_is_not_suggested() {
        let columns = ["id".to_string(), "area".to_string()];
        assert_eq!(nearest("aera", &columns), Some("area"));
        assert_eq!(nearest("AREA", &columns), Some("area"));
        assert_eq!(nearest("population", &columns), None);
        // Two edits in three letters are too many; one is acceptable.
        assert_eq!(nearest("ix", &columns), Some("id"));
        assert_eq!(nearest("idol", &columns), Some("id"));
        assert_eq!(nearest("xyd", &columns), None);
    }

    #[test]
    fn faults_beyond_the_tenth_are_counted_and_not_built() {
        let mut faults = Faults::new("p");
        let mut built = 0;
        for line in 1..=12 {
            faults.add_with(|| {
                built += 1;
                Fault { place: Place::Line(line), column: None, expected: "2 fields".into(), found: "1".into() }
            });
        }
        assert_eq!((faults.total(), faults.kept().len(), built), (12, 10, 10));
        assert!(faults.to_string().ends_with("p: 12 faults in all; the first 10 are shown"));
    }

    #[test]
    fn long_text_is_shown_in_part() {
        assert_eq!(quoted(&"é".repeat(41)), format!("\"{}\"…", "é".repeat(40)));
    }
}
