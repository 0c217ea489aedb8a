//! The contract of a method's service: jobs by id, and their operations. The contract is the same for all methods,
//! because only the method itself knows the type of its options.

use std::collections::BTreeMap;
use std::fmt;

use lehr_services::{Contract, Fault, Operation, Version};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::bytes::Bytes;
use crate::format::{Form, Piece, RowFormat};
use crate::job::{Progress, Split};
pub use crate::options::Options;

/// The state of the service of any method.
///
/// # Example
/// ```
/// use lehr_jobs::{Handle, Setup, Table, datasets::Put, jobs::{Order, Run, State, Wait, WaitFor}};
/// use lehr_methods::cluster::{Cluster, Options};
/// use lehr_services::{Fault, Host};
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let host = Host::new(dispatcher.handle());
/// lehr_runtime::block_on(async {
///     let datasets = Setup::default().start_datasets(&host, "/datasets").await?;
///     let clustering = Setup::default().start_declared(&host, "/clustering", &Cluster).await?;
///     let table = Table::builder().numbers("x", vec![0.0, 1.0, 10.0, 11.0]).build()?;
///     datasets.call(Put { name: "line".into(), table: Handle(table), replace: false }).await?;
///     let options = Options { clusters: Some(2), ..Options::default() };
///     let job = clustering.call(Run::of(Order::new("line", &options))).await?.job;
///     let done = clustering.call(Wait::of(WaitFor::new(&job))).await?;
///     assert_eq!((done.state, done.outputs["labels"].as_str()), (State::Done, "clustering-1/labels"));
///     assert_eq!(done.options::<serde_json::Value>()?["clusters"], 2);
///     Ok::<(), Fault>(())
/// })
/// .unwrap();
/// ```
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Jobs {
    /// The path of the service that has the inputs and receives the outputs.
    pub datasets: String,
    /// The jobs by id.
    pub jobs: BTreeMap<String, Record>,
    /// The number of jobs so far, including removed jobs.
    pub(crate) count: u64,
}

impl fmt::Debug for Jobs {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let states = self.jobs.iter().map(|(job, record)| (job, record.state)).collect::<BTreeMap<_, _>>();
        formatter.debug_struct("Jobs").field("jobs", &states).finish_non_exhaustive()
    }
}

impl Contract for Jobs {
    /// The name of the description that all methods share. A service has the name and the version of its method
    /// instead.
    const NAME: &'static str = "lehr.jobs";
    const VERSION: Version = Version::new(1, 0);
    const IS_SHARED: bool = true;
}

/// The state of a job.
///
/// # Example
/// ```
/// use lehr_jobs::jobs::State;
/// assert!(State::Failed.has_ended() && !State::Interrupted.has_ended());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The job waits for its turn.
    Queued,
    /// The job is running.
    Running,
    /// The job is done, and its outputs are data sets.
    Done,
    /// The job has no result; its fault gives the reason.
    Failed,
    /// A client cancelled the job.
    Cancelled,
    /// The node stopped while the job ran. The job continues automatically.
    Interrupted,
}

impl State {
    /// Returns whether the job has ended, so that nothing more happens without a request.
    ///
    /// # Example
    /// See [`State`].
    pub fn has_ended(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Cancelled)
    }
}

/// The times of a job's events, in milliseconds since the beginning of 1970 according to the node's clock.
///
/// # Example
/// See [`Record`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Times {
    /// The time at which the job was queued.
    pub queued_unix_ms: u64,
    /// The time of the job's last start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_unix_ms: Option<u64>,
    /// The time at which the job ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_unix_ms: Option<u64>,
}

/// A job.
///
/// # Example
/// See [`Jobs`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Job")]
pub struct Record {
    /// The job's state.
    pub state: State,
    /// The options of the job.
    pub options: Options,
    /// The input data sets of the job, by the method's names for them.
    pub inputs: BTreeMap<String, String>,
    /// The output data sets of a job that is done, by the method's names for them.
    pub outputs: BTreeMap<String, String>,
    /// The prefix of the outputs' names, before the `/`.
    pub output: String,
    /// The client's key for the job, if the client gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The job's progress.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Progress>,
    /// The figures of the job's result.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
    /// The warnings about the job's result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The times of the job's events.
    pub times: Times,
    /// The reason why the job has no result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<Fault>,
    /// Whether a client has asked to cancel the job. A job that finished first may still be done.
    #[serde(default)]
    pub is_cancelled: bool,
    /// The position of the job in the order in which jobs were requested.
    pub number: u64,
}

