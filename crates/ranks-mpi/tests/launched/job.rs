//! Starts this program under `mpiexec`, and collects the outcome.

use std::process::{Command, Stdio};

/// The outcome of a job.
#[derive(Debug)]
pub struct Ended {
    /// The launcher's exit code; `None` if a signal ended the launcher.
    pub code: Option<i32>,
    /// The lines that the processes and the launcher printed; the lines of different processes are in no particular
    /// order.
    pub lines: Vec<String>,
}

impl Ended {
    /// Returns the lines in order of their text, for lines that processes print at the same time.
    pub fn sorted(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        lines.sort_unstable();
        lines
    }

    /// Returns the outcome; panics with all lines unless the job ended with exit code 0.
    #[track_caller]
    pub fn expect_success(self) -> Self {
        assert_eq!(self.code, Some(0), "the job failed:\n{}", self.lines.join("\n"));
        self
    }
}

/// Runs `program` in `processes` processes, with further environment variables.
///
/// There is no time limit: a person who runs the tests sees which test hangs.
pub fn run(processes: usize, program: &[&str], variables: &[(&str, &str)]) -> Ended {
    let mut command = Command::new(launcher());
    command.args(["-n", &processes.to_string()]).arg(this_program()).arg("program");
    ended(command.args(program).envs(variables.iter().copied()))
}

/// Runs `program` in one process without a launcher.
pub fn run_alone(program: &[&str], variables: &[(&str, &str)]) -> Ended {
    ended(Command::new(this_program()).arg("program").args(program).envs(variables.iter().copied()))
}

/// Returns the launcher that the tests use.
pub fn launcher() -> String {
    std::env::var("LEHR_MPIEXEC")
        .expect("LEHR_MPIEXEC names an mpiexec whose library has the MPI standard ABI; run make mpi")
}

fn this_program() -> std::path::PathBuf {
    std::env::current_exe().expect("the system knows this program's file")
}

fn ended(command: &mut Command) -> Ended {
    let output = command.stdin(Stdio::null()).output().expect("the launcher starts");
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    Ended { code: output.status.code(), lines: text.lines().map(str::to_owned).collect() }
}
