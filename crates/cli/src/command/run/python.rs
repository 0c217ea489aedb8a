//! Services in Python that a workflow brings along: a process of its own serves each file while the run lasts.
//!
//! ```toml
//! [services."/steps"]
//! contract = "lehr/python"
//! configuration = { file = "steps.py", interpreter = ".venv/bin/python" }
//! ```
//!
//! `python3 -m lehr serve` serves the functions of the file on a free port of this machine. The steps of the workflow
//! reach them at the path of the file's entry. A process ends when its standard input ends, so none is left behind if
//! `lehr run` is killed.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use lehr_node::manifest::ServiceRecord;
use lehr_sync::thread;
use lehr_workflow::Workflow;
use serde_json::Value;

use crate::exit::{Failure, Kind};
use crate::output;

/// The contract of services in Python.
const CONTRACT: &str = "lehr/python";

/// The interval between looks at a process that is to end, and the number of looks before it is killed: ten seconds.
const TICK: Duration = Duration::from_millis(20);
const LOOKS: u32 = 500;

/// The processes that serve a workflow's services in Python, and the addresses of these services by path.
#[derive(Default)]
pub struct PythonServices {
    processes: Vec<Served>,
    addresses: BTreeMap<String, String>,
}

impl PythonServices {
    /// Starts a process for each service in Python. `file` is the workflow's file, beside which the Python files are.
    ///
    /// # Errors
    /// Returns [`Kind::BadData`] for a wrong configuration; [`Kind::Environment`] if Python cannot serve a file.
    pub fn start(workflow: &Workflow, file: &Path) -> Result<Self, Failure> {
        let mut all = Self::default();
        for (path, record) in workflow.services().services() {
            if record.contract == CONTRACT {
                let settings = Settings::of(record).map_err(|message| {
                    let field = format!("services.{path:?}.configuration");
                    Failure::new(Kind::BadData, format!("{}: {field}: {message}", file.display()))
                })?;
                let (process, url) = Served::start(&settings, file.parent().unwrap_or(Path::new("")))?;
                all.addresses.insert(path.clone(), format!("{url}{}", settings.service));
                all.processes.push(process);
            }
        }
        Ok(all)
    }

    /// Returns the addresses of the services, by the path at which steps find them.
    pub fn addresses(&self) -> &BTreeMap<String, String> {
        &self.addresses
    }
}

/// The configuration of a service in Python.
struct Settings {
    file: String,
    interpreter: String,
    /// The path of the service on the node of the process.
    service: String,
}

impl Settings {
    fn of(record: &ServiceRecord) -> Result<Self, String> {
        let empty = BTreeMap::new();
        let configuration = record.configuration.as_ref().unwrap_or(&empty);
        let known = ["file", "interpreter", "service"];
        if let Some(other) = configuration.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(format!("{other}: no such field; expected one of {}", known.join(", ")));
        }
        let text = |name: &str| match configuration.get(name) {
            None => Ok(None),
            Some(Value::String(text)) if !text.is_empty() => Ok(Some(text.clone())),
            Some(other) => Err(format!("{name}: expected a text, found {other}")),
        };
        let file = text("file")?.ok_or("file: missing; expected the name of a Python file, such as steps.py")?;
        let stem = Path::new(&file).file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        // As `python3 -m lehr serve` names the service of a file's functions.
        let letter = |letter: char| if letter.is_alphanumeric() || letter == '_' { letter } else { '_' };
        let service = text("service")?
            .unwrap_or_else(|| format!("/{}", stem.chars().map(letter).collect::<String>().to_lowercase()));
        Ok(Self { file, interpreter: text("interpreter")?.unwrap_or_else(|| "python3".to_owned()), service })
    }
}

/// A process that serves a file.
struct Served(Child);

impl Served {
    /// Starts a process, waits until it serves, and returns it and its URL.
    fn start(settings: &Settings, folder: &Path) -> Result<(Self, String), Failure> {
        let Settings { file, interpreter, .. } = settings;
        let environment = |message: String| Failure::new(Kind::Environment, message);
        // A path to an interpreter is relative to the workflow's file; a plain name is looked up as in a shell.
        let program = if interpreter.contains('/') { folder.join(interpreter) } else { interpreter.into() };
        let mut command = Command::new(&program);
        command.args(["-m", "lehr", "serve"]).arg(folder.join(file)).args(["--port", "0", "--until-input-ends"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        // Ctrl-C goes to this process alone, which ends the others when the run has stopped.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let child = command
            .spawn()
            .map_err(|cause| environment(format!("{}: cannot be started: {cause}", program.display())))?;
        let mut process = Self(child);
        let out = process.0.stdout.take().ok_or_else(|| environment(format!("{file}: no standard output")))?;
        let mut lines = Lines(BufReader::new(out));
        // The file may print while it is read, before it is served.
        let announced = lines.by_ref().find_map(|line| {
            let url = address(&line);
            if url.is_none() {
                output::note(&format!("{file}: {line}"));
            }
            url
        });
        let Some(url) = announced else {
            let ended = process.0.wait().map(|status| status.to_string()).unwrap_or_default();
            return Err(environment(format!(
                "{file}: {} -m lehr serve ended before it served ({ended}). Its message is above. The interpreter \
                 needs the package lehr: configuration.interpreter chooses another.",
                program.display()
            )));
        };
        forward(file.clone(), lines)
            .map_err(|cause| environment(format!("{file}: no thread for its output: {cause}")))?;
        Ok((process, url))
    }
}

/// Returns the URL of the line with which `python3 -m lehr serve` says that it serves.
fn address(line: &str) -> Option<String> {
    let (_, rest) = line.strip_prefix("lehr: serving /")?.rsplit_once(" at ")?;
    Some(rest.strip_suffix(". Ctrl-C ends.")?.to_owned())
}

/// The lines that a process prints, in any encoding.
struct Lines(BufReader<ChildStdout>);

impl Iterator for Lines {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut line = Vec::new();
        match self.0.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(String::from_utf8_lossy(&line).trim_end().to_owned()),
        }
    }
}

/// Shows what a Python file prints.
fn forward(file: String, lines: Lines) -> std::io::Result<()> {
    let show = move || lines.for_each(|line| output::note(&format!("{file}: {line}")));
    thread::spawn("lehr-python-output", show).map(drop)
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        for _ in 0..LOOKS {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(TICK);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
