//! Peers: programs that answer lines, one program for each library. `lab/runners/ports/src/lib.rs` documents the
//! protocol; `{"wrong": "what"}` reports a wrong result.
//!
//! A program that is not built, does not speak the protocol, ends, or gives an invalid answer is *absent*. The lab
//! reports this in one line, the record has it, and the session continues without the program. Errors of Lehr's own
//! programs, whose names begin with `lehr`, end the measurement.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde_json::Value;

use super::Lab;
use crate::output;
use crate::runner::{Runner, number};

/// The maximum time that a peer may take for an answer; after it, the peer counts as stuck. A sample lasts half a
/// second, a million pending receives take some seconds.
const PATIENCE: Duration = Duration::from_secs(600);

/// The beginning of the reason why a program that does not exist is absent.
pub const NOT_BUILT: &str = "not built";

/// The program of a library: running, or absent.
#[derive(Debug)]
pub struct Peer {
    /// The path of the program.
    pub path: PathBuf,
    /// The names of its engines, by number.
    pub engines: Vec<String>,
    /// The libraries of the program with their versions.
    pub libraries: Value,
    /// The reasons why the peer, or one of its engines, does not take part, a line for each.
    pub absent: Vec<String>,
    runner: Option<Runner>,
}

impl Peer {
    /// Starts the program and asks for its engines and libraries.
    ///
    /// # Errors
    /// Returns an error if the program does not start or does not speak the protocol.
    pub fn start(path: &Path) -> Result<Self> {
        let name = name_of(path);
        let mut runner = Runner::start(&name, path, std::iter::empty::<&str>())?.with_patience(PATIENCE);
        let about = runner.ask("about")?;
        let words = |key: &str| -> Option<Vec<String>> {
            about[key].as_array()?.iter().map(|word| word.as_str().map(String::from)).collect()
        };
        let engines = words("engines").with_context(|| format!("{name} names no engines"))?;
        let absent = words("absent").unwrap_or_default();
        Ok(Self { path: path.into(), engines, libraries: about["libraries"].clone(), absent, runner: Some(runner) })
    }

    /// Starts the same program in a new process. The peer is absent if the program does not start again.
    ///
    /// # Errors
    /// Returns an error if the program is Lehr's and does not start.
    pub fn fresh(&self) -> Result<Self> {
        match Self::start(&self.path) {
            Err(error) if !self.is_ours() => {
                output::note(&format!("{} does not start again: {error:#}", self.name()));
                Ok(Self::missing(&self.path, format!("{error:#}")))
            }
            started => started,
        }
    }

    /// Returns a peer that does not take part, with the reason.
    fn missing(path: &Path, why: String) -> Self {
        Self { path: path.into(), engines: Vec::new(), libraries: Value::Null, absent: vec![why], runner: None }
    }

    /// Returns the name of the peer, which is the name of its file.
    pub fn name(&self) -> String {
        name_of(&self.path)
    }

    /// Returns whether this is a floor and not a library: its name ends with `_floor`.
    pub fn is_floor(&self) -> bool {
        self.name().split('.').next().is_some_and(|stem| stem.ends_with("_floor"))
    }

    /// Returns whether this is Lehr in a separate process: its name begins with `lehr`.
    pub fn is_ours(&self) -> bool {
        is_ours(&self.path)
    }

    /// Sends a request and returns the answer. Returns `None` if the engine does not do the job, or if the peer is
    /// absent. A peer that ends or gives an invalid answer is absent from then on.
    ///
    /// # Errors
    /// Returns an error if a program of Lehr has ended (a wrong result ends it), or if its answer is invalid.
    pub fn ask(&mut self, request: &str) -> Result<Option<Value>> {
        self.checked(request, Ok)
    }

    /// Returns the seconds that a request took.
    ///
    /// # Errors
    /// Returns the errors of [`ask`](Self::ask).
    pub fn seconds(&mut self, request: &str) -> Result<Option<f64>> {
        let seconds = self.numbers(request, &["seconds"])?;
        Ok(seconds.and_then(|seconds| seconds.first().copied()))
    }

