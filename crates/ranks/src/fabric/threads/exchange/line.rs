//! Lines, where every rank has a core: a flag for each rank, and its message with it if it is short.
//!
//! All would wait for one counter. There each rank has a line instead, two of them in turn. A short message then
//! crosses in the line that also announces it. Each rank looks at all lines and folds for itself; the folded values are
//! the same, so the result is.
//!
//! | shared word | meaning | who writes it |
//! | --- | --- | --- |
//! | `Line::arrived` | exchanges in which the rank has arrived, as far as this line is used for them | its rank, once per exchange |

use crossbeam_utils::CachePadded;
use lehr_sync::{AtomicUsize, Cell, Ordering};

/// The largest number of ranks that look at each other's lines.
pub(super) const LINES_MAX: usize = 32;

/// Words of a message that fit in a line of 64 bytes beside its flag and its length.
const SHORT: usize = 6;

/// A rank's message, if it is short, and that it is there.
#[repr(C)]
pub(super) struct Line {
    arrived: AtomicUsize,
    message: Cell<Short>,
}

/// A message of at most `SHORT` words; if its length is greater, it is where long ones are.
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

    /// Says that the rank has arrived for the `arrivals`-th time, with this message.
    ///
    /// # Safety
    /// No other thread writes or reads this line now.
    pub(super) unsafe fn publish(&self, arrivals: usize, message: &[u64]) {
        // SAFETY: the caller's.
        let short = self.message.write(|short| unsafe { &mut *short });
        short.length = message.len();
        if let Some(words) = short.words.get_mut(..message.len()) {
            words.copy_from_slice(message);
        }
        // Release: publishes the message, and that its rank has read what it wanted of earlier exchanges. Pairs with
        // the Acquire in `has_arrived`.
        self.arrived.store(arrivals, Ordering::Release);
    }

    /// Whether the rank has arrived as often.
    pub(super) fn has_arrived(&self, arrivals: usize) -> bool {
        // Acquire: pairs with the Release in `publish`; the message is visible.
        self.arrived.load(Ordering::Acquire) >= arrivals
    }

    /// The message, if it is short.
    ///
    /// # Safety
    /// The rank has been seen to have arrived with it, and does not write this line while the words are in use.
    pub(super) unsafe fn message(&self) -> Option<&[u64]> {
        // SAFETY: the caller's.
        let short = self.message.read(|short| unsafe { &*short });
        short.words.get(..short.length)
    }
}
