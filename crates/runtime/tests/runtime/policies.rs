//! Behaviour of every port, whatever its options: the tests of this file run on a port of each kind.

use std::pin::pin;
use std::task::Poll;

use lehr_runtime::{
    Dispatcher, Overflow, Port, PortBuilder, Reason, ReceiveError, ReceiveErrorKind, all, block_on, join, yield_now,
};

use crate::{on_each, poll_once};

/// Calls a test with a new port of each kind, all with room for `capacity` items.
fn on_each_kind<T: Send + 'static>(capacity: usize, test: impl Fn(&Port<T>)) {
    test(&Port::named("kind"));
    for overflow in [Overflow::Wait, Overflow::Reject, Overflow::DropOldest, Overflow::DropNewest] {
        let bounded = || Port::builder().name("kind").capacity(capacity, overflow);
        let with_sink = |builder: PortBuilder<T>| {
            builder.on_discard(|lost| panic!("there is room for every item: {:?}", lost.reason)).measure_age().build()
        };
        test(&bounded().build());
        test(&with_sink(bounded()));
        test(&with_sink(bounded().fair()));
    }
}

/// Like [`on_each_kind`], with each number of workers.
fn on_each_kind_and_pool<T: Send + 'static>(capacity: usize, test: impl Fn(&Dispatcher, &Port<T>)) {
    on_each(|dispatcher| on_each_kind(capacity, |port| test(dispatcher, port)));
}

// Catalogue: 1, 2
#[test]
fn items_stay_in_order_for_whoever_comes() {
    on_each_kind_and_pool(3, |dispatcher, port| {
        (1..=3).for_each(|i| port.post(i).unwrap());
        assert_eq!(port.len(), 3);
        assert!(poll_once(pin!(port.receive_if(|_| false))).is_pending());
        assert_eq!(block_on(port.receive()), Ok(1));
        assert_eq!(port.len(), 2);
        let seen = Port::new();
        let out = seen.clone();
        let receiver = port.on(dispatcher.handle(), 1, move |item| {
            out.post(item).unwrap();
            std::future::ready(())
        });
        assert_eq!(block_on(seen.take(2)), Ok(vec![2, 3]));
        assert!(port.is_empty());
        drop(receiver);
    });
}

// Catalogue: 2, 4
#[test]
fn what_a_persistent_receiver_refuses_stays_in_order() {
    on_each_kind_and_pool(10, |dispatcher, port| {
        (1..=3).for_each(|i| port.post(i).unwrap());
        let (seen, all_refused) = (Port::new(), |_: &i32| false);
        let out = seen.clone();
        let none = port.on_if(dispatcher.handle(), 1, all_refused, |_| async { panic!("it refuses everything") });
        let even = port.on_if(
            dispatcher.handle(),
            1,
            |item| item % 2 == 0,
            move |item| {
                out.post(item).unwrap();
                std::future::ready(())
            },
        );
        assert_eq!(block_on(seen.receive()), Ok(2));
        (4..=7).for_each(|i| port.post(i).unwrap());
        assert_eq!(block_on(seen.take(2)), Ok(vec![4, 6]));
        assert_eq!(port.drain(), [1, 3, 5, 7]);
        drop((none, even));
    });
}

// Catalogue: 5, 6
#[test]
fn posters_keep_their_own_order() {
    const EACH: u32 = 500;
    on_each_kind_and_pool(4 * EACH as usize, |dispatcher, port: &Port<(usize, u32)>| {
        let posters = (0..4)
            .map(|poster| {
                let port = port.clone();
                dispatcher.spawn(async move {
                    for number in 0..EACH {
                        port.post((poster, number)).unwrap();
                        if number % 16 == 0 {
                            yield_now().await;
                        }
                    }
                })
            })
            .collect();
        let mut next = [0; 4];
        for _ in 0..4 * EACH {
            let (poster, number) = block_on(port.receive()).unwrap();
            assert_eq!(number, next[poster]);
            next[poster] += 1;
        }
        assert!(block_on(all(posters)).iter().all(Result::is_ok));
        assert!(port.is_empty());
    });
}

// Catalogue: 9
#[test]
fn a_close_leaves_what_is_there_and_wakes_who_waits() {
    on_each_kind(2, |port| {
        port.post(1).unwrap();
        port.post(2).unwrap();
        port.close();
        let refused = port.post(3).unwrap_err();
        assert_eq!((refused.item, refused.reason), (3, Reason::Closed));
        assert_eq!((block_on(port.receive()), block_on(port.receive())), (Ok(1), Ok(2)));
        let closed = Err(ReceiveError::from(ReceiveErrorKind::Closed { port: "port \"kind\"".to_owned() }));
        assert_eq!(block_on(port.receive()), closed);
        assert!(port.is_drained());
    });
    on_each_kind_and_pool(2, |dispatcher, port: &Port<i32>| {
        let waiting = {
            let port = port.clone();
            dispatcher.spawn(async move { port.receive().await })
        };
        crate::until(|| port.waiting() != 0);
        port.close();
        assert!(matches!(block_on(waiting), Ok(Err(error)) if error.is_closed()));
    });
}