impl Record {
    /// Returns the options as the method's type.
    ///
    /// # Errors
    /// Returns [`Code::MessageNotSupported`](lehr_services::Code) if the options belong to another method or another
    /// version.
    ///
    /// # Example
    /// See [`Jobs`].
    pub fn options<O: DeserializeOwned>(&self) -> Result<O, Fault> {
        self.options.read()
    }
}

/// The data sets for the inputs of a method: one for the first input, or several by name.
///
/// # Example
/// ```
/// use lehr_jobs::jobs::Input;
/// assert_eq!(serde_json::from_str::<Input>("\"blocks\"").unwrap(), Input::One("blocks".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Input {
    /// A data set for the first input.
    One(String),
    /// Data sets by the names of the inputs.
    Named(BTreeMap<String, String>),
}

/// The request for a job.
///
/// # Example
/// See [`Jobs`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The data sets to use.
    pub input: Input,
    /// The options of the method. Default: none, for methods that need no options.
    #[serde(default)]
    pub options: Options,
    /// The prefix of the outputs' names, before the `/`. Default: the job's id.
    #[serde(default)]
    pub output: Option<String>,
    /// A key chosen by the client. A second request with the same key returns the first job. The service keeps the key
    /// as long as the job.
    #[serde(default)]
    pub key: Option<String>,
}

impl Order {
    /// Creates a request for one data set with these options, given as the method's type or as JSON.
    ///
    /// # Example
    /// See [`Jobs`].
    pub fn new(input: impl Into<String>, options: &impl Serialize) -> Self {
        Self { input: Input::One(input.into()), options: Options::of(options), output: None, key: None }
    }
}

/// The id of a job.
///
/// # Example
/// ```
/// assert_eq!(lehr_jobs::jobs::Named::new("clustering-1").job, "clustering-1");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Named {
    /// The id of the job.
    pub job: String,
}

impl Named {
    /// Creates a request that names the job with this id.
    ///
    /// # Example
    /// See [`Named`].
    pub fn new(job: impl Into<String>) -> Self {
        Self { job: job.into() }
    }
}

/// The job to wait for, and how long to wait.
///
/// # Example
/// See [`Jobs`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WaitFor {
    /// The id of the job.
    pub job: String,
    /// The number of milliseconds after which the current state is returned. Default: no limit; wait until the job has
    /// ended.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
}

impl WaitFor {
    /// Creates a request that waits until the job has ended.
    ///
    /// # Example
    /// See [`Jobs`].
    pub fn new(job: impl Into<String>) -> Self {
        Self { job: job.into(), timeout_ms: None }
    }
}

/// The rows of a job's result to return.
///
/// # Example
/// ```
/// let rows: lehr_jobs::jobs::Rows = serde_json::from_str(r#"{"job": "clustering-1", "table": "centers"}"#).unwrap();
/// assert_eq!((rows.from, rows.to), (0, None));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rows {
    /// The id of the job.
    pub job: String,
    /// The method's name for the table.
    pub table: String,
    /// The format of the rows. Default: JSON.
    #[serde(default)]
    pub format: RowFormat,
    /// The number of the first row, counted from 0. Default: 0.
    #[serde(default)]
    pub from: u64,
    /// The end of the rows, exclusive. Default: the number of rows of the output. An answer has at most about 4 MiB and
    /// 65,536 rows. Its `to` says where it ends.
    #[serde(default)]
    pub to: Option<u64>,
}

/// The progress of a job, as the service records it.
///
/// # Example
/// See [`Progressed`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Report {
    /// The id of the job.
    pub job: String,
    /// The job's progress.
    pub progress: Progress,
    /// The divisions so far, for [`SplitsOf`].
    #[serde(skip)]
    pub(crate) splits: Vec<Split>,
}

/// The end of a job's run, as the service records it.
///
/// # Example
/// See [`Ended`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// The id of the job.
    pub job: String,
    /// The outputs of the job, if it has any.
    pub outputs: Option<BTreeMap<String, String>>,
    /// The figures of the job's result.
    pub figures: BTreeMap<String, f64>,
    /// The warnings for the user.
    pub warnings: Vec<String>,
    /// The reason why the job failed. `None` if the job is done or was cancelled.
    pub fault: Option<Fault>,
}

