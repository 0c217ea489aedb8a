//! `lehr hierarchy`: what it leaves behind, what it refuses, the same bytes on any engine, and labels of new items.

use std::path::Path;

use super::sandbox::Sandbox;

const LINE: [&str; 3] = ["hierarchy", "d/dissimilarities.json", "--quiet"];

/// Iris, and the distances of its flowers in the folder `d`.
fn flowers() -> Sandbox {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/iris/iris.csv");
    let sandbox = Sandbox::with("iris.csv", std::fs::read(path).unwrap());
    let columns = "sepal_length,sepal_width,petal_length,petal_width";
    sandbox.lehr(&["distances", "iris.csv", "--columns", columns, "--out", "d", "--quiet"]).succeeded();
    sandbox
}

#[test]
fn files_have_the_tree_and_its_clusters() {
    let sandbox = flowers();
    let outcome = sandbox.lehr(&LINE).succeeded();
    assert_eq!(outcome.stderr, "");
    // The mean silhouette is scikit-learn's for the two clusters of average linkage.
    let head = "150 items in 2 clusters of a tree of height 4.063\nMean silhouette without single items: 0.687 for 2";
    assert!(outcome.stdout.starts_with(head), "{}", outcome.stdout);
    assert_eq!(
        sandbox.list("lehr-hierarchy"),
        ["clusters.csv", "labels.csv", "merges.csv", "model.json", "report.html", "summary.json", "tree.nwk"]
    );
    let labels = sandbox.read("lehr-hierarchy/labels.csv");
    let rows: Vec<Vec<&str>> = labels.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!((rows.len(), &rows[0][..]), (151, &["id", "cluster", "silhouette", "place"][..]));
    // The 50 flowers of Iris setosa are the second cluster.
    assert!(rows[1..].iter().enumerate().all(|(item, row)| (row[1] == "1") == (item < 50)));
    let mut places: Vec<usize> = rows[1..].iter().map(|row| row[3].parse().unwrap()).collect();
    places.sort_unstable();
    assert!(places.iter().enumerate().all(|(at, place)| at == *place));
    let merges = sandbox.read("lehr-hierarchy/merges.csv");
    let heights: Vec<f64> =
        merges.lines().skip(1).map(|line| line.split(',').nth(2).unwrap().parse().unwrap()).collect();
    assert!(heights.len() == 149 && heights.windows(2).all(|pair| pair[0] <= pair[1]));
    let newick = sandbox.read("lehr-hierarchy/tree.nwk");
    assert!(newick.ends_with(");\n") && newick.matches('(').count() == 149 && newick.matches(',').count() == 149);
    let summary = sandbox.summary("lehr-hierarchy");
    assert_eq!(summary["method"], "agglomerative clustering");
    assert_eq!(summary["result"]["candidates"].as_array().unwrap().len(), 19);
    let (report, figures) = sandbox.page("lehr-hierarchy/report.html");
    assert!(report.contains("150 items in 2 clusters of a tree"));
    let tree = &figures["dendrogram"];
    assert_eq!((tree["leaves"].as_array().unwrap().len(), tree["joins"].as_array().unwrap().len()), (80, 79));
    assert_eq!(figures["heat"]["blocks"].as_array().unwrap().len(), 2);
    assert_eq!(figures["heat"]["tree"][0][2], tree["joins"][78][2]);
}

#[test]
fn results_are_the_same_bytes_on_every_engine() {
    let sandbox = flowers();
    sandbox.lehr(&LINE).succeeded();
    for (engine, threads) in [("ranks", "7"), ("loop", "2"), ("ports", "2"), ("map-reduce", "3")] {
        sandbox.lehr(&[&LINE[..], &["--out", engine, "--engine", engine, "--threads", threads]].concat()).succeeded();
        for name in ["labels.csv", "clusters.csv", "merges.csv", "tree.nwk", "model.json"] {
            let read = |folder: &str| sandbox.read(&format!("{folder}/{name}"));
            assert!(read(engine) == read("lehr-hierarchy"), "{engine}: {name}");
        }
    }
}

#[test]
fn the_model_gives_each_item_of_a_compact_tree_its_own_cluster() {
    let sandbox = flowers();
    sandbox.lehr(&[&LINE[..], &["--linkage", "ward", "-k", "3"]].concat()).succeeded();
    let all = std::fs::read(sandbox.path("d/dissimilarities.npy")).unwrap();
    sandbox.write("new.npy", all);
    sandbox.lehr(&["predict", "lehr-hierarchy/model.json", "new.npy", "--out", "new.csv", "--quiet"]).succeeded();
    let column = |file: &str| -> Vec<String> {
        sandbox.read(file).lines().skip(1).map(|line| line.split(',').nth(1).unwrap().to_owned()).collect()
    };
    let (own, predicted) = (column("lehr-hierarchy/labels.csv"), column("new.csv"));
    let same = own.iter().zip(&predicted).filter(|(a, b)| a == b).count();
    // An item between two clusters may be closer to the mean of the other.
    assert!(own.len() == 150 && same > 140, "{same} of {}", own.len());
}

#[test]
fn what_cannot_be_joined_is_refused_and_nothing_is_left() {
    let sandbox = flowers();
    for (options, code, words) in [
        (&["-k", "0"][..], 2, "invalid value '0' for '--clusters <K>': expected at least 1"),
        (&["-k", "3", "--height", "1"], 2, "cannot be used with"),
        (&["--height", "-1"], 2, "expected at least 0"),
        (&["--linkage", "centroid"], 2, "average, complete, single, weighted, ward"),
        (&["-k", "151"], 3, "you requested 151 clusters, but only 150 rows"),
    ] {
        let outcome = sandbox.lehr(&[&LINE[..], options].concat());
        assert_eq!(outcome.code, code, "{options:?}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(words), "{options:?}: {}", outcome.stderr);
        assert!(!sandbox.path("lehr-hierarchy").exists(), "{options:?}");
    }
}
