//! Reads rows of numbers from the columns of Parquet files.
//!
//! A file stores values column by column in groups of rows. To make a block of rows, the reader takes some thousand
//! values of each chosen column in turn. So only a block of rows and a page of each column are in memory. [`Parquet`]
//! checks the sizes that a file declares before it allocates memory for them. `pages.rs` checks the size of
//! uncompressed pages, and `header.rs` reads their headers. If the library panics, the file is damaged. To read columns
//! of other types one by one, use [`Parquet::column`].

mod file;
mod header;
mod pages;

use std::fs::File;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lehr_spill::Spill;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;

use crate::error::{Column, Error, Fault, Faults, Place};
use crate::frame::{DataFrame, FrameColumn, ReadAs, Values};
use crate::incomplete::Incomplete;
use crate::left_out::LeftOut;
use crate::object::Opened;
use crate::points::Points;
use crate::read::intake::{Intake, Layout, Row};
use crate::read::rounded::{Rounded, is_rounded};
use crate::read::source::Source;
use crate::read::{Dialect, Format, InputColumn, PARQUET, SelectedColumns, Selection, TableForm, half, slip};
use file::Unit;
pub use file::{CODECS, FOOTER_BYTES, Kind, Parquet, Refused, Room};

/// The maximum size of a page, in bytes. Writers make pages of about a mebibyte.
const PAGE_BYTES: u64 = 1 << 30;

/// The number of values in a block of rows, unless this means less than [`ROWS_MIN`] or more than [`ROWS_MAX`] rows.
const BLOCK: usize = 1 << 20;
const ROWS_MIN: usize = 64;
const ROWS_MAX: usize = 8192;

/// Returns whether to read a source as Parquet: by its first bytes, or by its name.
pub(super) fn is_parquet(source: &mut Source<'_>) -> bool {
    matches!(source.peek(PARQUET.len()), PARQUET | b"PARE") || source.name().to_lowercase().ends_with(".parquet")
}

/// Reads points from the chosen columns, with their values in memory or in a file of a folder.
pub(super) fn points(source: &Source<'_>, selection: &Selection, spill: Option<&Spill>) -> Result<Points, Error> {
    let mut rows = Rows::new(source, selection)?;
    let count = usize::try_from(rows.parquet.rows()).unwrap_or(usize::MAX);
    let layout = rows.chosen.layout();
    let mut intake = Intake::new(&rows.name, &layout, spill, count)?;
    while rows.fill()? {
        rows.give(&mut intake, usize::MAX)?;
    }
    Ok(intake.into_points()?.with_notes(rows.notes()))
}

/// Reads rows that may have missing values: nulls and NaN. Weights are ignored.
pub(super) fn incomplete(source: &Source<'_>, selection: &Selection) -> Result<Incomplete, Error> {
    let mut rows = Rows::new(source, selection)?;
    rows.chosen.weights = None;
    let layout = rows.chosen.layout();
    let (mut values, mut ids, mut faults) = (Vec::new(), Vec::new(), Faults::new(&*rows.name));
    let mut row = 0;
    while rows.fill()? {
        for fields in rows.block.values.chunks_exact(rows.block.width) {
            let fields = &fields[..layout.columns.len()];
            for (column, value) in layout.columns.iter().zip(fields).filter(|(_, value)| value.is_infinite()) {
                faults.add_with(|| Fault {
                    place: Place::Row(row),
                    column: Some(column.clone()),
                    expected: "a finite number, or a missing one".into(),
                    found: value.to_string(),
                });
            }
            values.extend_from_slice(fields);
            row += 1;
        }
        ids.append(&mut rows.block.ids);
        rows.taken = rows.block.rows;
    }
    faults.or(())?;
    let ids = layout.has_ids.then_some(ids);
    let notes = rows.notes();
    let read = Incomplete::named(values, layout.names, &rows.name)?.with_read_ids(ids);
    Ok(read.with_left_out(layout.left_out).with_notes(notes))
}

