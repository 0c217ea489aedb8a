//! Node manifests: files that say which services a node runs, and how.
//!
//! A manifest is TOML. `tree.rs` reads it and records the line of every field. `schema.rs` checks it against the schema
//! of its own types and the schemas of the services' configurations. `plan.rs` compares it with the running services.
//! `apply.rs` applies it completely or not at all. A node does this through a service like any other, at [`MANIFEST`]
//! (`service.rs`).
//!
//! ```
//! let text = r#"
//! [services."/notes"]
//! contract = "lehr/records"
//! queue = 64
//! restart = { crashes = 3, within_seconds = 10 }
//! "#;
//! let manifest = lehr_node::manifest::Manifest::read("node.toml", text).unwrap();
//! assert_eq!(manifest.services()["/notes"].contract, "lehr/records");
//! ```
//!
//! For the reasons, see `docs/design/manifest.md`.

mod apply;
mod findings;
mod plan;
mod schema;
mod service;
mod tree;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use lehr_services::{Placement, Restart};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use apply::apply;
pub use findings::{Finding, Findings};
pub use plan::{Action, Change, Plan, Setting};
pub use schema::{Schema, Stands};
pub use service::{Apply, MANIFEST, ManifestState, ManifestText, Manifests, Review};
pub use tree::{Field, Tree};

/// The services of a manifest, and the position of each record in its file.
///
/// # Example
/// See the [module](self).
#[derive(Clone, Debug, Default)]
pub struct Manifest {
    services: BTreeMap<String, ServiceRecord>,
    /// For each path, the file, and the position of the record in the file.
    trees: BTreeMap<String, (Tree, Field)>,
}

/// The content of a manifest file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Document {
    /// The services by path.
    #[serde(default)]
    services: BTreeMap<String, ServiceRecord>,
}

/// One service of a manifest.
///
/// # Example
/// ```
/// use lehr_node::manifest::ServiceRecord;
/// let record = ServiceRecord::of("lehr/records");
/// assert_eq!((record.contract.as_str(), record.keep), ("lehr/records", false));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ServiceRecord {
    /// The contract of the service's kind.
    #[schemars(length(min = 1))]
    pub contract: String,
    /// The settings of the service's kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<BTreeMap<String, Value>>,
    /// The services to use as partners, by the partner's name: a path, or an address on another node (http://node:8420/notes).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub partners: BTreeMap<String, String>,
    /// Services that must be ready before this service starts, in addition to its partners.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<String>,
    /// The numbers of the cores that the service runs on. If empty, the service runs on the node's workers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cores: Vec<usize>,
    /// The maximum number of requests of each operation that may wait. Default: 1024.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub queue: Option<usize>,
    /// Restarts the service after crashes. Default: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<RestartRecord>,
    /// Keeps the service's state on disk, in the node's folder. Default: no.
    #[serde(default, skip_serializing_if = "is_false")]
    pub keep: bool,
}

/// How often a service may restart.
///
/// # Example
/// See [`ServiceRecord`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RestartRecord {
    /// The maximum number of restarts within the period. After one more crash, the service stays down.
    #[schemars(range(min = 1))]
    pub crashes: usize,
    /// The length of the period, in seconds.
    #[schemars(range(min = 0.001, max = 31_536_000))]
    pub within_seconds: f64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

impl ServiceRecord {
    /// Creates the record of a service of this kind, without settings.
    ///
    /// # Example
    /// See [`ServiceRecord`].
    pub fn of(contract: impl Into<String>) -> Self {
        Self {
            contract: contract.into(),
            configuration: None,
            partners: BTreeMap::new(),
            after: Vec::new(),
            cores: Vec::new(),
            queue: None,
            restart: None,
            keep: false,
        }
    }

    /// Returns the placement on the host. If `keep` is set, the state is kept below `folder`.
    ///
    /// # Example
    /// ```
    /// use lehr_node::manifest::ServiceRecord;
    /// assert_eq!(ServiceRecord::of("lehr/records").placement("/notes", None).path(), "/notes");
    /// ```
    pub fn placement(&self, path: &str, folder: Option<&Path>) -> Placement {
        let mut placement = Placement::at(path).cores(self.cores.iter().copied());
        placement = self.partners.iter().fold(placement, |place, (partner, at)| place.bind(partner, at));
        if let Some(queue) = self.queue {
            placement = placement.queue(queue);
        }
        if let Some(RestartRecord { crashes, within_seconds }) = self.restart {
            let within = Duration::try_from_secs_f64(within_seconds).unwrap_or(Duration::MAX);
            placement = placement.restart(Restart::OnPanic { max: crashes, within });
        }
        if let Some(configuration) = &self.configuration {
            placement = placement.configuration(Value::Object(configuration.clone().into_iter().collect()));
        }
        match folder {
            Some(folder) if self.keep => placement.keep(folder.join(state_file(path))),
            _ => placement,
        }
    }
}

/// Returns the file of a service's state; no two paths share a file, because paths contain no `+`.
fn state_file(path: &str) -> String {
    format!("{}.json", path.trim_start_matches('/').replace('/', "+"))
}

impl Manifest {
    /// Reads a manifest. Messages refer to the manifest as `file`.
    ///
    /// # Errors
    /// Returns every fault that can be found without the node: invalid TOML, unknown fields, wrong types.
    ///
    /// # Example
    /// See the [module](self).
    pub fn read(file: &str, text: &str) -> Result<Self, Findings> {
        Self::of(&Tree::read(file, text)?, &Field::default().name("services"))
    }

