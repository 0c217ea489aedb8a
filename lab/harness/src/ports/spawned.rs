//! Lehr in the form spawned: every message (or pair of messages) starts a handler.
//!
//! There are several forms, which are measured in turns. *Persistent receivers* are `Port::on` for one message. For two
//! messages, a task repeatedly takes two items of one port (two shifts) or joins two ports (exchange). *Closures*
//! (`Handle::execute`) and *fresh tasks* (`Handle::spawn`) start one handler for each message. In these two forms, an
//! atomic counter replaces the port that waits for two messages, exactly as in the peers
//! (`lab/runners/ports/src/spawned.rs`).

use anyhow::{Result, ensure};
use lehr_runtime::{Dispatcher, Handle, Port, Receiver, Task, block_on, join};

use self::counters::Counters;
use super::pattern::{Pattern, Run, units};
use super::rendezvous;
use crate::measure::timed;

/// The counters that replace ports are atomics, as in the peers.
#[allow(
    clippy::disallowed_types,
    reason = "the peers' form of a port that waits for two, rebuilt to compare like with like"
)]
mod counters {
    use std::sync::atomic::{AtomicU8, Ordering};

    use crate::ports::pattern::COUNTED_STAGES;

    /// A rank's counts, one for each stage. They take whole pairs of cache lines, so that ranks share none.
    #[repr(align(128))]
    pub struct Counters([AtomicU8; COUNTED_STAGES]);

    impl Default for Counters {
        fn default() -> Self {
            Self([const { AtomicU8::new(0) }; COUNTED_STAGES])
        }
    }

    impl Counters {
        /// Counts a message of `stage`; returns whether it is the second one.
        pub fn is_second(&self, stage: usize) -> bool {
            let count = &self.0[stage % COUNTED_STAGES];
            // AcqRel: the second message's handler sees everything that the poster of the first had done.
            let is_second = count.fetch_add(1, Ordering::AcqRel) == 1;
            if is_second {
                // Relaxed: the next message of this place is posted many stages later, by a descendant of the handler
                // that starts here.
                count.store(0, Ordering::Relaxed);
            }
            is_second
        }
    }
}

/// Returns the seconds of a run with persistent receivers.
///
/// # Errors
/// Returns an error if a rank gets a message of another stage, or if the dispatcher does not start.
pub fn persistent(run: &Run) -> Result<f64> {
    if run.pattern == Pattern::None {
        return rendezvous::run(run);
    }
    let dispatcher = Dispatcher::new(run.workers)?;
    let ports: Vec<[Port<u64>; 2]> = (0..run.ranks).map(|_| [Port::new(), Port::new()]).collect();
    // First messages are posted before receivers are registered. Otherwise an early rank could send its neighbour the
    // second stage before the first is there.
    for own in &ports {
        post(&own[0], 0);
        match run.pattern {
            Pattern::TwoShifts => post(&own[0], 0),
            Pattern::Exchange => post(&own[1], 0),
            _ => {}
        }
    }
    // The last handler of each rank posts to this port: 0 if each message arrived in its own stage.
    let done: Port<u64> = Port::new();
    let (seconds, ended) = timed(|| {
        let handlers: Vec<Handlers> =
            (0..run.ranks).map(|rank| Handlers::start(*run, rank, &ports, &done, dispatcher.handle())).collect();
        let ended = block_on(done.take(run.ranks));
        drop(handlers);
        ended
    });
    ensure!(ended?.iter().all(|&wrong| wrong == 0), "a message of another stage");
    Ok(seconds)
}

/// The receivers and tasks of a rank, which end when they are dropped.
#[allow(dead_code, reason = "kept for what their end does")]
enum Handlers {
    Receiver(Receiver),
    Task(Task<()>),
}

impl Handlers {
    fn start(run: Run, rank: usize, ports: &[[Port<u64>; 2]], done: &Port<u64>, dispatcher: &Handle) -> Self {
        let (own, done) = (ports[rank].clone(), done.clone());
        let right = ports[(rank + 1) % run.ranks][0].clone();
        let left = ports[(rank + run.ranks - 1) % run.ranks][1].clone();
        let last = run.stages as u64 - 1;
        match run.pattern {
            Pattern::None => unreachable!("computation alone has no handlers"),
            Pattern::Pipeline | Pattern::Shift => {
                let to = if run.pattern == Pattern::Pipeline { own[0].clone() } else { right };
                Self::Receiver(own[0].on(dispatcher, 1, move |stage| {
                    compute(&run, stage);
                    if stage < last {
                        post(&to, stage + 1)
                    } else {
                        post(&done, 0)
                    }
                    std::future::ready(())
                }))
            }
            Pattern::TwoShifts => Self::Task(dispatcher.spawn(async move {
                let mut wrong = 0;
                for stage in 0..=last {
                    let two = own[0].take(2).await.expect("no port is closed during a run");
                    wrong |= (two[0] ^ stage) | (two[1] ^ stage);
                    compute(&run, stage);
                    if stage < last {
                        post(&right, stage + 1);
                        post(&right, stage + 1);
                    }
                }
                post(&done, wrong);
            })),
            Pattern::Exchange => Self::Task(dispatcher.spawn(async move {
                let mut wrong = 0;
                for stage in 0..=last {
                    let both = join((&own[0], &own[1])).await.expect("no port is closed during a run");
                    wrong |= (both.0 ^ stage) | (both.1 ^ stage);
                    compute(&run, stage);
                    if stage < last {
                        post(&right, stage + 1);
                        post(&left, stage + 1);
                    }
                }
                post(&done, wrong);
            })),
        }
    }
}

/// Returns the seconds of a run with a closure for each message.
///
/// # Errors
/// Returns the errors of [`fresh`].
pub fn closures(run: &Run) -> Result<f64> {
    by_counters(run, Way::Closure)
}

/// Returns the seconds of a run with a new task for each message.
///
/// # Errors
/// Returns an error if a rank does not reach its last stage, or if the dispatcher does not start.
pub fn fresh(run: &Run) -> Result<f64> {
    by_counters(run, Way::Task)
}

/// The way in which a handler is started.
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
    // Handlers have a plain reference, as in the peers. Some kilobytes are leaked in each run.
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
    /// The port to which ranks report after their last handler.
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
