//! Where a service runs, and the settings that the user of a service chooses instead of its author.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::Value;

use crate::fault::{Code, Fault};
use crate::lifecycle::Restart;

/// The default for the maximum number of requests of one operation that may wait.
const QUEUE: usize = 1024;

/// The default time for which the host looks for partners.
const PATIENCE: Duration = Duration::from_secs(10);

/// The path of a service, and the settings with which it runs.
///
/// # Example
/// ```
/// use std::time::Duration;
/// use lehr_services::{Placement, Restart};
/// let placement = Placement::at("/jobs/census")
///     .queue(64)
///     .restart(Restart::OnPanic { max: 3, within: Duration::from_secs(10) })
///     .bind("store", "/store");
/// assert_eq!(placement.path(), "/jobs/census");
/// assert!(placement.check().is_ok() && Placement::at("jobs/../etc").check().is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Placement {
    pub(crate) path: String,
    pub(crate) queue: usize,
    pub(crate) restart: Restart,
    pub(crate) bindings: BTreeMap<String, String>,
    pub(crate) patience: Duration,
    pub(crate) state: Option<PathBuf>,
    pub(crate) configuration: Option<Value>,
    pub(crate) cores: Vec<usize>,
    /// The contracts of the services for which this service is created, outermost first.
    pub(crate) made_for: Vec<String>,
}

impl Placement {
    /// Creates a placement at this path. A path consists of names, each after a `/`. Names have lower case letters,
    /// digits, `.`, `_` and `-`, but not only dots. A path has at most 200 bytes. The start of the service checks the
    /// path.
    pub fn at(path: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            queue: QUEUE,
            restart: Restart::default(),
            bindings: BTreeMap::new(),
            patience: PATIENCE,
            state: None,
            configuration: None,
            cores: Vec::new(),
            made_for: Vec::new(),
        }
    }

    /// Returns the path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Sets the maximum number of requests of each operation that may wait. Beyond this number, requests are refused
    /// with [`Code::QueuingLimitExceeded`]. Default: 1024.
    pub fn queue(mut self, requests: usize) -> Self {
        self.queue = requests;
        self
    }

    /// Sets whether the service restarts after a crash. Default: never.
    pub fn restart(mut self, policy: Restart) -> Self {
        self.restart = policy;
        self
    }

    /// Binds a partner of the service to another service; this overrides the author's choice. `at` is a path, or the
    /// address of a service of another node, such as `http://node:8420/store`, if the host can
    /// [reach](crate::Host::reach_by) other nodes.
    ///
    /// # Example
    /// ```
    /// use lehr_services::Placement;
    /// let bound = |at: &str| Placement::at("/jobs").bind("store", at).check();
    /// assert!(bound("/store").is_ok() && bound("http://node:8420/store").is_ok());
    /// assert!(bound("http://node:8420").is_err()); // a node, and none of its services
    /// ```
    pub fn bind(mut self, partner: impl Into<String>, at: impl Into<String>) -> Self {
        self.bindings.insert(partner.into(), at.into());
        self
    }

    /// Sets the time for which the host looks for the service's partners, on the host's clock. Default: 10 seconds.
    pub fn patience(mut self, time: Duration) -> Self {
        self.patience = time;
        self
    }

    /// Keeps the document in this file. The service reads the file when it starts, if the file exists, and writes it
    /// after each change.
    ///
    /// A change is answered only when it is on disk, so that an acknowledged change survives a crash of the machine.
    /// Lehr restores the document if a change cannot be written, or if its handler panics or is cancelled. The
    /// service's other fields keep their changes. Default: the document is not kept.
    ///
    /// Cost of each change: a copy of the document, its encoding in JSON, and two synchronisations of the disk. No
    /// other handler sees the state meanwhile.
    ///
    /// # Example
    /// ```
    /// # use lehr_services::*;
    /// # use schemars::JsonSchema;
    /// # use serde::{Deserialize, Serialize};
    /// # #[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
    /// # struct Note { text: String }
    /// # impl Contract for Note { const NAME: &'static str = "example.org/note"; const VERSION: Version = Version::new(1, 0); }
    /// # impl Service for Note {
    /// #     type Document = Self;
    /// #     fn document(&self) -> &Self { self }
    /// #     fn document_mut(&mut self) -> &mut Self { self }
    /// #     fn handlers(on: &mut Handlers<Self>) { on.replaceable(); }
    /// # }
    /// # let folder = tempfile::tempdir().unwrap();
    /// # let file = folder.path().join("note.json");
    /// # let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
    /// # let host = Host::new(dispatcher.handle());
    /// # lehr_runtime::block_on(async {
    /// let kept = || Placement::at("/note").keep(&file);
    /// let note = host.start(kept(), Note::default).await?;
    /// note.call(Replace(Note { text: "hello".to_owned() })).await?;
    /// note.drop_service().await?;
    /// assert_eq!(host.start(kept(), Note::default).await?.get().await?.text, "hello");
    /// # Ok::<(), Fault>(())
    /// # }).unwrap();
    /// ```
    pub fn keep(mut self, file: impl Into<PathBuf>) -> Self {
        self.state = Some(file.into());
        self
    }

    /// Sets the configuration that the service gets when it starts:
    /// [`Starting::configuration`](crate::Starting::configuration). Default: none.
    pub fn configuration(mut self, value: Value) -> Self {
        self.configuration = Some(value);
        self
    }

    /// Returns the configuration of the service, for the code that creates it.
    pub fn told(&self) -> Option<&Value> {
        self.configuration.as_ref()
    }

    /// Runs the handlers of the service on these cores, with one worker of its own for each core. Default: on the
    /// workers of the host.
    ///
    /// Computations that the service runs outside its handlers are not moved. The service can place such computations
    /// with [`Starting::cores`](crate::Starting::cores). Two services on disjoint cores never compete for a worker.
    ///
    /// # Example
    /// ```
    /// let placement = lehr_services::Placement::at("/clustering").cores([0, 0]);
    /// assert!(placement.check().unwrap_err().reason().contains("core 0 is named twice"));
    /// ```
    pub fn cores(mut self, cores: impl IntoIterator<Item = usize>) -> Self {
        self.cores = cores.into_iter().collect();
        self
    }

    /// Returns the cores that the service should have, for the code that creates it.
    pub fn own_cores(&self) -> &[usize] {
        &self.cores
    }

    /// Checks whether the placement is valid.
    ///
    /// # Errors
    /// Returns [`Code::InvalidValue`], with a list of all invalid values.
    pub fn check(&self) -> Result<(), Fault> {
        let mut faults = Vec::new();
        let mut wrong = |what: String, at: &str| {
            let rule = "expected names of lower case letters, digits, '.', '_' and '-', each after a '/'";
            let rule = if is_address(at) { "expected an address such as http://node:8420/notes" } else { rule };
            faults.push(format!("{what}: {rule}, found {at:?}"));
        };
        if !is_path(&self.path) {
            wrong("path".to_owned(), &self.path);
        }
        for (partner, at) in self.bindings.iter().filter(|(_, at)| !is_path(at) && !is_service_of_a_node(at)) {
            wrong(format!("partner {partner:?}"), at);
        }
        if self.queue == 0 {
            faults.push("queue: expected at least 1, found 0".to_owned());
        }
        let twice = self.cores.iter().enumerate().filter(|(index, core)| self.cores[..*index].contains(core));
        faults.extend(twice.map(|(_, core)| format!("cores: core {core} is named twice")));
        if faults.is_empty() { Ok(()) } else { Err(Fault::new(Code::InvalidValue, faults.join("; "))) }
    }
}

