//! `lehr demo`: a workflow clusters built-in points.
//!
//! Without options of the method, it runs the data set's workflow, as `lehr run` does, over data sets and jobs in this
//! process. With options of the method, as one of several processes, or to resume a run, it clusters the points as
//! `lehr cluster` does.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use lehr_demos::application::services::seconds;
use lehr_demos::census::{TWO_NODES, WORKFLOW};
use lehr_demos::samples::Samples;
use lehr_jobs::datasets::Datasets;
use lehr_jobs::reports::{Report, Reports};
use lehr_jobs::{Columns, Fits, Setup, fetch};
use lehr_methods::cluster::{Cluster, Fitted};
use lehr_methods::{Data, Frame, Rows};
use lehr_node::{Client, Node, Settings};
use lehr_ranks::Engine;
use lehr_runtime::{Builder, Dispatcher, block_on};
use lehr_services::{Fault, Host, Reference};
use lehr_workflow::{Begin, Run, RunState, WORKFLOWS, Workflow, Workflows};
use serde::{Deserialize, Serialize};

use crate::arguments::{Dataset, DemoArguments, PartArgument};
use crate::command::ask::failure;
use crate::command::method::{Finished, publish};
use crate::command::run::Session;
use crate::exit::{Failure, Kind};
use crate::folder::{Folder, Results};
use crate::group::ProcessGroup;
use crate::interrupt::Interrupt;
use crate::output;
use crate::plan::method::MethodPlan;

/// The number of jobs that cluster at once: one for each number of clusters in the census workflow, and one that
/// watches.
const SIDE_BY_SIDE: usize = 4;

/// The longest time that the services of a node may take to end.
const GRACE: Duration = Duration::from_secs(60);

/// Whether a demonstration runs the workflow of its data set, which is so if no option of the method is given.
pub fn is_workflow(demo: &DemoArguments) -> bool {
    demo.application.is_none()
        && demo.method.0.is_empty()
        && demo.results.0.resume.is_none()
        && demo.results.0.trace.is_none()
        && demo.results.0.figure.is_none()
}

/// Whether jobs compute as a plan says: on threads of this process, with one rank each.
pub fn is_of_jobs(plan: &MethodPlan) -> bool {
    plan.execution.engine == Engine::Ranks && plan.execution.ranks == plan.execution.threads
}

/// Runs the workflow of a demonstration, or one of its nodes, and prints the result.
///
/// # Errors
/// Returns the reason why there is no result; then nothing has been written.
pub fn run(plan: MethodPlan, dataset: Dataset, part: Option<PartArgument>) -> Result<(), Failure> {
    match (dataset, part) {
        (Dataset::Census, None) => census(plan),
        (Dataset::TwoNodes, None) => two_nodes(&plan),
        (Dataset::TwoNodes, Some(part)) => node(plan, part),
        (Dataset::Census, Some(_)) => Err(Failure::new(Kind::Usage, "--part goes with two-nodes")),
    }
}

fn environment(cause: &dyn std::fmt::Display) -> Failure {
    Failure::new(Kind::Environment, cause.to_string())
}

/// The services that cluster and report, and the folder for the results of one job.
struct Outcome {
    plan: MethodPlan,
    /// Claimed until this is dropped. If the folder was created for results and there are none, it is removed.
    folder: Folder,
    /// The fits of jobs, because the files need more than a result's tables.
    fits: Fits,
}

/// The results to write, which the workflow reports.
#[derive(Debug, Serialize, Deserialize)]
struct Wanted {
    job: String,
    /// The time spent outside the clustering of that job, in seconds.
    phases: Vec<(String, f64)>,
}

impl Wanted {
    /// Returns the job that the last step of a run reports.
    fn of(run: &Run) -> Result<Self, Failure> {
        let output = |step: &str| run.steps.get(step).and_then(|step| step.output());
        let report: Option<Report> = output("report").and_then(|report| serde_json::from_value(report).ok());
        let report = report.ok_or_else(|| Failure::new(Kind::NoResult, "the run has made no report"))?;
        let reading = seconds(run, "read");
        let rest = (run.elapsed_ms as f64 / 1000.0 - reading).max(0.0);
        Ok(Self { job: report.job, phases: vec![("reading".to_owned(), reading), (OTHERS.to_owned(), rest)] })
    }
}

