//! `lehr METHOD`, for every method that `lehr-methods` declares: reads data, and writes a folder of results.
//! `lehr demo census` works in the same way with built-in points.
//!
//! The order matters. Every error is found before anything is written, and earlier results stay untouched until all new
//! ones are complete.

mod summary;

use std::io::Write;

use lehr_data::object;
use lehr_data::read::Selection;
use lehr_data::scale::Scale;
use lehr_data::write::npy;
use lehr_demos::census;
use lehr_methods::numbers::duration;
use lehr_methods::{Content, Data, Fit, Frame, Matrix, Takes, Task, Temperature};
use lehr_ranks::timing::Stopwatch;
use lehr_ranks::trace::Trace;
use lehr_report::Run;

use crate::exit::{Failure, GAPS_ELSEWHERE, Kind, of_rows};
use crate::folder::{self, Folder, Results};
use crate::group::ProcessGroup;
use crate::input::Input;
use crate::interrupt::Interrupt;
use crate::output;
use crate::plan::method::{MethodPlan, Source};
use crate::progress::{Saved, Units, Watch};
use crate::resume::{self, stopped};
use crate::trace::TraceFile;
use summary::Described;

/// Runs a plan to its end, together with the other processes of a job, if there are any.
///
/// # Errors
/// Returns [`Failure`], and leaves at most a checkpoint behind.
pub fn run(plan: &MethodPlan, group: &ProcessGroup<'_>) -> Result<(), Failure> {
    let interrupt = Interrupt::listen()?;
    let clock = Stopwatch::start();
    let about = plan.method.about();
    let input = Input::read(plan);
    // Checked before the input's faults: if Ctrl-C also stopped the program that feeds the pipe, the last row may be
    // incomplete.
    if interrupt.is_requested() {
        return Err(Failure::new(Kind::Stopped, "stopped while reading; nothing was written"));
    }
    let input = input?;
    let data = input.data();
    let is_told = plan.source.selection.columns.is_none() && !plan.quiet;
    let (mut warnings, reading) = match (data, about.takes) {
        (Data::Rows(rows), Takes::Rows(words)) => {
            if is_told && !rows.has_many_columns() && rows.origin().is_none() {
                output::columns_taken(words.columns_taken, rows.columns(), rows.left_out());
            }
            (rows.warnings(), "reading")
        }
        (Data::Stream(stream), Takes::Stream(words)) => {
            if is_told {
                output::columns_taken(words.columns_taken, stream.columns(), stream.left_out());
            }
            (stream.warnings().to_vec(), "reading the sample")
        }
        _ => (Vec::new(), "reading"),
    };
    let mut phases = vec![(reading.to_owned(), clock.seconds())];
    warnings.iter().for_each(|warning| output::warning(warning));
    let resumed = plan.resumed.as_ref().map(|(_, folder)| folder.as_path());
    let mut folder = Folder::claim(&plan.out, Results::Method(about), plan.source.file(), plan.force, resumed)?;
    let among = (plan.source.file(), &folder, plan.force);
    let trace = plan.trace.as_deref().map(|path| TraceFile::claim(path, among)).transpose()?;
    plan.figure.as_ref().map(|figure| figure.claim(among)).transpose()?;
    group.request(plan, data, trace.is_some())?;
    let noted = trace.as_ref().map(|file| file.trace().clone());
    let fit = fit(plan, data, &mut folder, &interrupt, noted)?;
    phases.extend(fit.spent().phases.iter().cloned());
    fit.warnings().iter().for_each(|warning| output::warning(warning));
    warnings.extend(fit.warnings().iter().cloned());
    let text = publish(Finished { plan, data, fit: &*fit, warnings, phases }, &mut folder, group, trace)?;
    output::result(&text)
}

/// A method's fit, and the facts about the run for its results.
pub struct Finished<'a> {
    /// The plan that was requested.
    pub plan: &'a MethodPlan,
    /// The data.
    pub data: Data<'a>,
    /// The method's fit.
    pub fit: &'a dyn Fit,
    /// Warnings for the owner of the data.
    pub warnings: Vec<String>,
    /// The time spent so far, in seconds, by phase.
    pub phases: Vec<(String, f64)>,
}

/// Returns the column of ids if it was given by name. A number is a position, at which another table may have another
/// column.
fn named(selection: &Selection) -> Option<String> {
    selection.id.clone().filter(|id| id.parse::<usize>().is_err())
}

