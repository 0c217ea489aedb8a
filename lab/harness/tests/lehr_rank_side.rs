//! Tests the program of Lehr's ranks on MPI without a launcher. `lehr-lab ranks` measures and checks it under a
//! launcher.

use std::process::Command;

#[test]
fn without_a_launcher_it_says_how_it_is_started_and_fails() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lehr_rank_side"));
    // A launcher may have started the tests themselves.
    command.env_clear().arg("socket");
    let outcome = command.output().unwrap();
    assert!(!outcome.status.success() && outcome.stdout.is_empty());
    let said = String::from_utf8(outcome.stderr).unwrap();
    assert!(said.contains("mpiexec -n RANKS lehr_rank_side SOCKET"), "{said}");
}
