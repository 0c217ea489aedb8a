use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use lehr_runtime::{Port, ReceiveError, ReceiveErrorKind, all, block_on, gather};

use crate::{Wakes, on_each, poll_once};

fn closed(name: &str) -> ReceiveError {
    ReceiveError::from(ReceiveErrorKind::Closed { port: format!("port {name:?}") })
}

// Catalogue: 30
#[test]
fn a_gather_over_two_ports_is_whole_when_it_ends_and_leaves_nobody_behind() {
    on_each(|dispatcher| {
        for _ in 0..500 {
            let (done, failed) = (Port::new(), Port::new());
            let gathering = {
                let (done, failed) = (done.clone(), failed.clone());
                dispatcher.spawn(async move { gather((&done, &failed), 5).await })
            };
            let posters = (0..4)
                .map(|i| {
                    let (done, failed) = (done.clone(), failed.clone());
                    dispatcher.spawn(async move {
                        if i < 3 {
                            done.post(i).unwrap();
                        }
                        if i < 2 {
                            failed.post(10 + i).unwrap();
                        }
                    })
                })
                .collect();
            assert!(block_on(all(posters)).iter().all(Result::is_ok));
            let (mut successes, mut failures) = block_on(gathering).unwrap().unwrap();
            successes.sort_unstable();
            failures.sort_unstable();
            assert_eq!((successes, failures), (vec![0, 1, 2], vec![10, 11]));
            done.post(3).unwrap();
            assert_eq!((done.len(), failed.len(), done.waiting(), failed.waiting()), (1, 0, 0, 0));
        }
    });
}

// Catalogue: 30
#[test]
fn a_gather_over_one_port_of_results_takes_the_oldest_and_leaves_the_sixth() {
    on_each(|dispatcher| {
        for _ in 0..500 {
            let answers = Port::<Result<u32, u32>>::new();
            let gathering = {
                let answers = answers.clone();
                dispatcher.spawn(async move { gather(&answers, 5).await })
            };
            let posters = (0..6)
                .map(|i| {
                    let answers = answers.clone();
                    dispatcher.spawn(async move { answers.post(if i % 2 == 0 { Ok(i) } else { Err(i) }).unwrap() })
                })
                .collect();
            assert!(block_on(all(posters)).iter().all(Result::is_ok));
            let (successes, failures) = block_on(gathering).unwrap().unwrap();
            assert_eq!((successes.len() + failures.len(), answers.len(), answers.waiting()), (5, 1, 0));
            assert!(successes.iter().all(|i| i % 2 == 0) && failures.iter().all(|i| i % 2 == 1));
        }
    });
}

// Catalogue: 31
#[test]
fn a_gather_of_nothing_is_over_at_once() {
    let (done, failed) = (Port::<u8>::new(), Port::<u8>::new());
    assert_eq!(block_on(gather((&done, &failed), 0)), Ok((vec![], vec![])));
    let answers = Port::<Result<u8, u8>>::new();
    answers.close();
    assert_eq!(block_on(gather(&answers, 0)), Ok((vec![], vec![])));
    assert_eq!(block_on(gather(&answers, 5).first(0)), Ok((vec![], vec![])));
}

#[test]
fn what_a_gather_waits_for_stays_visible_and_stays_when_it_is_dropped() {
    let (done, failed) = (Port::new(), Port::new());
    {
        let mut gathering = pin!(gather((&done, &failed), 4));
        assert!(poll_once(gathering.as_mut()).is_pending());
        done.post(1).unwrap();
        failed.post('a').unwrap();
        done.post(2).unwrap();
        assert!(poll_once(gathering.as_mut()).is_pending());
        assert_eq!((done.len(), failed.len(), done.waiting(), failed.waiting()), (2, 1, 1, 1));
    }
    assert_eq!((done.waiting(), failed.waiting()), (0, 0));
    assert_eq!(block_on(gather((&done, &failed), 3)), Ok((vec![1, 2], vec!['a'])));
}

