//! `lehr embed`: a matrix of dissimilarities in, a folder with a map out.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;

use clap::ValueEnum;
use lehr_data::write::csv::Table;
use lehr_data::write::npy;
use lehr_mining::smacof::{Checkpoint, Map, Parameters, Shepard, Start, Stop, Weighting};
use lehr_ranks::timing::Stopwatch;
use serde_json::{Value, json};

use crate::arguments::{EmbedArguments, StartArgument, WeightingArgument};
use crate::company::Company;
use crate::company::matrix::{Begin, BeginEmbedding, Task};
use crate::exit::{Failure, Kind};
use crate::folder::{self, Folder, Results};
use crate::interrupt::Interrupt;
use crate::matrix::{Classes, Matrix};
use crate::numbers::{counted, duration, significant};
use crate::output;
use crate::plan::{execution, resume_command};
use crate::progress::{Saved, Units, Watch};
use crate::report::pairs;
use crate::resume::{self, Repeated};
use crate::summary;

/// The folder for results when none is named.
const OUT_DEFAULT: &str = "lehr-embed";
/// Cells a side of the Shepard diagram.
pub(super) const BINS: usize = 64;

/// Runs the command to its end, together with the other processes of a job, if there are any.
///
/// # Errors
/// [`Failure`], with nothing but a checkpoint left behind.
pub fn run(arguments: EmbedArguments, typed: &[OsString], company: &Company<'_>) -> Result<(), Failure> {
    let results = &arguments.results;
    let (execution, layout) = execution(&arguments.execution, company.job())?;
    let begin = begin(&arguments)?;
    let out = results.out.clone().or(results.resume.clone()).unwrap_or_else(|| OUT_DEFAULT.into());
    let interrupt = Interrupt::listen()?;
    let clock = Stopwatch::start();
    let matrix = Matrix::read(&arguments.input, results.quiet)?;
    let classes = arguments.labels.as_deref().map(|path| matrix.classes(path, &arguments.by)).transpose()?;
    if interrupt.is_requested() {
        return Err(Failure::new(Kind::Stopped, "stopped while reading; nothing was written"));
    }
    let mut folder =
        Folder::claim(&out, Results::Map, Some(&arguments.input), results.force, results.resume.as_deref())?;
    let (parameters, is_resumed) = (begin.parameters().clone(), begin.is_resumed());
    let weights = matrix.weights.as_deref();
    company.order_task(&Task::Embed(begin.clone()), &matrix.dissimilarities, weights)?;
    let path = folder.checkpoint();
    let mut watch = Watch::new(&interrupt, Some(path.clone()), Units::default(), results.quiet);
    let outcome = begin.embed(&matrix.dissimilarities, weights, &execution, &mut watch);
    let saved = watch.finish();
    if saved == Saved::Checkpoint {
        folder.keep();
    }
    let map = match outcome {
        Ok(map) => map,
        Err(lehr_mining::Error::Stopped) => {
            return Err(resume::stopped(&path, &saved, &resume_command(typed, &out)));
        }
        Err(error) => return Err(resume::failed(error)),
    };
    if let Saved::Failed(reason) = saved {
        output::warning(&format!("no checkpoint could be kept during the run: {reason}"));
    }
    map.warnings.iter().for_each(|warning| output::warning(warning));
    let shepard = Shepard::new(&matrix.dissimilarities, &map, BINS);

    let summary = json!({
        "program": summary::PROGRAM,
        "version": env!("CARGO_PKG_VERSION"),
        "method": summary::SCALING,
        "input": {
            "source": arguments.input.display().to_string(),
            "items": matrix.ids.len(),
            "missing_pairs": map.missing_pairs,
            "metric": matrix.dissimilarities.header().map(|header| header.metric.clone()),
            "metric_parameters": matrix.dissimilarities.header().map(|header| header.parameters.clone()),
            "labels": arguments.labels.as_ref().map(|path| path.display().to_string()),
        },
        "parameters": parameters,
        "result": result_facts(&map, &shepard),
        "history": map.history,
        "warnings": map.warnings,
        "execution": {
            "engine": execution.engine.to_string(),
            "ranks": layout.ranks(),
            "threads": execution.threads * layout.processes * layout.nodes,
            "layout": layout.to_string(),
            "imbalance": map.imbalance,
            "resumed": is_resumed,
        },
        "seconds": { "total": clock.seconds(), "phases": map.phases },
    });
    let summary = summary::text(&summary)?;
    let mut staged = folder.stage();
    staged.write(folder::POSITIONS, |out| write_positions(out, &matrix.ids, &map, classes.as_ref()))?;
    staged.write(folder::POSITIONS_ARRAY, |out| npy::array(out, &map.positions, map.dimension))?;
    let source = arguments.input.display().to_string();
    let page = pairs::map_page(&source, &matrix, &map, classes.as_ref(), &shepard);
    staged.write(folder::REPORT, |out| out.write_all(page.as_bytes()))?;
    staged.write(folder::SUMMARY, |out| out.write_all(summary.as_bytes()))?;
    staged.commit()?;
    if results.json { output::result(&summary) } else { tell(&map, folder.path(), clock.seconds()) }
}

