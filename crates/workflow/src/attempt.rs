//! One attempt of one item: data sets are brought, the operation is sent, and if it begins a job, that is waited for.

use std::time::Duration;

use lehr_runtime::Port;
use lehr_services::{Action, Code, Fault, Format, Link, Message, Options, Verb};
use serde_json::{Value, json};

use crate::machine::Item;
use crate::places::Places;
use crate::plan::{CANCEL, WAIT};
use crate::runner::Heard;

/// Where the data sets of a node stand.
pub(crate) const DATASETS: &str = "/datasets";

/// How long a request to another node may take, if the step does not say. It is the longest that nodes allow by default.
const REMOTE: Duration = Duration::from_secs(3600);

/// How long one request waits for a job; then another follows.
const WAIT_MS: u64 = 600_000;

/// An attempt, ready to be made.
pub(crate) struct Attempt {
    pub(crate) item: Item,
    pub(crate) places: Places,
    pub(crate) node: Option<String>,
    pub(crate) service: String,
    pub(crate) operation: String,
    pub(crate) body: Value,
    pub(crate) key: String,
    pub(crate) timeout: Option<Duration>,
    /// Data sets to be brought: the node that has each, and its name.
    pub(crate) fetch: Vec<(Option<String>, String)>,
    pub(crate) is_job: bool,
    /// The job that does it already.
    pub(crate) job: Option<String>,
}

impl Attempt {
    /// Makes it.
    pub(crate) async fn make(mut self, told: &Port<Heard>) -> Result<Value, Fault> {
        for (from, dataset) in std::mem::take(&mut self.fetch) {
            self.bring(from.as_deref(), &dataset).await?;
        }
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

    async fn job(&self, told: &Port<Heard>) -> Result<Value, Fault> {
        let mut known = self.job.clone();
        loop {
            let job = match known.take() {
                Some(job) => job,
                None => {
                    let begun = self.send(&self.operation, self.body.clone(), Some(self.key.clone())).await?;
                    let job = begun.get("job").and_then(Value::as_str).ok_or_else(|| {
                        let reason = format!(
                            "{:?} of {} has begun no job: its answer has no field job",
                            self.operation, self.service
                        );
                        Fault::new(Code::OperationFailed, reason)
                    })?;
                    // Refused only when nobody listens any more.
                    let _ = told.post(Heard::Job { item: self.item, job: job.to_owned() });
                    job.to_owned()
                }
            };
            loop {
                let waited = self.send(WAIT, json!({ "job": job, "timeout_ms": WAIT_MS }), None).await;
                let ended = match waited {
                    // A job of an earlier part of the run that its service has forgotten.
                    Err(fault) if fault.code() == Code::UnknownEntry && self.job.as_ref() == Some(&job) => break,
                    ended => ended?,
                };
                let reason =
                    || ended.pointer("/fault/reason").and_then(Value::as_str).unwrap_or("it says no reason").to_owned();
                match ended.get("state").and_then(Value::as_str) {
                    Some("done") => return Ok(ended),
                    Some("failed") => {
                        return Err(Fault::new(Code::OperationFailed, format!("job {job} has failed: {}", reason())));
                    }
                    Some("cancelled") => {
                        return Err(Fault::new(Code::OperationFailed, format!("job {job} was cancelled")));
                    }
                    _ => {}
                }
            }
        }
    }

    /// Sends an operation in JSON.
    async fn send(&self, operation: &str, body: Value, key: Option<String>) -> Result<Value, Fault> {
        let link = self.places.link(self.node.as_deref(), &self.service)?;
        let within = self.timeout.or_else(|| self.node.is_some().then_some(REMOTE));
        let body = Format::Json.encode(&body)?;
        let answer =
            send(&*link, operation, (Format::Json, body), Options { within, key, ..Options::default() }).await?;
        Format::Json.decode(&answer)
    }

    /// Brings a data set to the node of the step. As an Arrow stream within MessagePack, which is passed on as it came.
    async fn bring(&self, from: Option<&str>, dataset: &str) -> Result<(), Fault> {
        if from == self.node.as_deref() {
            return Ok(());
        }
        let options = || Options { within: Some(self.timeout.unwrap_or(REMOTE)), ..Options::default() };
        let packed = Format::MessagePack;
        let body = packed.encode(&json!({ "name": dataset }))?;
        let table = send(&*self.places.link(from, DATASETS)?, "take", (packed, body), options()).await?;
        // A map of three: the table is in its form already.
        let mut put = vec![0x83];
        put.extend(packed.encode("name")?);
        put.extend(packed.encode(dataset)?);
        put.extend(packed.encode("replace")?);
        put.extend(packed.encode(&true)?);
        put.extend(packed.encode("table")?);
        put.extend(table);
        send(&*self.places.link(self.node.as_deref(), DATASETS)?, "put", (packed, put), options()).await.map(|_| ())
    }
}

async fn send(link: &dyn Link, operation: &str, body: (Format, Vec<u8>), options: Options) -> Result<Vec<u8>, Fault> {
    let (format, body) = body;
    let action = Action::Operation(operation.to_owned());
    // Whether it may be sent again is the key's to say.
    let message = Message { action, verb: Verb::Submit, body, format, accept: format, options };
    Ok(link.send(message).await?.body)
}

/// Tells a service that nobody wants a job any more. Whether it hears is its business.
pub(crate) async fn cancel_job(places: Places, node: Option<String>, service: String, job: String) {
    let asked = async {
        let link = places.link(node.as_deref(), &service)?;
        let body = Format::Json.encode(&json!({ "job": job }))?;
        send(&*link, CANCEL, (Format::Json, body), Options { within: Some(REMOTE), ..Options::default() }).await
    };
    let _unheard = asked.await;
}
