//! Schedules: a node begins runs by itself, at set times or when a data set has changed.
//!
//! One task per service waits for the next time, for changed data sets and for the ends of runs. It records that a
//! trigger is due before it begins the run. So a node that was down or killed neither forgets a trigger nor repeats one.

use std::collections::BTreeMap;
use std::time::Duration;

use lehr_jobs::datasets::Datasets;
use lehr_runtime::{Port, Task};
use lehr_services::{Call, Code, Exclusive, Fault, Host, Independent, Operation, Reference, Subscribe};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::cache;
use crate::definition::Workflow;
use crate::plan;
use crate::service::{Begin, Enter, WorkflowState, Workflows, of_the_node, places};
use crate::surroundings::Surroundings;

/// The maximum number of workflows with a schedule.
const SCHEDULES_MAX: usize = 1000;

/// The longest wait until the task looks at the time again, because the machine's time may jump.
const LOOK: Duration = Duration::from_secs(60);

/// The path of the service of data sets that triggers follow.
const DATASETS: &str = crate::surroundings::DATASETS;

/// A workflow that a node begins by itself.
///
/// # Example
/// See [`Schedule`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scheduled {
    /// The workflow and its parameters.
    pub begin: Begin,
    /// The triggers by name.
    pub triggers: BTreeMap<String, TriggerState>,
    /// The trigger whose run is due but has not begun, if there is one. A run waits for the end of the run before. If
    /// other triggers fire in the meantime, one run serves them all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<String>,
    /// The id of the last run that a trigger began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

/// The state of a trigger: the next time at which it fires, or the checksum of the data set that it follows.
///
/// # Example
/// See [`Schedule`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TriggerState {
    /// The next time at which the trigger fires, in milliseconds since 1970. `None` if the trigger follows a data set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due_ms: Option<u64>,
    /// The checksum of the data set's content when the trigger last found it. `None` if the trigger has not found such
    /// a data set yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
}

/// Lets the node begin runs of a workflow by its triggers. Replaces an earlier schedule of a workflow with the same
/// name. The answer has the state that new triggers get. For unchanged triggers, the stored schedule keeps the earlier
/// state instead.
///
/// # Errors
/// Returns the faults of the workflow, and [`Code::InvalidValue`] if it has no triggers. Returns
/// [`Code::InsufficientResources`] if 1000 other workflows have a schedule.
///
/// # Example
/// ```
/// use lehr_node::Records;
/// use lehr_services::{Fault, Host};
/// use lehr_workflow::{Begin, Schedule, WORKFLOWS, Workflows};
///
/// let text = r#"
/// name = "tidy"
///
/// [triggers.hourly]
/// every_seconds = 3600
///
/// [steps.note]
/// service = "/notes"
/// operation = "upsert"
/// with = { key = "last", value = "done" }
/// "#;
/// let clock = lehr_runtime::Clock::virtual_time();
/// let dispatcher = lehr_runtime::Builder::new().threads(2).clock(clock).start().unwrap();
/// let host = Host::new(dispatcher.handle());
/// lehr_runtime::block_on(async {
///     host.start("/notes", Records::default).await?;
///     let workflows = host.start(WORKFLOWS, || Workflows::new(None)).await?;
///     let scheduled = workflows.call(Schedule(Begin::new("tidy.toml", text))).await?;
///     assert_eq!(scheduled.triggers["hourly"].due_ms, Some(3_600_000));
///     Ok::<(), Fault>(())
/// })
/// .unwrap();
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[serde(transparent)]
#[operation(contract = WorkflowState, verb = Submit, name = "schedule", reply = Scheduled)]
pub struct Schedule(pub Begin);

/// Ends the schedule of a workflow. A run that is under way continues.
///
/// # Example
/// ```
/// assert_eq!(lehr_workflow::Unschedule { workflow: "tidy".into() }.workflow, "tidy");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = WorkflowState, verb = Delete, name = "unschedule", key = workflow)]
pub struct Unschedule {
    /// The name of the workflow.
    pub workflow: String,
}

/// Records a schedule. Only the node itself may send this request.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = WorkflowState, verb = Upsert, name = "enter_schedule", key = workflow)]
pub(crate) struct EnterSchedule {
    workflow: String,
    scheduled: Scheduled,
}

