//! Several nodes, each a process: they find each other, die, and keep what they have acknowledged. Those that need the
//! rights of root to cut a network or to fill a disk are ignored unless asked for: `make isolation`.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::sandbox::Sandbox;
use super::services::Served;

/// Asks a node by hand: the status and the body; nothing if there is no answer.
pub fn ask(url: &str, line: &str, body: &str) -> Option<(u16, Value)> {
    send(url, line, "", body)
}

/// The same with headers, each ending in `\r\n`.
pub fn send(url: &str, line: &str, headers: &str, body: &str) -> Option<(u16, Value)> {
    let address = url.strip_prefix("http://")?;
    let mut stream = TcpStream::connect(address).ok()?;
    let length = body.len();
    let head =
        format!("{line} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{headers}content-length: {length}\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes()).ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.split(' ').nth(1)?.parse().ok()?, serde_json::from_str(body).ok()?))
}

/// Asks until the answer is as it should be: however long that takes.
fn until(url: &str, line: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    loop {
        if let Some((200, answer)) = ask(url, line, "")
            && is_so(&answer)
        {
            return answer;
        }
        std::thread::yield_now();
    }
}

const FIND: &str = "GET /nodes:find?contract=lehr/records";

#[test]
fn three_nodes_find_each_other_and_one_that_is_killed_is_gone_until_it_comes_back() {
    let hub = Served::start(&["--lease", "2"]);
    let joining = ["--join", &hub.url, "--lease", "2", "--start", "lehr/records=/notes"];
    let (mut first, second) = (Served::start(&joining), Served::start(&joining));
    for node in [&first, &second] {
        let (status, _) = ask(&hub.url, "POST /nodes:join", &json!({ "address": node.url }).to_string()).unwrap();
        assert_eq!(status, 200);
    }
    // The hub finds both; each of the others its own, by its path.
    let mut expected = vec![first.at("/notes"), second.at("/notes")];
    expected.sort();
    until(&hub.url, FIND, |found| *found == json!(expected));
    until(&second.url, FIND, |found| *found == json!(["/notes"]));

    first.kill();
    let known = until(&hub.url, "GET /nodes", |state| state["nodes"][&first.url]["reach"] == "gone");
    assert_eq!(known["nodes"][&first.url]["services"], json!({}));
    assert!(known["nodes"][&first.url]["fault"]["reason"].is_string(), "why it is gone: {known}");
    until(&hub.url, FIND, |found| *found == json!([second.at("/notes")]));

    // At the same address, in another life.
    let address = first.url.strip_prefix("http://").unwrap();
    let mut again = Command::new(env!("CARGO_BIN_EXE_lehr"));
    again.args(["serve", "--listen", address, "--start", "lehr/records=/notes"]);
    let again = Served::run(again);
    assert_eq!(again.url, first.url);
    until(&hub.url, FIND, |found| *found == json!(expected));
}

/// Adds records until it is told to stop or not answered any more; gives how many were acknowledged.
fn add(url: &str, from: usize, mut goes_on: impl FnMut(usize) -> bool) -> usize {
    let mut acknowledged = from;
    loop {
        let body = json!({ "key": format!("{acknowledged:06}"), "value": "x".repeat(500) }).to_string();
        match ask(url, "POST /notes:insert", &body) {
            Some((200, _)) => acknowledged += 1,
            None => return acknowledged,
            Some(other) => panic!("{other:?}"),
        }
        if !goes_on(acknowledged) {
            return acknowledged;
        }
    }
}

#[test]
fn what_was_acknowledged_is_there_after_a_kill_in_the_middle_of_writes() {
    let sandbox = Sandbox::new();
    let kept = sandbox.path("kept");
    let start = || Served::start(&["--start", "lehr/records=/notes", "--keep", kept.to_str().unwrap()]);
    let mut acknowledged = 0;
    for round in 1..=8 {
        let mut node = start();
        let (_, state) = ask(&node.url, "GET /notes", "").unwrap();
        let records = state["records"].as_object().unwrap();
        // What was on its way when the node was killed may have been done.
        assert!((acknowledged..=acknowledged + 1).contains(&records.len()), "{} of {acknowledged}", records.len());
        assert!((0..acknowledged).all(|number| records.contains_key(&format!("{number:06}"))));
        acknowledged = records.len();
        let url = node.url.clone();
        let writer = std::thread::Builder::new();
        let (told, tells) = std::sync::mpsc::channel();
        let writer = writer.spawn(move || add(&url, acknowledged, |number| told.send(number).is_ok())).unwrap();
        // Killed while the writer goes on: after some acknowledgements, in the middle of whatever comes next.
        for _ in 0..5 * round {
            tells.recv().unwrap();
        }
        node.kill();
        drop(tells);
        acknowledged = writer.join().unwrap();
    }
}

#[test]
fn a_node_with_tls_is_asked_with_its_authority_from_the_command_line() {
    let sandbox = Sandbox::new();
    sandbox.write("no.pem", "nothing");
    sandbox.write("no.key", "nothing");
    let wrong = sandbox.lehr(&["serve", "--listen", "127.0.0.1:0", "--cert", "no.pem", "--key", "no.key"]);
    assert_eq!(wrong.code, 3);
    assert!(wrong.stderr.contains("no.pem: "), "{}", wrong.stderr);
    let alone = sandbox.lehr(&["serve", "--cert", "no.pem"]);
    assert_eq!(alone.code, 2);
    let node = Served::start(&[]);
    let plain = node.url.replace("http://", "https://");
    sandbox.write("ca.pem", "nothing");
    let bad = sandbox.lehr(&["ls", &plain, "--ca", "ca.pem"]);
    assert_eq!(bad.code, 3);
    assert!(
        bad.stderr.contains("ca.pem: expected \"-----BEGIN CERTIFICATE-----\", found no certificate"),
        "{}",
        bad.stderr
    );
}

/// Runs a program that sets something up; says what went wrong.
fn set_up(words: &str) {
    let mut parts = words.split(' ');
    let output = Command::new(parts.next().unwrap()).args(parts).output().unwrap();
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A file system of its own, small; gone when it is dropped.
pub struct Disk(PathBuf);

impl Disk {
    pub fn new(place: &Path, kilobytes: usize) -> Self {
        std::fs::create_dir_all(place).unwrap();
        set_up(&format!("mount -t tmpfs -o size={kilobytes}k none {}", place.display()));
        Self(place.to_owned())
    }

    /// Makes it larger, with what is on it.
    pub fn grow(&self, kilobytes: usize) {
        set_up(&format!("mount -o remount,size={kilobytes}k {}", self.0.display()));
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
#[ignore = "mounts a file system, which takes the rights of root; make isolation runs it"]
fn isolated_a_full_disk_refuses_changes_and_loses_nothing() {
    let sandbox = Sandbox::new();
    let disk = Disk::new(&sandbox.path("disk"), 64);
    let kept = disk.0.to_str().unwrap().to_owned();
    let mut node = Served::start(&["--start", "lehr/records=/notes", "--keep", &kept]);
    let insert = |url: &str, number: usize| {
        let body = json!({ "key": format!("{number:06}"), "value": "x".repeat(500) }).to_string();
        ask(url, "POST /notes:insert", &body).unwrap()
    };
    let mut acknowledged = 0;
    let refused = loop {
        let (status, answer) = insert(&node.url, acknowledged);
        if status != 200 {
            break (status, answer);
        }
        acknowledged += 1;
    };
    assert_eq!((refused.0, refused.1["code"].as_str()), (507, Some("insufficient_resources")), "{refused:?}");
    assert!(acknowledged > 10);
    let count = |url: &str| ask(url, "GET /notes", "").unwrap().1["records"].as_object().unwrap().len();
    assert_eq!(count(&node.url), acknowledged, "the change that was refused was not made");
    // With less to keep there is room again.
    let (status, _) = ask(&node.url, "PUT /notes", r#"{"records":{"one":1}}"#).unwrap();
    assert_eq!(status, 200);
    assert_eq!(insert(&node.url, 7).0, 200);
    node.kill();
    let node = Served::start(&["--start", "lehr/records=/notes", "--keep", &kept]);
    assert_eq!(count(&node.url), 2);
}

/// Hosts with a network of their own each, and a switch between them.
pub struct Networks {
    names: Vec<String>,
}

impl Networks {
    pub fn new(hosts: usize) -> Self {
        let tag = std::process::id() % 100_000;
        let names: Vec<String> = (0..=hosts).map(|host| format!("lehr{tag}h{host}")).collect();
        let networks = Self { names };
        let switch = &networks.names[0];
        set_up(&format!("ip netns add {switch}"));
        set_up(&format!("ip -n {switch} link add bridge0 type bridge"));
        set_up(&format!("ip -n {switch} link set bridge0 up"));
        for (host, name) in networks.names.iter().enumerate().skip(1) {
            set_up(&format!("ip netns add {name}"));
            set_up(&format!("ip -n {name} link add eth0 type veth peer name port{host} netns {switch}"));
            set_up(&format!("ip -n {switch} link set port{host} master bridge0 up"));
            set_up(&format!("ip -n {name} addr add 10.77.0.{host}/24 dev eth0"));
            set_up(&format!("ip -n {name} link set lo up"));
            set_up(&format!("ip -n {name} link set eth0 up"));
        }
        networks
    }

    /// A host's cable, in or out.
    pub fn cable(&self, host: usize, state: &str) {
        set_up(&format!("ip -n {} link set port{host} {state}", self.names[0]));
    }

    /// The binary on a host.
    pub fn command(&self, host: usize) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[host], env!("CARGO_BIN_EXE_lehr")]);
        command
    }

    pub fn node(&self, host: usize, options: &[&str]) -> Served {
        let mut command = self.command(host);
        let address = format!("10.77.0.{host}:8420");
        command.args(["serve", "--insecure", "--listen", &address]).args(options);
        Served::run(command)
    }

    /// Asks a node from another host until the answer is as it should be.
    fn until(&self, host: usize, words: &[&str], is_so: impl Fn(&Value) -> bool) {
        loop {
            let output = self.command(host).args(words).output().unwrap();
            if serde_json::from_slice(&output.stdout).is_ok_and(|answer| is_so(&answer)) {
                return;
            }
        }
    }
}

impl Drop for Networks {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = Command::new("ip").args(["netns", "del", name]).status();
        }
    }
}

