//! If a rank fails, the other ranks learn of it, and none waits for ever.

use std::borrow::Cow;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use lehr_ranks::fabric::{Envelope, Fabric, Kind, Label, Message, Pattern, Ticket, bytes};
use lehr_ranks::{Boundary, Communicator, Error, Grid, Layout, Wanted, run, run_on};
use lehr_runtime::{Clock, Dispatcher};

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
            comm.broadcast(0, &mut values).await?;
            // The root may have continued, and learns of the disagreement here.
            comm.barrier().await
        })
        .unwrap();
        for outcome in lengths {
            let message = outcome.unwrap_err().to_string();
            assert!(
                message.contains("with root 0 and 4 bytes") && message.contains("with root 0 and 5 bytes"),
                "{message}"
            );
        }
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

/// Runs a test on each fabric, with each number of threads.
fn on_each_fabric(test: impl Fn(&Dispatcher, Kind)) {
    on_each(|dispatcher| Kind::ALL.into_iter().for_each(|kind| test(dispatcher, kind)));
}

/// Waits for ranks that do not come, in the call with number `call`, so that ranks may wait in different calls.
async fn wait_in(comm: &mut Communicator, call: usize) -> Result<(), Error> {
    let (rank, size) = (comm.rank(), comm.size());
    match call % 7 {
        0 => comm.barrier().await,
        1 => comm.broadcast(2, &mut [0_u8; 3]).await,
        2 => comm.all_reduce(&mut [1.0], |left, right| left[0] += right[0]).await,
        3 => comm.all_gather(&[rank], &mut vec![0; size]).await,
        4 => comm.scan(&mut [1_u64], |left, right| left[0] += right[0]).await,
        5 => comm.exchange(Boundary::Periodic, &[1], &[2], &mut [0], &mut [0]).await,
        _ => comm.all_to_all(&vec![rank; size], &mut vec![0; size]).await,
    }
}

#[test]
fn whoever_waits_is_told_which_rank_panicked() {
    on_each_fabric(|dispatcher, kind| {
        for call in 0..7 {
            let told = std::sync::Mutex::new(Vec::new());
            let outcome = run_on(dispatcher, kind, Layout::threads(5), |mut comm| {
                let told = &told;
                async move {
                    assert_ne!(comm.rank(), 2, "rank two falls");
                    let error = match wait_in(&mut comm, call).await {
                        Err(error) => error,
                        // This rank's part of the call did not need rank 2; the barrier does.
                        Ok(()) => comm.barrier().await.unwrap_err(),
                    };
                    told.lock().unwrap().push(error);
                }
            });
            assert_eq!(outcome, Err(Error::Panicked { rank: 2, message: panics("rank two falls") }));
            let told = told.into_inner().unwrap();
            assert_eq!(told.len(), 4);
            for error in told {
                assert!(matches!(error, Error::RankLeft { rank: 2, .. }), "{kind:?}, call {call}: {error}");
            }
        }
    });
}

/// Returns `message` with the text that `assert_ne!` adds to it.
fn panics(message: &str) -> String {
    format!("assertion `left != right` failed: {message}\n  left: 2\n right: 2")
}

#[test]
fn a_receive_from_any_source_ends_when_a_rank_has_failed_and_not_when_one_has_ended() {
    on_each_fabric(|dispatcher, kind| {
        let outcome = run_on(dispatcher, kind, Layout::threads(3), |comm| async move {
            match comm.rank() {
                0 => {
                    let first = comm.receive_any::<u8>(Wanted::ANY).await.unwrap();
                    assert_eq!(first.0, [1]);
                    // Rank 1 has ended in order, or is about to. Rank 2 panics when it receives this message.
                    comm.send(2, 0, &[0_u8]).await.unwrap();
                    let error = comm.receive_any::<u8>(Wanted::ANY).await.unwrap_err();
                    assert_eq!(error, Error::RankLeft { rank: 2, waiting_in: "receive_any" });
                }
                1 => comm.send(0, 0, &[1_u8]).await.unwrap(),
                _ => {
                    comm.receive::<u8>(0, 0).await.unwrap();
                    panic!("rank two falls");
                }
            }
        });
        assert_eq!(outcome, Err(Error::Panicked { rank: 2, message: "rank two falls".to_owned() }));
    });
}

