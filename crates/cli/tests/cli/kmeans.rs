//! `lehr cluster --method kmeans`: what it leaves behind, what it refuses, and the same bytes however it is run.

use super::sandbox::{CLUSTER_FILES, Sandbox};

/// Three groups of 4, 3 and 2 rows, and a row that weighs nothing.
const GROUPS: &str =
    "x,y,w\n0,0,1\n0,2,1\n2,0,1\n2,2,1\n100,100,1\n100,103,1\n103,100,1\n-50,80,1\n-50,82,1\n101,101,0\n";

const LINE: [&str; 10] =
    ["cluster", "groups.csv", "--columns", "x,y", "--weights", "w", "-k", "3", "--method", "kmeans"];

#[test]
fn files_say_what_can_be_checked_on_paper() {
    let sandbox = Sandbox::with("groups.csv", GROUPS);
    let outcome = sandbox.lehr(&[&LINE[..], &["--n-init", "4", "--quiet"]].concat()).succeeded();
    assert_eq!(outcome.stderr, "");
    assert!(outcome.stdout.starts_with("10 rows in 3 clusters; root mean square distance to the centre 1.563\n"));
    assert_eq!(sandbox.list("lehr-out"), CLUSTER_FILES);
    let labels = sandbox.read("lehr-out/labels.csv");
    let mut lines = labels.lines();
    assert_eq!(lines.next(), Some("id,cluster,probability,distance,second_cluster,second_distance"));
    for (row, (line, cluster)) in lines.zip([0, 0, 0, 0, 1, 1, 1, 2, 2, 1]).enumerate() {
        assert!(line.starts_with(&format!("{row},{cluster},1,")), "{line}");
    }
    // The corner of a square of side 2 from its middle; the next centre is that of the third cluster.
    assert!(labels.contains("\n0,0,1,1.4142135623730951,2,95.18928511129"), "{labels}");
    let centers = sandbox.read("lehr-out/centers.csv");
    let first = centers.lines().nth(1).unwrap();
    assert!(first.starts_with("0,1,1,4,1.4142135623730951,1,0.985") && first.ends_with(",2,,,low y"), "{first}");
    assert_eq!(centers.lines().count(), 4);

    let summary = sandbox.summary("lehr-out");
    assert_eq!((&summary["method"], &summary["parameters"]["starts"]), (&"k-means".into(), &4.into()));
    let starts = summary["result"]["starts"].as_array().unwrap();
    assert_eq!(starts.len(), 4);
    let best = starts.iter().map(|start| start.as_f64().unwrap()).fold(f64::INFINITY, f64::min);
    assert!((best - 22.0).abs() < 1e-9 && (summary["result"]["sum_of_squares"].as_f64().unwrap() - 22.0).abs() < 1e-9);
    // What is annealing's alone is not there.
    let fields = summary.as_object().unwrap();
    let absent = ["temperatures", "splits", "temperature_convention"];
    assert!(absent.iter().all(|name| !fields.contains_key(*name)), "{:?}", fields.keys());
    assert!(summary["result"].get("free_energy").is_none() && summary["unit"].get("temperature").is_none());

    let page = sandbox.read("lehr-out/report.html");
    for words in ["groups.csv: x, y, weighted by w. K-means.", "the best of 4 starts", "Maximum number of sweeps"] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("id=\"course\"") && !page.contains("Critical temperature"));

    // The model says of the same rows what the run said, and is as sure.
    let found = sandbox.lehr(&["predict", "lehr-out/model.json", "groups.csv"]).succeeded().stdout;
    for (row, line) in found.lines().skip(1).enumerate() {
        let (place, distance) = line.rsplit_once(',').unwrap().0.rsplit_once(',').unwrap();
        let labelled = labels.lines().nth(row + 1).unwrap();
        assert!(labelled.starts_with(&format!("{place},")), "{labelled}");
        assert!(distance.parse::<f64>().unwrap() < 3.0, "{line}");
    }
}

#[test]
fn engine_ranks_threads_and_kind_of_sweeps_do_not_change_a_byte_of_the_results() {
    let rows: String = (0..3000)
        .map(|row| {
            let (x, y) = [(0.0, 0.0), (40.0, 5.0), (10.0, 60.0), (70.0, 70.0)][row as usize % 4];
            let (angle, radius) = (f64::from(row) * 2.399_963, 8.0 * (f64::from(row % 97) / 97.0).sqrt());
            format!("{},{},{}\n", x + radius * angle.cos(), y + radius * angle.sin(), row % 5)
        })
        .collect();
    let sandbox = Sandbox::with("groups.csv", format!("x,y,w\n{rows}"));
    let mut first = None;
    for execution in [
        ["--engine", "ranks", "--threads", "1"],
        ["--engine", "ranks", "--ranks", "3"],
        ["--engine", "map-reduce", "--ranks", "2"],
        ["--engine", "loop", "--threads", "2"],
        ["--engine", "ports", "--threads", "2"],
        ["--algorithm", "plain", "--threads", "2"],
    ] {
        sandbox.lehr(&[&LINE[..], &["--n-init", "3", "--quiet"], &execution[..]].concat()).succeeded();
        let mut summary = sandbox.summary("lehr-out");
        summary.as_object_mut().unwrap().retain(|key, _| !["execution", "seconds", "parameters"].contains(&&**key));
        let tables = ["labels.csv", "centers.csv", "model.json"].map(|name| sandbox.read(&format!("lehr-out/{name}")));
        let found = (tables, summary);
        let first = first.get_or_insert_with(|| found.clone());
        assert!(*first == found, "{execution:?}");
    }
}

#[test]
fn what_does_not_go_with_the_method_is_refused_by_name() {
    let sandbox = Sandbox::with("groups.csv", GROUPS);
    for (name, options) in [
        ("kmeans_with_stop_length", &["--method", "kmeans", "-k", "3", "--stop-length", "2"][..]),
        ("annealing_with_starts", &["-k", "3", "--n-init", "2"]),
        ("kmeans_without_clusters", &["--method", "kmeans"]),
    ] {
        let outcome = sandbox.lehr(&[&["cluster", "groups.csv"], options].concat());
        outcome.matches_golden(name);
        assert_eq!((outcome.code, sandbox.path("lehr-out").exists()), (2, false));
    }
}

#[test]
fn the_demonstration_takes_the_method_too() {
    let sandbox = Sandbox::new();
    sandbox
        .lehr(&["demo", "census", "--method", "kmeans", "--n-init", "1", "--max-iterations", "2", "--quiet"])
        .succeeded();
    let summary = sandbox.summary("lehr-out");
    assert_eq!((&summary["method"], &summary["result"]["clusters"]), (&"k-means".into(), &20.into()));
    let warning = summary["warnings"][0].as_str().unwrap();
    assert!(warning.starts_with("1 of 1 initialisations had not converged after 2 iterations"), "{warning}");
}
