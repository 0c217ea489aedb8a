//! Limits the bytes of answers that are kept until clients read them: on one connection, and on all connections
//! together.
//!
//! Bytes that several answers share are counted once, because they are in memory once. Each answer also counts
//! [`ANSWER_COST`].
//!
//! An answer that a service still computes counts too, with the size of that operation's earlier answers ([`Sizes`]).
//! Otherwise, many requests at once would fill the memory before the first of their answers is counted.

use std::collections::HashMap;

use hyper::body::Bytes;
use lehr_services::{Code, Fault};
use lehr_sync::{Arc, Mutex};

use crate::connections::Answering;

/// The memory of an answer in progress in addition to its bytes: its stream, its headers, its task.
const ANSWER_COST: usize = 2 << 10;

/// A limit on the bytes that are kept, and their current number.
#[derive(Debug)]
pub(crate) struct Unsent {
    limit: usize,
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    bytes: usize,
    /// The number of answers that share each body. The key is the body's address, which no other body has while it is
    /// kept.
    shares: HashMap<usize, usize>,
}

impl Unsent {
    pub(crate) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self { limit, held: Mutex::default() })
    }

    /// Returns the number of bytes that are kept now.
    pub(crate) fn bytes(&self) -> usize {
        self.held.lock().bytes
    }

    /// Counts a body; returns `None` if the sum would exceed the limit. A single body is always accepted, because
    /// otherwise it could never be sent.
    fn enter(self: &Arc<Self>, body: &[u8]) -> Option<Entry> {
        let (key, length) = (body.as_ptr().addr(), body.len());
        let mut held = self.held.lock();
        let is_shared = held.shares.contains_key(&key);
        let more = ANSWER_COST + if is_shared { 0 } else { length };
        if held.bytes > 0 && held.bytes.saturating_add(more) > self.limit {
            return None;
        }
        held.bytes += more;
        *held.shares.entry(key).or_default() += 1;
        Some(Entry { ledger: self.clone(), key, length })
    }

    /// Counts an answer of about this size that is being computed; returns `None` if the sum would exceed the limit. An
    /// expectation is at most an eighth of the limit, so one large answer cannot block an operation for ever.
    fn reserve(self: &Arc<Self>, expected: usize) -> Option<Reserved> {
        let bytes = ANSWER_COST + expected.min(self.limit / 8);
        let mut held = self.held.lock();
        if held.bytes > 0 && held.bytes.saturating_add(bytes) > self.limit {
            return None;
        }
        held.bytes += bytes;
        Some(Reserved { ledger: self.clone(), bytes })
    }
}

/// An expected answer, which is counted until this value is dropped.
pub(crate) struct Reserved {
    ledger: Arc<Unsent>,
    bytes: usize,
}

impl Drop for Reserved {
    fn drop(&mut self) {
        self.ledger.held.lock().bytes -= self.bytes;
    }
}

/// The sizes of earlier answers, by operation.
#[derive(Debug, Default)]
pub(crate) struct Sizes(Mutex<HashMap<String, usize>>);

impl Sizes {
    /// The maximum number of operations whose sizes are remembered.
    const MOST: usize = 10_000;

    /// Reserves room for the answer of an operation.
    ///
    /// # Errors
    /// Returns [`Code::Unavailable`] if a ledger has no room.
    pub(crate) fn reserve(&self, operation: &str, ledgers: [&Arc<Unsent>; 2]) -> Result<[Reserved; 2], Fault> {
        let expected = self.0.lock().get(operation).copied().unwrap_or_default();
        let [first, second] = ledgers.map(|ledger| ledger.reserve(expected));
        Ok([first.ok_or_else(full)?, second.ok_or_else(full)?])
    }

    /// Remembers the size of an answer. Of a larger one before it, half is remembered.
    pub(crate) fn remember(&self, operation: String, bytes: usize) {
        let mut sizes = self.0.lock();
        if sizes.len() >= Self::MOST && !sizes.contains_key(&operation) {
            sizes.clear();
        }
        let size = sizes.entry(operation).or_default();
        *size = bytes.max(*size / 2);
    }
}

