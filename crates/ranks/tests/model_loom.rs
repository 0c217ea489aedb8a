//! Checks the exchange between two or three ranks with loom: every interleaving, with memory orderings. Each read and
//! write of a message is checked against all other reads and writes.
//!
//! `RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p lehr-ranks --release --test model_loom`
#![cfg(loom)]

use lehr_ranks::fabric::threads::{communicators, endpoints};
use lehr_ranks::{Communicator, Error};
use lehr_runtime::block_on;
use loom::thread;

/// Explores all schedules of one program per rank with at most `preemptions` forced switches.
fn model<F: Future<Output = ()>>(
    size: usize,
    preemptions: usize,
    may_spin: bool,
    program: impl Fn(Communicator) -> F + Send + Sync + Copy + 'static,
) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(move || {
        let mut ends = communicators(size, may_spin).into_iter();
        let mine = ends.next().unwrap();
        let others: Vec<_> = ends.map(|end| thread::spawn(move || block_on(program(end)))).collect();
        block_on(program(mine));
        others.into_iter().for_each(|other| other.join().unwrap());
    });
}

async fn sums(mut comm: Communicator, rounds: u64) {
    for round in 0..rounds {
        let mut sum = [comm.rank() as u64 + round];
        comm.all_reduce(&mut sum, |left, right| left[0] += right[0]).await.unwrap();
        let size = comm.size() as u64;
        assert_eq!(sum[0], size * round + size * (size - 1) / 2);
    }
}

#[test]
fn two_ranks_reduce_three_times_over_two_sets_of_buffers() {
    model(2, 3, false, |comm| sums(comm, 3));
}

#[test]
fn two_spinning_ranks_reduce_over_their_lines() {
    model(2, 3, true, |comm| sums(comm, 1));
    model(2, 2, true, |comm| sums(comm, 3));
}

#[test]
fn three_spinning_ranks_reduce() {
    model(3, 2, true, |comm| sums(comm, 1));
}

#[test]
fn long_messages_are_published_by_the_flag_of_a_line() {
    model(2, 2, true, |mut comm| async move {
        for round in 0..3 {
            let mut told = [[9; 9]; 2];
            comm.all_gather(&[[comm.rank() as u64 + round; 9]], &mut told).await.unwrap();
            assert_eq!(told, [[round; 9], [1 + round; 9]]);
        }
    });
}

#[test]
fn a_spinning_rank_is_told_of_one_that_leaves() {
    model(2, 3, true, |mut comm| async move {
        if comm.rank() == 0 {
            comm.barrier().await.unwrap();
            assert_eq!(comm.barrier().await, Err(Error::RankLeft { rank: 1, waiting_in: "barrier" }));
        } else {
            comm.barrier().await.unwrap();
        }
    });
}

#[test]
fn three_ranks_reduce() {
    model(3, 2, false, |comm| sums(comm, 1));
}

#[test]
fn two_ranks_meet_at_barriers_and_read_each_other() {
    model(2, 3, false, |mut comm| async move {
        comm.barrier().await.unwrap();
        let mut told = [comm.rank() as u8];
        comm.broadcast(1, &mut told).await.unwrap();
        assert_eq!(told, [1]);
        comm.barrier().await.unwrap();
    });
}

#[test]
fn a_rank_that_leaves_ends_the_waiting_of_the_other() {
    model(2, 3, false, |mut comm| async move {
        if comm.rank() == 0 {
            assert_eq!(comm.barrier().await, Err(Error::RankLeft { rank: 1, waiting_in: "barrier" }));
        }
    });
}

#[test]
fn a_rank_that_leaves_after_the_last_exchange_disturbs_nobody() {
    model(2, 3, false, |mut comm| async move { comm.barrier().await.unwrap() });
}

