//! Drives a run. Turns the commands of the state machine into requests, waits and changes of the document, and turns
//! their outcomes into events.
//!
//! Each change is in the document before its consequences are carried out, and on disk if the document is kept there.
//! So if a runner ends at any moment, another runner can resume the run. Finished work is not repeated, and unfinished
//! work is sent again with the same key.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use lehr_runtime::{Port, Task};
use lehr_services::{Code, Fault, Reference};
use serde_json::Value;

use crate::attempt::{Answer, Attempt, Cache, cancel_job, may_pass};
use crate::definition::{Step, Workflow};
use crate::machine::{self, Command, Event, Item, Machine, Outcome};
use crate::notice::{self, Notice};
use crate::plan::{node_of, node_of_service};
use crate::run::{JobProgress, Progress, Run, RunState, StepState};
use crate::service::{Tell, WorkflowState};
use crate::surroundings::Surroundings;
use crate::template::{Scope, Source, fill, places};

/// The maximum size of a step's answer in the document, in bytes.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// The messages to a runner.
#[derive(Debug)]
pub(crate) enum RunnerMessage {
    /// An attempt has ended.
    Ended { item: Item, outcome: Result<Answer, Fault> },
    /// An attempt has begun a job.
    Job { item: Item, job: String },
    /// A job has made progress.
    Advanced { item: Item, progress: JobProgress },
    /// A message about the end of the run was sent, or could not be sent.
    Noticed { notice: String, fault: Option<Fault> },
    /// A wait is over.
    Elapsed(Item),
    /// A client requests that the run end in this state.
    Wish(RunState),
    /// The service is stopping, and may continue the run when it starts again.
    Halt,
}

/// Drives one part of a run.
pub(crate) struct Runner {
    pub(crate) own: Reference<WorkflowState>,
    pub(crate) id: String,
    pub(crate) workflow: Workflow,
    pub(crate) parameters: Value,
    /// The runner's copy of the run in the document.
    pub(crate) run: Run,
    pub(crate) places: Surroundings,
    pub(crate) inbox: Port<RunnerMessage>,
}

/// A running attempt, or the wait for the next one.
struct Underway {
    task: Task<()>,
    /// See [`Attempt::ordered`].
    ordered: Port<String>,
}

/// The state of one part of a run.
struct Part {
    machine: Machine,
    /// The commands to carry out before the runner reads the next message.
    commands: VecDeque<Command>,
    tasks: BTreeMap<Item, Underway>,
    /// The requested end state of the run, if there is one.
    wish: Option<RunState>,
}

impl Part {
    fn handle(&mut self, event: Event) {
        self.commands.extend(self.machine.handle(event));
    }
}

/// The items of a step, or the reason to skip it.
enum Expansion {
    Items(Vec<Value>),
    /// The step is skipped, for this reason.
    Skipped(String),
}

/// The error of a runner that may no longer change the document, or whose document is gone.
struct Deposed;

impl Runner {
    /// Drives the run until it ends, or until another runner takes it over.
    pub(crate) async fn drive(mut self) {
        let _deposed = self.steps().await;
        self.inbox.close();
    }

    async fn steps(&mut self) -> Result<(), Deposed> {
        let (base, begun) = (self.run.elapsed_ms, self.places.host().clock().now());
        let (machine, first) =
            Machine::resume(self.workflow.nodes(), self.workflow.parallel(), &done(&self.workflow, &self.run));
        if let Some(fault) = self.run.fault.clone() {
            // A trigger began the run, but its workflow has faults.
            let end = End { state: RunState::Failed, output: Value::Null, fault: Some(fault) };
            return self.finish(end, &|| base).await;
        }
        let wish = self.run.wish;
        let mut part = Part { machine, commands: VecDeque::from(first), tasks: BTreeMap::new(), wish };
        if wish.is_some() {
            part.handle(Event::Cancel);
        }
        let clock = self.places.host().clock().clone();
        let now = || base + u64::try_from(clock.now().saturating_sub(begun).as_millis()).unwrap_or(u64::MAX);
        loop {
            let at_ms = now();
            while let Some(command) = part.commands.pop_front() {
                if let Command::End(outcome) = command {
                    return self.finish(self.outcome(outcome, part.wish), &now).await;
                }
                self.carry_out(command, &mut part, at_ms).await?;
            }
            let Ok(heard) = self.inbox.receive().await else { return Err(Deposed) };
            self.hear(heard, &mut part, now()).await?;
        }
    }

