//! `messages`: microseconds for each message by size of the group, cold and warm. `histogram`: the papers' thirty
//! groups of two hundred.
//!
//! Each sample starts its own runtime and service, so it has one cold group. Of its warm groups, the median is kept.

use anyhow::Result;

use super::counter;
use super::definition::Definition;
use super::group::{Form, Taken, Work};
use crate::bench::estimate::{AROUND_SAMPLE, Plan};
use crate::bench::figure::{Figure, Place, Samples};
use crate::bench::session::Options;
use crate::bench::{Bench, PeerEngine};
use crate::measure::Spread;
use crate::runner::{number, numbers};

/// The name of Lehr's side.
pub const OURS: &str = "lehr services";

const EXPERIMENT: &str = "messages";
const HISTOGRAM: &str = "histogram";
const UNIT: &str = "us a message";

/// The maximum seconds of a message, for the estimate: the slowest peer across two cores.
const SLOWEST: f64 = 10e-6;

/// A side of a case.
struct Side {
    name: String,
    /// The peer; `None` for Lehr in this process.
    peer: Option<PeerEngine>,
    work: Work,
    /// The times of the first group of each sample; the turns keep the warm ones.
    cold: Samples,
    /// The time of each warm group of the last sample.
    each: Vec<f64>,
}

/// A case for a number of workers.
#[derive(Clone, Copy, Debug)]
struct Case {
    experiment: &'static str,
    form: Form,
    group: usize,
    groups: usize,
}

impl Case {
    fn name(&self) -> String {
        format!("{}, group {}", self.form, self.group)
    }

    fn title(&self) -> String {
        format!("{} {}", self.experiment, self.name())
    }

    fn first_figure(&self) -> String {
        if self.experiment == HISTOGRAM { self.name() } else { format!("{}, warm", self.name()) }
    }
}

/// Returns the requested cases that no earlier session has measured.
fn wanted(bench: &Bench, definition: &Definition, options: &Options) -> Vec<Case> {
    let mut cases = Vec::new();
    for form in Form::ALL {
        for &group in &definition.groups {
            cases.push(Case { experiment: EXPERIMENT, form, group, groups: definition.warm_groups(group) });
        }
    }
    let histogram = definition.histogram;
    for form in [Form::InTurn, Form::AtOnce] {
        cases.push(Case { experiment: HISTOGRAM, form, group: histogram.group, groups: histogram.groups });
    }
    cases.retain(|case| options.wants(&case.title()) && !bench.knows(case.experiment, &case.first_figure(), None));
    cases
}

/// Adds an upper bound of the duration to the plan.
pub fn plan(bench: &Bench, definition: &Definition, options: &Options, plan: &mut Plan) {
    let rounds = options.rounds.unwrap_or(definition.rounds) as f64;
    let sides = 2.0 * (1.0 + bench.engines().len() as f64);
    for case in wanted(bench, definition, options) {
        let messages = case.group * (case.groups + 1) + 4000;
        let rounds = if case.experiment == HISTOGRAM { 1.0 } else { rounds };
        plan.add(case.title(), rounds * sides * (messages as f64 * SLOWEST / 5.0 + AROUND_SAMPLE));
    }
}

/// Measures every requested case.
///
/// # Errors
/// Returns an error if a result of Lehr is wrong.
pub fn run(bench: &mut Bench, definition: &Definition, options: &Options) -> Result<()> {
    let rounds = options.rounds.unwrap_or(definition.rounds);
    for case in wanted(bench, definition, options) {
        if bench.is_over() {
            break;
        }
        bench.progress(&case.title());
        measure(bench, case, rounds)?;
    }
    Ok(())
}

fn sides(bench: &Bench, case: Case) -> Vec<Side> {
    let mut workers = vec![1, bench.cores.min(2)];
    workers.dedup();
    let mut sides = Vec::new();
    for workers in workers {
        let work = Work { form: case.form, group: case.group, workers, groups: case.groups };
        let side = |name: String, peer| Side { name, peer, work, cold: Samples::default(), each: Vec::new() };
        sides.push(side(OURS.into(), None));
        sides.extend(bench.engines().into_iter().map(|(engine, name)| side(name, Some(engine))));
    }
    sides
}

