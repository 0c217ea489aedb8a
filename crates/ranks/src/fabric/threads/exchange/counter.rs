//! A counter of arrivals, used if ranks outnumber cores or there are many ranks. The last rank to arrive folds for all
//! ranks, so that the work is done once, and announces the result.
//!
//! | shared word | meaning | who writes it |
//! | --- | --- | --- |
//! | `arrived` | the number of arrivals since the beginning, in all exchanges | each rank, once per exchange |
//! | `completed` | the number of completed exchanges | the last rank to arrive |

use crossbeam_utils::CachePadded;
use lehr_sync::{AtomicUsize, Cell, Ordering};

/// The counters that all ranks share, and the results of the folds.
pub(super) struct Counter {
    /// The results of the folds, for even and for odd exchanges. Written by the last rank to arrive.
    folded: [CachePadded<Cell<Vec<u64>>>; 2],
    arrived: CachePadded<AtomicUsize>,
    completed: CachePadded<AtomicUsize>,
}

impl Counter {
    pub(super) fn new() -> Self {
        let zero = || CachePadded::new(AtomicUsize::new(0));
        let folded = || CachePadded::new(Cell::new(Vec::new()));
        Self { folded: [folded(), folded()], arrived: zero(), completed: zero() }
    }

    /// Arrives in an exchange of this many ranks; returns whether all other ranks had arrived.
    pub(super) fn arrive(&self, exchange: usize, size: usize) -> bool {
        // Release: publishes this rank's message, and that this rank has finished reading earlier exchanges. Acquire:
        // the last rank to arrive sees this of all other ranks, whose additions precede its own.
        let before = self.arrived.fetch_add(1, Ordering::AcqRel);
        before + 1 == (exchange + 1) * size
    }

    /// Completes an exchange with the result that `fold` writes into empty memory.
    ///
    /// # Safety
    /// The caller was the last to arrive in the exchange, and all reads of the exchange before the previous one have
    /// ended.
    pub(super) unsafe fn complete(&self, exchange: usize, fold: impl FnOnce(&mut Vec<u64>)) {
        // SAFETY: the caller guarantees that nothing else writes, and that nothing reads this buffer, which was last
        // used two exchanges ago.
        let folded = self.folded[exchange % 2].write(|folded| unsafe { &mut *folded });
        folded.clear();
        fold(folded);
        // Release: pairs with the Acquire in `has_completed`.
        self.completed.store(exchange + 1, Ordering::Release);
    }

    /// Whether this many exchanges have been completed.
    pub(super) fn has_completed(&self, exchanges: usize) -> bool {
        // Acquire: pairs with the Release in `complete`; all messages and the fold are visible.
        self.completed.load(Ordering::Acquire) >= exchanges
    }

    /// Returns the result of the fold of an exchange.
    ///
    /// # Safety
    /// The exchange was seen to be complete, and the next exchange but one does not complete while the words are in
    /// use.
    pub(super) unsafe fn folded(&self, exchange: usize) -> &[u64] {
        // SAFETY: the caller guarantees it.
        self.folded[exchange % 2].read(|folded| unsafe { &*folded })
    }
}
