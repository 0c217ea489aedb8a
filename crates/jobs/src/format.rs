//! The formats of data sets outside the service: formats of files that are read, and formats of rows that are written.
//!
//! `lehr-data` reads text and NPY and reports faults by line and column. This crate reads Arrow and Parquet and reports
//! faults by row and column. Any sequence of bytes gives either a table or one fault: if a reader panics, Lehr reports
//! the file as damaged.

pub(crate) mod arrow;
pub(crate) mod column;
mod json_rows;
mod parquet;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use lehr_data::describe::{ColumnAccount, describe_columns};
use lehr_data::duplicates::shared_ids;
use lehr_data::frame::{DataFrame, FrameColumn};
use lehr_data::read::dissimilarities::{array_path, header_from, matrix_from};
use lehr_data::read::fasta::{Expected, sequences_from};
use lehr_data::read::fps::fingerprints_from;
use lehr_data::read::molecules::{Compounds, Notation, compounds_from};
use lehr_data::read::svmlight::rows_from;
use lehr_data::read::{
    DateOrder, Encoding, InputColumn, Selection, TableForm, Unpacked, data_frame_from, data_frame_of, incomplete_from,
    points_from,
};
use lehr_data::write::csv::Table as Text;
use lehr_data::write::npy;
use lehr_data::{FingerprintKind, Fingerprints, LeftOut};
use lehr_methods::distances::MoleculeBits;
use lehr_services::{Code, Fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use self::column::Gaps;
pub use self::json_rows::JsonRows;
use crate::bytes::Bytes;
use crate::matrix::{SMILES, table_of};
use crate::table::{Columns, FINGERPRINT, Kind, SPARSE, Table};

/// The maximum size of the header of dissimilarities, in bytes.
pub(crate) const HEADER_BYTES: u64 = 1 << 20;

/// The first bytes of a Parquet file, of an Arrow file, and of an Arrow stream.
const PARQUET: &[u8] = b"PAR1";
const ARROW_FILE: &[u8] = b"ARROW1";
const ARROW_STREAM: &[u8] = &[0xff; 4];

/// The maximum size of the values in one piece of rows, in bytes.
const PIECE_BYTES: usize = 4 << 20;

/// The format of a file.
///
/// # Example
/// ```
/// assert_eq!(serde_json::to_string(&lehr_jobs::Form::Csv).unwrap(), "\"csv\"");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// CSV text, plain or gzip. Delimiter and header are detected unless given.
    Csv,
    /// Tab-separated text (TSV).
    Tsv,
    /// An ordinary table; all columns are kept. The table may have numbers as written (`1.818,99 €`), texts, dates and
    /// missing values. The file is delimited text (plain or gzip), a workbook (xlsx, xls, ods), JSON lines, an array of
    /// objects, Parquet or Arrow; Lehr detects which. Jobs prepare the table with `auto` and the related options.
    Table,
    /// A NumPy array of numbers in one or two dimensions; plain or gzip.
    Npy,
    /// Parquet with flat columns of numbers, whole numbers or text; uncompressed, or compressed with snappy, gzip or
    /// zstd.
    Parquet,
    /// An uncompressed Arrow IPC stream or file.
    Arrow,
    /// FASTA sequences of nucleotides or amino acids, plain or gzip: the columns `id` and `sequence`. Sequences with
    /// gaps are aligned.
    Fasta,
    /// FPS fingerprints of compounds, plain or gzip: the columns `id` and `fingerprint`, in hexadecimal as in the file.
    Fps,
    /// Molecules in SMILES with their names, plain or gzip: the columns `id`, `smiles` and `fingerprint`. Unless the
    /// setting `fingerprint` says otherwise, the fingerprints are circular (Morgan), with radius 2 and 2,048 bits.
    Smiles,
    /// Molecules of an SD file, plain or gzip: the same columns, and one for each field of data. A field that has the
    /// name of one of these columns gets the ending `_field`.
    Sdf,
    /// SVMlight text with sparse rows, plain or gzip: the column `sparse` has the fields `column:value` without the
    /// class.
    Svmlight,
    /// Dissimilarities of all pairs as `lehr distances` writes them: a JSON header, followed by the array that it
    /// names. For a file under the data root, the path names the header, and the array is in its own file. The result
    /// has one column with the pairs (0,1), (0,2), …, (1,2), …, in the precision of the array.
    Dissimilarities,
}

