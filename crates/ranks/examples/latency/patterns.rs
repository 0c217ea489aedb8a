//! The patterns that both latency examples measure: `latency.rs` between ranks of a process,
//! `latency_between_processes.rs` of `lehr-ranks-mpi` between processes.

use lehr_ranks::timing::Stopwatch;
use lehr_ranks::{Boundary, Communicator, Error, Order};

/// The number of samples of each pattern, after one sample that only warms up.
pub const SAMPLES: usize = 7;

/// The patterns, and the number of stages in a sample of each.
const PATTERNS: [(&str, usize); 17] = [
    ("send and receive, 0 B", 20_000),
    ("both ways, 0 B", 20_000),
    ("shift, 8 B", 20_000),
    ("two shifts, 8 B", 20_000),
    ("exchange, 8 B", 20_000),
    ("exchange, 8 KiB", 5000),
    ("exchange, 800 KB", 100),
    ("barrier", 20_000),
    ("broadcast, 8 B", 20_000),
    ("broadcast, 800 KB", 100),
    ("reduce, 8 B", 20_000),
    ("all-reduce, 8 B", 20_000),
    ("all-reduce, 8 KiB", 5000),
    ("all-reduce, 800 KB", 100),
    ("all-reduce by elements, 800 KB", 100),
    ("tree over 256 leaves of 160", 500),
    ("tree over 256 leaves of 160, any order", 500),
];

/// Returns the patterns whose names contain these words.
pub fn patterns(words: &str) -> impl Iterator<Item = (usize, &'static str)> {
    PATTERNS
        .iter()
        .enumerate()
        .map(|(pattern, (name, _))| (pattern, *name))
        .filter(move |(_, name)| name.contains(words))
}

/// Measures a pattern on all ranks; returns the microseconds per stage of each sample, in ascending order.
pub async fn measure(mut comm: Communicator, pattern: usize) -> Result<Vec<f64>, Error> {
    let mut memory = [vec![1.0; 100_000], vec![0.0; 100_000], vec![0.0; 100_000]];
    let (name, stages) = PATTERNS[pattern];
    if name.ends_with("any order") {
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
    let mut samples = samples.split_off(1);
    samples.sort_by(f64::total_cmp);
    Ok(samples)
}

async fn stage(comm: &mut Communicator, pattern: usize, memory: &mut [Vec<f64>; 3]) -> Result<(), Error> {
    let (rank, size) = (comm.rank(), comm.size());
    let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
    let [out, low, high] = memory;
    let add = |left: &mut [f64], right: &[f64]| left.iter_mut().zip(right).for_each(|(left, right)| *left += right);
    match pattern {
        0 => {
            comm.send::<u8>(right, 1, &[]).await?;
            comm.receive::<u8>(left, 1).await.map(drop)
        }
        1 => {
            comm.send::<u8>(right, 1, &[]).await?;
            comm.send::<u8>(left, 2, &[]).await?;
            comm.receive::<u8>(left, 1).await?;
            comm.receive::<u8>(right, 2).await.map(drop)
        }
        2 => comm.shift(1, &out[..1], &mut low[..1]).await,
        3 => {
            comm.shift(1, &out[..1], &mut low[..1]).await?;
            comm.shift(-1, &out[..1], &mut high[..1]).await
        }
        4 => comm.exchange(Boundary::Periodic, &out[..1], &out[..1], &mut low[..1], &mut high[..1]).await,
        5 => comm.exchange(Boundary::Periodic, &out[..1024], &out[..1024], &mut low[..1024], &mut high[..1024]).await,
        6 => comm.exchange(Boundary::Periodic, out, out, low, high).await,
        7 => comm.barrier().await,
        8 => comm.broadcast(0, &mut low[..1]).await,
        9 => comm.broadcast(0, low).await,
        10 => comm.reduce(0, &mut low[..1], add).await,
        11 => comm.all_reduce(&mut low[..1], add).await,
        12 => comm.all_reduce(&mut low[..1024], add).await,
        13 => comm.all_reduce(low, add).await,
        14 => comm.all_reduce_elementwise(low, add).await,
        _ => {
            let share = |rank: usize| rank * 256 / size;
            let map = |leaf: usize, partial: &mut [f64]| partial.fill(leaf as f64);
            comm.all_reduce_leaves(share(rank)..share(rank + 1), &mut low[..160], map, add).await
        }
    }
}

/// Returns the minimum, the median and the maximum as text.
pub fn summary(samples: &[f64]) -> String {
    let [least, median, most] = [0, samples.len() / 2, samples.len() - 1].map(|place| samples[place]);
    format!("{least:9.3} {median:9.3} {most:9.3}")
}
