//! Tables: the form of data sets, and of the inputs and outputs of methods.
//!
//! A table has named columns of numbers, counts or text, stored as reference-counted Arrow arrays: cloning and slicing
//! copy only pointers. Two columns may have a role: the weights of the rows, and their ids. Building a table checks
//! that its columns have the same length and different names. A missing number is NaN. A table says whether numbers may
//! be missing ([`Table::has_gaps`]).

mod frame;
mod rows;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, UInt16Type, UInt64Type};
use arrow_array::{Array, ArrayRef, Float32Array, Float64Array, RecordBatch, StringArray, UInt16Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema as ArrowSchema};
use lehr_data::dissimilarities::{LARGEST_U16, MISSING_U16};
use lehr_services::{Code, Fault};
use lehr_sync::Arc;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

pub use rows::Columns;
pub(crate) use rows::{FINGERPRINT, SPARSE};

/// The metadata key of a schema that names the column of weights.
pub(crate) const WEIGHTS: &str = "lehr.weights";
pub(crate) const ID: &str = "lehr.id";
/// The metadata key of a schema that says whether numbers may be missing.
pub(crate) const GAPS: &str = "lehr.gaps";
/// The metadata key of a fixed-point column that gives its scale: the factor by which to multiply its stored values.
const SCALE: &str = "lehr.scale";
/// The metadata key that marks the numbers of a column as whole.
pub(crate) const WHOLE: &str = "lehr.whole";

/// The kind of a column's values.
///
/// # Example
/// ```
/// use lehr_jobs::{Kind, Table};
/// let table = Table::builder().texts("site", vec!["A".into()]).numbers("lon", vec![8.5]).build().unwrap();
/// assert_eq!(table.columns().map(|(_, kind)| kind).collect::<Vec<_>>(), [Kind::Text, Kind::Number]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Floating-point numbers of 64 bits, or of 32 bits to save memory, or 16-bit fixed point. The numbers are finite,
    /// or NaN if the table declares that values may be missing.
    Number,
    /// Non-negative whole numbers.
    Count,
    /// Text.
    Text,
}

/// A table: named columns of equal length. A table is cheap to clone.
///
/// # Example
/// ```
/// use lehr_jobs::Table;
/// let table = Table::builder().numbers("lon", vec![8.5, 6.1]).counts("people", vec![3, 0]).build()?;
/// assert_eq!((table.rows(), table.slice(1, 1).numbers("people").unwrap().into_owned()), (2, vec![0.0]));
/// # Ok::<(), lehr_services::Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    batch: RecordBatch,
}

/// A builder of tables; see [`Table::builder`].
#[derive(Debug, Default)]
pub struct Builder {
    columns: Vec<(String, ArrayRef)>,
    /// The scales of fixed-point columns, by name.
    scales: BTreeMap<String, f64>,
    /// The numeric columns that contain whole numbers.
    whole: BTreeSet<String>,
    weights: Option<String>,
    id: Option<String>,
    has_gaps: bool,
    is_too_long: Option<String>,
}

impl Builder {
    /// Adds a column of numbers.
    pub fn numbers(mut self, name: impl Into<String>, values: Vec<f64>) -> Self {
        self.columns.push((name.into(), Arc::new(Float64Array::from(values))));
        self
    }

    /// Adds a column of whole numbers that may be negative, such as labels. In text output, the numbers have no decimal
    /// point.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::Table;
    /// let table = Table::builder().whole("cluster", vec![-1.0, 2.0]).build()?;
    /// assert!(table.is_whole("cluster"));
    /// # Ok::<(), lehr_services::Fault>(())
    /// ```
    pub fn whole(mut self, name: impl Into<String>, values: Vec<f64>) -> Self {
        let name = name.into();
        self.whole.insert(name.clone());
        self.numbers(name, values)
    }

    /// Adds a column of numbers that are stored in 32 bits.
    pub fn singles(mut self, name: impl Into<String>, values: Vec<f32>) -> Self {
        self.columns.push((name.into(), Arc::new(Float32Array::from(values))));
        self
    }

