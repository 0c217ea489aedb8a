//! Runs a job in several processes: copies of this program that a launcher starts, on one host or several. Any method
//! that declares [`Method::SPREADS`](crate::Method::SPREADS) can run in this way.
//!
//! The node writes an *order* into a folder: the method's contract, the options and the input tables. The first process
//! ([`Part::lead`]) reads the order and sends it to the other processes ([`Part::follow`]). All processes make the same
//! call of the method, which runs on the ranks of all processes. The first process reports, saves, and writes an
//! *outcome*: the tables, or the reason why there are none. So the result is bit-identical to the result of one
//! process, and methods need no code for this.
//!
//! Only the first process needs the folder. If it runs on another host, that host may have another folder at the same
//! path. So the order has a *mark*, which is also an argument of each process.
//!
//! Each try has its own folder. When a node is killed, its processes end as soon as they notice, and may write into
//! their folder until then. A new try resumes from the last checkpoint of earlier tries. If an earlier try finished
//! unnoticed, its outcome is the result.
//!
//! | in the folder of a try | content |
//! | --- | --- |
//! | `order.json`, `NAME.arrow` | the order and its tables |
//! | `job.checkpoint`, `job.log` | the checkpoint and the log of the method |
//! | `outcome.json`, `made-NAME.arrow` | the outcome and its tables |

mod launch;
mod order;
mod outcome;
mod part;

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use lehr_sync::thread::spawn_detached;

use crate::job::{Found, Job, Progress, Saved, Signal, saved_in};
use crate::method::{AnyMethod, Failure, Inputs, Outputs};
use crate::options::Options;
use crate::settings::Spread;

use order::Head;
use outcome::Outcome;

pub use order::order;
pub use part::{Part, Stopper};

/// The interval at which the node checks whether the job should stop.
const LOOK: Duration = Duration::from_millis(100);

/// The version of this program, which all processes of a job must have.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The exit code of a process whose machine lacks memory, threads or disk space.
const ENVIRONMENT: i32 = 4;

/// The maximum number of the processes' last lines that a fault quotes.
const LINES: usize = 10;

/// The name of the file with the saved state of a method, in the folder of a try.
const CHECKPOINT: &str = "job.checkpoint";
const LOG: &str = "job.log";

fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::Environment(format!("the folder of the job: {error}"))
}

/// Runs a method in the processes of a layout.
///
/// # Errors
/// Returns the method's own error, or the reason why the processes could not report one.
pub(crate) fn run(
    method: &dyn AnyMethod,
    job: &Job,
    spread: &Spread,
    inputs: &Inputs,
    options: &Options,
) -> Result<Outputs, Failure> {
    fs::create_dir_all(&spread.folder).map_err(failed)?;
    let tries = tries(&spread.folder)?;
    for (_, folder) in tries.iter().rev() {
        if let Some(Outcome::Done(done)) = Outcome::read(folder)? {
            return done.outputs(folder);
        }
    }
    let own = spread.folder.join(format!("try-{}", tries.last().map_or(1, |(number, _)| number + 1)));
    fs::create_dir_all(&own).map_err(failed)?;
    // The checkpoint is checked here, before the processes start, so that all processes resume from the same one.
    for (_, folder) in tries.iter().rev() {
        let Found { bytes, damage } = saved_in(&folder.join(CHECKPOINT), job.id())?;
        let is_there = bytes.is_some() || damage.is_some();
        damage.into_iter().for_each(|text| job.warn(text));
        if let Some(bytes) = bytes {
            Job::new(job.id().to_owned(), 1, Signal::default(), Saved::File(own.join(CHECKPOINT)), None)
                .save(&bytes)?;
        }
        if is_there {
            break;
        }
    }
    if let Some(log) = tries.iter().rev().map(|(_, folder)| folder.join(LOG)).find(|file| file.is_file()) {
        take_over(&log, &own.join(LOG)).map_err(failed)?;
    }
    let (contract, options) = (method.facts().name.to_owned(), options.to_value());
    let (threads, mark) = (spread.layout.threads, mark());
    let (job_id, inputs_of_head, version) = (job.id().to_owned(), Vec::new(), VERSION.to_owned());
    Head { version, mark: mark.clone(), contract, job: job_id, threads, options, inputs: inputs_of_head }
        .write(&own, inputs)?;
    for (_, folder) in &tries {
        // The folder of a process that still writes may remain; the next try or the end of the job removes it.
        let _ = fs::remove_dir_all(folder);
    }
    let mut command = launch::command(spread, &own, &mark)?;
    // A Ctrl-C at the node's terminal should reach only the node, which then asks its jobs to stop.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| not_started(&spread.launcher, &error))?;
    // Only this process holds the write end of the processes' standard input, and it closes that end to stop them. So
    // if this process is killed, they notice, save and end. A first line is written, because some launchers provide an
    // empty input.
    if let Some(input) = &mut child.stdin {
        // Writing fails only if the processes have ended.
        let _ = input.write_all(b"\n");
    }
    let (code, lines) = follow(job, &mut child, &spread.launcher)?;
    match Outcome::read(&own)? {
        Some(Outcome::Done(done)) => done.outputs(&own),
        Some(Outcome::Failed(failure)) => Err(failure.into()),
        None if job.is_stopping() => Err(Failure::Stopped),
        None if code == Some(ENVIRONMENT) => Err(Failure::Environment(said(&lines))),
        None => Err(Failure::Internal(said(&lines))),
    }
}

