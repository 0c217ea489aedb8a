//! Runs `lehr-lab ranks`: without peers, with faulty peers, and with a wrong result of Lehr. The tests do not assert
//! the measured values, only that they exist.

use super::sandbox::Sandbox;
use super::session::{engines, measured, run};

const BARRIER: &str = "barrier, P = 2, 0 units";

#[test]
fn without_peers_ours_is_measured_over_threads_and_over_ports_and_the_record_says_who_is_absent() {
    let (outcome, figures) = measured(&Sandbox::new(), "ranks", BARRIER);
    let mut ours = engines(&figures, "collectives");
    ours.sort_unstable();
    ours.dedup();
    assert_eq!(ours, ["lehr ports", "lehr threads"]);
    assert_eq!(engines(&figures, "unit"), ["lehr"]);
    assert_eq!(engines(&figures, "absent"), ["lehr_mpi", "mpi", "mpj", "ranks_floor"]);
    assert_eq!(outcome.stderr.matches("make peers-ranks").count(), 1, "{}", outcome.stderr);
}

#[test]
fn arrays_have_their_times_and_their_rates() {
    let (_, figures) = measured(&Sandbox::new(), "ranks", "arrays exchange, P = 2, 1000 doubles");
    assert_eq!(engines(&figures, "arrays"), engines(&figures, "arrays rate"));
    for figure in figures.iter().filter(|figure| figure["experiment"] == "arrays rate") {
        assert!(figure["unit"] == "GB/s" && figure["median"].as_f64().unwrap() > 0.0, "{figure}");
    }
}

#[test]
fn a_case_that_does_not_exist_is_said_so() {
    let outcome = run(&Sandbox::new(), "ranks", "barrier, P = 9");
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("barrier, P = 9"), "{}", outcome.stderr);
}

#[cfg(unix)]
mod peers {
    use super::super::session::{UNIT, add_peer};
    use super::*;

    const WRONG: &str = "echo '{\"wrong\": \"rank 1 of 2: stage 7\"}'";

    fn unit() -> String {
        format!("echo '{UNIT}'")
    }

    #[test]
    fn an_mpi_that_is_wrong_is_left_out_and_the_others_go_on() {
        let sandbox = Sandbox::new();
        add_peer(&sandbox, "mpi", "an MPI", &[("*ranks*", WRONG), ("*unit", &unit())]);
        add_peer(&sandbox, "another", "another MPI", &[("*ranks*", "echo '{\"seconds\": 0.5}'"), ("*unit", &unit())]);
        let (outcome, figures) = measured(&sandbox, "ranks", BARRIER);
        let measured = engines(&figures, "collectives");
        assert!(measured.contains(&"another MPI") && !measured.contains(&"an MPI"), "{measured:?}");
        assert_eq!(outcome.stderr.matches("a wrong result: rank 1 of 2: stage 7").count(), 1, "{}", outcome.stderr);
    }

    #[test]
    fn ours_on_mpi_that_is_wrong_ends_the_measurement() {
        let sandbox = Sandbox::new();
        add_peer(&sandbox, "lehr_mpi", "lehr on an MPI", &[("*ranks*", WRONG), ("*unit", &unit())]);
        let outcome = run(&sandbox, "ranks", BARRIER);
        assert_eq!(outcome.code, 1);
        assert!(outcome.stdout.is_empty() && outcome.stderr.contains("rank 1 of 2: stage 7"), "{}", outcome.stderr);
    }
}
