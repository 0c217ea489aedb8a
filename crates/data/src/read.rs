//! Reads points from files: text tables (CSV, TSV and similar, plain or gzip), NPY arrays and, with the feature
//! `parquet`, Parquet files.
//!
//! Other modules read rows of bits from FPS files and packed arrays, and sparse rows from SVMlight text and Matrix
//! Market files.
//!
//! Ordinary tables, with text, dates and missing values, are read as data frames ([`data_frame`]). If a table is not
//! made of plain numbers, its points are taken from such a data frame.
//!
//! The first bytes of a file, or the ending of its name, decide its format. In a `.tsv` file, the default delimiter is a
//! tab. A [`Selection`] says which part to read; everything else is detected from the data, as `read/csv.rs` describes.
//! No value is silently repaired. Fields that are not numbers, rows that are too short, and negative weights are all
//! reported together ([`crate::error`]).

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
#[cfg(feature = "molecules")]
pub mod molecules;
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
use crate::fingerprints::{FingerprintKind, Fingerprints};
use crate::incomplete::Incomplete;
use crate::object::{self, is_lasting};
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

/// Options for reading a file. By default, the reader takes all numeric columns, no weights and no ids, and detects the
/// delimiter and the header.
///
/// A column is given by its name or by its 0-based index as text. A name takes precedence over an equal index.
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
    /// The columns of the points, in this order. `None`: all numeric ones except weights and id.
    pub columns: Option<Vec<String>>,
    /// The column of weights. `None`: no weights.
    pub weights: Option<String>,
    /// The column of ids. `None`: no ids.
    pub id: Option<String>,
    /// The byte between fields; a space means any run of spaces and tabs. `None`: detected among `, ; tab | space`.
    pub delimiter: Option<u8>,
    /// Whether the first row has names. `None`: detected.
    pub header: Option<bool>,
    /// The kind of fingerprints to make of molecules. `None`: [`FingerprintKind::Morgan`]. A kind is an error for other
    /// data, if the file may have bits.
    pub fingerprint: Option<FingerprintKind>,
    /// Further facts about the notation of a text table; `delimiter` and `header` above take precedence.
    pub form: TableForm,
}

/// Reads points from a file. A file is NPY or Parquet if it begins as one or is called `.npy` or `.parquet`. JSON
/// objects and, with the feature `sheets`, workbooks are read too. Any other file is a text table. NPY and text may be
/// compressed with gzip.
///
/// NPY arrays have one or two dimensions (one means a single column), in row-major or column-major order. Elements are
/// `f2`, `f4`, `f8`, `i1` to `i8`, `u1` to `u8` or `b1` (true is 1, false is 0), in either byte order. Integers beyond
/// 2⁵³ are rounded, and a note says so. The columns are called `x0`, `x1`, …; `delimiter` and `header` do not apply.
///
/// Parquet needs the feature `parquet`. Columns may be floating point (also 16-bit), whole numbers (rounded in the same
/// way) and truth values (1 and 0). Ids may also be text. Pages are uncompressed, or compressed with snappy, gzip or
/// zstd. If no columns are chosen, the reader leaves out other types and pandas' index columns, and reports them
/// ([`Points::left_out`]). `delimiter` and `header` do not apply.
///
/// Cost: one pass. Memory: the result and a 64 KiB buffer (for Parquet, one page of each column).
///
/// # Errors
/// - [`Error::Open`], [`Error::Directory`], [`Error::Read`]: the file cannot be read.
/// - [`Error::Empty`], [`Error::Format`], [`Error::Encoding`], [`Error::CutShort`]: it is not a complete file of a
///   known format.
/// - [`Error::Contents`]: it has contents for another reader.
/// - [`Error::NoSuchColumns`], [`Error::AmbiguousColumn`], [`Error::RepeatedColumn`]: the selection does not match the
///   columns.
/// - [`Error::Faults`]: invalid fields, rows or weights; the first ten in full, and the total number.
pub fn points(path: &Path, selection: &Selection) -> Result<Points, Error> {
    any_points(rows_of(path)?, &again(path), selection, None)
}

/// Opens a file of rows. Refuses an array whose header says that its numbers are dissimilarities.
fn rows_of(path: &Path) -> Result<Source<'static>, Error> {
    let source = Source::open(path)?;
    if contents::is_described(path)? {
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

/// Returns the numbers of rows and columns of an uncompressed NPY array, if the file is as long as its header says. For
/// a Parquet file, it counts the numeric columns. So a caller can refuse a table before reading it, for example because
/// it is too large. Returns `None` for other formats, and for files that do not exist.
///
/// # Errors
/// Returns the errors of [`points`] for opening the file and reading the header.
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
    // Bytes read from a pipe would be lost.
    if !is_lasting(path) {
        return Ok(None);
    }
    let mut source = Source::open(path)?;
    #[cfg(feature = "parquet")]
    if parquet::is_parquet(&mut source) {
        return parquet::shape(&source);
    }
    npy::shape(&mut source)
}

