//! Long messages that the receiver reads while the sender still copies them.
//!
//! A send does not wait for the receiver, so it copies the bytes of a message. A receive into memory of its own copies
//! them again. One after the other, these copies take twice as long as the one copy of a send that waits. So a sender
//! announces a long message before it copies it, and a receiver that is waiting follows the copying. Each waits for the
//! other only while both copy: the receiver for the next piece, the sender for a receiver that is [`AHEAD`] pieces behind.
//!
//! [`Pipelined`] is the receiver's end of such a message. Each fabric decides how the bytes move. Between threads, a
//! [`Pipeline`] moves them in pieces, and the receiver returns each piece for reuse.

use std::collections::VecDeque;

use crossbeam_utils::CachePadded;
use lehr_sync::{Arc, AtomicUsize, Mutex, Ordering, spin_loop, thread};

use super::memory::Memory;
use super::streaming;
use crate::error::Error;

/// The number of bytes that are copied at a time.
pub const PIECE: usize = if cfg!(any(loom, shuttle)) { 1 << 6 } else { 1 << 16 };
/// The minimum length, in bytes, of a message that is pipelined.
pub const PIPELINED_MIN: usize = if cfg!(any(loom, shuttle)) { 1 << 7 } else { 1 << 15 };
/// The maximum number of pieces by which a sender runs ahead of a receiver that has begun to read.
pub const AHEAD: usize = if cfg!(any(loom, shuttle)) { 2 } else { 8 };
/// The maximum number of bytes at the end of a message that come with its announcement.
pub const END_MAX: usize = if cfg!(any(loom, shuttle)) { 8 } else { 256 };
/// The number of looks for the next piece before the receiver yields: some microseconds, as long as copying a part of a
/// piece.
const LOOKS: u32 = if cfg!(any(loom, shuttle)) { 1 } else { 200 };

/// The receiver's end of a message that its sender may still be copying.
///
/// The message consists of a body and an end. The end comes with the announcement, so that the receiver can choose the
/// memory for the body by what the end says.
pub trait Pipelined: Send {
    /// Returns the number of bytes of the body.
    fn length(&self) -> usize;

    /// Returns the bytes after the body.
    fn end(&self) -> &[u8];

    /// Copies the first bytes of the body, as many as `into` holds. Waits only for the sender's copying.
    ///
    /// # Errors
    /// Returns [`Error::Transport`].
    ///
    /// # Panics
    /// Panics if `into` is longer than the body, or if the body has been read.
    fn copy(&mut self, into: &mut [u8]) -> Result<(), Error>;

    /// Appends the body to `bytes`, like [`copy`](Self::copy).
    ///
    /// # Errors
    /// Returns [`Error::Transport`].
    ///
    /// # Panics
    /// Panics if the body has been read.
    fn append(&mut self, bytes: &mut Vec<u8>) -> Result<(), Error>;
}

/// Divides a message into its body and its end, if it is to be pipelined. The end is the second of two parts, or the
/// last bytes of one part.
///
/// # Example
/// ```
/// use lehr_ranks::fabric::pipeline::{PIPELINED_MIN, divided};
/// let long = vec![1; PIPELINED_MIN];
/// assert_eq!(divided(&[&long, &[2, 3]]), Some((&long[..], &[2, 3][..])));
/// assert_eq!(divided(&[&[1], &[2, 3]]), None);
/// ```
pub fn divided<'a>(parts: &[&'a [u8]]) -> Option<(&'a [u8], &'a [u8])> {
    let (body, end) = match *parts {
        [whole] if whole.len() >= PIPELINED_MIN => whole.split_at(whole.len() - END_MAX),
        [body, end] => (body, end),
        _ => return None,
    };
    (body.len() + end.len() >= PIPELINED_MIN && end.len() <= END_MAX).then_some((body, end))
}

/// Waits until `ready` returns a value: looks for some microseconds, and then yields between looks.
pub fn follow<R>(mut ready: impl FnMut() -> Option<R>) -> R {
    loop {
        for _ in 0..LOOKS {
            if let Some(found) = ready() {
                return found;
            }
            spin_loop();
        }
        thread::yield_now();
    }
}

/// A message on its way between two threads.
///
/// # Example
/// ```
/// use lehr_ranks::fabric::memory::Memory;
/// use lehr_ranks::fabric::pipeline::{Pipeline, Pipelined};
/// let (pipeline, mut follower) = Pipeline::new(3, b"end", Memory::default());
/// std::thread::spawn(move || pipeline.fill(b"abc"));
/// let mut body = [0; 3];
/// follower.copy(&mut body).unwrap(); // waits for the thread
/// assert_eq!((&body, follower.end()), (b"abc", &b"end"[..]));
/// ```
#[derive(Debug)]
pub struct Pipeline {
    /// The pieces of the body that the sender has copied and the receiver has not taken.
    pieces: Mutex<VecDeque<Vec<u8>>>,
    /// The number of pieces that the sender has put into `pieces`, and the number that the receiver has taken. Each waits
    /// by looking at the other's number, so that neither keeps the other from the lock.
    put: CachePadded<AtomicUsize>,
    taken: CachePadded<AtomicUsize>,
    /// 1 while the receiver reads.
    is_read: AtomicUsize,
    length: usize,
    end: Vec<u8>,
    memory: Memory,
}

