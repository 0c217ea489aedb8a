use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use lehr_runtime::{Builder, Port, ReceiveError, ReceiveErrorKind, all, block_on, join, join_all};

use crate::{Wakes, on_each, poll_once};

// Catalogue: 22
#[test]
fn a_join_takes_nothing_until_it_can_take_all() {
    let (p, q) = (Port::new(), Port::new());
    let mut both = pin!(join((&p, &q)));
    p.post(1).unwrap();
    p.post(2).unwrap();
    assert!(poll_once(both.as_mut()).is_pending());
    assert_eq!((p.len(), q.len()), (2, 0));
    q.post("a").unwrap();
    assert_eq!(poll_once(both.as_mut()), Poll::Ready(Ok((1, "a"))));
    assert_eq!((p.len(), q.len(), p.waiting(), q.waiting()), (1, 0, 0, 0));
}

#[test]
fn the_loser_of_a_race_keeps_its_items() {
    let (p, q, r) = (Port::new(), Port::new(), Port::new());
    let (mut pq, mut qr) = (pin!(join((&p, &q))), pin!(join((&q, &r))));
    assert!(poll_once(pq.as_mut()).is_pending() && poll_once(qr.as_mut()).is_pending());
    p.post(1).unwrap();
    r.post(3).unwrap();
    q.post(2).unwrap();
    // Both joins can be satisfied; the join that looks first takes its items.
    assert_eq!(poll_once(qr.as_mut()), Poll::Ready(Ok((2, 3))));
    assert!(poll_once(pq.as_mut()).is_pending());
    assert_eq!((p.len(), q.len()), (1, 0));
    q.post(4).unwrap();
    assert_eq!(poll_once(pq.as_mut()), Poll::Ready(Ok((1, 4))));
}

// Catalogue: 17
#[test]
fn of_two_joins_made_ready_by_one_post_one_takes_and_the_other_waits_on() {
    on_each(|dispatcher| {
        for _ in 0..300 {
            let ports: [Port<u32>; 3] = std::array::from_fn(|_| Port::new());
            let [p, q, r] = &ports;
            let spawn = |a: &Port<u32>, b: &Port<u32>| {
                let (a, b) = (a.clone(), b.clone());
                dispatcher.spawn(async move { join((&a, &b)).await })
            };
            let (first, second) = (spawn(p, q), spawn(q, r));
            p.post(1).unwrap();
            r.post(3).unwrap();
            q.post(2).unwrap();
            let ended = || usize::from(first.is_finished()) + usize::from(second.is_finished());
            crate::until(|| ended() > 0 && q.waiting() + ended() >= 2);
            // Exactly one join has taken the shared item; the item of the other join is still visible.
            assert_eq!((q.len(), p.len() + r.len()), (0, 1));
            q.post(4).unwrap();
            let (first, second) = (block_on(first).unwrap().unwrap(), block_on(second).unwrap().unwrap());
            assert_eq!(first.1 + second.0, 6);
        }
    });
}

// Catalogue: 23
#[test]
fn competing_joins_lose_nothing_keep_each_order_and_both_get_on() {
    // These are 10^6 posts in all.
    on_each(|dispatcher| crate::rounds::competing_joins(dispatcher, 400_000));
}

// Checks the bound of behaviour 23. There is one worker, so that the order of turns is the same in every run.
// Catalogue: 23
#[test]
fn a_satisfiable_join_is_passed_at_most_32_times() {
    const PAIRS: usize = 5_000;
    let dispatcher = Builder::new().threads(1).start().unwrap();
    let ports: [Port<usize>; 3] = std::array::from_fn(|_| Port::new());
    let winners = Arc::new(Mutex::new(Vec::new()));
    let consumer = |who: usize| {
        let (a, b, winners) = (ports[who].clone(), ports[who + 1].clone(), winners.clone());
        dispatcher.spawn(async move {
            while join((&a, &b)).await.is_ok() {
                winners.lock().unwrap().push(who);
            }
        })
    };
    let consumers = vec![consumer(0), consumer(1)];
    crate::until(|| ports[1].waiting() >= 2);
    let [p, q, r] = ports.clone();
    let poster = dispatcher.spawn(async move {
        for item in 0..PAIRS {
            p.post(item).unwrap();
            r.post(item).unwrap();
            q.post(item).unwrap();
            q.post(item).unwrap();
        }
        [p, q, r].iter().for_each(Port::close);
    });
    block_on(poster).unwrap();
    assert!(block_on(all(consumers)).iter().all(Result::is_ok));
    let winners = winners.lock().unwrap();
    assert_eq!(winners.len(), 2 * PAIRS);
    // Until one of the joins has used up its own port, both joins can always be satisfied.
    let mut left = [PAIRS; 2];
    let mut run = (winners[0], 0);
    let mut longest = 0;
    for &who in winners.iter() {
        run = if run.0 == who { (who, run.1 + 1) } else { (who, 1) };
        longest = longest.max(run.1);
        left[who] -= 1;
        if left[who] == 0 {
            break;
        }
    }
    assert!(longest <= 32, "one of them was passed {longest} times in a row");
    assert!(longest > 1, "they do not change places for every item");
}

