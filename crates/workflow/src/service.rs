//! Workflow runs as a service: clients begin, watch, cancel and resume runs, and repeat them from a step.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lehr_node::Client;
use lehr_runtime::Port;
use lehr_services::{
    Call, Code, Concurrent, Contract, Exclusive, Fault, Handlers, Host, Independent, Operation, Reference, Service,
    Starting, Stop as Why, Subscribe, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::cache::{Answers, Recalled};
use crate::definition::Workflow;
use crate::plan::{self, Plan};
use crate::run::{Progress, Run, RunState, StepRecord};
use crate::runner::{Runner, RunnerMessage};
use crate::schedule::{EnterSchedule, Noticed, Schedule, Scheduled, SchedulerMessage, Triggered, Unschedule};
use crate::surroundings::{self, Surroundings};

/// The path of the service on a node.
pub const WORKFLOWS: &str = "/workflows";

/// The maximum number of runs that the service remembers. Beyond this number, the service forgets the oldest run that
/// has ended.
const REMEMBERED: usize = 256;

/// The service that runs workflows.
///
/// # Example
/// ```
/// use lehr_node::Records;
/// use lehr_services::{Fault, Host};
/// use lehr_workflow::{Begin, RunState, Wait, WORKFLOWS, Workflows};
///
/// let text = r#"
/// name = "greeting"
/// output = "${read.text}"
///
/// [parameters]
/// whom = "world"
///
/// [steps.note]
/// service = "/notes"
/// operation = "upsert"
/// with = { key = "greeting", value = { text = "hello, ${parameters.whom}" } }
///
/// [steps.read]
/// service = "/notes"
/// operation = "find"
/// with = { key = "greeting" }
/// after = ["note"]
/// "#;
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let host = Host::new(dispatcher.handle());
/// lehr_runtime::block_on(async {
///     host.start("/notes", Records::default).await?;
///     let workflows = host.start(WORKFLOWS, || Workflows::new(None)).await?;
///     let run = workflows.call(Begin::new("greeting.toml", text)).await?.run;
///     let ended = workflows.call(Wait::for_run(&run)).await?;
///     assert_eq!((ended.state, ended.output), (RunState::Done, "hello, world".into()));
///     Ok::<(), Fault>(())
/// })
/// .unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Workflows {
    pub(crate) document: WorkflowState,
    /// The inboxes of the runners, by the name of the run.
    live: BTreeMap<String, Port<RunnerMessage>>,
    /// The inbox of the task that follows the triggers of schedules.
    pub(crate) scheduler: Option<Port<SchedulerMessage>>,
    answers: Answers,
    reach: surroundings::Reach,
    goes_on: bool,
}

impl Workflows {
    /// Creates a service that reaches other nodes through this client, if there is one.
    ///
    /// # Example
    /// See [`Workflows`].
    pub fn new(client: Option<Client>) -> Self {
        let reach = surroundings::Reach { client, elsewhere: BTreeMap::new() };
        Self {
            document: WorkflowState::default(),
            live: BTreeMap::new(),
            scheduler: None,
            answers: Answers::default(),
            reach,
            goes_on: true,
        }
    }

    /// Lets steps find a service of another node at a path of this node. `address` is the service's URL.
    ///
    /// # Example
    /// ```
    /// let _workflows = lehr_workflow::Workflows::new(None).with("/steps", "http://127.0.0.1:8420/steps");
    /// ```
    pub fn with(mut self, path: impl Into<String>, address: impl Into<String>) -> Self {
        self.reach.elsewhere.insert(path.into(), address.into());
        self
    }

    /// Lets interrupted runs stay `stopped` until a client resumes them. Stored schedules also begin no runs until a
    /// client schedules a workflow. The end of the node interrupts runs. Default: interrupted runs continue when the
    /// service starts.
    ///
    /// # Example
    /// ```
    /// let _workflows = lehr_workflow::Workflows::new(None).wait_for_resume();
    /// ```
    pub fn wait_for_resume(self) -> Self {
        Self { goes_on: false, ..self }
    }
}

