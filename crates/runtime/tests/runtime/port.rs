use std::collections::VecDeque;

use lehr_runtime::{Port, PostError, Reason, ReceiveError, ReceiveErrorKind, block_on};
use proptest::prelude::*;

use crate::on_each;

// Catalogue: 1
#[test]
fn a_port_without_receivers_keeps_its_items_in_order() {
    let port = Port::new();
    (1..=3).for_each(|i| port.post(i).unwrap());
    assert_eq!(port.len(), 3);
    assert_eq!(block_on(port.receive()), Ok(1));
    assert_eq!(port.len(), 2);
    assert_eq!((port.try_receive(), port.try_receive(), port.try_receive()), (Some(2), Some(3), None));
}

// Catalogue: 5
#[test]
fn one_poster_and_one_receiver_keep_the_posting_order() {
    on_each(|dispatcher| {
        let (left, right, seen) = (Port::new(), Port::new(), Port::new());
        let receivers = [&left, &right].map(|port: &Port<u32>| {
            let seen = seen.clone();
            let side = std::ptr::eq(port, &left);
            port.on(dispatcher.handle(), 1, move |item| {
                seen.post((side, item)).unwrap();
                std::future::ready(())
            })
        });
        for i in 0..1000 {
            left.post(i).unwrap();
            right.post(i).unwrap();
        }
        left.close();
        right.close();
        for receiver in receivers {
            block_on(receiver.ended()).unwrap();
        }
        let all = block_on(seen.take(2000)).unwrap();
        for side in [true, false] {
            assert!(all.iter().filter(|(of, _)| *of == side).map(|(_, item)| *item).eq(0..1000));
        }
    });
}

// Catalogue: 6
#[test]
fn eight_posters_lose_and_repeat_nothing_and_keep_their_own_order() {
    const EACH: u32 = 100_000;
    on_each(|dispatcher| {
        let port = Port::new();
        let consumer = {
            let port = port.clone();
            dispatcher.spawn(async move {
                let mut next = [0; 8];
                for _ in 0..8 * EACH {
                    let (poster, number): (usize, u32) = port.receive().await.unwrap();
                    assert_eq!(number, next[poster]);
                    next[poster] += 1;
                }
                next
            })
        };
        std::thread::scope(|scope| {
            for poster in 0..8 {
                let port = &port;
                scope.spawn(move || (0..EACH).for_each(|number| port.post((poster, number)).unwrap()));
            }
        });
        assert_eq!(block_on(consumer), Ok([EACH; 8]));
        assert!(port.is_empty());
    });
}

// Catalogue: 9
#[test]
fn a_closed_port_gives_out_what_it_has_and_refuses_the_rest() {
    let port = Port::named("gate");
    port.post(1).unwrap();
    port.post(2).unwrap();
    port.close();
    assert!(port.is_closed());
    assert_eq!(port.post(3), Err(PostError { item: 3, reason: Reason::Closed }));
    assert_eq!(block_on(port.receive()), Ok(1));
    assert_eq!(block_on(port.receive()), Ok(2));
    let closed = ReceiveError::from(ReceiveErrorKind::Closed { port: "port \"gate\"".to_owned() });
    assert_eq!(block_on(port.receive()), Err(closed.clone()));
    assert_eq!(block_on(port.take(1)), Err(closed));
}

// Catalogue: 9
#[test]
fn pending_receives_end_when_their_port_closes() {
    on_each(|dispatcher| {
        let port = Port::<u8>::new();
        let waiting = (0..4)
            .map(|i| {
                let port = port.clone();
                dispatcher.spawn(async move {
                    match i % 2 {
                        0 => port.receive().await.map(|_| ()),
                        _ => port.take(2).await.map(|_| ()),
                    }
                })
            })
            .collect();
        crate::until(|| port.waiting() >= 4);
        port.close();
        for outcome in block_on(lehr_runtime::all(waiting)) {
            assert!(matches!(outcome.unwrap(), Err(error) if error.is_closed()));
        }
        assert_eq!(port.waiting(), 0);
    });
}

// Catalogue: 10
#[test]
fn a_port_gives_its_memory_back_after_a_burst() {
    let port = Port::new();
    (0..1_000_000_u32).for_each(|i| port.post(i).unwrap());
    assert!(port.allocated() >= 1_000_000);
    while port.try_receive().is_some() {}
    assert!(port.allocated() <= 64, "{}", port.allocated());
    let other = Port::new();
    (0..100_000_u32).for_each(|i| other.post(i).unwrap());
    block_on(other.take(100_000)).unwrap();
    assert!(other.allocated() <= 64, "{}", other.allocated());
}

#[test]
fn identities_and_names_tell_ports_apart() {
    let (first, second) = (Port::<()>::new(), Port::<()>::new());
    assert_ne!(first.name(), second.name());
    assert_eq!(Port::<()>::named("in").name(), "port \"in\"");
    assert_eq!(first.clone().name(), first.name());
}

#[derive(Clone, Debug)]
enum Step {
    Post(u8),
    TryReceive,
    Receive,
    ReceiveOdd,
    Take(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => any::<u8>().prop_map(Step::Post),
        1 => Just(Step::TryReceive),
        1 => Just(Step::Receive),
        1 => Just(Step::ReceiveOdd),
        1 => (0_usize..4).prop_map(Step::Take),
    ]
}

proptest! {
    #[test]
    fn any_sequence_of_operations_equals_a_simple_queue(steps in prop::collection::vec(step(), 0..60)) {
        let port = Port::new();
        let mut model = VecDeque::new();
        for step in steps {
            match step {
                Step::Post(item) => {
                    port.post(item).unwrap();
                    model.push_back(item);
                }
                Step::TryReceive => prop_assert_eq!(port.try_receive(), model.pop_front()),
                Step::Receive => {
                    let ready = crate::poll_once(std::pin::pin!(port.receive()));
                    prop_assert_eq!(ready.map(Result::ok).is_ready(), !model.is_empty());
                    model.pop_front();
                }
                Step::ReceiveOdd => {
                    let ready = crate::poll_once(std::pin::pin!(port.receive_if(|item| item % 2 == 1)));
                    let expected = model.iter().position(|item| item % 2 == 1).and_then(|place| model.remove(place));
                    match expected {
                        Some(item) => prop_assert_eq!(ready, std::task::Poll::Ready(Ok(item))),
                        None => prop_assert!(ready.is_pending()),
                    }
                }
                Step::Take(count) => {
                    let ready = crate::poll_once(std::pin::pin!(port.take(count)));
                    if model.len() >= count {
                        let items: Vec<u8> = model.drain(..count).collect();
                        prop_assert_eq!(ready, std::task::Poll::Ready(Ok(items)));
                    } else {
                        prop_assert!(ready.is_pending());
                    }
                }
            }
            prop_assert_eq!(port.len(), model.len());
            prop_assert_eq!(port.waiting(), 0, "what was dropped has left");
        }
    }
}
