use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use lehr_runtime::{
    Builder, Dispatcher, Overflow, Port, ReceiveError, ReceiveErrorKind, all, block_on, exchange, exchange_by,
};

use crate::{Arbitrary, Wakes, on_each, poll_once};

// Catalogue: 32
#[test]
fn an_item_of_the_next_stage_is_kept_for_the_next_stage() {
    let port = Port::new();
    let mut neighbours = exchange(&port, ["left", "right"]);
    port.post(("left", 1)).unwrap();
    port.post(("left", 2)).unwrap();
    assert!(poll_once(pin!(&mut neighbours)).is_pending());
    assert_eq!(port.len(), 2, "what has come stays visible");
    port.post(("right", 10)).unwrap();
    assert_eq!(poll_once(pin!(&mut neighbours)), Poll::Ready(Ok([1, 10])));
    assert_eq!(port.len(), 1);
    assert!(poll_once(pin!(&mut neighbours)).is_pending());
    port.post(("right", 20)).unwrap();
    assert_eq!(poll_once(pin!(&mut neighbours)), Poll::Ready(Ok([2, 20])));
    assert_eq!((port.len(), port.waiting()), (0, 0));
}

/// Runs stages of an exchange with both neighbours on a ring. Every rank checks that it gets items of its own stage,
/// from the neighbours that it names. Returns the number of stages that all ranks ran together.
pub fn ring(dispatcher: &Dispatcher, ranks: usize, stages: usize) -> usize {
    let ports: Vec<Port<(usize, (usize, usize))>> = (0..ranks).map(|_| Port::new()).collect();
    let tasks = (0..ranks)
        .map(|rank| {
            let (left, right) = ((rank + ranks - 1) % ranks, (rank + 1) % ranks);
            let (own, to_left, to_right) = (ports[rank].clone(), ports[left].clone(), ports[right].clone());
            dispatcher.spawn(async move {
                let mut neighbours = exchange(&own, [left, right]);
                for stage in 0..stages {
                    to_left.post((rank, (stage, 2 * rank))).unwrap();
                    to_right.post((rank, (stage, 2 * rank + 1))).unwrap();
                    let [from_left, from_right] = (&mut neighbours).await.unwrap();
                    if ranks > 2 {
                        assert_eq!(from_left, (stage, 2 * left + 1), "rank {rank}, stage {stage}");
                        assert_eq!(from_right, (stage, 2 * right), "rank {rank}, stage {stage}");
                    } else {
                        // Both neighbours are the same rank, so the exchange gives the two messages of this rank and
                        // stage, in the order of sending.
                        assert_eq!((from_left, from_right), ((stage, 2 * left), (stage, 2 * left + 1)));
                    }
                }
                stages
            })
        })
        .collect();
    let run = block_on(all(tasks)).into_iter().map(Result::unwrap).sum();
    assert!(ports.iter().all(|port| port.is_empty() && port.waiting() == 0));
    run
}

// The example `rendezvous` runs the full number of 500,000 stages on the same rings.
// Catalogue: 78
#[test]
fn rings_of_2_to_64_ranks_on_1_to_n_workers_see_their_own_stage_and_end() {
    const STAGES: usize = 50_000;
    for ranks in [2, 3, 4, 7, 8, 16, 33, 64] {
        for threads in [1, 2, ranks.min(8), ranks] {
            let dispatcher = Builder::new().name("ring").threads(threads).start().unwrap();
            let stages = STAGES / ranks;
            assert_eq!(ring(&dispatcher, ranks, stages), ranks * stages);
        }
    }
}

#[test]
fn an_exchange_is_woken_once_by_the_item_that_completes_it() {
    let port = Port::new();
    let wakes = Arc::<Wakes>::default();
    let mut exchange = pin!(exchange(&port, ['a', 'b', 'c']));
    assert!(wakes.poll(exchange.as_mut()).is_pending());
    [('x', 0), ('b', 1), ('b', 2), ('a', 3), ('x', 4), ('a', 5)].into_iter().for_each(|item| port.post(item).unwrap());
    assert_eq!(wakes.count(), 0);
    port.post(('c', 6)).unwrap();
    assert_eq!(wakes.count(), 1);
    assert_eq!(wakes.poll(exchange.as_mut()), Poll::Ready(Ok([3, 1, 6])));
    let rest: Vec<_> = std::iter::from_fn(|| port.try_receive()).collect();
    assert_eq!(rest, [('x', 0), ('b', 2), ('x', 4), ('a', 5)], "the others are in their order");
}

#[test]
fn an_exchange_robbed_while_it_waits_is_woken_again() {
    let port = Port::new();
    let wakes = Arc::<Wakes>::default();
    let mut pair = pin!(exchange(&port, ['a', 'b']));
    assert!(wakes.poll(pair.as_mut()).is_pending());
    port.post(('a', 1)).unwrap();
    assert_eq!(port.try_receive(), Some(('a', 1)));
    port.post(('b', 2)).unwrap();
    // The exchange cannot know that the first item is gone. It looks, and waits for another item of this source.
    assert_eq!(wakes.count(), 1);
    assert!(wakes.poll(pair.as_mut()).is_pending());
    port.post(('b', 3)).unwrap();
    assert_eq!(wakes.count(), 1);
    port.post(('a', 4)).unwrap();
    assert_eq!(wakes.count(), 2);
    assert_eq!(wakes.poll(pair.as_mut()), Poll::Ready(Ok([4, 2])));
}

