//! A Parquet file of flat columns: its footer, and readers of the values of one column in one row group.
//!
//! A file may declare anything, and a small one must not exhaust a node's memory. So the reader refuses a footer that
//! is too long, and a page whose uncompressed size is too large.

use std::io::{self, Read};

use bytes::Bytes;
use parquet::basic::{ConvertedType, LogicalType, TimeUnit, Type};
use parquet::column::reader::{ColumnReader, get_column_reader};
use parquet::errors::ParquetError;
use parquet::file::FOOTER_SIZE;
use parquet::file::metadata::{FooterTail, ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::{ChunkReader, Length};
use parquet::schema::types::ColumnDescriptor;

use crate::object::Opened;

use super::pages::{Codec, Pages, TooLarge, has_prefixes};

/// The maximum size of a footer, in bytes. In memory, the footer's description of columns and groups takes many times
/// as much, before any of it can be counted. The limit is enough for some hundred thousand columns of groups.
pub const FOOTER_BYTES: u64 = 16 << 20;

/// The number of bytes of an object's footer that are requested at once.
const FOOTER_PIECE: usize = 64 * 1024;

/// The supported compressions of pages, for messages.
pub const CODECS: &str = "pages that are plain or packed by snappy, gzip or zstd";

/// The maximum number of bytes that further values may take, checked before memory for a page is allocated.
///
/// # Example
/// ```
/// use lehr_data::read::parquet::Room;
/// assert_eq!(Room::bytes(&4096_u64), 4096, "a number is room that does not become less");
/// ```
pub trait Room: Send + 'static {
    /// Returns the current number of bytes.
    fn bytes(&self) -> u64;
}

impl Room for u64 {
    fn bytes(&self) -> u64 {
        *self
    }
}

/// The type of a column's values.
///
/// # Example
/// See [`Parquet`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// 32-bit or 64-bit floating point.
    Numbers,
    /// 16-bit floating point; [`half`](crate::read::half) converts it.
    Halves,
    /// Whole numbers.
    Whole,
    /// Non-negative whole numbers.
    Counts,
    /// True or false.
    Truths,
    /// Text encoded in UTF-8.
    Texts,
    /// An unsupported type, described for messages.
    Other(String),
}

/// The reason why a file or a column is not read.
///
/// # Example
/// ```
/// use lehr_data::read::parquet::{Parquet, Refused};
/// let mut file = tempfile::tempfile().unwrap();
/// std::io::Write::write_all(&mut file, b"no Parquet at all").unwrap();
/// assert!(matches!(Parquet::open(file), Err(Refused::Damaged(_))));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refused {
    /// The file is not a Parquet file, is damaged, or is an unsupported variant.
    #[error("{0}")]
    Damaged(String),
    /// The disk could not be read.
    #[error("{0}")]
    Unreadable(io::Error),
    /// The footer is longer than [`FOOTER_BYTES`].
    #[error("a footer of {0} bytes")]
    Footer(u64),
    /// A page of this many bytes does not fit into the [`Room`].
    #[error("a page that takes {0} bytes")]
    Page(u64),
    /// The pages of a column use an unsupported compression (see [`CODECS`]).
    #[error("pages packed by {0}")]
    Codec(String),
}

impl From<ParquetError> for Refused {
    fn from(error: ParquetError) -> Self {
        let said = error.to_string();
        match error {
            ParquetError::External(cause) => match cause.downcast::<TooLarge>() {
                Ok(page) => Refused::Page(page.bytes),
                Err(cause) => match cause.downcast::<io::Error>() {
                    Ok(cause) => Refused::from(*cause),
                    Err(_) => Refused::Damaged(said),
                },
            },
            _ => Refused::Damaged(said),
        }
    }
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Self {
        // Errors of the disk have a number; errors about the contents have none.
        if error.raw_os_error().is_some() { Refused::Unreadable(error) } else { Refused::Damaged(error.to_string()) }
    }
}

/// The unit of a column's whole numbers.
pub(super) enum Unit {
    /// Days since 1970.
    Days,
    /// Units of time since 1970; the number of units in a second.
    Seconds(f64),
    /// Decimal numbers; the number of units in 1.
    Decimal(f64),
}

/// A Parquet file whose footer was read: its columns and row groups.
///
/// # Example
/// ```
/// use lehr_data::read::parquet::{Kind, Parquet};
/// use parquet::data_type::DoubleType;
/// use parquet::file::writer::SerializedFileWriter;
/// use parquet::schema::parser::parse_message_type;
///
/// let file = tempfile::tempfile().unwrap();
/// let schema = parse_message_type("message rows { REQUIRED DOUBLE x; }").unwrap().into();
/// let mut writer = SerializedFileWriter::new(file.try_clone().unwrap(), schema, Default::default()).unwrap();
/// let mut group = writer.next_row_group().unwrap();
/// let mut column = group.next_column().unwrap().unwrap();
/// column.typed::<DoubleType>().write_batch(&[0.5, 1.5], None, None).unwrap();
/// column.close().unwrap();
/// group.close().unwrap();
/// writer.close().unwrap();
///
/// let parquet = Parquet::open(file)?;
/// assert_eq!((parquet.names(), parquet.kind(0)), (vec!["x".to_owned()], Kind::Numbers));
/// assert_eq!((parquet.rows(), parquet.groups(), parquet.group_rows(0)), (2, 1, 2));
/// # Ok::<(), lehr_data::read::parquet::Refused>(())
/// ```
pub struct Parquet {
    file: Opened,
    /// The number of columns that are read in turn.
    at_once: usize,
    metadata: ParquetMetaData,
    rows: u64,
}