#[test]
fn a_join_that_waits_for_its_turn_goes_on_without_the_others() {
    let (p, q, r) = (Port::new(), Port::new(), Port::new());
    let mut rival = pin!(join((&q, &r)));
    assert!(poll_once(rival.as_mut()).is_pending());
    r.post(0).unwrap();
    // The rival is woken and can be satisfied, but is not polled.
    for item in 0..100 {
        p.post(item).unwrap();
        q.post(item).unwrap();
        // So the other joins yield to the rival from time to time, and then continue.
        let wakes = Arc::<Wakes>::default();
        let mut both = pin!(join((&p, &q)));
        if wakes.poll(both.as_mut()).is_pending() {
            assert_eq!(wakes.count(), 1);
            assert_eq!(wakes.poll(both.as_mut()), Poll::Ready(Ok((item, item))));
        }
    }
    assert!(poll_once(rival.as_mut()).is_pending());
    q.post(7).unwrap();
    assert_eq!(poll_once(rival.as_mut()), Poll::Ready(Ok((7, 0))));
}

#[test]
fn a_persistent_join_handles_every_pair_and_leaves_when_dropped() {
    on_each(|dispatcher| {
        const PAIRS: usize = 1_000;
        let (p, q, sums) = (Port::new(), Port::new(), Port::new());
        let out = sums.clone();
        let receiver = join((&p, (&q, 2)))
            .on(dispatcher.handle(), 3, move |(a, b): (usize, Vec<usize>)| {
                let out = out.clone();
                async move { out.post(a + b[0] + b[1]).unwrap() }
            })
            .unwrap();
        for item in 0..PAIRS {
            p.post(item).unwrap();
            q.post(item).unwrap();
            q.post(item).unwrap();
        }
        let total: usize = block_on(sums.take(PAIRS)).unwrap().into_iter().sum();
        assert_eq!(total, 3 * PAIRS * (PAIRS - 1) / 2);
        drop(receiver);
        crate::until(|| p.waiting() + q.waiting() == 0);
        p.post(1).unwrap();
        (0..2).for_each(|_| q.post(1).unwrap());
        assert_eq!((p.len(), q.len(), sums.len()), (1, 2, 0));
    });
}

#[test]
fn the_handler_of_a_persistent_join_never_overlaps_itself_at_a_limit_of_one() {
    on_each(|dispatcher| {
        let (p, q, inside) = (Port::new(), Port::new(), Arc::new(AtomicUsize::new(0)));
        let within = inside.clone();
        let receiver = join((&p, &q))
            .on(dispatcher.handle(), 1, move |_: (u32, u32)| {
                let within = within.clone();
                async move {
                    assert_eq!(within.fetch_add(1, Ordering::SeqCst), 0);
                    lehr_runtime::yield_now().await;
                    within.fetch_sub(1, Ordering::SeqCst);
                }
            })
            .unwrap();
        (0..100).for_each(|item| {
            p.post(item).unwrap();
            q.post(item).unwrap();
        });
        [&p, &q].into_iter().for_each(Port::close);
        assert_eq!(block_on(receiver.ended()), Ok(()));
        assert_eq!((p.len(), q.len()), (0, 0));
    });
}

#[test]
fn a_persistent_join_of_a_port_with_itself_is_refused() {
    let port = Port::<u8>::named("twin");
    let dispatcher = Builder::new().threads(1).start().unwrap();
    let refused = join((&port, &port)).on(dispatcher.handle(), 1, |_| async {});
    assert_eq!(
        refused.unwrap_err(),
        ReceiveError::from(ReceiveErrorKind::SamePort { port: "port \"twin\"".to_owned() })
    );
}