/// The receiver's end of a [`Pipeline`].
#[derive(Debug)]
pub struct Follower {
    pipeline: Arc<Pipeline>,
    has_read: bool,
}

impl Pipeline {
    /// Creates a pipeline for a body of `length` bytes. Its pieces use reusable memory.
    pub fn new(length: usize, end: &[u8], memory: Memory) -> (Arc<Self>, Follower) {
        let pipeline = Arc::new(Self {
            pieces: Mutex::default(),
            put: CachePadded::new(AtomicUsize::new(0)),
            taken: CachePadded::new(AtomicUsize::new(0)),
            is_read: AtomicUsize::new(0),
            length,
            end: end.to_vec(),
            memory,
        });
        (pipeline.clone(), Follower { pipeline, has_read: false })
    }

    /// Copies the body, piece by piece. The sender calls this method once, right after the announcement. It waits only
    /// for a receiver that has begun to read, and stops if the receiver has dropped the message.
    pub fn fill(self: &Arc<Self>, body: &[u8]) {
        debug_assert_eq!(body.len(), self.length, "the length was announced");
        for (number, bytes) in body.chunks(PIECE).enumerate() {
            if Arc::strong_count(self) == 1 {
                return;
            }
            let mut piece = self.memory.take(bytes.len());
            streaming::append(bytes, &mut piece);
            // Relaxed, here and below: the lock publishes the pieces. A number that is seen late only delays.
            let may_put =
                || self.is_read.load(Ordering::Relaxed) == 0 || number - self.taken.load(Ordering::Relaxed) < AHEAD;
            follow(|| may_put().then_some(()));
            self.pieces.lock().push_back(piece);
            self.put.store(number + 1, Ordering::Relaxed);
        }
    }
}

impl Follower {
    fn read(&mut self, length: usize, mut read: impl FnMut(&[u8])) {
        assert!(!std::mem::replace(&mut self.has_read, true), "a message is read once");
        let Pipeline { pieces, put, taken, is_read, memory, .. } = &*self.pipeline;
        is_read.store(1, Ordering::Relaxed);
        let (mut left, mut number) = (length, 0);
        while left > 0 {
            follow(|| (put.load(Ordering::Relaxed) > number).then_some(()));
            let piece = pieces.lock().pop_front().expect("a piece is put before it is counted");
            number += 1;
            taken.store(number, Ordering::Relaxed);
            let count = piece.len().min(left);
            read(&piece[..count]);
            left -= count;
            memory.give_back(piece);
        }
        is_read.store(0, Ordering::Relaxed);
    }
}

impl Pipelined for Follower {
    fn length(&self) -> usize {
        self.pipeline.length
    }

    fn end(&self) -> &[u8] {
        &self.pipeline.end
    }

    fn copy(&mut self, mut into: &mut [u8]) -> Result<(), Error> {
        assert!(into.len() <= self.pipeline.length, "{} bytes of a body of {}", into.len(), self.pipeline.length);
        let length = into.len();
        self.read(length, |piece| {
            let (now, later) = std::mem::take(&mut into).split_at_mut(piece.len());
            streaming::overwrite(piece, now, length);
            into = later;
        });
        Ok(())
    }

    fn append(&mut self, bytes: &mut Vec<u8>) -> Result<(), Error> {
        self.read(self.pipeline.length, |piece| bytes.extend_from_slice(piece));
        Ok(())
    }
}

/// The bytes of a message, as its receiver reads them.
pub struct Incoming<'a>(Bytes<'a>);