/// Reads all supported columns: numbers, truth values, dates and times by their types, and text as in other tables.
pub(super) fn frame(source: &Source<'_>, form: &TableForm) -> Result<DataFrame, Error> {
    frame_of(&open(source)?, source.name(), form, PAGE_BYTES)
}

/// Reads a data frame from an open file whose pages have at most `page_bytes` each; messages call it `name`. All
/// columns are in memory at once.
///
/// # Errors
/// Returns the errors of [`data_frame`](crate::read::data_frame).
///
/// # Example
/// ```
/// use lehr_data::read::{TableForm, parquet};
/// let file = tempfile::tempfile().unwrap();
/// let error = parquet::data_frame_of_file(file, "upload", &TableForm::default(), 1 << 20).unwrap_err();
/// assert!(error.to_string().contains("0 bytes in all"));
/// ```
pub fn data_frame_of_file(file: File, name: &str, form: &TableForm, page_bytes: u64) -> Result<DataFrame, Error> {
    frame_of(&opened(file.into(), name)?, name, form, page_bytes)
}

fn frame_of(parquet: &Parquet, name: &str, form: &TableForm, page_bytes: u64) -> Result<DataFrame, Error> {
    if parquet.rows() == 0 {
        return Err(Error::Empty { name: name.into(), found: "a Parquet file of no rows" });
    }
    let names = parquet.names();
    let index = parquet.index_columns();
    let (mut columns, mut notes) = (Vec::new(), Vec::new());
    let (mut faults, mut rounded) = (Faults::new(name), Rounded::default());
    for (place, called) in names.iter().enumerate() {
        let column = Column { index: place, name: Some(called.clone()) };
        let unit = parquet.unit(place);
        match parquet.kind(place) {
            _ if index.contains(called) => notes.push(format!("{called:?} is the index of a pandas table; left out")),
            kind if is_number(&kind) || unit.is_some() => {
                let is_unsigned = kind == Kind::Counts;
                let mut values = numbers_of(parquet, (name, page_bytes), &column, is_unsigned, &mut rounded)?;
                let read_as = match (&unit, &kind) {
                    (Some(Unit::Days), _) => ReadAs::Date { form: "year-month-day".into(), has_time: false },
                    (Some(Unit::Seconds(_)), _) => ReadAs::Date { form: "year-month-day".into(), has_time: true },
                    (None, Kind::Truths) => ReadAs::Truth { yes: "true".into(), no: "false".into() },
                    _ => ReadAs::Number,
                };
                for (row, value) in values.iter().enumerate().filter(|(_, value)| value.is_infinite()) {
                    faults.add_with(|| Fault {
                        place: Place::Row(row as u64),
                        column: Some(column.clone()),
                        expected: "a finite number, or a missing one".into(),
                        found: value.to_string(),
                    });
                }
                let is_time = matches!(unit, Some(Unit::Days | Unit::Seconds(_)));
                match unit {
                    Some(Unit::Days) => values.iter_mut().for_each(|value| *value *= 86_400.0),
                    // Divide, because a tenth has no exact binary form.
                    Some(Unit::Seconds(per_second) | Unit::Decimal(per_second)) => {
                        values.iter_mut().for_each(|value| *value /= per_second)
                    }
                    None => {}
                }
                let values = if is_time { Values::Times(values) } else { Values::Numbers(values) };
                columns.push(InputColumn::Read(FrameColumn { name: called.clone(), values, read_as }));
            }
            Kind::Texts => {
                columns.push(InputColumn::Texts(called.clone(), texts_of(parquet, (name, page_bytes), &column)?));
            }
            Kind::Other(kind) => notes.push(format!("{called:?} is left out: {kind}")),
            _ => {}
        }
    }
    faults.or(())?;
    let frame = super::frame::data_frame_of(name, columns, form)?;
    notes.extend(frame.notes().iter().cloned());
    // Rounded times need no note: they exceed the limit by far, but their last digits are fractions of a microsecond.
    notes.extend(rounded.notes(|column| parquet.unit(column).is_none().then(|| names[column].as_str())));
    Ok(frame.with_notes(notes).with_dialect(Dialect { format: Format::Parquet, ..Dialect::default() }))
}

