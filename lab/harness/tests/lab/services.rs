//! Runs `lehr-lab services`: without peers, with a peer that gives wrong answers, and with the server that it starts.
//! The tests do not assert the measured values, only that they exist.

use super::sandbox::Sandbox;
use super::session::{engines, measured, run};

const GROUP: &str = "messages one-way, group 200";

#[test]
fn without_peers_ours_is_measured_cold_and_warm_and_the_record_says_who_is_absent() {
    let (outcome, figures) = measured(&Sandbox::new(), "services", GROUP);
    let mut ours = engines(&figures, "messages");
    ours.dedup();
    assert_eq!(ours, ["lehr services"]);
    for heat in ["cold", "warm"] {
        let is_it = |figure: &&serde_json::Value| figure["case"] == format!("one-way, group 200, {heat}");
        assert!(figures.iter().find(is_it).unwrap()["median"].as_f64().unwrap() > 0.0);
    }
    assert_eq!(engines(&figures, "absent"), ["actix", "axum", "kameo", "ractor", "tokio"]);
    assert_eq!(outcome.stderr.matches("make peers-services").count(), 1, "{}", outcome.stderr);
}

#[test]
fn a_server_is_started_and_each_case_has_its_quantiles() {
    let (_, figures) = measured(&Sandbox::new(), "services", "http POST operation, 1 connections, closed loop");
    assert!(!engines(&figures, "http").is_empty());
    for figure in figures.iter().filter(|figure| figure["experiment"] == "http") {
        let (case, workers) = (figure["case"].as_str().unwrap(), &figure["workers"]);
        let quantile = |name: &str| {
            let name = format!("{case}, {name}");
            let is_it = |figure: &&serde_json::Value| figure["case"] == name.as_str() && figure["workers"] == *workers;
            figures.iter().find(is_it).unwrap()["median"].as_f64().unwrap()
        };
        assert!(figure["engine"] == "lehr serve" && figure["median"].as_f64().unwrap() > 0.0);
        assert!(quantile("p50") <= quantile("p99") && quantile("p99") <= quantile("p99.9"));
    }
}

#[test]
fn a_clustering_has_its_core_from_a_manifest_alone_and_in_company() {
    let (_, figures) = measured(&Sandbox::new(), "services", "clusterings");
    let found: Vec<_> = figures.iter().filter(|figure| figure["experiment"] == "clusterings").collect();
    // On a machine with one core, there is nothing to compare.
    let cores = std::thread::available_parallelism().unwrap().get();
    let beside = ["alone", "another on its own core", "another on the same core"];
    let expected: Vec<_> = beside.iter().filter(|_| cores > 1).map(|who| format!("lehr serve, {who}")).collect();
    assert_eq!(engines(&figures, "clusterings"), expected);
    for figure in found {
        assert_eq!(figure["unit"], "ms a job");
        assert!(figure["min"].as_f64().unwrap() > 0.0, "{figure}");
    }
}

#[test]
fn a_case_that_does_not_exist_is_said_so() {
    let outcome = run(&Sandbox::new(), "services", "group 77");
    assert_eq!(outcome.code, 1);
    assert!(outcome.stderr.contains("group 77"), "{}", outcome.stderr);
}

#[cfg(unix)]
mod peers {
    use super::super::session::{UNIT, add_peer};
    use super::*;

    #[test]
    fn a_peer_that_is_wrong_or_gives_too_few_groups_is_left_out_and_the_others_go_on() {
        let sandbox = Sandbox::new();
        let unit = format!("echo '{UNIT}'");
        let groups = format!("echo '{{\"cold\": 1e-3, \"warm\": [{}]}}'", vec!["1e-4"; 50].join(", "));
        let few = "echo '{\"cold\": 1e-3, \"warm\": [1e-4]}'";
        let wrong = "echo '{\"wrong\": \"answered 3, the sum is 2\"}'";
        add_peer(&sandbox, "kameo", "one", &[("*messages*", &groups), ("*unit", &unit)]);
        add_peer(&sandbox, "ractor", "two", &[("*messages*", few), ("*unit", &unit)]);
        add_peer(&sandbox, "tokio", "three", &[("*messages*", wrong), ("*unit", &unit)]);
        let (outcome, figures) = measured(&sandbox, "services", GROUP);
        let found = engines(&figures, "messages");
        assert!(found.contains(&"one") && !found.contains(&"two") && !found.contains(&"three"), "{found:?}");
        assert_eq!(outcome.stderr.matches("answered 3, the sum is 2").count(), 1, "{}", outcome.stderr);
        assert_eq!(outcome.stderr.matches("it gave 1 groups, asked for 50").count(), 1, "{}", outcome.stderr);
    }
}