#[test]
fn what_a_rank_sent_before_it_ended_can_still_be_received() {
    on_each_fabric(|dispatcher, kind| {
        let heard = run_on(dispatcher, kind, Layout::threads(2), |comm| async move {
            if comm.rank() == 1 {
                comm.send(0, 1, &[5_u16]).await.unwrap();
                return (Ok(vec![]), Ok(vec![]));
            }
            let nothing = comm.receive::<u16>(1, 2).await;
            (comm.receive::<u16>(1, 1).await, nothing)
        })
        .unwrap();
        assert_eq!(heard[0], (Ok(vec![5]), Err(Error::RankLeft { rank: 1, waiting_in: "receive" })));
    });
}

#[test]
fn a_receive_that_is_dropped_has_taken_nothing_and_stands_in_nobodys_way() {
    on_each_fabric(|dispatcher, kind| {
        run_on(dispatcher, kind, Layout::threads(2), |comm| async move {
            if comm.rank() == 1 {
                comm.receive::<u8>(0, 9).await.unwrap(); // until rank 0 waits
                for value in 0..3_u8 {
                    comm.send(0, 0, &[value]).await.unwrap();
                }
                comm.send(0, 7, &[0_u8]).await.unwrap();
                return;
            }
            let poll = |future: std::pin::Pin<&mut dyn Future<Output = Result<Vec<u8>, Error>>>| {
                future.poll(&mut Context::from_waker(Waker::noop()))
            };
            let mut first = Box::pin(comm.receive::<u8>(1, 0));
            let mut second = Box::pin(comm.receive::<u8>(1, 0));
            assert!(poll(first.as_mut()).is_pending() && poll(second.as_mut()).is_pending());
            comm.send(1, 9, &[0_u8]).await.unwrap();
            comm.receive::<u8>(1, 7).await.unwrap();
            // All messages have arrived. The first message is not for the second receive as long as the first receive,
            // which began earlier, waits.
            drop(first);
            assert_eq!(second.await.unwrap(), [0]);
            assert_eq!(comm.receive::<u8>(1, 0).await.unwrap(), [1]);
            assert_eq!(comm.receive::<u8>(1, 0).await.unwrap(), [2]);
        })
        .unwrap();
    });
}

#[test]
fn on_a_checked_communicator_every_rank_is_told_who_calls_something_else() {
    on_each_fabric(|dispatcher, kind| {
        for (culprit, call) in [(0, 0), (1, 3), (3, 5)] {
            let ends = run_on(dispatcher, kind, Layout::threads(4), |mut comm| async move {
                comm.set_checked(true);
                comm.barrier().await?;
                let mut part = comm.split(Some(0), 0).await?.expect("all are in it");
                if comm.rank() == culprit { wait_in(&mut part, call).await } else { wait_in(&mut part, 2).await }
            })
            .unwrap();
            let name = ["barrier", "", "", "all_gather", "", "exchange"][call];
            for end in ends {
                let message = end.unwrap_err().to_string();
                assert!(message.contains(&format!("rank {culprit} calls {name}")), "{kind:?}: {message}");
                assert!(message.contains("calls all_reduce with 8 bytes"), "{kind:?}: {message}");
            }
        }
    });
}

