//! `quality`: one default run for each seed, compared with the best known sum of squares and the known classes.

use anyhow::Result;
use lehr_data::Points;
use lehr_mining::agreement::Agreement;
use lehr_mining::anneal::Silent;
use lehr_mining::vector::{self, Model, Parameters};
use lehr_ranks::Execution;

use crate::arguments::MeasurementArguments;
use crate::compare::excess_percent;
use crate::definition::{self, BestKnown, VectorSets};
use crate::inputs;
use crate::machine::Machine;
use crate::measure::{Spread, timed};
use crate::output;
use crate::record::Record;
use crate::score::sum_of_squares;

const WIDTHS: [usize; 8] = [30, 5, 16, 26, 22, 22, 12, 8];

/// Runs every set of `mining/vector.json` whose data are available, with seeds 0 to 9.
///
/// # Errors
/// Returns an error if a set cannot be read, a run fails, or the record cannot be written.
pub fn run(arguments: &MeasurementArguments) -> Result<()> {
    let sets: VectorSets = definition::read("mining/vector.json")?;
    let best_known: BestKnown = definition::read("mining/best_known.json")?;
    let seeds = arguments.rounds.unwrap_or(sets.seeds);
    let machine = Machine::look();
    let mut record = Record::new(&arguments.record, "quality");
    output::line(&format!(
        "Sum of squares of one default run, seeds 0 to {}, as excess over the best known, and adjusted Rand index to the known classes",
        seeds - 1
    ));
    output::line(&machine.line());
    let within = format!("within {} %", 100.0 * sets.tolerance);
    let heads = [
        "set",
        "K",
        "best known",
        "excess min/med/max, %",
        "Rand min/med/max",
        "seconds min/med/max",
        &within,
        "imbal.",
    ];
    output::row(&WIDTHS, &heads.map(String::from));
    let (mut reached, mut rows, mut absent) = (0, 0, Vec::new());
    for set in sets.sets.iter().filter(|set| (arguments.all || set.tier != "all") && arguments.wants(&set.name)) {
        let Some(path) = inputs::find(set, arguments.data.as_deref()) else {
            absent.push(set.name.as_str());
            continue;
        };
        let points = inputs::load(set, &path)?;
        let classes = set.label.as_ref().and_then(|_| inputs::classes(&points));
        for &clusters in &set.clusters {
            let best = best_known.get(&set.name, clusters);
            let (mut excess, mut rand, mut seconds, mut imbalance) = (Vec::new(), Vec::new(), Vec::new(), 0.0_f64);
            for seed in 0..seeds as u64 {
                let (taken, model) = timed(|| ours(&points, clusters, seed, arguments.threads));
                let model = model?;
                excess.extend(best.map(|best| excess_percent(sum_of_squares(&points, &model.centers), best)));
                rand.extend(classes.as_ref().map(|classes| Agreement::new(&model.labels, classes).adjusted_rand));
                seconds.push(taken);
                imbalance = imbalance.max(model.imbalance);
            }
            let hits = excess.iter().filter(|&&percent| percent <= 100.0 * sets.tolerance).count();
            reached += usize::from(hits == seeds);
            rows += usize::from(best.is_some());
            let (percent, time) = (best.map(|_| Spread::of(&excess)), Spread::of(&seconds));
            let rand = classes.as_ref().map(|_| Spread::of(&rand));
            let cells = [
                set.name.clone(),
                clusters.to_string(),
                best.map_or_else(none, |best| format!("{best:.8e}")),
                shown(percent),
                shown(rand),
                format!("{:.2} {:.2} {:.2}", time.min, time.median, time.max),
                best.map_or_else(none, |_| format!("{hits} of {seeds}")),
                format!("{imbalance:.3}"),
            ];
            output::row(&WIDTHS, &cells);
            let case = format!("{} K={clusters}", set.name);
            if let Some(percent) = percent {
                record.add(&case, "lehr", "excess over the best known", "%", seeds, percent);
            }
            if let Some(rand) = rand {
                record.add(&case, "lehr", "adjusted Rand index", "1", seeds, rand);
            }
            record.add(&case, "lehr", "run", "s", seeds, time);
        }
    }
    output::line(&format!("{reached} of {rows} rows with all seeds {within} of the best known"));
    if !absent.is_empty() {
        output::note(&format!(
            "not here: {} (LEHR_DATA or --data names the folder with gis/ and benchmarks/)",
            absent.join(", ")
        ));
    }
    output::line(&format!("record: {}", record.write(&machine)?.display()));
    Ok(())
}

/// Returns the cell for a figure that a set does not have.
fn none() -> String {
    "-".into()
}

fn shown(spread: Option<Spread>) -> String {
    spread.map_or_else(none, |spread| format!("{:.4} {:.4} {:.4}", spread.min, spread.median, spread.max))
}

/// Makes one run with default parameters.
///
/// # Errors
/// Returns the errors of the method.
pub fn ours(points: &Points, clusters: usize, seed: u64, threads: Option<usize>) -> Result<Model> {
    let parameters = Parameters { clusters: Some(clusters), seed, ..Parameters::default() };
    let mut execution = Execution::default();
    if let Some(threads) = threads {
        (execution.threads, execution.ranks) = (threads, threads);
    }
    run_with(points, &parameters, &execution)
}

/// Makes one run with the given parameters and layout, without an observer.
///
/// # Errors
/// Returns the errors of the method.
pub fn run_with(points: &Points, parameters: &Parameters, execution: &Execution) -> Result<Model> {
    Ok(vector::cluster(points, parameters, execution, &mut Silent)?)
}
