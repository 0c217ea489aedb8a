//! Fetches files from other hosts. A transfer survives broken connections, and a file is available only after its
//! checksum is verified.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hyper::header::{self, HeaderMap};
use hyper::{Method, StatusCode};
use lehr_runtime::{Clock, Task, blocking};
use lehr_services::{
    Call, Code, Contract, Exclusive, Fault, Handlers, Host, Independent, Kind, Operation, Reference, Service, Starting,
    Stop, Subscribe, Version, in_words,
};
use lehr_sync::{Arc, Mutex};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::allowed::Allowed;
use crate::transfer::{Bounds, Getter, TransferRequest};

/// The path of the service that fetches files.
pub const FETCH: &str = "/fetch";

/// The maximum number of transfers that run at once.
const RUNNING_MAX: usize = 8;

/// The maximum number of transfers that the state remembers.
const TRANSFERS_MAX: usize = 10_000;

/// The number of bytes between two updates of a transfer's progress in the state.
const PROGRESS_BYTES: u64 = 4 << 20;

/// The prefix of the names of incomplete files. No requested name may begin with this prefix.
const PARTIAL: &str = ".partial-";

/// The state of [`Fetch`]: the requested files, by name.
///
/// # Example
/// See [`Fetch`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fetched {
    /// The transfers, by file name.
    pub files: BTreeMap<String, Transfer>,
}

/// A requested file, and the state of its transfer.
///
/// # Example
/// See [`Fetch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transfer {
    /// The URL of the file.
    pub url: String,
    /// The state of the transfer.
    pub state: State,
    /// The number of bytes that have arrived.
    pub bytes: u64,
    /// The size of the file in bytes, if the host has given it.
    pub bytes_all: Option<u64>,
    /// The SHA-256 of the complete file, in hexadecimal; `None` until the file is complete.
    pub sha256: Option<String>,
    /// The expected SHA-256, if the request gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// The host's validator (entity tag or date) of the version to which the bytes belong, if the host has sent one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// The key of the request, if it had one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// The number of times that the transfer was resumed.
    pub resumed: u32,
    /// The reason why the transfer failed, if it failed.
    pub fault: Option<Fault>,
}

/// The state of a transfer.
///
/// # Example
/// See [`Fetch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// Bytes are arriving.
    Running,
    /// The whole file is there. If the request gave a checksum, the file has this checksum.
    Done,
    /// The transfer failed and will not be retried.
    Failed,
    /// The transfer was cancelled.
    Cancelled,
}

impl Contract for Fetched {
    const NAME: &'static str = "lehr/fetch";
    const VERSION: Version = Version::new(2, 0);
}

/// Starts to fetch a file, and returns its name as the id of a job. The document shows the progress, and [`Wait`] waits
/// for the end. A file whose transfer failed or was cancelled may be requested again, without a key or with another
/// key. With the same key, the answer only names the earlier transfer.
///
/// # Example
/// See [`Fetch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Fetched, verb = Upsert, name = "get_file", reply = Started, key = name)]
pub struct Get {
    /// The name under which the file is stored: letters, digits, `.`, `_` and `-`, not beginning with `.`.
    pub name: String,
    /// The URL of the file: `https://…`, `http://…`, or `s3://bucket/key`.
    pub url: String,
    /// The expected SHA-256, in hexadecimal.
    #[serde(default)]
    pub sha256: Option<String>,
    /// Whether to fetch a file again that is already there. The earlier file stays until the new one is complete.
    /// Default: no.
    #[serde(default)]
    pub replace: bool,
    /// A key of the request. If a request with this key has begun the transfer, nothing more is begun. Default: none.
    #[serde(default)]
    pub key: Option<String>,
}

impl Get {
    /// Creates a request for a file from a URL.
    ///
    /// # Example
    /// See [`Fetch`].
    pub fn new(name: impl Into<String>, url: impl Into<String>) -> Self {
        Self { name: name.into(), url: url.into(), sha256: None, replace: false, key: None }
    }
}

/// The transfer that a request began.
///
/// # Example
/// See [`Fetch`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Started {
    /// The id of the job, which is the file's name.
    pub job: String,
}