/// Returns the fault for an answer for which there is no room.
fn full() -> Fault {
    let reason = "too many bytes of earlier answers are unread";
    Fault::new(Code::Unavailable, reason).retry_after(std::time::Duration::from_secs(1))
}

/// A body, which is counted until this entry is dropped.
struct Entry {
    ledger: Arc<Unsent>,
    key: usize,
    length: usize,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut held = self.ledger.held.lock();
        held.bytes -= ANSWER_COST;
        if let Some(count) = held.shares.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                held.shares.remove(&self.key);
                held.bytes -= self.length;
            }
        }
    }
}

/// A body with its entries. The entries are dropped first, because another body may get the same address once this body
/// is freed.
struct Counted {
    _entries: [Entry; 2],
    /// Keeps the connection from counting as idle while the answer is being sent.
    _answering: Option<Answering>,
    body: Shared,
}

/// Bytes that several answers may share.
pub(crate) enum Shared {
    Whole(Arc<Vec<u8>>),
    Slice(Arc<[u8]>),
}

impl From<Vec<u8>> for Shared {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Whole(Arc::new(bytes))
    }
}

impl From<Arc<Vec<u8>>> for Shared {
    fn from(bytes: Arc<Vec<u8>>) -> Self {
        Self::Whole(bytes)
    }
}

impl From<Arc<[u8]>> for Shared {
    fn from(bytes: Arc<[u8]>) -> Self {
        Self::Slice(bytes)
    }
}

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Whole(bytes) => bytes,
            Self::Slice(bytes) => bytes,
        }
    }
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        self.body.as_ref()
    }
}

/// Returns the bytes of a body, which count in both ledgers until the last piece of them has been sent or dropped.
///
/// # Errors
/// Returns [`Code::Unavailable`] if a ledger has no room.
pub(crate) fn counted(ledgers: [&Arc<Unsent>; 2], answering: Option<Answering>, body: Shared) -> Result<Bytes, Fault> {
    if body.as_ref().is_empty() {
        return Ok(Bytes::new());
    }
    let [first, second] = ledgers.map(|ledger| ledger.enter(body.as_ref()));
    let entries = [first.ok_or_else(full)?, second.ok_or_else(full)?];
    Ok(Bytes::from_owner(Counted { _entries: entries, _answering: answering, body }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_counted_once_until_its_last_piece_is_gone() {
        let (all, one) = (Unsent::new(100_000), Unsent::new(50_000));
        let body = Arc::new(vec![7; 40_000]);
        let mut first = counted([&all, &one], None, body.clone().into()).unwrap();
        let second = counted([&all, &one], None, body.into()).unwrap();
        assert_eq!((all.bytes(), one.bytes()), (40_000 + 2 * ANSWER_COST, 40_000 + 2 * ANSWER_COST));
        // Another body is one too many for this connection, but not for another one.
        let other = Arc::new(vec![8; 40_000]);
        assert_eq!(counted([&all, &one], None, other.clone().into()).unwrap_err().code(), Code::Unavailable);
        let elsewhere = counted([&all, &Unsent::new(50_000)], None, other.into()).unwrap();
        assert_eq!(all.bytes(), 80_000 + 3 * ANSWER_COST);
        drop((second, elsewhere));
        let piece = first.split_to(10);
        drop(first);
        assert_eq!(one.bytes(), 40_000 + ANSWER_COST);
        drop(piece);
        assert_eq!((all.bytes(), one.bytes()), (0, 0));
        // Answers of a size that is known count before they are there.
        let sizes = Sizes::default();
        sizes.remember("/sets:read".to_owned(), 12_500);
        let elsewhere = Unsent::new(1 << 20);
        let held: Vec<_> = (0..9).filter_map(|_| sizes.reserve("/sets:read", [&all, &elsewhere]).ok()).collect();
        assert_eq!((held.len(), all.bytes()), (6, 6 * (12_500 + ANSWER_COST)));
        assert!(sizes.reserve("/sets:find", [&all, &one]).is_ok(), "a small answer has room");
        drop(held);
        assert_eq!(all.bytes(), 0);
        // A single body is always accepted, however long it is.
        assert!(counted([&all, &one], None, vec![0; 200_000].into()).is_ok());
    }
}
