//! The other side: programs of `make peers-ports`, one a library, that answer lines (the protocol stands in `lab/runners/ports/src/lib.rs`).

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::runner::{Runner, number};

/// Where `make peers-ports` puts the programs.
pub const FOLDER: &str = "target/peers/ports";

/// The program of the C floors.
pub const FLOOR: &str = "ports_floor";

/// What to do if there are none.
pub const HOW_TO_BUILD: &str =
    "no peers: `make peers-ports` builds them (a minute or two), and --peers names a folder that has them";

/// One library's program, running.
#[derive(Debug)]
pub struct Peer {
    /// The program's file.
    pub path: PathBuf,
    /// Names of its engines, by number.
    pub engines: Vec<String>,
    /// Its libraries and their versions.
    pub libraries: Value,
    runner: Runner,
}

impl Peer {
    /// Starts the program and asks what it has.
    ///
    /// # Errors
    /// If it does not start or does not speak the protocol.
    pub fn start(path: &Path) -> Result<Self> {
        let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let mut runner = Runner::start(&name, path, std::iter::empty::<&str>())?;
        let about = runner.ask("about")?;
        let engines = about["engines"].as_array().with_context(|| format!("{name} names no engines"))?;
        let engines = engines.iter().filter_map(Value::as_str).map(String::from).collect();
        Ok(Self { path: path.into(), engines, libraries: about["libraries"].clone(), runner })
    }

    /// Whether this is the floor and not a library.
    pub fn is_floor(&self) -> bool {
        self.path.file_stem().is_some_and(|stem| stem == FLOOR)
    }

    /// Sends a request; `None` if the engine does not do that.
    ///
    /// # Errors
    /// If the program ended (a wrong result ends it) or answered something else.
    pub fn ask(&mut self, request: &str) -> Result<Option<Value>> {
        let answer = self.runner.ask(request).with_context(|| format!("request {request:?}"))?;
        Ok((answer["absent"] != Value::Bool(true)).then_some(answer))
    }

    /// Seconds that a request took.
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    pub fn seconds(&mut self, request: &str) -> Result<Option<f64>> {
        self.ask(request)?.map(|answer| number(&answer, "seconds")).transpose()
    }
}

/// Starts every program of `folder`, in the order of their names; none if there is no such folder.
///
/// # Errors
/// A program that does not speak the protocol.
pub fn start_all(folder: &Path) -> Result<Vec<Peer>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Ok(Vec::new()) };
    let mut paths: Vec<_> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    paths.iter().map(|path| Peer::start(path)).collect()
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_program_that_speaks_the_protocol_is_a_peer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("echo");
        let script = "#!/bin/sh\nwhile read -r line; do case \"$line\" in about) echo '{\"libraries\": {}, \"engines\": [\"one\"]}';; \
                      '0 pattern'*) echo '{\"seconds\": 0.5}';; *) echo '{\"absent\": true}';; esac; done\n";
        std::fs::write(&path, script).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut peers = start_all(folder.path()).unwrap();
        assert_eq!(peers[0].engines, ["one"]);
        assert_eq!(peers[0].seconds("0 pattern rendezvous shift 2 2 0 10").unwrap(), Some(0.5));
        assert_eq!(peers[0].seconds("0 pending 10").unwrap(), None);
        assert!(!peers[0].is_floor());
    }

    #[test]
    fn no_folder_is_no_peers() {
        assert!(start_all(Path::new("no such folder")).unwrap().is_empty());
    }
}
