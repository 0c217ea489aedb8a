//! The inbox of one rank holds messages that have arrived and not been received, and waiting receives. An inbox does
//! the matching for every fabric that can only transport messages.
//!
//! A fabric [`deliver`](Inbox::deliver)s messages in the order in which each source sent them, and passes receives on.
//! A pending receive has a number, which it drew at its first poll. The receive with the lowest number is due the
//! earliest message that matches it. The next receive is due the earliest of the remaining messages. So receives
//! match in the order of their first polls, as MPI requires of posted receives. A receive that is dropped leaves its
//! message to the others.
//!
//! A search scans waiting messages of other contexts and tags too, so it is slow in programs that leave thousands of
//! messages waiting.

use std::collections::VecDeque;
use std::fmt;
use std::task::{Context, Poll, Waker};

use lehr_sync::{AtomicUsize, Mutex, Ordering};

use super::memory::Memory;
use super::pipeline::{Incoming, Pipelined};
use super::{Envelope, Label, Message, Pattern, Reader, Ticket};
use crate::error::Error;

/// The messages for one rank, and the receives of this rank that wait for messages.
#[derive(Debug)]
pub struct Inbox {
    rank: usize,
    size: usize,
    state: Mutex<State>,
    /// The number of messages when the lock was last released, and, in `waiting`, the number of waiting receives and
    /// probes.
    messages: AtomicUsize,
    waiting: AtomicUsize,
    /// The number of messages that have arrived, plus the number of ranks that have ended.
    news: AtomicUsize,
}

/// A message that has arrived, or that has been announced and is still being copied.
pub struct Arrival {
    /// The rank that sent the message, by its number in the fabric.
    pub source: usize,
    /// The label that the sender gave the message.
    pub label: Label,
    /// The bytes of the message.
    pub body: Body,
}

/// The bytes of a message in an inbox.
pub enum Body {
    /// All bytes.
    Bytes(Vec<u8>),
    /// Bytes that the sender may still be copying.
    Pipelined(Box<dyn Pipelined>),
}

impl Arrival {
    /// Returns the source, label and length.
    pub fn envelope(&self) -> Envelope {
        let length = match &self.body {
            Body::Bytes(bytes) => bytes.len(),
            Body::Pipelined(message) => message.length() + message.end().len(),
        };
        Envelope { source: self.source, label: self.label, length }
    }

    /// Returns the message with all its bytes. Bytes that are still being copied are joined in reusable memory.
    ///
    /// # Errors
    /// Returns [`Error::Transport`].
    pub fn into_message(self, memory: &Memory) -> Result<Message, Error> {
        let Self { source, label, body } = self;
        let bytes = match body {
            Body::Bytes(bytes) => bytes,
            Body::Pipelined(mut message) => Incoming::pipelined(&mut *message, memory).take()?,
        };
        Ok(Message { source, label, bytes })
    }

    /// Passes the message to `read`, and keeps its memory for reuse.
    ///
    /// # Errors
    /// Returns the errors of `read`.
    pub fn read(self, memory: &Memory, read: &mut Reader<'_>) -> Result<(), Error> {
        let envelope = self.envelope();
        match self.body {
            Body::Bytes(bytes) => {
                read(envelope, &mut Incoming::complete(&bytes))?;
                memory.give_back(bytes);
                Ok(())
            }
            Body::Pipelined(mut message) => read(envelope, &mut Incoming::pipelined(&mut *message, memory)),
        }
    }
}

impl From<Message> for Arrival {
    fn from(Message { source, label, bytes }: Message) -> Self {
        Self { source, label, body: Body::Bytes(bytes) }
    }
}

impl fmt::Debug for Arrival {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.envelope().fmt(formatter)
    }
}

#[derive(Debug, Default)]
struct State {
    /// The messages in order of arrival.
    messages: VecDeque<Arrival>,
    /// The waiting receives and probes, in the order of their numbers.
    waiting: Vec<Waiting>,
    /// The number that the next waiting receive or probe gets.
    next: u64,
    /// The ranks that have ended, in the order in which they ended.
    ended: Vec<Ended>,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    pattern: Pattern,
    /// Whether the waiter will take its message. A probe leaves the message, so no receive has to wait behind a probe.
    takes: bool,
    waker: Waker,
}

#[derive(Debug)]
struct Ended {
    rank: usize,
    /// The rank that caused the failure; `None` if the rank ended in order.
    culprit: Option<usize>,
}

