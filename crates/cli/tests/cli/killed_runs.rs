//! Each workflow file of the project, with its processes killed in the middle: the run goes on to the same bytes.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use lehr_demos::pubchem::StandIn;
use serde_json::{Value, json};

use super::sandbox::Sandbox;
use super::services::Served;
use super::workflow_files::{KINDS, files, held, kept, made, placed, run};

/// The words that make a file's run a short one. `two` are the services that another node has in a run over two nodes.
struct File {
    name: &'static str,
    words: &'static [&'static str],
    two: &'static [&'static str],
}

const ITEMS: [&str; 6] = ["--set", "items=60", "--set", "clusters=2", "--set", "dimension=2"];

const FILES: [File; 5] = [
    File { name: "census", words: &["--set", "items=4000"], two: &["/clustering", "/reports"] },
    File { name: "chemistry", words: &ITEMS, two: &["/distances", "/pairwise", "/embedding"] },
    File { name: "genes", words: &ITEMS, two: &["/distances", "/pairwise", "/embedding"] },
    File { name: "patients", words: &ITEMS, two: &["/distances", "/pairwise", "/embedding"] },
    File {
        name: "pubchem",
        words: &["--set", "percent=60", "--set", "clusters=5"],
        two: &["/distances", "/pairwise", "/embedding", "/reports"],
    },
];

/// The numbers of lines of progress after which a process is killed: after the first step begins, and twice later.
const MOMENTS: [usize; 3] = [1, 4, 6];

/// Starts a run and returns it after so many lines of its progress, or when it has ended.
fn until_line(sandbox: &Sandbox, line: &[&str], lines: usize) -> Child {
    let mut command = sandbox.command(line);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let errors = BufReader::new(child.stderr.take().unwrap());
    for line in errors.lines().take(lines) {
        line.unwrap();
    }
    child
}

/// Kills a process; returns whether it was still running.
fn kill(mut child: Child) -> bool {
    let _ = child.kill();
    child.wait().unwrap().code().is_none()
}

