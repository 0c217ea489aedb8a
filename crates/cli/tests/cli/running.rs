//! A node as whoever runs it meets it: signals, limits of the system, secrets, lines of its log.
#![cfg(unix)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output};
use std::sync::mpsc;

use serde_json::{Value, json};

use super::nodes::{ask, send};
use super::sandbox::Sandbox;
use super::services::Served;

fn signal(node: &Served, name: &str) {
    let status = Command::new("kill").args([name, &node.process.id().to_string()]).status().unwrap();
    assert!(status.success());
}

/// A node under limits of the shell's, such as `ulimit -f 8`.
fn limited(limit: &str, options: &[&str]) -> Served {
    let mut command = Command::new("sh");
    command.args([
        "-c",
        &format!("{limit}; exec \"$0\" serve --listen 127.0.0.1:0 \"$@\""),
        env!("CARGO_BIN_EXE_lehr"),
    ]);
    command.args(options);
    Served::run(command)
}

fn policy(callers: &[(&str, &str)]) -> String {
    let callers: serde_json::Map<String, Value> =
        callers.iter().map(|(name, token)| ((*name).to_owned(), json!({ "token": token }))).collect();
    let names: Vec<&String> = callers.keys().collect();
    json!({ "callers": callers, "rules": [{ "callers": names, "paths": ["/notes"] }] }).to_string()
}

#[test]
fn a_hangup_reloads_the_policy_and_a_termination_ends_with_0() {
    let (ada, bob) = (("ada", "ada-has-this-token"), ("bob", "bob-has-another-one"));
    let sandbox = Sandbox::with("policy.json", policy(&[ada, bob]));
    let file = sandbox.path("policy.json");
    let mut node = Served::start(&["--start", "lehr/records=/notes", "--policy", file.to_str().unwrap()]);
    let status =
        |token: &str| send(&node.url, "GET /notes", &format!("authorization: Bearer {token}\r\n"), "").unwrap().0;
    assert_eq!([status(ada.1), status(bob.1)], [200, 200]);
    // The token is revoked.
    sandbox.write("policy.json", policy(&[bob]));
    signal(&node, "-HUP");
    while status(ada.1) != 401 {
        std::thread::yield_now();
    }
    assert_eq!(status(bob.1), 200);
    // What cannot be used changes nothing, and a signal that means nothing does nothing.
    sandbox.write("policy.json", "{");
    signal(&node, "-HUP");
    signal(&node, "-USR1");
    signal(&node, "-USR2");
    assert_eq!([status(ada.1), status(bob.1)], [401, 200]);
    signal(&node, "-TERM");
    assert_eq!(node.process.wait().unwrap().code(), Some(0));
}

#[test]
fn a_limit_on_the_size_of_files_refuses_changes_and_leaves_the_node_alive() {
    let sandbox = Sandbox::new();
    let kept = sandbox.path("kept");
    let options = ["--start", "lehr/records=/notes", "--keep", kept.to_str().unwrap()];
    // Some kilobytes, whichever blocks this shell counts in.
    let node = limited("ulimit -f 64", &options);
    let mut acknowledged = 0;
    let refused = loop {
        let body = json!({ "key": format!("{acknowledged:06}"), "value": "x".repeat(4000) }).to_string();
        match ask(&node.url, "POST /notes:insert", &body) {
            Some((200, _)) => acknowledged += 1,
            other => break other,
        }
    };
    let (status, answer) = refused.expect("an answer, and no broken connection");
    assert_eq!((status, answer["code"].as_str()), (507, Some("insufficient_resources")), "{answer}");
    let (_, state) = ask(&node.url, "GET /notes", "").unwrap();
    assert_eq!(state["records"].as_object().unwrap().len(), acknowledged);
}

#[test]
fn with_all_descriptors_used_up_clients_that_are_there_go_on_and_others_get_in() {
    let node = limited("ulimit -n 80", &["--start", "lehr/records=/notes"]);
    let address = node.url.strip_prefix("http://").unwrap();
    let mut working = TcpStream::connect(address).unwrap();
    let mut get = |idle: usize| {
        write!(working, "GET /notes:find?key=a HTTP/1.1\r\nhost: {address}\r\n\r\n").unwrap();
        let (mut answer, mut byte) = (Vec::new(), [0]);
        while !answer.ends_with(b"}") {
            assert_eq!(working.read(&mut byte).unwrap(), 1, "with {idle} idle connections");
            answer.push(byte[0]);
        }
    };
    let mut idle = Vec::new();
    for number in 0..120 {
        get(number);
        idle.push(TcpStream::connect(address).unwrap());
    }
    get(idle.len());
    assert_eq!(ask(&node.url, "GET /health", "").unwrap().0, 200);
}

#[test]
fn every_line_is_json_when_asked_for_and_one_says_where_the_node_listens() {
    let sandbox = Sandbox::new();
    let errors = sandbox.path("stderr");
    let mut command = Command::new(env!("CARGO_BIN_EXE_lehr"));
    command.args(["serve", "--listen", "127.0.0.1:0", "--log", "info", "--log-json"]);
    let mut node = Served::run_telling(command, File::create(&errors).unwrap());
    ask(&node.url, "GET /health", "").unwrap();
    ask(&node.url, "GET /nothing", "").unwrap();
    signal(&node, "-TERM");
    assert_eq!(node.process.wait().unwrap().code(), Some(0));
    let lines: Vec<Value> = sandbox.read("stderr").lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.iter().all(|line| line["time"].is_number() && line["level"].is_string()), "{lines:?}");
    let listening: Vec<&Value> = lines.iter().filter(|line| line["event"] == "listening").collect();
    assert_eq!(listening.len(), 1);
    assert_eq!(listening[0]["address"], node.url);
    assert!(lines.iter().any(|line| line["event"] == "request" && line["status"] == 404));
}

