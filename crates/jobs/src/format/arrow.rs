//! Arrow IPC, as a stream or a file. Lehr stores and sends tables in this format, and clients may send it.
//! `messages.rs` examines the messages first.

mod messages;

use std::io::{Cursor, Read, Seek, SeekFrom};

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Schema, TimeUnit};
use lehr_data::LeftOut;
use lehr_services::{Code, Fault};

use super::column::{Column, Gaps, Intake, Values, chosen, leave_out, nothing_left, table};
use crate::table::{Columns, GAPS, ID, Table, WEIGHTS, WHOLE, scale_of};

/// The first bytes of an Arrow file, which a stream does not have.
const MAGIC: &[u8] = b"ARROW1";

/// Writes a table as a stream of one batch.
///
/// # Errors
/// Returns [`Code::OperationFailed`] if writing fails. Writing to memory does not fail.
pub(crate) fn write(table: &Table) -> Result<Vec<u8>, Fault> {
    let mut bytes = Vec::with_capacity(table.bytes() + 4096);
    write_to(&mut bytes, table)
        .map_err(|error| Fault::new(Code::OperationFailed, "a table could not be written").log(error.to_string()))?;
    Ok(bytes)
}

/// Writes a table to a file as a stream of one batch.
pub(crate) fn write_to(out: impl std::io::Write, table: &Table) -> Result<(), ArrowError> {
    let mut writer = StreamWriter::try_new(out, table.batch().schema_ref())?;
    writer.write(table.batch())?;
    writer.finish()
}

/// Reads a table that was sent as bytes, with the roles of its columns. If the library panics, returns a fault.
///
/// # Errors
/// Returns [`Code::InvalidValue`] if the bytes are damaged, or [`Code::TooLarge`] if the values take more than eight
/// times the size of the bytes. Tables of Lehr stay below this limit: eight-bit numbers become 64-bit numbers, and Lehr
/// sends no dictionaries.
pub(crate) fn read(bytes: &[u8], name: &str) -> Result<Table, Fault> {
    let bytes_max = (bytes.len() as u64).saturating_mul(8);
    super::guarded(&format!("{name}: expected a sound Arrow stream or file"), || {
        read_from(Cursor::new(bytes), &Columns::default(), Gaps::Nowhere, name, bytes_max)
    })
}

fn damaged(name: &str, error: &ArrowError) -> Fault {
    Fault::new(Code::InvalidValue, format!("{name}: expected an Arrow stream or file, found damage: {error}"))
}

/// Reads a stream or a file.
///
/// # Errors
/// Returns [`Code::InvalidValue`] with the first ten faults, or [`Code::TooLarge`] if the values take more than
/// `bytes_max` bytes.
pub(crate) fn read_from<R: Read + Seek>(
    reader: R,
    wanted: &Columns,
    gaps: Gaps,
    name: &str,
    bytes_max: u64,
) -> Result<Table, Fault> {
    read_known(reader, wanted, gaps, name, bytes_max, None)
}

/// Reads a stream or a file. Adds the columns of other types than tables have to `left_out`, if there is such a list.
///
/// # Errors
/// Returns the errors of [`read_from`]; for columns of other types only if they were asked for, or if no others are
/// there.
pub(crate) fn read_known<R: Read + Seek>(
    mut reader: R,
    wanted: &Columns,
    gaps: Gaps,
    name: &str,
    bytes_max: u64,
    left_out: Option<&mut Vec<LeftOut>>,
) -> Result<Table, Fault> {
    let mut head = [0; MAGIC.len()];
    let is_file = reader.read_exact(&mut head).is_ok() && head == MAGIC;
    let broken = |error: ArrowError| damaged(name, &error);
    let rewind = |reader: &mut R| reader.seek(SeekFrom::Start(0)).map(drop).map_err(|cause| broken(cause.into()));
    rewind(&mut reader)?;
    if is_file { messages::check_file(&mut reader, name) } else { messages::check_stream(&mut reader, name) }?;
    rewind(&mut reader)?;
    if is_file {
        let reader = FileReader::try_new(reader, None).map_err(broken)?;
        collect(&reader.schema(), reader, wanted, gaps, name, bytes_max, left_out)
    } else {
        let reader = StreamReader::try_new(reader, None).map_err(broken)?;
        collect(&reader.schema(), reader, wanted, gaps, name, bytes_max, left_out)
    }
}

