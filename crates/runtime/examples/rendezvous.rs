//! Rendezvous (paper 001, table 4 and figure 15 c): ranks that live as long as the program and meet at every stage, as
//! in MPI.
//!
//! A ring of ranks relaxes a rod whose ends are joined: at each stage, every cell becomes the mean of itself and its
//! two neighbours. A rank has a piece of the rod, sends its outermost cells to its neighbours, and waits for their
//! cells *of the same stage* ([`exchange`]). A neighbour may be a stage ahead; its later message stays in the port
//! until the next stage.
//!
//! Checked: the stage and the side of each message, and the rod, bit for bit, by comparison with a rod that a single
//! loop relaxes. `cargo run --release -p lehr-runtime --example rendezvous -- 500000` runs the number of stages that
//! test 78 of the specification requires, on rings of 2 to 64 ranks. Without a number, it runs 5,000 stages.
#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "an example measures and prints")]

use std::time::Instant;

use lehr_runtime::{Dispatcher, Port, all, block_on, exchange};

/// A cell that a rank sends: its stage, the side of the sender's piece that it comes from, and its heat.
#[derive(Clone, Copy)]
struct Edge {
    stage: usize,
    is_right: bool,
    heat: f64,
}

const CELLS_A_RANK: usize = 4;

fn initial(cells: usize) -> Vec<f64> {
    (0..cells).map(|i| ((i * i) % 17) as f64).collect()
}

/// Runs one stage for a piece, given the neighbouring cells on both sides.
fn relax(left: f64, piece: &mut [f64], right: f64) {
    let mut before = left;
    for i in 0..piece.len() {
        let after = piece.get(i + 1).copied().unwrap_or(right);
        let own = piece[i];
        piece[i] = (before + own + after) / 3.0;
        before = own;
    }
}

/// Returns the rod after `stages` stages, relaxed by ranks on a ring.
pub fn run(dispatcher: &Dispatcher, ranks: usize, stages: usize) -> Vec<f64> {
    let rod = initial(ranks * CELLS_A_RANK);
    let ports: Vec<Port<(usize, Edge)>> = (0..ranks).map(|_| Port::new()).collect();
    let tasks = (0..ranks)
        .map(|rank| {
            let (left, right) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
            let (own, to_left, to_right) = (ports[rank].clone(), ports[left].clone(), ports[right].clone());
            let mut piece = rod[rank * CELLS_A_RANK..(rank + 1) * CELLS_A_RANK].to_vec();
            dispatcher.spawn(async move {
                // On a ring of two ranks, both neighbours are the same rank, whose two messages come in the order in
                // which it sends them.
                let mut neighbours = exchange(&own, [right, left]);
                for stage in 0..stages {
                    let edge = |is_right: bool, heat| (rank, Edge { stage, is_right, heat });
                    to_left.post(edge(false, piece[0])).unwrap();
                    to_right.post(edge(true, piece[CELLS_A_RANK - 1])).unwrap();
                    let [from_right, from_left] = (&mut neighbours).await.unwrap();
                    assert!(from_left.stage == stage && from_left.is_right, "rank {rank}, stage {stage}");
                    assert!(from_right.stage == stage && !from_right.is_right, "rank {rank}, stage {stage}");
                    relax(from_left.heat, &mut piece, from_right.heat);
                }
                piece
            })
        })
        .collect();
    let rod = block_on(all(tasks)).into_iter().flat_map(|piece| piece.expect("no rank fails")).collect();
    assert!(ports.iter().all(|port| port.is_empty() && port.waiting() == 0), "nothing is left over");
    rod
}

/// Returns the rod after `stages` stages, relaxed by one loop.
pub fn sequential(ranks: usize, stages: usize) -> Vec<f64> {
    let mut rod = initial(ranks * CELLS_A_RANK);
    for _ in 0..stages {
        let (first, last) = (rod[0], rod[rod.len() - 1]);
        relax(last, &mut rod, first);
    }
    rod
}

fn main() {
    let stages = std::env::args().nth(1).map_or(5_000, |stages| stages.parse().expect("a number of stages"));
    for ranks in [2, 3, 4, 8, 16, 32, 64] {
        let expected = sequential(ranks, stages);
        for threads in [1, 2, ranks] {
            let dispatcher = Dispatcher::new(threads).unwrap();
            let start = Instant::now();
            assert_eq!(run(&dispatcher, ranks, stages), expected, "the same heat to the last bit");
            let seconds = start.elapsed().as_secs_f64();
            println!(
                "{ranks:2} ranks, {threads:2} workers, {stages} stages: {:7.2} us a stage, {:.2} million messages/s",
                seconds * 1e6 / stages as f64,
                (2 * ranks * stages) as f64 / seconds / 1e6
            );
        }
    }
}
