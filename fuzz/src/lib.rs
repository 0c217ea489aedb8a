//! Runs each reader on bytes that nobody has checked, and checks the results. libFuzzer looks for bytes that reach new
//! code; without it, `tests/seeds.rs` changes the seeds at random.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::OnceLock;

use lehr_node::manifest::{Findings, Manifest, Plan, Setting};
use lehr_node::{Client, INSPECTOR, Inspector, Log, Node, Policy, Records, Settings};
use lehr_services::{Contract, Host, Kind, Verb};
use lehr_workflow::Workflow;

pub mod readers;

/// A function that runs one reader on the bytes of an input, and checks the result.
pub type Target = fn(&[u8]);

/// Each target with its name, which is also the name of its folder of seeds.
pub const TARGETS: [(&str, Target); 13] = [
    ("edge", edge),
    ("settings", settings),
    ("manifest", manifest),
    ("workflow", workflow),
    ("table", readers::table),
    // This target has the same function and its own seeds, because neither kind of file leads to the other.
    ("workbook", readers::table),
    ("parquet", readers::table),
    ("array", readers::array),
    ("sequences", readers::sequences),
    ("molecules", readers::molecules),
    ("sparse", readers::sparse),
    ("matrix", readers::matrix),
    ("model", readers::model),
];

/// Returns the address of the node to which all inputs are sent.
fn node() -> SocketAddr {
    static NODE: OnceLock<SocketAddr> = OnceLock::new();
    *NODE.get_or_init(|| {
        let dispatcher = lehr_runtime::Dispatcher::new(1).unwrap();
        let host = Host::new(dispatcher.handle());
        lehr_runtime::block_on(async {
            host.start("/notes", Records::default).await.unwrap();
            host.start(INSPECTOR, Inspector::default).await.unwrap();
        });
        let settings = Settings { address: ([127, 0, 0, 1], 0).into(), ..Settings::new() };
        let node = Node::start(host, settings).unwrap();
        let address = node.address();
        // The node and the dispatcher serve until the end of the process.
        std::mem::forget((node, dispatcher));
        address
    })
}

/// Sends bytes over a connection: the node must answer or close it, and never report an internal error.
pub fn edge(bytes: &[u8]) {
    let mut stream = TcpStream::connect(node()).unwrap();
    let _ = stream.write_all(bytes);
    let _ = stream.shutdown(Shutdown::Write);
    let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        answer.extend_from_slice(&piece[..count]);
        // The node sends changes as long as a client listens.
        if answer.windows(17).any(|part| part == b"text/event-stream") {
            break;
        }
    }
    assert!(!answer.windows(12).any(|part| part == b"HTTP/1.1 500"), "{}", String::from_utf8_lossy(&answer));
}

/// Reads a policy, filters of the log, and the address of a node: each must be accepted, or refused with a reason.
pub fn settings(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Policy::from_json(text) {
        Err(fault) => assert!(!fault.reason().is_empty()),
        Ok(policy) => {
            let _ = policy.caller(Some(text));
            let _ = policy.check("anonymous", Verb::Get, text, text);
        }
    }
    if let Ok(log) = Log::new(text, |_| ()) {
        assert_eq!(log.filters(), text);
    }
    let _ = Client::new(Some(text)).map(|client| client.link(text).is_ok());
}

/// Checks a report: it must have faults, in order, each with a text and on a line that exists in the source.
fn check_report(findings: &Findings, text: &str) {
    let shown = findings.shown();
    assert!(!shown.is_empty() && shown.len() <= Findings::KEPT && shown.len() <= findings.count());
    let lines = text.split('\n').count();
    for finding in &shown {
        assert!(!finding.text.is_empty());
        assert!(finding.line.is_none_or(|line| (1..=lines).contains(&line)), "{finding} of {lines} lines");
    }
    assert!(shown.is_sorted_by_key(|finding| finding.line));
    assert!(!findings.to_string().is_empty());
}

/// Reads and plans a manifest, which may be refused with positions.
pub fn manifest(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let read = match Manifest::read("fuzz.toml", text) {
        Ok(read) => read,
        Err(findings) => return check_report(&findings, text),
    };
    assert!(Manifest::merge([read.clone(), read.clone()]).is_ok(), "a manifest says the same as itself");
    let kind =
        Kind { configuration: None, partners: BTreeMap::from([("notes".into(), Records::NAME.into())]), fixed: vec![] };
    let setting = Setting {
        kind: &|contract| (contract == Records::NAME).then(|| kind.clone()),
        contracts: vec![Records::NAME.to_owned()],
        running: BTreeMap::new(),
        cores: 2,
        keeps: true,
    };
    match Plan::new(&read, &Manifest::default(), &setting) {
        Err(findings) => check_report(&findings, text),
        Ok(plan) => {
            assert_eq!(plan.changes.len(), read.services().len());
            for (path, record) in read.services() {
                let placed = record.placement(path, None);
                assert!(placed.check().is_ok(), "what is planned can be placed: {path}");
            }
        }
    }
}

/// Reads a workflow file, which may be refused with positions.
pub fn workflow(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match Workflow::read("fuzz.toml", text) {
        Err(findings) => check_report(&findings, text),
        Ok(workflow) => {
            let steps: Vec<&str> = workflow.steps().collect();
            let mut names = steps.clone();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), steps.len(), "each step once");
            if let Err(findings) = workflow.parameters(&BTreeMap::new()) {
                check_report(&findings, text);
            }
        }
    }
}

/// A generator of random numbers that are the same on every machine.
pub struct Chance(pub u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a random number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Returns one of the seeds with a few random changes: bytes changed, inserted or removed, a part of a seed
    /// inserted, or the end cut off. Sometimes, it returns only random bytes.
    pub fn mangled(&mut self, seeds: &[Vec<u8>]) -> Vec<u8> {
        if self.below(10) == 0 {
            return (0..self.below(300)).map(|_| self.next() as u8).collect();
        }
        let mut text = seeds[self.below(seeds.len())].clone();
        for _ in 0..=self.below(6) {
            let at = self.below(text.len().max(1));
            match self.below(5) {
                0 if !text.is_empty() => text[at] = self.next() as u8,
                1 => text.insert(at, self.next() as u8),
                2 => drop(text.drain(at..(at + self.below(40)).min(text.len()))),
                3 => {
                    let other = &seeds[self.below(seeds.len())];
                    let from = self.below(other.len().max(1));
                    text.splice(at..at, other[from..].iter().copied());
                }
                _ => text.truncate(at),
            }
        }
        text
    }
}
