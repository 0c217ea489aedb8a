//! `lehr demo`: points that are built in, clustered by a workflow.
//!
//! Without options of the method the workflow of the data set is run, as `lehr run` would, over data sets and jobs of
//! this process. With options of the method, as one of several processes, or to resume a run, it clusters the points as
//! `lehr cluster` does.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use lehr_demos::census::{TWO_NODES, WORKFLOW};
use lehr_demos::results::{self, Written};
use lehr_demos::samples::Samples;
use lehr_jobs::{Fits, Setup};
use lehr_methods::cluster::{Cluster, Fitted};
use lehr_methods::{Data, Rows};
use lehr_node::{Client, Node, Settings};
use lehr_ranks::Engine;
use lehr_runtime::{Builder, Dispatcher, block_on};
use lehr_services::{Code, Fault, Host};
use lehr_sync::{Arc, Mutex};
use lehr_workflow::{Begin, WORKFLOWS, Workflow, Workflows};

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

/// The number of jobs that cluster at once: those that the census chooses from, and the one that watches.
const SIDE_BY_SIDE: usize = 4;

/// The longest time that the services of a node may take to end.
const GRACE: Duration = Duration::from_secs(60);

/// Whether a demonstration is the workflow of its data set: no method is named.
pub fn is_workflow(demo: &DemoArguments) -> bool {
    demo.application.is_none()
        && demo.method.0.is_empty()
        && demo.results.0.resume.is_none()
        && demo.results.0.trace.is_none()
        && demo.results.0.figure.is_none()
}

/// Whether jobs compute as a plan says: on threads of this process with a rank each.
pub fn is_of_jobs(plan: &MethodPlan) -> bool {
    plan.execution.engine == Engine::Ranks && plan.execution.ranks == plan.execution.threads
}

/// Runs the workflow of a demonstration, or one of its nodes, and prints the result.
///
/// # Errors
/// The reason why there is no result; then nothing is written.
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

/// The outcome of the chosen clustering.
struct Outcome {
    plan: MethodPlan,
    /// Claimed until this is dropped.
    folder: Mutex<Option<Folder>>,
    /// The reason why it could not be written: with its exit code, which a fault has not.
    failure: Mutex<Option<Failure>>,
}

impl Outcome {
    fn claim(plan: MethodPlan) -> Result<Arc<Self>, Failure> {
        let folder = Folder::claim(&plan.out, Results::Method(plan.method.about()), None, plan.force, None)?;
        Ok(Arc::new(Self { plan, folder: Mutex::new(Some(folder)), failure: Mutex::new(None) }))
    }

    /// Starts the services that cluster, choose and write.
    async fn start(self: &Arc<Self>, host: &Host) -> Result<(), Fault> {
        // Several numbers of clusters side by side.
        let settings = lehr_jobs::Settings {
            concurrency: SIDE_BY_SIDE,
            threads: Some(self.plan.execution.threads),
            ..lehr_jobs::Settings::default()
        };
        let setup = Setup { settings: [("/clustering".to_owned(), settings)].into(), ..Setup::default() };
        let (fits, outcome) = (Fits::default(), self.clone());
        setup.start_keeping(host, "/clustering", &Cluster, &fits).await?;
        let writer: Arc<results::Writer> = Arc::new(move |rows, fit, phases| outcome.write(rows, fit, phases));
        host.start("/results", move || results::Results::new(fits.clone(), writer.clone())).await?;
        Ok(())
    }

    fn write(&self, rows: &Rows, fit: &Fitted, phases: Vec<(String, f64)>) -> Result<Written, Fault> {
        let mut folder = self.folder.lock();
        let folder = folder.as_mut().ok_or_else(|| Fault::new(Code::ServiceStopping, "the demonstration is over"))?;
        let warnings: Vec<String> = rows.warnings().into_iter().chain(fit.warnings.iter().cloned()).collect();
        warnings.iter().for_each(|warning| output::warning(warning));
        let finished = Finished { plan: &self.plan, data: Data::Rows(rows), fit, warnings, phases };
        let report = folder.path().join(crate::folder::REPORT).display().to_string();
        let written = publish(finished, folder, &ProcessGroup::new(None), None);
        written.map(|text| Written { text, report }).map_err(|failure| {
            let fault = Fault::new(Code::OperationFailed, failure.message.clone());
            *self.failure.lock() = Some(failure);
            fault
        })
    }
}

