//! Ours, spawned: every message (or pair of messages) starts a handler.
//!
//! Four ways to say it, measured side by side. *Persistent receivers*: `Port::on` for one message; for two, a task that takes two items of one port (two shifts)
//! or joins two ports (exchange), again and again. *Closures* (`Handle::execute`) and *fresh tasks* (`Handle::spawn`): one a message, where an atomic counter stands for the port that waits for two, exactly as in
//! the peers (`lab/runners/ports/src/spawned.rs`).

use anyhow::{Result, ensure};
use lehr_runtime::{Dispatcher, Handle, Port, block_on, join};

use self::counters::Counters;
use super::pattern::{Pattern, Run, units};
use super::rendezvous;
use crate::measure::timed;

/// Atomics of the counters that stand for ports, as the peers have them.
#[allow(
    clippy::disallowed_types,
    reason = "the peers' form of a port that waits for two, rebuilt to compare like with like"
)]
mod counters {
    use std::sync::atomic::{AtomicU8, Ordering};

    /// A rank's counts, one a stage modulo 16: more stages than can be under way at once. Two lines of cache, so that ranks do not share one.
    #[repr(align(128))]
    #[derive(Default)]
    pub struct Counters([AtomicU8; 16]);

    impl Counters {
        /// Counts a message of `stage`; true if it is the second.
        pub fn is_second(&self, stage: usize) -> bool {
            let count = &self.0[stage % 16];
            // AcqRel: the second message's handler sees what the poster of the first had done.
            let is_second = count.fetch_add(1, Ordering::AcqRel) == 1;
            if is_second {
                // Relaxed: the next message of this slot is posted 16 stages on, by whoever descends from the handler started here.
                count.store(0, Ordering::Relaxed);
            }
            is_second
        }
    }
}

/// Seconds of a run with persistent receivers.
///
/// # Errors
/// A message of another stage, a dispatcher that would not start.
pub fn persistent(run: &Run) -> Result<f64> {
    if run.pattern == Pattern::None {
        return rendezvous::run(run);
    }
    let dispatcher = Dispatcher::new(run.workers)?;
    let run = *run;
    let ports: Vec<[Port<u64>; 2]> = (0..run.ranks).map(|_| [Port::new(), Port::new()]).collect();
    // Each rank's last handler posts here how many messages it saw that were of another stage than the one before plus one.
    let done: Port<u64> = Port::new();
    let next = |rank: usize| [ports[(rank + 1) % run.ranks].clone(), ports[(rank + run.ranks - 1) % run.ranks].clone()];
    let mut receivers = Vec::new();
    let mut tasks = Vec::new();
    for (rank, own) in ports.iter().enumerate() {
        let done = done.clone();
        let own = own.clone();
        let [right, left] = next(rank);
        match run.pattern {
            Pattern::None => unreachable!("answered above"),
            Pattern::Pipeline | Pattern::Shift => {
                let to = if run.pattern == Pattern::Pipeline { own[0].clone() } else { right[0].clone() };
                receivers.push(own[0].on(dispatcher.handle(), 1, move |stage| {
                    compute(&run, stage);
                    if stage + 1 < run.stages as u64 {
                        post(&to, stage + 1)
                    } else {
                        post(&done, 0)
                    }
                    std::future::ready(())
                }));
            }
            Pattern::TwoShifts => tasks.push(dispatcher.spawn(async move {
                for stage in 0..run.stages as u64 {
                    let two = own[0].take(2).await.expect("no port is closed during a run");
                    assert_eq!(two[..], [stage, stage], "a message of another stage");
                    compute(&run, stage);
                    if stage + 1 < run.stages as u64 {
                        post(&right[0], stage + 1);
                        post(&right[0], stage + 1);
                    }
                }
                post(&done, 0);
            })),
            Pattern::Exchange => tasks.push(dispatcher.spawn(async move {
                for stage in 0..run.stages as u64 {
                    let both = join((&own[0], &own[1])).await.expect("no port is closed during a run");
                    assert_eq!(both, (stage, stage), "a message of another stage");
                    compute(&run, stage);
                    if stage + 1 < run.stages as u64 {
                        post(&right[0], stage + 1);
                        post(&left[1], stage + 1);
                    }
                }
                post(&done, 0);
            })),
        }
    }
    let (seconds, ended) = timed(|| {
        for own in &ports {
            post(&own[0], 0);
            match run.pattern {
                Pattern::TwoShifts => post(&own[0], 0),
                Pattern::Exchange => post(&own[1], 0),
                _ => {}
            }
        }
        block_on(async {
            for task in tasks {
                task.await?;
            }
            Ok::<_, anyhow::Error>(done.take(run.ranks).await?)
        })
    });
    ensure!(ended?.len() == run.ranks, "a rank did not reach its last stage");
    drop(receivers);
    Ok(seconds)
}

