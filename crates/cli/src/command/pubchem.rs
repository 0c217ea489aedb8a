//! `lehr demo pubchem`: compounds like a given one, from a stand-in for PubChem on this machine.
//!
//! This is `lehr run` of a built-in workflow. The stand-in listens while the workflow runs. The workflow file is
//! written beside the results, so that a user can change it and run it with PubChem itself.

use std::collections::BTreeMap;

use lehr_demos::pubchem::{StandIn, WORKFLOW};
use lehr_node::Client;
use lehr_runtime::Builder;
use lehr_workflow::{Begin, Workflow};
use serde_json::json;

use crate::arguments::PubChemArguments;
use crate::command::ask::failure;
use crate::command::run::{Again, PythonServices, Session, Surroundings};
use crate::exit::{Failure, Kind};
use crate::output;
use crate::plan::shell_word;

/// The name of the workflow file beside the results.
const FILE: &str = "pubchem.toml";

/// Runs the workflow to its end, and prints its result.
///
/// # Errors
/// Returns [`Kind::Environment`] if the folder or the stand-in cannot be used; [`Kind::NoResult`] if a step failed;
/// [`Kind::Stopped`] after Ctrl-C.
pub fn run(arguments: &PubChemArguments) -> Result<(), Failure> {
    let PubChemArguments { compound, percent, most, clusters, dimensions, out, quiet, json, .. } = arguments;
    let environment = |cause: &dyn std::fmt::Display| Failure::new(Kind::Environment, cause.to_string());
    let workflow = Workflow::read(FILE, WORKFLOW).map_err(|found| Failure::new(Kind::NoResult, found.to_string()))?;
    let mut begin = Begin::new(FILE, WORKFLOW);
    begin.parameters = [
        ("compound", json!(compound)),
        ("percent", json!(percent)),
        ("most", json!(most)),
        ("clusters", json!(clusters)),
        ("dimension", json!(dimensions)),
        ("seed", json!(arguments.seed)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into();
    let stand_in = StandIn::start().map_err(|cause| environment(&cause))?;
    let base = stand_in.base();
    if !quiet {
        output::note(&format!("PubChem's stand-in is at {base}; its compounds are those of lehr demo chemistry"));
    }
    let dispatcher = Builder::new().start().map_err(|cause| environment(&cause))?;
    let surroundings = Surroundings {
        python: &PythonServices::default(),
        client: Client::new(None).map_err(|fault| failure(&fault))?,
        folder: Some(out.as_path()),
        data_root: out.clone(),
        pubchem: &base,
        places: &BTreeMap::new(),
        is_quiet: true,
    };
    let file = out.join(FILE);
    let again = Again {
        command: format!("lehr demo pubchem --out {} --resume", shell_word(&out.to_string_lossy())),
        is_wanted: arguments.resume,
        from: None,
        folder: Some(out.clone()),
    };
    surroundings.with(&dispatcher, &workflow, |workflows| {
        std::fs::write(&file, WORKFLOW)
            .map_err(|cause| Failure::new(Kind::Environment, format!("{}: {cause}", file.display())))?;
        let (name, again) = (workflow.name(), Some(&again));
        let (is_json, is_quiet) = (*json, *quiet);
        Session { name, workflows, dispatcher: &dispatcher, node: None, again, is_json, is_quiet }.run(begin)
    })?;
    if !quiet {
        let map = out.join("reports/map/report.html");
        output::note(&format!("next: open {}", map.display()));
        let file = shell_word(&file.to_string_lossy());
        output::note(&format!("lehr run {file} asks PubChem itself, for compounds that are 90 % similar"));
    }
    Ok(())
}
