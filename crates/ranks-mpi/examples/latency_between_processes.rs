//! Measures short messages and collectives between processes, in microseconds: `mpiexec -n 2
//! target/release/examples/latency_between_processes [only patterns with these words]`.
#![allow(clippy::disallowed_macros, reason = "an example says what it found")]

#[path = "../../ranks/examples/latency/patterns.rs"]
mod patterns;

use lehr_ranks_mpi::Process;
use lehr_runtime::Dispatcher;
use patterns::{SAMPLES, measure, patterns, summary};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let process = Process::join()?.ok_or("start it with mpiexec")?;
    let dispatcher = Dispatcher::new(1)?;
    let only = std::env::args().nth(1).unwrap_or_default();
    for (pattern, name) in patterns(&only) {
        let samples = process.run(&dispatcher, 1, move |comm| measure(comm, pattern))?;
        if process.number() == 0 {
            let samples = samples.into_iter().next().ok_or("one rank")??;
            println!("{name:40} {} us, min, median, max of {SAMPLES}", summary(&samples));
        }
    }
    process.finish()?;
    Ok(())
}
