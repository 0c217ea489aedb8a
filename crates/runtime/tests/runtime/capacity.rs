use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use lehr_runtime::{Discard, DiscardedItem, Overflow, Port, PostError, Reason, all, block_on, join};

use crate::{on_each, poll_once};

const POLICIES: [Overflow; 4] = [Overflow::Wait, Overflow::Reject, Overflow::DropOldest, Overflow::DropNewest];

/// Returns a full port with two places, which holds 1 and 2, and the port that gets the items that the full port gives
/// up.
fn full(overflow: Overflow) -> (Port<i32>, Port<(i32, Discard)>) {
    let lost = Port::new();
    let out = lost.clone();
    let sink = move |DiscardedItem { item, reason }| out.post((item, reason)).unwrap();
    let port = Port::builder().capacity(2, overflow).on_discard(sink).build();
    port.post(1).unwrap();
    port.post(2).unwrap();
    (port, lost)
}

// Catalogue: 7
#[test]
fn a_third_item_is_refused_or_reported_by_the_policy() {
    for overflow in [Overflow::Reject, Overflow::Wait] {
        let (port, lost) = full(overflow);
        assert_eq!(port.post(3), Err(PostError { item: 3, reason: Reason::Full }));
        assert_eq!((port.drain(), lost.len(), port.gauges().discarded), (vec![1, 2], 0, 0));
    }
    let (port, lost) = full(Overflow::DropOldest);
    port.post(3).unwrap();
    assert_eq!((lost.drain(), port.gauges().discarded), (vec![(1, Discard::Oldest)], 1));
    assert_eq!(port.drain(), [2, 3]);
    let (port, lost) = full(Overflow::DropNewest);
    port.post(3).unwrap();
    assert_eq!((lost.drain(), port.gauges().discarded), (vec![(3, Discard::Newest)], 1));
    assert_eq!(port.drain(), [1, 2]);
}

// Catalogue: 7
#[test]
fn a_post_that_waits_ends_only_after_a_take() {
    let (port, _lost) = full(Overflow::Wait);
    let mut third = pin!(port.post_wait(3));
    assert!(poll_once(third.as_mut()).is_pending());
    assert!(poll_once(third.as_mut()).is_pending(), "polling it again changes nothing");
    assert_eq!((port.len(), port.gauges().posters_waiting), (2, 1));
    assert_eq!(port.try_receive(), Some(1));
    // The place that became free is kept for the waiting post.
    assert_eq!(port.post(9).unwrap_err().reason, Reason::Full);
    assert_eq!(poll_once(third), Poll::Ready(Ok(())));
    assert_eq!(port.drain(), [2, 3]);
}

// Catalogue: 7
#[test]
fn posts_that_do_not_wait_act_at_once_by_their_policy() {
    for overflow in POLICIES {
        let (port, _lost) = full(overflow);
        let outcome = poll_once(pin!(port.post_wait(3)));
        match overflow {
            Overflow::Wait => assert!(outcome.is_pending()),
            Overflow::Reject => assert_eq!(outcome, Poll::Ready(Err(PostError { item: 3, reason: Reason::Full }))),
            Overflow::DropOldest | Overflow::DropNewest => assert_eq!(outcome, Poll::Ready(Ok(()))),
        }
        assert_eq!(port.len(), 2, "never more than the capacity");
    }
    let plain = Port::new();
    assert_eq!(poll_once(pin!(plain.post_wait(1))), Poll::Ready(Ok(())));
}

// Catalogue: 7
#[test]
fn every_way_out_of_a_port_lets_the_next_poster_in() {
    type Out = fn(&Port<i32>, &Port<i32>);
    let ways: [Out; 7] = [
        |port, _| assert_eq!(port.try_receive(), Some(1)),
        |port, _| assert_eq!(block_on(port.receive()), Ok(1)),
        |port, _| assert_eq!(block_on(port.receive_if(|item| *item == 2)), Ok(2)),
        |port, _| assert_eq!(block_on(port.take(2)), Ok(vec![1, 2])),
        |port, other| assert_eq!(block_on(join((port, other))), Ok((1, 7))),
        |port, other| assert_eq!(block_on(lehr_runtime::join_all([port, other])), Ok(vec![1, 7])),
        |port, _| assert_eq!(port.drain(), [1, 2]),
    ];
    for way in ways {
        let (port, _lost) = full(Overflow::Wait);
        let other = Port::new();
        other.post(7).unwrap();
        let mut third = pin!(port.post_wait(3));
        assert!(poll_once(third.as_mut()).is_pending());
        way(&port, &other);
        assert_eq!(poll_once(third), Poll::Ready(Ok(())));
    }
}