impl Parquet {
    /// Reads the footer of a file or an object.
    ///
    /// # Errors
    /// Returns [`Refused::Footer`] or [`Refused::Unreadable`]. Returns [`Refused::Damaged`], also if the rows of the
    /// groups do not add up to the rows of the file.
    pub fn open(file: impl Into<Opened>) -> Result<Self, Refused> {
        Self::opened(file.into())
    }

    fn opened(file: Opened) -> Result<Self, Refused> {
        let footer = footer_bytes(&file)?;
        if footer > FOOTER_BYTES {
            return Err(Refused::Footer(footer));
        }
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&file)?;
        let rows_of = |rows: i64| u64::try_from(rows).unwrap_or(u64::MAX);
        let rows =
            metadata.row_groups().iter().fold(0, |rows: u64, group| rows.saturating_add(rows_of(group.num_rows())));
        let told = metadata.file_metadata().num_rows();
        if rows != rows_of(told) {
            return Err(Refused::Damaged(format!("{told} rows, of which {rows} are in groups")));
        }
        Ok(Parquet { file, at_once: 1, metadata, rows })
    }

    /// Says how many columns are read in turn. The more columns, the shorter are the pieces of an object that are in
    /// memory for each.
    pub(super) fn reading(self, at_once: usize) -> Self {
        Self { at_once, ..self }
    }

    /// Returns the names of the columns; nested columns by their path.
    pub fn names(&self) -> Vec<String> {
        let schema = self.metadata.file_metadata().schema_descr();
        schema.columns().iter().map(|column| column.path().string()).collect()
    }

    /// Returns the type of a column's values.
    ///
    /// # Panics
    /// Panics if the column does not exist, as all functions with a column do.
    pub fn kind(&self, column: usize) -> Kind {
        kind(&self.metadata.file_metadata().schema_descr().column(column))
    }

    /// Returns the unit of a column's whole numbers, if they are not plain numbers.
    pub(super) fn unit(&self, column: usize) -> Option<Unit> {
        let of = self.metadata.file_metadata().schema_descr().column(column);
        if of.max_rep_level() > 0 || of.path().parts().len() > 1 {
            return None;
        }
        use ConvertedType as Converted;
        let is_whole = matches!(of.physical_type(), Type::INT32 | Type::INT64);
        let unit = match (of.logical_type_ref(), of.converted_type()) {
            (Some(LogicalType::Date), _) | (None, Converted::DATE) => Unit::Days,
            (Some(LogicalType::Timestamp(time)), _) => Unit::Seconds(match time.unit {
                TimeUnit::MILLIS => 1e3,
                TimeUnit::MICROS => 1e6,
                TimeUnit::NANOS => 1e9,
            }),
            (None, Converted::TIMESTAMP_MILLIS) => Unit::Seconds(1e3),
            (None, Converted::TIMESTAMP_MICROS) => Unit::Seconds(1e6),
            (Some(LogicalType::Decimal { .. }), _) | (None, Converted::DECIMAL) => {
                Unit::Decimal(10_f64.powi(of.type_scale()))
            }
            _ => return None,
        };
        is_whole.then_some(unit)
    }

    /// Returns the names of the columns in which pandas stores the index of a table, which is not part of its data.
    pub fn index_columns(&self) -> Vec<String> {
        let said = self.metadata.file_metadata().key_value_metadata().into_iter().flatten();
        let pandas = said.filter(|pair| pair.key == "pandas").find_map(|pair| pair.value.as_deref());
        let told: Option<serde_json::Value> = pandas.and_then(|text| serde_json::from_str(text).ok());
        let columns = told.as_ref().and_then(|told| told.get("index_columns")?.as_array());
        columns.into_iter().flatten().filter_map(|name| name.as_str()).map(str::to_owned).collect()
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the number of row groups.
    pub fn groups(&self) -> usize {
        self.metadata.num_row_groups()
    }

    /// Returns the number of rows of a group.
    ///
    /// # Panics
    /// Panics if the group does not exist.
    pub fn group_rows(&self, group: usize) -> u64 {
        // The check of the sum has already refused negative numbers.
        u64::try_from(self.metadata.row_group(group).num_rows()).unwrap_or_default()
    }

    /// Returns whether values of a column in a group may share prefixes with earlier values. A value may then be much
    /// longer than its bytes in the file.
    ///
    /// # Panics
    /// Panics if the column or the group does not exist.
    pub fn has_prefixes(&self, group: usize, column: usize) -> bool {
        has_prefixes(self.metadata.row_group(group).column(column))
    }

    /// Returns a reader of a column's values in a group. You may use several readers alternately, from one thread at a
    /// time.
    ///
    /// # Errors
    /// Returns [`Refused::Codec`]. Faults in pages are reported when they are read, as an error that converts to
    /// [`Refused`].
    ///
    /// # Panics
    /// Panics if the column or the group does not exist.
    pub fn column(&self, group: usize, column: usize, room: impl Room) -> Result<ColumnReader, Refused> {
        let chunk = self.metadata.row_group(group).column(column);
        let codec = Codec::of(chunk)
            .ok_or_else(|| Refused::Codec(format!("{:?}", chunk.compression_codec()).to_lowercase()))?;
        let of = self.metadata.file_metadata().schema_descr().column(column);
        let pages = Pages::new(&self.file, chunk, &of, codec, self.group_rows(group), self.at_once, room);
        Ok(get_column_reader(of, Box::new(pages)))
    }
}

