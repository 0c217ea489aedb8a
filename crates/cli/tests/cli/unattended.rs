//! Workflows that run without anyone looking: unchanged steps, triggers on a node, messages about the end.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;

use serde_json::Value;

use super::jobs::clouds;
use super::sandbox::Sandbox;
use super::services::Served;

/// Reads clouds of points, and clusters them.
const CLOUDS: &str = "
name = 'clouds'
output = '${cluster.figures.clusters}'
cache = true

[parameters]
clusters = { type = 'integer', default = 3, minimum = 1, maximum = 9 }

[services.'/datasets']
contract = 'lehr.datasets'

[services.'/clustering']
contract = 'lehr.clustering'
after = ['/datasets']

[steps.read]
service = '/datasets'
operation = 'open'
with = { name = 'clouds', path = 'clouds.csv', replace = true }
cache = false

[steps.cluster]
service = '/clustering'
operation = 'run'
with = { input = 'clouds', options = { clusters = '${parameters.clusters}' } }
job = true
after = ['read']
";

/// A web address on this machine. Each body that is posted to it comes out of the receiver.
fn hook() -> (String, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, posted) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let (mut bytes, mut piece) = (Vec::new(), [0; 4096]);
            let body = loop {
                let count = stream.read(&mut piece).unwrap();
                bytes.extend_from_slice(&piece[..count]);
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                let length = head.to_lowercase().split("content-length: ").nth(1).unwrap().to_owned();
                if body.len() == length.lines().next().unwrap().parse::<usize>().unwrap() {
                    assert!(head.starts_with("POST /secret ") && head.contains("application/json"), "{head}");
                    break body.to_owned();
                }
            };
            stream.write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n").unwrap();
            if sender.send(body).is_err() {
                return;
            }
        }
    });
    (format!("http://{address}/secret"), posted)
}

#[test]
fn a_clustering_of_unchanged_rows_is_not_repeated() {
    let sandbox = Sandbox::with("clouds.csv", clouds(600));
    sandbox.write("clouds.toml", CLOUDS);
    let run = |words: &[&str]| sandbox.lehr(&[&["run", "clouds.toml"][..], words].concat()).succeeded();
    let is_repeated = |words: &[&str]| {
        let told = run(words);
        let reused = told.stderr.contains("cluster: unchanged; its answer is from clouds-");
        assert_ne!(reused, told.stderr.contains("cluster: job "), "{}", told.stderr);
        !reused
    };
    assert!(is_repeated(&[]));
    assert!(!is_repeated(&[]), "nothing has changed");
    assert!(is_repeated(&["--set", "clusters=4"]), "another number of clusters");
    assert!(!is_repeated(&["--set", "clusters=4"]));
    // The same rows in another file of the same name.
    sandbox.write("clouds.csv", clouds(600) + "\n");
    assert!(!is_repeated(&[]), "the same rows");
    sandbox.write("clouds.csv", clouds(601));
    assert!(is_repeated(&[]), "one more row");
    assert!(is_repeated(&["--no-cache"]));
    assert!(is_repeated(&["--from", "cluster"]));
    let refused = sandbox.lehr(&["run", "clouds.toml", "--set", "clusters=10"]);
    assert_eq!(refused.code, 3);
    assert!(refused.stderr.contains("parameters.clusters: expected at most 9, found 10"), "{}", refused.stderr);
}

#[test]
fn a_node_runs_a_workflow_when_its_data_set_has_changed_and_tells_a_web_address() {
    let (url, posted) = hook();
    let sandbox = Sandbox::with("root/clouds.csv", clouds(60));
    sandbox.write("root/more.csv", clouds(90));
    let node = Served::start(&["--data-root", sandbox.path("root").to_str().unwrap(), "--webhook", &url]);
    let open = |file: &str| {
        let body = format!(r#"{{"name": "clouds", "path": "{file}", "replace": true}}"#);
        sandbox.lehr(&["submit", &node.at("/datasets"), "open", &body]).succeeded()
    };
    let text = "
name = 'watched'
output = '${cluster.figures.clusters} clusters'
[triggers.data]
dataset = 'clouds'
[triggers.yearly]
every_seconds = 31000000
[notify.chat]
service = '/webhook'
operation = 'post'
with = { text = '${run.name}, by ${run.trigger}: ${run.state}, ${run.output}' }
[steps.cluster]
service = '/clustering'
operation = 'run'
with = { input = 'clouds', options = { clusters = 3 } }
job = true
";
    sandbox.write("watched.toml", text);
    open("clouds.csv");
    let line = ["run", "watched.toml", "--node", &node.url];
    let told = sandbox.lehr(&[&line[..], &["--schedule"]].concat()).succeeded().stdout;
    let lines: Vec<&str> = told.lines().collect();
    assert_eq!(lines[..2], ["trigger  next", "data     when the data set has changed"]);
    assert!(lines[2].starts_with("yearly   in ") && lines.len() == 3, "{told}");
    for (number, file) in [(1, "more.csv"), (2, "clouds.csv")] {
        open(file);
        let body: Value = serde_json::from_str(&posted.recv().unwrap()).unwrap();
        assert_eq!(body["text"], format!("watched-{number}, by data: done, 3 clusters"));
    }
    sandbox.lehr(&[&line[..], &["--unschedule"]].concat()).succeeded();
    let state: Value =
        serde_json::from_str(&sandbox.lehr(&["get", &node.at("/workflows")]).succeeded().stdout).unwrap();
    assert!(state.get("schedules").is_none());
    assert_eq!(state["runs"]["watched-2"]["trigger"], "data");
    // The address is often a secret: no document has it.
    let shown = sandbox.lehr(&["get", &node.at("/webhook")]).succeeded().stdout;
    assert!(!shown.contains("secret") && shown.contains("127.0.0.1:"), "{shown}");
}

#[test]
fn a_run_without_a_node_tells_a_web_address_why_it_failed() {
    let (url, posted) = hook();
    let text = "
name = 'fails'
[services.'/notes']
contract = 'lehr/records'
[services.'/webhook']
contract = 'lehr/webhook'
configuration = { variable = 'THE_HOOK' }
[notify.chat]
on = ['failed']
service = '/webhook'
operation = 'post'
with = { text = '${run.fault}', step = '${run.failed}' }
[steps.read]
service = '/notes'
operation = 'find'
with = { key = 'nothing' }
";
    let sandbox = Sandbox::with("fails.toml", text);
    let missing = sandbox.lehr(&["run", "fails.toml"]);
    assert!(missing.stderr.contains("THE_HOOK, which is not set"), "{}", missing.stderr);
    let failed = sandbox.shell(&format!("THE_HOOK={url} lehr run fails.toml"));
    assert_eq!(failed.code, 1);
    let body: Value = serde_json::from_str(&posted.recv().unwrap()).unwrap();
    assert!(body["text"].as_str().unwrap().contains("nothing"), "{body}");
    assert_eq!(body["step"]["read"], body["text"]);
}
