//! Parquet files of flat columns, through the reader of single columns: the Arrow half of that library is not needed for them.

use std::fs::File;

use lehr_data::Faults;
use lehr_services::{Code, Fault};
use parquet::basic::{ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::column::{Column, Values, chosen, table, unsupported};
use crate::table::{Columns, Table};

/// How many rows are read at once.
const ROWS: usize = 8192;

/// Reads a file.
///
/// # Errors
/// [`Code::InvalidValue`] with the first ten faults; [`Code::TooLarge`].
pub(crate) fn read(file: File, wanted: &Columns, has_gaps: bool, name: &str, bytes_max: u64) -> Result<Table, Fault> {
    let damaged = |error: ParquetError| {
        Fault::new(Code::InvalidValue, format!("{name}: expected a Parquet file that can be read here, found: {error}"))
    };
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let schema = reader.metadata().file_metadata().schema_descr_ptr();
    let names: Vec<String> = schema.columns().iter().map(|column| column.path().string()).collect();
    let mut columns = Vec::new();
    for index in chosen(&names, wanted, name)? {
        let of = schema.column(index);
        let found = || of.logical_type_ref().map_or_else(|| of.physical_type().to_string(), |of| format!("{of:?}"));
        let values = values_of(&of).ok_or_else(|| unsupported(name, index, &names[index], &found()))?;
        columns.push(Column { index, name: names[index].clone(), values, has_gaps });
    }
    // What a file says of itself may be anything; what it says too much is refused before memory is taken.
    let rows = u64::try_from(reader.metadata().file_metadata().num_rows()).unwrap_or(u64::MAX);
    if rows.saturating_mul(columns.len().max(1) as u64).saturating_mul(8) > bytes_max {
        return Err(super::too_large(name, bytes_max));
    }
    let mut faults = Faults::new(name);
    for group in 0..reader.metadata().num_row_groups() {
        let group = reader.get_row_group(group).map_err(damaged)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or_default();
        for column in &mut columns {
            let before = column.len();
            let is_unsigned = matches!(column.values, Values::Counts(_));
            let read = match group.get_column_reader(column.index).map_err(damaged)? {
                ColumnReader::Int32ColumnReader(mut reader) => {
                    each(&mut reader, rows, column, &mut faults, |column, value, _| {
                        if is_unsigned {
                            column.count(u64::from(*value as u32))
                        } else {
                            column.whole(i64::from(*value))
                        }
                    })
                }
                ColumnReader::Int64ColumnReader(mut reader) => {
                    each(&mut reader, rows, column, &mut faults, |column, value, _| {
                        if is_unsigned { column.count(*value as u64) } else { column.whole(*value) }
                    })
                }
                ColumnReader::FloatColumnReader(mut reader) => {
                    each(&mut reader, rows, column, &mut faults, |column, value, faults| {
                        column.number(f64::from(*value), faults)
                    })
                }
                ColumnReader::DoubleColumnReader(mut reader) => {
                    each(&mut reader, rows, column, &mut faults, |column, value, faults| column.number(*value, faults))
                }
                ColumnReader::ByteArrayColumnReader(mut reader) => {
                    each(&mut reader, rows, column, &mut faults, |column, value, faults| {
                        match std::str::from_utf8(value.data()) {
                            Ok(text) => column.text(text),
                            Err(_) => column.gap(faults),
                        }
                    })
                }
                _ => Ok(()),
            };
            read.map_err(damaged)?;
            if column.len() - before != rows {
                let error = format!("column {:?} has {} of {rows} rows", column.name, column.len() - before);
                return Err(damaged(ParquetError::General(error)));
            }
        }
    }
    table(columns, wanted, has_gaps, faults)
}

/// Hands each value of a column of one group to `put`, and gaps to the column.
fn each<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    column: &mut Column,
    faults: &mut Faults,
    put: impl Fn(&mut Column, &T::T, &mut Faults),
) -> Result<(), ParquetError> {
    let mut left = rows;
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    while left > 0 {
        levels.clear();
        values.clear();
        let (records, _, _) = reader.read_records(left.min(ROWS), Some(&mut levels), None, &mut values)?;
        if records == 0 {
            break;
        }
        left -= records.min(left);
        if levels.is_empty() {
            values.iter().for_each(|value| put(column, value, faults));
            continue;
        }
        // Of a flat column: 1 where there is a value.
        let mut there = values.iter();
        for level in &levels {
            match if *level > 0 { there.next() } else { None } {
                Some(value) => put(column, value, faults),
                None => column.gap(faults),
            }
        }
    }
    Ok(())
}

