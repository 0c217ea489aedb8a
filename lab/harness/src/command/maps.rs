//! `bench maps`: multidimensional scaling of the same matrix, ours beside scikit-learn's SMACOF.
//!
//! One judge for both: the stress of positions, squared errors over squared dissimilarities, is computed here. Ours runs once from classical scaling and once
//! annealed; the peer from one random start and from as many as the definition says, of which it keeps the best.

use std::cell::RefCell;

use anyhow::{Context, Result, bail, ensure};
use lehr_data::dissimilarities::Dissimilarities;
use lehr_mining::anneal::Silent;
use lehr_mining::smacof::{self, Input, Parameters};
use lehr_ranks::Execution;
use serde_json::json;

use crate::arguments::Arguments;
use crate::compare::ratios;
use crate::definition::{self, MapSet, Maps};
use crate::dissimilarities::{alu_repeats, condensed, patients};
use crate::inputs;
use crate::machine::Machine;
use crate::measure::{Side, Spread, take_turns, timed};
use crate::output;
use crate::record::Record;
use crate::runner::{Runner, number, numbers};

const WIDTHS: [usize; 5] = [34, 24, 14, 26, 26];

/// Measures every set of `mining/maps.json`.
///
/// # Errors
/// Peers that are not installed, an answer that is no map, a file that cannot be read or written.
pub fn run(arguments: &Arguments) -> Result<()> {
    let definition: Maps = definition::read("mining/maps.json")?;
    ensure!(
        arguments.peers.is_file(),
        "{} is not there: `make peers` installs scikit-learn, or --peers names a Python that has it",
        arguments.peers.display()
    );
    let machine = Machine::look();
    let mut record = Record::new(&arguments.record, "maps");
    let seeds = arguments.rounds.unwrap_or(definition.seeds);
    let mut execution = Execution::default();
    if let Some(threads) = arguments.threads {
        (execution.threads, execution.ranks) = (threads, threads);
    }
    let mut runner = Runner::start("maps", &arguments.peers, ["lab/runners/maps/runner.py"])?;
    output::line(&format!(
        "Maps in {} dimensions, {seeds} runs in turns, seeds 0 to {}",
        definition.dimension,
        seeds - 1
    ));
    output::line(&machine.line());
    for set in definition.sets.iter().filter(|set| arguments.wants(&set.name)) {
        let matrix = load(set)?;
        let pairs = condensed(&matrix);
        ensure!(pairs.iter().all(|value| value.is_finite()), "{}: the peer takes no gaps", set.name);
        let path = inputs::write_numbers("pairs.bin", &[&pairs])?;
        let known = runner.ask(&json!({ "matrix": path, "items": matrix.items() }).to_string())?;
        record.versions(&known["versions"].to_string());
        let sides = measure(&definition, &matrix, &execution, &mut runner, seeds).with_context(|| set.name.clone())?;
        report(set, &sides, &definition, &mut record);
    }
    output::line(&format!("record: {}", record.write(&machine)?.display()));
    Ok(())
}

fn load(set: &MapSet) -> Result<Dissimilarities> {
    match (set.alu, set.patients) {
        (Some(items), None) => Ok(alu_repeats(items)?.0),
        (None, Some(items)) => patients(items),
        _ => bail!("{}: expected alu or patients", set.name),
    }
}

/// What a side made of its runs.
struct Runs {
    name: String,
    stresses: Vec<f64>,
    iterations: Vec<f64>,
    seconds: Vec<f64>,
}

fn measure(
    definition: &Maps,
    matrix: &Dissimilarities,
    execution: &Execution,
    runner: &mut Runner,
    seeds: usize,
) -> Result<Vec<Runs>> {
    let dimension = definition.dimension;
    let names = [
        "lehr".to_owned(),
        "lehr, annealed".to_owned(),
        "scikit-learn, one start".to_owned(),
        format!("scikit-learn, best of {}", definition.starts),
    ];
    let mut all = names.map(|name| Runs { name, stresses: Vec::new(), iterations: Vec::new(), seconds: Vec::new() });
    let runner = RefCell::new(runner);
    let [plain, annealed, one, several] = &mut all;
    let mut sides: Vec<Side<'_>> = Vec::new();
    for (runs, is_annealed) in [(plain, false), (annealed, true)] {
        let mut next = super::pairwise::seeds_in_turn();
        sides.push(Box::new(move || {
            let parameters = Parameters { dimension, annealed: is_annealed, seed: next(), ..Parameters::default() };
            let (seconds, map) = timed(|| smacof::embed(&Input::new(matrix), &parameters, execution, &mut Silent));
            let map = map?;
            runs.stresses.push(stress(matrix, &map.positions, dimension)?);
            runs.iterations.push(map.passes as f64);
            Ok(seconds)
        }));
    }
    for (runs, starts) in [(one, 1), (several, definition.starts)] {
        let (runner, mut next) = (&runner, super::pairwise::seeds_in_turn());
        sides.push(Box::new(move || {
            let request = json!({
                "dimension": dimension,
                "seed": next(),
                "starts": starts,
                "iterations": definition.iterations,
                "threads": execution.threads,
            });
            let answer = runner.borrow_mut().ask(&request.to_string())?;
            runs.stresses.push(stress(matrix, &numbers(&answer, "positions")?, dimension)?);
            runs.iterations.push(number(&answer, "iterations")?);
            number(&answer, "seconds")
        }));
    }
    let seconds = take_turns(seeds, &mut sides)?;
    drop(sides);
    let told = all.into_iter().zip(seconds).map(|(runs, seconds)| Runs { seconds, ..runs });
    Ok(told.collect())
}

