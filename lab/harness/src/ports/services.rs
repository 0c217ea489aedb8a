//! `requests`: clients that ask a service and wait for the reply. `rings`: exchange stages that must end. `idle`: the
//! processor time of an idle dispatcher. `regions`: parallel regions, empty and with work.

use std::hint::black_box;
use std::path::Path;

use anyhow::{Result, ensure};
use lehr_runtime::fork_join::join;
use lehr_runtime::{Dispatcher, ParallelLoop, Port, all, block_on};

use super::definition::Definition;
use super::pattern::{Form, Pattern, Run, units};
use super::rendezvous;
use crate::bench::figure::{Figure, Place, Samples};
use crate::bench::{Bench, PeerEngine};
use crate::measure::{pause, timed};

/// The first of Lehr's two forms of a region.
const LOOP: &str = "lehr ParallelLoop";
const JOIN: &str = "lehr join";

/// A side of a case that is not a pattern: Lehr, or a request to a peer.
#[derive(Clone, Copy)]
enum Engine {
    Ours,
    Peer(PeerEngine),
}

struct Side {
    name: String,
    engine: Engine,
    workers: usize,
}

fn sides(bench: &Bench, definition: &Definition, ours: &str, workers: &[usize]) -> Vec<Side> {
    let mut all = Vec::new();
    for &workers in workers {
        all.push(Side { name: ours.into(), engine: Engine::Ours, workers });
        for (engine, name) in bench.engines() {
            if definition.wants_peer(&name) || name.contains("OpenMP") {
                all.push(Side { name, engine: Engine::Peer(engine), workers });
            }
        }
    }
    all
}

/// Measures requests and responses, as two-way messages a second.
///
/// # Errors
/// Returns an error if a reply is wrong, or if a peer has ended.
pub fn requests(bench: &mut Bench, definition: &Definition, rounds: usize) -> Result<()> {
    let mut workers = vec![1, bench.cores];
    workers.dedup();
    for &clients in &definition.clients {
        if bench.is_over() || bench.knows("requests", &format!("{clients} clients"), None) {
            continue;
        }
        bench.progress(&format!("requests, {clients} clients"));
        let each = (definition.stages / 5 / clients).max(20);
        let mut sides = sides(bench, definition, "lehr ports", &workers);
        let taken = bench.take_turns(rounds, &mut sides, |bench, side| {
            let seconds = match side.engine {
                Engine::Ours => Some(ask(clients, side.workers, each)?),
                Engine::Peer(PeerEngine { peer, engine }) => {
                    bench.peers[peer].seconds(&format!("{engine} requests {clients} {} {each}", side.workers))?
                }
            };
            // The unit is microseconds, as everywhere, so less is better.
            Ok(seconds.map(|seconds| seconds / (clients * each) as f64 * 1e6))
        })?;
        add(bench, "requests", &format!("{clients} clients"), "us a two-way message", each, &sides, taken);
    }
    Ok(())
}

fn add(
    bench: &mut Bench,
    experiment: &str,
    case: &str,
    unit: &str,
    stages: usize,
    sides: &[Side],
    taken: Vec<Option<Samples>>,
) {
    for (side, samples) in sides.iter().zip(taken) {
        let Some(samples) = samples else { continue };
        let figure = Figure::new(experiment, case, &side.name, unit, &samples, bench.unit_ns);
        bench.add(figure.with_workers(side.workers).with_stages(stages));
    }
}

/// Runs clients that each have a reply port, and one service; returns the seconds.
fn ask(clients: usize, workers: usize, each: usize) -> Result<f64> {
    let dispatcher = Dispatcher::new(workers)?;
    let asked: Port<(u64, Port<u64>)> = Port::new();
    let service = asked.on(dispatcher.handle(), 1, |(value, reply): (u64, Port<u64>)| {
        reply.post(value + 1).expect("no port is closed during a run");
        std::future::ready(())
    });
    let (seconds, ended) = timed(|| {
        let clients = (0..clients).map(|_| {
            let asked = asked.clone();
            dispatcher.spawn(async move {
                let replied = Port::new();
                let mut x = 0;
                for _ in 0..each {
                    asked.post((x, replied.clone())).expect("no port is closed during a run");
                    x = replied.receive().await.expect("no port is closed during a run");
                }
                x
            })
        });
        block_on(all(clients.collect()))
    });
    for x in ended {
        ensure!(x? == each as u64, "a wrong reply");
    }
    drop(service);
    Ok(seconds)
}

/// Runs exchange stages on rings of many sizes. The result is that they end, and that each message arrives in its own
/// stage.
///
/// # Errors
/// Returns an error if a rank gets a message of another stage.
pub fn rings(bench: &mut Bench, definition: &Definition) -> Result<()> {
    let (form, pattern) = (Form::Rendezvous, Pattern::Exchange);
    for &ranks in &definition.ring_ranks {
        for &workers in &definition.ring_workers {
            let case = format!("exchange, {ranks} ranks");
            if bench.is_over() || bench.knows("rings", &case, Some(workers)) {
                continue;
            }
            bench.progress(&format!("rings, {ranks} ranks on {workers} workers"));
            let stages = definition.stages;
            let seconds = rendezvous::run(&Run { form, pattern, ranks, workers, units: 0, stages })?;
            let mut samples = Samples::default();
            samples.push(seconds / stages as f64 * 1e6, Place::Unknown);
            let figure = Figure::new("rings", &case, "lehr ports", "us a stage", &samples, bench.unit_ns);
            bench.add(figure.with_workers(workers).with_stages(stages));
        }
    }
    Ok(())
}

