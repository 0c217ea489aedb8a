//! Branches: one-time branches, joins, takes, and branches that are added while items arrive.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lehr_runtime::{Exclusive, Handlers, Interleave, Port, Source, block_on, yield_now};

use super::Gate;
use crate::on_each;

// Catalogue: 48
#[test]
fn branches_that_are_added_while_items_flow_lose_nothing_and_exclude_the_others() {
    on_each(|dispatcher| {
        const PORTS: usize = 8;
        const ITEMS: usize = 200;
        let ports: Vec<Port<usize>> = (0..PORTS).map(|_| Port::new()).collect();
        let (inside, seen) = (Arc::new(AtomicUsize::new(0)), Port::new());
        let branch = |port: &Port<usize>| {
            let (inside, seen) = (inside.clone(), seen.clone());
            Handlers::new().exclusive(port, move |mut state: Exclusive<usize>, item| {
                let (inside, seen) = (inside.clone(), seen.clone());
                async move {
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "somebody else is inside");
                    yield_now().await;
                    *state += 1;
                    inside.fetch_sub(1, Ordering::SeqCst);
                    seen.post(item).unwrap();
                }
            })
        };
        let interleave = Interleave::start(dispatcher.handle(), 0, branch(&ports[0]));
        std::thread::scope(|scope| {
            for port in &ports {
                scope.spawn(|| (0..ITEMS).for_each(|item| port.post(item).unwrap()));
            }
            ports[1..].iter().for_each(|port| interleave.combine(branch(port)).unwrap());
        });
        let all = block_on(seen.take(PORTS * ITEMS)).unwrap();
        assert_eq!(all.iter().sum::<usize>(), PORTS * (ITEMS * (ITEMS - 1) / 2));
        assert_eq!(interleave.activity().branches, PORTS);
        let handle = interleave.handle().clone();
        assert_eq!(block_on(interleave.stop()), Ok(PORTS * ITEMS));
        assert!(handle.combine(branch(&ports[0])).is_err(), "it has ended");
        assert_eq!(ports[0].waiting(), 0);
    });
}

// Catalogue: 49
#[test]
fn spent_one_time_branches_leave_nothing_behind() {
    const BRANCHES: usize = 100_000;
    const AT_ONCE: usize = 100;
    on_each(|dispatcher| {
        let (port, done) = (Port::new(), Port::new());
        let interleave = Interleave::start(dispatcher.handle(), 0usize, Handlers::new());
        for round in 0..BRANCHES / AT_ONCE {
            for _ in 0..AT_ONCE {
                let out = done.clone();
                let once =
                    Handlers::new().exclusive(port.branch().once(), move |mut state: Exclusive<usize>, item: usize| {
                        *state += item;
                        out.post(()).unwrap();
                        async {}
                    });
                interleave.combine(once).unwrap();
            }
            (0..AT_ONCE).for_each(|_| port.post(1).unwrap());
            block_on(done.take(AT_ONCE)).unwrap();
            assert!(interleave.activity().branches <= AT_ONCE, "round {round}");
            // The tasks of the branches may end a moment later.
            crate::until(|| interleave.activity().branches == 0);
        }
        assert_eq!((port.waiting(), interleave.activity().branches), (0, 0));
        assert_eq!(block_on(interleave.stop()), Ok(BRANCHES));
    });
}

// Catalogue: 26
#[test]
fn a_one_time_join_branch_with_more_than_enough_fires_once() {
    on_each(|dispatcher| {
        let (left, right, seen) = (Port::new(), Port::new(), Port::new());
        (1..=3).for_each(|i| left.post(i).unwrap());
        (1..=3).for_each(|i| right.post(10 * i).unwrap());
        let out = seen.clone();
        let both = Source::join((&left, &right)).unwrap().once();
        let handlers = Handlers::new().exclusive(both, move |mut state: Exclusive<i32>, (a, b): (i32, i32)| {
            *state += a + b;
            out.post((a, b)).unwrap();
            async {}
        });
        let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
        assert_eq!(block_on(seen.receive()), Ok((1, 10)));
        crate::until(|| interleave.activity().branches == 0);
        assert_eq!((left.drain(), right.drain()), (vec![2, 3], vec![20, 30]));
        assert_eq!((left.waiting(), right.waiting(), seen.len()), (0, 0, 0));
        assert_eq!(block_on(interleave.stop()), Ok(11));
    });
}

