//! A run as a document: finished steps, running steps, results. Only its runner's reports change it, so that every
//! subscriber to the changes has the same document.

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
    /// Its steps are being done.
    Running,
    /// All steps are done.
    Done,
    /// A step has failed. It can be resumed.
    Failed,
    /// A client no longer wanted it. It can be resumed.
    Cancelled,
    /// It was stopped, to be resumed.
    Stopped,
}

impl RunState {
    /// Whether nothing more happens.
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

/// The state of a step, or of an item of it.
///
/// # Example
/// See [`StepRecord`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepState {
    /// It has not begun, or is to be begun again.
    #[default]
    Waiting,
    /// It is being done.
    Running,
    /// An attempt has failed, and another will follow.
    Retrying,
    /// Its answer is there.
    Done,
    /// It has failed.
    Failed,
}

/// The progress of a job, as its service says.
///
/// # Example
/// See [`Progress`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct JobProgress {
    /// The share that is done, from 0 to 1.
    pub fraction: f64,
    /// The present stage.
    #[serde(default)]
    pub stage: String,
}

impl JobProgress {
    /// The progress in the record of a job; `None` if there is none.
    pub(crate) fn of(progress: &Value) -> Option<Self> {
        let stage = progress.get("stage").and_then(Value::as_str).unwrap_or_default();
        // Whole per cent: what is less is no news.
        let fraction = (progress.get("fraction")?.as_f64()? * 100.0).floor() / 100.0;
        Some(Self { fraction, stage: stage.to_owned() })
    }
}

/// One item of a step; a step that is not mapped has one.
///
/// # Example
/// See [`StepRecord`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemRecord {
    /// Its state.
    pub state: StepState,
    /// The number of times it was begun.
    pub attempts: u32,
    /// The number of times it was answered with a fault. Attempts with an unknown outcome do not count: they are sent
    /// again with the same key.
    #[serde(default)]
    pub refusals: u32,
    /// The item that it works on, if the step is mapped.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub item: Value,
    /// The job that does it, if the step is done by jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
    /// The job's progress, if its service reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<JobProgress>,
    /// The time at which it was last begun, in milliseconds of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<u64>,
    /// The time at which its last attempt ended, in milliseconds of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<u64>,
    /// The answer.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub output: Value,
    /// The reason why the last attempt failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
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
    /// Its state.
    pub state: StepState,
    /// Whether it is done for each item of a list.
    #[serde(default)]
    pub is_mapped: bool,
    /// Its items, when it is known which they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub items: Option<Vec<ItemRecord>>,
    /// The time at which it began, in milliseconds of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ms: Option<u64>,
    /// The time at which it ended, in milliseconds of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<u64>,
    /// The reason why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
}

impl StepRecord {
    /// Its answer, if it is done: of a mapped step, the list of answers.
    pub fn output(&self) -> Option<Value> {
        if self.state != StepState::Done {
            return None;
        }
        let mut outputs = self.items.as_ref()?.iter().map(|item| item.output.clone());
        if self.is_mapped { Some(Value::Array(outputs.collect())) } else { outputs.next() }
    }

    /// The number of times its items were begun, together.
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
    /// The workflow's name.
    pub workflow: String,
    /// The name of its file in messages.
    pub file: String,
    /// The workflow, as it was given.
    pub definition: String,
    /// The values that were given for its parameters.
    pub parameters: BTreeMap<String, Value>,
    /// Its state.
    pub state: RunState,
    /// Its steps by name.
    pub steps: BTreeMap<String, StepRecord>,
    /// The time of the run, in milliseconds: it stands still while the run does.
    pub elapsed_ms: u64,
    /// Its answer, when it is done.
    #[serde(default, skip_serializing_if = "Value::is_null")]
    pub output: Value,
    /// The reason why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// The requested end, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wish: Option<RunState>,
    /// The number of times it was begun, resumed or begun again from a step. Earlier runners may no longer change it.
    pub part: u64,
    /// Makes the keys of its requests different from those of all other runs, on any node.
    pub token: String,
    /// The order in which runs were begun.
    pub number: u64,
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
    /// It is known which items a step has.
    Expanded {
        /// The step.
        step: String,
        /// The items that it is mapped over; one `null` if it is not mapped.
        items: Vec<Value>,
    },
    /// An attempt begins.
    Began {
        /// The step.
        step: String,
        /// The item.
        item: usize,
    },
    /// A job carries it out.
    Job {
        /// The step.
        step: String,
        /// The item.
        item: usize,
        /// The job.
        job: String,
    },
    /// The job has got further.
    Advanced {
        /// The step.
        step: String,
        /// The item.
        item: usize,
        /// Its progress.
        progress: JobProgress,
    },
    /// An attempt has succeeded.
    Succeeded {
        /// The step.
        step: String,
        /// The item.
        item: usize,
        /// The answer.
        output: Value,
    },
    /// An attempt has failed.
    Failed {
        /// The step.
        step: String,
        /// The item; nothing if the step could not begin at all.
        item: Option<usize>,
        /// Why.
        fault: Fault,
        /// The wait until the next attempt, in milliseconds; nothing if there is none.
        again_ms: Option<u64>,
    },
    /// A step is done.
    Completed {
        /// The step.
        step: String,
    },
    /// The run, or this part of it, has ended.
    Ended {
        /// How.
        state: RunState,
        /// The answer.
        output: Value,
        /// The reason why it failed.
        fault: Option<Fault>,
    },
}

