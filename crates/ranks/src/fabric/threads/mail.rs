//! Messages between ranks of one process.
//!
//! If ranks outnumber cores, or there are many ranks, a sender puts its message into the receiver's [`Inbox`]. If every
//! rank has a core, there is also a *channel* for each pair of ranks: a short ring of slots. A slot has a flag and room
//! for a small message in one cache line. So for each short message, only one cache line moves between the cores.
//!
//! | shared word | meaning | who writes it |
//! | --- | --- | --- |
//! | `Slot::ready` | p: the slot is free for message p of the channel; p + 1: it holds message p; p + `SLOTS`: message p was taken | the sender, then the rank that takes the message |
//! | `Rank::sleeping` | 1 if a receive waits in the inbox, so that a sender must move its messages there | the receiver |
//!
//! The holder of the sender's `outgoing` lock has the sender's end of a channel; the holder of the receiver's
//! `incoming` lock has the receiver's end. Usually the receiver takes `incoming`. If the ring is full, the receiver
//! sleeps or the sender ends, the sender takes `incoming` too and moves the messages to the inbox. So a channel holds
//! any number of messages in order, and no rank waits for a ring.
//!
//! A receive takes a message directly from a channel only if the inbox is idle (no message, no waiter). Messages in the
//! inbox are older, and receives that wait there have precedence. Lock order: `outgoing` of a sender, `incoming` of a
//! receiver, its inbox.
//!
//! A long message is *pipelined* ([`pipeline`]): the slot or the inbox has only its announcement. The sender copies the
//! bytes after it has released all locks. A receiver takes the announcement, releases its locks, and then reads the
//! bytes. So neither waits for a lock that the other holds.
//!
//! No receiver sleeps for ever, because it registers in the inbox, raises `sleeping`, and then looks at the channels
//! once more. A sender fills its slot, and then looks at `sleeping`. A fence between the two steps of each rank makes
//! sure that at least one of the two ranks sees the write of the other.
#![allow(unsafe_code, reason = "slots are written by one rank and read by another without a lock")]

use std::borrow::Cow;
use std::task::{Context, Poll, Waker};

use crossbeam_utils::CachePadded;
use lehr_sync::{Arc, AtomicUsize, Cell, Mutex, MutexGuard, Ordering, fence, spin_loop};

use crate::error::Error;
use crate::fabric::inbox::{Arrival, Body, Inbox};
use crate::fabric::memory::Memory;
use crate::fabric::pipeline::{self, Follower, Incoming, Pipeline, Pipelined};
use crate::fabric::{Envelope, Fabric, Label, Message, Pattern, Reader, Ticket};

/// The number of slots of a channel: enough for the messages of one exchange and the next.
const SLOTS: usize = if cfg!(any(loom, shuttle)) { 2 } else { 4 };

/// The maximum number of ranks for which there are channels. With more ranks, there would be too many channels, one for
/// each pair of ranks.
const RANKS_MAX: usize = 32;

/// The maximum number of bytes of a message that a slot itself holds. With the flag, the label and the length, these
/// bytes fit in a cache line of 64 bytes.
const SHORT: usize = 32;

/// The number of checks of a slot before a receiver registers in the inbox. These checks take some microseconds, about
/// as long as waking a sleeping core.
const SPINS: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 1000 };

/// One rank's end of the messages between ranks.
pub(crate) struct Mail {
    ranks: Arc<[Rank]>,
    rank: usize,
    /// For each receiver, the number of messages that this rank has put into the channel to it.
    outgoing: CachePadded<Mutex<Box<[usize]>>>,
    culprit: Mutex<Option<usize>>,
    /// The memory of long messages that have been read, which all ranks share.
    memory: Memory,
}

/// The messages for one rank to receive.
struct Rank {
    inbox: Inbox,
    /// One channel from each rank; empty if there are too many ranks or too few cores.
    channels: Box<[Channel]>,
    /// For each sender, the number of messages that were taken out of its channel to this rank.
    incoming: CachePadded<Mutex<Box<[usize]>>>,
    sleeping: CachePadded<AtomicUsize>,
}

