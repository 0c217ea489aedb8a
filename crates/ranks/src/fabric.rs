//! The one interface between ranks: messages of bytes, sent to a rank and taken by a matching receive.
//!
//! [`Fabric`] is one rank's end. It moves messages (`send`, `poll_receive`), looks for messages (`poll_probe`) and
//! reports which ranks have ended. All other calls of a communicator, including collectives, are built on these
//! operations. So a new fabric is small, and the conformance cases run on each fabric of [`Kind`].
//!
//! | fabric | meaning | messages |
//! | --- | --- | --- |
//! | [`threads`] | ranks of one process | go to the receiver's inbox or through a channel; in collectives, they go over the *exchange*, which each rank reads in place |
//! | [`ports`] | ranks of one process over ports of the runtime, as in papers 000 to 004 | are posted to the receiver's port |
//! | [`bytes`] | ranks of one process through the wire format ([`frame`](crate::frame)) | become frames in a stream, so that the wire format is tested without a network |
//!
//! Fabrics between processes have their own crates and implement the same trait. [`inbox::Inbox`] does the matching for
//! a fabric that can only move messages; [`ring`] moves messages through memory that two processes share. [`memory`]
//! keeps the memory of long messages for reuse. [`pipeline`] lets a receiver read a long message while its sender still
//! copies it, and [`streaming`] copies past the caches.
//!
//! **Cost contract.** `send` copies the bytes at most once, and waits for nothing but a receiver that is copying the
//! message already. `poll_receive` looks first at the messages that have arrived. The call may spin for some
//! microseconds if every rank has a core, and otherwise returns [`Poll::Pending`] at once: it never blocks its worker. A
//! fabric without its own thread makes progress only in calls of `poll_receive` and `poll_probe`. While such a call is
//! pending, the fabric wakes the caller, so that the caller polls again.

/// Implements the receives of a fabric in this process that sorts all messages into an inbox. The fabric's method
/// `poll` puts all arrived messages into the inbox and polls it; its method `inbox` returns the inbox. Its field `memory`
/// is for long messages.
macro_rules! receives_from_its_inbox {
    () => {
        fn poll_receive(
            &self,
            pattern: &Pattern,
            turn: &mut Ticket,
            waiting_in: &'static str,
            context: &mut Context<'_>,
        ) -> Poll<Result<Message, Error>> {
            let arrived = self.poll(|inbox| inbox.poll_take(pattern, turn, waiting_in, context))?;
            arrived.map(|arrival| arrival.into_message(&self.memory))
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
pub mod memory;
pub mod pipeline;
pub mod ports;
#[cfg(target_pointer_width = "64")]
pub mod progress;
pub(crate) mod receiving;
// The heads of a ring's frames need words of 64 bits.
#[cfg(target_pointer_width = "64")]
pub mod ring;
pub mod streaming;
pub mod threads;

use std::borrow::Cow;
use std::task::{Context, Poll, Waker};

use self::pipeline::Incoming;
use crate::communicator::Communicator;
use crate::error::Error;

/// The fabrics whose ranks are in this process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// [`threads`]: shared memory. The default.
    #[default]
    Threads,
    /// [`threads`], but with collectives over messages, as on every other fabric.
    Mail,
    /// [`ports`]: over ports of the runtime.
    Ports,
    /// [`bytes`]: through the wire format of messages between processes.
    Bytes,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Threads, Self::Mail, Self::Ports, Self::Bytes];

    /// Returns the communicators of a new group of `size` ranks, in order of rank. `may_spin` says that every rank has
    /// its own core.
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

/// The label of a message: the context and the tag, which receives match, and the number of a receipt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Label {
    /// The group of ranks and the kind of traffic. Point-to-point messages and collectives of a communicator have
    /// separate contexts, and each duplicate or part of it has its own contexts. So messages of different contexts
    /// never mix.
    pub context: u32,
    /// The tag, which the sender chooses; in collective contexts, it holds the collective and its number.
    pub tag: u32,
    /// The number under which the sender wants a receipt for the message; 0 for no receipt. The number travels with the
    /// message; receives don't match it, and the fabric ignores it.
    pub receipt: u32,
}

/// The pattern of the messages that a receive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// The rank that a message must come from; `None` accepts any rank.
    pub source: Option<usize>,
    /// The context that a message must be in.
    pub context: u32,
    /// The tag that a message must have; `None` accepts any tag.
    pub tag: Option<u32>,
    /// A second context: any message in it is accepted too, from any sender.
    pub besides: Option<u32>,
}

impl Pattern {
    /// Whether a message from `source` labelled `label` matches.
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
    /// The rank that sent the message, by its number in the fabric.
    pub source: usize,
    /// The label that the sender gave the message.
    pub label: Label,
    /// The content.
    pub bytes: Vec<u8>,
}

impl Message {
    /// Returns the source, label and length, without the bytes.
    pub fn envelope(&self) -> Envelope {
        Envelope { source: self.source, label: self.label, length: self.bytes.len() }
    }
}

/// The source, label and length of a message, known before it is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The rank that sent the message, by its number in the fabric.
    pub source: usize,
    /// The label that the sender gave the message.
    pub label: Label,
    /// The number of bytes of the message.
    pub length: usize,
}

/// The number of a pending receive or probe, which gives its position among the pending calls of its rank; empty before
/// the first poll. A ticket reserves no message.
///
/// Of several receives that match the same message, the receive that was polled first gets it.
#[derive(Debug, Default)]
pub struct Ticket(pub(crate) Option<u64>);

