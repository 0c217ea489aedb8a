//! One attempt at one item of a step. An attempt fetches data sets, sends the operation, and waits for the job if the
//! operation begins one. An attempt of a cached step first looks for the answer of an earlier run.

use std::time::Duration;

use lehr_jobs::datasets::Datasets;
use lehr_node::manifest::Schema;
use lehr_runtime::{Port, Reply};
use lehr_services::{Action, Code, Fault, Format, Link, Message, Options, Reference, Verb};
use serde_json::{Value, json};

use crate::cache::{self, Recalled};
use crate::machine::Item;
use crate::plan::{CANCEL, WAIT};
use crate::run::{CachedAnswer, JobProgress};
use crate::runner::RunnerMessage;
use crate::service::{Recall, WORKFLOWS, WorkflowState};
use crate::surroundings::Surroundings;

/// The name of the operation that continues a cancelled job.
const RESUME: &str = "resume";

/// The field of an order by which a service recognises a repeated order.
const KEY: &str = "key";

/// The time limit of a request to another node, if the step sets no limit. One hour is the longest limit that nodes
/// allow by default.
const REMOTE: Duration = Duration::from_secs(3600);

/// The time for which one request waits for a job on this node, in milliseconds; the next constant is for other nodes.
/// After this time, the reply reports the job's progress, and another request follows.
const WAIT_HERE_MS: u64 = 1_000;
const WAIT_THERE_MS: u64 = 10_000;

/// An attempt, ready to be made.
pub(crate) struct Attempt {
    pub(crate) item: Item,
    pub(crate) places: Surroundings,
    pub(crate) node: Option<String>,
    pub(crate) service: String,
    pub(crate) operation: String,
    pub(crate) body: Value,
    pub(crate) key: String,
    pub(crate) timeout: Option<Duration>,
    /// The data sets to fetch, each with the node that has it.
    pub(crate) fetch: Vec<(Option<String>, String)>,
    /// The places in the body at which an answer of a step on another node stands, each with the node. The data sets of
    /// these answers follow.
    pub(crate) follow: Vec<(Option<String>, String)>,
    pub(crate) is_job: bool,
    /// The job that was already begun for the item.
    pub(crate) job: Option<String>,
    /// Whether the run has had an earlier part. In such a run, a repeated order may find a job that was cancelled with
    /// the earlier part.
    pub(crate) is_resumed: bool,
    /// Receives the job that this attempt begins. The port is closed when no job is wanted any longer. If the port
    /// refuses a job because it is closed, the attempt cancels the job.
    pub(crate) ordered: Port<String>,
    /// The service that keeps the runs, if the step is cached.
    pub(crate) cache: Option<Cache>,
}

/// How an attempt uses the answers of earlier runs.
pub(crate) struct Cache {
    pub(crate) runs: Reference<WorkflowState>,
    /// Whether the attempt may take an earlier answer.
    pub(crate) may_recall: bool,
    /// Whether this is the first attempt at the item. The answer of another attempt may be that of the first, which may
    /// have seen other data. So later runs cannot take it.
    pub(crate) is_first: bool,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) output: Value,
    pub(crate) cached: Option<CachedAnswer>,
}

impl Attempt {
    /// Makes the attempt, and returns the answer of the operation or of its job.
    pub(crate) async fn make(mut self, told: &Port<RunnerMessage>) -> Result<Answer, Fault> {
        for (from, dataset) in std::mem::take(&mut self.fetch) {
            self.bring(from.as_deref(), &dataset, &dataset).await?;
        }
        for (from, pointer) in std::mem::take(&mut self.follow) {
            self.bring_all(from.as_deref(), &pointer).await?;
        }
        let Some(cache) = self.cache.take() else {
            return Ok(Answer { output: self.answer(told).await?, cached: None });
        };
        let fingerprint = self.fingerprint().await?;
        if cache.may_recall
            && let Some(found) = cache.runs.call(Recall { fingerprint: fingerprint.clone() }).await?.recalled
            && let Some(answer) = self.recalled(found).await?
        {
            return Ok(answer);
        }
        let output = self.answer(told).await?;
        // Data may have changed while the step was done.
        if !cache.is_first || self.fingerprint().await? != fingerprint {
            return Ok(Answer { output, cached: None });
        }
        let contents = cache::named(&output, &self.checksums().await?);
        Ok(Answer { output, cached: Some(CachedAnswer { fingerprint, contents, job: None, from: None }) })
    }

