//! `lehr hdbscan`: the files it writes, the same bytes on any engine, weights, and refused input.

use std::path::Path;

use super::sandbox::Sandbox;

const LINE: [&str; 3] = ["hdbscan", "d/dissimilarities.json", "--quiet"];

/// Iris, and the distances of its flowers in the folder `d`.
fn flowers() -> Sandbox {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/iris/iris.csv");
    let sandbox = Sandbox::with("iris.csv", std::fs::read(path).unwrap());
    let columns = "sepal_length,sepal_width,petal_length,petal_width";
    sandbox.lehr(&["distances", "iris.csv", "--columns", columns, "--out", "d", "--quiet"]).succeeded();
    sandbox
}

#[test]
fn files_have_the_dense_groups_and_the_noise() {
    let sandbox = flowers();
    let outcome = sandbox.lehr(&LINE).succeeded();
    assert_eq!(outcome.stderr, "");
    assert!(outcome.stdout.starts_with("150 items in 2 clusters; "), "{}", outcome.stdout);
    assert_eq!(
        sandbox.list("lehr-hdbscan"),
        ["clusters.csv", "labels.csv", "report.html", "splits.csv", "summary.json"]
    );
    let labels = sandbox.read("lehr-hdbscan/labels.csv");
    let rows: Vec<Vec<&str>> = labels.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(
        (rows.len(), &rows[0][..]),
        (151, &["id", "cluster", "probability", "outlier_score", "core_distance"][..])
    );
    // The 50 flowers of Iris setosa are the second cluster, or noise.
    assert!(rows[1..].iter().enumerate().all(|(item, row)| row[1] == "-1" || (row[1] == "1") == (item < 50)));
    let noise = rows[1..].iter().filter(|row| row[1] == "-1").count();
    assert!(rows[1..].iter().all(|row| (row[1] == "-1") == (row[2] == "0")), "noise has the probability 0");
    let summary = sandbox.summary("lehr-hdbscan");
    assert_eq!((&summary["method"], &summary["result"]["noise"]), (&"HDBSCAN*".into(), &noise.into()));
    let splits = sandbox.read("lehr-hdbscan/splits.csv");
    let first: Vec<&str> = splits.lines().nth(1).unwrap().split(',').collect();
    // The group of all items has no parent, and is apart at any distance.
    assert_eq!((first[0], first[1], first[2], first[4]), ("0", "", "NaN", "150"));
    assert_eq!(splits.lines().filter(|line| line.ends_with(",0") || line.ends_with(",1")).count(), 2);
    let (report, figures) = sandbox.page("lehr-hdbscan/report.html");
    assert!(report.contains(&format!("150 items in 2 clusters; {noise} items of noise")));
    assert_eq!(figures["heat"]["blocks"].as_array().unwrap().len(), 2);
    assert_eq!(figures["heat"]["ids"].as_array().unwrap().len(), 150 - noise);
}

#[test]
fn results_are_the_same_bytes_on_every_engine() {
    let sandbox = flowers();
    sandbox.lehr(&LINE).succeeded();
    for (engine, threads) in [("ranks", "7"), ("loop", "2"), ("ports", "2"), ("map-reduce", "3")] {
        sandbox.lehr(&[&LINE[..], &["--out", engine, "--engine", engine, "--threads", threads]].concat()).succeeded();
        for name in ["labels.csv", "clusters.csv", "splits.csv"] {
            let read = |folder: &str| sandbox.read(&format!("{folder}/{name}"));
            assert!(read(engine) == read("lehr-hdbscan"), "{engine}: {name}");
        }
    }
}

#[test]
fn all_noise_is_a_result_with_a_warning() {
    let sandbox = flowers();
    let line = ["hdbscan", "d/dissimilarities.json", "--min-cluster-size", "100"];
    let outcome = sandbox.lehr(&line).succeeded();
    assert!(outcome.stdout.starts_with("150 items in 0 clusters; 150 items of noise"), "{}", outcome.stdout);
    assert!(outcome.stderr.contains("no cluster was found"), "{}", outcome.stderr);
    assert_eq!(sandbox.read("lehr-hdbscan/clusters.csv").lines().count(), 1);
    let (report, _) = sandbox.page("lehr-hdbscan/report.html");
    assert!(report.contains("no cluster was found"));
}

#[test]
fn what_cannot_be_clustered_is_refused_and_nothing_is_left() {
    let sandbox = flowers();
    for (options, code, words) in [
        (&["--min-cluster-size", "1"][..], 2, "'--min-cluster-size <N>': expected at least 2"),
        (&["--min-samples", "0"], 2, "expected at least 1"),
        (&["--epsilon", "-1"], 2, "expected at least 0"),
        (&["--selection", "all"], 2, "eom, leaf"),
        (&["--min-samples", "151"], 2, "min_samples: expected at most the number of items"),
    ] {
        let outcome = sandbox.lehr(&[&LINE[..], options].concat());
        assert_eq!(outcome.code, code, "{options:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{options:?}: {}", outcome.stderr);
        assert!(!sandbox.path("lehr-hdbscan").exists(), "{options:?}");
    }
}
