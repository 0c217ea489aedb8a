use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use lehr_runtime::{
    Admission, Builder, DepthOverflow, Dispatcher, Idle, Port, Queue, Rejection, Report, Shutdown, TaskError, all,
    block_on, yield_now,
};

const SOON: Duration = Duration::from_secs(60);

fn each() -> impl Iterator<Item = Dispatcher> {
    [1, 2, 8].into_iter().map(|threads| Dispatcher::new(threads).unwrap())
}

/// A value that counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

// Catalogue: 75
#[test]
fn a_drain_lets_everything_end_and_counts_it() {
    for dispatcher in each() {
        let (port, started) = (Port::new(), Port::new());
        for _ in 0..10 {
            let (port, started) = (port.clone(), started.clone());
            dispatcher
                .spawn(async move {
                    started.post(()).unwrap();
                    port.receive().await.unwrap();
                    yield_now().await;
                })
                .detach();
        }
        block_on(started.take(10)).unwrap();
        let items = port.clone();
        let poster = std::thread::spawn(move || (0..10).for_each(|_| items.post(()).unwrap()));
        let report = dispatcher.shutdown(Shutdown::Drain { limit: SOON });
        poster.join().unwrap();
        assert_eq!((report.aborted, report.leaked), (0, 0));
        assert!(report.finished <= 10 && port.is_empty());
    }
}

// Catalogue: 75
#[test]
fn a_drain_past_its_limit_aborts_what_still_waits() {
    for dispatcher in each() {
        let (never, drops) = (Port::<()>::new(), Arc::new(AtomicUsize::new(0)));
        for _ in 0..7 {
            let (never, held) = (never.clone(), Counted(drops.clone()));
            dispatcher
                .spawn(async move {
                    let _held = held;
                    never.receive().await
                })
                .detach();
        }
        let is_busy = || dispatcher.handle().counters().iter().any(|worker| worker.is_running);
        crate::until(|| never.waiting() == 7 && !is_busy());
        let report = dispatcher.shutdown(Shutdown::Drain { limit: Duration::from_millis(2) });
        assert_eq!(report, Report { finished: 0, aborted: 7, ..Report::default() });
        assert_eq!((drops.load(Ordering::Relaxed), never.waiting()), (7, 0));
    }
}

// Catalogue: 75
#[test]
fn a_drain_does_not_wait_for_ever_for_a_poll_that_does_not_end() {
    for dispatcher in each() {
        let (entered, leave) = (Port::new(), Port::new());
        let (tell, ask) = (entered.clone(), leave.clone());
        let stuck = dispatcher.spawn(async move {
            tell.post(()).unwrap();
            crate::until(|| ask.try_receive().is_some());
        });
        block_on(entered.receive()).unwrap();
        let report = dispatcher.shutdown(Shutdown::Drain { limit: Duration::from_millis(2) });
        assert_eq!(report.leaked, 1);
        leave.post(()).unwrap();
        // The poll still ends the leaked task.
        assert_eq!(block_on(stuck), Ok(()));
    }
}

// Catalogue: 76
#[test]
fn after_an_abort_no_task_runs_and_every_destructor_has_run() {
    for dispatcher in each() {
        let (running, drops) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let port = Port::<()>::new();
        for kind in 0..30 {
            let (running, held, port) = (running.clone(), Counted(drops.clone()), port.clone());
            dispatcher
                .spawn(async move {
                    let _held = held;
                    if kind % 3 == 0 {
                        port.receive().await.unwrap();
                    }
                    loop {
                        running.fetch_add(1, Ordering::Relaxed);
                        yield_now().await;
                    }
                })
                .detach();
        }
        crate::until(|| running.load(Ordering::Relaxed) >= 100);
        let report = dispatcher.shutdown(Shutdown::Abort);
        let (ran, dropped) = (running.load(Ordering::Relaxed), drops.load(Ordering::Relaxed));
        assert_eq!((report.finished, report.aborted, report.leaked, dropped), (0, 30, 0, 30));
        assert_eq!((running.load(Ordering::Relaxed), port.waiting()), (ran, 0));
    }
}

/// A value that records the thread that drops it.
struct Noted(Arc<Mutex<Option<ThreadId>>>);