/// The parts of a file to read, and how to read them. Settings without a value are detected or have a default.
///
/// # Example
/// ```
/// let reading: lehr_jobs::Reading = serde_json::from_str(r#"{ "weights": "pop", "delimiter": ";" }"#).unwrap();
/// assert_eq!(reading.weights.as_deref(), Some("pop"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Reading {
    /// The columns to keep, in addition to weights and ids. Default: all columns; of CSV and TSV files, all numeric
    /// columns.
    pub columns: Option<Vec<String>>,
    /// The column of weights. Default: the column that an Arrow file names, or none.
    pub weights: Option<String>,
    /// The column of ids. Default: the column that an Arrow file names, or none.
    pub id: Option<String>,
    /// The separator of fields of a text file: one character, or `tab`. Default: detected.
    pub delimiter: Option<String>,
    /// Whether the first row of a text file has column names. Default: detected.
    pub header: Option<bool>,
    /// Whether numbers may be missing: empty fields of text files, NaN and nulls elsewhere. Not allowed together with
    /// `weights`. Default: no; a missing number is an error.
    pub gaps: bool,
    /// The kind of fingerprints to make of molecules. Default: `morgan`.
    pub fingerprint: Option<MoleculeBits>,
    /// The notation of an ordinary table, with the format `table`. Default: detected.
    pub dialect: Option<Dialect>,
}

/// The notation of an ordinary table. Each field overrides detection.
///
/// # Example
/// ```
/// let dialect: lehr_jobs::Dialect = serde_json::from_str(r#"{ "dates": "day_first", "as_text": ["zip"] }"#).unwrap();
/// assert_eq!(dialect.as_text, ["zip"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Dialect {
    /// The decimal separator of numbers.
    #[schemars(with = "Option<String>", extend("enum" = [".", ",", null]))]
    pub decimal: Option<char>,
    /// The order of the parts of dates such as 3/4/2021.
    #[schemars(with = "Option<String>", extend("enum" = ["day_first", "month_first", "year_first", null]))]
    pub dates: Option<DateOrder>,
    /// The character encoding.
    #[schemars(with = "Option<String>", extend("enum" = ["utf-8", "utf-16le", "utf-16be", "windows-1252", null]))]
    pub encoding: Option<Encoding>,
    /// The number of lines to skip above the header.
    pub skip_lines: Option<u32>,
    /// The sheet of a workbook: its name, or its number, counted from 1.
    pub sheet: Option<String>,
    /// Further spellings of a missing value, such as -999.
    pub na: Vec<String>,
    /// Columns to read as numbers, even if their values look like codes, dates or yes and no.
    pub as_number: Vec<String>,
    /// Columns to read as text: their numbers become categories.
    pub as_text: Vec<String>,
}

impl Dialect {
    fn form(self) -> TableForm {
        TableForm {
            decimal: self.decimal,
            dates: self.dates,
            encoding: self.encoding,
            skip: self.skip_lines.map(|lines| lines as usize),
            sheet: self.sheet,
            missing: self.na,
            number: self.as_number,
            text: self.as_text,
            ..TableForm::default()
        }
    }
}

