//! The conformance cases of all fabrics, run in several processes, and cases that only matter between processes.

use lehr_ranks_mpi::Process;
use lehr_runtime::Dispatcher;

use crate::Test;
use crate::cases;
use crate::job::run;

pub const TESTS: &[Test] = &[
    ("conformance::one_rank_in_each_process", one_rank_in_each_process),
    ("conformance::five_seven_and_eight_ranks", five_seven_and_eight_ranks),
    ("conformance::processes_that_share_no_memory", processes_that_share_no_memory),
    ("conformance::threads_inside_and_mpi_between", threads_inside_and_mpi_between),
    ("conformance::long_messages_cross_in_both_directions", long_messages_cross_in_both_directions),
    ("conformance::floods_of_short_messages_keep_their_order", floods_of_short_messages_keep_their_order),
    ("conformance::one_run_after_the_other", one_run_after_the_other),
];

/// Runs the program `conformance` and expects each rank to have passed.
fn expect_all(processes: usize, threads: usize, workers: usize, variables: &[(&str, &str)]) {
    let words = ["conformance", &threads.to_string(), &workers.to_string()];
    let ended = run(processes, &words, variables).expect_success();
    let size = processes * threads;
    let expected: Vec<String> = (0..size).map(|rank| format!("rank {rank} of {size} passed")).collect();
    assert_eq!(ended.sorted(), expected);
}

fn one_rank_in_each_process() {
    for processes in 1..=4 {
        expect_all(processes, 1, 1, &[]);
    }
}

fn five_seven_and_eight_ranks() {
    for (processes, threads, workers) in [(5, 1, 1), (7, 1, 1), (8, 1, 1), (1, 5, 2), (1, 7, 2), (2, 4, 2)] {
        expect_all(processes, threads, workers, &[]);
    }
}

fn processes_that_share_no_memory() {
    // Each process behaves as if it had its own machine.
    for (processes, threads) in [(2, 1), (3, 1), (2, 2)] {
        expect_all(processes, threads, threads, &[("LEHR_MPI_WINDOW", "0")]);
    }
}

fn threads_inside_and_mpi_between() {
    for (processes, threads, workers) in [(1, 3, 2), (2, 2, 2), (2, 2, 1), (3, 2, 2), (2, 3, 8)] {
        expect_all(processes, threads, workers, &[]);
    }
}

fn long_messages_cross_in_both_directions() {
    for processes in [2, 3] {
        run(processes, &["long"], &[]).expect_success();
    }
}

fn floods_of_short_messages_keep_their_order() {
    for processes in [2, 4] {
        run(processes, &["floods"], &[]).expect_success();
    }
}

fn one_run_after_the_other() {
    for processes in [1, 2, 3] {
        run(processes, &["runs"], &[]).expect_success();
    }
}

/// Runs the cases of every fabric on this process's ranks.
pub fn all_cases(process: &Process, threads: usize, workers: usize) {
    let dispatcher = Dispatcher::new(workers).unwrap();
    let program = |mut comm: lehr_ranks::Communicator| async move {
        cases::all(&mut comm).await;
        format!("rank {} of {} passed", comm.rank(), comm.size())
    };
    for line in process.run(&dispatcher, threads, program).unwrap() {
        println!("{line}");
    }
}

/// Sends messages that are too long to be sent at once, with short messages between them, from each rank to each rank.
/// A rank receives only after it has sent all its messages.
pub fn long_messages(process: &Process) {
    const LENGTHS: [usize; 5] = [1 << 20, 3, 1 << 24, 0, 70_001];
    let dispatcher = Dispatcher::new(1).unwrap();
    let program = |comm: lehr_ranks::Communicator| async move {
        let value = |from: usize, index: usize, place: usize| (from * 7 + index * 3 + place) as u32;
        for to in 0..comm.size() {
            for (index, length) in LENGTHS.into_iter().enumerate() {
                let values: Vec<u32> = (0..length).map(|place| value(comm.rank(), index, place)).collect();
                comm.send(to, 1, &values).await.unwrap();
            }
        }
        for from in 0..comm.size() {
            for (index, length) in LENGTHS.into_iter().enumerate() {
                let values = comm.receive::<u32>(from, 1).await.unwrap();
                assert_eq!(values.len(), length, "the order of sending is kept");
                assert!(values.iter().enumerate().all(|(place, &found)| found == value(from, index, place)));
            }
        }
    };
    process.run(&dispatcher, 1, program).unwrap();
}

/// Sends more short messages, with some long messages between them, than any memory between processes has room for. In
/// each pair of ranks, one rank sends all messages before the other rank looks.
pub fn floods(process: &Process) {
    const MESSAGES: u64 = 20_000;
    let dispatcher = Dispatcher::new(1).unwrap();
    let program = |mut comm: lehr_ranks::Communicator| async move {
        let (rank, other) = (comm.rank(), comm.rank() ^ 1);
        let value = |index: u64| vec![index; if index.is_multiple_of(5000) { 10_000 } else { index as usize % 9 }];
        for sender in [0, 1] {
            if rank % 2 == sender {
                for index in 0..MESSAGES {
                    comm.send(other, 1, &value(index)).await.unwrap();
                }
            }
            // All messages have been handed over before any message is received.
            comm.send(other, 2, &[0_u8]).await.unwrap();
            comm.receive::<u8>(other, 2).await.unwrap();
            if rank % 2 != sender {
                for index in 0..MESSAGES {
                    assert_eq!(
                        comm.receive::<u64>(other, 1).await.unwrap(),
                        value(index),
                        "the order of sending is kept"
                    );
                }
            }
        }
        comm.barrier().await.unwrap();
    };
    process.run(&dispatcher, 1, program).unwrap();
}

/// Starts one run after the other without a pause, with different numbers of ranks. Runs end while messages are on
/// their way.
pub fn runs_do_not_mix(process: &Process) {
    let dispatcher = Dispatcher::new(2).unwrap();
    for round in 0..30_u64 {
        let threads = 1 + round as usize % 2;
        let sums = process.run(&dispatcher, threads, |mut comm| async move {
            // No rank receives this message.
            comm.send((comm.rank() + 1) % comm.size(), 9, &[u64::MAX]).await.unwrap();
            let mut sum = [round + comm.rank() as u64];
            comm.all_reduce(&mut sum, |left, right| left[0] += right[0]).await.unwrap();
            sum[0]
        });
        let size = (threads * process.count()) as u64;
        assert_eq!(sums.unwrap(), vec![round * size + size * (size - 1) / 2; threads]);
    }
}
