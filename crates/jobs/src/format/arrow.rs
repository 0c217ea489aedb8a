//! Arrow IPC, as a stream or a file: what tables are kept and sent as, and what others may send.

use std::io::{Cursor, Read, Seek, SeekFrom};

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Schema};
use lehr_data::Faults;
use lehr_services::{Code, Fault};

use super::column::{Column, Values, chosen, table, unsupported};
use crate::table::{Columns, GAPS, ID, Table, WEIGHTS};

/// What a file, as opposed to a stream, begins with.
const MAGIC: &[u8] = b"ARROW1";

/// Writes a table as a stream of one batch.
///
/// # Errors
/// [`Code::OperationFailed`], which memory gives no reason for.
pub(crate) fn write(table: &Table) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::with_capacity(table.bytes() + 4096);
    write_to(&mut bytes, table)
        .map_err(|error| Fault::new(Code::OperationFailed, "a table could not be written").log(error.to_string()))?;
    Ok(bytes)
}

/// The same into a file.
pub(crate) fn write_to(out: impl std::io::Write, table: &Table) -> Result<(), ArrowError> {
    let mut writer = StreamWriter::try_new(out, table.batch().schema_ref())?;
    writer.write(table.batch())?;
    writer.finish()
}

/// Reads a table that is sent as bytes, with the roles that it has.
///
/// # Errors
/// [`Code::InvalidValue`].
pub(crate) fn read(bytes: &[u8], name: &str) -> Result<Table, Fault> {
    read_from(Cursor::new(bytes), &Columns::default(), false, name, u64::MAX)
}

fn damaged(name: &str, error: &ArrowError) -> Fault {
    Fault::new(Code::InvalidValue, format!("{name}: expected an Arrow stream or file, found damage: {error}"))
}

/// Reads a stream or a file.
///
/// # Errors
/// [`Code::InvalidValue`] with the first ten faults; [`Code::TooLarge`].
pub(crate) fn read_from<R: Read + Seek>(
    mut reader: R,
    wanted: &Columns,
    has_gaps: bool,
    name: &str,
    bytes_max: u64,
) -> Result<Table, Fault> {
    let mut head = [0; MAGIC.len()];
    let is_file = reader.read_exact(&mut head).is_ok() && head == MAGIC;
    let broken = |error: ArrowError| damaged(name, &error);
    reader.seek(SeekFrom::Start(0)).map_err(|cause| broken(cause.into()))?;
    if is_file {
        let reader = FileReader::try_new(reader, None).map_err(broken)?;
        collect(&reader.schema(), reader, wanted, has_gaps, name, bytes_max)
    } else {
        let reader = StreamReader::try_new(reader, None).map_err(broken)?;
        collect(&reader.schema(), reader, wanted, has_gaps, name, bytes_max)
    }
}

fn collect(
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    wanted: &Columns,
    has_gaps: bool,
    name: &str,
    bytes_max: u64,
) -> Result<Table, Fault> {
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut wanted = wanted.clone();
    wanted.weights = wanted.weights.or_else(|| schema.metadata().get(WEIGHTS).cloned());
    wanted.id = wanted.id.or_else(|| schema.metadata().get(ID).cloned());
    // A table of ours says so itself.
    let has_gaps = has_gaps || schema.metadata().contains_key(GAPS);
    let mut columns = Vec::new();
    for index in chosen(&names, &wanted, name)? {
        let of = schema.field(index).data_type();
        let values = values_of(of).ok_or_else(|| unsupported(name, index, &names[index], &of.to_string()))?;
        columns.push(Column { index, name: names[index].clone(), values, has_gaps });
    }
    let mut faults = Faults::new(name);
    let mut bytes = 0;
    for batch in batches {
        let batch = batch.map_err(|error| damaged(name, &error))?;
        bytes += batch.get_array_memory_size() as u64;
        if bytes > bytes_max.saturating_mul(2) {
            return Err(super::too_large(name, bytes_max));
        }
        for column in &mut columns {
            take(batch.column(column.index), column, &mut faults);
        }
    }
    table(columns, &wanted, has_gaps, faults)
}