    async fn checksums(&self) -> Result<cache::Checksums, Fault> {
        cache::checksums(self.places.datasets(self.node.as_deref())).await
    }

    async fn fingerprint(&self) -> Result<String, Fault> {
        let info = self.places.lookup(self.node.as_deref(), &self.service).await?;
        let request = cache::Request {
            node: self.node.as_deref(),
            service: &self.service,
            operation: &self.operation,
            body: &self.body,
            is_job: self.is_job,
        };
        Ok(request.fingerprint(&info, &self.checksums().await?))
    }

    /// Returns an earlier answer, if its data sets and its job still exist.
    async fn recalled(&self, found: Recalled) -> Result<Option<Answer>, Fault> {
        let now = self.checksums().await?;
        if found.cached.contents.iter().any(|(name, checksum)| now.get(name) != Some(checksum)) {
            return Ok(None);
        }
        if self.is_job {
            let Some(job) = &found.cached.job else { return Ok(None) };
            let waited = self.send(WAIT, json!({ "job": job, "timeout_ms": 0 }), None).await;
            // The job's service may have forgotten the job, or another job may have its name.
            if waited.ok().as_ref() != Some(&found.output) {
                return Ok(None);
            }
        }
        Ok(Some(Answer { output: found.output, cached: Some(found.cached) }))
    }

    async fn answer(&mut self, told: &Port<RunnerMessage>) -> Result<Value, Fault> {
        if !self.is_job {
            let key = Some(self.key.clone());
            return self.send(&self.operation, self.body.clone(), key).await;
        }
        let clock = self.places.host().clock().clone();
        match self.timeout.take() {
            None => self.job(told).await,
            Some(limit) => clock.timeout(limit, self.job(told)).await.unwrap_or_else(|_| {
                Err(Fault::new(Code::ResponseTimeout, format!("the job has not ended in {limit:?}")))
            }),
        }
    }

    async fn job(&self, told: &Port<RunnerMessage>) -> Result<Value, Fault> {
        let (mut known, mut key) = (self.job.clone(), self.key.clone());
        loop {
            // The job belongs to an earlier part of the run. It may have been cancelled with that part, or its service
            // may have forgotten it.
            let mut is_earlier = self.is_resumed || known.is_some();
            let mut before = None;
            let job = match known.take() {
                Some(job) => job,
                None => {
                    let job = self.begin(&key).await?;
                    // The port refuses the message only if nobody receives any more.
                    let _ = told.post(RunnerMessage::Job { item: self.item, job: job.clone() });
                    job
                }
            };
            let wait_ms = if self.node.is_none() { WAIT_HERE_MS } else { WAIT_THERE_MS };
            loop {
                let waited = self.send(WAIT, json!({ "job": job, "timeout_ms": wait_ms }), None).await;
                let ended = match waited {
                    Err(fault) if is_earlier && fault.code() == Code::UnknownEntry => break,
                    ended => ended?,
                };
                let reason =
                    || ended.pointer("/fault/reason").and_then(Value::as_str).unwrap_or("it says no reason").to_owned();
                match ended.get("state").and_then(Value::as_str) {
                    Some("done") => return Ok(ended),
                    Some("failed") => {
                        return Err(Fault::new(Code::OperationFailed, format!("job {job} has failed: {}", reason())));
                    }
                    Some("cancelled") if is_earlier => {
                        is_earlier = false;
                        // The job continues from its last saved state, if its service supports that.
                        match self.send(RESUME, json!({ "job": job }), None).await {
                            Ok(_) => {}
                            Err(fault) if fault.code().may_pass() => return Err(fault),
                            Err(_) => break,
                        }
                    }
                    Some("cancelled") => {
                        return Err(Fault::new(Code::OperationFailed, format!("job {job} was cancelled")));
                    }
                    _ => {
                        let now = ended.get("progress").and_then(JobProgress::of);
                        if let Some(progress) = now.clone()
                            && now != before
                        {
                            let _ = told.post(RunnerMessage::Advanced { item: self.item, progress });
                        }
                        before = now;
                    }
                }
            }
            // With the old key, the service would return the same job again.
            key = format!("{key}/{job}");
        }
    }