fn measure(bench: &mut Bench, case: Case, rounds: usize) -> Result<()> {
    let is_histogram = case.experiment == HISTOGRAM;
    let rounds = if is_histogram { 1 } else { rounds };
    let mut sides = sides(bench, case);
    let taken = bench.take_turns(rounds, &mut sides, |bench, side| {
        let Some(Taken { cold, warm }) = side.groups(bench)? else { return Ok(None) };
        let us = |seconds: f64| seconds / case.group as f64 * 1e6;
        side.cold.push(us(cold), Place::Unknown);
        side.each = warm.into_iter().map(us).collect();
        Ok(Some(Spread::of(&side.each).median))
    })?;
    for (side, samples) in sides.into_iter().zip(taken) {
        let Some(samples) = samples else { continue };
        let figure = |name: &str, samples: &Samples| {
            let figure = Figure::new(case.experiment, name, &side.name, UNIT, samples, bench.unit_ns);
            figure.with_workers(side.work.workers).with_stages(case.groups)
        };
        let found = if is_histogram {
            let mut groups = Samples::default();
            side.each.iter().for_each(|us| groups.push(*us, Place::Unknown));
            vec![figure(&case.name(), &groups).with_values(side.each.clone())]
        } else {
            let cold = format!("{}, cold", case.name());
            vec![figure(&case.first_figure(), &samples), figure(&cold, &side.cold).with_stages(1)]
        };
        found.into_iter().for_each(|figure| bench.add(figure));
    }
    Ok(())
}

impl Side {
    fn groups(&self, bench: &mut Bench) -> Result<Option<Taken>> {
        let Some(PeerEngine { peer, engine }) = self.peer else { return counter::run(self.work).map(Some) };
        let peer = &mut bench.peers[peer];
        let Some(answer) = peer.ask(&format!("{engine} messages {}", self.work.words()))? else { return Ok(None) };
        let taken = number(&answer, "cold").and_then(|cold| Ok(Taken { cold, warm: numbers(&answer, "warm")? }));
        match taken {
            Ok(taken) if taken.warm.len() == self.work.groups => Ok(Some(taken)),
            Ok(taken) => {
                peer.leave_out(format!("it gave {} groups, asked for {}", taken.warm.len(), self.work.groups));
                Ok(None)
            }
            Err(error) => {
                peer.leave_out(format!("{error:#}"));
                Ok(None)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::services::{LAB, definition};

    fn bench() -> Bench {
        Bench::start(&LAB, Path::new("no such folder"), Box::new(|| false)).unwrap()
    }

    fn options(only: &str) -> Options {
        Options { only: Some(only.into()), rounds: Some(2), ..Options::default() }
    }

    #[test]
    fn ours_alone_has_cold_and_warm_groups_on_one_worker_and_on_two() {
        let mut bench = bench();
        let definition = definition::file().quick;
        run(&mut bench, &definition, &options("messages one-way, group 200")).unwrap();
        let cases: Vec<_> = bench.figures.iter().map(|figure| (figure.case.as_str(), figure.workers)).collect();
        let mut expected = Vec::new();
        for workers in if bench.cores > 1 { vec![1, 2] } else { vec![1] } {
            expected.push(("one-way, group 200, warm", Some(workers)));
            expected.push(("one-way, group 200, cold", Some(workers)));
        }
        assert_eq!(cases, expected);
        assert!(bench.figures.iter().all(|figure| figure.runs == 2 && figure.is_ours() && figure.min > 0.0));
    }

    #[test]
    fn a_histogram_keeps_each_of_its_groups() {
        let mut bench = bench();
        run(&mut bench, &definition::file().quick, &options("histogram two-way in turn")).unwrap();
        for figure in &bench.figures {
            assert_eq!((figure.values.len(), figure.runs), (30, 30));
            assert!(figure.values.contains(&figure.min) && figure.values.contains(&figure.max));
        }
        assert!(!bench.figures.is_empty());
    }

    #[test]
    fn the_plan_names_what_will_be_measured() {
        let (bench, definition) = (bench(), definition::file().full);
        let planned = |only: &str| {
            let mut found = Plan::default();
            plan(&bench, &definition, &options(only), &mut found);
            found.len()
        };
        assert_eq!(planned("messages two-way at once"), definition.groups.len());
        assert_eq!((planned("histogram"), planned("nothing of the kind")), (2, 0));
    }
}