impl Ticket {
    /// Returns the number that the fabric gave to the receive or probe; `None` before the first poll and after the end.
    pub fn number(&self) -> Option<u64> {
        self.0
    }

    /// Sets the number, for a fabric that does its own matching.
    pub fn set(&mut self, number: Option<u64>) {
        self.0 = number;
    }
}

/// A function that reads a message; it passes on the errors of [`Incoming`].
pub type Reader<'a> = dyn FnMut(Envelope, &mut Incoming<'_>) -> Result<(), Error> + 'a;

/// One rank's end of a fabric over all ranks of the program. All communicators of the rank share this end.
///
/// Between two ranks and within a context, messages are matched in the order in which they were sent.
///
/// Dropping an end signals to the other ranks that this rank has ended. The rank has *failed* if its end is dropped
/// while its thread panics or after [`fail`](Self::fail); otherwise it has ended in order. Messages that a rank sent
/// before it ended can still be received.
pub trait Fabric: Send + Sync {
    /// Returns the fabric's name for messages and reports, such as `threads` or `mpi`.
    fn name(&self) -> &'static str;

    /// Returns this rank's number, from 0.
    fn rank(&self) -> usize;

    /// Returns the number of ranks.
    fn size(&self) -> usize;

    /// Hands a message over to rank `to`, which may be this rank. Does not wait for a receive: a message that cannot be
    /// sent at once is kept.
    ///
    /// # Errors
    /// Returns [`Error::Transport`]. It is not an error if the receiver has ended, because nobody needs the message
    /// then.
    fn send(&self, to: usize, label: Label, bytes: Cow<'_, [u8]>) -> Result<(), Error>;

    /// Like [`send`](Self::send), for a message made of parts, which a fabric may join at their destination.
    ///
    /// # Errors
    /// Returns the same errors as [`send`](Self::send).
    fn send_parts(&self, to: usize, label: Label, parts: &[&[u8]]) -> Result<(), Error> {
        self.send(to, label, Cow::Owned(self.joined(parts)))
    }

    /// Returns the parts of an outgoing message in one place.
    fn joined(&self, parts: &[&[u8]]) -> Vec<u8> {
        let mut bytes = self.memory(parts.iter().map(|part| part.len()).sum());
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        bytes
    }

    /// Takes the earliest message that matches, or waits for a message that does. On its first poll, a pending receive
    /// draws a ticket, which `turn` holds.
    ///
    /// Cancel-safe: a receive that is abandoned with [`forget`](Self::forget) has taken nothing.
    ///
    /// # Errors
    /// Returns [`Error::RankLeft`] if no message matches and no message ever will. In this case, either the source has
    /// ended, or the receive accepts any source and a rank has failed or all other ranks have ended. Returns
    /// [`Error::Transport`] if the fabric fails.
    fn poll_receive(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Message, Error>>;

    /// Like [`poll_receive`](Self::poll_receive), for a receive that waits in the background: takes a message that has
    /// arrived. Does not spin, and later polls move no messages, because other calls of the rank do so.
    ///
    /// # Errors
    /// Returns the same errors as [`poll_receive`](Self::poll_receive).
    fn poll_in_background(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Message, Error>> {
        self.poll_receive(pattern, turn, waiting_in, context)
    }

    /// Like [`poll_receive`](Self::poll_receive), but passes the message to `read`, once, so that the fabric can keep
    /// the memory.
    ///
    /// # Errors
    /// Returns the same errors as [`poll_receive`](Self::poll_receive), and the errors of `read`.
    fn poll_read(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
        read: &mut Reader<'_>,
    ) -> Poll<Result<(), Error>> {
        let received = self.poll_receive(pattern, turn, waiting_in, context)?;
        received.map(|message| read(message.envelope(), &mut Incoming::complete(&message.bytes)))
    }

    /// Returns the envelope of the earliest message that matches, without taking it; otherwise like
    /// [`poll_receive`](Self::poll_receive).
    ///
    /// # Errors
    /// Returns the same errors as [`poll_receive`](Self::poll_receive).
    fn poll_probe(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Envelope, Error>>;

    /// Returns empty memory for an outgoing message of this many bytes. The memory may be reused memory, and may have
    /// room for bytes that the fabric appends.
    fn memory(&self, length: usize) -> Vec<u8> {
        Vec::with_capacity(length)
    }

    /// Takes back the memory of a message that has been read, to reuse it.
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

    /// Whether a pending receive is soon polled again, although nothing has arrived, because the fabric needs polls to
    /// make progress.
    fn asks_again(&self) -> bool {
        false
    }

    /// Gives up a ticket. Call this method whenever you drop a pending receive or probe; at other times it does
    /// nothing.
    fn forget(&self, turn: &mut Ticket);

    /// Records that this rank cannot continue because of rank `culprit` (perhaps itself). Ranks that wait for this rank
    /// then get an error that names the culprit. Only the first call counts.
    fn fail(&self, culprit: usize);

    /// Waits until all messages that were sent have left this process, so that this end may be dropped. On most
    /// fabrics, there is nothing to wait for.
    ///
    /// # Errors
    /// Returns [`Error::Transport`].
    fn poll_flush(&self, context: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let _ = context;
        Poll::Ready(Ok(()))
    }
}
