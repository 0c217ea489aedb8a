//! Named queues: waits for admission at the same time as workers, cancellation and close; blocking sections.

use std::task::{Context, Waker};

use lehr_runtime::{
    Admission, Builder, DepthOverflow, Dispatcher, Idle, Port, Rejection, Shutdown, TaskError, all, block_on, blocking,
};
use shuttle::thread;

use crate::explore;

fn dispatcher(threads: usize) -> Dispatcher {
    Builder::new().threads(threads).idle(Idle::SLEEP).start().unwrap()
}

fn narrow(dispatcher: &Dispatcher, overflow: DepthOverflow) -> lehr_runtime::Queue {
    dispatcher.queue("narrow").admission(Admission::Depth { max: 1, overflow }).build().unwrap()
}

#[test]
fn every_waiting_spawn_is_admitted_though_one_of_them_goes_away() {
    explore(300, || {
        let dispatcher = dispatcher(2);
        let queue = narrow(&dispatcher, DepthOverflow::Wait);
        let done = Port::new();
        let spawners: Vec<_> = (0..3)
            .map(|i| {
                let (queue, done) = (queue.clone(), done.clone());
                thread::spawn(move || {
                    block_on(queue.spawn_wait(async move { done.post(i).unwrap() })).unwrap().detach();
                })
            })
            .collect();
        let canceller = {
            let queue = queue.clone();
            thread::spawn(move || {
                let mut spawn = Box::pin(queue.spawn_wait(async {}));
                let _ = spawn.as_mut().poll(&mut Context::from_waker(Waker::noop()));
            })
        };
        let mut seen = block_on(done.take(3)).unwrap();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2]);
        canceller.join().unwrap();
        spawners.into_iter().for_each(|spawner| spawner.join().unwrap());
        assert_eq!(queue.counters().waiting, 0);
    });
}

#[test]
fn a_close_answers_every_spawn_and_every_task() {
    explore(300, || {
        let dispatcher = dispatcher(2);
        let queue = narrow(&dispatcher, DepthOverflow::Wait);
        let spawners: Vec<_> = (0..3)
            .map(|_| {
                let queue = queue.clone();
                thread::spawn(move || match block_on(queue.spawn_wait(async { 7 })) {
                    Ok(task) => block_on(task),
                    Err(rejected) => {
                        assert_eq!(rejected.reason, Rejection::Closed);
                        Ok(7)
                    }
                })
            })
            .collect();
        let closer = {
            let queue = queue.clone();
            thread::spawn(move || {
                queue.close();
                queue.clear()
            })
        };
        let outcomes: Vec<_> = spawners.into_iter().map(|spawner| spawner.join().unwrap()).collect();
        let cleared = closer.join().unwrap();
        let discarded = outcomes.iter().filter(|outcome| **outcome == Err(TaskError::Discarded)).count();
        assert_eq!((discarded, queue.counters().discarded), (cleared, cleared));
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(7) | Err(TaskError::Discarded))));
    });
}

#[test]
fn a_suspended_queue_is_resumed_without_a_lost_task() {
    explore(300, || {
        let dispatcher = dispatcher(2);
        let queue = narrow(&dispatcher, DepthOverflow::DropOldest);
        let other = queue.clone();
        let switcher = thread::spawn(move || {
            other.suspend();
            other.resume();
        });
        let tasks = (0..3).map(|i| queue.spawn(async move { i }).unwrap()).collect();
        for (i, outcome) in block_on(all(tasks)).into_iter().enumerate() {
            assert!(outcome == Ok(i) || outcome == Err(TaskError::Discarded));
        }
        switcher.join().unwrap();
        let counters = queue.counters();
        assert_eq!((counters.depth, counters.finished + counters.discarded), (0, 3));
    });
}

#[test]
fn a_dispatcher_ends_while_spawns_wait_for_admission() {
    explore(300, || {
        let dispatcher = dispatcher(2);
        let queue = narrow(&dispatcher, DepthOverflow::Wait);
        let spawners: Vec<_> = (0..2)
            .map(|_| {
                let queue = queue.clone();
                thread::spawn(move || {
                    block_on(queue.spawn_wait(async {})).map(drop).map_err(|rejected| rejected.reason)
                })
            })
            .collect();
        assert_eq!(dispatcher.shutdown(Shutdown::Abort).leaked, 0);
        for spawner in spawners {
            assert!(matches!(spawner.join().unwrap(), Ok(()) | Err(Rejection::Closed)));
        }
        assert_eq!(queue.counters().depth, 0);
    });
}

#[test]
fn spares_stand_in_for_workers_that_block_for_each_other() {
    explore(300, || {
        let dispatcher = dispatcher(1);
        let ports: [Port<usize>; 3] = std::array::from_fn(|_| Port::new());
        let tasks = (0..2)
            .map(|i| {
                let (own, next) = (ports[i].clone(), ports[i + 1].clone());
                dispatcher.spawn(async move {
                    let answer = blocking("the next", || block_on(next.receive()).unwrap());
                    own.post(answer + 1).unwrap();
                })
            })
            .collect();
        let last = ports[2].clone();
        dispatcher.spawn(async move { last.post(0).unwrap() }).detach();
        assert_eq!(block_on(ports[0].receive()), Ok(2));
        assert_eq!(block_on(all(tasks)), [Ok(()), Ok(())]);
    });
}