impl Inbox {
    /// Creates an empty inbox for rank `rank` of `size`.
    pub fn new(rank: usize, size: usize) -> Self {
        Self {
            rank,
            size,
            state: Mutex::default(),
            messages: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            news: AtomicUsize::new(0),
        }
    }

    /// Adds a message that has arrived, or that has been announced.
    pub fn deliver(&self, message: impl Into<Arrival>) {
        self.put(message.into()).into_iter().for_each(Waker::wake);
    }

    /// Adds a message that has arrived, and returns the wakers of receives that match it.
    pub(crate) fn put(&self, message: Arrival) -> Vec<Waker> {
        let mut state = self.state.lock();
        let wakers = state.wakers(|waiting| waiting.pattern.matches(message.source, message.label));
        state.messages.push_back(message);
        self.count(&state);
        self.note();
        wakers
    }

    /// Whether the inbox had neither a message nor a waiter when its lock was last released, as far as this thread
    /// sees.
    pub fn is_idle(&self) -> bool {
        // Relaxed: a caller that relies on the answer holds a lock under which messages are put here and waiting
        // begins.
        self.is_empty() && !self.has_waiting()
    }

    /// Whether the inbox had no message when its lock was last released, as far as this thread sees.
    pub fn is_empty(&self) -> bool {
        // Relaxed: as in `is_idle`.
        self.messages.load(Ordering::Relaxed) == 0
    }

    /// Returns a number that changes with each message that arrives and with each rank that ends. A fabric that looks
    /// often can compare this number with the last one, and search the inbox only after a change. If the fabric sees an
    /// old number, it only searches later.
    pub fn news(&self) -> usize {
        // Relaxed: the search that follows is under the lock.
        self.news.load(Ordering::Relaxed)
    }