/// Like [`model`], but with messages between two ranks that have channels.
fn model_messages<F: Future<Output = ()>>(
    preemptions: usize,
    program: impl Fn(Communicator) -> F + Send + Sync + Copy + 'static,
) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(move || {
        let mut ends = endpoints(2, true).into_iter().map(Communicator::over);
        let (mine, other) = (ends.next().unwrap(), ends.next().unwrap());
        let other = thread::spawn(move || block_on(program(other)));
        block_on(program(mine));
        other.join().unwrap();
    });
}

#[test]
fn messages_cross_a_channel_whether_the_receiver_looks_or_sleeps() {
    model_messages(2, |comm| async move {
        if comm.rank() == 0 {
            comm.send(1, 0, &[7_u8]).await.unwrap();
            comm.send(1, 0, &[8_u64; 5]).await.unwrap();
        } else {
            assert_eq!(comm.receive::<u8>(0, 0).await, Ok(vec![7]));
            assert_eq!(comm.receive::<u64>(0, 0).await, Ok(vec![8; 5]));
        }
    });
}

#[test]
fn a_full_channel_and_the_end_of_its_sender_keep_the_order() {
    // A channel has two slots, so the third message finds the channel full, unless the receiver has taken a message.
    model_messages(2, |comm| async move {
        if comm.rank() == 0 {
            for value in 0..3_u8 {
                comm.send(1, 0, &[value]).await.unwrap();
            }
        } else {
            for value in 0..3_u8 {
                assert_eq!(comm.receive::<u8>(0, 0).await, Ok(vec![value]));
            }
            assert_eq!(comm.receive::<u8>(0, 0).await, Err(Error::RankLeft { rank: 0, waiting_in: "receive" }));
        }
    });
}

#[test]
fn a_long_message_is_read_while_it_is_copied() {
    // The message has three pieces. Its sender ends, or sends on, while the receiver reads.
    let message: [u64; 18] = std::array::from_fn(|place| place as u64);
    model_messages(2, move |comm| async move {
        if comm.rank() == 0 {
            comm.send(1, 0, &message).await.unwrap();
        } else {
            let mut values = [0; 18];
            comm.receive_into(0, 0, &mut values).await.unwrap();
            assert_eq!(values, message);
            assert_eq!(comm.receive::<u64>(0, 0).await, Err(Error::RankLeft { rank: 0, waiting_in: "receive" }));
        }
    });
}

#[test]
fn two_ranks_send_each_other_long_messages() {
    let message: [u64; 16] = std::array::from_fn(|place| place as u64);
    model_messages(1, move |comm| async move {
        let other = 1 - comm.rank();
        comm.send(other, 0, &message).await.unwrap();
        assert_eq!(comm.receive::<u64>(other, 0).await, Ok(message.to_vec()));
    });
}

#[test]
fn two_ranks_tell_each_other() {
    model_messages(2, |comm| async move {
        let (rank, other) = (comm.rank() as u8, 1 - comm.rank());
        comm.send(other, 0, &[rank]).await.unwrap();
        assert_eq!(comm.receive::<u8>(other, 0).await, Ok(vec![1 - rank]));
    });
}

/// Makes `rounds` shifts with distinguishable values.
async fn shifts(mut comm: Communicator, rounds: u64) {
    let (rank, size) = (comm.rank() as u64, comm.size() as u64);
    for round in 0..rounds {
        let mut received = [u64::MAX];
        comm.shift(1, &[10 * round + rank], &mut received).await.unwrap();
        assert_eq!(received[0], 10 * round + (rank + size - 1) % size);
    }
}

#[test]
fn two_ranks_shift_over_lanes_with_fewer_slots_than_messages() {
    model(2, 2, false, |comm| shifts(comm, 3));
}

#[test]
fn two_spinning_ranks_shift() {
    model(2, 2, true, |comm| shifts(comm, 3));
}

#[test]
fn long_messages_cross_a_lane_with_their_memory() {
    model(2, 2, false, |mut comm| async move {
        for round in 0..3 {
            let (rank, other) = (comm.rank() as u64, 1 - comm.rank() as u64);
            let mut received = [0; 9];
            comm.shift(1, &[10 * round + rank; 9], &mut received).await.unwrap();
            assert_eq!(received, [10 * round + other; 9]);
        }
    });
}

