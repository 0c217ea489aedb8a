use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};

use lehr_runtime::{
    Builder, Dispatcher, Port, StartError, TaskError, all, block_on, is_on_worker, wake_elsewhere, yield_now,
};

use crate::on_each;

/// A value that counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

// Catalogue: 15
#[test]
fn a_task_ends_once_after_its_last_stage() {
    on_each(|dispatcher| {
        let stages = Arc::new(AtomicUsize::new(0));
        let seen = stages.clone();
        let task = dispatcher.spawn(async move {
            for _ in 0..3 {
                yield_now().await;
                seen.fetch_add(1, Ordering::Relaxed);
            }
            "done"
        });
        assert_eq!(block_on(task), Ok("done"));
        assert_eq!(stages.load(Ordering::Relaxed), 3);
    });
}

// Catalogue: 15
#[test]
fn a_panic_is_the_tasks_outcome_and_its_worker_lives_on() {
    on_each(|dispatcher| {
        let number = dispatcher.threads();
        let task = dispatcher.spawn(async move { panic!("number {number}") });
        let expected = TaskError::Panicked { message: format!("number {number}") };
        assert!(expected.is_panic());
        assert_eq!(block_on(task), Err::<(), _>(expected));
        assert_eq!(block_on(dispatcher.spawn(async { 1 })), Ok(1));
    });
}

// Catalogue: 16
#[test]
fn waiting_for_many_gives_each_outcome_and_waiting_for_none_is_over_at_once() {
    on_each(|dispatcher| {
        assert!(block_on(all::<()>(Vec::new())).is_empty());
        let tasks =
            (0..20).map(|i| dispatcher.spawn(async move { if i == 7 { panic!("seven") } else { i } })).collect();
        for (i, outcome) in block_on(all(tasks)).into_iter().enumerate() {
            match i {
                7 => assert_eq!(outcome, Err(TaskError::Panicked { message: "seven".to_owned() })),
                _ => assert_eq!(outcome, Ok(i)),
            }
        }
    });
}

// Catalogue: 51
#[test]
fn a_suspended_handler_holds_no_thread_and_its_stages_never_overlap() {
    on_each(|dispatcher| {
        // Runs the catalogue's million tasks only once, because they take a quarter of a gigabyte.
        let many = if dispatcher.threads() == 2 { 1_000_000 } else { 100_000 };
        let (go, inside) = (Port::new(), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..many)
            .map(|_| {
                let (go, inside) = (go.clone(), inside.clone());
                dispatcher.spawn(async move {
                    let turn = Arc::new(AtomicUsize::new(0));
                    for stage in 0..3 {
                        assert_eq!(turn.fetch_add(1, Ordering::Relaxed), stage);
                        if stage == 1 {
                            inside.fetch_add(1, Ordering::Relaxed);
                            go.receive().await.unwrap();
                        } else {
                            yield_now().await;
                        }
                    }
                })
            })
            .collect();
        crate::until(|| go.waiting() >= many);
        assert_eq!(
            inside.load(Ordering::Relaxed),
            many,
            "all wait at the same time, on {} threads",
            dispatcher.threads()
        );
        (0..many).for_each(|_| go.post(()).unwrap());
        assert!(block_on(all(tasks)).iter().all(Result::is_ok));
        assert!(go.is_empty());
    });
}

// Catalogue: 52
#[test]
fn a_cancelled_handler_drops_what_it_holds_and_leaves_its_port() {
    on_each(|dispatcher| {
        let (port, drops) = (Port::<u8>::new(), Arc::new(AtomicUsize::new(0)));
        let spawn = || {
            let (port, held) = (port.clone(), Counted(drops.clone()));
            dispatcher.spawn(async move {
                let _held = held;
                port.receive().await
            })
        };
        let (cancelled, dropped) = (spawn(), spawn());
        crate::until(|| port.waiting() >= 2);
        assert_eq!(block_on(cancelled.cancel()), Err(TaskError::Cancelled));
        assert!(drops.load(Ordering::Relaxed) >= 1);
        drop(dropped);
        crate::until(|| drops.load(Ordering::Relaxed) >= 2);
        assert_eq!(port.waiting(), 0);
    });
}

#[test]
fn a_detached_task_runs_without_its_handle() {
    on_each(|dispatcher| {
        let port = Port::new();
        let out = port.clone();
        dispatcher.spawn(async move { out.post(1).unwrap() }).detach();
        assert_eq!(block_on(port.receive()), Ok(1));
    });
}

