//! Columns of a columnar file that are read batch by batch, and the faults in them.

use arrow_array::builder::StringBuilder;
use lehr_data::LeftOut;
use lehr_data::dissimilarities::MISSING_U16;
use lehr_data::error::{Column as ColumnOfFault, Fault as FaultOfRow, Faults, Place};
use lehr_services::{Code, Fault};
use lehr_sync::{Arc, Mutex};

use crate::table::{Builder, Columns};

/// The largest number up to which floating point represents all whole numbers.
const EXACT: u64 = 1 << 53;

/// Which values of a file may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gaps {
    /// No values.
    Nowhere,
    /// Only floating-point and fixed-point numbers, as in tables written by Lehr.
    InNumbers,
    /// All values. Whole numbers with missing values become floating point, and a missing text becomes empty.
    Anywhere,
}

/// The values of a column that were read so far.
#[derive(Debug)]
pub(crate) enum Values {
    Numbers(Vec<f64>),
    Singles(Vec<f32>),
    /// Fixed-point numbers, with the value of a unit.
    Fixed(Vec<u16>, f64),
    Whole(Vec<i64>),
    Counts(Vec<u64>),
    Texts(StringBuilder),
}

impl Values {
    pub(crate) fn texts() -> Self {
        Self::Texts(StringBuilder::new())
    }
}

/// The memory that was left at the last [`Intake::tell`], in bytes. Code that reserves memory for values in advance
/// reads this number.
#[derive(Clone, Debug)]
pub(crate) struct Left(Arc<Mutex<u64>>);

impl Left {
    pub(crate) fn bytes(&self) -> u64 {
        *self.0.lock()
    }
}

/// The faults in a file's columns, and the memory that their values may still take. A text in a dictionary takes a few
/// bytes of the file for each use, so its size in memory is counted for each use.
#[derive(Debug)]
pub(crate) struct Intake {
    faults: Faults,
    bytes_max: u64,
    left: u64,
    told: Left,
    /// The first column that exceeded the memory limit.
    full: Option<(usize, String)>,
}

impl Intake {
    /// Creates an intake for a file. Messages call the file `name`, and its values may take `bytes_max` bytes.
    pub(crate) fn new(name: &str, bytes_max: u64) -> Self {
        let told = Left(Arc::new(Mutex::new(bytes_max)));
        Self { faults: Faults::new(name), bytes_max, left: bytes_max, told, full: None }
    }

    /// Returns a handle that shows the memory left at the last [`Intake::tell`].
    pub(crate) fn left(&self) -> Left {
        self.told.clone()
    }

    /// Publishes how much memory is left, before more is reserved. Publishing after each value would be slow.
    pub(crate) fn tell(&self) {
        *self.told.0.lock() = self.left;
    }

    /// Returns whether the memory limit is reached; from then on no values are kept.
    pub(crate) fn is_full(&self) -> bool {
        self.full.is_some()
    }

    /// Checks that all values fit into the memory limit.
    ///
    /// # Errors
    /// Returns [`Code::TooLarge`] if the values exceed the memory limit.
    pub(crate) fn check(&self, file: &str) -> Result<(), Fault> {
        let Some((index, name)) = &self.full else { return Ok(()) };
        Err(too_large(file, *index, name, self.bytes_max))
    }
}

/// Returns the fault for the column in which a file exceeds its memory limit.
pub(crate) fn too_large(file: &str, index: usize, name: &str, bytes_max: u64) -> Fault {
    let place = format!("{file}, column {} ({name:?})", index + 1);
    Fault::new(
        Code::TooLarge,
        format!("{place}: with it the values take more than the {bytes_max} bytes that are allowed"),
    )
}

/// A column that is being read.
#[derive(Debug)]
pub(crate) struct Column {
    pub index: usize,
    pub name: String,
    pub values: Values,
    /// Which values may be missing.
    pub gaps: Gaps,
    /// Whether the file was written by Lehr and declares these numbers whole.
    pub is_whole: bool,
}

impl Column {
    pub(crate) fn len(&self) -> usize {
        match &self.values {
            Values::Numbers(values) => values.len(),
            Values::Singles(values) => values.len(),
            Values::Fixed(values, _) => values.len(),
            Values::Whole(values) => values.len(),
            Values::Counts(values) => values.len(),
            Values::Texts(values) => arrow_array::builder::ArrayBuilder::len(values),
        }
    }

    /// Counts the memory for a value, and returns whether the memory limit allows it.
    fn has_room(&self, bytes: usize, intake: &mut Intake) -> bool {
        if intake.full.is_none() {
            match intake.left.checked_sub(bytes as u64) {
                Some(left) => intake.left = left,
                None => intake.full = Some((self.index, self.name.clone())),
            }
        }
        intake.full.is_none()
    }

    fn fault(&self, intake: &mut Intake, expected: &str, found: impl FnOnce() -> String) {
        let row = self.len() as u64;
        intake.faults.add_with(|| FaultOfRow {
            place: Place::Row(row),
            column: Some(ColumnOfFault { index: self.index, name: Some(self.name.clone()) }),
            expected: expected.to_owned(),
            found: found(),
        });
    }

