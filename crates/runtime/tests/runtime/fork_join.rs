use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use lehr_runtime::fork_join::{Scope, join, scope};
use lehr_runtime::{Context, Dispatcher, ParallelLoop, Port, Shutdown, block_on, is_on_worker};

use crate::{Arbitrary, on_each};

fn fibonacci(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join(|| fibonacci(n - 1), || fibonacci(n - 2));
    a + b
}

fn sort(numbers: &mut [u64]) {
    if numbers.len() < 2 {
        return;
    }
    let pivot = numbers[numbers.len() / 2];
    let (mut low, mut high) = (0, numbers.len() - 1);
    loop {
        while numbers[low] < pivot {
            low += 1;
        }
        while numbers[high] > pivot {
            high -= 1;
        }
        if low >= high {
            break;
        }
        numbers.swap(low, high);
        low += 1;
        high -= 1;
    }
    let (left, right) = numbers.split_at_mut(low);
    join(|| sort(left), || sort(right));
}

/// Runs `run`, and returns the message of its panic.
fn message<R>(run: impl FnOnce() -> R) -> Option<&'static str> {
    catch_unwind(AssertUnwindSafe(run)).err().map(|payload| *payload.downcast_ref::<&str>().expect("a text"))
}

#[test]
fn both_results_come_back_wherever_they_were_made() {
    on_each(|dispatcher| {
        assert_eq!(dispatcher.handle().install(|| fibonacci(20)), 6765);
        assert_eq!(fibonacci(10), 55, "on a thread that is no worker");
        // In a task, the worker helps while it waits.
        assert_eq!(block_on(dispatcher.spawn(async { fibonacci(15) })), Ok(610));
    });
}

#[test]
fn halves_of_a_slice_are_sorted_in_place() {
    on_each(|dispatcher| {
        let mut arbitrary = Arbitrary(7);
        let mut numbers: Vec<u64> = (0..20_000).map(|_| arbitrary.below(5000)).collect();
        let mut expected = numbers.clone();
        expected.sort_unstable();
        dispatcher.handle().install(|| sort(&mut numbers));
        assert_eq!(numbers, expected);
    });
}

#[test]
fn two_idle_workers_run_both_halves_at_once() {
    for threads in [2, 8] {
        let dispatcher = Dispatcher::new(threads).unwrap();
        // Each half waits for the other half, which a program must not do. In this test, the wait shows that both
        // halves run at the same time.
        let (to_b, from_a) = mpsc::channel();
        let (to_a, from_b) = mpsc::channel();
        let answers = dispatcher.handle().install(|| {
            join(
                move || {
                    to_b.send(1).unwrap();
                    from_b.recv().unwrap()
                },
                move || {
                    to_a.send(2).unwrap();
                    from_a.recv().unwrap()
                },
            )
        });
        assert_eq!(answers, (2, 1));
    }
}

#[test]
fn who_waits_helps_with_what_the_other_half_forks() {
    // There are two workers. `b` is stolen, because `a` waits until `b` has begun. Then `a` ends. So the fork of `b`
    // can only run on the worker that waits in this join.
    let dispatcher = Dispatcher::new(2).unwrap();
    let (begun, has_begun) = mpsc::channel();
    let (helped, is_helped) = mpsc::channel();
    dispatcher.handle().install(|| {
        let caller = std::thread::current().id();
        join(
            move || has_begun.recv().unwrap(),
            move || {
                assert_ne!(std::thread::current().id(), caller);
                begun.send(()).unwrap();
                join(
                    move || is_helped.recv().unwrap(),
                    move || {
                        assert_eq!(std::thread::current().id(), caller);
                        helped.send(()).unwrap();
                    },
                )
            },
        )
    });
}

#[test]
fn who_waits_for_a_scope_helps_with_what_its_helpers_fork() {
    let dispatcher = Dispatcher::new(2).unwrap();
    let (begun, has_begun) = mpsc::channel();
    let (helped, is_helped) = mpsc::channel();
    dispatcher.handle().install(move || {
        let caller = std::thread::current().id();
        scope(|scope| {
            scope.spawn(move |_| {
                begun.send(()).unwrap();
                join(
                    move || is_helped.recv().unwrap(),
                    move || {
                        assert_eq!(std::thread::current().id(), caller);
                        helped.send(()).unwrap();
                    },
                );
            });
            has_begun.recv().unwrap();
        });
    });
}

