//! The messages of an Arrow file or stream, looked at before they are read: how they are packed, and whether the file has the bytes that they speak of.

use std::io::{ErrorKind, Read, Seek, SeekFrom};

use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Block, BodyCompression, CompressionType, MessageHeader, root_as_footer, root_as_message};
use arrow_schema::ArrowError;
use lehr_services::{Code, Fault};

/// What begins the length of a message.
const CONTINUES: [u8; 4] = [0xff; 4];

/// Bytes at the end of a file: the length of its footer and the magic.
const TRAILER: i64 = 10;

/// Looks at all messages of a stream.
///
/// # Errors
/// [`Code::InvalidValue`] if one is packed. Whatever else is wrong is left to the reader, who takes no more memory than there are bytes.
pub(super) fn check_stream(reader: &mut (impl Read + Seek), name: &str) -> Result<(), Fault> {
    let mut message = Vec::new();
    while let Some(body) = next(reader, &mut message).unwrap_or_default() {
        check_plain(&message, name)?;
        if reader.seek_relative(body).is_err() {
            break;
        }
    }
    Ok(())
}

/// Looks at all messages of a file.
///
/// # Errors
/// [`Code::InvalidValue`] if one is packed, or is not in the file: the reader would make room for it first.
pub(super) fn check_file(reader: &mut (impl Read + Seek), name: &str) -> Result<(), Fault> {
    let damaged = |error: ArrowError| super::damaged(name, &error);
    let mut trailer = [0; TRAILER as usize];
    let end = reader.seek(SeekFrom::End(-TRAILER)).map_err(|cause| damaged(cause.into()))?;
    reader.read_exact(&mut trailer).map_err(|cause| damaged(cause.into()))?;
    let length = read_footer_length(trailer).map_err(damaged)?;
    let start = end.checked_sub(length as u64);
    let outside = || damaged(ArrowError::ParseError(format!("a footer of {length} bytes in a file of {end}")));
    reader.seek(SeekFrom::Start(start.ok_or_else(outside)?)).map_err(|cause| damaged(cause.into()))?;
    let mut footer = vec![0; length];
    reader.read_exact(&mut footer).map_err(|cause| damaged(cause.into()))?;
    let footer = root_as_footer(&footer).map_err(|error| damaged(ArrowError::ParseError(error.to_string())))?;
    let blocks = footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
    let mut message = Vec::new();
    for block in blocks {
        if !is_inside(block, end) {
            let (from, metadata, body) = (block.offset(), block.metaDataLength(), block.bodyLength());
            let error = format!("a message of {metadata} and {body} bytes at {from} in a file of {end}");
            return Err(damaged(ArrowError::ParseError(error)));
        }
        reader.seek(SeekFrom::Start(block.offset() as u64)).map_err(|cause| damaged(cause.into()))?;
        if next(reader, &mut message).unwrap_or_default().is_some() {
            check_plain(&message, name)?;
        }
    }
    Ok(())
}

fn is_inside(block: &Block, end: u64) -> bool {
    let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
    let sum = parts.iter().try_fold(0u64, |sum, &part| sum.checked_add(u64::try_from(part).ok()?));
    sum.is_some_and(|sum| sum <= end)
}

/// Reads the next message without its body, and how long that is; nothing at the end.
fn next(reader: &mut impl Read, message: &mut Vec<u8>) -> Result<Option<i64>, ArrowError> {
    let mut length = [0; 4];
    match reader.read_exact(&mut length) {
        Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        read => read?,
    }
    if length == CONTINUES {
        reader.read_exact(&mut length)?;
    }
    let length = u32::from_le_bytes(length);
    message.clear();
    reader.take(u64::from(length)).read_to_end(message)?;
    if length == 0 || message.len() < length as usize {
        return Ok(None);
    }
    Ok(root_as_message(message).ok().map(|message| message.bodyLength()).filter(|body| *body >= 0))
}

/// That a message's body is not packed.
fn check_plain(message: &[u8], name: &str) -> Result<(), Fault> {
    let Ok(message) = root_as_message(message) else { return Ok(()) };
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|batch| batch.data()),
        _ => None,
    };
    let Some(packed) = batch.and_then(|batch| batch.compression()) else { return Ok(()) };
    let reason =
        format!("{name}: expected columns that are not packed, found {}, which is not read here", codec(packed));
    Err(Fault::new(Code::InvalidValue, reason))
}

fn codec(packed: BodyCompression<'_>) -> &'static str {
    match packed.codec() {
        CompressionType::LZ4_FRAME => "lz4",
        CompressionType::ZSTD => "zstd",
        _ => "an unknown codec",
    }
}