impl Reading {
    /// Checks that the settings are valid for a format.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] if a setting does not suit the format.
    pub(crate) fn check(&self, form: Form) -> Result<(), Fault> {
        let invalid = |reason: &str| Err(Fault::new(Code::InvalidValue, reason));
        if self.columns.as_ref().is_some_and(Vec::is_empty) {
            return invalid("columns: expected at least one, found none");
        }
        if !matches!(form, Form::Csv | Form::Tsv | Form::Table) && (self.delimiter.is_some() || self.header.is_some()) {
            return invalid("delimiter and header: expected with csv, tsv and table only");
        }
        if let Some(dialect) = &self.dialect {
            if form != Form::Table {
                return invalid("dialect: expected with table only");
            }
            if dialect.decimal.is_some_and(|mark| !matches!(mark, '.' | ',')) {
                return invalid("dialect, decimal: expected \".\" or \",\"");
            }
        }
        if self.gaps && self.weights.is_some() {
            return invalid("gaps: expected without weights, which may not be missing");
        }
        let is_told = self.columns.is_some() || self.weights.is_some() || self.id.is_some() || self.gaps;
        if self.fingerprint.is_some() && !matches!(form, Form::Smiles | Form::Sdf) {
            return invalid("fingerprint: expected with molecules only, in the format smiles or sdf");
        }
        let is_table = !matches!(
            form,
            Form::Fasta | Form::Fps | Form::Smiles | Form::Sdf | Form::Svmlight | Form::Dissimilarities
        );
        if is_told && !is_table {
            return invalid("columns, weights, id and gaps: expected with tables only");
        }
        self.delimiter().map(|_| ())
    }

    fn wanted(&self) -> Columns {
        Columns { columns: self.columns.clone(), weights: self.weights.clone(), id: self.id.clone() }
    }

    fn delimiter(&self) -> Result<Option<u8>, Fault> {
        match self.delimiter.as_deref() {
            None => Ok(None),
            Some("tab") => Ok(Some(b'\t')),
            Some(text) => match text.as_bytes() {
                [byte] if byte.is_ascii() && !matches!(byte, b'"' | b'\n' | b'\r') => Ok(Some(*byte)),
                _ => {
                    let reason = format!("delimiter: expected one ASCII character or \"tab\", found {text:?}");
                    Err(Fault::new(Code::InvalidValue, reason))
                }
            },
        }
    }
}

/// Returns a fault that describes an error in the data to the client that sent them.
pub(crate) fn fault_of(error: &lehr_data::Error) -> Fault {
    let code = if error.is_environment() { Code::InsufficientResources } else { Code::InvalidValue };
    Fault::new(code, error.to_string())
}

/// A table and the warnings from reading it.
#[derive(Debug)]
pub(crate) struct Found {
    pub table: Table,
    pub warnings: Vec<String>,
    /// The description of the columns, for an ordinary table.
    pub account: Vec<ColumnFacts>,
}

/// The role of a column of an ordinary table, and a summary of its values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ColumnFacts {
    /// The name of the column.
    pub name: String,
    /// `measure`, `category`, `date`, `id`, `text`, `constant`, `empty`, or `the same as` another column.
    pub role: String,
    /// The reason for the role, if the values alone do not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The notation in which the column's text was read.
    pub read_as: String,
    /// The number of rows without a value.
    pub missing: u64,
    /// The number of different values.
    pub distinct: u64,
    /// The smallest and the largest value, or the number of different texts.
    pub range: String,
}

impl ColumnFacts {
    fn of(account: &ColumnAccount) -> Self {
        Self {
            name: account.name.clone(),
            role: account.role.to_string(),
            reason: account.reason.clone(),
            read_as: account.read_as.to_string(),
            missing: account.missing as u64,
            distinct: account.distinct as u64,
            range: lehr_methods::origin::range(account),
        }
    }
}

