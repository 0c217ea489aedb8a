//! Reading points from files: text tables (CSV, TSV and similar, plain or gzip), NPY arrays and, with the feature
//! `parquet`, Parquet files.
//!
//! Rows of bits are read from FPS files and packed arrays, sparse rows from SVMlight's text and Matrix Market files.
//!
//! Tables as people have them, with text, dates and missing values, are read as data frames ([`data_frame`]). Points
//! are taken from such a data frame if the table is not of plain numbers.
//!
//! The first bytes of a file decide its format; a name decides only that `.tsv` has tabs. A [`Selection`] says which
//! part to read; everything that it leaves open is detected from the data, as `read/csv.rs` describes. No value is
//! silently repaired. A field that is no number, a row that is too short and a weight below 0 are all reported at once
//! ([`crate::error`]).

pub mod batches;
pub mod classes;
mod contents;
pub mod csv;
mod decode;
mod dialect;
pub mod dissimilarities;
pub mod fasta;
mod form;
pub mod fps;
mod frame;
mod grid;
mod half;
mod header;
mod intake;
mod json;
mod layout;
pub mod matrix_market;
mod measures;
mod npy;
pub mod packed;
#[cfg(feature = "parquet")]
pub mod parquet;
pub(crate) mod records;
mod rounded;
#[cfg(feature = "sheets")]
mod sheet;
mod slip;
pub(crate) mod source;
pub mod svmlight;
mod unpack;
mod written;

use std::io::Read;
use std::path::Path;
use std::rc::Rc;

use lehr_spill::Spill;

pub use batches::Batches;

pub use crate::contents::Contents;
use crate::error::Error;
use crate::fingerprints::Fingerprints;
use crate::incomplete::Incomplete;
use crate::points::Points;
use crate::sparse::{FirstColumn, Sparse};
pub(crate) use csv::is_infinite;
pub use dialect::{Dialect, Format};
pub use form::{DateOrder, Encoding, Ragged, TableForm};
pub use frame::{InputColumn, data_frame, data_frame_from, data_frame_of};
pub use half::half;
use measures::{Again, Handle, Stream};
pub use slip::slip;
use source::Source;
pub use unpack::Unpacked;
pub use written::gap;
pub(crate) use written::is_value;

/// Options for reading a file. The default: all numeric columns, no weights, no ids, delimiter and header found out.
///
/// A column is given by its name or by its 0-based index as text; a name takes precedence over an index of the same
/// text.
///
/// # Example
/// ```
/// use lehr_data::read::{csv_points, Selection};
/// let table = "site;lon;lat;count\nA;8.5;47.4;3\nB;6.1;46.2;0\n";
/// let selection = Selection {
///     columns: Some(vec!["lon".into(), "2".into()]),
///     weights: Some("count".into()),
///     id: Some("site".into()),
///     ..Selection::default()
/// };
/// let points = csv_points(table.as_bytes(), "sites.csv", &selection)?;
/// assert_eq!(points.columns(), ["lon", "lat"]);
/// assert_eq!(points.values(), [8.5, 47.4, 6.1, 46.2]);
/// assert_eq!(points.weights(), Some(&[3.0, 0.0][..]));
/// assert_eq!(points.ids().unwrap(), ["A", "B"]);
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// The columns that make up the points, in this order; `None`: all numeric ones except weights and id.
    pub columns: Option<Vec<String>>,
    /// The column of weights; `None`: no weights.
    pub weights: Option<String>,
    /// The column of ids; `None`: no ids.
    pub id: Option<String>,
    /// The byte between fields; a space means any run of spaces and tabs; `None`: detected among `, ; tab | space`.
    pub delimiter: Option<u8>,
    /// Whether the first row has names; `None`: found out.
    pub header: Option<bool>,
    /// Further facts about how a table of text is written; `delimiter` and `header` above take precedence.
    pub form: TableForm,
}

