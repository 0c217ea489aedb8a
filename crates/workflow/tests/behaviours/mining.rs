//! Steps that use data sets and methods of nodes: jobs that a run waits for, cancels and resumes.

use lehr_jobs::datasets::{Datasets, Put};
use lehr_jobs::jobs::{Jobs, Named, Order, Remove, Run as RunJob, State, Wait as WaitForJob, WaitFor};
use lehr_jobs::{Failure, Handle, Inputs, Job, Method, Outputs, Progress as JobReport, Setup, Table};
use lehr_runtime::{Builder, Clock, Dispatcher, Port, block_on};
use lehr_services::{Contract, Host, Reference, State as Snapshot, Subscribe, Version};
use lehr_workflow::{Begin, Cancel, JobProgress, Resume, Run, RunState, WORKFLOWS, Wait, WorkflowState, Workflows};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A method that counts to two. Each step needs a token from its gate, and the method saves its count when it is
/// stopped.
#[derive(Clone, Debug, Default)]
struct Counting {
    /// The count at which each step begins.
    begun: Port<u64>,
    gate: Port<()>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Nothing {}

impl Method for Counting {
    const NAME: &'static str = "example.org/counting";
    const VERSION: Version = Version::new(1, 0);
    const INPUTS: &'static [&'static str] = &["table"];
    const OUTPUTS: &'static [&'static str] = &["numbers"];
    type Options = Nothing;

    fn check(_: &Nothing) -> Vec<String> {
        Vec::new()
    }

    fn run(&self, job: &Job, _: &Inputs, _: &Nothing) -> Result<Outputs, Failure> {
        let mut at = job.saved()?.map_or(0, |bytes| u64::from(bytes[0]));
        while at < 2 {
            self.begun.post(at).unwrap();
            while self.gate.try_receive().is_none() {
                if job.is_stopping() {
                    job.save(&[at as u8])?;
                    return Err(Failure::Stopped);
                }
                std::thread::yield_now();
            }
            at += 1;
            job.report(JobReport::new(at as f64 / 2.0, "counting"));
        }
        Ok(Outputs::new().table("numbers", Table::builder().counts("number", vec![0, 1]).build()?))
    }
}

/// A host with data sets, clustering, counting and workflow runs.
struct World {
    _host: Host,
    datasets: Reference<Datasets>,
    clustering: Reference<Jobs>,
    counting: Reference<Jobs>,
    workflows: Reference<WorkflowState>,
    method: Counting,
    folder: tempfile::TempDir,
    // Dropped last, after the host.
    _dispatcher: Dispatcher,
}

impl World {
    fn new(threads: usize) -> Self {
        Self::at(threads, Clock::real())
    }

    fn at(threads: usize, clock: Clock) -> Self {
        let dispatcher = Builder::new().threads(threads).clock(clock).start().unwrap();
        let (host, method) = (Host::new(dispatcher.handle()), Counting::default());
        let folder = tempfile::tempdir().unwrap();
        let setup = Setup { data_root: Some(folder.path().to_owned()), ..Setup::default() };
        block_on(async {
            let datasets = setup.start_datasets(&host, "/datasets").await.unwrap();
            setup.start(&host, "lehr.clustering", "/clustering").await.unwrap();
            let clustering = host.reference::<Jobs>("/clustering").unwrap();
            let counting = setup.start_method(&host, "/counting", method.clone()).await.unwrap();
            let workflows = host.start(WORKFLOWS, || Workflows::new(None)).await.unwrap();
            Self { _host: host, datasets, clustering, counting, workflows, method, folder, _dispatcher: dispatcher }
        })
    }

    fn begin(&self, text: &str) -> String {
        block_on(self.workflows.call(Begin::new("test.toml", text))).unwrap().run
    }

    fn end(&self, run: &str) -> Run {
        block_on(self.workflows.call(Wait::for_run(run))).unwrap()
    }

    /// Stores a table with one row.
    fn put(&self, name: &str) {
        let table = Table::builder().numbers("x", vec![1.0]).build().unwrap();
        block_on(self.datasets.call(Put { name: name.to_owned(), table: Handle(table), replace: false })).unwrap();
    }

    fn checksum(&self, dataset: &str) -> String {
        block_on(self.datasets.get()).unwrap().datasets[dataset].checksum.clone()
    }
}

/// Returns a table with three clouds of points, with weights and names.
fn clouds() -> String {
    let rows = (0..120).map(|row| {
        let (x, y) = [(0.0, 0.0), (10.0, 1.0), (4.0, 9.0)][row % 3];
        let spread = |step: usize| (row * step % 17) as f64 / 17.0;
        format!("s{row},{},{},{}\n", x + spread(5), y + spread(7), row % 5)
    });
    ["site,x,y,people\n".to_owned()].into_iter().chain(rows).collect()
}

