//! Spawned: every message starts a new handler, as a Receive or MultipleItemReceive arbiter of CCR does. A port that
//! waits for two messages is an atomic counter: the second message starts the handler.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::*};
use std::thread::Thread;
use std::time::Instant;

use crate::pattern::COUNTED_STAGES;
use crate::{Pattern, Run, units};

/// Starts handlers.
pub trait Spawner: Clone + Send + Sync + 'static {
    /// Starts a handler on some worker.
    fn spawn(&self, handler: impl FnOnce() + Send + 'static);
}

/// A rank's counters, one for each stage.
#[repr(align(128))]
struct Counters([AtomicU8; COUNTED_STAGES]);

impl Default for Counters {
    fn default() -> Self {
        Self([const { AtomicU8::new(0) }; COUNTED_STAGES])
    }
}

struct Ring<S> {
    run: Run,
    spawner: S,
    counters: Vec<Counters>,
    ended: Vec<AtomicUsize>,
    alive: AtomicUsize,
    waiter: Thread,
}

/// Runs the stages; returns the time until every rank's last handler has run.
pub fn run<S: Spawner>(run: Run, spawner: S) -> f64 {
    let ring = Arc::new(Ring {
        run,
        spawner,
        counters: (0..run.ranks).map(|_| Counters::default()).collect(),
        ended: (0..run.ranks).map(|_| AtomicUsize::new(0)).collect(),
        alive: AtomicUsize::new(run.ranks),
        waiter: std::thread::current(),
    });
    // Handlers carry a plain reference, as a hand-written program would. The ring stays behind, a few kilobytes a run.
    // SAFETY: the count that `into_raw` gives away is never taken back, so the ring lives as long as the process.
    let shared: &'static Ring<S> = unsafe { &*Arc::into_raw(ring.clone()) };
    let start = Instant::now();
    for rank in 0..run.ranks {
        if run.pattern == Pattern::None {
            shared.spawner.spawn(move || {
                for stage in 0..run.stages {
                    units(stage as u64, run.units);
                }
                end(shared);
            });
        } else {
            shared.spawner.spawn(move || handler(shared, rank, 0));
        }
    }
    while ring.alive.load(Acquire) > 0 {
        std::thread::park();
    }
    let seconds = start.elapsed().as_secs_f64();
    if run.pattern != Pattern::None {
        assert!(ring.ended.iter().all(|ended| ended.load(Relaxed) == 1), "a rank did not reach its last stage once");
    }
    seconds
}

fn end<S>(ring: &Ring<S>) {
    if ring.alive.fetch_sub(1, AcqRel) == 1 {
        ring.waiter.unpark();
    }
}

fn handler<S: Spawner>(ring: &'static Ring<S>, rank: usize, stage: usize) {
    let run = &ring.run;
    if run.units > 0 {
        units(stage as u64, run.units);
    }
    let next = stage + 1;
    if next >= run.stages {
        ring.ended[rank].fetch_add(1, Relaxed);
        return end(ring);
    }
    let right = (rank + 1) % run.ranks;
    let left = (rank + run.ranks - 1) % run.ranks;
    match run.pattern {
        Pattern::None => unreachable!("computation alone has no handlers"),
        Pattern::Pipeline => ring.spawner.spawn(move || handler(ring, rank, next)),
        Pattern::Shift => ring.spawner.spawn(move || handler(ring, right, next)),
        Pattern::TwoShifts => {
            post_of_two(ring, right, next);
            post_of_two(ring, right, next);
        }
        Pattern::Exchange => {
            post_of_two(ring, right, next);
            post_of_two(ring, left, next);
        }
    }
}

fn post_of_two<S: Spawner>(ring: &'static Ring<S>, rank: usize, stage: usize) {
    let count = &ring.counters[rank].0[stage % COUNTED_STAGES];
    if count.fetch_add(1, AcqRel) == 1 {
        count.store(0, Relaxed);
        ring.spawner.spawn(move || handler(ring, rank, stage));
    }
}
