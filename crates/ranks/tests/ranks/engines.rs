//! All engines give the same bits on any number of ranks and threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use lehr_ranks::{Engine, Error, Execution, LeafCells, Partition, Program, Round, Rounds, drive};

/// Sums of ill-conditioned terms. Another order would change their last bits, and the combination is not commutative.
struct Sums<'a> {
    partition: Partition,
    scale: f64,
    visits: &'a LeafCells<u64>,
    runs: &'a AtomicUsize,
}

impl Round for Sums<'_> {
    fn len(&self) -> usize {
        3
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        self.runs.fetch_add(1, Ordering::Relaxed);
        self.visits.with(leaf, |visits| *visits += 1);
        partial.fill(0.0);
        for row in self.partition.leaf_rows(leaf) {
            let x = ((row * 7919) % 1009) as f64 - 500.0;
            partial[0] += x * self.scale;
            partial[1] += (x * 1e8).sin();
            partial[2] = partial[2] * 0.999 + x;
        }
    }

    fn combine(&self, left: &mut [f64], right: &[f64]) {
        left[0] += right[0];
        left[1] += right[1] / 3.0;
        left[2] = left[2] * 0.875 - right[2];
    }
}

/// A method whose rounds depend on each other, so that one wrong bit grows.
struct Method {
    rows: usize,
    rounds: usize,
}

impl Program for Method {
    type Output = Vec<u64>;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<Vec<u64>, Error> {
        let partition = rounds.partition();
        assert_eq!(partition.rows(), self.rows);
        let visits = LeafCells::new(partition.leaves(), |_| 0);
        let runs = AtomicUsize::new(0);
        let mut bits = Vec::new();
        let mut total = [1.0_f64; 3];
        for _ in 0..self.rounds {
            let round = Sums { partition, scale: 1.0 + total[2].abs().fract(), visits: &visits, runs: &runs };
            rounds.round(&round, &mut total).await?;
            bits.extend(total.map(f64::to_bits));
        }
        let mine = rounds.leaves();
        assert_eq!(runs.load(Ordering::Relaxed), mine.len() * self.rounds);
        for (leaf, visits) in visits.into_values().enumerate() {
            assert_eq!(visits as usize, if mine.contains(&leaf) { self.rounds } else { 0 });
        }
        Ok(bits)
    }
}

#[test]
fn all_engines_ranks_and_threads_give_the_same_bits() {
    for rows in [0, 1, 31, 33, 1000, 8192 + 5, 20_000] {
        let method = Method { rows, rounds: 5 };
        let one = drive(&Execution { engine: Engine::Ranks, ranks: 1, threads: 1, job: None }, rows, &method).unwrap();
        for engine in Engine::ALL {
            for ranks in [1, 2, 3, 4, 7, 8] {
                for threads in [1, 2, 8] {
                    let execution = Execution { engine, ranks, threads, job: None };
                    assert_eq!(drive(&execution, rows, &method).as_ref(), Ok(&one), "{rows} rows, {execution:?}");
                }
            }
        }
    }
}

#[test]
fn with_no_rows_a_total_is_left_as_it_was() {
    let bits = drive(&Execution::default(), 0, &Method { rows: 0, rounds: 1 }).unwrap();
    assert_eq!(bits, [1.0_f64.to_bits(); 3]);
}

/// A program that returns the flags on which its loops agreed, the number of ranks and the imbalance.
struct Agreement;

impl Program for Agreement {
    type Output = (Vec<bool>, usize, f64);
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<Self::Output, Error> {
        let mut heard = Vec::new();
        for round in 0..6 {
            // The lead's flag counts, whatever flags the other ranks pass.
            let flag = if rounds.is_lead() { round % 3 == 0 } else { round % 2 == 0 };
            heard.push(rounds.agree(flag).await?);
        }
        Ok((heard, rounds.partition().ranks(), rounds.imbalance()))
    }
}

#[test]
fn the_leads_flag_is_told_to_all() {
    for engine in Engine::ALL {
        let execution = Execution { engine, ranks: 3, threads: 2, job: None };
        let (heard, ranks, imbalance) = drive(&execution, 4000, &Agreement).unwrap();
        assert_eq!(heard, [true, false, false, true, false, false]);
        assert_eq!(ranks, if engine.has_ranks() { 3 } else { 1 });
        // There are 125 leaves of 32 rows; each of the first two of three ranks has 42 leaves.
        let expected = if engine.has_ranks() { 42.0 * 32.0 * 3.0 / 4000.0 } else { 1.0 };
        assert!((imbalance - expected).abs() < 1e-12, "{imbalance}");
    }
}

/// A round that panics in one leaf.
struct Faulty {
    leaf: usize,
}

impl Round for Faulty {
    fn len(&self) -> usize {
        1
    }

    fn map(&self, leaf: usize, partial: &mut [f64]) {
        assert!(leaf != self.leaf, "leaf {leaf} is bad");
        partial[0] = 1.0;
    }
}

impl Program for Faulty {
    type Output = f64;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<f64, Error> {
        let mut total = [0.0];
        rounds.round(self, &mut total).await?;
        Ok(total[0])
    }
}

#[test]
fn a_panic_in_a_leaf_is_one_error_whoever_runs_it() {
    for engine in Engine::ALL {
        for (ranks, threads) in [(1, 1), (4, 2), (3, 8)] {
            let execution = Execution { engine, ranks, threads, job: None };
            match drive(&execution, 4000, &Faulty { leaf: 70 }) {
                Err(Error::Panicked { message, .. }) => assert_eq!(message, "leaf 70 is bad"),
                other => panic!("{engine} on {ranks} ranks: {other:?}"),
            }
            assert_eq!(drive(&execution, 4000, &Faulty { leaf: usize::MAX }), Ok(125.0));
        }
    }
}

/// A program that catches the panic of a round and runs another round.
struct Undaunted;

impl Program for Undaunted {
    type Output = f64;
    type Error = Error;

    async fn run(&self, rounds: &mut dyn Rounds) -> Result<f64, Error> {
        let mut total = [0.0];
        for leaf in [3, 120] {
            let bad = Faulty { leaf };
            let mut round = std::pin::pin!(rounds.round(&bad, &mut total));
            let caught = std::future::poll_fn(|context| {
                let poll = std::panic::AssertUnwindSafe(|| round.as_mut().poll(context));
                std::task::Poll::Ready(std::panic::catch_unwind(poll).is_err())
            });
            assert!(caught.await);
        }
        rounds.round(&Faulty { leaf: usize::MAX }, &mut total).await?;
        Ok(total[0])
    }
}

#[test]
fn a_round_after_a_panic_that_was_caught_is_right() {
    for engine in [Engine::Loop, Engine::Ports] {
        for threads in [1, 2, 8] {
            assert_eq!(drive(&Execution { engine, ranks: 1, threads, job: None }, 4000, &Undaunted), Ok(125.0));
        }
    }
}

#[test]
fn engines_are_named_and_bad_executions_say_what_was_expected() {
    for engine in Engine::ALL {
        assert_eq!(engine.to_string().parse(), Ok(engine));
    }
    let message = "threads".parse::<Engine>().unwrap_err().to_string();
    assert!(message.contains("ranks, loop, ports") && message.contains("\"threads\""), "{message}");
    for (ranks, threads) in [(0, 1), (1, 0), (1, 100_000)] {
        let execution = Execution { engine: Engine::Ranks, ranks, threads, job: None };
        assert!(drive(&execution, 10, &Agreement).is_err());
    }
}