    /// Adds a row without a value, with a placeholder. If the column requires a value, the missing value is a fault,
    /// and the placeholder is never used.
    pub(crate) fn gap(&mut self, intake: &mut Intake) {
        let is_number = matches!(self.values, Values::Numbers(_) | Values::Singles(_) | Values::Fixed(..));
        match self.gaps {
            Gaps::InNumbers if is_number => {}
            Gaps::Anywhere => self.widen(),
            Gaps::Nowhere | Gaps::InNumbers => self.fault(intake, "a value", || "none".to_owned()),
        }
        match &self.values {
            Values::Numbers(_) | Values::Singles(_) => self.put_number(f64::NAN, intake),
            Values::Fixed(..) => self.put_fixed(MISSING_U16, intake),
            Values::Whole(_) => self.whole(0, intake),
            Values::Counts(_) => self.count(0, intake),
            Values::Texts(_) => self.text("", intake),
        }
    }

    /// Turns whole numbers into floating point, because some are missing.
    fn widen(&mut self) {
        let numbers = match &self.values {
            Values::Whole(values) => values.iter().map(|value| *value as f64).collect(),
            Values::Counts(values) => values.iter().map(|value| *value as f64).collect(),
            _ => return,
        };
        self.values = Values::Numbers(numbers);
    }

    pub(crate) fn number(&mut self, number: f64, intake: &mut Intake) {
        if !(number.is_finite() || number.is_nan() && self.gaps != Gaps::Nowhere) {
            self.fault(intake, "a finite number", || number.to_string());
        }
        self.put_number(number, intake);
    }

    fn put_number(&mut self, number: f64, intake: &mut Intake) {
        let bytes = if matches!(self.values, Values::Singles(_)) { size_of::<f32>() } else { size_of::<f64>() };
        let has_room = self.has_room(bytes, intake);
        match &mut self.values {
            Values::Numbers(values) if has_room => values.push(number),
            // The conversion is exact, because the number was an `f32` before.
            Values::Singles(values) if has_room => values.push(number as f32),
            _ => {}
        }
    }

    /// Adds a 16-bit whole number: a fixed-point number, or a count.
    pub(crate) fn small(&mut self, value: u16, intake: &mut Intake) {
        match self.values {
            Values::Fixed(..) if value == MISSING_U16 => self.gap(intake),
            Values::Fixed(..) => self.put_fixed(value, intake),
            _ => self.count(u64::from(value), intake),
        }
    }

    fn put_fixed(&mut self, value: u16, intake: &mut Intake) {
        let has_room = self.has_room(size_of::<u16>(), intake);
        if let Values::Fixed(values, _) = &mut self.values
            && has_room
        {
            values.push(value);
        }
    }

    pub(crate) fn whole(&mut self, number: i64, intake: &mut Intake) {
        let has_room = self.has_room(size_of::<i64>(), intake);
        match &mut self.values {
            Values::Whole(values) if has_room => values.push(number),
            Values::Numbers(values) if has_room => values.push(number as f64),
            _ => {}
        }
    }

    pub(crate) fn count(&mut self, count: u64, intake: &mut Intake) {
        let has_room = self.has_room(size_of::<u64>(), intake);
        match &mut self.values {
            Values::Counts(values) if has_room => values.push(count),
            Values::Numbers(values) if has_room => values.push(count as f64),
            _ => {}
        }
    }

    pub(crate) fn text(&mut self, text: &str, intake: &mut Intake) {
        // Arrow stores the end of each text in 32 bits, so the total length must fit into 32 bits too.
        let mut has_room = self.has_room(text.len() + size_of::<i32>(), intake);
        let Values::Texts(values) = &mut self.values else { return };
        if has_room && values.values_slice().len() + text.len() > i32::MAX as usize {
            intake.full = Some((self.index, self.name.clone()));
            intake.bytes_max = intake.bytes_max.min(i32::MAX as u64);
            has_room = false;
        }
        if has_room {
            values.append_value(text);
        }
    }

    /// Reports bytes that are not valid UTF-8. The bytes count towards the memory limit, because they are examined
    /// again for each row that refers to them.
    pub(crate) fn no_text(&mut self, bytes: &[u8], intake: &mut Intake) {
        self.fault(intake, "text in UTF-8", || format!("{} bytes that are none", bytes.len()));
        if self.has_room(bytes.len(), intake) {
            self.text("", intake);
        }
    }