#[test]
fn a_lane_that_is_full_spills_and_keeps_the_order() {
    model(2, 2, false, |mut comm| async move {
        let mut received = [u64::MAX];
        // A lane has two slots, so the third message finds the lane full, unless the receiver has taken a message.
        for round in 0..3 {
            if comm.rank() == 0 && round < 2 {
                let mut shift = Box::pin(comm.shift(1, &[0], &mut received));
                let _ = shift.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
            } else {
                comm.shift(1, &[round], &mut received).await.unwrap();
                assert_eq!(received[0], if comm.rank() == 1 && round < 2 { 0 } else { round });
            }
        }
    });
}

#[test]
fn who_waits_for_a_neighbour_is_told_of_its_end() {
    model(2, 3, false, |mut comm| async move {
        if comm.rank() == 0 {
            let end = comm.shift(1, &[0_u8], &mut [0]).await;
            assert_eq!(end, Err(Error::RankLeft { rank: 1, waiting_in: "shift" }));
        }
    });
}

/// Rank 0 calls a barrier while rank 1 calls a shift.
async fn barrier_against_shift(mut comm: Communicator) {
    let end = if comm.rank() == 0 { comm.barrier().await } else { comm.shift(1, &[0_u8], &mut [0]).await };
    let text = end.unwrap_err().to_string();
    // Rank 1 may find out only after rank 0 has ended.
    assert!(text.contains("rank 0 calls barrier, rank 1 calls shift") || text.contains("rank 0 had ended"), "{text}");
}

#[test]
fn a_barrier_against_a_shift_is_found_out_asleep() {
    model(2, 3, false, barrier_against_shift);
}

#[test]
fn a_barrier_against_a_shift_is_found_out_by_spinning_ranks() {
    model(2, 2, true, barrier_against_shift);
}

#[test]
fn frames_cross_a_ring_that_is_shorter_than_all_of_them() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        // The ring has three lines. The second frame takes two lines, so the third frame is at the beginning of the
        // ring again.
        let (mut sender, mut receiver) = lehr_ranks::fabric::ring::on_heap(192);
        let frames = || [vec![1_u8], vec![2; 60], vec![3, 4]];
        let sending = thread::spawn(move || {
            for (number, frame) in frames().into_iter().enumerate() {
                while !sender.send(number, &frame) {
                    thread::yield_now();
                }
            }
        });
        for (number, frame) in frames().into_iter().enumerate() {
            while receiver.first().is_none() {
                thread::yield_now();
            }
            assert_eq!(receiver.first(), Some((number, frame.len())));
            assert_eq!(receiver.take(), frame);
        }
        sending.join().unwrap();
    });
}

#[test]
fn a_receiver_reads_what_was_copied_and_a_sender_reuses_what_was_read() {
    use lehr_ranks::fabric::progress::{Progress, on_heap};
    use loom::cell::Cell;

    /// The places of pieces, which have one byte each.
    struct Places([Cell<u8>; 2]);
    // SAFETY: loom checks each access to its cells.
    unsafe impl Sync for Places {}
    // SAFETY: as above.
    unsafe impl Send for Places {}

    const PIECES: usize = 3;
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let progress = Progress::new(on_heap());
        let places = std::sync::Arc::new(Places([Cell::new(0), Cell::new(0)]));
        progress.reset();
        let (theirs, receiver) = (places.clone(), progress.clone());
        let receiving = thread::spawn(move || {
            receiver.begin();
            for piece in 0..PIECES {
                while receiver.copied() <= piece {
                    thread::yield_now();
                }
                assert_eq!(theirs.0[receiver.place(piece)].get(), piece as u8);
                // The last piece is read when the receiver finishes.
                if piece + 1 < PIECES {
                    receiver.report_read(piece + 1);
                }
            }
            receiver.finish();
        });
        for piece in 0..PIECES {
            while piece >= 2 && progress.read() < piece - 1 {
                thread::yield_now();
            }
            places.0[piece % 2].set(piece as u8);
            progress.put(piece, piece % 2);
            progress.report_copied(piece + 1);
        }
        while !progress.is_finished() {
            thread::yield_now();
        }
        places.0.iter().for_each(|place| place.set(9));
        receiving.join().unwrap();
    });
}

