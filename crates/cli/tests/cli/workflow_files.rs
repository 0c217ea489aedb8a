//! Each workflow file of the project by each way to run it: the data sets that its jobs make have the same bytes.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lehr_demos::pubchem::StandIn;
use serde_json::Value;

use super::sandbox::Sandbox;
use super::services::Served;

/// The kinds that a node does not start by itself.
pub const KINDS: [&str; 12] = [
    "--start",
    "lehr/samples=/samples",
    "--start",
    "lehr/reports=/reports",
    "--start",
    "lehr/neighbors=/neighbors",
    "--start",
    "lehr.distances=/distances",
    "--start",
    "lehr.pairwise=/pairwise",
    "--start",
    "lehr.embedding=/embedding",
];

/// The names of all of them without `.toml`, and their folder.
pub fn files() -> (Vec<String>, PathBuf) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../demos/workflows");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    (names, folder)
}

/// The words that let another node have these services.
pub fn placed(paths: &[&str], node: &Served) -> Vec<String> {
    paths.iter().flat_map(|path| ["--place".to_owned(), format!("{path}={}", node.at(""))]).collect()
}

/// Runs a file with these words, and gives the run.
pub fn run(sandbox: &Sandbox, file: &Path, words: &[&str]) -> Value {
    let line = [&["run", file.to_str().unwrap(), "--json", "--timeout", "86400"], words].concat();
    serde_json::from_str(&sandbox.lehr(&line).succeeded().stdout).unwrap()
}

/// The checksums of the data sets that the jobs of a run made, by step, entry and name. Without pages, which tell times.
pub fn made(run: &Value, state: &Value) -> BTreeMap<(String, usize, String), String> {
    let mut made = BTreeMap::new();
    for (step, record) in run["steps"].as_object().unwrap() {
        for (entry, item) in record["items"].as_array().unwrap().iter().enumerate() {
            let outputs = item["output"]["outputs"].as_object().into_iter().flatten();
            for (name, dataset) in outputs.filter(|(name, _)| *name != "report") {
                let checksum = &state["datasets"][dataset.as_str().unwrap()]["checksum"];
                made.insert((step.clone(), entry, name.clone()), checksum.as_str().unwrap().to_owned());
            }
        }
    }
    assert!(!made.is_empty());
    made
}

/// The state of the data sets that a run in a process of its own has kept.
pub fn kept(sandbox: &Sandbox) -> Value {
    let text = sandbox.read("lehr-run/datasets/document.json");
    // The first line is about the file.
    serde_json::from_str(text.split_once('\n').unwrap().1).unwrap()
}

/// The state of the data sets of a node.
pub fn held(sandbox: &Sandbox, node: &Served) -> Value {
    let state = sandbox.lehr(&["get", &node.at("/datasets"), "--timeout", "86400"]).succeeded().stdout;
    serde_json::from_str(&state).unwrap()
}

