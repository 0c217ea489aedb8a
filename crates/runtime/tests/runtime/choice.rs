use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use lehr_runtime::{
    Cancellable, OneOf, Overflow, Port, PostWait, ReceiveError, ReceiveErrorKind, TaskError, TieBreaker, all, block_on,
    choice, choose, gather, join,
};

use crate::{Arbitrary, Wakes, on_each, poll_once};

// Catalogue: 33
#[test]
fn of_three_branches_made_ready_at_once_one_handler_runs_and_two_items_stay() {
    on_each(|dispatcher| {
        for _ in 0..200 {
            let ports: [Port<usize>; 3] = std::array::from_fn(|_| Port::new());
            let handled = Arc::new(AtomicUsize::new(0));
            let chooser = {
                let (ports, handled) = (ports.clone(), handled.clone());
                dispatcher.spawn(async move {
                    choice! {
                        item = ports[0].receive() => { handled.fetch_add(1, Ordering::SeqCst); (0, item) }
                        item = ports[1].receive() => { handled.fetch_add(1, Ordering::SeqCst); (1, item) }
                        item = ports[2].receive() => { handled.fetch_add(1, Ordering::SeqCst); (2, item) }
                    }
                })
            };
            let start = std::sync::Barrier::new(3);
            std::thread::scope(|scope| {
                for (i, port) in ports.iter().enumerate() {
                    let start = &start;
                    scope.spawn(move || {
                        start.wait();
                        port.post(i).unwrap();
                    });
                }
            });
            let (winner, item) = block_on(chooser).unwrap();
            assert_eq!(item, Ok(winner));
            assert_eq!(handled.load(Ordering::SeqCst), 1);
            for (i, port) in ports.iter().enumerate() {
                assert_eq!((port.len(), port.waiting()), (usize::from(i != winner), 0));
            }
        }
    });
}

// Catalogue: 34
#[test]
fn a_biased_choice_takes_the_first_branch_that_is_ready_and_a_fair_one_takes_each() {
    const RUNS: usize = 1_000;
    let ports: [Port<usize>; 3] = std::array::from_fn(|_| Port::new());
    let fill = || (0..RUNS).for_each(|i| ports[1..].iter().for_each(|port| port.post(i).unwrap()));
    let empty = || ports.iter().for_each(|port| while port.try_receive().is_some() {});
    let [a, b, c] = &ports;

    fill();
    let biased = block_on(async {
        let mut wins = [0_usize; 3];
        for _ in 0..RUNS {
            wins[choice! { biased; _ = a.receive() => 0, _ = b.receive() => 1, _ = c.receive() => 2 }] += 1;
        }
        wins
    });
    assert_eq!(biased, [0, RUNS, 0]);
    empty();

    fill();
    let mut ties = TieBreaker::seeded(34);
    let fair = block_on(async {
        let mut wins = [0_usize; 3];
        for _ in 0..RUNS {
            wins[choice! { fair(&mut ties); _ = a.receive() => 0, _ = b.receive() => 1, _ = c.receive() => 2 }] += 1;
        }
        wins
    });
    // The number of wins is half of 1,000 within five standard deviations of 15.8. The seed makes the number the same
    // in every run.
    assert!(fair[0] == 0 && fair[1].abs_diff(RUNS / 2) < 80, "{fair:?}");
    empty();

    fill();
    let fair = block_on(async {
        let mut wins = [0_usize; 3];
        for _ in 0..RUNS {
            wins[choice! { fair; _ = a.receive() => 0, _ = b.receive() => 1, _ = c.receive() => 2 }] += 1;
        }
        wins
    });
    assert!(fair[0] == 0 && fair[1] > 0 && fair[2] > 0, "{fair:?}");
}

// Catalogue: 35
#[test]
fn a_join_that_loses_to_a_deadline_leaves_its_item_in_place() {
    on_each(|dispatcher| {
        let (p, q, deadline) = (Port::new(), Port::<u8>::new(), Port::new());
        let chooser = {
            let (p, q, deadline) = (p.clone(), q.clone(), deadline.clone());
            dispatcher.spawn(async move {
                choice! { pair = join((&p, &q)) => Some(pair), _ = deadline.receive() => None }
            })
        };
        (1..=3).for_each(|item| p.post(item).unwrap());
        deadline.post(()).unwrap();
        assert_eq!(block_on(chooser), Ok(None));
        assert_eq!((p.waiting(), q.waiting()), (0, 0));
        assert_eq!(block_on(p.take(3)), Ok(vec![1, 2, 3]));
    });
}