    /// Returns numbers of an answer, all of them finite.
    ///
    /// # Errors
    /// Returns the errors of [`ask`](Self::ask).
    pub fn numbers(&mut self, request: &str, names: &[&str]) -> Result<Option<Vec<f64>>> {
        self.checked(request, |answer| {
            let numbers: Result<Vec<f64>> = names.iter().map(|name| number(&answer, name)).collect();
            let numbers = numbers?;
            ensure!(numbers.iter().all(|number| number.is_finite()), "the answer is not finite: {answer}");
            Ok(numbers)
        })
    }

    fn checked<T>(&mut self, request: &str, check: impl FnOnce(Value) -> Result<T>) -> Result<Option<T>> {
        let Some(runner) = &mut self.runner else { return Ok(None) };
        let done = runner.ask(request).and_then(|answer| match &answer["absent"] {
            Value::Bool(true) => Ok(None),
            _ => match answer["wrong"].as_str() {
                Some(wrong) => Err(anyhow!("a wrong result: {wrong}")),
                None => check(answer).map(Some),
            },
        });
        match done {
            Ok(answer) => Ok(answer),
            Err(error) if self.is_ours() => Err(error.context(format!("request {request:?}"))),
            Err(error) => {
                self.leave_out(format!("after {request:?}: {error:#}"));
                Ok(None)
            }
        }
    }

    /// Ends the peer and reports the reason in one line.
    pub fn leave_out(&mut self, why: String) {
        let why = why.replace('\n', " ");
        output::note(&format!("{} is left out from here on, {why}", self.name()));
        self.absent.push(why);
        self.runner = None;
    }
}

fn is_ours(path: &Path) -> bool {
    name_of(path).starts_with("lehr")
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Returns every program of `folder`, running or absent, in the order of their names, and the missing programs of `lab`
/// as absent. Prints a line or two about absent programs.
///
/// # Errors
/// Returns an error if a program of Lehr does not speak the protocol.
pub fn start_all(lab: &Lab, folder: &Path) -> Result<Vec<Peer>> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut paths: Vec<_> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    let mut peers = Vec::new();
    for path in &paths {
        match Peer::start(path) {
            Ok(peer) => {
                for why in &peer.absent {
                    output::note(&format!("absent: {why}"));
                }
                peers.push(peer);
            }
            Err(error) if is_ours(path) => bail!("{error:#}"),
            Err(error) => {
                let why = format!("{error:#}").replace('\n', " ");
                output::note(&format!("{} is left out, {why}", name_of(path)));
                peers.push(Peer::missing(path, why));
            }
        }
    }
    let is_there = |name: &str| paths.iter().any(|path| path.file_stem().is_some_and(|stem| stem == name));
    let missing: Vec<_> = lab.programs.iter().filter(|(name, _)| !is_there(name)).collect();
    if !missing.is_empty() && missing.len() == lab.programs.len() {
        output::note(lab.how_to_build);
    } else if !missing.is_empty() {
        let names: Vec<_> = missing.iter().map(|(name, target)| format!("{name} (make {target})")).collect();
        output::note(&format!("not built: {}", names.join(", ")));
    }
    peers.extend(missing.iter().map(|(name, target)| {
        Peer::missing(&folder.join(name), format!("{NOT_BUILT}, `make {target}` builds it where it can"))
    }));
    Ok(peers)
}

#[cfg(all(test, unix))]
mod tests {
    use std::process::Command;

    use super::*;

    const OURS: &str = "lehr_side";

    const LAB: Lab = Lab {
        name: "ports",
        folder: "no such folder",
        programs: &[("kanal", "peers-ports"), (OURS, "peers-ports"), ("mpi", "peers-mpi"), ("tokio", "peers-ports")],
        how_to_build: "`make peers-ports` builds them",
    };

    /// Makes a folder with one program, a shell script.
    fn folder_with(name: &str, script: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        // Another process writes the file. If this process wrote it, a child that another test forks meanwhile might
        // keep it open, and the system would refuse to run it.
        let text = format!("#!/bin/sh\n{script}\n");
        let write = "printf '%s' \"$1\" > \"$2\" && chmod 755 \"$2\"";
        let path = folder.path().join(name);
        assert!(Command::new("sh").args(["-c", write, "sh", &text]).arg(path).status().unwrap().success());
        folder
    }