// Catalogue: 27
#[test]
fn a_join_branch_refuses_the_same_port_twice() {
    let port = Port::<u8>::named("twin");
    let error = Source::join((&port, &port)).unwrap_err();
    assert!(error.to_string().contains("twin"), "{error}");
}

#[test]
fn joins_and_takes_keep_their_group() {
    on_each(|dispatcher| {
        let (a, b, ones) = (Port::new(), Port::new(), Port::new());
        let (inside, seen) = (Arc::new(AtomicUsize::new(0)), Port::new());
        let enter = |inside: &Arc<AtomicUsize>, seen: &Port<()>| {
            let (inside, seen) = (inside.clone(), seen.clone());
            async move {
                assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "somebody else is inside");
                yield_now().await;
                inside.fetch_sub(1, Ordering::SeqCst);
                seen.post(()).unwrap();
            }
        };
        let (rig1, rig2, rig3) =
            ((inside.clone(), seen.clone()), (inside.clone(), seen.clone()), (inside.clone(), seen.clone()));
        let handlers = Handlers::new()
            .exclusive(Source::join((&a, &b)).unwrap(), move |mut state: Exclusive<u32>, (_, _): (u8, u8)| {
                *state += 1;
                enter(&rig1.0, &rig1.1)
            })
            .exclusive(Source::take(&a, 2), move |mut state: Exclusive<u32>, _: Vec<u8>| {
                *state += 100;
                enter(&rig2.0, &rig2.1)
            })
            .exclusive(&ones, move |mut state: Exclusive<u32>, _: u8| {
                *state += 10_000;
                enter(&rig3.0, &rig3.1)
            });
        let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
        for _ in 0..50 {
            (0..3).for_each(|_| a.post(1).unwrap());
            b.post(1).unwrap();
            ones.post(1).unwrap();
        }
        block_on(seen.take(50)).unwrap();
        // The number of pairs taken from `a` depends on the order in which the branches come. All items are taken,
        // except items for which there is no pair.
        let is_left = || a.len() > 1 || (!a.is_empty() && !b.is_empty()) || !ones.is_empty();
        crate::until(|| !is_left() && interleave.activity().exclusive == 0);
        let state = block_on(interleave.stop()).unwrap();
        let (joined, taken, single) = (state % 100, state / 100 % 100, state / 10_000);
        assert_eq!(single, 50);
        assert_eq!(joined as usize + 2 * taken as usize + a.len(), 150);
        assert_eq!(joined as usize + b.len(), 50);
    });
}

// Catalogue: 18
#[test]
fn an_interleave_with_two_branches_on_a_port_may_be_made_while_others_post_there() {
    // `make soak` runs the catalogue's 10^6 rounds.
    on_each(|dispatcher| crate::rounds::interleaves_on_a_busy_port(dispatcher, 5_000));
}

// Catalogue: 41
#[test]
fn what_an_interleave_leaves_behind_is_seen_by_a_join_that_waited_for_it() {
    on_each(|dispatcher| {
        let gate = Gate::new();
        let (items, others) = (Port::named("items"), Port::named("others"));
        let handlers = Handlers::new().exclusive(&items, {
            let gate = gate.clone();
            move |_: Exclusive<()>, _: u32| gate.pass("busy")
        });
        let interleave = Interleave::start(dispatcher.handle(), (), handlers);
        items.post(0).unwrap();
        assert_eq!(gate.next_begun(), "busy");
        // The branch has taken these three items and has not begun to handle them.
        (1..=3).for_each(|item| items.post(item).unwrap());
        let mut pair = std::pin::pin!(lehr_runtime::join((&items, &others)));
        let wakes = Arc::<crate::Wakes>::default();
        assert!(wakes.poll(pair.as_mut()).is_pending());
        others.post("other").unwrap();
        assert_eq!(wakes.count(), 1);
        assert!(wakes.poll(pair.as_mut()).is_pending());
        drop(interleave);
        assert_eq!(wakes.count(), 2, "three items have come back at once");
        assert_eq!(wakes.poll(pair.as_mut()), std::task::Poll::Ready(Ok((1, "other"))));
    });
}