#[test]
fn one_who_waits_runs_no_task_on_its_stack() {
    thread_local! {
        static IS_IN_JOIN: Cell<bool> = const { Cell::new(false) };
    }
    on_each(|dispatcher| {
        let strangers: Vec<_> = (0..200)
            .map(|_| {
                dispatcher.spawn(async {
                    for _ in 0..5 {
                        assert!(!IS_IN_JOIN.get(), "a task was polled inside a join");
                        lehr_runtime::yield_now().await;
                    }
                })
            })
            .collect();
        let joins: Vec<_> = (0..20)
            .map(|_| {
                dispatcher.spawn(async {
                    IS_IN_JOIN.set(true);
                    let sum = fibonacci(12);
                    IS_IN_JOIN.set(false);
                    sum
                })
            })
            .collect();
        for sum in joins {
            assert_eq!(block_on(sum), Ok(144));
        }
        for stranger in strangers {
            assert_eq!(block_on(stranger), Ok(()));
        }
    });
}

#[test]
fn a_lock_held_across_a_join_is_safe_from_strangers() {
    // Each job holds a lock around a join whose halves do not take the lock. A worker that ran another such job while
    // it waits would wait for its own lock for ever.
    on_each(|dispatcher| {
        let total = std::sync::Mutex::new(0);
        dispatcher.handle().install(|| {
            fn jobs(count: usize, total: &std::sync::Mutex<u64>) {
                if count == 1 {
                    let mut total = total.lock().unwrap();
                    *total += fibonacci(10);
                } else {
                    join(|| jobs(count / 2, total), || jobs(count - count / 2, total));
                }
            }
            jobs(200, &total);
        });
        assert_eq!(total.into_inner().unwrap(), 200 * 55);
    });
}

#[test]
fn a_spawn_into_an_outer_scope_is_not_run_by_one_who_waits_inside_with_a_lock() {
    on_each(|dispatcher| {
        for _ in 0..50 {
            let lock = std::sync::Mutex::new(0);
            dispatcher.handle().install(|| {
                scope(|scope| {
                    let mut held = lock.lock().unwrap();
                    join(
                        || (),
                        || {
                            scope.spawn(|_| *lock.lock().unwrap() += 1);
                            fibonacci(8)
                        },
                    );
                    *held += 10;
                });
            });
            assert_eq!(lock.into_inner().unwrap(), 11);
        }
    });
}

#[test]
fn a_panic_comes_back_when_both_halves_have_ended() {
    on_each(|dispatcher| {
        for _ in 0..100 {
            let ended = AtomicUsize::new(0);
            let end = || {
                fibonacci(5);
                ended.fetch_add(1, Ordering::Relaxed);
            };
            let run = |a: Option<&'static str>, b: Option<&'static str>| {
                let half = |text: Option<&'static str>| {
                    end();
                    if let Some(text) = text {
                        std::panic::panic_any(text);
                    }
                };
                message(|| dispatcher.handle().install(|| join(|| half(a), || half(b))))
            };
            assert_eq!(run(Some("a"), None), Some("a"));
            assert_eq!(run(None, Some("b")), Some("b"));
            assert_eq!(run(Some("a"), Some("b")), Some("a"));
            assert_eq!(run(None, None), None);
            assert_eq!(ended.into_inner(), 8);
        }
    });
}

#[test]
fn a_panic_deep_inside_leaves_the_workers_as_good_as_new() {
    fn tree(depth: u32, leaves: &AtomicUsize) {
        if depth == 0 {
            if leaves.fetch_add(1, Ordering::Relaxed) == 100 {
                std::panic::panic_any("the hundredth leaf");
            }
            return;
        }
        join(|| tree(depth - 1, leaves), || tree(depth - 1, leaves));
    }
    on_each(|dispatcher| {
        for _ in 0..20 {
            let leaves = AtomicUsize::new(0);
            assert_eq!(message(|| dispatcher.handle().install(|| tree(9, &leaves))), Some("the hundredth leaf"));
            assert_eq!(leaves.into_inner(), 512, "all others were run");
        }
        assert_eq!(dispatcher.handle().install(|| fibonacci(15)), 610);
    });
}

