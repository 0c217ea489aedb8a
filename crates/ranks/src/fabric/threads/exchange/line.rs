//! Lines, used if every rank has a core: a flag for each rank, in one cache line with its message if the message is
//! short.
//!
//! With one counter, all ranks would wait for the same line. Here each rank has its own two lines, which it uses in
//! turn. A short message then crosses in the line that also announces it. Each rank looks at all lines and folds for
//! itself; all fold the same values, so all get the same result.
//!
//! | shared word | meaning | who writes it |
//! | --- | --- | --- |
//! | `Line::arrived` | exchanges in which the rank has arrived, counting only those that use this line | its rank, once per exchange |

use crossbeam_utils::CachePadded;
use lehr_sync::{AtomicUsize, Cell, Ordering};

/// The maximum number of ranks that look at each other's lines.
pub(super) const LINES_MAX: usize = 32;

/// The number of words of a message that fit in a line of 64 bytes, next to its flag and its length.
const SHORT: usize = 6;

/// A rank's flag and, if it is short, its message.
#[repr(C)]
pub(super) struct Line {
    arrived: AtomicUsize,
    message: Cell<Short>,
}

/// A message of at most `SHORT` words; a longer one is with the long messages.
#[repr(C)]
struct Short {
    length: usize,
    words: [u64; SHORT],
}

impl Line {
    pub(super) fn new() -> CachePadded<Self> {
        let message = Cell::new(Short { length: 0, words: [0; SHORT] });
        CachePadded::new(Self { arrived: AtomicUsize::new(0), message })
    }

    /// Announces that the rank has arrived for the `arrivals`-th time, with this message.
    ///
    /// # Safety
    /// No other thread writes or reads this line now.
    pub(super) unsafe fn publish(&self, arrivals: usize, message: &[u64]) {
        // SAFETY: the caller guarantees it.
        let short = self.message.write(|short| unsafe { &mut *short });
        short.length = message.len();
        if let Some(words) = short.words.get_mut(..message.len()) {
            words.copy_from_slice(message);
        }
        // Release: publishes the message, and that its rank has read all that it wanted of earlier exchanges. Pairs
        // with the Acquire in `has_arrived`.
        self.arrived.store(arrivals, Ordering::Release);
    }

    /// Whether the rank has arrived at least this many times.
    pub(super) fn has_arrived(&self, arrivals: usize) -> bool {
        // Acquire: pairs with the Release in `publish`; the message is visible.
        self.arrived.load(Ordering::Acquire) >= arrivals
    }

    /// Returns the message, if it is short.
    ///
    /// # Safety
    /// The rank was seen to have arrived with this message, and does not write this line while the words are in use.
    pub(super) unsafe fn message(&self) -> Option<&[u64]> {
        // SAFETY: the caller guarantees it.
        let short = self.message.read(|short| unsafe { &*short });
        short.words.get(..short.length)
    }
}