/// The kinds of tables that can be clustered.
#[derive(Debug, Clone, PartialEq)]
pub enum Table {
    /// Rows of numbers.
    Numbers(Points),
    /// Rows of bits.
    Bits(Fingerprints),
    /// Sparse rows.
    Sparse(Sparse),
}

/// Reads a table as [`points`] does, or fingerprints, or sparse rows. A file has fingerprints if it begins as FPS or is
/// called `.fps`. Lehr makes fingerprints of molecules, in SMILES (`.smi`) or in an SD file (`.sdf`). It has sparse
/// rows if it begins as Matrix Market or as SVMlight text, or is called `.mtx`, `.svm`, `.svmlight` or `.libsvm`. The
/// selection applies only to tables, but its `fingerprint` chooses the kind for molecules. `first_column` applies only
/// to SVMlight text ([`svmlight::rows`]).
///
/// A file begins as SVMlight text if each of its first three rows is a label followed only by `column:value` with
/// ascending columns. At least one of the rows must have two columns or a `qid`. A table may look the same
/// (`5 9:30 12:30`). If the selection names a delimiter, columns or a header, and `first_column` is `None`, the file is
/// a table unless its name says otherwise.
///
/// # Errors
/// Returns the errors of [`points`], [`fps::fingerprints`], `molecules::molecules`, [`svmlight::rows`] and
/// [`matrix_market::rows`].
pub fn table(path: &Path, selection: &Selection, first_column: Option<FirstColumn>) -> Result<Table, Error> {
    table_of(rows_of(path)?, &again(path), selection, first_column, None)
}

/// Like [`table`], with the values of a table of numbers in a file of a folder, for tables larger than memory. Only
/// some rows, the weights and the ids are in memory. The points are bit-identical to those in memory, and so are the
/// results of methods. Rows of bits and sparse rows stay in memory, because they are much smaller.
///
/// Cost: one pass; 8 bytes of disk space per value.
///
/// # Errors
/// Returns the errors of [`table`]; [`Error::Spill`] if the folder cannot store the values.
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

/// Like [`points`], with the values in a file of a folder, as with [`spilled_table`].
///
/// # Errors
/// Returns the errors of [`points`]; [`Error::Spill`] if the folder cannot store the values.
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
/// Returns the errors of [`table`], except for opening a file.
///
/// # Example
/// ```
/// use lehr_data::read::{Selection, Table, table_from};
/// let read = |text: &str| table_from(text.as_bytes(), "t", &Selection::default(), None);
/// assert!(matches!(read("#FPS1\n0f\tone\n")?, Table::Bits(rows) if rows.bits() == 8));
/// assert!(matches!(read("x,y\n1,2\n")?, Table::Numbers(points) if points.dimension() == 2));
/// assert!(matches!(read("+1 4:0.5 9:1\n")?, Table::Sparse(rows) if rows.dimension() == 9));
/// // A reader of numbers reports why it does not accept this file.
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

/// Returns a function that opens a file again, if it is a regular file or an object.
fn again(path: &Path) -> impl Fn() -> Option<Result<Source<'static>, Error>> {
    move || is_lasting(path).then(|| Source::open(path))
}

