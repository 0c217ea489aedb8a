//! `lehr kmedoids`: what it leaves behind, what it refuses, and the same bytes on any engine.

use std::path::Path;

use super::sandbox::Sandbox;

const LINE: [&str; 5] = ["kmedoids", "d/dissimilarities.json", "-k", "3", "--quiet"];

/// Iris, and the distances of its flowers in the folder `d`.
fn flowers() -> Sandbox {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/iris/iris.csv");
    let sandbox = Sandbox::with("iris.csv", std::fs::read(path).unwrap());
    let columns = "sepal_length,sepal_width,petal_length,petal_width";
    sandbox.lehr(&["distances", "iris.csv", "--columns", columns, "--out", "d", "--quiet"]).succeeded();
    sandbox
}

fn cells(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn files_say_which_flowers_are_medoids_and_what_each_cluster_costs() {
    let sandbox = flowers();
    let outcome = sandbox.lehr(&LINE).succeeded();
    assert_eq!(outcome.stderr, "");
    let head = "150 items in 3 clusters about medoids; sum of dissimilarities 98.13115";
    assert!(outcome.stdout.starts_with(head), "{}", outcome.stdout);
    assert_eq!(
        sandbox.list("lehr-kmedoids"),
        ["clusters.csv", "labels.csv", "model.json", "report.html", "summary.json"]
    );

    // Every distance is that of its row to its cluster's medoid, computed here from the table.
    let table = sandbox.read("iris.csv");
    let flowers: Vec<Vec<f64>> = cells(&table)[1..]
        .iter()
        .map(|row| row.iter().filter_map(|cell| cell.parse().ok()).take(4).collect::<Vec<f64>>())
        .collect();
    let distance = |i: usize, j: usize| -> f64 {
        flowers[i].iter().zip(&flowers[j]).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
    };
    let (labels, clusters) = (sandbox.read("lehr-kmedoids/labels.csv"), sandbox.read("lehr-kmedoids/clusters.csv"));
    let (labels, clusters) = (cells(&labels), cells(&clusters));
    assert_eq!((labels.len(), &labels[0][..]), (151, &["id", "cluster", "distance"][..]));
    assert_eq!((clusters.len(), clusters[0].len()), (4, 7));
    let medoids: Vec<usize> = clusters[1..].iter().map(|row| row[6].parse().unwrap()).collect();
    let mut cost = 0.0;
    for (item, row) in labels[1..].iter().enumerate() {
        let cluster: usize = row[1].parse().unwrap();
        let nearest = medoids.iter().map(|&medoid| distance(item, medoid)).fold(f64::INFINITY, f64::min);
        assert!((distance(item, medoids[cluster]) - nearest).abs() < 1e-6, "{row:?}");
        assert!((row[2].parse::<f64>().unwrap() - nearest).abs() < 1e-6, "{row:?}");
        cost += nearest;
    }
    let summary = sandbox.summary("lehr-kmedoids");
    assert!((summary["result"]["cost"].as_f64().unwrap() - cost).abs() < 1e-4);
    assert_eq!(summary["method"], "k-medoids");
    assert_eq!(summary["result"]["is_converged"], true);
    let items: usize = clusters[1..].iter().map(|row| row[2].parse::<usize>().unwrap()).sum();
    assert_eq!(items, 150);

    let (report, figures) = sandbox.page("lehr-kmedoids/report.html");
    assert!(report.contains("150 items in 3 clusters about medoids"));
    assert_eq!(figures["heat"]["blocks"].as_array().unwrap().len(), 3);
}

#[test]
fn results_are_the_same_bytes_on_every_engine() {
    let sandbox = flowers();
    sandbox.lehr(&LINE).succeeded();
    for (engine, threads) in [("ranks", "7"), ("loop", "2"), ("ports", "2"), ("map-reduce", "3")] {
        sandbox.lehr(&[&LINE[..], &["--out", engine, "--engine", engine, "--threads", threads]].concat()).succeeded();
        for name in ["labels.csv", "clusters.csv"] {
            let read = |folder: &str| sandbox.read(&format!("{folder}/{name}"));
            assert!(read(engine) == read("lehr-kmedoids"), "{engine}: {name}");
        }
    }
}

#[test]
fn what_cannot_be_clustered_is_refused_and_nothing_is_left() {
    let sandbox = flowers();
    for (line, code, words) in [
        (
            &["kmedoids", "d/dissimilarities.json", "-k", "0"][..],
            2,
            "invalid value '0' for '--clusters <K>': expected at least 1",
        ),
        (&["kmedoids", "d/dissimilarities.json", "-k", "151"], 3, "you requested 151 clusters, but only 150 rows"),
        (&["kmedoids", "iris.csv"], 3, "lehr distances computes the dissimilarities of rows"),
        (&["kmedoids", "nowhere.json"], 4, "nowhere.json"),
    ] {
        let outcome = sandbox.lehr(line);
        assert_eq!(outcome.code, code, "{line:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{line:?}: {}", outcome.stderr);
        assert!(!sandbox.path("lehr-kmedoids").exists(), "{line:?}");
    }
}