    /// Carries out a command of the machine, except the end of the run.
    async fn carry_out(&mut self, command: Command, part: &mut Part, at_ms: u64) -> Result<(), Deposed> {
        match command {
            Command::Expand(step) => {
                let event = match self.items(step) {
                    Ok(Expansion::Items(items)) => {
                        let count = items.len();
                        self.tell(Progress::Expanded { step: self.name(step), items }, at_ms).await?;
                        Event::Expanded { step, items: count }
                    }
                    Ok(Expansion::Skipped(reason)) => {
                        self.tell(Progress::Skipped { step: self.name(step), reason }, at_ms).await?;
                        Event::Expanded { step, items: 0 }
                    }
                    Err(fault) => {
                        let failed = Progress::Failed { step: self.name(step), item: None, fault, again_ms: None };
                        self.tell(failed, at_ms).await?;
                        Event::NotExpanded { step }
                    }
                };
                part.handle(event);
            }
            Command::Begin { item, .. } => {
                self.tell(Progress::Began { step: self.name(item.step), item: item.item }, at_ms).await?;
                part.tasks.insert(item, self.begin(item));
            }
            Command::Abort(item) => {
                // A run that was stopped finds its jobs again when it is resumed, so its jobs continue.
                let is_unwanted = part.wish != Some(RunState::Stopped);
                let mut ordered = None;
                if let Some(Underway { task, ordered: jobs }) = part.tasks.remove(&item) {
                    drop(task);
                    if is_unwanted {
                        jobs.close();
                        ordered = jobs.drain().pop();
                    }
                }
                if let Some(job) = ordered {
                    // The message about the job may still be in the inbox.
                    self.tell(Progress::Job { step: self.name(item.step), item: item.item, job }, at_ms).await?;
                }
                if is_unwanted {
                    self.cancel_job(item);
                }
            }
            Command::Complete(step) => self.tell(Progress::Completed { step: self.name(step) }, at_ms).await?,
            // Waits start with the report of a failure, and the caller handles the end.
            Command::Wait { .. } | Command::End(_) => {}
        }
        Ok(())
    }

    /// Handles a message to the runner.
    async fn hear(&mut self, heard: RunnerMessage, part: &mut Part, at_ms: u64) -> Result<(), Deposed> {
        match heard {
            RunnerMessage::Ended { item, outcome } => {
                if part.tasks.remove(&item).is_some() {
                    self.ended(item, outcome.and_then(bounded), part, at_ms).await?;
                }
            }
            RunnerMessage::Job { item, job } => {
                self.tell(Progress::Job { step: self.name(item.step), item: item.item, job }, at_ms).await?;
            }
            // The attempt has been given up, so ignore its progress.
            RunnerMessage::Advanced { item, .. } if !part.tasks.contains_key(&item) => {}
            RunnerMessage::Advanced { item, progress } => {
                self.tell(Progress::Advanced { step: self.name(item.step), item: item.item, progress }, at_ms).await?;
            }
            RunnerMessage::Elapsed(item) => {
                part.tasks.remove(&item);
                part.handle(Event::Elapsed(item));
            }
            RunnerMessage::Wish(state) => {
                part.wish = Some(state);
                part.handle(Event::Cancel);
            }
            RunnerMessage::Halt => return Err(Deposed),
            // Messages are sent when nothing else is left to do.
            RunnerMessage::Noticed { .. } => {}
        }
        Ok(())
    }

