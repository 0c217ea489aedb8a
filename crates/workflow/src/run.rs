//! A run as a document: finished steps, running steps, results. The run's runner changes the document through events,
//! so subscribers can apply the same events and have the same document.

use std::collections::{BTreeMap, BTreeSet};

use lehr_services::{Code, Fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The state of a run.
///
/// # Example
/// ```
/// assert!(lehr_workflow::RunState::Failed.is_over() && !lehr_workflow::RunState::Running.is_over());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// The steps are being done.
    Running,
    /// All steps are done.
    Done,
    /// A step has failed. The run can be resumed.
    Failed,
    /// A client cancelled the run. The run can be resumed.
    Cancelled,
    /// The run was stopped, to be resumed later.
    Stopped,
}

impl RunState {
    /// Returns whether the run has ended.
    pub fn is_over(self) -> bool {
        self != Self::Running
    }
}

impl std::fmt::Display for RunState {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Running => "running",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Stopped => "stopped",
        })
    }
}

/// The state of a step, or of one of its items.
///
/// # Example
/// See [`StepRecord`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepState {
    /// The step or item has not begun, or will begin again.
    #[default]
    Waiting,
    /// The step or item is being done.
    Running,
    /// An attempt has failed, and another will follow.
    Retrying,
    /// The answer is available.
    Done,
    /// The step or item has failed.
    Failed,
    /// The step was not done, because of its condition or because it needs the answer of a skipped step.
    Skipped,
}

/// The progress of a job, as its service reports it.
///
/// # Example
/// See [`Progress`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobProgress {
    /// The fraction that is done, from 0 to 1.
    pub fraction: f64,
    /// The current stage.
    #[serde(default)]
    pub stage: String,
}

impl JobProgress {
    /// Reads the progress that a job's record contains; `None` if it has no fraction.
    pub(crate) fn of(progress: &Value) -> Option<Self> {
        let stage = progress.get("stage").and_then(Value::as_str).unwrap_or_default();
        // The share is rounded down to whole per cent, because smaller steps are not reported.
        let fraction = (progress.get("fraction")?.as_f64()? * 100.0).floor() / 100.0;
        Some(Self { fraction, stage: stage.to_owned() })
    }
}

/// The inputs and outputs of a cached answer, by which its validity is checked.
///
/// # Example
/// ```
/// let text = r#"{ "fingerprint": "9f3c", "contents": { "clustering-1/labels": "51ab" }, "from": "census-1" }"#;
/// let inputs: lehr_workflow::CachedAnswer = serde_json::from_str(text).unwrap();
/// assert_eq!(inputs.from.as_deref(), Some("census-1"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CachedAnswer {
    /// A hash of the request, the contents of its data sets, and the versions of the service and of Lehr.
    pub fingerprint: String,
    /// The checksums of the data sets that the answer names.
    #[serde(default)]
    pub contents: BTreeMap<String, String>,
    /// The job that made the answer, if the step uses jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The run that made the answer, if it was another run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// One item of a step. A step that is not mapped has one item.
///
/// # Example
/// See [`StepRecord`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemRecord {
    /// The state of the item.
    pub state: StepState,
    /// The number of attempts that began.
    pub attempts: u32,
    /// The number of attempts that ended in a fault. Attempts with an unknown outcome do not count, because they are
    /// sent again with the same key.
    #[serde(default)]
    pub refusals: u32,
    /// The list item that this item works on, if the step is mapped.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub item: Value,
    /// The job that processes the item, if the step uses jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The job's progress, if its service reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<JobProgress>,
    /// The time at which the last attempt began, in milliseconds of the run's elapsed time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<u64>,
    /// The time at which the last attempt ended, in milliseconds of the run's elapsed time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<u64>,
    /// The answer for the item, once the item is done.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub output: Value,
    /// The reason why the last attempt failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// The inputs and outputs of the answer, if later runs may take it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached: Option<CachedAnswer>,
}

