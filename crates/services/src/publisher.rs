//! The subscribers to the changes of one service, each with a bounded queue, so that a slow subscriber does not delay
//! the other subscribers.
//!
//! A change is published while its handler still has exclusive access to the state, so changes are published in the
//! order of their versions. A subscriber registers in the concurrent group, so no change can happen between its
//! snapshot and its registration. A full queue is emptied and marked. The subscriber then learns how many changes it
//! missed, and gets the state again.

use std::collections::VecDeque;
use std::fmt;
use std::task::Waker;
use std::time::Duration;

use lehr_runtime::Clock;
use lehr_sync::{Arc, Count, Mutex, OnceLock};

use crate::fault::{Code, Fault};
use crate::format::Format;
use crate::inspection::SubscriberView;
use crate::operation::{Anything, Operation};
use crate::subscription::{End, Filter, Slow};
use crate::verb::{Kind, Verb};

/// A change of a service's state, given as the operation that made it.
///
/// # Example
/// See [`Subscription`](crate::Subscription).
pub struct Change {
    incarnation: u64,
    version: u64,
    operation: String,
    verb: Verb,
    key: Option<String>,
    body: Body,
    /// The encoded body, in JSON and in MessagePack. Each format is encoded once for all subscribers.
    written: [OnceLock<Result<Arc<[u8]>, Fault>>; 2],
}

enum Body {
    /// The operation itself, with the function that encodes it.
    Typed(Arc<Anything>, fn(&Anything, Format) -> Result<Vec<u8>, Fault>),
    /// The bytes that came from another process.
    Bytes(Format, Vec<u8>),
}

impl fmt::Debug for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Change")
            .field("version", &self.version)
            .field("operation", &self.operation)
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

fn write<O: Operation>(operation: &Anything, format: Format) -> Result<Vec<u8>, Fault> {
    let operation = operation.downcast_ref::<O>();
    operation.map_or_else(
        || Err(Fault::new(Code::OperationFailed, "a change of another type")),
        |operation| format.encode(operation),
    )
}

impl Change {
    pub(crate) fn typed<O: Operation>(incarnation: u64, name: &str, operation: O) -> Self {
        let key = operation.key().map(std::borrow::Cow::into_owned);
        let body = Body::Typed(Arc::new(operation), write::<O>);
        let (operation, verb) = (name.to_owned(), O::Verb::VERB);
        Self { incarnation, version: 0, operation, verb, key, body, written: Default::default() }
    }

    /// Creates a change from encoded bytes that another process sent.
    ///
    /// # Example
    /// ```
    /// use lehr_services::{Change, Format, Verb};
    /// let change = Change::from_bytes((1, 7), "add", Verb::Update, None, (Format::Json, b"5".to_vec()));
    /// assert_eq!((change.version(), &*change.body(Format::Json).unwrap()), (7, b"5".as_slice()));
    /// ```
    pub fn from_bytes(
        (incarnation, version): (u64, u64),
        operation: impl Into<String>,
        verb: Verb,
        key: Option<String>,
        (format, bytes): (Format, Vec<u8>),
    ) -> Self {
        let (operation, body) = (operation.into(), Body::Bytes(format, bytes));
        Self { incarnation, version, operation, verb, key, body, written: Default::default() }
    }

    pub(crate) fn at(mut self, version: u64) -> Arc<Self> {
        self.version = version;
        Arc::new(self)
    }

    /// Returns the incarnation of the service in which the change happened.
    pub fn incarnation(&self) -> u64 {
        self.incarnation
    }

    /// Returns the version of the state after the change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Returns the name of the operation.
    pub fn name(&self) -> &str {
        &self.operation
    }

    /// Returns the effect of the operation on the state.
    pub fn verb(&self) -> Verb {
        self.verb
    }

    /// Returns the key of the changed entry; see [`Operation::key`].
    pub fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Returns the operation, if it is an `O`.
    ///
    /// # Errors
    /// Returns [`Code::ActionNotSupported`] if the change was made by another operation. Returns
    /// [`Code::MessageNotSupported`] if the operation came from another process or build, and cannot be read as an `O`.
    ///
    /// # Example
    /// See [`Subscription`](crate::Subscription).
    pub fn operation<O: Operation>(&self) -> Result<Arc<O>, Fault> {
        if self.operation != O::NAME {
            let reason = format!("the change is {:?}, not {:?}", self.operation, O::NAME);
            return Err(Fault::new(Code::ActionNotSupported, reason));
        }
        match &self.body {
            Body::Typed(operation, _) => match Arc::downcast::<O>(operation.clone()) {
                Ok(operation) => Ok(operation),
                // The operation has the same name in another build of the contract.
                Err(_) => Format::MessagePack.decode(&self.body(Format::MessagePack)?).map(Arc::new),
            },
            Body::Bytes(format, bytes) => format.decode(bytes).map(Arc::new),
        }
    }

