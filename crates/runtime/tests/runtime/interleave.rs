use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lehr_runtime::{
    Context, Dispatcher, Exclusive, Handlers, Interleave, Order, Port, Reason, Refusal, Reply, Settings, Shed,
    Shutdown, Snapshot, Source, TaskError, block_on, yield_now,
};

use crate::{Arbitrary, on_each};

/// A handler that says that it has begun, waits for leave, and says that it has ended.
#[derive(Clone)]
struct Gate {
    begun: Port<&'static str>,
    leave: Port<()>,
    ended: Port<&'static str>,
}

impl Gate {
    fn new() -> Self {
        Self { begun: Port::named("begun"), leave: Port::named("leave"), ended: Port::named("ended") }
    }

    fn pass(&self, name: &'static str) -> impl Future<Output = ()> + Send + use<> {
        let gate = self.clone();
        async move {
            gate.begun.post(name).unwrap();
            gate.leave.receive().await.unwrap();
            gate.ended.post(name).unwrap();
        }
    }

    fn next_begun(&self) -> &'static str {
        block_on(self.begun.receive()).unwrap()
    }

    fn let_go(&self) -> &'static str {
        self.leave.post(()).unwrap();
        block_on(self.ended.receive()).unwrap()
    }
}

/// Two concurrent ports, two exclusive ones, whose items are names.
#[derive(Clone)]
struct Rig {
    gate: Gate,
    get: Port<&'static str>,
    look: Port<&'static str>,
    update: Port<&'static str>,
    replace: Port<&'static str>,
    stop: Port<&'static str>,
}

impl Rig {
    fn new() -> Self {
        Self {
            gate: Gate::new(),
            get: Port::named("get"),
            look: Port::named("look"),
            update: Port::named("update"),
            replace: Port::named("replace"),
            stop: Port::named("stop"),
        }
    }

    fn handlers(&self) -> Handlers<Vec<&'static str>> {
        let read = || {
            let gate = self.gate.clone();
            move |_: Snapshot<Vec<&'static str>>, name| gate.pass(name)
        };
        let write = || {
            let gate = self.gate.clone();
            move |mut state: Exclusive<Vec<&'static str>>, name| {
                state.push(name);
                gate.pass(name)
            }
        };
        let gate = self.gate.clone();
        Handlers::new()
            .concurrent(&self.get, read())
            .concurrent(&self.look, read())
            .exclusive(&self.update, write())
            .exclusive(&self.replace, write())
            .teardown(&self.stop, move |_, name| gate.pass(name))
    }

    fn start(&self, dispatcher: &Dispatcher, settings: Settings) -> Interleave<Vec<&'static str>> {
        settings.start(dispatcher.handle(), Vec::new(), self.handlers())
    }
}

// 38
#[test]
fn an_exclusive_item_runs_after_those_that_run_and_before_later_concurrent_ones() {
    on_each(|dispatcher| {
        let rig = Rig::new();
        let interleave = rig.start(dispatcher, Settings::new());
        ["1", "2"].iter().for_each(|name| rig.get.post(name).unwrap());
        ["3", "4"].iter().for_each(|name| rig.look.post(name).unwrap());
        let mut begun: Vec<_> = (0..4).map(|_| rig.gate.next_begun()).collect();
        begun.sort_unstable();
        assert_eq!(begun, ["1", "2", "3", "4"]);
        rig.update.post("writer").unwrap();
        rig.get.post("late reader").unwrap();
        let activity = interleave.activity();
        assert_eq!((activity.concurrent, activity.exclusive), (4, 0));
        assert_eq!((activity.pending_concurrent, activity.pending_exclusive), (1, 1));
        (0..3).for_each(|_| assert!(!rig.gate.let_go().is_empty()));
        assert!(rig.gate.begun.is_empty(), "one of the four still runs");
        rig.gate.let_go();
        assert_eq!(rig.gate.next_begun(), "writer");
        assert_eq!((rig.get.len(), interleave.pending_at(&rig.get)), (1, 1));
        rig.gate.let_go();
        assert_eq!(rig.gate.next_begun(), "late reader");
        rig.gate.let_go();
        assert_eq!(block_on(interleave.stop()), Ok(vec!["writer"]));
    });
}