/// Reads a file. The file's uncompressed size and the size of its values must be at most `bytes_max`. Messages call the
/// file `name`.
///
/// # Errors
/// Returns [`Code::InvalidValue`] with the first ten faults, or [`Code::TooLarge`] if the file exceeds `bytes_max`.
pub(crate) fn read(mut file: File, form: Form, reading: &Reading, name: &str, bytes_max: u64) -> Result<Found, Fault> {
    let (mut left_out, mut notes) = (Vec::new(), Vec::new());
    let (mut rounding, mut account) = (None, Vec::new());
    let gaps = if reading.gaps { Gaps::InNumbers } else { Gaps::Nowhere };
    let read = || match form {
        Form::Table => {
            let frame = read_frame(&mut file, reading, name, bytes_max, &mut left_out)?;
            notes.extend_from_slice(frame.notes());
            account = describe_columns(&frame).iter().map(ColumnFacts::of).collect();
            let Columns { weights, id, .. } = reading.wanted();
            Table::of_frame(&frame, weights, id)
        }
        Form::Csv | Form::Tsv | Form::Npy => {
            read_text(&mut file, form, reading, name, bytes_max, &mut left_out, &mut notes)
        }
        Form::Parquet => parquet::read(file, &reading.wanted(), gaps, name, bytes_max, Some(&mut left_out)),
        Form::Arrow => {
            let file = io::BufReader::new(file);
            arrow::read_known(file, &reading.wanted(), gaps, name, bytes_max, Some(&mut left_out))
        }
        Form::Smiles | Form::Sdf => {
            let kind = reading.fingerprint.map(FingerprintKind::from).unwrap_or_default();
            read_molecules(&mut file, form, kind, name, bytes_max, &mut notes)
        }
        Form::Fasta | Form::Fps | Form::Svmlight => read_items(&mut file, form, name, bytes_max),
        Form::Dissimilarities => {
            let matrix = limited(&mut file, name, bytes_max, |plain| matrix_from(plain, name))?;
            rounding = matrix.warning();
            table_of(matrix, name)
        }
    };
    let table = sound(guarded(&format!("{name}: expected a sound {form:?} file"), read)?, name, bytes_max)?;
    let mut warnings = warnings_of(&table, &left_out, name);
    warnings.extend(notes.iter().map(|note| format!("{name}: {note}")));
    warnings.extend(rounding);
    Ok(Found { table, warnings, account })
}

/// Reads an ordinary table, and keeps the wanted columns.
fn read_frame(
    file: &mut File,
    reading: &Reading,
    name: &str,
    bytes_max: u64,
    left_out: &mut Vec<LeftOut>,
) -> Result<DataFrame, Fault> {
    let Columns { columns, weights, id } = reading.wanted();
    let dialect = reading.dialect.clone().unwrap_or_default().form();
    let form = TableForm {
        delimiter: reading.delimiter()?.map(char::from),
        header: reading.header,
        text: id.iter().chain(&dialect.text).cloned().collect(),
        ..dialect
    };
    let unreadable = |cause| fault_of(&lehr_data::Error::Read { name: name.to_owned(), cause });
    let mut head = Vec::new();
    file.by_ref().take(ARROW_FILE.len() as u64).read_to_end(&mut head).map_err(unreadable)?;
    file.rewind().map_err(unreadable)?;
    let frame = if head.starts_with(PARQUET) {
        parquet::frame(file, &form, name, bytes_max)?
    } else if head.starts_with(ARROW_FILE) || head.starts_with(ARROW_STREAM) {
        let file = io::BufReader::new(file);
        let table =
            arrow::read_known(file, &Columns::default(), Gaps::Anywhere, name, bytes_max, Some(&mut *left_out))?;
        table.frame(name, &form).map_err(|error| fault_of(&error))?
    } else {
        limited(file, name, bytes_max, |plain| data_frame_from(plain, name, &form))?
    };
    let wanted = columns.iter().flatten().chain(&weights).chain(&form.text);
    frame.expect_columns(wanted).map_err(|error| fault_of(&error))?;
    let Some(columns) = columns else { return Ok(frame) };
    let is_kept = |name: &String| columns.contains(name) || weights.as_ref() == Some(name) || id.as_ref() == Some(name);
    let kept = frame.columns().iter().filter(|column| is_kept(&column.name)).cloned().collect();
    let chosen = DataFrame::new(name, kept).map_err(|error| fault_of(&error))?;
    Ok(chosen.with_notes(frame.notes().to_vec()))
}

