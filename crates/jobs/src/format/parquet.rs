//! Reads Parquet files of flat columns, column by column. `lehr-data` checks the sizes that a file declares and the
//! size of its uncompressed pages, so that a small file cannot exhaust a node's memory.

use std::fs::File;

use lehr_data::LeftOut;
use lehr_data::frame::DataFrame;
use lehr_data::read::parquet::{CODECS, FOOTER_BYTES, Kind, Parquet, Refused, Room, data_frame_of_file};
use lehr_data::read::{TableForm, half};
use lehr_services::{Code, Fault};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;

use super::column::{
    Column, Gaps, Intake, Left, Values, chosen, leave_out, nothing_left, table, too_large, unread, unsupported,
};
use crate::table::{Columns, Table};

/// The number of rows that are read in one step.
const ROWS: usize = 8192;

impl Room for Left {
    fn bytes(&self) -> u64 {
        self.bytes()
    }
}

/// Reads a file as an ordinary table, with all columns whose types are supported.
///
/// # Errors
/// Returns [`Code::InvalidValue`] with the first ten faults, or [`Code::TooLarge`] if the values take more than
/// `bytes_max` bytes.
pub(crate) fn frame(file: &File, form: &TableForm, name: &str, bytes_max: u64) -> Result<DataFrame, Fault> {
    let again = || {
        let failed = |cause| super::fault_of(&lehr_data::Error::Read { name: name.to_owned(), cause });
        file.try_clone().map_err(failed)
    };
    let parquet = Parquet::open(again()?).map_err(|cause| refused(cause, name))?;
    let is_known = |(index, _): &(usize, String)| !matches!(parquet.kind(*index), Kind::Other(_));
    let known: Vec<String> = parquet.names().into_iter().enumerate().filter(is_known).map(|(_, name)| name).collect();
    // The reader below skips columns of dates, so this check counts eight bytes per row for all columns.
    let bytes = (size_of::<f64>() as u64).saturating_mul(parquet.names().len() as u64).saturating_mul(parquet.rows());
    if bytes > bytes_max {
        return Err(super::too_large(name, bytes_max));
    }
    if !known.is_empty() {
        // The reader counts the memory of the values, because a frame holds all of them at once.
        read(again()?, &Columns { columns: Some(known), ..Columns::default() }, Gaps::Anywhere, name, bytes_max, None)?;
    }
    data_frame_of_file(again()?, name, form, bytes_max).map_err(|error| super::fault_of(&error))
}

/// Returns the fault for a file that is not a valid Parquet file.
fn refused(refused: Refused, name: &str) -> Fault {
    match refused {
        Refused::Footer(bytes) => {
            let reason = format!("{name}: expected a footer of at most {FOOTER_BYTES} bytes, found one of {bytes}");
            Fault::new(Code::TooLarge, reason)
        }
        Refused::Unreadable(cause) => super::fault_of(&lehr_data::Error::Read { name: name.to_owned(), cause }),
        other => {
            let expected = format!("{name}: expected a Parquet file that can be read here");
            Fault::new(Code::InvalidValue, format!("{expected}, found: {other}"))
        }
    }
}