// 39
#[test]
fn exclusive_items_of_several_branches_run_in_the_order_of_arrival() {
    on_each(|dispatcher| {
        let rig = Rig::new();
        let interleave = rig.start(dispatcher, Settings::new());
        rig.get.post("reader").unwrap();
        assert_eq!(rig.gate.next_begun(), "reader");
        rig.update.post("U1").unwrap();
        rig.replace.post("R1").unwrap();
        rig.update.post("U2").unwrap();
        for name in ["reader", "U1", "R1", "U2"] {
            assert_eq!(rig.gate.let_go(), name);
        }
        assert_eq!(block_on(interleave.stop()), Ok(vec!["U1", "R1", "U2"]));
    });
}

#[test]
fn a_reader_sees_what_was_posted_before_it_and_nothing_that_was_posted_after() {
    on_each(|dispatcher| {
        let (add, read, seen) = (Port::new(), Port::new(), Port::new());
        let out = seen.clone();
        let handlers = Handlers::new()
            .exclusive(&add, |mut total: Exclusive<u64>, n: u64| async move {
                yield_now().await;
                *total += n;
            })
            .concurrent(&read, move |total: Snapshot<u64>, expected: u64| {
                out.post((*total, expected)).unwrap();
                async {}
            });
        let _interleave = Interleave::start(dispatcher.handle(), 0, handlers);
        let mut arbitrary = Arbitrary(0x5eed);
        let mut posted = 0;
        for _ in 0..500 {
            if arbitrary.below(3) == 0 {
                read.post(posted).unwrap();
            } else {
                let n = arbitrary.below(100);
                posted += n;
                add.post(n).unwrap();
            }
        }
        read.post(posted).unwrap();
        loop {
            let (total, expected) = block_on(seen.receive()).unwrap();
            assert_eq!(total, expected);
            if expected == posted {
                break;
            }
        }
    });
}

// 40
#[test]
fn in_arrival_order_no_exclusive_item_passes_a_concurrent_one_that_came_earlier() {
    on_each(|dispatcher| {
        let rig = Rig::new();
        let interleave = rig.start(dispatcher, Settings::new());
        (0..3).for_each(|_| rig.update.post("before").unwrap());
        rig.get.post("reader").unwrap();
        // An endless stream: whenever one ends, another is posted.
        let mut order = Vec::new();
        for _ in 0..8 {
            rig.update.post("after").unwrap();
            order.push(rig.gate.let_go());
        }
        assert_eq!(order, ["before", "before", "before", "reader", "after", "after", "after", "after"]);
        assert_eq!(interleave.activity().passes_max, 0);
    });
}

// 40
#[test]
fn with_phases_a_concurrent_item_waits_for_one_exclusive_handler() {
    on_each(|dispatcher| {
        let rig = Rig::new();
        let _interleave = rig.start(dispatcher, Settings::new().order(Order::PhaseFair));
        (0..5).for_each(|_| rig.update.post("writer").unwrap());
        ["reader 1", "reader 2"].iter().for_each(|name| rig.get.post(name).unwrap());
        assert_eq!((rig.gate.next_begun(), rig.gate.let_go()), ("writer", "writer"));
        let mut readers = [rig.gate.next_begun(), rig.gate.next_begun()];
        readers.sort_unstable();
        assert_eq!(readers, ["reader 1", "reader 2"], "both run in the phase after the first writer");
        rig.get.post("reader 3").unwrap();
        (0..2).for_each(|_| assert!(rig.gate.let_go().starts_with("reader")));
        assert_eq!((rig.gate.next_begun(), rig.gate.let_go()), ("writer", "writer"));
        assert_eq!(rig.gate.next_begun(), "reader 3");
        rig.gate.let_go();
    });
}