/// Returns all numbers of a column; NaN means missing.
fn numbers_of(
    parquet: &Parquet,
    (name, page_bytes): (&str, u64),
    column: &Column,
    is_unsigned: bool,
    rounded: &mut Rounded,
) -> Result<Vec<f64>, Error> {
    guarded(name, || {
        let mut values = Vec::new();
        for group in 0..parquet.groups() {
            let reader =
                parquet.column(group, column.index, page_bytes).map_err(|refused| told(refused, name, Some(column)))?;
            let mut open = Open { column: column.clone(), is_unsigned, reader, rounded: None };
            let first = values.len();
            let rows = parquet.group_rows(group) as usize;
            let read = numbers(&mut open, rows, |row, number| {
                values.resize(values.len().max(first + row + 1), f64::NAN);
                values[first + row] = number.unwrap_or(f64::NAN);
            });
            let read = read.map_err(|error| told(error.into(), name, Some(column)))?;
            is_whole(read, rows, name, column)?;
            if let Some(number) = open.rounded {
                rounded.found(column.index, number);
            }
        }
        Ok(values)
    })
}

/// Returns all texts of a column; an empty text means missing.
fn texts_of(parquet: &Parquet, (name, page_bytes): (&str, u64), column: &Column) -> Result<Vec<String>, Error> {
    guarded(name, || {
        let mut values = Vec::new();
        for group in 0..parquet.groups() {
            let reader =
                parquet.column(group, column.index, page_bytes).map_err(|refused| told(refused, name, Some(column)))?;
            let mut open = Open { column: column.clone(), is_unsigned: false, reader, rounded: None };
            let rows = parquet.group_rows(group) as usize;
            let read = texts(&mut open, rows, |text| values.push(text))
                .map_err(|error| told(error.into(), name, Some(column)))?;
            is_whole(read, rows, name, column)?;
        }
        Ok(values)
    })
}

fn is_whole(read: usize, rows: usize, name: &str, column: &Column) -> Result<(), Error> {
    if read == rows {
        return Ok(());
    }
    let said = format!("the end of a column {} rows before that of its group", rows - read);
    Err(told(Refused::Damaged(said), name, Some(column)))
}

/// Returns the numbers of rows and of numeric columns.
pub(super) fn shape(source: &Source<'_>) -> Result<Option<[usize; 2]>, Error> {
    let parquet = open(source)?;
    let numbers = (0..parquet.names().len()).filter(|column| is_number(&parquet.kind(*column))).count();
    Ok(usize::try_from(parquet.rows()).ok().map(|rows| [rows, numbers]))
}

fn open(source: &Source<'_>) -> Result<Parquet, Error> {
    let name = source.name();
    let Some(file) = source.again()? else {
        return Err(Error::Format {
            name: name.into(),
            expected: "a table of text or an NPY file, or a Parquet file on a disk, whose end says what is in it"
                .into(),
            found: "a Parquet file in a stream, or packed by gzip as a whole".into(),
        });
    };
    opened(file, name)
}

fn opened(file: Opened, name: &str) -> Result<Parquet, Error> {
    guarded(name, || Parquet::open(file).map_err(|refused| told(refused, name, None)))
}

/// Calls the library. If it panics on unexpected bytes, returns the error for a damaged file.
fn guarded<T>(name: &str, read: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| {
        Err(Error::Format { name: name.into(), expected: "a sound Parquet file".into(), found: "damage".into() })
    })
}

/// Returns the error for a refused file, or for one of its columns.
fn told(refused: Refused, name: &str, column: Option<&Column>) -> Error {
    let name = match column {
        Some(Column { index, name: Some(column) }) => format!("{name}, column {} ({column:?})", index + 1),
        _ => name.to_owned(),
    };
    let (expected, found) = match refused {
        Refused::Unreadable(cause) => return Error::Read { name, cause },
        Refused::Footer(bytes) => (format!("a footer of at most {FOOTER_BYTES} bytes"), format!("one of {bytes}")),
        Refused::Page(bytes) => {
            (format!("pages that take at most {PAGE_BYTES} bytes"), format!("one that takes {bytes}"))
        }
        Refused::Codec(codec) => (CODECS.to_owned(), format!("{codec}, which is not read here")),
        Refused::Damaged(said) => ("a Parquet file that can be read here".to_owned(), said),
    };
    Error::Format { name, expected, found }
}