enum Bytes<'a> {
    /// All bytes, where they lie.
    Complete(&'a [u8]),
    /// A message that may still be being copied, and the memory in which its bytes are joined.
    Pipelined(&'a mut dyn Pipelined, &'a Memory),
    /// All bytes of a message that was pipelined, and the memory that they return to.
    Joined(Vec<u8>, &'a Memory),
}

impl<'a> Incoming<'a> {
    /// Creates the view of a message whose bytes are all there.
    pub fn complete(bytes: &'a [u8]) -> Self {
        Self(Bytes::Complete(bytes))
    }

    /// Creates the view of a message that may still be being copied. If the receiver wants the bytes in one place, they
    /// are joined in reusable memory.
    pub fn pipelined(message: &'a mut dyn Pipelined, memory: &'a Memory) -> Self {
        Self(Bytes::Pipelined(message, memory))
    }

    /// Returns the bytes at the end of the message that are there already. These are all bytes if none is missing.
    pub fn tail(&self) -> &[u8] {
        match &self.0 {
            Bytes::Complete(bytes) => bytes,
            Bytes::Pipelined(message, _) => message.end(),
            Bytes::Joined(bytes, _) => bytes,
        }
    }

    /// Returns all bytes of the message, where they lie, or joined in one place. They may have any alignment.
    ///
    /// # Errors
    /// Returns [`Error::Transport`].
    ///
    /// # Panics
    /// Panics after [`copy`](Self::copy) of a message that was still being copied.
    pub fn bytes(&mut self) -> Result<&[u8], Error> {
        if let Bytes::Pipelined(message, memory) = &mut self.0 {
            let mut joined = memory.take(message.length() + message.end().len());
            message.append(&mut joined)?;
            joined.extend_from_slice(message.end());
            self.0 = Bytes::Joined(joined, memory);
        }
        Ok(self.tail())
    }

    /// Returns all bytes of the message in memory of their own.
    ///
    /// # Errors
    /// Returns [`Error::Transport`].
    pub fn take(&mut self) -> Result<Vec<u8>, Error> {
        self.bytes()?;
        if let Bytes::Joined(bytes, _) = &mut self.0 {
            return Ok(std::mem::take(bytes));
        }
        Ok(self.tail().to_vec())
    }

    /// Copies the first bytes of the message, as many as `into` holds. A message that is still being copied then needs no
    /// memory in between, but nothing else can read it afterwards.
    ///
    /// # Errors
    /// Returns [`Error::Transport`].
    ///
    /// # Panics
    /// Panics if `into` is longer than the message. Panics if a message that was still being copied has been read.
    pub fn copy(&mut self, into: &mut [u8]) -> Result<(), Error> {
        let Bytes::Pipelined(message, _) = &mut self.0 else {
            into.copy_from_slice(&self.tail()[..into.len()]);
            return Ok(());
        };
        let (body, end) = into.split_at_mut(into.len().min(message.length()));
        message.copy(body)?;
        end.copy_from_slice(&message.end()[..end.len()]);
        Ok(())
    }
}

impl Drop for Incoming<'_> {
    fn drop(&mut self) {
        if let Bytes::Joined(bytes, memory) = &mut self.0 {
            memory.give_back(std::mem::take(bytes));
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    fn message(length: usize) -> Vec<u8> {
        (0..length).map(|place| (place % 251) as u8).collect()
    }

    #[test]
    fn a_receiver_gets_what_is_still_being_copied() {
        let memory = Memory::default();
        for length in [2 * PIECE, 3 * PIECE + 1, 3 * AHEAD * PIECE - 1] {
            let body = message(length);
            for wanted in [0, 1, PIECE, length - 1, length, length + 2] {
                let (pipeline, mut follower) = Pipeline::new(length, &[7, 8], memory.clone());
                let mut into = vec![0; wanted];
                std::thread::scope(|scope| {
                    scope.spawn(|| pipeline.fill(&body));
                    let mut incoming = Incoming::pipelined(&mut follower, &memory);
                    assert_eq!(incoming.tail(), [7, 8]);
                    incoming.copy(&mut into).unwrap();
                });
                let whole = [&body[..], &[7, 8]].concat();
                assert_eq!(into, whole[..wanted]);
            }
        }
    }

    #[test]
    #[should_panic(expected = "a message is read once")]
    fn a_message_is_not_read_again_after_a_part_of_it() {
        let (memory, body) = (Memory::default(), message(3 * AHEAD * PIECE));
        let (pipeline, mut follower) = Pipeline::new(body.len(), &[], memory.clone());
        pipeline.fill(&body);
        let mut incoming = Incoming::pipelined(&mut follower, &memory);
        incoming.copy(&mut vec![0; AHEAD * PIECE]).unwrap();
        let _ = incoming.bytes();
    }

    #[test]
    fn the_end_is_the_second_part_or_the_last_bytes() {
        let long = message(PIPELINED_MIN);
        assert_eq!(divided(&[&long]), Some(long.split_at(PIPELINED_MIN - END_MAX)));
        assert_eq!(divided(&[&long, &[1; END_MAX + 1]]), None);
        assert_eq!(divided(&[&long[1..]]), None);
        assert_eq!(divided(&[&long[1..], &[9]]), Some((&long[1..], &[9][..])));
        assert_eq!(divided(&[]), None);
    }

    #[test]
    fn bytes_are_joined_for_a_receiver_that_wants_them_in_one_place() {
        let (memory, body) = (Memory::default(), message(2 * PIECE + 3));
        let whole = [&body[..], &[9]].concat();
        for taken in [false, true] {
            let (pipeline, mut follower) = Pipeline::new(body.len(), &[9], memory.clone());
            pipeline.fill(&body);
            let mut incoming = Incoming::pipelined(&mut follower, &memory);
            assert_eq!(incoming.bytes(), Ok(&whole[..]));
            assert_eq!(incoming.tail(), whole);
            if taken {
                assert_eq!(incoming.take(), Ok(whole.clone()));
            } else {
                let mut first = [0; 4];
                incoming.copy(&mut first).unwrap();
                assert_eq!(first, whole[..4]);
            }
        }
    }
}