    /// Returns the operation as bytes, for network edges. The operation is encoded once for all receivers.
    ///
    /// # Errors
    /// Fails if the operation cannot be expressed in the format. This method also fails if the bytes came from another
    /// process in the other format and are not a document.
    ///
    /// # Example
    /// See [`from_bytes`](Self::from_bytes).
    pub fn body(&self, format: Format) -> Result<Arc<[u8]>, Fault> {
        let place = &self.written[usize::from(format == Format::MessagePack)];
        place
            .get_or_init(|| match &self.body {
                Body::Typed(operation, write) => write(&**operation, format).map(Arc::from),
                Body::Bytes(found, bytes) if *found == format => Ok(Arc::from(bytes.as_slice())),
                Body::Bytes(found, bytes) => {
                    found.decode::<serde_json::Value>(bytes).and_then(|value| format.encode(&value)).map(Arc::from)
                }
            })
            .clone()
    }
}

/// The subscribers to the changes of one service.
#[derive(Debug, Default)]
pub(crate) struct Publisher {
    subscribers: Mutex<Vec<Arc<Subscriber>>>,
    /// The number of subscribers, for [`is_watched`](Self::is_watched); set under the lock of `subscribers`.
    watching: Count,
}

impl Publisher {
    /// Returns whether anyone subscribes to changes. Exclusive handlers call this method before each change.
    ///
    /// No lock is needed, because subscribers register in concurrent handlers. The interleave ends concurrent handlers,
    /// under its own lock, before it starts an exclusive handler. A subscriber that leaves meanwhile may still be
    /// counted; it then gets nothing.
    pub(crate) fn is_watched(&self) -> bool {
        self.watching.get() > 0
    }

    pub(crate) fn count(&self) -> usize {
        self.subscribers.lock().len()
    }

    /// Changes the list of subscribers.
    fn change<R>(&self, change: impl FnOnce(&mut Vec<Arc<Subscriber>>) -> R) -> R {
        let mut subscribers = self.subscribers.lock();
        let result = change(&mut subscribers);
        self.watching.set(subscribers.len() as u64);
        result
    }

    /// Returns the state of each subscriber.
    pub(crate) fn views(&self) -> Vec<SubscriberView> {
        let subscribers = self.subscribers.lock().clone();
        let view = |subscriber: &Arc<Subscriber>| {
            let queue = subscriber.queue.lock();
            SubscriberView { name: subscriber.name.clone(), queued: queue.changes.len(), missed: queue.missed }
        };
        subscribers.iter().map(view).collect()
    }

    /// Adds a subscriber. A subscriber with a name replaces the earlier subscriber with the same name.
    pub(crate) fn add(&self, subscriber: Arc<Subscriber>) {
        let replaced = self.change(|subscribers| {
            let same = |other: &Arc<Subscriber>| subscriber.name.is_some() && other.name == subscriber.name;
            let replaced = subscribers.iter().position(same).map(|index| subscribers.remove(index));
            subscribers.push(subscriber);
            replaced
        });
        if let Some(replaced) = replaced {
            replaced.end(End::Replaced);
        }
    }

    pub(crate) fn remove(&self, subscriber: &Arc<Subscriber>) {
        self.change(|subscribers| subscribers.retain(|other| !Arc::ptr_eq(other, subscriber)));
    }

    pub(crate) fn publish(&self, change: Arc<Change>) {
        self.each(|subscriber| subscriber.offer(&change));
    }

    /// Tells every subscriber to load the state again, because the published changes no longer lead to it.
    pub(crate) fn reset(&self) {
        self.each(|subscriber| subscriber.lose(1));
    }

    pub(crate) fn end(&self, why: &End) {
        let subscribers = self.change(std::mem::take);
        subscribers.iter().for_each(|subscriber| subscriber.end(why.clone()));
    }

    /// Calls `act` for each subscriber, and removes subscribers whose subscription is over.
    fn each(&self, mut act: impl FnMut(&Subscriber) -> Step) {
        let mut wakers = Vec::new();
        self.change(|subscribers| {
            subscribers.retain(|subscriber| {
                let step = act(subscriber);
                wakers.extend(step.waker);
                step.goes_on
            });
        });
        // The wakers are called after the lock is released, because a waker may run foreign code.
        wakers.into_iter().for_each(Waker::wake);
    }
}

/// The effect of an action on a subscriber.
struct Step {
    waker: Option<Waker>,
    goes_on: bool,
}

