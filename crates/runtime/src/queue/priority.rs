//! Chooses the queue from which a worker takes its next job.
//!
//! Each worker rotates through the queues by itself, so that workers need not agree on an order. Strict queues come
//! first, in turn, but after [`STRICT_RUN`] strict jobs in a row, the worker takes a job of another queue. The other
//! queues take turns, and in each turn a queue gets as many jobs as its weight. The dispatcher's own queues count as
//! one of these queues. While no named queue has work, a worker skips the rotation after one load.
//!
//! # Bounds
//! A *job of a worker* is the work between two of its visits to this rotation. A worker that finds work in a share
//! queue q takes it after at most `(1 + STRICT_RUN) x (W - w)` of its own jobs. Here, W is the sum of all weights and w
//! the weight of q. Without strict queues, the limit is `W - w`. With S strict queues, a job of a strict queue waits
//! for at most S - 1 strict jobs and one job of a share queue. With these limits, no queue starves another queue,
//! whatever their ranks.

use crossbeam_utils::CachePadded;
use lehr_sync::{Arc, AtomicUsize, Ordering, SpinLock};

use super::{Core, QueueError};
use crate::dispatch::Job;

/// After this many jobs of strict queues in a row, a worker takes a job of another queue, if there is one.
pub(crate) const STRICT_RUN: u32 = 64;

/// The rank of a queue among the queues of its dispatcher.
///
/// # Example
/// ```
/// use lehr_runtime::Priority;
/// assert_eq!(Priority::default(), Priority::Share { weight: 1 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Priority {
    /// Takes turns with other queues: `weight` jobs in each turn of a worker. Tasks spawned on the dispatcher itself
    /// take part with the weight of [`Builder::weight`](crate::Builder::weight).
    Share {
        /// The number of jobs in a turn; at least 1.
        weight: u32,
    },
    /// Goes before all queues with shares, except that a worker that has run 64 strict jobs in a row runs a job of
    /// another queue.
    Strict,
}

impl Default for Priority {
    fn default() -> Self {
        Self::Share { weight: 1 }
    }
}

impl Priority {
    pub(super) fn fault(self) -> Option<&'static str> {
        (self == Self::Share { weight: 0 }).then_some("a weight of 0 would never be served")
    }
}

/// The named queues of a dispatcher.
pub(crate) struct Registry {
    /// The number of jobs that workers may take from all named queues: queued, and not suspended. Every worker reads
    /// this number before every job; only changes of a named queue write it.
    pub(super) takeable: Arc<CachePadded<AtomicUsize>>,
    /// A number that rises with every change of `list`.
    version: CachePadded<AtomicUsize>,
    /// The weight of the dispatcher's own queues.
    own_weight: u32,
    list: SpinLock<List>,
}

#[derive(Default)]
struct List {
    queues: Vec<Arc<Core>>,
    has_ended: bool,
}

impl Registry {
    pub(crate) fn new(own_weight: u32) -> Self {
        Self {
            takeable: Arc::new(CachePadded::new(AtomicUsize::new(0))),
            version: CachePadded::new(AtomicUsize::new(0)),
            own_weight,
            list: SpinLock::new(List::default()),
        }
    }

    pub(super) fn register(&self, core: &Arc<Core>) -> Result<(), QueueError> {
        let mut list = self.list.lock();
        if list.has_ended {
            return Err(QueueError::Closed);
        }
        if list.queues.iter().any(|queue| queue.name() == core.name()) {
            return Err(QueueError::NameTaken { name: core.name().to_owned() });
        }
        list.queues.push(core.clone());
        self.changed();
        Ok(())
    }

    pub(super) fn remove(&self, core: &Core) {
        let mut list = self.list.lock();
        list.queues.retain(|queue| !std::ptr::eq(&raw const **queue, core));
        self.changed();
    }