/// The library reads the footer through this.
impl Length for Opened {
    fn len(&self) -> u64 {
        self.length().unwrap_or(0)
    }
}

impl ChunkReader for Opened {
    type T = Box<dyn Read + Send>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        Ok(self.range(start..self.len(), FOOTER_PIECE))
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        let mut bytes = vec![0; length];
        self.range(start..start.saturating_add(length as u64), length).read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// Returns the length of the footer as the file declares it, or an error if the file is shorter.
fn footer_bytes(file: &Opened) -> Result<u64, Refused> {
    let size = file.len();
    let Some(start) = size.checked_sub(FOOTER_SIZE as u64) else {
        return Err(Refused::Damaged(format!("{size} bytes in all")));
    };
    let mut tail = [0; FOOTER_SIZE];
    file.get_read(start)?.read_exact(&mut tail)?;
    if tail.ends_with(b"PARE") {
        return Err(Refused::Damaged("one that is encrypted; decrypt it first".into()));
    }
    let length = FooterTail::try_new(&tail)?.metadata_length() as u64;
    if length > start {
        return Err(Refused::Damaged(format!("a footer of {length} bytes in a file of {size}")));
    }
    Ok(length)
}

fn kind(of: &ColumnDescriptor) -> Kind {
    if of.max_rep_level() > 0 {
        return Kind::Other("lists of values; give each of their elements a column".into());
    }
    if of.path().parts().len() > 1 {
        return Kind::Other("nested values; give each a column".into());
    }
    if (of.logical_type_ref(), of.physical_type()) == (Some(&LogicalType::Float16), Type::FIXED_LEN_BYTE_ARRAY) {
        return Kind::Halves;
    }
    use ConvertedType as Converted;
    let other = || {
        // Old files have only the converted type.
        let what = match (of.logical_type_ref(), of.converted_type()) {
            (Some(LogicalType::Timestamp { .. }), _)
            | (None, Converted::TIMESTAMP_MILLIS | Converted::TIMESTAMP_MICROS) => "times",
            (Some(LogicalType::Date), _) | (None, Converted::DATE) => "dates",
            (Some(LogicalType::Time { .. }), _) | (None, Converted::TIME_MILLIS | Converted::TIME_MICROS) => {
                "times of day"
            }
            (Some(LogicalType::Decimal { .. }), _) | (None, Converted::DECIMAL) => "decimals",
            (None, Converted::NONE) if of.physical_type() == Type::INT96 => "times in 96 bits",
            (None, Converted::NONE) if of.physical_type() == Type::BYTE_ARRAY => "bytes that are not said to be text",
            _ => return Kind::Other(format!("values of type {}", of.physical_type())),
        };
        Kind::Other(what.into())
    };
    let is_plain = matches!(
        of.logical_type_ref(),
        None | Some(LogicalType::Integer { .. } | LogicalType::String | LogicalType::Enum)
    );
    if !is_plain {
        return other();
    }
    match (of.physical_type(), of.converted_type()) {
        (Type::FLOAT | Type::DOUBLE, Converted::NONE) => Kind::Numbers,
        (Type::BOOLEAN, Converted::NONE) => Kind::Truths,
        (
            Type::INT32 | Type::INT64,
            Converted::UINT_8 | Converted::UINT_16 | Converted::UINT_32 | Converted::UINT_64,
        ) => Kind::Counts,
        (
            Type::INT32 | Type::INT64,
            Converted::NONE | Converted::INT_8 | Converted::INT_16 | Converted::INT_32 | Converted::INT_64,
        ) => Kind::Whole,
        (Type::BYTE_ARRAY, Converted::UTF8 | Converted::ENUM) => Kind::Texts,
        _ => other(),
    }
}