fn collect(
    schema: &Schema,
    batches: impl Iterator<Item = Result<RecordBatch, ArrowError>>,
    wanted: &Columns,
    gaps: Gaps,
    name: &str,
    bytes_max: u64,
    mut left_out: Option<&mut Vec<LeftOut>>,
) -> Result<Table, Fault> {
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut wanted = wanted.clone();
    wanted.weights = wanted.weights.or_else(|| schema.metadata().get(WEIGHTS).cloned());
    wanted.id = wanted.id.or_else(|| schema.metadata().get(ID).cloned());
    // A table written by Lehr declares whether values may be missing.
    let ours = schema.metadata().contains_key(GAPS);
    let gaps = if ours && gaps == Gaps::Nowhere { Gaps::InNumbers } else { gaps };
    let mut columns = Vec::new();
    for index in chosen(&names, &wanted, name)? {
        let (field, of) = (schema.field(index), schema.field(index).data_type());
        let scale = scale_of(field).map_err(|fault| Fault::new(fault.code(), format!("{name}: {}", fault.reason())))?;
        // Without a scale, as in tables of other programs, 16-bit whole numbers are counts.
        let fixed = scale.filter(|_| *of == DataType::UInt16).map(|scale| Values::Fixed(Vec::new(), scale));
        let values = fixed.or_else(|| values_of(of));
        let Some(values) = values else {
            leave_out((name, index, &names[index]), &of.to_string(), &wanted, left_out.as_deref_mut())?;
            continue;
        };
        let is_whole = field.metadata().contains_key(WHOLE);
        columns.push(Column { index, name: names[index].clone(), values, gaps, is_whole });
    }
    if columns.is_empty()
        && let Some(left_out) = left_out
    {
        return Err(nothing_left(name, left_out));
    }
    let mut intake = Intake::new(name, bytes_max);
    for batch in batches {
        let batch = batch.map_err(|error| damaged(name, &error))?;
        for column in &mut columns {
            take(batch.column(column.index), column, &mut intake);
            intake.check(name)?;
        }
    }
    table(columns, &wanted, gaps, name, intake)
}

/// Returns the kind of values that an Arrow type becomes, or `None` if tables do not support the type.
fn values_of(of: &DataType) -> Option<Values> {
    match of {
        DataType::Float32 => Some(Values::Singles(Vec::new())),
        DataType::Float16 | DataType::Float64 => Some(Values::Numbers(Vec::new())),
        // True is 1 and false is 0.
        DataType::Boolean => Some(Values::Counts(Vec::new())),
        DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::Int64 => Some(Values::Whole(Vec::new())),
        // Durations become whole numbers in their own unit, because Parquet files also store them as whole numbers.
        DataType::Duration(_) => Some(Values::Whole(Vec::new())),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 | DataType::UInt64 => Some(Values::Counts(Vec::new())),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(Values::texts()),
        DataType::Dictionary(_, of) => values_of(of).filter(|values| matches!(values, Values::Texts(_))),
        _ => None,
    }
}