/// What the values of a type become; nothing if no table holds them.
fn values_of(of: &DataType) -> Option<Values> {
    match of {
        DataType::Float32 => Some(Values::Singles(Vec::new())),
        DataType::Float64 => Some(Values::Numbers(Vec::new())),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => Some(Values::Whole(Vec::new())),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => Some(Values::Counts(Vec::new())),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Values::Texts(Vec::new())),
        DataType::Dictionary(_, of) => match values_of(of)? {
            Values::Texts(texts) => Some(Values::Texts(texts)),
            _ => None,
        },
        _ => None,
    }
}

/// Takes the values of one batch.
fn take(array: &ArrayRef, column: &mut Column, faults: &mut Faults) {
    macro_rules! each {
        ($of:ty, $value:ident => $put:expr) => {
            for value in array.as_primitive::<$of>().iter() {
                match value {
                    Some($value) => $put,
                    None => column.gap(faults),
                }
            }
        };
    }
    macro_rules! texts {
        ($array:expr) => {
            for text in $array.iter() {
                match text {
                    Some(text) => column.text(text),
                    None => column.gap(faults),
                }
            }
        };
    }
    match array.data_type() {
        DataType::Float32 => each!(Float32Type, value => column.number(f64::from(value), faults)),
        DataType::Float64 => each!(Float64Type, value => column.number(value, faults)),
        DataType::Int8 => each!(Int8Type, value => column.whole(i64::from(value))),
        DataType::Int16 => each!(Int16Type, value => column.whole(i64::from(value))),
        DataType::Int32 => each!(Int32Type, value => column.whole(i64::from(value))),
        DataType::Int64 => each!(Int64Type, value => column.whole(value)),
        DataType::UInt8 => each!(UInt8Type, value => column.count(u64::from(value))),
        DataType::UInt16 => each!(UInt16Type, value => column.count(u64::from(value))),
        DataType::UInt32 => each!(UInt32Type, value => column.count(u64::from(value))),
        DataType::UInt64 => each!(UInt64Type, value => column.count(value)),
        DataType::Utf8 => texts!(array.as_string::<i32>()),
        DataType::LargeUtf8 => texts!(array.as_string::<i64>()),
        DataType::Utf8View => texts!(array.as_string_view()),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let mut words =
                Column { index: 0, name: String::new(), values: Values::Texts(Vec::new()), has_gaps: false };
            // A gap in the dictionary itself is one in each row that uses it.
            let values = dictionary.values();
            take(values, &mut words, &mut Faults::new(""));
            let Values::Texts(words) = words.values else { return };
            for (row, key) in dictionary.normalized_keys().into_iter().enumerate() {
                let is_there = array.is_valid(row) && values.is_valid(key);
                match words.get(key).filter(|_| is_there) {
                    Some(word) => column.text(word),
                    None => column.gap(faults),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::builder::StringDictionaryBuilder;
    use arrow_array::{Float32Array, Int32Array, Int64Array, LargeStringArray, TimestampSecondArray};
    use arrow_ipc::writer::FileWriter;

    use super::*;
    use crate::sync::Arc;

    fn batch(whole: Int32Array) -> RecordBatch {
        let mut words = StringDictionaryBuilder::<Int32Type>::new();
        ["b", "a", "b"].into_iter().for_each(|word| words.append_value(word));
        RecordBatch::try_from_iter([
            ("f", Arc::new(Float32Array::from(vec![0.5, 1.0, -2.0])) as ArrayRef),
            ("i", Arc::new(whole) as ArrayRef),
            ("s", Arc::new(LargeStringArray::from(vec!["x", "", "é"])) as ArrayRef),
            ("d", Arc::new(words.finish()) as ArrayRef),
        ])
        .unwrap()
    }

    fn written(batch: &RecordBatch, as_file: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        if as_file {
            let mut writer = FileWriter::try_new(&mut bytes, batch.schema_ref()).unwrap();
            writer.write(batch).unwrap();
            writer.write(batch).unwrap();
            writer.finish().unwrap();
        } else {
            let mut writer = StreamWriter::try_new(&mut bytes, batch.schema_ref()).unwrap();
            writer.write(batch).unwrap();
            writer.write(batch).unwrap();
            writer.finish().unwrap();
        }
        bytes
    }

    #[test]
    fn streams_and_files_of_many_types_and_batches_are_read() {
        let batch = batch(Int32Array::from(vec![1, 2, 3]));
        for as_file in [false, true] {
            let table = read(&written(&batch, as_file), "a").unwrap();
            assert_eq!(*table.numbers("f").unwrap(), [0.5, 1.0, -2.0, 0.5, 1.0, -2.0]);
            assert_eq!(table.counts("i").unwrap(), [1, 2, 3, 1, 2, 3]);
            assert_eq!(table.texts("s").unwrap()[..3], ["x", "", "é"]);
            assert_eq!(table.texts("d").unwrap()[..3], ["b", "a", "b"]);
        }
    }

    #[test]
    fn gaps_and_numbers_beyond_what_is_exact_are_told_with_their_rows() {
        let batch = batch(Int32Array::from(vec![Some(-1), None, Some(3)]));
        let fault = read(&written(&batch, false), "a").unwrap_err();
        assert!(fault.reason().starts_with("a, row 1, column 2 (\"i\"): expected a value, found none\n"), "{fault}");
        assert!(fault.reason().ends_with("a: 2 faults in all"), "{fault}");
        let large: ArrayRef = Arc::new(Int64Array::from(vec![-1, (1 << 53) + 1]));
        let times: ArrayRef = Arc::new(TimestampSecondArray::from(vec![1, 2]));
        let of = |column: &ArrayRef| RecordBatch::try_from_iter([("n", column.clone())]).unwrap();
        let fault = read(&written(&of(&large), false), "a").unwrap_err();
        assert!(
            fault.reason().contains("a, row 1, column 1 (\"n\"): expected numbers of at most 9007199254740992"),
            "{fault}"
        );
        let fault = read(&written(&of(&times), false), "a").unwrap_err();
        assert!(fault.reason().starts_with("a, column 1 (\"n\"): expected numbers, whole numbers or text"), "{fault}");
    }

    #[test]
    fn a_table_that_was_written_is_the_same_when_it_is_read() {
        let table = Table::builder()
            .texts("site", vec!["A".into(), "B".into()])
            .numbers("x", vec![0.1, -0.0])
            .counts("n", vec![u64::MAX, 0])
            .numbers("w", vec![1.0, 2.0])
            .singles("d", vec![0.1, f32::NAN])
            .gaps(true)
            .weights(Some("w".into()))
            .id(Some("site".into()))
            .build()
            .unwrap();
        let again = read(&write(&table).unwrap(), "t").unwrap();
        assert_eq!((again.checksum(), again.weights(), again.id()), (table.checksum(), Some("w"), Some("site")));
        let part = read(&write(&table.slice(1, 1)).unwrap(), "t").unwrap();
        assert_eq!((part.rows(), part.texts("site").unwrap()), (1, vec!["B".to_owned()]));
        assert_eq!(Table::joined(&[table.slice(0, 1), part]).unwrap().checksum(), table.checksum());
    }

    #[test]
    fn bytes_that_were_cut_or_changed_are_a_fault_or_another_table_and_no_panic() {
        let bytes = written(&batch(Int32Array::from(vec![1, 2, 3])), false);
        let read = |bytes: &[u8]| {
            use std::io::Write;
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(bytes).unwrap();
            file.rewind().unwrap();
            crate::format::read(file, crate::Form::Arrow, &crate::Reading::default(), "a", 1 << 20)
        };
        for at in (0..bytes.len()).step_by(7) {
            let mut changed = bytes.clone();
            changed[at] ^= 0xff;
            let _ = read(&changed);
            let _ = read(&bytes[..at]);
        }
        assert!(read(&bytes).is_ok());
    }
}