/// What the values of a column become; nothing if no table holds them.
fn values_of(of: &ColumnDescriptor) -> Option<Values> {
    let is_flat = of.max_rep_level() == 0 && of.path().parts().len() == 1;
    let is_plain = matches!(
        of.logical_type_ref(),
        None | Some(LogicalType::Integer { .. } | LogicalType::String | LogicalType::Enum)
    );
    if !is_flat || !is_plain {
        return None;
    }
    let numbers = matches!(of.physical_type(), Type::INT32 | Type::INT64);
    match (of.converted_type(), of.physical_type()) {
        (ConvertedType::NONE, Type::FLOAT | Type::DOUBLE) => Some(Values::Numbers(Vec::new())),
        (ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64, _)
            if numbers =>
        {
            Some(Values::Counts(Vec::new()))
        }
        (
            ConvertedType::NONE
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64,
            _,
        ) if numbers => Some(Values::Whole(Vec::new())),
        (ConvertedType::UTF8 | ConvertedType::ENUM, Type::BYTE_ARRAY) => Some(Values::Texts(Vec::new())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;
    use crate::sync::Arc;

    /// A file of two groups; `gap` says whether the second row of each has no `n`.
    fn file(compression: Compression, gap: bool) -> File {
        let file = tempfile::tempfile().unwrap();
        let text = "message s { REQUIRED DOUBLE x; OPTIONAL INT64 n; REQUIRED BINARY id (UTF8); REQUIRED INT32 u (UINT_32); REQUIRED INT64 t (TIMESTAMP_MILLIS); }";
        let schema = Arc::new(parse_message_type(text).unwrap());
        let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
        let mut writer = SerializedFileWriter::new(file.try_clone().unwrap(), schema, properties).unwrap();
        for group in 0..2 {
            let mut rows = writer.next_row_group().unwrap();
            let mut column = rows.next_column().unwrap().unwrap();
            let at = f64::from(group);
            column.typed::<DoubleType>().write_batch(&[at, at + 0.5], None, None).unwrap();
            column.close().unwrap();
            let mut column = rows.next_column().unwrap().unwrap();
            let (values, levels): (&[i64], _) = if gap { (&[-7], [1, 0]) } else { (&[-7, 8], [1, 1]) };
            column.typed::<Int64Type>().write_batch(values, Some(&levels), None).unwrap();
            column.close().unwrap();
            let mut column = rows.next_column().unwrap().unwrap();
            let ids = ["a", "é"].map(ByteArray::from);
            column.typed::<ByteArrayType>().write_batch(&ids, None, None).unwrap();
            column.close().unwrap();
            let mut column = rows.next_column().unwrap().unwrap();
            column.typed::<Int32Type>().write_batch(&[-1, 3], None, None).unwrap();
            column.close().unwrap();
            let mut column = rows.next_column().unwrap().unwrap();
            column.typed::<Int64Type>().write_batch(&[0, 1], None, None).unwrap();
            column.close().unwrap();
            rows.close().unwrap();
        }
        writer.close().unwrap();
        file
    }

    fn wanted() -> Columns {
        let columns = Some(["x", "n", "u"].map(str::to_owned).to_vec());
        Columns { columns, id: Some("id".to_owned()), ..Columns::default() }
    }

    #[test]
    fn flat_columns_are_read_plain_and_packed() {
        for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::GZIP(Default::default())] {
            let table = read(file(compression, false), &wanted(), false, "f", 1 << 20).unwrap();
            assert_eq!(*table.numbers("x").unwrap(), [0.0, 0.5, 1.0, 1.5]);
            assert_eq!(*table.numbers("n").unwrap(), [-7.0, 8.0, -7.0, 8.0]);
            assert_eq!(table.texts("id").unwrap(), ["a", "é", "a", "é"]);
            assert_eq!(table.counts("u").unwrap(), [u64::from(u32::MAX), 3, u64::from(u32::MAX), 3]);
            assert_eq!(table.id(), Some("id"));
        }
    }

    #[test]
    fn gaps_unknown_types_and_sizes_are_told() {
        let fault = read(file(Compression::SNAPPY, true), &wanted(), false, "f", 1 << 20).unwrap_err();
        assert_eq!(
            fault.reason(),
            "f, row 1, column 2 (\"n\"): expected a value, found none\n\
             f, row 3, column 2 (\"n\"): expected a value, found none\n\
             f: 2 faults in all"
        );
        let all = read(file(Compression::SNAPPY, false), &Columns::default(), false, "f", 1 << 20).unwrap_err();
        assert!(all.reason().starts_with("f, column 5 (\"t\"): expected numbers, whole numbers or text"), "{all}");
        let other = Columns { columns: Some(vec!["y".to_owned()]), ..Columns::default() };
        let fault = read(file(Compression::SNAPPY, false), &other, false, "f", 1 << 20).unwrap_err();
        assert!(fault.reason().starts_with("f: expected a column \"y\", found the columns \"x\""), "{fault}");
        assert_eq!(
            read(file(Compression::SNAPPY, false), &wanted(), false, "f", 100).unwrap_err().code(),
            Code::TooLarge
        );
    }

    #[test]
    fn any_bytes_are_a_fault_and_no_panic() {
        use std::io::{Read, Seek, SeekFrom, Write};
        let mut whole = Vec::new();
        let mut sound = file(Compression::SNAPPY, false);
        sound.seek(SeekFrom::Start(0)).unwrap();
        sound.read_to_end(&mut whole).unwrap();
        for at in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0xff;
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(&bytes).unwrap();
            file.rewind().unwrap();
            // A table or a fault, whatever was changed.
            let reading = crate::Reading { columns: wanted().columns, ..Default::default() };
            let _ = crate::format::read(file, crate::Form::Parquet, &reading, "f", 1 << 20);
        }
    }
}