/// One step of a run.
///
/// # Example
/// ```
/// use lehr_workflow::{StepRecord, StepState};
/// let step = StepRecord::default();
/// assert_eq!((step.state, step.output()), (StepState::Waiting, None));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StepRecord {
    /// The state of the step.
    pub state: StepState,
    /// Whether the step is done for each item of a list.
    #[serde(default)]
    pub is_mapped: bool,
    /// The steps that this step needs.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub needs: BTreeSet<String>,
    /// The service that does the step; `None` if it is on another node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// The items, once they are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<ItemRecord>>,
    /// The time at which the step began, in milliseconds of the run's elapsed time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<u64>,
    /// The time at which the step ended, in milliseconds of the run's elapsed time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<u64>,
    /// The reason why the step failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// The reason why the step was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<String>,
    /// Whether a client wants the step to be repeated, so that it takes no answer of an earlier run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_repeated: bool,
}

impl StepRecord {
    /// Returns the answer of a step that is done. For a mapped step, this is the list of its items' answers.
    pub fn output(&self) -> Option<Value> {
        if self.state != StepState::Done {
            return None;
        }
        let mut outputs = self.items.as_ref()?.iter().map(|item| item.output.clone());
        if self.is_mapped { Some(Value::Array(outputs.collect())) } else { outputs.next() }
    }

    /// Returns the total number of attempts of the step's items.
    pub fn attempts(&self) -> u32 {
        self.items.iter().flatten().map(|item| item.attempts).sum()
    }
}

/// A run of a workflow.
///
/// # Example
/// See [`Workflows`](crate::Workflows).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Run {
    /// The name of the workflow.
    pub workflow: String,
    /// The name of the workflow's file, for messages.
    pub file: String,
    /// The text of the workflow, as the client sent it.
    pub definition: String,
    /// The values that the client gave for the parameters.
    pub parameters: BTreeMap<String, Value>,
    /// The nodes of services that steps name by their path alone, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub places: BTreeMap<String, String>,
    /// The trigger that began the run; `None` if a client did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trigger: Option<String>,
    /// The time at which the run began, in milliseconds since 1970.
    #[serde(default)]
    pub begun_ms: u64,
    /// Whether all steps are done, even if an earlier run has their answers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub no_cache: bool,
    /// The state of the run.
    pub state: RunState,
    /// The steps by name.
    pub steps: BTreeMap<String, StepRecord>,
    /// The duration of the run, in milliseconds. The duration does not include the time between two parts of the run.
    pub elapsed_ms: u64,
    /// The answer of the run, once the run is done.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub output: Value,
    /// The reason why the run failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// The end state that a client requested, if there was a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wish: Option<RunState>,
    /// The number of the run's current part. The number rises when the run is begun, resumed or repeated from a step.
    /// Runners of earlier parts may no longer change the run.
    pub part: u64,
    /// A text that makes the keys of this run's requests different from the keys of all other runs, on any node.
    pub token: String,
    /// The position of the run in the order in which runs were begun.
    pub number: u64,
    /// The number of times the run has ended, without interruptions.
    #[serde(default)]
    pub ends: u64,
    /// The messages about the last end, each with the fault if it could not be sent.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notices: BTreeMap<String, Option<Fault>>,
}

