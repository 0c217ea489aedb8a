//! The end of an interleave: by a teardown, by a drop, with its dispatcher, or by a queue that accepts no more tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lehr_runtime::{
    Discard, Dispatcher, Exclusive, Handlers, Interleave, Port, Reason, Refusal, Reply, Settings, Shutdown, Snapshot,
    Source, TaskError, block_on, yield_now,
};

use super::{Gate, Question, Rig};
use crate::on_each;

// Catalogue: 45, 77
#[test]
fn a_teardown_waits_for_what_runs_and_leaves_what_waits_in_its_port() {
    on_each(|dispatcher| {
        let rig = Rig::new();
        let interleave = rig.start(dispatcher, Settings::new());
        rig.update.post("running").unwrap();
        assert_eq!(rig.gate.next_begun(), "running");
        ["g1", "g2"].iter().for_each(|name| rig.get.post(name).unwrap());
        rig.look.post("l1").unwrap();
        rig.update.post("u1").unwrap();
        rig.replace.post("r1").unwrap();
        rig.stop.post("teardown").unwrap();
        assert_eq!((interleave.activity().pending_concurrent, interleave.activity().pending_exclusive), (3, 2));
        assert!(rig.gate.begun.is_empty());
        assert_eq!(rig.gate.let_go(), "running");
        assert_eq!(rig.gate.next_begun(), "teardown");
        // The teardown handler runs alone, and all pending items are in their ports.
        assert_eq!(interleave.activity().exclusive + interleave.activity().concurrent, 0);
        assert_eq!((rig.get.drain(), rig.look.drain()), (vec!["g1", "g2"], vec!["l1"]));
        assert_eq!((rig.update.drain(), rig.replace.drain()), (vec!["u1"], vec!["r1"]));
        assert_eq!(rig.gate.let_go(), "teardown");
        assert_eq!(block_on(interleave.ended()), Ok(()));
        assert_eq!((interleave.activity().started, rig.gate.begun.len()), (1, 0));
        assert_eq!(rig.get.waiting() + rig.update.waiting() + rig.stop.waiting(), 0);
    });
}

// Catalogue: 45
#[test]
fn what_a_teardown_leaves_behind_goes_to_who_waits_next_in_the_old_order() {
    on_each(|dispatcher| {
        let rig = Rig::new();
        let interleave = rig.start(dispatcher, Settings::new().keep_ports_open());
        rig.update.post("running").unwrap();
        assert_eq!(rig.gate.next_begun(), "running");
        let (heir, seen) = (rig.update.clone(), Port::new());
        let out = seen.clone();
        let _heir = heir.on(dispatcher.handle(), 1, move |name: &'static str| {
            out.post(name).unwrap();
            async {}
        });
        ["u1", "u2", "u3"].iter().for_each(|name| rig.update.post(name).unwrap());
        rig.stop.post("teardown").unwrap();
        assert_eq!((rig.gate.let_go(), rig.gate.let_go()), ("running", "teardown"));
        block_on(interleave.ended()).unwrap();
        assert_eq!(block_on(seen.take(3)), Ok(vec!["u1", "u2", "u3"]));
    });
}

// Catalogue: 46, 47
#[test]
fn whoever_posts_after_a_teardown_began_is_told() {
    on_each(|dispatcher| {
        let rig = Rig::new();
        let interleave = rig.start(dispatcher, Settings::new());
        rig.get.post("running").unwrap();
        assert_eq!(rig.gate.next_begun(), "running");
        rig.stop.post("first").unwrap();
        for port in [&rig.stop, &rig.get, &rig.update, &rig.replace, &rig.look] {
            let refused = port.post("late").unwrap_err();
            assert_eq!((refused.item, refused.reason), ("late", Reason::Closed));
        }
        assert_eq!((rig.gate.let_go(), rig.gate.let_go()), ("running", "first"));
        block_on(interleave.ended()).unwrap();
        assert!(rig.stop.post("later").is_err() && rig.stop.is_empty());
    });
}