/// Returns whether columns of this kind are read as numbers.
fn is_number(kind: &Kind) -> bool {
    matches!(kind, Kind::Numbers | Kind::Halves | Kind::Whole | Kind::Counts | Kind::Truths)
}

/// The roles of the columns of a file.
struct Chosen {
    columns: Vec<Column>,
    weights: Option<Column>,
    id: Option<Column>,
    left_out: Vec<LeftOut>,
}

impl Chosen {
    fn new(source: &str, parquet: &Parquet, selection: &Selection) -> Result<Self, Error> {
        let names = parquet.names();
        let column = |index: usize| Column { index, name: Some(names[index].clone()) };
        let SelectedColumns { columns: chosen, weights, id } = SelectedColumns::of(source, selection, &names)?;
        let mut left_out = Vec::new();
        let columns = if let Some(chosen) = chosen {
            chosen
        } else {
            let index = parquet.index_columns();
            // The second form is pandas' name for an index; other programs keep the name but lose the metadata.
            let is_index = |name: &String| index.contains(name) || name.starts_with("__index_level_");
            let free = (0..names.len()).filter(|column| Some(*column) != id && Some(*column) != weights);
            let (numbers, others): (Vec<_>, Vec<_>) =
                free.partition(|column| is_number(&parquet.kind(*column)) && !is_index(&names[*column]));
            for other in others {
                let (kind, example) = match parquet.kind(other) {
                    _ if is_index(&names[other]) => (Some("the index of a pandas table".to_owned()), None),
                    Kind::Other(kind) => (Some(kind), None),
                    _ => first_text(parquet, other)
                        .map_or_else(|| (Some("text".to_owned()), None), |text| (None, Some(text))),
                };
                let example = example.unwrap_or_default();
                let slip = slip(&example);
                left_out.push(LeftOut { column: names[other].clone(), example, slip, kind });
            }
            if numbers.is_empty() {
                let shown = |left: &LeftOut| {
                    let what = left.kind.as_deref().unwrap_or("text");
                    format!("{:?} ({what})", left.column)
                };
                let found = format!("none among the columns {}", list_of(&left_out, shown));
                return Err(Error::Format { name: source.into(), expected: "a column of numbers".into(), found });
            }
            numbers
        };
        let mut faults = Faults::new(source);
        for index in columns.iter().copied().chain(weights) {
            let kind = match parquet.kind(index) {
                kind if is_number(&kind) => continue,
                Kind::Other(kind) => kind,
                _ => "text".to_owned(),
            };
            let expected = "a column of numbers".to_owned();
            faults.add(Fault { place: Place::Whole, column: Some(column(index)), expected, found: kind });
        }
        if let Some(index) = id
            && let Kind::Other(found) = parquet.kind(index)
        {
            let expected = "a column of text or numbers".to_owned();
            faults.add(Fault { place: Place::Whole, column: Some(column(index)), expected, found });
        }
        faults.or(())?;
        let columns = columns.into_iter().map(column).collect();
        Ok(Chosen { columns, weights: weights.map(column), id: id.map(column), left_out })
    }

    fn layout(&self) -> Layout {
        Layout {
            columns: self.columns.clone(),
            names: self.columns.iter().filter_map(|column| column.name.clone()).collect(),
            weights: self.weights.clone(),
            has_ids: self.id.is_some(),
            left_out: self.left_out.clone(),
        }
    }

    /// Iterates over the numeric columns, beginning with the columns of the points.
    fn numbers(&self) -> impl Iterator<Item = &Column> {
        self.columns.iter().chain(&self.weights)
    }
}

