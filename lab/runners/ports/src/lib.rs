//! The common code of all peers: the line protocol, the patterns, the unit of computation.
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
//! 0 unit                                             -> {"ns": 965.0, "value": 17402209958924219335}
//! ```
//!
//! The answer to `unit` has the time of 960 dependent steps of the generator in this program, the median of nine
//! measurements. It also has `units(7, 1)`, which shows the lab that the steps are the same. If an engine does not do a
//! job, the answer is `{"absent": true}`. An answer to `about` may name engines that are missing: `"absent": ["MPICH:
//! …"]`. A wrong result is a panic: the runner ends, and the lab reports this and continues without it.

pub mod actors;
/// This is the lab's own file, so that both sides of the pipe give the names the same meaning.
#[path = "../../../harness/src/ports/pattern.rs"]
pub mod pattern;
mod pin;
pub mod rendezvous;
pub mod services;
pub mod spawned;
/// This is the lab's own file, so that both sides of the pipe compute the same unit.
#[path = "../../../harness/src/unit.rs"]
pub mod unit;

use std::collections::VecDeque;
use std::io::{BufRead, Write};
use std::time::Instant;

pub use pattern::{Form, Pattern, Run, units};
pub use pin::pin;

/// One request.
#[derive(Clone, Copy, Debug)]
pub enum Job {
    /// The stages of a communication pattern.
    Pattern(Run),
    /// This many receives that wait at the same time.
    Pending { count: usize },
    /// Requests and responses: each client makes `each` requests, one after the other.
    Requests { clients: usize, workers: usize, each: usize },
    /// Parallel regions with `serial` units between them and `inside` units in each part.
    Regions { threads: usize, count: usize, serial: u32, inside: u32 },
    /// The time of a unit of computation; [`serve`] answers this request.
    Unit,
    /// Rounds of a barrier.
    Barrier { ranks: usize, workers: usize, rounds: usize },
}

/// The answer of an engine to a job.
pub enum Answer {
    /// The seconds of the job.
    Seconds(f64),
    /// The bytes of a pending receive, the seconds to create all, and the seconds to complete all.
    Pending(f64, f64, f64),
    /// The nanoseconds of a unit of computation, and the generator's value after one unit from 7.
    Unit(f64, u64),
    /// The engine does not do this job.
    Absent,
}

fn unit() -> Answer {
    let mut looks: Vec<f64> = (0..9)
        .map(|_| {
            let start = Instant::now();
            units(1, 100);
            start.elapsed().as_nanos() as f64 / 100.0
        })
        .collect();
    looks.sort_by(f64::total_cmp);
    Answer::Unit(looks[looks.len() / 2], units(7, 1))
}

/// Answers requests until the input ends. `libraries` are the crates whose versions are reported, `engines` the engines
/// by number.
pub fn serve(libraries: &[&str], engines: &[&str], mut engine: impl FnMut(usize, Job) -> Answer) {
    // A panic anywhere, also in a rank's task, ends the runner with one line. So no thread waits for the other ranks of
    // the ring.
    std::panic::set_hook(Box::new(|panic| {
        let program = std::env::args().next().unwrap_or_default();
        eprintln!("{program}: {}", panic.to_string().replace('\n', " "));
        std::process::exit(1);
    }));
    let mut out = std::io::stdout();
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("the lab keeps the pipe open");
        let answer = if line.trim() == "about" {
            let versions: Vec<_> = libraries.iter().map(|name| format!("\"{name}\": \"{}\"", version(name))).collect();
            format!("{{\"libraries\": {{{}}}, \"engines\": {engines:?}}}", versions.join(", "))
        } else {
            let (number, job) = parse(&line).unwrap_or_else(|| panic!("no request: {line:?}"));
            assert!(number < engines.len(), "no engine {number}");
            match if matches!(job, Job::Unit) { unit() } else { engine(number, job) } {
                Answer::Unit(ns, value) => format!("{{\"ns\": {ns}, \"value\": {value}}}"),
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
    // Returning would wait for threads that libraries keep.
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
        ("unit", &[]) => Job::Unit,
        ("barrier", &[ranks, workers, rounds]) => Job::Barrier { ranks, workers, rounds },
        _ => return None,
    };
    Some((number, job))
}

/// Returns the version of a library from the lock file.
fn version(library: &str) -> &'static str {
    let lock = include_str!("../Cargo.lock");
    let entry = format!("name = \"{library}\"\nversion = \"");
    let start = lock.find(&entry).map(|at| at + entry.len());
    start.and_then(|start| lock[start..].split('"').next()).unwrap_or("unknown")
}

/// Returns the resident memory of this process, in bytes.
pub fn resident_bytes() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok()).map_or(f64::NAN, |kib| kib * 1024.0)
}
