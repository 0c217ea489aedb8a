//! `bench overhead`: f(n, 2) = (2 T(n, 2) - T(2n, 1)) / T(2n, 1) of a whole run, for each engine (paper 004 eq. 2).
//!
//! Both sides cluster the same 2n rows, with two ranks (n rows each) and with one. They must end with the same bits, so their rounds are the same and
//! the difference is what parallelism costs: synchronisation, imbalance, the parts that only one rank does, and memory that two cores share.

use anyhow::{Result, ensure};
use lehr_mining::vector::{Model, Parameters};
use lehr_ranks::{Engine, Execution};

use super::quality::run_with;
use crate::arguments::Arguments;
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
/// A machine with too few threads, runs that differ in bits, a record that cannot be written.
pub fn run(arguments: &Arguments) -> Result<()> {
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
        let parameters = Parameters { clusters: Some(definition.clusters), ..Parameters::default() };
        for engine in [Engine::Ranks, Engine::Loop, Engine::Ports] {
            let name = format!("{engine} n={grain}");
            if !arguments.wants(&name) {
                continue;
            }
            let layout = |count| Execution { engine, ranks: count, threads: count };
            let expected = run_with(&points, &parameters, &layout(1))?;
            let parallel = run_with(&points, &parameters, &layout(ranks))?;
            ensure!(
                same_bits(&expected, &parallel),
                "{name}: one rank and {ranks} end with different bits: no measurement"
            );
            let side = |count: usize| -> Side<'_> {
                let (points, parameters, expected) = (&points, &parameters, &expected);
                let execution = layout(count);
                Box::new(move || {
                    let (seconds, model) = timed(|| run_with(points, parameters, &execution));
                    ensure!(same_bits(expected, &model?), "a run ended with other bits: no measurement");
                    Ok(seconds)
                })
            };
            let seconds = take_turns(rounds, &mut [side(ranks), side(1)])?;
            let overheads: Vec<f64> =
                seconds[0].iter().zip(&seconds[1]).map(|(many, one)| overhead(ranks, *many, *one)).collect();
            let (many, one, f) = (Spread::of(&seconds[0]), Spread::of(&seconds[1]), Spread::of(&overheads));
            let shown = |spread: Spread| format!("{:.4} {:.4} {:.4}", spread.min, spread.median, spread.max);
            let shown_f = format!("{:+.3} {:+.3} {:+.3}", f.min, f.median, f.max);
            let imbalance = format!("{:.4}", parallel.imbalance);
            let cells = [
                name.clone(),
                shown(many),
                shown(one),
                shown_f,
                verdict(f.median, aim),
                imbalance,
                expected.iterations.to_string(),
            ];
            output::row(&WIDTHS, &cells);
            record.add(&name, &engine.to_string(), "parallel run", "s", rounds, many);
            record.add(&name, &engine.to_string(), "serial run", "s", rounds, one);
            record.add(&name, &engine.to_string(), "overhead", "1", rounds, f);
        }
    }
    output::line(&format!("record: {}", record.write(&machine)?.display()));
    Ok(())
}

/// Paper 004 eq. 2: what `ranks` ranks lose against perfect division of the one rank's time.
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
    fn perfect_division_has_no_overhead_and_none_at_all_has_one() {
        assert_eq!(overhead(2, 0.5, 1.0), 0.0);
        assert_eq!(overhead(2, 1.0, 1.0), 1.0);
    }
}