// Catalogue: 27
#[test]
fn a_port_named_twice_is_refused_by_name_and_keeps_nobody_busy() {
    let port = Port::<u8>::named("twin");
    let expected = Err(ReceiveError::from(ReceiveErrorKind::SamePort { port: "port \"twin\"".to_owned() }));
    assert_eq!(block_on(join((&port, &port))), expected);
    let other = Port::new();
    assert!(
        matches!(block_on(join_all([&port, &other, &port])), Err(error) if matches!(error.kind(), ReceiveErrorKind::SamePort { .. }))
    );
    assert_eq!((port.waiting(), other.waiting()), (0, 0));
}

// Catalogue: 28
#[test]
fn outputs_come_in_order_of_declaration() {
    let (p, q) = (Port::new(), Port::new());
    p.post("p").unwrap();
    q.post("q").unwrap();
    assert_eq!(block_on(join((&q, &p))), Ok(("q", "p")));
}

// Catalogue: 29
#[test]
fn a_join_may_ask_for_several_of_one_port() {
    let (p, q) = (Port::new(), Port::new());
    let mut three = pin!(join(((&p, 2), (&q, 1))));
    p.post(1).unwrap();
    q.post('a').unwrap();
    assert!(poll_once(three.as_mut()).is_pending());
    p.post(2).unwrap();
    assert_eq!(poll_once(three.as_mut()), Poll::Ready(Ok((vec![1, 2], vec!['a']))));
}

#[test]
fn a_join_ends_when_a_port_closes_without_enough() {
    let (p, q) = (Port::new(), Port::<u8>::named("q"));
    p.post(1).unwrap();
    let mut both = pin!(join((&p, &q)));
    assert!(poll_once(both.as_mut()).is_pending());
    q.close();
    assert_eq!(
        poll_once(both.as_mut()),
        Poll::Ready(Err(ReceiveError::from(ReceiveErrorKind::Closed { port: "port \"q\"".to_owned() })))
    );
    assert_eq!((p.len(), p.waiting()), (1, 0));
}

#[test]
fn a_dropped_join_leaves_every_port() {
    let (p, q) = (Port::<u8>::new(), Port::<u8>::new());
    {
        let mut both = pin!(join((&p, &q)));
        assert!(poll_once(both.as_mut()).is_pending());
        assert_eq!((p.waiting(), q.waiting()), (1, 1));
    }
    assert_eq!((p.waiting(), q.waiting()), (0, 0));
}

#[test]
fn a_cancelled_receive_hands_its_item_to_a_join_that_waits_for_it() {
    on_each(|dispatcher| {
        let (p, q) = (Port::new(), Port::new());
        let mut single = Box::pin(p.receive());
        assert!(poll_once(single.as_mut()).is_pending());
        let both = {
            let (p, q) = (p.clone(), q.clone());
            dispatcher.spawn(async move { join((&p, &q)).await })
        };
        crate::until(|| q.waiting() != 0);
        q.post(2).unwrap();
        p.post(1).unwrap();
        assert!(!both.is_finished(), "the item is on its way to the single receive");
        drop(single);
        assert_eq!(block_on(both), Ok(Ok((1, 2))));
    });
}

#[test]
fn a_join_of_no_ports_is_ready() {
    assert_eq!(block_on(join_all(Vec::<&Port<u8>>::new())), Ok(vec![]));
}

#[test]
fn a_join_takes_eight_types() {
    let (a, b, c, d) = (Port::new(), Port::new(), Port::new(), Port::new());
    let (e, f, g, h) = (Port::new(), Port::new(), Port::new(), Port::new());
    a.post(1_u8).unwrap();
    b.post(2_u16).unwrap();
    c.post('c').unwrap();
    d.post("d").unwrap();
    e.post(()).unwrap();
    f.post(6.0).unwrap();
    g.post([7]).unwrap();
    h.post(Some(8)).unwrap();
    assert_eq!(block_on(join((&h, &g, &f, &e, &d, &c, &b, &a))), Ok((Some(8), [7], 6.0, (), "d", 'c', 2, 1)));
}