// Catalogue: 36
#[test]
fn a_hundred_thousand_choices_leave_nothing_registered() {
    const CHOICES: usize = 100_000;
    on_each(|dispatcher| {
        let (p, q) = (Port::new(), Port::new());
        let chooser = {
            let (p, q) = (p.clone(), q.clone());
            dispatcher.spawn(async move {
                let mut seen = [0; 2];
                for _ in 0..CHOICES {
                    choice! {
                        item = p.receive() => { assert_eq!(item, Ok(seen[0])); seen[0] += 1; }
                        item = q.receive() => { assert_eq!(item, Ok(seen[1])); seen[1] += 1; }
                    }
                }
                seen
            })
        };
        let poster = {
            let (p, q) = (p.clone(), q.clone());
            dispatcher.spawn(async move {
                let (mut arbitrary, mut sent) = (Arbitrary(36), [0; 2]);
                for _ in 0..CHOICES {
                    let which = arbitrary.below(2) as usize;
                    [&p, &q][which].post(sent[which]).unwrap();
                    sent[which] += 1;
                    if arbitrary.below(4) == 0 {
                        lehr_runtime::yield_now().await;
                    }
                }
                sent
            })
        };
        let seen = block_on(chooser).unwrap();
        assert_eq!(block_on(poster).unwrap(), seen);
        assert_eq!((p.waiting(), q.waiting(), p.len(), q.len()), (0, 0, 0, 0));
    });
}

// A test in the documentation of `Cancellable` shows that a persistent receiver does not compile as a branch. This test
// shows which futures can be branches.
// Catalogue: 37
#[test]
fn every_future_of_the_crate_that_holds_nothing_can_be_a_branch() {
    on_each(|dispatcher| {
        let (p, q) = (Port::<u8>::new(), Port::<u8>::new());
        let results = Port::<Result<u8, u8>>::new();
        let mut task = dispatcher.spawn(async { 7 });
        let mut first = p.receive();
        let seven = block_on(async {
            choice! {
                _ = &mut first => 1,
                _ = p.receive_if(|item| *item > 3) => 2,
                _ = q.take(2) => 3,
                _ = join((&p, &q)) => 4,
                _ = gather(&results, 2) => 5,
                _ = choose((p.receive(), q.receive())) => 6,
                seven = &mut task => seven.unwrap(),
                _ = std::future::pending::<()>() => 8,
            }
        });
        assert_eq!(seven, 7);
        drop(first);
        assert_eq!((p.waiting(), q.waiting(), results.waiting()), (0, 0, 0));
    });
}

#[test]
fn a_branch_that_is_always_ready_makes_a_choice_that_does_not_wait() {
    let port = Port::new();
    let look = async || choice! { item = port.receive() => item.ok(), () = std::future::ready(()) => None };
    assert_eq!(block_on(look()), None);
    port.post(1).unwrap();
    assert_eq!(block_on(look()), Some(1));
    assert_eq!(port.waiting(), 0);
}

#[test]
fn a_choice_that_always_finds_something_lets_other_tasks_run_and_keeps_its_bias() {
    on_each(|dispatcher| {
        // There are far more waits than a task may find answered in one turn. The second branch is always ready, and
        // must not win.
        const ITEMS: usize = 5_000;
        let port = Port::new();
        (0..ITEMS).for_each(|item| port.post(item).unwrap());
        let chooser = {
            let port = port.clone();
            dispatcher.spawn(async move {
                for i in 0..ITEMS {
                    let item = choice! { item = port.receive() => item.ok(), () = std::future::ready(()) => None };
                    assert_eq!(item, Some(i));
                }
            })
        };
        assert_eq!(block_on(chooser), Ok(()));
    });
}

#[test]
fn handlers_use_the_code_around_them() {
    async fn until_closed(port: &Port<u32>, stop: &Port<()>) -> Result<u32, ReceiveError> {
        let mut sum = 0;
        loop {
            choice! {
                item = port.receive() => sum += item?,
                _ = stop.receive() => break,
            }
        }
        port.post(sum).unwrap();
        Ok(choice! { item = port.receive() => item? + port.receive().await? })
    }
    let (port, stop) = (Port::named("in"), Port::new());
    (1..=3).for_each(|item| port.post(item).unwrap());
    stop.post(()).unwrap();
    let mut running = pin!(until_closed(&port, &stop));
    assert!(poll_once(running.as_mut()).is_pending());
    port.post(4).unwrap();
    assert_eq!(poll_once(running.as_mut()), Poll::Ready(Ok(10)));
    port.close();
    let closed = ReceiveError::from(ReceiveErrorKind::Closed { port: "port \"in\"".to_owned() });
    assert_eq!(block_on(until_closed(&port, &stop)), Err(closed));
}