#[test]
fn posting_never_runs_a_handler_in_place() {
    on_each(|dispatcher| {
        let (port, names) = (Port::new(), Port::new());
        let out = names.clone();
        let receiver = port.on(dispatcher.handle(), 1, move |()| {
            assert!(is_on_worker());
            out.post(std::thread::current().name().map(str::to_owned)).unwrap();
            std::future::ready(())
        });
        assert!(!is_on_worker());
        port.post(()).unwrap();
        let name = block_on(names.receive()).unwrap().unwrap();
        assert!(name.starts_with("test-"), "{name}");
        drop(receiver);
    });
}

#[test]
fn a_busy_worker_still_takes_work_from_outside() {
    let dispatcher = Dispatcher::new(1).unwrap();
    let stop = Port::new();
    let asked = stop.clone();
    // This task never lets the worker's own queue become empty.
    let busy = dispatcher.spawn(async move {
        while asked.try_receive().is_none() {
            yield_now().await;
        }
    });
    assert_eq!(block_on(dispatcher.spawn(async { 5 })), Ok(5));
    stop.post(()).unwrap();
    assert_eq!(block_on(busy), Ok(()));
}

#[test]
fn blocking_a_worker_is_refused() {
    let dispatcher = Dispatcher::new(1).unwrap();
    let outcome = block_on(dispatcher.spawn(async { block_on(async {}) }));
    assert!(matches!(outcome, Err(TaskError::Panicked { message }) if message.contains("worker")));
}

// Catalogue: 65
#[test]
fn absurd_numbers_of_threads_are_refused_and_none_means_the_machines() {
    assert!(matches!(
        Builder::new().threads(1_000_000).start(),
        Err(StartError::TooManyThreads { threads: 1_000_000 })
    ));
    let available = std::thread::available_parallelism().unwrap().get();
    assert_eq!(Dispatcher::new(0).unwrap().threads(), available);
}

#[test]
fn two_dispatchers_can_talk() {
    let (one, two) = (Dispatcher::new(1).unwrap(), Dispatcher::new(1).unwrap());
    let (ping, pong) = (Port::new(), Port::new());
    let (a, b) = (ping.clone(), pong.clone());
    let echo = two.spawn(async move {
        while let Ok(i) = a.receive().await {
            b.post(i).unwrap();
        }
    });
    let sum = block_on(one.spawn(async move {
        let mut sum = 0;
        for i in 0..1000 {
            ping.post(i).unwrap();
            sum += pong.receive().await.unwrap();
        }
        ping.close();
        sum
    }));
    assert_eq!(sum, Ok(499_500));
    assert_eq!(block_on(echo), Ok(()));
}

// Catalogue: 62
#[test]
fn a_task_that_always_finds_its_item_lets_the_others_have_their_turn() {
    let dispatcher = Dispatcher::new(1).unwrap();
    let (own, stop) = (Port::new(), Port::new());
    let (own_end, stop_end) = (own.clone(), stop.clone());
    let talks_to_itself = dispatcher.spawn(async move {
        let mut turns = 0_u64;
        while stop_end.try_receive().is_none() {
            own_end.post(turns).unwrap();
            assert_eq!(own_end.receive().await, Ok(turns));
            turns += 1;
        }
    });
    // This task is queued on the only worker, behind a task that never waits for other tasks.
    let other = dispatcher.spawn(async move { stop.post(()).unwrap() });
    assert_eq!(block_on(other), Ok(()));
    assert_eq!(block_on(talks_to_itself), Ok(()));
}

#[test]
fn what_is_woken_elsewhere_is_queued_for_everybody() {
    let dispatcher = Dispatcher::new(1).unwrap();
    let order = |is_elsewhere: bool| {
        let (waits, came) = (Port::new(), Port::new());
        let (wakers, first) = (Port::new(), came.clone());
        let waker = wakers.clone();
        let sleeper = dispatcher.spawn(async move {
            let mut is_woken = false;
            std::future::poll_fn(|context| {
                if is_woken {
                    return Poll::Ready(());
                }
                is_woken = true;
                waker.post(context.waker().clone()).unwrap();
                Poll::Pending
            })
            .await;
            first.post("woken").unwrap();
        });
        let handle = dispatcher.handle().clone();
        let spawner = dispatcher.spawn(async move {
            let waker: Waker = wakers.receive().await.unwrap();
            if is_elsewhere {
                wake_elsewhere(waker)
            } else {
                waker.wake()
            }
            let second = came.clone();
            handle.spawn(async move { second.post("spawned").unwrap() }).detach();
            waits.post([came.receive().await.unwrap(), came.receive().await.unwrap()]).unwrap();
            waits.receive().await.unwrap()
        });
        let order = block_on(spawner).unwrap();
        assert_eq!(block_on(sleeper), Ok(()));
        order
    };
    assert_eq!(order(false), ["woken", "spawned"]);
    // A worker checks its own queue first.
    assert_eq!(order(true), ["spawned", "woken"]);
}
