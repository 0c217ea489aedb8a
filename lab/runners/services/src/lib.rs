//! The common code of all peers: the line protocol, and clients of a service that holds a number.
//!
//! A runner reads one request a line and answers each with one line of JSON:
//!
//! ```text
//! about                              -> {"libraries": {"kameo": "0.22.2"}, "engines": ["kameo on tokio"]}
//! 0 messages in_turn 200 2 30        -> {"cold": 1.2e-4, "warm": [8.1e-5, ...]}       engine form group workers groups
//! 0 serve 2                          -> {"address": "127.0.0.1:40123"}                engine workers, free to move
//! 0 serve 1 1                        -> {"address": "127.0.0.1:40124"}                engine workers, bound to that core
//! 0 unit                             -> {"ns": 965.0, "value": 17402209958924219335}
//! ```
//!
//! A request for a server ends the previous server. If an engine does not do a job, the answer is `{"absent": true}`. A
//! wrong result is a panic: the runner ends, and the lab reports this and continues without it.

/// This is the lab's own file, so that both sides of the pipe give the names the same meaning.
#[path = "../../../harness/src/services/group.rs"]
pub mod group;
mod pin;
/// This is the lab's own file, so that both sides of the pipe compute the same unit.
#[path = "../../../harness/src/unit.rs"]
pub mod unit;

use std::io::{BufRead, Write};
use std::net::SocketAddr;
use std::time::Instant;

pub use group::{Client, Form, Sum, Taken, Work};
pub use pin::pin;

use unit::units;

/// One request.
#[derive(Clone, Copy, Debug)]
pub enum Job {
    /// Groups of messages to a service.
    Messages(Work),
    /// A server with this many workers, bound to a core or not.
    Serve { workers: usize, core: Option<usize> },
    /// The time of a unit of computation; [`serve`] answers this request.
    Unit,
}

/// The answer of an engine to a job.
pub enum Answer {
    /// The seconds of each group.
    Groups(Taken),
    /// The address at which the server listens.
    Address(SocketAddr),
    /// The engine does not do this job.
    Absent,
}

/// Returns the nanoseconds of a unit of computation, the median of nine measurements, and the generator's value after
/// one unit from 7.
fn unit() -> (f64, u64) {
    let mut looks: Vec<f64> = (0..9)
        .map(|_| {
            let start = Instant::now();
            std::hint::black_box(units(1, 100));
            start.elapsed().as_secs_f64() * 1e7
        })
        .collect();
    looks.sort_by(f64::total_cmp);
    (looks[looks.len() / 2], units(7, 1))
}

/// Answers requests until the input ends. `libraries` are the crates whose versions are reported, `engines` the engines
/// by number.
pub fn serve(libraries: &[&str], engines: &[&str], mut engine: impl FnMut(usize, Job) -> Answer) {
    // A panic anywhere, also in a task, ends the runner with one line, so that no thread waits for an answer that will
    // not come.
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
            match job {
                Job::Unit => {
                    let (ns, value) = unit();
                    format!("{{\"ns\": {ns}, \"value\": {value}}}")
                }
                job => match engine(number, job) {
                    Answer::Groups(Taken { cold, warm }) => format!("{{\"cold\": {cold:e}, \"warm\": {warm:?}}}"),
                    Answer::Address(address) => format!("{{\"address\": \"{address}\"}}"),
                    Answer::Absent => "{\"absent\": true}".to_string(),
                },
            }
        };
        writeln!(out, "{answer}").and_then(|()| out.flush()).expect("the lab reads the answer");
    }
    // Returning would wait for threads that libraries keep.
    std::process::exit(0);
}

fn parse(line: &str) -> Option<(usize, Job)> {
    let mut words = line.split_whitespace();
    let number = words.next()?.parse().ok()?;
    let job = match words.next()? {
        "messages" => Job::Messages(Work::parse(words)?),
        "serve" => {
            Job::Serve { workers: words.next()?.parse().ok()?, core: words.next().map(str::parse).transpose().ok()? }
        }
        "unit" => Job::Unit,
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

/// Makes tokio's best runtime for this many workers; with one worker, it runs on the thread that waits.
pub fn tokio_runtime(workers: usize) -> tokio::runtime::Runtime {
    let built = match workers {
        1 => tokio::runtime::Builder::new_current_thread().enable_all().build(),
        _ => tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build(),
    };
    built.expect("a runtime")
}

/// Runs a client, as a task of tokio, that sends its groups.
pub async fn on_tokio(mut client: impl Client + 'static, work: Work) -> Taken {
    let sent = tokio::spawn(async move { group::measure(&mut client, work, Instant::now).await });
    sent.await.expect("the client panicked").unwrap_or_else(|wrong| panic!("{wrong}"))
}