/// Adds the values of one batch to a column.
fn take(array: &ArrayRef, column: &mut Column, intake: &mut Intake) {
    macro_rules! each {
        ($of:ty, $value:ident => $put:expr) => {
            for value in array.as_primitive::<$of>().iter() {
                match value {
                    Some($value) => $put,
                    None => column.gap(intake),
                }
            }
        };
    }
    match array.data_type() {
        DataType::Boolean => {
            for value in array.as_boolean().iter() {
                match value {
                    Some(truth) => column.count(u64::from(truth), intake),
                    None => column.gap(intake),
                }
            }
        }
        DataType::Float16 => each!(Float16Type, value => column.number(value.to_f64(), intake)),
        DataType::Float32 => each!(Float32Type, value => column.number(f64::from(value), intake)),
        DataType::Float64 => each!(Float64Type, value => column.number(value, intake)),
        DataType::Int8 => each!(Int8Type, value => column.whole(i64::from(value), intake)),
        DataType::Int16 => each!(Int16Type, value => column.whole(i64::from(value), intake)),
        DataType::Int32 => each!(Int32Type, value => column.whole(i64::from(value), intake)),
        DataType::Int64 => each!(Int64Type, value => column.whole(value, intake)),
        DataType::Duration(TimeUnit::Second) => each!(DurationSecondType, value => column.whole(value, intake)),
        DataType::Duration(TimeUnit::Millisecond) => {
            each!(DurationMillisecondType, value => column.whole(value, intake))
        }
        DataType::Duration(TimeUnit::Microsecond) => {
            each!(DurationMicrosecondType, value => column.whole(value, intake))
        }
        DataType::Duration(TimeUnit::Nanosecond) => each!(DurationNanosecondType, value => column.whole(value, intake)),
        DataType::UInt8 => each!(UInt8Type, value => column.count(u64::from(value), intake)),
        DataType::UInt16 => each!(UInt16Type, value => column.small(value, intake)),
        DataType::UInt32 => each!(UInt32Type, value => column.count(u64::from(value), intake)),
        DataType::UInt64 => each!(UInt64Type, value => column.count(value, intake)),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            // If no row has a value, the dictionary may be empty, and its keys cannot be looked up.
            if dictionary.values().is_empty() {
                (0..array.len()).for_each(|_| column.gap(intake));
                return;
            }
            let words: Vec<_> = texts_of(dictionary.values()).collect();
            for (row, key) in dictionary.normalized_keys().into_iter().enumerate() {
                // A missing value in the dictionary is missing in each row that refers to it.
                match words.get(key).copied().flatten().filter(|_| array.is_valid(row)) {
                    Some(word) => column.text(word, intake),
                    None => column.gap(intake),
                }
            }
        }
        _ => {
            for text in texts_of(array) {
                match text {
                    Some(text) => column.text(text, intake),
                    None => column.gap(intake),
                }
            }
        }
    }
}

/// Returns the texts of an array, row by row.
fn texts_of(array: &ArrayRef) -> Box<dyn Iterator<Item = Option<&str>> + '_> {
    match array.data_type() {
        DataType::Utf8 => Box::new(array.as_string::<i32>().iter()),
        DataType::LargeUtf8 => Box::new(array.as_string::<i64>().iter()),
        DataType::Utf8View => Box::new(array.as_string_view().iter()),
        _ => Box::new(std::iter::empty()),
    }
}

#[cfg(test)]
mod tests {
    use arrow_array::builder::StringDictionaryBuilder;
    use arrow_array::{Float32Array, Int32Array, Int64Array, LargeStringArray, TimestampSecondArray, UInt16Array};
    use arrow_ipc::writer::FileWriter;