    /// Reads the manifest that is the table `services` of a larger description.
    ///
    /// # Errors
    /// Returns the same errors as [`read`](Self::read).
    pub(crate) fn of(tree: &Tree, field: &Field) -> Result<Self, Findings> {
        let schema = Self::schema();
        let mut findings = Findings::default();
        Schema::of(&schema).check(tree, &Field::default(), tree.value(), &|_| Stands::Itself, &mut findings);
        findings.into_result()?;
        Self::of_checked(tree, field)
    }

    /// Reads the records of a tree whose `services` were checked against the schema of [`ServiceRecord`].
    ///
    /// # Errors
    /// Returns faults for values that the types still refuse, such as a number that is too large.
    ///
    /// # Example
    /// ```
    /// use lehr_node::manifest::{Field, Manifest, Tree};
    /// let tree = Tree::read("a.toml", "name = 'a'\n[services.\"/notes\"]\ncontract = 'lehr/records'").unwrap();
    /// let manifest = Manifest::of_checked(&tree, &Field::default().name("services")).unwrap();
    /// assert_eq!(manifest.services().len(), 1);
    /// ```
    pub fn of_checked(tree: &Tree, field: &Field) -> Result<Self, Findings> {
        let (mut manifest, mut findings) = (Self::default(), Findings::default());
        let services = tree.value().get("services").and_then(Value::as_object).cloned().unwrap_or_default();
        for (path, record) in services {
            let field = field.name(&path);
            match serde_json::from_value(record) {
                Ok(record) => {
                    manifest.trees.insert(path.clone(), (tree.clone(), field));
                    manifest.services.insert(path, record);
                }
                Err(error) => findings.add(tree.finding(&field, error.to_string())),
            }
        }
        findings.into_result().map(|()| manifest)
    }

    /// Creates a manifest of these services, which belong to no file.
    ///
    /// # Example
    /// ```
    /// use lehr_node::manifest::{Manifest, ServiceRecord};
    /// let manifest = Manifest::new([("/notes".to_owned(), ServiceRecord::of("lehr/records"))]);
    /// assert_eq!(manifest.services().len(), 1);
    /// ```
    pub fn new(services: impl IntoIterator<Item = (String, ServiceRecord)>) -> Self {
        Self { services: services.into_iter().collect(), trees: BTreeMap::new() }
    }

    /// Merges several manifests. Several files may name the same service if their records are equal.
    ///
    /// # Errors
    /// Returns the services on which two files disagree, each with both places.
    ///
    /// # Example
    /// ```
    /// use lehr_node::manifest::Manifest;
    /// let read = |file, queue| Manifest::read(file, &format!("[services.\"/notes\"]\ncontract = 'lehr/records'\nqueue = {queue}")).unwrap();
    /// assert!(Manifest::merge([read("a.toml", 1), read("b.toml", 1)]).is_ok());
    /// assert_eq!(
    ///     Manifest::merge([read("a.toml", 1), read("b.toml", 2)]).unwrap_err().to_string(),
    ///     "b.toml, line 1, services.\"/notes\": expected what a.toml, line 1 says of it, found another queue"
    /// );
    /// ```
    pub fn merge(manifests: impl IntoIterator<Item = Self>) -> Result<Self, Findings> {
        let (mut merged, mut findings) = (Self::default(), Findings::default());
        for manifest in manifests {
            for (path, record) in manifest.services {
                let place = manifest.trees.get(&path).cloned();
                let Some(first) = merged.services.get(&path) else {
                    if let Some(place) = place {
                        merged.trees.insert(path.clone(), place);
                    }
                    merged.services.insert(path, record);
                    continue;
                };
                let different = plan::differences(first, &record);
                if !different.is_empty() {
                    let (here, there) = (Self::place_of(place.as_ref(), &path), merged.place(&path));
                    let (tree, field) = here;
                    let line = there.0.line(&there.1).map_or_else(String::new, |line| format!(", line {line}"));
                    let text = format!(
                        "expected what {}{line} says of it, found another {}",
                        there.0.file(),
                        different.join(", ")
                    );
                    findings.add(tree.finding(&field, text));
                }
            }
        }
        findings.into_result().map(|()| merged)
    }

    /// Returns the services by path.
    pub fn services(&self) -> &BTreeMap<String, ServiceRecord> {
        &self.services
    }

    /// Returns the tree and the field of a service's record.
    pub(crate) fn place(&self, path: &str) -> (Tree, Field) {
        Self::place_of(self.trees.get(path), path)
    }

    fn place_of(place: Option<&(Tree, Field)>, path: &str) -> (Tree, Field) {
        let nowhere = || (Tree::of("the manifest", Value::Null), Field::default().name("services").name(path));
        place.cloned().unwrap_or_else(nowhere)
    }

    /// Returns the JSON schema of manifests, for editors and other programs.
    ///
    /// # Example
    /// ```
    /// let schema = lehr_node::manifest::Manifest::schema();
    /// assert!(schema["$defs"]["ServiceRecord"]["properties"]["cores"].is_object());
    /// ```
    pub fn schema() -> Value {
        schemars::schema_for!(Document).to_value()
    }
}