/// The document of [`Workflows`]: the runs by name.
///
/// # Example
/// See [`Workflows`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowState {
    /// The runs.
    pub runs: BTreeMap<String, Run>,
    /// The number of runs that have ever begun.
    pub begun: u64,
    /// The workflows that the node begins by itself, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub schedules: BTreeMap<String, Scheduled>,
}

impl Contract for WorkflowState {
    const NAME: &'static str = "lehr/workflows";
    const VERSION: Version = Version::new(1, 0);
}

/// Returns the steps of a run of a workflow, or the faults of the workflow. Runs nothing.
///
/// # Example
/// ```
/// use lehr_workflow::{Begin, Review};
/// assert_eq!(Review(Begin::new("a.toml", "name = 'a'")).0.file, "a.toml");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[serde(transparent)]
#[operation(contract = WorkflowState, verb = Submit, name = "review", reply = Plan)]
pub struct Review(pub Begin);

/// Plans a workflow and begins a run of it. The answer is the name of the run.
///
/// # Example
/// See [`Workflows`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = WorkflowState, verb = Submit, name = "run", reply = Begun)]
pub struct Begin {
    /// The name of the workflow's file in messages.
    pub file: String,
    /// The workflow, in TOML.
    pub definition: String,
    /// The values of parameters.
    #[serde(default)]
    pub parameters: BTreeMap<String, Value>,
    /// Whether all steps are done, even if an earlier run has their answers. Default: no.
    #[serde(default)]
    pub no_cache: bool,
    /// The nodes of services that steps name by their path alone, by path. Default: the node of the run has all.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub places: BTreeMap<String, String>,
}

impl Begin {
    /// Creates a request for a workflow in which all parameters have their defaults.
    ///
    /// # Example
    /// See [`Workflows`].
    pub fn new(file: impl Into<String>, definition: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            definition: definition.into(),
            parameters: BTreeMap::new(),
            no_cache: false,
            places: BTreeMap::new(),
        }
    }
}

/// A run that has begun.
///
/// # Example
/// See [`Workflows`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Begun {
    /// The name of the run.
    pub run: String,
}

/// Waits until a run has ended. The answer is the run, in its current state if the wait ends first.
///
/// # Example
/// See [`Workflows`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = WorkflowState, verb = Query, name = "wait", reply = Run)]
pub struct Wait {
    /// The name of the run.
    pub run: String,
    /// The maximum wait, in milliseconds. Default: no limit.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
}

impl Wait {
    /// Creates a request to wait without a limit.
    ///
    /// # Example
    /// See [`Workflows`].
    pub fn for_run(run: impl Into<String>) -> Self {
        Self { run: run.into(), timeout_ms: None }
    }
}

/// Resumes a run that has ended without being done. If the request names a step, this step and all steps that need it
/// are repeated, even in a run that is done.
///
/// # Example
/// ```
/// let resume = lehr_workflow::Resume { run: "census-1".into(), from: Some("choose".into()) };
/// assert_eq!(resume.from.as_deref(), Some("choose"));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = WorkflowState, verb = Submit, name = "resume", reply = Begun)]
pub struct Resume {
    /// The name of the run.
    pub run: String,
    /// The step to repeat from. Default: finished steps are not repeated.
    #[serde(default)]
    pub from: Option<String>,
}

/// Cancels a run: gives up running requests, and cancels jobs. The answer comes once the cancellation is recorded; use
/// [`Wait`] to wait for the end.
///
/// # Example
/// ```
/// assert_eq!(lehr_workflow::Cancel { run: "census-1".into() }.run, "census-1");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = WorkflowState, verb = Update, name = "cancel", key = run)]
pub struct Cancel {
    /// The name of the run.
    pub run: String,
}