impl Drop for Noted {
    fn drop(&mut self) {
        *self.0.lock().unwrap() = Some(std::thread::current().id());
    }
}

// The caller of a waker may hold locks that the parts of a future take when they are dropped.
#[test]
fn who_wakes_a_task_while_its_dispatcher_ends_does_not_drop_it() {
    for dispatcher in each() {
        let (port, dropper) = (Port::new(), Arc::new(Mutex::new(None)));
        let (waits, noted) = (port.clone(), Noted(dropper.clone()));
        let woken = dispatcher.spawn(async move {
            let _noted = noted;
            waits.receive().await
        });
        crate::until(|| port.waiting() == 1);
        // While a poll is in progress, the end has begun and is not over.
        let (begun, goes_on) = (Port::new(), std::sync::mpsc::channel::<()>());
        let (begins, (end_poll, poll_ends)) = (begun.clone(), goes_on);
        dispatcher
            .spawn(async move {
                begins.post(()).unwrap();
                poll_ends.recv().unwrap();
            })
            .detach();
        block_on(begun.receive()).unwrap();
        let handle = dispatcher.handle().clone();
        let ending = std::thread::spawn(move || dispatcher.shutdown(Shutdown::Abort));
        crate::until(|| handle.execute(|| ()).is_err());
        port.post(()).unwrap();
        let here = std::thread::current().id();
        assert_ne!(*dropper.lock().unwrap(), Some(here));
        end_poll.send(()).unwrap();
        let report = ending.join().unwrap();
        assert_eq!(report.leaked, 0);
        // A worker that was looking for work when the end began may have found the woken task and polled it.
        assert!(matches!(block_on(woken), Err(TaskError::Cancelled) | Ok(Ok(()))));
        let dropped_by = dropper.lock().unwrap().expect("it is dropped when the end is over");
        assert_ne!(dropped_by, here);
    }
}

#[test]
fn dropping_a_dispatcher_ends_its_threads_and_its_tasks() {
    for dispatcher in each() {
        let (port, drops) = (Port::<()>::new(), Arc::new(AtomicUsize::new(0)));
        let (waits, held) = (port.clone(), Counted(drops.clone()));
        let task = dispatcher.spawn(async move {
            let _held = held;
            waits.receive().await
        });
        drop(dispatcher);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        assert_eq!(block_on(task), Err(TaskError::Cancelled));
    }
}

#[test]
fn a_spawn_after_the_end_is_cancelled_and_its_future_dropped() {
    for dispatcher in each() {
        let handle = dispatcher.handle().clone();
        drop(dispatcher);
        let drops = Arc::new(AtomicUsize::new(0));
        let held = Counted(drops.clone());
        let task = handle.spawn(async move {
            let _held = held;
        });
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        assert_eq!(block_on(task), Err(TaskError::Cancelled));
    }
}

// Catalogue: 77
#[test]
fn what_drops_during_an_abort_may_wake_and_spawn() {
    struct Meddler(lehr_runtime::Handle, Port<u8>, Arc<AtomicUsize>);
    impl Drop for Meddler {
        fn drop(&mut self) {
            self.1.post(1).unwrap();
            let held = Counted(self.2.clone());
            self.0.spawn(async move { drop(held) }).detach();
        }
    }
    for dispatcher in each() {
        let (port, drops) = (Port::new(), Arc::new(AtomicUsize::new(0)));
        for _ in 0..5 {
            let (port, meddler) = (port.clone(), Meddler(dispatcher.handle().clone(), port.clone(), drops.clone()));
            dispatcher
                .spawn(async move {
                    let _meddler = meddler;
                    // Each task waits for many more items than the five that are posted during the abort, so no task
                    // ends.
                    port.take(100).await
                })
                .detach();
        }
        crate::until(|| port.waiting() >= 5);
        let report = dispatcher.shutdown(Shutdown::Abort);
        assert_eq!((drops.load(Ordering::Relaxed), port.len(), report.aborted), (5, 5, 10));
    }
}

#[test]
fn a_dispatcher_may_be_dropped_by_its_own_task() {
    for dispatcher in each() {
        let (handle, done) = (dispatcher.handle().clone(), Port::new());
        let out = done.clone();
        handle
            .spawn(async move {
                drop(dispatcher);
                out.post(()).unwrap();
            })
            .detach();
        block_on(done.receive()).unwrap();
    }
}