#[test]
fn a_collective_that_was_given_up_over_messages_is_an_error_for_all() {
    on_each_fabric(|dispatcher, kind| {
        if kind == Kind::Threads {
            return; // There it is completed; see above.
        }
        let ends = run_on(dispatcher, kind, Layout::threads(3), |mut comm| async move {
            if comm.rank() == 1 {
                let mut barrier = Box::pin(comm.barrier());
                assert!(barrier.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
                drop(barrier);
            } else {
                comm.receive::<u8>(1, 0).await.unwrap();
            }
            if comm.rank() == 1 {
                for to in [0, 2] {
                    comm.send(to, 0, &[0_u8]).await.unwrap();
                }
            }
            // Rank 1's part in the abandoned barrier had two steps, and only one of them was made.
            comm.barrier().await?;
            comm.barrier().await
        })
        .unwrap();
        assert_eq!(ends[1], Err(Error::Abandoned { collective: "barrier" }));
        for rank in [0, 2] {
            assert!(matches!(ends[rank], Err(Error::RankLeft { rank: 1, waiting_in: "barrier" })), "{:?}", ends[rank]);
        }
    });
}

#[test]
fn a_rank_that_is_late_is_named_once_the_others_patience_is_at_an_end() {
    on_each_fabric(|dispatcher, kind| {
        let clock = Clock::virtual_time();
        let (begun, given_up) = (std::sync::atomic::AtomicUsize::new(0), std::sync::atomic::AtomicUsize::new(0));
        let limit = Duration::from_secs(3600);
        let ends = run_on(dispatcher, kind, Layout::threads(4), |mut comm| {
            let (clock, begun, given_up) = (&clock, &begun, &given_up);
            async move {
                comm.set_checked(true);
                if comm.rank() == 2 {
                    // Rank 2 is late by hours: from the time when the other ranks have done their part until they have
                    // given up.
                    while begun.load(std::sync::atomic::Ordering::SeqCst) < 3 {
                        lehr_runtime::yield_now().await;
                    }
                    while given_up.load(std::sync::atomic::Ordering::SeqCst) < 3 {
                        clock.advance(limit);
                        lehr_runtime::yield_now().await;
                    }
                    return comm.barrier().await;
                }
                comm.set_patience(clock, Some(limit));
                let mut barrier = std::pin::pin!(comm.barrier());
                let first =
                    std::future::poll_fn(|context| std::task::Poll::Ready(barrier.as_mut().poll(context))).await;
                assert!(first.is_pending());
                begun.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                let outcome = barrier.await;
                given_up.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                outcome
            }
        })
        .unwrap();
        for rank in [0, 1, 3] {
            // A rank that learns of the lateness from a rank that has given up names the same late rank.
            assert!(
                matches!(
                    ends[rank],
                    Err(Error::Late { rank: Some(2), waiting_in: "barrier", .. } | Error::RankLeft { rank: 2, .. })
                ),
                "{kind:?}: {:?}",
                ends[rank]
            );
        }
    });
}

/// Makes the collective call with number `call`; the call completes if all ranks make the same call.
async fn some_call(comm: &mut Communicator, call: usize) -> Result<(), Error> {
    let (rank, size) = (comm.rank(), comm.size());
    let add = |left: &mut [u64], right: &[u64]| left[0] += right[0];
    match call {
        0..7 => wait_in(comm, call).await,
        7 => comm.gather(0, &[1_u8]).await.map(drop),
        8 => comm.gather(size - 1, &[1_u8]).await.map(drop),
        9 => comm.reduce(0, &mut [1], add).await,
        10 => comm.scatter(1, &vec![1_u8; if rank == 1 { size } else { 0 }], &mut [0]).await,
        11 => comm.shift(1, &[1_u8], &mut [0]).await,
        12 => comm.shift(2, &[1_u8], &mut [0]).await,
        13 => comm.broadcast(0, &mut [0_u8; 3]).await,
        14 => comm.exchange(Boundary::Open, &[1], &[2], &mut [0], &mut [0]).await,
        _ => comm.exchange_on(&Grid::line(size, Boundary::Periodic), &[vec![1_u8], vec![]]).await.map(drop),
    }
}

const CALLS: usize = 16;

/// The rank `culprit` makes a different call than the other ranks, between calls that all ranks make.
async fn one_disagrees(mut comm: Communicator, culprit: usize, calls: [usize; 2]) -> Result<(), Error> {
    for _ in 0..3 {
        comm.barrier().await?;
        some_call(&mut comm, calls[0]).await?;
    }
    let call = calls[usize::from(comm.rank() == culprit)];
    some_call(&mut comm, call).await?;
    // This rank's part of the call did not need the culprit; these barriers do.
    for _ in 0..3 {
        comm.barrier().await?;
    }
    Ok(())
}

/// Returns the errors with which the ranks end if one rank disagrees.
fn disagree(dispatcher: &Dispatcher, kind: Kind, size: usize, culprit: usize, calls: [usize; 2]) -> Vec<Error> {
    let ends =
        run_on(
            dispatcher,
            kind,
            Layout::threads(size),
            |comm| async move { one_disagrees(comm, culprit, calls).await },
        );
    ends.unwrap().into_iter().map(|end: Result<(), Error>| end.expect_err("no rank ends well")).collect()
}

/// Like [`disagree`], with ranks that spin although they have no cores of their own.
fn disagree_spinning(dispatcher: &Dispatcher, size: usize, culprit: usize, calls: [usize; 2]) -> Vec<Error> {
    let ranks = Kind::Threads.communicators(size, true).into_iter().map(|comm| one_disagrees(comm, culprit, calls));
    let ends = dispatcher.run_all(ranks.collect()).into_iter().map(|end| end.expect("no rank panics"));
    ends.map(|end| end.expect_err("no rank ends well")).collect()
}

#[test]
fn a_wrong_call_is_found_out_on_every_fabric_whatever_was_called() {
    let dispatcher = Dispatcher::new(2).unwrap();
    for kind in Kind::ALL {
        for size in [3, 4] {
            for usual in 0..CALLS {
                for wrong in (0..CALLS).filter(|&wrong| wrong != usual) {
                    let culprit = (usual + wrong) % size;
                    let ends = disagree(&dispatcher, kind, size, culprit, [usual, wrong]);
                    let named = ends.iter().filter(|end| matches!(end, Error::Mismatch { .. })).count();
                    let left = ends.iter().filter(|end| matches!(end, Error::RankLeft { .. })).count();
                    let context =
                        || format!("{kind:?}, {size} ranks, {culprit} calls {wrong} and not {usual}: {ends:?}");
                    assert!(named > 0 && named + left == size, "{}", context());
                }
            }
        }
    }
}

#[test]
fn a_wrong_call_is_found_out_by_ranks_that_spin_and_run_ahead() {
    let dispatcher = Dispatcher::new(4).unwrap();
    for size in [3, 4] {
        for usual in 0..CALLS {
            for wrong in (0..CALLS).filter(|&wrong| wrong != usual) {
                let culprit = (usual + wrong) % size;
                let ends = disagree_spinning(&dispatcher, size, culprit, [usual, wrong]);
                let context = || format!("{size} ranks, {culprit} calls {wrong} and not {usual}: {ends:?}");
                let named = ends.iter().filter(|end| matches!(end, Error::Mismatch { .. })).count();
                let left = ends.iter().filter(|end| matches!(end, Error::RankLeft { .. })).count();
                assert!(named > 0 && named + left == size, "{}", context());
            }
        }
    }
}

#[test]
fn a_call_that_one_rank_leaves_out_is_named_where_the_ranks_meet_next() {
    // Rank 1 leaves out a broadcast of which rank 0 is the root, so no rank waits for rank 1 in the broadcast.
    let dispatcher = Dispatcher::new(2).unwrap();
    let ranks = Kind::Threads.communicators(2, true).into_iter().map(|mut comm| async move {
        comm.barrier().await?;
        if comm.rank() == 0 {
            comm.broadcast(0, &mut [7_u8]).await?;
        }
        comm.barrier().await?;
        comm.barrier().await
    });
    for end in dispatcher.run_all(ranks.collect()) {
        let text = end.unwrap().unwrap_err().to_string();
        assert!(text.contains("rank 0 calls broadcast with root 0 and 1 bytes, rank 1 calls barrier"), "{text}");
    }
}

#[test]
fn who_only_tells_hears_of_the_end_of_who_does_not_listen() {
    for kind in [Kind::Threads, Kind::Mail, Kind::Ports, Kind::Bytes] {
        for may_spin in [false, true] {
            let dispatcher = Dispatcher::new(2).unwrap();
            let ranks = kind.communicators(2, may_spin).into_iter().map(|mut comm| async move {
                for call in 0..100 {
                    if comm.rank() == 1 && call == 3 {
                        return Ok(call);
                    }
                    comm.broadcast(0, &mut [7_u64]).await?;
                }
                Ok(100)
            });
            let ends: Vec<_> = dispatcher.run_all(ranks.collect()).into_iter().map(Result::unwrap).collect();
            assert_eq!(ends, [Err(Error::RankLeft { rank: 1, waiting_in: "broadcast" }), Ok(3)], "{kind:?}");
        }
    }
}

#[test]
fn a_broadcast_and_a_reduction_that_were_given_up_are_heard_before_the_next_call() {
    let dispatcher = Dispatcher::new(3).unwrap();
    for may_spin in [false, true] {
        let ranks = Kind::Threads.communicators(3, may_spin).into_iter().map(|mut comm| async move {
            let (rank, add) = (comm.rank(), |left: &mut [u64], right: &[u64]| left[0] += right[0]);
            let mut heard = Vec::new();
            // There are more calls than a lane has slots, so that a root whose messages are not received would wait for
            // room.
            for stage in 0..60_u64 {
                let (mut told, mut own) = ([stage], [stage + rank as u64]);
                if rank == 2 && stage.is_multiple_of(20) {
                    let mut broadcast = Box::pin(comm.broadcast(0, &mut told));
                    let _ = broadcast.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                } else {
                    comm.broadcast(0, &mut told).await?;
                }
                if rank == 2 && stage % 20 == 10 {
                    let mut reduce = Box::pin(comm.reduce(2, &mut own, add));
                    let _ = reduce.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                } else {
                    comm.reduce(2, &mut own, add).await?;
                }
                heard = vec![told[0], own[0]];
            }
            comm.barrier().await?;
            Ok::<_, Error>(heard)
        });
        let ends: Vec<_> = dispatcher.run_all(ranks.collect()).into_iter().map(Result::unwrap).collect();
        assert_eq!(ends, [Ok(vec![59, 59]), Ok(vec![59, 60]), Ok(vec![59, 180])]);
    }
}

#[test]
fn long_messages_that_are_lent_arrive_whole_whether_taken_or_revoked() {
    let dispatcher = Dispatcher::new(2).unwrap();
    for size in [2, 3] {
        let ranks = Kind::Threads.communicators(size, true).into_iter().map(|mut comm| async move {
            let (rank, size) = (comm.rank(), comm.size());
            let says = |rank: usize, round: usize| vec![(1000 * round + rank) as f64; 5000 + round];
            for round in 0..30 {
                let (own, mut low, mut high) = (says(rank, round), says(9, round), says(9, round));
                // In each round another rank is late, so that some offers are taken and others are revoked.
                if round % size == rank {
                    lehr_runtime::yield_now().await;
                }
                if round % 7 == 3 && rank == 0 {
                    let mut exchange = Box::pin(comm.exchange(Boundary::Periodic, &own, &own, &mut low, &mut high));
                    let _ = exchange.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                    continue;
                }
                comm.exchange(Boundary::Periodic, &own, &own, &mut low, &mut high).await.unwrap();
                drop(own);
                assert_eq!(low, says((rank + size - 1) % size, round));
                assert_eq!(high, says((rank + 1) % size, round));
            }
            // A message that is too long for its receiver is refused, and copied nowhere.
            let own = vec![0.0; if rank == 0 { 6000 } else { 5000 }];
            let mut received = vec![7.0; 5000];
            let end = comm.shift(1, &own, &mut received).await;
            if rank == 1 {
                assert_eq!(end, Err(Error::Truncated { source: 0, sent: 48_000, room: 40_000 }));
                assert!(received.iter().all(|value| *value == 7.0));
            }
        });
        assert!(dispatcher.run_all(ranks.collect()).iter().all(Result::is_ok));
    }
}

#[test]
fn between_threads_all_ranks_are_told_of_a_wrong_call_and_who_made_it() {
    on_each(|dispatcher| {
        for (usual, wrong, name) in [
            (0, 11, "calls shift by 1 places"),
            (11, 0, "calls barrier"),
            (2, 5, "calls exchange"),
            (5, 2, "calls all_reduce"),
        ] {
            for (size, culprit) in [(3, 0), (3, 2), (4, 1)] {
                for end in disagree(dispatcher, Kind::Threads, size, culprit, [usual, wrong]) {
                    let text = end.to_string();
                    let is_named = text.contains(&format!("rank {culprit} {name}"));
                    // A rank that makes the call after all other ranks have ended learns of their end instead.
                    assert!(is_named || matches!(end, Error::RankLeft { .. }), "{size} ranks, {culprit}: {text}");
                }
            }
        }
    });
}

#[test]
fn a_shift_that_was_given_up_is_not_taken_for_the_next_one() {
    on_each(|dispatcher| {
        let heard = run(dispatcher, Layout::threads(3), |mut comm| async move {
            let rank = comm.rank() as u64;
            let mut received = [9];
            for stage in 0..12_u64 {
                if comm.rank() == 1 && stage < 11 {
                    // Rank 1 gives up its shifts, so that it is ahead of the other ranks by more messages than a lane
                    // has slots.
                    let values = [10 * stage + rank];
                    let mut shift = Box::pin(comm.shift(1, &values, &mut received));
                    let _ = shift.as_mut().poll(&mut Context::from_waker(Waker::noop()));
                } else {
                    comm.shift(1, &[10 * stage + rank], &mut received).await?;
                    let before = (rank + 2) % 3;
                    assert_eq!(received[0], 10 * stage + before);
                }
            }
            Ok::<_, Error>(received[0])
        });
        assert_eq!(heard.unwrap(), [Ok(112), Ok(110), Ok(111)]);
    });
}

/// An end of the fabric `bytes` that a test can look into.
struct Watched(std::sync::Arc<bytes::Endpoint>);

impl Fabric for Watched {
    fn name(&self) -> &'static str {
        "watched"
    }

    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn send(&self, to: usize, label: Label, bytes: Cow<'_, [u8]>) -> Result<(), Error> {
        self.0.send(to, label, bytes)
    }

    fn poll_receive(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Message, Error>> {
        self.0.poll_receive(pattern, turn, waiting_in, context)
    }

    fn poll_probe(
        &self,
        pattern: &Pattern,
        turn: &mut Ticket,
        waiting_in: &'static str,
        context: &mut Context<'_>,
    ) -> Poll<Result<Envelope, Error>> {
        self.0.poll_probe(pattern, turn, waiting_in, context)
    }

    fn forget(&self, turn: &mut Ticket) {
        self.0.forget(turn);
    }

    fn fail(&self, culprit: usize) {
        self.0.fail(culprit);
    }
}

#[test]
fn the_receipt_of_a_synchronous_send_that_was_given_up_does_not_stay() {
    let end = std::sync::Arc::new(bytes::endpoints(1).remove(0));
    let comm = Communicator::over(Watched(end.clone()));
    let mut context = Context::from_waker(Waker::noop());
    let mut give_up = || assert!(pin!(comm.send_synchronous(0, 7, &[1_u8])).poll(&mut context).is_pending());
    give_up();
    assert_eq!(lehr_runtime::block_on(comm.receive::<u8>(0, 7)), Ok(vec![1]));
    // The receipt of the abandoned send has arrived. The next synchronous send discards this receipt.
    give_up();
    let receipts = Pattern { source: Some(0), context: 2, tag: None, besides: None };
    assert_eq!(end.take_if_come(&receipts), Ok(None));
    // The second receipt arrives where `receipts` looks, so the check above looked in the right place.
    assert_eq!(lehr_runtime::block_on(comm.receive::<u8>(0, 7)), Ok(vec![1]));
    assert!(end.take_if_come(&receipts).unwrap().is_some());
}