/// Waits until a transfer has ended, or until the timeout.
///
/// # Example
/// See [`Fetch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Fetched, verb = Query, name = "wait", reply = Waited, key = job)]
pub struct Wait {
    /// The file's name.
    pub job: String,
    /// The number of milliseconds after which the current state is returned. Default: no limit; wait until the
    /// transfer has ended.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
}

/// A transfer as [`Wait`] returns it.
///
/// # Example
/// See [`Fetch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Waited {
    /// The file's name.
    pub file: String,
    /// The transfer.
    #[serde(flatten)]
    pub transfer: Transfer,
    /// The progress, if the host has given the size of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<Share>,
}

/// The share of a file that has arrived.
///
/// # Example
/// See [`Fetch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// The fraction of the bytes, from 0 to 1.
    pub fraction: f64,
}

/// Cancels a transfer, and removes the bytes that have arrived.
///
/// # Example
/// See [`Fetch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Fetched, verb = Update, name = "cancel", key = job)]
pub struct Cancel {
    /// The file's name.
    pub job: String,
}

/// Removes a transfer that has ended from the state. Removes the file from the disk only if the transfer is done. After
/// a failed or cancelled replacement, the earlier file stays on disk.
///
/// # Example
/// See [`Fetch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Fetched, verb = Delete, name = "remove", key = name)]
pub struct Remove {
    /// The file's name.
    pub name: String,
}

/// Updates the progress of a transfer. The service sends this request to itself.
/// # Example
/// See [`Fetch`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Fetched, verb = Update, name = "progress", key = name)]
pub struct Progress {
    /// The file's name.
    pub name: String,
    /// The transfer.
    pub transfer: Transfer,
}

/// The settings of a service that a workflow creates.
///
/// # Example
/// ```
/// let settings: lehr_sources::FetchSettings = serde_json::from_str(r#"{ "from": ["data.example.org"] }"#).unwrap();
/// assert!(!settings.private);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FetchSettings {
    /// The hosts from which files may be fetched: `name`, `name:port`, `.name` for all names below it, or `s3://bucket`.
    #[schemars(length(min = 1))]
    pub from: Vec<String>,
    /// Whether these hosts may be in private networks and on this machine. Default: no.
    #[serde(default)]
    pub private: bool,
    /// The largest file, in bytes. Default: 4 GiB.
    #[serde(default)]
    pub bytes: Option<u64>,
}

impl FetchSettings {
    fn getter(&self) -> Result<Getter, Fault> {
        let allowed = Allowed::new(&self.from)?;
        let allowed = if self.private { allowed.private() } else { allowed };
        let usual = Bounds::default();
        Getter::new(allowed, Bounds { bytes: self.bytes.unwrap_or(usual.bytes), ..usual }, None)
    }
}

/// The service that fetches files into a folder.
///
/// # Example
/// ```no_run
/// use lehr_sources::{Allowed, Bounds, FETCH, Fetch, Get, Getter, State, Wait};
/// use lehr_services::{Fault, Host};
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let host = Host::new(dispatcher.handle());
/// let getter = Getter::new(Allowed::new(["data.example.org"])?, Bounds::default(), None)?;
/// let fetch = Fetch::new(getter, "data/fetched")?;
/// lehr_runtime::block_on(async {
///     let fetch = host.start(FETCH, move || fetch.clone()).await?;
///     let url = "https://data.example.org/blocks.csv";
///     let job = fetch.call(Get::new("blocks.csv", url)).await?.job;
///     let ended = fetch.call(Wait { job, timeout_ms: None }).await?;
///     assert_eq!((ended.file.as_str(), ended.transfer.state), ("blocks.csv", State::Done));
///     Ok::<(), Fault>(())
/// })
/// # ?; Ok::<(), Fault>(())
/// ```
#[derive(Clone, Debug)]
pub struct Fetch {
    fetched: Fetched,
    getter: Getter,
    folder: PathBuf,
    /// Whether the state and incomplete files are kept after the process ends.
    is_kept: bool,
    running: Arc<Mutex<BTreeMap<String, Task<()>>>>,
}

