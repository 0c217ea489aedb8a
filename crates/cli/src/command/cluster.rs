//! `lehr cluster`: a table in, a folder of results out. `lehr demo` goes the same way with points that are built in.
//!
//! The order matters: everything that can be wrong is found before anything is written, and nothing that was there before
//! is touched until all results are complete.

use std::path::Path;

use lehr_data::read::{self, Selection, Table};
use lehr_data::scale::Scale;
use lehr_data::sparse::FirstColumn;
use lehr_data::write::AtomicFile;
use lehr_data::{Fingerprints, Sparse, Spill, memory};
use lehr_methods::{Frame, Learnt, ModelFile, Rows};
use lehr_ranks::timing::Stopwatch;
use lehr_ranks::trace::Trace;

use crate::clustering::{Beginning, Clustering, Parameters};
use crate::command::demo;
use crate::company::Company;
use crate::exit::{Failure, GAPS_ELSEWHERE, Kind, of_rows};
use crate::folder::{self, Folder, Results};
use crate::interrupt::Interrupt;
use crate::output::{self, ClusterRow, ClusterTable};
use crate::plan::{Plan, Source, Start, of_bits_only, of_sparse_only, stays_in_memory, suits};
use crate::progress::{Saved, Units, Watch};
use crate::resume::stopped;
use crate::summary::Summary;
use crate::trace::TraceFile;
use crate::{marks, report, summary, tables, weights};

/// Runs a plan to its end, together with the other processes of a job, if there are any.
///
/// # Errors
/// [`Failure`], with nothing but a checkpoint left behind.
pub fn run(plan: Plan, company: &Company<'_>) -> Result<(), Failure> {
    let interrupt = Interrupt::listen()?;
    let clock = Stopwatch::start();
    let space = match &plan.source {
        Source::Table { path, selection, bits, weights_from, first_column, spill } => {
            read_space(path, selection, *bits, weights_from.as_deref(), *first_column, spill.as_ref(), plan.frame)?
        }
        Source::BuiltIn(dataset) => Rows::new(demo::points(*dataset), plan.frame)?,
    };
    if let Source::Table { selection, .. } = &plan.source
        && selection.columns.is_none()
        && !space.has_many_columns()
        && !plan.quiet
    {
        output::columns_taken("clustering by", space.columns(), space.left_out());
    }
    if let Start::Fresh(parameters) = &plan.start {
        suits(parameters, space.vectors(), &summary::described(&plan.source).0)?;
    }
    let mut warnings = space.warnings();
    let mut phases = vec![("reading".to_owned(), clock.seconds())];
    for warning in &warnings {
        output::warning(warning);
    }
    if interrupt.is_requested() {
        return Err(Failure::new(Kind::Stopped, "stopped while reading; nothing was written"));
    }

    let input = match &plan.source {
        Source::Table { path, .. } => Some(path.as_path()),
        Source::BuiltIn(_) => None,
    };
    let resumed = match &plan.start {
        Start::Resumed(_, folder) => Some(folder.as_path()),
        Start::Fresh(_) => None,
    };
    let is_resumed = resumed.is_some();
    let mut folder = Folder::claim(&plan.out, Results::Clustering, input, plan.force, resumed)?;
    let trace = plan.trace.as_deref().map(|path| TraceFile::claim(path, input, &folder, plan.force)).transpose()?;
    company.order(&plan.start, space.vectors(), trace.is_some())?;
    let noted = trace.as_ref().map(|file| file.trace().clone());
    let (parameters, model) = cluster(&plan, &space, &mut folder, &interrupt, noted)?;
    phases.extend(model.phases.iter().cloned());
    for warning in &model.warnings {
        output::warning(warning);
    }
    warnings.extend(model.warnings.iter().cloned());

    let finished =
        Finished { plan: &plan, space: &space, parameters: &parameters, model: &model, warnings, phases, is_resumed };
    let text = publish(finished, &mut folder, company, trace)?;
    output::result(&text)
}