/// Points from a file: NPY if it starts as one or is called `.npy`, otherwise a table of text; either may be packed by
/// gzip. Or Parquet, if it starts as one or is called `.parquet`.
///
/// NPY arrays have one or two dimensions (one: a single column), in either order of rows and columns. Elements are
/// `f2`, `f4`, `f8`, `i1` to `i8`, `u1` to `u8` or `b1` (truth values: 1 and 0), in either byte order. Integers beyond
/// 2⁵³ are rounded, and a note says so. Their columns are called `x0`, `x1`, …; `delimiter` and `header` do not apply to them.
///
/// Parquet is read with the feature `parquet`. Columns may be numbers (floating point in 16 bits too), whole numbers
/// (rounded likewise) and truth values (1 and 0). Ids are those or text. Pages are plain or packed by snappy, gzip or
/// zstd. Without chosen columns, the reader leaves out columns of other kinds and pandas' index columns, and reports
/// them ([`Points::left_out`]). `delimiter` and `header` do not apply.
///
/// Cost: one pass; memory for the result and a 64 KiB buffer (for Parquet, one page of each column).
///
/// # Errors
/// - [`Error::Open`], [`Error::Directory`], [`Error::Read`]: the file could not be read at all.
/// - [`Error::Empty`], [`Error::Format`], [`Error::Encoding`], [`Error::CutShort`]: it is not a whole file of a known
///   format.
/// - [`Error::Contents`]: it holds something that other readers take.
/// - [`Error::NoSuchColumns`], [`Error::AmbiguousColumn`], [`Error::RepeatedColumn`]: the selection does not fit.
/// - [`Error::Faults`]: fields, rows or weights that are wrong, the first ten and their number.
pub fn points(path: &Path, selection: &Selection) -> Result<Points, Error> {
    any_points(rows_of(path)?, &again(path), selection, None)
}

/// A file of rows, which an array is not if a header beside it says that its numbers are dissimilarities.
fn rows_of(path: &Path) -> Result<Source<'static>, Error> {
    let source = Source::open(path)?;
    if contents::is_described(path) {
        return Err(no_rows(&source, Contents::Dissimilarities));
    }
    Ok(source)
}

/// The first bytes of a Parquet file.
const PARQUET: &[u8] = b"PAR1";

/// The formats that rows of numbers are read from.
const ROWS: &str = "a table of text, an NPY or a Parquet file";

fn no_rows(source: &Source<'_>, found: Contents) -> Error {
    Error::Contents { name: source.name().into(), expected: ROWS, found }
}

/// Rows and columns of an NPY array that is not packed, from its header if the file is as long as that says. Rows and
/// columns of numbers of a Parquet file. With these, you can refuse a table before reading it, for example because it
/// is too large. `None` of all else, and of files that do not exist.
///
/// # Errors
/// The same as for [`points`], of opening the file and reading the header.
///
/// # Example
/// ```
/// use lehr_data::{read, write};
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("a.npy");
/// let mut file = write::AtomicFile::create(&path)?;
/// write::npy::array(&mut file, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3).unwrap();
/// file.commit()?;
/// assert_eq!(read::array_shape(&path)?, Some([2, 3]));
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn array_shape(path: &Path) -> Result<Option<[usize; 2]>, Error> {
    // What is read from a pipe is gone.
    if !std::fs::metadata(path).is_ok_and(|about| about.is_file()) {
        return Ok(None);
    }
    let mut source = Source::open(path)?;
    #[cfg(feature = "parquet")]
    if parquet::is_parquet(&mut source) {
        return parquet::shape(&source);
    }
    npy::shape(&mut source)
}

/// The kinds of data that can be clustered.
#[derive(Debug, Clone, PartialEq)]
pub enum Table {
    /// Rows of numbers.
    Numbers(Points),
    /// Rows of bits.
    Bits(Fingerprints),
    /// Sparse rows.
    Sparse(Sparse),
}

/// A table as [`points`] reads it, or fingerprints, or sparse rows. It is fingerprints if the file begins as FPS or is
/// called `.fps`. It is sparse rows if the file begins as a Matrix Market file or as SVMlight's text, or is called
/// `.mtx`, `.svm`, `.svmlight` or `.libsvm`. The selection applies to tables only, `first_column` to SVMlight's text
/// only ([`svmlight::rows`]).
///
/// A file begins as SVMlight's text if each of its first three rows is a label followed only by `column:value` with
/// ascending columns. At least one of the rows must have two columns or a `qid`. A table may look like this too (`5
/// 9:30 12:30`). If the selection names a delimiter, columns or a header, and `first_column` is `None`, the file is a
/// table unless its name says otherwise.
///
/// # Errors
/// The same as for [`points`], [`fps::fingerprints`], [`svmlight::rows`] and [`matrix_market::rows`].
pub fn table(path: &Path, selection: &Selection, first_column: Option<FirstColumn>) -> Result<Table, Error> {
    table_of(rows_of(path)?, &again(path), selection, first_column, None)
}