/// The name of the phase in which the other clusterings ran.
const OTHERS: &str = "other numbers of clusters";

impl Outcome {
    fn claim(plan: MethodPlan) -> Result<Self, Failure> {
        let folder = Folder::claim(&plan.out, Results::Method(plan.method.about()), None, plan.force, None)?;
        Ok(Self { plan, folder, fits: Fits::default() })
    }

    /// Starts the services that cluster and report.
    async fn start(&self, host: &Host) -> Result<(), Fault> {
        // Several numbers of clusters are computed at once.
        let settings = lehr_jobs::Settings {
            concurrency: SIDE_BY_SIDE,
            threads: Some(self.plan.execution.threads),
            ..lehr_jobs::Settings::default()
        };
        let setup = Setup { settings: [("/clustering".to_owned(), settings)].into(), ..Setup::default() };
        setup.start_keeping(host, "/clustering", &Cluster, &self.fits).await?;
        host.start("/reports", Reports::default).await?;
        Ok(())
    }

    /// Writes the results of a job. Returns the text to print.
    fn write(&mut self, datasets: &Reference<Datasets>, wanted: Wanted) -> Result<String, Failure> {
        let lost = || Failure::new(Kind::NoResult, format!("there is no result of {}", wanted.job));
        let fit = self.fits.get(&wanted.job).ok_or_else(lost)?;
        let fit = fit.as_any().downcast_ref::<Fitted>().ok_or_else(lost)?;
        let table = block_on(fetch(datasets, DATASET)).map_err(|fault| failure(&fault))?;
        let rows = Rows::new(table.points(DATASET, &Columns::default())?, Frame::Sphere)?;
        let warnings: Vec<String> = rows.warnings().into_iter().chain(fit.warnings.iter().cloned()).collect();
        warnings.iter().for_each(|warning| output::warning(warning));
        let mut phases = wanted.phases;
        let own: f64 = fit.phases.iter().map(|(_, seconds)| seconds).sum();
        if let Some((_, seconds)) = phases.iter_mut().find(|(phase, _)| phase == OTHERS) {
            *seconds = (*seconds - own).max(0.0);
        }
        phases.extend(fit.phases.iter().cloned());
        let finished = Finished { plan: &self.plan, data: Data::Rows(&rows), fit, warnings, phases };
        publish(finished, &mut self.folder, &ProcessGroup::new(None), None)
    }
}

fn shown(text: &str) -> Result<(), Failure> {
    output::result(&format!("{}\n", text.trim_end()))
}

/// The data set of the workflows.
const DATASET: &str = "census";

/// Runs everything in this process.
fn census(plan: MethodPlan) -> Result<(), Failure> {
    let is_quiet = plan.quiet;
    let mut outcome = Outcome::claim(plan)?;
    let dispatcher = Builder::new().start().map_err(|cause| environment(&cause))?;
    let host = Host::new(dispatcher.handle());
    let started = block_on(async {
        let datasets = Setup::default().start_datasets(&host, "/datasets").await?;
        host.start("/samples", Samples::default).await?;
        outcome.start(&host).await.map(|()| datasets)
    });
    let datasets = started.map_err(|fault| failure(&fault))?;
    let done = carry_out(&host, &dispatcher, is_quiet, None, Begin::new("census.toml", WORKFLOW))
        .and_then(|wanted| outcome.write(&datasets, wanted));
    drop(block_on(host.shutdown(GRACE)));
    shown(&done?)
}

/// Runs the workflow, and returns the results that it reports.
fn carry_out(
    host: &Host,
    dispatcher: &Dispatcher,
    is_quiet: bool,
    client: Option<Client>,
    begin: Begin,
) -> Result<Wanted, Failure> {
    let workflow = Workflow::read(&begin.file, &begin.definition)
        .map_err(|found| Failure::new(Kind::NoResult, found.to_string()))?;
    let started = block_on(host.start(WORKFLOWS, move || Workflows::new(client.clone())));
    let workflows = started.map_err(|fault| failure(&fault))?;
    let name = workflow.name();
    let session = Session { name, workflows, dispatcher, node: None, again: None, is_json: false, is_quiet };
    let (id, run) = session.carry_out(begin)?;
    if run.state != RunState::Done {
        session.end(&id, &run)?;
    }
    Wanted::of(&run)
}