/// What came out, for a summary.
pub(super) fn result_facts(map: &Map, shepard: &Shepard) -> Value {
    json!({
        "dimension": map.dimension,
        "stress": map.stress,
        "stress_1": map.stress_1,
        "raw_stress": map.raw_stress,
        "stop": if map.stop == Stop::Converged { "converged" } else { "most iterations" },
        "iterations": map.history.len(),
        "passes": map.passes,
        "solver_steps": map.solver_steps,
        "stresses": map.stresses,
        "correlation": shepard.correlation,
    })
}

fn parameters(arguments: &EmbedArguments) -> Parameters {
    let usual = Parameters::default();
    Parameters {
        dimension: arguments.dimension.unwrap_or(usual.dimension),
        start: arguments.start.map_or(usual.start, start),
        starts: arguments.starts.unwrap_or(usual.starts),
        weighting: arguments.weighting.map_or(usual.weighting, weighting),
        annealed: arguments.anneal,
        tolerance: arguments.tolerance.unwrap_or(usual.tolerance),
        most_iterations: arguments.max_iterations.map_or(usual.most_iterations, |most| most as u64),
        seed: arguments.seed.unwrap_or(usual.seed),
        ..usual
    }
}

fn start(argument: StartArgument) -> Start {
    match argument {
        StartArgument::Classical => Start::Classical,
        StartArgument::Random => Start::Random,
    }
}

fn weighting(argument: WeightingArgument) -> Weighting {
    match argument {
        WeightingArgument::Equal => Weighting::Equal,
        WeightingArgument::Sammon => Weighting::Sammon,
        WeightingArgument::InverseSquare => Weighting::InverseSquare,
    }
}

fn words<T: ValueEnum>(value: &T) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Where the run begins: with what was asked for, or with the checkpoint of a folder, which no option may contradict.
fn begin(arguments: &EmbedArguments) -> Result<BeginEmbedding, Failure> {
    let Some(folder) = &arguments.results.resume else { return Ok(Begin::Fresh(parameters(arguments))) };
    let checkpoint = Checkpoint::read(&resume::checkpoint_of(folder)?)?;
    let stored = checkpoint.parameters();
    let all = |value: &StartArgument| start(*value) == stored.start;
    let stored_start = StartArgument::value_variants().iter().copied().find(all);
    let all = |value: &WeightingArgument| weighting(*value) == stored.weighting;
    let stored_weighting = WeightingArgument::value_variants().iter().copied().find(all);
    let most = arguments.max_iterations.map(|most| most as u64);
    let mut repeated = Repeated::default();
    repeated.option("--dimension", arguments.dimension, Some(stored.dimension), usize::to_string);
    repeated.option("--start", arguments.start, stored_start, words);
    repeated.option("--starts", arguments.starts, Some(stored.starts), usize::to_string);
    repeated.option("--weighting", arguments.weighting, stored_weighting, words);
    repeated.option("--anneal", arguments.anneal.then_some(true), Some(stored.annealed), bool::to_string);
    repeated.option("--tolerance", arguments.tolerance, Some(stored.tolerance), f64::to_string);
    repeated.option("--max-iterations", most, Some(stored.most_iterations), u64::to_string);
    repeated.option("--seed", arguments.seed, Some(stored.seed), u64::to_string);
    repeated.agree()?;
    Ok(Begin::Resumed(Box::new(checkpoint)))
}

/// What the coordinates are called in a table of positions.
pub(super) fn axes(dimension: usize) -> Vec<String> {
    match dimension {
        1..=3 => ["x", "y", "z"][..dimension].iter().map(|axis| (*axis).to_owned()).collect(),
        _ => (0..dimension).map(|axis| format!("x{axis}")).collect(),
    }
}

/// `id`, a column a dimension, `stress` and, if known, the class: a line an item.
pub(super) fn write_positions(
    out: &mut impl std::io::Write,
    ids: &[String],
    map: &Map,
    classes: Option<&Classes>,
) -> std::io::Result<()> {
    let axes = axes(map.dimension);
    let columns: Vec<&str> = std::iter::once("id")
        .chain(axes.iter().map(String::as_str))
        .chain(["stress"])
        .chain(classes.map(|classes| classes.name.as_str()))
        .collect();
    let mut table = Table::new(out, &columns)?;
    for (item, id) in ids.iter().enumerate() {
        table.text(id)?;
        for x in map.position(item) {
            table.number(*x)?;
        }
        table.number(map.item_stress[item])?;
        if let Some(classes) = classes {
            table.text(classes.class(item))?;
        }
        table.end_row()?;
    }
    Ok(())
}

fn tell(map: &Map, folder: &Path, seconds: f64) -> Result<(), Failure> {
    output::result(&format!(
        "{} in {}; stress {} (stress-1 {}) after {}\n{}, {} and {} in {} after {}\nreport: {}\n",
        counted(map.items() as u64, "item"),
        counted(map.dimension as u64, "dimension"),
        significant(map.stress, 4),
        significant(map.stress_1, 4),
        counted(map.history.len() as u64, "iteration"),
        folder::POSITIONS,
        folder::POSITIONS_ARRAY,
        folder::SUMMARY,
        folder.display(),
        duration(seconds),
        folder.join(folder::REPORT).display()
    ))
}