/// Stops a run so that it can be resumed: gives up running requests. Jobs continue, and the resumed run finds them
/// again.
///
/// # Example
/// ```
/// assert_eq!(lehr_workflow::Stop { run: "census-1".into() }.run, "census-1");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = WorkflowState, verb = Update, name = "stop", key = run)]
pub struct Stop {
    /// The name of the run.
    pub run: String,
}

/// Forgets a run that has ended.
///
/// # Example
/// ```
/// assert_eq!(lehr_workflow::Remove { run: "census-1".into() }.run, "census-1");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = WorkflowState, verb = Delete, name = "remove", key = run)]
pub struct Remove {
    /// The name of the run.
    pub run: String,
}

/// Records an event of a run. Only the node itself may send this request; subscribers receive it.
///
/// # Example
/// ```
/// use lehr_workflow::{Progress, Tell};
/// let tell = Tell { run: "census-1".into(), part: 1, progress: Progress::Completed { step: "read".into() }, at_ms: 12 };
/// assert_eq!(serde_json::to_value(tell).unwrap()["progress"]["what"], "completed");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = WorkflowState, verb = Update, name = "tell", key = run)]
pub struct Tell {
    /// The name of the run.
    pub run: String,
    /// The part of the run to which the event belongs.
    pub part: u64,
    /// The event.
    pub progress: Progress,
    /// The time of the event, in milliseconds of the run's elapsed time.
    pub at_ms: u64,
}

/// Adds a planned run to the document. Only the node itself may send this request.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = WorkflowState, verb = Insert, name = "enter", reply = Begun)]
pub(crate) struct Enter {
    pub(crate) begin: Begin,
    /// The schedule that begins the run; `None` if a client does.
    pub(crate) by: Option<Triggered>,
}

/// Reopens a run that has ended. Only the node itself may send this request.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = WorkflowState, verb = Update, name = "reopen")]
struct Reopen {
    run: String,
    again: BTreeSet<String>,
}

/// Finds the answer of an earlier run. Only the node itself may send this request.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = WorkflowState, verb = Query, name = "recall", reply = RecallReply)]
pub(crate) struct Recall {
    pub(crate) fingerprint: String,
}

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct RecallReply {
    pub(crate) recalled: Option<Recalled>,
}

/// Returns the access to other nodes. Only the node itself may send this request; its encoded answer is empty.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = WorkflowState, verb = Query, name = "reach", reply = Reached)]
struct Reach {}

#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
struct Reached {
    #[serde(skip)]
    reach: surroundings::Reach,
}

impl Service for Workflows {
    type Document = WorkflowState;

    fn document(&self) -> &WorkflowState {
        &self.document
    }

    fn document_mut(&mut self) -> &mut WorkflowState {
        &mut self.document
    }

    fn handlers(on: &mut Handlers<Self>) {
        // These operations run independently, because they request changes from their own service or wait for long.
        on.independent::<Review>().independent::<Begin>().independent::<Wait>().independent::<Resume>();
        on.exclusive::<Cancel>().exclusive::<Stop>().exclusive::<Remove>();
        on.exclusive::<Enter>().exclusive::<Reopen>().exclusive::<Tell>().concurrent::<Reach>();
        on.concurrent::<Recall>();
        on.independent::<Schedule>().exclusive::<EnterSchedule>().exclusive::<Unschedule>().exclusive::<Noticed>();
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        self.answers = Answers::of(&self.document.runs);
        let running: Vec<String> =
            self.document.runs.iter().filter(|(_, run)| !run.state.is_over()).map(|(id, _)| id.clone()).collect();
        for id in running {
            if !self.goes_on {
                if let Some(run) = self.document.runs.get_mut(&id) {
                    let at_ms = run.elapsed_ms;
                    run.apply(&Progress::Ended { state: RunState::Stopped, output: Value::Null, fault: None }, at_ms);
                }
                continue;
            }
            let (host, own) = (starting.host().clone(), starting.own()?);
            if let Some(run) = self.document.runs.get_mut(&id) {
                // A request to end that was acknowledged stays in force, and so do the faults of a workflow that a trigger
                // could not begin.
                let (wish, fault) = (run.wish, run.fault.take());
                run.reopen(&BTreeSet::new());
                (run.wish, run.fault) = (wish, fault);
            }
            if let Err(fault) = self.launch(&id, host, own)
                && let Some(run) = self.document.runs.get_mut(&id)
            {
                // A workflow of another version may no longer be valid. The others continue.
                let ended = Progress::Ended { state: RunState::Failed, output: Value::Null, fault: Some(fault) };
                let at_ms = run.elapsed_ms;
                run.apply(&ended, at_ms);
            }
        }
        if self.goes_on {
            self.follow(starting.host().clone(), starting.own()?);
        }
        Ok(())
    }