/// Returns the text in the first row of a column; `None` if it is missing, or if it cannot be read.
fn first_text(parquet: &Parquet, column: usize) -> Option<String> {
    let read = || {
        let group = (0..parquet.groups()).find(|group| parquet.group_rows(*group) > 0)?;
        let ColumnReader::ByteArrayColumnReader(mut reader) = parquet.column(group, column, PAGE_BYTES).ok()? else {
            return None;
        };
        let mut texts: Vec<ByteArray> = Vec::new();
        reader.read_records(1, Some(&mut Vec::new()), None, &mut texts).ok()?;
        texts.first().map(|text| String::from_utf8_lossy(text.data()).into_owned())
    };
    catch_unwind(AssertUnwindSafe(read)).ok().flatten()
}

/// Some rows, with the numeric columns in order.
#[derive(Default)]
struct Block {
    rows: usize,
    /// The number of numeric columns, including the weights.
    width: usize,
    values: Vec<f64>,
    /// Whether each value is missing; empty if no value is.
    nulls: Vec<bool>,
    ids: Vec<String>,
}

/// A column of the current group.
struct Open {
    column: Column,
    is_unsigned: bool,
    reader: ColumnReader,
    /// The first whole number that was rounded.
    rounded: Option<i128>,
}

/// The rows of a file, in batches.
pub(super) struct Rows {
    name: String,
    parquet: Parquet,
    chosen: Chosen,
    /// The index of the next group.
    group: usize,
    /// The open columns of the current group: numeric columns, then the ids. Empty if no rows are left.
    open: Vec<Open>,
    left: u64,
    block: Block,
    /// The number of rows of the block that were taken.
    taken: usize,
    /// The number of rows taken so far.
    row: usize,
    /// Whether any row had a positive weight.
    has_weight: bool,
    rounded: Rounded,
}

impl Rows {
    pub fn new(source: &Source<'_>, selection: &Selection) -> Result<Self, Error> {
        let (name, parquet) = (source.name().to_owned(), open(source)?);
        if parquet.rows() == 0 {
            return Err(Error::Empty { name, found: "a Parquet file of no rows" });
        }
        let chosen = Chosen::new(&name, &parquet, selection)?;
        let parquet = parquet.reading(chosen.numbers().chain(&chosen.id).count());
        let (open, block, rounded) = (Vec::new(), Block::default(), Rounded::default());
        Ok(Rows { name, parquet, chosen, group: 0, open, left: 0, block, taken: 0, row: 0, has_weight: false, rounded })
    }

    /// Returns the share of the file's rows that was read.
    pub fn fraction(&self) -> f64 {
        (self.row as f64 / self.parquet.rows() as f64).min(1.0)
    }

    /// Returns the next rows of positive weight, at most `rows` of them; `None` at the end.
    ///
    /// # Errors
    /// Returns the errors of reading, and faults in these rows. At the end, also returns an error if no row had a
    /// positive weight.
    pub fn next(&mut self, rows: usize) -> Result<Option<Points>, Error> {
        let layout = self.chosen.layout();
        let there = usize::try_from(self.parquet.rows()).unwrap_or(usize::MAX) - self.row;
        let mut intake = Intake::new(&self.name, &layout, None, rows.min(there))?;
        (intake.row, intake.leaves_weightless) = (self.row, true);
        while intake.kept < rows && self.fill()? {
            self.give(&mut intake, rows)?;
        }
        if intake.kept > 0 {
            self.has_weight = true;
            let points = intake.into_points()?;
            return Ok(Some(points.with_notes(self.notes())));
        }
        let is_all = !std::mem::replace(&mut self.has_weight, true);
        intake.into_faults(is_all).map(|()| None)
    }

    /// Returns the new notes on columns.
    fn notes(&mut self) -> Vec<String> {
        let columns = &self.chosen.columns;
        let name = |index: usize| columns.iter().find(|column| column.index == index)?.name.as_deref();
        self.rounded.notes(name)
    }

