//! Memory of long messages, kept for reuse: fresh memory costs a page fault every 4 KiB, which takes longer than
//! copying the bytes.

use std::collections::VecDeque;

use lehr_sync::{Arc, Mutex};

/// The minimum length of memory that is kept, in bytes.
const LONG: usize = 1 << 15;
/// The maximum number of pieces of memory that are kept.
const KEPT: usize = 1 << 10;
/// The maximum number of bytes that are kept in all.
const KEPT_BYTES: usize = 1 << 26;

/// Memory for reuse, which the senders and the receivers of a process share.
///
/// # Example
/// ```
/// use lehr_ranks::fabric::memory::Memory;
/// let memory = Memory::default();
/// let bytes = memory.take(100_000);
/// let address = bytes.as_ptr();
/// memory.give_back(bytes);
/// assert_eq!(memory.take(90_000).as_ptr(), address);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Memory(Arc<Mutex<Kept>>);

#[derive(Debug, Default)]
struct Kept {
    /// The pieces of memory, the one that was given back last at the end.
    pieces: VecDeque<Vec<u8>>,
    /// The sum of their capacities.
    bytes: usize,
}

impl Memory {
    /// Returns empty memory with room for this many bytes. Reuses kept memory if some fits: the memory that was given
    /// back last, which may still be in a cache.
    pub fn take(&self, length: usize) -> Vec<u8> {
        if length >= LONG {
            let mut kept = self.0.lock();
            let enough = |memory: &Vec<u8>| (length..=4 * length).contains(&memory.capacity());
            if let Some(place) = kept.pieces.iter().rposition(enough)
                && let Some(mut memory) = kept.pieces.remove(place)
            {
                kept.bytes -= memory.capacity();
                drop(kept);
                memory.clear();
                return memory;
            }
        }
        Vec::with_capacity(length)
    }

    /// Keeps memory that is no longer used for reuse, if it is large enough and the limits allow it. The memory that was
    /// given back first makes room for it.
    pub fn give_back(&self, memory: Vec<u8>) {
        let more = memory.capacity();
        if !(LONG..=KEPT_BYTES).contains(&more) {
            return;
        }
        let mut kept = self.0.lock();
        let mut dropped = Vec::new();
        while (kept.pieces.len() == KEPT || kept.bytes + more > KEPT_BYTES)
            && let Some(first) = kept.pieces.pop_front()
        {
            kept.bytes -= first.capacity();
            dropped.push(first);
        }
        kept.bytes += more;
        kept.pieces.push_back(memory);
        drop(kept);
        drop(dropped);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_memory_comes_again_and_short_does_not() {
        let memory = Memory::default();
        let long = memory.take(100_000);
        let address = long.as_ptr();
        memory.give_back(long);
        memory.give_back(memory.take(10));
        assert_eq!(memory.0.lock().pieces.len(), 1);
        let again = memory.take(90_000);
        assert_eq!(again.as_ptr(), address);
        let kept = memory.0.lock();
        assert!(kept.pieces.is_empty() && kept.bytes == 0);
    }

    #[test]
    fn what_is_kept_has_an_end_and_the_oldest_goes_first() {
        let memory = Memory::default();
        memory.give_back(Vec::with_capacity(KEPT_BYTES + 1));
        for frame in 0..2 * KEPT {
            memory.give_back(Vec::with_capacity(LONG << (frame % 12)));
            let kept = memory.0.lock();
            assert!(kept.pieces.len() <= KEPT && kept.bytes <= KEPT_BYTES);
            assert_eq!(kept.bytes, kept.pieces.iter().map(Vec::capacity).sum::<usize>());
            assert_eq!(kept.pieces.back().unwrap().capacity(), LONG << (frame % 12));
        }
    }
}
