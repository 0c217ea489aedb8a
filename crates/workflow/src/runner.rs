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

use crate::attempt::{Attempt, cancel_job};
use crate::definition::Workflow;
use crate::machine::{self, Command, Event, Item, Machine, Outcome};
use crate::plan::node_of;
use crate::run::{JobProgress, Progress, Run, RunState, StepState};
use crate::service::{Tell, WorkflowState};
use crate::surroundings::Surroundings;
use crate::template::{Scope, fill};

/// The maximum size of a step's answer in the document, in bytes.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// The messages to a runner.
#[derive(Debug)]
pub(crate) enum RunnerMessage {
    /// An attempt has ended.
    Ended { item: Item, outcome: Result<Value, Fault> },
    /// An attempt has begun a job.
    Job { item: Item, job: String },
    /// A job has made progress.
    Advanced { item: Item, progress: JobProgress },
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
                    return self.end(outcome, part.wish, at_ms).await;
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
                    Ok(items) => {
                        let count = items.len();
                        self.tell(Progress::Expanded { step: self.name(step), items }, at_ms).await?;
                        Event::Expanded { step, items: count }
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
        }
        Ok(())
    }

    /// Reports the end of an attempt, and starts the wait if there will be another attempt.
    async fn ended(
        &mut self,
        item: Item,
        outcome: Result<Value, Fault>,
        part: &mut Part,
        at_ms: u64,
    ) -> Result<(), Deposed> {
        let step = self.name(item.step);
        match outcome {
            Ok(output) => {
                self.tell(Progress::Succeeded { step, item: item.item, output }, at_ms).await?;
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
        body(&Scope { parameters: &self.parameters, output: &output, item })
    }

    /// Returns the items over which a step is mapped; one `null` if it is not mapped.
    fn items(&self, step: usize) -> Result<Vec<Value>, Fault> {
        let (name, step) = self.workflow.step(step);
        let Some(map) = &step.map else { return Ok(vec![Value::Null]) };
        match self.scope(None, |scope| fill(map, scope)) {
            Ok(Value::Array(items)) => Ok(items),
            Ok(_) => Err(Fault::new(Code::InvalidValue, format!("{name} is mapped over something that is no list"))),
            Err(text) => Err(Fault::new(Code::InvalidValue, text)),
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
        let node = step.node.as_deref().map(|node| node_of(node, &self.parameters)).transpose().map_err(refuse)?;
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
            is_job: step.job,
            job: record.job,
            is_resumed: self.run.part > 1,
            ordered: ordered.clone(),
        })
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
        let node = step.node.as_deref().and_then(|node| node_of(node, &self.parameters).ok());
        self.spawn(cancel_job(self.places.clone(), node, step.service.clone(), job)).detach();
    }

    async fn end(&mut self, outcome: Outcome, wish: Option<RunState>, at_ms: u64) -> Result<(), Deposed> {
        let first_fault = || self.run.steps.values().find_map(|step| step.fault.clone());
        let (state, output, fault) = match outcome {
            Outcome::Done => match self.scope(None, |scope| fill(&self.workflow.definition().output, scope)) {
                Ok(output) => (RunState::Done, output, None),
                Err(text) => (RunState::Failed, Value::Null, Some(Fault::new(Code::InvalidValue, text))),
            },
            Outcome::Failed => (RunState::Failed, Value::Null, first_fault()),
            Outcome::Cancelled => (wish.unwrap_or(RunState::Cancelled), Value::Null, None),
        };
        self.tell(Progress::Ended { state, output, fault }, at_ms).await
    }
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

/// Returns whether another attempt may succeed after this fault.
fn may_pass(fault: &Fault) -> bool {
    let code = fault.code();
    code.may_pass()
        || matches!(
            code,
            Code::OperationFailed
                | Code::ResponseTimeout
                | Code::OperationCancelled
                | Code::StaleReference
                | Code::StartFailed
        )
}

/// Returns the answer of a step, or a fault if the answer is too large for the document.
fn bounded(output: Value) -> Result<Value, Fault> {
    let bytes = serde_json::to_vec(&output).map_or(0, |text| text.len());
    if bytes <= ANSWER_BYTES_MAX {
        return Ok(output);
    }
    let reason = format!(
        "an answer of {bytes} bytes is too large for the document of a run (at most {ANSWER_BYTES_MAX}): pass it by the name of a data set"
    );
    Err(Fault::new(Code::TooLarge, reason))
}