impl Fetch {
    /// Fetches files into this folder, and creates the folder if it does not exist. The service does not list files
    /// that are already there. A transfer of the same name replaces such a file, even without `replace`. Files that an
    /// earlier process left incomplete are treated differently. A service whose document is kept
    /// ([`Placement::keep`](lehr_services::Placement::keep)) resumes incomplete files; any other service removes them
    /// when it starts.
    ///
    /// # Errors
    /// Returns [`Code::InsufficientResources`] if the folder cannot be created.
    ///
    /// # Example
    /// See [`Fetch`].
    pub fn new(getter: Getter, folder: impl Into<PathBuf>) -> Result<Self, Fault> {
        let folder = folder.into();
        std::fs::create_dir_all(&folder).map_err(|error| disk(&folder, &error))?;
        Ok(Self { fetched: Fetched::default(), getter, folder, is_kept: false, running: Arc::default() })
    }

    /// Lets workflows create the service by its contract. The files go to this folder. The configuration of the service
    /// names the hosts: see [`FetchSettings`].
    ///
    /// Only a process that runs its user's own workflows may do this. On a node, the operator names the hosts.
    ///
    /// # Example
    /// ```
    /// let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// let host = lehr_services::Host::new(dispatcher.handle());
    /// lehr_sources::Fetch::register(&host, "data/fetched");
    /// assert_eq!(host.constructors(), ["lehr/fetch"]);
    /// ```
    pub fn register(host: &Host, folder: impl Into<PathBuf>) {
        let folder = folder.into();
        let configuration = Some(schemars::schema_for!(FetchSettings).to_value());
        let kind = Kind { configuration, partners: BTreeMap::new(), fixed: Vec::new() };
        host.register_kind(Fetched::NAME, kind, move |host, placement| {
            let folder = folder.clone();
            Box::pin(async move {
                let told = placement.told().cloned().unwrap_or_else(|| serde_json::json!({}));
                let settings: FetchSettings = serde_json::from_value(told)
                    .map_err(|error| Fault::new(Code::InvalidValue, in_words(&error.to_string())))?;
                let service = Self::new(settings.getter()?, folder)?;
                host.start(placement, move || service.clone()).await.map(drop)
            })
        });
    }

    /// Starts to fetch a file from its source.
    fn begin(&self, name: &str, transfer: &Transfer, own: Reference<Fetched>, host: &Host) {
        let bringing = Bringing {
            own,
            getter: self.getter.clone(),
            clock: host.clock().clone(),
            name: name.to_owned(),
            place: self.folder.join(name),
            partial: self.folder.join(partial(name)),
            is_kept: self.is_kept,
            transfer: transfer.clone(),
            told: 0,
        };
        let task = host.spawn(&format!("bring {name}"), bringing.run());
        let before = self.running.lock().insert(name.to_owned(), task);
        drop(before);
    }
}

/// Returns the name of a file while it is incomplete.
fn partial(name: &str) -> String {
    format!("{PARTIAL}{name}")
}

fn disk(file: &Path, error: &io::Error) -> Fault {
    Fault::new(Code::InsufficientResources, format!("the file cannot be written: {}", error.kind()))
        .log(format!("{}: {error}", file.display()))
}

fn unknown(name: &str) -> Fault {
    Fault::new(Code::UnknownEntry, format!("no file {name:?} was requested"))
}

fn is_name(name: &str) -> bool {
    let is_taken = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (1..=100).contains(&name.len()) && !name.starts_with('.') && name.bytes().all(is_taken)
}

impl Service for Fetch {
    type Document = Fetched;

    fn document(&self) -> &Fetched {
        &self.fetched
    }

    fn document_mut(&mut self) -> &mut Fetched {
        &mut self.fetched
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.exclusive::<Get>().independent::<Wait>().exclusive::<Cancel>().exclusive::<Remove>().exclusive::<Progress>();
    }