#[test]
fn a_root_runs_ahead_as_far_as_a_lane_has_slots() {
    // A lane has two slots, so the root waits for room after its second message.
    model(2, 2, true, |mut comm| async move {
        for round in 0..3 {
            let mut told = [comm.rank() as u64 + 10 * round];
            comm.broadcast(0, &mut told).await.unwrap();
            assert_eq!(told, [10 * round]);
        }
    });
}

#[test]
fn a_rank_runs_ahead_of_the_root_of_a_reduction() {
    model(2, 2, true, |mut comm| async move {
        for round in 0..3 {
            let mut sum = [comm.rank() as u64 + 10 * round];
            comm.reduce(0, &mut sum, |left, right| left[0] += right[0]).await.unwrap();
            assert_eq!(sum, [if comm.rank() == 0 { 20 * round + 1 } else { 10 * round + 1 }]);
        }
    });
}

#[test]
fn a_root_that_waits_for_room_is_told_of_the_end_of_the_other() {
    model(2, 2, true, |mut comm| async move {
        if comm.rank() == 0 {
            assert_eq!(comm.broadcast(0, &mut [7_u8]).await, Ok(()));
            // A lane has two slots, and the second broadcast fills the second slot.
            let end = comm.broadcast(0, &mut [7_u8]).await;
            assert_eq!(end, Err(Error::RankLeft { rank: 1, waiting_in: "broadcast" }));
        }
    });
}

#[test]
fn a_barrier_against_a_broadcast_is_found_out_by_the_logs() {
    model(2, 2, true, |mut comm| async move {
        let end = if comm.rank() == 0 { comm.barrier().await } else { comm.broadcast(0, &mut [0_u8]).await };
        let text = end.unwrap_err().to_string();
        assert!(
            text.contains("rank 0 calls barrier, rank 1 calls broadcast") || text.contains("rank 0 had ended"),
            "{text}"
        );
    });
}

#[test]
fn two_roots_that_both_run_ahead_find_each_other_out() {
    model(2, 2, true, |mut comm| async move {
        let own = comm.rank();
        let end = match comm.broadcast(own, &mut [0_u8]).await {
            Ok(()) => comm.barrier().await,
            error => error,
        };
        assert!(matches!(end, Err(Error::Mismatch { .. } | Error::RankLeft { .. })), "{end:?}");
    });
}

/// Returns a rank's message of a round, which is long enough to be lent.
fn long(rank: usize, round: u64) -> [u64; 9] {
    [10 * round + rank as u64; 9]
}

#[test]
fn long_messages_of_spinning_ranks_are_lent_and_taken_or_revoked() {
    model(2, 2, true, |mut comm| async move {
        for round in 0..2 {
            let (rank, mut received) = (comm.rank(), [0; 9]);
            // The lent message is overwritten as soon as the call is over.
            let mut own = Box::new(long(rank, round));
            comm.shift(1, &own[..], &mut received).await.unwrap();
            own.fill(u64::MAX);
            assert_eq!(received, long(1 - rank, round));
        }
    });
}

#[test]
fn a_loan_does_not_outlive_the_poll_in_which_it_was_made() {
    model(2, 2, true, |mut comm| async move {
        let (rank, mut received) = (comm.rank(), [0; 9]);
        if rank == 0 {
            let own = Box::new(long(0, 0));
            let mut shift = Box::pin(comm.shift(1, &own[..], &mut received));
            let _ = shift.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
            drop(shift);
            drop(own);
        } else {
            comm.shift(1, &long(1, 0), &mut received).await.unwrap();
            assert_eq!(received, long(0, 0));
        }
        comm.shift(1, &long(rank, 1), &mut received).await.unwrap();
        assert_eq!(received, long(1 - rank, 1));
    });
}
