//! Memory of long messages, kept for reuse: fresh memory costs a page fault every 4 KiB, which takes longer than
//! copying the bytes.

use lehr_sync::{Arc, Mutex};

/// The minimum length of memory that is kept, in bytes.
const LONG: usize = 1 << 15;
/// The maximum number of messages whose memory is kept.
const KEPT: usize = 8;
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
pub struct Memory(Arc<Mutex<Vec<Vec<u8>>>>);

impl Memory {
    /// Returns empty memory with room for this many bytes. Reuses kept memory if some fits.
    pub fn take(&self, length: usize) -> Vec<u8> {
        if length >= LONG {
            let mut kept = self.0.lock();
            let enough = |memory: &Vec<u8>| (length..=4 * length).contains(&memory.capacity());
            if let Some(place) = kept.iter().position(enough) {
                let mut memory = kept.swap_remove(place);
                memory.clear();
                return memory;
            }
        }
        Vec::with_capacity(length)
    }

    /// Keeps memory that is no longer used for reuse, if it is large enough and the limits allow it.
    pub fn give_back(&self, memory: Vec<u8>) {
        if memory.capacity() < LONG {
            return;
        }
        let mut kept = self.0.lock();
        if kept.len() == KEPT {
            // Memory of lengths that are no longer used makes room for memory of lengths in use.
            kept.remove(0);
        }
        if kept.iter().map(Vec::capacity).sum::<usize>() + memory.capacity() <= KEPT_BYTES {
            kept.push(memory);
        }
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
        assert_eq!(memory.0.lock().len(), 1);
        let again = memory.take(90_000);
        assert_eq!(again.as_ptr(), address);
        assert!(memory.0.lock().is_empty());
    }

    #[test]
    fn what_is_kept_has_an_end() {
        let memory = Memory::default();
        for frame in 0..20 {
            memory.give_back(Vec::with_capacity(LONG << (frame % 12)));
        }
        let kept = memory.0.lock();
        assert!(kept.len() <= KEPT && kept.iter().map(Vec::capacity).sum::<usize>() <= KEPT_BYTES);
    }
}