// 40
#[test]
fn with_a_bias_a_concurrent_item_may_starve_and_that_is_counted() {
    on_each(|dispatcher| {
        let rig = Rig::new();
        let interleave = rig.start(dispatcher, Settings::new().order(Order::ExclusiveBias));
        rig.update.post("writer").unwrap();
        rig.get.post("reader").unwrap();
        for _ in 0..20 {
            rig.update.post("writer").unwrap();
            assert_eq!(rig.gate.let_go(), "writer");
        }
        assert_eq!(rig.gate.let_go(), "writer");
        assert_eq!(rig.gate.let_go(), "reader");
        assert_eq!((interleave.activity().passes, interleave.activity().passes_max), (0, 20));
    });
}

// 41
#[test]
fn nothing_starts_beside_an_exclusive_handler_that_is_suspended() {
    on_each(|dispatcher| {
        let rig = Rig::new();
        let _interleave = rig.start(dispatcher, Settings::new());
        rig.update.post("suspended").unwrap();
        assert_eq!(rig.gate.next_begun(), "suspended");
        rig.replace.post("writer").unwrap();
        rig.get.post("reader").unwrap();
        // The workers are free: what is spawned now runs.
        block_on(dispatcher.spawn(async { yield_now().await })).unwrap();
        assert_eq!((rig.gate.begun.len(), rig.replace.len(), rig.get.len()), (0, 1, 1));
        assert_eq!(rig.gate.let_go(), "suspended");
        assert_eq!((rig.gate.next_begun(), rig.gate.let_go()), ("writer", "writer"));
        assert_eq!((rig.gate.next_begun(), rig.gate.let_go()), ("reader", "reader"));
    });
}

// 41
#[test]
fn exclusivity_lasts_as_long_as_the_guard_and_as_the_future() {
    on_each(|dispatcher| {
        let (keep, plain, guards, begun) = (Port::new(), Port::new(), Port::new(), Port::new());
        let (out, said) = (guards.clone(), begun.clone());
        let handlers = Handlers::new()
            .exclusive(&keep, move |state: Exclusive<u8>, ()| {
                out.post(state).unwrap_or_else(|_| unreachable!("the port is open"));
                async {}
            })
            .exclusive(&plain, move |_: Exclusive<u8>, leave: Port<()>| {
                said.post(()).unwrap();
                async move { drop(leave.receive().await) }
            });
        let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
        keep.post(()).unwrap();
        let mut guard = block_on(guards.receive()).unwrap_or_else(|_| unreachable!("the port is open"));
        let leave = Port::new();
        plain.post(leave.clone()).unwrap();
        plain.post(leave.clone()).unwrap();
        block_on(dispatcher.spawn(async { yield_now().await })).unwrap();
        assert_eq!((begun.len(), interleave.activity().exclusive), (0, 1));
        *guard += 1;
        drop(guard);
        // Its handler does not look at the guard, and is exclusive all the same.
        block_on(begun.receive()).unwrap();
        assert_eq!((interleave.activity().exclusive, interleave.activity().pending_exclusive), (1, 1));
        (0..2).for_each(|_| leave.post(()).unwrap());
        block_on(begun.receive()).unwrap();
        assert_eq!(block_on(interleave.stop()), Ok(1));
    });
}

// 42
#[test]
fn a_handler_that_panics_gives_way_to_the_next() {
    on_each(|dispatcher| {
        let (port, seen, failures) = (Port::named("update"), Port::new(), Port::new());
        let (out, told) = (seen.clone(), failures.clone());
        let handlers = Handlers::new().exclusive(&port, move |mut state: Exclusive<Vec<u32>>, item: u32| {
            let out = out.clone();
            state.push(item);
            assert_ne!(item, 0, "in the call");
            async move {
                assert_ne!(item, 1, "before an await");
                yield_now().await;
                assert_ne!(item, 2, "after an await");
                out.post(item).unwrap();
            }
        });
        let settings =
            Settings::new().named("store").on_failure(move |failure| told.post(failure.to_string()).unwrap());
        let interleave = settings.start(dispatcher.handle(), Vec::new(), handlers);
        (0..4).for_each(|item| port.post(item).unwrap());
        assert_eq!(block_on(seen.receive()), Ok(3));
        let told = block_on(failures.take(3)).unwrap();
        assert!(told.iter().all(|text| text.starts_with("port \"update\" of store: the task panicked: ")), "{told:?}");
        for (text, moment) in told.iter().zip(["in the call", "before an await", "after an await"]) {
            assert!(text.contains(moment), "{text}");
        }
        assert_eq!(interleave.activity().panicked, 3);
        assert_eq!(block_on(interleave.stop()), Ok(vec![0, 1, 2, 3]));
    });
}

