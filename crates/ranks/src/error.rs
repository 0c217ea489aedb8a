//! The errors of ranks: which rank failed, where, and how the other ranks ended.

use std::fmt;
use std::time::Duration;

/// The reason why a program on ranks has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// A rank's code panicked. The caller sees this error, whatever errors the other ranks returned.
    Panicked {
        /// The rank that panicked.
        rank: usize,
        /// The panic's message.
        message: String,
    },
    /// This rank waited for a rank that had ended (early, or by a panic), or that had failed because another rank had
    /// ended.
    RankLeft {
        /// The rank that had ended, by its number in the world.
        rank: usize,
        /// The call in which this rank was waiting.
        waiting_in: &'static str,
    },
    /// A rank in another process failed; the message comes from that process and names the rank.
    Elsewhere {
        /// The message that the other process sent.
        message: String,
    },
    /// A rank did not arrive within the communicator's [patience](crate::Communicator::set_patience).
    Late {
        /// The rank that did not arrive, by its number in the world; `None` if any rank was accepted.
        rank: Option<usize>,
        /// The call in which this rank was waiting.
        waiting_in: &'static str,
        /// The communicator's patience, which is how long this rank waited.
        limit: Duration,
    },
    /// The dispatcher was shut down before the rank ended.
    Cancelled {
        /// The rank.
        rank: usize,
    },
    /// Ranks made different calls, or called a collective with different lengths or roots.
    Mismatch {
        /// The collective.
        collective: &'static str,
        /// Two ranks that disagree, and their calls.
        detail: String,
    },
    /// A message is longer than the memory for it or, in a shift or an exchange, has another length. The message was
    /// received, and is lost.
    Truncated {
        /// The sender.
        source: usize,
        /// The length of the message in bytes.
        sent: usize,
        /// The length of the memory in bytes.
        room: usize,
    },
    /// A message does not hold values of the requested type.
    Decoding {
        /// The sender.
        source: usize,
        /// The decoder's message.
        message: String,
    },
    /// An earlier collective of this communicator was abandoned, so the ranks may now be in different collectives.
    Abandoned {
        /// The abandoned collective.
        collective: &'static str,
    },
    /// A message could not be transported: an error of the fabric or of the layer below it.
    Transport {
        /// The message of the layer that failed.
        message: String,
    },
    /// An argument is invalid: a layout, an engine, a number of ranks or threads, or a value that cannot be serialised.
    Invalid {
        /// The message, which names the given value.
        message: String,
    },
    /// No dispatcher could be started.
    Start {
        /// The system's message.
        message: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Panicked { rank, message } => write!(formatter, "rank {rank} panicked: {message}"),
            Self::RankLeft { rank, waiting_in } => {
                write!(formatter, "rank {rank} had ended while another rank waited for it in {waiting_in}")
            }
            Self::Late { rank: Some(rank), waiting_in, limit } => {
                write!(
                    formatter,
                    "rank {rank} did not come within {limit:?} while another rank waited for it in {waiting_in}"
                )
            }
            Self::Late { rank: None, waiting_in, limit } => {
                write!(formatter, "no rank came within {limit:?} while another rank waited in {waiting_in}")
            }
            Self::Cancelled { rank } => write!(formatter, "rank {rank} was cancelled: its dispatcher was shut down"),
            Self::Mismatch { collective, detail } => {
                write!(formatter, "the ranks disagree in their calls of {collective}: {detail}")
            }
            Self::Truncated { source, sent, room } => {
                write!(formatter, "a message of rank {source} has {sent} bytes, but there is room for {room}")
            }
            Self::Decoding { source, message } => {
                write!(
                    formatter,
                    "a message of rank {source} holds something other than the receiver expected: {message}"
                )
            }
            Self::Abandoned { collective } => {
                write!(formatter, "an earlier {collective} was given up before it was complete")
            }
            Self::Transport { message } => write!(formatter, "a message could not be moved: {message}"),
            Self::Invalid { message } | Self::Elsewhere { message } => formatter.write_str(message),
            Self::Start { message } => write!(formatter, "no worker threads: {message}"),
        }
    }
}

impl std::error::Error for Error {}
