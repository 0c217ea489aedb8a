//! A folder of its own for each test, and the binary run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// What `lehr cluster` writes, in the order of names.
pub const CLUSTER_FILES: [&str; 7] =
    ["centers.csv", "labels.csv", "marks.csv", "model.json", "outliers.csv", "report.html", "summary.json"];

/// A temporary folder that the binary runs in, so that messages show relative paths and are the same everywhere.
pub struct Sandbox {
    folder: tempfile::TempDir,
}

/// How a run ended.
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

    /// With one file in it.
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

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// A page of results: what it says without its script, and the figures that the script draws.
    pub fn page(&self, name: &str) -> (String, serde_json::Value) {
        let page = self.read(name);
        let (words, rest) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
        let data: serde_json::Value = serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap();
        assert!(!words.contains("{{"), "every part of {name} is filled in");
        (words.to_owned(), data["figures"].clone())
    }

    /// The names in a folder, sorted; empty if there is none.
    pub fn list(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(name)).into_iter().flatten();
        let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// `summary.json` of a results folder.
    pub fn summary(&self, folder: &str) -> serde_json::Value {
        serde_json::from_str(&self.read(&format!("{folder}/summary.json"))).unwrap()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lehr"));
        // Help is wrapped to the terminal's width; here there is none, whatever the machine says.
        command.current_dir(self.folder.path()).args(arguments).env_remove("COLUMNS").stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end.
    pub fn lehr(&self, arguments: &[&str]) -> Outcome {
        Outcome::new(arguments, &self.command(arguments).output().unwrap())
    }

    /// Runs a line of a shell that finds the binary as `lehr`.
    pub fn shell(&self, line: &str) -> Outcome {
        let binaries = Path::new(env!("CARGO_BIN_EXE_lehr")).parent().unwrap();
        let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
        let mut shell = Command::new("bash");
        shell.args(["-c", line]).env("PATH", path).current_dir(self.folder.path()).env_remove("COLUMNS");
        Outcome::new(&[line], &shell.stdin(Stdio::null()).output().unwrap())
    }

    /// Starts the binary with its outputs piped.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

impl Outcome {
    pub fn new(arguments: &[&str], output: &Output) -> Self {
        Outcome {
            line: arguments.join(" "),
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// Sees that the run ended well.
    pub fn succeeded(self) -> Self {
        assert_eq!(self.code, 0, "lehr {}\n{}", self.line, self.stderr);
        self
    }

    /// Compares the whole run with `tests/golden/NAME.txt`.
    pub fn matches_golden(&self, name: &str) {
        let stdout = if self.stdout.is_empty() { String::new() } else { format!("--- stdout\n{}", self.stdout) };
        let stderr = if self.stderr.is_empty() { String::new() } else { format!("--- stderr\n{}", self.stderr) };
        let text = format!("$ lehr {}\n--- exit {}\n{stdout}{stderr}", self.line, self.code);
        let text = without_fingerprints(&text);
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("{name}.txt"));
        expect_test::expect_file![path].assert_eq(&text);
    }
}

/// Fingerprints of positions on the sphere depend on the last digits of the system's sine.
fn without_fingerprints(text: &str) -> String {
    let is_fingerprint = |word: &str| word.len() == 16 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let words = text.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).map(|word| {
        let bare = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        if is_fingerprint(bare) { word.replace(bare, "FINGERPRINT") } else { word.to_owned() }
    });
    words.collect()
}

/// The census blocks as they are in the project, compressed.
pub fn census() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../datasets/census/blocks_nv_ut_wv_2020.csv.gz")
}