/// Whether a request may have been done although it was answered with a fault.
pub(crate) fn is_fate_unknown(fault: &Fault) -> bool {
    matches!(fault.code(), Code::Unavailable | Code::ResponseTimeout | Code::OperationCancelled | Code::ServiceStopping)
}

impl Run {
    /// Makes it a run that continues: finished steps stay. From a step: that step and `again`, all that need it, are
    /// done again.
    pub(crate) fn reopen(&mut self, again: &BTreeSet<String>) {
        (self.state, self.fault, self.wish, self.output) = (RunState::Running, None, None, Value::Null);
        self.part += 1;
        if !again.is_empty() {
            // What was answered before must not be answered for it again.
            self.token = format!("{}-{}", self.token, self.part);
        }
        for (name, record) in &mut self.steps {
            if again.contains(name) {
                *record = StepRecord { is_mapped: record.is_mapped, ..StepRecord::default() };
            } else if record.state != StepState::Done {
                record.state = StepState::Waiting;
                (record.fault, record.ended_ms) = (None, None);
                // A step that could not begin is worked out anew.
                for item in record.items.iter_mut().flatten().filter(|item| item.state != StepState::Done) {
                    item.state = StepState::Waiting;
                }
            }
        }
    }

    /// Changes the document by an event, at a time of the run.
    ///
    /// # Example
    /// ```
    /// use lehr_workflow::{Progress, Run, RunState, StepRecord, StepState};
    /// # let mut run = Run {
    /// #     workflow: "a".into(), file: "a.toml".into(), definition: String::new(), parameters: Default::default(), state: RunState::Running,
    /// #     steps: [("read".to_owned(), StepRecord::default())].into(), elapsed_ms: 0, output: serde_json::Value::Null, fault: None, wish: None, part: 1,
    /// #     token: "t".into(), number: 1,
    /// # };
    /// run.apply(&Progress::Expanded { step: "read".into(), items: vec![serde_json::Value::Null] }, 5);
    /// run.apply(&Progress::Began { step: "read".into(), item: 0 }, 5);
    /// run.apply(&Progress::Succeeded { step: "read".into(), item: 0, output: 42.into() }, 9);
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
            Progress::Succeeded { step, item, output } => {
                let Some(item) = self.item(step, *item) else { return };
                (item.state, item.output, item.ended_ms) = (StepState::Done, output.clone(), Some(at_ms));
                item.progress = None;
            }
            Progress::Failed { step, item, fault, again_ms } => {
                let state = if again_ms.is_some() { StepState::Retrying } else { StepState::Failed };
                if let Some(item) = item.and_then(|item| self.item(step, item)) {
                    (item.state, item.fault, item.ended_ms) = (state, Some(fault.clone()), Some(at_ms));
                    item.refusals += u32::from(!is_fate_unknown(fault));
                    // The next attempt is another job.
                    item.job = None;
                }
                if state == StepState::Failed
                    && let Some(record) = self.steps.get_mut(step)
                {
                    (record.state, record.fault, record.ended_ms) = (state, Some(fault.clone()), Some(at_ms));
                }
            }
            Progress::Completed { step } => {
                if let Some(record) = self.steps.get_mut(step) {
                    (record.state, record.ended_ms) = (StepState::Done, Some(at_ms));
                }
            }
            Progress::Ended { state, output, fault } => {
                (self.state, self.output, self.fault, self.wish) = (*state, output.clone(), fault.clone(), None);
                // What was under way is to be begun again.
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
