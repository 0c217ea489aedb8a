//! A service for workflows to call: it answers, fails as often as told, waits at a gate, and runs jobs. A log records
//! the requests.

use lehr_runtime::{Builder, Clock, Dispatcher, Port, block_on};
use lehr_services::{
    Call, Code, Concurrent, Contract, Exclusive, Fault, Handlers, Host, Operation, Placement, Reference, Service,
    Version,
};
use lehr_workflow::{Begin, Run, WORKFLOWS, Wait, WorkflowState, Workflows};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct BenchState {
    /// The number of jobs that have begun.
    jobs: u64,
    cancelled: Vec<String>,
}

impl Contract for BenchState {
    const NAME: &'static str = "example.org/bench";
    const VERSION: Version = Version::new(1, 0);
}

/// The state that all instances of the service share.
#[derive(Clone)]
pub struct Bench {
    document: BenchState,
    pub log: Port<String>,
    pub gate: Port<()>,
    /// The number of attempts for each name. The port holds this map as its only entry.
    tries: Port<std::collections::BTreeMap<String, u32>>,
}

impl Bench {
    pub fn new() -> Self {
        let tries = Port::new();
        tries.post(Default::default()).unwrap();
        Self { document: BenchState::default(), log: Port::new(), gate: Port::new(), tries }
    }

    /// Returns the requests since the last call, sorted by name.
    pub fn asked(&self) -> Vec<String> {
        let mut asked = self.log.drain();
        asked.sort();
        asked
    }
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Said {
    pub value: Value,
    pub name: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Sum {
    pub sum: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Numbers {
    pub numbers: Vec<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Job {
    pub job: String,
    pub state: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = BenchState, verb = Submit, name = "say", reply = Said)]
pub struct Say {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub value: Value,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = BenchState, verb = Submit, name = "add", reply = Sum)]
pub struct Add {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub numbers: Vec<i64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = BenchState, verb = Submit, name = "count", reply = Numbers)]
pub struct Count {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub to: i64,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = BenchState, verb = Submit, name = "fail", reply = Said)]
pub struct Fail {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub times: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = BenchState, verb = Submit, name = "hold", reply = Said)]
pub struct Hold {
    #[serde(default)]
    pub name: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = BenchState, verb = Insert, name = "run", reply = Job)]
pub struct Work {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub is_slow: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = BenchState, verb = Query, name = "wait", reply = Job)]
pub struct Await {
    #[serde(default)]
    pub job: String,
    #[serde(default)]
    pub timeout_ms: Option<u64>,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = BenchState, verb = Update, name = "cancel")]
pub struct GiveUp {
    #[serde(default)]
    pub job: String,
}

impl Service for Bench {
    type Document = BenchState;

    fn document(&self) -> &BenchState {
        &self.document
    }

    fn document_mut(&mut self) -> &mut BenchState {
        &mut self.document
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.concurrent::<Say>().concurrent::<Add>().concurrent::<Count>().concurrent::<Fail>().concurrent::<Hold>();
        on.exclusive::<Work>().concurrent::<Await>().exclusive::<GiveUp>();
    }
}

impl Concurrent<Say> for Bench {
    async fn handle(&self, Say { name, value }: Say, _: &Call) -> Result<Said, Fault> {
        self.log.post(name.clone()).unwrap();
        Ok(Said { value, name })
    }
}

impl Concurrent<Add> for Bench {
    async fn handle(&self, Add { name, numbers }: Add, _: &Call) -> Result<Sum, Fault> {
        self.log.post(name).unwrap();
        Ok(Sum { sum: numbers.iter().sum() })
    }
}

impl Concurrent<Count> for Bench {
    async fn handle(&self, Count { name, to }: Count, _: &Call) -> Result<Numbers, Fault> {
        self.log.post(name).unwrap();
        Ok(Numbers { numbers: (1..=to).collect() })
    }
}