/// Writes the results, all or none. Returns the text to print: the table, or the summary as JSON.
///
/// From here on, the first Ctrl-C has no effect: the results are complete, and writing them takes well under a second.
///
/// # Errors
/// Returns [`Kind::Environment`] if the results cannot be written.
pub fn publish(
    finished: Finished<'_>,
    folder: &mut Folder,
    group: &ProcessGroup<'_>,
    trace: Option<TraceFile>,
) -> Result<String, Failure> {
    let Finished { plan, data, fit, warnings, mut phases } = finished;
    let about = plan.method.about();
    let clock = Stopwatch::start();
    let learnt = fit
        .model_file(data)
        .map(|model| model.with_id(named(&plan.source.selection)).text())
        .transpose()
        .map_err(|cause| Failure::new(Kind::NoResult, format!("the model cannot be written as JSON: {cause}")))?;
    let mut staged = folder.stage();
    for file in about.files {
        match fit.file(file, data) {
            Some(Content::Table(table)) if plan.source.append && table.row_ids().is_some() => {
                let table = data.rows().append_to(table);
                staged.write(file, |out| table.write_csv(out))?;
            }
            // Tables of rows are long, and all ranks have their content, so all ranks write them.
            Some(Content::Table(table)) if matches!(data, Data::Rows(_)) && table.row_ids().is_some() => {
                staged.write(file, |out| group.write_table(out.temporary(), &table, &plan.execution))?;
            }
            Some(Content::Table(table)) => staged.write(file, |out| table.write_csv(out))?,
            Some(Content::Text(text)) => staged.write(file, |out| out.write_all(text.as_bytes()))?,
            Some(Content::Array { values, columns }) => staged.write(file, |out| npy::array(out, values, columns))?,
            // The model, the report and the summary are written below.
            None => {}
        }
    }
    if let Some(learnt) = &learnt {
        staged.write(folder::MODEL, |out| out.write_all(learnt.as_bytes()))?;
    }
    phases.push(("writing tables".to_owned(), clock.seconds()));
    let source = object::shown(&plan.source.path);
    let mut figure = None;
    if let Some(file) = &plan.figure {
        let clock = Stopwatch::start();
        let drawing = lehr_report::drawing(&told(plan, data, &source, &warnings, &phases), data, fit);
        figure = Some(file.write(&drawing.expect("every method has a picture"))?);
        phases.push(("drawing the figure".to_owned(), clock.seconds()));
    }
    if about.files.contains(&folder::REPORT) {
        let clock = Stopwatch::start();
        let page = lehr_report::page(&told(plan, data, &source, &warnings, &phases), data, fit);
        staged.write(folder::REPORT, |out| out.write_all(page.as_bytes()))?;
        phases.push(("writing the report".to_owned(), clock.seconds()));
    }
    let summary = Described { plan, data, warnings: &warnings, phases: &phases }.sections(fit).text();
    staged.write(folder::SUMMARY, |out| out.write_all(summary.as_bytes()))?;
    let trace = trace.map(TraceFile::write).transpose()?;
    staged.commit()?;
    for file in trace.into_iter().chain(figure) {
        file.commit()?;
    }
    if plan.json {
        return Ok(summary);
    }
    let seconds: f64 = phases.iter().map(|(_, seconds)| seconds).sum();
    Ok(format!("{}\n{}", fit.headline(data), whereabouts(plan, seconds)))
}

/// Returns the scale of columns: as the user requested, or as the preparation chose.
fn scale_of(data: Data<'_>, asked: Frame) -> Scale {
    let origin = if let Data::Rows(rows) = data { rows.origin() } else { None };
    origin.map_or(asked.scale(), |origin| origin.preparation.scale)
}

/// Returns the report's facts about a run.
fn told<'a>(
    plan: &'a MethodPlan,
    data: Data<'_>,
    source: &'a str,
    warnings: &'a [String],
    phases: &'a [(String, f64)],
) -> Run<'a> {
    let MethodPlan { source: Source { selection, frame, .. }, layout, execution, .. } = plan;
    Run {
        about: plan.method.about(),
        source,
        command: Some(&plan.command),
        command_without_end: Some(&plan.command_without_end),
        finished: Some(lehr_sync::unix_ms()),
        subject: plan.source.built_in().map(|_| census::SUBJECT),
        weights: selection.weights.as_deref(),
        ids: selection.id.as_deref(),
        scale: scale_of(data, *frame),
        engine: execution.engine,
        layout: *layout,
        threads: execution.threads * layout.processes * layout.nodes,
        is_resumed: plan.resumed.is_some(),
        warnings,
        phases,
    }
}

