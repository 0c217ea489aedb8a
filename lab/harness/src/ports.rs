//! `lehr lab ports`: the port runtime beside its peers and beside a C program, in one run.
//!
//! Ours runs in this process; a peer is a program of its own behind a pipe (`lab/runners/ports`), and so are the C floors. In every round each side does its
//! work once, and every side checks its result: a rank that sees a message of another stage ends the measurement. [`cells`] has the four patterns;
//! [`table`] sets the figures beside the holders that `lab/definitions/runtime/ports.json` names.

pub mod bench;
pub mod cells;
pub mod definition;
pub mod figure;
pub mod pattern;
pub mod peers;
pub mod pending;
pub mod posting;
pub mod rendezvous;
pub mod services;
pub mod spawned;
pub mod table;

use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::machine::Machine;
use crate::output;
use bench::Bench;

/// What was asked for.
///
/// `only` is compared with the names of cells (`rendezvous exchange, P = 2, 0 units`) and of the other cases: `spare workers`, `requests`, `rings`, `regions`,
/// `posting`, `allocations`, `pending`, `idle`.
#[derive(Clone, Debug)]
pub struct Options {
    /// A few cells, in under two minutes.
    pub quick: bool,
    /// An array of records on standard output instead of tables.
    pub json: bool,
    /// Only cases whose name contains this.
    pub only: Option<String>,
    /// Rounds of turns, when given.
    pub rounds: Option<usize>,
    /// The folder with the peers' programs.
    pub peers: PathBuf,
}

impl Default for Options {
    fn default() -> Self {
        Self { quick: false, json: false, only: None, rounds: None, peers: PathBuf::from(peers::FOLDER) }
    }
}

/// Measures what the options ask for and prints it: tables, or an array of records.
///
/// # Errors
/// A wrong result on any side, a peer that ended, `only` that names nothing.
pub fn run(options: &Options) -> Result<()> {
    let file = definition::file();
    let definition = if options.quick { &file.quick } else { &file.full };
    let rounds = options.rounds.unwrap_or(definition.rounds);
    let only = options.only.as_deref();
    let mut bench = Bench::start(&options.peers, false)?;
    let wants = |case: &str| only.is_none_or(|part| case.contains(part));
    cells::run(&mut bench, definition, only, rounds)?;
    if wants("requests") {
        services::requests(&mut bench, definition, rounds)?;
    }
    if wants("rings") {
        services::rings(&mut bench, definition)?;
    }
    if wants("regions") {
        services::regions(&mut bench, definition, rounds)?;
    }
    if wants("posting") {
        posting::run(&mut bench, definition, rounds)?;
    }
    if wants("allocations") {
        pending::allocations(&mut bench)?;
    }
    if wants("pending") {
        pending::run(&mut bench, definition, rounds.min(3))?;
    }
    if wants("idle") {
        services::idle(&mut bench, definition)?;
    }
    ensure!(!bench.figures.is_empty(), "no case contains {:?}", only.unwrap_or_default());
    if options.json {
        output::line(&serde_json::to_string_pretty(&bench.figures)?);
    } else {
        output::line(&Machine::look().line());
        output::line(&format!(
            "{} cores; a unit of computation lasts {:.0} ns; peers {}",
            bench.cores,
            bench.unit_ns,
            bench.libraries()
        ));
        output::line(&table::text(&bench.figures, &file.holders, bench.cores));
    }
    Ok(())
}