struct Channel {
    slots: [CachePadded<Slot>; SLOTS],
}

#[repr(C)]
struct Slot {
    ready: AtomicUsize,
    letter: Cell<Letter>,
}

#[repr(C)]
struct Letter {
    length: usize,
    label: Label,
    /// The bytes of the message, if it is short.
    short: [u8; SHORT],
    /// The bytes of the message, if it is long. The slot keeps this memory and reuses it for later messages.
    long: Vec<u8>,
    /// The message, if it is pipelined; its bytes are not in the slot.
    pipelined: Option<Follower>,
}

/// A message as it is written into a slot.
enum Sent<'a> {
    Bytes(Cow<'a, [u8]>),
    Pipelined(Follower),
}

/// A message that was found in a channel.
enum Found<R> {
    /// The message was read in place.
    Read(Result<R, Error>),
    /// The sender may still be copying the message. It is read once no lock is held.
    Announced(Arrival),
}

// SAFETY: letters are accessed by the protocol of the module's page: by the sender, which holds `outgoing`, while the
// flag says that the slot is free; by the holder of `incoming` while the flag says that the slot is filled.
unsafe impl Sync for Slot {}
// SAFETY: nothing in it is bound to a thread.
unsafe impl Send for Slot {}

/// Creates the endpoints of a new fabric, one for each of `size` ranks, in order of rank. `may_spin` says that every
/// rank has its own core.
pub(crate) fn endpoints(size: usize, may_spin: bool) -> Vec<Mail> {
    let channels = if may_spin && size <= RANKS_MAX { size } else { 0 };
    let zeros = || CachePadded::new(Mutex::new(vec![0; channels].into_boxed_slice()));
    let rank = |rank| Rank {
        inbox: Inbox::new(rank, size),
        channels: (0..channels).map(|_| Channel::new()).collect(),
        incoming: zeros(),
        sleeping: CachePadded::new(AtomicUsize::new(0)),
    };
    let ranks: Arc<[Rank]> = (0..size).map(rank).collect();
    let memory = Memory::default();
    let end = |rank| {
        let (ranks, outgoing, culprit, memory) = (ranks.clone(), zeros(), Mutex::default(), memory.clone());
        Mail { ranks, rank, outgoing, culprit, memory }
    };
    (0..size).map(end).collect()
}

impl Letter {
    fn bytes(&self) -> &[u8] {
        if self.length <= SHORT { &self.short[..self.length] } else { &self.long }
    }

    /// Writes a message. Returns the memory of an earlier message, if this message brings its own.
    fn write(&mut self, label: Label, sent: Sent<'_>) -> Vec<u8> {
        let bytes = match sent {
            Sent::Bytes(bytes) => bytes,
            Sent::Pipelined(message) => {
                (self.length, self.label) = (message.length() + message.end().len(), label);
                self.pipelined = Some(message);
                return Vec::new();
            }
        };
        (self.length, self.label) = (bytes.len(), label);
        if bytes.len() <= SHORT {
            self.short[..bytes.len()].copy_from_slice(&bytes);
        } else if let Cow::Owned(bytes) = bytes {
            return std::mem::replace(&mut self.long, bytes);
        } else {
            self.long.clear();
            self.long.extend_from_slice(&bytes);
        }
        Vec::new()
    }

    fn take(&mut self) -> Body {
        match self.pipelined.take() {
            Some(message) => Body::Pipelined(Box::new(message)),
            None if self.length <= SHORT => Body::Bytes(self.short[..self.length].to_vec()),
            None => Body::Bytes(std::mem::take(&mut self.long)),
        }
    }
}

impl Channel {
    fn new() -> Self {
        let letter = || Letter {
            length: 0,
            label: Label { context: 0, tag: 0, receipt: 0 },
            short: [0; SHORT],
            long: Vec::new(),
            pipelined: None,
        };
        let slot = |number| Slot { ready: AtomicUsize::new(number), letter: Cell::new(letter()) };
        Self { slots: std::array::from_fn(|number| CachePadded::new(slot(number))) }
    }