// Catalogue: 46
#[test]
fn of_two_teardown_items_that_are_there_at_the_start_one_is_handled() {
    on_each(|dispatcher| {
        let rig = Rig::new();
        ["first", "second"].iter().for_each(|name| rig.stop.post(name).unwrap());
        let interleave = rig.start(dispatcher, Settings::new());
        assert_eq!(rig.gate.let_go(), "first");
        block_on(interleave.ended()).unwrap();
        assert_eq!(rig.stop.drain(), ["second"], "it is nobody's, and its port is closed");
        assert!(rig.gate.begun.len() == 1 && rig.stop.is_closed());
    });
}

// Catalogue: 45
#[test]
fn nothing_is_left_of_an_interleave_whose_independent_handlers_outlive_the_teardown() {
    use std::sync::mpsc::{RecvTimeoutError, channel};
    on_each(|dispatcher| {
        let (gate, free, stop) = (Gate::new(), Port::new(), Port::new());
        let (state, (held, released)) = (Arc::new(()), channel::<()>());
        let weak = Arc::downgrade(&state);
        let (running, last) = (gate.clone(), gate.clone());
        let handlers = Handlers::new()
            .independent(&free, move |_: Snapshot<Arc<()>>, name| {
                let _held = &held;
                running.pass(name)
            })
            .teardown(&stop, move |_, name| last.pass(name));
        let interleave = Interleave::start(dispatcher.handle(), state, handlers);
        free.post("running").unwrap();
        assert_eq!(gate.next_begun(), "running");
        stop.post("teardown").unwrap();
        assert_eq!(gate.next_begun(), "teardown");
        gate.leave.post(()).unwrap();
        gate.leave.post(()).unwrap();
        block_on(interleave.ended()).unwrap();
        // A task that learns of the end may use what the state held, even while other handles of the interleave exist.
        assert!(weak.upgrade().is_none());
        drop(interleave);
        // The turn that ran the handler is the last owner that drops the handler.
        let let_go = released.recv_timeout(std::time::Duration::from_secs(60));
        assert_eq!(let_go, Err(RecvTimeoutError::Disconnected));
    });
}