/// Records that a trigger is due, so that a run begins. Only the node itself may send this request.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = WorkflowState, verb = Update, name = "notice", key = workflow)]
pub(crate) struct Noticed {
    workflow: String,
    trigger: String,
    /// The state of the trigger before it fired. If the trigger now has a different state, a client has replaced the
    /// schedule, and the request changes nothing.
    before: TriggerState,
    state: TriggerState,
}

/// The messages to the task that follows the triggers.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SchedulerMessage {
    /// A schedule, a run or a data set may have changed.
    Look,
    /// The service is stopping.
    Halt,
}

impl Independent<Schedule> for Workflows {
    async fn handle(Schedule(begin): Schedule, call: &Call) -> Result<Scheduled, Fault> {
        let workflow = Workflow::read(&begin.file, &begin.definition)?;
        if workflow.definition().triggers.is_empty() {
            let reason = format!("{}: expected a table triggers that says when a run begins, found none", begin.file);
            return Err(Fault::new(Code::InvalidValue, reason));
        }
        let own = call.own::<WorkflowState>()?;
        let places = places(call, &own).await?;
        plan::plan(&workflow, &begin.parameters, &begin.places, &places).await?;
        let now_ms = call.host()?.clock().unix_ms();
        let checksums = cache::checksums(places.datasets(None)).await?;
        let states = workflow.definition().triggers.iter().map(|(name, trigger)| {
            let checksum = trigger.dataset.as_ref().and_then(|dataset| checksums.get(dataset).cloned());
            (name.clone(), TriggerState { due_ms: trigger.due_ms(None, now_ms), checksum })
        });
        let scheduled = Scheduled { begin, triggers: states.collect(), pending: None, run: None };
        let workflow = workflow.name().to_owned();
        own.call(EnterSchedule { workflow, scheduled: scheduled.clone() }).await?;
        Ok(scheduled)
    }
}

impl Exclusive<EnterSchedule> for Workflows {
    async fn handle(&mut self, request: EnterSchedule, call: &Call) -> Result<(), Fault> {
        of_the_node(call)?;
        let EnterSchedule { workflow, mut scheduled } = request;
        let schedules = &mut self.document.schedules;
        match schedules.get(&workflow) {
            Some(before) => scheduled.follow(before),
            None if schedules.len() >= SCHEDULES_MAX => {
                let reason = format!("{SCHEDULES_MAX} workflows have a schedule: remove one first");
                return Err(Fault::new(Code::InsufficientResources, reason));
            }
            None => {}
        }
        schedules.insert(workflow, scheduled);
        self.follow(call.host()?, call.own()?);
        Ok(())
    }
}

impl Exclusive<Unschedule> for Workflows {
    async fn handle(&mut self, Unschedule { workflow }: Unschedule, _: &Call) -> Result<(), Fault> {
        match self.document.schedules.remove(&workflow) {
            Some(_) => Ok(()),
            None => {
                let known: Vec<&str> = self.document.schedules.keys().map(String::as_str).collect();
                let known = if known.is_empty() { "there are none".to_owned() } else { known.join(", ") };
                Err(Fault::new(Code::UnknownEntry, format!("no schedule of {workflow:?} ({known})")))
            }
        }
    }
}

impl Exclusive<Noticed> for Workflows {
    async fn handle(&mut self, request: Noticed, call: &Call) -> Result<(), Fault> {
        of_the_node(call)?;
        let Noticed { workflow, trigger, before, state } = request;
        // A client may have removed or replaced the schedule meanwhile.
        if let Some(scheduled) = self.document.schedules.get_mut(&workflow)
            && let Some(known) = scheduled.triggers.get_mut(&trigger).filter(|known| **known == before)
        {
            *known = state;
            scheduled.pending.get_or_insert(trigger);
        }
        Ok(())
    }
}

impl Scheduled {
    /// Takes over what an earlier schedule of the workflow has noticed, as far as both have the same triggers.
    fn follow(&mut self, before: &Self) {
        self.run.clone_from(&before.run);
        let read = |begin: &Begin| Workflow::read(&begin.file, &begin.definition).ok();
        let (Some(new), Some(old)) = (read(&self.begin), read(&before.begin)) else { return };
        for (name, rule) in &new.definition().triggers {
            if old.definition().triggers.get(name) != Some(rule) {
                continue;
            }
            if let (Some(state), Some(earlier)) = (self.triggers.get_mut(name), before.triggers.get(name)) {
                state.clone_from(earlier);
            }
            if before.pending.as_ref() == Some(name) {
                self.pending = Some(name.clone());
            }
        }
    }
}