#[test]
fn a_gather_over_two_ports_looks_a_logarithm_of_its_total_times() {
    let (done, failed) = (Port::new(), Port::new());
    let wakes = Arc::<Wakes>::default();
    let mut gathering = pin!(gather((&done, &failed), 1000));
    let mut seen = 0;
    assert!(wakes.poll(gathering.as_mut()).is_pending());
    for item in 0..999 {
        if item % 3 == 0 {
            failed.post(item).unwrap()
        } else {
            done.post(item).unwrap()
        }
        if wakes.count() > seen {
            seen = wakes.count();
            assert!(wakes.poll(gathering.as_mut()).is_pending());
        }
    }
    done.post(999).unwrap();
    assert!(wakes.count() > seen, "the last item wakes it");
    assert!(wakes.count() <= 20, "{} wake-ups", wakes.count());
    let Poll::Ready(Ok((successes, failures))) = poll_once(gathering.as_mut()) else { panic!("enough is there") };
    assert_eq!((successes.len(), failures.len()), (667, 333));
}

#[test]
fn a_gather_that_fails_fast_is_woken_by_the_first_failure() {
    let wakes = Arc::<Wakes>::default();
    let answers = Port::new();
    let mut gathering = pin!(gather(&answers, 10).fail_fast());
    assert!(wakes.poll(gathering.as_mut()).is_pending());
    (0..5).for_each(|i| answers.post(Ok(i)).unwrap());
    assert_eq!(wakes.count(), 0);
    answers.post(Err("no")).unwrap();
    assert_eq!(wakes.count(), 1);
    answers.post(Ok(6)).unwrap();
    assert_eq!(wakes.poll(gathering.as_mut()), Poll::Ready(Ok((vec![0, 1, 2, 3, 4], vec!["no"]))));
    assert_eq!((answers.len(), answers.waiting()), (1, 0));

    let (done, failed) = (Port::new(), Port::new());
    let mut gathering = pin!(gather((&done, &failed), 3).fail_fast());
    assert!(wakes.poll(gathering.as_mut()).is_pending());
    done.post(1).unwrap();
    failed.post("no").unwrap();
    failed.post("no again").unwrap();
    assert_eq!(poll_once(gathering.as_mut()), Poll::Ready(Ok((vec![1], vec!["no"]))));
    assert_eq!(failed.len(), 1);
}

#[test]
fn a_gather_of_the_first_successes_ends_with_the_last_of_them() {
    let wakes = Arc::<Wakes>::default();
    let answers = Port::new();
    let mut gathering = pin!(gather(&answers, 10).first(2));
    assert!(wakes.poll(gathering.as_mut()).is_pending());
    answers.post(Ok(1)).unwrap();
    answers.post(Err("no")).unwrap();
    assert_eq!(wakes.count(), 0);
    answers.post(Ok(2)).unwrap();
    assert_eq!(wakes.count(), 1);
    assert_eq!(wakes.poll(gathering.as_mut()), Poll::Ready(Ok((vec![1, 2], vec!["no"]))));

    let (done, failed) = (Port::new(), Port::new());
    let mut gathering = pin!(gather((&done, &failed), 10).first(2));
    assert!(wakes.poll(gathering.as_mut()).is_pending());
    failed.post("no").unwrap();
    done.post(1).unwrap();
    assert!(wakes.poll(gathering.as_mut()).is_pending());
    done.post(2).unwrap();
    assert_eq!(wakes.count(), 2);
    done.post(3).unwrap();
    assert_eq!(poll_once(gathering.as_mut()), Poll::Ready(Ok((vec![1, 2], vec!["no"]))));
    assert_eq!((done.len(), done.waiting(), failed.waiting()), (1, 0, 0));
}

