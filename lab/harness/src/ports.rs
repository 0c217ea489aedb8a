//! `lehr lab ports`: the port runtime beside its peers and beside a C program, in one run.
//!
//! Ours runs in this process; a peer is a program of its own behind a pipe (`lab/runners/ports`), and so are the C floors. In every round each side does its
//! work once, and every side checks its result: a rank that sees a message of another stage ends the measurement. [`cells`] has the four patterns;
//! [`table`] sets the figures beside the holders that `lab/definitions/runtime/ports.json` names.

pub mod activity;
pub mod bench;
pub mod cells;
pub mod definition;
pub mod estimate;
pub mod figure;
pub mod pattern;
pub mod peers;
pub mod pending;
pub mod posting;
pub mod presence;
pub mod rendezvous;
pub mod services;
pub mod session;
pub mod spawned;
pub mod table;

use std::path::PathBuf;

use anyhow::{Result, ensure};

use crate::machine::Machine;
use crate::output;
use bench::{Bench, Stop};
use definition::Definition;
use estimate::{Plan, Sides};
use session::{Session, Taken};

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
    /// Where what is measured is kept, case by case; a record that is there is gone on with.
    pub record: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self { quick: false, json: false, only: None, rounds: None, peers: PathBuf::from(peers::FOLDER), record: None }
    }
}

/// How a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Everything that was asked for is measured.
    Whole,
    /// Somebody asked for the end; what was measured until then is printed and kept.
    Stopped,
}

/// Measures what the options ask for and prints it: tables, or an array of records. `stop` is asked between samples whether to end.
///
/// # Errors
/// A wrong result on any side, a peer that ended, `only` that names nothing, a record that cannot be read or written. What was measured before is kept.
pub fn run(options: &Options, stop: Stop) -> Result<End> {
    let file = definition::file();
    let definition = if options.quick { &file.quick } else { &file.full };
    let mut bench = Bench::start(&options.peers, stop)?;
    if let Some(path) = &options.record {
        let (machine, libraries) = (Machine::look(), bench.libraries());
        let this = Taken { command: command(options), machine, libraries, activity: None };
        let (session, figures) = Session::open(path, this)?;
        if !figures.is_empty() {
            output::note(&format!("{} has {} figures; their cases are not taken again", path.display(), figures.len()));
        }
        bench.keep_in(session, figures);
    }
    let plan = plan(&bench, definition, options);
    output::note(&plan.announcement());
    bench.follow(plan);
    let measured = cases(&mut bench, definition, options).and_then(|()| presence::record(&mut bench));
    bench.save()?;
    measured?;
    let is_over = bench.is_over();
    let only = options.only.as_deref().unwrap_or_default();
    ensure!(is_over || !bench.figures.is_empty(), "no case contains {only:?}");
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
        if let Some(activity) = bench.activity() {
            output::line(&format!(
                "other programs used {:.0} % of the machine (median of the cases)",
                activity.others[1]
            ));
        }
        output::line(&table::text(&bench.figures, &file.holders, bench.cores));
    }
    Ok(if is_over { End::Stopped } else { End::Whole })
}

impl Options {
    fn wants(&self, case: &str) -> bool {
        self.only.as_deref().is_none_or(|part| case.contains(part))
    }

    fn rounds(&self, definition: &Definition) -> usize {
        self.rounds.unwrap_or(definition.rounds)
    }
}

/// The command that repeats a session, without what says only where things are.
fn command(options: &Options) -> String {
    let mut command = String::from("lehr lab ports");
    if options.quick {
        command += " --quick";
    }
    if let Some(only) = &options.only {
        command += &format!(" --only '{only}'");
    }
    if let Some(rounds) = options.rounds {
        command += &format!(" --rounds {rounds}");
    }
    command
}

fn cases(bench: &mut Bench, definition: &Definition, options: &Options) -> Result<()> {
    let rounds = options.rounds(definition);
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

/// What `cases` will do, in its order.
fn plan(bench: &Bench, definition: &Definition, options: &Options) -> Plan {
    let rounds = options.rounds(definition);
    let engines = bench.engines();
    let peers = engines.iter().filter(|(_, name)| definition.wants_peer(name)).count();
    let sides = Sides { cores: bench.cores, peers, rounds, unit: bench.unit_ns * 1e-9 };
    let sample = definition.seconds_per_sample_max;
    let mut plan = Plan::default();
    plan.add_cells(definition, sides, |cell| {
        let form = cell.form.to_string();
        options.wants(&format!("{form} {}", cell.case())) && !bench.knows(&form, &cell.case(), None)
    });
    if options.wants("spare workers") {
        plan.add("spare workers".into(), (definition.spare_workers.len() * rounds) as f64 * sample);
    }
    if options.wants("requests") {
        plan.add("requests".into(), (definition.clients.len() * 2 * (peers + 1) * rounds) as f64 * sample);
    }
    if options.wants("rings") {
        // Half a microsecond a rank and stage.
        let stages: usize = definition.ring_ranks.iter().map(|ranks| ranks * definition.stages).sum();
        plan.add("rings".into(), (stages * definition.ring_workers.len()) as f64 * 0.5e-6);
    }
    if options.wants("regions") {
        plan.add("regions".into(), (3 * 3 * rounds) as f64 * 0.1);
    }
    if options.wants("posting") {
        plan.add_posting(definition, sides);
    }
    if options.wants("allocations") {
        plan.add("allocations".into(), 5.0);
    }
    if options.wants("pending") {
        // Ours have three forms; a microsecond and a half to make one and to complete it.
        let receives = 3 * definition.pending + 2 * definition.pending_of_peers;
        plan.add("pending".into(), (receives * rounds.min(3)) as f64 * 1.5e-6);
    }
    if options.wants("idle") {
        plan.add("idle".into(), definition.idle_workers.len() as f64 * (definition.idle_seconds + 1.0));
    }
    plan
}
