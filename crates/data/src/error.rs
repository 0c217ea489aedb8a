//! Faults in data, and how messages report them.
//!
//! The one idea: a reader does not stop at the first fault. It counts all faults and keeps the first [`Faults::KEPT`].
//! It reports each in one form, so that a person can correct a file in one go:
//!
//! ```text
//! points.csv, line 7, column 3 ("area"): expected a finite number, found "n/a"
//! ```
//!
//! In messages lines, columns and rows of files (NPY files too) are counted from 1, as editors and spreadsheets count.
//! Python's messages count rows and columns of arrays from 0, and say so ([`Faults::from_zero`]). Items, as the ids of
//! results number them, are counted from 0 everywhere; messages say so. A condition that stops a reader at once has its
//! own variant in [`Error`]: a missing file, a wrong encoding, a missing column. Exit codes are the command's business:
//! it asks [`Error::class`].

use std::fmt;
use std::io;

use crate::contents::Contents;

/// Everything that reading, checking and writing data can answer instead of a result.
///
/// The text of each variant is complete: it names the source, the place, the expected and the found value. An
/// [`io::Error`] that is kept (`cause`) is already in the text, so the chain of sources does not repeat it.
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
    /// Values, fields or rows that are wrong: the first ten and how many there are.
    #[error(transparent)]
    Faults(#[from] Faults),
    /// Nothing to read: an empty file, a header without rows, an array of no rows.
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
    /// A column was requested by a name that several columns have.
    #[error(
        "{name}: expected one column {wanted:?}, found it at the indices {}; ask for it by index",
        list(.indices.iter(), |index| index.to_string())
    )]
    AmbiguousColumn {
        /// The name of the data in messages.
        name: String,
        /// The requested name.
        wanted: String,
        /// Its position, counted from 0.
        indices: Vec<usize>,
    },
    /// One column was chosen more than once: it would count twice, and results could not distinguish the two.
    #[error("{name}: expected each column to be chosen once, found {column:?} twice")]
    RepeatedColumn {
        /// The name of the data in messages.
        name: String,
        /// The column, as the data call it.
        column: String,
    },
    /// Text in another encoding than UTF-8.
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
    /// A file that ends before it should: a compressed file or an array cut short.
    #[error("{name}: expected {expected}, found the end of the file after {read}")]
    CutShort {
        /// The name of the data in messages.
        name: String,
        /// The part that should have followed.
        expected: String,
        /// The position that reading reached.
        read: String,
    },
    /// A file that is not of a format (or of a variant of a format) that is read here.
    #[error("{name}: expected {expected}, found {found}")]
    Format {
        /// The name of the data in messages.
        name: String,
        /// The formats that can be read.
        expected: String,
        /// The format that was found.
        found: String,
    },
    /// A file that holds something else than the reader takes, which another one does.
    #[error("{name}: expected {expected}, found {found}")]
    Contents {
        /// The name of the data in messages.
        name: String,
        /// The formats that the reader takes.
        expected: &'static str,
        /// The format, as far as the first bytes show it.
        found: Contents,
    },
    /// Counts that do not fit each other, such as 3 weights for 4 points: a mistake of the calling program.
    #[error("{what}: expected {expected}, found {found}")]
    Shape {
        /// The part that has the wrong shape.
        what: String,
        /// The shape that it should have.
        expected: String,
        /// The shape that it has.
        found: String,
    },
    /// A file that does not exist or may not be opened.
    #[error("{path}: {}", reason("cannot be opened", .cause))]
    Open {
        /// The path as it was given.
        path: String,
        /// The operating system's error.
        cause: io::Error,
    },
    /// A folder where a file was expected.
    #[error("{path}: expected a file, found a directory")]
    Directory {
        /// The path as it was given.
        path: String,
    },
    /// Reading stopped for a reason outside of the data.
    #[error("{name}: {}", reason("cannot be read", .cause))]
    Read {
        /// The name of the data in messages.
        name: String,
        /// The operating system's error.
        cause: io::Error,
    },
    /// Memory does not take the rows.
    #[error("{name}: expected rows that fit in memory, found {} of numbers", lehr_spill::size(*.bytes))]
    Memory {
        /// The name of the data in messages.
        name: String,
        /// The number of bytes of numbers, as far as that is known.
        bytes: usize,
    },
    /// The folder for rows that memory should not hold does not take them. Nothing of it is left behind.
    #[error(transparent)]
    Spill(#[from] lehr_spill::Error),
    /// A file could not be written. Nothing of it is left behind.
    #[error("{path}: {}", reason("cannot be written", .cause))]
    Write {
        /// The path as it was given.
        path: String,
        /// The operating system's error.
        cause: io::Error,
    },
}