    /// Adds a column of numbers that are stored in 16 bits. A number is `scale` times the stored number; 65535 means
    /// missing.
    ///
    /// # Example
    /// ```
    /// use lehr_jobs::Table;
    /// let table = Table::builder().fixed("dissimilarity", vec![0, 3, u16::MAX], 0.25).gaps(true).build()?;
    /// let numbers = table.numbers("dissimilarity").unwrap();
    /// assert_eq!((numbers[1], numbers[2].is_nan(), table.bytes()), (0.75, true, 6));
    /// # Ok::<(), lehr_services::Fault>(())
    /// ```
    pub fn fixed(mut self, name: impl Into<String>, values: Vec<u16>, scale: f64) -> Self {
        let name = name.into();
        self.scales.insert(name.clone(), scale);
        self.columns.push((name, Arc::new(UInt16Array::from(values))));
        self
    }

    /// Sets whether numbers may be missing although none is; missing numbers are NaN. Default: no.
    pub fn gaps(mut self, may_be: bool) -> Self {
        self.has_gaps = may_be;
        self
    }

    /// Adds a column of counts.
    pub fn counts(mut self, name: impl Into<String>, values: Vec<u64>) -> Self {
        self.columns.push((name.into(), Arc::new(UInt64Array::from(values))));
        self
    }

    /// Adds a column of text.
    pub fn texts(mut self, name: impl Into<String>, values: Vec<String>) -> Self {
        let name = name.into();
        // Arrow stores offsets into the text in 32 bits.
        if values.iter().map(String::len).sum::<usize>() > i32::MAX as usize {
            self.is_too_long = Some(name);
            return self;
        }
        self.columns.push((name, Arc::new(StringArray::from_iter_values(values))));
        self
    }

    /// Adds a column of text that is already an Arrow array.
    pub(crate) fn text_array(mut self, name: impl Into<String>, values: StringArray) -> Self {
        self.columns.push((name.into(), Arc::new(values)));
        self
    }

    /// Sets the column with the weights of the rows.
    pub fn weights(mut self, name: Option<String>) -> Self {
        self.weights = name;
        self
    }

    /// Sets the column with the ids of the rows.
    pub fn id(mut self, name: Option<String>) -> Self {
        self.id = name;
        self
    }

    /// Builds the table.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] if there are no columns, or if columns have different lengths or the same name.
    /// Also returns this code if a role names a missing column, or if a scale is not finite and positive. Returns
    /// [`Code::TooLarge`] for a column with more than 2 GiB of text.
    pub fn build(mut self) -> Result<Table, Fault> {
        // A kept table is read again with what it says of itself, so a table with gaps must say that it has some.
        self.has_gaps = self.has_gaps || self.columns.iter().any(|(_, values)| has_nan(values));
        if let Some(name) = self.is_too_long {
            return Err(Fault::new(Code::TooLarge, format!("column {name:?} has more than 2 GiB of text")));
        }
        let field = |(name, values): &(String, ArrayRef)| {
            let field = Field::new(name, values.data_type().clone(), false);
            match self.scales.get(name).filter(|_| *values.data_type() == DataType::UInt16) {
                // `{scale:?}` is the shortest text that reads back as the same number.
                Some(scale) => field.with_metadata([(SCALE.to_owned(), format!("{scale:?}"))]),
                None if self.whole.contains(name) => field.with_metadata([(WHOLE.to_owned(), "true".to_owned())]),
                None => field,
            }
        };
        let fields: Vec<Field> = self.columns.iter().map(field).collect();
        let roles = [(WEIGHTS, self.weights), (ID, self.id)].into_iter();
        let mut roles: BTreeMap<String, String> =
            roles.filter_map(|(role, column)| column.map(|column| (role.to_owned(), column))).collect();
        if self.has_gaps {
            roles.insert(GAPS.to_owned(), "NaN".to_owned());
        }
        let schema = ArrowSchema::new_with_metadata(fields, roles);
        let columns = self.columns.into_iter().map(|(_, values)| values).collect();
        let batch = RecordBatch::try_new(Arc::new(schema), columns);
        Table::new(batch.map_err(|error| Fault::new(Code::InvalidValue, error.to_string()))?)
    }
}