#[test]
fn every_option_of_a_gather_agrees_with_a_search_of_all_prefixes() {
    for total in 0..5 {
        for first in [None, Some(0), Some(1), Some(2), Some(5)] {
            for is_failing_fast in [false, true] {
                for pattern in 0..32_u32 {
                    let items: Vec<Result<u32, u32>> =
                        (0..5).map(|i| if pattern >> i & 1 == 1 { Ok(i) } else { Err(i) }).collect();
                    let is_enough = |items: &[Result<u32, u32>]| {
                        let successes = items.iter().filter(|item| item.is_ok()).count();
                        items.len() == total
                            || first.is_some_and(|first| successes == first)
                            || (is_failing_fast && successes < items.len())
                    };
                    let expected = (0..=5).find(|&n| is_enough(&items[..n])).expect("the total is at most 4");
                    let port = Port::new();
                    items.iter().for_each(|item| port.post(*item).unwrap());
                    let mut gathering = gather(&port, total);
                    if let Some(first) = first {
                        gathering = gathering.first(first);
                    }
                    if is_failing_fast {
                        gathering = gathering.fail_fast();
                    }
                    let (successes, failures) = block_on(gathering).unwrap();
                    assert!(successes.iter().eq(items[..expected].iter().filter_map(|item| item.as_ref().ok())));
                    assert!(failures.iter().eq(items[..expected].iter().filter_map(|item| item.as_ref().err())));
                    assert_eq!((port.len(), port.waiting()), (5 - expected, 0));
                }
            }
        }
    }
}

#[test]
fn a_gather_ends_when_what_it_lacks_can_no_longer_come() {
    let (done, failed) = (Port::<u8>::named("done"), Port::<u8>::new());
    let wakes = Arc::<Wakes>::default();
    let mut gathering = pin!(gather((&done, &failed), 2));
    assert!(wakes.poll(gathering.as_mut()).is_pending());
    done.post(1).unwrap();
    done.close();
    assert!(wakes.poll(gathering.as_mut()).is_pending(), "a failure may still come");
    failed.close();
    assert!(wakes.count() > 0);
    assert_eq!(wakes.poll(gathering.as_mut()), Poll::Ready(Err(closed("done"))));
    assert_eq!((done.len(), done.waiting(), failed.waiting()), (1, 0, 0));

    let answers = Port::<Result<u8, u8>>::named("answers");
    let mut gathering = pin!(gather(&answers, 2).first(1).fail_fast());
    assert!(poll_once(gathering.as_mut()).is_pending());
    answers.close();
    assert_eq!(poll_once(gathering.as_mut()), Poll::Ready(Err(closed("answers"))));
    assert_eq!(answers.waiting(), 0);
}

#[test]
fn one_port_as_both_is_refused() {
    let port = Port::<u8>::named("both");
    let refused = ReceiveError::from(ReceiveErrorKind::SamePort { port: "port \"both\"".to_owned() });
    assert_eq!(block_on(gather((&port, &port), 1)), Err(refused));
}

#[test]
fn competing_gathers_share_out_every_result_once() {
    const RESULTS: usize = 10_000;
    on_each(|dispatcher| {
        let (done, failed) = (Port::new(), Port::new());
        let gatherers = (0..4)
            .map(|_| {
                let (done, failed) = (done.clone(), failed.clone());
                dispatcher.spawn(async move {
                    let mut all = Vec::new();
                    // The ports are locked in the same order, whichever port is named first.
                    while let Ok((successes, failures)) = gather((&done, &failed), 5).await {
                        assert_eq!(successes.len() + failures.len(), 5);
                        all.extend(successes.into_iter().chain(failures));
                        let Ok((failures, successes)) = gather((&failed, &done), 5).await else { break };
                        assert_eq!(successes.len() + failures.len(), 5);
                        all.extend(successes.into_iter().chain(failures));
                    }
                    all
                })
            })
            .collect();
        let posters = (0..2)
            .map(|part| {
                let (done, failed) = (done.clone(), failed.clone());
                dispatcher.spawn(async move {
                    for item in (part..RESULTS).step_by(2) {
                        if item % 7 < 3 {
                            failed.post(item).unwrap()
                        } else {
                            done.post(item).unwrap()
                        }
                        if item % 100 < 2 {
                            lehr_runtime::yield_now().await;
                        }
                    }
                })
            })
            .collect();
        assert!(block_on(all(posters)).iter().all(Result::is_ok));
        [&done, &failed].into_iter().for_each(Port::close);
        let mut seen: Vec<usize> = block_on(all(gatherers)).into_iter().flat_map(Result::unwrap).collect();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..RESULTS), "the total is a multiple of 5, so nothing is left");
        assert_eq!((done.waiting(), failed.waiting()), (0, 0));
    });
}

