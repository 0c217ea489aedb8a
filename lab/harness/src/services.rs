//! `lehr-lab services`: messages to a service in one process, compared with actor libraries, and `lehr serve` compared
//! with a bare handler of axum.
//!
//! For messages in one process, Lehr runs in this process, and the peers are programs behind a pipe
//! (`lab/runners/services`). Over HTTP, both servers are separate programs, and this process generates the load. Every
//! side knows the right answers: a wrong answer of Lehr ends the measurement. [`group`] has the protocol and the
//! client's part. [`messages`] and [`http`] are the two measurements. [`listeners`], [`neighbours`] and [`clusterings`]
//! measure how subscribers and other services affect a service. [`crate::bench`] has the code that the labs share.

pub mod clusterings;
pub mod counter;
pub mod definition;
pub mod group;
pub mod http;
pub mod listeners;
pub mod load;
pub mod messages;
pub mod neighbours;
pub mod server;
pub mod table;

use std::path::Path;

use anyhow::Result;

use crate::bench::estimate::Plan;
use crate::bench::session::{self, Cases, End, Options};
use crate::bench::{Bench, Lab, Stop};
use definition::Definition;

/// The description of this lab. Its cases have names such as `messages two-way in turn, group 200`, `histogram two-way
/// at once, group 200`, `http GET state, 64 connections, closed loop`, `listeners …`, `memory …`, `neighbours …`,
/// `clusterings …`.
pub const LAB: Lab = Lab {
    name: "services",
    folder: "target/peers/services",
    programs: &[
        ("actix", "peers-services"),
        ("axum", "peers-services"),
        ("kameo", "peers-services"),
        ("ractor", "peers-services"),
        ("tokio", "peers-services"),
    ],
    how_to_build: "no peers: `make peers-services` builds them (a minute or two), and --peers names a folder that has them",
};

/// Measures the requested cases and prints a table or an array of records. `program` is the path of `lehr`, which
/// serves. It calls `stop` between samples to learn whether to end.
///
/// # Errors
/// Returns an error if a result of Lehr is wrong, if `only` matches no case, or if the record cannot be read or
/// written. Earlier figures are kept.
pub fn run(options: &Options, program: &Path, stop: Stop) -> Result<End> {
    let file = definition::file();
    let definition = if options.quick { &file.quick } else { &file.full };
    let papers = definition::papers();
    let cases = Cases {
        plan: &|bench| plan(bench, definition, options),
        measure: &|bench| measure(bench, program, definition, options),
        tables: &|bench| table::text(&bench.figures, &papers, file.aims),
    };
    session::run(&LAB, options, stop, cases)
}

fn plan(bench: &Bench, definition: &Definition, options: &Options) -> Plan {
    let mut plan = Plan::default();
    messages::plan(bench, definition, options, &mut plan);
    http::plan(bench, definition, options, &mut plan);
    listeners::plan(bench, definition, options, &mut plan);
    neighbours::plan(bench, definition, options, &mut plan);
    clusterings::plan(bench, definition, options, &mut plan);
    plan
}

fn measure(bench: &mut Bench, program: &Path, definition: &Definition, options: &Options) -> Result<()> {
    messages::run(bench, definition, options)?;
    http::run(bench, program, definition, options)?;
    listeners::run(bench, program, definition, options)?;
    neighbours::run(bench, definition, options)?;
    clusterings::run(bench, program, definition, options)
}