fn table_of<'a>(
    mut source: Source<'a>,
    again: Again<'_, 'a>,
    selection: &Selection,
    first_column: Option<FirstColumn>,
    spill: Option<&Spill>,
) -> Result<Table, Error> {
    #[cfg(feature = "molecules")]
    if let Some(notation) = molecules::Notation::of(&mut source) {
        let kind = selection.fingerprint.unwrap_or_default();
        return Ok(Table::Bits(molecules::read(source, notation, kind)?));
    }
    #[cfg(feature = "molecules")]
    if let Some(kind) = selection.fingerprint {
        return Err(molecules::no_molecules(source.name(), kind));
    }
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

/// Returns whether a source is SVMlight text: by its name, or by its first rows unless the selection shows that it is a
/// table.
fn is_svmlight(source: &mut Source<'_>, selection: &Selection, first_column: Option<FirstColumn>) -> bool {
    let Selection { columns, delimiter, header, .. } = selection;
    let is_table = first_column.is_none() && (columns.is_some() || delimiter.is_some() || header.is_some());
    svmlight::is_called_svmlight(source) || (!is_table && svmlight::begins_as_svmlight(source))
}

/// Reads points from a text table, plain or gzip; messages call it `name`.
///
/// # Errors
/// Returns the errors of [`points`], except for opening a file.
pub fn csv_points(reader: impl Read, name: &str, selection: &Selection) -> Result<Points, Error> {
    check(name, selection)?;
    let stream = Stream::new(reader);
    measures::points(Source::new(Handle(Rc::clone(&stream)), name)?, &|| stream.whole(name), selection, None)
}

/// Reads points from a reader whose contents are NPY or a text table, plain or gzip; messages call it `name`.
///
/// # Errors
/// Returns the errors of [`points`], except for opening a file.
pub fn points_from(reader: impl Read, name: &str, selection: &Selection) -> Result<Points, Error> {
    let stream = Stream::new(reader);
    any_points(Source::new(Handle(Rc::clone(&stream)), name)?, &|| stream.whole(name), selection, None)
}

/// Reads rows that may have missing values, from a file as [`points`] does. A field that marks a missing value (empty,
/// `NA`, `?`, …; NaN in an NPY array) is missing.
///
/// Columns and ids are chosen as in [`points`]. The column of weights is left out.
///
/// # Errors
/// Returns the errors of [`points`]; text and infinite values are faults here too.
pub fn incomplete(path: &Path, selection: &Selection) -> Result<Incomplete, Error> {
    any_incomplete(rows_of(path)?, &again(path), selection)
}

/// Like [`incomplete`], from a reader; messages call it `name`.
///
/// # Errors
/// Returns the errors of [`incomplete`], except for opening a file.
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

/// Returns a reader that decompresses gzip and passes other data through, for examining a file.
///
/// # Errors
/// Returns the errors of reading the first two bytes.
pub fn unpacked<'a>(reader: impl Read + 'a) -> std::io::Result<Box<dyn Read + 'a>> {
    Ok(Box::new(Unpacked::new(reader, u64::MAX)?))
}

/// Opens a file, or the object of a URL, for examining or copying it. Decompresses gzip.
///
/// # Errors
/// Returns [`Error::Open`], [`Error::Directory`] and [`Error::Read`].
///
/// # Example
/// ```
/// use lehr_data::read;
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join("a.csv");
/// std::fs::write(&path, "x,y\n1,2\n").unwrap();
/// assert_eq!(std::io::read_to_string(read::open(&path)?).unwrap(), "x,y\n1,2\n");
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn open(path: &Path) -> Result<Box<dyn Read>, Error> {
    unpacked(source::open(path)?).map_err(|cause| Error::Read { name: object::shown(path), cause })
}

/// Reports faults of a selection that are visible without data.
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

/// The format of a source of rows.
enum Form {
    /// A text table.
    Text,
    /// NPY.
    Array,
    /// Parquet.
    #[cfg(feature = "parquet")]
    Columns,
    /// JSON objects.
    Objects,
    /// The cells of a workbook.
    #[cfg(feature = "sheets")]
    Cells(Format),
}

/// Returns the format in which to read the contents. The first bytes or the name decide the format, so that a file
/// called `.npy` without NPY contents gets an error about NPY. Refuses other formats and impossible selections.
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

/// The indices of the columns in a selection.
struct SelectedColumns {
    /// The chosen columns of the points; `None` if you chose none.
    columns: Option<Vec<usize>>,
    weights: Option<usize>,
    id: Option<usize>,
}

impl SelectedColumns {
    /// Finds the selected columns among the existing ones.
    ///
    /// # Errors
    /// Returns [`Error::NoSuchColumns`] with each missing column once; [`Error::AmbiguousColumn`];
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

/// Checks that no column is chosen twice, whether by name or by index.
fn check_once(source: &str, chosen: &[usize], names: &[String]) -> Result<(), Error> {
    match (1..chosen.len()).find(|at| chosen[..*at].contains(&chosen[*at])) {
        Some(at) => Err(Error::RepeatedColumn { name: source.into(), column: names[chosen[at]].clone() }),
        None => Ok(()),
    }
}

/// Returns the index of the column with the name or index `wanted`; `None` if it does not exist.
pub(crate) fn find_column(source: &str, wanted: &str, names: &[String]) -> Result<Option<usize>, Error> {
    let wanted = wanted.trim();
    let indices: Vec<usize> = (0..names.len()).filter(|index| names[*index] == wanted).collect();
    match indices[..] {
        [] => Ok(wanted.parse().ok().filter(|index| *index < names.len())),
        [index] => Ok(Some(index)),
        _ => Err(Error::AmbiguousColumn { name: source.into(), wanted: wanted.into(), indices }),
    }
}