/// Starts a node that keeps its state in a folder, at a port that stays the same in its next life.
fn node(folder: &Path, port: u16, kinds: &[&str]) -> Served {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lehr"));
    command.args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--keep"]).arg(folder).args(kinds);
    Served::run(command)
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Waits for the only run of a node. Resumes it as long as it fails, because a killed node was not there.
fn finished(sandbox: &Sandbox, node: &Served) -> Value {
    let workflows = node.at("/workflows");
    let asked = |verb: &str, operation: &str, body: Value| {
        let line = [verb, &workflows, operation, &body.to_string(), "--timeout", "86400"];
        serde_json::from_str::<Value>(&sandbox.lehr(&line).succeeded().stdout).unwrap()
    };
    let state: Value = serde_json::from_str(&sandbox.lehr(&["get", &workflows]).succeeded().stdout).unwrap();
    let (name, _) = state["runs"].as_object().unwrap().iter().next().expect("the node has the run");
    for _ in 0..10 {
        let run = asked("query", "wait", json!({ "run": name }));
        if run["state"] == "done" {
            return run;
        }
        asked("submit", "resume", json!({ "run": name }));
    }
    panic!("the run does not end");
}

/// Resumes a run of a process to its end. If it has ended before its process was killed, returns what it has kept.
fn resumed_here(sandbox: &Sandbox, line: &[&str]) -> Value {
    let ended = sandbox.lehr(&[line, &["--json"]].concat());
    if !ended.stderr.contains("is done: name a step") {
        return serde_json::from_str(&ended.succeeded().stdout).unwrap();
    }
    let text = sandbox.read("lehr-run/workflows.json");
    let state: Value = serde_json::from_str(text.split_once('\n').unwrap().1).unwrap();
    state["runs"].as_object().unwrap().values().next().unwrap().clone()
}

#[test]
fn each_file_goes_on_to_the_same_bytes_after_each_of_its_processes_is_killed() {
    let stand_in = StandIn::start().unwrap();
    let pubchem = format!("--pubchem={}", stand_in.base());
    let kinds = [&KINDS[..], &[&pubchem]].concat();
    let (names, folder) = files();
    let known: Vec<&str> = FILES.iter().map(|file| file.name).chain(["two-nodes"]).collect();
    assert_eq!(names, known, "two-nodes has its own test below");
    for File { name, words, two } in FILES {
        let sandbox = Sandbox::new();
        let file = folder.join(format!("{name}.toml"));
        let path = file.to_str().unwrap();
        let own: Vec<&str> = if name == "pubchem" { [words, &[&pubchem]].concat() } else { words.to_vec() };
        let expected = made(&run(&sandbox, &file, &own), &kept(&sandbox));

        // On a busy machine, a run may end before its process is killed. Of the seven kills of a file, some must hit.
        let mut hits = 0;
        // One process: the run.
        let alone = Sandbox::new();
        let resumed =
            if name == "pubchem" { vec!["run", path, "--resume", &pubchem] } else { vec!["run", path, "--resume"] };
        for (life, lines) in MOMENTS.into_iter().enumerate() {
            let line = if life == 0 { [&["run", path], &own[..]].concat() } else { resumed.clone() };
            hits += usize::from(kill(until_line(&alone, &line, lines)));
        }
        assert_eq!(made(&resumed_here(&alone, &resumed), &kept(&alone)), expected, "{name}, alone");

        // A node, and two nodes: first the client is killed, then the node with the run, then the one with the methods.
        for is_two in [false, true] {
            let sandbox = Sandbox::new();
            let ports = [free_port(), free_port()];
            let at = [sandbox.path("first"), sandbox.path("other")];
            let start = |which: usize| node(&at[which], ports[which], &kinds);
            let (mut first, mut other) = (start(0), start(1));
            let places = if is_two { placed(two, &other) } else { Vec::new() };
            let url = first.at("");
            let line: Vec<&str> = ["run", path, "--node", &url].into_iter().chain(words.iter().copied()).collect();
            let line = [&line[..], &places.iter().map(String::as_str).collect::<Vec<_>>()].concat();
            hits += usize::from(kill(until_line(&sandbox, &line, MOMENTS[0])));
            first.kill();
            first = start(0);
            other.kill();
            other = start(1);
            let done = finished(&sandbox, &first);
            hits += usize::from(done["part"].as_u64().unwrap() > 1);
            let holder = if is_two { &other } else { &first };
            assert_eq!(made(&done, &held(&sandbox, holder)), expected, "{name}, two nodes: {is_two}");
        }
        assert!(hits > 0, "{name}: no kill was in the middle");
    }
}

#[test]
fn a_run_here_with_its_steps_on_two_nodes_goes_on_after_all_three_are_killed() {
    let sandbox = Sandbox::new();
    let (_, folder) = files();
    let file = folder.join("two-nodes.toml");
    let path = file.to_str().unwrap();
    let ports = [free_port(), free_port()];
    let at = [sandbox.path("data"), sandbox.path("compute")];
    let start = |which: usize| node(&at[which], ports[which], &KINDS);
    let (mut data, mut compute) = (start(0), start(1));
    let words = [format!("data={}", data.at("")), format!("compute={}", compute.at(""))];
    let line = ["run", path, "--set", "items=4000", "--set", &words[0], "--set", &words[1]];
    let expected = made(&run(&sandbox, &file, &line[2..]), &held(&sandbox, &compute));
    let killed = Sandbox::new();
    let mut hits = 0;
    for (life, lines) in [1, 2].into_iter().enumerate() {
        let line = if life == 0 { &line[..] } else { &["run", path, "--resume"] };
        hits += usize::from(kill(until_line(&killed, line, lines)));
        data.kill();
        compute.kill();
        (data, compute) = (start(0), start(1));
    }
    assert!(hits > 0, "no kill was in the middle");
    let done = resumed_here(&killed, &["run", path, "--resume"]);
    let found = made(&done, &held(&killed, &compute));
    assert_eq!(found.values().collect::<Vec<_>>(), expected.values().collect::<Vec<_>>());
}
