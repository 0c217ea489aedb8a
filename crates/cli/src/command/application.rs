//! `lehr demo genes`, `lehr demo patients` and `lehr demo chemistry`: from built-in items to clusters and a map, in one
//! run.
//!
//! In one process the run is a workflow over services ([`composed`]). Several processes, and engines that jobs do not
//! have, run the same stages in sequence ([`in_turn`]), as `lehr distances`, `lehr pairwise` and `lehr embed` do.
//! Either way, the files are those of these commands, with the same bytes. Comparing is the longest stage. Its finished
//! part is kept at every step, and a resumed run compares the remaining pairs. The clusters and the map take less time
//! and are computed again.

mod composed;

use std::ffi::OsString;
use std::io::Write as _;

use lehr_data::dissimilarities::{Element, Form, Header};
use lehr_data::memory;
use lehr_data::write::{dissimilarities, npy};
use lehr_demos::application::found::{self, Found};
use lehr_demos::application::{Application, ApplicationOptions, METHOD, Outcome, Subject, page, whole};
use lehr_distances::Half;
use lehr_distances::checkpoint::LogReader;
use lehr_methods::numbers::duration;
use lehr_methods::{Classes, embed};
use lehr_mining::Error;
use lehr_mining::agreement::Agreement;
use lehr_mining::pairwise;
use lehr_mining::smacof::{self, Shepard};
use lehr_ranks::timing::Stopwatch;
use lehr_ranks::{Engine, Layout};
use serde_json::json;

use super::distances::{self, PairFacts};
use crate::arguments::ApplicationArguments;
use crate::exit::Failure;
use crate::folder::{self, Folder, Results};
use crate::group::ProcessGroup;
use crate::interrupt::Interrupt;
use crate::output;
use crate::plan::distances::{DistancesPlan, Holds};
use crate::plan::{execution, resume_command};
use crate::progress::{Saved, Units, Watch};
use crate::{resume, summary};

/// Runs the command to its end, together with the other processes of a job, if there are any.
///
/// # Errors
/// Returns [`Failure`], and leaves at most a checkpoint behind.
pub fn run(
    subject: Subject,
    read: impl FnOnce(ApplicationOptions) -> Result<Application, lehr_demos::Error>,
    arguments: ApplicationArguments,
    typed: &[OsString],
    group: &ProcessGroup<'_>,
) -> Result<(), Failure> {
    let (execution, layout) = execution(&arguments.execution, group.job())?;
    let mut clock = Stages { watch: Stopwatch::start(), stages: Vec::new() };
    let application = read(arguments.asked())?;
    clock.end("reading");
    let results = arguments.results;
    let out = results.out.or(results.resume.clone()).unwrap_or_else(|| subject.out().into());
    let plan = DistancesPlan {
        input: subject.source().into(),
        holds: Holds::Items(application.items.kind()),
        options: subject.options(),
        delimiter: None,
        execution,
        element: Element::F32,
        form: Form::Full,
        resume_command: resume_command(typed, &out),
        out,
        resumed: results.resume,
        force: results.force,
        checkpoint_seconds: 0.0,
        memory: memory::available(),
        json: results.json,
        quiet: results.quiet,
    };
    if let Some(limit) = plan.memory {
        Half::<f32>::fits(application.items.len(), limit)?;
    }
    let mut folder = Folder::claim(&plan.out, Results::Application, None, plan.force, plan.resumed.as_deref())?;
    // Jobs run like this: ranks on threads of this process, one each.
    let is_composed = application.is_built_in
        && !group.is_several()
        && plan.execution.engine == Engine::Ranks
        && plan.execution.ranks == plan.execution.threads;
    let outcome = if is_composed {
        composed::carry_out(&application, &plan, &mut folder, &mut clock)?
    } else {
        in_turn(&application, &plan, group, &mut folder, &mut clock)?
    };
    publish(&application, &outcome, &plan, layout, &mut folder, clock)
}

/// Writes the results, all or none, and prints a summary.
fn publish(
    application: &Application,
    outcome: &Outcome,
    plan: &DistancesPlan,
    layout: Layout,
    folder: &mut Folder,
    mut clock: Stages,
) -> Result<(), Failure> {
    let Outcome { header, matrix, model, map } = outcome;
    let shepard = Shepard::new(matrix, map, embed::BINS);
    let warnings: Vec<String> = model.warnings.iter().chain(&map.warnings).cloned().collect();
    warnings.iter().for_each(|warning| output::warning(warning));
    let agreement = application.known.as_ref().map(|known| Agreement::new(&model.labels, &known.of));
    let marks = application.marks(&model.labels, model.clusters.len());
    let enrichment = application.enrichment(&model.labels, model.clusters.len());
    let clusters = Classes::numbered("cluster", &model.labels);
    let found = Found {
        application,
        header,
        matrix,
        model,
        clusters: &clusters,
        map,
        shepard: &shepard,
        agreement: agreement.as_ref(),
        marks: &marks,
        enrichment: enrichment.as_ref(),
        warnings: &warnings,
    };
    let mut staged = folder.stage();
    let mut checksum = None;
    staged.write(folder::ARRAY, |out| {
        let row = |i: usize, row: &mut [f64]| {
            row.iter_mut().enumerate().for_each(|(j, value)| *value = matrix.get(i, j).unwrap_or(f64::NAN));
        };
        let Header { items, form, element, scale, .. } = *header;
        checksum = Some(dissimilarities::numbers(out, items, form, element, scale, row)?);
        Ok(())
    })?;
    staged.write(folder::IDS, |out| found::write_ids(out, application))?;
    let described = Header { checksum, ..header.clone() };
    staged.write(folder::HEADER, |out| out.write_all(dissimilarities::header(&described).as_bytes()))?;
    let ids = &application.ids;
    staged.write(folder::LABELS, |out| lehr_methods::pairwise::labels(ids, model).write_csv(out))?;
    staged.write(folder::CLUSTERS, |out| lehr_methods::pairwise::clusters(ids, model).write_csv(out))?;
    staged
        .write(folder::POSITIONS, |out| embed::positions(ids, map, std::slice::from_ref(&clusters)).write_csv(out))?;
    staged.write(folder::POSITIONS_ARRAY, |out| npy::array(out, &map.positions, map.dimension))?;
    clock.end("writing the tables");
    let text = page::page(&found, &clock.stages);
    staged.write(folder::REPORT, |out| out.write_all(text.as_bytes()))?;
    clock.end("writing the report");
    let stages = clock.stages.iter().map(|(stage, seconds)| json!({ "stage": stage, "seconds": seconds }));
    let mut facts = found::facts(&found);
    facts["seconds"] = json!({ "total": clock.total(), "stages": stages.collect::<Vec<_>>() });
    facts["execution"]["resumed"] = json!(plan.resumed.is_some());
    let summary = summary::of_demonstration(METHOD, facts, &plan.execution, layout)?;
    staged.write(folder::SUMMARY, |out| out.write_all(summary.as_bytes()))?;
    staged.commit()?;
    if plan.json {
        return output::result(&summary);
    }
    let stages: Vec<String> =
        clock.stages.iter().map(|(stage, seconds)| format!("{stage} {}", duration(*seconds))).collect();
    output::result(&format!(
        "{}\n{}\nmatrix, tables and {} in {} after {}\nreport: {}\n",
        found::told(&found),
        stages.join(", "),
        folder::SUMMARY,
        folder.path().display(),
        duration(clock.total()),
        folder.path().join(folder::REPORT).display()
    ))
}