/// Returns the failure of a launcher that did not start.
fn not_started(launcher: &Path, error: &std::io::Error) -> Failure {
    let shown = launcher.display();
    let hint = match error.kind() {
        ErrorKind::NotFound => "; install it, or name another with the setting launcher=FILE",
        _ => "",
    };
    Failure::Environment(format!("{shown}: {error}{hint}"))
}

/// Returns a mark that no other try has.
fn mark() -> String {
    format!("{:016x}{:016x}", RandomState::new().build_hasher().finish(), RandomState::new().build_hasher().finish())
}

/// Returns the tries of the job that have a folder, by number.
fn tries(folder: &Path) -> Result<Vec<(u64, PathBuf)>, Failure> {
    let mut tries = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let number = path.file_name().and_then(|name| name.to_str()?.strip_prefix("try-")?.parse().ok());
        tries.extend(number.map(|number| (number, path)));
    }
    tries.sort_unstable();
    Ok(tries)
}

/// Copies a checkpoint completely or not at all. Another process may still be writing it, but a method checks the state
/// from which it resumes.
fn take_over(saved: &Path, to: &Path) -> std::io::Result<()> {
    let copy = to.with_extension("copy");
    fs::copy(saved, &copy)?;
    fs::rename(copy, to)
}

/// Returns the last messages of processes that wrote no outcome: their errors without the launcher's text, or all lines
/// if there are no errors.
fn said(lines: &[String]) -> String {
    let mut errors: Vec<&str> = lines.iter().filter_map(|line| line.strip_prefix("error: ")).collect();
    // Several processes may report the same error.
    errors.dedup();
    match (errors.is_empty(), lines.is_empty()) {
        (false, _) => errors.join("\n"),
        (true, false) => lines.join("\n"),
        (true, true) => "the processes of the job ended without a word".to_owned(),
    }
}

/// A line from the processes.
enum Line {
    /// A line of standard output: progress, or text from a launcher.
    Out(String),
    /// A line of standard error.
    Error(String),
}

/// Passes on the progress of the processes and the request to stop. Returns the exit code of the processes and their
/// last lines.
fn follow(job: &Job, child: &mut Child, launcher: &Path) -> Result<(Option<i32>, Vec<String>), Failure> {
    let (sender, lines) = channel();
    child.stdout.take().map(|stream| read(stream, Line::Out, sender.clone())).transpose()?;
    child.stderr.take().map(|stream| read(stream, Line::Error, sender)).transpose()?;
    let last = until_silent(job, &lines, || drop(child.stdin.take()));
    let ended = child.wait().map_err(|error| Failure::Environment(format!("{}: {error}", launcher.display())))?;
    Ok((ended.code(), last))
}

/// Reads lines until both streams have ended. Calls `stop` once, when the job should stop.
fn until_silent(job: &Job, lines: &Receiver<Line>, stop: impl FnOnce()) -> Vec<String> {
    let (mut last, mut stop) = (Vec::new(), Some(stop));
    loop {
        match lines.recv_timeout(LOOK) {
            Ok(Line::Out(line)) => {
                if let Ok(progress) = serde_json::from_str::<Progress>(&line) {
                    job.report(progress);
                }
            }
            Ok(Line::Error(line)) => {
                if last.len() == LINES {
                    last.remove(0);
                }
                last.push(line);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return last,
        }
        if job.is_stopping()
            && let Some(stop) = stop.take()
        {
            stop();
        }
    }
}

/// Sends lines as they arrive, on a separate thread.
fn read(
    stream: impl Read + Send + 'static,
    of: impl Fn(String) -> Line + Send + 'static,
    sender: Sender<Line>,
) -> Result<(), Failure> {
    let body = move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            if sender.send(of(line)).is_err() {
                return;
            }
        }
    };
    spawn_detached("lehr-lines", body)
        .map(drop)
        .map_err(|error| Failure::Environment(format!("no thread to read with: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_processes_say_is_their_errors_or_all() {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(said(&lines("error: no room\nerror: no room\nAbort(4) on node 0")), "no room");
        assert_eq!(said(&lines("exec failed\nsorry")), "exec failed\nsorry");
        assert_eq!(said(&[]), "the processes of the job ended without a word");
    }

    #[test]
    fn tries_are_in_order_of_their_numbers_whatever_else_is_there() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["try-10", "try-9", "try-x", "other"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        let numbers: Vec<u64> = tries(folder.path()).unwrap().into_iter().map(|(number, _)| number).collect();
        assert_eq!(numbers, [9, 10]);
    }
}