/// The events of a run.
///
/// # Example
/// See [`Run::apply`], and:
/// ```
/// use lehr_workflow::{JobProgress, Progress};
/// let progress = JobProgress { fraction: 0.5, stage: "annealing".into() };
/// let told = Progress::Advanced { step: "cluster".into(), item: 0, progress };
/// assert_eq!(serde_json::to_value(told).unwrap()["progress"]["fraction"], 0.5);
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "what", rename_all = "lowercase")]
pub enum Progress {
    /// The items of a step are known.
    Expanded {
        /// The name of the step.
        step: String,
        /// The items over which the step is mapped; one `null` if it is not mapped.
        items: Vec<Value>,
    },
    /// An attempt begins.
    Began {
        /// The name of the step.
        step: String,
        /// The index of the item.
        item: usize,
    },
    /// A job has begun for the item.
    Job {
        /// The name of the step.
        step: String,
        /// The index of the item.
        item: usize,
        /// The id of the job.
        job: String,
    },
    /// The job has made progress.
    Advanced {
        /// The name of the step.
        step: String,
        /// The index of the item.
        item: usize,
        /// The new progress of the job.
        progress: JobProgress,
    },
    /// An attempt has succeeded.
    Succeeded {
        /// The name of the step.
        step: String,
        /// The index of the item.
        item: usize,
        /// The answer.
        output: Value,
        /// The inputs and outputs of the answer, if the step is cached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cached: Option<CachedAnswer>,
    },
    /// A step is skipped.
    Skipped {
        /// The name of the step.
        step: String,
        /// The reason.
        reason: String,
    },
    /// An attempt has failed.
    Failed {
        /// The name of the step.
        step: String,
        /// The item; `None` if the step could not begin.
        item: Option<usize>,
        /// The reason for the failure.
        fault: Fault,
        /// The wait until the next attempt, in milliseconds; `None` if there is no further attempt.
        again_ms: Option<u64>,
    },
    /// A step is done.
    Completed {
        /// The name of the step.
        step: String,
    },
    /// A message about the end of the run was sent, or could not be sent.
    Noticed {
        /// The name of the message.
        notice: String,
        /// The reason why the message could not be sent.
        fault: Option<Fault>,
    },
    /// The run, or this part of it, has ended.
    Ended {
        /// The final state.
        state: RunState,
        /// The answer.
        output: Value,
        /// The reason why the run failed.
        fault: Option<Fault>,
    },
}

/// Returns whether a request may have been carried out although it ended in a fault.
pub(crate) fn is_fate_unknown(fault: &Fault) -> bool {
    matches!(fault.code(), Code::Unavailable | Code::ResponseTimeout | Code::OperationCancelled | Code::ServiceStopping)
}

impl Run {
    /// Prepares the run to continue: finished steps stay, except the steps in `again` (the chosen step and all that
    /// need it), which are done again.
    pub(crate) fn reopen(&mut self, again: &BTreeSet<String>) {
        if !matches!(self.state, RunState::Running | RunState::Stopped) {
            // The next end has its own messages. A run that was interrupted while it sent its messages goes on with the
            // rest.
            self.notices.clear();
        }
        (self.state, self.fault, self.wish, self.output) = (RunState::Running, None, None, Value::Null);
        self.part += 1;
        if !again.is_empty() {
            // With a new token, services do not return their old answers to these steps.
            self.token = format!("{}-{}", self.token, self.part);
        }
        for (name, record) in &mut self.steps {
            if again.contains(name) {
                let StepRecord { is_mapped, needs, service, .. } = std::mem::take(record);
                *record = StepRecord { is_mapped, needs, service, is_repeated: true, ..StepRecord::default() };
            } else if !matches!(record.state, StepState::Done | StepState::Skipped) {
                record.state = StepState::Waiting;
                (record.fault, record.ended_ms) = (None, None);
                // A step that could not begin will be expanded again.
                for item in record.items.iter_mut().flatten().filter(|item| item.state != StepState::Done) {
                    item.state = StepState::Waiting;
                }
            }
        }
    }

