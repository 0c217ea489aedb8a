//! Ours on MPI as a program of the lab, where no launcher has started it. Under a launcher it is measured and checked
//! by `lehr-lab ranks`.

use std::process::Command;

#[test]
fn without_a_launcher_it_says_how_it_is_started_and_fails() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lehr_rank_side"));
    // The tests themselves may have been started by a launcher.
    command.env_clear().arg("socket");
    let outcome = command.output().unwrap();
    assert!(!outcome.status.success() && outcome.stdout.is_empty());
    let said = String::from_utf8(outcome.stderr).unwrap();
    assert!(said.contains("mpiexec -n RANKS lehr_rank_side SOCKET"), "{said}");
}