/// Returns the warnings that the `lehr` command prints for the same file: columns that were left out, and ids that
/// occur several times.
fn warnings_of(table: &Table, left_out: &[LeftOut], name: &str) -> Vec<String> {
    const LISTED: usize = 10;
    let texts: Vec<String> = left_out.iter().filter(|left| !left.is_unexpected()).map(ToString::to_string).collect();
    let without_numbers = (!texts.is_empty()).then(|| {
        let more = texts.len().saturating_sub(LISTED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!(
            "left out, without a number: {}{more}; format \"table\" keeps all columns",
            texts[..texts.len().min(LISTED)].join(", ")
        )
    });
    let shared = table.id().and_then(|id| shared_ids(&table.texts(id)?));
    let warnings = LeftOut::warning(left_out).into_iter().chain(without_numbers).chain(shared);
    warnings.map(|warning| format!("{name}: {warning}")).collect()
}

/// Reads dissimilarities whose header and array are separate files. `open` opens the array by its name relative to the
/// header.
///
/// # Errors
/// Returns the errors of [`read`] and of `open`.
pub(crate) fn read_beside(
    header: File,
    open: impl FnOnce(&Path) -> Result<File, Fault>,
    name: &str,
    bytes_max: u64,
) -> Result<Found, Fault> {
    let mut rounding = None;
    let read = || {
        let mut text = Vec::new();
        let failed = |cause| fault_of(&lehr_data::Error::Read { name: name.to_owned(), cause });
        header.take(HEADER_BYTES).read_to_end(&mut text).map_err(failed)?;
        let head = header_from(&mut &text[..], name).map_err(|error| fault_of(&error))?;
        let path = array_path(Path::new(name), &head).map_err(|error| fault_of(&error))?;
        let array = open(&path)?;
        let matrix = limited(array, name, bytes_max, |plain| matrix_from((&text[..]).chain(plain), name))?;
        rounding = matrix.warning();
        table_of(matrix, name)
    };
    let table = sound(guarded(&format!("{name}: expected sound dissimilarities"), read)?, name, bytes_max)?;
    Ok(Found { table, warnings: rounding.into_iter().collect(), account: Vec::new() })
}

fn sound(table: Table, name: &str, bytes_max: u64) -> Result<Table, Fault> {
    if table.rows() == 0 {
        return Err(Fault::new(Code::InvalidValue, format!("{name}: expected rows, found none")));
    }
    if table.bytes() as u64 > bytes_max {
        return Err(too_large(name, bytes_max));
    }
    Ok(table)
}

/// Calls a reader that may panic on unexpected bytes, and reports a panic as a damaged file. The panic's message goes
/// to the log.
fn guarded<T>(expected: &str, read: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().copied();
        let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let said = said.unwrap_or("a panic without a text");
        Err(Fault::new(Code::InvalidValue, format!("{expected}, found damage"))
            .log(format!("{expected}, found: {said}")))
    })
}

fn too_large(name: &str, bytes_max: u64) -> Fault {
    Fault::new(Code::TooLarge, format!("{name}: unpacked it takes more than the {bytes_max} bytes that are allowed"))
}

fn read_text(
    file: &mut File,
    form: Form,
    reading: &Reading,
    name: &str,
    bytes_max: u64,
    left_out: &mut Vec<LeftOut>,
    notes: &mut Vec<String>,
) -> Result<Table, Fault> {
    let delimiter = reading.delimiter()?.or((form == Form::Tsv).then_some(b'\t'));
    let Columns { columns, weights, id } = reading.wanted();
    let selection = Selection { columns, weights, id, delimiter, header: reading.header, ..Selection::default() };
    // An uncompressed file may be a thousand times as large as the compressed one. A number takes at least two bytes as
    // text, and eight bytes in memory.
    if reading.gaps {
        let records = limited(file, name, bytes_max, |plain| incomplete_from(plain, name, &selection))?;
        left_out.extend_from_slice(records.left_out());
        notes.extend_from_slice(records.notes());
        return Table::of_records(&records, selection.id.as_deref());
    }
    let points = limited(file, name, bytes_max, |plain| points_from(plain, name, &selection))?;
    left_out.extend_from_slice(points.left_out());
    notes.extend_from_slice(points.notes());
    Table::of_points_named(&points, selection.weights.as_deref(), selection.id.as_deref())
}

