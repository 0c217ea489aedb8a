//! Microseconds of short messages and collectives between processes: `mpiexec -n 2 target/release/examples/latency_between_processes`.
#![allow(clippy::disallowed_macros, reason = "an example says what it found")]

use lehr_ranks::timing::Stopwatch;
use lehr_ranks::{Boundary, Communicator, Error};
use lehr_ranks_mpi::Process;
use lehr_runtime::Dispatcher;

/// Samples of each pattern, of which the first warms up.
const SAMPLES: usize = 8;

/// A pattern, and how many stages of it make a sample.
const PATTERNS: [(&str, usize); 14] = [
    ("send and receive, 0 B", 20_000),
    ("both ways, 0 B", 20_000),
    ("shift, 8 B", 20_000),
    ("exchange, 8 B", 20_000),
    ("exchange, 8 KiB", 5000),
    ("exchange, 800 KB", 100),
    ("barrier", 20_000),
    ("broadcast, 8 B", 20_000),
    ("reduce, 8 B", 20_000),
    ("all-reduce, 8 B", 20_000),
    ("all-reduce, 8 KiB", 5000),
    ("all-reduce, 800 KB", 100),
    ("all-reduce by elements, 800 KB", 100),
    ("broadcast, 800 KB", 100),
];

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
        3 => comm.exchange(Boundary::Periodic, &out[..1], &out[..1], &mut low[..1], &mut high[..1]).await,
        4 => comm.exchange(Boundary::Periodic, &out[..1024], &out[..1024], &mut low[..1024], &mut high[..1024]).await,
        5 => comm.exchange(Boundary::Periodic, out, out, low, high).await,
        6 => comm.barrier().await,
        7 => comm.broadcast(0, &mut low[..1]).await,
        8 => comm.reduce(0, &mut low[..1], add).await,
        9 => comm.all_reduce(&mut low[..1], add).await,
        10 => comm.all_reduce(&mut low[..1024], add).await,
        11 => comm.all_reduce(low, add).await,
        12 => comm.all_reduce_elementwise(low, add).await,
        _ => comm.broadcast(0, low).await,
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let process = Process::join()?.ok_or("start it with mpiexec")?;
    let dispatcher = Dispatcher::new(1)?;
    let only = std::env::args().nth(1).unwrap_or_default();
    for (pattern, (name, stages)) in PATTERNS.into_iter().enumerate().filter(|(_, (name, _))| name.contains(&only)) {
        let measured = process.run(&dispatcher, 1, |mut comm| async move {
            let mut memory = [vec![1.0; 100_000], vec![0.0; 100_000], vec![0.0; 100_000]];
            let mut samples = Vec::new();
            for _ in 0..SAMPLES {
                comm.barrier().await?;
                let stopwatch = Stopwatch::start();
                for _ in 0..stages {
                    stage(&mut comm, pattern, &mut memory).await?;
                }
                samples.push(stopwatch.seconds() / stages as f64 * 1e6);
            }
            Ok::<_, Error>(samples.split_off(1))
        })?;
        if process.number() == 0 {
            let mut samples = measured.into_iter().next().ok_or("one rank")??;
            samples.sort_by(f64::total_cmp);
            let [least, median, most] = [0, samples.len() / 2, samples.len() - 1].map(|place| samples[place]);
            println!("{name:24} {least:9.2} {median:9.2} {most:9.2} us, min, median, max");
        }
    }
    process.finish()?;
    Ok(())
}