/// A workflow that reads points, clusters them into several numbers of clusters in parallel, and reads the centres.
const REGIONS: &str = "
name = 'regions'
output = { clusters = '${cluster.*.figures.clusters}', rows = '${centers.*.rows}', first = '${centers.0.json.0.cluster}' }

[parameters]
numbers = [2, 3]

[steps.read]
service = '/datasets'
operation = 'open'
with = { name = 'clouds', path = 'clouds.csv', weights = 'people', id = 'site' }

[steps.cluster]
service = '/clustering'
operation = 'run'
with = { input = 'clouds', options = { clusters = '${item}' }, output = 'regions-${item}' }
map = '${parameters.numbers}'
job = true
after = ['read']

[steps.centers]
service = '/datasets'
operation = 'read'
with = { name = '${item.outputs.centers}' }
map = '${cluster}'
";

#[test]
fn data_are_opened_clustered_at_several_numbers_and_their_centres_read() {
    for threads in [1, 2, 8] {
        let world = World::new(threads);
        std::fs::write(world.folder.path().join("clouds.csv"), clouds()).unwrap();
        let ended = world.end(&world.begin(REGIONS));
        assert_eq!(ended.state, RunState::Done, "{:#?}", ended.fault);
        assert_eq!(ended.output, json!({ "clusters": [2.0, 3.0], "rows": [2, 3], "first": 0 }));
        // The labels are the same as the labels of a job that was requested directly.
        let options = json!({ "clusters": 3 });
        let order = Order { output: Some("direct".to_owned()), ..Order::new("clouds", &options) };
        let jobs = block_on(async {
            let job = world.clustering.call(RunJob::of(order)).await.unwrap().job;
            assert_eq!(world.clustering.call(WaitForJob::of(WaitFor::new(&job))).await.unwrap().state, State::Done);
            world.clustering.get().await.unwrap()
        });
        for table in ["labels", "centers", "history"] {
            assert_eq!(world.checksum(&format!("regions-3/{table}")), world.checksum(&format!("direct/{table}")));
        }
        // The jobs have the keys of the run.
        let keys = jobs.jobs.values().filter_map(|job| job.key.clone());
        let mut keys: Vec<String> = keys.collect();
        keys.sort();
        assert_eq!(keys, [0, 1].map(|item| format!("{}/cluster/{item}/0", ended.token)));
    }
}

#[test]
fn what_is_wrong_with_an_order_is_told_before_anything_is_done() {
    let world = World::new(2);
    let text = REGIONS
        .replace("options = { clusters = '${item}' }", "options = { cluster = 2 }")
        .replace("item.outputs.centers", "cluster.0.outcomes.centers");
    let fault = block_on(world.workflows.call(Begin::new("regions.toml", text))).unwrap_err();
    for expected in [
        "regions.toml, line 16, steps.cluster.with.options.cluster: expected one of the fields",
        "regions.toml, line 24, steps.centers.with.name: expected a field of the answer of cluster",
    ] {
        assert!(fault.reason().contains(expected), "{fault}");
    }
    assert!(block_on(world.datasets.get()).unwrap().datasets.is_empty());
}

const COUNT: &str = "
name = 'count'
output = '${work.outputs.numbers}'

[steps.work]
service = '/counting'
operation = 'run'
with = { input = 'one', options = {} }
job = true
";

/// Checks a service after each change until its state meets the condition.
async fn until<D: Contract>(service: &Reference<D>, is_so: impl Fn(&Snapshot<D>) -> bool) {
    let mut changes = service.subscribe(Subscribe::default()).await.unwrap();
    while !is_so(&service.get().await.unwrap()) {
        changes.next().await.unwrap();
    }
}

#[test]
fn a_run_says_how_far_its_job_is() {
    let clock = Clock::virtual_time();
    let world = World::at(2, clock.clone());
    world.put("one");
    let run = world.begin(COUNT);
    assert_eq!(block_on(world.method.begun.receive()), Ok(0));
    world.method.gate.post(()).unwrap();
    block_on(until(&world.counting, |state| state.jobs["counting-1"].progress.is_some()));
    // Wait until the run has set its timer, and then let the time pass.
    clock.wait_for_timers(1);
    assert!(clock.advance_to_next());
    let half = JobProgress { fraction: 0.5, stage: "counting".to_owned() };
    block_on(until(&world.workflows, |state| {
        let items = state.runs[&run].steps["work"].items.as_ref();
        items.is_some_and(|items| items[0].progress.as_ref() == Some(&half))
    }));
    world.method.gate.post(()).unwrap();
    let ended = world.end(&run);
    assert_eq!((ended.state, ended.output), (RunState::Done, "counting-1/numbers".into()));
    assert_eq!(ended.steps["work"].items.as_ref().unwrap()[0].progress, None);
}