    /// Records a change of the list of queues. Call this method under the lock.
    fn changed(&self) {
        // Relaxed: a worker that comes because of a queue's work sees the change through that queue's `show`; other
        // workers read the list again later.
        self.version.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns whether a named queue has work for a worker.
    #[inline]
    pub(crate) fn has_work(&self) -> bool {
        // Acquire: pairs with the Release in `Core::show`, so that a worker that sees the work sees the registration of
        // its queue. The fences of `Sleep` order this load against a worker that falls asleep, as for the other queues.
        self.takeable.load(Ordering::Acquire) > 0
    }

    /// Returns every queue, in order of registration.
    pub(crate) fn all(&self) -> Vec<Arc<Core>> {
        self.list.lock().queues.clone()
    }

    /// Ends all queues, because the dispatcher has ended. Returns the queued tasks for the caller to drop. The queues
    /// keep no tasks from here on.
    pub(crate) fn end(&self) -> Vec<Job> {
        let queues = {
            let mut list = self.list.lock();
            list.has_ended = true;
            self.changed();
            std::mem::take(&mut list.queues)
        };
        queues.iter().flat_map(|queue| queue.end()).collect()
    }
}

/// The rotation of one worker through the queues.
pub(crate) struct Rotation {
    /// The version of the list from which `strict` and `shares` were made.
    version: Option<usize>,
    strict: Vec<Arc<Core>>,
    /// The index of the next strict queue.
    next_strict: usize,
    /// The number of jobs of strict queues that the worker has taken in a row.
    strict_run: u32,
    shares: Vec<Share>,
    /// The index in `shares` of the queue whose turn it is; `left` is the number of jobs left in this turn.
    next_share: usize,
    left: u32,
}

struct Share {
    /// The queue; `None` for the dispatcher's own queues.
    queue: Option<Arc<Core>>,
    weight: u32,
}

impl Rotation {
    pub(crate) fn new() -> Self {
        Self {
            version: None,
            strict: Vec::new(),
            next_strict: 0,
            strict_run: 0,
            shares: Vec::new(),
            next_share: 0,
            left: 0,
        }
    }

    /// Returns the next job by rank; `own` takes a job from the dispatcher's own queues. Call this method when a named
    /// queue has work.
    pub(crate) fn take(&mut self, registry: &Registry, own: impl FnMut() -> Option<Job>) -> Option<Job> {
        self.look_again(registry);
        let owes_share = self.strict_run >= STRICT_RUN;
        if !owes_share && let Some(job) = self.take_strict() {
            self.strict_run += 1;
            return Some(job);
        }
        self.strict_run = 0;
        let job = self.take_share(own);
        if job.is_none() && owes_share {
            let job = self.take_strict();
            self.strict_run = u32::from(job.is_some());
            return job;
        }
        job
    }

    fn take_strict(&mut self) -> Option<Job> {
        for step in 0..self.strict.len() {
            let position = (self.next_strict + step) % self.strict.len();
            let queue = &self.strict[position];
            if queue.is_ready()
                && let Some(job) = queue.pop()
            {
                self.next_strict = position + 1;
                return Some(job);
            }
        }
        None
    }

    fn take_share(&mut self, mut own: impl FnMut() -> Option<Job>) -> Option<Job> {
        // Visits every queue once, and the first queue a second time, because its turn may have been over at the first
        // visit.
        for _ in 0..=self.shares.len() {
            let share = &self.shares[self.next_share];
            if self.left > 0 {
                let job = match &share.queue {
                    None => own(),
                    Some(queue) if queue.is_ready() => queue.pop(),
                    Some(_) => None,
                };
                if job.is_some() {
                    self.left -= 1;
                    return job;
                }
            }
            self.next_share = (self.next_share + 1) % self.shares.len();
            self.left = self.shares[self.next_share].weight;
        }
        None
    }

    /// Reads the list again if it has changed.
    fn look_again(&mut self, registry: &Registry) {
        // Relaxed: see `Registry::changed`.
        let version = registry.version.load(Ordering::Relaxed);
        if self.version == Some(version) {
            return;
        }
        let gone = (std::mem::take(&mut self.strict), std::mem::take(&mut self.shares));
        let queues = registry.all();
        self.shares.push(Share { queue: None, weight: registry.own_weight });
        for queue in queues {
            match queue.priority {
                Priority::Strict => self.strict.push(queue),
                Priority::Share { weight } => self.shares.push(Share { queue: Some(queue), weight }),
            }
        }
        // A turn that has begun continues if its queue is still in the same position.
        let same = |share: &Share, other: &Share| match (&share.queue, &other.queue) {
            (None, None) => true,
            (Some(queue), Some(other)) => Arc::ptr_eq(queue, other),
            _ => false,
        };
        let is_where_it_was = gone
            .1
            .get(self.next_share)
            .zip(self.shares.get(self.next_share))
            .is_some_and(|(before, now)| same(before, now));
        if !is_where_it_was {
            self.next_share = 0;
            self.left = registry.own_weight;
        }
        self.version = Some(version);
    }
}