/// Like [`table`], with the values of a table of numbers in a file of a folder. Use it for tables larger than memory:
/// it holds only some rows, the weights and the ids. The points are the same to the bit as those in memory, and so is
/// the result that methods make of them. Rows of bits and sparse rows stay in memory: they are a small part of the same
/// numbers.
///
/// Cost: one pass; disk for 8 bytes a value.
///
/// # Errors
/// The same as for [`table`]; [`Error::Spill`] if the folder does not take the values.
///
/// # Example
/// ```
/// use lehr_data::{Spill, read::{Selection, Table, spilled_table, table}};
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// let path = folder.join("t.csv");
/// std::fs::write(&path, "x,y\n1,2\n3,4\n").unwrap();
/// let Table::Numbers(points) = spilled_table(&path, &Selection::default(), None, &Spill::new(folder))? else { panic!() };
/// assert_eq!(points.row(1), [3.0, 4.0]);
/// assert_eq!(Table::Numbers(points), table(&path, &Selection::default(), None)?);
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn spilled_table(
    path: &Path,
    selection: &Selection,
    first_column: Option<FirstColumn>,
    spill: &Spill,
) -> Result<Table, Error> {
    table_of(rows_of(path)?, &again(path), selection, first_column, Some(spill))
}

/// Like [`points`], with the values in a file of a folder, as [`spilled_table`] keeps them.
///
/// # Errors
/// The same as for [`points`]; [`Error::Spill`] if the folder does not take the values.
///
/// # Example
/// ```
/// use lehr_data::{Spill, read::{Selection, points, spilled_points}};
/// # let folder = tempfile::tempdir().unwrap();
/// # let folder = folder.path();
/// let path = folder.join("t.csv");
/// std::fs::write(&path, "x,y\n1,2\n3,4\n").unwrap();
/// let spilled = spilled_points(&path, &Selection::default(), &Spill::new(folder))?;
/// assert!(spilled.spill().is_some());
/// assert_eq!(spilled, points(&path, &Selection::default())?);
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn spilled_points(path: &Path, selection: &Selection, spill: &Spill) -> Result<Points, Error> {
    any_points(rows_of(path)?, &again(path), selection, Some(spill))
}

/// Like [`table`], from a reader; messages call it `name`.
///
/// # Errors
/// The same as for [`table`], except for those of opening a file.
///
/// # Example
/// ```
/// use lehr_data::read::{Selection, Table, table_from};
/// let read = |text: &str| table_from(text.as_bytes(), "t", &Selection::default(), None);
/// assert!(matches!(read("#FPS1\n0f\tone\n")?, Table::Bits(rows) if rows.bits() == 8));
/// assert!(matches!(read("x,y\n1,2\n")?, Table::Numbers(points) if points.dimension() == 2));
/// assert!(matches!(read("+1 4:0.5 9:1\n")?, Table::Sparse(rows) if rows.dimension() == 9));
/// // What takes numbers alone says why it does not take these.
/// let message = lehr_data::read::points_from("#FPS1\n0f\tone\n".as_bytes(), "t", &Selection::default()).unwrap_err().to_string();
/// assert_eq!(message, "t: expected a table of text, an NPY or a Parquet file, found fingerprints in FPS, which are rows of bits");
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn table_from(
    reader: impl Read,
    name: &str,
    selection: &Selection,
    first_column: Option<FirstColumn>,
) -> Result<Table, Error> {
    let stream = Stream::new(reader);
    table_of(Source::new(Handle(Rc::clone(&stream)), name)?, &|| stream.whole(name), selection, first_column, None)
}

/// Opens a file once more; nothing where the source is gone.
fn again(path: &Path) -> impl Fn() -> Option<Result<Source<'static>, Error>> {
    move || std::fs::metadata(path).is_ok_and(|about| about.is_file()).then(|| Source::open(path))
}

fn table_of<'a>(
    mut source: Source<'a>,
    again: Again<'_, 'a>,
    selection: &Selection,
    first_column: Option<FirstColumn>,
    spill: Option<&Spill>,
) -> Result<Table, Error> {
    Ok(if fps::is_fps(&mut source)? {
        Table::Bits(fps::read(source)?)
    } else if matrix_market::is_matrix_market(&mut source)? {
        Table::Sparse(matrix_market::read(source)?)
    } else if is_svmlight(&mut source, selection, first_column) {
        Table::Sparse(svmlight::read(source, first_column)?)
    } else {
        Table::Numbers(any_points(source, again, selection, spill)?)
    })
}