    /// Applies an event to the document. `at_ms` is the time of the event, in milliseconds of the run's elapsed time.
    ///
    /// # Example
    /// ```
    /// use lehr_workflow::{Progress, Run, RunState, StepRecord, StepState};
    /// # let mut run = Run {
    /// #     workflow: "a".into(), file: "a.toml".into(), definition: String::new(), parameters: Default::default(), state: RunState::Running,
    /// #     steps: [("read".to_owned(), StepRecord::default())].into(), elapsed_ms: 0, output: serde_json::Value::Null, fault: None, wish: None, part: 1,
    /// #     token: "t".into(), number: 1, ends: 0, notices: Default::default(), trigger: None, begun_ms: 0, no_cache: false,
    /// #     places: Default::default(),
    /// # };
    /// run.apply(&Progress::Expanded { step: "read".into(), items: vec![serde_json::Value::Null] }, 5);
    /// run.apply(&Progress::Began { step: "read".into(), item: 0 }, 5);
    /// run.apply(&Progress::Succeeded { step: "read".into(), item: 0, output: 42.into(), cached: None }, 9);
    /// run.apply(&Progress::Completed { step: "read".into() }, 9);
    /// assert_eq!(run.steps["read"].output(), Some(42.into()));
    /// assert_eq!((run.steps["read"].started_ms, run.steps["read"].ended_ms), (Some(5), Some(9)));
    /// ```
    pub fn apply(&mut self, progress: &Progress, at_ms: u64) {
        self.elapsed_ms = self.elapsed_ms.max(at_ms);
        match progress {
            Progress::Expanded { step, items } => {
                let Some(record) = self.steps.get_mut(step) else { return };
                let items = items.iter().map(|item| ItemRecord { item: item.clone(), ..ItemRecord::default() });
                record.items = Some(items.collect());
                record.started_ms = Some(at_ms);
            }
            Progress::Began { step, item } => {
                let Some(record) = self.steps.get_mut(step) else { return };
                (record.state, record.fault, record.ended_ms) = (StepState::Running, None, None);
                record.started_ms = record.started_ms.or(Some(at_ms));
                let Some(item) = self.item(step, *item) else { return };
                item.state = StepState::Running;
                item.attempts += 1;
                item.started_ms = Some(at_ms);
                (item.ended_ms, item.fault, item.progress) = (None, None, None);
            }
            Progress::Job { step, item, job } => {
                if let Some(item) = self.item(step, *item) {
                    item.job = Some(job.clone());
                }
            }
            Progress::Advanced { step, item, progress } => {
                if let Some(item) = self.item(step, *item) {
                    item.progress = Some(progress.clone());
                }
            }
            Progress::Succeeded { step, item, output, cached } => {
                let Some(item) = self.item(step, *item) else { return };
                (item.state, item.output, item.ended_ms) = (StepState::Done, output.clone(), Some(at_ms));
                (item.progress, item.cached) = (None, cached.clone());
                if let Some(job) = cached.as_ref().and_then(|cached| cached.job.clone()) {
                    item.job = Some(job);
                }
            }
            Progress::Skipped { step, reason } => {
                if let Some(record) = self.steps.get_mut(step) {
                    (record.state, record.skipped, record.items) =
                        (StepState::Skipped, Some(reason.clone()), Some(Vec::new()));
                    (record.started_ms, record.ended_ms) = (Some(at_ms), Some(at_ms));
                }
            }
            Progress::Noticed { notice, fault } => {
                self.notices.insert(notice.clone(), fault.clone());
            }
            Progress::Failed { step, item, fault, again_ms } => {
                let state = if again_ms.is_some() { StepState::Retrying } else { StepState::Failed };
                if let Some(item) = item.and_then(|item| self.item(step, item)) {
                    (item.state, item.fault, item.ended_ms) = (state, Some(fault.clone()), Some(at_ms));
                    item.refusals += u32::from(!is_fate_unknown(fault));
                    // The next attempt begins another job.
                    item.job = None;
                }
                if state == StepState::Failed
                    && let Some(record) = self.steps.get_mut(step)
                {
                    (record.state, record.fault, record.ended_ms) = (state, Some(fault.clone()), Some(at_ms));
                }
            }
            Progress::Completed { step } => {
                if let Some(record) = self.steps.get_mut(step).filter(|record| record.state != StepState::Skipped) {
                    (record.state, record.ended_ms) = (StepState::Done, Some(at_ms));
                }
            }
            Progress::Ended { state, output, fault } => {
                (self.state, self.output, self.fault, self.wish) = (*state, output.clone(), fault.clone(), None);
                self.ends += u64::from(*state != RunState::Stopped);
                // Items that were running must begin again.
                for record in self.steps.values_mut() {
                    let mut is_open = false;
                    for item in record.items.iter_mut().flatten() {
                        if matches!(item.state, StepState::Running | StepState::Retrying) {
                            (item.state, is_open) = (StepState::Waiting, true);
                        }
                    }
                    if is_open && record.state == StepState::Running {
                        record.state = StepState::Waiting;
                    }
                }
            }
        }
    }

    fn item(&mut self, step: &str, item: usize) -> Option<&mut ItemRecord> {
        self.steps.get_mut(step)?.items.as_mut()?.get_mut(item)
    }
}
