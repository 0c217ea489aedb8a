//! Which handlers run at the same time, and in which order handlers start.

use lehr_runtime::{
    Exclusive, Handlers, Interleave, InterleaveHandle, Order, Port, Settings, Shed, Snapshot, block_on, yield_now,
};

use super::{Gate, Rig};
use crate::{Arbitrary, on_each};

// Catalogue: 38
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

// Catalogue: 39
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

// Catalogue: 40
#[test]
fn in_arrival_order_no_exclusive_item_passes_a_concurrent_one_that_came_earlier() {
    on_each(|dispatcher| {
        let rig = Rig::new();
        let interleave = rig.start(dispatcher, Settings::new());
        (0..3).for_each(|_| rig.update.post("before").unwrap());
        rig.get.post("reader").unwrap();
        // The stream of exclusive items does not end: whenever a handler ends, another item is posted.
        let mut order = Vec::new();
        for _ in 0..8 {
            rig.update.post("after").unwrap();
            order.push(rig.gate.let_go());
        }
        assert_eq!(order, ["before", "before", "before", "reader", "after", "after", "after", "after"]);
        assert_eq!(interleave.activity().passes_max, 0);
    });
}

// Catalogue: 40
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

// Catalogue: 40
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

// Catalogue: 41
#[test]
fn nothing_starts_beside_an_exclusive_handler_that_is_suspended() {
    on_each(|dispatcher| {
        let rig = Rig::new();
        let _interleave = rig.start(dispatcher, Settings::new());
        rig.update.post("suspended").unwrap();
        assert_eq!(rig.gate.next_begun(), "suspended");
        rig.replace.post("writer").unwrap();
        rig.get.post("reader").unwrap();
        // The workers are free: a task that is spawned now runs.
        block_on(dispatcher.spawn(async { yield_now().await })).unwrap();
        assert_eq!((rig.gate.begun.len(), rig.replace.len(), rig.get.len()), (0, 1, 1));
        assert_eq!(rig.gate.let_go(), "suspended");
        assert_eq!((rig.gate.next_begun(), rig.gate.let_go()), ("writer", "writer"));
        assert_eq!((rig.gate.next_begun(), rig.gate.let_go()), ("reader", "reader"));
    });
}

// Catalogue: 41
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
        // The handler does not use its guard, and is exclusive nevertheless.
        block_on(begun.receive()).unwrap();
        assert_eq!((interleave.activity().exclusive, interleave.activity().pending_exclusive), (1, 1));
        (0..2).for_each(|_| leave.post(()).unwrap());
        block_on(begun.receive()).unwrap();
        assert_eq!(block_on(interleave.stop()), Ok(1));
    });
}

// Catalogue: 42
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

// Catalogue: 44
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
            // A handler ends a moment after its last message.
            crate::until(|| interleave.activity().concurrent + interleave.activity().pending_concurrent <= left);
        }
    });
}

// Catalogue: 44
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

/// Runs the queue of one branch, whose handlers one turn starts one after the other. A change that a handler makes to
/// the rest of the queue takes effect before the next handler starts.
#[test]
fn a_queue_that_one_turn_works_off_stops_for_whatever_comes_between() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Between {
        Nothing,
        Reader,
        Writer,
        Theft,
        Shedding,
        Teardown,
    }
    on_each(|dispatcher| {
        for order in [Order::Arrival, Order::PhaseFair, Order::ExclusiveBias] {
            for between in [
                Between::Nothing,
                Between::Reader,
                Between::Writer,
                Between::Theft,
                Between::Shedding,
                Between::Teardown,
            ] {
                let (work, read, other, stop) = (Port::new(), Port::new(), Port::new(), Port::new());
                let (done, hold, me) = (Port::new(), Port::new(), Port::<InterleaveHandle<()>>::new());
                let ports = (work.clone(), read.clone(), other.clone(), stop.clone());
                let (first, second, third) = (done.clone(), done.clone(), done.clone());
                let (held, own) = (hold.clone(), me.clone());
                let handlers = Handlers::new()
                    .exclusive(&work, move |_: Exclusive<()>, number: u32| {
                        let ((work, read, other, stop), done) = (ports.clone(), first.clone());
                        let (held, own) = (held.clone(), own.clone());
                        async move {
                            if number == 0 {
                                let () = held.receive().await.unwrap();
                            }
                            if number == 3 {
                                match between {
                                    Between::Nothing => {}
                                    Between::Reader => read.post(()).unwrap(),
                                    Between::Writer => other.post(()).unwrap(),
                                    Between::Theft => assert_eq!(work.try_receive(), Some(4)),
                                    Between::Shedding => {
                                        let interleave = own.receive().await.unwrap();
                                        assert_eq!(interleave.shed(&work, Shed::Oldest, 0), Some(4));
                                    }
                                    Between::Teardown => stop.post(()).unwrap(),
                                }
                            }
                            done.post(number).unwrap();
                        }
                    })
                    .concurrent(&read, move |_: Snapshot<()>, ()| {
                        second.post(100).unwrap();
                        async {}
                    })
                    .exclusive(&other, move |_: Exclusive<()>, ()| {
                        third.post(200).unwrap();
                        async {}
                    })
                    .teardown(&stop, |(), ()| async {});
                let interleave = Settings::new().order(order).start(dispatcher.handle(), (), handlers);
                me.post(interleave.handle().clone()).unwrap();
                (0..8).for_each(|number| work.post(number).unwrap());
                hold.post(()).unwrap();
                let expected: Vec<u32> = match (between, order) {
                    (Between::Nothing, _) => (0..8).collect(),
                    // The reader runs in the next phase.
                    (Between::Reader, Order::PhaseFair) => vec![0, 1, 2, 3, 100, 4, 5, 6, 7],
                    (Between::Reader, _) => vec![0, 1, 2, 3, 4, 5, 6, 7, 100],
                    (Between::Writer, _) => vec![0, 1, 2, 3, 4, 5, 6, 7, 200],
                    (Between::Theft | Between::Shedding, _) => vec![0, 1, 2, 3, 5, 6, 7],
                    (Between::Teardown, _) => vec![0, 1, 2, 3],
                };
                assert_eq!(block_on(done.take(expected.len())), Ok(expected), "{between:?}, {order:?}");
                if between == Between::Teardown {
                    block_on(interleave.ended()).unwrap();
                    assert_eq!(work.drain(), [4, 5, 6, 7], "what waits stays where it is");
                } else {
                    assert_eq!(block_on(interleave.stop()), Ok(()));
                }
                assert!(done.is_empty());
            }
        }
    });
}
