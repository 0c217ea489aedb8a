//! Runs one small case of `lehr-lab overhead`. The tests do not assert the measured values, only that they exist and
//! that derived figures follow from them.

use serde_json::Value;

use super::sandbox::{Outcome, Sandbox};

const LINE: [&str; 7] = ["overhead", "--quick", "--rounds", "1", "--json", "--record", "kept/overhead.json"];

fn figures(outcome: &Outcome) -> Vec<Value> {
    let Value::Array(figures) = serde_json::from_str(&outcome.stdout).unwrap() else { panic!("no array") };
    figures
}

#[test]
fn a_run_is_measured_in_each_layout_and_kept() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.lab(&[&LINE[..], &["--only", "N = 5000, K = 10"]].concat()).succeeded();
    let found = figures(&outcome);
    for figure in &found {
        for field in ["experiment", "case", "engine", "unit"] {
            assert!(figure[field].is_string(), "{field} of {figure}");
        }
        for field in ["min", "median", "max", "runs"] {
            assert!(figure[field].is_number(), "{field} of {figure}");
        }
    }
    let of = |experiment: &str, engine: &str| {
        let is = |figure: &&Value| figure["experiment"] == experiment && figure["engine"] == engine;
        found.iter().find(is).map(|figure| figure["median"].as_f64().unwrap())
    };
    let (one, reduced) = (of("run", "ranks 1x1x1").unwrap(), of("run", "map-reduce 1x1x1").unwrap());
    assert!((of("map-reduce", "map-reduce 1x1x1").unwrap() - reduced / one).abs() < 1e-9);
    // A machine with one core has no other layout.
    if let Some(two) = of("run", "ranks 2x1x1") {
        assert!((of("overhead", "ranks 2x1x1").unwrap() - (2.0 * two / one - 1.0)).abs() < 1e-9);
    }
    assert!(
        outcome.stderr.contains("more ranks than cores") || outcome.stderr.contains("cores;"),
        "{}",
        outcome.stderr
    );
    assert_eq!(sandbox.list("kept"), ["overhead.json", "overhead.machine.json"]);

    // The second session continues the record, and does not measure its cases again.
    let again = sandbox.lab(&[&LINE[..], &["--only", "N = 5000, K = 10"]].concat()).succeeded();
    assert_eq!(figures(&again), found);
    assert!(again.stderr.contains("their cases are not taken again"), "{}", again.stderr);
}

#[test]
fn maps_are_measured_by_each_engine_with_the_same_bits() {
    let sandbox = Sandbox::new();
    let line = ["overhead", "--quick", "--rounds", "1", "--json", "--only", "scaling, alu 80"];
    let found = figures(&sandbox.lab(&line).succeeded());
    let of = |experiment: &str, engine: &str| {
        let is = |figure: &&Value| figure["experiment"] == experiment && figure["engine"] == engine;
        found.iter().find(is).map(|figure| figure["median"].as_f64().unwrap())
    };
    assert!(found.iter().all(|figure| figure["case"] == "scaling, alu 80" && figure["rows"] == 80));
    assert!(of("scaling", "ranks 1x1x1").is_some());
    let (by_loop, ports) = (of("scaling", "loop 1x1x1").unwrap(), of("scaling", "ports 1x1x1").unwrap());
    assert!((of("ports over loop", "ports 1x1x1").unwrap() - ports / by_loop).abs() < 1e-9);
    if let Some(two) = of("scaling", "loop 2x1x1") {
        assert!((of("efficiency of scaling", "loop 2x1x1").unwrap() - by_loop / (2.0 * two)).abs() < 1e-9);
    }
    let shown = sandbox.lab(&["overhead", "--quick", "--rounds", "1", "--only", "scaling, alu 80"]).succeeded();
    assert!(shown.stdout.contains("seconds of scaling (003 figures 15, 17 and 19)"), "{}", shown.stdout);
}

#[test]
fn what_cannot_be_measured_is_said() {
    let sandbox = Sandbox::new();
    let outcome = sandbox.lab(&["overhead", "--quick", "--only", "K = 11"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("no case contains \"K = 11\""), "{}", outcome.stderr);
    let outcome = sandbox.lab(&["overhead", "--quick", "--mpiexec", "nowhere/mpiexec"]);
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("nowhere/mpiexec: no such program"), "{}", outcome.stderr);
    let outcome = sandbox.lab(&["job", "nonsense"]);
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.contains("expected a task of a measurement"), "{}", outcome.stderr);
}