impl Workflows {
    /// Checks that a trigger of this schedule still waits for a run, and that no run of the schedule is under way.
    pub(crate) fn check_due(&self, by: &Triggered, begin: &Begin) -> Result<(), Fault> {
        let refuse = |reason: &str| Err(Fault::new(Code::PreconditionFailed, format!("{}: {reason}", by.schedule)));
        match self.document.schedules.get(&by.schedule) {
            None => refuse("the schedule is gone"),
            Some(scheduled) if scheduled.begin != *begin || scheduled.pending.as_ref() != Some(&by.trigger) => {
                refuse("the schedule has changed")
            }
            Some(_) if self.document.is_under_way(&by.schedule) => refuse("a run of the schedule is under way"),
            Some(_) => Ok(()),
        }
    }

    /// Starts the task that follows the triggers, or lets it look again.
    pub(crate) fn follow(&mut self, host: Host, own: Reference<WorkflowState>) {
        if self.document.schedules.is_empty() {
            return;
        }
        if let Some(inbox) = &self.scheduler
            && inbox.post(SchedulerMessage::Look).is_ok()
        {
            return;
        }
        let inbox = Port::named("schedules");
        self.scheduler = Some(inbox.clone());
        let dispatcher = host.dispatcher().clone();
        let scheduler = Scheduler {
            own,
            places: Surroundings::new(host, self.reach()),
            inbox,
            watch: None,
            beginning: BTreeMap::new(),
        };
        let context = lehr_runtime::Context::named("schedules").detached().build();
        context.run(|| dispatcher.spawn(scheduler.drive())).detach();
    }
}

impl WorkflowState {
    /// Returns whether a run that a trigger of this workflow began is under way.
    fn is_under_way(&self, workflow: &str) -> bool {
        let mut runs = self.runs.values();
        runs.any(|run| run.workflow == workflow && run.trigger.is_some() && !run.state.is_over())
    }
}

/// The task that follows the triggers of all schedules.
struct Scheduler {
    own: Reference<WorkflowState>,
    places: Surroundings,
    inbox: Port<SchedulerMessage>,
    /// The task that listens for changes of data sets, if a trigger needs it.
    watch: Option<Task<()>>,
    /// The tasks that begin runs, by workflow. A plan may take long, because a node may be silent.
    beginning: BTreeMap<String, Task<()>>,
}

impl Scheduler {
    async fn drive(mut self) {
        let clock = self.places.host().clock().clone();
        // A failed request means that the service is stopping, or has lost its data sets; in both cases the task looks
        // again later.
        loop {
            let next = match self.look().await {
                Ok(next_ms) => {
                    let left = next_ms.map(|next| Duration::from_millis(next.saturating_sub(clock.unix_ms())));
                    left.map_or(LOOK, |left| left.min(LOOK))
                }
                Err(_) => LOOK,
            };
            let first = match clock.timeout(next, self.inbox.receive()).await {
                Ok(Ok(first)) => Some(first),
                Ok(Err(_)) => break,
                Err(_) => None,
            };
            // One look answers all messages that have come.
            let rest = self.inbox.drain();
            if first.into_iter().chain(rest).any(|message| matches!(message, SchedulerMessage::Halt)) {
                break;
            }
        }
        self.inbox.close();
    }

