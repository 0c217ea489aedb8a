//! `pending`: the bytes of a waiting receive, and the time to create and to complete very many. `allocations`: the heap
//! allocations of a message.
//!
//! Each sample is a new process, since memory that an earlier sample has freed would hide the memory of the next one.
//! The code documents what it counts: `lab/harness/src/bin/port_side.rs` for Lehr, `lab/runners/ports/src/bin/tokio.rs`
//! for tokio.

use anyhow::Result;

use super::definition::Definition;
use crate::bench::Bench;
use crate::bench::figure::{Figure, Place, Samples};
use crate::output;
use crate::runner::number;

/// The number of messages or stages whose allocations are counted.
const MESSAGES: usize = 100_000;

/// The number of receives in the small run that shows whether the large run fits into memory.
const TRIAL: usize = 100_000;

/// Measures every engine that has pending receives, with `rounds` new processes for each.
///
/// # Errors
/// Returns an error if a program has ended.
pub fn run(bench: &mut Bench, definition: &Definition, rounds: usize) -> Result<()> {
    if bench.knows("pending", "memory", None) {
        return Ok(());
    }
    bench.progress("pending");
    let mut measured: Vec<(String, usize, [Samples; 3])> = Vec::new();
    for round in 0..rounds {
        for (engine, name) in bench.engines() {
            if bench.is_over() {
                return Ok(());
            }
            let mut count = if name.starts_with("lehr") { definition.pending } else { definition.pending_of_peers };
            let peer = &bench.peers[engine.peer];
            if round == 0 {
                let request = format!("{} pending {TRIAL}", engine.engine);
                let Some(trial) = peer.fresh()?.numbers(&request, &["bytes"])? else { continue };
                count = fitting(count, trial[0], available_bytes());
                measured.push((name.clone(), count, Default::default()));
            }
            let Some((_, count, samples)) = measured.iter_mut().find(|(known, ..)| *known == name) else { continue };
            let names = ["bytes", "create_seconds", "complete_seconds"];
            let answer = peer.fresh()?.numbers(&format!("{} pending {count}", engine.engine), &names)?;
            let Some([bytes, create, complete]) = answer.as_deref() else { continue };
            let each = 1e9 / *count as f64;
            let values = [*bytes, create * each, complete * each];
            for (samples, value) in samples.iter_mut().zip(values) {
                samples.push(value, Place::Unknown);
            }
        }
    }
    if !measured.iter().any(|(name, ..)| name.starts_with("lehr")) {
        output::note("pending: ours is a program of its own too, and `make peers-ports` builds it");
    }
    let quantities = [("memory", "bytes a receive"), ("create", "ns a receive"), ("complete", "ns a receive")];
    // A peer that ended in every round has no samples.
    measured.retain(|(.., samples)| !samples[0].values().is_empty());
    for (name, count, samples) in &measured {
        for ((case, unit), samples) in quantities.iter().zip(samples) {
            let figure = Figure::new("pending", case, name, unit, samples, bench.unit_ns).with_stages(*count);
            bench.add(figure);
        }
    }
    Ok(())
}

/// Returns how many of `count` receives fit into half of the free memory, if the free memory is known. A machine that
/// starts to swap would measure its disk, and a system without memory might end other users' programs.
fn fitting(count: usize, bytes: f64, available: Option<f64>) -> usize {
    let Some(available) = available else { return count };
    let fits = (available / 2.0 / bytes.max(1.0)) as usize;
    if fits < count {
        output::note(&format!("pending: {fits} instead of {count}, for want of memory"));
    }
    count.min(fits)
}

/// Returns the memory that programs can have without swapping, in bytes.
fn available_bytes() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("MemAvailable"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? * 1024.0)
}

/// Returns the measurements of allocations: the request to our program, and the case.
fn counted() -> Vec<(String, String, &'static str)> {
    let mut all = vec![(format!("allocations {MESSAGES}"), "post to handler".to_string(), "allocations a message")];
    for (form, engine) in FORMS {
        for pattern in ["pipeline", "shift", "two-shifts", "exchange"] {
            let ranks = if pattern == "pipeline" { 1 } else { 2 };
            let request = format!("allocations {engine} {pattern} {ranks} 1 {MESSAGES}");
            all.push((request, format!("{form}: {pattern}, P = {ranks}"), "allocations a stage and rank"));
        }
    }
    all
}

/// The forms of Lehr whose allocations are counted, and their names in the program.
const FORMS: [(&str, &str); 4] = [
    ("rendezvous, lehr ports", "rendezvous"),
    ("spawned, lehr persistent receivers", "persistent"),
    ("spawned, lehr closures", "closures"),
    ("spawned, lehr fresh tasks", "fresh"),
];

/// Counts the heap allocations of a message from its post to its handler and back, and of a stage of each pattern, on
/// one worker.
///
/// # Errors
/// Returns an error if a program has ended.
pub fn allocations(bench: &mut Bench) -> Result<()> {
    bench.progress("allocations");
    for (engine, name) in bench.engines() {
        // Only ours counts allocations.
        if !name.starts_with("lehr") {
            continue;
        }
        for (request, case, unit) in counted() {
            if bench.is_over() || bench.knows("allocations", &case, None) {
                continue;
            }
            let Some(answer) = bench.peers[engine.peer].ask(&format!("{} {request}", engine.engine))? else { continue };
            let mut samples = Samples::default();
            samples.push(number(&answer, "allocations")?, Place::Unknown);
            let figure = Figure::new("allocations", &case, &name, unit, &samples, bench.unit_ns);
            bench.add(figure.with_workers(1).with_stages(MESSAGES));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_receives_than_half_of_the_memory_takes() {
        assert_eq!(fitting(10_000_000, 128.0, Some(24e9)), 10_000_000);
        assert_eq!(fitting(10_000_000, 1000.0, Some(10e9)), 5_000_000);
        assert_eq!(fitting(7, 1e9, None), 7);
    }
}