    /// Returns the program of that name, and the number of other absent programs.
    fn started(folder: &tempfile::TempDir, name: &str) -> (Peer, usize) {
        let mut peers = start_all(&LAB, folder.path()).unwrap();
        let place = peers.iter().position(|peer| peer.name() == name).unwrap();
        let peer = peers.remove(place);
        (peer, peers.iter().filter(|peer| peer.engines.is_empty() && !peer.absent.is_empty()).count())
    }

    const ABOUT: &str = "about) echo '{\"libraries\": {}, \"engines\": [\"one\"]}';;";

    #[test]
    fn a_program_that_speaks_the_protocol_is_a_peer() {
        let folder = folder_with(
            "echo",
            &format!(
                "while read -r line; do case \"$line\" in {ABOUT} '0 pattern'*) echo '{{\"seconds\": 0.5}}';; \
                 *) echo '{{\"absent\": true}}';; esac; done"
            ),
        );
        let (mut echo, others) = started(&folder, "echo");
        assert_eq!((echo.engines.join(""), others), ("one".into(), LAB.programs.len()));
        assert_eq!(echo.seconds("0 pattern rendezvous shift 2 2 0 10").unwrap(), Some(0.5));
        assert_eq!(echo.seconds("0 pending 10").unwrap(), None);
        assert!(!echo.is_floor() && echo.absent.is_empty());
    }

    #[test]
    fn no_folder_is_absent_peers() {
        let peers = start_all(&LAB, Path::new(LAB.folder)).unwrap();
        assert_eq!(peers.len(), LAB.programs.len());
        assert!(peers.iter().all(|peer| peer.engines.is_empty() && peer.absent[0].contains("not built")));
    }

    #[test]
    fn a_peer_that_ends_or_says_nonsense_is_left_out_with_its_reason() {
        let cases = [
            ("exit 3", "ended"),
            ("echo 'I do not feel well'", "answered"),
            ("echo '{\"seconds\": \"long\"}'", "no number"),
            ("echo '{\"second\": 1}'", "no number"),
            ("echo '{\"seconds\": null}'", "no number"),
            ("echo '{\"wrong\": \"stage 7\", \"seconds\": 1}'", "a wrong result: stage 7"),
        ];
        for (reaction, why) in cases {
            let folder = folder_with(
                "kanal",
                &format!("while read -r line; do case \"$line\" in {ABOUT} *) {reaction};; esac; done"),
            );
            let (mut peer, others) = started(&folder, "kanal");
            assert_eq!(others, LAB.programs.len() - 1);
            assert_eq!(peer.seconds("0 pattern rendezvous shift 2 2 0 10").unwrap(), None);
            assert_eq!(peer.absent.len(), 1, "{reaction}");
            assert!(peer.absent[0].contains(why) && !peer.absent[0].contains('\n'), "{reaction}: {:?}", peer.absent);
            // After that, the lab sends no more requests to the peer.
            assert_eq!(peer.ask("about").unwrap(), None);
        }
    }

    #[test]
    fn a_program_that_does_not_speak_the_protocol_is_absent_from_the_start() {
        for script in
            ["exit 0", "echo hello; cat > /dev/null", "read -r line; echo '{\"engines\": 3}'; cat > /dev/null"]
        {
            let (peer, _) = started(&folder_with("tokio", script), "tokio");
            assert!(peer.engines.is_empty() && peer.absent.len() == 1, "{script}: {:?}", peer.absent);
        }
    }

    #[test]
    fn ours_may_not_be_wrong() {
        let folder =
            folder_with(OURS, &format!("while read -r line; do case \"$line\" in {ABOUT} *) exit 1;; esac; done"));
        let (mut ours, _) = started(&folder, OURS);
        assert!(format!("{:#}", ours.seconds("0 pending 10").unwrap_err()).contains("0 pending 10"));
        assert!(start_all(&LAB, folder_with(OURS, "exit 1").path()).is_err());
    }

    #[test]
    fn engines_that_could_not_be_had_are_known_with_their_reason() {
        let folder = folder_with(
            "mpi",
            "read -r line; echo '{\"engines\": [], \"absent\": [\"MPICH: no wheel\"]}'; cat > /dev/null",
        );
        assert_eq!(started(&folder, "mpi").0.absent, ["MPICH: no wheel"]);
    }
}