    async fn start(&mut self, starting: &Starting) -> Result<(), Fault> {
        self.running.lock().clear();
        self.is_kept = starting.is_kept();
        let mut names = Vec::new();
        for (name, transfer) in self.fetched.files.iter_mut().filter(|(_, transfer)| transfer.state == State::Running) {
            // The allowed hosts may have changed since the request.
            match self.getter.allowed().check(&transfer.url) {
                Ok(_) => {
                    transfer.resumed += 1;
                    names.push(name.clone());
                }
                Err(fault) => (transfer.state, transfer.fault) = (State::Failed, Some(fault)),
            }
        }
        let goes_on: Vec<String> = names.iter().map(|name| partial(name)).collect();
        blocking("a folder", || remove_partial(&self.folder, &goes_on)).map_err(|error| disk(&self.folder, &error))?;
        for name in names {
            self.begin(&name, &self.fetched.files[&name], starting.own()?, starting.host());
        }
        Ok(())
    }

    async fn stop(self, why: Stop) {
        let running = std::mem::take(&mut *self.running.lock());
        for (_, task) in running {
            // The task's future must be dropped before another transfer uses its file, or the file is removed.
            let _ = task.cancel().await;
        }
        if !self.is_kept || why == Stop::Dropped {
            let _ = blocking("a folder", || remove_partial(&self.folder, &[]));
        }
    }
}