    /// Orders the job, and returns its name. The order continues even if the attempt is given up. If the order ended
    /// too, a job could begin that nobody knows of.
    async fn begin(&self, key: &str) -> Result<String, Fault> {
        let order = Format::Json.encode(&self.order(key).await?)?;
        let (link, options) =
            (self.places.link(self.node.as_deref(), &self.service)?, self.options(Some(key.to_owned())));
        let (reply, answer) = Reply::<Result<String, Fault>>::new();
        let (places, node, service) = (self.places.clone(), self.node.clone(), self.service.clone());
        let (operation, ordered) = (self.operation.clone(), self.ordered.clone());
        let ordering = async move {
            let begun = async {
                let answer = send(&*link, &operation, (Format::Json, order), options).await?;
                let answer: Value = Format::Json.decode(&answer)?;
                answer.get("job").and_then(Value::as_str).map(str::to_owned).ok_or_else(|| {
                    let reason = format!("{operation:?} of {service} has begun no job: its answer has no field job");
                    Fault::new(Code::OperationFailed, reason)
                })
            };
            let begun = begun.await;
            if let Ok(job) = &begun
                && ordered.post(job.clone()).is_err()
            {
                cancel_job(places, node, service, job.clone()).await;
            }
            let _ = reply.answer(begun);
        };
        self.places.host().spawn("the order of a job", ordering).detach();
        answer.await?
    }

    /// Returns the order that begins the job, with this attempt's key if the operation takes a key. A service that
    /// keeps its jobs keeps their keys too. So an order that is sent again finds the first job, even after both
    /// processes have ended.
    async fn order(&self, key: &str) -> Result<Value, Fault> {
        let mut body = self.body.clone();
        let info = self.places.lookup(self.node.as_deref(), &self.service).await?;
        let takes_key = |body: &Value| Schema::of(body).fields().contains(&KEY);
        if let Some(fields) = body.as_object_mut()
            && info.contract.operations.get(&self.operation).is_some_and(|operation| takes_key(&operation.body))
        {
            fields.entry(KEY).or_insert_with(|| key.into());
        }
        Ok(body)
    }

    /// Sends an operation as JSON.
    async fn send(&self, operation: &str, body: Value, key: Option<String>) -> Result<Value, Fault> {
        let link = self.places.link(self.node.as_deref(), &self.service)?;
        let body = Format::Json.encode(&body)?;
        let answer = send(&*link, operation, (Format::Json, body), self.options(key)).await?;
        Format::Json.decode(&answer)
    }

    fn options(&self, key: Option<String>) -> Options {
        let within = self.timeout.or_else(|| self.node.is_some().then_some(REMOTE));
        Options { within, key, ..Options::default() }
    }