#[test]
fn each_file_makes_the_same_bytes_alone_and_on_a_node_and_on_two() {
    let stand_in = StandIn::start().unwrap();
    let pubchem = format!("--pubchem={}", stand_in.base());
    let kinds = [&KINDS[..], &[&pubchem]].concat();
    let (node, other) = (Served::start(&kinds), Served::start(&kinds));
    let (names, folder) = files();
    assert_eq!(names, ["census", "chemistry", "genes", "patients", "pubchem", "two-nodes"]);
    for name in ["chemistry", "genes", "patients"] {
        let sandbox = Sandbox::new();
        let file = folder.join(format!("{name}.toml"));
        let words = ["--set", "items=60", "--set", "clusters=2", "--set", "dimension=2"];
        let alone = run(&sandbox, &file, &words);
        let there = run(&sandbox, &file, &[&words[..], &["--node", &node.at("")]].concat());
        assert_eq!(alone["output"], there["output"]);
        assert_eq!(made(&alone, &kept(&sandbox)), made(&there, &held(&sandbox, &node)), "{name}");
        // The data are on one node, the methods on another: data sets follow in both directions.
        let places = placed(&["/distances", "/pairwise", "/embedding"], &other);
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        let both = run(&sandbox, &file, &[&words[..], &["--node", &node.at("")], &places].concat());
        assert_eq!(alone["output"], both["output"]);
        assert_eq!(made(&alone, &kept(&sandbox)), made(&both, &held(&sandbox, &other)), "{name}");
    }
    // Compounds of PubChem, which both ask for them.
    let sandbox = Sandbox::new();
    let (file, words) = (folder.join("pubchem.toml"), ["--set", "percent=60", "--set", "clusters=5"]);
    let alone = run(&sandbox, &file, &[&words[..], &[&pubchem]].concat());
    let there = run(&sandbox, &file, &[&words[..], &["--node", &node.at("")]].concat());
    assert_eq!(made(&alone, &kept(&sandbox)), made(&there, &held(&sandbox, &node)));
    let places = placed(&["/distances", "/pairwise", "/embedding", "/reports"], &other);
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    let both = run(&sandbox, &file, &[&words[..], &["--node", &node.at("")], &places].concat());
    assert_eq!(made(&alone, &kept(&sandbox)), made(&both, &held(&sandbox, &other)));
    assert_eq!(alone["steps"]["load"]["items"][0]["output"]["items"], 129);
    // The map has the clusters as classes, and its report the structures.
    let positions = sandbox.read("lehr-run/reports/map/positions.csv");
    assert!(positions.starts_with("id,x,y,stress,cluster\n10645,"), "{}", &positions[..60]);
    assert!(sandbox.read("lehr-run/reports/clusters/report.html").contains("data-smiles="));

    let sandbox = Sandbox::new();
    let few = ["--set", "items=4000"];
    let census = folder.join("census.toml");
    let alone = run(&sandbox, &census, &few);
    let there = run(&sandbox, &census, &[&few[..], &["--node", &node.at("")]].concat());
    let of_alone = made(&alone, &kept(&sandbox));
    assert_eq!(of_alone, made(&there, &held(&sandbox, &node)));
    // The data in this process, the methods on a node.
    let places = placed(&["/clustering", "/reports"], &other);
    let places: Vec<&str> = places.iter().map(String::as_str).collect();
    let both = run(&sandbox, &census, &[&few[..], &places].concat());
    assert_eq!(of_alone, made(&both, &held(&sandbox, &other)));
    let chosen = &alone["steps"]["choose"]["items"][0]["output"];
    assert_eq!(chosen["clusters"], there["steps"]["choose"]["items"][0]["output"]["clusters"]);
    // The report of both: files here, operations there.
    let first = |run: &Value| run["output"].as_str().unwrap().split_once("\n\n").unwrap().0.to_owned();
    assert_eq!(first(&alone), first(&there));
    assert!(
        first(&alone).starts_with(&format!("4,000 rows in {} clusters; ", chosen["clusters"])),
        "{}",
        first(&alone)
    );
    assert!(alone["output"].as_str().unwrap().ends_with(" in lehr-run/reports/census\n"), "{}", alone["output"]);
    let written = [
        "centers.csv",
        "history.csv",
        "labels.csv",
        "marks.csv",
        "numbers.csv",
        "outliers.csv",
        "report.html",
        "splits.csv",
    ];
    assert_eq!(sandbox.list("lehr-run/reports/census"), written);
    let asked = |operation: &str, body: &str| {
        let line = ["query", &node.at("/reports"), operation, body, "--timeout", "86400"];
        serde_json::from_str::<Value>(&sandbox.lehr(&line).succeeded().stdout).unwrap()
    };
    let labels = asked("table", r#"{"name": "census", "table": "labels", "format": "csv"}"#);
    assert_eq!(labels["csv"], sandbox.read("lehr-run/reports/census/labels.csv"));
    let page = asked("page", r#"{"name": "census"}"#);
    assert!(page.as_str().unwrap().starts_with("<!doctype html>"));
    assert!(sandbox.read("lehr-run/reports/census/report.html").starts_with("<!doctype html>"));

    // The same clustering by a run here, and by one of the first node, each over both nodes.
    let (data, compute) = (format!("data={}", node.at("")), format!("compute={}", other.at("")));
    let two = folder.join("two-nodes.toml");
    let words = [&few[..], &["--set", &data, "--set", &compute]].concat();
    let clustering = |made: BTreeMap<(String, usize, String), String>, entry: usize| -> BTreeMap<String, String> {
        let of_entry = made.into_iter().filter(|((step, at, _), _)| step == "cluster" && *at == entry);
        of_entry.map(|((_, _, name), checksum)| (name, checksum)).collect()
    };
    let with_20 = clustering(of_alone, 1);
    for by in [&[][..], &["--node", &node.at("")]] {
        let found = run(&sandbox, &two, &[&words[..], by].concat());
        assert_eq!(clustering(made(&found, &held(&sandbox, &other)), 0), with_20);
        assert!(found["output"].as_str().unwrap().starts_with("4,000 rows in 20 clusters; "), "{}", found["output"]);
    }
}
