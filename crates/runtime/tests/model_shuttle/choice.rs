//! Choices under every schedule: exactly one branch takes, the items of the other branches stay in place, and every
//! waiter is woken.

use std::future::Future;
use std::pin::pin;
use std::task::{Context, Waker};

use lehr_runtime::{OneOf, Port, ReceiveError, ReceiveErrorKind, block_on, choose, join};
use shuttle::thread;

use super::explore;

#[test]
fn four_choices_over_the_same_ports_take_every_item_once_and_leave_nothing() {
    explore(1500, || {
        let (p, q) = (Port::new(), Port::new());
        let posters: Vec<_> = [&p, &q]
            .into_iter()
            .map(|port: &Port<usize>| {
                let port = port.clone();
                thread::spawn(move || (0..2).for_each(|item| port.post(item).unwrap()))
            })
            .collect();
        let choosers: Vec<_> = (0..4)
            .map(|i| {
                let (p, q) = (p.clone(), q.clone());
                thread::spawn(move || {
                    let choice = choose((p.receive(), q.receive()));
                    match block_on(if i % 2 == 0 { choice } else { choice.fair() }) {
                        OneOf::First(item) => (0, item.unwrap()),
                        OneOf::Second(item) => (1, item.unwrap()),
                    }
                })
            })
            .collect();
        posters.into_iter().for_each(|poster| poster.join().unwrap());
        let mut taken: Vec<_> = choosers.into_iter().map(|chooser| chooser.join().unwrap()).collect();
        taken.sort_unstable();
        assert_eq!(taken, [(0, 0), (0, 1), (1, 0), (1, 1)]);
        assert_eq!((p.len(), q.len(), p.waiting(), q.waiting()), (0, 0, 0, 0));
    });
}

#[test]
fn what_a_choice_leaves_reaches_those_behind_it_in_order() {
    explore(1500, || {
        let (p, q) = (Port::new(), Port::new());
        let chooser = {
            let (p, q) = (p.clone(), q.clone());
            thread::spawn(move || matches!(block_on(choose((p.receive(), q.receive()))), OneOf::Second(_)))
        };
        // There is one consumer, so it sees the items in the order of the port.
        let consumer = {
            let q = q.clone();
            thread::spawn(move || {
                let mut seen = Vec::new();
                while let Ok(item) = block_on(q.receive()) {
                    seen.push(item);
                }
                seen
            })
        };
        let poster = {
            let p = p.clone();
            thread::spawn(move || p.post(0).unwrap())
        };
        (0..3).for_each(|item| q.post(item).unwrap());
        poster.join().unwrap();
        let took = chooser.join().unwrap();
        q.close();
        let mut seen = consumer.join().unwrap();
        assert_eq!(seen.len() + usize::from(took), 3);
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len() + usize::from(took), 3, "nothing came twice");
        assert_eq!((q.len(), q.waiting(), p.waiting()), (0, 0, 0));
        assert_eq!(p.len(), usize::from(took));
    });
}

#[test]
fn joins_as_branches_compete_with_joins_and_cancellations() {
    explore(1500, || {
        let ports: [Port<usize>; 3] = std::array::from_fn(|_| Port::new());
        let chooser = {
            let [p, q, r] = ports.clone();
            thread::spawn(move || match block_on(choose((join((&q, &p)), join((&r, &q))))) {
                OneOf::First(pair) => pair.is_ok(),
                OneOf::Second(pair) => pair.is_ok(),
            })
        };
        let joiner = {
            let [p, q, _] = ports.clone();
            thread::spawn(move || block_on(join((&p, &q))).is_ok())
        };
        let canceller = {
            let [p, q, r] = ports.clone();
            thread::spawn(move || {
                let mut choice = pin!(choose((q.receive(), join((&p, &r)))));
                let mut context = Context::from_waker(Waker::noop());
                match choice.as_mut().poll(&mut context) {
                    std::task::Poll::Ready(OneOf::First(_)) => [0, 1, 0],
                    std::task::Poll::Ready(OneOf::Second(_)) => [1, 0, 1],
                    std::task::Poll::Pending => [0, 0, 0],
                }
            })
        };
        let posters: Vec<_> = [2, 2, 0]
            .into_iter()
            .zip(&ports)
            .map(|(count, port)| {
                let port = port.clone();
                thread::spawn(move || (0..count).for_each(|item| port.post(item).unwrap()))
            })
            .collect();
        posters.into_iter().for_each(|poster| poster.join().unwrap());
        // Posts new items in place of the items that the cancelled choice took before it was cancelled.
        for (taken, port) in canceller.join().unwrap().into_iter().zip(&ports) {
            (0..taken).for_each(|item| port.post(item).unwrap());
        }
        assert!(chooser.join().unwrap() && joiner.join().unwrap());
        assert!(ports.iter().all(|port| port.is_empty() && port.waiting() == 0));
    });
}

#[test]
fn closing_a_port_ends_a_choice_that_waits_at_it() {
    explore(1500, || {
        let (p, q) = (Port::<u8>::named("p"), Port::<u8>::new());
        let choosers: Vec<_> = (0..2)
            .map(|_| {
                let (p, q) = (p.clone(), q.clone());
                thread::spawn(move || block_on(choose((join((&p, &q)), q.receive()))))
            })
            .collect();
        let closer = {
            let p = p.clone();
            thread::spawn(move || p.close())
        };
        q.post(1).unwrap();
        closer.join().unwrap();
        let closed = Err(ReceiveError::from(ReceiveErrorKind::Closed { port: "port \"p\"".to_owned() }));
        let mut received = 0;
        for chooser in choosers {
            match chooser.join().unwrap() {
                OneOf::First(pair) => assert_eq!(pair, closed),
                OneOf::Second(item) => received += usize::from(item.unwrap()),
            }
        }
        assert_eq!((q.len() + received, p.waiting(), q.waiting()), (1, 0, 0));
    });
}
