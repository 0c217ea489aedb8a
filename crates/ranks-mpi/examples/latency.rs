//! Microseconds of a shift, an exchange, a barrier and an all-reduce of 8 bytes between processes: `mpiexec -n 2 latency`.
#![allow(clippy::disallowed_macros, reason = "an example says what it found")]

use lehr_ranks::timing::Stopwatch;
use lehr_ranks_mpi::Process;
use lehr_runtime::Dispatcher;

/// Repetitions of each.
const ROUNDS: usize = 20_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let process = Process::join()?.ok_or("start it with mpiexec")?;
    let dispatcher = Dispatcher::new(1)?;
    let measured = process.run(&dispatcher, 1, |mut comm| async move {
        let (rank, size) = (comm.rank(), comm.size());
        let (left, right) = ((rank + size - 1) % size, (rank + 1) % size);
        let mut seconds = Vec::new();
        for _ in 0..2 {
            let mut watch = Stopwatch::start();
            let mut lap = |name: &'static str| {
                seconds.push((name, watch.seconds()));
                watch = Stopwatch::start();
            };
            for _ in 0..ROUNDS {
                comm.send::<u8>(right, 1, &[]).await?;
                comm.receive::<u8>(left, 1).await?;
            }
            lap("shift");
            for _ in 0..ROUNDS {
                comm.send::<u8>(right, 1, &[]).await?;
                comm.send::<u8>(left, 2, &[]).await?;
                comm.receive::<u8>(left, 1).await?;
                comm.receive::<u8>(right, 2).await?;
            }
            lap("exchange");
            for _ in 0..ROUNDS {
                comm.barrier().await?;
            }
            lap("barrier");
            let mut value = [1.0];
            for _ in 0..ROUNDS {
                comm.all_reduce(&mut value, |left, right| left[0] = f64::max(left[0], right[0])).await?;
            }
            lap("all-reduce of 8 bytes");
        }
        Ok::<_, lehr_ranks::Error>(seconds)
    })?;
    if process.number() == 0 {
        // The first half warmed up.
        let seconds = measured.into_iter().next().ok_or("one rank")??;
        for (name, seconds) in &seconds[seconds.len() / 2..] {
            println!("{name:24} {:8.2} us", seconds / ROUNDS as f64 * 1e6);
        }
    }
    process.finish()?;
    Ok(())
}