#[test]
#[ignore = "makes networks, which takes the rights of root; make isolation runs it"]
fn isolated_one_of_three_hosts_that_is_cut_off_is_gone_and_comes_back() {
    let networks = Networks::new(3);
    let start = ["--start", "lehr/records=/notes", "--lease", "2"];
    let url = |host: usize| format!("http://10.77.0.{host}:8420");
    let others = |host: usize| (1..=3).filter(move |other| *other != host).map(url).collect::<Vec<_>>();
    let nodes: Vec<Served> = (1..=3)
        .map(|host| {
            let others = others(host);
            networks.node(host, &[&start[..], &["--join", &others[0], "--join", &others[1]]].concat())
        })
        .collect();
    let body = json!({ "contract": "lehr/records" }).to_string();
    let finds = |host: usize, expected: Vec<String>| {
        let own = url(host);
        let nodes = format!("{own}/nodes");
        networks.until(host, &["query", &nodes, "find", &body], |found| *found == json!(expected));
    };
    let notes = |hosts: &[usize]| {
        let found = hosts.iter().map(|host| format!("{}/notes", url(*host)));
        std::iter::once("/notes".to_owned()).chain(found).collect::<Vec<_>>()
    };
    finds(1, notes(&[2, 3]));
    finds(3, notes(&[1, 2]));
    // The third is cut off for longer than its lease: it loses the others, they lose it and keep each other.
    networks.cable(3, "down");
    finds(1, notes(&[2]));
    finds(2, notes(&[1]));
    finds(3, notes(&[]));
    networks.cable(3, "up");
    finds(1, notes(&[2, 3]));
    finds(3, notes(&[1, 2]));
    drop(nodes);
}
