//! Reads NPY arrays, versions 1 to 3, into points.
//!
//! The header is a Python dictionary with three known keys. A scanner without backtracking and with a length limit
//! reads it, so that a strange header costs no more than its own bytes. Values are converted as they arrive, so a
//! header that declares more than the file has takes no memory. The tests compare with the `npyz` crate.

use std::cell::Cell;
use std::io::Read;

use lehr_spill::{Builder, Spill, Storage};

use crate::error::{Column, Error, Fault, Faults, Place, quoted};
use crate::incomplete::Incomplete;
use crate::object::Opened;
use crate::points::Points;
use crate::read::intake::{Intake, Layout, Row};
use crate::read::rounded::{is_rounded, note};
use crate::read::source::Source;
use crate::read::{SelectedColumns, Selection, half};

/// The first bytes of every NPY file.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";
/// The length at which a header is refused: no program writes such a long header for a plain array.
const HEADER_BYTES_MAX: usize = 1 << 20;
/// The number of bytes that are converted at once.
const CHUNK: usize = 1 << 16;
/// The maximum number of values of a column-major array that are in memory at once. If fewer than [`ROWS_ACROSS`] rows
/// fit into it, [`ROWS_ACROSS`] rows are read nevertheless.
const ACROSS: usize = 1 << 22;
/// The minimum number of rows that are read from a column at once, so that each disk access reads many numbers.
const ROWS_ACROSS: usize = 512;

/// Reads points from the chosen columns, with their values in memory or in a file of a folder. Only a block of the
/// array is in memory.
pub(super) fn points(mut source: Source<'_>, selection: &Selection, spill: Option<&Spill>) -> Result<Points, Error> {
    let header = Header::read(&mut source)?;
    header.needs_a_row(&mut source)?;
    let chosen = Chosen::new(source.name(), header.shape[1], selection)?;
    let layout = chosen.layout();
    let mut intake = Intake::new(source.name(), &layout, spill, header.rows_there(&source))?;
    let mut values = Vec::with_capacity(chosen.columns.len());
    if header.is_transposed()
        && let Some(file) = header.whole_file(&source)?
    {
        header.rows_across(&file, &source, |fields| intake.add(chosen.row(fields, &mut values)))?;
    } else if header.is_transposed() {
        // A column-major array that can be read only once is stored until its last column has arrived.
        let columns = header.stored(&mut source, spill)?;
        let mut fields = vec![0.0; header.shape[1]];
        for row in 0..header.shape[0] {
            let across = columns[row..].iter().step_by(header.shape[0]);
            fields.iter_mut().zip(across).for_each(|(field, value)| *field = *value);
            intake.add(chosen.row(&fields, &mut values))?;
        }
    } else {
        header.rows(&mut source, |fields| intake.add(chosen.row(fields, &mut values)))?;
    }
    Ok(intake.into_points()?.with_notes(header.notes()))
}

/// Returns the numbers of rows and columns, if the file is an array and as long as its header says.
pub(super) fn shape(source: &mut Source<'_>) -> Result<Option<[usize; 2]>, Error> {
    // A file that is not an array is reported by the reader itself.
    if !source.peek(MAGIC.len()).starts_with(MAGIC) {
        return Ok(None);
    }
    let header = Header::read(source)?;
    Ok((header.rows_there(source) == header.shape[0]).then_some(header.shape))
}

/// The rows of an array, in batches.
pub(super) struct Rows<'a> {
    source: Source<'a>,
    header: Header,
    chosen: Chosen,
    /// The number of values of the array that were read.
    done: usize,
    /// The values that were read; the values from `taken` on are not used yet.
    block: Vec<f64>,
    taken: usize,
    /// The number of rows that were read.
    row: usize,
    /// The chosen values of a row.
    values: Vec<f64>,
    /// Whether any row had a positive weight.
    has_weight: bool,
}