/// Runs the fit under an observer.
fn fit(
    plan: &MethodPlan,
    data: Data<'_>,
    folder: &mut Folder,
    interrupt: &Interrupt,
    trace: Option<Trace>,
) -> Result<Box<dyn Fit>, Failure> {
    let units = match plan.method.temperature(&plan.options) {
        Temperature::Number => Units::default(),
        Temperature::Nats => Units { length: None, temperature: "nats" },
        Temperature::Squared { is_length_told } => {
            let (length, temperature) =
                if let Data::Rows(rows) = data { (rows.unit(), rows.unit_squared()) } else { ("", "") };
            Units { length: is_length_told.then_some(length), temperature }
        }
    };
    let checkpoint = folder.checkpoint();
    let mut watch = Watch::new(interrupt, Some(checkpoint.clone()), units, plan.quiet).noting(trace);
    let resumed = plan.resumed.as_ref().map(|(content, _)| &content[..]);
    let task = Task { data, checkpoint: resumed, execution: &plan.execution, observer: &mut watch };
    let outcome = plan.method.run(task, &plan.options);
    let saved = watch.finish();
    if saved == Saved::Checkpoint {
        folder.keep();
    }
    match (outcome, saved) {
        (Ok(fit), Saved::Failed(reason)) => {
            output::warning(&format!("no checkpoint could be kept during the run: {reason}"));
            Ok(fit)
        }
        (Ok(fit), _) => Ok(fit),
        (Err(lehr_mining::Error::Stopped), saved) => Err(stopped(&checkpoint, &saved, &plan.resume_command)),
        (Err(error), saved) => Err(failed(error, data, &saved, plan)),
    }
}

/// Converts the error of a run without a result. For a stream, these include faults in rows after the sample.
fn failed(error: lehr_mining::Error, data: Data<'_>, saved: &Saved, plan: &MethodPlan) -> Failure {
    match (error, data, saved) {
        (lehr_mining::Error::Data(error), Data::Stream(_), Saved::Checkpoint) => {
            Failure::from(error).with_hint(format!(
                "the rows before them are in the checkpoint: correct these rows, then continue with: {}",
                plan.resume_command
            ))
        }
        (lehr_mining::Error::Data(error), Data::Stream(_), _) => of_rows(error, GAPS_ELSEWHERE),
        (error @ lehr_mining::Error::TooManyClusters { .. }, Data::Stream(_), _) => {
            Failure::from(error).with_hint("clusters are found in the sample: --sample-rows takes a larger one")
        }
        (
            error @ (lehr_mining::Error::Unrelated { .. } | lehr_mining::Error::Disconnected { .. }),
            Data::Matrix(matrix),
            _,
        ) => Failure::from(error).with_hint(for_missing_pairs(matrix)),
        (error, Data::Matrix(_), _) => resume::failed(error),
        (error, ..) => error.into(),
    }
}

/// Returns the hint for pairs without a value.
fn for_missing_pairs(matrix: &Matrix) -> &'static str {
    // Only a local alignment may leave out too much of two sequences.
    if matrix.dissimilarities.header().is_some_and(|header| header.parameters.contains_key("overlap_min")) {
        "lehr distances gives every pair of sequences a value with --alignment global; or leave these sequences out of its input"
    } else {
        "leave these items out of the input of lehr distances"
    }
}

/// Returns the lines that name the results: the folder, the report and the figure.
fn whereabouts(plan: &MethodPlan, seconds: f64) -> String {
    let about = plan.method.about();
    let is_told = |file: &&str| *file != folder::REPORT && !about.untold.contains(file);
    let mut files: Vec<&str> = about.files.iter().copied().filter(is_told).collect();
    let last = files.pop().unwrap_or_default();
    let (folder, seconds) = (plan.out.display(), duration(seconds));
    let mut results = format!("{} and {last} in {folder} after {seconds}\n", files.join(", "));
    if about.files.contains(&folder::REPORT) {
        results.push_str(&format!("report: {}\n", plan.out.join(folder::REPORT).display()));
    }
    if let Some(figure) = &plan.figure {
        results.push_str(&format!("figure: {}\n", figure.path().display()));
    }
    results
}
