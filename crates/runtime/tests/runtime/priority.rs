use std::collections::HashMap;
use std::sync::{Arc, Barrier, Mutex};
use std::thread::{ThreadId, current};

use lehr_runtime::{Dispatcher, Priority, Queue, block_on};

use crate::on_each;

/// The marks of the jobs that each worker ran, in the order in which it ran them.
type Runs = Arc<Mutex<HashMap<ThreadId, Vec<char>>>>;

/// Calls `fill` while every worker is kept busy, so that all its jobs are queued when the workers look for work.
fn with_busy_workers(dispatcher: &Dispatcher, fill: impl FnOnce()) {
    let barrier = Arc::new(Barrier::new(dispatcher.threads() + 1));
    for _ in 0..dispatcher.threads() {
        let barrier = barrier.clone();
        dispatcher
            .spawn(async move {
                barrier.wait();
                barrier.wait();
            })
            .detach();
    }
    barrier.wait();
    fill();
    barrier.wait();
}

fn note(runs: &Runs, mark: char) -> impl Future<Output = ()> + Send + 'static {
    let runs = runs.clone();
    async move { runs.lock().unwrap().entry(current().id()).or_default().push(mark) }
}

fn spawn_many(queue: &Queue, count: usize, runs: &Runs, mark: char) {
    (0..count).for_each(|_| queue.spawn(note(runs, mark)).unwrap().detach());
}

fn wait_for(queues: &[&Queue]) {
    crate::until(|| queues.iter().all(|queue| queue.counters().living == 0));
}

/// Returns the lengths of the runs of `mark` that are followed by another mark.
fn runs_of(mark: char, seen: &[char]) -> Vec<usize> {
    let mut runs = Vec::new();
    let mut length = 0;
    for &next in seen {
        if next == mark {
            length += 1;
        } else {
            runs.push(length);
            length = 0;
        }
    }
    runs
}

// Catalogue: 62
#[test]
fn a_queue_with_one_task_is_served_within_a_round_of_one_with_a_million() {
    on_each(|dispatcher| {
        let crowded = dispatcher.queue("crowded").build().unwrap();
        let single = dispatcher.queue("single").build().unwrap();
        let before = Arc::new(Mutex::new(None));
        std::thread_local! {
            static CROWD: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
        }
        with_busy_workers(dispatcher, || {
            for _ in 0..1_000_000 {
                crowded.spawn(async { CROWD.set(CROWD.get() + 1) }).unwrap().detach();
            }
            let before = before.clone();
            single.spawn(async move { *before.lock().unwrap() = Some(CROWD.get()) }).unwrap().detach();
        });
        wait_for(&[&single]);
        // A round is one job of each queue, so the worker may have run one job of the crowded queue before the single
        // job.
        assert!(before.lock().unwrap().unwrap() <= 1);
        assert!(crowded.clear() <= 1_000_000);
    });
}

// Catalogue: 63
#[test]
fn queues_share_the_workers_by_their_weights() {
    on_each(|dispatcher| {
        let high = dispatcher.queue("high").priority(Priority::Share { weight: 3 }).build().unwrap();
        let low = dispatcher.queue("low").build().unwrap();
        let runs = Runs::default();
        with_busy_workers(dispatcher, || {
            spawn_many(&high, 3000, &runs, 'H');
            spawn_many(&low, 1000, &runs, 'L');
        });
        wait_for(&[&high, &low]);
        let runs = runs.lock().unwrap();
        assert_eq!(runs.values().map(Vec::len).sum::<usize>(), 4000);
        for seen in runs.values() {
            // While both queues have work, no worker takes more than one turn of jobs from either queue. The last run
            // may be shorter.
            let highs = runs_of('H', seen);
            let both = seen.iter().rposition(|&mark| mark == 'H').unwrap_or(0);
            assert!(highs.iter().all(|&run| run <= 3), "{highs:?}");
            let lows = runs_of('L', &seen[..both]);
            assert!(lows.iter().all(|&run| run <= 1), "{lows:?}");
        }
        if dispatcher.threads() == 1 {
            let seen = runs.values().next().unwrap();
            assert_eq!(seen[..400].iter().filter(|&&mark| mark == 'H').count(), 300);
        }
    });
}

// Catalogue: 63
#[test]
fn a_strict_queue_goes_first_and_starves_nobody_beyond_the_bound() {
    // In the first round, the dispatcher's own queues have work too; in the second round, they have none.
    for own in [20, 0] {
        on_each(|dispatcher| {
            let urgent = dispatcher.queue("urgent").priority(Priority::Strict).build().unwrap();
            let low = dispatcher.queue("low").build().unwrap();
            let runs = Runs::default();
            with_busy_workers(dispatcher, || {
                spawn_many(&low, 20, &runs, 'L');
                spawn_many(&urgent, 5000, &runs, 'H');
                (0..own).for_each(|_| dispatcher.spawn(note(&runs, 'O')).detach());
            });
            wait_for(&[&urgent, &low]);
            crate::until(|| runs.lock().unwrap().values().map(Vec::len).sum::<usize>() >= 5020 + own);
            let runs = runs.lock().unwrap();
            // After at most 64 urgent jobs in a row, a worker runs another job, as long as it finds one. It always
            // finds jobs of a named queue. A job of the dispatcher's own queues may be in the queue of a worker that
            // makes progress, from which no other worker steals.
            let out_of_reach = own > 0 && dispatcher.threads() > 1;
            for seen in runs.values() {
                let urgent = seen.iter().rposition(|&mark| mark == 'H').map_or(0, |last| last + 1);
                let between = runs_of('H', &seen[..urgent]);
                let is_right = |run: usize| if out_of_reach { run > 0 && run.is_multiple_of(64) } else { run == 64 };
                assert!(between.iter().all(|&run| is_right(run)), "{own} of its own: {between:?}");
            }
            if dispatcher.threads() == 1 {
                let seen = runs.values().next().unwrap();
                let others: Vec<_> = seen.iter().filter(|&&mark| mark != 'H').collect();
                assert!(own == 0 || others.windows(2).all(|pair| pair[0] != pair[1]), "they take turns: {others:?}");
            }
        });
    }
}

// Catalogue: 63
#[test]
fn what_has_no_queue_has_the_weight_of_the_dispatcher() {
    let dispatcher = lehr_runtime::Builder::new().threads(1).weight(4).start().unwrap();
    let named = dispatcher.queue("named").build().unwrap();
    let runs = Runs::default();
    with_busy_workers(&dispatcher, || {
        spawn_many(&named, 100, &runs, 'N');
        (0..400).for_each(|_| dispatcher.spawn(note(&runs, 'O')).detach());
    });
    wait_for(&[&named]);
    let last = dispatcher.spawn(async {});
    block_on(last).unwrap();
    let runs = runs.lock().unwrap();
    let seen = runs.values().next().unwrap();
    assert_eq!(seen[..250].iter().filter(|&&mark| mark == 'O').count(), 200);
}
