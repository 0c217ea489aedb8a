//! Gives each test its own folder, and runs the program in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// A temporary folder in which the program runs, so that messages show relative paths and are the same everywhere.
pub struct Sandbox {
    folder: tempfile::TempDir,
}

/// The result of a run.
pub struct Outcome {
    line: String,
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Sandbox {
    pub fn new() -> Self {
        Sandbox { folder: tempfile::tempdir().unwrap() }
    }

    /// Makes a sandbox with one file.
    pub fn with(name: &str, content: impl AsRef<[u8]>) -> Self {
        let sandbox = Sandbox::new();
        sandbox.write(name, content);
        sandbox
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// Returns the names in a folder, sorted; empty if the folder does not exist.
    pub fn list(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(name)).into_iter().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// Runs the lab to its end, with the command that it measures beside it.
    pub fn lab(&self, arguments: &[&str]) -> Outcome {
        build_lehr();
        self.run(Path::new(env!("CARGO_BIN_EXE_lehr-lab")), arguments)
    }

    /// Runs a program to its end, with only the folder `bin` on the path.
    pub fn alone(&self, program: &Path, arguments: &[&str]) -> Outcome {
        Outcome::of(self.command(program, arguments).env("PATH", self.path("bin")), arguments)
    }

    pub fn run(&self, program: &Path, arguments: &[&str]) -> Outcome {
        Outcome::of(&mut self.command(program, arguments), arguments)
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        // Help is wrapped to the terminal's width. Without a terminal, the width is the same on every machine.
        command.current_dir(self.folder.path()).args(arguments).env_remove("COLUMNS").stdin(Stdio::null());
        command
    }
}

impl Outcome {
    fn of(command: &mut Command, arguments: &[&str]) -> Self {
        let output = command.output().unwrap();
        Outcome {
            line: arguments.join(" "),
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Asserts that the run succeeded.
    pub fn succeeded(self) -> Self {
        assert_eq!(self.code, 0, "lehr-lab {}\n{}", self.line, self.stderr);
        self
    }

    /// Compares the whole run with `tests/golden/NAME.txt`.
    pub fn matches_golden(&self, name: &str) {
        let stdout = if self.stdout.is_empty() { String::new() } else { format!("--- stdout\n{}", self.stdout) };
        let stderr = if self.stderr.is_empty() { String::new() } else { format!("--- stderr\n{}", self.stderr) };
        let text = format!("$ lehr-lab {}\n--- exit {}\n{stdout}{stderr}", self.line, self.code);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.txt"));
        expect_test::expect_file![path].assert_eq(&text);
    }
}

/// Builds the command beside the lab if it is missing. Tests of the whole workspace build it anyway; those of this
/// package build no program of another package.
fn build_lehr() {
    static BUILT: OnceLock<()> = OnceLock::new();
    BUILT.get_or_init(|| {
        let lab = Path::new(env!("CARGO_BIN_EXE_lehr-lab"));
        if lab.with_file_name(format!("lehr{}", std::env::consts::EXE_SUFFIX)).is_file() {
            return;
        }
        let folder = lab.parent().unwrap();
        let profile = folder.file_name().unwrap().to_str().unwrap();
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "-p", "lehr", "--profile", if profile == "debug" { "dev" } else { profile }]);
        build.arg("--target-dir").arg(folder.parent().unwrap()).current_dir(env!("CARGO_MANIFEST_DIR"));
        assert!(build.status().unwrap().success());
    });
}