    fn slot(&self, number: usize) -> &Slot {
        &self.slots[number % SLOTS]
    }
}

impl Slot {
    /// Whether the slot holds the channel's message with this number.
    fn holds(&self, number: usize) -> bool {
        // Acquire: pairs with the Release in `fill`; the letter is visible.
        self.ready.load(Ordering::Acquire) == number + 1
    }

    /// Whether the slot is free for the channel's message with this number.
    fn is_free_for(&self, number: usize) -> bool {
        // Acquire: pairs with the Release in `empty`; the last message here has been read.
        self.ready.load(Ordering::Acquire) == number
    }

    /// Writes a message into the slot. The caller holds the sender's `outgoing` and has found the slot free for this
    /// message. Returns the memory of an earlier message, if this message brings its own.
    fn fill(&self, number: usize, label: Label, sent: Sent<'_>) -> Vec<u8> {
        // SAFETY: only the holder of `outgoing` writes to a free slot, and nothing reads one.
        let former = self.letter.write(|letter| unsafe { (*letter).write(label, sent) });
        // Release: pairs with the Acquire in `holds`.
        self.ready.store(number + 1, Ordering::Release);
        former
    }

    /// Passes the message to `look`. The caller holds the receiver's `incoming` and has found that the slot holds a
    /// message.
    fn look<R>(&self, look: impl FnOnce(&Letter) -> R) -> R {
        // SAFETY: the slot is filled, so the sender does not write; only the holder of `incoming` reads or empties it.
        self.letter.read(|letter| look(unsafe { &*letter }))
    }

    /// Takes the message out. The caller holds the receiver's `incoming` and has found that the slot holds a message.
    fn take(&self) -> (Label, Body) {
        // SAFETY: as in `look`; and `incoming` is exclusive.
        self.letter.write(|letter| unsafe { ((*letter).label, (*letter).take()) })
    }

    /// Returns the slot to the sender. The caller holds the receiver's `incoming` and has found that the slot holds
    /// this message.
    fn empty(&self, number: usize) {
        // Release: pairs with the Acquire in `is_free_for`.
        self.ready.store(number + SLOTS, Ordering::Release);
    }
}

impl Rank {
    /// Moves the messages in a sender's channel to the inbox. Returns the wakers to call once no lock is held.
    fn drain_from(&self, source: usize, incoming: &mut [usize]) -> Vec<Waker> {
        let mut wakers = Vec::new();
        let next = &mut incoming[source];
        loop {
            let slot = self.channels[source].slot(*next);
            if !slot.holds(*next) {
                return wakers;
            }
            let (label, body) = slot.take();
            slot.empty(*next);
            *next += 1;
            wakers.extend(self.inbox.put(Arrival { source, label, body }));
        }
    }

    fn drain(&self, incoming: &mut [usize]) -> Vec<Waker> {
        (0..self.channels.len()).flat_map(|source| self.drain_from(source, incoming)).collect()
    }

    /// Tells senders whether the inbox has a waiter. Call this method under the lock `incoming`.
    fn note_sleepers(&self) {
        // Relaxed: a late 0 only makes a sender move its messages without need; a 1 that matters is stored before the
        // fence in `poll`.
        self.sleeping.store(usize::from(self.inbox.has_waiting()), Ordering::Relaxed);
    }

    /// Polls the inbox after moving all arrived messages into it.
    fn poll<R>(&self, mut poll: impl FnMut(&Inbox) -> Poll<Result<R, Error>>) -> Poll<Result<R, Error>> {
        if self.channels.is_empty() {
            return poll(&self.inbox);
        }
        let mut incoming = self.incoming.lock();
        let mut wakers = self.drain(&mut incoming);
        let mut outcome = poll(&self.inbox);
        if outcome.is_pending() {
            // Relaxed: ordered by the fence.
            self.sleeping.store(1, Ordering::Relaxed);
            // Orders `sleeping` before the second look at the channels. Pairs with the fence in `send`.
            fence(Ordering::SeqCst);
            wakers.extend(self.drain(&mut incoming));
            outcome = poll(&self.inbox);
        }
        self.note_sleepers();
        drop(incoming);
        wakers.into_iter().for_each(Waker::wake);
        outcome
    }
}