/// Reads what is to be clustered: a table; or rows of bits or sparse rows, whose weights are in a table beside.
fn read_space(
    path: &Path,
    selection: &Selection,
    bits: Option<usize>,
    weights_from: Option<&Path>,
    first_column: Option<FirstColumn>,
    spill: Option<&Spill>,
    frame: Frame,
) -> Result<Rows, Failure> {
    let weighted = |rows: Fingerprints| -> Result<Rows, Failure> {
        let weights = weights_from.map(|table| weights::of_rows(rows.ids(), table, selection)).transpose()?;
        Ok(Rows::of_bits(match weights {
            Some(weights) => rows.with_weights(weights)?,
            None => rows,
        }))
    };
    let weighted_sparse = |rows: Sparse, scale: Scale| -> Result<Rows, Failure> {
        let numbers = || (0..rows.len()).map(|row| row.to_string()).collect::<Vec<_>>();
        let weights = weights_from.map(|table| weights::of_rows(&numbers(), table, selection)).transpose()?;
        let rows = match weights {
            Some(weights) => rows.with_weights(weights)?,
            None => rows,
        };
        Ok(Rows::of_sparse(rows, scale))
    };
    if bits.is_some() {
        return weighted(read::packed::fingerprints(path, bits)?);
    }
    // Where there is a table beside, the selection is of that one.
    let own = if weights_from.is_some() { &Selection::default() } else { selection };
    let table = match spill {
        Some(spill) => read::spilled_table(path, own, first_column, spill),
        None => memory::has_room(path, own).and_then(|()| read::table(path, own, first_column)),
    };
    let table = table.map_err(|error| of_rows(error, GAPS_ELSEWHERE))?;
    if first_column.is_some() && !matches!(table, Table::Sparse(_)) {
        let message = format!("--first-column: for SVMlight's text, which {} is not", path.display());
        return Err(Failure::new(Kind::Usage, message));
    }
    match table {
        Table::Numbers(_) if weights_from.is_some() => {
            let message = "--weights-from: for rows of bits and sparse rows; a table of numbers has its weights in a column of its own";
            Err(Failure::new(Kind::Usage, message).with_hint("--weights names it"))
        }
        Table::Sparse(rows) => {
            of_sparse_only(selection, weights_from.is_some(), frame)?;
            stays_in_memory(spill, "the file has sparse rows")?;
            weighted_sparse(rows, if let Frame::Columns(scale) = frame { scale } else { Scale::None })
        }
        Table::Numbers(points) => Ok(Rows::new(points, frame)?),
        Table::Bits(rows) => {
            of_bits_only(selection, weights_from.is_some(), frame, "an FPS file")?;
            stays_in_memory(spill, "an FPS file has rows of bits")?;
            weighted(rows)
        }
    }
}

/// A model, and what its results tell of how it came about.
pub struct Finished<'a> {
    /// What was asked for.
    pub plan: &'a Plan,
    /// The rows.
    pub space: &'a Rows,
    /// What the method was told.
    pub parameters: &'a Parameters,
    /// What it found.
    pub model: &'a Clustering,
    /// What an owner of the data should know.
    pub warnings: Vec<String>,
    /// Where the time went until here, in seconds.
    pub phases: Vec<(String, f64)>,
    /// Whether it went on with an earlier run.
    pub is_resumed: bool,
}

/// Writes the results, all or none. The answer is what is shown: the table, or the summary as JSON.
///
/// From here on a first Ctrl-C changes nothing: the results are there and take well under a second to write.
///
/// # Errors
/// [`Kind::Environment`]: the disk does not take them.
pub fn publish(
    finished: Finished<'_>,
    folder: &mut Folder,
    company: &Company<'_>,
    trace: Option<TraceFile>,
) -> Result<String, Failure> {
    let Finished { plan, space, parameters, model, warnings, mut phases, is_resumed } = finished;
    let clock = Stopwatch::start();
    let path = folder.path().to_path_buf();
    let mut staged = folder.stage();
    staged.write(folder::LABELS, |out| company.write_labels(out.temporary(), space.ids(), model, &plan.execution))?;
    staged.write(folder::CENTERS, |out| tables::centers(out, space, model))?;
    let learnt = Learnt::Clusters(model.centroids.clone());
    let learnt = if space.is_sphere() {
        ModelFile::on_sphere(space.columns(), learnt)
    } else {
        ModelFile::new(space.columns(), space.shifts_and_divisors(), learnt)
    };
    let learnt = learnt
        .text()
        .map_err(|cause| Failure::new(Kind::NoResult, format!("the model cannot be written as JSON: {cause}")))?;
    staged.write(folder::MODEL, |out| std::io::Write::write_all(out, learnt.as_bytes()))?;
    phases.push(("writing tables".to_owned(), clock.seconds()));
    let clock = Stopwatch::start();
    let page = report::page(plan, space, parameters, model, &warnings, &phases, is_resumed);
    staged.write(folder::REPORT, |out| std::io::Write::write_all(out, page.as_bytes()))?;
    phases.push(("writing the report".to_owned(), clock.seconds()));
    let summary = Summary::new(plan, space, parameters, model, &warnings, &phases, is_resumed)
        .text()
        .map_err(|cause| Failure::new(Kind::NoResult, format!("the summary cannot be written as JSON: {cause}")))?;
    staged.write(folder::SUMMARY, |out| std::io::Write::write_all(out, summary.as_bytes()))?;
    let trace = trace.map(TraceFile::write).transpose()?;
    staged.commit()?;
    trace.map(AtomicFile::commit).transpose()?;
    Ok(if plan.json { summary } else { told(space, parameters, model, &path, clock_total(&phases)) })
}

