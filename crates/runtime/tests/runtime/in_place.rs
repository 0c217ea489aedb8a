//! Polls in the middle of another poll: requests are answered at once, in order, and none is lost.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lehr_runtime::{
    Dispatcher, Exclusive, Handlers, Interleave, Port, Refusal, Reply, Snapshot, all, block_on, in_place, yield_now,
};

type Question = (u64, Reply<u64>);

/// Starts an interleave that adds the number of each request, and answers with the sum.
fn summing(dispatcher: &Dispatcher) -> (Port<Question>, Interleave<u64>) {
    let port = Port::<Question>::new();
    let handlers = Handlers::new().exclusive(&port, |mut sum: Exclusive<u64>, (n, reply): Question| async move {
        *sum += n;
        let answer = *sum;
        drop(sum);
        reply.answer(answer).unwrap();
    });
    (port.clone(), Interleave::start(dispatcher.handle(), 0, handlers))
}

#[test]
fn the_answer_is_there_when_the_question_has_been_posted() {
    let dispatcher = Dispatcher::new(1).unwrap();
    let (port, _interleave) = summing(&dispatcher);
    let ready = block_on(dispatcher.spawn(async move {
        // The first request makes the turn, which then waits for more requests.
        port.ask(|reply| (1, reply)).unwrap().await.unwrap();
        let mut ready = 0;
        for n in 2..100 {
            let answer = in_place(|| port.ask(|reply| (1, reply)).unwrap());
            ready += usize::from(answer.is_ready());
            assert_eq!(answer.await, Ok(n));
        }
        ready
    }));
    // From time to time the worker lets other tasks run, and then the task has to wait for the answer.
    let ready = ready.unwrap();
    assert!(ready > 80, "{ready}");
}

#[test]
fn all_are_answered_once_whoever_polls() {
    for workers in [1, 2, 8] {
        let dispatcher = Dispatcher::new(workers).unwrap();
        let (port, interleave) = summing(&dispatcher);
        let askers = (0..8).map(|_| {
            let port = port.clone();
            dispatcher.spawn(async move {
                let mut last = 0;
                for _ in 0..200 {
                    let answer = in_place(|| port.ask(|reply| (1, reply)).unwrap()).await.unwrap();
                    assert!(answer > last, "the sum only rises");
                    last = answer;
                }
            })
        });
        block_on(all(askers.collect())).into_iter().for_each(|ended| ended.unwrap());
        assert_eq!(block_on(interleave.stop()), Ok(1600));
    }
}

#[test]
fn what_was_queued_before_goes_first() {
    let dispatcher = Dispatcher::new(1).unwrap();
    let (port, _interleave) = summing(&dispatcher);
    let handle = dispatcher.handle().clone();
    let order = block_on(dispatcher.spawn(async move {
        port.ask(|reply| (1, reply)).unwrap().await.unwrap();
        let said = Port::new();
        let before = said.clone();
        let earlier = handle.spawn(async move { before.post("earlier").unwrap() });
        let answer = in_place(|| port.ask(|reply| (1, reply)).unwrap());
        assert!(!answer.is_ready(), "somebody else is next");
        answer.await.unwrap();
        said.post("answer").unwrap();
        earlier.await.unwrap();
        (said.receive().await.unwrap(), said.receive().await.unwrap())
    }));
    assert_eq!(order, Ok(("earlier", "answer")));
}

#[test]
fn from_a_thread_that_is_no_worker_it_is_a_post_and_nothing_more() {
    let dispatcher = Dispatcher::new(1).unwrap();
    let (port, _interleave) = summing(&dispatcher);
    assert_eq!(block_on(in_place(|| port.ask(|reply| (5, reply)).unwrap())), Ok(5));
}

#[test]
fn a_post_that_panics_leaves_what_it_woke_in_the_queue() {
    let dispatcher = Dispatcher::new(1).unwrap();
    let (port, _interleave) = summing(&dispatcher);
    let sum = block_on(dispatcher.spawn(async move {
        port.ask(|reply| (1, reply)).unwrap().await.unwrap();
        let mut kept = None;
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            in_place(|| {
                kept = Some(port.ask(|reply| (1, reply)).unwrap());
                panic!("after the post");
            })
        }));
        assert!(panicked.is_err());
        // After the panic, woken tasks are queued as usual again.
        let last = port.ask(|reply| (1, reply)).unwrap();
        (kept.unwrap().await, last.await)
    }));
    assert_eq!(sum, Ok((Ok(2), Ok(3))));
}

