//! The servers under load, each in its own process: `lehr serve`, and the servers of the runners.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};

use super::load::PATH;
use crate::bench::{Bench, PeerEngine};

/// The workers and the core of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// The number of worker threads.
    pub workers: usize,
    /// The core to which all threads are bound; `None` leaves them free.
    pub core: Option<usize>,
}

impl Form {
    /// Returns the placements. One is all cores for server and load. The other, if there are two cores and servers can
    /// be bound, is one core for the server and another for the load.
    pub fn all(cores: usize) -> Vec<Self> {
        let free = Self { workers: cores, core: None };
        if cores > 1 && can_bind() { vec![Self { workers: 1, core: Some(1) }, free] } else { vec![free] }
    }
}

/// Returns whether there is a program that starts others bound to a core.
fn can_bind() -> bool {
    let found = Command::new("taskset").args(["-c", "1", "true"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    found.is_ok_and(|status| status.success())
}

/// `lehr serve` with records. The process ends when this is dropped.
#[derive(Debug)]
pub struct Node {
    child: Child,
    /// The address at which the node listens.
    pub address: SocketAddr,
}

impl Node {
    /// Starts the node with records, and waits until it listens.
    ///
    /// # Errors
    /// Returns an error if the node does not start, or does not print its address.
    pub fn start(program: &Path, form: Form) -> Result<Self> {
        Self::with(program, form, &[&format!("--start=lehr/records={PATH}")])
    }

    /// Starts the node with these services, or none.
    ///
    /// # Errors
    /// Returns the errors of [`start`](Self::start).
    pub fn with(program: &Path, form: Form, services: &[&str]) -> Result<Self> {
        let mut command = match form.core {
            None => Command::new(program),
            Some(core) => {
                let mut command = Command::new("taskset");
                command.args(["-c", &core.to_string()]).arg(program);
                command
            }
        };
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(services);
        command.args(["--threads", &form.workers.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        // Only the lab gets Ctrl-C, since it decides when its servers end.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().with_context(|| format!("cannot start {}", program.display()))?;
        let mut line = String::new();
        let said = child.stdout.take().map(|output| BufReader::new(output).read_line(&mut line));
        // If the node prints something else, dropping this value kills it.
        let mut node = Self { child, address: SocketAddr::from(([127, 0, 0, 1], 0)) };
        said.context("a piped output")??;
        let address = line.trim().strip_prefix("http://").and_then(|address| address.parse().ok());
        node.address = address.with_context(|| format!("lehr serve said {line:?} and not where it listens"))?;
        Ok(node)
    }

    /// Returns the resident memory in bytes; `None` if the system does not account for it.
    pub fn resident_bytes(&self) -> Option<f64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmRSS"))?;
        Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? * 1024.0)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server under load.
#[derive(Debug)]
pub struct Server {
    /// The name of the server.
    pub name: String,
    /// The address at which the server listens.
    pub address: SocketAddr,
    /// The node of Lehr, which ends with this value.
    _node: Option<Node>,
}

/// Starts Lehr's server and those of the peers that have one.
///
/// # Errors
/// Returns an error if Lehr's server does not start.
pub fn start_all(bench: &mut Bench, program: &Path, form: Form) -> Result<Vec<Server>> {
    let node = Node::start(program, form)?;
    let mut servers = vec![Server { name: "lehr serve".into(), address: node.address, _node: Some(node) }];
    for (PeerEngine { peer, engine }, name) in bench.engines() {
        let core = form.core.map_or_else(String::new, |core| format!(" {core}"));
        let peer = &mut bench.peers[peer];
        let Some(answer) = peer.ask(&format!("{engine} serve {}{core}", form.workers))? else { continue };
        match answer["address"].as_str().and_then(|address| address.parse().ok()) {
            Some(address) => servers.push(Server { name, address, _node: None }),
            None => peer.leave_out(format!("it said {answer} and not where it listens")),
        }
    }
    Ok(servers)
}