#[test]
fn a_choice_of_any_number_of_branches_tells_which_won() {
    on_each(|dispatcher| {
        let ports: Vec<Port<usize>> = (0..40).map(|_| Port::new()).collect();
        let chooser = {
            let ports = ports.clone();
            dispatcher.spawn(async move {
                let mut seen = Vec::new();
                for _ in 0..200 {
                    let (winner, item) = choose(ports.iter().map(Port::receive).collect::<Vec<_>>()).fair().await;
                    seen.push((winner, item.unwrap()));
                }
                seen
            })
        };
        (0..200).for_each(|i| ports[i % 40].post(i).unwrap());
        let mut seen = block_on(chooser).unwrap();
        assert!(seen.iter().all(|(winner, item)| item % 40 == *winner));
        seen.sort_unstable_by_key(|(_, item)| *item);
        assert!(seen.into_iter().map(|(_, item)| item).eq(0..200));
        assert!(ports.iter().all(|port| port.is_empty() && port.waiting() == 0));
    });
}

#[test]
fn branches_of_different_kinds_fit_into_one_list() {
    let (numbers, words) = (Port::<usize>::new(), Port::<&str>::new());
    let branches = || -> Vec<Box<dyn Cancellable<Output = usize> + Send>> {
        vec![
            Box::new(join((&numbers, &words)).map(|pair| pair.map_or(0, |(number, word)| number + word.len()))),
            Box::new(numbers.take(2).map(|items| items.map_or(0, |items| items.len()))),
        ]
    };
    numbers.post(10).unwrap();
    words.post("abc").unwrap();
    assert_eq!(block_on(choose(branches())), (0, 13));
    (0..2).for_each(|number| numbers.post(number).unwrap());
    assert_eq!(block_on(choose(branches())), (1, 2));
}

#[test]
#[should_panic(expected = "a choice of no branches")]
fn a_choice_of_no_branches_is_refused() {
    let _choice = choose(Vec::<std::future::Ready<()>>::new());
}

#[test]
fn a_spurious_wake_registers_nothing_anew() {
    let (p, q) = (Port::<u8>::new(), Port::<u8>::new());
    let mut choice = pin!(choose((p.receive(), join((&p, &q)))));
    let wakes = Arc::<Wakes>::default();
    (0..3).for_each(|_| assert!(wakes.poll(choice.as_mut()).is_pending()));
    assert_eq!((p.waiting(), q.waiting()), (2, 1));
    // A choice that registers only once is offered an item before a receive that came after the choice's first poll.
    let mut later = pin!(p.receive());
    assert!(poll_once(later.as_mut()).is_pending());
    assert!(wakes.poll(choice.as_mut()).is_pending());
    p.post(1).unwrap();
    assert_eq!(wakes.count(), 1);
    assert_eq!(poll_once(choice.as_mut()), Poll::Ready(OneOf::First(Ok(1))));
    assert!(poll_once(later.as_mut()).is_pending());
}

// Catalogue: 17
#[test]
fn an_item_on_its_way_to_a_branch_that_loses_is_counted_all_the_time_and_goes_to_the_next() {
    let (p, q) = (Port::new(), Port::new());
    let mut choice = Box::pin(choose((p.receive(), q.receive())));
    assert!(poll_once(choice.as_mut()).is_pending());
    let mut next = Box::pin(q.receive());
    let wakes = Arc::<Wakes>::default();
    assert!(wakes.poll(next.as_mut()).is_pending());
    q.post('q').unwrap();
    p.post('p').unwrap();
    assert_eq!((p.len(), q.len(), wakes.count()), (1, 1, 0));
    assert_eq!(poll_once(choice.as_mut()), Poll::Ready(OneOf::First(Ok('p'))));
    assert_eq!((q.len(), wakes.count()), (1, 1));
    assert_eq!(poll_once(next.as_mut()), Poll::Ready(Ok('q')));
}

