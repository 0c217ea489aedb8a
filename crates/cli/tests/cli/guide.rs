//! The sessions that the guide shows are run, and must print what it says.

use std::fs;
use std::path::Path;

use super::sandbox::Sandbox;

/// Lines without how long it took.
fn timeless(text: &str) -> String {
    let line = |line: &str| line.split_once(" after ").map_or(line, |(line, _)| line).trim_end().to_owned() + "\n";
    text.trim_end().lines().map(line).collect()
}

#[test]
fn the_guide_to_maps_shows_what_the_commands_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let sandbox = Sandbox::with("iris.csv", fs::read(root.join("datasets/iris/iris.csv")).unwrap());
    let guide = fs::read_to_string(root.join("docs/guide/maps.md")).unwrap();
    let sessions: Vec<&str> = guide
        .split("```console\n")
        .skip(1)
        .flat_map(|block| block.split("```").next().unwrap().split("$ lehr ").skip(1))
        .collect();
    assert_eq!(sessions.len(), 3, "distances, pairwise, embed");
    for session in sessions {
        let (line, expected) = session.split_once('\n').unwrap();
        let words: Vec<&str> = line.split_whitespace().chain(["--quiet"]).collect();
        let outcome = sandbox.lehr(&words).succeeded();
        assert_eq!(timeless(&outcome.stdout), timeless(expected), "lehr {line}");
    }
    assert!(sandbox.list("iris-map").contains(&"report.html".to_owned()));
}
