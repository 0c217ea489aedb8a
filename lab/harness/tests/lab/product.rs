//! Tests how the lab finds the command that it measures.
#![cfg(unix)]

use std::path::PathBuf;
use std::process::Command;

use super::sandbox::Sandbox;

const LINE: [&str; 5] = ["services", "--quick", "--only", "no case has this name", "--json"];

/// Makes a sandbox with only the lab in a folder.
fn moved() -> (Sandbox, PathBuf) {
    let sandbox = Sandbox::new();
    // Another process writes the file. If this process wrote it, a child that another test forks meanwhile might keep
    // it open, and the system would refuse to run it.
    shell(&sandbox, &format!("mkdir bin alone && cp '{}' alone/lehr-lab", env!("CARGO_BIN_EXE_lehr-lab")));
    let lab = sandbox.path("alone/lehr-lab");
    (sandbox, lab)
}

fn shell(sandbox: &Sandbox, script: &str) {
    assert!(Command::new("sh").args(["-c", script]).current_dir(sandbox.path(".")).status().unwrap().success());
}

#[test]
fn without_the_command_it_says_how_to_build_it() {
    let (sandbox, lab) = moved();
    for line in [&LINE[..], &["scale", "--quick"], &["growth", "--quick"], &["chemistry", "--quick"]] {
        let outcome = sandbox.alone(&lab, line);
        assert_eq!(outcome.code, 4, "{}", outcome.stderr);
        assert!(outcome.stderr.starts_with("error: lehr, which this measures,"), "{}", outcome.stderr);
        assert!(outcome.stderr.contains("cargo build --release -p lehr"), "{}", outcome.stderr);
    }
}

#[test]
fn a_command_on_the_path_is_found() {
    let (sandbox, lab) = moved();
    shell(&sandbox, "printf '#!/bin/sh\\n' >bin/lehr && chmod 755 bin/lehr");
    let outcome = sandbox.alone(&lab, &LINE);
    // The lab found the command and reached its cases.
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("no case contains \"no case has this name\""), "{}", outcome.stderr);
}

#[test]
fn what_runs_in_the_lab_alone_needs_no_command() {
    let (sandbox, lab) = moved();
    for line in [&["overhead", "--quick", "--only", "nothing"], &["ports", "--quick", "--only", "nothing"]] {
        let outcome = sandbox.alone(&lab, line);
        assert_eq!(outcome.code, 1, "{}", outcome.stderr);
        assert!(outcome.stderr.contains("no case contains \"nothing\""), "{}", outcome.stderr);
    }
}