/// Requests a job. The answer is the job's id, sent when the job is queued and, if the service keeps its jobs, stored.
///
/// # Example
/// See [`Jobs`].
#[derive(Clone, Debug, Serialize, Deserialize, Operation)]
#[serde(transparent)]
#[operation(contract = Jobs, verb = Insert, name = "run", reply = Named, body)]
pub struct Run {
    /// The inputs and options of the job.
    pub body: Order,
}

/// Waits until a job has ended, or until the timeout.
///
/// # Example
/// See [`Jobs`].
#[derive(Clone, Debug, Serialize, Deserialize, Operation)]
#[serde(transparent)]
#[operation(contract = Jobs, verb = Query, name = "wait", reply = Record, key = body.job, body)]
pub struct Wait {
    /// The job to wait for, and the time limit.
    pub body: WaitFor,
}

/// Cancels a job. A running job ends soon, and can be resumed.
///
/// # Example
/// See [`Jobs`] for how to call operations.
#[derive(Clone, Debug, Serialize, Deserialize, Operation)]
#[serde(transparent)]
#[operation(contract = Jobs, verb = Update, name = "cancel", key = body.job, body)]
pub struct Cancel {
    /// The job to cancel.
    pub body: Named,
}

/// Continues a job that was cancelled or has failed, from its last checkpoint.
///
/// # Example
/// See [`Jobs`] for how to call operations.
#[derive(Clone, Debug, Serialize, Deserialize, Operation)]
#[serde(transparent)]
#[operation(contract = Jobs, verb = Update, name = "resume", key = body.job, body)]
pub struct Resume {
    /// The job to resume.
    pub body: Named,
}

/// Removes a job that has ended, and its checkpoints. The outputs of the job stay as data sets.
///
/// # Example
/// See [`Jobs`] for how to call operations.
#[derive(Clone, Debug, Serialize, Deserialize, Operation)]
#[serde(transparent)]
#[operation(contract = Jobs, verb = Delete, name = "remove", key = body.job, body)]
pub struct Remove {
    /// The job to remove.
    pub body: Named,
}

/// Returns rows of an output.
///
/// # Example
/// See [`Jobs`] for how to call operations.
#[derive(Clone, Debug, Serialize, Deserialize, Operation)]
#[serde(transparent)]
#[operation(contract = Jobs, verb = Query, name = "result", reply = Piece, key = body.job, body)]
pub struct ResultOf {
    /// The rows to return.
    pub body: Rows,
}

/// Returns the model of a job: the content of a `model.json`, which `lehr predict` reads. Methods that learn nothing
/// have no model.
///
/// # Example
/// See [`Jobs`] for how to call operations.
#[derive(Clone, Debug, Serialize, Deserialize, Operation)]
#[serde(transparent)]
#[operation(contract = Jobs, verb = Query, name = "model", reply = Value, key = body.job, body)]
pub struct ModelOf {
    /// The job whose model to return.
    pub body: Named,
}

/// Returns the report of a job, which the command `lehr` writes as `report.html`. Some methods have no report.
///
/// Over HTTP, the answer is an HTML page:
///
/// ```console
/// $ curl 'http://127.0.0.1:8420/clustering:report?job=clustering-1' > report.html
/// ```
///
/// # Example
/// See [`Jobs`] for how to call operations.
#[derive(Clone, Debug, Serialize, Deserialize, Operation)]
#[serde(transparent)]
#[operation(contract = Jobs, verb = Query, name = "report", reply = Page, key = body.job, body)]
pub struct ReportOf {
    /// The job whose report to return.
    pub body: Named,
}

/// Returns the progress that a job has reported so far, oldest first.
///
/// The state of the service has only the latest progress, so a client that joins later asks for the course. The course
/// is empty before the job runs, and after it is done: then the job's outputs have its history. A job that failed or was
/// cancelled keeps its course. After a restart of the node, the course begins again.
///
/// # Example
/// See [`Jobs`] for how to call operations.
#[derive(Clone, Debug, Serialize, Deserialize, Operation)]
#[serde(transparent)]
#[operation(contract = Jobs, verb = Query, name = "course", reply = Vec<Progress>, key = body.job, body)]
pub struct CourseOf {
    /// The job whose course to return.
    pub body: Named,
}