    async fn stop(self, _why: Why) {
        // A task that has ended refuses the message.
        let _ = self.scheduler.map(|inbox| inbox.post(SchedulerMessage::Halt));
        for inbox in self.live.into_values() {
            // A runner that has ended refuses the message.
            let _ = inbox.post(RunnerMessage::Halt);
        }
    }
}

pub(crate) fn of_the_node(call: &Call) -> Result<(), Fault> {
    match call.caller() {
        None => Ok(()),
        Some(_) => Err(Fault::new(Code::PermissionDenied, "the node alone says what happens in a run")),
    }
}

fn unknown(run: &str) -> Fault {
    Fault::new(Code::UnknownEntry, format!("no run {run:?}"))
}

pub(crate) async fn places(call: &Call, own: &Reference<WorkflowState>) -> Result<Surroundings, Fault> {
    Ok(Surroundings::new(call.host()?, own.call(Reach {}).await?.reach))
}

impl Independent<Review> for Workflows {
    async fn handle(Review(begin): Review, call: &Call) -> Result<Plan, Fault> {
        let workflow = Workflow::read(&begin.file, &begin.definition)?;
        let places = places(call, &call.own()?).await?;
        Ok(plan::plan(&workflow, &begin.parameters, &begin.places, &places).await?)
    }
}

impl Independent<Begin> for Workflows {
    async fn handle(begin: Begin, call: &Call) -> Result<Begun, Fault> {
        let workflow = Workflow::read(&begin.file, &begin.definition)?;
        let own = call.own::<WorkflowState>()?;
        let places = places(call, &own).await?;
        plan::plan(&workflow, &begin.parameters, &begin.places, &places).await?;
        own.call(Enter { begin, by: None }).await
    }
}

impl Independent<Resume> for Workflows {
    async fn handle(Resume { run, from }: Resume, call: &Call) -> Result<Begun, Fault> {
        let own = call.own::<WorkflowState>()?;
        let state = own.get().await?;
        let found = state.runs.get(&run).ok_or_else(|| unknown(&run))?;
        let workflow = Workflow::read(&found.file, &found.definition)?;
        let again = match &from {
            None => BTreeSet::new(),
            Some(step) if workflow.number(step).is_some() => workflow.affected_by(step),
            Some(step) => {
                return Err(Fault::new(Code::UnknownEntry, format!("no step {step:?} in {}", found.workflow)));
            }
        };
        // The services may have changed since the run was planned.
        plan::plan(&workflow, &found.parameters, &found.places, &places(call, &own).await?).await?;
        drop(state);
        own.call(Reopen { run: run.clone(), again }).await?;
        Ok(Begun { run })
    }
}

impl Independent<Wait> for Workflows {
    async fn handle(Wait { run, timeout_ms }: Wait, call: &Call) -> Result<Run, Fault> {
        let own = call.own::<WorkflowState>()?;
        let over = async {
            let mut changes = own.subscribe(Subscribe::default().keys([&run]).capacity(16)).await?;
            loop {
                // Check the state after each change, and after a gap in the changes.
                let state = own.get().await?;
                let found = state.runs.get(&run).ok_or_else(|| unknown(&run))?;
                if found.state.is_over() {
                    return Ok(found.clone());
                }
                drop(state);
                changes.next().await.map_err(|end| Fault::new(Code::ServiceStopping, end.to_string()))?;
            }
        };
        let Some(limit) = timeout_ms.map(Duration::from_millis) else { return over.await };
        let waited = call.host()?.clock().timeout(limit, over).await;
        match waited {
            Ok(run) => run,
            Err(_) => own.get().await?.runs.get(&run).cloned().ok_or_else(|| unknown(&run)),
        }
    }
}

