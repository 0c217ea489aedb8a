//! `http`: microseconds for each request over loopback in a closed loop: the whole time divided by all requests. `http
//! latency`: the quantiles 50, 99 and 99.9 % of the requests' times, in closed and open loops.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::definition::Definition;
use super::load::{self, Heard, Kind, Listening, Load};
use super::server::{Form, Server, start_all};
use crate::bench::Bench;
use crate::bench::estimate::Plan;
use crate::bench::figure::{Figure, Place, Samples};
use crate::bench::session::Options;

/// The name of the experiment of rates.
pub const EXPERIMENT: &str = "http";

/// The name of the experiment of quantiles.
pub const LATENCY: &str = "http latency";

/// The quantiles with their names.
const QUANTILES: [(f64, &str); 3] = [(0.5, "p50"), (0.99, "p99"), (0.999, "p99.9")];

/// The seconds around a load, for connecting, warming up and sorting the times.
const AROUND_LOAD: f64 = 0.1;

/// The core of the load generator if servers are bound to another core.
const GENERATOR: usize = 0;

/// A case of the measurement.
#[derive(Clone, Copy, Debug)]
struct Case {
    kind: Kind,
    connections: usize,
    rate: Option<usize>,
    seconds: f64,
}

impl Case {
    fn name(&self) -> String {
        let (kind, connections) = (self.kind.name(), self.connections);
        match self.rate {
            None => format!("{kind}, {connections} connections, closed loop"),
            Some(rate) => format!("{kind}, {connections} connections, {rate} requests/s"),
        }
    }

    fn title(&self) -> String {
        format!("{EXPERIMENT} {}", self.name())
    }

    fn quantile(&self, name: &str) -> String {
        format!("{}, {name}", self.name())
    }
}

/// Returns the requested cases that no earlier session has measured in this form.
fn wanted(bench: &Bench, definition: &Definition, options: &Options, form: Form) -> Vec<Case> {
    let (closed, open) = (&definition.closed, &definition.open);
    let mut cases = Vec::new();
    for kind in [Kind::Get, Kind::Post] {
        for &connections in &closed.connections {
            cases.push(Case { kind, connections, rate: None, seconds: closed.seconds });
        }
        for &rate in &open.rates {
            cases.push(Case { kind, connections: open.connections, rate: Some(rate), seconds: open.seconds });
        }
    }
    let is_known = |case: &Case| bench.knows(LATENCY, &case.quantile(QUANTILES[0].1), Some(form.workers));
    cases.retain(|case| options.wants(&case.title()) && !is_known(case));
    cases
}

/// Adds an upper bound of the duration to the plan.
pub fn plan(bench: &Bench, definition: &Definition, options: &Options, plan: &mut Plan) {
    let rounds = options.rounds.unwrap_or(definition.rounds) as f64;
    for form in Form::all(bench.cores) {
        for case in wanted(bench, definition, options, form) {
            // The factor 2 is for Lehr and one peer.
            plan.add(case.title(), rounds * 2.0 * (1.25 * case.seconds + AROUND_LOAD));
        }
    }
}

/// Measures every requested case: `lehr serve` of `program`, and the peers that have a server.
///
/// # Errors
/// Returns an error if an answer of Lehr is wrong.
pub fn run(bench: &mut Bench, program: &Path, definition: &Definition, options: &Options) -> Result<()> {
    let rounds = options.rounds.unwrap_or(definition.rounds);
    for form in Form::all(bench.cores) {
        let cases = wanted(bench, definition, options, form);
        if cases.is_empty() || bench.is_over() {
            continue;
        }
        let mut servers = start_all(bench, program, form)?;
        for case in cases {
            if bench.is_over() {
                break;
            }
            bench.progress(&case.title());
            measure(bench, &mut servers, case, form, rounds)?;
        }
    }
    Ok(())
}

fn measure(bench: &mut Bench, servers: &mut Vec<Server>, case: Case, form: Form, rounds: usize) -> Result<()> {
    let mut sides: Vec<(Server, [Samples; 3])> = servers.drain(..).map(|server| (server, Default::default())).collect();
    let mut state = None;
    let taken = bench.take_turns(rounds, &mut sides, |bench, (server, quantiles)| {
        let heard = match load_of(server, case, form) {
            Ok(heard) => heard,
            // Wrong results of Lehr end the measurement; a peer with a wrong result is left out.
            Err(error) if server.name.starts_with("lehr") => {
                return Err(error.context(format!("{} of {}", case.name(), server.name)));
            }
            Err(error) => {
                let peer = bench.peers.iter_mut().find(|peer| peer.engines.contains(&server.name));
                peer.context("a server is of some peer")?.leave_out(format!("{error:#}"));
                return Ok(None);
            }
        };
        if case.kind == Kind::Get {
            let first = state.get_or_insert_with(|| heard.state.clone());
            ensure!(*first == heard.state, "{} serves another state than the side before it", server.name);
        }
        for (samples, (part, _)) in quantiles.iter_mut().zip(QUANTILES) {
            samples.push(heard.quantile_us(part), Place::Unknown);
        }
        Ok(Some(heard.us_a_request()))
    })?;
    for ((server, quantiles), samples) in sides.into_iter().zip(taken) {
        if let Some(samples) = samples {
            let figure = |experiment: &str, name: &str, unit: &str, samples: &Samples| {
                Figure::new(experiment, name, &server.name, unit, samples, bench.unit_ns).with_workers(form.workers)
            };
            let mut found = Vec::new();
            if case.rate.is_none() {
                found.push(figure(EXPERIMENT, &case.name(), "us a request", &samples));
            }
            for (samples, (_, name)) in quantiles.iter().zip(QUANTILES) {
                found.push(figure(LATENCY, &case.quantile(name), "us", samples));
            }
            found.into_iter().for_each(|figure| bench.add(figure));
        }
        servers.push(server);
    }
    Ok(())
}

fn load_of(server: &Server, case: Case, form: Form) -> Result<Heard> {
    let load = Load {
        address: server.address,
        kind: case.kind,
        connections: case.connections,
        rate: case.rate.map(|rate| rate as f64),
        seconds: case.seconds,
        listening: Listening::default(),
    };
    if form.core.is_some() { load::run_on_core(&load, GENERATOR) } else { load::run(&load) }
}