struct Question {
    reply: Reply<u32>,
}

// 43
#[test]
fn a_handler_that_asks_its_own_interleave_is_told_that_it_would_wait_for_ever() {
    on_each(|dispatcher| {
        let (outer, inner, look, answers) =
            (Port::named("outer"), Port::<Question>::named("inner"), Port::<Question>::named("look"), Port::new());
        let (ask, ask_look, out) = (inner.clone(), look.clone(), answers.clone());
        let handlers = Handlers::new()
            .exclusive(&outer, move |_: Exclusive<u32>, ()| {
                let (ask, ask_look, out) = (ask.clone(), ask_look.clone(), out.clone());
                async move {
                    for port in [ask, ask_look] {
                        out.post(port.ask(|reply| Question { reply }).unwrap().await).unwrap();
                    }
                }
            })
            .exclusive(&inner, |state: Exclusive<u32>, Question { reply }| async move { reply.answer(*state).unwrap() })
            .concurrent(&look, |state: Snapshot<u32>, Question { reply }| async move { reply.answer(*state).unwrap() });
        let interleave = Interleave::start(dispatcher.handle(), 7, handlers);
        outer.post(()).unwrap();
        let refusal = |requested: &str| {
            Err(Refusal::WouldDeadlock {
                running: "port \"outer\"".into(),
                requested: format!("port {requested:?}").into(),
            })
        };
        assert_eq!(block_on(answers.receive()), Ok(refusal("inner")));
        assert_eq!(block_on(answers.receive()), Ok(refusal("look")));
        assert!(inner.is_empty() && look.is_empty(), "a refused question does not stay behind");
        // From outside the same question is answered.
        assert_eq!(block_on(inner.ask(|reply| Question { reply }).unwrap()), Ok(7));
        drop(interleave);
    });
}

// 43
#[test]
fn a_deadlock_through_another_interleave_is_seen_too() {
    on_each(|dispatcher| {
        let (front, back, again) =
            (Port::named("front"), Port::<Question>::named("back"), Port::<Question>::named("again"));
        let answers = Port::new();
        let (to_back, out) = (back.clone(), answers.clone());
        let first = Handlers::new()
            .exclusive(&front, move |_: Exclusive<()>, ()| {
                let (to_back, out) = (to_back.clone(), out.clone());
                async move { out.post(to_back.ask(|reply| Question { reply }).unwrap().await).unwrap() }
            })
            .exclusive(&again, |_: Exclusive<()>, Question { reply }| async move { reply.answer(1).unwrap() });
        let to_first = again.clone();
        let second = Handlers::new().exclusive(&back, move |_: Exclusive<()>, Question { reply }| {
            let to_first = to_first.clone();
            async move {
                match to_first.ask(|reply| Question { reply }).unwrap().await {
                    Ok(number) => reply.answer(number).unwrap(),
                    Err(refusal) => reply.refuse(refusal),
                }
            }
        });
        let _first = Interleave::start(dispatcher.handle(), (), first);
        let _second = Interleave::start(dispatcher.handle(), (), second);
        front.post(()).unwrap();
        let refusal = Refusal::WouldDeadlock { running: "port \"front\"".into(), requested: "port \"again\"".into() };
        assert_eq!(block_on(answers.receive()), Ok(Err(refusal)));
    });
}