// Catalogue: 17
#[test]
fn those_behind_a_branch_that_loses_move_up_in_order() {
    let (p, q) = (Port::new(), Port::new());
    let mut choice = Box::pin(choose((p.receive(), q.receive())));
    assert!(poll_once(choice.as_mut()).is_pending());
    let (mut second, mut even, mut third) =
        (Box::pin(q.receive()), Box::pin(q.receive_if(|item| item % 2 == 0)), Box::pin(q.receive()));
    assert!(poll_once(second.as_mut()).is_pending());
    assert!(poll_once(even.as_mut()).is_pending());
    assert!(poll_once(third.as_mut()).is_pending());
    // 1 is offered to the choice, 2 to the second receive, 4 to the receive that wants even numbers, and 5 to the third
    // receive.
    [1, 2, 4, 5].into_iter().for_each(|item| q.post(item).unwrap());
    p.post(0).unwrap();
    assert_eq!(poll_once(choice.as_mut()), Poll::Ready(OneOf::First(Ok(0))));
    assert_eq!(poll_once(second.as_mut()), Poll::Ready(Ok(1)));
    assert_eq!(poll_once(even.as_mut()), Poll::Ready(Ok(2)));
    assert_eq!(poll_once(third.as_mut()), Poll::Ready(Ok(4)));
    assert_eq!(q.try_receive(), Some(5));
}

// Catalogue: 18
#[test]
fn registering_several_branches_at_a_port_never_locks_out_its_posters() {
    const ROUNDS: usize = 100_000;
    on_each(|dispatcher| {
        let (p, q) = (Port::new(), Port::<usize>::new());
        let poster = {
            let (p, q) = (p.clone(), q.clone());
            dispatcher.spawn(async move {
                for i in 0..ROUNDS {
                    p.post(i).unwrap();
                    if i % 3 == 0 {
                        q.post(i).unwrap();
                    }
                    // The predicate is called for every item that waits, so the posters limit the number of items.
                    while p.len() > 64 {
                        lehr_runtime::yield_now().await;
                    }
                }
            })
        };
        let chooser = {
            let (p, q) = (p.clone(), q.clone());
            dispatcher.spawn(async move {
                let mut taken = 0;
                while taken < ROUNDS {
                    // The joins name the ports in both orders, and a choice names the same port twice.
                    taken += choice! {
                        pair = join((&q, &p)) => pair.map_or(0, |_| 1),
                        item = p.receive_if(|item| item % 2 == 0) => item.map_or(0, |_| 1),
                        pair = join((&p, &q)) => pair.map_or(0, |_| 1),
                        item = p.receive() => item.map_or(0, |_| 1),
                    };
                }
            })
        };
        assert!(block_on(all(vec![poster, chooser])).iter().all(Result::is_ok));
        assert_eq!((p.len(), p.waiting(), q.waiting()), (0, 0, 0));
    });
}

#[test]
fn a_task_that_loses_is_cancelled_and_a_borrowed_one_goes_on() {
    on_each(|dispatcher| {
        let (go, ended) = (Port::new(), Port::new());
        let spawn = || {
            let (go, ended) = (go.clone(), ended.clone());
            dispatcher.spawn(async move {
                go.receive().await.unwrap();
                ended.post(()).unwrap();
            })
        };
        let mut lent = spawn();
        crate::until(|| go.waiting() >= 1);
        let owned = spawn();
        crate::until(|| go.waiting() >= 2);
        block_on(async {
            choice! { _ = &mut lent => (), _ = owned => (), () = std::future::ready(()) => () }
        });
        crate::until(|| go.waiting() <= 1);
        go.post(()).unwrap();
        assert_eq!(block_on(lent), Ok::<(), TaskError>(()));
        assert_eq!((ended.len(), go.waiting()), (1, 0));
    });
}

#[test]
fn a_post_that_loses_keeps_its_item_for_the_next_choice() {
    let (out, stop) = (Port::bounded(1, Overflow::Wait), Port::new());
    out.post(1).unwrap();
    stop.post(()).unwrap();
    let mut second = out.post_wait(2);
    let is_posted = async |second: &mut PostWait<'_, i32>| {
        choice! { posted = second => posted.is_ok(), _ = stop.receive() => false }
    };
    assert!(!block_on(is_posted(&mut second)));
    assert_eq!(out.try_receive(), Some(1));
    assert!(block_on(is_posted(&mut second)));
    assert_eq!(out.try_receive(), Some(2));
}

#[test]
fn a_permit_and_a_drained_port_can_be_waited_for() {
    let (out, source) = (Port::<u8>::bounded(1, Overflow::Wait), Port::<u8>::new());
    source.post(7).unwrap();
    source.close();
    let next = async || {
        choice! {
            () = source.drained() => false,
            permit = out.reserve() => {
                permit.unwrap().post(source.receive().await.unwrap());
                true
            }
        }
    };
    assert!(block_on(next()));
    assert!(!block_on(next()));
    assert_eq!((out.try_receive(), out.waiting()), (Some(7), 0));
}