    /// Records what the triggers notice, and begins the runs that are due. Returns the next time that a trigger waits
    /// for.
    async fn look(&mut self) -> Result<Option<u64>, Fault> {
        let state = self.own.get().await?;
        let mut due = Vec::new();
        for (name, scheduled) in &state.schedules {
            let Ok(workflow) = Workflow::read(&scheduled.begin.file, &scheduled.begin.definition) else { continue };
            due.push((name.clone(), workflow, scheduled.clone()));
        }
        drop(state);
        let mut triggers = due.iter().flat_map(|(_, workflow, _)| workflow.definition().triggers.values());
        let follows_data = triggers.any(|trigger| trigger.dataset.is_some());
        self.watch(follows_data);
        // If the data sets cannot be asked, the other triggers go on.
        let checksums = match follows_data {
            true => cache::checksums(self.places.datasets(None)).await.ok(),
            false => None,
        };
        let now_ms = self.places.host().clock().unix_ms();
        let mut next_ms: Option<u64> = None;
        for (name, workflow, scheduled) in &due {
            for (trigger, rule) in &workflow.definition().triggers {
                let Some(before) = scheduled.triggers.get(trigger) else { continue };
                let now = match &rule.dataset {
                    // A data set that was removed is no content; its return with the same content is no change.
                    Some(dataset) => {
                        let found = checksums.as_ref().and_then(|checksums| checksums.get(dataset));
                        let checksum = found.or(before.checksum.as_ref()).cloned();
                        TriggerState { due_ms: None, checksum }
                    }
                    None if before.due_ms.is_some_and(|due| due <= now_ms) => {
                        TriggerState { due_ms: rule.due_ms(before.due_ms, now_ms), checksum: None }
                    }
                    None => before.clone(),
                };
                next_ms = [next_ms, now.due_ms].into_iter().flatten().min();
                if now != *before {
                    let (workflow, trigger, before) = (name.clone(), trigger.clone(), before.clone());
                    self.own.call(Noticed { workflow, trigger, before, state: now }).await?;
                }
            }
        }
        self.begin().await?;
        Ok(next_ms)
    }

    /// Begins a run for each schedule with a pending trigger, unless a run of it is under way.
    async fn begin(&mut self) -> Result<(), Fault> {
        let state = self.own.get().await?;
        self.beginning.retain(|_, task| !task.is_finished());
        for (schedule, scheduled) in &state.schedules {
            let Some(trigger) = scheduled.pending.clone() else { continue };
            if state.is_under_way(schedule) || self.beginning.contains_key(schedule) {
                continue;
            }
            let (own, places, inbox) = (self.own.clone(), self.places.clone(), self.inbox.clone());
            let (schedule, begin) = (schedule.clone(), scheduled.begin.clone());
            let name = schedule.clone();
            let context = lehr_runtime::Context::named("schedules").detached().build();
            let task = context.run(|| {
                self.places.host().dispatcher().spawn(async move {
                    // The services may have changed since the workflow was scheduled. A run that cannot begin is in the
                    // history too, with the faults, and its messages are sent.
                    let refused = match Workflow::read(&begin.file, &begin.definition) {
                        Ok(workflow) => plan::plan(&workflow, &begin.parameters, &begin.places, &places).await.err(),
                        Err(found) => Some(found),
                    };
                    let by = Triggered { schedule, trigger, refused: refused.map(Fault::from) };
                    // The request is refused if the schedule has changed meanwhile.
                    let entered = own.call(Enter { begin, by: Some(by) }).await;
                    if entered.is_err_and(|fault| fault.code() == Code::PreconditionFailed) {
                        // The task of the schedules looks again, once this task has ended.
                        let _ = inbox.post(SchedulerMessage::Look);
                    }
                })
            });
            self.beginning.insert(name, task);
        }
        Ok(())
    }

    /// Listens for changes of data sets, if a trigger needs it and nothing listens yet.
    fn watch(&mut self, is_needed: bool) {
        if !is_needed {
            self.watch = None;
            return;
        }
        if self.watch.as_ref().is_some_and(|watch| !watch.is_finished()) {
            return;
        }
        let (host, inbox) = (self.places.host().clone(), self.inbox.clone());
        let context = lehr_runtime::Context::named("schedules").detached().build();
        let listen = async move {
            let Ok(datasets) = host.reference::<Datasets>(DATASETS) else { return };
            let Ok(mut changes) = datasets.subscribe(Subscribe::default().capacity(1)).await else { return };
            // The port refuses the message only if the task has ended.
            while changes.next().await.is_ok() && inbox.post(SchedulerMessage::Look).is_ok() {}
        };
        self.watch = Some(context.run(|| self.places.host().dispatcher().spawn(listen)));
    }
}

/// How a schedule has begun a run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Triggered {
    pub(crate) schedule: String,
    pub(crate) trigger: String,
    /// The faults of the workflow, if it cannot run.
    pub(crate) refused: Option<Fault>,
}
