//! Runs one small case of `lehr-lab scale`. The tests do not assert the measured values, only that they exist and that
//! no files are left behind.

use serde_json::Value;

use super::sandbox::Sandbox;

const LINE: [&str; 9] =
    ["scale", "--quick", "--rounds", "1", "--json", "--folder", "work", "--record", "kept/scale.json"];

#[test]
fn each_stage_of_a_size_is_measured_and_its_files_are_taken_away() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("work")).unwrap();
    let outcome = sandbox.lab(&[&LINE[..], &["--only", "500 items"]].concat()).succeeded();
    let Value::Array(figures) = serde_json::from_str(&outcome.stdout).unwrap() else { panic!("no array") };
    let of = |experiment: &str, engine: &str| {
        let is = |figure: &&Value| figure["experiment"] == experiment && figure["engine"] == engine;
        figures.iter().find(is).map(|figure| figure["median"].as_f64().unwrap())
    };
    for engine in ["lehr distances", "lehr pairwise", "lehr embed"] {
        assert!(of("time", engine).unwrap() > 0.0, "{engine}");
    }
    for engine in ["lehr pairwise", "lehr embed"] {
        assert!(of("passes", engine).unwrap() >= 1.0 && of("time of a pass", engine).unwrap() > 0.0, "{engine}");
    }
    assert_eq!(of("exponent", "lehr embed"), None, "one size has no exponent");
    assert!(sandbox.list("work").is_empty(), "{:?}", sandbox.list("work"));
    assert_eq!(sandbox.list("kept"), ["scale.json", "scale.machine.json"]);
}

// Other systems do not report the free memory.
#[cfg(target_os = "linux")]
#[test]
fn what_needs_more_memory_than_is_free_is_left_out_and_said() {
    let sandbox = Sandbox::new();
    // A million GiB.
    let line = ["scale", "--quick", "--memory", "1000000", "--only", "iterations"];
    let outcome = sandbox.lab(&line);
    assert_ne!(outcome.code, 0);
    assert_eq!(outcome.stderr.matches("is left out: it needs").count(), 3, "{}", outcome.stderr);
    assert!(outcome.stderr.contains("none of the cases fits into the memory"), "{}", outcome.stderr);
}