/// Removes incomplete files, except those that will be resumed.
fn remove_partial(folder: &Path, goes_on: &[String]) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(PARTIAL) && !goes_on.contains(&name) {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

impl Exclusive<Get> for Fetch {
    async fn handle(&mut self, get: Get, call: &Call) -> Result<Started, Fault> {
        let Get { name, url, sha256, replace, key } = get;
        let mut faults = Vec::new();
        if !is_name(&name) {
            faults.push(format!("name: expected 1 to 100 letters, digits, \".\", \"_\" and \"-\", not beginning with \".\", found {name:?}"));
        }
        let is_sum = |sum: &String| sum.len() == 64 && sum.bytes().all(|byte| byte.is_ascii_hexdigit());
        if let Some(sum) = sha256.as_ref().filter(|sum| !is_sum(sum)) {
            faults.push(format!("sha256: expected 64 hexadecimal digits, found {sum:?}"));
        }
        if !faults.is_empty() {
            return Err(Fault::new(Code::InvalidValue, faults.join("; ")));
        }
        self.getter.allowed().check(&url)?;
        if let Some(before) = self.fetched.files.get(&name) {
            if before.key.is_some() && before.key == key {
                return Ok(Started { job: name });
            }
            match before.state {
                State::Running => {
                    return Err(Fault::new(Code::DuplicateEntry, format!("the file {name:?} is being fetched")));
                }
                State::Done if !replace => {
                    let reason = format!("there is a file {name:?}; remove it first, or fetch it with replace");
                    return Err(Fault::new(Code::DuplicateEntry, reason));
                }
                State::Done | State::Failed | State::Cancelled => {}
            }
        }
        let is_running = |transfer: &&Transfer| transfer.state == State::Running;
        if self.fetched.files.values().filter(is_running).count() >= RUNNING_MAX {
            let reason = format!("{RUNNING_MAX} files are being fetched");
            return Err(Fault::new(Code::QueuingLimitExceeded, reason).retry_after(Duration::from_secs(10)));
        }
        if self.fetched.files.len() >= TRANSFERS_MAX {
            return Err(Fault::new(Code::InsufficientResources, "too many files are remembered; remove some"));
        }
        let transfer = Transfer {
            url,
            state: State::Running,
            bytes: 0,
            bytes_all: None,
            sha256: None,
            expected: sha256.map(|sum| sum.to_ascii_lowercase()),
            mark: None,
            key,
            resumed: 0,
            fault: None,
        };
        self.begin(&name, &transfer, call.own()?, &call.host()?);
        self.fetched.files.insert(name.clone(), transfer);
        Ok(Started { job: name })
    }
}

impl Independent<Wait> for Fetch {
    async fn handle(Wait { job, timeout_ms }: Wait, call: &Call) -> Result<Waited, Fault> {
        let own = call.own::<Fetched>()?;
        let now = async || own.get().await?.files.get(&job).cloned().ok_or_else(|| unknown(&job));
        let ended = async {
            let mut changes = own.subscribe(Subscribe::default().keys([&job])).await?;
            loop {
                let transfer = now().await?;
                if transfer.state != State::Running {
                    return Ok::<_, Fault>(transfer);
                }
                changes.next().await.map_err(|end| Fault::new(Code::ServiceStopping, end.to_string()))?;
            }
        };
        let transfer = match timeout_ms.map(Duration::from_millis) {
            None => ended.await?,
            Some(limit) => match call.host()?.clock().timeout(limit, ended).await {
                Ok(ended) => ended?,
                Err(_) => now().await?,
            },
        };
        let progress = transfer.bytes_all.filter(|all| *all > 0);
        let progress = progress.map(|all| Share { fraction: (transfer.bytes as f64 / all as f64).min(1.0) });
        Ok(Waited { file: job, transfer, progress })
    }
}

impl Exclusive<Cancel> for Fetch {
    async fn handle(&mut self, Cancel { job: name }: Cancel, _: &Call) -> Result<(), Fault> {
        let transfer = self.fetched.files.get_mut(&name).ok_or_else(|| unknown(&name))?;
        if transfer.state != State::Running {
            return Err(Fault::new(Code::InvalidValue, format!("{name:?} is not being fetched")));
        }
        let task = self.running.lock().remove(&name);
        if let Some(task) = task {
            // The task's future must be dropped before its file is removed.
            let _ = task.cancel().await;
        }
        let _ = blocking("a file", || std::fs::remove_file(self.folder.join(partial(&name))));
        transfer.state = State::Cancelled;
        Ok(())
    }
}

impl Exclusive<Remove> for Fetch {
    async fn handle(&mut self, Remove { name }: Remove, _: &Call) -> Result<(), Fault> {
        let transfer = self.fetched.files.get(&name).ok_or_else(|| unknown(&name))?;
        if transfer.state == State::Running {
            return Err(Fault::new(Code::InvalidValue, format!("{name:?} is being fetched; cancel that first")));
        }
        if transfer.state == State::Done {
            let place = self.folder.join(&name);
            match blocking("a file", || std::fs::remove_file(&place)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(disk(&place, &error)),
                _ => {}
            }
        }
        self.fetched.files.remove(&name);
        Ok(())
    }
}

impl Exclusive<Progress> for Fetch {
    async fn handle(&mut self, Progress { name, transfer }: Progress, call: &Call) -> Result<(), Fault> {
        if let Some(caller) = call.caller() {
            let fault = Fault::new(Code::PermissionDenied, "how far a transfer is is written by its node");
            return Err(fault.log(format!("asked by {caller}")));
        }
        match self.fetched.files.get_mut(&name) {
            Some(known) if known.state == State::Running => {
                if transfer.state != State::Running {
                    // The task that sent this request is about to end and waits for the answer, so it is not cancelled.
                    if let Some(task) = self.running.lock().remove(&name) {
                        task.detach();
                    }
                }
                *known = transfer;
                Ok(())
            }
            _ => Err(unknown(&name)),
        }
    }
}

/// A file that is being fetched.
struct Bringing {
    own: Reference<Fetched>,
    getter: Getter,
    clock: Clock,
    name: String,
    place: PathBuf,
    partial: PathBuf,
    is_kept: bool,
    transfer: Transfer,
    /// The number of received bytes that the state of the service shows.
    told: u64,
}

/// An incomplete file, and the checksum of its bytes so far.
struct Growing {
    file: File,
    sum: Sha256,
}

impl Growing {
    /// Opens a file and keeps its first `bytes` bytes. Returns `None` if the file is shorter.
    fn open(partial: &Path, bytes: u64) -> io::Result<Option<Self>> {
        let mut file = OpenOptions::new().create(true).truncate(false).read(true).write(true).open(partial)?;
        if file.metadata()?.len() < bytes {
            return Ok(None);
        }
        // Bytes after the first `bytes` were written but not recorded in the state.
        file.set_len(bytes)?;
        let (mut sum, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(Some(Self { file, sum })),
                read => sum.update(&buffer[..read]),
            }
        }
    }

    /// Removes all bytes.
    fn clear(&mut self) -> io::Result<()> {
        self.file.set_len(0)?;
        self.file.rewind()?;
        self.sum = Sha256::new();
        Ok(())
    }
}

/// The reason why an attempt has failed.
enum Broken {
    /// Another attempt may fetch the remaining bytes.
    Again(Fault),
    Never(Fault),
}