fn clock_total(phases: &[(String, f64)]) -> f64 {
    phases.iter().map(|(_, seconds)| seconds).sum()
}

/// The clustering itself, watched.
fn cluster(
    plan: &Plan,
    space: &Rows,
    folder: &mut Folder,
    interrupt: &Interrupt,
    trace: Option<Trace>,
) -> Result<(Parameters, Clustering), Failure> {
    let checkpoint = folder.checkpoint();
    let beginning = match &plan.start {
        Start::Fresh(parameters) => Beginning::fresh(parameters.clone()),
        Start::Resumed(checkpoint, _) => Beginning::resumed(checkpoint.clone()),
    };
    let parameters = beginning.parameters();
    let length = parameters.cost().is_squared().then(|| space.unit());
    let units = Units { length, temperature: parameters.unit_of_cost(space.unit_squared()) };
    let mut watch = Watch::new(interrupt, Some(checkpoint.clone()), units, plan.quiet).noting(trace);
    let outcome = beginning.run(space.vectors(), &plan.execution, &mut watch);
    let saved = watch.finish();
    if saved == Saved::Checkpoint {
        folder.keep();
    }
    match (outcome, saved) {
        (Ok(model), Saved::Failed(reason)) => {
            output::warning(&format!("no checkpoint could be kept during the run: {reason}"));
            Ok((parameters, model))
        }
        (Ok(model), _) => Ok((parameters, model)),
        (Err(lehr_mining::Error::Stopped), saved) => Err(stopped(&checkpoint, &saved, &plan.resume_command)),
        (Err(error), _) => Err(error.into()),
    }
}

/// The table of clusters and where the results are.
fn told(space: &Rows, parameters: &Parameters, model: &Clustering, folder: &Path, seconds: f64) -> String {
    let filled = marks::filled(space, model);
    let one = filled.as_ref().map(|filled| [filled.name.to_owned()]);
    let columns = one.as_ref().map_or_else(|| space.columns(), |one| &one[..]);
    let table = ClusterTable {
        columns,
        rows: model
            .centers
            .chunks_exact(model.dimension)
            .zip(&model.clusters)
            .enumerate()
            .map(|(k, (center, facts))| ClusterRow {
                rows: facts.rows,
                weight: facts.weight,
                // A thousand columns are for centers.csv.
                center: filled.as_ref().map_or_else(|| space.center(center), |filled| vec![filled.of_clusters[k]]),
                spread: space.distance(facts.spread),
            })
            .collect(),
        unit: space.unit(),
    };
    let headline =
        output::headline(space.len() as u64, model.clusters.len() as u64, model.root_mean_square(), space.unit());
    let nats = model.centroids.is_bernoulli().then(|| output::nats(model.objective));
    let outside = model.outliers.as_ref().map(|outliers| output::outside(outliers.rows, space.len() as u64));
    let suggested = model.annealed().and_then(|annealed| annealed.suggestion.as_ref()).and_then(|suggestion| {
        let plateau = suggestion
            .plateaus
            .iter()
            .find(|plateau| plateau.clusters == suggestion.clusters && plateau.to.is_some())?;
        Some(output::suggested(
            plateau.clusters as u64,
            plateau.from,
            plateau.to?,
            parameters.unit_of_cost(space.unit_squared()),
        ))
    });
    let headline = [Some(headline), nats, outside, suggested].into_iter().flatten().collect::<Vec<_>>().join("\n");
    format!("{headline}\n\n{}\n{}\n", table.text(), output::whereabouts(folder, seconds))
}