fn read_items(file: &mut File, form: Form, name: &str, bytes_max: u64) -> Result<Table, Fault> {
    if form == Form::Svmlight {
        let rows = limited(file, name, bytes_max, |plain| rows_from(plain, name, None))?;
        let first = rows.first_column().number();
        let text = |row: usize| {
            let (columns, values) = rows.row(row);
            let fields = columns.iter().zip(values).map(|(column, value)| format!("{}:{value:?}", column + first));
            fields.collect::<Vec<_>>().join(" ")
        };
        return Table::builder().texts(SPARSE, (0..rows.len()).map(text).collect()).build();
    }
    let builder = Table::builder().id(Some("id".to_owned()));
    if form == Form::Fps {
        let prints = limited(file, name, bytes_max, |plain| fingerprints_from(plain, name))?;
        return builder.texts("id", prints.ids().to_vec()).texts(FINGERPRINT, hexadecimal(&prints)).build();
    }
    let expected = Expected { alphabet: None, is_aligned: true };
    let sequences = limited(file, name, bytes_max, |plain| sequences_from(plain, name, expected))?;
    let letters = |row: usize| String::from_utf8_lossy(sequences.sequence(row)).into_owned();
    let texts = (0..sequences.len()).map(letters).collect();
    builder.texts("id", sequences.ids().to_vec()).texts("sequence", texts).build()
}

/// Returns each row of bits in hexadecimal digits, as FPS has them.
fn hexadecimal(prints: &Fingerprints) -> Vec<String> {
    let digits = |row: usize| {
        let bytes = prints.row(row).iter().flat_map(|word| word.to_le_bytes()).take(prints.bits().div_ceil(8));
        bytes.map(|byte| format!("{byte:02x}")).collect()
    };
    (0..prints.len()).map(digits).collect()
}

/// Reads molecules with their structures, fingerprints of a kind, and fields of data, whose values decide their types.
fn read_molecules(
    file: &mut File,
    form: Form,
    kind: FingerprintKind,
    name: &str,
    bytes_max: u64,
    notes: &mut Vec<String>,
) -> Result<Table, Fault> {
    let notation = if form == Form::Sdf { Notation::Sd } else { Notation::Smiles };
    // A structure of one letter gets a fingerprint of hundreds of bytes.
    let mut is_over = false;
    let read = |plain: &mut Unpacked<'_>| {
        let read = compounds_from(plain, name, notation, kind, bytes_max);
        is_over = matches!(read, Err(lehr_data::Error::Memory { .. }));
        read
    };
    let read = limited(file, name, bytes_max, read);
    let Compounds { fingerprints, fields } = if is_over { Err(too_large(name, bytes_max)) } else { read }?;
    let own = [
        ("id", fingerprints.ids().to_vec()),
        (SMILES, fingerprints.smiles().unwrap_or_default().to_vec()),
        (FINGERPRINT, hexadecimal(&fingerprints)),
    ];
    let id = Some("id".to_owned());
    if fields.is_empty() {
        return own.into_iter().fold(Table::builder().id(id), |table, (name, texts)| table.texts(name, texts)).build();
    }
    // Columns of some names are read as rows of their own.
    let taken = own.iter().map(|(name, _)| *name).chain(["sequence", SPARSE]);
    let mut names: Vec<String> = taken.map(str::to_owned).collect();
    let mut columns: Vec<InputColumn> =
        own.into_iter().map(|(name, texts)| InputColumn::Read(FrameColumn::texts(name, texts))).collect();
    for (mut field, texts) in fields {
        while names.contains(&field) {
            field.push_str("_field");
        }
        names.push(field.clone());
        columns.push(InputColumn::Texts(field, texts));
    }
    let frame = data_frame_of(name, columns, &TableForm::default()).map_err(|error| fault_of(&error))?;
    notes.extend(frame.notes().iter().cloned());
    Table::of_frame(&frame, None, id)
}