/// Takes one batch of spans, whatever it is, and gives the path and the body.
fn collector() -> (String, lehr_sync::thread::Joined, mpsc::Receiver<(String, Vec<u8>)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let (sender, batches) = mpsc::channel();
    let thread = lehr_sync::thread::Joined::start("collector", move || {
        let (stream, _) = listener.accept().unwrap();
        let mut reader = BufReader::new(stream);
        let (mut head, mut line) = (String::new(), String::new());
        while reader.read_line(&mut line).unwrap() > 2 {
            head += &std::mem::take(&mut line).to_lowercase();
        }
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap().parse().unwrap();
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
        sender.send((head.lines().next().unwrap().to_owned(), body)).unwrap();
    });
    (address, thread.unwrap(), batches)
}

#[test]
fn a_collector_is_named_by_an_option_or_by_the_variables_that_operators_know() {
    let serve = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lehr"));
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        command
    };
    for is_option in [true, false] {
        let (address, _thread, batches) = collector();
        let mut command = serve();
        if is_option {
            command.args(["--telemetry", &address]).env("OTEL_SDK_DISABLED", "true");
        } else {
            command.env("OTEL_EXPORTER_OTLP_ENDPOINT", &address);
        }
        command.env("OTEL_SERVICE_NAME", "clusters-of-the-north");
        let mut node = Served::run(command);
        ask(&node.url, "GET /health", "").unwrap();
        signal(&node, "-TERM");
        assert_eq!(node.process.wait().unwrap().code(), Some(0));
        let (target, body) = batches.recv().unwrap();
        assert_eq!(target, "post /v1/traces http/1.1");
        let has = |text: &str| body.windows(text.len()).any(|part| part == text.as_bytes());
        assert!(has("clusters-of-the-north") && has("GET /health"));
    }
    let sandbox = Sandbox::new();
    let refused = sandbox.lehr(&["serve", "--listen", "127.0.0.1:0", "--telemetry", "somewhere"]);
    assert_eq!(refused.code, 2);
    assert!(refused.stderr.contains("expected the address of a collector"), "{}", refused.stderr);
    // The environment of a machine keeps no node from starting.
    let errors = sandbox.path("stderr");
    let mut command = serve();
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "somewhere");
    let node = Served::run_telling(command, File::create(&errors).unwrap());
    assert_eq!(ask(&node.url, "GET /health", "").unwrap().0, 200);
    assert!(sandbox.read("stderr").contains("the environment variables request telemetry, but Lehr cannot send it"));
}

fn with_token(words: &[&str], token: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lehr")).args(words).env("LEHR_TOKEN", token).output().unwrap()
}

#[test]
fn a_token_may_come_from_the_environment_and_the_list_of_a_node_takes_one() {
    let sandbox = Sandbox::with("policy.json", policy(&[("ada", "ada-has-this-token")]));
    let node =
        Served::start(&["--start", "lehr/records=/notes", "--policy", sandbox.path("policy.json").to_str().unwrap()]);
    let listed = with_token(&["ls", &node.url], "ada-has-this-token");
    assert!(listed.status.success() && String::from_utf8_lossy(&listed.stdout).contains("/notes"));
    let none = sandbox.lehr(&["ls", &node.url]);
    assert_eq!(none.code, 1);
    assert!(
        none.stderr.contains("a token is required to ") && none.stderr.contains("(unauthenticated)"),
        "{}",
        none.stderr
    );
}

#[test]
fn a_policy_is_checked_before_a_node_runs_with_it() {
    let sandbox = Sandbox::with("right.json", policy(&[("ada", "ada-has-this-token")]));
    let right = sandbox.lehr(&["check-policy", "right.json"]).succeeded();
    assert_eq!(right.stdout, "right.json: no fault found\n");
    let text = r#"{ "callers": { "ada": { "token": "short" }, "bob": { "token_sha256": "12" } }, "rules": [{ "callers": ["eve"] }] }"#;
    sandbox.write("wrong.json", text);
    let wrong = sandbox.lehr(&["check-policy", "wrong.json"]);
    assert_eq!(wrong.code, 3);
    for fault in
        ["\"ada\": a token has at least 16", "\"bob\": token_sha256 has 64", "rule 1: no caller is called \"eve\""]
    {
        assert!(wrong.stderr.contains(fault), "{}", wrong.stderr);
    }
    sandbox.write("open.json", r#"{ "callers": {}, "rules": [{ "effect": "allow" }] }"#);
    let open = sandbox.lehr(&["check-policy", "open.json"]).succeeded();
    assert!(
        open.stderr.contains("warning: policy: rule 1: anyone who reaches the node may do everything"),
        "{}",
        open.stderr
    );
    let insecure = Served::start(&["--policy", sandbox.path("open.json").to_str().unwrap()]);
    assert_eq!(ask(&insecure.url, "GET /directory", "").unwrap().0, 200);
}
