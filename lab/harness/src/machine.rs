//! Describes the machine and the tools of a measurement.

use std::process::Command;

use serde::{Deserialize, Serialize};

/// The machine and the tools, as a record names them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// The name of the processor.
    pub processor: String,
    /// The number of hardware threads available to this program.
    pub threads: usize,
    /// The operating system and the architecture.
    pub system: String,
    /// The first line of `cc --version`.
    pub c_compiler: String,
    /// The output of `rustc --version`.
    pub rust: String,
    /// The commit of the working tree, with `+` when it has changes.
    pub commit: String,
}

impl Machine {
    /// Collects the facts from the system. An unknown fact is "unknown".
    pub fn look() -> Self {
        let processor = std::fs::read_to_string("/proc/cpuinfo")
            .ok()
            .and_then(|text| {
                text.lines().find_map(|line| {
                    line.strip_prefix("model name")?.split(':').nth(1).map(|name| name.trim().to_string())
                })
            })
            .or_else(|| first_line("sysctl", &["-n", "machdep.cpu.brand_string"]));
        let changed = first_line("git", &["status", "--porcelain", "--untracked-files=no"]).is_some();
        let commit = first_line("git", &["rev-parse", "--short", "HEAD"])
            .map(|commit| if changed { commit + "+" } else { commit });
        Self {
            processor: processor.unwrap_or_else(unknown),
            threads: available_threads(),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            c_compiler: first_line("cc", &["--version"]).unwrap_or_else(unknown),
            rust: first_line("rustc", &["--version"]).unwrap_or_else(unknown),
            commit: commit.unwrap_or_else(unknown),
        }
    }

    /// Formats the facts as one line for the head of a table.
    pub fn line(&self) -> String {
        format!(
            "{}, {} threads, {}; {}; {}; commit {}",
            self.processor, self.threads, self.system, self.c_compiler, self.rust, self.commit
        )
    }
}

/// Returns the number of hardware threads available to this program, or 1 if it is unknown.
pub fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn unknown() -> String {
    "unknown".into()
}

/// Returns the first line that a command prints, if it succeeds and prints one.
fn first_line(program: &str, arguments: &[&str]) -> Option<String> {
    let answer = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    answer.status.success().then(|| text.lines().next().map(String::from)).flatten().filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_names_the_machine() {
        let machine = Machine::look();
        assert!(machine.threads > 0 && machine.system.contains(std::env::consts::ARCH));
        assert!(machine.rust == "unknown" || machine.rust.starts_with("rustc "), "{}", machine.rust);
        for fact in [&machine.processor, &machine.system, &machine.c_compiler, &machine.commit] {
            assert!(!fact.is_empty() && machine.line().contains(fact.as_str()), "{machine:?}");
        }
    }

    #[test]
    fn a_program_that_is_missing_or_fails_prints_no_line() {
        assert_eq!(first_line("no such program", &[]), None);
        assert_eq!(first_line("false", &[]), None);
    }
}
