//! `lehr demo`: what it prints, what it leaves, and that a workflow gives the bytes of one clustering.

use std::io::{BufRead, BufReader};
use std::path::Path;

use super::sandbox::{CLUSTER_FILES, Sandbox};
#[cfg(unix)]
use super::workflows::signal;

#[test]
fn the_demonstration_prints_what_the_readme_shows() {
    let readme = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md")).unwrap();
    let (_, block) = readme.split_once("<!-- demo output: begin").unwrap();
    let (block, _) = block.split_once("<!-- demo output: end -->").unwrap();
    let (_, block) = block.split_once("$ make demo\n").unwrap();
    let (block, _) = block.split_once("\n```").unwrap();
    let sandbox = Sandbox::new();
    let demo = sandbox.lehr(&["demo", "census"]).succeeded();
    // The time is another every time.
    let without_time = |line: &str| line.split(" after ").next().unwrap().trim().to_owned();
    let mut printed = demo.stdout.lines().map(without_time);
    for line in block.lines().map(without_time).filter(|line| line != "…") {
        assert!(printed.any(|printed| printed == line), "not printed, or not here: {line}\n{}", demo.stdout);
    }
    assert_eq!(sandbox.list("lehr-out"), CLUSTER_FILES);
    for step in
        ["read: begun", "watch: begun", "cluster[0]: begun", "cluster[2]: begun", "choose: begun", "report: begun"]
    {
        assert!(demo.stderr.lines().any(|line| line == step), "{step}\n{}", demo.stderr);
    }
    // The same results as of one clustering with that number.
    sandbox.lehr(&["demo", "census", "--clusters", "20", "--out", "direct"]).succeeded();
    for file in ["labels.csv", "centers.csv", "model.json"] {
        assert!(sandbox.read(&format!("lehr-out/{file}")) == sandbox.read(&format!("direct/{file}")), "{file}");
    }
    let (mut chosen, mut direct) = (sandbox.summary("lehr-out"), sandbox.summary("direct"));
    for summary in [&mut chosen, &mut direct] {
        let fields = summary.as_object_mut().unwrap();
        fields.remove("seconds").unwrap();
        fields.remove("execution").unwrap();
    }
    assert_eq!(chosen, direct);
}

#[test]
fn two_nodes_end_with_the_picture_of_one_and_leave_nothing_behind() {
    let sandbox = Sandbox::new();
    let demo = sandbox.lehr(&["demo", "two-nodes"]).succeeded();
    assert!(
        demo.stdout.starts_with("201,174 rows in 20 clusters; root mean square distance to the centre 28.54 km\n"),
        "{}",
        demo.stdout
    );
    assert_eq!(sandbox.list("lehr-out"), CLUSTER_FILES);
    sandbox.lehr(&["demo", "census", "--clusters", "20", "--out", "direct"]).succeeded();
    for file in ["labels.csv", "centers.csv", "model.json"] {
        assert!(sandbox.read(&format!("lehr-out/{file}")) == sandbox.read(&format!("direct/{file}")), "{file}");
    }
    // The nodes have ended: their addresses are free.
    let (_, said) = demo.stderr.split_once("the data are at http://").unwrap();
    let (data, said) = said.split_once(", the clustering at http://").unwrap();
    for address in [data, said.lines().next().unwrap()] {
        assert!(std::net::TcpStream::connect(address).is_err(), "{address}");
    }
    let usage = sandbox.lehr(&["demo", "two-nodes", "--clusters", "3"]);
    assert_eq!(usage.code, 2);
    assert!(usage.stderr.contains("two-nodes is a workflow"), "{}", usage.stderr);
}

#[cfg(unix)]
#[test]
fn a_demonstration_that_is_stopped_leaves_nothing() {
    for dataset in ["census", "two-nodes"] {
        let sandbox = Sandbox::new();
        let mut running = sandbox.start(&["demo", dataset]);
        let mut lines = BufReader::new(running.stderr.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.any(|line| line == "read: begun"));
        signal(&running, "-INT");
        let rest: Vec<String> = lines.collect();
        match running.wait().unwrap().code() {
            Some(130) => assert!(sandbox.list(".").is_empty(), "{dataset}: {rest:?}"),
            // On a fast machine it may be done before the signal is there.
            code => assert_eq!(code, Some(0), "{dataset}: {rest:?}"),
        }
    }
}

#[test]
fn compounds_like_a_given_one_are_fetched_clustered_and_mapped() {
    let sandbox = Sandbox::new();
    let told = sandbox.lehr(&["demo", "pubchem", "--percent", "60", "-k", "3", "-q"]).succeeded().stdout;
    assert!(told.starts_with("129 compounds like didanosine, 0.376"), "{told}");
    assert!(told.contains("\n129 items in 3 clusters; cost "), "{told}");
    assert_eq!(sandbox.list("lehr-pubchem/reports"), ["clusters", "map"]);
    // The file beside the results is the workflow, for PubChem itself.
    let reviewed = sandbox.lehr(&["run", "lehr-pubchem/pubchem.toml", "--dry-run"]).succeeded().stdout;
    assert!(reviewed.contains("\nsimilar   /pubchem    similar    find\n"), "{reviewed}");

    let sandbox = Sandbox::new();
    let lost = sandbox.lehr(&["demo", "pubchem", "--compound", "phlogiston", "-q"]);
    assert_eq!(lost.code, 1);
    assert!(lost.stderr.contains("step similar: ${find.0} has no value: found an empty list"), "{}", lost.stderr);
}