// 43
#[test]
fn a_handler_that_lends_its_exclusivity_is_answered_by_its_own_interleave() {
    on_each(|dispatcher| {
        let (outer, add, look, answers) =
            (Port::named("outer"), Port::<Question>::named("add"), Port::<Question>::named("look"), Port::new());
        let (to_add, to_look, out) = (add.clone(), look.clone(), answers.clone());
        let handlers = Handlers::new()
            .exclusive(&outer, move |mut state: Exclusive<u32>, ()| {
                let (to_add, to_look, out) = (to_add.clone(), to_look.clone(), out.clone());
                async move {
                    *state += 1;
                    let ask = || async {
                        let first = to_add.ask(|reply| Question { reply }).unwrap();
                        let second = to_add.ask(|reply| Question { reply }).unwrap();
                        let third = to_look.ask(|reply| Question { reply }).unwrap();
                        (first.await, second.await, third.await)
                    };
                    let (state, given) = state.reenter(ask).await;
                    out.post((given, *state)).unwrap();
                }
            })
            .exclusive(&add, |mut state: Exclusive<u32>, Question { reply }| async move {
                yield_now().await;
                *state += 10;
                reply.answer(*state).unwrap();
            })
            .concurrent(&look, |state: Snapshot<u32>, Question { reply }| async move { reply.answer(*state).unwrap() });
        let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
        outer.post(()).unwrap();
        assert_eq!(block_on(answers.receive()), Ok(((Ok(11), Ok(21), Ok(21)), 21)));
        assert_eq!(block_on(interleave.stop()), Ok(21));
    });
}

// 43
#[test]
fn a_reader_may_ask_readers_of_its_own_interleave_while_a_writer_waits() {
    on_each(|dispatcher| {
        let (outer, look, write) = (Port::named("outer"), Port::<Question>::named("look"), Port::named("write"));
        let (begun, go, answers) = (Port::new(), Port::new(), Port::new());
        let rig = (look.clone(), begun.clone(), go.clone(), answers.clone());
        let handlers = Handlers::new()
            .concurrent(&outer, move |_: Snapshot<u32>, ()| {
                let (look, begun, go, answers) = rig.clone();
                async move {
                    begun.post(()).unwrap();
                    go.receive().await.unwrap();
                    answers.post(look.ask(|reply| Question { reply }).unwrap().await).unwrap();
                }
            })
            .concurrent(&look, |state: Snapshot<u32>, Question { reply }| async move { reply.answer(*state).unwrap() })
            .exclusive(&write, |mut state: Exclusive<u32>, ()| async move { *state = 9 });
        // The limit is taken by the asker itself.
        let interleave = Settings::new().max_concurrent(1).start(dispatcher.handle(), 3, handlers);
        outer.post(()).unwrap();
        block_on(begun.receive()).unwrap();
        write.post(()).unwrap();
        go.post(()).unwrap();
        assert_eq!(block_on(answers.receive()), Ok(Ok(3)));
        while interleave.activity().started < 3 {
            std::thread::yield_now();
        }
        assert_eq!(block_on(interleave.stop()), Ok(9));
    });
}

// 44
#[test]
fn no_more_concurrent_handlers_overlap_than_allowed() {
    on_each(|dispatcher| {
        let rig = Rig::new();
        let interleave = rig.start(dispatcher, Settings::new().max_concurrent(2));
        for _ in 0..5 {
            rig.get.post("get").unwrap();
            rig.look.post("look").unwrap();
        }
        for left in (0..10).rev() {
            let running = 2.min(left + 1);
            assert_eq!(interleave.activity().concurrent, running);
            assert_eq!(interleave.activity().pending_concurrent, (left + 1) - running);
            rig.gate.let_go();
            // The end of a handler is a moment later than what it says last.
            while interleave.activity().concurrent + interleave.activity().pending_concurrent > left {
                std::thread::yield_now();
            }
        }
    });
}

// 44
#[test]
fn a_branch_has_a_limit_of_its_own() {
    on_each(|dispatcher| {
        let (narrow, wide, gate) = (Port::new(), Port::new(), Gate::new());
        let (first, second) = (gate.clone(), gate.clone());
        let handlers = Handlers::new()
            .concurrent(narrow.branch().limit(1), move |_: Snapshot<()>, name| first.pass(name))
            .concurrent(&wide, move |_: Snapshot<()>, name| second.pass(name));
        let interleave = Interleave::start(dispatcher.handle(), (), handlers);
        (0..3).for_each(|_| narrow.post("narrow").unwrap());
        (0..3).for_each(|_| wide.post("wide").unwrap());
        let mut begun: Vec<_> = (0..4).map(|_| gate.next_begun()).collect();
        begun.sort_unstable();
        assert_eq!(begun, ["narrow", "wide", "wide", "wide"]);
        assert_eq!((interleave.activity().concurrent, interleave.pending_at(&narrow)), (4, 2));
        (0..6).for_each(|_| assert!(!gate.let_go().is_empty()));
    });
}

