//! A rank that fails tells the others; nobody waits for ever.

use std::future::Future;
use std::task::{Context, Waker};

use lehr_ranks::{Error, Layout, run};
use lehr_runtime::Dispatcher;

fn on_each(test: impl Fn(&Dispatcher)) {
    for threads in [1, 2, 8] {
        test(&Dispatcher::new(threads).unwrap());
    }
}

#[test]
fn a_rank_that_panics_ends_all_others_with_one_error() {
    on_each(|dispatcher| {
        for size in [1, 2, 5] {
            for culprit in 0..size {
                let outcome = run(dispatcher, Layout::threads(size), |mut comm| async move {
                    for round in 0..10 {
                        assert!(comm.rank() != culprit || round != 3, "no round three");
                        if comm.barrier().await.is_err() {
                            return;
                        }
                    }
                });
                let expected = Error::Panicked { rank: culprit, message: "no round three".to_owned() };
                assert_eq!(outcome, Err(expected));
            }
        }
    });
}

#[test]
fn a_rank_that_ends_early_ends_the_waiting_of_the_others() {
    on_each(|dispatcher| {
        let ended = run(dispatcher, Layout::threads(4), |mut comm| async move {
            if comm.rank() == 2 {
                return Ok(());
            }
            comm.all_reduce(&mut [1.0], |_, _| {}).await
        })
        .unwrap();
        let left = Err(Error::RankLeft { rank: 2, waiting_in: "all_reduce" });
        assert_eq!(ended, [left.clone(), left.clone(), Ok(()), left]);
    });
}

#[test]
fn a_rank_that_ends_after_its_last_collective_disturbs_nobody() {
    on_each(|dispatcher| {
        for _ in 0..200 {
            let ended = run(dispatcher, Layout::threads(3), |mut comm| async move {
                let mut sum = [1_u64];
                comm.all_reduce(&mut sum, |left, right| left[0] += right[0]).await.map(|()| sum[0])
            });
            assert_eq!(ended, Ok(vec![Ok(3); 3]));
        }
    });
}

#[test]
fn different_collectives_or_lengths_or_roots_are_reported_to_all() {
    on_each(|dispatcher| {
        let ended = run(dispatcher, Layout::threads(3), |mut comm| async move {
            match comm.rank() {
                1 => comm.barrier().await,
                rank => comm.all_reduce(&mut [rank as f64], |_, _| {}).await,
            }
        })
        .unwrap();
        for outcome in ended {
            let message = outcome.unwrap_err().to_string();
            assert!(
                message.contains("rank 0 calls all_reduce") && message.contains("rank 1 calls barrier"),
                "{message}"
            );
        }
        let lengths = run(dispatcher, Layout::threads(2), |mut comm| async move {
            let mut values = vec![0_u8; 4 + comm.rank()];
            comm.broadcast(0, &mut values).await
        })
        .unwrap();
        assert!(lengths.iter().all(|outcome| matches!(outcome, Err(Error::Mismatch { collective: "broadcast", .. }))));
        let roots = run(dispatcher, Layout::threads(2), |mut comm| async move {
            let root = comm.rank();
            comm.gather(root, &[1_u8]).await.map(|_| ())
        })
        .unwrap();
        assert!(roots.iter().all(|outcome| matches!(outcome, Err(Error::Mismatch { collective: "gather", .. }))));
    });
}

#[test]
fn a_combine_that_panics_hangs_nobody() {
    on_each(|dispatcher| {
        let outcome = run(dispatcher, Layout::threads(4), |mut comm| async move {
            comm.all_reduce(&mut [1.0], |_, _| panic!("cannot combine")).await.map_err(|error| error.to_string())
        });
        assert!(matches!(outcome, Err(Error::Panicked { message, .. }) if message == "cannot combine"));
    });
}

#[test]
fn an_abandoned_collective_is_completed_by_the_next() {
    on_each(|dispatcher| {
        let sums = run(dispatcher, Layout::threads(3), |mut comm| async move {
            if comm.rank() == 1 {
                let mut barrier = Box::pin(comm.barrier());
                let _ = barrier.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                drop(barrier);
            } else {
                comm.barrier().await.unwrap();
            }
            let mut sum = [comm.rank() as u64];
            comm.all_reduce(&mut sum, |left, right| left[0] += right[0]).await.unwrap();
            sum[0]
        });
        assert_eq!(sums, Ok(vec![3, 3, 3]));
    });
}

#[test]
fn layouts_that_cannot_be_placed_are_refused() {
    let dispatcher = Dispatcher::new(1).unwrap();
    for layout in [Layout::threads(0), Layout { threads: 1, processes: 2, nodes: 1 }] {
        assert!(matches!(run(&dispatcher, layout, |_| async {}), Err(Error::Invalid { .. })));
    }
}
