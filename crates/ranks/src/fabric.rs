//! The one seam between ranks: messages of bytes, sent to a rank and taken by a receive that matches them.
//!
//! [`Fabric`] is one rank's end. It has to move a message (`send`, `poll_receive`), to look for one (`poll_probe`) and
//! to report which ranks have ended. Everything else, collectives included, is built on that. So a new fabric has
//! little to do, and one more line in a table runs the conformance cases on it.
//!
//! | fabric | meaning | messages |
//! | --- | --- | --- |
//! | [`threads`] | ranks of one process | stay where they are written; collectives have a path of their own, the *exchange* |
//! | [`ports`] | ranks of one process over ports of the runtime, as papers 000 to 004 have it | are posted |
//! | [`bytes`] | ranks of one process through the codec | become frames in a stream, so that the wire path is tested without a wire |
//!
//! Fabrics between processes live in crates of their own and fill the same trait. [`inbox::Inbox`] does the matching
//! for a fabric that can only move messages; [`ring`] moves them through memory that two processes share.
//!
//! **Cost contract.** `send` copies the bytes at most once and never waits. `poll_receive` looks first at the messages
//! that have arrived. It may spin for some microseconds if every rank has a core, and otherwise returns
//! [`Poll::Pending`] at once: it never blocks its worker. A fabric without a thread of its own makes progress only when
//! it is called. It does so in `poll_receive` and `poll_probe`, and while it is pending it wakes its caller to be
//! polled again.

/// The receives of a fabric in this process that sorts all messages into an inbox. `poll` looks at the inbox, with all
/// messages in it; `inbox` is where a turn is given up.
macro_rules! receives_from_its_inbox {
    () => {
        fn poll_receive(
            &self,
            pattern: &Pattern,
            turn: &mut Ticket,
            waiting_in: &'static str,
            context: &mut Context<'_>,
        ) -> Poll<Result<Message, Error>> {
            self.poll(|inbox| inbox.poll_receive(pattern, turn, waiting_in, context))
        }

        fn poll_probe(
            &self,
            pattern: &Pattern,
            turn: &mut Ticket,
            waiting_in: &'static str,
            context: &mut Context<'_>,
        ) -> Poll<Result<Envelope, Error>> {
            self.poll(|inbox| inbox.poll_probe(pattern, turn, waiting_in, context))
        }

        fn forget(&self, turn: &mut Ticket) {
            self.inbox().forget(turn);
        }

        fn fail(&self, culprit: usize) {
            self.culprit.lock().get_or_insert(culprit);
        }
    };
}

pub mod bytes;
pub mod inbox;
pub mod ports;
pub(crate) mod receiving;
// Its heads need words of 64 bits.
#[cfg(target_pointer_width = "64")]
pub mod ring;
pub mod threads;

use std::borrow::Cow;
use std::task::{Context, Poll, Waker};

use crate::communicator::Communicator;
use crate::error::Error;

/// The fabrics whose ranks are in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// [`threads`]: shared memory. The default.
    #[default]
    Threads,
    /// [`threads`], but with collectives made of messages, as on every other fabric.
    Mail,
    /// [`ports`]: over ports of the runtime.
    Ports,
    /// [`bytes`]: through the codec.
    Bytes,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Threads, Self::Mail, Self::Ports, Self::Bytes];

    /// The communicators of a new group of `size` ranks, in order of rank. `may_spin` says that every rank has a core
    /// to itself.
    ///
    /// # Example
    /// ```
    /// use lehr_ranks::fabric::Kind;
    /// let world = Kind::Ports.communicators(3, false);
    /// assert_eq!((world.len(), world[2].rank(), world[2].size()), (3, 2, 3));
    /// ```
    pub fn communicators(self, size: usize, may_spin: bool) -> Vec<Communicator> {
        match self {
            Self::Threads => threads::communicators(size, may_spin),
            Self::Mail => threads::endpoints(size, may_spin).into_iter().map(Communicator::over).collect(),
            Self::Ports => ports::endpoints(size).into_iter().map(Communicator::over).collect(),
            Self::Bytes => bytes::endpoints(size).into_iter().map(Communicator::over).collect(),
        }
    }
}

/// The values, beside its source, by which a message is matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// The group of ranks and the kind of traffic. Point-to-point messages and collectives of a communicator have one
    /// each, and so have its duplicates and parts, so that their messages never meet.
    pub context: u32,
    /// Chosen by the sender; in collective contexts, which collective and which of them.
    pub tag: u32,
    /// The number under which the sender wants to learn that the message was received; 0 if it does not. Travels with
    /// the message; nothing is matched by it, and the fabric does nothing about it.
    pub receipt: u32,
}

/// The messages that a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// From this rank, or from any.
    pub source: Option<usize>,
    /// In this context.
    pub context: u32,
    /// With this tag, or with any.
    pub tag: Option<u32>,
    /// Or any message in this context, from any sender.
    pub besides: Option<u32>,
}

impl Pattern {
    /// Whether a message from `source` labelled `label` is one of them.
    pub fn matches(&self, source: usize, label: Label) -> bool {
        let is_wanted = self.context == label.context
            && self.source.is_none_or(|wanted| wanted == source)
            && self.tag.is_none_or(|wanted| wanted == label.tag);
        is_wanted || self.besides == Some(label.context)
    }
}

/// A message that has arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The sender.
    pub source: usize,
    /// The label that it was sent with.
    pub label: Label,
    /// Its content.
    pub bytes: Vec<u8>,
}