#[test]
fn sleeping_workers_are_woken_for_work_and_for_the_end() {
    for threads in [1, 2, 8] {
        let dispatcher = Builder::new().threads(threads).idle(Idle::SLEEP).start().unwrap();
        let sleeps = || dispatcher.handle().counters().iter().map(|worker| worker.sleeps).sum::<usize>();
        for i in 0..200 {
            crate::until(|| i % 50 > 0 || sleeps() >= threads);
            assert_eq!(block_on(dispatcher.spawn(async move { i })), Ok(i));
        }
        assert_eq!(dispatcher.shutdown(Shutdown::Drain { limit: SOON }), Report::default());
    }
}

/// Returns the report's numbers for a queue: finished, aborted, discarded.
fn counts(report: &Report, name: &str) -> (usize, usize, usize) {
    let queue = report.queues.iter().find(|queue| queue.name == name).unwrap();
    (queue.finished, queue.aborted, queue.discarded)
}

// Catalogue: 60, 75
#[test]
fn a_drain_counts_what_became_of_each_queue() {
    for dispatcher in each() {
        let ends = dispatcher.queue("ends").build().unwrap();
        let held = dispatcher.queue("held").suspended().build().unwrap();
        let over = dispatcher.queue("over").build().unwrap();
        block_on(over.spawn(async {}).unwrap()).unwrap();
        let go = Port::new();
        for _ in 0..5 {
            let go = go.clone();
            ends.spawn(async move { go.receive().await }).unwrap().detach();
        }
        let queued: Vec<_> = (0..4).map(|_| held.spawn(async {}).unwrap()).collect();
        crate::until(|| go.waiting() == 5 && over.counters().living == 0);
        let handle = dispatcher.handle().clone();
        let owner = std::thread::spawn(move || {
            // Waits until the drain has begun.
            crate::until(|| handle.execute(|| {}).is_err());
            assert_eq!(ends.spawn(async {}).unwrap_err().reason, Rejection::Closed);
            (0..5).for_each(|_| go.post(()).unwrap());
            held.clear()
        });
        let report = dispatcher.shutdown(Shutdown::Drain { limit: SOON });
        assert_eq!(owner.join().unwrap(), 4);
        assert_eq!((counts(&report, "ends"), counts(&report, "held")), ((5, 0, 0), (0, 0, 4)));
        assert_eq!((counts(&report, "over"), report.aborted, report.leaked), ((0, 0, 0), 4, 0));
        assert_eq!(block_on(all(queued)), [const { Err(TaskError::Discarded) }; 4]);
    }
}

// Catalogue: 60, 76
#[test]
fn an_abort_drops_what_queues_hold_and_counts_it() {
    for dispatcher in each() {
        let (waits, held) = (dispatcher.queue("waits").build().unwrap(), dispatcher.queue("held").suspended());
        let held = held.admission(Admission::Depth { max: 4, overflow: DepthOverflow::Wait }).build().unwrap();
        let (never, drops) = (Port::<()>::new(), Arc::new(AtomicUsize::new(0)));
        let spawn = |queue: &Queue| {
            let (never, kept) = (never.clone(), Counted(drops.clone()));
            let waiting = async move {
                let _kept = kept;
                never.receive().await
            };
            queue.spawn(waiting).unwrap().detach();
        };
        (0..3).for_each(|_| spawn(&waits));
        (0..4).for_each(|_| spawn(&held));
        let full = held.clone();
        let waiting = std::thread::spawn(move || block_on(full.spawn_wait(async { 7 })).unwrap_err());
        crate::until(|| never.waiting() == 3 && held.counters().waiting == 1);
        let report = dispatcher.shutdown(Shutdown::Abort);
        assert_eq!((counts(&report, "waits"), counts(&report, "held")), ((0, 3, 0), (0, 4, 0)));
        assert_eq!((report.aborted, drops.load(Ordering::Relaxed)), (7, 7));
        let rejected = waiting.join().unwrap();
        assert_eq!((rejected.reason, block_on(rejected.future)), (Rejection::Closed, 7));
        assert_eq!(waits.spawn(async {}).unwrap_err().reason, Rejection::Closed);
    }
}
