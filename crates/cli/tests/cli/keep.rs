//! `lehr keep`: a backup of what a node keeps, restored and checked.

use super::sandbox::Sandbox;
use super::services::Served;

/// A node with a note, a data set and a job with its results in `keep`; it has ended.
fn kept(sandbox: &Sandbox) {
    let keep = sandbox.path("keep");
    let mut node = Served::start(&["--keep", keep.to_str().unwrap(), "--start", "lehr/records=/notes"]);
    let at = |path: &str| node.at(path);
    sandbox.lehr(&["submit", &at("/notes"), "upsert", r#"{"key": "a", "value": 1}"#]).succeeded();
    sandbox.write("sites.csv", "x,y\n1,2\n3,4\n1,3\n3,5\n");
    sandbox.lehr(&["upload", "sites.csv", &at("/datasets")]).succeeded();
    let order = r#"{"input": "sites", "options": {"clusters": 2}}"#;
    sandbox.lehr(&["submit", &at("/clustering"), "run", order]).succeeded();
    sandbox.lehr(&["submit", &at("/clustering"), "wait", r#"{"job": "clustering-1"}"#]).succeeded();
    node.kill();
}

#[test]
fn a_backup_is_restored_to_the_byte_and_damage_is_named_28() {
    let sandbox = Sandbox::new();
    kept(&sandbox);
    let verified = sandbox.lehr(&["keep", "verify", "keep"]).succeeded();
    assert!(
        verified.stdout.starts_with("keep: in order: ") && verified.stdout.contains("data sets"),
        "{}",
        verified.stdout
    );
    sandbox.lehr(&["keep", "export", "keep", "backup"]).succeeded();
    sandbox.lehr(&["keep", "verify", "backup"]).succeeded();
    sandbox.lehr(&["keep", "import", "backup", "again"]).succeeded();
    for file in ["notes.json", "notes.json.copy", "datasets/document.json"] {
        assert_eq!(sandbox.read(&format!("again/{file}")), sandbox.read(&format!("keep/{file}")), "{file}");
    }
    // A node starts from it.
    let again = sandbox.path("again");
    let mut node = Served::start(&["--keep", again.to_str().unwrap(), "--start", "lehr/records=/notes"]);
    // The results of the job are there, also those with missing values: no component merged.
    for table in ["splits", "numbers", "centers", "labels", "history", "marks", "outliers"] {
        let read = format!(r#"{{"name": "clustering-1/{table}"}}"#);
        sandbox.lehr(&["submit", &node.at("/datasets"), "read", &read]).succeeded();
    }
    let notes = sandbox.lehr(&["get", &node.at("/notes")]).succeeded();
    assert!(notes.stdout.contains("\"a\": 1"), "{}", notes.stdout);
    node.kill();

    let refused = |arguments: &[&str], code, expected: &str| {
        let outcome = sandbox.lehr(arguments);
        assert_eq!(outcome.code, code, "{}", outcome.stderr);
        assert!(outcome.stderr.contains(expected), "{}", outcome.stderr);
    };
    refused(&["keep", "import", "backup", "again"], 4, "expected a new or empty folder");
    refused(&["keep", "import", "keep", "other"], 4, "expected a backup, found no backup.json");
    refused(&["keep", "export", "backup", "other"], 4, "expected the folder of a node, found a backup");
    refused(&["keep", "verify", "nowhere"], 4, "no such file or folder");
    sandbox.write("backup/notes.json", "{}");
    refused(&["keep", "import", "backup", "other"], 3, "notes.json: it has one line, where two are expected");
    refused(&["keep", "verify", "backup"], 3, "notes.json: not the file that was backed up: another checksum");
    assert!(!sandbox.path("other").exists());
}

#[test]
fn a_node_that_runs_is_not_backed_up_28() {
    let sandbox = Sandbox::new();
    let keep = sandbox.path("keep");
    let mut node = Served::start(&["--keep", keep.to_str().unwrap(), "--start", "lehr.datasets=/datasets"]);
    let outcome = sandbox.lehr(&["keep", "export", "keep", "backup"]);
    assert_eq!(outcome.code, 4);
    assert!(outcome.stderr.contains("a node keeps its data there: stop it first"), "{}", outcome.stderr);
    node.kill();
}