impl Concurrent<Reach> for Workflows {
    async fn handle(&self, _: Reach, call: &Call) -> Result<Reached, Fault> {
        of_the_node(call)?;
        Ok(Reached { reach: self.reach.clone() })
    }
}

impl Concurrent<Recall> for Workflows {
    async fn handle(&self, Recall { fingerprint }: Recall, call: &Call) -> Result<RecallReply, Fault> {
        of_the_node(call)?;
        Ok(RecallReply { recalled: self.answers.find(&self.document.runs, &fingerprint) })
    }
}

impl Workflows {
    pub(crate) fn reach(&self) -> surroundings::Reach {
        self.reach.clone()
    }

    /// Starts the runner of a run whose state in the document is running.
    fn launch(&mut self, id: &str, host: Host, own: Reference<WorkflowState>) -> Result<(), Fault> {
        let run = self.document.runs.get(id).cloned().ok_or_else(|| unknown(id))?;
        let workflow = Workflow::read(&run.file, &run.definition)?;
        let parameters = workflow.parameters(&run.parameters)?;
        let inbox = Port::named(format!("run {id}"));
        self.live.insert(id.to_owned(), inbox.clone());
        let dispatcher = host.dispatcher().clone();
        let places = Surroundings::new(host, self.reach.clone());
        let runner = Runner { own, id: id.to_owned(), workflow, parameters, run, places, inbox };
        let context = lehr_runtime::Context::named(format!("run {id}")).detached().build();
        context.run(|| dispatcher.spawn(runner.drive())).detach();
        Ok(())
    }

    fn wish(&mut self, run: &str, wish: RunState) -> Result<(), Fault> {
        let found = self.document.runs.get_mut(run).ok_or_else(|| unknown(run))?;
        if found.state.is_over() {
            return Err(Fault::new(Code::InvalidValue, format!("run {run} is over: it is {}", found.state)));
        }
        found.wish = Some(wish);
        if let Some(inbox) = self.live.get(run) {
            // A runner that has just ended refuses the message; it has already reported how the run ended.
            let _ = inbox.post(RunnerMessage::Wish(wish));
        }
        Ok(())
    }
}

impl Exclusive<Enter> for Workflows {
    async fn handle(&mut self, Enter { begin, by }: Enter, call: &Call) -> Result<Begun, Fault> {
        of_the_node(call)?;
        // Nothing is changed before everything that may fail.
        let workflow = Workflow::read(&begin.file, &begin.definition)?;
        workflow.parameters(&begin.parameters)?;
        if let Some(by) = &by {
            self.check_due(by, &begin)?;
        }
        let number = self.document.begun + 1;
        let id = format!("{}-{number}", workflow.name());
        if self.document.runs.len() >= REMEMBERED {
            let over = self.document.runs.iter().filter(|(_, run)| run.state.is_over());
            let Some(oldest) = over.min_by_key(|(_, run)| run.number).map(|(id, _)| id.clone()) else {
                let fault = Fault::new(Code::InsufficientResources, format!("{REMEMBERED} runs are under way"));
                return Err(fault.retry_after(Duration::from_secs(10)));
            };
            self.document.runs.remove(&oldest);
            self.answers.forget(&oldest);
        }
        let (mut trigger, mut fault) = (None, None);
        if let Some(Triggered { schedule, trigger: name, refused }) = by {
            if let Some(scheduled) = self.document.schedules.get_mut(&schedule) {
                (scheduled.pending, scheduled.run) = (None, Some(id.clone()));
            }
            (trigger, fault) = (Some(name), refused);
        }
        let nodes = workflow.nodes();
        let record = |number: usize| {
            let (_, step) = workflow.step(number);
            StepRecord {
                is_mapped: step.map.is_some(),
                needs: nodes[number].needs.iter().map(|need| workflow.step(*need).0.to_owned()).collect(),
                service: (step.node.is_none() && !begin.places.contains_key(&step.service))
                    .then(|| step.service.clone()),
                ..StepRecord::default()
            }
        };
        let steps = workflow.steps().enumerate().map(|(number, name)| (name.to_owned(), record(number)));
        let run = Run {
            workflow: workflow.name().to_owned(),
            file: begin.file,
            definition: begin.definition,
            parameters: begin.parameters,
            places: begin.places.clone(),
            trigger,
            begun_ms: call.host()?.clock().unix_ms(),
            no_cache: begin.no_cache,
            state: RunState::Running,
            steps: steps.collect(),
            elapsed_ms: 0,
            output: Value::Null,
            fault,
            wish: None,
            part: 1,
            token: format!("{:x}-{number}", call.incarnation()),
            number,
            ends: 0,
            notices: BTreeMap::new(),
        };
        self.document.runs.insert(id.clone(), run);
        self.document.begun = number;
        self.launch(&id, call.host()?, call.own()?)?;
        Ok(Begun { run: id })
    }
}