    /// Gives the remaining rows of the block to `intake`, until `kept` rows are kept.
    fn give(&mut self, intake: &mut Intake<'_>, kept: usize) -> Result<(), Error> {
        let (width, columns) = (self.block.width, self.chosen.columns.len());
        while self.taken < self.block.rows && intake.kept < kept {
            let fields = self.taken * width..(self.taken + 1) * width;
            let (values, weight) = self.block.values[fields.clone()].split_at(columns);
            let nulls = self.block.nulls.get(fields).unwrap_or_default();
            let id = self.block.ids.get_mut(self.taken).map(std::mem::take);
            self.taken += 1;
            self.row += 1;
            intake.add(Row { values, nulls, weight: weight.first().copied(), id })?;
        }
        Ok(())
    }

    /// Makes sure that there are rows to take; returns false at the end of the file.
    fn fill(&mut self) -> Result<bool, Error> {
        if self.taken < self.block.rows {
            return Ok(true);
        }
        let name = self.name.clone();
        guarded(&name, || {
            while self.left == 0 {
                if self.group == self.parquet.groups() {
                    return Ok(false);
                }
                self.open_group()?;
            }
            self.read_block()?;
            Ok(true)
        })
    }

    fn open_group(&mut self) -> Result<(), Error> {
        let group = self.group;
        self.open.clear();
        for column in self.chosen.numbers().chain(&self.chosen.id) {
            let reader = self.parquet.column(group, column.index, PAGE_BYTES);
            let reader = reader.map_err(|refused| told(refused, &self.name, Some(column)))?;
            let is_unsigned = self.parquet.kind(column.index) == Kind::Counts;
            self.open.push(Open { column: column.clone(), is_unsigned, reader, rounded: None });
        }
        self.left = self.parquet.group_rows(group);
        self.group += 1;
        Ok(())
    }

    fn read_block(&mut self) -> Result<(), Error> {
        let width = self.chosen.numbers().count();
        let most = (BLOCK / width).clamp(ROWS_MIN, ROWS_MAX);
        let rows = usize::try_from(self.left).map_or(most, |left| left.min(most));
        let block = &mut self.block;
        (block.rows, block.width) = (0, width);
        block.values.clear();
        block.values.resize(rows * width, 0.0);
        block.nulls.clear();
        block.ids.clear();
        for (place, open) in self.open.iter_mut().enumerate() {
            let read = if place < width {
                numbers(open, rows, |row, number| {
                    block.values[row * width + place] = number.unwrap_or(f64::NAN);
                    if number.is_none() {
                        block.nulls.resize(rows * width, false);
                        block.nulls[row * width + place] = true;
                    }
                })
            } else {
                texts(open, rows, |text| block.ids.push(text))
            };
            let column = Some(&open.column);
            let read = read.map_err(|error| told(error.into(), &self.name, column))?;
            if read < rows {
                let said = format!("the end of a column {} rows before that of its group", rows - read);
                return Err(told(Refused::Damaged(said), &self.name, column));
            }
            if let Some(number) = open.rounded {
                self.rounded.found(open.column.index, number);
            }
        }
        self.left -= rows as u64;
        (block.rows, self.taken) = (rows, 0);
        Ok(())
    }
}

/// Calls `put` with each of the next numbers of a column, and returns their number.
fn numbers(open: &mut Open, rows: usize, mut put: impl FnMut(usize, Option<f64>)) -> Result<usize, ParquetError> {
    let (is_unsigned, first) = (open.is_unsigned, &mut open.rounded);
    match &mut open.reader {
        ColumnReader::BoolColumnReader(reader) => {
            records(reader, rows, |row, value| put(row, value.map(|truth| f64::from(u8::from(*truth)))))
        }
        ColumnReader::Int32ColumnReader(reader) => records(reader, rows, |row, value| {
            put(row, value.map(|number| if is_unsigned { f64::from(*number as u32) } else { f64::from(*number) }))
        }),
        // Whole numbers beyond 2⁵³ are rounded.
        ColumnReader::Int64ColumnReader(reader) => records(reader, rows, |row, value| {
            let whole = value.map(|number| if is_unsigned { i128::from(*number as u64) } else { i128::from(*number) });
            *first = first.or(whole.filter(|whole| is_rounded(*whole)));
            put(row, whole.map(|whole| whole as f64));
        }),
        ColumnReader::FloatColumnReader(reader) => {
            records(reader, rows, |row, value| put(row, value.map(|number| f64::from(*number))))
        }
        ColumnReader::DoubleColumnReader(reader) => records(reader, rows, |row, value| put(row, value.copied())),
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            let mut is_sound = true;
            let done = records(reader, rows, |row, value| {
                let number = value.map(|value| half_of(value.data()));
                is_sound &= number != Some(None);
                put(row, number.flatten());
            })?;
            if is_sound { Ok(done) } else { Err(ParquetError::General(NO_HALF.into())) }
        }
        _ => Ok(0),
    }
}

