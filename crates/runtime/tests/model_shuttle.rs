//! Checks the protocols of this crate with shuttle: random schedules and priority-driven schedules of four to eight
//! tasks. A failing schedule is printed, and can be replayed with `shuttle::replay`.
//!
//! `RUSTFLAGS="--cfg shuttle" CARGO_TARGET_DIR=target/shuttle cargo test -p lehr-runtime --release --test
//! model_shuttle`
#![cfg(shuttle)]
#![allow(clippy::disallowed_types, reason = "a lock of std, never contended, is no part of the model")]

#[path = "model_shuttle/capacity.rs"]
mod capacity;
#[path = "model_shuttle/choice.rs"]
mod choice;
#[path = "model_shuttle/context.rs"]
mod context;
#[path = "model_shuttle/fork_join.rs"]
mod fork_join;
#[path = "model_shuttle/gather.rs"]
mod gather;
#[path = "model_shuttle/interleave.rs"]
mod interleave;
#[path = "model_shuttle/queue.rs"]
mod queue;
#[path = "model_shuttle/reply.rs"]
mod reply;
#[path = "model_shuttle/shutdown.rs"]
mod shutdown;
#[path = "model_shuttle/take.rs"]
mod take;

use lehr_runtime::{Builder, Idle, ParallelLoop, Port, Shutdown, all, block_on, join, join_all};
use shuttle::thread;

/// Runs a model under random schedules and under schedules with few changes of priority, which find rarer bugs.
fn explore(iterations: usize, body: impl Fn() + Send + Sync + Clone + 'static) {
    shuttle::check_random(body.clone(), iterations);
    shuttle::check_pct(body, iterations, 3);
}

#[test]
fn six_tasks_around_three_ports_pair_every_item_once() {
    explore(2000, || {
        let ports: [Port<usize>; 3] = std::array::from_fn(|_| Port::new());
        let posters: Vec<_> = (0..3)
            .map(|i| {
                let port = ports[i].clone();
                thread::spawn(move || (0..2).for_each(|item| port.post(item).unwrap()))
            })
            .collect();
        let joiners: Vec<_> = (0..3)
            .map(|i| {
                let (a, b) = (ports[i].clone(), ports[(i + 1) % 3].clone());
                thread::spawn(move || block_on(join((&a, &b))).unwrap())
            })
            .collect();
        for poster in posters {
            poster.join().unwrap();
        }
        // Three joins of two items take all six items, whichever join comes first.
        for joiner in joiners {
            joiner.join().unwrap();
        }
        assert!(ports.iter().all(|port| port.is_empty() && port.waiting() == 0));
    });
}

#[test]
fn takes_receives_and_a_cancellation_share_a_port() {
    explore(2000, || {
        let port = Port::new();
        let taker = {
            let port = port.clone();
            thread::spawn(move || block_on(port.take(2)).unwrap().len())
        };
        let receivers: Vec<_> = (0..2)
            .map(|_| {
                let port = port.clone();
                thread::spawn(move || block_on(port.receive()).unwrap())
            })
            .collect();
        let canceller = {
            let port = port.clone();
            thread::spawn(move || {
                let mut receive = std::pin::pin!(port.receive());
                let mut context = std::task::Context::from_waker(std::task::Waker::noop());
                usize::from(receive.as_mut().poll(&mut context).is_ready())
            })
        };
        for item in 0..4 {
            port.post(item).unwrap();
        }
        if canceller.join().unwrap() == 1 {
            port.post(4).unwrap();
        }
        assert_eq!(taker.join().unwrap(), 2);
        for receiver in receivers {
            receiver.join().unwrap();
        }
        assert_eq!((port.len(), port.waiting()), (0, 0));
    });
}

#[test]
fn a_dispatcher_runs_eight_tasks_that_wait_for_each_other_and_ends() {
    explore(500, || {
        let dispatcher = Builder::new().threads(2).idle(Idle::SLEEP).start().unwrap();
        let ring: Vec<Port<usize>> = (0..8).map(|_| Port::new()).collect();
        let tasks = (0..8)
            .map(|i| {
                let (own, next) = (ring[i].clone(), ring[(i + 1) % 8].clone());
                dispatcher.spawn(async move {
                    let item = own.receive().await.unwrap();
                    if item < 15 {
                        next.post(item + 1).unwrap();
                    }
                    item
                })
            })
            .collect();
        ring[0].post(8).unwrap();
        let seen: Vec<usize> = block_on(all(tasks)).into_iter().map(Result::unwrap).collect();
        assert_eq!(seen, [8, 9, 10, 11, 12, 13, 14, 15]);
        assert_eq!(dispatcher.shutdown(Shutdown::Abort).leaked, 0);
    });
}

#[test]
fn a_dispatcher_may_end_at_any_time() {
    explore(500, || {
        let dispatcher = Builder::new().threads(2).idle(Idle::SLEEP).start().unwrap();
        let port = Port::new();
        for _ in 0..4 {
            let port = port.clone();
            dispatcher.spawn(async move { join_all([(&port, 1)]).await }).detach();
        }
        port.post(1).unwrap();
        port.post(2).unwrap();
        drop(dispatcher);
        assert_eq!(port.waiting(), 0);
    });
}

#[test]
fn a_parallel_loop_is_whole_when_it_ends() {
    explore(500, || {
        let dispatcher = Builder::new().threads(2).idle(Idle::SLEEP).start().unwrap();
        let mut parallel = ParallelLoop::new(dispatcher.handle());
        for _ in 0..2 {
            let sum = std::sync::Mutex::new(0);
            parallel.run(0..4, 1, |i| *sum.lock().unwrap() += i);
            assert_eq!(sum.into_inner().unwrap(), 6);
        }
    });
}
