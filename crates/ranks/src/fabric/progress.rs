//! The progress of a long message between two processes: where its pieces are, and how far it has been copied and read.
//!
//! The sender copies the message piece by piece. For each piece, it notes the place of the copy. The receiver reads only
//! what was reported, and reports what it has read, so that the sender can use the place again. At the end, the receiver
//! says that it needs no place any longer. All words are in memory that the two processes share. Lines that the sender
//! writes are apart from lines that the receiver writes.
//!
//! | line | words | who writes them |
//! | --- | --- | --- |
//! | 0 | the number of bytes that have been copied | the sender |
//! | 1 | whether the receiver has begun; the number of bytes that it has read; whether it has finished | the sender before the announcement, then the receiver |
//! | 2 and 3 | the places of the pieces; the place of piece i is in word i modulo [`PLACES`] | the sender |

use std::ops::Deref;

use lehr_sync::{AtomicUsize, Ordering};

use super::ring::{Shared, Word, words_on_heap};

/// The number of words of a line.
const LINE: usize = 8;
/// The number of words of a progress.
pub const WORDS: usize = 4 * LINE;
/// The maximum number of pieces that the receiver has not read, or is reading, and that have a place.
pub const PLACES: usize = 2 * LINE;

const COPIED: usize = 0;
const BEGUN: usize = LINE;
const READ: usize = LINE + 1;
const FINISHED: usize = LINE + 2;
const PLACE: usize = 2 * LINE;

/// The progress of one message; see the [module](self).
///
/// # Example
/// ```
/// use lehr_ranks::fabric::progress::{Progress, on_heap};
/// let sender = Progress::new(on_heap());
/// sender.reset();
/// let receiver = sender.clone();
/// sender.put(0, 5); // piece 0 is in place 5
/// sender.report_copied(100);
/// assert_eq!((receiver.copied(), receiver.place(0)), (100, 5));
/// receiver.begin();
/// receiver.report_read(100);
/// assert_eq!((sender.has_begun(), sender.read(), sender.is_finished()), (true, 100, false));
/// ```
#[derive(Clone, Debug)]
pub struct Progress<M>(M);

/// Returns the words of a progress on the heap, for threads.
pub fn on_heap() -> Shared {
    words_on_heap(WORDS)
}

impl<M: Deref<Target = [Word]>> Progress<M> {
    /// Creates one end of a progress whose words are these.
    ///
    /// # Panics
    /// Panics unless there are [`WORDS`] words.
    pub fn new(words: M) -> Self {
        assert_eq!(words.len(), WORDS, "a progress has {WORDS} words");
        Self(words)
    }

    fn word(&self, place: usize) -> &AtomicUsize {
        &self.0[place].0
    }

    /// Begins a message. The sender calls this method before it announces the message.
    pub fn reset(&self) {
        for place in [COPIED, BEGUN, READ, FINISHED] {
            // Relaxed: the announcement publishes the words. The sender has seen with Acquire that the last message is
            // finished, so the receiver of that message writes no more.
            self.word(place).store(0, Ordering::Relaxed);
        }
    }

    /// Notes the place of a piece. The sender calls this method before it reports a byte of the piece.
    pub fn put(&self, piece: usize, place: usize) {
        // Relaxed: published by `report_copied`.
        self.word(PLACE + piece % PLACES).store(place, Ordering::Relaxed);
    }

    /// Returns the place of a piece of which a byte has been copied.
    pub fn place(&self, piece: usize) -> usize {
        // Relaxed: the caller has seen, by `copied`, that a byte of the piece was reported.
        self.word(PLACE + piece % PLACES).load(Ordering::Relaxed)
    }

    /// Reports the number of bytes that the sender has copied so far.
    pub fn report_copied(&self, bytes: usize) {
        // Release: publishes the bytes and their place. Pairs with the Acquire in `copied`.
        self.word(COPIED).store(bytes, Ordering::Release);
    }

    /// Returns the number of bytes that the receiver may read.
    pub fn copied(&self) -> usize {
        // Acquire: pairs with the Release in `report_copied`.
        self.word(COPIED).load(Ordering::Acquire)
    }

    /// Says that the receiver has begun to read, and does nothing else until it finishes.
    pub fn begin(&self) {
        // Relaxed: the flag says nothing about other memory.
        self.word(BEGUN).store(1, Ordering::Relaxed);
    }

    /// Whether the receiver has begun to read.
    pub fn has_begun(&self) -> bool {
        // Relaxed: as in `begin`.
        self.word(BEGUN).load(Ordering::Relaxed) != 0
    }

    /// Reports the number of bytes that the receiver has read so far.
    pub fn report_read(&self, bytes: usize) {
        // Release: the reads come before it. Pairs with the Acquire in `read`.
        self.word(READ).store(bytes, Ordering::Release);
    }

    /// Returns the number of bytes whose places the sender may use again.
    pub fn read(&self) -> usize {
        // Acquire: pairs with the Release in `report_read`.
        self.word(READ).load(Ordering::Acquire)
    }

    /// Says that the receiver reads no more.
    pub fn finish(&self) {
        // Release: the reads come before it. Pairs with the Acquire in `is_finished`.
        self.word(FINISHED).store(1, Ordering::Release);
    }

    /// Whether the receiver reads no more, so that the sender may use all places again.
    pub fn is_finished(&self) -> bool {
        // Acquire: pairs with the Release in `finish`.
        self.word(FINISHED).load(Ordering::Acquire) != 0
    }
}
