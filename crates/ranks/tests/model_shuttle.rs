//! Checks the collectives at four to eight ranks with shuttle: random schedules, and schedules with few changes of
//! priority. A failing schedule is printed, and can be replayed with `shuttle::replay`.
//!
//! `RUSTFLAGS="--cfg shuttle" CARGO_TARGET_DIR=target/shuttle cargo test -p lehr-ranks --release --test model_shuttle`
#![cfg(shuttle)]

use lehr_ranks::fabric::Kind;
use lehr_ranks::fabric::threads::communicators;
use lehr_ranks::{Boundary, Communicator, Engine, Error, Execution, Program, Round, Rounds, Wanted, drive};
use lehr_runtime::block_on;
use shuttle::thread;

fn explore(iterations: usize, body: impl Fn() + Send + Sync + Clone + 'static) {
    shuttle::check_random(body.clone(), iterations);
    shuttle::check_pct(body, iterations, 3);
}

fn ranks<F: Future<Output = ()>>(size: usize, program: impl Fn(Communicator) -> F + Send + Sync + Copy + 'static) {
    ranks_that(false, size, program);
}

fn ranks_that<F: Future<Output = ()>>(
    may_spin: bool,
    size: usize,
    program: impl Fn(Communicator) -> F + Send + Sync + Copy + 'static,
) {
    let running: Vec<_> =
        communicators(size, may_spin).into_iter().map(|comm| thread::spawn(move || block_on(program(comm)))).collect();
    running.into_iter().for_each(|rank| rank.join().unwrap());
}

#[test]
fn four_to_eight_ranks_run_a_mix_of_collectives() {
    for (may_spin, size) in [(false, 4), (false, 5), (false, 8), (true, 4), (true, 5)] {
        explore(500, move || {
            ranks_that(may_spin, size, |mut comm| async move {
                let size = comm.size();
                for round in 0..3 {
                    let mut sum = [comm.rank() + round];
                    comm.all_reduce(&mut sum, |left, right| left[0] += right[0]).await.unwrap();
                    assert_eq!(sum[0], size * round + size * (size - 1) / 2);
                    let gathered = comm.gather(round, &[comm.rank() as u8]).await.unwrap();
                    assert_eq!(gathered.is_some(), comm.rank() == round);
                    comm.barrier().await.unwrap();
                }
            });
        });
    }
}

#[test]
fn of_five_ranks_one_leaves_and_nobody_waits_for_ever() {
    explore(500, || {
        ranks(5, |mut comm| async move {
            for round in 0..3 {
                if comm.rank() == 3 && round == 1 {
                    return;
                }
                match comm.barrier().await {
                    Ok(()) => assert_eq!(round, 0),
                    Err(error) => {
                        // The error names the rank that ended, or a rank that ended because of it.
                        assert!(matches!(error, Error::RankLeft { .. }));
                        return;
                    }
                }
            }
        });
    });
}

struct Ones;

impl Round for Ones {
    fn len(&self) -> usize {
        1
    }

    fn map(&self, _: usize, partial: &mut [f64]) {
        partial[0] = 1.0;
    }
}

impl Program for Ones {
    type Output = f64;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<f64, Error> {
        let mut total = [0.0];
        for _ in 0..2 {
            rounds.round(&Ones, &mut total).await?;
        }
        Ok(total[0])
    }
}

#[test]
fn every_engine_ends_its_rounds_and_its_threads() {
    for engine in Engine::ALL {
        explore(200, move || {
            // 192 rows are six leaves.
            assert_eq!(drive(&Execution { engine, ranks: 4, threads: 2, job: None }, 192, &Ones), Ok(6.0));
        });
    }
}

#[test]
fn messages_exchanges_and_collectives_over_messages_lose_nothing() {
    for kind in Kind::ALL {
        for (size, may_spin) in [(3, true), (4, false), (6, false)] {
            explore(200, move || {
                let running: Vec<_> = kind
                    .communicators(size, may_spin)
                    .into_iter()
                    .map(|comm| thread::spawn(move || block_on(mix(comm))))
                    .collect();
                running.into_iter().for_each(|rank| rank.join().unwrap());
            });
        }
    }
}

/// Sends bursts that fill channels, receives from any source, makes an exchange and a sum.
async fn mix(mut comm: Communicator) {
    let (rank, size) = (comm.rank(), comm.size());
    let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
    for value in 0..3_u64 {
        comm.send(next, 0, &[value]).await.unwrap();
    }
    let (mut low, mut high) = ([9], [9]);
    comm.exchange(Boundary::Periodic, &[rank], &[rank], &mut low, &mut high).await.unwrap();
    assert_eq!((low[0], high[0]), (before, next));
    for value in 0..3_u64 {
        let (heard, status) = comm.receive_any::<u64>(Wanted::ANY).await.unwrap();
        assert_eq!((heard, status.source), (vec![value], before));
    }
    let mut sum = [rank];
    comm.all_reduce(&mut sum, |left, right| left[0] += right[0]).await.unwrap();
    assert_eq!(sum[0], size * (size - 1) / 2);
}