// Catalogue: 7
#[test]
fn the_oldest_item_makes_place_even_on_its_way_to_a_receiver() {
    let (port, lost) = full(Overflow::DropOldest);
    port.drain();
    let mut receive = pin!(port.receive());
    assert!(poll_once(receive.as_mut()).is_pending());
    // 4 is offered to the receiver, and given up before it is fetched; then the next item is offered to the receiver.
    (4..=6).for_each(|i| port.post(i).unwrap());
    assert_eq!(lost.drain(), [(4, Discard::Oldest)]);
    assert_eq!(poll_once(receive), Poll::Ready(Ok(5)));
    assert_eq!(port.drain(), [6]);
}

// Catalogue: 8
#[test]
fn a_dropped_post_has_posted_nothing_and_gives_its_turn_to_the_next() {
    let value = Arc::new(());
    let port = Port::bounded(1, Overflow::Wait);
    port.post(value.clone()).unwrap();
    let mut first = Box::pin(port.post_wait(value.clone()));
    let mut second = Box::pin(port.post_wait(value.clone()));
    let mut third = Box::pin(port.post_wait(value.clone()));
    for post in [&mut first, &mut second, &mut third] {
        assert!(poll_once(post.as_mut()).is_pending());
    }
    assert_eq!(Arc::strong_count(&value), 5);
    // The post is dropped while it waits.
    drop(second);
    assert_eq!((Arc::strong_count(&value), port.len()), (4, 1));
    // The post is dropped after it was granted a place, and before it has taken the place.
    drop(port.try_receive());
    drop(first);
    assert_eq!((Arc::strong_count(&value), port.len()), (2, 0));
    assert_eq!(poll_once(third.as_mut()), Poll::Ready(Ok(())));
    drop(third);
    assert_eq!((Arc::strong_count(&value), port.len(), port.gauges().posters_waiting), (2, 1, 0));
    // The item is given back instead of being dropped.
    let mut fourth = port.post_wait(value.clone());
    assert!(poll_once(std::pin::Pin::new(&mut fourth)).is_pending());
    assert!(fourth.into_item().is_some());
    assert_eq!((Arc::strong_count(&value), port.gauges().posters_waiting), (2, 0));
}

#[test]
fn permits_count_and_an_unused_one_lets_the_next_in() {
    let port = Port::bounded(2, Overflow::Wait);
    let first = block_on(port.reserve()).unwrap();
    let second = port.try_reserve().unwrap();
    assert_eq!((port.len(), port.gauges().permits), (0, 2));
    assert_eq!(port.post(0).unwrap_err().reason, Reason::Full);
    let (mut third, mut fourth) = (pin!(port.reserve()), pin!(port.post_wait(4)));
    assert!(poll_once(third.as_mut()).is_pending() && poll_once(fourth.as_mut()).is_pending());
    drop(first);
    let Poll::Ready(Ok(third)) = poll_once(third) else { panic!("the place goes to the next in order") };
    assert!(poll_once(fourth.as_mut()).is_pending());
    second.post(2);
    third.post(3);
    assert_eq!((port.len(), port.gauges().permits), (2, 0));
    assert_eq!(port.try_receive(), Some(2));
    assert_eq!(poll_once(fourth), Poll::Ready(Ok(())));
    assert_eq!(port.drain(), [3, 4]);
}

#[test]
fn a_permit_for_a_full_port_follows_the_policy() {
    let (port, lost) = full(Overflow::DropOldest);
    let permits = [port.try_reserve().unwrap(), port.try_reserve().unwrap()];
    assert_eq!(lost.drain(), [(1, Discard::Oldest), (2, Discard::Oldest)]);
    // Only permits are left, and permits are not given up.
    assert_eq!(port.try_reserve().unwrap_err(), Reason::Full);
    assert_eq!(port.post(3), Err(PostError { item: 3, reason: Reason::Full }));
    drop(permits);
    for overflow in [Overflow::Reject, Overflow::DropNewest] {
        let (port, _lost) = full(overflow);
        assert_eq!(block_on(port.reserve()).unwrap_err(), Reason::Full);
    }
    let plain = Port::new();
    plain.try_reserve().unwrap().post(1);
    assert_eq!((plain.len(), plain.gauges().permits), (1, 0));
}

