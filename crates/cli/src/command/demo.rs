//! `lehr demo`: points that are built in, clustered by a workflow.
//!
//! Without options of the method the workflow of the data set is run, as `lehr run` would, over data sets and services of the command ([`crate::study`]). With
//! them, as one of several processes, or to go on with a run, the points are clustered as `lehr cluster` does.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use lehr_data::{Points, datasets};
use lehr_node::{Client, Node, Settings};
use lehr_report::Subject;
use lehr_runtime::{Builder, Dispatcher, block_on};
use lehr_services::Host;
use lehr_workflow::{Begin, WORKFLOWS, Workflow, Workflows};

use crate::arguments::{Dataset, DemoArguments, PartArgument};
use crate::command::ask::failure;
use crate::command::run::Session;
use crate::exit::{Failure, Kind};
use crate::folder::{Folder, Results};
use crate::interrupt::Interrupt;
use crate::output;
use crate::plan::method::MethodPlan;
use crate::study::{Part, Study};

/// The workflow of the census, as people can read it.
const CENSUS: &str = include_str!("../../workflows/census.toml");

/// The workflow over two nodes.
const TWO_NODES: &str = include_str!("../../workflows/two-nodes.toml");

/// How long the services of a node may take to end.
const GRACE: Duration = Duration::from_secs(60);

/// Whether a demonstration is the workflow of its data set: nothing is said of the method.
pub fn is_workflow(demo: &DemoArguments) -> bool {
    demo.application.is_none()
        && demo.method.0.is_empty()
        && demo.results.0.resume.is_none()
        && demo.results.0.trace.is_none()
}

/// Runs the workflow of a demonstration, or one of its nodes, and shows what came out.
///
/// # Errors
/// Why there is no result; then nothing is written.
pub fn run(plan: MethodPlan, dataset: Dataset, part: Option<PartArgument>) -> Result<(), Failure> {
    match (dataset, part) {
        (Dataset::Census, None) => census(plan),
        (Dataset::TwoNodes, None) => two_nodes(&plan),
        (Dataset::TwoNodes, Some(PartArgument::Data)) => node(plan, None, Part::Data),
        (Dataset::TwoNodes, Some(PartArgument::Compute)) => {
            let folder = Folder::claim(&plan.out, Results::Method(plan.method.about()), None, plan.force, None)?;
            node(plan, Some(folder), Part::Compute)
        }
        (Dataset::Census, Some(_)) => Err(Failure::new(Kind::Usage, "--part goes with two-nodes")),
    }
}

fn environment(cause: &dyn std::fmt::Display) -> Failure {
    Failure::new(Kind::Environment, cause.to_string())
}

/// All in this process.
fn census(plan: MethodPlan) -> Result<(), Failure> {
    let folder = Folder::claim(&plan.out, Results::Method(plan.method.about()), None, plan.force, None)?;
    let dispatcher = Builder::new().start().map_err(|cause| environment(&cause))?;
    let host = Host::new(dispatcher.handle());
    let is_quiet = plan.quiet;
    let study = Study::new(plan, Some(folder));
    block_on(study.start(&host, Part::All)).map_err(|fault| failure(&fault))?;
    let done = carry_out(&host, &dispatcher, is_quiet, None, Begin::new("census.toml", CENSUS));
    block_on(study.release());
    // What a result could not be written for has an exit code of its own.
    if done.is_err()
        && let Some(failure) = block_on(study.failure())
    {
        return Err(failure);
    }
    done
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

/// The data on one node, the clustering on another, and the run here. The nodes end with this process, however that ends.
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
fn node(plan: MethodPlan, folder: Option<Folder>, part: Part) -> Result<(), Failure> {
    // Who started it hears a request to stop, and ends it.
    Interrupt::ignore();
    let dispatcher = Builder::new().start().map_err(|cause| environment(&cause))?;
    let host = Host::new(dispatcher.handle());
    let study = Study::new(plan, folder);
    block_on(study.start(&host, part)).map_err(|fault| failure(&fault))?;
    let settings = Settings { address: ([127, 0, 0, 1], 0).into(), ..Settings::new() };
    let node = Node::start(host, settings).map_err(|fault| failure(&fault))?;
    output::result(&format!("http://{}\n", node.address()))?;
    // Whatever ends the input ends the node.
    let _ended = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    drop(block_on(node.shutdown(GRACE)));
    block_on(study.release());
    Ok(())
}

/// What a data set is called.
pub fn name(dataset: Dataset) -> &'static str {
    match dataset {
        Dataset::Census | Dataset::TwoNodes => "census",
    }
}

/// The points of a data set that is inside the program.
pub fn points(dataset: Dataset) -> Points {
    match dataset {
        Dataset::Census | Dataset::TwoNodes => datasets::census_blocks(),
    }
}

/// What the rows are, and where they come from, in the report's words.
pub fn subject(dataset: Dataset) -> Subject<'static> {
    match dataset {
        Dataset::Census | Dataset::TwoNodes => Subject {
            row: "census block",
            about: "Census blocks of Nevada, Utah and West Virginia, 2020, weighted by inhabitants",
        },
    }
}
