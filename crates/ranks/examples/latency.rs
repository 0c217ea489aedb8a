//! What a call costs: microseconds a stage of each pattern, for a number of ranks on two workers, as the median of some samples.
//!
//! `cargo run --release -p lehr-ranks --example latency [ranks] [fabric: threads, mail, ports, bytes] [only patterns with these words]`
#![allow(clippy::disallowed_macros, reason = "an example prints its findings")]

use lehr_ranks::fabric::Kind;
use lehr_ranks::timing::Stopwatch;
use lehr_ranks::{Boundary, Communicator, Error, Layout, Order, run_on};

const SAMPLES: usize = 7;

/// A pattern, and how many stages of it make a sample.
const PATTERNS: [(&str, usize); 14] = [
    ("exchange", 20_000),
    ("shift", 20_000),
    ("two shifts", 20_000),
    ("exchange, 1000 doubles", 5000),
    ("exchange, 100000 doubles", 100),
    ("barrier", 20_000),
    ("broadcast, 8 B", 20_000),
    ("reduce, 8 B", 20_000),
    ("all-reduce, 8 B", 20_000),
    ("all-reduce, 8 KiB", 5000),
    ("all-reduce, 800 KB", 100),
    ("all-reduce by elements, 800 KB", 100),
    ("tree over 256 leaves of 160", 500),
    ("tree over 256 leaves of 160, any order", 500),
];

async fn stage(comm: &mut Communicator, pattern: usize, memory: &mut Memory) -> Result<(), Error> {
    let Memory { out, low, high } = memory;
    let add = |left: &mut [f64], right: &[f64]| left.iter_mut().zip(right).for_each(|(left, right)| *left += right);
    match pattern {
        0 => comm.exchange(Boundary::Periodic, &out[..1], &out[..1], &mut low[..1], &mut high[..1]).await,
        1 => comm.shift(1, &out[..1], &mut low[..1]).await,
        2 => {
            comm.shift(1, &out[..1], &mut low[..1]).await?;
            comm.shift(-1, &out[..1], &mut high[..1]).await
        }
        3 => comm.exchange(Boundary::Periodic, &out[..1000], &out[..1000], &mut low[..1000], &mut high[..1000]).await,
        4 => comm.exchange(Boundary::Periodic, out, out, low, high).await,
        5 => comm.barrier().await,
        6 => comm.broadcast(0, &mut low[..1]).await,
        7 => comm.reduce(0, &mut low[..1], add).await,
        8 => comm.all_reduce(&mut low[..1], add).await,
        9 => comm.all_reduce(&mut low[..1024], add).await,
        10 => comm.all_reduce(low, add).await,
        11 => comm.all_reduce_elementwise(low, add).await,
        _ => {
            let share = |rank: usize| rank * 256 / comm.size();
            let leaves = share(comm.rank())..share(comm.rank() + 1);
            let map = |leaf: usize, partial: &mut [f64]| partial.fill(leaf as f64);
            comm.all_reduce_leaves(leaves, &mut low[..160], map, add).await
        }
    }
}

struct Memory {
    out: Vec<f64>,
    low: Vec<f64>,
    high: Vec<f64>,
}

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
    for (pattern, (name, stages)) in PATTERNS.into_iter().enumerate().filter(|(_, (name, _))| name.contains(&only)) {
        let seconds = run_on(&dispatcher, kind, Layout::threads(ranks), |mut comm| async move {
            let mut memory = Memory { out: vec![1.0; 100_000], low: vec![0.0; 100_000], high: vec![0.0; 100_000] };
            if pattern == 13 {
                comm.set_order(Order::Any);
            }
            let mut samples = Vec::new();
            for _ in 0..=SAMPLES {
                comm.barrier().await?;
                let stopwatch = Stopwatch::start();
                for _ in 0..stages {
                    stage(&mut comm, pattern, &mut memory).await?;
                }
                samples.push(stopwatch.seconds() / stages as f64 * 1e6);
            }
            Ok::<_, Error>(samples)
        });
        // The first sample warms up.
        let mut samples = seconds.expect("the ranks end")[0].clone().expect("no rank fails").split_off(1);
        samples.sort_by(f64::total_cmp);
        println!("{name:40} {:9.3} {:9.3} {:9.3}", samples[0], samples[SAMPLES / 2], samples[SAMPLES - 1]);
    }
}
