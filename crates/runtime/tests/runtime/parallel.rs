use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use lehr_runtime::{Loan, OnPanic, ParallelLoop, TaskError, block_on};

use crate::on_each;

#[test]
fn every_index_is_run_once_whatever_the_grain() {
    on_each(|dispatcher| {
        for (range, grain) in [(0..0, 1), (0..1, 1), (5..105, 7), (0..1000, 1), (0..1000, 2000)] {
            let runs: Vec<AtomicUsize> = (0..range.end).map(|_| AtomicUsize::new(0)).collect();
            dispatcher.handle().parallel_for(range.clone(), grain, |i| {
                runs[i].fetch_add(1, Ordering::Relaxed);
            });
            for (i, runs) in runs.iter().enumerate() {
                assert_eq!(runs.load(Ordering::Relaxed), usize::from(range.contains(&i)), "index {i}");
            }
        }
    });
}

#[test]
fn a_loop_runs_inside_a_task_and_inside_a_loop() {
    on_each(|dispatcher| {
        let handle = dispatcher.handle().clone();
        let sum = block_on(dispatcher.spawn(async move {
            let sum = AtomicUsize::new(0);
            handle.parallel_for(0..10, 1, |i| {
                handle.parallel_for(0..10, 1, |j| {
                    sum.fetch_add(10 * i + j, Ordering::Relaxed);
                });
            });
            sum.into_inner()
        }));
        assert_eq!(sum, Ok(4950));
    });
}

// Catalogue: 79
#[test]
fn a_panic_in_a_block_comes_back_after_all_blocks_have_ended() {
    on_each(|dispatcher| {
        let mut parallel = ParallelLoop::new(dispatcher.handle());
        let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let payload = catch_unwind(AssertUnwindSafe(|| {
            parallel.run(0..1000, 1, |i| {
                begun.fetch_add(1, Ordering::Relaxed);
                assert!(i != 10, "ten");
                ended.fetch_add(1, Ordering::Relaxed);
            });
        }))
        .unwrap_err();
        assert!(payload.downcast_ref::<&str>().is_some_and(|text| *text == "ten") || payload.is::<String>());
        assert_eq!(begun.load(Ordering::Relaxed), ended.load(Ordering::Relaxed) + 1);
        // The loop can run again after the panic.
        let sum = AtomicUsize::new(0);
        parallel.run(0..100, 3, |i| {
            sum.fetch_add(i, Ordering::Relaxed);
        });
        assert_eq!(sum.into_inner(), 4950);
    });
}

#[test]
fn a_loop_repeated_many_times_sees_each_round_whole() {
    on_each(|dispatcher| {
        let mut parallel = ParallelLoop::new(dispatcher.handle());
        for round in 0..2000 {
            let sum = AtomicUsize::new(0);
            parallel.run(0..16, 1, |i| {
                sum.fetch_add(i + round, Ordering::Relaxed);
            });
            assert_eq!(sum.into_inner(), 120 + 16 * round);
        }
    });
}

#[test]
fn borrowed_futures_run_as_tasks_and_panics_are_outcomes() {
    on_each(|dispatcher| {
        let text = "borrowed".to_owned();
        let outcomes = dispatcher.run_all(
            (0..20)
                .map(|i| {
                    let text = &text;
                    async move {
                        lehr_runtime::yield_now().await;
                        assert!(i != 3, "three");
                        &text[..i.min(text.len())]
                    }
                })
                .collect(),
        );
        for (i, outcome) in outcomes.into_iter().enumerate() {
            match i {
                3 => assert_eq!(outcome, Err(TaskError::Panicked { message: "three".to_owned() })),
                _ => assert_eq!(outcome, Ok(&text[..i.min(8)])),
            }
        }
    });
}

#[test]
fn a_loan_ends_when_its_lender_panics() {
    let loan = Loan::<usize>::new();
    let calls = AtomicUsize::new(0);
    let body = |_: usize| {
        calls.fetch_add(1, Ordering::Relaxed);
    };
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        loan.lend(&body, || {
            assert!(loan.call(0));
            panic!("the lender")
        })
    }));
    assert!(panicked.is_err());
    assert!(!loan.call(0), "nothing is lent any more");
    loan.lend(&body, || assert!(loan.call(0)));
    assert_eq!(calls.into_inner(), 2);
}

// Catalogue: 79
#[test]
fn after_a_panic_the_other_blocks_are_given_up_or_finished_as_configured() {
    on_each(|dispatcher| {
        for on_panic in [OnPanic::Cancel, OnPanic::Finish] {
            let mut parallel = ParallelLoop::new(dispatcher.handle()).on_panic(on_panic);
            // Uneven blocks: the first index of each block of seven does a hundred times the work of the others.
            let work = |i: usize| {
                (0..if i.is_multiple_of(7) { 20_000 } else { 200 }).fold(i, |sum, j| sum ^ std::hint::black_box(j))
            };
            let (begun, ended) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let payload = catch_unwind(AssertUnwindSafe(|| {
                parallel.run(0..700, 7, |i| {
                    begun.fetch_add(1, Ordering::Relaxed);
                    std::hint::black_box(work(i));
                    assert!(i != 6, "the end of the first block");
                    ended.fetch_add(1, Ordering::Relaxed);
                });
            }))
            .unwrap_err();
            assert_eq!(payload.downcast_ref::<&str>(), Some(&"the end of the first block"));
            let (begun, ended) = (begun.into_inner(), ended.into_inner());
            assert_eq!(begun, ended + 1, "every block that began has ended");
            match on_panic {
                OnPanic::Finish => assert_eq!(ended, 699),
                // Once a block has panicked, no further blocks are handed out.
                OnPanic::Cancel => assert!(ended < 700),
            }
        }
    });
}

#[test]
fn of_many_panics_the_first_is_told_and_every_block_has_its_turn() {
    on_each(|dispatcher| {
        let mut parallel = ParallelLoop::new(dispatcher.handle()).on_panic(OnPanic::Finish);
        let runs: Vec<AtomicUsize> = (0..64).map(|_| AtomicUsize::new(0)).collect();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            parallel.run(0..64, 1, |i| {
                runs[i].fetch_add(1, Ordering::Relaxed);
                panic!("every one");
            });
        }));
        assert_eq!(panicked.unwrap_err().downcast_ref::<&str>(), Some(&"every one"));
        assert!(runs.iter().all(|runs| runs.load(Ordering::Relaxed) == 1));
        parallel.run(0..0, 1, |_| unreachable!("there is no index"));
    });
}
