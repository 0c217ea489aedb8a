//! `bench maps`: multidimensional scaling of the same matrix, by Lehr and by scikit-learn's SMACOF.
//!
//! The lab computes the stress of both sides' positions: the squared errors divided by the squared dissimilarities.
//! Lehr makes one run from classical scaling and one annealed run. The peer makes one run from one random start. It
//! makes another from as many random starts as the definition says, and keeps the best.

use std::cell::RefCell;

use anyhow::{Context, Result, ensure};
use lehr_data::dissimilarities::Dissimilarities;
use lehr_mining::anneal::Silent;
use lehr_mining::smacof::{self, Input, Parameters, Start};
use lehr_ranks::Execution;
use serde_json::json;

use crate::arguments::MeasurementArguments;
use crate::compare::ratios;
use crate::definition::{self, MapSet, Maps};
use crate::dissimilarities::{complete, condensed, of_set};
use crate::inputs;
use crate::machine::Machine;
use crate::measure::{Side, Spread, take_turns, timed};
use crate::output::{self, three_digits};
use crate::record::Record;
use crate::runner::{Runner, number, numbers};

const WIDTHS: [usize; 6] = [34, 28, 12, 10, 26, 16];

/// Measures every set of `mining/maps.json`.
///
/// # Errors
/// Returns an error if peers are not installed, an answer is not a map, or a file cannot be read or written.
pub fn run(arguments: &MeasurementArguments) -> Result<()> {
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
    let mut absent = Vec::new();
    for set in &definition.sets {
        if !arguments.wants(&set.name) || set.tier == "all" && !arguments.all {
            continue;
        }
        let Some(matrix) = of_set(set, arguments.data.as_deref())? else {
            absent.push(set.name.as_str());
            continue;
        };
        let matrix = complete(&set.name, matrix)?;
        let pairs = condensed(&matrix);
        let path = inputs::write_numbers("pairs.bin", &[&pairs])?;
        let known = runner.ask(&json!({ "matrix": path, "items": matrix.items() }).to_string())?;
        record.versions(&known["versions"].to_string());
        let work = Work { set, definition: &definition, matrix: &matrix, execution: &execution };
        let sides = work.measure(&mut runner, set.seeds.unwrap_or(seeds)).with_context(|| set.name.clone())?;
        report(set, &sides, &definition, &mut record);
    }
    if !absent.is_empty() {
        output::note(&format!("not here: {} (LEHR_DATA or --data names the folder)", absent.join(", ")));
    }
    output::line(&format!("record: {}", record.write(&machine)?.display()));
    Ok(())
}

/// The results of a side's runs.
struct Runs {
    name: String,
    stresses: Vec<f64>,
    iterations: Vec<f64>,
    /// The milliseconds of one iteration, without the start of the run if the side reports it separately.
    each: Vec<f64>,
    seconds: Vec<f64>,
}

impl Runs {
    fn of(name: String) -> Self {
        Self { name, stresses: Vec::new(), iterations: Vec::new(), each: Vec::new(), seconds: Vec::new() }
    }
}

/// A set, and the sides that make maps of it.
struct Work<'a> {
    set: &'a MapSet,
    definition: &'a Maps,
    matrix: &'a Dissimilarities,
    execution: &'a Execution,
}