impl<'a> Rows<'a> {
    pub fn new(mut source: Source<'a>, selection: &Selection) -> Result<Self, Error> {
        let header = Header::read(&mut source)?;
        header.needs_a_row(&mut source)?;
        if header.is_transposed() {
            let expected = "an array that is stored row after row, of which some rows can be read at a time".into();
            let found = "one stored column after column (fortran_order)".into();
            return Err(Error::Format { name: source.name().into(), expected, found });
        }
        let chosen = Chosen::new(source.name(), header.shape[1], selection)?;
        let (block, values) = (Vec::new(), Vec::new());
        Ok(Rows { source, header, chosen, done: 0, block, taken: 0, row: 0, values, has_weight: false })
    }

    /// Returns the share of the file that was read.
    pub fn fraction(&self) -> Option<f64> {
        self.source.fraction()
    }

    /// Returns the next rows of positive weight, at most `rows` of them; `None` at the end.
    ///
    /// # Errors
    /// Returns the errors of reading, and faults in these rows. At the end, also returns an error if no row had a
    /// positive weight.
    pub fn next(&mut self, rows: usize) -> Result<Option<Points>, Error> {
        let dimension = self.header.shape[1];
        let there = self.header.rows_there(&self.source);
        let layout = self.chosen.layout();
        let mut intake = Intake::new(self.source.name(), &layout, None, rows.min(there))?;
        (intake.row, intake.leaves_weightless) = (self.row, true);
        while intake.kept < rows {
            if let Some(fields) = self.block.get(self.taken..self.taken + dimension) {
                intake.add(self.chosen.row(fields, &mut self.values))?;
                self.taken += dimension;
                continue;
            }
            self.block.drain(..self.taken);
            self.taken = 0;
            if !self.header.block(&mut self.source, &mut self.done, &mut self.block)? {
                break;
            }
        }
        self.row = intake.row;
        if intake.kept > 0 {
            self.has_weight = true;
            let points = intake.into_points()?;
            return Ok(Some(points.with_notes(self.header.notes())));
        }
        let is_all = !std::mem::replace(&mut self.has_weight, true);
        intake.into_faults(is_all).map(|()| None)
    }
}

/// Reads the chosen columns, with NaN for missing values. Weights are ignored.
pub(super) fn incomplete(mut source: Source<'_>, selection: &Selection) -> Result<Incomplete, Error> {
    let header = Header::read(&mut source)?;
    let [rows, dimension] = header.shape;
    let values = header.values(&mut source)?;
    let name = source.name();
    let chosen = Chosen::new(name, dimension, selection)?;
    // Report positions in the file, which the chosen columns alone do not have.
    let mut faults = Faults::new(name);
    for (row, fields) in values.chunks_exact(dimension).enumerate() {
        for &index in chosen.columns.iter().filter(|index| fields[**index].is_infinite()) {
            faults.add_with(|| Fault {
                place: Place::Row(row as u64),
                column: Some(Column { index, name: None }),
                expected: "a finite number, or a missing one".into(),
                found: fields[index].to_string(),
            });
        }
    }
    faults.or(())?;
    let id = |index: usize| values[index..].iter().step_by(dimension).map(f64::to_string).collect();
    let ids: Option<Vec<String>> = chosen.id.map(id);
    let read = Incomplete::named(chosen.of(values, rows), chosen.names(), name)?;
    Ok(read.with_read_ids(ids).with_notes(header.notes()))
}

/// Returns the shape and the contents of a two-dimensional array of bytes, row by row.
pub(super) fn bytes(source: &mut Source<'_>) -> Result<([usize; 2], Vec<u8>), Error> {
    let header = Header::read(source)?;
    if header.element != Element::U8 || header.is_flat {
        let expected = "an NPY array of packed bits, bytes (u1) in two dimensions".into();
        let found = if header.is_flat { "one of one dimension" } else { "numbers of another type" };
        return Err(Error::Format { name: source.name().into(), expected, found: found.into() });
    }
    let [rows, width] = header.shape;
    let mut bytes = Vec::with_capacity((rows * width).min(1 << 20));
    header.stream(source, |block| bytes.extend(block.iter().map(|byte| *byte as u8)))?;
    if header.is_fortran_order && rows > 1 && width > 1 {
        let columns = bytes;
        bytes = (0..rows).flat_map(|row| columns[row..].iter().step_by(rows)).copied().collect();
    }
    Ok((header.shape, bytes))
}