impl Bringing {
    async fn run(mut self) {
        match self.bring().await {
            Ok(sum) => {
                self.transfer.sha256 = Some(sum);
                self.transfer.state = State::Done;
            }
            Err(fault) => {
                let _ = blocking("a file", || std::fs::remove_file(&self.partial));
                self.transfer.fault = Some(fault);
                self.transfer.state = State::Failed;
            }
        }
        self.tell().await;
    }

    async fn tell(&mut self) {
        self.told = self.transfer.bytes;
        // The service refuses this request if the transfer was cancelled, and does not answer if it has ended. In both
        // cases, the result is not needed.
        let _ = self.own.call(Progress { name: self.name.clone(), transfer: self.transfer.clone() }).await;
    }

    /// Records the progress in the state. If the state is kept, the recorded bytes are written to disk first.
    async fn tell_of(&mut self, growing: &Growing) -> Result<(), Fault> {
        if self.is_kept {
            blocking("the disk", || growing.file.sync_data()).map_err(|error| disk(&self.partial, &error))?;
        }
        self.tell().await;
        Ok(())
    }

    /// Opens the file with the bytes received so far. Without a validator, these bytes may belong to another version,
    /// so the transfer starts again from the first byte.
    fn open(&mut self) -> Result<Growing, Fault> {
        let bytes = if self.transfer.mark.is_some() { self.transfer.bytes } else { 0 };
        let open = || -> io::Result<(Growing, u64)> {
            if let Some(growing) = Growing::open(&self.partial, bytes)? {
                return Ok((growing, bytes));
            }
            // The file has fewer bytes than the state has recorded: start again.
            let growing = Growing::open(&self.partial, 0)?.ok_or(io::ErrorKind::UnexpectedEof)?;
            Ok((growing, 0))
        };
        let opened = blocking("a file", open);
        let (growing, bytes) = opened.map_err(|error| disk(&self.partial, &error))?;
        self.transfer.bytes = bytes;
        Ok(growing)
    }