#[test]
fn a_handler_that_waits_is_no_obstacle() {
    for workers in [1, 2, 8] {
        let dispatcher = Dispatcher::new(workers).unwrap();
        let port = Port::<Question>::new();
        let handlers = Handlers::new().exclusive(&port, |mut sum: Exclusive<u64>, (n, reply): Question| async move {
            yield_now().await;
            *sum += n;
            let answer = *sum;
            drop(sum);
            reply.answer(answer).unwrap();
        });
        let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
        let asker = dispatcher.spawn(async move {
            for n in 1..=50 {
                assert_eq!(in_place(|| port.ask(|reply| (1, reply)).unwrap()).await, Ok(n));
            }
        });
        block_on(asker).unwrap();
        drop(interleave);
    }
}

/// Runs a line of services, each of which asks the next service for a larger number.
#[test]
fn a_long_line_of_questions_is_answered_however_deep() {
    for workers in [1, 2, 8] {
        let dispatcher = Dispatcher::new(workers).unwrap();
        let ports: Vec<Port<Question>> = (0..40).map(|_| Port::new()).collect();
        let interleaves: Vec<_> = (0..ports.len())
            .map(|place| {
                let next = ports.get(place + 1).cloned();
                let handlers =
                    Handlers::new().exclusive(&ports[place], move |_: Exclusive<()>, (n, reply): Question| {
                        let next = next.clone();
                        async move {
                            let answer = match next {
                                None => n,
                                Some(next) => in_place(|| next.ask(|reply| (n + 1, reply)).unwrap()).await.unwrap(),
                            };
                            reply.answer(answer).unwrap();
                        }
                    });
                Interleave::start(dispatcher.handle(), (), handlers)
            })
            .collect();
        let first = ports[0].clone();
        let asker = dispatcher.spawn(async move {
            for _ in 0..20 {
                assert_eq!(in_place(|| first.ask(|reply| (0, reply)).unwrap()).await, Ok(39));
            }
        });
        block_on(asker).unwrap();
        drop(interleaves);
    }
}

#[test]
fn a_circle_of_questions_is_still_found_out() {
    let dispatcher = Dispatcher::new(1).unwrap();
    let (ask, back) = (Port::<Reply<bool>>::new(), Port::<Reply<bool>>::new());
    let (to_back, to_ask) = (back.clone(), ask.clone());
    let first = Handlers::new().exclusive(&ask, move |_: Exclusive<()>, reply: Reply<bool>| {
        let back = to_back.clone();
        async move { reply.answer(in_place(|| back.ask(|reply| reply)).unwrap().await.unwrap()).unwrap() }
    });
    let second = Handlers::new().exclusive(&back, move |_: Exclusive<()>, reply: Reply<bool>| {
        let ask = to_ask.clone();
        async move {
            let refused = in_place(|| ask.ask(|reply| reply)).unwrap().await;
            reply.answer(matches!(refused, Err(Refusal::WouldDeadlock { .. }))).unwrap();
        }
    });
    let _first = Interleave::start(dispatcher.handle(), (), first);
    let _second = Interleave::start(dispatcher.handle(), (), second);
    let asker = dispatcher.spawn(async move {
        for _ in 0..3 {
            assert_eq!(in_place(|| ask.ask(|reply| reply)).unwrap().await, Ok(true));
        }
    });
    block_on(asker).unwrap();
}

/// A task that is polled inside a handler, without being asked by it, does not count as a part of the handler.
#[test]
fn who_is_polled_inside_a_handler_is_no_part_of_it() {
    let dispatcher = Dispatcher::new(1).unwrap();
    let (work, nudge, look) = (Port::<Reply<()>>::new(), Port::<()>::new(), Port::<Reply<usize>>::new());
    let looks = Arc::new(AtomicUsize::new(0));
    let (seen, to_look) = (looks.clone(), look.clone());
    let _receiver = nudge.on(dispatcher.handle(), 1, move |()| {
        let (look, seen) = (to_look.clone(), seen.clone());
        async move {
            // This request waits until the handler in which this task is polled has ended.
            assert_eq!(look.ask(|reply| reply).unwrap().await, Ok(7));
            seen.fetch_add(1, Ordering::SeqCst);
        }
    });
    let nudging = nudge;
    let handlers = Handlers::new()
        .exclusive(&work, move |_: Exclusive<usize>, reply: Reply<()>| {
            let nudge = nudging.clone();
            async move {
                in_place(|| nudge.post(()).unwrap());
                reply.answer(()).unwrap();
            }
        })
        .concurrent(&look, |state: Snapshot<usize>, reply: Reply<usize>| async move { reply.answer(*state).unwrap() });
    let interleave = Interleave::start(dispatcher.handle(), 7, handlers);
    let asker = dispatcher.spawn(async move {
        for _ in 0..5 {
            in_place(|| work.ask(|reply| reply).unwrap()).await.unwrap();
        }
        while looks.load(Ordering::SeqCst) < 5 {
            yield_now().await;
        }
    });
    block_on(asker).unwrap();
    assert_eq!(block_on(interleave.stop()), Ok(7));
}