/// Returns the divisions of a job's annealing so far: the tree of its components.
///
/// The list is empty if the method does not anneal, or if several processes run the job. It is also empty after the job
/// is done: then the job's outputs have its `splits`.
///
/// # Example
/// See [`Jobs`] for how to call operations.
#[derive(Clone, Debug, Serialize, Deserialize, Operation)]
#[serde(transparent)]
#[operation(contract = Jobs, verb = Query, name = "splits", reply = Vec<Split>, key = body.job, body)]
pub struct SplitsOf {
    /// The job whose divisions to return.
    pub body: Named,
}

/// An HTML page that loads no other files.
///
/// # Example
/// ```
/// use lehr_jobs::jobs::Page;
/// assert_eq!(serde_json::to_string(&Page("<!doctype html>".into())).unwrap(), "\"<!doctype html>\"");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("contentMediaType" = "text/html"))]
pub struct Page(
    /// The report as HTML text.
    pub String,
);

/// The rows to which a job's model is applied: the rows of a data set, of a file, or in the request itself.
///
/// Over HTTP, the body may be the file itself, or a form that contains it. The query then has the other fields:
///
/// ```console
/// $ curl -H 'content-type: text/csv' -H 'accept: text/csv' --data-binary @new.csv 'http://127.0.0.1:8420/clustering:predict?job=clustering-1'
/// ```
///
/// # Example
/// ```
/// use lehr_jobs::jobs::Predict;
/// let asked: Predict = serde_json::from_str(r#"{"job": "clustering-1", "dataset": "sites"}"#).unwrap();
/// assert!(!asked.memberships && asked.data.is_none());
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[serde(deny_unknown_fields)]
#[operation(
    contract = Jobs,
    verb = Query,
    name = "predict",
    reply = Piece,
    key = job,
    raw(
        "text/csv",
        "text/tab-separated-values",
        "application/x-npy",
        "application/vnd.apache.parquet",
        "application/vnd.apache.arrow.stream",
        "application/vnd.apache.arrow.file",
        "application/octet-stream",
    )
)]
pub struct Predict {
    /// The id of the job.
    pub job: String,
    /// The data set with the rows, if the request has neither a file nor rows.
    #[serde(default)]
    pub dataset: Option<String>,
    /// The rows themselves: an object for each row, with a number or a text for each column.
    #[serde(default)]
    pub rows: Option<Vec<Map<String, Value>>>,
    /// A file with the rows.
    #[serde(default)]
    pub data: Option<Bytes>,
    /// The format of the file, as a media type.
    #[serde(default)]
    pub media_type: Option<String>,
    /// The format of the file. This field overrides the media type.
    #[serde(default)]
    pub file_format: Option<Form>,
    /// The column of ids. Default: the model's column of ids if the rows have it, or otherwise the row number.
    #[serde(default)]
    pub id: Option<String>,
    /// Whether values of the file or the rows may be missing; mixtures and maps accept such rows. Default: no.
    #[serde(default)]
    pub gaps: bool,
    /// Whether to return the membership of each row in each cluster or component too. Default: no.
    #[serde(default)]
    pub memberships: bool,
    /// The format of the rows in the answer. Default: JSON.
    #[serde(default)]
    pub format: RowFormat,
    /// The number of the first row, counted from 0. Default: 0.
    #[serde(default)]
    pub from: u64,
    /// The end of the rows, exclusive. Default: the number of the given rows.
    #[serde(default)]
    pub to: Option<u64>,
}

/// Records that a job begins, and returns whether it should run now. Only the service itself may send this request.
///
/// # Example
/// See [`Jobs`] for how to call operations.
#[derive(Clone, Debug, Serialize, Deserialize, Operation)]
#[serde(transparent)]
#[operation(contract = Jobs, verb = Update, name = "start", reply = bool, key = body.job, body)]
pub struct Start {
    /// The job that begins.
    pub body: Named,
}

/// Records that a job has made progress. Only the service itself may send this request.
///
/// # Example
/// See [`Jobs`] for how to call operations.
#[derive(Clone, Debug, Serialize, Deserialize, Operation)]
#[serde(transparent)]
#[operation(contract = Jobs, verb = Update, name = "progressed", key = body.job, body)]
pub struct Progressed {
    /// The job and its progress.
    pub body: Report,
}

/// Records that a job has ended. Only the service itself may send this request.
///
/// # Example
/// See [`Jobs`] for how to call operations.
#[derive(Clone, Debug, Serialize, Deserialize, Operation)]
#[serde(transparent)]
#[operation(contract = Jobs, verb = Update, name = "ended", key = body.job, body)]
pub struct Ended {
    /// The job and its outcome.
    pub body: Outcome,
}
