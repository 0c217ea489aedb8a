//! Runs the lab under `mpiexec`: overheads of processes, and output from only one process.
//!
//! `LEHR_MPIEXEC` names the launcher; `make mpi` installs one and sets the variable. `cargo test` alone has no
//! launcher, and leaves these tests out.
#![allow(clippy::disallowed_methods, reason = "the environment says which launcher the tests use")]

use std::process::{Command, Stdio};

const LAB: &str = env!("CARGO_BIN_EXE_lehr-lab");

fn launcher() -> String {
    std::env::var("LEHR_MPIEXEC")
        .expect("LEHR_MPIEXEC names an mpiexec whose library has the MPI standard ABI; run make mpi")
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn overheads_are_measured_in_processes_too() {
    let folder = tempfile::tempdir().unwrap();
    let launcher = launcher();
    let line = ["overhead", "--quick", "--rounds", "1", "--json", "--mpiexec", &launcher, "--only"];
    // The cases are whole runs, whose bits the measurement itself compares, and the kernel alone.
    for (only, experiment) in [("N = 5000, K = 10", "overhead"), ("stages, n = 10000, K = 1", "range over mean")] {
        let done = Command::new(LAB).args(line).arg(only).current_dir(&folder).stdin(Stdio::null()).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{said}");
        let figures: serde_json::Value = serde_json::from_slice(&done.stdout).unwrap();
        let layouts: Vec<&str> = figures
            .as_array()
            .unwrap()
            .iter()
            .filter(|figure| figure["experiment"] == experiment)
            .map(|figure| figure["layout"].as_str().unwrap())
            .collect();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        assert_eq!(layouts, if cores > 1 { vec!["2x1x1", "1x2x1"] } else { vec![] }, "{said}");
    }
}

#[test]
#[ignore = "starts processes with mpiexec: make mpi"]
fn a_lab_in_several_processes_is_refused_with_one_voice() {
    let mut command = Command::new(launcher());
    let done = command.args(["-n", "2", LAB, "ports", "--quick"]).stdin(Stdio::null()).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(!done.status.success());
    assert_eq!(said.matches("run lehr-lab without mpiexec").count(), 1, "{said}");
}