// 45, 77
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
        // It runs alone, and everything is back.
        assert_eq!(interleave.activity().exclusive + interleave.activity().concurrent, 0);
        assert_eq!((rig.get.drain(), rig.look.drain()), (vec!["g1", "g2"], vec!["l1"]));
        assert_eq!((rig.update.drain(), rig.replace.drain()), (vec!["u1"], vec!["r1"]));
        assert_eq!(rig.gate.let_go(), "teardown");
        assert_eq!(block_on(interleave.ended()), Ok(()));
        assert_eq!((interleave.activity().started, rig.gate.begun.len()), (1, 0));
        assert_eq!(rig.get.waiting() + rig.update.waiting() + rig.stop.waiting(), 0);
    });
}

// 45
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

// 46, 47
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

// 46
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

// 77
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
    // Its poster is this thread, and so is the thief: it comes between only if the post does not accept at once.
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

#[test]
fn independent_handlers_run_at_any_time_and_see_what_the_last_guard_left() {
    on_each(|dispatcher| {
        let (write, peek, stop, gate, seen) = (Port::new(), Port::new(), Port::new(), Gate::new(), Port::new());
        let (pass, last, out) = (gate.clone(), gate.clone(), seen.clone());
        let handlers = Handlers::new()
            .exclusive(&write, move |mut state: Exclusive<u32>, ()| {
                let passed = pass.pass("write");
                async move {
                    *state += 1;
                    passed.await;
                    drop(state);
                }
            })
            .independent(&peek, move |state: Snapshot<u32>, ()| {
                out.post((*state, state.version())).unwrap();
                async {}
            })
            .teardown(&stop, move |_: u32, ()| last.pass("stop"));
        let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
        let peeked = || {
            peek.post(()).unwrap();
            block_on(seen.receive()).unwrap()
        };
        write.post(()).unwrap();
        assert_eq!(gate.next_begun(), "write");
        assert_eq!(peeked(), (0, 0), "the change is not finished");
        assert_eq!(gate.let_go(), "write");
        while interleave.activity().exclusive > 0 {
            std::thread::yield_now();
        }
        assert_eq!(peeked(), (1, 1));
        stop.post(()).unwrap();
        assert_eq!(gate.next_begun(), "stop");
        assert_eq!(peeked(), (1, 1), "also during the teardown");
        assert_eq!(gate.let_go(), "stop");
        block_on(interleave.ended()).unwrap();
        assert!(peek.post(()).is_err());
    });
}

#[test]
fn a_snapshot_that_is_kept_does_not_change_and_holds_nobody_up() {
    on_each(|dispatcher| {
        let (read, write, kept, done) = (Port::new(), Port::new(), Port::new(), Port::new());
        let (out, said) = (kept.clone(), done.clone());
        let handlers = Handlers::new()
            .concurrent(&read, move |state: Snapshot<Vec<u8>>, ()| {
                out.post(state).unwrap();
                async {}
            })
            .exclusive(&write, move |mut state: Exclusive<Vec<u8>>, byte| {
                let before = state.as_ptr();
                state.push(byte);
                said.post(before == state.as_ptr()).unwrap();
                async {}
            });
        let interleave = Interleave::start(dispatcher.handle(), Vec::with_capacity(8), handlers);
        write.post(1).unwrap();
        assert_eq!(block_on(done.receive()), Ok(true), "nobody looks: changed in place");
        read.post(()).unwrap();
        let old = block_on(kept.receive()).unwrap();
        write.post(2).unwrap();
        assert_eq!(block_on(done.receive()), Ok(false), "somebody looks: a copy is changed");
        assert_eq!((old.to_vec(), old.version()), (vec![1], 1));
        assert_eq!(block_on(interleave.stop()), Ok(vec![1, 2]));
    });
}