#[test]
fn a_gather_that_was_woken_and_passed_by_others_takes_when_it_looks_and_keeps_the_books_of_its_port() {
    let port = Port::<Result<u32, u32>>::new();
    let wakes = Arc::<Wakes>::default();
    let mut first = Box::pin(gather(&port, 1));
    assert!(wakes.poll(first.as_mut()).is_pending());
    // Other gathers look before the first gather does, as often as the limit allows.
    for item in 0..32 {
        port.post(Ok(item)).unwrap();
        assert_eq!(poll_once(pin!(gather(&port, 1))), Poll::Ready(Ok((vec![item], vec![]))));
    }
    assert_eq!(wakes.count(), 1);
    port.post(Ok(32)).unwrap();
    assert_eq!(wakes.poll(first.as_mut()), Poll::Ready(Ok((vec![32], vec![]))));
    assert_eq!(port.waiting(), 0);
}

#[test]
fn a_gather_over_two_ports_may_give_way_at_one_after_it_was_woken_at_the_other() {
    let (done, failed) = (Port::<u32>::new(), Port::<u32>::new());
    let wakes = Arc::<Wakes>::default();
    let mut waiting = Box::pin(failed.take(1));
    assert!(poll_once(waiting.as_mut()).is_pending());
    // The take is woken at the second port, and passed over as often as the limit allows.
    for item in 0..32 {
        failed.post(item).unwrap();
        assert_eq!(poll_once(pin!(failed.take(1))), Poll::Ready(Ok(vec![item])));
    }
    failed.post(2).unwrap();
    let mut gathering = Box::pin(gather((&done, &failed), 2));
    assert!(wakes.poll(gathering.as_mut()).is_pending());
    done.post(1).unwrap();
    assert_eq!(wakes.count(), 1);
    assert!(wakes.poll(gathering.as_mut()).is_pending(), "it is the turn of the take");
    assert_eq!(wakes.count(), 2, "it has told itself to look again");
    assert_eq!(wakes.poll(gathering.as_mut()), Poll::Ready(Ok((vec![1], vec![2]))));
    drop(waiting);
    assert_eq!((done.waiting(), failed.waiting()), (0, 0));
}

#[test]
fn a_gather_that_takes_what_it_was_woken_for_has_passed_nobody() {
    let port = Port::<Result<u32, u32>>::new();
    // The gather is woken by its second registration, as often as waiters may be passed over.
    for item in 0..32 {
        let mut failing = Box::pin(gather(&port, 100).fail_fast());
        assert!(poll_once(failing.as_mut()).is_pending());
        port.post(Err(item)).unwrap();
        assert_eq!(poll_once(failing.as_mut()), Poll::Ready(Ok((vec![], vec![item]))));
    }
    let mut waiting = Box::pin(port.take(1));
    assert!(poll_once(waiting.as_mut()).is_pending());
    port.post(Ok(7)).unwrap();
    assert_eq!(poll_once(pin!(gather(&port, 1))), Poll::Ready(Ok((vec![7], vec![]))), "nobody was passed before");
    drop(waiting);
    assert_eq!(port.waiting(), 0);
}