/// Reads the wanted columns of a file.
///
/// # Errors
/// Returns [`Code::InvalidValue`] with the first ten faults, or [`Code::TooLarge`] if the values take more than
/// `bytes_max` bytes.
///
/// Adds the columns of other types than tables have to `left_out`, if there is such a list. They are errors only if they
/// were asked for, or if no other columns are there.
pub(crate) fn read(
    file: File,
    wanted: &Columns,
    gaps: Gaps,
    name: &str,
    bytes_max: u64,
    mut left_out: Option<&mut Vec<LeftOut>>,
) -> Result<Table, Fault> {
    let refused = |cause: Refused| refused(cause, name);
    let parquet = Parquet::open(file).map_err(refused)?;
    let names = parquet.names();
    let mut columns = Vec::new();
    for index in chosen(&names, wanted, name)? {
        let values = match parquet.kind(index) {
            Kind::Numbers | Kind::Halves => Values::Numbers(Vec::new()),
            Kind::Whole => Values::Whole(Vec::new()),
            // True is 1 and false is 0.
            Kind::Counts | Kind::Truths => Values::Counts(Vec::new()),
            Kind::Texts => Values::texts(),
            Kind::Other(found) => {
                leave_out((name, index, &names[index]), &found, wanted, left_out.as_deref_mut())?;
                continue;
            }
            _ => return Err(unsupported(name, index, &names[index], "values of an unknown kind")),
        };
        columns.push(Column { index, name: names[index].clone(), values, gaps, is_whole: false });
    }
    if columns.is_empty()
        && let Some(left_out) = left_out
    {
        return Err(nothing_left(name, left_out));
    }
    // A file that declares too many values is refused before memory is allocated.
    let values = parquet.rows().saturating_mul(columns.len().max(1) as u64);
    if values.saturating_mul(size_of::<u32>() as u64) > bytes_max {
        return Err(super::too_large(name, bytes_max));
    }
    let mut intake = Intake::new(name, bytes_max);
    for group in 0..parquet.groups() {
        let rows = usize::try_from(parquet.group_rows(group)).unwrap_or_default();
        for column in &mut columns {
            let (index, called) = (column.index, column.name.clone());
            let refused = |cause: Refused| match cause {
                Refused::Codec(codec) => unread(name, index, &called, CODECS, &codec),
                Refused::Page(_) => too_large(name, index, &called, bytes_max),
                other => refused(other),
            };
            // A value that shares a prefix with the previous one may be much longer than its bytes in the file, so only
            // one value is held in memory.
            let at_once = if parquet.has_prefixes(group, index) { 1 } else { ROWS };
            let reader = parquet.column(group, index, intake.left()).map_err(refused)?;
            let before = column.len();
            take(reader, rows, at_once, (&mut *column, &mut intake)).map_err(|error| refused(error.into()))?;
            intake.check(name)?;
            if column.len() - before != rows {
                let said = format!("column {:?} has {} of {rows} rows", column.name, column.len() - before);
                return Err(refused(Refused::Damaged(said)));
            }
        }
    }
    table(columns, wanted, gaps, name, intake)
}

/// Takes the values of a column in one row group, `at_once` at a time.
fn take(
    reader: ColumnReader,
    rows: usize,
    at_once: usize,
    put: (&mut Column, &mut Intake),
) -> Result<(), ParquetError> {
    let is_unsigned = matches!(put.0.values, Values::Counts(_));
    match reader {
        ColumnReader::BoolColumnReader(mut reader) => {
            each(&mut reader, rows, at_once, put, |column, value, intake| column.count(u64::from(*value), intake))
        }
        ColumnReader::FixedLenByteArrayColumnReader(mut reader) => {
            each(&mut reader, rows, at_once, put, |column, value, intake| {
                // The schema declares two bytes. If a value has another length, the column is too short, and `read`
                // refuses it.
                if let Ok(bytes) = value.data().try_into() {
                    column.number(half(u16::from_le_bytes(bytes)), intake)
                }
            })
        }
        ColumnReader::Int32ColumnReader(mut reader) => {
            each(&mut reader, rows, at_once, put, |column, value, intake| {
                if is_unsigned {
                    column.count(u64::from(*value as u32), intake)
                } else {
                    column.whole(i64::from(*value), intake)
                }
            })
        }
        ColumnReader::Int64ColumnReader(mut reader) => {
            each(&mut reader, rows, at_once, put, |column, value, intake| {
                if is_unsigned { column.count(*value as u64, intake) } else { column.whole(*value, intake) }
            })
        }
        ColumnReader::FloatColumnReader(mut reader) => {
            each(&mut reader, rows, at_once, put, |column, value, intake| column.number(f64::from(*value), intake))
        }
        ColumnReader::DoubleColumnReader(mut reader) => {
            each(&mut reader, rows, at_once, put, |column, value, intake| column.number(*value, intake))
        }
        ColumnReader::ByteArrayColumnReader(mut reader) => {
            each(&mut reader, rows, at_once, put, |column, value, intake| match std::str::from_utf8(value.data()) {
                Ok(text) => column.text(text, intake),
                Err(_) => column.no_text(value.data(), intake),
            })
        }
        _ => Ok(()),
    }
}