/// Reads a file of at most `bytes_max` bytes when uncompressed, and uncompresses it if necessary.
fn limited<T>(
    file: impl Read,
    name: &str,
    bytes_max: u64,
    read: impl FnOnce(&mut Unpacked<'_>) -> Result<T, lehr_data::Error>,
) -> Result<T, Fault> {
    let unreadable = |cause| fault_of(&lehr_data::Error::Read { name: name.to_owned(), cause });
    let mut plain = Unpacked::new(file, bytes_max).map_err(unreadable)?;
    let result = read(&mut plain);
    if plain.is_over() { Err(too_large(name, bytes_max)) } else { result.map_err(|error| fault_of(&error)) }
}

/// The format of rows in an answer.
///
/// # Example
/// ```
/// assert_eq!(lehr_jobs::RowFormat::default(), lehr_jobs::RowFormat::Json);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RowFormat {
    /// An object for each row; NaN and infinite numbers are null.
    #[default]
    Json,
    /// CSV text. Only the piece that begins with row 0 has the column names, so that consecutive pieces form one file.
    Csv,
    /// An Arrow IPC stream.
    Arrow,
    /// A NumPy array of two dimensions with the columns of numbers and counts, as 64-bit floating point. Each piece is
    /// a separate array.
    Npy,
}

/// Some rows of a table, in one of the fields `json`, `csv`, `arrow` and `npy`.
///
/// # Example
/// See [`datasets::Read`](crate::datasets::Read).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Piece {
    /// The number of the piece's first row, counted from 0.
    pub from: u64,
    /// The end of the piece's rows, exclusive: the next piece begins here.
    pub to: u64,
    /// The number of rows in the table.
    pub rows: u64,
    /// An object for each row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json: Option<JsonRows>,
    /// CSV text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csv: Option<String>,
    /// An Arrow IPC stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrow: Option<Bytes>,
    /// A NumPy array.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub npy: Option<Bytes>,
    /// The warnings for the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Writes the rows from `from` to `to`, or as many as fit into a piece. Writes every row, or every n-th row.
///
/// # Errors
/// Returns [`Code::InvalidValue`] for rows that do not exist, or for an array of a table without numbers.
pub(crate) fn piece(
    table: &Table,
    format: RowFormat,
    from: u64,
    to: Option<u64>,
    every: Option<NonZeroU64>,
) -> Result<Piece, Fault> {
    let rows = table.rows() as u64;
    let to = to.unwrap_or(rows);
    if from > to || to > rows {
        let reason = format!("rows {from} to {to}: expected a part of the {rows} rows there are, counted from 0");
        return Err(Fault::new(Code::InvalidValue, reason));
    }
    let row_bytes = (table.bytes() / table.rows().max(1)).max(1);
    let most = (PIECE_BYTES / row_bytes).clamp(1, 1 << 16) as u64;
    let every = every.map_or(1, NonZeroU64::get);
    let to = to.min(from.saturating_add(most.saturating_mul(every)));
    let mut part = table.slice(from as usize, (to - from) as usize);
    if every > 1 {
        part = part.thinned(every)?;
    }
    let mut piece = Piece { from, to, rows, json: None, csv: None, arrow: None, npy: None, warnings: Vec::new() };
    match format {
        RowFormat::Json => piece.json = Some(JsonRows::of(part)),
        RowFormat::Csv => piece.csv = Some(lines(&part, from == 0)),
        RowFormat::Arrow => piece.arrow = Some(arrow::write(&part)?.into()),
        RowFormat::Npy => piece.npy = Some(array(&part)?.into()),
    }
    Ok(piece)
}

fn array(table: &Table) -> Result<Vec<u8>, Fault> {
    let columns = table.columns().filter(|(_, kind)| *kind != Kind::Text);
    let columns: Vec<_> = columns.filter_map(|(name, _)| table.numbers(name)).collect();
    if columns.is_empty() {
        return Err(Fault::new(Code::InvalidValue, "npy: expected a table with columns of numbers, found text only"));
    }
    let values: Vec<f64> = (0..table.rows()).flat_map(|row| columns.iter().map(move |column| column[row])).collect();
    let mut out = Vec::new();
    npy::array(&mut out, &values, columns.len()).expect("memory takes any array");
    Ok(out)
}