/// A subscriber, with the changes that it has not received yet.
#[derive(Debug)]
pub(crate) struct Subscriber {
    name: Option<String>,
    filter: Filter,
    capacity: usize,
    slow: Slow,
    expires: Option<(Clock, Duration)>,
    queue: Mutex<Queue>,
}

#[derive(Debug, Default)]
struct Queue {
    changes: VecDeque<Arc<Change>>,
    /// The number of dropped changes. While this number is not 0, no change is queued.
    missed: u64,
    /// The number of changes that the subscriber still wants.
    remaining: Option<u64>,
    has_begun: bool,
    end: Option<End>,
    waker: Option<Waker>,
}

/// The next event for a subscriber.
pub(crate) enum Next {
    Change(Arc<Change>),
    /// The number of changes that were dropped; no event follows until [`Subscriber::resume`] is called.
    Gap(u64),
    End(End),
    Nothing,
}

impl Subscriber {
    pub(crate) fn new(
        name: Option<String>,
        filter: Filter,
        (capacity, slow): (usize, Slow),
        count: Option<u64>,
        expires: Option<(Clock, Duration)>,
    ) -> Self {
        let queue = Queue { remaining: count, ..Queue::default() };
        Self { name, filter, capacity, slow, expires, queue: Mutex::new(queue) }
    }

    pub(crate) fn expires(&self) -> Option<&(Clock, Duration)> {
        self.expires.as_ref()
    }

    fn is_expired(&self) -> bool {
        self.expires.as_ref().is_some_and(|(clock, at)| clock.now() >= *at)
    }

    fn offer(&self, change: &Arc<Change>) -> Step {
        if self.is_expired() {
            return self.step(|queue| queue.end = Some(End::Expired));
        }
        if !self.filter.accepts(change) {
            return Step { waker: None, goes_on: true };
        }
        self.step(|queue| {
            if queue.missed > 0 {
                queue.missed += 1;
                return;
            }
            if self.slow == Slow::Coalesce {
                let same = |other: &Arc<Change>| {
                    other.key.is_some() && other.key == change.key && other.operation == change.operation
                };
                if let Some(index) = queue.changes.iter().position(same) {
                    queue.changes.remove(index);
                    queue.changes.push_back(change.clone());
                    return;
                }
            }
            if queue.changes.len() == self.capacity {
                queue.missed = queue.changes.len() as u64 + 1;
                queue.remaining = queue.remaining.map(|remaining| remaining + queue.changes.len() as u64);
                queue.changes = VecDeque::new();
                if self.slow == Slow::Disconnect {
                    queue.end = Some(End::TooSlow { missed: queue.missed });
                }
                return;
            }
            queue.changes.push_back(change.clone());
            if let Some(remaining) = &mut queue.remaining {
                *remaining -= 1;
                if *remaining == 0 {
                    queue.end = Some(End::Completed);
                }
            }
        })
    }

    fn lose(&self, count: u64) -> Step {
        self.step(|queue| {
            let queued = queue.changes.len() as u64;
            queue.remaining = queue.remaining.map(|remaining| remaining + queued);
            queue.missed += queued + count;
            queue.changes = VecDeque::new();
        })
    }

    pub(crate) fn end(&self, why: End) {
        let step = self.step(|queue| {
            queue.end.get_or_insert(why);
        });
        if let Some(waker) = step.waker {
            waker.wake();
        }
    }

    fn step(&self, act: impl FnOnce(&mut Queue)) -> Step {
        let mut queue = self.queue.lock();
        act(&mut queue);
        Step { waker: queue.waker.take(), goes_on: queue.end.is_none() }
    }

    /// Returns the next event. If there is none, `waker` is woken when there is one.
    pub(crate) fn next(&self, waker: &Waker) -> Next {
        let mut queue = self.queue.lock();
        if let Some(change) = queue.changes.pop_front() {
            // Frees the memory that a burst of changes needed.
            if queue.changes.is_empty() {
                queue.changes = VecDeque::new();
            }
            return Next::Change(change);
        }
        if let Some(end) = &queue.end {
            return Next::End(end.clone());
        }
        if queue.missed > 0 {
            return Next::Gap(queue.missed);
        }
        let _replaced = queue.waker.replace(waker.clone());
        drop(queue);
        Next::Nothing
    }

    /// Returns `true` in the first call only: until then, the publisher does not know the subscriber.
    pub(crate) fn begin(&self) -> bool {
        !std::mem::replace(&mut self.queue.lock().has_begun, true)
    }

    /// Queues changes again, beginning after the state that the caller sees. Call this method only while no change can
    /// happen.
    pub(crate) fn resume(&self) {
        let mut queue = self.queue.lock();
        queue.missed = 0;
        queue.changes.clear();
    }
}