/// Returns whether a number is missing.
fn has_nan(values: &ArrayRef) -> bool {
    if let Some(numbers) = values.as_primitive_opt::<Float64Type>() {
        return numbers.values().iter().any(|number| number.is_nan());
    }
    values
        .as_primitive_opt::<Float32Type>()
        .is_some_and(|numbers| numbers.values().iter().any(|number| number.is_nan()))
}

impl Table {
    /// Returns a builder that assembles a table column by column.
    ///
    /// # Example
    /// See [`Table`].
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Creates a table after checking its columns.
    pub(crate) fn new(batch: RecordBatch) -> Result<Self, Fault> {
        let invalid = |reason: String| Fault::new(Code::InvalidValue, reason);
        if batch.num_columns() == 0 {
            return Err(invalid("a table has at least one column".to_owned()));
        }
        let schema = batch.schema();
        for (index, field) in schema.fields().iter().enumerate() {
            let (name, of) = (field.name(), field.data_type());
            let is_fixed = *of == DataType::UInt16 && scale_of(field)?.is_some();
            if !is_fixed && !matches!(of, DataType::Float64 | DataType::Float32 | DataType::UInt64 | DataType::Utf8) {
                return Err(invalid(format!("column {name:?}: expected numbers, counts or text, found {of}")));
            }
            if batch.column(index).null_count() > 0 {
                return Err(invalid(format!("column {name:?}: expected a value in each row, found gaps")));
            }
            if schema.fields()[..index].iter().any(|other| other.name() == name) {
                return Err(invalid(format!("column {name:?} is there twice")));
            }
        }
        for role in [WEIGHTS, ID] {
            if let Some(name) = schema.metadata().get(role)
                && batch.column_by_name(name).is_none()
            {
                return Err(invalid(format!("there is no column {name:?} to be {}", &role["lehr.".len()..])));
            }
        }
        Ok(Self { batch })
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// Returns the names and kinds of the columns, in order.
    pub fn columns(&self) -> impl Iterator<Item = (&str, Kind)> {
        self.batch.schema_ref().fields().iter().map(|field| (field.name().as_str(), kind_of(field.data_type())))
    }

    /// Returns the column with the weights of the rows, if there is one.
    pub fn weights(&self) -> Option<&str> {
        self.role(WEIGHTS)
    }

    /// Returns the column with the ids of the rows, if there is one.
    pub fn id(&self) -> Option<&str> {
        self.role(ID)
    }

    fn role(&self, role: &str) -> Option<&str> {
        self.batch.schema_ref().metadata().get(role).map(String::as_str)
    }

    /// Returns whether numbers may be missing: NaN then means an unknown value.
    pub fn has_gaps(&self) -> bool {
        self.role(GAPS).is_some()
    }

    /// Returns a column as numbers; counts beyond 2⁵³ are rounded. Returns `None` if the column does not exist or is
    /// text.
    pub fn numbers(&self, name: &str) -> Option<Cow<'_, [f64]>> {
        let column = self.batch.column_by_name(name)?;
        if let Some(numbers) = column.as_primitive_opt::<Float64Type>() {
            return Some(Cow::Borrowed(numbers.values()));
        }
        if let Some(numbers) = column.as_primitive_opt::<Float32Type>() {
            return Some(numbers.values().iter().map(|&number| f64::from(number)).collect());
        }
        if let Some((values, scale)) = self.fixed(name) {
            let number = |&value: &u16| if value == MISSING_U16 { f64::NAN } else { f64::from(value) * scale };
            return Some(values.iter().map(number).collect());
        }
        Some(column.as_primitive_opt::<UInt64Type>()?.values().iter().map(|&count| count as f64).collect())
    }