    /// Copies the data sets that the answer at a place in the body names, from the node of the answer. Puts their names on
    /// the node of this step there.
    async fn bring_all(&mut self, from: Option<&str>, pointer: &str) -> Result<(), Fault> {
        let Some(answer) = self.body.pointer(pointer).filter(|answer| has_texts(answer)).cloned() else {
            return Ok(());
        };
        let there = match cache::checksums(self.places.datasets(from)).await {
            Ok(there) => cache::named(&answer, &there),
            // The run may not read the data sets there. So an answer can only name them by chance.
            Err(fault) if fault.code() == Code::PermissionDenied => return Ok(()),
            Err(fault) => return Err(fault),
        };
        if there.is_empty() {
            return Ok(());
        }
        let here = self.checksums().await?;
        for (dataset, checksum) in there {
            if here.get(&dataset) == Some(&checksum) {
                continue;
            }
            // A data set of that name may be there already, with other contents, and may be another run's.
            let name = format!("brought/{}/{dataset}", checksum.get(..16).unwrap_or(&checksum));
            self.bring(from, &dataset, &name).await?;
            if let Some(answer) = self.body.pointer_mut(pointer) {
                rename(answer, &dataset, &name);
            }
        }
        Ok(())
    }

    /// Copies a data set to the node of the step, unless it is there. Between nodes, the data set travels as an Arrow
    /// stream. Within this process, the data set is passed as a handle.
    async fn bring(&self, from: Option<&str>, dataset: &str, name: &str) -> Result<(), Fault> {
        if from == self.node.as_deref() {
            return Ok(());
        }
        let of = |node: Option<&str>| -> Result<Reference<Datasets>, Fault> {
            let datasets = self.places.datasets(node)?;
            let within = self.timeout.or_else(|| node.is_some().then_some(REMOTE));
            Ok(if let Some(within) = within { datasets.within(within) } else { datasets })
        };
        let (there, here) = (of(from)?, of(self.node.as_deref())?);
        // A step that is tried again already has its data sets.
        let wanted = checksum(&there, dataset).await?;
        if wanted.is_some() && checksum(&here, name).await? == wanted {
            return Ok(());
        }
        let table = lehr_jobs::fetch(&there, dataset).await?;
        lehr_jobs::store(&here, name, &table, true).await.map(|_| ())
    }
}

fn has_texts(value: &Value) -> bool {
    match value {
        Value::String(_) => true,
        Value::Array(entries) => entries.iter().any(has_texts),
        Value::Object(fields) => fields.values().any(has_texts),
        _ => false,
    }
}

/// Replaces the texts in a value that are a name.
fn rename(value: &mut Value, from: &str, to: &str) {
    match value {
        Value::String(text) if text == from => to.clone_into(text),
        Value::Array(entries) => entries.iter_mut().for_each(|entry| rename(entry, from, to)),
        Value::Object(fields) => fields.values_mut().for_each(|field| rename(field, from, to)),
        _ => {}
    }
}

/// Returns the checksum of a data set's content; `None` if there is no such data set.
async fn checksum(datasets: &Reference<Datasets>, name: &str) -> Result<Option<String>, Fault> {
    Ok(datasets.get().await?.datasets.get(name).map(|found| found.checksum.clone()))
}

pub(crate) async fn send(
    link: &dyn Link,
    operation: &str,
    body: (Format, Vec<u8>),
    options: Options,
) -> Result<Vec<u8>, Fault> {
    let (format, body) = body;
    let action = Action::Operation(operation.to_owned());
    // The request is marked as coming from outside, because a workflow must not send requests that only the service may
    // send itself.
    let options = Options { caller: Some(WORKFLOWS.to_owned()), ..options };
    // A message with the verb `Submit` may be sent again only if it has a key.
    let message = Message { action, verb: Verb::Submit, body, format, accept: format, options };
    Ok(std::sync::Arc::unwrap_or_clone(link.send(message).await?.body))
}

/// Tells a service that a job is no longer wanted. A failure of this request is ignored.
pub(crate) async fn cancel_job(places: Surroundings, node: Option<String>, service: String, job: String) {
    let asked = async {
        let link = places.link(node.as_deref(), &service)?;
        let body = Format::Json.encode(&json!({ "job": job }))?;
        send(&*link, CANCEL, (Format::Json, body), Options { within: Some(REMOTE), ..Options::default() }).await
    };
    let _unheard = asked.await;
}

/// Returns whether another attempt may succeed after this fault.
pub(crate) fn may_pass(fault: &Fault) -> bool {
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