/// Squared errors over squared dissimilarities, of positions N x dimension.
fn stress(matrix: &Dissimilarities, positions: &[f64], dimension: usize) -> Result<f64> {
    let items = matrix.items();
    ensure!(positions.len() == items * dimension, "{} coordinates of {items} items", positions.len());
    let place = |item: usize| &positions[item * dimension..][..dimension];
    let (mut errors, mut squares) = (0.0, 0.0);
    for i in 0..items {
        for j in i + 1..items {
            let Some(delta) = matrix.get(i, j) else { continue };
            let square: f64 = place(i).iter().zip(place(j)).map(|(a, b)| (a - b) * (a - b)).sum();
            errors += (square.sqrt() - delta).powi(2);
            squares += delta * delta;
        }
    }
    Ok(errors / squares)
}

fn report(set: &MapSet, sides: &[Runs], definition: &Maps, record: &mut Record) {
    output::line(&set.name);
    let heads = ["method", "stress min/med/max", "iterations", "seconds min/med/max", "times ours, med"];
    output::row(&WIDTHS, &heads.map(String::from));
    for runs in sides {
        // The round that warms up is judged and not kept: its seed comes again.
        let (stresses, iterations) = (Spread::of(&runs.stresses[1..]), Spread::of(&runs.iterations[1..]));
        let (time, ratio) = (Spread::of(&runs.seconds), ratios(&runs.seconds, &sides[0].seconds));
        let cells = [
            runs.name.clone(),
            format!("{:.6} {:.6} {:.6}", stresses.min, stresses.median, stresses.max),
            format!("{}", iterations.median),
            format!("{:.3} {:.3} {:.3}", time.min, time.median, time.max),
            format!("{:.1}", ratio.median),
        ];
        output::row(&WIDTHS, &cells);
        let count = runs.seconds.len();
        for (quantity, unit, spread) in [
            ("stress", "1", stresses),
            ("iterations", "1", iterations),
            ("run", "s", time),
            ("time over ours", "1", ratio),
        ] {
            record.add(&set.name, &runs.name, quantity, unit, count, spread);
        }
    }
    let least = |side: usize| Spread::of(&sides[side].stresses).min;
    let (ours, theirs) = (least(0).min(least(1)), least(2).min(least(3)));
    let is_never_worse = ours <= theirs * (1.0 + definition.tolerance);
    // One reading of the matrix: several starts of the peer's say the iterations of the best only.
    let each = |side: &Runs| Spread::of(&side.seconds).median / Spread::of(&side.iterations[1..]).median;
    let ratio = each(&sides[2]) / each(&sides[0]);
    output::line(&format!(
        "our stress is {} the peer's best; an iteration of the peer takes {ratio:.0} times ours ({} {})",
        if is_never_worse { "not above" } else { "above" },
        if ratio >= definition.aim { "reaches" } else { "misses" },
        definition.aim
    ));
}

#[cfg(test)]
mod tests {
    use super::*;
    use lehr_data::dissimilarities::{Form, Values};

    #[test]
    fn stress_is_that_of_the_positions() {
        // A right angle, and the same with one corner 1 off.
        let matrix = Dissimilarities::new(3, Form::Condensed, Values::F64(vec![3.0, 4.0, 5.0]), 1.0).unwrap();
        assert_eq!(stress(&matrix, &[0.0, 0.0, 3.0, 0.0, 0.0, 4.0], 2).unwrap(), 0.0);
        let off = stress(&matrix, &[0.0, 0.0, 4.0, 0.0, 0.0, 4.0], 2).unwrap();
        assert!((off - (1.0 + (32f64.sqrt() - 5.0).powi(2)) / 50.0).abs() < 1e-15);
        assert!(stress(&matrix, &[0.0; 5], 2).is_err());
    }

    #[test]
    fn every_set_names_its_items() {
        let definition: Maps = serde_json::from_str(include_str!("../../../definitions/mining/maps.json")).unwrap();
        assert!(definition.sets.iter().all(|set| set.alu.is_some() != set.patients.is_some()));
        let few = MapSet { name: "few".into(), alu: None, patients: Some(20) };
        assert_eq!(load(&few).unwrap().items(), 20);
        assert!(load(&MapSet { patients: None, ..few }).is_err());
    }
}