    /// Returns the stored 16-bit values of a fixed-point column ([`Builder::fixed`]), and the scale by which to
    /// multiply them. Returns `None` if there is no such column.
    ///
    /// # Example
    /// See [`Builder::fixed`].
    pub fn fixed(&self, name: &str) -> Option<(&[u16], f64)> {
        let (index, field) = self.batch.schema_ref().column_with_name(name)?;
        let values = self.batch.column(index).as_primitive_opt::<UInt16Type>()?.values();
        Some((values, scale_of(field).ok()??))
    }

    /// Returns whether a column was added as whole numbers.
    ///
    /// # Example
    /// See [`Builder::whole`].
    pub fn is_whole(&self, name: &str) -> bool {
        let field = self.batch.schema_ref().column_with_name(name);
        field.is_some_and(|(_, field)| *field.data_type() == DataType::Float64 && field.metadata().contains_key(WHOLE))
    }

    /// Returns a column of numbers stored in 32 bits; `None` if it does not exist or has another type.
    pub fn singles(&self, name: &str) -> Option<&[f32]> {
        Some(self.batch.column_by_name(name)?.as_primitive_opt::<Float32Type>()?.values())
    }

    /// Returns a column as counts; `None` if it does not exist or has another type.
    pub fn counts(&self, name: &str) -> Option<&[u64]> {
        Some(self.batch.column_by_name(name)?.as_primitive_opt::<UInt64Type>()?.values())
    }

    /// Returns a column as text, whatever its type; `None` if it does not exist.
    pub fn texts(&self, name: &str) -> Option<Vec<String>> {
        let column = self.batch.column_by_name(name)?;
        if let Some(texts) = column.as_string_opt::<i32>() {
            return Some(texts.iter().map(|text| text.unwrap_or_default().to_owned()).collect());
        }
        if let Some(counts) = column.as_primitive_opt::<UInt64Type>() {
            return Some(counts.values().iter().map(u64::to_string).collect());
        }
        if let Some(numbers) = column.as_primitive_opt::<Float32Type>() {
            return Some(numbers.values().iter().map(f32::to_string).collect());
        }
        if self.fixed(name).is_some() {
            return Some(self.numbers(name)?.iter().map(f64::to_string).collect());
        }
        Some(column.as_primitive_opt::<Float64Type>()?.values().iter().map(f64::to_string).collect())
    }

    /// Returns `length` rows from row `start` on, without copying.
    ///
    /// # Panics
    /// Panics if there are not enough rows.
    pub fn slice(&self, start: usize, length: usize) -> Self {
        Self { batch: self.batch.slice(start, length) }
    }

    /// Returns some columns, in this order, without copying. A column keeps its role.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] if a column does not exist or is named twice, or if no column is named.
    pub(crate) fn only(&self, name: &str, columns: &[String]) -> Result<Self, Fault> {
        let schema = self.batch.schema();
        let at: Vec<usize> = columns.iter().filter_map(|column| schema.index_of(column).ok()).collect();
        if at.len() < columns.len() {
            let is_known = |column: &String| self.columns().any(|(name, _)| name == column);
            let wanted = columns.iter().filter(|column| !is_known(column)).cloned().collect();
            let columns = self.columns().map(|(name, _)| name.to_owned()).collect();
            return Err(crate::format::fault_of(&lehr_data::Error::NoSuchColumns {
                name: name.to_owned(),
                wanted,
                columns,
            }));
        }
        let mut metadata = schema.metadata().clone();
        metadata.retain(|role, of| ![WEIGHTS, ID].contains(&role.as_str()) || columns.contains(of));
        let fields: Vec<_> = at.iter().map(|&index| schema.fields()[index].clone()).collect();
        let arrays = at.iter().map(|&index| Arc::clone(self.batch.column(index))).collect();
        Self::of(ArrowSchema::new_with_metadata(fields, metadata), arrays)
    }