    /// Reports the end of an attempt, and starts the wait if there will be another attempt.
    async fn ended(
        &mut self,
        item: Item,
        outcome: Result<Answer, Fault>,
        part: &mut Part,
        at_ms: u64,
    ) -> Result<(), Deposed> {
        let step = self.name(item.step);
        match outcome {
            Ok(Answer { output, mut cached }) => {
                if let Some(cached) = cached.as_mut().filter(|cached| cached.from.is_none()) {
                    let record = self.run.steps.get(&step).and_then(|record| record.items.as_ref()?.get(item.item));
                    cached.job = record.and_then(|record| record.job.clone());
                }
                self.tell(Progress::Succeeded { step, item: item.item, output, cached }, at_ms).await?;
                part.handle(Event::Succeeded(item));
            }
            Err(fault) => {
                let follows = part.machine.handle(Event::Failed { item, may_pass: may_pass(&fault) });
                let again = follows.iter().find_map(|command| match command {
                    Command::Wait { item: waiting, attempt } if *waiting == item => Some(*attempt),
                    _ => None,
                });
                let wait = again.map(|attempt| self.wait(item, attempt, &fault));
                let again_ms = wait.map(|wait| u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
                self.tell(Progress::Failed { step, item: item.item.into(), fault, again_ms }, at_ms).await?;
                if let Some(wait) = wait {
                    part.tasks.insert(item, self.later(item, wait));
                }
                part.commands.extend(follows);
            }
        }
        Ok(())
    }

    fn name(&self, step: usize) -> String {
        self.workflow.step(step).0.to_owned()
    }

    /// Applies an event to the document and to the runner's copy.
    async fn tell(&mut self, progress: Progress, at_ms: u64) -> Result<(), Deposed> {
        self.run.apply(&progress, at_ms);
        let tell = Tell { run: self.id.clone(), part: self.run.part, progress, at_ms };
        self.own.call(tell).await.map_err(|_| Deposed)
    }

    fn scope<R>(&self, item: Option<(&Value, usize)>, body: impl FnOnce(&Scope<'_>) -> R) -> R {
        let output = |name: &str| self.run.steps.get(name).and_then(|step| step.output());
        let is_skipped = |name: &str| self.is_skipped(name);
        body(&Scope { parameters: &self.parameters, output: &output, is_skipped: &is_skipped, item, run: None })
    }

    fn is_skipped(&self, step: &str) -> bool {
        self.run.steps.get(step).is_some_and(|step| step.state == StepState::Skipped)
    }

    /// Returns the items over which a step is mapped (one `null` if it is not mapped), or the reason to skip the step.
    fn items(&self, step: usize) -> Result<Expansion, Fault> {
        let (name, step) = self.workflow.step(step);
        let refuse = |text: String| Fault::new(Code::InvalidValue, text);
        if let Some(other) = step.needed_but(&|other| self.is_skipped(other)) {
            return Ok(Expansion::Skipped(format!("it needs {other}, which was skipped")));
        }
        let unmet = step.when.as_ref().map(|when| self.scope(None, |scope| when.unmet(scope))).transpose();
        if let Some(reason) = unmet.map_err(refuse)?.flatten() {
            return Ok(Expansion::Skipped(reason));
        }
        let Some(map) = &step.map else { return Ok(Expansion::Items(vec![Value::Null])) };
        match self.scope(None, |scope| fill(map, scope)) {
            Ok(Value::Array(items)) => Ok(Expansion::Items(items)),
            Ok(_) => Err(refuse(format!("{name} is mapped over something that is no list"))),
            Err(text) => Err(refuse(text)),
        }
    }

    /// Begins an attempt, whose outcome will be posted to the inbox.
    fn begin(&self, item: Item) -> Underway {
        let ordered = Port::new();
        let attempt = self.attempt(item, &ordered);
        let inbox = self.inbox.clone();
        let task = self.spawn(async move {
            let outcome = match attempt {
                Ok(attempt) => attempt.make(&inbox).await,
                Err(fault) => Err(fault),
            };
            // The port refuses the message only if the runner has ended.
            let _ = inbox.post(RunnerMessage::Ended { item, outcome });
        });
        Underway { task, ordered }
    }

    fn attempt(&self, item: Item, ordered: &Port<String>) -> Result<Attempt, Fault> {
        let (name, step) = self.workflow.step(item.step);
        let record = self.run.steps.get(name).and_then(|record| record.items.as_ref()?.get(item.item));
        let record = record.cloned().unwrap_or_default();
        let mapped = step.map.is_some().then_some((&record.item, item.item));
        let refuse = |text: String| Fault::new(Code::InvalidValue, text);
        let empty = Value::Object(serde_json::Map::new());
        let body = self.scope(mapped, |scope| fill(step.with.as_ref().unwrap_or(&empty), scope)).map_err(refuse)?;
        let node = self.node(step.node.as_deref(), &step.service).map_err(refuse)?;
        let mut fetch = Vec::new();
        for wanted in &step.fetch {
            let from =
                wanted.from.as_deref().map(|node| node_of(node, &self.parameters)).transpose().map_err(refuse)?;
            let dataset = Value::String(wanted.dataset.clone());
            match self.scope(mapped, |scope| fill(&dataset, scope)).map_err(refuse)? {
                Value::String(dataset) => fetch.push((from, dataset)),
                other => return Err(refuse(format!("expected the name of a data set, found {other}"))),
            }
        }
        let follow = self.follow(step, node.as_deref()).map_err(refuse)?;
        Ok(Attempt {
            item,
            places: self.places.clone(),
            node,
            service: step.service.clone(),
            operation: step.operation.clone(),
            body,
            key: format!("{}/{name}/{}/{}", self.run.token, item.item, record.refusals),
            timeout: step.timeout_seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            fetch,
            follow,
            is_job: step.job,
            job: record.job,
            is_resumed: self.run.part > 1,
            ordered: ordered.clone(),
            cache: self.workflow.is_cached(step).then(|| Cache {
                runs: self.own.clone(),
                may_recall: !self.run.no_cache && !self.run.steps.get(name).is_some_and(|step| step.is_repeated),
                is_first: record.attempts == 1,
            }),
        })
    }

    /// Returns the node of a service; `None` for the node of the run.
    fn node(&self, node: Option<&str>, service: &str) -> Result<Option<String>, String> {
        node_of_service(node, service, &self.parameters, &self.run.places)
    }

    /// Lists the places in a step's body at which an answer of a step on another node stands, each with the node.
    fn follow(&self, step: &Step, node: Option<&str>) -> Result<Vec<(Option<String>, String)>, String> {
        let is_skipped = |name: &str| self.is_skipped(name);
        let origin = |name: &str| match self.workflow.definition().steps.get(name) {
            Some(other) => self.node(other.node.as_deref(), &other.service).map(Some),
            None => Ok(None),
        };
        // The items of a mapped step come from the node of the step that lists them, if there is one such node.
        let lists = step.map.as_ref().map(|map| places(map, &is_skipped)).unwrap_or_default();
        let mut of_items = Vec::new();
        for place in &lists {
            if let Source::Step(name) = &place.source {
                of_items.extend(origin(name)?);
            }
        }
        of_items.dedup();
        let mut follow = Vec::new();
        for place in step.with.as_ref().map(|with| places(with, &is_skipped)).unwrap_or_default() {
            let from = match &place.source {
                Source::Step(name) => origin(name)?,
                Source::Item if of_items.len() == 1 => of_items.first().cloned(),
                _ => None,
            };
            if let Some(from) = from
                && from.as_deref() != node
            {
                follow.push((from, place.pointer));
            }
        }
        Ok(follow)
    }

    fn wait(&self, item: Item, attempt: u32, fault: &Fault) -> Duration {
        let retry = self.workflow.step(item.step).1.retry;
        let seconds = retry.map_or(0.0, |retry| retry.wait_seconds(attempt));
        Duration::try_from_secs_f64(seconds).unwrap_or_default().max(fault.retry_hint().unwrap_or_default())
    }

    fn later(&self, item: Item, wait: Duration) -> Underway {
        let (clock, inbox) = (self.places.host().clock().clone(), self.inbox.clone());
        let task = self.spawn(async move {
            clock.sleep(wait).await;
            let _ = inbox.post(RunnerMessage::Elapsed(item));
        });
        Underway { task, ordered: Port::new() }
    }

    fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Task<()> {
        let dispatcher = self.places.host().dispatcher().clone();
        let context = lehr_runtime::Context::named(format!("run {}", self.id)).detached().build();
        context.run(|| dispatcher.spawn(future))
    }

    fn cancel_job(&self, item: Item) {
        let (name, step) = self.workflow.step(item.step);
        let record = self.run.steps.get(name).and_then(|record| record.items.as_ref()?.get(item.item));
        let Some(job) = record.and_then(|record| record.job.clone()) else { return };
        let Ok(node) = self.node(step.node.as_deref(), &step.service) else { return };
        self.spawn(cancel_job(self.places.clone(), node, step.service.clone(), job)).detach();
    }

    fn outcome(&self, outcome: Outcome, wish: Option<RunState>) -> End {
        let first_fault = || self.run.steps.values().find_map(|step| step.fault.clone());
        match outcome {
            Outcome::Done => match self.scope(None, |scope| fill(&self.workflow.definition().output, scope)) {
                Ok(output) => End { state: RunState::Done, output, fault: None },
                Err(text) => {
                    let fault = Some(Fault::new(Code::InvalidValue, text));
                    End { state: RunState::Failed, output: Value::Null, fault }
                }
            },
            Outcome::Failed => End { state: RunState::Failed, output: Value::Null, fault: first_fault() },
            Outcome::Cancelled => End { state: wish.unwrap_or(RunState::Cancelled), output: Value::Null, fault: None },
        }
    }

    async fn finish(&mut self, end: End, now: &(dyn Fn() -> u64 + Sync)) -> Result<(), Deposed> {
        self.notify(&end, now).await?;
        let End { state, output, fault } = end;
        self.tell(Progress::Ended { state, output, fault }, now()).await
    }

    /// Sends the messages about the end of the run, and records which could not be sent.
    async fn notify(&mut self, end: &End, now: &(dyn Fn() -> u64 + Sync)) -> Result<(), Deposed> {
        // An earlier part of the run may have sent some.
        let is_open = |name: &String| self.run.notices.get(name) != Some(&None);
        let wanted = self.workflow.definition().notify.iter();
        let wanted = wanted.filter(|(name, notice)| notice.is_for(end.state) && is_open(name));
        let mut sending: BTreeMap<String, Task<()>> =
            wanted.map(|(name, notice)| (name.clone(), self.send(name, notice, end))).collect();
        while !sending.is_empty() {
            match self.inbox.receive().await {
                Ok(RunnerMessage::Noticed { notice, fault }) => {
                    sending.remove(&notice);
                    self.tell(Progress::Noticed { notice, fault }, now()).await?;
                }
                // Nobody wants to wait any longer.
                Ok(RunnerMessage::Wish(_)) => {
                    for notice in std::mem::take(&mut sending).into_keys() {
                        let fault = Fault::new(Code::OperationCancelled, "given up, since a client ended the wait");
                        self.tell(Progress::Noticed { notice, fault: Some(fault) }, now()).await?;
                    }
                }
                Ok(RunnerMessage::Halt) | Err(_) => return Err(Deposed),
                Ok(_) => {}
            }
        }
        Ok(())
    }

    /// Sends a message about the end of the run. Its outcome will be posted to the inbox.
    fn send(&self, name: &str, notice: &Notice, end: &End) -> Task<()> {
        let run = notice::of_run(&self.id, &self.run, end.state, &end.output, end.fault.as_ref());
        let output = |name: &str| self.run.steps.get(name).and_then(|step| step.output());
        // After a failure, some steps have no answer.
        let is_skipped = |name: &str| output(name).is_none();
        let parameters = &self.parameters;
        let scope = Scope { parameters, output: &output, is_skipped: &is_skipped, item: None, run: Some(&run) };
        let empty = Value::Object(serde_json::Map::new());
        let body = fill(notice.with.as_ref().unwrap_or(&empty), &scope);
        let node = self.node(notice.node.as_deref(), &notice.service);
        let message = body.and_then(|body| {
            let (service, operation) = (notice.service.clone(), notice.operation.clone());
            // Each end of the run has a key of its own, so a service handles the message about it once.
            let key = format!("{}/notify/{name}/{}", self.run.token, self.run.ends);
            Ok(notice::Message { node: node?, service, operation, body, key })
        });
        let (places, inbox, notice) = (self.places.clone(), self.inbox.clone(), name.to_owned());
        self.spawn(async move {
            let sent = match message {
                Ok(message) => message.send(&places).await,
                Err(text) => Err(Fault::new(Code::InvalidValue, text)),
            };
            // The port refuses the message only if the runner has ended.
            let _ = inbox.post(RunnerMessage::Noticed { notice, fault: sent.err() });
        })
    }
}

/// How a run ends.
struct End {
    state: RunState,
    output: Value,
    fault: Option<Fault>,
}

/// Returns the progress that an earlier part of the run has made.
fn done(workflow: &Workflow, run: &Run) -> machine::Progress {
    let mut progress = machine::Progress::default();
    for (name, record) in &run.steps {
        let (Some(step), Some(items)) = (workflow.number(name), &record.items) else { continue };
        progress.items.insert(step, items.len());
        let done = items.iter().enumerate().filter(|(_, item)| item.state == StepState::Done);
        progress.done.extend(done.map(|(item, _)| Item { step, item }));
    }
    progress
}

/// Returns the answer of a step, or a fault if the answer is too large for the document.
fn bounded(answer: Answer) -> Result<Answer, Fault> {
    let bytes = serde_json::to_vec(&answer.output).map_or(0, |text| text.len());
    if bytes <= ANSWER_BYTES_MAX {
        return Ok(answer);
    }
    let reason = format!(
        "an answer of {bytes} bytes is too large for the document of a run (at most {ANSWER_BYTES_MAX}): pass it by the name of a data set"
    );
    Err(Fault::new(Code::TooLarge, reason))
}