    use super::*;
    use lehr_sync::Arc;

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
        assert!(fault.reason().starts_with("a, row 2, column 2 (\"i\"): expected a value, found none\n"), "{fault}");
        assert!(fault.reason().ends_with("a: 2 faults in all"), "{fault}");
        let large: ArrayRef = Arc::new(Int64Array::from(vec![-1, (1 << 53) + 1]));
        let times: ArrayRef = Arc::new(TimestampSecondArray::from(vec![1, 2]));
        let of = |column: &ArrayRef| RecordBatch::try_from_iter([("n", column.clone())]).unwrap();
        let fault = read(&written(&of(&large), false), "a").unwrap_err();
        assert!(
            fault.reason().contains("a, row 2, column 1 (\"n\"): expected numbers of at most 9007199254740992"),
            "{fault}"
        );
        let fault = read(&written(&of(&times), false), "a").unwrap_err();
        assert!(fault.reason().starts_with("a, column 1 (\"n\"): expected numbers, whole numbers or text"), "{fault}");
        // Uploads leave such columns out, unless there are no others.
        let known = |batch: &RecordBatch, left_out: &mut Vec<LeftOut>| {
            let bytes = std::io::Cursor::new(written(batch, false));
            read_known(bytes, &Columns::default(), Gaps::Nowhere, "a", u64::MAX, Some(left_out))
        };
        let mut left_out = Vec::new();
        let numbers: ArrayRef = Arc::new(Int64Array::from(vec![5, 6]));
        let both = RecordBatch::try_from_iter([("when", times.clone()), ("n", numbers)]).unwrap();
        let table = known(&both, &mut left_out).unwrap();
        assert_eq!(table.columns().map(|(name, _)| name).collect::<Vec<_>>(), ["n"]);
        assert!(left_out[0].to_string().starts_with("when (Timestamp"), "{left_out:?}");
        let fault = known(&of(&times), &mut Vec::new()).unwrap_err();
        assert!(
            fault.reason().starts_with("a: expected columns of numbers, whole numbers or text, found n ("),
            "{fault}"
        );
    }

    #[test]
    fn durations_are_whole_numbers_of_their_unit() {
        let columns: [ArrayRef; 4] = [
            Arc::new(arrow_array::DurationSecondArray::from(vec![1, -2])),
            Arc::new(arrow_array::DurationMillisecondArray::from(vec![1, -2])),
            Arc::new(arrow_array::DurationMicrosecondArray::from(vec![1, -2])),
            Arc::new(arrow_array::DurationNanosecondArray::from(vec![1, -2])),
        ];
        for column in columns {
            let batch = RecordBatch::try_from_iter([("took", column)]).unwrap();
            let table = read(&written(&batch, false), "a").unwrap();
            assert_eq!(*table.numbers("took").unwrap(), [1.0, -2.0, 1.0, -2.0]);
        }
    }

    #[test]
    fn a_scale_that_is_none_and_a_gap_where_there_may_be_none_are_faults() {
        let of = |scale: &str| {
            let field = arrow_schema::Field::new("d", DataType::UInt16, false);
            let field = field.with_metadata([("lehr.scale".to_owned(), scale.to_owned())]);
            let values: ArrayRef = Arc::new(UInt16Array::from(vec![3, u16::MAX]));
            let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![values]).unwrap();
            read(&written(&batch, false), "m").unwrap_err().reason().to_owned()
        };
        for scale in ["0", "-1", "NaN", "1e305", "much", ""] {
            let expected = format!("m: column \"d\": lehr.scale: expected a finite number above 0, found {scale:?}");
            assert_eq!(of(scale), expected);
        }
        assert!(of("0.5").starts_with("m, row 2, column 1 (\"d\"): expected a value, found none"));
    }

    #[test]
    fn a_table_that_was_written_is_the_same_when_it_is_read() {
        let table = Table::builder()
            .texts("site", vec!["A".into(), "B".into()])
            .numbers("x", vec![0.1, -0.0])
            .counts("n", vec![u64::MAX, 0])
            .numbers("w", vec![1.0, 2.0])
            .whole("k", vec![-1.0, f64::NAN])
            .singles("d", vec![0.1, f32::NAN])
            .fixed("f", vec![7, u16::MAX], 0.1)
            .gaps(true)
            .weights(Some("w".into()))
            .id(Some("site".into()))
            .build()
            .unwrap();
        let again = read(&write(&table).unwrap(), "t").unwrap();
        assert_eq!((again.checksum(), again.weights(), again.id()), (table.checksum(), Some("w"), Some("site")));
        let part = read(&write(&table.slice(1, 1)).unwrap(), "t").unwrap();
        assert_eq!((part.rows(), part.texts("site").unwrap()), (1, vec!["B".to_owned()]));
        assert_eq!((part.fixed("f"), again.numbers("f").unwrap()[0]), (Some((&[u16::MAX][..], 0.1)), 7.0 * 0.1));
        assert_eq!(Table::joined(&[table.slice(0, 1), part]).unwrap().checksum(), table.checksum());
    }

    /// Returns the fault for a file or stream of one batch.
    fn refused(bytes: &[u8], bytes_max: u64) -> Fault {
        read_from(Cursor::new(bytes), &Columns::default(), Gaps::Nowhere, "a", bytes_max).unwrap_err()
    }

    #[test]
    fn long_words_that_many_rows_name_are_refused_by_what_they_would_take() {
        let long = "w".repeat(10_000);
        let mut words = StringDictionaryBuilder::<Int32Type>::new();
        (0..10_000).for_each(|_| words.append_value(&long));
        let dictionary: ArrayRef = Arc::new(words.finish());
        let view = arrow_array::StringViewArray::from_iter_values(["short"]);
        let batch = RecordBatch::try_from_iter([("words", dictionary)]).unwrap();
        for as_file in [false, true] {
            let bytes = written(&batch, as_file);
            assert!(bytes.len() < 1 << 18);
            let fault = refused(&bytes, 1 << 20);
            assert_eq!(fault.code(), Code::TooLarge);
            assert_eq!(
                fault.reason(),
                "a, column 1 (\"words\"): with it the values take more than the 1048576 bytes that are allowed"
            );
            // A reader of bytes from another process has no given limit, so it derives one.
            assert_eq!(read(&bytes, "a").unwrap_err().code(), Code::TooLarge);
        }
        let batch = RecordBatch::try_from_iter([("view", Arc::new(view) as ArrayRef)]).unwrap();
        assert_eq!(read(&written(&batch, false), "a").unwrap().texts("view").unwrap()[0], "short");
    }

    #[test]
    fn a_block_that_is_not_in_the_file_is_refused_before_there_is_room_for_it() {
        let batch = batch(Int32Array::from(vec![1, 2, 3]));
        let sound = written(&batch, true);
        // In the footer, a block has its offset, the length of its metadata, and then the length of its body in 64
        // bits.
        let length = i32::from_le_bytes(*sound[sound.len() - 10..].first_chunk().unwrap()) as usize;
        let footer = sound.len() - 10 - length..sound.len() - 10;
        let root = arrow_ipc::root_as_footer(&sound[footer.clone()]).unwrap();
        let body = root.recordBatches().unwrap().get(0).bodyLength().to_le_bytes();
        let offset = root.recordBatches().unwrap().get(0).offset().to_le_bytes();
        let at =
            sound[footer.clone()].windows(24).position(|block| block[..8] == offset && block[16..] == body).unwrap();
        let mut bytes = sound.clone();
        bytes[footer.start + at + 16..][..8].copy_from_slice(&(1i64 << 46).to_le_bytes());
        let fault = refused(&bytes, 1 << 20);
        assert_eq!(fault.code(), Code::InvalidValue);
        assert!(fault.reason().contains("and 70368744177664 bytes at"), "{fault}");
    }

    /// Returns a batch message with `COLUMNS` columns of three numbers each. The columns begin at the offsets `places`
    /// in a body of `body` bytes.
    fn message(places: &[i64; COLUMNS], body: i64) -> Vec<u8> {
        use arrow_ipc::{Buffer, FieldNode, MessageArgs, MessageHeader, RecordBatchArgs};
        let mut builder = flatbuffers::FlatBufferBuilder::new();
        // No value is missing, so the validity bits are left out.
        let buffers: Vec<Buffer> = places.iter().flat_map(|&at| [Buffer::new(at, 0), Buffer::new(at, 24)]).collect();
        let buffers = Some(builder.create_vector(&buffers));
        let nodes = Some(builder.create_vector(&[FieldNode::new(3, 0); COLUMNS]));
        let batch = RecordBatchArgs { length: 3, nodes, buffers, ..Default::default() };
        let header = arrow_ipc::RecordBatch::create(&mut builder, &batch).as_union_value();
        let message = MessageArgs {
            version: arrow_ipc::MetadataVersion::V5,
            header_type: MessageHeader::RecordBatch,
            header: Some(header),
            bodyLength: body,
            ..Default::default()
        };
        let root = arrow_ipc::Message::create(&mut builder, &message);
        builder.finish(root, None);
        let mut message = builder.finished_data().to_vec();
        message.resize(message.len().next_multiple_of(8), 0);
        message
    }

    const COLUMNS: usize = 4;

    fn schema() -> Schema {
        let field = |index| arrow_schema::Field::new(format!("x{index}"), DataType::Float64, false);
        Schema::new((0..COLUMNS).map(field).collect::<Vec<_>>())
    }

    /// Returns a file with one message after this prefix; the footer names the message `times` times.
    fn file_of(prefix: &[u8], message: &[u8], body: &[u8], times: usize) -> Vec<u8> {
        let mut bytes = b"ARROW1\0\0".to_vec();
        let metadata = (prefix.len() + message.len()) as i32;
        let block = arrow_ipc::Block::new(bytes.len() as i64, metadata, body.len() as i64);
        bytes.extend([prefix, message, body].concat());
        let mut builder = flatbuffers::FlatBufferBuilder::new();
        let schema = Some(arrow_ipc::convert::IpcSchemaEncoder::new().schema_to_fb_offset(&mut builder, &schema()));
        let blocks = Some(builder.create_vector(&vec![block; times]));
        let version = arrow_ipc::MetadataVersion::V5;
        let footer = arrow_ipc::FooterArgs { version, schema, recordBatches: blocks, ..Default::default() };
        let root = arrow_ipc::Footer::create(&mut builder, &footer);
        builder.finish(root, None);
        let footer = builder.finished_data();
        bytes.extend(footer);
        bytes.extend((footer.len() as u32).to_le_bytes());
        bytes.extend(MAGIC);
        bytes
    }

    #[test]
    fn columns_that_name_the_same_bytes_are_refused_by_the_length_of_their_body() {
        let apart = std::array::from_fn(|index| 24 * index as i64);
        let stream = |message: &[u8], body: &[u8]| {
            let mut bytes = Vec::new();
            let mut writer = StreamWriter::try_new(&mut bytes, &schema()).unwrap();
            writer.flush().unwrap();
            drop(writer);
            bytes.extend([[0xff; 4], (message.len() as u32).to_le_bytes()].concat());
            let end = [[0xff; 4], [0; 4]].concat();
            [bytes.as_slice(), message, body, &end].concat()
        };
        let files = |places: &[i64; COLUMNS], body: usize| {
            let (message, body) = (message(places, body as i64), vec![0; body]);
            let length = (message.len() as u32).to_le_bytes();
            // A reader of files ignores the length before a message, so the length may be arbitrary. Even 0 does not
            // mark the end.
            let prefixes = [[[0xff; 4], length].concat(), length.to_vec(), vec![0; 4]];
            let mut files = prefixes.map(|prefix| file_of(&prefix, &message, &body, 1)).to_vec();
            files.push(stream(&message, &body));
            files
        };
        for sound in files(&apart, 24 * COLUMNS) {
            assert_eq!(*read(&sound, "a").unwrap().numbers("x3").unwrap(), [0.0; 3]);
        }
        for (places, body) in [([0; COLUMNS], 24), (apart, 24 * COLUMNS - 8), ([80, 0, 0, 0], 24 * COLUMNS)] {
            for bytes in files(&places, body) {
                let fault = refused(&bytes, 1 << 20);
                let expected = format!("columns that take more than the {body} bytes of their message");
                assert!(fault.code() == Code::InvalidValue && fault.reason().ends_with(&expected), "{fault}");
            }
        }
    }

    #[test]
    fn a_message_that_a_footer_names_again_and_again_is_refused_by_the_length_of_the_file() {
        let apart = std::array::from_fn(|index| 24 * index as i64);
        let file = |times| file_of(&[0; 4], &message(&apart, 24 * COLUMNS as i64), &[0; 24 * COLUMNS], times);
        assert_eq!(read(&file(1), "a").unwrap().rows(), 3);
        let bytes = file(1000);
        let expected = format!("messages that take more than the {} bytes of their file", bytes.len() - 10);
        let fault = refused(&bytes, 1 << 20);
        assert!(fault.code() == Code::InvalidValue && fault.reason().ends_with(&expected), "{fault}");
    }

    #[test]
    fn rows_without_a_value_need_no_words() {
        let words = arrow_array::StringArray::from(Vec::<&str>::new());
        let rows = arrow_array::DictionaryArray::new(Int32Array::new_null(2), Arc::new(words));
        let batch = RecordBatch::try_from_iter([("d", Arc::new(rows) as ArrayRef)]).unwrap();
        for as_file in [false, true] {
            // The batch of two rows is written twice, so there are four faults. If the library panicked, the fault
            // would report a damaged file instead.
            let fault = refused(&written(&batch, as_file), 1 << 20);
            assert!(
                fault.reason().starts_with("a, row 1, column 1 (\"d\"): expected a value, found none\n"),
                "{fault}"
            );
            assert!(fault.reason().ends_with("a: 4 faults in all"), "{fault}");
        }
    }

    #[test]
    fn packed_columns_are_refused_by_the_name_of_their_codec() {
        // Take the metadata of a batch with one column and mark its body as compressed, because the library cannot
        // write compressed bodies without its codecs.
        use arrow_ipc::{BodyCompressionArgs, CompressionType, MessageArgs, MessageHeader, RecordBatchArgs};
        let batch = RecordBatch::try_from_iter([("x", Arc::new(Float32Array::from(vec![0.5])) as ArrayRef)]).unwrap();
        let sound = written(&batch, false);
        let schema = 8 + u32::from_le_bytes(*sound[4..].first_chunk().unwrap()) as usize;
        for (codec, name) in [(CompressionType::LZ4_FRAME, "lz4"), (CompressionType::ZSTD, "zstd")] {
            let mut builder = flatbuffers::FlatBufferBuilder::new();
            let packed = BodyCompressionArgs { codec, ..Default::default() };
            let compression = Some(arrow_ipc::BodyCompression::create(&mut builder, &packed));
            let batch = RecordBatchArgs { length: 1, compression, ..Default::default() };
            let header = arrow_ipc::RecordBatch::create(&mut builder, &batch).as_union_value();
            let message = MessageArgs {
                version: arrow_ipc::MetadataVersion::V5,
                header_type: MessageHeader::RecordBatch,
                header: Some(header),
                ..Default::default()
            };
            let root = arrow_ipc::Message::create(&mut builder, &message);
            builder.finish(root, None);
            let message = builder.finished_data();
            let mut bytes = sound[..schema].to_vec();
            bytes.extend([[0xff; 4], (message.len() as u32).to_le_bytes()].concat());
            bytes.extend(message);
            let fault = refused(&bytes, 1 << 20);
            let expected = format!("a: expected columns that are not packed, found {name}, which is not read here");
            assert_eq!((fault.code(), fault.reason()), (Code::InvalidValue, expected.as_str()));
        }
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
        // The same limit applies to bytes from another process.
        for as_file in [false, true] {
            let bytes = written(&batch(Int32Array::from(vec![1, 2, 3])), as_file);
            for at in 0..bytes.len() {
                let mut changed = bytes.clone();
                changed[at] ^= 0xff;
                let _ = super::read(&changed, "a");
            }
        }
    }
}
