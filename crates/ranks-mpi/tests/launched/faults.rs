//! Ranks that fail: all processes learn of the failure, report the same, and end in order.

use std::future::poll_fn;
use std::pin::pin;
use std::process::ExitCode;
use std::task::Poll;
use std::time::Duration;

use lehr_ranks::{Communicator, Error};
use lehr_ranks_mpi::Process;
use lehr_runtime::{Clock, Dispatcher};

use crate::Test;
use crate::job::{Ended, run};

pub const TESTS: &[Test] = &[
    ("faults::a_panic_is_said_by_all_with_the_rank", a_panic_is_said_by_all_with_the_rank),
    ("faults::a_wrong_collective_is_named_with_both_calls", a_wrong_collective_is_named_with_both_calls),
    ("faults::a_rank_that_ends_early_is_named", a_rank_that_ends_early_is_named),
    ("faults::a_late_rank_is_waited_for", a_late_rank_is_waited_for),
    ("faults::a_rank_that_is_too_late_is_named", a_rank_that_is_too_late_is_named),
    ("faults::a_rank_killed_in_a_collective_ends_the_job", a_rank_killed_in_a_collective_ends_the_job),
];

/// Returns the lines that say how the ranks of the processes ended.
fn verdicts(ended: &Ended) -> Vec<&str> {
    ended.sorted().into_iter().filter(|line| line.starts_with("verdict: ")).collect()
}

fn a_panic_is_said_by_all_with_the_rank() {
    for (processes, threads, rank) in [(2, 1, 1), (3, 1, 0), (2, 2, 2)] {
        let ended = run(processes, &["fault", &threads.to_string(), "panic", &rank.to_string()], &[]);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let expected = format!("verdict: rank {rank} panicked: enough");
        assert_eq!(verdicts(&ended), vec![expected; processes], "{ended:?}");
    }
}

fn a_wrong_collective_is_named_with_both_calls() {
    let unchecked = [(2, 1, "wrong"), (3, 1, "wrong"), (4, 1, "wrong"), (2, 2, "wrong")];
    for (processes, threads, what) in unchecked.into_iter().chain([(3, 1, "wrong-checked"), (2, 2, "wrong-checked")]) {
        let ended = run(processes, &["fault", &threads.to_string(), what, "1"], &[]);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let text = ended.lines.join("\n");
        assert!(text.contains("calls barrier") && text.contains("rank 1 calls broadcast"), "{text}");
    }
    // The case of two ranks that both receive first, and the case of a rank that has passed the call without sending.
    for (processes, what) in [(3, "gather"), (4, "gather"), (3, "shift"), (4, "shift")] {
        let ended = run(processes, &["fault", "1", what, "1"], &[]);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let text = ended.lines.join("\n");
        assert!(text.contains("calls barrier") && text.contains(&format!("rank 1 calls {what}")), "{text}");
    }
}

fn a_rank_that_ends_early_is_named() {
    let ended = run(3, &["fault", "1", "leave", "1"], &[]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.lines.join("\n").contains("rank 1 had ended"), "{ended:?}");
}

fn a_late_rank_is_waited_for() {
    for (processes, threads) in [(2, 1), (2, 2)] {
        let ended = run(processes, &["fault", &threads.to_string(), "late", "1"], &[]).expect_success();
        assert_eq!(verdicts(&ended), vec!["verdict: well"; processes], "{ended:?}");
    }
}

fn a_rank_that_is_too_late_is_named() {
    for (processes, threads, named) in [(2, 1, 1), (3, 1, 2), (2, 2, 2)] {
        let ended = run(processes, &["lateness", &threads.to_string(), "1"], &[]);
        assert_eq!(ended.code, Some(1), "{ended:?}");
        let verdicts = verdicts(&ended);
        assert_eq!(verdicts.iter().filter(|verdict| verdict.contains("rank 1 ")).count(), named, "{ended:?}");
        // If the late rank is alone in its process, it waits for no other rank.
        assert_eq!(
            verdicts.iter().filter(|verdict| **verdict == "verdict: well").count(),
            processes - named,
            "{ended:?}"
        );
    }
}

