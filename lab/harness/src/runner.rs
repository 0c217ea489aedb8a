//! A runner: a program in its own language that answers each line on its standard input with a line of JSON.
//!
//! The runner starts once for each case, so that starting it, importing libraries and reading data are not measured. A
//! thread reads its answers, so that the lab can give up on a runner that never answers.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::measure::pause;

/// The number of checks, [`LOOK_SECONDS`] apart, after which a runner must have ended by itself once its input is
/// closed.
const LOOKS: usize = 500;
const LOOK_SECONDS: f64 = 0.01;

/// A running program and its two pipes. The program ends when this is dropped.
#[derive(Debug)]
pub struct Runner {
    name: String,
    child: Child,
    requests: Option<ChildStdin>,
    answers: Receiver<std::io::Result<String>>,
    patience: Option<Duration>,
}

impl Runner {
    /// Starts `program` with `arguments`; messages call it `name`.
    ///
    /// # Errors
    /// Returns an error if the program cannot be started.
    pub fn start<S: AsRef<OsStr>>(
        name: &str,
        program: impl AsRef<OsStr>,
        arguments: impl IntoIterator<Item = S>,
    ) -> Result<Self> {
        let mut command = Command::new(program.as_ref());
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped());
        // Only the harness gets Ctrl-C, since it decides when its runners end. If the harness ends, its runners end
        // with their input.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot start the runner {name}: {}", program.as_ref().display()))?;
        let requests = child.stdin.take();
        let lines = BufReader::new(child.stdout.take().context("a piped output")?).lines();
        let (answered, answers) = channel();
        #[allow(clippy::disallowed_methods, reason = "the harness reads a pipe beside what it measures, not in it")]
        std::thread::spawn(move || {
            for line in lines {
                // No thread reads answers after the runner is dropped.
                if answered.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Self { name: name.into(), child, requests, answers, patience: None })
    }

    /// Sets the time after which [`ask`](Self::ask) gives up waiting for an answer.
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }

    /// Sends a line and waits for the answer.
    ///
    /// # Errors
    /// Returns an error if the runner has ended, its answer is not JSON, or no answer comes within the time limit.
    pub fn ask(&mut self, line: &str) -> Result<Value> {
        let requests = self.requests.as_mut().context("the input is open until the end")?;
        writeln!(requests, "{line}")
            .and_then(|()| requests.flush())
            .with_context(|| format!("the runner {} ended", self.name))?;
        let answer = match self.patience {
            None => self.answers.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(patience) => self.answers.recv_timeout(patience),
        };
        let answer = match answer {
            Ok(answer) => answer.with_context(|| format!("cannot read from the runner {}", self.name))?,
            Err(RecvTimeoutError::Disconnected) => {
                bail!("the runner {} ended without an answer to {line:?}", self.name)
            }
            Err(RecvTimeoutError::Timeout) => bail!("the runner {} gave no answer to {line:?}", self.name),
        };
        serde_json::from_str(&answer).with_context(|| format!("the runner {} answered {answer:?}", self.name))
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // A closed input ends the loop of a runner, and then the programs that it started. A runner that is stuck in a
        // long answer is killed.
        drop(self.requests.take());
        for _ in 0..LOOKS {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            pause(LOOK_SECONDS);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns a number of an answer.
///
/// # Errors
/// Returns an error if the answer has no number of that name.
pub fn number(answer: &Value, name: &str) -> Result<f64> {
    answer[name].as_f64().with_context(|| format!("the answer has no number {name:?}: {answer}"))
}

/// Returns all numbers of an answer's (nested) array, in order.
///
/// # Errors
/// Returns an error if the answer has no such array, or if an element of it is not a number.
pub fn numbers(answer: &Value, name: &str) -> Result<Vec<f64>> {
    fn collect(value: &Value, into: &mut Vec<f64>) -> Option<()> {
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| collect(item, into)),
            other => other.as_f64().map(|number| into.push(number)),
        }
    }
    let mut found = Vec::new();
    let array = answer.get(name).filter(|value| value.is_array());
    array
        .and_then(|array| collect(array, &mut found))
        .with_context(|| format!("the answer has no numbers {name:?}"))?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_answers_line_by_line() {
        let mut echo = Runner::start("cat", "cat", ["-"]).unwrap();
        assert_eq!(number(&echo.ask("{\"a\": 1.5}").unwrap(), "a").unwrap(), 1.5);
        assert_eq!(numbers(&echo.ask("{\"b\": [[1, 2], [3]]}").unwrap(), "b").unwrap(), [1.0, 2.0, 3.0]);
        assert!(echo.ask("no json").is_err());
    }

    #[test]
    fn a_runner_that_never_answers_is_given_up() {
        let mut silent =
            Runner::start("silent", "sh", ["-c", "cat > /dev/null"]).unwrap().with_patience(Duration::ZERO);
        assert!(format!("{:#}", silent.ask("{}").unwrap_err()).contains("silent gave no answer"));
    }

    #[test]
    fn a_runner_that_is_missing_or_ends_is_named() {
        assert!(format!("{:#}", Runner::start("x", "no-such-program", ["-"]).unwrap_err()).contains("no-such-program"));
        let mut mute = Runner::start("mute", "true", ["-"]).unwrap();
        assert!(format!("{:#}", mute.ask("{}").unwrap_err()).contains("mute"));
    }
}