impl Message {
    /// Its source, label and length, without its bytes.
    pub fn envelope(&self) -> Envelope {
        Envelope { source: self.source, label: self.label, length: self.bytes.len() }
    }
}

/// The source, label and length of a message, known before it is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The sender.
    pub source: usize,
    /// The label that it was sent with.
    pub label: Label,
    /// The number of its bytes.
    pub length: usize,
}

/// The place of a pending receive or probe among others of its rank; empty before the first poll. It holds no message.
///
/// Of several receives that match the same message, the one polled first gets it.
#[derive(Debug, Default)]
pub struct Ticket(pub(crate) Option<u64>);

impl Ticket {
    /// The number that the fabric gave, if any.
    pub fn number(&self) -> Option<u64> {
        self.0
    }

    /// Gives it a number: by a fabric that does its own matching.
    pub fn set(&mut self, number: Option<u64>) {
        self.0 = number;
    }
}

/// One rank's end of a fabric over all ranks of the program. Shared by all communicators of the rank.
///
/// Between two ranks and within a context, messages are matched in the order in which they were sent.
///
/// Dropping an end signals to the other ranks that this one has ended. It has *failed* if the end is dropped while its
/// thread panics or after [`fail`](Self::fail); otherwise it has ended in order. Messages that a rank sent before it
/// ended can still be received.
pub trait Fabric: Send + Sync {
    /// Its name in messages and reports, such as `threads` or `mpi`.
    fn name(&self) -> &'static str;

    /// This rank's number, from 0.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn size(&self) -> usize;

    /// Hands a message over to rank `to`, which may be this one. Never waits: a message that cannot be sent at once is
    /// kept.
    ///
    /// # Errors
    /// Returns [`Error::Transport`]. An ended receiver is no error: no rank will miss the message.
    fn send(&self, to: usize, label: Label, bytes: Cow<'_, [u8]>) -> Result<(), Error>;

    /// Like [`send`](Self::send), of a message made of parts: for a fabric that can put them together where they go.
    ///
    /// # Errors
    /// The same as for [`send`](Self::send).
    fn send_parts(&self, to: usize, label: Label, parts: &[&[u8]]) -> Result<(), Error> {
        let mut bytes = self.memory(parts.iter().map(|part| part.len()).sum());
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        self.send(to, label, Cow::Owned(bytes))
    }

    /// Takes the earliest message that matches; or waits, in the turn that it had on its first poll.
    ///
    /// Cancel-safe: a receive that is given up, by [`forget`](Self::forget), has taken nothing.
    ///
    /// # Errors
    /// Returns [`Error::RankLeft`] if no message matches and none will. Either the source has ended, or the receive
    /// accepts any source and a rank has failed or all others have ended. Returns [`Error::Transport`].
    fn poll_receive(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Message, Error>>;

    /// Like [`poll_receive`](Self::poll_receive), but shows the bytes to `read`, once, instead of giving them away: for
    /// a fabric that can spare the memory.
    ///
    /// # Errors
    /// The same as for [`poll_receive`](Self::poll_receive).
    fn poll_read(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
        read: &mut dyn FnMut(Envelope, &[u8]),
    ) -> Poll<Result<(), Error>> {
        let received = self.poll_receive(pattern, turn, waiting_in, context);
        received.map_ok(|message| read(message.envelope(), &message.bytes))
    }

    /// Shows the earliest message that matches without taking it; otherwise like [`poll_receive`](Self::poll_receive).
    ///
    /// # Errors
    /// The same as for [`poll_receive`](Self::poll_receive).
    fn poll_probe(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Envelope, Error>>;

    /// Empty memory for an outgoing message of this many bytes: with room for the header of the fabric, or used before.
    fn memory(&self, length: usize) -> Vec<u8> {
        Vec::with_capacity(length)
    }

    /// Takes the memory of a message that has been read, to use it again.
    fn give_back(&self, bytes: Vec<u8>) {
        drop(bytes);
    }

    /// Takes the earliest message that matches, if there is one; never waits.
    ///
    /// # Errors
    /// Returns [`Error::Transport`].
    fn take_if_come(&self, pattern: &Pattern) -> Result<Option<Message>, Error> {
        let mut turn = Ticket::default();
        let received = self.poll_receive(pattern, &mut turn, "", &mut Context::from_waker(Waker::noop()));
        self.forget(&mut turn);
        match received {
            Poll::Ready(Ok(message)) => Ok(Some(message)),
            Poll::Pending | Poll::Ready(Err(Error::RankLeft { .. })) => Ok(None),
            Poll::Ready(Err(error)) => Err(error),
        }
    }

    /// Whether a pending receive is polled again soon, although nothing has arrived: on a fabric that must be polled
    /// for progress.
    fn asks_again(&self) -> bool {
        false
    }

    /// Gives up a turn. Call it whenever you drop a pending receive or probe; harmless otherwise.
    fn forget(&self, turn: &mut Ticket);

    /// Says that this rank cannot continue because of rank `culprit` (perhaps itself). The error of ranks that wait for
    /// this rank then names the other one. Only the first call counts.
    fn fail(&self, culprit: usize);

    /// Waits until all that was handed over has left this process, so that the end may be dropped. Nothing to do for
    /// most.
    ///
    /// # Errors
    /// Returns [`Error::Transport`].
    fn poll_flush(&self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let _ = context;
        Poll::Ready(Ok(()))
    }
}
