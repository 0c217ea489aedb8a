//! `lehr-lab ports`: the port runtime, its peers and a C program, measured in turns in one run.
//!
//! Lehr runs in this process. Each peer is a separate program behind a pipe (`lab/runners/ports`), and so are the C
//! floors. In every round each side does its work once, and checks its result: if a rank of Lehr gets a message of
//! another stage, the measurement ends. [`cells`] has the four patterns. The tables compare the figures with the
//! holders that `lab/definitions/runtime/ports.json` names. [`crate::bench`] has the code that the labs share.

pub mod cells;
pub mod definition;
pub mod pattern;
pub mod pending;
mod plan;
pub mod posting;
pub mod rendezvous;
pub mod services;
pub mod spawned;
pub mod stages;

use anyhow::Result;

use crate::bench::figure::Figure;
use crate::bench::session::{self, Cases, End, Options};
use crate::bench::{Bench, Lab, Stop, table};
use definition::Definition;

/// The description of this lab. Its cases have names such as `rendezvous exchange, P = 2, 0 units`, and `spare
/// workers`, `requests`, `rings`, `regions`, `posting`, `stages`, `allocations`, `pending`, `idle`.
pub const LAB: Lab = Lab {
    name: "ports",
    folder: "target/peers/ports",
    programs: &[
        ("actix", "peers-ports"),
        ("async_executor", "peers-ports"),
        ("crossbeam", "peers-ports"),
        ("flume", "peers-ports"),
        ("go", "peers-go"),
        ("kameo", "peers-ports"),
        ("kanal", "peers-ports"),
        ("lehr_port_side", "peers-ports"),
        ("mpi", "peers-mpi"),
        ("ports_floor", "peers-ports"),
        ("ractor", "peers-ports"),
        ("rayon", "peers-ports"),
        ("std_mpsc", "peers-ports"),
        ("tokio", "peers-ports"),
    ],
    how_to_build: "no peers: `make peers-ports` builds them (a minute or two), and --peers names a folder that has them",
};

/// The experiments with many small cases, each in its own table with a line for each figure.
const LISTED: [&str; 8] =
    ["spare workers", "rings", "posting rate", "posting", stages::STAGES, "pending", "allocations", "idle"];

/// Measures the requested cases and prints tables or an array of records. It calls `stop` between samples to learn
/// whether to end.
///
/// # Errors
/// Returns an error if a result of Lehr is wrong, if `only` matches no case, or if the record cannot be read or
/// written. Earlier figures are kept.
pub fn run(options: &Options, stop: Stop) -> Result<End> {
    let file = definition::file();
    let definition = if options.quick { &file.quick } else { &file.full };
    let cases = Cases {
        plan: &|bench| plan::of(bench, definition, options),
        measure: &|bench| cases(bench, definition, options),
        tables: &|bench| {
            let reached = |figure: &Figure, one_core: bool| definition::reached(&file.holders, figure, one_core);
            table::text(&bench.figures, &reached, &LISTED, bench.cores)
        },
    };
    session::run(&LAB, options, stop, cases)
}

fn cases(bench: &mut Bench, definition: &Definition, options: &Options) -> Result<()> {
    let rounds = options.rounds.unwrap_or(definition.rounds);
    cells::run(bench, definition, options.only.as_deref(), rounds)?;
    if options.wants("requests") {
        services::requests(bench, definition, rounds)?;
    }
    if options.wants("rings") {
        services::rings(bench, definition)?;
    }
    if options.wants("regions") {
        services::regions(bench, definition, rounds)?;
    }
    if options.wants("posting") {
        posting::run(bench, definition, rounds)?;
    }
    if options.wants(stages::STAGES) {
        stages::run(bench, definition, rounds)?;
    }
    if options.wants("allocations") {
        pending::allocations(bench)?;
    }
    if options.wants("pending") {
        pending::run(bench, definition, rounds.min(3))?;
    }
    if options.wants("idle") {
        services::idle(bench, definition)?;
    }
    Ok(())
}