// Catalogue: 9
#[test]
fn a_close_refuses_those_who_wait_and_honours_permits() {
    let port = Port::bounded(1, Overflow::Wait);
    let permit = port.try_reserve().unwrap();
    let (mut post, mut reserve) = (pin!(port.post_wait(2)), pin!(port.reserve()));
    assert!(poll_once(post.as_mut()).is_pending() && poll_once(reserve.as_mut()).is_pending());
    let mut receive = pin!(port.receive());
    assert!(poll_once(receive.as_mut()).is_pending());
    port.close();
    assert!(port.is_closed() && !port.is_drained());
    assert_eq!(poll_once(post), Poll::Ready(Err(PostError { item: 2, reason: Reason::Closed })));
    assert!(matches!(poll_once(reserve), Poll::Ready(Err(Reason::Closed))));
    assert_eq!(port.post(3), Err(PostError { item: 3, reason: Reason::Closed }));
    assert!(port.try_reserve().is_err_and(|reason| reason == Reason::Closed));
    // The permit may still bring an item, so the receive waits for it.
    assert!(poll_once(receive.as_mut()).is_pending());
    permit.post(1);
    assert_eq!(poll_once(receive), Poll::Ready(Ok(1)));
    assert!(port.is_drained());
    assert!(matches!(block_on(port.receive()), Err(error) if error.is_closed()));
}

// Catalogue: 9
#[test]
fn a_permit_dropped_after_the_close_ends_the_port() {
    let port = Port::<u8>::bounded(1, Overflow::Wait);
    let permit = port.try_reserve().unwrap();
    port.close();
    let (mut receive, mut end) = (pin!(port.receive()), pin!(port.drained()));
    assert!(poll_once(receive.as_mut()).is_pending() && poll_once(end.as_mut()).is_pending());
    drop(permit);
    assert!(matches!(poll_once(receive), Poll::Ready(Err(error)) if error.is_closed()));
    assert!(poll_once(end).is_ready());
}

// Catalogue: 9
#[test]
fn a_granted_place_is_revoked_by_a_close() {
    let (port, _lost) = full(Overflow::Wait);
    let mut third = pin!(port.post_wait(3));
    assert!(poll_once(third.as_mut()).is_pending());
    assert_eq!(port.drain(), [1, 2]);
    port.close();
    assert!(port.is_drained(), "nothing is on its way any more");
    assert_eq!(poll_once(third), Poll::Ready(Err(PostError { item: 3, reason: Reason::Closed })));
}

#[test]
fn waiting_for_the_end_of_a_port_ends_with_its_last_item() {
    on_each(|dispatcher| {
        let port = Port::new();
        (0..3).for_each(|i| port.post(i).unwrap());
        let waiting = {
            let port = port.clone();
            dispatcher.spawn(async move { port.drained().await })
        };
        port.close();
        let mut seen = Vec::new();
        while let Ok(item) = block_on(port.receive()) {
            assert!(!waiting.is_finished() || item == 2);
            seen.push(item);
        }
        assert_eq!(block_on(waiting), Ok(()));
        assert_eq!(seen, [0, 1, 2]);
    });
}

#[test]
fn a_drain_leaves_receivers_at_their_places() {
    let port = Port::new();
    let (mut first, mut second) = (pin!(port.receive()), pin!(port.receive()));
    assert!(poll_once(first.as_mut()).is_pending() && poll_once(second.as_mut()).is_pending());
    (1..=3).for_each(|i| port.post(i).unwrap());
    assert_eq!(port.drain(), [1, 2, 3]);
    assert!(poll_once(first.as_mut()).is_pending() && poll_once(second.as_mut()).is_pending());
    (4..=5).for_each(|i| port.post(i).unwrap());
    assert_eq!((poll_once(first), poll_once(second)), (Poll::Ready(Ok(4)), Poll::Ready(Ok(5))));
}

#[test]
fn items_left_in_an_abandoned_port_are_reported() {
    let lost = Port::new();
    let port = Port::builder().discard_to(&lost).build();
    port.post("for nobody").unwrap();
    drop(port);
    assert_eq!(
        lost.drain().into_iter().map(|lost| (lost.item, lost.reason)).collect::<Vec<_>>(),
        [("for nobody", Discard::Abandoned)]
    );
}