impl Exclusive<Reopen> for Workflows {
    async fn handle(&mut self, Reopen { run, again }: Reopen, call: &Call) -> Result<(), Fault> {
        of_the_node(call)?;
        let found = self.document.runs.get_mut(&run).ok_or_else(|| unknown(&run))?;
        if !found.state.is_over() {
            return Err(Fault::new(Code::InvalidValue, format!("run {run} is under way")));
        }
        if found.state == RunState::Done && again.is_empty() {
            return Err(Fault::new(
                Code::InvalidValue,
                format!("run {run} is done: name a step to do it again from there (\"again\", --from STEP)"),
            ));
        }
        found.reopen(&again);
        self.launch(&run, call.host()?, call.own()?)
    }
}

impl Exclusive<Tell> for Workflows {
    async fn handle(&mut self, Tell { run, part, progress, at_ms }: Tell, call: &Call) -> Result<(), Fault> {
        of_the_node(call)?;
        let found = self.document.runs.get_mut(&run).ok_or_else(|| unknown(&run))?;
        if found.part != part || found.state.is_over() {
            return Err(Fault::new(Code::InvalidValue, format!("part {part} of run {run} has no say any more")));
        }
        found.apply(&progress, at_ms);
        if let Progress::Succeeded { step, item, cached: Some(cached), .. } = &progress {
            self.answers.add(&cached.fingerprint, &run, step, *item);
        }
        if found.state.is_over() {
            self.live.remove(&run);
            // A trigger may wait for the end of this run. A task that has ended refuses the message.
            let _ = self.scheduler.as_ref().map(|inbox| inbox.post(SchedulerMessage::Look));
        }
        Ok(())
    }
}

impl Exclusive<Cancel> for Workflows {
    async fn handle(&mut self, Cancel { run }: Cancel, _: &Call) -> Result<(), Fault> {
        self.wish(&run, RunState::Cancelled)
    }
}

impl Exclusive<Stop> for Workflows {
    async fn handle(&mut self, Stop { run }: Stop, _: &Call) -> Result<(), Fault> {
        self.wish(&run, RunState::Stopped)
    }
}

impl Exclusive<Remove> for Workflows {
    async fn handle(&mut self, Remove { run }: Remove, _: &Call) -> Result<(), Fault> {
        let found = self.document.runs.get(&run).ok_or_else(|| unknown(&run))?;
        if !found.state.is_over() {
            return Err(Fault::new(Code::InvalidValue, format!("run {run} is under way: cancel it first")));
        }
        self.document.runs.remove(&run);
        self.answers.forget(&run);
        Ok(())
    }
}