#[test]
fn all_that_a_scope_spawns_has_ended_when_it_ends() {
    fn grow<'a>(scope: &Scope<'a>, depth: usize, count: &'a AtomicUsize) {
        count.fetch_add(1, Ordering::Relaxed);
        if depth > 0 {
            for _ in 0..3 {
                scope.spawn(move |scope| grow(scope, depth - 1, count));
            }
        }
    }
    on_each(|dispatcher| {
        for _ in 0..10 {
            let count = AtomicUsize::new(0);
            let result = dispatcher.handle().install(|| {
                scope(|outer| {
                    grow(outer, 5, &count);
                    // There are scopes in the halves of a join, in a scope.
                    join(|| scope(|inner| grow(inner, 4, &count)), || scope(|inner| grow(inner, 4, &count)));
                    "done"
                })
            });
            assert_eq!(result, "done");
            assert_eq!(count.into_inner(), 364 + 2 * 121);
        }
        // On a thread that is not a worker, the caller runs all closures.
        let count = AtomicUsize::new(0);
        scope(|scope| grow(scope, 3, &count));
        assert_eq!(count.into_inner(), 40);
    });
}

#[test]
fn a_panic_in_a_scope_comes_back_when_all_has_ended() {
    on_each(|dispatcher| {
        for (spawned, body, expected) in
            [(None, Some("body"), "body"), (Some("spawned"), None, "spawned"), (Some("spawned"), Some("body"), "body")]
        {
            let ended = AtomicUsize::new(0);
            let told = message(|| {
                dispatcher.handle().install(|| {
                    scope(|scope| {
                        for i in 0..20 {
                            let ended = &ended;
                            scope.spawn(move |_| {
                                fibonacci(5);
                                ended.fetch_add(1, Ordering::Relaxed);
                                if let Some(text) = spawned.filter(|_| i == 7) {
                                    std::panic::panic_any(text);
                                }
                            });
                        }
                        if let Some(text) = body {
                            std::panic::panic_any(text);
                        }
                    });
                })
            });
            assert_eq!(told, Some(expected));
            assert_eq!(ended.into_inner(), 20);
        }
    });
}

#[test]
fn a_stack_gets_no_deeper_than_by_calling_in_turn() {
    thread_local! {
        static DEPTH: Cell<usize> = const { Cell::new(0) };
    }
    fn tree(depth: usize, deepest: &AtomicUsize) {
        DEPTH.set(DEPTH.get() + 1);
        deepest.fetch_max(DEPTH.get(), Ordering::Relaxed);
        if depth > 0 {
            // The tree is lopsided, so that many forks near the root are stolen.
            join(|| tree(depth - 1, deepest), || tree(depth / 2, deepest));
        }
        DEPTH.set(DEPTH.get() - 1);
    }
    on_each(|dispatcher| {
        for _ in 0..20 {
            let deepest = AtomicUsize::new(0);
            dispatcher.handle().install(|| tree(60, &deepest));
            assert_eq!(deepest.into_inner(), 61);
        }
    });
}

#[test]
fn a_hundred_thousand_joins_in_each_other_need_what_plain_calls_need() {
    fn nest(depth: usize) -> usize {
        if depth == 0 {
            return 0;
        }
        let (a, b) = join(|| nest(depth - 1), || 1);
        a + b
    }
    for threads in [1, 2, 8] {
        let dispatcher = lehr_runtime::Builder::new().threads(threads).stack_bytes(1 << 28).start().unwrap();
        // A level needs less than 2,600 bytes of stack, whichever worker takes the small halves.
        assert_eq!(dispatcher.handle().install(|| nest(100_000)), 100_000);
    }
}

#[test]
fn loops_joins_and_scopes_nest_in_any_order() {
    on_each(|dispatcher| {
        let handle = dispatcher.handle();
        let sum = AtomicUsize::new(0);
        let add = |i: usize| {
            sum.fetch_add(i, Ordering::Relaxed);
        };
        let inner = || {
            join(
                || handle.parallel_for(0..10, 1, add),
                || scope(|scope| (0..10).for_each(|i| scope.spawn(move |_| add(i)))),
            );
        };
        // The joins are called from other threads, on a worker, and in a loop in a loop.
        handle.parallel_for(0..10, 1, |_| handle.parallel_for(0..3, 1, |_| inner()));
        handle.install(|| handle.parallel_for(0..10, 3, |_| inner()));
        handle.install(|| join(inner, || ParallelLoop::new(handle).run(0..5, 1, |_| inner())));
        assert_eq!(sum.into_inner(), 90 * (30 + 10 + 6));
    });
}