/// Runs the data on one node, the clustering on another, and the workflow here. However this process ends, the nodes
/// end with it.
fn two_nodes(plan: &MethodPlan) -> Result<(), Failure> {
    let data = Started::new("data")?;
    let mut compute = Started::new("compute")?;
    if !plan.quiet {
        output::note(&format!("the data are at {}, the clustering at {}", data.url, compute.url));
    }
    let mut begin = Begin::new("two-nodes.toml", TWO_NODES);
    begin.parameters.insert("data".to_owned(), data.url.clone().into());
    begin.parameters.insert("compute".to_owned(), compute.url.clone().into());
    let dispatcher = Builder::new().threads(1).start().map_err(|cause| environment(&cause))?;
    let host = Host::new(dispatcher.handle());
    let client = Client::new(None).map_err(|fault| failure(&fault))?;
    let wanted = carry_out(&host, &dispatcher, plan.quiet, Some(client), begin)?;
    shown(&compute.written(&wanted)?)
}

/// A node of this demonstration, as a child process.
struct Started {
    process: Child,
    /// The node's standard output, after the line with its address.
    told: Option<BufReader<ChildStdout>>,
    url: String,
}

impl Started {
    fn new(part: &str) -> Result<Self, Failure> {
        let program = std::env::current_exe().map_err(|cause| environment(&cause))?;
        // The child gets the same options, as typed.
        let typed = std::env::args_os().skip(1);
        let mut process = Command::new(program)
            .args(typed)
            .args(["--part", part])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|cause| environment(&cause))?;
        let mut url = String::new();
        let mut told = process.stdout.take().map(BufReader::new);
        if let Some(told) = &mut told {
            told.read_line(&mut url).map_err(|cause| environment(&cause))?;
        }
        let mut started = Self { process, told, url: url.trim().to_owned() };
        if started.url.is_empty() {
            let _ended = started.process.wait();
            return Err(Failure::new(Kind::Environment, format!("the node for {part} has not started")));
        }
        Ok(started)
    }

    /// Makes the node write results, and ends it. Returns the text to print.
    fn written(&mut self, wanted: &Wanted) -> Result<String, Failure> {
        let line = serde_json::to_string(wanted).map_err(|cause| environment(&cause))?;
        if let Some(mut input) = self.process.stdin.take() {
            writeln!(input, "{line}").map_err(|cause| environment(&cause))?;
        }
        let mut text = String::new();
        if let Some(told) = &mut self.told {
            told.read_to_string(&mut text).map_err(|cause| environment(&cause))?;
        }
        if text.is_empty() {
            return Err(Failure::new(Kind::Environment, "the node for compute has written no results"));
        }
        Ok(text)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // The node ends when its input ends.
        drop(self.process.stdin.take());
        let _ended = self.process.wait();
    }
}

/// Runs a node until its input ends. A line of the input names the results to write.
fn node(plan: MethodPlan, part: PartArgument) -> Result<(), Failure> {
    // The process that started this node receives requests to stop, and ends the node.
    Interrupt::ignore();
    let mut outcome = (part == PartArgument::Compute).then(|| Outcome::claim(plan)).transpose()?;
    let dispatcher = Builder::new().start().map_err(|cause| environment(&cause))?;
    let host = Host::new(dispatcher.handle());
    let started = block_on(async {
        let datasets = Setup::default().start_datasets(&host, "/datasets").await?;
        match &outcome {
            Some(outcome) => outcome.start(&host).await?,
            None => host.start("/samples", Samples::default).await.map(drop)?,
        }
        Ok::<_, Fault>(datasets)
    });
    let datasets = started.map_err(|fault| failure(&fault))?;
    let settings = Settings { address: ([127, 0, 0, 1], 0).into(), ..Settings::new() };
    let node = Node::start(host, settings).map_err(|fault| failure(&fault))?;
    output::result(&format!("http://{}\n", node.address()))?;
    // The node ends when the input ends, for whatever reason.
    let input = std::io::read_to_string(std::io::stdin()).unwrap_or_default();
    let written = match (&mut outcome, serde_json::from_str(&input)) {
        (Some(outcome), Ok(wanted)) => outcome.write(&datasets, wanted).and_then(|text| shown(&text)),
        _ => Ok(()),
    };
    drop(block_on(node.shutdown(GRACE)));
    written
}