/// The roles of the columns of an array.
struct Chosen {
    /// The number of columns of the array.
    dimension: usize,
    columns: Vec<usize>,
    weights: Option<usize>,
    id: Option<usize>,
}

impl Chosen {
    fn new(source: &str, dimension: usize, selection: &Selection) -> Result<Self, Error> {
        let names: Vec<String> = (0..dimension).map(column_name).collect();
        let SelectedColumns { columns, weights, id } = SelectedColumns::of(source, selection, &names)?;
        let all = || (0..dimension).filter(|index| Some(*index) != id && Some(*index) != weights).collect();
        let columns = columns.unwrap_or_else(all);
        if columns.is_empty() {
            let expected = "a column of numbers besides those of weights and ids".into();
            return Err(Error::Format { name: source.into(), expected, found: format!("{dimension} in all") });
        }
        Ok(Chosen { dimension, columns, weights, id })
    }

    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|index| column_name(*index)).collect()
    }

    /// Returns the layout. Messages name columns of arrays only by their positions.
    fn layout(&self) -> Layout {
        let column = |index: usize| Column { index, name: None };
        Layout {
            columns: self.columns.iter().map(|index| column(*index)).collect(),
            names: self.names(),
            weights: self.weights.map(column),
            has_ids: self.id.is_some(),
            left_out: Vec::new(),
        }
    }

    /// Returns the chosen values of a row of the array. Copies them to `values`, unless all are chosen in order.
    fn row<'r>(&self, fields: &'r [f64], values: &'r mut Vec<f64>) -> Row<'r> {
        let (weight, id) = (self.weights.map(|index| fields[index]), self.id.map(|index| fields[index].to_string()));
        let values = if self.is_all() {
            fields
        } else {
            values.clear();
            values.extend(self.columns.iter().map(|index| fields[*index]));
            values
        };
        Row { values, nulls: &[], weight, id }
    }

    /// Returns whether all columns are chosen, in order.
    fn is_all(&self) -> bool {
        self.columns.len() == self.dimension && self.columns.iter().copied().eq(0..self.dimension)
    }

    /// Returns the chosen values, row by row, from the values of the whole array.
    fn of(&self, values: Vec<f64>, rows: usize) -> Vec<f64> {
        if self.is_all() {
            return values;
        }
        let mut chosen = Vec::with_capacity(rows * self.columns.len());
        for fields in values.chunks_exact(self.dimension) {
            chosen.extend(self.columns.iter().map(|index| fields[*index]));
        }
        chosen
    }
}

fn column_name(index: usize) -> String {
    format!("x{index}")
}

/// The shape, the element type and the order of the values after the header.
pub(super) struct Header {
    pub(super) element: Element,
    is_little_endian: bool,
    is_fortran_order: bool,
    /// The numbers of rows and columns, both at least 1; the size in bytes fits the address space.
    pub(super) shape: [usize; 2],
    /// Whether the array has one dimension, read as rows of one column.
    pub(super) is_flat: bool,
    /// The first whole number that was rounded.
    rounded: Cell<Option<i128>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    Bool,
    F16,
    F32,
    F64,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
}

impl Element {
    fn bytes(self) -> usize {
        match self {
            Element::Bool | Element::I8 | Element::U8 => 1,
            Element::F16 | Element::I16 | Element::U16 => 2,
            Element::F32 | Element::I32 | Element::U32 => 4,
            Element::F64 | Element::I64 | Element::U64 => 8,
        }
    }

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "b1" | "?" => Element::Bool,
            "f2" => Element::F16,
            "f4" => Element::F32,
            "f8" => Element::F64,
            "i1" => Element::I8,
            "i2" => Element::I16,
            "i4" => Element::I32,
            "i8" => Element::I64,
            "u1" => Element::U8,
            "u2" => Element::U16,
            "u4" => Element::U32,
            "u8" => Element::U64,
            _ => return None,
        })
    }
}

