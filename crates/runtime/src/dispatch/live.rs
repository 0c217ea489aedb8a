//! The list of living tasks. An abort needs the list to reach suspended tasks, because nothing else knows their wakers.
//!
//! The list has one part for each worker and one part for all other threads. So the two locks that each task takes are
//! hardly ever contended.

use std::collections::HashMap;
use std::task::Waker;

use crossbeam_utils::CachePadded;
use lehr_sync::{Arc, AtomicUsize, Ordering, SpinLock, SpinLockGuard, thread};

use super::Spawned;
use crate::context::Context;
use crate::context::cancel::Key;

/// The list of living tasks; see the [module](self). Clones share the list.
#[derive(Clone)]
pub(crate) struct Live {
    inner: Arc<Inner>,
}

struct Inner {
    parts: Box<[CachePadded<Part>]>,
    /// The waker of the thread that waits for the list to become empty.
    drainer: SpinLock<Option<thread::Thread>>,
    /// 1 while a thread waits for the list to become empty. Every ending task reads this flag; only `wait_begin` and
    /// `wait_end` write it.
    is_awaited: CachePadded<AtomicUsize>,
}

struct Part {
    slots: SpinLock<Slots>,
}

#[derive(Default)]
struct Slots {
    /// `None` for a free slot, or for a slot whose task is being built.
    wakers: Vec<Option<Waker>>,
    free: Vec<u32>,
    /// The contexts of the tasks that were spawned in a context, by slot. Inspectors read them.
    contexts: HashMap<u32, Context>,
    ended: Ended,
}

/// The numbers of tasks that have ended since the dispatcher started.
#[derive(Clone, Copy, Default)]
pub(crate) struct Ended {
    /// The number of tasks that ran to their end or panicked.
    pub(crate) finished: usize,
    /// The number of tasks that were dropped before their end.
    pub(crate) aborted: usize,
}

impl Slots {
    fn living(&self) -> usize {
        self.wakers.len() - self.free.len()
    }
}

/// Removes a task from the list when its future is dropped.
pub(crate) struct Guard {
    live: Live,
    // These fields take two words together with `live`, because a task is small and there may be millions of tasks.
    slot: u32,
    part: u16,
    is_finished: bool,
}

impl Guard {
    /// Notes that the task has run to its end or panicked.
    pub(crate) fn finish(&mut self) {
        self.is_finished = true;
    }

    /// Returns a key that no other living task has.
    pub(crate) fn key(&self) -> Key {
        Key { owner: Arc::as_ptr(&self.live.inner).addr(), number: u64::from(self.part) << 32 | u64::from(self.slot) }
    }
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Guard>() <= 2 * size_of::<usize>());

impl Live {
    pub(crate) fn new(parts: usize) -> Self {
        let parts = (0..parts).map(|_| CachePadded::new(Part { slots: SpinLock::new(Slots::default()) })).collect();
        Self {
            inner: Arc::new(Inner {
                parts,
                drainer: SpinLock::new(None),
                is_awaited: CachePadded::new(AtomicUsize::new(0)),
            }),
        }
    }

    /// Builds a task around a guard and puts it on the list.
    pub(crate) fn admit<T>(&self, build: impl FnOnce(Guard) -> Spawned<T>) -> Spawned<T> {
        // The last part is for threads that are not workers. A worker of another dispatcher may share a part, which
        // costs only contention.
        let outside = self.inner.parts.len() - 1;
        let part = super::with_current(|current| current.map_or(outside, |current| current.index.min(outside)));
        let slot = {
            let mut slots = self.inner.parts[part].lock();
            slots.free.pop().unwrap_or_else(|| {
                slots.wakers.push(None);
                u32::try_from(slots.wakers.len() - 1).expect("fewer than 2^32 tasks")
            })
        };
        // If `build` panics (it allocates), the guard is dropped and frees the slot.
        let number = u16::try_from(part).expect("a part per worker");
        let (runnable, task) = build(Guard { live: self.clone(), part: number, slot, is_finished: false });
        let waker = runnable.waker();
        self.inner.parts[part].lock().wakers[slot as usize] = Some(waker);
        (runnable, task)
    }