// Catalogue: 77
#[test]
fn the_end_is_signalled_after_the_teardown_handler_has_returned() {
    struct Late(Arc<AtomicUsize>);
    impl Drop for Late {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    on_each(|dispatcher| {
        let dropped = Arc::new(AtomicUsize::new(0));
        let (stop, late) = (Port::new(), dropped.clone());
        let handlers = Handlers::new().teardown(&stop, move |_: (), ()| async move {
            let _late = Late(late);
            for _ in 0..10 {
                yield_now().await;
            }
        });
        let interleave = Interleave::start(dispatcher.handle(), (), handlers);
        stop.post(()).unwrap();
        block_on(interleave.ended()).unwrap();
        assert_eq!(dropped.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn a_teardown_handler_that_panics_is_what_the_end_says() {
    on_each(|dispatcher| {
        let stop = Port::new();
        let handlers = Handlers::new().teardown(&stop, |_: (), ()| async { panic!("no clean end") });
        let interleave = Interleave::start(dispatcher.handle(), (), handlers);
        stop.post(()).unwrap();
        assert_eq!(block_on(interleave.ended()), Err(TaskError::Panicked { message: "no clean end".to_owned() }));
    });
}

#[test]
fn a_teardown_item_that_is_taken_away_before_it_is_seen_ends_nothing() {
    // This thread posts the item and takes it away. Taking succeeds only if the post does not accept the item at once.
    on_each(|dispatcher| {
        let rig = Rig::new();
        let interleave = rig.start(dispatcher, Settings::new());
        rig.get.post("running").unwrap();
        assert_eq!(rig.gate.next_begun(), "running");
        rig.stop.post("accepted").unwrap();
        assert_eq!(rig.stop.try_receive(), None, "it was accepted before the post returned");
        assert_eq!((rig.gate.let_go(), rig.gate.let_go()), ("running", "accepted"));
        block_on(interleave.ended()).unwrap();
    });
}

// Catalogue: 52
#[test]
fn a_dropped_interleave_cancels_what_runs_and_leaves_its_ports() {
    on_each(|dispatcher| {
        let rig = Rig::new();
        let interleave = rig.start(dispatcher, Settings::new());
        rig.update.post("suspended").unwrap();
        assert_eq!(rig.gate.next_begun(), "suspended");
        ["u1", "u2"].iter().for_each(|name| rig.update.post(name).unwrap());
        let handle = interleave.handle().clone();
        drop(interleave);
        assert_eq!(block_on(handle.ended()), Err(TaskError::Cancelled));
        assert_eq!(rig.update.waiting(), 0);
        rig.update.post("u3").unwrap();
        assert_eq!(rig.update.drain(), ["u1", "u2", "u3"]);
        assert!(rig.gate.ended.is_empty());
    });
}

// Catalogue: 61
#[test]
fn an_interleave_ends_with_its_dispatcher_and_says_so() {
    for threads in [1, 2, 8] {
        let dispatcher = Dispatcher::new(threads).unwrap();
        let rig = Rig::new();
        let interleave = rig.start(&dispatcher, Settings::new());
        rig.update.post("suspended").unwrap();
        assert_eq!(rig.gate.next_begun(), "suspended");
        rig.update.post("waits").unwrap();
        assert_eq!(dispatcher.shutdown(Shutdown::Abort).leaked, 0);
        assert_eq!(block_on(interleave.ended()), Err(TaskError::Cancelled));
        assert!(rig.update.post("late").is_err());
        assert_eq!(rig.update.drain(), ["waits"]);
    }
}

#[test]
fn an_abort_of_a_busy_interleave_needs_no_more_stack_for_more_items() {
    const ITEMS: usize = 100_000;
    for threads in [1, 2, 8] {
        let dispatcher = Dispatcher::new(threads).unwrap();
        let (items, begun, never) = (Port::new(), Port::new(), Port::<()>::new());
        let handlers = Handlers::new().exclusive(&items, {
            let (begun, never) = (begun.clone(), never.clone());
            move |_: Exclusive<()>, _: usize| {
                let (begun, never) = (begun.clone(), never.clone());
                async move {
                    begun.post(()).unwrap();
                    let _ = never.receive().await;
                }
            }
        });
        let _interleave = Interleave::start(dispatcher.handle(), (), handlers);
        (0..=ITEMS).for_each(|item| items.post(item).unwrap());
        block_on(begun.receive()).unwrap();
        dispatcher.shutdown(Shutdown::Abort);
        assert_eq!(items.drain().len(), ITEMS);
    }
}

// Catalogue: 45
#[test]
fn what_a_teardown_leaves_behind_is_refused_if_it_is_told_to() {
    on_each(|dispatcher| {
        let (one, pairs, stop, gate) = (Port::new(), Port::new(), Port::new(), Gate::new());
        let (pass, last) = (gate.clone(), gate.clone());
        let (discards, told) = (Port::new(), Port::new());
        let (out, sink) = (discards.clone(), told.clone());
        let reported = Port::builder()
            .on_discard(move |discarded| {
                out.post(discarded.reason).unwrap();
                sink.post(discarded.item).unwrap();
            })
            .build();
        let handlers = Handlers::new()
            .exclusive(&one, move |_: Exclusive<()>, Question { reply }| {
                let pass = pass.pass("one");
                async move {
                    pass.await;
                    reply.answer(1).unwrap();
                }
            })
            .concurrent(&reported, |_: Snapshot<()>, _: u8| async {})
            .exclusive(Source::take(&pairs, 2), |_: Exclusive<()>, _: Vec<Question>| async {})
            .teardown(&stop, move |(), ()| last.pass("stop"));
        let interleave = Settings::new().refuse_pending().start(dispatcher.handle(), (), handlers);
        let ask = |port: &Port<Question>| port.ask(|reply| Question { reply }).unwrap();
        let (first, second) = (ask(&one), ask(&one));
        assert_eq!(gate.next_begun(), "one");
        reported.post(7).unwrap();
        let half = ask(&pairs);
        stop.post(()).unwrap();
        assert!(!second.is_ready(), "what runs comes to its end first");
        assert_eq!(gate.let_go(), "one");
        assert_eq!(gate.next_begun(), "stop");
        // The refusals come before the last handler begins.
        assert!(second.is_ready() && half.is_ready());
        assert_eq!(
            (block_on(first), block_on(second), block_on(half)),
            (Ok(1), Err(Refusal::Stopping), Err(Refusal::Stopping))
        );
        assert_eq!((discards.drain(), told.drain()), (vec![Discard::Stopping], vec![7]));
        assert_eq!(gate.let_go(), "stop");
        block_on(interleave.ended()).unwrap();
        assert!(one.is_empty() && pairs.is_empty() && reported.is_empty());
        // A reply that is dropped after the end is refused as `NoReply`, and not as `Stopping`.
        let (reply, answer) = Reply::<u8>::new();
        drop(reply);
        assert_eq!(block_on(answer), Err(Refusal::NoReply));
    });
}

// Catalogue: 45, 76
#[test]
fn what_waits_when_the_dispatcher_ends_is_refused_if_it_is_to_be() {
    for threads in [1, 2, 8] {
        let dispatcher = Dispatcher::new(threads).unwrap();
        let (work, gate) = (Port::new(), Gate::new());
        let pass = gate.clone();
        let handlers = Handlers::new().exclusive(&work, move |_: Exclusive<()>, question: Question| {
            let pass = pass.pass("work");
            async move {
                pass.await;
                drop(question);
            }
        });
        let interleave = Settings::new().refuse_pending().start(dispatcher.handle(), (), handlers);
        let (runs, waits) =
            (work.ask(|reply| Question { reply }).unwrap(), work.ask(|reply| Question { reply }).unwrap());
        assert_eq!(gate.next_begun(), "work");
        dispatcher.shutdown(Shutdown::Abort);
        assert_eq!((block_on(runs), block_on(waits)), (Err(Refusal::NoReply), Err(Refusal::Stopping)));
        assert_eq!(block_on(interleave.ended()), Err(TaskError::Cancelled));
    }
}

// Catalogue: 60
#[test]
fn an_item_whose_handler_cannot_start_is_in_its_port_again() {
    on_each(|dispatcher| {
        for is_once in [false, true] {
            let queue = dispatcher.queue("closed").build().unwrap();
            let (items, others, taken) = (Port::new(), Port::new(), Port::new());
            let source = if is_once { items.branch().once() } else { items.branch() };
            let handlers = Handlers::new()
                .exclusive(source, |_: Exclusive<()>, _: u32| async { unreachable!("nobody can be made to run it") })
                .exclusive(&others, |_: Exclusive<()>, _: u32| async {});
            let interleave = Interleave::start(queue.handle(), (), handlers);
            queue.close();
            (1..=3).for_each(|item| items.post(item).unwrap());
            assert_eq!((items.len(), interleave.activity().exclusive), (3, 0));
            // Other receivers may take the items.
            assert_eq!(items.try_receive(), Some(1));
            let out = taken.clone();
            let _heir = items.on(dispatcher.handle(), 1, move |item: u32| {
                out.post(item).unwrap();
                async {}
            });
            assert_eq!(block_on(taken.take(2)), Ok(vec![2, 3]));
            items.post(4).unwrap();
            assert_eq!(block_on(taken.receive()), Ok(4));
            drop(interleave);
            assert_eq!((items.len(), others.waiting()), (0, 0));
        }
    });
}

// Catalogue: 47, 75
#[test]
fn an_item_that_is_posted_to_an_interleave_while_its_dispatcher_drains_is_handled_or_in_its_port() {
    for threads in [1, 2, 8] {
        let dispatcher = Dispatcher::new(threads).unwrap();
        let (items, seen, go) = (Port::new(), Port::new(), Port::<()>::new());
        let out = seen.clone();
        let handlers = Handlers::new().concurrent(&items, move |_: Snapshot<()>, item: u32| {
            out.post(item).unwrap();
            async {}
        });
        let _interleave = Interleave::start(dispatcher.handle(), (), handlers);
        let wait = go.clone();
        dispatcher.spawn(async move { wait.receive().await.unwrap() }).detach();
        let handle = dispatcher.handle().clone();
        let poster = std::thread::spawn(move || {
            crate::until(|| handle.execute(|| ()).is_err());
            (1..=5).for_each(|item| items.post(item).unwrap());
            let left = items.drain();
            go.post(()).unwrap();
            left
        });
        dispatcher.shutdown(Shutdown::Drain { limit: std::time::Duration::from_secs(3600) });
        let left = poster.join().unwrap();
        assert_eq!((left, seen.len()), (vec![1, 2, 3, 4, 5], 0), "nobody had a turn there before the end began");
    }
}