impl From<&str> for Placement {
    fn from(path: &str) -> Self {
        Self::at(path)
    }
}

impl From<String> for Placement {
    fn from(path: String) -> Self {
        Self::at(path)
    }
}

/// Returns whether a text is an address of a service of another node, and not a path of this host.
///
/// # Example
/// ```
/// use lehr_services::is_address;
/// assert!(is_address("https://node:8420/notes") && !is_address("/notes"));
/// ```
pub fn is_address(at: &str) -> bool {
    at.contains("://")
}

/// Returns whether an address can belong to a service: a scheme, a node, and a path there.
fn is_service_of_a_node(at: &str) -> bool {
    let is_node = |node: &str| !node.is_empty() && node.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'@');
    at.len() <= 1000
        && at.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.split_once('/')?))).is_some_and(
            |(scheme, (node, path))| {
                !scheme.is_empty()
                    && scheme.bytes().all(|byte| byte.is_ascii_lowercase())
                    && is_node(node)
                    && is_path(&format!("/{path}"))
            },
        )
}

/// Returns whether a text is a path of a service. A name that consists only of dots is invalid, so no path can lead to
/// a parent folder.
fn is_path(path: &str) -> bool {
    let is_name = |name: &str| {
        let mut bytes = name.bytes();
        !name.is_empty()
            && name.bytes().any(|byte| byte != b'.')
            && bytes.all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-'))
    };
    path.len() <= 200 && path.strip_prefix('/').is_some_and(|rest| rest.split('/').all(is_name))
}

#[cfg(test)]
mod tests {
    use super::{is_path, is_service_of_a_node};

    #[test]
    fn addresses_are_of_services_and_carry_no_secrets() {
        for address in ["http://node/a", "https://10.0.0.7:8420/a/b-c", "http://[::1]:80/a"] {
            assert!(is_service_of_a_node(address), "{address}");
        }
        let wrong = [
            "/a",
            "http://node",
            "http://node/",
            "http:///a",
            "http://me:secret@node/a",
            "://node/a",
            "http://node/a?b",
            "http://no de/a",
            "http://node/../a",
        ];
        for address in wrong {
            assert!(!is_service_of_a_node(address), "{address}");
        }
    }

    #[test]
    fn paths_are_names_behind_slashes() {
        for path in ["/a", "/a/b-c_2.d", "/...x"] {
            assert!(is_path(path), "{path}");
        }
        for path in ["", "/", "a", "/a/", "//a", "/A", "/a b", "/..", "/a/../b", "/a:b", "/é", "/a\0"] {
            assert!(!is_path(path), "{path}");
        }
    }
}