    /// Returns the number of living tasks.
    pub(crate) fn living(&self) -> usize {
        self.inner.parts.iter().map(|part| part.lock().living()).sum()
    }

    /// Returns the number of tasks that have ended.
    pub(crate) fn ended(&self) -> Ended {
        self.inner.parts.iter().fold(Ended::default(), |sum, part| {
            let Ended { finished, aborted } = part.lock().ended;
            Ended { finished: sum.finished + finished, aborted: sum.aborted + aborted }
        })
    }

    /// Records the context of a task that has not begun.
    pub(crate) fn note_context(&self, key: Key, context: Context) {
        // Splits the number as `Guard::key` made it.
        let (part, slot) = ((key.number >> 32) as usize, key.number as u32);
        let _none = self.inner.parts[part].lock().contexts.insert(slot, context);
    }

    /// Returns the living tasks: the identity of their wakers, and their contexts.
    pub(crate) fn tasks(&self) -> Vec<(usize, Option<Context>)> {
        let mut tasks = Vec::new();
        for part in &self.inner.parts {
            let slots = part.lock();
            let living = (0_u32..).zip(&slots.wakers).filter_map(|(slot, waker)| Some((slot, waker.as_ref()?)));
            tasks.extend(living.map(|(slot, waker)| (waker.data().addr(), slots.contexts.get(&slot).cloned())));
        }
        tasks
    }

    /// Wakes every task on the list.
    pub(crate) fn wake_all(&self) {
        for part in &self.inner.parts {
            // Cloned first: waking runs the scheduler, which may end a task and come back here for the lock.
            let wakers: Vec<Waker> = part.lock().wakers.iter().flatten().cloned().collect();
            wakers.into_iter().for_each(Waker::wake);
        }
    }

    /// From this call on, an ending task unparks the calling thread.
    pub(crate) fn wait_begin(&self) {
        *self.inner.drainer.lock() = Some(thread::current());
        // Relaxed: published by the locks of the parts. The drainer takes each part's lock after this store, and an
        // ending task reads the flag under its part's lock. So either the drainer sees that the task is gone, or the
        // task sees the flag.
        self.inner.is_awaited.store(1, Ordering::Relaxed);
    }

    /// Ends `wait_begin`.
    pub(crate) fn wait_end(&self) {
        // Relaxed: a late unpark does no harm.
        self.inner.is_awaited.store(0, Ordering::Relaxed);
        *self.inner.drainer.lock() = None;
    }

    /// Wakes the thread that waits for the list to become empty, if a thread waits.
    pub(crate) fn ring(&self) {
        if let Some(drainer) = &*self.inner.drainer.lock() {
            drainer.unpark();
        }
    }
}

impl Part {
    fn lock(&self) -> SpinLockGuard<'_, Slots> {
        self.slots.lock()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let (waker, _context, is_awaited) = {
            let mut slots = self.live.inner.parts[usize::from(self.part)].lock();
            let waker = slots.wakers[self.slot as usize].take();
            slots.free.push(self.slot);
            let context = if slots.contexts.is_empty() { None } else { slots.contexts.remove(&self.slot) };
            if self.is_finished {
                slots.ended.finished += 1;
            } else {
                slots.ended.aborted += 1;
            }
            if slots.living() == 0 && slots.wakers.len() > 1024 {
                *slots = Slots { ended: slots.ended, ..Slots::default() };
            }
            // Relaxed: read under the lock; see `wait_begin`.
            (waker, context, self.live.inner.is_awaited.load(Ordering::Relaxed) == 1)
        };
        drop(waker);
        if is_awaited {
            self.live.ring();
        }
    }
}
