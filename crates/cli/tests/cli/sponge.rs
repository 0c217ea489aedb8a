//! `lehr cluster --outlier-radius`: outliers in every result.

use super::sandbox::Sandbox;

/// Two groups of four rows, two rows far from both, of which one weighs nothing.
const GROUPS: &str = "name,x,y,w\na,0,0,1\nb,0,2,1\nc,2,0,1\nd,2,2,1\ne,100,100,1\nf,100,102,1\ng,102,100,1\nh,102,102,1\nfar,50,-70,1\nnone,-90,90,0\n";

const LINE: [&str; 13] = [
    "cluster",
    "groups.csv",
    "--columns",
    "x,y",
    "--weights",
    "w",
    "--id",
    "name",
    "-k",
    "2",
    "--outlier-radius",
    "5",
    "--quiet",
];

#[test]
fn outliers_are_minus_one_in_labels_counted_in_the_summary_and_known_to_the_model() {
    let sandbox = Sandbox::with("groups.csv", GROUPS);
    let outcome = sandbox.lehr(&LINE).succeeded();
    assert!(outcome.stdout.contains("\n2 rows (20.0 %) in no cluster, labelled -1\n"), "{}", outcome.stdout);
    let labels = sandbox.read("lehr-out/labels.csv");
    let clusters: Vec<&str> = labels.lines().skip(1).map(|line| line.split(',').nth(1).unwrap()).collect();
    assert_eq!(clusters[8..], ["-1", "-1"]);
    assert!(clusters[..4].iter().all(|label| *label == clusters[0]) && clusters[0] != clusters[4], "{clusters:?}");
    // The means of four corners each: the row that is far away pulls at neither.
    let centers = sandbox.read("lehr-out/centers.csv");
    let mut rows: Vec<Vec<f64>> = (centers.lines().skip(1))
        .map(|line| line.split(',').skip(1).take(4).map(|field| field.parse().unwrap()).collect())
        .collect();
    rows.sort_by(|a, b| a[0].total_cmp(&b[0]));
    for (found, expected) in rows.iter().zip([[1.0, 1.0, 4.0, 2f64.sqrt()], [101.0, 101.0, 4.0, 2f64.sqrt()]]) {
        assert!(found.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-9), "{found:?}");
    }
    let summary = sandbox.summary("lehr-out");
    assert_eq!(summary["result"]["outliers"], serde_json::json!({ "rows": 2, "weight": 1.0 }));
    assert_eq!(summary["parameters"]["sponge"], 5.0);
    let mut shares =
        summary["temperatures"]["history"].as_array().unwrap().iter().filter_map(|step| step["sponge"].as_f64());
    assert!(shares.next_back().unwrap() > 0.0);
    let page = sandbox.read("lehr-out/report.html");
    assert!(page.contains("<dt>Outliers</dt>") && page.contains("beyond 5"));

    let line = ["predict", "lehr-out/model.json", "groups.csv", "--id", "name", "--memberships"];
    let predicted = sandbox.lehr(&line).succeeded().stdout;
    for (found, expected) in predicted.lines().zip(labels.lines()).skip(1) {
        let cut = |line: &str| line.split(',').take(2).collect::<Vec<_>>().join(",");
        assert_eq!(cut(found), cut(expected));
    }
    let far: Vec<f64> =
        predicted.lines().nth(9).unwrap().split(',').skip(1).map(|field| field.parse().unwrap()).collect();
    assert!(far[0] == -1.0 && far[1] > 0.99 && far[2] > 80.0 && far[3] > 1.0 && far[4] + far[5] < 0.01, "{far:?}");
}

#[test]
fn a_sponge_that_takes_most_is_refused_and_leaves_nothing() {
    let sandbox = Sandbox::with("groups.csv", GROUPS);
    let outcome =
        sandbox.lehr(&["cluster", "groups.csv", "--columns", "x,y", "-k", "2", "--outlier-radius", "0.5", "--quiet"]);
    outcome.matches_golden("sponge_too_small");
    assert_eq!((outcome.code, sandbox.path("lehr-out").exists()), (3, false));
}
