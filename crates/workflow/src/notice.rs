//! Messages about the end of a run: requests to services that tell someone, such as a webhook or a function in Python.

use std::collections::BTreeMap;
use std::time::Duration;

use lehr_services::{Code, Fault, Format};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::attempt;
use crate::run::{Run, RunState};
use crate::surroundings::Surroundings;

/// The time limit of one attempt to send a message, the number of attempts, and the wait before the second attempt.
const WITHIN: Duration = Duration::from_secs(20);
const ATTEMPTS: u32 = 3;
const BACKOFF: Duration = Duration::from_secs(2);

/// A request that is sent when a run has ended.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Notice {
    /// The ends after which the request is sent. Default: `done` and `failed`.
    #[serde(default = "done_and_failed")]
    #[schemars(length(min = 1))]
    pub(crate) on: Vec<EndState>,
    /// The path of the service.
    #[schemars(length(min = 1))]
    pub(crate) service: String,
    /// The operation of the service.
    #[schemars(length(min = 1))]
    pub(crate) operation: String,
    /// The address of the node where the service runs. Default: the node of the run.
    #[serde(default)]
    pub(crate) node: Option<String>,
    /// The body of the operation, which may contain references to parameters, steps and the run. Default: an empty
    /// table.
    #[serde(default)]
    pub(crate) with: Option<Value>,
}

/// How a run has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum EndState {
    /// All steps are done.
    Done,
    /// A step has failed.
    Failed,
    /// A client cancelled the run.
    Cancelled,
}

fn done_and_failed() -> Vec<EndState> {
    vec![EndState::Done, EndState::Failed]
}

impl Notice {
    /// Returns whether the request is sent after this end. A run that was stopped will continue, so it sends nothing.
    pub(crate) fn is_for(&self, state: RunState) -> bool {
        let state = match state {
            RunState::Done => EndState::Done,
            RunState::Failed => EndState::Failed,
            RunState::Cancelled => EndState::Cancelled,
            RunState::Running | RunState::Stopped => return false,
        };
        self.on.contains(&state)
    }
}

/// Returns the run as messages about its end see it: `${run.name}`, `${run.state}` and so on.
pub(crate) fn of_run(id: &str, run: &Run, state: RunState, output: &Value, fault: Option<&Fault>) -> Value {
    let failed: BTreeMap<&String, &str> =
        run.steps.iter().filter_map(|(name, step)| Some((name, step.fault.as_ref()?.reason()))).collect();
    json!({
        "name": id,
        "workflow": run.workflow,
        "state": state,
        "seconds": run.elapsed_ms as f64 / 1000.0,
        "trigger": run.trigger,
        "output": output,
        "fault": fault.map(Fault::reason),
        "failed": failed,
    })
}

/// The names of the fields of `${run}`.
pub(crate) const FIELDS: [&str; 8] = ["name", "workflow", "state", "seconds", "trigger", "output", "fault", "failed"];

/// A message, ready to be sent.
pub(crate) struct Message {
    pub(crate) node: Option<String>,
    pub(crate) service: String,
    pub(crate) operation: String,
    pub(crate) body: Value,
    pub(crate) key: String,
}

impl Message {
    /// Sends the message; tries again if another attempt may succeed.
    pub(crate) async fn send(&self, places: &Surroundings) -> Result<(), Fault> {
        let clock = places.host().clock().clone();
        let mut attempt = 1;
        loop {
            let sent = clock.timeout(WITHIN, self.attempt(places)).await.unwrap_or_else(|_| {
                Err(Fault::new(Code::ResponseTimeout, format!("{} has not answered in {WITHIN:?}", self.service)))
            });
            match sent {
                Err(fault) if attempt < ATTEMPTS && attempt::may_pass(&fault) => {
                    clock.sleep(BACKOFF * attempt).await;
                    attempt += 1;
                }
                sent => return sent,
            }
        }
    }

    async fn attempt(&self, places: &Surroundings) -> Result<(), Fault> {
        let link = places.link(self.node.as_deref(), &self.service)?;
        let body = Format::Json.encode(&self.body)?;
        let options = lehr_services::Options {
            within: Some(WITHIN),
            key: Some(self.key.clone()),
            ..lehr_services::Options::default()
        };
        attempt::send(&*link, &self.operation, (Format::Json, body), options).await.map(drop)
    }
}
