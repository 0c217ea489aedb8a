//! `lehr minibatch`: a stream in, a folder with centres out.
//!
//! The sample is read before anything is written, so that what is wrong with columns or options is found by then; what is wrong with later rows ends the run where it is found.

use std::io::{self, Write};

use lehr_data::read::Batches;
use lehr_data::scale::{Scale, Scaling};
use lehr_data::{LeftOut, Points};
use lehr_mining::minibatch::{self, Model, Source};
use lehr_ranks::timing::Stopwatch;

use crate::exit::{Failure, GAPS_ELSEWHERE, Kind, of_rows};
use crate::folder::{self, Folder, Results};
use crate::interrupt::Interrupt;
use crate::output;
use crate::plan::minibatch::{MinibatchPlan, MinibatchStart, too_many};
use crate::progress::{Saved, Units, Watch};
use crate::resume::stopped;
use crate::summary::minibatch::MinibatchSummary;
use lehr_methods::clusters::{self, ClusterRow, ClusterTable};
use lehr_methods::numbers::{batches, duration, quantity};
use lehr_methods::rows::warnings_of;
use lehr_methods::{Learnt, ModelFile};

/// Runs a plan to its end.
///
/// # Errors
/// [`Failure`], with nothing but a checkpoint left behind.
pub fn run(plan: MinibatchPlan) -> Result<(), Failure> {
    let interrupt = Interrupt::listen()?;
    let clock = Stopwatch::start();
    let begun = Stream::begin(&plan);
    if begun.is_err() && plan.path.is_none() {
        Interrupt::let_arrive();
    }
    // Before its faults: where a pipe was stopped with us, its last row may be half a row.
    if interrupt.is_requested() {
        return Err(Failure::new(Kind::Stopped, "stopped while reading; nothing was written"));
    }
    let mut stream = begun?;
    if plan.selection.columns.is_none() && !plan.quiet {
        output::columns_taken("clustering by", &stream.columns, &stream.left_out);
    }
    let mut warnings = stream.warnings.clone();
    warnings.iter().for_each(|warning| output::warning(warning));
    let mut phases = vec![("reading the sample".to_owned(), clock.seconds())];
    let resumed = match &plan.start {
        MinibatchStart::Resumed(_, folder) => Some(folder.as_path()),
        MinibatchStart::Fresh(_) => None,
    };
    let mut folder = Folder::claim(&plan.out, Results::Stream, plan.path.as_deref(), plan.force, resumed)?;
    let clock = Stopwatch::start();
    let model = cluster(&plan, &mut stream, &mut folder, &interrupt)?;
    phases.push(("clustering".to_owned(), clock.seconds()));
    model.warnings.iter().for_each(|warning| output::warning(warning));
    warnings.extend(model.warnings.iter().cloned());

    // From here on a first Ctrl-C changes nothing: the results are there and take well under a second to write.
    let clock = Stopwatch::start();
    let as_json = |cause: serde_json::Error| {
        Failure::new(Kind::NoResult, format!("the results cannot be written as JSON: {cause}"))
    };
    let centers = stream.centers(&model);
    let scale = (stream.scaling.shifts().to_vec(), stream.scaling.divisors().to_vec());
    let learnt = ModelFile::new(&stream.columns, scale, Learnt::Clusters(model.centroids()));
    let learnt = learnt.text().map_err(as_json)?;
    let mut staged = folder.stage();
    let facts = model.clusters.iter().map(|facts| (facts.weight, facts.spread));
    let table = clusters::table(&stream.columns, &centers, facts);
    staged.write(folder::CENTERS, |out| table.write_csv(out))?;
    staged.write(folder::MODEL, |out| out.write_all(learnt.as_bytes()))?;
    phases.push(("writing tables".to_owned(), clock.seconds()));
    let summary = MinibatchSummary::new(&plan, &stream.columns, &centers, &model, &warnings, &phases);
    let summary = summary.text().map_err(as_json)?;
    staged.write(folder::SUMMARY, |out| out.write_all(summary.as_bytes()))?;
    staged.commit()?;
    if plan.json {
        return output::result(&summary);
    }
    let seconds: f64 = phases.iter().map(|(_, seconds)| seconds).sum();
    output::result(&told(&stream.columns, centers, &model, &folder, seconds))
}

/// The rows as they are clustered: as they were read, or scaled as the sample says.
struct Stream {
    batches: Batches<'static>,
    /// Until it is asked for.
    sample: Option<Points>,
    columns: Vec<String>,
    /// What was in the sample besides.
    left_out: Vec<LeftOut>,
    scaling: Scaling,
    warnings: Vec<String>,
    is_pipe: bool,
}

