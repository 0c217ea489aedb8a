//! Compares each collective, for each number of ranks and each root, with a sequential oracle.

use lehr_ranks::fabric::Kind;
use lehr_ranks::{Layout, run, run_on};
use lehr_runtime::Dispatcher;

const SIZES: [usize; 7] = [1, 2, 3, 4, 5, 7, 8];

fn on_each_size(test: impl Fn(&Dispatcher, usize)) {
    for threads in [1, 2, 8] {
        let dispatcher = Dispatcher::new(threads).unwrap();
        for size in SIZES {
            test(&dispatcher, size);
        }
    }
}

#[test]
fn nobody_passes_a_barrier_before_all_have_come() {
    on_each_size(|dispatcher, size| {
        for kind in Kind::ALL {
            let arrived = std::sync::atomic::AtomicUsize::new(0);
            run_on(dispatcher, kind, Layout::threads(size), |mut comm| {
                let arrived = &arrived;
                async move {
                    for round in 1..=100 {
                        arrived.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        comm.barrier().await.unwrap();
                        let seen = arrived.load(std::sync::atomic::Ordering::SeqCst);
                        assert_eq!(seen, round * size, "{kind:?}, round {round} of {size} ranks");
                        comm.barrier().await.unwrap();
                    }
                }
            })
            .unwrap();
        }
    });
}

/// Returns the values that rank `rank` sends, for each type.
fn says(rank: usize, length: usize) -> (Vec<f64>, Vec<u8>, Vec<[i32; 3]>) {
    let numbers = (0..length).map(|i| (rank * 100 + i) as f64 / 7.0).collect();
    let bytes = (0..length).map(|i| (rank * 31 + i) as u8).collect();
    let triples = (0..length).map(|i| [rank as i32, i as i32, -1]).collect();
    (numbers, bytes, triples)
}

#[test]
fn a_broadcast_gives_all_the_roots_values() {
    on_each_size(|dispatcher, size| {
        for root in 0..size {
            for length in [0, 1, 3, 1000] {
                let heard = run(dispatcher, Layout::threads(size), |mut comm| async move {
                    let (mut numbers, mut bytes, mut triples) = says(comm.rank(), length);
                    comm.broadcast(root, &mut numbers).await.unwrap();
                    comm.broadcast(root, &mut bytes).await.unwrap();
                    comm.broadcast(root, &mut triples).await.unwrap();
                    (numbers, bytes, triples)
                })
                .unwrap();
                assert!(heard.into_iter().all(|heard| heard == says(root, length)));
            }
        }
    });
}

#[test]
fn a_gather_gives_the_root_everybodys_values() {
    on_each_size(|dispatcher, size| {
        for root in 0..size {
            let gathered = run(dispatcher, Layout::threads(size), |mut comm| async move {
                let (numbers, bytes, triples) = says(comm.rank(), 2 * comm.rank() + 1);
                let numbers = comm.gather(root, &numbers).await.unwrap();
                let bytes = comm.gather(root, &bytes).await.unwrap();
                (numbers, bytes, comm.gather(root, &triples).await.unwrap())
            })
            .unwrap();
            for (rank, (numbers, bytes, triples)) in gathered.into_iter().enumerate() {
                let all = (0..size).map(|rank| says(rank, 2 * rank + 1));
                let is_root = rank == root;
                assert_eq!(numbers, is_root.then(|| all.clone().map(|all| all.0).collect()));
                assert_eq!(bytes, is_root.then(|| all.clone().map(|all| all.1).collect()));
                assert_eq!(triples, is_root.then(|| all.map(|all| all.2).collect()));
            }
        }
    });
}

#[test]
fn an_all_reduce_gives_all_the_same_bits_in_the_order_of_the_ranks() {
    // The composition of affine maps x -> a x + b is associative, not commutative, and exact in integers.
    let compose = |left: &mut [[i64; 2]], right: &[[i64; 2]]| {
        for (left, right) in left.iter_mut().zip(right) {
            *left = [left[0].wrapping_mul(right[0]), left[0].wrapping_mul(right[1]).wrapping_add(left[1])];
        }
    };
    on_each_size(|dispatcher, size| {
        let reduced = run(dispatcher, Layout::threads(size), |mut comm| async move {
            let rank = comm.rank() as i64;
            let mut maps = [[rank + 2, 1], [3, rank]];
            comm.all_reduce(&mut maps, compose).await.unwrap();
            maps
        })
        .unwrap();
        let mut oracle = [[2, 1], [3, 0]];
        (1..size as i64).for_each(|rank| compose(&mut oracle, &[[rank + 2, 1], [3, rank]]));
        assert!(reduced.into_iter().all(|reduced| reduced == oracle));
    });
}

// Catalogue: 80
#[test]
fn a_long_run_of_all_reduces_stays_right_with_more_ranks_than_cores() {
    for threads in [1, 2, 8] {
        let dispatcher = Dispatcher::new(threads).unwrap();
        run(&dispatcher, Layout::threads(24), |mut comm| async move {
            for round in 0..2000_u64 {
                let mut sum = [comm.rank() as u64 + round];
                comm.all_reduce(&mut sum, |left, right| left[0] += right[0]).await.unwrap();
                assert_eq!(sum[0], 276 + 24 * round);
            }
        })
        .unwrap();
    }
}

#[test]
fn collectives_of_all_kinds_may_follow_each_other() {
    on_each_size(|dispatcher, size| {
        run(dispatcher, Layout::threads(size), |mut comm| async move {
            for round in 0..100_usize {
                let root = round % size;
                let mut told = [round * (1 + comm.rank())];
                comm.broadcast(root, &mut told).await.unwrap();
                assert_eq!(told[0], round * (1 + root));
                if round % 3 == 0 {
                    comm.barrier().await.unwrap();
                }
                let gathered = comm.gather(root, &[comm.rank() as u32]).await.unwrap();
                assert_eq!(gathered.is_some(), comm.rank() == root);
                let mut most = [comm.rank()];
                comm.all_reduce(&mut most, |left, right| left[0] = left[0].max(right[0])).await.unwrap();
                assert_eq!(most[0], size - 1);
            }
        })
        .unwrap();
    });
}