/// The party responsible for an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The data, or the request about them, must change.
    Data,
    /// The data are not to blame: a file is missing, not permitted, a disk is full.
    Environment,
}

impl Error {
    /// The party responsible for the error, for exit codes and status codes.
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

    /// The error for rows that are called `name`, with the reason why they could not be kept.
    pub(crate) fn kept(name: &str, error: lehr_spill::Error) -> Self {
        match error {
            lehr_spill::Error::Memory { bytes } => Error::Memory { name: name.into(), bytes },
            other => Error::Spill(other),
        }
    }

    /// The number of missing values where numbers were expected: with these alone, a reader of rows with gaps
    /// ([`read::incomplete`](crate::read::incomplete)) takes the same data.
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

    /// Whether the environment (a missing file, permissions, the disk), not the data, caused the error.
    pub fn is_environment(&self) -> bool {
        self.class() == Class::Environment
    }
}

/// The position of a [`Fault`] in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The source as a whole.
    Whole,
    /// A line of a text, counted from 1.
    Line(u64),
    /// A row of an array, counted from 0 (messages count it from 1).
    Row(u64),
}

/// A column as messages name it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Its place, counted from 0 (messages count it from 1).
    pub index: usize,
    /// Its name, if it has one.
    pub name: Option<String>,
}

/// One thing that is wrong, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The line or row.
    pub place: Place,
    /// The column, where the fault is in one.
    pub column: Option<Column>,
    /// The value that is expected.
    pub expected: String,
    /// The value that was found; text of the data is quoted (see [`quoted`]).
    pub found: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.written(f, 1)
    }
}

impl Fault {
    /// With rows and columns of arrays counted from `first`; lines are always counted from 1.
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

/// All faults of one source: the first ten in full, and how many there are.
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
    /// The number of faults that are kept in full.
    pub const KEPT: usize = 10;

    /// No faults yet, in the source that messages call `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Faults { name: name.into(), kept: Vec::new(), total: 0, gaps: 0 }
    }

    /// Counts a fault, and keeps it if it is among the first [`Faults::KEPT`].
    pub fn add(&mut self, fault: Fault) {
        self.add_with(|| fault);
    }

    /// Like [`add`](Faults::add), but the fault is formatted only if it is kept: a file of a million bad fields costs a
    /// count.
    pub fn add_with(&mut self, fault: impl FnOnce() -> Fault) {
        self.total += 1;
        if self.kept.len() < Self::KEPT {
            self.kept.push(fault());
        }
    }

    /// Like [`add_with`](Faults::add_with), for a missing value: callers with a reader for rows with gaps can say so.
    pub fn add_gap_with(&mut self, fault: impl FnOnce() -> Fault) {
        self.gaps += 1;
        self.add_with(fault);
    }

    /// The number of faults that are missing values where a number was expected.
    pub fn gaps(&self) -> u64 {
        self.gaps
    }

    /// The name of the source in messages.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The first [`Faults::KEPT`] faults, in the order they were found.
    pub fn kept(&self) -> &[Fault] {
        &self.kept
    }

    /// The number of faults in all.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Whether nothing was wrong.
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// `value` if nothing was wrong, the faults otherwise.
    pub fn or<T>(self, value: T) -> Result<T, Error> {
        if self.is_empty() { Ok(value) } else { Err(Error::Faults(self)) }
    }
}

/// The same faults for programs that count from 0: see [`Faults::from_zero`].
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
    /// The faults with rows and columns of arrays counted from 0, as programs do that index them; the message says so.
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

/// Text of the data as messages show it: in quotes, control characters escaped, at most 40 characters.
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

/// A number as messages show it: with an exponent if it would otherwise be a line of zeros.
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

/// The operating system's error, in plain words where it is a common one.
fn reason(what: &str, cause: &io::Error) -> String {
    match cause.kind() {
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

/// One line for each column: the requested name, the existing ones, and the most similar one.
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

/// The column name nearest to `wanted`, if any is near: at most one edit in three characters, case aside. A swap of
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
        // Two edits of three letters are too many, one is not.
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