    /// Fetches the file, moves it to its final place and returns its checksum.
    async fn bring(&mut self) -> Result<String, Fault> {
        let mut growing = self.open()?;
        let (mut tries, mut pause) = (0, Duration::from_secs(1));
        loop {
            let before = self.transfer.bytes;
            let fault = match self.try_once(&mut growing).await {
                Ok(()) => break,
                Err(Broken::Never(fault)) => return Err(fault),
                Err(Broken::Again(fault)) => fault,
            };
            if self.transfer.bytes > before {
                (tries, pause) = (0, Duration::from_secs(1));
            }
            tries += 1;
            if tries >= self.getter.bounds().tries {
                return Err(fault);
            }
            self.tell_of(&growing).await?;
            self.clock.sleep(fault.retry_hint().unwrap_or(pause)).await;
            pause *= 2;
            self.transfer.resumed += 1;
        }
        let sum: String = growing.sum.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        if let Some(expected) = self.transfer.expected.as_ref().filter(|expected| **expected != sum) {
            let reason = format!("the checksum of {}: expected {expected}, found {sum}", self.transfer.url);
            return Err(Fault::new(Code::InvalidValue, reason));
        }
        let keep = || {
            growing.file.sync_all()?;
            std::fs::rename(&self.partial, &self.place)?;
            // The new name must be on disk too before the file counts as complete.
            self.place.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all())
        };
        blocking("the disk", keep).map_err(|error| disk(&self.place, &error))?;
        Ok(sum)
    }

    /// Requests the missing bytes and writes them.
    async fn try_once(&mut self, growing: &mut Growing) -> Result<(), Broken> {
        let url = self.transfer.url.clone();
        let from =
            self.transfer.mark.clone().filter(|_| self.transfer.bytes > 0).map(|mark| (self.transfer.bytes, mark));
        let asked = TransferRequest { url, from: from.clone(), post: None };
        let answered = self.getter.ask(asked).await.map_err(|fault| match fault.code() {
            Code::Unavailable => Broken::Again(fault),
            _ => Broken::Never(fault),
        })?;
        let mut bytes = answered.bytes;
        let goes_on = match (answered.status, &from) {
            (StatusCode::PARTIAL_CONTENT, Some((from, _))) => begins_at(&answered.headers) == Some(*from),
            (StatusCode::OK, _) => false,
            (status, _) => return Err(self.refused(status, &answered.headers)),
        };
        if !goes_on {
            if answered.status != StatusCode::OK {
                // The host sent a different part from the one requested: request the whole file.
                self.transfer.mark = None;
                return Err(Broken::Again(Fault::new(
                    Code::Unavailable,
                    "the host has sent another part than Lehr requested",
                )));
            }
            // The host has another version of the file, or does not support partial requests.
            blocking("a file", || growing.clear()).map_err(|error| Broken::Never(disk(&self.partial, &error)))?;
            (self.transfer.bytes, self.transfer.mark) = (0, mark(&answered.headers));
        }
        let length = number(&answered.headers, header::CONTENT_LENGTH.as_str());
        self.transfer.bytes_all = length.map(|length| self.transfer.bytes + length);
        let bound = self.getter.bounds().bytes;
        let name = self.name.clone();
        let too_large = || {
            let reason = format!("{name} has more than {bound} bytes, the maximum size of a download");
            Broken::Never(Fault::new(Code::TooLarge, reason))
        };
        if self.transfer.bytes_all.is_some_and(|all| all > bound) {
            return Err(too_large());
        }
        self.tell_of(growing).await.map_err(Broken::Never)?;
        while let Some(piece) = bytes.recv().await {
            let piece = piece.map_err(|why| Broken::Again(Fault::new(Code::Unavailable, why)))?;
            self.transfer.bytes += piece.len() as u64;
            if self.transfer.bytes > bound {
                return Err(too_large());
            }
            growing.sum.update(&piece);
            let written = blocking("a file", || growing.file.write_all(&piece));
            written.map_err(|error| Broken::Never(disk(&self.partial, &error)))?;
            if self.transfer.bytes - self.told >= PROGRESS_BYTES {
                self.tell_of(growing).await.map_err(Broken::Never)?;
            }
        }
        match self.transfer.bytes_all {
            Some(all) if self.transfer.bytes < all => {
                let reason = format!("the connection ended after {} of {all} bytes", self.transfer.bytes);
                Err(Broken::Again(Fault::new(Code::Unavailable, reason)))
            }
            _ => Ok(()),
        }
    }

    fn refused(&self, status: StatusCode, headers: &HeaderMap) -> Broken {
        let reason = format!("{} {} was answered {status}", Method::GET, self.transfer.url);
        let may_pass = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
        if may_pass || status == StatusCode::RANGE_NOT_SATISFIABLE {
            let fault = Fault::new(Code::Unavailable, reason);
            let after = number(headers, header::RETRY_AFTER.as_str()).map(Duration::from_secs);
            // If a host asks for a pause longer than 10 minutes, Lehr uses its own pause.
            return Broken::Again(match after.filter(|after| *after <= Duration::from_secs(600)) {
                Some(after) => fault.retry_after(after),
                None => fault,
            });
        }
        let code = match status.as_u16() {
            401 | 403 => Code::PermissionDenied,
            404 | 410 => Code::UnknownEntry,
            _ => Code::OperationFailed,
        };
        Broken::Never(Fault::new(code, reason))
    }
}

fn number(headers: &HeaderMap, name: &str) -> Option<u64> {
    headers.get(name)?.to_str().ok()?.trim().parse().ok()
}

/// Returns the position of the first byte of a partial response, for example 100 for `bytes 100-199/200`.
fn begins_at(headers: &HeaderMap) -> Option<u64> {
    let range = headers.get(header::CONTENT_RANGE)?.to_str().ok()?;
    range.strip_prefix("bytes ")?.split_once('-')?.0.parse().ok()
}

/// Returns the validator of a version of a file: a strong entity tag, or else the date of the last change.
fn mark(headers: &HeaderMap) -> Option<String> {
    let text = |name: header::HeaderName| headers.get(name)?.to_str().ok().map(str::to_owned);
    text(header::ETAG).filter(|tag| tag.starts_with('"')).or_else(|| text(header::LAST_MODIFIED))
}