    fn note(&self) {
        // Relaxed, as in `news`. No other thread writes the counter, because this thread holds the lock.
        self.news.store(self.news.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Whether there was a waiter when the lock was last released.
    pub(crate) fn has_waiting(&self) -> bool {
        // Relaxed: as in `is_idle`.
        self.waiting.load(Ordering::Relaxed) != 0
    }

    fn count(&self, state: &State) {
        // Relaxed: as in `is_idle`.
        self.messages.store(state.messages.len(), Ordering::Relaxed);
        self.waiting.store(state.waiting.len(), Ordering::Relaxed);
    }

    /// Drops all messages. A fabric whose messages refer to memory of the fabric calls this method before it frees that
    /// memory.
    pub fn clear(&self) {
        let mut state = self.state.lock();
        let dropped = std::mem::take(&mut state.messages);
        self.count(&state);
        drop(state);
        drop(dropped);
    }

    /// Records that a rank has ended: failed because of `culprit`, or in order if `culprit` is `None`. Only the first
    /// record of each rank counts.
    pub fn end(&self, rank: usize, culprit: Option<usize>) {
        let mut state = self.state.lock();
        if state.ended.iter().all(|ended| ended.rank != rank) {
            state.ended.push(Ended { rank, culprit });
            self.note();
        }
        let wakers = state.wakers(|_| true);
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Wakes all waiters, so that they poll again. A fabric that keeps arrived messages elsewhere calls this method.
    pub fn ring(&self) {
        let wakers = self.state.lock().wakers(|_| true);
        wakers.into_iter().for_each(Waker::wake);
    }

    /// Implements [`Fabric::poll_receive`](super::Fabric::poll_receive) for the messages in this inbox; the caller reads
    /// the message, which may still be being copied.
    ///
    /// # Errors
    /// Returns the same errors as that method.
    pub fn poll_take(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Arrival, Error>> {
        let take = |state: &mut State, place: usize| state.messages.remove(place).expect("the place was found");
        self.poll(pattern, turn, true, waiting_in, context, take)
    }

    /// Implements [`Fabric::take_if_come`](super::Fabric::take_if_come) for the messages in this inbox.
    pub fn take_if_come(&self, pattern: &Pattern) -> Option<Arrival> {
        if self.is_empty() {
            return None;
        }
        let mut state = self.state.lock();
        let place = state.find(pattern, u64::MAX)?;
        let message = state.messages.remove(place);
        self.count(&state);
        message
    }

    /// Implements [`Fabric::poll_probe`](super::Fabric::poll_probe) for the messages in this inbox.
    ///
    /// # Errors
    /// Returns the same errors as that method.
    pub fn poll_probe(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Envelope, Error>> {
        let look = |state: &mut State, place: usize| state.messages[place].envelope();
        self.poll(pattern, turn, false, waiting_in, context, look)
    }

    /// Implements [`Fabric::forget`](super::Fabric::forget).
    pub fn forget(&self, turn: &mut Ticket) {
        let Some(number) = turn.0.take() else { return };
        let mut state = self.state.lock();
        let gone = state.leave(number);
        self.count(&state);
        // A receive that waited behind this receive may be next.
        let wakers = state.wakers(|_| true);
        drop(state);
        drop(gone);
        wakers.into_iter().for_each(Waker::wake);
    }

    fn poll<R>(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        takes: bool,
        waiting_in: &'static str,
        context: &mut Context<'_>,
        found: impl FnOnce(&mut State, usize) -> R,
    ) -> Poll<Result<R, Error>> {
        let mut state = self.state.lock();
        let number = turn.0.unwrap_or(u64::MAX);
        let outcome = if let Some(place) = state.find(pattern, number) {
            Ok(found(&mut state, place))
        } else if let Some(rank) = state.hopeless(pattern, self.rank, self.size) {
            Err(Error::RankLeft { rank, waiting_in })
        } else {
            let replaced = state.wait(pattern, turn, takes, context.waker());
            self.count(&state);
            drop(state);
            drop(replaced);
            return Poll::Pending;
        };
        let gone = turn.0.take().and_then(|number| state.leave(number));
        self.count(&state);
        // One of the remaining messages may be for a receive that waited behind this receive.
        let wakers = if gone.is_some() { state.wakers(|_| true) } else { Vec::new() };
        drop(state);
        drop(gone);
        wakers.into_iter().for_each(Waker::wake);
        Poll::Ready(outcome)
    }
}

impl State {
    /// Returns the position of the earliest message that matches, apart from the messages that the receives with lower
    /// numbers will take. Each of these receives takes one message: the earliest that matches and that is left to it.
    fn find(&self, pattern: &Pattern, number: u64) -> Option<usize> {
        let before = self.waiting.iter().take_while(|waiting| waiting.number < number);
        let mut before: Vec<&Pattern> =
            before.filter(|waiting| waiting.takes).map(|waiting| &waiting.pattern).collect();
        self.messages.iter().position(|message| {
            let matches = |pattern: &Pattern| pattern.matches(message.source, message.label);
            match before.iter().position(|pattern| matches(pattern)) {
                None => matches(pattern),
                Some(first) => {
                    before.remove(first);
                    false
                }
            }
        })
    }

    /// Returns the rank that the error names, if no message that matches will ever arrive.
    fn hopeless(&self, pattern: &Pattern, rank: usize, size: usize) -> Option<usize> {
        if self.messages.iter().any(|message| pattern.matches(message.source, message.label)) {
            return None;
        }
        if let Some(source) = pattern.source {
            let ended = self.ended.iter().find(|ended| ended.rank == source)?;
            return Some(ended.culprit.unwrap_or(source));
        }
        let failed = self.ended.iter().find_map(|ended| ended.culprit);
        let others = self.ended.iter().filter(|ended| ended.rank != rank);
        failed.or_else(|| {
            if size > 1 && others.clone().count() == size - 1 { others.map(|ended| ended.rank).next() } else { None }
        })
    }

    /// Adds a waiter, or updates its waker; returns the old waker.
    fn wait(&mut self, pattern: &Pattern, turn: &mut Ticket, takes: bool, waker: &Waker) -> Option<Waker> {
        if let Some(number) = turn.0 {
            let waiting =
                self.waiting.iter_mut().find(|waiting| waiting.number == number).expect("a turn has its place");
            return (!waiting.waker.will_wake(waker)).then(|| std::mem::replace(&mut waiting.waker, waker.clone()));
        }
        let number = self.next;
        self.next += 1;
        turn.0 = Some(number);
        self.waiting.push(Waiting { number, pattern: *pattern, takes, waker: waker.clone() });
        None
    }

    fn leave(&mut self, number: u64) -> Option<Waiting> {
        let place = self.waiting.iter().position(|waiting| waiting.number == number)?;
        Some(self.waiting.remove(place))
    }

    fn wakers(&self, wanted: impl Fn(&Waiting) -> bool) -> Vec<Waker> {
        self.waiting.iter().filter(|waiting| wanted(waiting)).map(|waiting| waiting.waker.clone()).collect()
    }
}