#[test]
fn a_run_that_is_cancelled_cancels_its_job_and_taken_up_again_has_it_go_on() {
    let world = World::new(2);
    world.put("one");
    let run = world.begin(COUNT);
    let begun = || block_on(world.method.begun.receive()).unwrap();
    let step = || world.method.gate.post(()).unwrap();
    let cancel = |job: &str| {
        block_on(async {
            world.workflows.call(Cancel { run: run.clone() }).await.unwrap();
            let cancelled = world.counting.call(WaitForJob::of(WaitFor::new(job))).await.unwrap();
            assert_eq!(cancelled.state, State::Cancelled);
        });
        assert_eq!(world.end(&run).state, RunState::Cancelled);
    };
    let resume = || block_on(world.workflows.call(Resume { run: run.clone(), from: None })).unwrap();
    assert_eq!(begun(), 0);
    step();
    assert_eq!(begun(), 1);
    cancel("counting-1");
    resume();
    // The job resumed from its saved count.
    assert_eq!(begun(), 1);
    cancel("counting-1");
    // If the service no longer knows the job, the run begins another one.
    block_on(world.counting.call(Remove::of(Named::new("counting-1")))).unwrap();
    resume();
    assert_eq!(begun(), 0);
    step();
    assert_eq!(begun(), 1);
    step();
    let ended = world.end(&run);
    assert_eq!((ended.state, ended.output), (RunState::Done, "counting-2/numbers".into()));
    let jobs = block_on(world.counting.get()).unwrap();
    assert_eq!(jobs.jobs.keys().collect::<Vec<_>>(), ["counting-2"]);
}

#[test]
fn what_a_service_asks_of_itself_a_workflow_may_not() {
    let world = World::new(2);
    let text = "name = 'forged'\n[steps.begin]\nservice = '/datasets'\noperation = 'begin'\nwith = { name = 'a', format = 'csv' }\n\
                [steps.grow]\nservice = '/datasets'\noperation = 'grow'\nwith = { name = 'a', offset = 0, bytes = 9 }\nafter = ['begin']\n";
    let ended = world.end(&world.begin(text));
    assert_eq!(ended.state, RunState::Failed);
    let fault = ended.fault.unwrap();
    assert!(fault.reason().contains("the service sends this to itself only"), "{fault}");
}

#[test]
fn the_model_of_one_run_labels_rows_in_another() {
    let world = World::new(2);
    std::fs::write(world.folder.path().join("clouds.csv"), clouds()).unwrap();
    block_on(Setup::default().start_predictions(&world._host, "/predictions")).unwrap();
    let learn = "
name = 'learn'
output = '${load.version}'

[steps.read]
service = '/datasets'
operation = 'open'
with = { name = 'clouds', path = 'clouds.csv', weights = 'people', id = 'site' }

[steps.cluster]
service = '/clustering'
operation = 'run'
with = { input = 'clouds', options = { clusters = 3 } }
job = true
after = ['read']

[steps.load]
service = '/predictions'
operation = 'load'
with = { name = 'clouds', job = '${cluster}' }
";
    let label = "
name = 'label'
output = { version = '${new.version}', new = '${new.json.*.cluster}', old = '${old.json.*.cluster}', before = '${before.json.*.cluster}' }

[steps.new]
service = '/predictions'
operation = 'predict'
with = { name = 'clouds', rows = [{ x = 0.5, y = 0.5 }, { x = 10.5, y = 1.5 }, { x = 4.5, y = 9.5 }] }

[steps.old]
service = '/predictions'
operation = 'predict'
with = { name = 'clouds', dataset = 'clouds', to = 3 }

[steps.before]
service = '/datasets'
operation = 'read'
with = { name = 'clustering-1/labels', to = 3 }
";
    let learnt = world.end(&world.begin(learn));
    assert_eq!((learnt.state, &learnt.output), (RunState::Done, &json!(1)), "{learnt:?}");
    let labelled = world.end(&world.begin(label));
    assert_eq!(labelled.state, RunState::Done, "{labelled:?}");
    let output = labelled.output;
    // The three clouds follow each other in the rows of the first run and in the new rows.
    assert_eq!((&output["version"], &output["old"]), (&json!(1), &output["before"]));
    assert_eq!(output["new"], output["before"]);
}