    /// Returns every n-th row, beginning with the first.
    ///
    /// # Errors
    /// Returns [`Code::OperationFailed`] if Arrow cannot take the rows; this does not happen for a table.
    pub(crate) fn thinned(&self, every: u64) -> Result<Self, Fault> {
        let every = usize::try_from(every).unwrap_or(usize::MAX);
        macro_rules! some {
            ($column:expr, $of:ty) => {
                $column.as_primitive::<$of>().values().iter().step_by(every).copied()
            };
        }
        let some = |column: &ArrayRef| -> ArrayRef {
            match column.data_type() {
                DataType::Utf8 => Arc::new(column.as_string::<i32>().iter().step_by(every).collect::<StringArray>()),
                DataType::UInt64 => Arc::new(UInt64Array::from_iter_values(some!(column, UInt64Type))),
                DataType::UInt16 => Arc::new(UInt16Array::from_iter_values(some!(column, UInt16Type))),
                DataType::Float32 => Arc::new(Float32Array::from_iter_values(some!(column, Float32Type))),
                _ => Arc::new(Float64Array::from_iter_values(some!(column, Float64Type))),
            }
        };
        Self::of(self.batch.schema().as_ref().clone(), self.batch.columns().iter().map(some).collect())
    }

    fn of(schema: ArrowSchema, columns: Vec<ArrayRef>) -> Result<Self, Fault> {
        let failed = |error: arrow_schema::ArrowError| {
            Fault::new(Code::OperationFailed, "a part of a table could not be made").log(error.to_string())
        };
        if columns.is_empty() {
            return Err(Fault::new(Code::InvalidValue, "a table has at least one column"));
        }
        Self::new(RecordBatch::try_new(Arc::new(schema), columns).map_err(failed)?)
    }

    /// Concatenates tables with the same columns.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`] if there is no table, or if their columns differ.
    pub(crate) fn joined(parts: &[Self]) -> Result<Self, Fault> {
        let different = || Fault::new(Code::InvalidValue, "parts of a table have different columns");
        let first = parts.first().ok_or_else(different)?;
        let mut builder = Self::builder().weights(first.weights().map(str::to_owned)).id(first.id().map(str::to_owned));
        builder = builder.gaps(parts.iter().any(Self::has_gaps));
        let columns: Vec<(&str, Kind)> = first.columns().collect();
        if parts.iter().any(|part| !part.columns().eq(columns.iter().copied())) {
            return Err(different());
        }
        for (name, kind) in columns {
            let parts = parts.iter();
            builder = match kind {
                Kind::Number if parts.clone().all(|part| part.singles(name).is_some()) => builder
                    .singles(name, parts.flat_map(|part| part.singles(name).unwrap_or_default().to_vec()).collect()),
                Kind::Number if of_one_scale(parts.as_slice(), name) => {
                    let scale = first.fixed(name).map_or(1.0, |(_, scale)| scale);
                    let all = parts.flat_map(|part| part.fixed(name).map_or(&[][..], |(values, _)| values).to_vec());
                    builder.fixed(name, all.collect(), scale)
                }
                Kind::Number => {
                    let is_whole = parts.clone().all(|part| part.is_whole(name));
                    let values = parts.flat_map(|part| part.numbers(name).unwrap_or_default().into_owned()).collect();
                    if is_whole { builder.whole(name, values) } else { builder.numbers(name, values) }
                }
                Kind::Count => builder
                    .counts(name, parts.flat_map(|part| part.counts(name).unwrap_or_default().to_vec()).collect()),
                Kind::Text => {
                    builder.texts(name, parts.flat_map(|part| part.texts(name).unwrap_or_default()).collect())
                }
            };
        }
        builder.build()
    }

