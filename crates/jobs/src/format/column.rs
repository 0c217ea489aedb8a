//! Columns as they are read from a file of columns, a batch after the other, with what is wrong in them.

use lehr_data::error::{Column as ColumnOfFault, Fault as FaultOfRow, Faults, Place};
use lehr_services::{Code, Fault};

use crate::table::{Builder, Columns};

/// Whole numbers beyond this one are not all there among the floating point numbers.
const EXACT: u64 = 1 << 53;

/// The values of one column so far.
#[derive(Debug)]
pub(crate) enum Values {
    Numbers(Vec<f64>),
    Singles(Vec<f32>),
    Whole(Vec<i64>),
    Counts(Vec<u64>),
    Texts(Vec<String>),
}

/// A column on its way in.
#[derive(Debug)]
pub(crate) struct Column {
    pub index: usize,
    pub name: String,
    pub values: Values,
    /// Whether numbers may be missing.
    pub has_gaps: bool,
}

impl Column {
    pub(crate) fn len(&self) -> usize {
        match &self.values {
            Values::Numbers(values) => values.len(),
            Values::Singles(values) => values.len(),
            Values::Whole(values) => values.len(),
            Values::Counts(values) => values.len(),
            Values::Texts(values) => values.len(),
        }
    }

    fn fault(&self, faults: &mut Faults, expected: &str, found: impl FnOnce() -> String) {
        let row = self.len() as u64;
        faults.add_with(|| FaultOfRow {
            place: Place::Row(row),
            column: Some(ColumnOfFault { index: self.index, name: Some(self.name.clone()) }),
            expected: expected.to_owned(),
            found: found(),
        });
    }

    /// A row without a value: a fault. What stands in its place is never seen.
    pub(crate) fn gap(&mut self, faults: &mut Faults) {
        if !(self.has_gaps && matches!(self.values, Values::Numbers(_) | Values::Singles(_))) {
            self.fault(faults, "a value", || "none".to_owned());
        }
        match &mut self.values {
            Values::Numbers(values) => values.push(f64::NAN),
            Values::Singles(values) => values.push(f32::NAN),
            Values::Whole(values) => values.push(0),
            Values::Counts(values) => values.push(0),
            Values::Texts(values) => values.push(String::new()),
        }
    }

    pub(crate) fn number(&mut self, number: f64, faults: &mut Faults) {
        if !(number.is_finite() || number.is_nan() && self.has_gaps) {
            self.fault(faults, "a finite number", || number.to_string());
        }
        match &mut self.values {
            Values::Numbers(values) => values.push(number),
            // It was one before it was widened.
            Values::Singles(values) => values.push(number as f32),
            _ => {}
        }
    }

    pub(crate) fn whole(&mut self, number: i64) {
        if let Values::Whole(values) = &mut self.values {
            values.push(number);
        }
    }

    pub(crate) fn count(&mut self, count: u64) {
        if let Values::Counts(values) = &mut self.values {
            values.push(count);
        }
    }

    pub(crate) fn text(&mut self, text: &str) {
        if let Values::Texts(values) = &mut self.values {
            values.push(text.to_owned());
        }
    }

    /// The column, put into a table: whole numbers from 0 on are counts, others are numbers if that keeps them as they are.
    fn put(self, builder: Builder, faults: &mut Faults) -> Builder {
        let name = self.name.clone();
        match self.values {
            Values::Numbers(values) => builder.numbers(name, values),
            Values::Singles(values) => builder.singles(name, values),
            Values::Counts(values) => builder.counts(name, values),
            Values::Texts(values) => builder.texts(name, values),
            Values::Whole(values) if values.iter().all(|&value| value >= 0) => {
                builder.counts(name, values.into_iter().map(|value| value as u64).collect())
            }
            Values::Whole(values) => {
                for (row, value) in values.iter().enumerate().filter(|(_, value)| value.unsigned_abs() > EXACT) {
                    faults.add_with(|| FaultOfRow {
                        place: Place::Row(row as u64),
                        column: Some(ColumnOfFault { index: self.index, name: Some(name.clone()) }),
                        expected: format!("numbers of at most {EXACT} where some are below 0"),
                        found: value.to_string(),
                    });
                }
                builder.numbers(name, values.into_iter().map(|value| value as f64).collect())
            }
        }
    }
}

/// Puts columns together to a table.
///
/// # Errors
/// [`Code::InvalidValue`] with the first ten faults and their number.
pub(crate) fn table(
    columns: Vec<Column>,
    wanted: &Columns,
    has_gaps: bool,
    mut faults: Faults,
) -> Result<crate::Table, Fault> {
    let mut builder = crate::Table::builder().weights(wanted.weights.clone()).id(wanted.id.clone()).gaps(has_gaps);
    for column in columns {
        builder = column.put(builder, &mut faults);
    }
    faults.or(()).map_err(|error| super::fault_of(&error))?;
    builder.build()
}

/// Of the columns of a file, by index, those that are wanted: in the order asked for, then weights and ids.
///
/// # Errors
/// [`Code::InvalidValue`] with those that are not there.
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

/// A column of what no table holds.
pub(crate) fn unsupported(file: &str, index: usize, name: &str, found: &str) -> Fault {
    let place = format!("{file}, column {} ({name:?})", index + 1);
    let hint = "name the columns to read to leave it out";
    Fault::new(Code::InvalidValue, format!("{place}: expected numbers, whole numbers or text, found {found}; {hint}"))
}
