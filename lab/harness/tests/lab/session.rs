//! Shared by the tests of the lab: measures one case, and makes peers from a few lines of shell.

use std::process::Command;

use serde_json::Value;

use super::sandbox::{Outcome, Sandbox};

/// The answer of a healthy peer about its unit of computation.
pub const UNIT: &str = "{\"ns\": 1000, \"value\": 17402209958924219335}";

/// Makes one round of the quick cases whose names contain `only`, with the peers in the sandbox; also returns the
/// record.
pub fn measured(sandbox: &Sandbox, lab: &str, only: &str) -> (Outcome, Vec<Value>) {
    let outcome = run(sandbox, lab, only).succeeded();
    let Value::Array(figures) = serde_json::from_str(&outcome.stdout).unwrap() else { panic!("no array") };
    (outcome, figures)
}

/// Makes the same session, and returns its outcome, even if it failed.
pub fn run(sandbox: &Sandbox, lab: &str, only: &str) -> Outcome {
    sandbox.lab(&[lab, "--quick", "--rounds", "1", "--only", only, "--json", "--peers", "peers"])
}

/// Returns the engines that have a figure in an experiment, in the record's order.
pub fn engines<'a>(figures: &'a [Value], experiment: &str) -> Vec<&'a str> {
    figures
        .iter()
        .filter(|figure| figure["experiment"] == experiment)
        .map(|figure| figure["engine"].as_str().unwrap())
        .collect()
}

/// Adds a peer with one engine, which reacts to requests with these answers.
pub fn add_peer(sandbox: &Sandbox, name: &str, engine: &str, reactions: &[(&str, &str)]) {
    let reactions: String = reactions.iter().map(|(request, reaction)| format!("{request}) {reaction};;\n")).collect();
    let script = format!(
        "#!/bin/sh\nwhile read -r line; do case \"$line\" in\n\
         about) echo '{{\"libraries\": {{\"{name}\": \"1\"}}, \"engines\": [\"{engine}\"]}}';;\n\
         {reactions}*) echo '{{\"absent\": true}}';; esac; done\n"
    );
    // Another process writes the file. If this process wrote it, a child that another test forks meanwhile might keep
    // it open, and the system would refuse to run it.
    let write = "mkdir -p peers && printf '%s' \"$1\" > \"peers/$2\" && chmod 755 \"peers/$2\"";
    let done = Command::new("sh").args(["-c", write, "sh", &script, name]).current_dir(sandbox.path(".")).status();
    assert!(done.unwrap().success());
}