/// Calls `put` with each of the next values of a column as a text, and returns their number. A missing value becomes an
/// empty text.
fn texts(open: &mut Open, rows: usize, mut put: impl FnMut(String)) -> Result<usize, ParquetError> {
    let is_unsigned = open.is_unsigned;
    fn said<T: ToString>(value: Option<T>) -> String {
        value.map(|value| value.to_string()).unwrap_or_default()
    }
    match &mut open.reader {
        ColumnReader::BoolColumnReader(reader) => records(reader, rows, |_, value| put(said(value))),
        ColumnReader::Int32ColumnReader(reader) => records(reader, rows, |_, value| {
            put(if is_unsigned { said(value.map(|number| *number as u32)) } else { said(value) })
        }),
        ColumnReader::Int64ColumnReader(reader) => records(reader, rows, |_, value| {
            put(if is_unsigned { said(value.map(|number| *number as u64)) } else { said(value) })
        }),
        ColumnReader::FloatColumnReader(reader) => records(reader, rows, |_, value| put(said(value))),
        ColumnReader::DoubleColumnReader(reader) => records(reader, rows, |_, value| put(said(value))),
        ColumnReader::ByteArrayColumnReader(reader) => {
            let mut is_text = true;
            let done = records(reader, rows, |_, value| {
                let text = value.map(|text| std::str::from_utf8(text.data()));
                is_text &= !matches!(text, Some(Err(_)));
                put(said(text.and_then(Result::ok)));
            })?;
            // Replacing invalid letters could make two ids equal.
            if is_text { Ok(done) } else { Err(ParquetError::General("text that is not UTF-8".into())) }
        }
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            records(reader, rows, |_, value| put(said(value.and_then(|value| half_of(value.data())))))
        }
        _ => Ok(0),
    }
}

/// The error for 16-bit values with another length.
const NO_HALF: &str = "floating point in 16 bits that has another length";

/// Returns a little-endian 16-bit number; `None` for other lengths.
fn half_of(bytes: &[u8]) -> Option<f64> {
    Some(half(u16::from_le_bytes(bytes.try_into().ok()?)))
}

/// Lists the first of some things, and the number of things that are not listed.
fn list_of<T>(things: &[T], words: impl Fn(&T) -> String) -> String {
    const LISTED: usize = 10;
    let mut list = things.iter().take(LISTED).map(words).collect::<Vec<_>>().join(", ");
    if things.len() > LISTED {
        list.push_str(&format!(" and {} more", things.len() - LISTED));
    }
    list
}

/// Calls `put` with each of the next values of a column and its row, counted from 0. Returns the number of rows.
fn records<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    mut put: impl FnMut(usize, Option<&T::T>),
) -> Result<usize, ParquetError> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    let mut done = 0;
    while done < rows {
        levels.clear();
        values.clear();
        let (records, _, _) = reader.read_records(rows - done, Some(&mut levels), None, &mut values)?;
        if records == 0 {
            break;
        }
        if levels.is_empty() {
            values.iter().enumerate().for_each(|(place, value)| put(done + place, Some(value)));
        } else {
            // The definition level of a flat column is 1 where there is a value.
            let mut there = values.iter();
            for (place, level) in levels.iter().enumerate() {
                put(done + place, if *level > 0 { there.next() } else { None });
            }
        }
        done += records;
    }
    Ok(done)
}