// 48
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

// 49
#[test]
fn spent_one_time_branches_leave_nothing_behind() {
    on_each(|dispatcher| {
        let rounds = if dispatcher.threads() == 2 { 100_000 } else { 2_000 };
        let (port, done) = (Port::new(), Port::new());
        let interleave = Interleave::start(dispatcher.handle(), 0usize, Handlers::new());
        for round in 0..rounds {
            let out = done.clone();
            let once =
                Handlers::new().exclusive(port.branch().once(), move |mut state: Exclusive<usize>, item: usize| {
                    *state += item;
                    out.post(()).unwrap();
                    async {}
                });
            interleave.combine(once).unwrap();
            port.post(1).unwrap();
            block_on(done.receive()).unwrap();
            assert!(interleave.activity().branches <= 2, "round {round}");
            // Its task may still be on its way out.
            while interleave.activity().branches > 0 {
                std::thread::yield_now();
            }
        }
        assert_eq!((port.waiting(), interleave.activity().branches), (0, 0));
        assert_eq!(block_on(interleave.stop()), Ok(rounds));
    });
}

// 50
#[test]
fn a_pending_item_that_is_shed_is_answered() {
    on_each(|dispatcher| {
        let (work, gate) = (Port::named("work"), Gate::new());
        let pass = gate.clone();
        let handlers = Handlers::new().exclusive(&work, move |_: Exclusive<()>, question: Question| {
            let pass = pass.pass("work");
            async move {
                pass.await;
                question.reply.answer(1).unwrap();
            }
        });
        let interleave = Interleave::start(dispatcher.handle(), (), handlers);
        let mut answers: Vec<_> = (0..4).map(|_| work.ask(|reply| Question { reply }).unwrap()).collect();
        assert_eq!(gate.next_begun(), "work");
        // One runs, three wait: nothing is shed while no more than three do.
        assert!(interleave.shed(&work, Shed::Oldest, 3).is_none());
        interleave.shed(&work, Shed::Oldest, 2).unwrap().reply.refuse(Refusal::Overloaded);
        interleave.shed(&work, Shed::Newest, 1).unwrap().reply.refuse(Refusal::Overloaded);
        assert_eq!((interleave.pending_at(&work), interleave.activity().pending_exclusive), (1, 1));
        assert_eq!(block_on(answers.remove(3)), Err(Refusal::Overloaded));
        assert_eq!(block_on(answers.remove(1)), Err(Refusal::Overloaded));
        (0..2).for_each(|_| assert_eq!(gate.let_go(), "work"));
        answers.into_iter().for_each(|answer| assert_eq!(block_on(answer), Ok(1)));
    });
}

#[test]
fn an_item_that_waits_for_admission_may_be_taken_by_anybody() {
    on_each(|dispatcher| {
        let rig = Rig::new();
        let interleave = rig.start(dispatcher, Settings::new());
        rig.get.post("reader").unwrap();
        assert_eq!(rig.gate.next_begun(), "reader");
        ["u1", "u2"].iter().for_each(|name| rig.update.post(name).unwrap());
        rig.get.post("late").unwrap();
        assert_eq!((rig.update.try_receive(), rig.update.try_receive()), (Some("u1"), Some("u2")));
        // Nothing exclusive waits any more, so the late reader need not.
        assert_eq!(rig.gate.next_begun(), "late");
        assert_eq!(interleave.activity().pending_exclusive, 0);
        (0..2).for_each(|_| assert!(!rig.gate.let_go().is_empty()));
    });
}

