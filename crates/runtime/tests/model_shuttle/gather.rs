//! Gathers and exchanges under every schedule: each takes a whole set or nothing, and each is woken, even with
//! cancellations and at a close.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use lehr_runtime::{Port, block_on, exchange, gather};
use shuttle::thread;

use super::explore;

#[test]
fn competing_gathers_over_two_ports_are_all_satisfied() {
    explore(1500, || {
        let (done, failed) = (Port::new(), Port::new());
        let gatherers: Vec<_> = (0..3)
            .map(|i| {
                let (done, failed) = (done.clone(), failed.clone());
                thread::spawn(move || {
                    // The gathers name the ports in both orders.
                    let (a, b) = if i == 0 {
                        block_on(gather((&failed, &done), 3)).unwrap()
                    } else {
                        block_on(gather((&done, &failed), 3)).unwrap()
                    };
                    a.len() + b.len()
                })
            })
            .collect();
        let canceller = {
            let (done, failed) = (done.clone(), failed.clone());
            thread::spawn(move || {
                let mut gathering = pin!(gather((&done, &failed), 2));
                let mut context = Context::from_waker(Waker::noop());
                if gathering.as_mut().poll(&mut context).is_ready() { 2 } else { 0 }
            })
        };
        let poster = {
            let done = done.clone();
            thread::spawn(move || (0..5).for_each(|item| done.post(item).unwrap()))
        };
        (0..4).for_each(|item| failed.post(item).unwrap());
        (0..canceller.join().unwrap()).for_each(|item| failed.post(item).unwrap());
        poster.join().unwrap();
        for gatherer in gatherers {
            assert_eq!(gatherer.join().unwrap(), 3);
        }
        assert_eq!((done.len() + failed.len(), done.waiting(), failed.waiting()), (0, 0, 0));
    });
}

#[test]
fn gathers_with_options_takes_and_receives_share_a_port() {
    explore(1500, || {
        let answers = Port::<Result<usize, usize>>::new();
        let fast = {
            let answers = answers.clone();
            thread::spawn(move || block_on(gather(&answers, 4).fail_fast()).map_or(0, |(a, b)| a.len() + b.len()))
        };
        let first = {
            let answers = answers.clone();
            thread::spawn(move || block_on(gather(&answers, 4).first(1)).map_or(0, |(a, b)| a.len() + b.len()))
        };
        let taker = {
            let answers = answers.clone();
            thread::spawn(move || block_on(answers.take(2)).map_or(0, |items| items.len()))
        };
        let receiver = {
            let answers = answers.clone();
            thread::spawn(move || usize::from(block_on(answers.receive_if(Result::is_err)).is_ok()))
        };
        for item in 0..6 {
            answers.post(if item % 2 == 0 { Ok(item) } else { Err(item) }).unwrap();
        }
        answers.close();
        let taken: usize = [fast, first, taker, receiver].into_iter().map(|thread| thread.join().unwrap()).sum();
        assert_eq!((taken + answers.len(), answers.waiting()), (6, 0));
    });
}

#[test]
fn competing_exchanges_and_a_cancelled_one_take_whole_sets() {
    explore(1500, || {
        let port = Port::new();
        let takers: Vec<_> = (0..2)
            .map(|i| {
                let port = port.clone();
                thread::spawn(move || {
                    let sources = if i == 0 { [0, 1] } else { [1, 0] };
                    let set = block_on(exchange(&port, sources)).unwrap();
                    if i == 0 { set } else { [set[1], set[0]] }
                })
            })
            .collect();
        let canceller = {
            let port = port.clone();
            thread::spawn(move || {
                let mut exchange = pin!(exchange(&port, [0, 1]));
                let mut context = Context::from_waker(Waker::noop());
                usize::from(exchange.as_mut().poll(&mut context).is_ready())
            })
        };
        let posters: Vec<_> = (0..2)
            .map(|source: usize| {
                let port = port.clone();
                thread::spawn(move || (0..2).for_each(|item| port.post((source, item)).unwrap()))
            })
            .collect();
        posters.into_iter().for_each(|poster| poster.join().unwrap());
        if canceller.join().unwrap() == 1 {
            [(0, 2), (1, 2)].into_iter().for_each(|item| port.post(item).unwrap());
        }
        let sets: Vec<[usize; 2]> = takers.into_iter().map(|taker| taker.join().unwrap()).collect();
        assert!(sets[0][0] != sets[1][0] && sets[0][1] != sets[1][1]);
        assert_eq!((port.len(), port.waiting()), (0, 0));
    });
}

#[test]
fn a_ring_of_four_ranks_keeps_its_stages_apart() {
    explore(500, || {
        let ports: Vec<Port<(usize, usize)>> = (0..4).map(|_| Port::new()).collect();
        let ranks: Vec<_> = (0..4)
            .map(|rank| {
                let ports = ports.clone();
                thread::spawn(move || {
                    let (left, right) = ((rank + 3) % 4, (rank + 1) % 4);
                    let mut neighbours = exchange(&ports[rank], [left, right]);
                    for stage in 0..3 {
                        ports[left].post((rank, stage)).unwrap();
                        ports[right].post((rank, stage)).unwrap();
                        assert_eq!(block_on(&mut neighbours), Ok([stage, stage]));
                    }
                })
            })
            .collect();
        ranks.into_iter().for_each(|rank| rank.join().unwrap());
        assert!(ports.iter().all(|port| port.is_empty() && port.waiting() == 0));
    });
}

#[test]
fn a_close_ends_every_gather_and_exchange_that_waits() {
    explore(1500, || {
        let answers = Port::<Result<usize, usize>>::new();
        let pairs = Port::<(usize, usize)>::new();
        let waiters: Vec<_> = (0..4)
            .map(|i| {
                let (answers, pairs) = (answers.clone(), pairs.clone());
                thread::spawn(move || match i {
                    0 => block_on(gather(&answers, 2)).is_err(),
                    1 => block_on(gather(&answers, 3).fail_fast()).is_err(),
                    _ => block_on(exchange(&pairs, [0, 1])).is_err(),
                })
            })
            .collect();
        let closer = {
            let (answers, pairs) = (answers.clone(), pairs.clone());
            thread::spawn(move || [answers.close(), pairs.close()])
        };
        let _ = answers.post(Ok(1));
        let _ = pairs.post((0, 1));
        closer.join().unwrap();
        assert!(waiters.into_iter().all(|waiter| waiter.join().unwrap()));
        assert_eq!((answers.waiting(), pairs.waiting()), (0, 0));
    });
}
