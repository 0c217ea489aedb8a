//! Checks the messages of an Arrow file or stream before the Arrow library reads them. Messages must not be compressed,
//! and the file must be long enough. Bytes that several messages refer to count once for each message.

use std::io::{ErrorKind, Read, Seek, SeekFrom};

use arrow_ipc::reader::read_footer_length;
use arrow_ipc::{Block, BodyCompression, CompressionType, Message, MessageHeader, root_as_footer, root_as_message};
use arrow_schema::ArrowError;
use lehr_services::{Code, Fault};

/// The marker before the length of a message.
const CONTINUES: [u8; 4] = [0xff; 4];

/// The size of the trailer of a file, in bytes: the length of the footer, then the magic bytes.
const TRAILER: i64 = 10;

/// Checks all messages of a stream.
///
/// # Errors
/// Returns [`Code::InvalidValue`] if a message is compressed, or if its columns lie outside its body. Also returns this
/// code if the end mark is missing, because the reader would accept a stream that was cut between two messages. The
/// reader finds all other faults, and takes no more memory than the stream has bytes.
pub(super) fn check_stream(reader: &mut (impl Read + Seek), name: &str) -> Result<(), Fault> {
    let mut message = Vec::new();
    let mut count = 0;
    loop {
        match next(reader, &mut message) {
            Ok(Next::Message(body)) => {
                if let Ok(message) = root_as_message(&message) {
                    check(&message, body, name)?;
                }
                if i64::try_from(body).is_err() || reader.seek_relative(body as i64).is_err() {
                    return Ok(());
                }
                count += 1;
            }
            // If the stream has no messages at all, the reader reports it.
            Ok(Next::Cut) if count > 0 => {
                let expected = format!("{name}: expected the end mark of an Arrow stream");
                let reason = format!("{expected}, found the end of the file after {count} messages: it was cut");
                return Err(Fault::new(Code::InvalidValue, reason));
            }
            Ok(Next::Cut | Next::End) | Err(_) => return Ok(()),
        }
    }
}

/// Checks all messages of a file at the places where the reader finds them: at the offsets in the footer.
///
/// # Errors
/// Returns [`Code::InvalidValue`] if a message is compressed, if its columns lie outside its body, or if it lies
/// outside the file. Also returns this code if all messages together are longer than the file, because the reader would
/// first allocate memory for them.
pub(super) fn check_file(reader: &mut (impl Read + Seek), name: &str) -> Result<(), Fault> {
    let damaged = |error: ArrowError| super::damaged(name, &error);
    let wrong = |error: String| damaged(ArrowError::ParseError(error));
    let mut trailer = [0; TRAILER as usize];
    let end = reader.seek(SeekFrom::End(-TRAILER)).map_err(|cause| damaged(cause.into()))?;
    reader.read_exact(&mut trailer).map_err(|cause| damaged(cause.into()))?;
    let length = read_footer_length(trailer).map_err(damaged)?;
    let start = end.checked_sub(length as u64);
    let outside = || wrong(format!("a footer of {length} bytes in a file of {end}"));
    reader.seek(SeekFrom::Start(start.ok_or_else(outside)?)).map_err(|cause| damaged(cause.into()))?;
    let mut footer = vec![0; length];
    reader.read_exact(&mut footer).map_err(|cause| damaged(cause.into()))?;
    let footer = root_as_footer(&footer).map_err(|error| wrong(error.to_string()))?;
    let blocks = footer.dictionaries().into_iter().flatten().chain(footer.recordBatches().into_iter().flatten());
    let (mut bytes, mut left) = (Vec::new(), end);
    for block in blocks {
        let (from, metadata, body) = (block.offset(), block.metaDataLength(), block.bodyLength());
        if !is_inside(block, end) {
            return Err(wrong(format!("a message of {metadata} and {body} bytes at {from} in a file of {end}")));
        }
        let (from, metadata, body) = (from as u64, metadata as u64, body as u64);
        // The footer names a message in a few bytes. If it names a message repeatedly, the reader reads the message
        // each time.
        let Some(rest) = left.checked_sub(metadata + body) else {
            return Err(wrong(format!("messages that take more than the {end} bytes of their file")));
        };
        left = rest;
        reader.seek(SeekFrom::Start(from)).map_err(|cause| damaged(cause.into()))?;
        bytes.clear();
        reader.by_ref().take(metadata).read_to_end(&mut bytes).map_err(|cause| damaged(cause.into()))?;
        let message = bytes.get(if bytes.starts_with(&CONTINUES) { 8 } else { 4 }..).unwrap_or_default();
        let message = root_as_message(message).map_err(|error| wrong(format!("a message at {from}: {error}")))?;
        check(&message, body, name)?;
    }
    Ok(())
}