/// Seconds of a run with a closure a message.
///
/// # Errors
/// As [`fresh`].
pub fn closures(run: &Run) -> Result<f64> {
    by_counters(run, Way::Closure)
}

/// Seconds of a run with a fresh task a message.
///
/// # Errors
/// A rank that did not reach its last stage, a dispatcher that would not start.
pub fn fresh(run: &Run) -> Result<f64> {
    by_counters(run, Way::Task)
}

/// How a handler is started.
#[derive(Clone, Copy)]
enum Way {
    Closure,
    Task,
}

fn by_counters(run: &Run, way: Way) -> Result<f64> {
    if run.pattern == Pattern::None {
        return rendezvous::run(run);
    }
    let dispatcher = Dispatcher::new(run.workers)?;
    // Handlers carry a plain reference, as the peers' do. A few kilobytes a run stay behind.
    let ring: &'static Ring = Box::leak(Box::new(Ring {
        run: *run,
        way,
        handle: dispatcher.handle().clone(),
        counters: (0..run.ranks).map(|_| Counters::default()).collect(),
        done: Port::new(),
    }));
    let (seconds, ended) = timed(|| {
        for rank in 0..run.ranks {
            ring.start(rank, 0);
        }
        block_on(ring.done.take(run.ranks))
    });
    let mut ended = ended?;
    ended.sort_unstable();
    ended.dedup();
    ensure!(ended.len() == run.ranks, "a rank did not reach its last stage");
    Ok(seconds)
}

struct Ring {
    run: Run,
    way: Way,
    handle: Handle,
    counters: Vec<Counters>,
    /// The ranks whose last handler has run.
    done: Port<usize>,
}

impl Ring {
    fn start(&'static self, rank: usize, stage: usize) {
        match self.way {
            Way::Task => self.handle.spawn(async move { self.handler(rank, stage) }).detach(),
            Way::Closure => {
                let refused = self.handle.execute(move || self.handler(rank, stage)).is_err();
                assert!(!refused, "the dispatcher runs until the last rank has ended");
            }
        }
    }

    fn post_of_two(&'static self, rank: usize, stage: usize) {
        if self.counters[rank].is_second(stage) {
            self.start(rank, stage);
        }
    }

    fn handler(&'static self, rank: usize, stage: usize) {
        let run = &self.run;
        compute(run, stage as u64);
        let next = stage + 1;
        let right = (rank + 1) % run.ranks;
        let left = (rank + run.ranks - 1) % run.ranks;
        if next >= run.stages {
            return self.done.post(rank).expect("the port stays open");
        }
        match run.pattern {
            Pattern::None => unreachable!("computation alone has no handlers"),
            Pattern::Pipeline => self.start(rank, next),
            Pattern::Shift => self.start(right, next),
            Pattern::TwoShifts => {
                self.post_of_two(right, next);
                self.post_of_two(right, next);
            }
            Pattern::Exchange => {
                self.post_of_two(right, next);
                self.post_of_two(left, next);
            }
        }
    }
}

fn compute(run: &Run, stage: u64) {
    if run.units > 0 {
        units(stage, run.units);
    }
}

fn post(port: &Port<u64>, stage: u64) {
    port.post(stage).expect("no port is closed during a run");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::pattern::Form;

    #[test]
    fn every_pattern_ends_in_every_form_on_any_number_of_workers() {
        for pattern in [Pattern::Pipeline, Pattern::Shift, Pattern::TwoShifts, Pattern::Exchange] {
            for ranks in [1, 2, 3] {
                for workers in [1, 2, 8] {
                    let run = Run { form: Form::Spawned, pattern, ranks, workers, units: 1, stages: 50 };
                    assert!(persistent(&run).unwrap() > 0.0);
                    assert!(closures(&run).unwrap() > 0.0);
                    assert!(fresh(&run).unwrap() > 0.0);
                }
            }
        }
    }
}
