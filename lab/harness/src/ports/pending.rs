//! `pending`: what a receive that waits costs in bytes, and what it takes to create and to complete a great many. `allocations`: heap allocations of a message.
//!
//! Each sample is a fresh process, since memory that an earlier sample gave back would hide what the next one takes. What is counted stands with the code:
//! ours in `lab/harness/src/bin/port_side.rs`, tokio's in `lab/runners/ports/src/bin/tokio.rs`.

use anyhow::Result;

use super::bench::Bench;
use super::definition::Definition;
use super::figure::{Figure, Place, Samples};
use super::peers::Peer;
use crate::output;
use crate::runner::number;

/// Messages whose allocations are counted.
const MESSAGES: usize = 100_000;

/// Measures every engine that has pending receives, `rounds` fresh processes each.
///
/// # Errors
/// A program that ended.
pub fn run(bench: &mut Bench, definition: &Definition, rounds: usize) -> Result<()> {
    bench.progress("pending");
    let mut measured: Vec<(String, usize, [Samples; 3])> = Vec::new();
    for _ in 0..rounds {
        for (engine, name) in bench.engines() {
            let count = if name.starts_with("lehr") { definition.pending } else { definition.pending_of_peers };
            let mut fresh = Peer::start(&bench.peers[engine.peer].path)?;
            let Some(answer) = fresh.ask(&format!("{} pending {count}", engine.engine))? else { continue };
            let values = [
                number(&answer, "bytes")?,
                number(&answer, "create_seconds")? / count as f64 * 1e9,
                number(&answer, "complete_seconds")? / count as f64 * 1e9,
            ];
            if !measured.iter().any(|(known, ..)| *known == name) {
                measured.push((name.clone(), count, Default::default()));
            }
            let Some((.., samples)) = measured.iter_mut().find(|(known, ..)| *known == name) else { continue };
            for (samples, value) in samples.iter_mut().zip(values) {
                samples.push(value, Place::Unknown);
            }
        }
    }
    if !measured.iter().any(|(name, ..)| name.starts_with("lehr")) {
        output::note("pending: ours is a program of its own too, and `make peers-ports` builds it");
    }
    let quantities = [("memory", "bytes a receive"), ("create", "ns a receive"), ("complete", "ns a receive")];
    for (name, count, samples) in &measured {
        for ((case, unit), samples) in quantities.iter().zip(samples) {
            let figure = Figure::new("pending", case, name, unit, samples, bench.unit_ns).with_stages(*count);
            bench.figures.push(figure);
        }
    }
    Ok(())
}

/// Counts the heap allocations of a message from its post to its handler and back.
///
/// # Errors
/// A program that ended.
pub fn allocations(bench: &mut Bench) -> Result<()> {
    bench.progress("allocations");
    for (engine, name) in bench.engines() {
        // Only ours counts allocations.
        if !name.starts_with("lehr") {
            continue;
        }
        let answer = bench.peers[engine.peer].ask(&format!("{} allocations {MESSAGES}", engine.engine))?;
        let Some(answer) = answer else { continue };
        let mut samples = Samples::default();
        samples.push(number(&answer, "allocations")? / (2 * MESSAGES) as f64, Place::Unknown);
        let figure =
            Figure::new("allocations", "post to handler", &name, "allocations a message", &samples, bench.unit_ns);
        bench.figures.push(figure.with_stages(2 * MESSAGES));
    }
    Ok(())
}
