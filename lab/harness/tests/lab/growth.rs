//! Runs small cases of `lehr-lab growth`. The tests do not assert the measured values, only that they exist, that
//! clusters were found again, and that no files are left behind.

use serde_json::Value;

use super::sandbox::Sandbox;

#[test]
fn costs_along_an_axis_have_an_exponent_and_files_are_taken_away() {
    let sandbox = Sandbox::new();
    std::fs::create_dir(sandbox.path("work")).unwrap();
    let line = ["growth", "--quick", "--rounds", "1", "--only", "clusters, N = 8000", "--json", "--folder", "work"];
    let outcome = sandbox.lab(&[&line[..], &["--record", "kept/growth.json"]].concat()).succeeded();
    let Value::Array(figures) = serde_json::from_str(&outcome.stdout).unwrap() else { panic!("no array") };
    let of = |experiment: &str| {
        figures
            .iter()
            .filter(|figure| figure["experiment"] == experiment)
            .map(|figure| &figure["case"])
            .collect::<Vec<_>>()
    };
    // The case with five clusters is on the axis of rows too.
    let cases = ["5", "3", "10"].map(|clusters| format!("clusters, N = 8000, D = 2, K = {clusters}"));
    for experiment in ["time", "passes", "time of a pass"] {
        assert_eq!(of(experiment), cases.each_ref(), "{experiment}");
    }
    assert!(of("exponent").iter().any(|case| **case == "time of a pass against clusters"), "{:?}", of("exponent"));
    assert!(of("exponent").iter().all(|case| !case.as_str().unwrap().contains("rows")), "one size has no exponent");
    assert!(sandbox.list("work").is_empty(), "{:?}", sandbox.list("work"));
    assert_eq!(sandbox.list("kept"), ["growth.json", "growth.machine.json"]);
    // Cases in the record are not measured again.
    let again = sandbox.lab(&[&line[..], &["--record", "kept/growth.json"]].concat()).succeeded();
    assert_eq!(serde_json::from_str::<Value>(&again.stdout).unwrap().as_array().unwrap().len(), figures.len());
}
