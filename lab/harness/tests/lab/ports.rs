//! Runs one small case each of `lehr-lab ports`: without peers, and with faulty peers. The tests do not assert the
//! measured values, only that they exist.

use serde_json::Value;

use super::sandbox::{Outcome, Sandbox};
use super::session::{self, engines};

const SHIFT: &str = "rendezvous shift, P = 2, 0 units";

fn measured(sandbox: &Sandbox, only: &str) -> (Outcome, Vec<Value>) {
    session::measured(sandbox, "ports", only)
}

#[test]
fn without_peers_ours_is_measured_and_the_record_says_who_is_absent() {
    let (outcome, figures) = measured(&Sandbox::new(), SHIFT);
    let ours = engines(&figures, "rendezvous");
    assert!(!ours.is_empty() && ours.iter().all(|engine| *engine == "lehr ports"), "{ours:?}");
    for figure in &figures {
        for field in ["experiment", "case", "engine", "unit"] {
            assert!(figure[field].is_string(), "{field} of {figure}");
        }
        for field in ["min", "median", "max", "runs", "unit_ns"] {
            assert!(figure[field].is_number(), "{field} of {figure}");
        }
    }
    assert_eq!(engines(&figures, "unit"), ["lehr"]);
    let absent = engines(&figures, "absent");
    assert!(["tokio", "go", "mpi", "ports_floor"].iter().all(|peer| absent.contains(peer)), "{absent:?}");
    assert_eq!(
        outcome.stderr.lines().filter(|line| line.contains("make peers-ports")).count(),
        1,
        "{}",
        outcome.stderr
    );
}

#[test]
fn spawned_handlers_are_measured_in_each_of_their_forms() {
    let (_, figures) = measured(&Sandbox::new(), "spawned exchange, P = 2, 20 units");
    let mut ours = engines(&figures, "spawned");
    ours.sort_unstable();
    ours.dedup();
    assert_eq!(ours, ["lehr closures", "lehr fresh tasks", "lehr persistent receivers"]);
}

#[test]
fn a_case_that_does_not_exist_is_said_so() {
    let outcome = Sandbox::new().lab(&["ports", "--quick", "--only", "shift, P = 9", "--peers", "peers"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("shift, P = 9"), "{}", outcome.stderr);
}

#[cfg(unix)]
mod peers {
    use super::session::{UNIT, add_peer};
    use super::*;

    fn add(sandbox: &Sandbox, name: &str, pattern: &str, unit: &str) {
        add_peer(
            sandbox,
            name,
            &format!("tokio::spawn by {name}"),
            &[("*pattern*", pattern), ("*unit", &format!("echo '{unit}'"))],
        );
    }

    const SECONDS: &str = "echo '{\"seconds\": 0.5}'";

    #[test]
    fn that_end_or_speak_nonsense_or_compute_something_else_are_left_out_and_the_rest_goes_on() {
        let sandbox = Sandbox::new();
        add(&sandbox, "healthy", SECONDS, UNIT);
        add(&sandbox, "mortal", "exit 1", UNIT);
        add(&sandbox, "raving", "echo 'no answer at all'", UNIT);
        add(&sandbox, "cheating", SECONDS, "{\"ns\": 1, \"value\": 42}");
        sandbox.write("peers/tokio", "not a program");
        let (outcome, figures) = measured(&sandbox, SHIFT);
        let mut measured = engines(&figures, "rendezvous");
        measured.sort_unstable();
        measured.dedup();
        assert_eq!(measured, ["lehr ports", "tokio::spawn by healthy"]);
        assert_eq!(engines(&figures, "unit"), ["lehr", "tokio::spawn by healthy"]);
        let absent = engines(&figures, "absent");
        for ill in ["mortal", "raving", "cheating", "tokio"] {
            assert_eq!(absent.iter().filter(|name| **name == ill).count(), 1, "{ill} in {absent:?}");
            let line = format!("{ill} is left out");
            assert_eq!(outcome.stderr.matches(&line).count(), 1, "{ill} in {}", outcome.stderr);
        }
        assert!(!absent.contains(&"healthy"));
    }
}
