//! The trailer after the bytes of a frame, which names the sender and the receiver of the message.
//!
//! The trailer comes after the bytes, so that a received message need not be moved: removing the trailer from the frame
//! leaves the message.
//!
//! | bytes of the trailer | field | written by the sender as | read by the receiver to |
//! | --- | --- | --- | --- |
//! | 0..4 | run, kind | eight times the number of the run in this job, from 1, plus the [`Kind`] | keep a frame of a later run until that run begins; distinguish the kinds of frames |
//! | 4..8 | source | the rank that sent the message | match the message |
//! | 8..12 | to | the rank that the message is for | find that rank's inbox |
//! | 12..16 | context | the label's context; for a failure, the rank that caused it | match the message; name the rank in errors |
//! | 16..20 | tag | the label's tag | match the message |
//! | 20..24 | receipt | the label's receipt number | tell the sender that the message was received, if the number is not 0 |
//!
//! All numbers are little-endian. A message of four words, its trailer and the frame's head together fill one line of a
//! ring, which has 64 bytes.

/// The number of bytes in a trailer.
pub(crate) const LENGTH: usize = 24;

/// The number of bits of the first field that hold the kind.
const KIND_BITS: u32 = 3;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A message from one rank to another, whose bytes are in this frame.
    Message = 0,
    /// A rank has ended in order and sends no more.
    Ended = 1,
    /// A rank has failed and sends no more.
    Failed = 2,
    /// The outcome of a process's ranks, sent to process 0, which chooses the outcome of the run.
    Report = 3,
    /// The outcome that process 0 has chosen, sent to all other processes.
    Verdict = 4,
    /// Bytes that process 0 shares with all processes between runs.
    Word = 5,
    /// The announcement of a long message, whose bytes go through memory that both processes share (`lent.rs`).
    Lent = 6,
}

/// The fields of a trailer; see the [module](self).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trailer {
    pub(crate) run: u32,
    pub(crate) source: u32,
    pub(crate) to: u32,
    pub(crate) context: u32,
    pub(crate) tag: u32,
    pub(crate) receipt: u32,
    pub(crate) kind: Kind,
}

impl Trailer {
    /// Returns the bytes of the trailer, which follow the bytes of a message.
    pub(crate) fn bytes(&self) -> [u8; LENGTH] {
        let Self { run, source, to, context, tag, receipt, kind } = *self;
        debug_assert!(run < 1 << (u32::BITS - KIND_BITS), "runs have 29 bits");
        let mut bytes = [0; LENGTH];
        let fields = [run << KIND_BITS | kind as u32, source, to, context, tag, receipt];
        for (bytes, field) in bytes.as_chunks_mut().0.iter_mut().zip(fields) {
            *bytes = field.to_le_bytes();
        }
        bytes
    }

    /// Removes the trailer from a frame and returns it; `None` if the frame has no valid trailer.
    pub(crate) fn cut(frame: &mut Vec<u8>) -> Option<Self> {
        let (trailer, length) = Self::behind(frame)?;
        frame.truncate(length);
        Some(trailer)
    }

    /// Returns the trailer at the end of a frame, and the number of bytes before it; `None` if the frame has no valid
    /// trailer.
    pub(crate) fn behind(frame: &[u8]) -> Option<(Self, usize)> {
        let start = frame.len().checked_sub(LENGTH)?;
        let field = |index: usize| {
            let at = start + 4 * index;
            u32::from_le_bytes(frame[at..at + 4].try_into().expect("four bytes"))
        };
        let kinds = [Kind::Message, Kind::Ended, Kind::Failed, Kind::Report, Kind::Verdict, Kind::Word, Kind::Lent];
        let [first, source, to, context, tag, receipt] = [0, 1, 2, 3, 4, 5].map(field);
        let kind = *kinds.get(first as usize % (1 << KIND_BITS))?;
        Some((Self { run: first >> KIND_BITS, source, to, context, tag, receipt, kind }, start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_cut_off_again() {
        for kind in [Kind::Message, Kind::Ended, Kind::Failed, Kind::Report, Kind::Verdict, Kind::Word, Kind::Lent] {
            let trailer = Trailer { run: 1, source: u32::MAX, to: 3, context: 4, tag: 5, receipt: 6, kind };
            let mut frame = b"body".to_vec();
            frame.extend(trailer.bytes());
            assert_eq!(frame.len(), 4 + LENGTH);
            assert_eq!(Trailer::cut(&mut frame), Some(trailer));
            assert_eq!(frame, b"body");
        }
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        assert_eq!(Trailer::cut(&mut vec![0; LENGTH - 1]), None);
        assert_eq!(Trailer::cut(&mut vec![7; LENGTH]), None);
    }
}
