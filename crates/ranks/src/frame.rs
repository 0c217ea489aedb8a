//! The wire format of messages: a header of fixed length, then the bytes of the message. `fabric/bytes.rs` uses this
//! format; fabrics between processes may use it too.
//!
//! | bytes of the header | field | written by the sender as | read by the receiver to |
//! | --- | --- | --- | --- |
//! | 0..8 | length | the number of bytes that follow the header | find the end of the frame |
//! | 8..16 | sequence | 0, 1, 2 ... for each pair of ranks | notice that a frame was lost, repeated or overtaken |
//! | 16..20 | source | its own rank | match the message |
//! | 20..24 | context | the label's context or, in the last frame of a rank that failed, the rank that caused the failure | match the message |
//! | 24..28 | tag | the label's tag | match the message |
//! | 28..32 | receipt | the label's receipt number | tell the sender that the message was received, if the number is not 0 |
//! | 32..36 | kind | 0 for a message; for the last frame of a rank, 1 if it ended in order and 2 if it failed | distinguish these frames |
//! | 36..40 | | zeros | nothing; they keep the next field aligned |
//!
//! All numbers are little-endian.

use crate::error::Error;
use crate::fabric::{Label, Message};

/// The number of bytes in a header.
pub const HEADER: usize = 40;

/// The content of a frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// A message.
    Message(Message),
    /// The source has ended in order and will send no more frames.
    Ended {
        /// The rank that has ended.
        source: usize,
    },
    /// The source has failed and will send no more frames.
    Failed {
        /// The rank that has failed.
        source: usize,
        /// The rank that caused the failure.
        culprit: usize,
    },
}

/// The content of a frame, its sequence number, and the rest of the stream.
pub type Read<'a> = (Frame, u64, &'a [u8]);

/// Appends a message as a frame.
///
/// # Example
/// ```
/// use lehr_ranks::fabric::{Label, Message};
/// use lehr_ranks::frame::{self, Frame};
/// let mut stream = Vec::new();
/// frame::write(&mut stream, 3, Label { context: 0, tag: 7, receipt: 0 }, 0, b"abc");
/// let (frame, sequence, rest) = frame::read(&stream).unwrap().expect("a whole frame");
/// let message = Message { source: 3, label: Label { context: 0, tag: 7, receipt: 0 }, bytes: b"abc".to_vec() };
/// assert_eq!((frame, sequence, rest), (Frame::Message(message), 0, &[][..]));
/// assert_eq!(frame::read(&stream[..42]), Ok(None)); // its end has not come yet
/// ```
pub fn write(stream: &mut Vec<u8>, source: usize, label: Label, sequence: u64, bytes: &[u8]) {
    header(stream, bytes.len() as u64, sequence, source, label, 0);
    stream.extend_from_slice(bytes);
}

/// Appends the last frame of a rank that has ended: failed because of `culprit`, or ended in order if `culprit` is
/// `None`.
pub fn write_end(stream: &mut Vec<u8>, source: usize, sequence: u64, culprit: Option<usize>) {
    let label = Label { context: culprit.unwrap_or(0) as u32, tag: 0, receipt: 0 };
    header(stream, 0, sequence, source, label, if culprit.is_some() { 2 } else { 1 });
}

fn header(stream: &mut Vec<u8>, length: u64, sequence: u64, source: usize, label: Label, kind: u32) {
    stream.extend_from_slice(&length.to_le_bytes());
    stream.extend_from_slice(&sequence.to_le_bytes());
    for field in [source as u32, label.context, label.tag, label.receipt, kind, 0] {
        stream.extend_from_slice(&field.to_le_bytes());
    }
}

/// Reads the first frame of a stream: its content, its sequence number and the rest of the stream. `None` if the frame
/// is not complete yet.
///
/// # Errors
/// Returns [`Error::Transport`] if the kind of the frame is unknown, or if its length is too large for this machine.
pub fn read(stream: &[u8]) -> Result<Option<Read<'_>>, Error> {
    let Some((header, rest)) = stream.split_first_chunk::<HEADER>() else { return Ok(None) };
    let long = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
    let word = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
    let length = usize::try_from(long(0)).map_err(|_| Error::Transport { message: "a frame too long".to_owned() })?;
    let Some((bytes, rest)) = rest.split_at_checked(length) else { return Ok(None) };
    let (source, label) = (word(16) as usize, Label { context: word(20), tag: word(24), receipt: word(28) });
    let frame = match word(32) {
        0 => Frame::Message(Message { source, label, bytes: bytes.to_vec() }),
        1 => Frame::Ended { source },
        2 => Frame::Failed { source, culprit: label.context as usize },
        kind => return Err(Error::Transport { message: format!("a frame of kind {kind} from rank {source}") }),
    };
    Ok(Some((frame, long(8), rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_come_back_in_order_and_a_cut_frame_waits_for_its_end() {
        let label = Label { context: 5, tag: u32::MAX, receipt: 3 };
        let mut stream = Vec::new();
        write(&mut stream, 1, label, 0, &[]);
        write(&mut stream, 1, label, 1, &[1, 2, 3]);
        write_end(&mut stream, 1, 2, Some(4));
        for cut in 0..stream.len() {
            let (mut rest, mut frames) = (&stream[..cut], 0);
            while let Some((_, sequence, after)) = read(rest).unwrap() {
                assert_eq!(sequence, frames);
                (rest, frames) = (after, frames + 1);
            }
            assert_eq!(frames, [HEADER, 2 * HEADER + 3].iter().filter(|&&end| end <= cut).count() as u64);
        }
        let (first, _, rest) = read(&stream).unwrap().unwrap();
        assert_eq!(first, Frame::Message(Message { source: 1, label, bytes: vec![] }));
        let (second, _, rest) = read(rest).unwrap().unwrap();
        assert_eq!(second, Frame::Message(Message { source: 1, label, bytes: vec![1, 2, 3] }));
        let (third, _, rest) = read(rest).unwrap().unwrap();
        assert_eq!((third, rest.len()), (Frame::Failed { source: 1, culprit: 4 }, 0));
    }

    #[test]
    fn a_frame_of_an_unknown_kind_is_an_error() {
        let mut stream = vec![0_u8; HEADER];
        stream[32] = 9;
        assert!(matches!(read(&stream), Err(Error::Transport { message }) if message.contains("kind 9")));
    }
}