// Catalogue: 10
#[test]
fn memory_goes_back_after_a_burst() {
    on_each_kind(100_000, |port| {
        (0..100_000_u32).for_each(|i| port.post(i).unwrap());
        assert!(port.allocated() >= 100_000);
        while port.try_receive().is_some() {}
        assert!(port.allocated() <= 64, "{}", port.allocated());
    });
}

// Catalogue: 17
#[test]
fn the_count_never_hides_an_item_that_nobody_has() {
    on_each_kind(4, |port| {
        let (left, right) = (Port::new(), Port::new());
        let (mut first, mut second) = (pin!(join((port, &left))), pin!(join((port, &right))));
        assert!(poll_once(first.as_mut()).is_pending() && poll_once(second.as_mut()).is_pending());
        left.post('l').unwrap();
        right.post('r').unwrap();
        port.post(1).unwrap();
        // Both joins have been woken; the item stays in the port until one of them takes it.
        assert_eq!((port.len(), left.len(), right.len()), (1, 1, 1));
        assert_eq!(poll_once(second.as_mut()), Poll::Ready(Ok((1, 'r'))));
        assert_eq!((port.len(), left.len(), right.len()), (0, 1, 0));
        assert!(poll_once(first.as_mut()).is_pending());
        // An item that is offered to a receiver is counted until it is fetched.
        let mut receive = pin!(port.receive());
        assert!(poll_once(receive.as_mut()).is_pending());
        port.post(2).unwrap();
        assert_eq!((port.len(), port.gauges().len), (1, 1));
        assert_eq!(poll_once(receive), Poll::Ready(Ok(2)));
        port.post(3).unwrap();
        assert_eq!(poll_once(first), Poll::Ready(Ok((3, 'l'))));
        assert_eq!((port.len(), port.waiting()), (0, 0));
    });
}

// Catalogue: 19
#[test]
fn a_panic_of_a_predicate_names_the_port_and_costs_no_item() {
    on_each_kind(4, |port| {
        let picky = |item: &i32| if *item == 13 { panic!("no thirteens") } else { true };
        let mut waiting = pin!(port.receive_if(picky));
        assert!(poll_once(waiting.as_mut()).is_pending());
        port.post(13).unwrap();
        let expected = ReceiveError::from(ReceiveErrorKind::Predicate {
            port: "port \"kind\"".to_owned(),
            message: "no thirteens".to_owned(),
        });
        assert_eq!(poll_once(waiting.as_mut()), Poll::Ready(Err(expected)));
        port.post(14).unwrap();
        assert_eq!(block_on(port.receive_if(|item| *item != 13)), Ok(14));
        assert_eq!(block_on(port.receive()), Ok(13));
    });
}

// Catalogue: 20
#[test]
fn a_limit_of_one_keeps_turns_apart() {
    on_each_kind_and_pool(10, |dispatcher, port| {
        let (token, seen) = (Port::new(), Port::new());
        token.post(()).unwrap();
        let (own, out) = (token.clone(), seen.clone());
        let receiver = port.on(dispatcher.handle(), 1, move |item: u32| {
            let (token, out) = (own.clone(), out.clone());
            async move {
                token.try_receive().expect("no other turn of the handler holds the token");
                yield_now().await;
                token.post(()).unwrap();
                out.post(item).unwrap();
            }
        });
        (0..10).for_each(|i| port.post(i).unwrap());
        assert!(block_on(seen.take(10)).unwrap().into_iter().eq(0..10));
        drop(receiver);
    });
}

// Catalogue: 21
#[test]
fn a_receive_that_is_dropped_takes_nothing() {
    on_each_kind(3, |port| {
        let (mut first, mut second) = (Box::pin(port.receive()), Box::pin(port.receive()));
        assert!(poll_once(first.as_mut()).is_pending() && poll_once(second.as_mut()).is_pending());
        port.post(1).unwrap();
        port.post(2).unwrap();
        // The first receiver is dropped between the offer and the fetch.
        drop(first);
        assert_eq!(poll_once(second.as_mut()), Poll::Ready(Ok(1)));
        drop(second);
        assert_eq!((port.len(), port.waiting(), port.try_receive()), (1, 0, Some(2)));
    });
}
