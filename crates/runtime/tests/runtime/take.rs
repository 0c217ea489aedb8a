use std::pin::pin;
use std::task::Poll;

use lehr_runtime::{Port, block_on};

use crate::{on_each, poll_once};

// 24
#[test]
fn a_take_of_one_fires_once_and_leaves_the_rest() {
    let port = Port::new();
    let take = port.take(1);
    (1..=5).for_each(|i| port.post(i).unwrap());
    assert_eq!(block_on(take), Ok(vec![1]));
    assert_eq!(port.len(), 4);
}

// 25
#[test]
fn a_take_of_two_fires_once_however_four_items_come() {
    on_each(|dispatcher| {
        let posters = if dispatcher.threads() == 8 { 1000 } else { 3000 };
        for _ in 0..posters {
            let port = Port::new();
            let taken = {
                let port = port.clone();
                dispatcher.spawn(async move { port.take(2).await })
            };
            let sources: Vec<_> = (0..2)
                .map(|source| {
                    let port = port.clone();
                    dispatcher.spawn(async move { (0..2).for_each(|item| port.post((source, item)).unwrap()) })
                })
                .collect();
            block_on(lehr_runtime::all(sources));
            let taken = block_on(taken).unwrap().unwrap();
            assert_eq!((taken.len(), port.len(), port.waiting()), (2, 2, 0));
        }
    });
}

#[test]
fn a_take_is_woken_only_when_there_is_enough() {
    on_each(|dispatcher| {
        let port = Port::new();
        let taken = {
            let port = port.clone();
            dispatcher.spawn(async move { port.take(3).await })
        };
        while port.waiting() == 0 {
            std::thread::yield_now();
        }
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
