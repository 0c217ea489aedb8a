//! `bench overhead`: f(n, 2) = (2 T(n, 2) - T(2n, 1)) / T(2n, 1) of a whole run, for each engine (paper 004 eq. 2).
//!
//! Both sides cluster the same 2n rows, with two ranks (n rows each) and with one. Their results must be bit-identical,
//! so their rounds are the same. The difference is the cost of parallelism: synchronisation, imbalance, work of a
//! single rank, and memory that two cores share. Each run is followed by its phases, which show where the time is lost.

use std::cell::RefCell;

use anyhow::{Result, ensure};
use lehr_data::Points;
use lehr_mining::vector::{Model, Parameters};
use lehr_ranks::{Engine, Execution};

use super::quality::run_with;
use crate::arguments::MeasurementArguments;
use crate::compare::verdict;
use crate::definition::{self, Overhead};
use crate::inputs;
use crate::machine::{Machine, available_threads};
use crate::measure::{Side, Spread, take_turns, timed};
use crate::output;
use crate::record::Record;

const WIDTHS: [usize; 7] = [22, 24, 24, 24, 14, 10, 10];

/// Measures every grain of `ranks/overhead.json` with every engine.
///
/// # Errors
/// Returns an error if the machine has too few threads, runs are not bit-identical, or the record cannot be written.
pub fn run(arguments: &MeasurementArguments) -> Result<()> {
    let definition: Overhead = definition::read("ranks/overhead.json")?;
    let ranks = definition.ranks;
    ensure!(available_threads() >= ranks, "an overhead on {ranks} cores cannot be measured on {}", available_threads());
    let machine = Machine::look();
    let mut record = Record::new(&arguments.record, "overhead");
    let rounds = arguments.rounds.unwrap_or(7);
    let aim = definition.aim;
    output::line(&format!(
        "f(n,{ranks}) = ({ranks} T(n,{ranks}) - T({ranks}n,1)) / T({ranks}n,1), {}-D, K = {}, whole runs, {rounds} rounds in turns",
        definition.dimension, definition.clusters
    ));
    output::line(&machine.line());
    let (parallel_head, serial_head) = (format!("T(n,{ranks}) s"), format!("T({ranks}n,1) s"));
    let heads = ["case", &parallel_head, &serial_head, "f by round", "aim", "imbalance", "rounds"];
    output::row(&WIDTHS, &heads.map(String::from));
    for &grain in &definition.rows_per_rank {
        let (points, _) = inputs::mixture(ranks * grain, definition.dimension, definition.clusters, 0.05)?;
        // Passes over all rows can be divided; passes over a summary are too short for that.
        let parameters = Parameters { clusters: Some(definition.clusters), exact: true, ..Parameters::default() };
        for engine in [Engine::Ranks, Engine::Loop, Engine::Ports] {
            let name = format!("{engine} n={grain}");
            if !arguments.wants(&name) {
                continue;
            }
            let layout = |count| Execution { engine, ranks: count, threads: count, job: None };
            let expected = run_with(&points, &parameters, &layout(1))?;
            let parallel = run_with(&points, &parameters, &layout(ranks))?;
            ensure!(
                same_bits(&expected, &parallel),
                "{name}: one rank and {ranks} end with different bits: no measurement"
            );
            let phases = [RefCell::new(Vec::new()), RefCell::new(Vec::new())];
            let mut sides = [ranks, 1]
                .into_iter()
                .zip(&phases)
                .map(|(count, seen)| side(&points, &parameters, layout(count), &expected, seen))
                .collect::<Vec<_>>();
            let seconds = take_turns(rounds, &mut sides)?;
            drop(sides);
            let case = Case { name: &name, engine, ranks, rounds };
            let whole = [format!("{:.4}", parallel.imbalance), expected.iterations.to_string()];
            case.report(
                "run",
                &seconds[0],
                &seconds[1],
                verdict(case.median_overhead(&seconds[0], &seconds[1]), aim),
                whole,
                &mut record,
            );
            for (phase, _) in &expected.phases {
                let of = |side: usize| seconds_in(phase, &phases[side].borrow()[1..]);
                case.report(phase, &of(0), &of(1), String::new(), [String::new(), String::new()], &mut record);
            }
        }
    }
    output::line(&format!("record: {}", record.write(&machine)?.display()));
    Ok(())
}