#[test]
fn a_waiting_loop_helps_with_what_its_blocks_fork() {
    let dispatcher = Dispatcher::new(2).unwrap();
    let handle = dispatcher.handle();
    let (helped, is_helped) = mpsc::channel::<()>();
    let (helped, is_helped) = (std::sync::Mutex::new(helped), std::sync::Mutex::new(is_helped));
    let arrived = std::sync::Barrier::new(2);
    handle.install(|| {
        let caller = std::thread::current().id();
        handle.parallel_for(0..2, 1, |_| {
            // Both blocks are in progress, one on each worker.
            arrived.wait();
            if std::thread::current().id() != caller {
                // The inner loop needs two workers, and the only other worker waits for this block.
                let both = std::sync::Barrier::new(2);
                handle.parallel_for(0..2, 1, |_| {
                    both.wait();
                });
                helped.lock().unwrap().send(()).unwrap();
            }
        });
        is_helped.lock().unwrap().try_recv().unwrap();
    });
}

#[test]
fn a_join_in_progress_ends_whole_while_the_dispatcher_does() {
    for threads in [1, 2, 8] {
        for how in [Shutdown::Abort, Shutdown::Drain { limit: Duration::from_secs(3600) }] {
            let dispatcher = Dispatcher::new(threads).unwrap();
            let begun = Port::new();
            let tell = begun.clone();
            let sums = Port::new();
            let answers = sums.clone();
            dispatcher
                .spawn(async move {
                    tell.post(()).unwrap();
                    let (a, b) = join(|| fibonacci(18), || scope(|_| fibonacci(18)));
                    answers.post(a + b).unwrap();
                })
                .detach();
            block_on(begun.receive()).unwrap();
            let report = dispatcher.shutdown(how);
            assert_eq!(report.leaked, 0);
            assert_eq!(sums.try_receive(), Some(2 * 2584));
        }
    }
}

#[test]
fn after_the_end_the_caller_runs_what_it_would_have_installed() {
    let dispatcher = Dispatcher::new(2).unwrap();
    let handle = dispatcher.handle().clone();
    dispatcher.shutdown(Shutdown::Abort);
    assert_eq!(handle.install(|| (is_on_worker(), fibonacci(10))), (false, 55));
    let sum = AtomicUsize::new(0);
    handle.parallel_for(0..10, 1, |i| {
        sum.fetch_add(i, Ordering::Relaxed);
    });
    assert_eq!(sum.into_inner(), 45);
}

#[test]
fn who_installs_while_the_dispatcher_ends_is_answered() {
    for threads in [1, 2, 8] {
        for _ in 0..20 {
            let dispatcher = Dispatcher::new(threads).unwrap();
            let handle = dispatcher.handle().clone();
            let callers: Vec<_> = (0..3)
                .map(|_| {
                    let handle = handle.clone();
                    std::thread::spawn(move || (0..20).map(|_| handle.install(|| fibonacci(6))).sum::<u64>())
                })
                .collect();
            drop(dispatcher);
            for caller in callers {
                assert_eq!(caller.join().unwrap(), 20 * 8);
            }
        }
    }
}

#[test]
fn workers_of_one_dispatcher_install_on_another() {
    on_each(|dispatcher| {
        let other = Dispatcher::new(2).unwrap();
        let handle = other.handle();
        let sums = dispatcher
            .handle()
            .install(|| join(|| handle.install(|| fibonacci(12)), || handle.install(|| fibonacci(13))));
        assert_eq!(sums, (144, 233));
        assert_eq!(message(|| handle.install(|| std::panic::panic_any("inside"))), Some("inside"));
    });
}

#[test]
fn halves_and_spawns_run_in_the_context_of_their_caller() {
    on_each(|dispatcher| {
        let request = Context::named("request").build();
        let is_inside = || Context::current().is_some_and(|context| context.name() == Some("request"));
        for _ in 0..50 {
            let are_inside = request.run(|| {
                dispatcher.handle().install(|| {
                    scope(|scope| {
                        scope.spawn(move |_| assert!(is_inside()));
                        join(is_inside, is_inside)
                    })
                })
            });
            assert_eq!(are_inside, (true, true));
        }
    });
}

#[test]
fn a_blocking_section_inside_a_join_is_no_obstacle() {
    on_each(|dispatcher| {
        let (asked, answered) = (Port::new(), Port::new());
        let (question, answer) = (asked.clone(), answered.clone());
        let other =
            dispatcher.spawn(async move { answer.post(question.receive().await.unwrap() + fibonacci(10)).unwrap() });
        let (a, b) = dispatcher.handle().install(|| {
            join(
                || {
                    lehr_runtime::blocking("an answer", || {
                        asked.post(1).unwrap();
                        let (sum, more) = join(|| block_on(answered.receive()).unwrap(), || fibonacci(10));
                        sum + more
                    })
                },
                || fibonacci(10),
            )
        });
        assert_eq!((a, b), (111, 55));
        block_on(other).unwrap();
    });
}
