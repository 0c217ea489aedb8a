//! Makes a node run all services of a manifest; if a service cannot be started, restores the earlier services.

use std::path::Path;
use std::time::Duration;

use lehr_services::{Action as Asked, Code, Fault, Format, Host, Link, Message, Options, Verb};

use super::Manifest;
use super::plan::{Action, Plan};

/// Carries out a plan. If a service cannot be started, everything is undone: started services are ended, and replaced
/// services run again with their old records. Replaced services begin new incarnations, so state that was not kept on
/// disk is lost.
///
/// Do not drop the future before it completes: the steps done so far would remain.
///
/// # Errors
/// Returns [`Code::StartFailed`] with the service, the reason, and the services whose changes were undone.
///
/// # Example
/// ```
/// use lehr_node::Records;
/// use lehr_node::manifest::{Manifest, Plan, Setting, apply};
/// use lehr_services::{Fault, Host};
/// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
/// let host = Host::new(dispatcher.handle());
/// host.register(Records::default);
/// let wanted = Manifest::read("node.toml", "[services.\"/notes\"]\ncontract = 'lehr/records'").unwrap();
/// let setting = Setting {
///     kind: &|contract| host.kind(contract),
///     contracts: host.constructors(),
///     running: Default::default(),
///     cores: 1,
///     keeps: false,
/// };
/// let plan = Plan::new(&wanted, &Manifest::default(), &setting).unwrap();
/// lehr_runtime::block_on(apply(&host, &plan, &wanted, &Manifest::default(), None)).unwrap();
/// assert!(host.phase("/notes").is_some());
/// ```
pub async fn apply(
    host: &Host,
    plan: &Plan,
    wanted: &Manifest,
    before: &Manifest,
    folder: Option<&Path>,
) -> Result<(), Fault> {
    let mut done: Vec<(&str, Action)> = Vec::new();
    for change in &plan.changes {
        let path = change.path.as_str();
        let made = match change.action {
            Action::Leave | Action::Stop => continue,
            Action::Start => start(host, wanted, path, folder).await,
            Action::Replace => match end(host, path).await {
                Ok(()) => start(host, wanted, path, folder).await.inspect_err(|_| done.push((path, Action::Stop))),
                Err(fault) => Err(fault),
            },
        };
        match made {
            Ok(()) => done.push((path, change.action)),
            Err(fault) => return Err(take_back(host, &done, before, folder, path, &fault).await),
        }
    }
    for change in plan.changes.iter().filter(|change| change.action == Action::Stop) {
        match end(host, &change.path).await {
            // The service has already ended by itself, as wanted.
            Err(fault) if fault.code() != Code::UnknownService => {
                return Err(take_back(host, &done, before, folder, &change.path, &fault).await);
            }
            _ => done.push((&change.path, Action::Stop)),
        }
    }
    Ok(())
}

async fn start(host: &Host, manifest: &Manifest, path: &str, folder: Option<&Path>) -> Result<(), Fault> {
    let record = manifest.services().get(path).ok_or_else(|| {
        Fault::new(Code::StartFailed, format!("{path} cannot be brought back: its record is not known"))
    })?;
    host.create(&record.contract, record.placement(path, folder)).await.map(|_| ())
}

async fn end(host: &Host, path: &str) -> Result<(), Fault> {
    let message = Message {
        action: Asked::Drop,
        verb: Verb::Drop,
        body: Vec::new(),
        format: Format::Json,
        accept: Format::Json,
        options: Options { within: Some(Duration::from_secs(60)), ..Options::default() },
    };
    host.endpoint(path)?.send(message).await.map(|_| ())
}

/// Undoes the steps, the latest first.
async fn take_back(
    host: &Host,
    done: &[(&str, Action)],
    before: &Manifest,
    folder: Option<&Path>,
    path: &str,
    cause: &Fault,
) -> Fault {
    let (mut back, mut lost) = (Vec::new(), Vec::new());
    for (done, action) in done.iter().rev() {
        let undone = match action {
            Action::Start => end(host, done).await,
            Action::Replace => match end(host, done).await {
                Ok(()) => start(host, before, done, folder).await,
                fault => fault,
            },
            Action::Stop => start(host, before, done, folder).await,
            Action::Leave => Ok(()),
        };
        match undone {
            Ok(()) => back.push(*done),
            Err(fault) => lost.push(format!("{done} ({})", fault.reason())),
        }
    }
    let mut reason = format!("the manifest is not applied: {path} failed");
    if !back.is_empty() {
        reason.push_str(&format!("; taken back: {}", back.join(", ")));
    }
    if !lost.is_empty() {
        reason.push_str(&format!("; could not be taken back: {}", lost.join(", ")));
    }
    Fault::new(Code::StartFailed, reason).caused_by(cause)
}