/// Measures the share of a core that an idle dispatcher with waiting receives uses, after a burst on all its workers.
///
/// # Errors
/// Returns an error if the dispatcher does not start.
pub fn idle(bench: &mut Bench, definition: &Definition) -> Result<()> {
    for &workers in &definition.idle_workers {
        if bench.is_over() || bench.knows("idle", "receives waiting", Some(workers)) {
            continue;
        }
        bench.progress(&format!("idle, {workers} workers"));
        let dispatcher = Dispatcher::new(workers)?;
        let port: Port<u64> = Port::new();
        let receiver = port.on(dispatcher.handle(), 1, |_| std::future::ready(()));
        port.post(1)?;
        let burst = (0..8 * workers).map(|rank| dispatcher.spawn(async move { black_box(units(rank as u64, 2000)) }));
        for ended in block_on(all(burst.collect())) {
            ended?;
        }
        // The pause is longer than the workers' patience, however long the burst took.
        pause(0.5);
        let before = processor_seconds();
        pause(definition.idle_seconds);
        if let (Some(before), Some(after)) = (before, processor_seconds()) {
            let mut samples = Samples::default();
            samples.push(100.0 * (after - before) / definition.idle_seconds, Place::Unknown);
            let figure =
                Figure::new("idle", "receives waiting", "lehr dispatcher", "% of a core", &samples, bench.unit_ns);
            bench.add(figure.with_workers(workers));
        }
        drop(receiver);
    }
    Ok(())
}

/// Returns the processor time of the present threads of this process; `None` if the system does not account for it.
fn processor_seconds() -> Option<f64> {
    let threads = std::fs::read_dir("/proc/self/task").ok()?.flatten();
    // A thread that has just ended has no account; all observed threads are alive.
    let seconds: f64 = threads.filter_map(|thread| thread_seconds(&thread.path())).sum();
    (seconds > 0.0).then_some(seconds)
}

/// Returns the processor time of one thread, from the scheduler's account in nanoseconds.
fn thread_seconds(folder: &Path) -> Option<f64> {
    let account = std::fs::read_to_string(folder.join("schedstat")).ok()?;
    Some(account.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

/// Measures parallel regions of two parts: empty, with serial work between them, and with 40 units in each part.
///
/// # Errors
/// Returns an error if a peer has ended.
pub fn regions(bench: &mut Bench, definition: &Definition, rounds: usize) -> Result<()> {
    for (serial, inside, count) in [(0, 0, 20_000), (8, 0, 5_000), (0, 40, 400)] {
        let case = format!("two parts of {inside} units, {serial} units between");
        if bench.is_over() || bench.knows("regions", &case, None) {
            continue;
        }
        bench.progress(&format!("regions, {case}"));
        let count = if definition.is_quick { count / 4 } else { count };
        let mut sides = sides(bench, definition, LOOP, &[2]);
        sides.insert(1, Side { name: JOIN.into(), engine: Engine::Ours, workers: 2 });
        let taken = bench.take_turns(rounds, &mut sides, |bench, side| {
            let (alone, x) = timed(|| (0..count).fold(1, |x, _| units(x, serial + inside)));
            black_box(x);
            let seconds = match side.engine {
                Engine::Ours if side.name == JOIN => Some(joins(count, serial, inside)?),
                Engine::Ours => Some(loops(count, serial, inside)?),
                Engine::Peer(PeerEngine { peer, engine }) => {
                    bench.peers[peer].seconds(&format!("{engine} regions 2 {count} {serial} {inside}"))?
                }
            };
            Ok(seconds.map(|seconds| (seconds - alone) / count as f64 * 1e6))
        })?;
        add(bench, "regions", &case, "us a region over the computation", count, &sides, taken);
    }
    Ok(())
}

fn loops(count: usize, serial: u32, inside: u32) -> Result<f64> {
    let dispatcher = Dispatcher::new(2)?;
    let mut parallel = ParallelLoop::new(dispatcher.handle());
    let region = || {
        parallel.run(0..2, 1, |part| {
            black_box(units(part as u64, inside));
        });
    };
    Ok(in_turn(&dispatcher, count, serial, region))
}

fn joins(count: usize, serial: u32, inside: u32) -> Result<f64> {
    let region = || {
        join(|| black_box(units(1, inside)), || black_box(units(2, inside)));
    };
    Ok(in_turn(&Dispatcher::new(2)?, count, serial, region))
}

/// Returns the seconds of this many regions and the serial work between them, on a worker, as rayon is measured inside
/// its pool.
fn in_turn(dispatcher: &Dispatcher, count: usize, serial: u32, mut region: impl FnMut() + Send) -> f64 {
    dispatcher.handle().install(|| {
        let (seconds, x) = timed(|| {
            (0..count).fold(1, |x, _| {
                region();
                units(x, serial)
            })
        });
        black_box(x);
        seconds
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_right_on_any_number_of_workers() {
        for workers in [1, 2, 8] {
            assert!(ask(3, workers, 50).unwrap() > 0.0);
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_account_of_processor_time_grows_with_work() {
        // Only this thread is measured, because threads of other tests may end meanwhile.
        let own = Path::new("/proc/thread-self");
        let before = thread_seconds(own).unwrap();
        black_box(units(1, 2000));
        // The system updates the account when it switches threads.
        pause(0.001);
        assert!(thread_seconds(own).unwrap() > before);
        assert!(processor_seconds().is_some());
    }

    #[test]
    fn regions_end() {
        assert!(loops(10, 1, 1).unwrap() > 0.0);
        assert!(joins(10, 1, 1).unwrap() > 0.0);
    }
}