/// Describes an unsupported element type by its letter, and how to convert it.
fn about(element: &str) -> &'static str {
    match element.bytes().next() {
        Some(b'c') => ", complex numbers; save their real and imaginary parts",
        Some(b'O') => ", Python objects; convert them with astype(float)",
        Some(b'U' | b'S' | b'a') => ", text; convert it with astype(float)",
        Some(b'M' | b'm') => ", times; convert them with astype(float)",
        Some(b'f') => ", floating point of another size; convert it with astype(float)",
        _ => "",
    }
}

impl Header {
    pub(super) fn read(source: &mut Source<'_>) -> Result<Self, Error> {
        let name = source.name().to_string();
        let format =
            |expected: &str, found: String| Error::Format { name: name.clone(), expected: expected.into(), found };
        let cut = |read: usize| Error::CutShort {
            name: name.clone(),
            expected: "a whole NPY header".into(),
            read: format!("{read} bytes"),
        };
        let start = source.fill(12, None)?;
        if !start.starts_with(MAGIC) {
            return Err(format("an NPY file", quoted(&String::from_utf8_lossy(&start[..start.len().min(6)]))));
        }
        if start.len() < 12 {
            return Err(cut(start.len()));
        }
        let (prefix, length) = match start[6] {
            1 => (10, usize::from(u16::from_le_bytes([start[8], start[9]]))),
            2 | 3 => (12, u32::from_le_bytes([start[8], start[9], start[10], start[11]]) as usize),
            other => return Err(format("an NPY file of version 1, 2 or 3", format!("version {other}"))),
        };
        if length > HEADER_BYTES_MAX {
            return Err(format("an NPY header of at most 1 MiB", format!("{length} bytes")));
        }
        let window = source.fill(prefix + length, None)?;
        let Some(text) = window.get(prefix..prefix + length) else {
            return Err(cut(window.len()));
        };
        let expected = "an NPY header with descr, fortran_order and shape";
        let text = std::str::from_utf8(text).map_err(|_| format(expected, "text that is not UTF-8".into()))?;
        let Some((descr, is_fortran_order, shape)) = dictionary(text) else {
            return Err(format(expected, quoted(text.trim_end())));
        };
        let numbers = "elements of type f2, f4, f8, i1 to i8, u1 to u8 or b1";
        let Value::Text(descr) = descr else {
            return Err(format(numbers, "records of several fields".into()));
        };
        // Without a byte order, NumPy reads elements in the machine's order.
        let (order, element) = match descr.split_at_checked(1) {
            Some((order @ ("<" | ">" | "=" | "|"), element)) => (order, element),
            _ => ("=", descr),
        };
        let unknown = || format(numbers, format!("{}{}", quoted(descr), about(element)));
        let element = Element::named(element).ok_or_else(unknown)?;
        let is_little_endian = match order {
            "<" => true,
            ">" => false,
            "|" if element.bytes() > 1 => {
                let expected = format!("an order of bytes, < or >, before {:?}", &descr[1..]);
                return Err(format(&expected, quoted(descr)));
            }
            _ => cfg!(target_endian = "little"),
        };
        let [rows, dimension] = match shape[..] {
            [rows] => [rows, 1],
            [rows, columns] => [rows, columns],
            _ => return Err(format("an array of 1 or 2 dimensions", format!("one of {}: {shape:?}", shape.len()))),
        };
        if rows == 0 {
            return Err(Error::Empty { name, found: "an array of no rows" });
        }
        if dimension == 0 {
            return Err(format("an array with columns", "one of 0 columns".into()));
        }
        let bytes = rows.checked_mul(dimension).and_then(|count| count.checked_mul(element.bytes().max(8)));
        if bytes.is_none_or(|bytes| bytes > isize::MAX as usize) {
            return Err(format("an array that fits in memory", format!("one of {rows} x {dimension} values")));
        }
        source.consume(prefix + length);
        let is_flat = shape.len() == 1;
        let (shape, rounded) = ([rows, dimension], Cell::new(None));
        Ok(Header { element, is_little_endian, is_fortran_order, shape, is_flat, rounded })
    }

