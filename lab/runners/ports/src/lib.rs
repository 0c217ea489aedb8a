//! What every peer shares: the line protocol, the patterns, the unit of computation.
//!
//! A runner reads one request a line and answers each with one line of JSON:
//!
//! ```text
//! about                                              -> {"libraries": {"kanal": "0.1.1"}, "engines": ["kanal, threads", ...]}
//! 0 pattern rendezvous exchange 2 2 0 500000         -> {"seconds": 0.31}       engine form pattern ranks workers units stages
//! 0 pending 1000000                                  -> {"bytes": 384, "create_seconds": 0.7, "complete_seconds": 0.4}
//! 0 requests 64 2 1000                               -> {"seconds": 0.02}       clients workers requests-of-each
//! 0 regions 2 1000 8 0                               -> {"seconds": 0.02}       threads regions serial-units units-inside
//! 0 barrier 2 2 1000                                 -> {"seconds": 0.02}       ranks workers rounds
//! ```
//!
//! What an engine does not do is `{"absent": true}`. A wrong result is a panic: the runner ends, and the lab stops.

pub mod pattern;
pub mod rendezvous;
pub mod spawned;

use std::collections::VecDeque;
use std::io::{BufRead, Write};

pub use pattern::{Form, Pattern, Run, pin, units};

/// One request.
#[derive(Clone, Copy, Debug)]
pub enum Job {
    /// Stages of a communication pattern.
    Pattern(Run),
    /// So many receives at once that wait.
    Pending { count: usize },
    /// Request and response: every client asks `each` times, one request at a time.
    Requests { clients: usize, workers: usize, each: usize },
    /// Parallel regions with `serial` units between them and `inside` units in each part.
    Regions { threads: usize, count: usize, serial: u32, inside: u32 },
    /// Rounds of a barrier.
    Barrier { ranks: usize, workers: usize, rounds: usize },
}

/// What an engine says to a job.
pub enum Answer {
    /// The job took so long.
    Seconds(f64),
    /// Bytes of a pending receive, seconds to create all, seconds to complete all.
    Pending(f64, f64, f64),
    /// The engine does not do that.
    Absent,
}

/// Answers requests until the input ends. `libraries` are the crates whose versions are reported, `engines` what can be asked for by number.
pub fn serve(libraries: &[&str], engines: &[&str], mut engine: impl FnMut(usize, Job) -> Answer) {
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("the lab keeps the pipe open");
        let answer = if line.trim() == "about" {
            let versions: Vec<_> = libraries.iter().map(|name| format!("\"{name}\": \"{}\"", version(name))).collect();
            format!("{{\"libraries\": {{{}}}, \"engines\": {engines:?}}}", versions.join(", "))
        } else {
            let (number, job) = parse(&line).unwrap_or_else(|| panic!("no request: {line:?}"));
            assert!(number < engines.len(), "no engine {number}");
            match engine(number, job) {
                Answer::Seconds(seconds) => format!("{{\"seconds\": {seconds:e}}}"),
                Answer::Pending(bytes, create, complete) => {
                    format!(
                        "{{\"bytes\": {bytes}, \"create_seconds\": {create:e}, \"complete_seconds\": {complete:e}}}"
                    )
                }
                Answer::Absent => "{\"absent\": true}".to_string(),
            }
        };
        writeln!(out, "{answer}").and_then(|()| out.flush()).expect("the lab reads the answer");
    }
    // Libraries keep threads that would be waited for.
    std::process::exit(0);
}

fn parse(line: &str) -> Option<(usize, Job)> {
    let mut words: VecDeque<&str> = line.split_whitespace().collect();
    let number = words.pop_front()?.parse().ok()?;
    let kind = words.pop_front()?;
    let (form, pattern) = match kind {
        "pattern" => (Form::parse(words.pop_front()?)?, Pattern::parse(words.pop_front()?)?),
        _ => (Form::Rendezvous, Pattern::None),
    };
    let counts: Option<Vec<usize>> = words.into_iter().map(|word| word.parse().ok()).collect();
    let job = match (kind, &counts?[..]) {
        ("pattern", &[ranks, workers, units, stages]) => {
            Job::Pattern(Run { form, pattern, ranks, workers, units: units as u32, stages })
        }
        ("pending", &[count]) => Job::Pending { count },
        ("requests", &[clients, workers, each]) => Job::Requests { clients, workers, each },
        ("regions", &[threads, count, serial, inside]) => {
            Job::Regions { threads, count, serial: serial as u32, inside: inside as u32 }
        }
        ("barrier", &[ranks, workers, rounds]) => Job::Barrier { ranks, workers, rounds },
        _ => return None,
    };
    Some((number, job))
}

/// The version of a library, as the lock file has it.
fn version(library: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let entry = format!("name = \"{library}\"\nversion = \"");
    let start = lock.find(&entry).map(|at| at + entry.len());
    start.and_then(|start| lock[start..].split('"').next()).unwrap_or("unknown")
}

/// Resident memory of this process, in bytes.
pub fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok()).map_or(f64::NAN, |kib| kib * 1024.0)
}
