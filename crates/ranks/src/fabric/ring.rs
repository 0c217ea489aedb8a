//! A ring of bytes in memory that a sender and a receiver share. The sender writes frames, the receiver takes them, and
//! neither ever waits.
//!
//! A ring is for fabrics whose ranks share memory but are in different processes. The memory is an array of words, so
//! that each access is atomic. Only this file decides the order of writes, and the model checkers see all of it.
//!
//! | words | content | who writes them |
//! | --- | --- | --- |
//! | the first 16 | in the first word: the number of lines taken since the beginning | the receiver, now and then |
//! | the rest, in lines of 8 | frames: a head, then the bytes | the sender; once a frame is read, the receiver zeroes the first word of each of its lines |
//!
//! A head is 0 as long as there is no frame; otherwise it holds the frame's length and number. The sender writes the
//! head last, in the same line as the first 56 bytes. So a short frame moves from core to core in one cache line. A
//! frame does not wrap around the end of the ring. If a frame does not fit before the end, a head says that the rest of
//! the ring is skipped.
//!
//! The receiver reports the number of lines taken only after it has taken a quarter of the ring since its last report.
//! So the sender seldom has to fetch the line with this number.

use std::ops::Deref;

use lehr_sync::{Arc, AtomicUsize, Ordering};

/// The number of words in a line.
const LINE: usize = 8;
/// The number of words before the first line: two lines, which some processors fetch together.
const BEFORE: usize = 2 * LINE;
/// The bit of a head that says that there is a frame.
const FRAME: usize = 1 << 63;
/// The head of a skipped part up to the end of the ring.
const SKIP: usize = 1 << 62;
/// The bits of a head that hold the length in bytes; the number is above them.
const LENGTH_BITS: u32 = 31;
/// The exclusive upper bound of the numbers of frames.
pub const NUMBERS: usize = 1 << 31;

/// A word of a ring's memory, which is accessed atomically.
#[repr(transparent)]
#[derive(Debug)]
pub struct Word(pub(super) AtomicUsize);

/// Returns the number of words of a ring that holds this many bytes, heads included.
///
/// # Example
/// ```
/// use lehr_ranks::fabric::ring;
/// assert_eq!(ring::words(4096), 16 + 512);
/// ```
pub fn words(bytes: usize) -> usize {
    BEFORE + bytes.div_ceil(LINE * size_of::<usize>()) * LINE
}

/// Words on the heap, which threads share.
pub type Shared = Arc<[Word]>;

/// Creates a ring on the heap, for threads, and returns its two ends.
///
/// # Example
/// ```
/// let (mut sender, mut receiver) = lehr_ranks::fabric::ring::on_heap(4096);
/// assert!(sender.send(7, b"a frame"));
/// assert_eq!(receiver.first(), Some((7, 7))); // its number and its length
/// assert_eq!((receiver.take(), receiver.first()), (b"a frame".to_vec(), None));
/// ```
pub fn on_heap(bytes: usize) -> (Sender<Shared>, Receiver<Shared>) {
    let memory = words_on_heap(words(bytes));
    (Sender::new(memory.clone()), Receiver::new(memory))
}

/// Returns words on the heap, all zero.
pub(super) fn words_on_heap(count: usize) -> Shared {
    (0..count).map(|_| Word(AtomicUsize::new(0))).collect()
}

/// Returns the words at an address in memory that other processes share.
///
/// # Safety
/// For as long as the program runs, there are `count` words at `address`, aligned as words are, which are accessed only
/// through [`Word`]. The words are zero before the first end of a ring is made.
#[cfg(not(any(loom, shuttle)))]
#[allow(unsafe_code, reason = "memory that another process shares is known by its address")]
pub unsafe fn at(address: *mut usize, count: usize) -> &'static [Word] {
    // SAFETY: `Word` is a word in memory, and the caller guarantees the rest.
    unsafe { std::slice::from_raw_parts(address.cast(), count) }
}

/// The sender's end; a ring has exactly one.
#[derive(Debug)]
pub struct Sender<M> {
    memory: M,
    lines: usize,
    /// The number of lines written, including skipped lines.
    written: usize,
    /// The number of lines that the receiver is known to have taken.
    freed: usize,
}

/// The receiver's end; a ring has exactly one.
#[derive(Debug)]
pub struct Receiver<M> {
    memory: M,
    lines: usize,
    /// The number of lines that the receiver has taken.
    taken: usize,
    /// The number of lines taken, as last reported to the sender.
    told: usize,
}

fn lines(memory: &[Word]) -> usize {
    let lines = memory.len().saturating_sub(BEFORE) / LINE;
    assert!(lines > 0, "a ring has a line at least");
    lines
}