fn a_rank_killed_in_a_collective_ends_the_job() {
    for processes in [2, 3] {
        let ended = run(processes, &["kept-fault", "1", "killed", "1"], &[]);
        assert!(ended.code.is_some_and(|code| code != 0), "{ended:?}");
        assert!(ended.lines.join("\n").contains(&format!("process 1 of {processes}")), "{ended:?}");
    }
}

/// Lets all ranks meet in barriers, until the culprit fails in the way that `what` names.
pub fn fault(process: &Process, threads: usize, what: &str, culprit: usize) -> ExitCode {
    let dispatcher = Dispatcher::new(2).unwrap();
    let program = |mut comm: Communicator| async move {
        comm.set_checked(what == "wrong-checked");
        for round in 0..20 {
            if round == 10 && comm.rank() == culprit {
                match what {
                    "panic" => panic!("enough"),
                    "wrong" | "wrong-checked" => return comm.broadcast(0, &mut [1_u8]).await,
                    "gather" => return comm.gather(1, &[1_u8]).await.map(drop),
                    "shift" => return comm.shift(1, &[1_u8], &mut [0]).await,
                    "leave" => return Ok(()),
                    "killed" => crate::programs::kill_this_process(),
                    // The other ranks poll MPI without success meanwhile. The test's result does not depend on the
                    // length of this sleep.
                    "late" => lehr_runtime::sleep(std::time::Duration::from_secs(2)).await,
                    _ => panic!("no fault {what}"),
                }
            }
            comm.barrier().await?;
        }
        Ok(())
    };
    say(process.run(&dispatcher, threads, program))
}

/// Prints how the ranks of this process ended.
fn say(ended: Result<Vec<Result<(), Error>>, Error>) -> ExitCode {
    let verdict = match ended {
        Ok(ranks) => {
            ranks.into_iter().find_map(Result::err).map_or_else(|| "well".to_owned(), |error| error.to_string())
        }
        Err(error) => error.to_string(),
    };
    println!("verdict: {verdict}");
    if verdict == "well" { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Lets all ranks except the culprit call a barrier. The culprit calls none; it only waits until all other ranks have
/// given up. Each rank gives up by its own clock, which only that rank moves.
pub fn lateness(process: &Process, threads: usize, culprit: usize) -> ExitCode {
    const BEGUN: u32 = 1;
    const GIVEN_UP: u32 = 2;
    let dispatcher = Dispatcher::new(2).unwrap();
    let program = |mut comm: Communicator| async move {
        comm.set_checked(true);
        let (rank, size) = (comm.rank(), comm.size());
        let aside = comm.duplicate().await?;
        let others = move || (0..size).filter(move |&other| other != culprit && other != rank);
        if rank == culprit {
            for other in others() {
                aside.receive::<u8>(other, GIVEN_UP).await?;
            }
            return Ok(());
        }
        let (clock, limit) = (Clock::virtual_time(), Duration::from_secs(3600));
        comm.set_patience(&clock, Some(limit));
        let outcome = {
            let mut barrier = pin!(comm.barrier());
            assert!(poll_fn(|context| Poll::Ready(barrier.as_mut().poll(context))).await.is_pending());
            // Messages keep their order. So a rank that receives this message has this rank's messages of the barrier,
            // and waits only for the culprit.
            for other in others() {
                aside.send(other, BEGUN, &[0_u8]).await?;
            }
            for other in others() {
                aside.receive::<u8>(other, BEGUN).await?;
            }
            loop {
                match poll_fn(|context| Poll::Ready(barrier.as_mut().poll(context))).await {
                    Poll::Ready(outcome) => break outcome,
                    Poll::Pending => clock.advance(limit),
                }
                lehr_runtime::yield_now().await;
            }
        };
        aside.send(culprit, GIVEN_UP, &[0_u8]).await?;
        outcome
    };
    say(process.run(&dispatcher, threads, program))
}