    /// Returns whether the values are in column-major order.
    fn is_transposed(&self) -> bool {
        self.is_fortran_order && self.shape[0] > 1 && self.shape[1] > 1
    }

    /// Returns the notes on the values. No note names a column, because all values have one type.
    fn notes(&self) -> Vec<String> {
        self.rounded.get().map(|number| note("the array", number)).into_iter().collect()
    }

    /// Checks that there is at least one row. A header may declare any number of columns, and the memory for each must
    /// not exceed the bytes that were read.
    fn needs_a_row(&self, source: &mut Source<'_>) -> Result<(), Error> {
        let bytes = self.shape[1] * self.element.bytes();
        let found = source.fill(bytes, None)?.len();
        if found < bytes { Err(self.cut_short(source, found)) } else { Ok(()) }
    }

    /// Returns the error for values that end after this many bytes.
    fn cut_short(&self, source: &Source<'_>, found: usize) -> Error {
        let [rows, dimension] = self.shape;
        let bytes = rows * dimension * self.element.bytes();
        Error::CutShort {
            name: source.name().into(),
            expected: format!("{rows} x {dimension} values in {bytes} bytes"),
            read: format!("{found} bytes of them"),
        }
    }

    /// Returns the expected number of rows, if the file is as long as its header says; 0 if unknown.
    fn rows_there(&self, source: &Source<'_>) -> usize {
        let [rows, dimension] = self.shape;
        source.left().map_or(0, |left| {
            rows.min(usize::try_from(left).unwrap_or(usize::MAX) / (dimension * self.element.bytes()))
        })
    }

    /// Returns a separate handle of the file, if it has exactly the values of the header.
    fn whole_file(&self, source: &Source<'_>) -> Result<Option<Opened>, Error> {
        let [rows, dimension] = self.shape;
        let bytes = (rows * dimension * self.element.bytes()) as u64;
        if source.left() == Some(bytes) { source.again() } else { Ok(None) }
    }