/// Returns the number of lines that a frame of this many bytes needs.
fn lines_of(length: usize) -> usize {
    (1 + length.div_ceil(size_of::<usize>())).div_ceil(LINE)
}

impl<M: Deref<Target = [Word]>> Sender<M> {
    /// Creates the sender's end of a ring whose words are zero.
    pub fn new(memory: M) -> Self {
        Self { lines: lines(&memory), memory, written: 0, freed: 0 }
    }

    /// Returns the maximum length, in bytes, that a frame should have. Such a frame takes about a quarter of the ring,
    /// so that there is usually room for it.
    pub fn longest(&self) -> usize {
        (self.lines / 4).max(1) * LINE * size_of::<usize>() - size_of::<usize>()
    }

    /// Sends a frame with a number below [`NUMBERS`]; returns whether there was room for it.
    ///
    /// Cost: one copy of the bytes.
    pub fn send(&mut self, number: usize, bytes: &[u8]) -> bool {
        self.send_parts(number, &[bytes])
    }

    /// Like [`send`](Self::send), for a frame made of parts; each part but the last must be a whole number of words.
    ///
    /// # Panics
    /// Panics if a part before the last is not a whole number of words.
    ///
    /// # Example
    /// ```
    /// let (mut sender, mut receiver) = lehr_ranks::fabric::ring::on_heap(4096);
    /// assert!(sender.send_parts(0, &[b"one word", b"and more"]));
    /// assert_eq!(receiver.take(), b"one wordand more");
    /// ```
    pub fn send_parts(&mut self, number: usize, parts: &[&[u8]]) -> bool {
        debug_assert!(number < NUMBERS, "numbers have 31 bits");
        let length = parts.iter().map(|part| part.len()).sum::<usize>();
        let (needed, place) = (lines_of(length), self.written % self.lines);
        if length >= 1 << LENGTH_BITS {
            return false;
        }
        let skipped = if place + needed <= self.lines { 0 } else { self.lines - place };
        let end = self.written + skipped + needed;
        if end - self.freed > self.lines {
            // Acquire: pairs with the Release in `free`; the receiver has read these lines and zeroed their first
            // words.
            self.freed = self.memory[0].0.load(Ordering::Acquire);
            if end - self.freed > self.lines {
                return false;
            }
        }
        if skipped > 0 {
            // Release: pairs with the Acquire in `first`. The sender has written nothing but this head.
            self.head(place).store(SKIP, Ordering::Release);
        }
        let start = if skipped > 0 { 0 } else { place };
        let mut words = &self.memory[BEFORE + start * LINE + 1..];
        for (place, part) in parts.iter().enumerate() {
            let (whole, rest) = part.as_chunks::<{ size_of::<usize>() }>();
            for (word, bytes) in words.iter().zip(whole) {
                // Relaxed: published by the head.
                word.0.store(usize::from_ne_bytes(*bytes), Ordering::Relaxed);
            }
            words = &words[whole.len()..];
            if !rest.is_empty() {
                assert!(place + 1 == parts.len(), "a part before the last is a whole number of words");
                let mut last = [0; size_of::<usize>()];
                last[..rest.len()].copy_from_slice(rest);
                // Relaxed: as above.
                words[0].0.store(usize::from_ne_bytes(last), Ordering::Relaxed);
            }
        }
        // Release: publishes the bytes. Pairs with the Acquire in `first`.
        self.head(start).store(FRAME | number << LENGTH_BITS | length, Ordering::Release);
        self.written = end;
        true
    }

    fn head(&self, line: usize) -> &AtomicUsize {
        &self.memory[BEFORE + line * LINE].0
    }
}

impl<M: Deref<Target = [Word]>> Receiver<M> {
    /// Creates the receiver's end of a ring whose words are zero.
    pub fn new(memory: M) -> Self {
        Self { lines: lines(&memory), memory, taken: 0, told: 0 }
    }

    fn head(&self, line: usize) -> &AtomicUsize {
        &self.memory[BEFORE + line * LINE].0
    }

    /// Returns the number and the length of the next frame, if it has arrived.
    pub fn first(&mut self) -> Option<(usize, usize)> {
        // Acquire: pairs with the Release in `send_parts`; the bytes are visible.
        let mut head = self.head(self.taken % self.lines).load(Ordering::Acquire);
        if head == SKIP {
            let place = self.taken % self.lines;
            self.free(place, self.lines - place);
            // Acquire: as above.
            head = self.head(0).load(Ordering::Acquire);
        }
        let frame = head & !FRAME;
        (head & FRAME != 0).then_some((frame >> LENGTH_BITS, frame % (1 << LENGTH_BITS)))
    }

