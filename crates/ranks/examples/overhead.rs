//! Measures the overhead of a round of 300 leaves of about 5 us each, as a ratio, by engine, ranks and threads.
//!
//! Each engine is compared with a lower bound, measured in alternation: the same number of plain threads, each with an
//! equal share of all leaves of all rounds, that never wait for each other. Overhead = time / time of the bound - 1.
//!
//! `cargo run --release -p lehr-ranks --example overhead [leaves] [microseconds]`
#![allow(clippy::disallowed_macros, reason = "an example prints its findings")]

use lehr_ranks::timing::Stopwatch;
use lehr_ranks::{Engine, Error, Execution, Program, Round, Rounds, drive};

/// The number of values in a partial, which is the length of the statistics of about 20 centres in two dimensions.
const LENGTH: usize = 160;
const ROUNDS: usize = 100;
const SAMPLES: usize = 15;

struct Work {
    /// The number of steps in the chain of dependent multiplications of a leaf.
    turns: usize,
}

impl Round for Work {
    fn len(&self) -> usize {
        LENGTH
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        partial.fill(chain(self.turns, leaf));
    }
}

fn chain(turns: usize, seed: usize) -> f64 {
    (0..turns).fold(seed as f64, |x, _| std::hint::black_box(x) * 0.999_999 + 0.5)
}

struct Repeated<'a>(&'a Work);

impl Program for Repeated<'_> {
    /// The seconds per round, and the first number of the total.
    type Output = (f64, f64);
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<(f64, f64), Error> {
        let mut total = [0.0; LENGTH];
        for _ in 0..ROUNDS / 10 {
            rounds.round(self.0, &mut total).await?;
        }
        let stopwatch = Stopwatch::start();
        for _ in 0..ROUNDS {
            rounds.round(self.0, &mut total).await?;
        }
        Ok((stopwatch.seconds() / ROUNDS as f64, total[0]))
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<f64>().expect("a number"));
    let leaves = arguments.next().unwrap_or(300.0) as usize;
    let us = arguments.next().unwrap_or(5.0);
    let turns = {
        let stopwatch = Stopwatch::start();
        std::hint::black_box(chain(10_000_000, 1));
        (us * 1e-6 / (stopwatch.seconds() / 1e7)) as usize
    };
    let work = Work { turns };
    // A leaf has 32 rows if there are fewer than 512 leaves.
    let rows = leaves * 32;
    assert_eq!(lehr_ranks::Partition::new(rows, 1).leaves(), leaves, "choose fewer than 512 leaves");
    println!("{leaves} leaves of {us} us, {ROUNDS} rounds; overhead over plain threads: min, median, max of {SAMPLES}");
    let layouts = [
        (Engine::Ranks, 1, 1),
        (Engine::Loop, 1, 1),
        (Engine::Ports, 1, 1),
        (Engine::Ranks, 2, 2),
        (Engine::Ranks, 4, 2),
        (Engine::Ranks, 8, 2),
        (Engine::Loop, 1, 2),
        (Engine::Ports, 1, 2),
    ];
    let mut overheads = vec![Vec::new(); layouts.len()];
    for _ in 0..SAMPLES {
        for ((engine, ranks, threads), overheads) in layouts.into_iter().zip(&mut overheads) {
            let bound = plain(&work, leaves, threads);
            let execution = Execution { engine, ranks, threads, job: None };
            let (seconds, _) = drive(&execution, rows, &Repeated(&work)).expect("the rounds run");
            overheads.push(seconds / bound - 1.0);
        }
    }
    for ((engine, ranks, threads), mut overheads) in layouts.into_iter().zip(overheads) {
        overheads.sort_by(f64::total_cmp);
        let (median, last) = (overheads[SAMPLES / 2], overheads[SAMPLES - 1]);
        println!("{engine:6} ranks {ranks} threads {threads}: {:7.3} {median:7.3} {last:7.3}", overheads[0]);
    }
}

/// Returns the seconds per round of threads that never wait for each other.
fn plain(work: &Work, leaves: usize, threads: usize) -> f64 {
    let stopwatch = Stopwatch::start();
    std::thread::scope(|scope| {
        for thread in 0..threads {
            scope.spawn(move || {
                let mut total = [0.0; LENGTH];
                let mut partial = [0.0; LENGTH];
                for leaf in (0..ROUNDS * leaves).skip(thread).step_by(threads) {
                    work.map(leaf, &mut partial);
                    work.combine(&mut total, &partial);
                }
                std::hint::black_box(total);
            });
        }
    });
    stopwatch.seconds() / ROUNDS as f64
}