impl Mail {
    /// Returns the bytes of a message in memory of their own.
    fn owned(&self, bytes: Cow<'_, [u8]>) -> Vec<u8> {
        match bytes {
            Cow::Owned(bytes) => bytes,
            Cow::Borrowed(bytes) => {
                let mut own = self.memory.take(bytes.len());
                own.extend_from_slice(bytes);
                own
            }
        }
    }

    fn here(&self) -> &Rank {
        &self.ranks[self.rank]
    }

    /// Reads the next message of a channel in place, or takes its announcement, if the message matches and the inbox is
    /// idle. Spins for a while if the channel is empty.
    fn read_from_channel<R>(
        &self,
        pattern: &Pattern,
        read: impl FnOnce(Envelope, &mut Incoming<'_>) -> Result<R, Error>,
    ) -> Option<Found<R>> {
        let (here, source) = (self.here(), pattern.source?);
        let channel = here.channels.get(source)?;
        let mut spins = SPINS;
        loop {
            let mut incoming: MutexGuard<'_, _> = here.incoming.lock();
            if !here.inbox.is_idle() {
                return None;
            }
            let number = incoming[source];
            let slot = channel.slot(number);
            if slot.holds(number) {
                let (label, length, is_pipelined) =
                    slot.look(|letter| (letter.label, letter.length, letter.pipelined.is_some()));
                if !pattern.matches(source, label) {
                    return None;
                }
                if is_pipelined {
                    let (label, body) = slot.take();
                    slot.empty(number);
                    incoming[source] += 1;
                    return Some(Found::Announced(Arrival { source, label, body }));
                }
                let envelope = Envelope { source, label, length };
                let outcome = slot.look(|letter| read(envelope, &mut Incoming::complete(letter.bytes())));
                slot.empty(number);
                incoming[source] += 1;
                return Some(Found::Read(outcome));
            }
            // Spins without the lock, because a sender may need the lock.
            drop(incoming);
            while !slot.holds(number) {
                spins = spins.checked_sub(1)?;
                spin_loop();
            }
        }
    }

    /// Puts a message into the channel to its receiver, or into the receiver's inbox if there is no channel.
    fn put(&self, to: usize, label: Label, sent: Sent<'_>) {
        let (source, receiver) = (self.rank, &self.ranks[to]);
        let Some(channel) = receiver.channels.get(source) else {
            let body = match sent {
                Sent::Bytes(bytes) => Body::Bytes(self.owned(bytes)),
                Sent::Pipelined(message) => Body::Pipelined(Box::new(message)),
            };
            receiver.inbox.deliver(Arrival { source, label, body });
            return;
        };
        let mut wakers = Vec::new();
        let mut outgoing = self.outgoing.lock();
        let number = outgoing[to];
        let slot = channel.slot(number);
        if !slot.is_free_for(number) {
            wakers = receiver.drain_from(source, &mut receiver.incoming.lock());
            assert!(slot.is_free_for(number), "all slots of the channel were emptied");
        }
        let former = slot.fill(number, label, sent);
        outgoing[to] = number + 1;
        drop(outgoing);
        self.memory.give_back(former);
        // Orders the slot before the look at `sleeping`. Pairs with the fence in `Rank::poll`.
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        if receiver.sleeping.load(Ordering::Relaxed) != 0 {
            wakers.extend(receiver.drain_from(source, &mut receiver.incoming.lock()));
        }
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Announces a message to another rank, and then copies it.
    fn pipeline(&self, to: usize, label: Label, (body, end): (&[u8], &[u8])) {
        let (pipeline, follower) = Pipeline::new(body.len(), end, self.memory.clone());
        self.put(to, label, Sent::Pipelined(follower));
        pipeline.fill(body);
    }
}

impl Fabric for Mail {
    fn name(&self) -> &'static str {
        "threads"
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.ranks.len()
    }

    fn send(&self, to: usize, label: Label, bytes: Cow<'_, [u8]>) -> Result<(), Error> {
        match &bytes {
            Cow::Borrowed(bytes)
                if to != self.rank
                    && let Some(parts) = pipeline::divided(&[bytes]) =>
            {
                self.pipeline(to, label, parts);
            }
            _ => self.put(to, label, Sent::Bytes(bytes)),
        }
        Ok(())
    }

    fn send_parts(&self, to: usize, label: Label, parts: &[&[u8]]) -> Result<(), Error> {
        if to != self.rank
            && let Some(parts) = pipeline::divided(parts)
        {
            self.pipeline(to, label, parts);
            return Ok(());
        }
        self.send(to, label, Cow::Owned(self.joined(parts)))
    }

    fn poll_receive(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Message, Error>> {
        if turn.number().is_none() {
            let read = |envelope: Envelope, message: &mut Incoming<'_>| {
                Ok(Message { source: envelope.source, label: envelope.label, bytes: message.take()? })
            };
            match self.read_from_channel(pattern, read) {
                Some(Found::Read(message)) => return Poll::Ready(message),
                Some(Found::Announced(arrival)) => return Poll::Ready(arrival.into_message(&self.memory)),
                None => {}
            }
        }
        let arrived = self.here().poll(|inbox| inbox.poll_take(pattern, turn, waiting_in, context))?;
        arrived.map(|arrival| arrival.into_message(&self.memory))
    }

    fn poll_in_background(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Message, Error>> {
        let arrived = if turn.number().is_none() {
            // The first poll tells the senders that a receive waits. From then on, they put messages into the inbox.
            self.here().poll(|inbox| inbox.poll_take(pattern, turn, waiting_in, context))?
        } else {
            self.here().inbox.poll_take(pattern, turn, waiting_in, context)?
        };
        arrived.map(|arrival| arrival.into_message(&self.memory))
    }

    fn poll_read(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
        read: &mut Reader<'_>,
    ) -> Poll<Result<(), Error>> {
        if turn.number().is_none() {
            match self.read_from_channel(pattern, &mut *read) {
                Some(Found::Read(outcome)) => return Poll::Ready(outcome),
                Some(Found::Announced(arrival)) => return Poll::Ready(arrival.read(&self.memory, read)),
                None => {}
            }
        }
        let arrived = self.here().poll(|inbox| inbox.poll_take(pattern, turn, waiting_in, context))?;
        arrived.map(|arrival| arrival.read(&self.memory, read))
    }

    fn memory(&self, length: usize) -> Vec<u8> {
        self.memory.take(length)
    }

    fn give_back(&self, bytes: Vec<u8>) {
        self.memory.give_back(bytes);
    }

    fn poll_probe(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Envelope, Error>> {
        self.here().poll(|inbox| inbox.poll_probe(pattern, turn, waiting_in, context))
    }

    fn forget(&self, turn: &mut Ticket) {
        if turn.number().is_none() {
            return;
        }
        let here = self.here();
        here.inbox.forget(turn);
        if !here.channels.is_empty() {
            let incoming = here.incoming.lock();
            here.note_sleepers();
            drop(incoming);
        }
    }

    fn fail(&self, culprit: usize) {
        self.culprit.lock().get_or_insert(culprit);
    }
}

impl Drop for Mail {
    fn drop(&mut self) {
        let failed = std::thread::panicking().then_some(self.rank);
        let culprit = self.culprit.lock().or(failed);
        for (to, receiver) in self.ranks.iter().enumerate() {
            if to == self.rank {
                continue;
            }
            if !receiver.channels.is_empty() {
                // Messages that this rank has sent must reach the inbox before its end is recorded there.
                let wakers = receiver.drain_from(self.rank, &mut receiver.incoming.lock());
                wakers.into_iter().for_each(Waker::wake);
            }
            receiver.inbox.end(self.rank, culprit);
        }
    }
}
