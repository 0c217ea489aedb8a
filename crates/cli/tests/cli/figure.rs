//! `--figure`: the picture of the results as a file, and what is not lost to it.

use std::fs;

use super::sandbox::{CLUSTER_FILES, Sandbox};

fn points() -> Sandbox {
    let rows: String = (0..60).map(|row| format!("{},{}\n", row % 3 * 10 + row % 7, row % 5 + row % 2 * 20)).collect();
    Sandbox::with("points.csv", format!("x,y\n{rows}"))
}

#[test]
fn every_method_draws_its_results_in_both_formats() {
    let sandbox = points();
    sandbox.lehr(&["distances", "points.csv", "--out", "d", "-q"]).succeeded();
    for method in lehr_methods::ALL {
        let name = method.about().name;
        let input = if matches!(method.about().takes, lehr_methods::Takes::Matrix(_)) {
            "d/dissimilarities.json"
        } else {
            "points.csv"
        };
        let options: &[&str] = match name {
            "cluster" | "minibatch" | "pairwise" | "kmedoids" | "hierarchy" => &["-k", "3"],
            "mixture" => &["--components", "3"],
            "gtm" => &["--nodes", "6"],
            _ => &[],
        };
        for file in ["map.svg", "map.png"] {
            let run = sandbox
                .lehr(&[&[name, input, "-q", "--figure", file, "--out", name][..], options].concat())
                .succeeded();
            assert!(run.stdout.ends_with(&format!("figure: {file}\n")), "{}", run.stdout);
            let bytes = fs::read(sandbox.path(file)).unwrap();
            let head: &[u8] = if file == "map.svg" { b"<!-- a figure of lehr -->\n<svg " } else { b"\x89PNG" };
            assert!(bytes.starts_with(head), "{name} {file}");
        }
        let title = match name {
            "cluster" | "minibatch" => "points.csv: 60 rows in 3 clusters",
            "mixture" => "points.csv: 60 rows in 3 components",
            "gtm" => "points.csv: 60 rows on a topographic map",
            "pairwise" | "kmedoids" | "hierarchy" => "dissimilarities.json: 60 items in 3 clusters",
            "hdbscan" => "dissimilarities.json: 60 items in 2 clusters",
            "embed" => "dissimilarities.json: map of 60 items",
            _ => panic!("{name}: has its picture a title?"),
        };
        assert!(sandbox.read("map.svg").contains(&format!("<title>{title}</title>")), "{name}");
    }
}

#[test]
fn a_name_that_asks_for_no_known_format_is_refused_before_the_run() {
    let sandbox = points();
    for name in ["map.pdf", "map", "svg"] {
        let refused = sandbox.lehr(&["cluster", "no-such-file.csv", "-k", "3", "--figure", name]);
        assert_eq!(refused.code, 2, "{}", refused.stderr);
        assert!(refused.stderr.contains("expected a name that ends in .svg or .png"), "{}", refused.stderr);
    }
    let refused = sandbox.lehr(&["cluster", "points.csv", "-k", "3", "--figure", "a.svg", "--trace", "a.svg"]);
    assert!(
        refused.code == 2 && refused.stderr.contains("--figure and --trace: expected two files"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_figure_replaces_figures_and_nothing_else() {
    let sandbox = points();
    let run = |more: &[&str]| sandbox.lehr(&[&["cluster", "points.csv", "-k", "2", "-q"], more].concat());
    sandbox.write("mine.svg", "<svg/>");
    let refused = run(&["--figure", "mine.svg"]);
    assert_eq!(refused.code, 4);
    assert!(refused.stderr.starts_with("error: mine.svg: is there and is no figure of lehr\n"), "{}", refused.stderr);
    assert_eq!((sandbox.read("mine.svg").as_str(), sandbox.list("lehr-out").len()), ("<svg/>", 0));
    run(&["--figure", "mine.svg", "--force"]).succeeded();
    let first = sandbox.read("mine.svg");
    run(&["--figure", "mine.svg"]).succeeded();
    assert_eq!(sandbox.read("mine.svg"), first, "the same run draws the same figure");
    for place in ["nowhere/map.svg", "lehr-out"] {
        assert_ne!(run(&["--figure", place]).code, 0);
    }
    // In the folder of the results too, which has nothing unfinished.
    run(&["--figure", "lehr-out/map.PNG"]).succeeded();
    let mut expected: Vec<String> = CLUSTER_FILES.map(str::to_owned).to_vec();
    expected.push("map.PNG".to_owned());
    expected.sort();
    assert_eq!(sandbox.list("lehr-out"), expected);
    // A run without results leaves none.
    assert_eq!(sandbox.lehr(&["cluster", "points.csv", "-k", "2000", "-q", "--figure", "none.svg"]).code, 3);
    assert!(!sandbox.path("none.svg").exists());
    // It is no part of what a report says to type for another number of clusters.
    run(&["--figure", "map.svg"]).succeeded();
    assert!(!sandbox.read("lehr-out/report.html").contains("map.svg"));
}
