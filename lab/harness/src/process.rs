//! Runs a command in its own process, and measures its time and peak memory, which are its costs for a user.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::measure::{now, pause};

/// The seconds between two checks of the process.
const LOOK: f64 = 0.002;

/// The number of checks between two readings of the memory.
const LOOKS_A_READING: usize = 10;

/// The costs of a process.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Taken {
    /// The seconds from its start to its end.
    pub seconds: f64,
    /// The peak resident memory, in bytes; `None` if the system does not account for it.
    pub peak_bytes: Option<f64>,
}

/// Runs a command to its end, without output; returns nothing if `stop` asked to end, which kills the command. While
/// the command runs, its standard error is in a file in `folder`.
///
/// # Errors
/// Returns an error if the command does not start, or fails; in the second case with its standard error.
pub fn run(mut command: Command, folder: &Path, stop: &mut dyn FnMut() -> bool) -> Result<Option<Taken>> {
    let said = folder.join("said.txt");
    let errors = std::fs::File::create(&said).with_context(|| format!("cannot write {}", said.display()))?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
    // Only the lab gets Ctrl-C, since it decides when its stages end.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let start = now();
    let mut child =
        Running(command.spawn().with_context(|| format!("cannot start {}", command.get_program().display()))?);
    let mut most = None;
    for look in 0usize.. {
        if look.is_multiple_of(LOOKS_A_READING) {
            most = peak_bytes(child.0.id()).or(most);
            if stop() {
                return Ok(None);
            }
        }
        if let Some(status) = child.0.try_wait()? {
            if !status.success() {
                let text = std::fs::read_to_string(&said).unwrap_or_default();
                bail!("it ended with {status}: {}", text.trim());
            }
            break;
        }
        pause(LOOK);
    }
    Ok(Some(Taken { seconds: start.elapsed().as_secs_f64(), peak_bytes: most }))
}

/// A process that ends at the latest with this value.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // Neither call affects a process that has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the peak memory of a process so far.
fn peak_bytes(process: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? * 1024.0)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_command_is_timed_to_its_end_and_its_fault_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let taken = run(shell("sleep 0.1"), folder.path(), &mut || false).unwrap().unwrap();
        assert!(taken.seconds >= 0.1);
        let error = run(shell("echo not so >&2; exit 3"), folder.path(), &mut || false).unwrap_err().to_string();
        assert!(error.contains("not so") && error.contains('3'), "{error}");
    }

    #[test]
    fn a_stop_ends_the_command_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut looks = 0;
        let mut stop = || {
            looks += 1;
            looks > 2
        };
        let left = folder.path().join("left");
        let script = format!("sleep 600; touch {}", left.display());
        assert!(run(shell(&script), folder.path(), &mut stop).unwrap().is_none());
        assert!(!left.exists());
    }
}