impl Work<'_> {
    /// Returns the sides: whole maps, or a given number of plain iterations from one random start.
    fn sides(&self) -> Vec<(String, Method)> {
        let ours = |parameters| Method::Ours(Parameters { dimension: self.definition.dimension, ..parameters });
        if let Some(iterations) = self.set.iterations {
            let most_iterations = iterations as u64;
            let plain = Parameters {
                start: Start::Random,
                starts: 1,
                relaxed: false,
                tolerance: 1e-15,
                most_iterations,
                ..Parameters::default()
            };
            return vec![
                (format!("lehr, {iterations} iterations"), ours(plain)),
                (format!("scikit-learn, {iterations} iterations"), Method::Peers { starts: 1, iterations }),
            ];
        }
        let Maps { starts, iterations, .. } = *self.definition;
        vec![
            ("lehr".to_owned(), ours(Parameters::default())),
            ("lehr, annealed".to_owned(), ours(Parameters { annealed: true, ..Parameters::default() })),
            ("scikit-learn, one start".to_owned(), Method::Peers { starts: 1, iterations }),
            (format!("scikit-learn, best of {starts}"), Method::Peers { starts, iterations }),
        ]
    }

    fn measure(&self, runner: &mut Runner, seeds: usize) -> Result<Vec<Runs>> {
        let runner = RefCell::new(runner);
        let (names, methods): (Vec<_>, Vec<_>) = self.sides().into_iter().unzip();
        let mut all: Vec<Runs> = names.into_iter().map(Runs::of).collect();
        let mut sides: Vec<Side<'_>> = Vec::new();
        for (runs, method) in all.iter_mut().zip(methods) {
            let (runner, mut next) = (&runner, super::pairwise::seeds_in_turn());
            sides.push(Box::new(move || match &method {
                Method::Ours(parameters) => self.ours(&Parameters { seed: next(), ..parameters.clone() }, runs),
                Method::Peers { starts, iterations } => {
                    self.peers(&mut runner.borrow_mut(), (next(), *starts, *iterations), runs)
                }
            }));
        }
        let seconds = take_turns(seeds, &mut sides)?;
        drop(sides);
        Ok(all.into_iter().zip(seconds).map(|(runs, seconds)| Runs { seconds, ..runs }).collect())
    }

    fn ours(&self, parameters: &Parameters, runs: &mut Runs) -> Result<f64> {
        let input = Input::new(self.matrix);
        let (seconds, map) = timed(|| smacof::embed(&input, parameters, self.execution, &mut Silent));
        let map = map?;
        runs.stresses.push(stress(self.matrix, &map.positions, parameters.dimension)?);
        runs.iterations.push(map.passes as f64);
        let iterating = map.phases.iter().find(|(phase, _)| phase == "iterating").map(|(_, seconds)| *seconds);
        runs.each.push(1e3 * iterating.context("a map that was never iterated")? / map.history.len().max(1) as f64);
        Ok(seconds)
    }

    fn peers(
        &self,
        runner: &mut Runner,
        (seed, starts, iterations): (u64, usize, usize),
        runs: &mut Runs,
    ) -> Result<f64> {
        let dimension = self.definition.dimension;
        let request = json!({
            "dimension": dimension,
            "seed": seed,
            "starts": starts,
            "iterations": iterations,
            "threads": self.execution.threads,
        });
        let answer = runner.ask(&request.to_string())?;
        runs.stresses.push(stress(self.matrix, &numbers(&answer, "positions")?, dimension)?);
        let (seconds, taken) = (number(&answer, "seconds")?, number(&answer, "iterations")?);
        runs.iterations.push(taken);
        // If there were several starts, the answer has only the iterations of the best.
        runs.each.push(1e3 * seconds / (taken * starts as f64));
        Ok(seconds)
    }
}

/// A program that makes a map, with its settings.
enum Method {
    Ours(Parameters),
    Peers { starts: usize, iterations: usize },
}

/// Returns the squared errors divided by the squared dissimilarities, for positions N x dimension.
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
    let heads = ["method", "stress min/med/max", "iterations", "ms each", "seconds min/med/max", "times ours, med"];
    output::row(&WIDTHS, &heads.map(String::from));
    for runs in sides {
        // The warm-up round is judged but not kept, since its seed is used again.
        let (stresses, iterations) = (Spread::of(&runs.stresses[1..]), Spread::of(&runs.iterations[1..]));
        let each = Spread::of(&runs.each[1..]);
        let (time, ratio) = (Spread::of(&runs.seconds), ratios(&runs.seconds, &sides[0].seconds));
        let cells = [
            runs.name.clone(),
            format!("{:.6} {:.6} {:.6}", stresses.min, stresses.median, stresses.max),
            format!("{}", iterations.median),
            three_digits(each.median),
            format!("{:.3} {:.3} {:.3}", time.min, time.median, time.max),
            format!("{:.1}", ratio.median),
        ];
        output::row(&WIDTHS, &cells);
        let count = runs.seconds.len();
        for (quantity, unit, spread) in [
            ("stress", "1", stresses),
            ("iterations", "1", iterations),
            ("iteration", "ms", each),
            ("run", "s", time),
            ("time over ours", "1", ratio),
        ] {
            record.add(&set.name, &runs.name, quantity, unit, count, spread);
        }
    }
    let each = |side: &Runs| Spread::of(&side.each[1..]).median;
    let ratio_to = |one: usize| each(&sides[one]) / each(&sides[0]);
    let aim = definition.aim;
    let told = |ratio: f64| {
        let reaches = if ratio >= aim { "reaches" } else { "misses" };
        format!("an iteration of the peer takes {ratio:.0} times ours ({reaches} {aim})")
    };
    if set.iterations.is_some() {
        output::line(&told(ratio_to(1)));
        return;
    }
    let least = |side: usize| Spread::of(&sides[side].stresses).min;
    let (ours, theirs) = (least(0).min(least(1)), least(2).min(least(3)));
    let is_never_worse = ours <= theirs * (1.0 + definition.tolerance);
    let place = if is_never_worse { "not above" } else { "above" };
    output::line(&format!("our stress is {place} the peer's best; {}", told(ratio_to(2))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use lehr_data::dissimilarities::{Form, Values};

    #[test]
    fn stress_is_that_of_the_positions() {
        // The points form a right angle; then one corner is moved by 1.
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
    }
}
