use std::time::Duration;

use lehr_runtime::{Builder, Dispatcher, Idle, Port, Shutdown, all, block_on, blocking, is_on_worker};

/// Returns dispatchers of 1, 2 and 8 workers. Their idle threads sleep at once, so that tasks are handed over to
/// sleeping threads.
fn each(spares: usize) -> impl Iterator<Item = Dispatcher> {
    [1, 2, 8]
        .into_iter()
        .map(move |threads| Builder::new().threads(threads).spares(spares).idle(Idle::SLEEP).start().unwrap())
}

#[test]
fn what_waits_behind_a_blocked_worker_runs_in_its_place() {
    for dispatcher in each(4) {
        for round in 0..50 {
            let (handle, done) = (dispatcher.handle().clone(), Port::new());
            let blocked = dispatcher.spawn(async move {
                // The tasks are in this worker's own queue, where no other worker would look in time.
                for i in 0..10 {
                    let done = done.clone();
                    handle.spawn(async move { done.post(i).unwrap() }).detach();
                }
                assert!(is_on_worker());
                let sum = blocking("ten tasks", || {
                    assert!(!is_on_worker(), "the section may block");
                    block_on(done.take(10)).unwrap().into_iter().sum::<usize>()
                });
                assert!(is_on_worker());
                sum + round
            });
            assert_eq!(block_on(blocked), Ok(45 + round));
        }
    }
}

#[test]
fn every_worker_may_block_for_another_as_long_as_there_are_spares() {
    for dispatcher in each(16) {
        // Each task blocks its thread until the next task posts; a further task posts to the last port.
        let ports: Vec<Port<usize>> = (0..17).map(|_| Port::named("link")).collect();
        let tasks = (0..16)
            .map(|i| {
                let (own, next) = (ports[i].clone(), ports[i + 1].clone());
                dispatcher.spawn(async move {
                    let answer = blocking("the next", || block_on(next.receive()).unwrap());
                    own.post(answer + 1).unwrap();
                })
            })
            .collect();
        let last = ports[16].clone();
        let end = dispatcher.spawn(async move { last.post(0).unwrap() });
        assert_eq!(block_on(ports[0].receive()), Ok(16));
        assert!(block_on(all(tasks)).into_iter().all(|outcome| outcome.is_ok()));
        block_on(end).unwrap();
        let started = dispatcher.handle().counters().len() - dispatcher.threads();
        assert!(started <= 16, "{started} spares");
    }
}

#[test]
fn without_spares_a_section_just_runs() {
    for dispatcher in each(0) {
        let task = dispatcher.spawn(async { blocking("nothing", || 6 * 7) });
        assert_eq!(block_on(task), Ok(42));
        assert_eq!(dispatcher.handle().counters().len(), dispatcher.threads());
    }
    assert_eq!(blocking("outside", || 7), 7);
}

#[test]
fn a_section_that_panics_leaves_the_worker_in_its_place() {
    for dispatcher in each(1) {
        for _ in 0..20 {
            let task = dispatcher.spawn(async { blocking("a fault", || panic!("inside")) });
            assert!(block_on::<_>(task).is_err_and(|error| error.is_panic()));
            assert_eq!(block_on(dispatcher.spawn(async { is_on_worker() })), Ok(true));
        }
    }
}

// Catalogue: 76
#[test]
fn a_dispatcher_ends_while_its_workers_block_and_its_spares_work() {
    for dispatcher in each(8) {
        let (inside, leave) = (Port::new(), Port::new());
        for _ in 0..4 {
            let (inside, leave) = (inside.clone(), leave.clone());
            dispatcher
                .spawn(async move {
                    blocking("the test", || {
                        inside.post(()).unwrap();
                        block_on(leave.receive()).unwrap();
                    });
                })
                .detach();
        }
        block_on(inside.take(4)).unwrap();
        // Meanwhile, spare threads run the dispatcher's tasks.
        for i in 0..20 {
            assert_eq!(block_on(dispatcher.spawn(async move { i })), Ok(i));
        }
        (0..4).for_each(|_| leave.post(()).unwrap());
        let report = dispatcher.shutdown(Shutdown::Drain { limit: Duration::from_secs(60) });
        assert_eq!((report.aborted, report.leaked), (0, 0));
    }
    for dispatcher in each(2) {
        let (inside, leave) = (Port::new(), Port::new());
        let (told, ask) = (inside.clone(), leave.clone());
        let blocked = dispatcher.spawn(async move {
            blocking("the test", || {
                told.post(()).unwrap();
                block_on(ask.receive()).unwrap();
            });
        });
        block_on(inside.receive()).unwrap();
        let ending = std::thread::spawn(move || dispatcher.shutdown(Shutdown::Abort));
        leave.post(()).unwrap();
        assert_eq!(ending.join().unwrap().leaked, 0);
        let _ = block_on(blocked);
    }
}