    /// Returns the memory that the values take, in bytes.
    pub fn bytes(&self) -> usize {
        let of = |column: &ArrayRef| match column.as_string_opt::<i32>() {
            Some(texts) => texts
                .value_offsets()
                .last()
                .zip(texts.value_offsets().first())
                .map_or(0, |(last, first)| (last - first) as usize + size_of::<i32>() * (texts.len() + 1)),
            None if *column.data_type() == DataType::Float32 => size_of::<f32>() * column.len(),
            None if *column.data_type() == DataType::UInt16 => size_of::<u16>() * column.len(),
            None => size_of::<u64>() * column.len(),
        };
        self.batch.columns().iter().map(of).sum()
    }

    /// Returns a checksum of names, kinds, roles and values: 16 hexadecimal digits of XXH3. Equal contents have equal
    /// checksums, whatever their origin.
    pub fn checksum(&self) -> String {
        let mut hash = Xxh3::new();
        let mut add = |bytes: &[u8]| {
            hash.update(&(bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        add(self.weights().unwrap_or_default().as_bytes());
        add(self.id().unwrap_or_default().as_bytes());
        if self.has_gaps() {
            add(GAPS.as_bytes());
        }
        for (index, (name, kind)) in self.columns().enumerate() {
            add(name.as_bytes());
            add(&[kind as u8]);
            let column = self.batch.column(index);
            if let Some(texts) = column.as_string_opt::<i32>() {
                texts.iter().for_each(|text| add(text.unwrap_or_default().as_bytes()));
            } else if let Some(numbers) = column.as_primitive_opt::<Float64Type>() {
                in_blocks(numbers.values(), |number| number.to_bits().to_le_bytes(), &mut add);
            } else if let Some(numbers) = column.as_primitive_opt::<Float32Type>() {
                in_blocks(numbers.values(), |number| number.to_bits().to_le_bytes(), &mut add);
            } else if let Some((values, scale)) = self.fixed(name) {
                add(&scale.to_bits().to_le_bytes());
                in_blocks(values, |value| value.to_le_bytes(), &mut add);
            } else if let Some(counts) = column.as_primitive_opt::<UInt64Type>() {
                in_blocks(counts.values(), |count| count.to_le_bytes(), &mut add);
            }
        }
        format!("{:016x}", hash.digest())
    }

    pub(crate) fn batch(&self) -> &RecordBatch {
        &self.batch
    }
}

/// Passes values to `add` as bytes, in blocks.
fn in_blocks<T: Copy, const N: usize>(values: &[T], bytes: impl Fn(T) -> [u8; N], add: &mut impl FnMut(&[u8])) {
    let mut block = Vec::with_capacity(N * 512);
    for values in values.chunks(512) {
        block.clear();
        block.extend(values.iter().flat_map(|&value| bytes(value)));
        add(&block);
    }
}

/// Returns the scale of a fixed-point column; `None` if the column is of another type.
///
/// # Errors
/// Returns [`Code::InvalidValue`] if the scale is not a positive finite number.
pub(crate) fn scale_of(field: &Field) -> Result<Option<f64>, Fault> {
    let Some(text) = field.metadata().get(SCALE) else { return Ok(None) };
    let is_sound = |scale: &f64| *scale > 0.0 && (scale * f64::from(LARGEST_U16)).is_finite();
    text.parse().ok().filter(is_sound).map(Some).ok_or_else(|| {
        let name = field.name();
        let reason = format!("column {name:?}: {SCALE}: expected a finite number above 0, found {text:?}");
        Fault::new(Code::InvalidValue, reason)
    })
}

/// Returns whether a column is fixed-point and has the same scale in all parts.
fn of_one_scale(parts: &[Table], name: &str) -> bool {
    let scale = |part: &Table| part.fixed(name).map(|(_, scale)| scale.to_bits());
    parts.first().is_some_and(|first| scale(first).is_some())
        && parts.iter().all(|part| scale(part) == scale(&parts[0]))
}

fn kind_of(of: &DataType) -> Kind {
    match of {
        DataType::Utf8 => Kind::Text,
        DataType::UInt64 => Kind::Count,
        _ => Kind::Number,
    }
}
