//! A node and those who ask it, as processes.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use super::sandbox::Sandbox;

/// A node that listens at a port of the system's choice; ended when it is dropped.
pub struct Served {
    pub process: Child,
    pub url: String,
}

impl Served {
    pub fn start(options: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lehr"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(options);
        Self::run(command)
    }

    /// Runs a command that is a node, and waits until it listens.
    pub fn run(command: Command) -> Self {
        Self::run_telling(command, Stdio::null())
    }

    /// The same with a place for what it says on standard error.
    pub fn run_telling(mut command: Command, errors: impl Into<Stdio>) -> Self {
        let mut process = command.stdout(Stdio::piped()).stderr(errors).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { process, url: url.trim().to_owned() }
    }

    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// Kills it, as `kill -9` does.
    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_node_is_asked_from_the_command_line() {
    let (node, sandbox) = (Served::start(&["--start", "lehr/records=/notes"]), Sandbox::new());
    let notes = node.at("/notes");
    // Nothing here waits for less than the machine may need.
    let ask = |words: &[&str]| sandbox.lehr(&[words, &["--timeout", "86400"]].concat());
    let listed = ask(&["ls", &node.url]).succeeded().stdout;
    assert_eq!(
        listed,
        "path          contract          version  phase\n\
         /clustering   lehr.clustering   1.0      ready\n\
         /constructor  lehr/constructor  1.0      ready\n\
         /datasets     lehr.datasets     1.0      ready\n\
         /directory    lehr/directory    1.0      ready\n\
         /inspector    lehr/inspector    1.0      ready\n\
         /log          lehr/log          1.0      ready\n\
         /manifest     lehr/manifest     1.0      ready\n\
         /nodes        lehr/nodes        1.0      ready\n\
         /notes        lehr/records      1.0      ready\n\
         /workflows    lehr/workflows    1.0      ready\n"
    );
    let record = r#"{"key": "loom", "value": {"shafts": 8}}"#;
    let mut watching = sandbox.start(&["watch", &notes, "--count", "1"]);
    let mut heard = BufReader::new(watching.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert_eq!(heard.next().unwrap(), r#"{"state":{"records":{}},"version":0}"#);
    assert_eq!(ask(&["submit", &notes, "insert", record]).succeeded().stdout, "null\n");
    assert_eq!(
        heard.next().unwrap(),
        r#"{"body":{"key":"loom","value":{"shafts":8}},"key":"loom","operation":"insert","version":1}"#
    );
    assert!(heard.next().is_none() && watching.wait().unwrap().success());
    let found = ask(&["query", &notes, "find", r#"{"key": "loom"}"#]).succeeded().stdout;
    assert_eq!(found, "{\n  \"shafts\": 8\n}\n");
    let state = ask(&["get", &notes]).succeeded().stdout;
    assert_eq!(serde_json::from_str::<serde_json::Value>(&state).unwrap()["records"]["loom"]["shafts"], 8);
    let again = ask(&["submit", &notes, "insert", record]);
    assert_eq!((again.code, again.stderr.as_str()), (1, "error: there is a record \"loom\" (duplicate_entry)\n"));
    let wrong = ask(&["submit", &notes, "insert", r#"{"key": "loom"}"#]);
    assert_eq!(wrong.code, 3);
    assert!(wrong.stderr.contains("missing field `value`"), "{}", wrong.stderr);
    let change = ask(&["query", &notes, "insert", record]);
    assert_eq!(change.code, 2);
    assert!(change.stderr.contains("insert is no query: its verb is insert"), "{}", change.stderr);

    ask(&["drop", &notes]).succeeded();
    let gone = ask(&["get", &notes]);
    assert_eq!((gone.code, gone.stderr.as_str()), (1, "error: there is no service at /notes (unknown_service)\n"));
}

#[test]
fn what_cannot_be_meant_is_a_usage_error() {
    let sandbox = Sandbox::new();
    let open = sandbox.lehr(&["serve", "--listen", "0.0.0.0:0"]);
    assert_eq!(open.code, 2);
    assert!(open.stderr.contains("--insecure"), "{}", open.stderr);
    let address = sandbox.lehr(&["get", "127.0.0.1:8420/notes"]);
    assert_eq!(address.code, 2);
    assert!(address.stderr.contains("expected an address such as"), "{}", address.stderr);
    let kind = sandbox.lehr(&["serve", "--listen", "127.0.0.1:0", "--start", "lehr/nothing=/x"]);
    assert!(kind.stderr.contains("no service with the contract \"lehr/nothing\" can be made here"), "{}", kind.stderr);
    assert_eq!(kind.code, 1);
}
