//! `listeners`: the time of a change while subscribers get it, one of whom may accept nothing; and the memory of a
//! thousand subscribers.

use std::path::Path;

use anyhow::Result;

use super::definition::Definition;
use super::load::{self, Kind, Listening, Load};
use super::server::{Form, Node};
use crate::bench::Bench;
use crate::bench::estimate::Plan;
use crate::bench::figure::{Figure, Place, Samples};
use crate::bench::session::Options;

/// The name of the experiment of rates.
pub const EXPERIMENT: &str = "listeners";

/// The name of the experiment of memory.
pub const MEMORY: &str = "memory";

/// The name of Lehr's side in tables.
const OURS: &str = "lehr serve";

/// Returns the subscribers of each case, in which one connection posts.
fn companies(definition: &Definition) -> [(String, Listening); 4] {
    let (few, many) = (definition.listeners.few, definition.listeners.many);
    [
        ("nobody".into(), Listening::default()),
        (format!("{few} subscribers"), Listening { reading: few, silent: 0 }),
        (format!("{few} subscribers, one takes nothing"), Listening { reading: few - 1, silent: 1 }),
        (format!("{many} subscribers"), Listening { reading: many, silent: 0 }),
    ]
}

fn case(company: &str) -> String {
    format!("POST operation, 1 connection, heard by {company}")
}

fn memory_case(many: usize) -> String {
    format!("{many} subscribers")
}

fn is_wanted(bench: &Bench, options: &Options, experiment: &str, case: &str) -> bool {
    options.wants(&format!("{experiment} {case}")) && !bench.knows(experiment, case, None)
}

/// Adds an upper bound of the duration to the plan.
pub fn plan(bench: &Bench, definition: &Definition, options: &Options, plan: &mut Plan) {
    let rounds = options.rounds.unwrap_or(definition.rounds) as f64;
    for (company, listening) in companies(definition) {
        if is_wanted(bench, options, EXPERIMENT, &case(&company)) {
            let around = 0.1 + 1e-3 * listening.reading as f64;
            plan.add(
                format!("{EXPERIMENT} {}", case(&company)),
                rounds * (1.25 * definition.listeners.seconds + around),
            );
        }
    }
    if is_wanted(bench, options, MEMORY, &memory_case(definition.listeners.many)) {
        plan.add(format!("{MEMORY} {}", memory_case(definition.listeners.many)), rounds * 2.0);
    }
}

/// Measures `lehr serve` of `program`.
///
/// # Errors
/// Returns an error if an answer is wrong, or if the server disconnects a subscriber that reads.
pub fn run(bench: &mut Bench, program: &Path, definition: &Definition, options: &Options) -> Result<()> {
    let rounds = options.rounds.unwrap_or(definition.rounds);
    let form = Form { workers: bench.cores, core: None };
    let load = |node: &Node, listening| Load {
        address: node.address,
        kind: Kind::Post,
        connections: 1,
        rate: None,
        seconds: definition.listeners.seconds,
        listening,
    };
    let mut sides: Vec<_> = companies(definition)
        .into_iter()
        .map(|(company, listening)| (case(&company), listening))
        .filter(|(case, _)| is_wanted(bench, options, EXPERIMENT, case))
        .collect();
    if !sides.is_empty() && !bench.is_over() {
        bench.progress(&format!("{EXPERIMENT} {}", sides[0].0));
        let node = Node::start(program, form)?;
        let taken = bench.take_turns(rounds, &mut sides, |_, (_, listening)| {
            load::run(&load(&node, *listening)).map(|heard| Some(heard.us_a_request()))
        })?;
        for ((case, _), samples) in sides.iter().zip(taken) {
            let Some(samples) = samples else { continue };
            let figure = Figure::new(EXPERIMENT, case, OURS, "us a request", &samples, bench.unit_ns);
            bench.add(figure.with_workers(form.workers));
        }
    }
    let many = definition.listeners.many;
    if is_wanted(bench, options, MEMORY, &memory_case(many)) && !bench.is_over() {
        bench.progress(&format!("{MEMORY} {}", memory_case(many)));
        memory(bench, program, form, rounds, many)?;
    }
    Ok(())
}

/// Measures the growth of the resident set of a node, divided by its subscribers, each with its own connection.
fn memory(bench: &mut Bench, program: &Path, form: Form, rounds: usize, many: usize) -> Result<()> {
    let mut samples = Samples::default();
    for _ in 0..rounds {
        if bench.is_over() {
            return Ok(());
        }
        // Each measurement has a new node, because a node keeps memory that it has used once.
        let node = Node::start(program, form)?;
        let load = |listening| Load {
            address: node.address,
            kind: Kind::Post,
            connections: 1,
            rate: None,
            seconds: 0.05,
            listening,
        };
        load::run(&load(Listening::default()))?;
        let Some(before) = node.resident_bytes() else { return Ok(()) };
        let mut after = before;
        load::run_and(&load(Listening { reading: many, silent: 0 }), || {
            after = node.resident_bytes().unwrap_or(before);
        })?;
        samples.push((after - before) / many as f64, Place::Unknown);
    }
    let figure = Figure::new(MEMORY, &memory_case(many), OURS, "bytes a subscriber", &samples, bench.unit_ns);
    bench.add(figure.with_workers(form.workers));
    Ok(())
}
