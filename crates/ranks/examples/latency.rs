//! Measures the cost of calls: the median of several samples, in microseconds per stage of each pattern, for a number
//! of ranks on two workers.
//!
//! `cargo run --release -p lehr-ranks --example latency [ranks] [fabric: threads, mail, ports, bytes] [only patterns
//! with these words]`
#![allow(clippy::disallowed_macros, reason = "an example prints its findings")]

#[path = "latency/patterns.rs"]
mod patterns;

use lehr_ranks::fabric::Kind;
use lehr_ranks::{Layout, run_on};
use patterns::{SAMPLES, measure, patterns, summary};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let ranks = arguments.next().map_or(2, |text| text.parse().expect("a number of ranks"));
    let kind = match arguments.next().as_deref() {
        None | Some("threads") => Kind::Threads,
        Some("mail") => Kind::Mail,
        Some("ports") => Kind::Ports,
        Some("bytes") => Kind::Bytes,
        Some(other) => panic!("threads, mail, ports or bytes, not {other}"),
    };
    let dispatcher = lehr_runtime::Dispatcher::new(2).expect("two threads");
    println!("{kind:?}, {ranks} ranks on 2 workers: us a stage, min, median, max of {SAMPLES}");
    let only = arguments.next().unwrap_or_default();
    for (pattern, name) in patterns(&only) {
        let samples = run_on(&dispatcher, kind, Layout::threads(ranks), move |comm| measure(comm, pattern));
        let samples = samples.expect("the ranks end").swap_remove(0).expect("no rank fails");
        println!("{name:40} {}", summary(&samples));
    }
}