    /// Takes the next frame, which [`first`](Self::first) has shown.
    ///
    /// # Panics
    /// Panics if there is no frame.
    pub fn take(&mut self) -> Vec<u8> {
        let (_, length) = self.first().expect("a frame has come");
        let place = self.taken % self.lines;
        let words = &self.memory[BEFORE + place * LINE + 1..];
        let mut bytes = Vec::with_capacity(length.next_multiple_of(size_of::<usize>()));
        for word in &words[..length.div_ceil(size_of::<usize>())] {
            // Relaxed: published by the head, which `first` has read.
            bytes.extend_from_slice(&word.0.load(Ordering::Relaxed).to_ne_bytes());
        }
        bytes.truncate(length);
        self.free(place, lines_of(length));
        bytes
    }

    /// Copies the next frame, which [`first`](Self::first) has shown, without removing it.
    ///
    /// # Panics
    /// Panics if there is no frame, or if its length differs from the length of `bytes`.
    ///
    /// # Example
    /// ```
    /// let (mut sender, mut receiver) = lehr_ranks::fabric::ring::on_heap(4096);
    /// assert!(sender.send(0, b"abc"));
    /// let mut bytes = [0; 3];
    /// receiver.copy(&mut bytes);
    /// assert_eq!(&bytes, b"abc");
    /// receiver.discard();
    /// assert_eq!(receiver.first(), None);
    /// ```
    pub fn copy(&mut self, bytes: &mut [u8]) {
        let (_, length) = self.first().expect("a frame has come");
        assert_eq!(length, bytes.len(), "memory of the length of the frame");
        let words = &self.memory[BEFORE + self.taken % self.lines * LINE + 1..];
        for (bytes, word) in bytes.chunks_mut(size_of::<usize>()).zip(words) {
            // Relaxed: as in `take`.
            bytes.copy_from_slice(&word.0.load(Ordering::Relaxed).to_ne_bytes()[..bytes.len()]);
        }
    }

    /// Discards the next frame, which [`first`](Self::first) has shown.
    ///
    /// # Panics
    /// Panics if there is no frame.
    pub fn discard(&mut self) {
        let (_, length) = self.first().expect("a frame has come");
        self.free(self.taken % self.lines, lines_of(length));
    }

    /// Zeroes the first words of lines that were read. Reports to the sender once a quarter of the ring was taken since
    /// the last report.
    fn free(&mut self, place: usize, count: usize) {
        for line in place..place + count {
            // Relaxed: published by the number of lines taken, before which the sender does not write to this line.
            self.head(line).store(0, Ordering::Relaxed);
        }
        self.taken += count;
        if self.taken - self.told >= (self.lines / 4).max(1) {
            self.told = self.taken;
            // Release: the reads are done, and the heads are zero. Pairs with the Acquire in `send_parts`.
            self.memory[0].0.store(self.told, Ordering::Release);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn frames_of_all_lengths_come_out_as_they_went_in_around_many_turns() {
        let (mut sender, mut receiver) = on_heap(1024);
        let frame = |number: usize| -> Vec<u8> { (0..number * 7 % 230).map(|place| (number + place) as u8).collect() };
        let (mut sent, mut taken) = (0, 0);
        while taken < 2000 {
            while sender.send(sent, &frame(sent)) {
                sent += 1;
            }
            assert!(sent > taken, "a ring that is empty has room");
            // Takes one, two or three frames at a time, so that the ring is full to different degrees.
            for _ in 0..=sent % 3 {
                if let Some((number, length)) = receiver.first() {
                    assert_eq!((number, length), (taken, frame(taken).len()));
                    assert_eq!(receiver.take(), frame(taken));
                    taken += 1;
                }
            }
        }
        while receiver.first().is_some() {
            assert_eq!(receiver.take(), frame(taken));
            taken += 1;
        }
        assert_eq!(sent, taken);
    }

    #[test]
    fn a_frame_for_which_there_is_no_room_is_refused_and_disturbs_nothing() {
        let (mut sender, mut receiver) = on_heap(256);
        assert_eq!(sender.longest(), 56);
        assert!(!sender.send(0, &[1; 300]));
        assert!((0..4).all(|number| sender.send(number, &[number as u8; 56])));
        assert!(!sender.send(4, &[]));
        assert_eq!(receiver.take(), [0; 56]);
        assert!(sender.send(4, &[]));
        for number in 1..4 {
            assert_eq!(receiver.first(), Some((number, 56)));
            receiver.take();
        }
        assert_eq!((receiver.first(), receiver.take().len()), (Some((4, 0)), 0));
    }
}