fn is_inside(block: &Block, end: u64) -> bool {
    let parts = [block.offset(), i64::from(block.metaDataLength()), block.bodyLength()];
    let sum = parts.iter().try_fold(0u64, |sum, &part| sum.checked_add(u64::try_from(part).ok()?));
    sum.is_some_and(|sum| sum <= end)
}

/// The next part of a stream.
enum Next {
    /// A message whose body has this many bytes.
    Message(u64),
    /// The end mark, or bytes that are not a message and that the reader will report.
    End,
    /// The end of the stream without an end mark, perhaps inside a message.
    Cut,
}

/// Reads the next message without its body.
fn next(reader: &mut impl Read, message: &mut Vec<u8>) -> Result<Next, ArrowError> {
    let mut length = [0; 4];
    for _ in 0..2 {
        match reader.read_exact(&mut length) {
            Err(cause) if cause.kind() == ErrorKind::UnexpectedEof => return Ok(Next::Cut),
            read => read?,
        }
        if length != CONTINUES {
            break;
        }
    }
    let length = u32::from_le_bytes(length);
    if length == 0 {
        return Ok(Next::End);
    }
    message.clear();
    reader.take(u64::from(length)).read_to_end(message)?;
    if message.len() < length as usize {
        return Ok(Next::Cut);
    }
    let body = root_as_message(message).ok().and_then(|message| u64::try_from(message.bodyLength()).ok());
    Ok(body.map_or(Next::End, Next::Message))
}

/// Checks that a message's body is not compressed, and is at least as long as all its columns together. The reader
/// copies unaligned bytes for each column that refers to them.
fn check(message: &Message<'_>, body: u64, name: &str) -> Result<(), Fault> {
    let batch = match message.header_type() {
        MessageHeader::RecordBatch => message.header_as_record_batch(),
        MessageHeader::DictionaryBatch => message.header_as_dictionary_batch().and_then(|batch| batch.data()),
        _ => None,
    };
    let Some(batch) = batch else { return Ok(()) };
    if let Some(packed) = batch.compression() {
        let codec = codec(packed);
        let reason = format!("{name}: expected columns that are not packed, found {codec}, which is not read here");
        return Err(Fault::new(Code::InvalidValue, reason));
    }
    let mut left = body;
    for buffer in batch.buffers().into_iter().flatten() {
        let (from, length) = (u64::try_from(buffer.offset()), u64::try_from(buffer.length()));
        let is_inside = from.ok().zip(length.ok()).filter(|(from, length)| from.saturating_add(*length) <= body);
        match is_inside.and_then(|(_, length)| left.checked_sub(length)) {
            Some(rest) => left = rest,
            None => {
                let error = format!("columns that take more than the {body} bytes of their message");
                return Err(super::damaged(name, &ArrowError::ParseError(error)));
            }
        }
    }
    Ok(())
}

fn codec(packed: BodyCompression<'_>) -> &'static str {
    match packed.codec() {
        CompressionType::LZ4_FRAME => "lz4",
        CompressionType::ZSTD => "zstd",
        _ => "an unknown codec",
    }
}
