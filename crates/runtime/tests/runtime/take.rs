use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use lehr_runtime::{Port, block_on};

use crate::{Wakes, on_each, poll_once};

// Catalogue: 24
#[test]
fn a_take_of_one_fires_once_and_leaves_the_rest() {
    let port = Port::new();
    let take = port.take(1);
    (1..=5).for_each(|i| port.post(i).unwrap());
    assert_eq!(block_on(take), Ok(vec![1]));
    assert_eq!(port.len(), 4);
}

// Catalogue: 25
#[test]
fn a_take_of_two_fires_once_however_four_items_come() {
    // `make soak` runs the catalogue's 10^6 rounds.
    on_each(|dispatcher| crate::rounds::takes_of_two(dispatcher, 100_000));
}

#[test]
fn an_item_wakes_one_of_many_takes() {
    const TAKES: usize = 100;
    let port = Port::new();
    let wakes: Vec<Arc<Wakes>> = (0..TAKES).map(|_| Arc::default()).collect();
    let mut takes: Vec<_> = (0..TAKES).map(|_| Box::pin(port.take(1))).collect();
    for (take, wakes) in takes.iter_mut().zip(&wakes) {
        assert!(wakes.poll(take.as_mut()).is_pending());
    }
    let woken = || wakes.iter().map(|wakes| wakes.count()).collect::<Vec<_>>();
    for item in 0..TAKES {
        port.post(item).unwrap();
        assert_eq!(woken().iter().sum::<usize>(), item + 1);
        assert_eq!(woken()[item], 1, "in order of registration");
    }
    for (item, take) in takes.iter_mut().enumerate() {
        assert_eq!(poll_once(take.as_mut()), Poll::Ready(Ok(vec![item])));
    }
    assert_eq!((port.len(), port.waiting()), (0, 0));
}

#[test]
fn a_take_that_goes_away_or_comes_too_late_passes_its_items_on() {
    let port = Port::new();
    let (large, small) = (Arc::<Wakes>::default(), Arc::<Wakes>::default());
    let (mut three, mut two) = (Box::pin(port.take(3)), Box::pin(port.take(2)));
    assert!(large.poll(three.as_mut()).is_pending());
    (1..=2).for_each(|item| port.post(item).unwrap());
    assert!(small.poll(two.as_mut()).is_ready(), "the first does not hold what it waits for");
    let mut two = Box::pin(port.take(2));
    assert!(small.poll(two.as_mut()).is_pending());
    // There are at once enough items for the small take; the large take is not woken.
    (3..=4).for_each(|item| port.post(item).unwrap());
    assert_eq!((large.count(), small.count()), (0, 1));
    // The items for which the small take was woken are free when it is dropped.
    drop(two);
    port.post(5).unwrap();
    assert_eq!(large.count(), 1);
    // The take is woken, and loses an item before it looks. The remaining items are enough for another take.
    let mut two = Box::pin(port.take(2));
    assert_eq!(port.try_receive(), Some(3));
    let later = Arc::<Wakes>::default();
    let mut three = three;
    assert!(large.poll(three.as_mut()).is_pending());
    assert_eq!(later.poll(two.as_mut()), Poll::Ready(Ok(vec![4, 5])));
    drop(three);
    assert_eq!((port.len(), port.waiting()), (0, 0));
}

#[test]
fn a_take_robbed_of_its_items_wakes_a_smaller_one() {
    let port = Port::new();
    let (large, small) = (Arc::<Wakes>::default(), Arc::<Wakes>::default());
    let (mut two, mut one) = (Box::pin(port.take(2)), Box::pin(port.take(1)));
    assert!(large.poll(two.as_mut()).is_pending());
    port.post(1).unwrap();
    assert_eq!(port.try_receive(), Some(1));
    (2..=3).for_each(|item| port.post(item).unwrap());
    assert_eq!(large.count(), 1);
    assert!(small.poll(one.as_mut()).is_ready(), "it looks before the one that was woken");
    let mut one = Box::pin(port.take(1));
    assert_eq!(port.try_receive(), Some(3));
    assert!(small.poll(one.as_mut()).is_pending());
    port.post(4).unwrap();
    assert_eq!(small.count(), 0, "promised to the large one, which has not looked");
    assert!(large.poll(two.as_mut()).is_pending());
    assert_eq!(small.count(), 1, "the large one looked in vain, and one item does for the small one");
    assert_eq!(small.poll(one.as_mut()), Poll::Ready(Ok(vec![4])));
}

#[test]
fn a_take_is_woken_only_when_there_is_enough() {
    on_each(|dispatcher| {
        let port = Port::new();
        let taken = {
            let port = port.clone();
            dispatcher.spawn(async move { port.take(3).await })
        };
        crate::until(|| port.waiting() != 0);
        let polls = |dispatcher: &lehr_runtime::Dispatcher| -> usize {
            dispatcher.handle().counters().iter().map(|worker| worker.polls).sum()
        };
        let before = polls(dispatcher);
        port.post(1).unwrap();
        port.post(2).unwrap();
        assert_eq!(port.len(), 2, "what has come stays visible");
        port.post(3).unwrap();
        assert_eq!(block_on(taken), Ok(Ok(vec![1, 2, 3])));
        assert_eq!(polls(dispatcher) - before, 1);
    });
}

#[test]
fn a_dropped_take_leaves_its_items_in_order() {
    let port = Port::new();
    {
        let mut take = pin!(port.take(3));
        port.post(1).unwrap();
        assert!(poll_once(take.as_mut()).is_pending());
        port.post(2).unwrap();
    }
    assert_eq!(poll_once(pin!(port.take(2))), Poll::Ready(Ok(vec![1, 2])));
}

#[test]
fn a_take_of_nothing_is_ready_even_on_a_closed_port() {
    let port = Port::<u8>::new();
    port.close();
    assert_eq!(block_on(port.take(0)), Ok(vec![]));
}