impl Concurrent<Fail> for Bench {
    async fn handle(&self, Fail { name, times }: Fail, _: &Call) -> Result<Said, Fault> {
        self.log.post(name.clone()).unwrap();
        let mut tries = self.tries.receive().await.unwrap();
        let tried = tries.entry(name.clone()).or_default();
        *tried += 1;
        let is_enough = *tried > times;
        self.tries.post(tries).unwrap();
        if is_enough {
            Ok(Said { value: Value::Null, name })
        } else {
            Err(Fault::new(Code::OperationFailed, "not yet"))
        }
    }
}

impl Concurrent<Hold> for Bench {
    async fn handle(&self, Hold { name }: Hold, _: &Call) -> Result<Said, Fault> {
        self.log.post(name.clone()).unwrap();
        self.gate.receive().await.unwrap();
        Ok(Said { value: Value::Null, name })
    }
}

impl Exclusive<Work> for Bench {
    async fn handle(&mut self, Work { name, is_slow }: Work, _: &Call) -> Result<Job, Fault> {
        self.document.jobs += 1;
        let job = format!("{name}-{}", self.document.jobs);
        self.log.post(format!("began {job}")).unwrap();
        if is_slow {
            self.gate.receive().await.unwrap();
        }
        Ok(Job { job, state: "queued".to_owned() })
    }
}

impl Concurrent<Await> for Bench {
    async fn handle(&self, Await { job, .. }: Await, _: &Call) -> Result<Job, Fault> {
        self.log.post(format!("waited for {job}")).unwrap();
        self.gate.receive().await.unwrap();
        let state = if job.starts_with("bad") { "failed" } else { "done" };
        Ok(Job { job, state: state.to_owned() })
    }
}

impl Exclusive<GiveUp> for Bench {
    async fn handle(&mut self, GiveUp { job }: GiveUp, _: &Call) -> Result<(), Fault> {
        self.log.post(format!("cancelled {job}")).unwrap();
        self.document.cancelled.push(job);
        Ok(())
    }
}

/// A host with the service `Bench` and a service for workflow runs.
pub struct World {
    _host: Host,
    pub bench: Bench,
    pub workflows: Reference<WorkflowState>,
    pub clock: Clock,
    // Dropped last, after the host.
    _dispatcher: Dispatcher,
}

impl World {
    pub fn new(threads: usize) -> Self {
        Self::with(threads, &Bench::new(), Placement::at(WORKFLOWS), Workflows::new(None))
    }

    pub fn with(threads: usize, bench: &Bench, placement: Placement, workflows: Workflows) -> Self {
        let clock = Clock::virtual_time();
        let dispatcher = Builder::new().threads(threads).clock(clock.clone()).start().unwrap();
        let host = Host::new(dispatcher.handle());
        let made = bench.clone();
        let workflows = block_on(async {
            host.start("/bench", move || made.clone()).await.unwrap();
            host.start(placement, move || workflows.clone()).await.unwrap()
        });
        Self { _host: host, bench: bench.clone(), workflows, clock, _dispatcher: dispatcher }
    }

    pub fn begin(&self, text: &str) -> String {
        block_on(self.workflows.call(Begin::new("test.toml", text))).unwrap().run
    }

    pub fn end(&self, run: &str) -> Run {
        block_on(self.workflows.call(Wait::for_run(run))).unwrap()
    }

    /// Runs a workflow to its end.
    pub fn run(&self, text: &str) -> Run {
        self.end(&self.begin(text))
    }

    /// Waits until `count` calls wait at the gate of the bench.
    pub fn until_at_gate(&self, count: usize) {
        while self.bench.gate.waiting() != count {
            std::thread::yield_now();
        }
    }

    /// Waits until the bench has received `count` requests, and returns them.
    pub fn asked(&self, count: usize) -> Vec<String> {
        let mut asked = block_on(self.bench.log.take(count)).unwrap();
        asked.sort();
        asked
    }
}

/// Returns the text of a step that calls the bench.
pub fn step(name: &str, operation: &str, with: &str, more: &str) -> String {
    format!(
        "[steps.{name}]\nservice = '/bench'\noperation = '{operation}'\nwith = {{ name = '{name}', {with} }}\n{more}\n"
    )
}