/// Whether a source is SVMlight's text: by its name, or by its first rows unless everything known about it is of a
/// table.
fn is_svmlight(source: &mut Source<'_>, selection: &Selection, first_column: Option<FirstColumn>) -> bool {
    let Selection { columns, delimiter, header, .. } = selection;
    let is_table = first_column.is_none() && (columns.is_some() || delimiter.is_some() || header.is_some());
    svmlight::is_called_svmlight(source) || (!is_table && svmlight::begins_as_svmlight(source))
}

/// Points from a table of text, plain or packed by gzip; messages call it `name`.
///
/// # Errors
/// The same as for [`points`], except for those of opening a file.
pub fn csv_points(reader: impl Read, name: &str, selection: &Selection) -> Result<Points, Error> {
    check(name, selection)?;
    let stream = Stream::new(reader);
    measures::points(Source::new(Handle(Rc::clone(&stream)), name)?, &|| stream.whole(name), selection, None)
}

/// Points from a reader of unknown contents: NPY or a table of text, plain or packed by gzip; messages call it `name`.
///
/// # Errors
/// The same as for [`points`], except for those of opening a file.
pub fn points_from(reader: impl Read, name: &str, selection: &Selection) -> Result<Points, Error> {
    let stream = Stream::new(reader);
    any_points(Source::new(Handle(Rc::clone(&stream)), name)?, &|| stream.whole(name), selection, None)
}

/// Rows that may have missing values, from a file as [`points`] reads it. A field that marks a missing value (empty,
/// `NA`, `?`, …; NaN in an NPY array) is missing.
///
/// Columns and ids are chosen as there. Weights are not read: their column is left out.
///
/// # Errors
/// The same as for [`points`]; text and infinities are faults here too.
pub fn incomplete(path: &Path, selection: &Selection) -> Result<Incomplete, Error> {
    any_incomplete(rows_of(path)?, &again(path), selection)
}

/// Like [`incomplete`], from a reader; messages call it `name`.
///
/// # Errors
/// The same as for [`incomplete`], except for those of opening a file.
///
/// # Example
/// ```
/// use lehr_data::read::{Selection, incomplete_from};
/// let records = incomplete_from("age,weight\n41,\n,70.5\n".as_bytes(), "r.csv", &Selection::default())?;
/// assert_eq!((records.missing(), records.row(1)[1]), (2, 70.5));
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn incomplete_from(reader: impl Read, name: &str, selection: &Selection) -> Result<Incomplete, Error> {
    let stream = Stream::new(reader);
    any_incomplete(Source::new(Handle(Rc::clone(&stream)), name)?, &|| stream.whole(name), selection)
}

/// A reader that unpacks gzip and passes all else on; use it if you only want to look.
///
/// # Errors
/// The errors of reading the first two bytes.
pub fn unpacked<'a>(reader: impl Read + 'a) -> std::io::Result<Box<dyn Read + 'a>> {
    Ok(Box::new(Unpacked::new(reader, u64::MAX)?))
}

/// Faults of a selection that show before any data are read.
fn check(name: &str, selection: &Selection) -> Result<(), Error> {
    if selection.columns.as_ref().is_some_and(Vec::is_empty) {
        return Err(Error::Shape {
            what: name.into(),
            expected: "a choice of at least one column".into(),
            found: "none".into(),
        });
    }
    Ok(())
}

fn any_points<'a>(
    mut source: Source<'a>,
    again: Again<'_, 'a>,
    selection: &Selection,
    spill: Option<&Spill>,
) -> Result<Points, Error> {
    match form_of(&mut source, selection)? {
        Form::Text => measures::points(source, again, selection, spill),
        Form::Array => npy::points(source, selection, spill),
        #[cfg(feature = "parquet")]
        Form::Columns => parquet::points(&source, selection, spill),
        _ => measures::points_of_typed(again, selection, spill),
    }
}

fn any_incomplete<'a>(
    mut source: Source<'a>,
    again: Again<'_, 'a>,
    selection: &Selection,
) -> Result<Incomplete, Error> {
    match form_of(&mut source, selection)? {
        Form::Text => measures::incomplete(source, again, selection),
        Form::Array => npy::incomplete(source, selection),
        #[cfg(feature = "parquet")]
        Form::Columns => parquet::incomplete(&source, selection),
        _ => measures::incomplete_of_typed(again, selection),
    }
}