    /// Calls `each` with each row of a column-major array. Reads the file in blocks of rows; `source` is at the first
    /// value.
    fn rows_across(
        &self,
        file: &Opened,
        source: &Source<'_>,
        mut each: impl FnMut(&[f64]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let ([rows, dimension], size) = (self.shape, self.element.bytes());
        let failed = |cause| Error::Read { name: source.name().into(), cause };
        let most = (ACROSS / dimension).max(ROWS_ACROSS).min(rows);
        let (mut bytes, mut part) = (vec![0; most * size], Vec::with_capacity(most));
        let mut block = vec![0.0; most * dimension];
        for first in (0..rows).step_by(most) {
            let count = most.min(rows - first);
            for column in 0..dimension {
                let place = source.offset() + ((column * rows + first) * size) as u64;
                let bytes = &mut bytes[..count * size];
                let range = place..place + bytes.len() as u64;
                file.range(range, bytes.len()).read_exact(bytes).map_err(failed)?;
                part.clear();
                self.convert(bytes, &mut part);
                block[column..].iter_mut().step_by(dimension).zip(&part).for_each(|(to, value)| *to = *value);
            }
            block[..count * dimension].chunks_exact(dimension).try_for_each(&mut each)?;
        }
        Ok(())
    }

    /// Returns all values in the order of the file, in memory or in a file of a folder.
    fn stored(&self, source: &mut Source<'_>, spill: Option<&Spill>) -> Result<Storage<f64>, Error> {
        let name = source.name().to_owned();
        let kept = |error| Error::kept(&name, error);
        let mut values = Builder::new(spill, self.rows_there(source) * self.shape[1]).map_err(kept)?;
        self.try_stream(source, |block| values.extend(block).map_err(kept))?;
        Ok(values.finish()?)
    }

    /// Calls `each` with each row of a row-major array.
    fn rows(&self, source: &mut Source<'_>, mut each: impl FnMut(&[f64]) -> Result<(), Error>) -> Result<(), Error> {
        let dimension = self.shape[1];
        // The first part of a row that continues in the next block.
        let mut begun = Vec::new();
        self.try_stream(source, |mut block| {
            if !begun.is_empty() {
                let (more, rest) = block.split_at(block.len().min(dimension - begun.len()));
                begun.extend_from_slice(more);
                block = rest;
                if begun.len() < dimension {
                    return Ok(());
                }
                each(&begun)?;
                begun.clear();
            }
            let whole = block.chunks_exact(dimension);
            begun.extend_from_slice(whole.remainder());
            for row in whole {
                each(row)?;
            }
            Ok(())
        })
    }

    /// Returns all values, row by row.
    fn values(&self, source: &mut Source<'_>) -> Result<Vec<f64>, Error> {
        let [rows, dimension] = self.shape;
        let count = rows * dimension;
        // Let the memory grow with the values that exist, because a header may declare any number.
        let mut values = Vec::with_capacity(count.min(1 << 20));
        self.stream(source, |block| values.extend_from_slice(block))?;
        if self.is_transposed() {
            let columns = values;
            values = Vec::with_capacity(count);
            for row in 0..rows {
                values.extend(columns[row..].iter().step_by(rows));
            }
        }
        Ok(values)
    }

    /// Calls `each` with all values in the order of the file, in blocks.
    pub(super) fn stream(&self, source: &mut Source<'_>, mut each: impl FnMut(&[f64])) -> Result<(), Error> {
        self.try_stream(source, |block| {
            each(block);
            Ok(())
        })
    }

    /// Like [`stream`](Header::stream), but stops if `each` fails.
    fn try_stream(
        &self,
        source: &mut Source<'_>,
        mut each: impl FnMut(&[f64]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (mut block, mut done) = (Vec::with_capacity(CHUNK / self.element.bytes()), 0);
        while self.block(source, &mut done, &mut block)? {
            each(&block)?;
            block.clear();
        }
        Ok(())
    }

    /// Appends the next values in the order of the file, after `done` earlier ones. Returns false when all values were
    /// read, after checking that the source ends.
    fn block(&self, source: &mut Source<'_>, done: &mut usize, block: &mut Vec<f64>) -> Result<bool, Error> {
        let ([rows, dimension], size) = (self.shape, self.element.bytes());
        let count = rows * dimension;
        if *done < count {
            let window = source.fill(CHUNK.min((count - *done) * size), None)?;
            let usable = CHUNK.min((window.len() / size).min(count - *done) * size);
            if usable == 0 {
                let found = *done * size + window.len();
                return Err(self.cut_short(source, found));
            }
            self.convert(&window[..usable], block);
            *done += usable / size;
            source.consume(usable);
            return Ok(true);
        }
        if !source.fill(1, None)?.is_empty() {
            let expected = format!("the end of the file after {rows} x {dimension} values");
            return Err(Error::Format { name: source.name().into(), expected, found: "more bytes".into() });
        }
        Ok(false)
    }

    fn convert(&self, bytes: &[u8], values: &mut Vec<f64>) {
        let little = self.is_little_endian;
        macro_rules! convert {
            ($type:ty) => {
                values.extend(bytes.as_chunks().0.iter().map(|bytes| {
                    let number = if little { <$type>::from_le_bytes(*bytes) } else { <$type>::from_be_bytes(*bytes) };
                    number as f64
                }))
            };
        }
        macro_rules! look_and_convert {
            ($type:ty) => {{
                for bytes in bytes.as_chunks().0 {
                    let number = if little { <$type>::from_le_bytes(*bytes) } else { <$type>::from_be_bytes(*bytes) };
                    if is_rounded(number.into()) {
                        self.rounded.set(self.rounded.get().or(Some(number.into())));
                    }
                }
                convert!($type)
            }};
        }
        match self.element {
            Element::Bool => values.extend(bytes.iter().map(|byte| f64::from(u8::from(*byte != 0)))),
            Element::F16 => {
                values.extend(
                    bytes.as_chunks().0.iter().map(|bytes| {
                        half(if little { u16::from_le_bytes(*bytes) } else { u16::from_be_bytes(*bytes) })
                    }),
                )
            }
            Element::F32 => convert!(f32),
            Element::F64 => convert!(f64),
            Element::I8 => convert!(i8),
            Element::I16 => convert!(i16),
            Element::I32 => convert!(i32),
            Element::I64 => look_and_convert!(i64),
            Element::U8 => convert!(u8),
            Element::U16 => convert!(u16),
            Element::U32 => convert!(u32),
            Element::U64 => look_and_convert!(u64),
        }
    }
}

/// A value of the header's dictionary, as far as plain arrays need it.
enum Value<'t> {
    Text(&'t str),
    Truth(bool),
    Numbers(Vec<usize>),
    /// A list: the element type of a structured array.
    List,
}

/// Returns `descr`, `fortran_order` and `shape` of a header such as
/// `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }`.
fn dictionary(text: &str) -> Option<(Value<'_>, bool, Vec<usize>)> {
    let (mut descr, mut fortran_order, mut shape) = (None, None, None);
    let mut rest = text.trim().strip_prefix('{')?.trim_start();
    while !rest.starts_with('}') {
        let (key, after) = string(rest)?;
        let (value, after) = value(after.trim_start().strip_prefix(':')?.trim_start())?;
        match (key, value) {
            ("descr", value @ (Value::Text(_) | Value::List)) => descr = Some(value),
            ("fortran_order", Value::Truth(truth)) => fortran_order = Some(truth),
            ("shape", Value::Numbers(numbers)) => shape = Some(numbers),
            _ => return None,
        }
        let after = after.trim_start();
        rest = match after.strip_prefix(',') {
            Some(after) => after.trim_start(),
            None if after.starts_with('}') => after,
            None => return None,
        };
    }
    if rest != "}" {
        return None;
    }
    Some((descr?, fortran_order?, shape?))
}

fn string(text: &str) -> Option<(&str, &str)> {
    let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
    text[1..].split_once(quote)
}

fn value(text: &str) -> Option<(Value<'_>, &str)> {
    if let Some(rest) = text.strip_prefix("True") {
        return Some((Value::Truth(true), rest));
    }
    if let Some(rest) = text.strip_prefix("False") {
        return Some((Value::Truth(false), rest));
    }
    if let Some(rest) = text.strip_prefix('(') {
        let (inside, rest) = rest.split_once(')')?;
        let inside = inside.trim();
        let inside = inside.strip_suffix(',').unwrap_or(inside);
        let numbers = if inside.is_empty() {
            Some(Vec::new())
        } else {
            // Python 2 wrote large shapes as `3L`.
            inside.split(',').map(|number| number.trim().trim_end_matches('L').parse().ok()).collect()
        };
        return Some((Value::Numbers(numbers?), rest));
    }
    if text.starts_with('[') {
        return Some((Value::List, after_list(text)?));
    }
    let (text, rest) = string(text)?;
    Some((Value::Text(text), rest))
}

/// Returns the text after the list that starts here; brackets within quotes do not count.
fn after_list(text: &str) -> Option<&str> {
    let (mut depth, mut quote) = (0usize, None);
    for (index, byte) in text.bytes().enumerate() {
        match (quote, byte) {
            (Some(open), byte) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'[') => depth += 1,
            (None, b']') => {
                depth -= 1;
                if depth == 0 {
                    return Some(&text[index + 1..]);
                }
            }
            _ => {}
        }
    }
    None
}
