//! The application as a workflow: runs the steps of `workflows/genes.toml` or `workflows/patients.toml`, as `lehr run`
//! does, over data sets and jobs in this process.
//!
//! Turns the services' results into the input of the report and the tables. The compared pairs are kept in the folder
//! of the results, because the services lose them when this process ends.

use std::collections::BTreeMap;
use std::time::Duration;

use lehr_demos::application::services::{first_fault, given, seconds, start};
use lehr_demos::application::{Application, Outcome};
use lehr_jobs::Distances;
use lehr_runtime::{Builder, Idle, block_on};
use lehr_services::Host;
use lehr_workflow::{Begin, RunState, WORKFLOWS, Workflow, Workflows};

use super::{Stages, stopped};
use crate::command::ask::failure;
use crate::command::distances::{PairFacts, described};
use crate::command::run::Session;
use crate::exit::{Failure, Kind};
use crate::folder::Folder;
use crate::output;
use crate::plan::distances::DistancesPlan;
use crate::resume::{checkpoint_of, take_over};

/// The longest time that the services may take to end: jobs that are stopped keep their finished parts.
const GRACE: Duration = Duration::from_secs(60);

/// The names of the steps in the files and of the stages in the report.
const STEPS: [(&str, &str); 3] = [("compare", "comparing"), ("cluster", "clustering"), ("map", "mapping")];

/// Runs the workflow of an application.
///
/// # Errors
/// Returns the reason why there is no result; if the run was stopped, the folder then has only the compared pairs.
pub fn carry_out(
    application: &Application,
    plan: &DistancesPlan,
    folder: &mut Folder,
    clock: &mut Stages,
) -> Result<Outcome, Failure> {
    let checkpoint = folder.checkpoint();
    application.items.compared(&plan.options, |metric| match &plan.resumed {
        // Checked before the run begins: a checkpoint of other items, or none.
        Some(resumed) => {
            let from = checkpoint_of(resumed)?;
            lehr_distances::checkpoint::LogReader::open::<f32>(&from, metric)?;
            take_over(&from, &checkpoint)
        }
        // `--force` discards this checkpoint.
        None if checkpoint.exists() => std::fs::remove_file(&checkpoint)
            .map_err(|cause| Failure::new(Kind::Environment, format!("{}: {cause}", checkpoint.display()))),
        None => Ok(()),
    })?;
    let environment = |cause: &dyn std::fmt::Display| Failure::new(Kind::Environment, cause.to_string());
    // A worker that spins while it looks for work would keep the core from a job.
    let idle = Idle { spin: Duration::ZERO, ..Idle::default() };
    let dispatcher = Builder::new().idle(idle).start().map_err(|cause| environment(&cause))?;
    let host = Host::new(dispatcher.handle());
    let distances = Distances::logging_to(&checkpoint);
    let services = block_on(start(&host, plan.execution.threads, distances.clone()));
    let services = services.map_err(|fault| failure(&fault))?;
    let workflows = block_on(host.start(WORKFLOWS, || Workflows::new(None))).map_err(|fault| failure(&fault))?;

    let (file, definition) = application.subject.workflow();
    let read = Workflow::read(file, definition);
    let workflow = read.map_err(|found| Failure::new(Kind::NoResult, found.to_string()))?;
    let mut begin = Begin::new(file, definition);
    begin.parameters = BTreeMap::from([
        ("items".to_owned(), application.ids.len().into()),
        ("clusters".to_owned(), application.clustering.clusters.into()),
        ("dimension".to_owned(), application.embedding.dimension.into()),
        ("seed".to_owned(), application.clustering.seed.into()),
    ]);
    let name = workflow.name();
    let (again, is_json, is_quiet) = (None, false, plan.quiet);
    let session = Session { name, workflows, dispatcher: &dispatcher, node: None, again, is_json, is_quiet };
    let ended = session.carry_out(begin).and_then(|(_, run)| match run.state {
        RunState::Done => {
            clock.told(&STEPS.map(|(step, stage)| (stage, seconds(&run, step))));
            let given = block_on(given(&services, &run)).map_err(|fault| failure(&fault))?;
            let facts = PairFacts { missing: given.missing, largest: given.largest, mean: given.mean };
            let header = application
                .items
                .compared(&plan.options, |metric| Ok::<_, Failure>(described(plan, facts, metric, None)))?;
            Ok(Outcome { header, matrix: given.matrix, model: given.model, map: given.map })
        }
        RunState::Failed | RunState::Running => Err(failure(&first_fault(&run))),
        RunState::Stopped | RunState::Cancelled => Err(Failure::new(Kind::Stopped, "")),
    });
    // Running jobs keep their finished parts and end.
    drop(block_on(host.shutdown(GRACE)));
    if checkpoint.is_file() {
        folder.keep();
    }
    let unkept = distances.unkept();
    match ended {
        Err(ended) if ended.kind == Kind::Stopped => Err(stopped(application, plan, folder, unkept.as_deref())),
        Ok(outcome) => {
            if let Some(reason) = unkept {
                output::warning(&format!("no checkpoint could be kept during the run: {reason}"));
            }
            Ok(outcome)
        }
        ended => ended,
    }
}