#[test]
fn the_age_of_the_oldest_item_is_measured_where_it_was_asked_for() {
    let plain = Port::new();
    plain.post(0).unwrap();
    assert_eq!(plain.gauges().age_of_oldest, None);
    let port = Port::builder().measure_age().build();
    assert_eq!(port.gauges().age_of_oldest, None);
    let before = std::time::Instant::now();
    port.post(0).unwrap();
    let posted = std::time::Instant::now();
    // One item stays while many items overtake it. The list of arrival times does not grow, and the age of the oldest
    // item is the age of the item that stays.
    for i in 1..1000 {
        port.post(i).unwrap();
        assert_eq!(block_on(port.receive_if(|item| *item != 0)), Ok(i));
    }
    let at_least = posted.elapsed();
    let age = port.gauges().age_of_oldest.unwrap();
    let at_most = before.elapsed();
    assert!(at_least <= age && age <= at_most, "{at_least:?} {age:?} {at_most:?}");
    port.post(1000).unwrap();
    assert_eq!(port.try_receive(), Some(0));
    let younger = port.gauges().age_of_oldest.unwrap();
    assert!(younger <= before.elapsed() && port.gauges().len == 1);
}

#[test]
fn every_item_that_was_accepted_is_received_discarded_or_here() {
    for overflow in POLICIES {
        on_each(|dispatcher| {
            let lost = Port::new();
            let port = Port::builder().capacity(3, overflow).discard_to(&lost).build();
            let posters = (0..4_u64)
                .map(|poster| {
                    let port = port.clone();
                    dispatcher.spawn(async move {
                        let mut refused = Vec::new();
                        for i in 0..500 {
                            let item = poster * 1000 + i;
                            match i % 3 {
                                0 => refused.extend(port.post(item).err().map(|error| error.item)),
                                1 => refused.extend(port.post_wait(item).await.err().map(|error| error.item)),
                                _ => match port.reserve().await {
                                    Ok(permit) => permit.post(item),
                                    Err(_) => refused.push(item),
                                },
                            }
                        }
                        refused
                    })
                })
                .collect();
            let consumer = {
                let port = port.clone();
                dispatcher.spawn(async move {
                    let mut seen = Vec::new();
                    while let Ok(item) = port.receive().await {
                        seen.push(item);
                        // Some receives are dropped after their first poll.
                        let mut given_up = Box::pin(port.receive());
                        if let Poll::Ready(Ok(item)) = poll_once(given_up.as_mut()) {
                            seen.push(item);
                        }
                    }
                    seen
                })
            };
            let refused: Vec<u64> = block_on(all(posters)).into_iter().flat_map(Result::unwrap).collect();
            port.close();
            let seen = block_on(consumer).unwrap();
            let given_up: Vec<u64> = lost.drain().into_iter().map(|lost| lost.item).collect();
            let gauges = port.gauges();
            assert_eq!((gauges.len, gauges.permits, gauges.posters_waiting), (0, 0, 0));
            assert_eq!((gauges.received, gauges.discarded), (seen.len() as u64, given_up.len() as u64));
            assert_eq!(gauges.posted, gauges.received + gauges.discarded);
            let mut every: Vec<u64> = refused.into_iter().chain(seen).chain(given_up).collect();
            every.sort_unstable();
            assert!(every.into_iter().eq((0..4).flat_map(|poster| (0..500).map(move |i| poster * 1000 + i))));
        });
    }
}

// Catalogue: 3
#[test]
fn receivers_of_a_fair_port_take_turns() {
    on_each(|dispatcher| {
        let (port, seen) = (Port::builder().fair().build(), Port::new());
        let receivers = ["first", "second"].map(|name| {
            let out = seen.clone();
            let receiver = port.on(dispatcher.handle(), 1, move |item: u32| {
                out.post((name, item)).unwrap();
                std::future::ready(())
            });
            crate::until(|| port.waiting() != usize::from(name == "second"));
            receiver
        });
        for item in 0..10 {
            port.post(item).unwrap();
            let turn = if item % 2 == 0 { "first" } else { "second" };
            assert_eq!(block_on(seen.receive()), Ok((turn, item)));
            crate::until(|| port.waiting() >= 2);
        }
        drop(receivers);
    });
}

#[test]
#[should_panic(expected = "a port without a place would never take an item")]
fn a_port_without_places_is_refused() {
    let _ = Port::<u8>::bounded(0, Overflow::Wait);
}