/// Runs the stages in sequence, with the functions of the three commands.
fn in_turn(
    application: &Application,
    plan: &DistancesPlan,
    group: &ProcessGroup<'_>,
    folder: &mut Folder,
    clock: &mut Stages,
) -> Result<Outcome, Failure> {
    let interrupt = Interrupt::listen()?;
    let (half, saved, header) = application.items.compared(&plan.options, |metric| {
        let (half, saved) = distances::compute::<f32>(plan, group, &application.items, metric, folder, &interrupt)?;
        let facts = PairFacts::of(&half);
        half.held(facts.largest.max(0.0), metric)?;
        let header = distances::described(plan, facts, metric, None);
        Ok::<_, Failure>((half, saved, header))
    })?;
    let unkept = if let Saved::Failed(reason) = saved { Some(reason) } else { None };
    let matrix = whole(&half)?;
    drop(half);
    clock.end("comparing");
    let mut watch = Watch::new(&interrupt, None, Units::default(), plan.quiet);
    let model = pairwise::cluster(&matrix, None, &application.clustering, &plan.execution, &mut watch);
    watch.finish();
    let ended_or = |error| ended(error, application, plan, folder, unkept.as_deref());
    let model = model.map_err(ended_or)?;
    clock.end("clustering");
    let mut watch = Watch::new(&interrupt, None, Units::default(), plan.quiet);
    let map = smacof::embed(&smacof::Input::new(&matrix), &application.embedding, &plan.execution, &mut watch);
    watch.finish();
    let map = map.map_err(ended_or)?;
    clock.end("mapping");
    Ok(Outcome { header, matrix, model, map })
}

/// Seconds by stage.
struct Stages {
    watch: Stopwatch,
    stages: Vec<(&'static str, f64)>,
}

impl Stages {
    /// Records the time since the end of the last stage.
    fn end(&mut self, stage: &'static str) {
        let before: f64 = self.total();
        self.stages.push((stage, (self.watch.seconds() - before).max(0.0)));
    }

    /// Records stages that were timed elsewhere, in sequence and up to now. Any remaining time since the end of the
    /// last stage is added to that stage.
    fn told(&mut self, stages: &[(&'static str, f64)]) {
        let told: f64 = stages.iter().map(|(_, seconds)| seconds).sum();
        let left = (self.watch.seconds() - self.total() - told).max(0.0);
        if let Some((_, seconds)) = self.stages.last_mut() {
            *seconds += left;
        }
        self.stages.extend_from_slice(stages);
    }

    fn total(&self) -> f64 {
        self.stages.iter().map(|(_, seconds)| seconds).sum()
    }
}

/// Returns the failure of a method, or of a stopped run with the command that resumes it. The compared pairs are in the
/// checkpoint, unless `unkept` gives a reason why some are not.
fn ended(
    error: Error,
    application: &Application,
    plan: &DistancesPlan,
    folder: &Folder,
    unkept: Option<&str>,
) -> Failure {
    match error {
        Error::Stopped => stopped(application, plan, folder, unkept),
        error => resume::failed(error),
    }
}

/// Returns the failure of a stopped run, with the command that resumes it.
fn stopped(application: &Application, plan: &DistancesPlan, folder: &Folder, unkept: Option<&str>) -> Failure {
    let path = folder.checkpoint();
    let kept: Result<(), Failure> = application.items.compared(&plan.options, |metric| {
        LogReader::open::<f32>(&path, metric)?;
        Ok(())
    });
    match (kept, unkept) {
        (Ok(()), None) => resume::stopped(&path, &Saved::Checkpoint, &plan.resume_command),
        (Ok(()), Some(reason)) => resume::stopped_short(&path, reason, &plan.resume_command),
        (Err(_), None) => resume::stopped(&path, &Saved::Nothing, &plan.resume_command),
        (Err(_), Some(reason)) => resume::stopped(&path, &Saved::Failed(reason.to_owned()), &plan.resume_command),
    }
}