/// Makes runs in this layout: each must end with the bits of `expected`, and adds its phases to `seen`.
fn side<'a>(
    points: &'a Points,
    parameters: &'a Parameters,
    execution: Execution,
    expected: &'a Model,
    seen: &'a RefCell<Vec<Phases>>,
) -> Side<'a> {
    Box::new(move || {
        let (seconds, model) = timed(|| run_with(points, parameters, &execution));
        let model = model?;
        ensure!(same_bits(expected, &model), "a run ended with other bits: no measurement");
        seen.borrow_mut().push(model.phases);
        Ok(seconds)
    })
}

/// The seconds of a run's phases, by their names.
type Phases = Vec<(String, f64)>;

/// Returns the seconds of one phase in each run, 0 if a run had no such phase.
fn seconds_in(phase: &str, runs: &[Phases]) -> Vec<f64> {
    runs.iter()
        .map(|phases| phases.iter().filter(|(name, _)| name == phase).map(|(_, seconds)| seconds).sum())
        .collect()
}

/// One engine with one grain size.
struct Case<'a> {
    name: &'a str,
    engine: Engine,
    ranks: usize,
    rounds: usize,
}

impl Case<'_> {
    fn overheads(&self, parallel: &[f64], serial: &[f64]) -> Vec<f64> {
        parallel.iter().zip(serial).map(|(many, one)| overhead(self.ranks, *many, *one)).collect()
    }

    fn median_overhead(&self, parallel: &[f64], serial: &[f64]) -> f64 {
        Spread::of(&self.overheads(parallel, serial)).median
    }

    /// Prints one line of the table: a whole run, or (indented) one of its phases.
    fn report(
        &self,
        part: &str,
        parallel: &[f64],
        serial: &[f64],
        verdict: String,
        more: [String; 2],
        record: &mut Record,
    ) {
        let f = Spread::of(&self.overheads(parallel, serial));
        let (many, one) = (Spread::of(parallel), Spread::of(serial));
        let shown = |spread: Spread| format!("{:.4} {:.4} {:.4}", spread.min, spread.median, spread.max);
        let head = if part == "run" { self.name.to_string() } else { format!("  {part}") };
        let [imbalance, count] = more;
        let shown_f = format!("{:+.3} {:+.3} {:+.3}", f.min, f.median, f.max);
        output::row(&WIDTHS, &[head, shown(many), shown(one), shown_f, verdict, imbalance, count]);
        let engine = self.engine.to_string();
        record.add(self.name, &engine, &format!("{part}, parallel"), "s", self.rounds, many);
        record.add(self.name, &engine, &format!("{part}, serial"), "s", self.rounds, one);
        record.add(self.name, &engine, &format!("{part}, overhead"), "1", self.rounds, f);
    }
}

/// Computes the overhead of paper 004 eq. 2: the loss of `ranks` ranks against a perfect division of one rank's time.
fn overhead(ranks: usize, parallel_seconds: f64, serial_seconds: f64) -> f64 {
    (ranks as f64 * parallel_seconds - serial_seconds) / serial_seconds
}

fn same_bits(one: &Model, other: &Model) -> bool {
    let bits = |model: &Model| model.centers.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    one.labels == other.labels && bits(one) == bits(other) && one.iterations == other.iterations
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_of_a_phase_are_added_up_within_a_run() {
        let run = |name: &str, seconds| (name.to_string(), seconds);
        let runs = [vec![run("a", 1.0), run("b", 5.0), run("a", 2.0)], vec![run("b", 1.0)]];
        assert_eq!(seconds_in("a", &runs), [3.0, 0.0]);
    }

    #[test]
    fn perfect_division_has_no_overhead_and_none_at_all_has_one() {
        assert_eq!(overhead(2, 0.5, 1.0), 0.0);
        assert_eq!(overhead(2, 1.0, 1.0), 1.0);
    }
}