impl Stream {
    /// Reads the sample.
    fn begin(plan: &MinibatchPlan) -> Result<Self, Failure> {
        let mut batches = match &plan.path {
            Some(path) => Batches::open(path, &plan.selection)?,
            None => Batches::new(io::stdin().lock(), &plan.source(), &plan.selection)?,
        };
        let rows = plan.parameters().sample();
        let Some(sample) = batches.next(rows).map_err(|error| of_rows(error, GAPS_ELSEWHERE))? else {
            return Err(lehr_data::Error::Empty { name: plan.source(), found: "no rows" }.into());
        };
        Ok(Stream {
            columns: sample.columns().to_vec(),
            left_out: sample.left_out().to_vec(),
            scaling: Scaling::fit(&sample, plan.scale),
            warnings: warnings_of(&sample, plan.scale == Scale::None),
            is_pipe: plan.path.is_none(),
            batches,
            sample: Some(sample),
        })
    }

    /// The program that feeds a pipe may have ended in the middle of a row by the same Ctrl-C that we are about to hear of.
    fn wait_for_ctrl_c(&self) {
        if self.is_pipe {
            Interrupt::let_arrive();
        }
    }

    /// The centres in the columns' own units.
    fn centers(&self, model: &Model) -> Vec<Vec<f64>> {
        let mut centers: Vec<Vec<f64>> = model.centers.chunks_exact(model.dimension).map(<[f64]>::to_vec).collect();
        if self.scaling.scale() != Scale::None {
            centers.iter_mut().for_each(|center| self.scaling.invert(center));
        }
        centers
    }
}

impl Source for Stream {
    fn next(&mut self, rows: usize) -> Result<Option<Points>, lehr_data::Error> {
        let batch = match self.sample.take() {
            Some(sample) => Some(sample),
            None => self.batches.next(rows).inspect_err(|_| self.wait_for_ctrl_c())?,
        };
        match batch {
            Some(batch) if self.scaling.scale() != Scale::None => self.scaling.apply(&batch).map(Some),
            batch => Ok(batch),
        }
    }

    fn fraction(&self) -> Option<f64> {
        self.batches.fraction()
    }
}

/// The clustering itself, watched.
fn cluster(
    plan: &MinibatchPlan,
    stream: &mut Stream,
    folder: &mut Folder,
    interrupt: &Interrupt,
) -> Result<Model, Failure> {
    let checkpoint = folder.checkpoint();
    let units = Units { length: Some(""), temperature: "" };
    let mut watch = Watch::new(interrupt, Some(checkpoint.clone()), units, plan.quiet);
    let outcome = match &plan.start {
        MinibatchStart::Fresh(parameters) => minibatch::cluster(stream, parameters, &plan.execution, &mut watch),
        MinibatchStart::Resumed(state, _) => minibatch::resume(stream, (**state).clone(), &plan.execution, &mut watch),
    };
    let saved = watch.finish();
    if saved == Saved::Checkpoint {
        folder.keep();
    }
    match (outcome, saved) {
        (Ok(model), Saved::Failed(reason)) => {
            output::warning(&format!("no checkpoint could be kept during the run: {reason}"));
            Ok(model)
        }
        (Ok(model), _) => Ok(model),
        (Err(lehr_mining::Error::Stopped), saved) => Err(stopped(&checkpoint, &saved, &plan.resume_command)),
        (Err(error @ lehr_mining::Error::TooManyClusters { .. }), _) => Err(too_many(error)),
        (Err(lehr_mining::Error::Data(error)), Saved::Checkpoint) => Err(Failure::from(error).with_hint(format!(
            "what had passed is in the checkpoint: once these rows are mended, continue with: {}",
            plan.resume_command
        ))),
        (Err(lehr_mining::Error::Data(error)), _) => Err(of_rows(error, GAPS_ELSEWHERE)),
        (Err(error), _) => Err(error.into()),
    }
}

/// The table of clusters, what its figures are of, and where the results are.
fn told(columns: &[String], centers: Vec<Vec<f64>>, model: &Model, folder: &Folder, seconds: f64) -> String {
    let rows = centers.into_iter().zip(&model.clusters).map(|(center, facts)| ClusterRow {
        rows: facts.rows,
        weight: facts.weight,
        center,
        spread: facts.spread,
    });
    let table = ClusterTable { columns, rows: rows.collect(), unit: "" };
    format!(
        "{}\nan approximation: distances are those of {} as they passed, each row from its centre as that stood then; of the last batch {}\n\n{}\n{}, {} and {} in {} after {}\n",
        clusters::headline(model.rows, model.clusters.len() as u64, model.objective.sqrt(), ""),
        batches(model.batches),
        quantity(model.last_objective.sqrt(), ""),
        table.text(),
        folder::CENTERS,
        folder::MODEL,
        folder::SUMMARY,
        folder.path().display(),
        duration(seconds)
    )
}
