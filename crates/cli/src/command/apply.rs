//! `lehr apply`: applies a manifest to a running node.

use std::path::{Path, PathBuf};

use lehr_node::manifest::{Action, Apply, MANIFEST, ManifestState, ManifestText, Plan, Review};
use lehr_runtime::block_on;
use lehr_services::Reference;

use crate::arguments::ApplyArguments;
use crate::command::ask::{failure, link};
use crate::exit::{Failure, Kind};
use crate::output;
use lehr_methods::numbers::left_aligned;

/// Sends manifests to a node, and prints the changes, done or planned.
///
/// # Errors
/// Returns [`Kind::BadData`] with every fault of the manifests, or the reason why they could not be applied.
pub fn run(arguments: ApplyArguments) -> Result<(), Failure> {
    let files = texts(&arguments.files)?;
    let url = format!("{}{MANIFEST}", arguments.node.trim_end_matches('/'));
    let (link, options) = link(&url, &arguments.request)?;
    let mut node = Reference::<ManifestState>::over(link);
    if let Some(within) = options.within {
        node = node.within(within);
    }
    let planned =
        if arguments.dry_run { block_on(node.call(Review { files })) } else { block_on(node.call(Apply { files })) };
    let plan = planned.map_err(|fault| failure(&fault))?;
    if arguments.json {
        let text =
            serde_json::to_string_pretty(&plan).map_err(|cause| Failure::new(Kind::NoResult, cause.to_string()))?;
        return output::result(&format!("{text}\n"));
    }
    output::result(&table(&plan))
}

/// Reads the files, for a node that cannot read them itself.
///
/// # Errors
/// Returns [`Kind::Environment`] for a file that cannot be read.
pub fn texts(files: &[PathBuf]) -> Result<Vec<ManifestText>, Failure> {
    files.iter().map(|file| Ok(ManifestText { file: file.display().to_string(), text: text(file)? })).collect()
}

/// Reads the text of a file.
///
/// # Errors
/// Returns [`Kind::Environment`] if the file cannot be read; [`Kind::BadData`] if it is not text.
pub fn text(file: &Path) -> Result<String, Failure> {
    let kind = |cause: &std::io::Error| match cause.kind() {
        std::io::ErrorKind::InvalidData => Kind::BadData,
        _ => Kind::Environment,
    };
    std::fs::read_to_string(file).map_err(|cause| {
        let words = match cause.kind() {
            std::io::ErrorKind::NotFound => "no such file".to_owned(),
            std::io::ErrorKind::InvalidData => "expected UTF-8, found something else".to_owned(),
            _ => cause.to_string(),
        };
        Failure::new(kind(&cause), format!("{}: {words}", file.display()))
    })
}

/// Returns a table with the change to each service.
fn table(plan: &Plan) -> String {
    let mut rows = vec![["path", "contract", "action", "because"].map(str::to_owned)];
    for change in &plan.changes {
        let because = match change.action {
            Action::Replace => format!("another {}", change.because.join(", ")),
            _ => String::new(),
        };
        rows.push([change.path.clone(), change.contract.clone(), change.action.to_string(), because]);
    }
    left_aligned(&rows)
}
