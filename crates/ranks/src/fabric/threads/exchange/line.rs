//! Lines, used if every rank has a core and there are few ranks. A line is a rank's flag, in one cache line with the
//! rank's message if the message is short.
//!
//! With one counter, all ranks would wait for the same cache line. Instead, each rank has two lines of its own, which
//! it uses in turn. A short message then moves between cores in the line that also announces it. Each rank looks at all
//! lines and folds for itself; all fold the same values, so all get the same result.
//!
//! | shared word | meaning | who writes it |
//! | --- | --- | --- |
//! | `Line::arrived` | the number of the rank's arrivals, up to its last arrival by this line | the line's rank, in every second exchange |

use crossbeam_utils::CachePadded;
use lehr_sync::{AtomicUsize, Cell, Ordering};

/// The maximum number of ranks for which lines are used, because each rank looks at the lines of all ranks.
pub(super) const LINES_MAX: usize = 32;

/// The maximum number of words of a message that fit in a line of 64 bytes, next to the flag and the length.
const SHORT: usize = 6;

/// A rank's flag and, if the rank's message is short, that message.
#[repr(C)]
pub(super) struct Line {
    arrived: AtomicUsize,
    message: Cell<Short>,
}

/// A message of at most `SHORT` words, or only the length of a longer message, which is elsewhere.
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
        // Release: publishes the message, and that the line's rank has finished reading earlier exchanges. Pairs with
        // the Acquire in `has_arrived`.
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