#[test]
fn parts_that_are_made_while_a_rank_ends_are_left_by_it() {
    explore(500, || {
        ranks(4, |mut comm| async move {
            let rank = comm.rank();
            let part = comm.split(Some(0), 0).await;
            drop(comm);
            if rank == 2 {
                return; // with its part
            }
            let mut part = part.unwrap().unwrap();
            assert_eq!(part.barrier().await, Err(Error::RankLeft { rank: 2, waiting_in: "barrier" }));
        });
    });
}

#[test]
fn four_to_eight_ranks_shift_and_exchange_with_their_neighbours() {
    for (may_spin, size) in [(false, 4), (false, 8), (true, 4), (true, 5)] {
        explore(500, move || {
            ranks_that(may_spin, size, |mut comm| async move {
                let (rank, size) = (comm.rank(), comm.size());
                let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
                for round in 0..4 {
                    // A rank may be ahead of the next rank by several shifts.
                    let mut received = [size];
                    comm.shift(1, &[rank], &mut received).await.unwrap();
                    assert_eq!(received, [before]);
                    let (mut low, mut high) = ([size], [size]);
                    comm.exchange(Boundary::Periodic, &[rank], &[rank], &mut low, &mut high).await.unwrap();
                    assert_eq!((low, high), ([before], [next]));
                    if round == 1 {
                        comm.barrier().await.unwrap();
                    }
                }
            });
        });
    }
}

#[test]
fn ranks_that_spin_run_ahead_in_broadcasts_and_reductions() {
    for size in [3, 4, 5] {
        explore(300, move || {
            ranks_that(true, size, |mut comm| async move {
                let (rank, size) = (comm.rank(), comm.size());
                for round in 0..4 {
                    let mut told = [10 * round + rank];
                    comm.broadcast(round % 2, &mut told).await.unwrap();
                    assert_eq!(told, [10 * round + round % 2]);
                    let mut sum = [rank];
                    comm.reduce(size - 1, &mut sum, |left, right| left[0] += right[0]).await.unwrap();
                    assert_eq!(sum, [if rank == size - 1 { size * (size - 1) / 2 } else { rank }]);
                    if round == 2 {
                        let mut received = [size];
                        comm.shift(1, &[rank], &mut received).await.unwrap();
                        assert_eq!(received, [(rank + size - 1) % size]);
                        comm.barrier().await.unwrap();
                    }
                }
            });
        });
    }
}

#[test]
fn ranks_that_spin_lend_each_other_long_messages() {
    for size in [2, 3, 4] {
        explore(300, move || {
            ranks_that(true, size, |mut comm| async move {
                let (rank, size) = (comm.rank(), comm.size());
                let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);
                for round in 0..3 {
                    let says = |rank: usize| vec![10 * round + rank; 20];
                    let (own, mut low, mut high) = (says(rank), says(size), says(size));
                    comm.exchange(Boundary::Periodic, &own, &own, &mut low, &mut high).await.unwrap();
                    drop(own);
                    assert_eq!((low, high), (says(before), says(next)));
                    let (own, mut received) = (says(rank), says(size));
                    if rank == 0 && round == 1 {
                        let mut shift = Box::pin(comm.shift(1, &own, &mut received));
                        let _ = shift.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
                        continue;
                    }
                    comm.shift(1, &own, &mut received).await.unwrap();
                    assert_eq!(received, says(before));
                }
            });
        });
    }
}

#[test]
fn of_ranks_in_different_calls_none_waits_for_ever() {
    for (kind, may_spin) in Kind::ALL.map(|kind| (kind, false)).into_iter().chain([(Kind::Threads, true)]) {
        for (usual, wrong) in [(0, 1), (1, 0), (2, 3), (3, 2), (1, 4), (4, 1), (3, 5), (5, 3), (0, 3), (3, 0)] {
            explore(100, move || {
                let program = move |mut comm: Communicator| async move {
                    let call = if comm.rank() == 2 { wrong } else { usual };
                    let end = match call {
                        0 => comm.barrier().await,
                        1 => comm.shift(1, &[0_u8], &mut [0]).await,
                        2 => comm.gather(0, &[0_u8]).await.map(drop),
                        3 => comm.broadcast(0, &mut [0_u8]).await,
                        5 => comm.reduce(2, &mut [0_u8], |_, _| {}).await,
                        _ => comm.shift(2, &[0_u8], &mut [0]).await,
                    };
                    let end = match end {
                        Ok(()) => comm.barrier().await,
                        error => error,
                    };
                    assert!(matches!(end, Err(Error::Mismatch { .. } | Error::RankLeft { .. })), "{end:?}");
                };
                let running: Vec<_> = kind
                    .communicators(4, may_spin)
                    .into_iter()
                    .map(|comm| thread::spawn(move || block_on(program(comm))))
                    .collect();
                running.into_iter().for_each(|rank| rank.join().unwrap());
            });
        }
    }
}
