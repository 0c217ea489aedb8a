use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use lehr_runtime::fork_join::{join, scope};
use lehr_runtime::{Builder, Dispatcher, Idle, Shutdown};
use shuttle::thread;

use crate::explore;

fn dispatcher(threads: usize) -> Dispatcher {
    Builder::new().threads(threads).idle(Idle::SLEEP).start().unwrap()
}

/// Lets other threads run: a model switches between them only where they synchronise.
fn work() -> usize {
    thread::yield_now();
    1
}

fn tree(depth: u32) -> usize {
    if depth == 0 {
        return work();
    }
    let (a, b) = join(|| tree(depth - 1), || tree(depth - 1));
    a + b
}

#[test]
fn nested_joins_end_whoever_takes_their_halves() {
    for threads in [2, 3] {
        explore(500, move || {
            let dispatcher = dispatcher(threads);
            assert_eq!(dispatcher.handle().install(|| tree(3)), 8);
        });
    }
}

#[test]
fn a_panic_waits_for_the_other_half() {
    explore(500, || {
        let dispatcher = dispatcher(2);
        let ended = AtomicUsize::new(0);
        let half = |panics: bool| {
            tree(1);
            ended.fetch_add(1, Ordering::Relaxed);
            if panics {
                std::panic::resume_unwind(Box::new("as planned"));
            }
        };
        let told = dispatcher.handle().install(|| {
            catch_unwind(AssertUnwindSafe(|| join(|| half(true), || join(|| half(false), || half(true))))).unwrap_err()
        });
        assert!(told.is::<&str>());
        assert_eq!(ended.into_inner(), 3);
    });
}

#[test]
fn a_scope_ends_after_all_its_spawns() {
    explore(500, || {
        let dispatcher = dispatcher(3);
        let count = AtomicUsize::new(0);
        let add = |by| {
            count.fetch_add(by, Ordering::Relaxed);
        };
        dispatcher.handle().install(|| {
            scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|scope| {
                        add(work());
                        scope.spawn(|_| add(tree(1)));
                    });
                }
                add(tree(1));
            });
        });
        assert_eq!(count.into_inner(), 2 + 4 + 2);
    });
}

#[test]
fn joins_and_installs_end_whole_while_the_dispatcher_does() {
    explore(500, || {
        let dispatcher = dispatcher(2);
        let handle = dispatcher.handle().clone();
        let caller = thread::spawn(move || {
            let first = handle.install(|| tree(2));
            first + handle.install(|| tree(1))
        });
        let report = dispatcher.shutdown(Shutdown::Abort);
        assert_eq!(report.leaked, 0);
        assert_eq!(caller.join().unwrap(), 6);
    });
}