/// The form of the rows of a source.
enum Form {
    /// A table of text.
    Text,
    /// NPY.
    Array,
    /// Parquet.
    #[cfg(feature = "parquet")]
    Columns,
    /// Objects in JSON.
    Objects,
    /// Cells of a workbook.
    #[cfg(feature = "sheets")]
    Cells(Format),
}

/// The format to read the contents as. It is seen from the first bytes, or promised by the name, so that "not an NPY
/// file" is the helpful message. Other formats and impossible selections are refused here.
fn form_of(source: &mut Source<'_>, selection: &Selection) -> Result<Form, Error> {
    check(source.name(), selection)?;
    #[cfg(feature = "parquet")]
    if parquet::is_parquet(source) {
        return Ok(Form::Columns);
    }
    #[cfg(feature = "sheets")]
    if let Some(format) = sheet::kind(source) {
        return Ok(Form::Cells(format));
    }
    if let Some(contents) = contents::other_than_rows(source)? {
        let name = source.name().to_owned();
        if contents == Contents::Json && json::begins_as_rows(source.peek(contents::LOOKED_AT), &name) {
            return Ok(Form::Objects);
        }
        return Err(no_rows(source, contents));
    }
    if is_svmlight(source, selection, None) {
        return Err(no_rows(source, Contents::SvmLight));
    }
    let head = source.fill(16, Some(0))?;
    if let Some(what) = source::foreign_format(head) {
        let expected = if head.starts_with(PARQUET) { "the feature `parquet` of this reader" } else { ROWS };
        return Err(Error::Format { name: source.name().into(), expected: expected.into(), found: what.into() });
    }
    let is_array =
        head.starts_with(npy::MAGIC) || source.name().to_lowercase().trim_end_matches(".gz").ends_with(".npy");
    Ok(if is_array { Form::Array } else { Form::Text })
}

/// The columns that a selection names, by index.
struct SelectedColumns {
    /// The chosen columns of the points; `None` if the user chose none.
    columns: Option<Vec<usize>>,
    weights: Option<usize>,
    id: Option<usize>,
}

impl SelectedColumns {
    /// Finds them among the existing columns.
    ///
    /// # Errors
    /// Returns [`Error::NoSuchColumns`] with each that does not exist, once; [`Error::AmbiguousColumn`],
    /// [`Error::RepeatedColumn`].
    fn of(source: &str, selection: &Selection, names: &[String]) -> Result<Self, Error> {
        let (mut found, mut missing) = (Vec::new(), Vec::new());
        for wanted in selection.columns.iter().flatten().chain(&selection.weights).chain(&selection.id) {
            match find_column(source, wanted, names)? {
                Some(index) => found.push(index),
                None if missing.contains(wanted) => {}
                None => missing.push(wanted.clone()),
            }
        }
        if !missing.is_empty() {
            return Err(Error::NoSuchColumns { name: source.into(), wanted: missing, columns: names.to_vec() });
        }
        let id = selection.id.as_ref().and_then(|_| found.pop());
        let weights = selection.weights.as_ref().and_then(|_| found.pop());
        let columns = selection.columns.is_some().then_some(found);
        check_once(source, columns.as_deref().unwrap_or_default(), names)?;
        Ok(SelectedColumns { columns, weights, id })
    }
}

/// Checks that no column is chosen twice, be it once by its name and once by its index.
fn check_once(source: &str, chosen: &[usize], names: &[String]) -> Result<(), Error> {
    match (1..chosen.len()).find(|at| chosen[..*at].contains(&chosen[*at])) {
        Some(at) => Err(Error::RepeatedColumn { name: source.into(), column: names[chosen[at]].clone() }),
        None => Ok(()),
    }
}

/// The index of the column called `wanted`, or of that index; `None` if it does not exist.
pub(crate) fn find_column(source: &str, wanted: &str, names: &[String]) -> Result<Option<usize>, Error> {
    let wanted = wanted.trim();
    let indices: Vec<usize> = (0..names.len()).filter(|index| names[*index] == wanted).collect();
    match indices[..] {
        [] => Ok(wanted.parse().ok().filter(|index| *index < names.len())),
        [index] => Ok(Some(index)),
        _ => Err(Error::AmbiguousColumn { name: source.into(), wanted: wanted.into(), indices }),
    }
}