/// Passes each value of a column in one row group to `put`, and missing values to the column, as long as there is room.
/// Holds `at_once` values in memory.
fn each<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    rows: usize,
    at_once: usize,
    (column, intake): (&mut Column, &mut Intake),
    put: impl Fn(&mut Column, &T::T, &mut Intake),
) -> Result<(), ParquetError> {
    let mut left = rows;
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    while left > 0 && !intake.is_full() {
        levels.clear();
        values.clear();
        intake.tell();
        let (records, _, _) = reader.read_records(left.min(at_once), Some(&mut levels), None, &mut values)?;
        if records == 0 {
            break;
        }
        left -= records.min(left);
        // Examining a long value for many rows takes time, so stop once the result is no longer kept.
        if levels.is_empty() {
            for value in &values {
                if intake.is_full() {
                    break;
                }
                put(column, value, intake);
            }
            continue;
        }
        // The definition level of a flat column is 1 where there is a value.
        let mut there = values.iter();
        for level in &levels {
            if intake.is_full() {
                break;
            }
            match if *level > 0 { there.next() } else { None } {
                Some(value) => put(column, value, intake),
                None => column.gap(intake),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use parquet::basic::Compression;
    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
    use parquet::file::metadata::ParquetMetaDataReader;
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use super::*;
    use lehr_sync::Arc;

    /// Writes a file of two row groups; `gap` says whether the second row of each has no `n`.
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
            let table = read(file(compression, false), &wanted(), Gaps::Nowhere, "f", 1 << 20, None).unwrap();
            assert_eq!(*table.numbers("x").unwrap(), [0.0, 0.5, 1.0, 1.5]);
            assert_eq!(*table.numbers("n").unwrap(), [-7.0, 8.0, -7.0, 8.0]);
            assert_eq!(table.texts("id").unwrap(), ["a", "é", "a", "é"]);
            assert_eq!(table.counts("u").unwrap(), [u64::from(u32::MAX), 3, u64::from(u32::MAX), 3]);
            assert_eq!(table.id(), Some("id"));
        }
    }

    #[test]
    fn gaps_unknown_types_and_sizes_are_told() {
        let fault = read(file(Compression::SNAPPY, true), &wanted(), Gaps::Nowhere, "f", 1 << 20, None).unwrap_err();
        assert_eq!(
            fault.reason(),
            "f, row 2, column 2 (\"n\"): expected a value, found none\n\
             f, row 4, column 2 (\"n\"): expected a value, found none\n\
             f: 2 faults in all"
        );
        let all =
            read(file(Compression::SNAPPY, false), &Columns::default(), Gaps::Nowhere, "f", 1 << 20, None).unwrap_err();
        assert!(all.reason().starts_with("f, column 5 (\"t\"): expected numbers, whole numbers or text"), "{all}");
        // Uploads leave such columns out, and say so.
        let mut left_out = Vec::new();
        let read_all = |columns: Option<Vec<String>>, left_out: &mut Vec<LeftOut>| {
            let wanted = Columns { columns, ..Columns::default() };
            read(file(Compression::SNAPPY, false), &wanted, Gaps::Nowhere, "f", 1 << 20, Some(left_out))
        };
        let table = read_all(None, &mut left_out).unwrap();
        assert!(table.columns().all(|(name, _)| name != "t") && table.numbers("x").is_some());
        assert!(left_out.len() == 1 && left_out[0].to_string().starts_with("t ("), "{left_out:?}");
        let asked = read_all(Some(vec!["t".to_owned()]), &mut left_out).unwrap_err();
        assert_eq!(asked.reason(), all.reason());
        let other = Columns { columns: Some(vec!["y".to_owned()]), ..Columns::default() };
        let fault = read(file(Compression::SNAPPY, false), &other, Gaps::Nowhere, "f", 1 << 20, None).unwrap_err();
        assert!(fault.reason().starts_with("f: expected a column \"y\", found the columns \"x\""), "{fault}");
        assert_eq!(
            read(file(Compression::SNAPPY, false), &wanted(), Gaps::Nowhere, "f", 100, None).unwrap_err().code(),
            Code::TooLarge
        );
    }

    #[test]
    fn an_ordinary_table_has_its_texts_read_its_dates_and_its_gaps() {
        let found = frame(&file(Compression::SNAPPY, true), &TableForm::default(), "f", 1 << 20).unwrap();
        let names: Vec<&str> = found.columns().iter().map(|column| column.name.as_str()).collect();
        assert_eq!(names, ["x", "n", "id", "u", "t"]);
        assert_eq!(found.column("n").unwrap().missing(), 2);
        assert_eq!(found.column("t").unwrap().read_as.to_string(), "date and time, year-month-day");
        let money = ["1.818,99 €", "", "12,50 €"];
        let found = frame(&of_texts(&money, WriterProperties::builder(), false), &TableForm::default(), "f", 1 << 20);
        let Ok(found) = found else { panic!("{found:?}") };
        assert_eq!(found.column("id").unwrap().read_as.to_string(), "number, decimal ',', thousands '.', €");
        for bytes_max in [10, 100] {
            let fault = frame(&file(Compression::SNAPPY, false), &TableForm::default(), "f", bytes_max).unwrap_err();
            assert_eq!(fault.code(), Code::TooLarge, "{fault}");
        }
        let fault = frame(&tempfile::tempfile().unwrap(), &TableForm::default(), "f", 1 << 20).unwrap_err();
        assert_eq!(fault.code(), Code::InvalidValue, "{fault}");
    }

    /// Writes a file with one column `id` of these texts.
    fn of_texts(
        texts: &[&str],
        properties: parquet::file::properties::WriterPropertiesBuilder,
        has_gaps: bool,
    ) -> File {
        let file = tempfile::tempfile().unwrap();
        let kind = if has_gaps { "OPTIONAL" } else { "REQUIRED" };
        let schema = Arc::new(parse_message_type(&format!("message s {{ {kind} BINARY id (UTF8); }}")).unwrap());
        let properties = Arc::new(properties.build());
        let mut writer = SerializedFileWriter::new(file.try_clone().unwrap(), schema, properties).unwrap();
        let mut rows = writer.next_row_group().unwrap();
        let mut column = rows.next_column().unwrap().unwrap();
        let values: Vec<ByteArray> = texts.iter().map(|text| ByteArray::from(*text)).collect();
        let levels = vec![1; texts.len()];
        column.typed::<ByteArrayType>().write_batch(&values, has_gaps.then_some(&levels[..]), None).unwrap();
        column.close().unwrap();
        rows.close().unwrap();
        writer.close().unwrap();
        file
    }

    fn all(file: File, bytes_max: u64) -> Result<Table, Fault> {
        read(file, &Columns::default(), Gaps::Nowhere, "f", bytes_max, None)
    }

    /// Returns the same file after changing the declared uncompressed size of its only page to `bytes`.
    fn saying(mut file: File, bytes: u32) -> File {
        use std::io::{Read, Seek, SeekFrom, Write};
        let metadata = ParquetMetaDataReader::new().parse_and_finish(&file).unwrap();
        let at = metadata.row_group(0).column(0).data_page_offset() as usize;
        let mut whole = Vec::new();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.read_to_end(&mut whole).unwrap();
        // Field 1 is the page type; field 2 is the uncompressed size, in three bytes of seven bits.
        assert_eq!((whole[at], whole[at + 1], whole[at + 2], whole[at + 6]), (0x15, 0, 0x15, 0x15));
        for (index, byte) in whole[at + 3..at + 6].iter_mut().enumerate() {
            let goes_on = if index < 2 { 0x80 } else { 0 };
            *byte = (((bytes * 2) >> (7 * index)) as u8 & 0x7f) | goes_on;
        }
        let mut changed = tempfile::tempfile().unwrap();
        changed.write_all(&whole).unwrap();
        changed
    }

    #[test]
    fn texts_are_read_in_each_encoding_and_version() {
        use parquet::basic::Encoding;
        use parquet::file::properties::{WriterProperties, WriterVersion};
        let texts: Vec<String> = (0..20_000).map(|row| format!("{}{row}", "common ".repeat(row % 9))).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let encodings =
            [None, Some(Encoding::PLAIN), Some(Encoding::DELTA_LENGTH_BYTE_ARRAY), Some(Encoding::DELTA_BYTE_ARRAY)];
        for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
            for codec in [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::GZIP(Default::default())] {
                for encoding in encodings {
                    for has_gaps in [false, true] {
                        let mut properties =
                            WriterProperties::builder().set_writer_version(version).set_compression(codec);
                        if let Some(encoding) = encoding {
                            properties = properties.set_dictionary_enabled(false).set_encoding(encoding);
                        }
                        let table = all(of_texts(&texts, properties, has_gaps), 1 << 24).unwrap();
                        assert!(table.texts("id").unwrap() == texts, "{version:?} {codec:?} {encoding:?} {has_gaps}");
                    }
                }
            }
        }
    }

    #[test]
    fn words_that_many_rows_name_and_long_beginnings_are_refused_by_what_they_would_take() {
        use parquet::basic::Encoding;
        let long = "w".repeat(2_000);
        let numbered: Vec<String> = (0..5_000).map(|row| format!("{long}{row}")).collect();
        let numbered: Vec<&str> = numbered.iter().map(String::as_str).collect();
        let prefixes =
            WriterProperties::builder().set_dictionary_enabled(false).set_encoding(Encoding::DELTA_BYTE_ARRAY);
        for file in [
            of_texts(&vec![long.as_str(); 5_000], WriterProperties::builder(), false),
            of_texts(&numbered, prefixes, false),
        ] {
            assert!(file.metadata().unwrap().len() < 1 << 17);
            let fault = all(file, 1 << 20).unwrap_err();
            assert_eq!(fault.code(), Code::TooLarge);
            assert_eq!(
                fault.reason(),
                "f, column 1 (\"id\"): with it the values take more than the 1048576 bytes that are allowed"
            );
        }
    }

    /// Writes a file with one column `id`, in which `rows` rows have a word that is not valid UTF-8.
    fn of_no_text(word: &[u8], rows: usize) -> File {
        let file = tempfile::tempfile().unwrap();
        let schema = Arc::new(parse_message_type("message s { REQUIRED BINARY id (UTF8); }").unwrap());
        let mut writer = SerializedFileWriter::new(file.try_clone().unwrap(), schema, Arc::default()).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&vec![ByteArray::from(word.to_vec()); rows], None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        file
    }

    #[test]
    fn a_word_that_is_no_text_counts_in_each_row_that_names_it() {
        let fault = all(of_no_text(&[0xff; 3], 2), 1 << 20).unwrap_err();
        assert_eq!(
            fault.reason(),
            "f, row 1, column 1 (\"id\"): expected text in UTF-8, found 3 bytes that are none\n\
             f, row 2, column 1 (\"id\"): expected text in UTF-8, found 3 bytes that are none\n\
             f: 2 faults in all"
        );
        let file = of_no_text(&[0xff; 2_000], 5_000);
        assert!(file.metadata().unwrap().len() < 1 << 17);
        assert_eq!(all(file, 1 << 20).unwrap_err().code(), Code::TooLarge);
    }

    #[test]
    fn no_word_is_looked_at_when_there_is_no_more_room() {
        use parquet::file::properties::WriterProperties;
        let long = "w".repeat(2_000);
        for has_gaps in [false, true] {
            let file = of_texts(&vec![long.as_str(); 5_000], WriterProperties::builder(), has_gaps);
            let parquet = Parquet::open(file).unwrap();
            let mut intake = Intake::new("f", 1 << 20);
            let ColumnReader::ByteArrayColumnReader(mut reader) = parquet.column(0, 0, intake.left()).unwrap() else {
                panic!("a column of texts");
            };
            let mut column = Column {
                index: 0,
                name: "id".to_owned(),
                values: Values::texts(),
                gaps: Gaps::Nowhere,
                is_whole: false,
            };
            let looks = std::cell::Cell::new(0);
            each(&mut reader, 5_000, ROWS, (&mut column, &mut intake), |column, _, intake| {
                looks.set(looks.get() + 1);
                column.text(&long, intake);
            })
            .unwrap();
            // The last value is the one that did not fit.
            assert_eq!((looks.get(), column.len(), intake.is_full()), ((1 << 20) / 2_004 + 1, (1 << 20) / 2_004, true));
        }
    }

    #[test]
    fn what_is_left_is_told_before_more_is_read() {
        use parquet::file::properties::WriterProperties;
        // Each value has its own page: first 8192 values at once, then some more.
        let texts = vec!["w"; ROWS + 1];
        let properties = WriterProperties::builder().set_dictionary_enabled(false);
        let file = of_texts(&texts, properties.set_data_page_row_count_limit(1).set_write_batch_size(1), false);
        let parquet = Parquet::open(file).unwrap();
        let mut intake = Intake::new("f", 1 << 20);
        let left = intake.left();
        let ColumnReader::ByteArrayColumnReader(mut reader) = parquet.column(0, 0, left.clone()).unwrap() else {
            panic!("a column of texts");
        };
        let mut column =
            Column { index: 0, name: "id".to_owned(), values: Values::texts(), gaps: Gaps::Nowhere, is_whole: false };
        each(&mut reader, texts.len(), ROWS, (&mut column, &mut intake), |column, _, intake| column.text("w", intake))
            .unwrap();
        assert_eq!(column.len(), texts.len());
        assert_eq!(left.bytes(), (1 << 20) - 5 * ROWS as u64, "what the first of them took");
    }

    #[test]
    fn a_footer_is_refused_by_its_length_before_it_is_read() {
        use std::io::{Seek, SeekFrom, Write};
        let saying = |length: u32, size: u64| {
            let mut file = tempfile::tempfile().unwrap();
            file.set_len(size - 8).unwrap();
            file.seek(SeekFrom::End(0)).unwrap();
            file.write_all(&[length.to_le_bytes(), *b"PAR1"].concat()).unwrap();
            file
        };
        let fault = all(saying((16 << 20) + 1, 64 << 20), 1 << 20).unwrap_err();
        assert_eq!(
            (fault.code(), fault.reason()),
            (Code::TooLarge, "f: expected a footer of at most 16777216 bytes, found one of 16777217")
        );
        for (size, length) in [(1000, 993), (8, 1), (100, u32::MAX)] {
            let fault = all(saying(length, size), 1 << 20).unwrap_err();
            assert_eq!(fault.code(), Code::InvalidValue);
            assert!(fault.reason().ends_with(&format!("a footer of {length} bytes in a file of {size}")), "{fault}");
        }
        // The declared size is the largest allowed size, but the file has no valid footer.
        assert_eq!(all(saying(16 << 20, 64 << 20), 1 << 20).unwrap_err().code(), Code::InvalidValue);
    }

    #[test]
    fn a_page_is_refused_by_the_size_that_it_says_and_gets_no_other() {
        let long = "w".repeat(500_000);
        for codec in [Compression::SNAPPY, Compression::GZIP(Default::default())] {
            let file = || {
                let properties = WriterProperties::builder().set_compression(codec).set_dictionary_enabled(false);
                of_texts(&[long.as_str()], properties, false)
            };
            assert_eq!(all(file(), 1 << 20).unwrap().texts("id").unwrap()[0].len(), long.len());
            // A page of half a megabyte with a limit of 100,000 bytes, and a page that declares a megabyte with a limit
            // one byte below it.
            for (file, allowed) in [(file(), 100_000), (saying(file(), 1_000_000), 999_999)] {
                let fault = all(file, allowed).unwrap_err();
                assert_eq!(fault.code(), Code::TooLarge);
                assert!(
                    fault.reason().starts_with("f, column 1 (\"id\"): with it the values take more than"),
                    "{fault}"
                );
            }
            for said in [1_000, 500_003, 500_005, 1_000_000] {
                let fault = all(saying(file(), said), 1 << 20).unwrap_err();
                assert_eq!(fault.code(), Code::InvalidValue);
                assert!(fault.reason().contains(&format!("a page of {said} bytes that unpacks to")), "{fault}");
            }
        }
    }

    #[test]
    fn a_codec_that_is_not_read_is_named_with_its_column_and_those_that_are() {
        use std::io::{Read, Seek, SeekFrom, Write};
        let mut sound = Vec::new();
        let mut file = file(Compression::SNAPPY, false);
        file.seek(SeekFrom::Start(0)).unwrap();
        file.read_to_end(&mut sound).unwrap();
        // Field 4, the codec, follows the path of the column.
        let path = [0x19, 0x18, 1, b'x', 0x15];
        let places: Vec<usize> = (0..sound.len() - 5).filter(|&at| sound[at..].starts_with(&path)).collect();
        assert_eq!(places.len(), 2, "one for each group");
        for (codec, name) in [(3, "lzo"), (4, "brotli"), (5, "lz4"), (7, "lz4_raw")] {
            let mut bytes = sound.clone();
            places.iter().for_each(|at| bytes[at + path.len()] = codec * 2);
            let mut changed = tempfile::tempfile().unwrap();
            changed.write_all(&bytes).unwrap();
            let fault = read(changed, &wanted(), Gaps::Nowhere, "f", 1 << 20, None).unwrap_err();
            let expected = format!(
                "f, column 1 (\"x\"): expected pages that are plain or packed by snappy, gzip or zstd, found {name}, which is not read here"
            );
            assert_eq!((fault.code(), fault.reason()), (Code::InvalidValue, expected.as_str()));
        }
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
            // The result is a table or a fault, whichever bytes were changed.
            let reading = crate::Reading { columns: wanted().columns, ..Default::default() };
            let _ = crate::format::read(file, crate::Form::Parquet, &reading, "f", 1 << 20);
        }
    }
}
