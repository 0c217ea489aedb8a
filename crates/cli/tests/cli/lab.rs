//! `lehr lab` hands over to another program: found beside the command or on the path, else it is said where to have it
//! from.
#![cfg(unix)]

use std::process::Command;

use super::sandbox::{Outcome, Sandbox};

/// A sandbox with the command alone in a folder, as after `cargo install` of nothing else, and an empty folder for the
/// path.
fn alone() -> Sandbox {
    let sandbox = Sandbox::new();
    // Another program writes it: a file that this process has written is busy while a child forked meanwhile by another
    // test still has it open.
    shell(&sandbox, &format!("mkdir bin alone && cp '{}' alone/lehr", env!("CARGO_BIN_EXE_lehr")));
    sandbox
}

fn shell(sandbox: &Sandbox, script: &str) {
    assert!(Command::new("sh").args(["-c", script]).current_dir(sandbox.path(".")).status().unwrap().success());
}

/// A program that says what it was given and ends with 7.
fn add_lab(sandbox: &Sandbox, folder: &str) {
    let script = format!(
        "printf '#!/bin/sh\\necho \"{folder}: $#: $*\"; exit 7\\n' >{folder}/lehr-lab && chmod 755 {folder}/lehr-lab"
    );
    shell(sandbox, &script);
}

fn lehr(sandbox: &Sandbox, arguments: &[&str]) -> Outcome {
    let mut command = Command::new(sandbox.path("alone/lehr"));
    Outcome::new(arguments, &command.args(arguments).env("PATH", sandbox.path("bin")).output().unwrap())
}

#[test]
fn without_the_program_it_says_how_to_install_it() {
    let sandbox = alone();
    for line in [&["lab"][..], &["lab", "--help"], &["lab", "ports", "--quick"]] {
        let outcome = lehr(&sandbox, line);
        assert_eq!(outcome.code, 4);
        assert!(outcome.stdout.is_empty());
        assert!(outcome.stderr.contains("cargo install --locked --path lab/harness"), "{}", outcome.stderr);
    }
    lehr(&sandbox, &["lab"]).matches_golden("lab_not_installed");
}

#[test]
fn the_program_on_the_path_has_all_arguments_and_its_exit_code_counts() {
    let sandbox = alone();
    add_lab(&sandbox, "bin");
    let outcome = lehr(&sandbox, &["lab", "ports", "--only", "two words", "--help", "-V"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (7, "bin: 5: ports --only two words --help -V\n"));
    assert_eq!(lehr(&sandbox, &["lab", "--help"]).stdout, "bin: 1: --help\n");
    assert_eq!(lehr(&sandbox, &["lab"]).stdout, "bin: 0: \n");
}

#[test]
fn the_program_beside_the_command_comes_first() {
    let sandbox = alone();
    add_lab(&sandbox, "bin");
    add_lab(&sandbox, "alone");
    assert_eq!(lehr(&sandbox, &["lab", "ports"]).stdout, "alone: 1: ports\n");
}
