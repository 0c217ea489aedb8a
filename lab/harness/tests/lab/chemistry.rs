//! Runs the small cases of `lehr-lab chemistry`. The tests do not assert the measured values, only that they exist,
//! that answers were checked, and that no files are left behind.

use serde_json::Value;

use super::sandbox::Sandbox;

const LINE: [&str; 7] = ["chemistry", "--quick", "--json", "--folder", "work", "--record", "kept/chemistry.json"];

fn figures(sandbox: &Sandbox, more: &[&str]) -> Vec<Value> {
    let outcome = sandbox.lab(&[&LINE[..], more].concat()).succeeded();
    let Value::Array(figures) = serde_json::from_str(&outcome.stdout).unwrap() else { panic!("no array") };
    assert!(sandbox.list("work").is_empty(), "{:?}", sandbox.list("work"));
    figures
}

fn median(figures: &[Value], experiment: &str, engine: &str) -> Option<f64> {
    let is = |figure: &&Value| figure["experiment"] == experiment && figure["engine"] == engine;
    figures.iter().find(is).map(|figure| figure["median"].as_f64().unwrap())
}

#[test]
fn compounds_of_ones_own_are_stepped_and_clustered_as_bits_and_as_numbers() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("work")).unwrap();
    // There are five kinds of compounds, of which one is active, with two bits that belong to no kind.
    let kinds = ["ff0000", "00ff00", "0000ff", "ffff00", "00ffff"];
    let fps: String = (0..2000).map(|row| format!("{}{:02x}\tc{row}\n", kinds[row % 5], row % 3)).collect();
    sandbox.write("keys.fps", format!("#FPS1\n#num_bits=32\n{fps}"));
    let table: String = (0..2000).map(|row| format!("c{row},{}\n", u8::from(row % 5 == 3))).collect();
    sandbox.write("screen.csv", format!("id,active\n{table}"));
    let named = ["--fingerprints", "keys.fps", "--activities", "screen.csv", "--only", "2000 compounds"];
    let found = figures(&sandbox, &named);
    for engine in ["lehr bits", "lehr numbers"] {
        for experiment in ["step", "run", "passes", "sum of squares"] {
            assert!(median(&found, experiment, engine).unwrap() > 0.0, "{experiment}, {engine}");
        }
    }
    let of_bits = |experiment| median(&found, experiment, "lehr bits").unwrap();
    assert_eq!(of_bits("agreement"), 1.0);
    // Every active compound is in a cluster of active ones.
    assert_eq!(
        (of_bits("purity of the active"), of_bits("active in rich clusters"), of_bits("compounds in rich clusters")),
        (1.0, 1.0, 0.2)
    );
    assert_eq!(sandbox.list("kept"), ["chemistry.json", "chemistry.machine.json"]);
}

#[test]
fn synthetic_compounds_are_clustered_once_and_must_be_those_of_their_templates() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("work")).unwrap();
    let found = figures(&sandbox, &["--only", "2000 synthetic"]);
    assert!(median(&found, "agreement", "lehr bits").unwrap() > 0.999);
    for experiment in ["run", "whole command", "passes", "time of a pass"] {
        assert!(median(&found, experiment, "lehr bits").unwrap() > 0.0, "{experiment}");
    }
    assert_eq!(median(&found, "run", "lehr numbers"), None);
}

#[test]
fn compounds_of_which_nothing_is_said_are_a_fault() {
    let sandbox = Sandbox::with("keys.fps", "#FPS1\n0f\ta\n07\tb\n");
    sandbox.write("screen.csv", "id,active\na,1\n");
    let line = ["chemistry", "--quick", "--fingerprints", "keys.fps", "--activities", "screen.csv"];
    let outcome = sandbox.lab(&line);
    assert_ne!(outcome.code, 0);
    assert!(
        outcome.stderr.contains("screen.csv: expected a row for each item, found none for b"),
        "{}",
        outcome.stderr
    );
}
