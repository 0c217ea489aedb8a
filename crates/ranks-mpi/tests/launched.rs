//! Tests in several processes: this program starts itself under `mpiexec` and checks how the job ends and what it
//! prints.
//!
//! `cargo test --workspace --test launched -- --ignored [FILTER]`, with `LEHR_MPIEXEC` naming the launcher; `make mpi`
//! installs one and sets it. Without `--ignored`, the tests are only counted, because `cargo test` alone has no
//! launcher. If this program is started with the word `program`, it is one process of such a job; see
//! `launched/programs.rs`.

#![allow(
    clippy::disallowed_macros,
    clippy::disallowed_methods,
    reason = "a test harness of its own says what it found, and is told by the environment which launcher to use"
)]

#[path = "../../ranks/tests/conformance/cases.rs"]
mod cases;
#[path = "launched/conformance.rs"]
mod conformance;
#[path = "launched/faults.rs"]
mod faults;
#[path = "launched/job.rs"]
mod job;
#[path = "launched/lifetime.rs"]
mod lifetime;
#[path = "launched/programs.rs"]
mod programs;

use std::panic::catch_unwind;
use std::process::ExitCode;

/// A test: its name and its function, which fails by a panic.
type Test = (&'static str, fn());

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == "program") {
        return programs::run(&words[1], &words[2..]);
    }
    let filters: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let tests: Vec<Test> = [lifetime::TESTS, conformance::TESTS, faults::TESTS].concat();
    let wanted: Vec<&Test> = tests
        .iter()
        .filter(|(name, _)| filters.is_empty() || filters.iter().any(|filter| name.contains(*filter)))
        .collect();
    println!("running {} tests", wanted.len());
    if !words.iter().any(|word| word == "--ignored" || word == "--include-ignored") {
        wanted
            .iter()
            .for_each(|(name, _)| println!("test {name} ... ignored, starts processes with mpiexec: make mpi"));
        println!("test result: ok. 0 passed; 0 failed; {} ignored", wanted.len());
        return ExitCode::SUCCESS;
    }
    let mut failed = 0;
    for (name, test) in &wanted {
        let outcome = catch_unwind(test);
        println!("test {name} ... {}", if outcome.is_ok() { "ok" } else { "FAILED" });
        failed += u32::from(outcome.is_err());
    }
    let verdict = if failed == 0 { "ok" } else { "FAILED" };
    println!("test result: {verdict}. {} passed; {failed} failed; 0 ignored", wanted.len() as u32 - failed);
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