// 52
#[test]
fn a_handler_that_is_cancelled_while_suspended_is_dropped_and_gives_way() {
    struct Held(Port<&'static str>);
    impl Drop for Held {
        fn drop(&mut self) {
            self.0.post("dropped").unwrap();
        }
    }
    on_each(|dispatcher| {
        let (stuck, next, seen) = (Port::new(), Port::new(), Port::new());
        let (begun, out) = (seen.clone(), seen.clone());
        let handlers = Handlers::new()
            .exclusive(&stuck, move |mut state: Exclusive<u8>, ()| {
                *state += 1;
                begun.post("begun").unwrap();
                let held = Held(begun.clone());
                async move {
                    let _held = held;
                    std::future::pending::<()>().await;
                    drop(state);
                }
            })
            .exclusive(&next, move |_: Exclusive<u8>, ()| {
                out.post("next").unwrap();
                async {}
            });
        let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
        stuck.post(()).unwrap();
        next.post(()).unwrap();
        assert_eq!(block_on(seen.receive()), Ok("begun"));
        assert_eq!(interleave.cancel_at(&stuck), 1);
        assert_eq!(block_on(seen.take(2)), Ok(vec!["dropped", "next"]));
        assert_eq!(interleave.activity().cancelled, 1);
        assert_eq!(block_on(interleave.stop()), Ok(1));
    });
}

// 52
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

// 61
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

// 26
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
        while interleave.activity().branches > 0 {
            std::thread::yield_now();
        }
        assert_eq!((left.drain(), right.drain()), (vec![2, 3], vec![20, 30]));
        assert_eq!((left.waiting(), right.waiting(), seen.len()), (0, 0, 0));
        assert_eq!(block_on(interleave.stop()), Ok(11));
    });
}

// 27
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
        // What is taken in pairs from `a` depends on who comes first; all of it is taken, except what no pair is left for.
        while a.len() > 1 || (!a.is_empty() && !b.is_empty()) || interleave.activity().exclusive > 0 || !ones.is_empty()
        {
            std::thread::yield_now();
        }
        let state = block_on(interleave.stop()).unwrap();
        let (joined, taken, single) = (state % 100, state / 100 % 100, state / 10_000);
        assert_eq!(single, 50);
        assert_eq!(joined as usize + 2 * taken as usize + a.len(), 150);
        assert_eq!(joined as usize + b.len(), 50);
    });
}

// 18
#[test]
fn an_interleave_with_two_branches_on_a_port_may_be_made_while_others_post_there() {
    const ROUNDS: usize = 500;
    on_each(|dispatcher| {
        let port = Port::new();
        let stop = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            let poster = scope.spawn(|| {
                let mut posted = 0;
                while stop.load(Ordering::SeqCst) == 0 {
                    port.post(posted).unwrap();
                    posted += 1;
                    if port.len() > 1_000 {
                        std::thread::yield_now();
                    }
                }
                posted
            });
            let mut handled = 0;
            for _ in 0..ROUNDS {
                let handlers = Handlers::new()
                    .exclusive(port.branch().when(|item| item % 2 == 0), |mut count: Exclusive<usize>, _: usize| {
                        *count += 1;
                        async {}
                    })
                    .exclusive(&port, |mut count: Exclusive<usize>, _: usize| {
                        *count += 1;
                        async {}
                    });
                let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
                handled += block_on(interleave.stop()).unwrap();
            }
            stop.store(1, Ordering::SeqCst);
            let posted = poster.join().unwrap();
            assert_eq!(handled + port.drain().len(), posted);
            assert_eq!(port.waiting(), 0);
        });
    });
}

// 42, 69
#[test]
fn a_panic_of_a_handler_goes_to_the_context_of_its_item() {
    on_each(|dispatcher| {
        let (risky, errors) = (Port::new(), Port::new());
        let handlers = Handlers::new().exclusive(&risky, |mut state: Exclusive<u64>, is_lucky: bool| async move {
            *state += 1;
            yield_now().await;
            assert!(is_lucky, "no luck");
        });
        let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
        Context::named("request").errors_to(&errors).build().run(|| {
            risky.post(false).unwrap();
            risky.post(true).unwrap();
        });
        let error = block_on(errors.receive()).unwrap();
        assert!(error.message().contains("no luck"), "{error}");
        while interleave.latest().map(|state| *state) != Some(2) {
            std::thread::yield_now();
        }
        assert_eq!((block_on(interleave.stop()), errors.len()), (Ok(2), 0));
    });
}

// 41
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
        // Three that it has taken for itself and not begun.
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