    /// Adds the column to a table. Non-negative whole numbers become counts. Other whole numbers become floating point
    /// if this keeps their values.
    fn put(self, builder: Builder, intake: &mut Intake) -> Builder {
        let name = self.name.clone();
        match self.values {
            Values::Numbers(values) if self.is_whole => builder.whole(name, values),
            Values::Numbers(values) => builder.numbers(name, values),
            Values::Singles(values) => builder.singles(name, values),
            Values::Fixed(values, scale) => builder.fixed(name, values, scale),
            Values::Counts(values) => builder.counts(name, values),
            Values::Texts(mut values) => builder.text_array(name, values.finish()),
            Values::Whole(values) if values.iter().all(|&value| value >= 0) => {
                builder.counts(name, values.into_iter().map(|value| value as u64).collect())
            }
            Values::Whole(values) => {
                for (row, value) in values.iter().enumerate().filter(|(_, value)| value.unsigned_abs() > EXACT) {
                    intake.faults.add_with(|| FaultOfRow {
                        place: Place::Row(row as u64),
                        column: Some(ColumnOfFault { index: self.index, name: Some(name.clone()) }),
                        expected: format!("numbers of at most {EXACT} where some are below 0"),
                        found: value.to_string(),
                    });
                }
                builder.whole(name, values.into_iter().map(|value| value as f64).collect())
            }
        }
    }
}

/// Assembles columns into a table.
///
/// # Errors
/// Returns [`Code::InvalidValue`] with the first ten faults and their number, or [`Code::TooLarge`] if the values
/// exceed the memory limit.
pub(crate) fn table(
    columns: Vec<Column>,
    wanted: &Columns,
    gaps: Gaps,
    file: &str,
    mut intake: Intake,
) -> Result<crate::Table, Fault> {
    intake.check(file)?;
    let mut builder =
        crate::Table::builder().weights(wanted.weights.clone()).id(wanted.id.clone()).gaps(gaps != Gaps::Nowhere);
    for column in columns {
        builder = column.put(builder, &mut intake);
    }
    intake.faults.or(()).map_err(|error| super::fault_of(&error))?;
    builder.build()
}

/// Returns the indices of the wanted columns: the requested columns in their order, then weights and ids.
///
/// # Errors
/// Returns [`Code::InvalidValue`], which lists the names that do not exist.
pub(crate) fn chosen(names: &[String], wanted: &Columns, file: &str) -> Result<Vec<usize>, Fault> {
    let all: Vec<&String> = match &wanted.columns {
        None => return roles_there(names, wanted, file).map(|()| (0..names.len()).collect()),
        Some(columns) => columns.iter().chain(&wanted.weights).chain(&wanted.id).collect(),
    };
    let mut indices = Vec::new();
    let mut missing = Vec::new();
    for name in all {
        match names.iter().position(|other| other == name) {
            Some(index) if indices.contains(&index) => {}
            Some(index) => indices.push(index),
            None => missing.push(name.clone()),
        }
    }
    if missing.is_empty() { Ok(indices) } else { Err(absent(names, missing, file)) }
}

fn roles_there(names: &[String], wanted: &Columns, file: &str) -> Result<(), Fault> {
    let roles = wanted.weights.iter().chain(&wanted.id);
    let missing: Vec<String> = roles.filter(|name| !names.contains(name)).cloned().collect();
    if missing.is_empty() { Ok(()) } else { Err(absent(names, missing, file)) }
}

fn absent(names: &[String], missing: Vec<String>, file: &str) -> Fault {
    let error = lehr_data::Error::NoSuchColumns { name: file.to_owned(), wanted: missing, columns: names.to_vec() };
    super::fault_of(&error)
}

/// Returns the fault for a column whose compression is not supported.
pub(crate) fn unread(file: &str, index: usize, name: &str, read: &str, codec: &str) -> Fault {
    let place = format!("{file}, column {} ({name:?})", index + 1);
    Fault::new(Code::InvalidValue, format!("{place}: expected {read}, found {codec}, which is not read here"))
}

/// Leaves out a column of a type that tables do not support, unless it was asked for by name.
///
/// # Errors
/// Returns the fault of [`unsupported`] for a column that was asked for, or if the reader leaves out no columns.
pub(crate) fn leave_out(
    (file, index, name): (&str, usize, &str),
    found: &str,
    wanted: &Columns,
    left_out: Option<&mut Vec<LeftOut>>,
) -> Result<(), Fault> {
    let is_asked = wanted.columns.is_some() || [&wanted.weights, &wanted.id].into_iter().flatten().any(|of| of == name);
    match left_out {
        Some(left_out) if !is_asked => {
            let (column, kind) = (name.to_owned(), Some(found.to_owned()));
            left_out.push(LeftOut { column, example: String::new(), slip: None, kind });
            Ok(())
        }
        _ => Err(unsupported(file, index, name, found)),
    }
}

/// Returns the fault for a file without any column of a supported type.
pub(crate) fn nothing_left(file: &str, left_out: &[LeftOut]) -> Fault {
    let columns: Vec<String> = left_out.iter().take(10).map(ToString::to_string).collect();
    let found = if columns.is_empty() { "no columns".to_owned() } else { columns.join(", ") };
    Fault::new(Code::InvalidValue, format!("{file}: expected columns of numbers, whole numbers or text, found {found}"))
}

/// Returns the fault for a column of a type that tables do not support.
pub(crate) fn unsupported(file: &str, index: usize, name: &str, found: &str) -> Fault {
    let place = format!("{file}, column {} ({name:?})", index + 1);
    let hint = "name the columns to read to leave it out";
    Fault::new(Code::InvalidValue, format!("{place}: expected numbers, whole numbers or text, found {found}; {hint}"))
}