#[test]
fn a_source_named_twice_gives_its_two_oldest() {
    let port = Port::new();
    let wakes = Arc::<Wakes>::default();
    let mut twice = pin!(exchange(&port, vec!['a', 'b', 'a']));
    assert!(wakes.poll(twice.as_mut()).is_pending());
    [('a', 1), ('b', 2)].into_iter().for_each(|item| port.post(item).unwrap());
    assert_eq!(wakes.count(), 0);
    port.post(('a', 3)).unwrap();
    assert_eq!(wakes.count(), 1);
    assert_eq!(poll_once(twice.as_mut()), Poll::Ready(Ok(vec![1, 2, 3])));
}

#[test]
fn an_exchange_of_no_sources_is_ready() {
    assert_eq!(block_on(exchange(&Port::<(u8, u8)>::new(), [])), Ok([]));
}

#[test]
fn a_dropped_exchange_leaves_its_items_in_order() {
    let port = Port::new();
    {
        let mut pair = pin!(exchange(&port, ['a', 'b']));
        port.post(('a', 1)).unwrap();
        assert!(poll_once(pair.as_mut()).is_pending());
        port.post(('b', 2)).unwrap();
    }
    assert_eq!((port.waiting(), port.try_receive(), port.try_receive()), (0, Some(('a', 1)), Some(('b', 2))));
}

#[test]
fn an_exchange_ends_when_its_port_closes_without_a_source() {
    let port = Port::named("ring");
    let mut pair = pin!(exchange(&port, ['a', 'b']));
    port.post(('a', 1)).unwrap();
    assert!(poll_once(pair.as_mut()).is_pending());
    port.close();
    let closed = ReceiveError::from(ReceiveErrorKind::Closed { port: "port \"ring\"".to_owned() });
    assert_eq!(poll_once(pair.as_mut()), Poll::Ready(Err(closed)));
    assert_eq!((port.len(), port.waiting()), (1, 0));
}

#[test]
fn a_key_that_panics_fails_its_own_exchange_and_leaves_the_item() {
    let port = Port::named("ring");
    let key = |item: &i32| if *item < 0 { panic!("negative") } else { item % 2 };
    let failed = ReceiveError::from(ReceiveErrorKind::Predicate {
        port: "port \"ring\"".to_owned(),
        message: "negative".to_owned(),
    });
    let wakes = Arc::<Wakes>::default();
    let mut pair = pin!(exchange_by(&port, [0, 1], key));
    assert!(wakes.poll(pair.as_mut()).is_pending());
    port.post(-1).unwrap();
    assert_eq!(wakes.count(), 1);
    assert_eq!(wakes.poll(pair.as_mut()), Poll::Ready(Err(failed.clone())));
    assert_eq!(block_on(exchange_by(&port, [0, 1], key)), Err(failed));
    assert_eq!((port.len(), port.waiting()), (1, 0));
    // The item is still there for other receivers.
    assert_eq!(block_on(port.receive()), Ok(-1));
}

#[test]
fn competing_exchanges_take_whole_sets_and_each_source_in_order() {
    const SETS: usize = 5_000;
    on_each(|dispatcher| {
        let port = Port::new();
        let takers = (0..3)
            .map(|_| {
                let port = port.clone();
                dispatcher.spawn(async move {
                    let mut sets = Vec::new();
                    let mut exchange = exchange(&port, [0, 1, 2]);
                    while let Ok(set) = (&mut exchange).await {
                        sets.push(set);
                    }
                    sets
                })
            })
            .collect();
        let posters = (0..3)
            .map(|source: usize| {
                let port = port.clone();
                dispatcher.spawn(async move {
                    let mut arbitrary = Arbitrary(source as u64 + 1);
                    for item in 0..SETS {
                        port.post((source, item)).unwrap();
                        if arbitrary.below(8) == 0 {
                            lehr_runtime::yield_now().await;
                        }
                    }
                })
            })
            .collect();
        assert!(block_on(all(posters)).iter().all(Result::is_ok));
        port.close();
        let sets: Vec<Vec<[usize; 3]>> = block_on(all(takers)).into_iter().map(Result::unwrap).collect();
        for source in 0..3 {
            assert!(sets.iter().all(|sets| sets.windows(2).all(|pair| pair[0][source] < pair[1][source])));
            let mut items: Vec<usize> = sets.iter().flatten().map(|set| set[source]).collect();
            items.sort_unstable();
            assert!(items.into_iter().eq(0..SETS));
        }
        assert_eq!((port.len(), port.waiting()), (0, 0));
    });
}

#[test]
fn items_that_an_exchange_takes_make_room_for_posters_that_wait() {
    const STAGES: usize = 1_000;
    on_each(|dispatcher| {
        // There are three sources, each at most two stages ahead. Two sources cannot fill five places, and with three
        // sources one must wait for a place.
        let port = Port::bounded(5, Overflow::Wait);
        let credits: [Port<()>; 3] = std::array::from_fn(|_| Port::new());
        credits.iter().for_each(|credits| (0..2).for_each(|_| credits.post(()).unwrap()));
        let mut tasks: Vec<_> = (0..3)
            .map(|source: usize| {
                let (port, credits) = (port.clone(), credits[source].clone());
                dispatcher.spawn(async move {
                    for stage in 0..STAGES {
                        credits.receive().await.unwrap();
                        port.post_wait((source, stage)).await.unwrap();
                    }
                })
            })
            .collect();
        let own = port.clone();
        tasks.push(dispatcher.spawn(async move {
            let mut three = exchange(&own, [0, 1, 2]);
            for stage in 0..STAGES {
                assert_eq!((&mut three).await, Ok([stage; 3]));
                credits.iter().for_each(|credits| credits.post(()).unwrap());
            }
        }));
        assert!(block_on(all(tasks)).iter().all(Result::is_ok));
        assert_eq!((port.len(), port.gauges().posters_waiting), (0, 0));
    });
}