pub(crate) fn lines(table: &Table, has_head: bool) -> String {
    let columns: Vec<(&str, Kind)> = table.columns().collect();
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let mut out = Vec::new();
    let mut written = || -> io::Result<()> {
        let mut text = if has_head { Text::new(&mut out, &names)? } else { Text::rows(&mut out, names.len()) };
        let numbers: Vec<_> = names.iter().map(|name| table.numbers(name).unwrap_or_default()).collect();
        let counts: Vec<_> = names.iter().map(|name| table.counts(name).unwrap_or_default()).collect();
        let of_text = |(name, kind): &(&str, Kind)| if *kind == Kind::Text { table.texts(name) } else { None };
        let texts: Vec<_> = columns.iter().map(|column| of_text(column).unwrap_or_default()).collect();
        for row in 0..table.rows() {
            for (index, (_, kind)) in columns.iter().enumerate() {
                match kind {
                    // A missing value is written as an empty field, unless the line would be empty.
                    Kind::Number if numbers[index][row].is_nan() && columns.len() > 1 => text.text("")?,
                    Kind::Number => text.number(numbers[index][row])?,
                    Kind::Count => text.count(counts[index][row])?,
                    Kind::Text => text.text(&texts[index][row])?,
                }
            }
            text.end_row()?;
        }
        Ok(())
    };
    written().expect("memory takes any text");
    String::from_utf8(out).expect("numbers and texts are UTF-8")
}

impl Form {
    /// Returns the format for the extension of a file's name.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::Form;
    /// assert_eq!((Form::of_name("blocks.csv.gz"), Form::of_name("blocks.xlsx")), (Some(Form::Csv), None));
    /// ```
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let (_, ending) = name.rsplit_once('.')?;
        Some(match ending {
            "csv" | "txt" => Self::Csv,
            "tsv" | "tab" => Self::Tsv,
            "npy" => Self::Npy,
            "parquet" => Self::Parquet,
            "arrow" | "arrows" | "feather" | "ipc" => Self::Arrow,
            "fasta" | "fa" | "fna" | "faa" => Self::Fasta,
            "fps" => Self::Fps,
            "smi" | "smiles" | "ism" => Self::Smiles,
            "sdf" | "sd" | "mol" => Self::Sdf,
            "svm" | "svmlight" | "libsvm" => Self::Svmlight,
            "json" => Self::Dissimilarities,
            _ => return None,
        })
    }

    /// Returns the format for a media type without parameters; `None` if the media type does not determine the format.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::Form;
    /// assert_eq!(Form::of_media_type("text/csv"), Some(Form::Csv));
    /// assert_eq!(Form::of_media_type("application/octet-stream"), None);
    /// ```
    pub fn of_media_type(media_type: &str) -> Option<Self> {
        Some(match media_type {
            "text/csv" => Self::Csv,
            "text/tab-separated-values" => Self::Tsv,
            "application/x-npy" => Self::Npy,
            "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
            | "application/vnd.ms-excel"
            | "application/vnd.oasis.opendocument.spreadsheet"
            | "application/x-ndjson"
            | "application/jsonl" => Self::Table,
            "application/vnd.apache.parquet" => Self::Parquet,
            "application/vnd.apache.arrow.stream" | "application/vnd.apache.arrow.file" => Self::Arrow,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_panic_said_is_in_the_log_and_not_in_the_reason() {
        let at = 7;
        let panics: [fn(usize) -> Result<(), Fault>; 2] =
            [|_| panic!("index out of bounds"), |at| panic!("index {at} out of bounds")];
        for (panic, said) in panics.into_iter().zip(["index out of bounds", "index 7 out of bounds"]) {
            let fault = guarded("a: expected a sound file", || panic(at)).unwrap_err();
            assert_eq!((fault.code(), fault.reason()), (Code::InvalidValue, "a: expected a sound file, found damage"));
            let log = format!("a: expected a sound file, found: {said}");
            assert_eq!(fault.log_text(), Some(log.as_str()));
        }
        assert_eq!(guarded("a: expected a sound file", || Ok(at)).unwrap(), 7);
    }
}
