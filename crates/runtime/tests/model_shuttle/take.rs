//! Takes that are woken only as far as there are items: every take is woken in the end, whatever is stolen or cancelled
//! in between.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use lehr_runtime::{Port, block_on, join};
use shuttle::thread;

use super::explore;

#[test]
fn takes_of_different_sizes_are_all_served_beside_a_thief_and_a_cancellation() {
    explore(2000, || {
        let port = Port::new();
        let takers: Vec<_> = [3, 2, 1, 1]
            .into_iter()
            .map(|count| {
                let port = port.clone();
                thread::spawn(move || block_on(port.take(count)).unwrap().len())
            })
            .collect();
        let thief = {
            let port = port.clone();
            thread::spawn(move || usize::from(port.try_receive().is_some()))
        };
        let canceller = {
            let port = port.clone();
            thread::spawn(move || {
                let mut take = pin!(port.take(2));
                let mut context = Context::from_waker(Waker::noop());
                if take.as_mut().poll(&mut context).is_ready() { 2 } else { 0 }
            })
        };
        (0..7).for_each(|item| port.post(item).unwrap());
        let missing = thief.join().unwrap() + canceller.join().unwrap();
        (0..missing).for_each(|item| port.post(item).unwrap());
        assert_eq!(takers.into_iter().map(|taker| taker.join().unwrap()).sum::<usize>(), 7);
        assert_eq!((port.len(), port.waiting()), (0, 0));
    });
}

#[test]
fn joins_that_give_each_other_turns_all_get_on() {
    explore(1000, || {
        let ports: [Port<usize>; 3] = std::array::from_fn(|_| Port::new());
        let consumers: Vec<_> = (0..2)
            .map(|i| {
                let (a, b) = (ports[i].clone(), ports[i + 1].clone());
                thread::spawn(move || (0..4).for_each(|_| assert!(block_on(join((&a, &b))).is_ok())))
            })
            .collect();
        let taker = {
            let q = ports[1].clone();
            thread::spawn(move || (0..2).for_each(|_| assert!(block_on(q.take(2)).is_ok())))
        };
        for (count, port) in [4, 12, 4].into_iter().zip(&ports) {
            (0..count).for_each(|item| port.post(item).unwrap());
        }
        consumers.into_iter().for_each(|consumer| consumer.join().unwrap());
        taker.join().unwrap();
        assert!(ports.iter().all(|port| port.is_empty() && port.waiting() == 0));
    });
}

#[test]
fn what_a_robbed_take_cannot_use_reaches_a_smaller_one() {
    explore(2000, || {
        let port = Port::new();
        let take = |count: usize| {
            let port = port.clone();
            thread::spawn(move || block_on(port.take(count)).unwrap().len())
        };
        let (large, small) = (take(2), take(1));
        let thief = {
            let port = port.clone();
            thread::spawn(move || (0..2).filter(|_| port.try_receive().is_some()).count())
        };
        (0..2).for_each(|item| port.post(item).unwrap());
        let stolen = thief.join().unwrap();
        // If the thief took both items, one item is posted, which is enough for the small take. Otherwise there are
        // three items for both takes.
        let items = if stolen == 1 { 2 } else { 1 };
        (0..items).for_each(|item| port.post(item).unwrap());
        assert_eq!(small.join().unwrap(), 1);
        if stolen == 2 {
            (0..2).for_each(|item| port.post(item).unwrap());
        }
        assert_eq!(large.join().unwrap(), 2);
        assert_eq!((port.len(), port.waiting()), (0, 0));
    });
}
