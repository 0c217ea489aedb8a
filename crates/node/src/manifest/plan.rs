//! Plans the steps that make a node run the services of a manifest, before any step is carried out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use lehr_services::{Kind, Placement, is_address};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::findings::Findings;
use super::schema::{Schema, Stands};
use super::{Field, Manifest, ServiceRecord};

/// The action for one service.
///
/// # Example
/// See [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Start the service, which is new.
    Start,
    /// End the service and start it again, because its record has changed.
    Replace,
    /// End the service, which no manifest names any longer.
    Stop,
    /// Leave the service as it is, because its record has not changed.
    Leave,
}

impl fmt::Display for Action {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Start => "start",
            Self::Replace => "replace",
            Self::Stop => "stop",
            Self::Leave => "leave",
        })
    }
}

/// A service and the change to it.
///
/// # Example
/// See [`Plan`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The path of the service.
    pub path: String,
    /// The contract of the service.
    pub contract: String,
    /// The action for the service.
    pub action: Action,
    /// The fields of the record that differ, if the service is replaced.
    pub because: Vec<String>,
}

/// The facts about a node that a plan needs.
///
/// # Example
/// See [`Plan`].
pub struct Setting<'a> {
    /// Returns how the services with a contract can be placed; `None` if the node cannot create such services.
    pub kind: &'a dyn Fn(&str) -> Option<Kind>,
    /// The contracts of services that can be created, for messages.
    pub contracts: Vec<String>,
    /// The running services, with their contracts.
    pub running: BTreeMap<String, String>,
    /// The number of the machine's cores.
    pub cores: usize,
    /// Whether the node has a folder for states.
    pub keeps: bool,
}

impl fmt::Debug for Setting<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Setting").field("running", &self.running).finish_non_exhaustive()
    }
}

/// The changes in the order in which they happen: each service starts after the services that it depends on.
///
/// # Example
/// ```
/// use lehr_node::manifest::{Action, Manifest, Plan, Setting};
/// use lehr_services::Kind;
/// let kind = Kind { configuration: None, partners: Default::default(), fixed: vec![] };
/// let setting = Setting { kind: &|_| Some(kind.clone()), contracts: vec![], running: Default::default(), cores: 2, keeps: false };
/// let manifest = Manifest::read("a.toml", "[services.\"/a\"]\ncontract = 'x'\nafter = ['/b']\n[services.\"/b\"]\ncontract = 'x'").unwrap();
/// let plan = Plan::new(&manifest, &Manifest::default(), &setting).unwrap();
/// let order: Vec<(&str, Action)> = plan.changes.iter().map(|change| (change.path.as_str(), change.action)).collect();
/// assert_eq!(order, [("/b", Action::Start), ("/a", Action::Start)]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The change to each service.
    pub changes: Vec<Change>,
}

impl Plan {
    /// Compares the wanted services with the services of the manifest that was applied before.
    ///
    /// # Errors
    /// Returns every fault of the manifest: unknown kinds, configurations that do not fit, missing partners and
    /// dependencies, and cycles. The faults also include cores that the machine does not have, and paths that are in
    /// use.
    ///
    /// # Example
    /// See [`Plan`].
    pub fn new(wanted: &Manifest, applied: &Manifest, setting: &Setting<'_>) -> Result<Self, Findings> {
        let mut findings = Findings::default();
        for (path, record) in wanted.services() {
            check(wanted, applied, setting, path, record, &mut findings);
        }
        let order = order(wanted, &mut findings);
        findings.into_result()?;
        let change = |path: &str, record: &ServiceRecord, action, because| Change {
            path: path.to_owned(),
            contract: record.contract.clone(),
            action,
            because,
        };
        let mut changes: Vec<Change> = order
            .iter()
            .map(|path| {
                let record = &wanted.services()[path];
                let before = applied.services().get(path).filter(|_| setting.running.contains_key(path));
                match before.map(|before| differences(before, record)) {
                    None => change(path, record, Action::Start, Vec::new()),
                    Some(different) if different.is_empty() => change(path, record, Action::Leave, different),
                    Some(different) => change(path, record, Action::Replace, different),
                }
            })
            .collect();
        // Services are ended last, so that no ended service must be started again if a start fails.
        let gone = applied
            .services()
            .iter()
            .filter(|(path, _)| !wanted.services().contains_key(*path) && setting.running.contains_key(*path));
        changes.extend(gone.map(|(path, record)| change(path, record, Action::Stop, Vec::new())));
        Ok(Self { changes })
    }

    /// Returns whether there is nothing to do.
    ///
    /// # Example
    /// ```
    /// assert!(lehr_node::manifest::Plan::default().is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.changes.iter().all(|change| change.action == Action::Leave)
    }
}

/// Returns the fields in which two records differ.
pub(super) fn differences(before: &ServiceRecord, after: &ServiceRecord) -> Vec<String> {
    let fields = |record: &ServiceRecord| serde_json::to_value(record).unwrap_or_default();
    let (before, after) = (fields(before), fields(after));
    let names = |value: &Value| value.as_object().map(|fields| fields.keys().cloned().collect()).unwrap_or_default();
    let mut all: BTreeSet<String> = names(&before);
    all.extend(names(&after) as BTreeSet<String>);
    all.into_iter().filter(|name| before.get(name) != after.get(name)).collect()
}

