//! Starts jobs: the lab's own program in one process or, under `mpiexec`, in several. A job gets a task and answers
//! once.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use lehr_ranks::Layout;

use super::task::{Answer, Task};

/// The launcher that the project's tests install.
const PROJECT_LAUNCHER: &str = "target/mpi/bin/mpiexec";

/// The task with which a launcher is tried.
const TRIAL: Task = Task::Stages { rows: 1, dimension: 1, clusters: 1, threads: 1, stages: 2, seconds_max: 1.0 };

/// Starts jobs.
#[derive(Clone, Debug)]
pub struct Starter {
    /// The lab's own program.
    program: PathBuf,
    /// The path of the launcher, and its name and version.
    launcher: Option<(PathBuf, String)>,
}

impl Starter {
    /// Looks for a launcher: `asked` if given, else the project's own, else `mpiexec` on the path, else none. It tries
    /// the launcher with a small job, since not every MPI is usable.
    ///
    /// # Errors
    /// Returns an error if the launcher `asked` does not start, or if its job fails.
    pub fn find(program: PathBuf, asked: Option<&Path>) -> Result<Self> {
        let with = |path: &Path| -> Result<Self> {
            let starter = Self { program: program.clone(), launcher: Some((path.into(), version(path)?)) };
            starter.run(Layout { threads: 1, processes: 2, nodes: 1 }, &TRIAL)?;
            Ok(starter)
        };
        match asked {
            Some(path) => with(path),
            None => {
                let found = [PROJECT_LAUNCHER, "mpiexec"].into_iter().find_map(|path| with(Path::new(path)).ok());
                Ok(found.unwrap_or(Self { program, launcher: None }))
            }
        }
    }

    /// Returns the launcher's name and version, if there is a launcher.
    pub fn launcher(&self) -> Option<&str> {
        self.launcher.as_ref().map(|(_, version)| version.as_str())
    }

    /// Returns whether the starter can start a layout.
    pub fn can_start(&self, layout: Layout) -> bool {
        layout.processes * layout.nodes == 1 || self.launcher.is_some()
    }

    /// Runs a task in the processes of a layout. Nodes count as processes of this machine.
    ///
    /// # Errors
    /// Returns an error, with the job's message, if the job fails or does not answer.
    pub fn run(&self, layout: Layout, task: &Task) -> Result<Answer> {
        let processes = layout.processes * layout.nodes;
        let mut command = match &self.launcher {
            _ if processes == 1 => Command::new(&self.program),
            Some((launcher, _)) => {
                let mut command = Command::new(launcher);
                command.args(["-n", &processes.to_string()]).arg(&self.program);
                command
            }
            None => bail!("{layout} needs an mpiexec, and there is none"),
        };
        command.args(["job", &serde_json::to_string(task)?]);
        let output =
            command.stdin(Stdio::null()).output().with_context(|| format!("cannot start a job of {layout}"))?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "the job of {layout} failed ({}): {}", output.status, said.trim());
        let text = String::from_utf8_lossy(&output.stdout);
        let line = text.lines().rev().find(|line| line.starts_with('{'));
        let line = line.with_context(|| format!("the job of {layout} did not answer, but said {:?}", text.trim()))?;
        serde_json::from_str(line).with_context(|| format!("the answer of {layout} cannot be read: {line}"))
    }
}

/// Runs a program in C, and returns what it printed.
///
/// # Errors
/// Returns an error if the program does not start, or fails.
pub fn printed(program: &Path, words: &[String]) -> Result<String> {
    let output = Command::new(program).args(words).output().with_context(|| program.display().to_string())?;
    ensure!(output.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

/// Returns the first line with a digit that a launcher prints about itself.
fn version(launcher: &Path) -> Result<String> {
    let output = Command::new(launcher).arg("--version").stdin(Stdio::null()).output().map_err(|cause| {
        let reason = if cause.kind() == ErrorKind::NotFound { "no such program".into() } else { cause.to_string() };
        anyhow::anyhow!("{}: {reason}", launcher.display())
    })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.contains(|c: char| c.is_ascii_digit())).unwrap_or("unknown version");
    Ok(line.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::super::task::Problem;
    use super::*;

    fn task() -> Task {
        Task::Cluster(Problem { rows: 1, dimension: 1, clusters: 1, engine: "ranks".into(), threads: 1, runs: 1 })
    }

    #[test]
    fn a_launcher_that_was_asked_for_must_be_there() {
        let error = Starter::find("lehr-lab".into(), Some(Path::new("nowhere/mpiexec"))).unwrap_err();
        assert_eq!(error.to_string(), "nowhere/mpiexec: no such program");
    }

    #[test]
    fn without_a_launcher_there_are_threads_alone() {
        let starter = Starter { program: "lehr-lab".into(), launcher: None };
        assert!(starter.can_start(Layout::threads(8)));
        let layout: Layout = "1x2x1".parse().unwrap();
        assert!(!starter.can_start(layout));
        let task = task();
        assert!(starter.run(layout, &task).unwrap_err().to_string().contains("needs an mpiexec"));
    }

    #[test]
    fn what_a_program_says_that_is_no_answer_is_shown() {
        let starter = Starter { program: "echo".into(), launcher: None };
        let task = task();
        let error = starter.run(Layout::threads(1), &task).unwrap_err().to_string();
        assert!(error.contains("did not answer, but said \"job"), "{error}");
    }
}