/// All in this process.
fn census(plan: MethodPlan) -> Result<(), Failure> {
    let is_quiet = plan.quiet;
    let outcome = Outcome::claim(plan)?;
    let dispatcher = Builder::new().start().map_err(|cause| environment(&cause))?;
    let host = Host::new(dispatcher.handle());
    let started = block_on(async {
        Setup::default().start_datasets(&host, "/datasets").await?;
        host.start("/samples", Samples::default).await?;
        outcome.start(&host).await
    });
    started.map_err(|fault| failure(&fault))?;
    let done = carry_out(&host, &dispatcher, is_quiet, None, Begin::new("census.toml", WORKFLOW));
    drop(block_on(host.shutdown(GRACE)));
    // If it was made for results and there are none, it goes.
    drop(outcome.folder.lock().take());
    let failure = outcome.failure.lock().take();
    match (done, failure) {
        (Err(_), Some(failure)) => Err(failure),
        (done, _) => done,
    }
}

fn carry_out(
    host: &Host,
    dispatcher: &Dispatcher,
    is_quiet: bool,
    client: Option<Client>,
    begin: Begin,
) -> Result<(), Failure> {
    let workflow = Workflow::read(&begin.file, &begin.definition)
        .map_err(|found| Failure::new(Kind::NoResult, found.to_string()))?;
    let started = block_on(host.start(WORKFLOWS, move || Workflows::new(client.clone())));
    let workflows = started.map_err(|fault| failure(&fault))?;
    let name = workflow.name();
    Session { name, workflows, dispatcher, node: None, again: None, is_json: false, is_quiet }.run(begin)
}

/// The data on one node, the clustering on another, and the run here. The nodes end with this process, for any reason.
fn two_nodes(plan: &MethodPlan) -> Result<(), Failure> {
    let data = Started::new("data")?;
    let compute = Started::new("compute")?;
    if !plan.quiet {
        output::note(&format!("the data are at {}, the clustering at {}", data.url, compute.url));
    }
    let mut begin = Begin::new("two-nodes.toml", TWO_NODES);
    begin.parameters.insert("data".to_owned(), data.url.clone().into());
    begin.parameters.insert("compute".to_owned(), compute.url.clone().into());
    let dispatcher = Builder::new().threads(1).start().map_err(|cause| environment(&cause))?;
    let host = Host::new(dispatcher.handle());
    let client = Client::new(None).map_err(|fault| failure(&fault))?;
    carry_out(&host, &dispatcher, plan.quiet, Some(client), begin)
}

/// A node of this demonstration, as a process.
struct Started {
    process: Child,
    url: String,
}

impl Started {
    fn new(part: &str) -> Result<Self, Failure> {
        let program = std::env::current_exe().map_err(|cause| environment(&cause))?;
        // With the same options, as they were typed.
        let typed = std::env::args_os().skip(1);
        let mut process = Command::new(program)
            .args(typed)
            .args(["--part", part])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|cause| environment(&cause))?;
        let mut url = String::new();
        if let Some(told) = process.stdout.take() {
            BufReader::new(told).read_line(&mut url).map_err(|cause| environment(&cause))?;
        }
        let mut started = Self { process, url: url.trim().to_owned() };
        if started.url.is_empty() {
            let _ended = started.process.wait();
            return Err(Failure::new(Kind::Environment, format!("the node for {part} has not started")));
        }
        Ok(started)
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        // The end of its input is the end of the node.
        drop(self.process.stdin.take());
        let _ended = self.process.wait();
    }
}

/// A node, until its input ends.
fn node(plan: MethodPlan, part: PartArgument) -> Result<(), Failure> {
    // Who started it hears a request to stop, and ends it.
    Interrupt::ignore();
    let outcome = (part == PartArgument::Compute).then(|| Outcome::claim(plan)).transpose()?;
    let dispatcher = Builder::new().start().map_err(|cause| environment(&cause))?;
    let host = Host::new(dispatcher.handle());
    let started = block_on(async {
        Setup::default().start_datasets(&host, "/datasets").await?;
        match &outcome {
            Some(outcome) => outcome.start(&host).await,
            None => host.start("/samples", Samples::default).await.map(drop),
        }
    });
    started.map_err(|fault| failure(&fault))?;
    let settings = Settings { address: ([127, 0, 0, 1], 0).into(), ..Settings::new() };
    let node = Node::start(host, settings).map_err(|fault| failure(&fault))?;
    output::result(&format!("http://{}\n", node.address()))?;
    // Whatever ends the input ends the node.
    let _ended = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    drop(block_on(node.shutdown(GRACE)));
    drop(outcome.and_then(|outcome| outcome.folder.lock().take()));
    Ok(())
}