fn check(
    wanted: &Manifest,
    applied: &Manifest,
    setting: &Setting<'_>,
    path: &str,
    record: &ServiceRecord,
    findings: &mut Findings,
) {
    let (tree, field) = wanted.place(path);
    let mut find = |field: &Field, text: String| findings.add(tree.finding(field, text));
    if let Err(fault) = Placement::at(path).check() {
        find(&field, fault.reason().to_owned());
    }
    let standing = setting.running.get(path).filter(|_| !applied.services().contains_key(path));
    if let Some(contract) = standing {
        find(&field, format!("expected a path that is free, found a service of this node ({contract})"));
    }
    let there = |other: &str| wanted.services().contains_key(other) || setting.running.contains_key(other);
    let contract_at = |other: &str| {
        let wanted = wanted.services().get(other).map(|record| record.contract.clone());
        wanted.or_else(|| setting.running.get(other).cloned())
    };
    for (place, other) in record.after.iter().enumerate().filter(|(_, other)| !there(other)) {
        find(
            &field.name("after").place(place),
            format!("expected a service of the manifest or the node, found {other:?}"),
        );
    }
    check_cores(&field, record, setting.cores, &mut find);
    if record.keep && !setting.keeps {
        find(
            &field.name("keep"),
            "expected a node with a folder to keep states in (--keep FOLDER), found none".to_owned(),
        );
    }
    let Some(kind) = (setting.kind)(&record.contract) else {
        let known = setting.contracts.join(", ");
        return find(
            &field.name("contract"),
            format!("expected a kind of service that can be made here ({known}), found {:?}", record.contract),
        );
    };
    let given = serde_json::to_value(record).unwrap_or_default();
    for name in kind.fixed.iter().filter(|name| given.get(name.as_str()).is_some()) {
        find(
            &field.name(name),
            format!("expected nothing ({} decides that for itself), found a value", record.contract),
        );
    }
    check_partners(&field, record, &kind, contract_at, &mut find);
    let Some(configuration) = &record.configuration else { return };
    let field = field.name("configuration");
    match &kind.configuration {
        None => find(&field, format!("expected nothing ({} has no configuration), found a table", record.contract)),
        Some(schema) => {
            let value = Value::Object(configuration.clone().into_iter().collect());
            Schema::of(schema).check(&tree, &field, &value, &|_| Stands::Itself, findings);
        }
    }
}

/// Checks the cores of a service: each must exist on this machine and occur once.
fn check_cores(field: &Field, record: &ServiceRecord, cores: usize, find: &mut dyn FnMut(&Field, String)) {
    for (place, core) in record.cores.iter().enumerate() {
        let field = field.name("cores").place(place);
        if *core >= cores {
            find(&field, format!("expected a core from 0 to {}, found {core}", cores.saturating_sub(1)));
        }
        if record.cores[..place].contains(core) {
            find(&field, format!("expected each core once, found {core} again"));
        }
    }
}

/// Checks the partners of a service: the service's kind must have these partners, each with the right contract.
fn check_partners(
    field: &Field,
    record: &ServiceRecord,
    kind: &Kind,
    contract_at: impl Fn(&str) -> Option<String>,
    find: &mut dyn FnMut(&Field, String),
) {
    for (partner, at) in &record.partners {
        let field = field.name("partners").name(partner);
        let Some(contract) = kind.partners.get(partner) else {
            let known: Vec<&str> = kind.partners.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            find(&field, format!("expected a partner of {} (it has {known}), found {partner:?}", record.contract));
            continue;
        };
        if is_address(at) {
            // The contract at that address is checked when the service starts.
            if let Err(fault) = Placement::at("/any").bind(partner, at).check() {
                find(&field, fault.reason().to_owned());
            }
            continue;
        }
        match contract_at(at) {
            None => find(&field, format!("expected a service of the manifest or the node, found {at:?}")),
            Some(found) if found != *contract => {
                find(&field, format!("expected a service with the contract {contract}, found {at} with {found}"));
            }
            Some(_) => {}
        }
    }
}

/// Returns the services, each after the services that it depends on. A cycle is a fault that names all its services.
fn order(wanted: &Manifest, findings: &mut Findings) -> Vec<String> {
    let needs = |path: &str| -> Vec<String> {
        let record = &wanted.services()[path];
        let others = record.after.iter().chain(record.partners.values());
        others.filter(|other| wanted.services().contains_key(*other)).cloned().collect()
    };
    let mut order: Vec<String> = Vec::new();
    let mut left: BTreeSet<String> = wanted.services().keys().cloned().collect();
    while !left.is_empty() {
        let ready: Vec<String> =
            left.iter().filter(|path| needs(path).iter().all(|other| !left.contains(other))).cloned().collect();
        if ready.is_empty() {
            // Each remaining service depends on another remaining service, so following the dependencies ends in a
            // cycle.
            let mut walk: Vec<String> = left.iter().take(1).cloned().collect();
            while let Some(next) =
                walk.last().and_then(|path| needs(path).into_iter().find(|other| left.contains(other)))
            {
                if let Some(first) = walk.iter().position(|path| *path == next) {
                    walk.drain(..first);
                    walk.push(next);
                    break;
                }
                walk.push(next);
            }
            let (tree, field) = wanted.place(&walk[0]);
            findings.add(tree.finding(
                &field,
                format!("expected services that need each other in no circle, found {}", walk.join(" -> ")),
            ));
            return order;
        }
        for path in ready {
            left.remove(&path);
            order.push(path);
        }
    }
    order
}
