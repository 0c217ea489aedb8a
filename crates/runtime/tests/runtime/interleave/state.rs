//! The state that handlers see, and the fate of items that are shed or cancelled, or whose handlers fail.

use lehr_runtime::{
    Context, Exclusive, Handlers, Interleave, Port, Refusal, Reply, Settings, Shed, Snapshot, Source, TaskError,
    block_on, in_place, yield_now,
};

use super::{Gate, Question, Rig};
use crate::on_each;

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
        crate::until(|| interleave.activity().exclusive == 0);
        assert_eq!(peeked(), (1, 1));
        stop.post(()).unwrap();
        assert_eq!(gate.next_begun(), "stop");
        assert_eq!(peeked(), (1, 1), "also during the teardown");
        assert_eq!(gate.let_go(), "stop");
        block_on(interleave.ended()).unwrap();
        assert!(peek.post(()).is_err());
    });
}

/// The use that a handler makes of its guard, and the way in which the handler ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fate {
    Ends,
    WaitsAndEnds,
    DropsItAndEnds,
    DropsItAndWaits,
    WaitsAndDropsIt,
    Panics,
    DropsItAndPanics,
    DropsItAndWaitsAndPanics,
    GivesItAway,
    DropsItInTheMiddleOfAnother,
}

impl Fate {
    const ALL: [Self; 10] = [
        Self::Ends,
        Self::WaitsAndEnds,
        Self::DropsItAndEnds,
        Self::DropsItAndWaits,
        Self::WaitsAndDropsIt,
        Self::Panics,
        Self::DropsItAndPanics,
        Self::DropsItAndWaitsAndPanics,
        Self::GivesItAway,
        Self::DropsItInTheMiddleOfAnother,
    ];
}

// Catalogue: 42
#[test]
fn a_state_is_back_however_its_guard_was_let_go() {
    on_each(|dispatcher| {
        let (work, read, seen, given) = (Port::new(), Port::new(), Port::new(), Port::named("given"));
        // The handler of another interleave is polled in the middle of a handler's poll, and drops the guard that it
        // gets there.
        let sink = Port::<(Exclusive<Vec<Fate>>, Reply<()>)>::new();
        let drops =
            Handlers::new().exclusive(&sink, |_: Exclusive<()>, (guard, reply): (Exclusive<Vec<Fate>>, Reply<()>)| {
                drop(guard);
                reply.answer(()).unwrap();
                async {}
            });
        let _dropping = Interleave::start(dispatcher.handle(), (), drops);
        let (out, aside, away) = (seen.clone(), given.clone(), sink.clone());
        let handlers = Handlers::new()
            .exclusive(&work, move |mut state: Exclusive<Vec<Fate>>, fate: Fate| {
                let (aside, away) = (aside.clone(), away.clone());
                async move {
                    state.push(fate);
                    match fate {
                        Fate::Ends => {}
                        Fate::WaitsAndEnds => yield_now().await,
                        Fate::DropsItAndEnds => drop(state),
                        Fate::DropsItAndWaits => {
                            drop(state);
                            yield_now().await;
                        }
                        Fate::WaitsAndDropsIt => {
                            yield_now().await;
                            drop(state);
                        }
                        Fate::Panics => panic!("with the state in hand"),
                        Fate::DropsItAndPanics => {
                            drop(state);
                            panic!("without it");
                        }
                        Fate::DropsItAndWaitsAndPanics => {
                            drop(state);
                            yield_now().await;
                            panic!("without it");
                        }
                        Fate::GivesItAway => aside.post(state).unwrap(),
                        Fate::DropsItInTheMiddleOfAnother => {
                            in_place(|| away.ask(|reply| (state, reply)).unwrap()).await.unwrap();
                        }
                    }
                }
            })
            .concurrent(&read, move |state: Snapshot<Vec<Fate>>, ()| {
                out.post((state.to_vec(), state.version())).unwrap();
                async {}
            });
        let interleave = Settings::new().on_failure(|_| {}).start(dispatcher.handle(), Vec::new(), handlers);
        // First each fate is tried alone, with a look at the state after it. Then each fate follows each other fate,
        // without a look between them.
        let mut all = Vec::new();
        for fate in Fate::ALL {
            work.post(fate).unwrap();
            read.post(()).unwrap();
            if fate == Fate::GivesItAway {
                let guard = block_on(given.receive()).unwrap();
                assert!(seen.try_receive().is_none(), "the state is out as long as the guard is there");
                drop(guard);
            }
            all.push(fate);
            assert_eq!(block_on(seen.receive()), Ok((all.clone(), all.len() as u64)), "{fate:?}");
        }
        // The guards that are given away are dropped by a receiver.
        let handle = dispatcher.handle().clone();
        let receiver = given.on(&handle, 1, |guard| async move { drop(guard) });
        for first in Fate::ALL {
            for second in Fate::ALL {
                work.post(first).unwrap();
                work.post(second).unwrap();
                all.extend([first, second]);
            }
        }
        read.post(()).unwrap();
        assert_eq!(block_on(seen.receive()), Ok((all.clone(), all.len() as u64)));
        let activity = interleave.activity();
        assert_eq!((activity.exclusive, activity.pending_exclusive), (0, 0));
        let panics =
            |fate: &&Fate| matches!(fate, Fate::Panics | Fate::DropsItAndPanics | Fate::DropsItAndWaitsAndPanics);
        assert_eq!(activity.panicked, all.iter().filter(panics).count() as u64);
        drop(receiver);
        assert_eq!(block_on(interleave.stop()), Ok(all));
    });
}

#[test]
fn a_state_that_is_let_go_before_the_handler_ends_is_seen_by_who_follows_it() {
    on_each(|dispatcher| {
        let (add, gate) = (Port::new(), Gate::new());
        let pass = gate.clone();
        let handlers = Handlers::new().exclusive(&add, move |mut total: Exclusive<u64>, n: u64| {
            *total += n;
            drop(total);
            pass.pass("add")
        });
        let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
        let follower = interleave.handle().clone();
        assert_eq!(follower.latest().as_deref(), Some(&0));
        for expected in [1, 2] {
            add.post(1).unwrap();
            assert_eq!(gate.next_begun(), "add");
            // The handler has not ended, so no other handler may start. A look at the state shows the change.
            assert_eq!(follower.latest().as_deref(), Some(&expected));
            assert!(follower.glance().is_none());
            assert_eq!(gate.let_go(), "add");
        }
        assert_eq!(block_on(interleave.stop()), Ok(2));
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

// Catalogue: 50
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
        // One handler runs and three items wait. Nothing is shed as long as at most three items wait.
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
        // No exclusive item waits any more, so the late reader need not wait either.
        assert_eq!(rig.gate.next_begun(), "late");
        assert_eq!(interleave.activity().pending_exclusive, 0);
        (0..2).for_each(|_| assert!(!rig.gate.let_go().is_empty()));
    });
}

// Catalogue: 52
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

// Catalogue: 42, 69
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
        crate::until(|| interleave.latest().map(|state| *state) == Some(2));
        assert_eq!((block_on(interleave.stop()), errors.len()), (Ok(2), 0));
    });
}

// Catalogue: 71, 73
#[test]
fn handlers_of_joins_and_takes_run_in_the_contexts_of_their_items() {
    on_each(|dispatcher| {
        let (a, b, seen, stop) = (Port::new(), Port::new(), Port::new(), Port::new());
        let (out, both_out, last) = (seen.clone(), seen.clone(), seen.clone());
        let now = || {
            Context::current().map_or_else(Vec::new, |now| {
                let mut ids: Vec<u64> = now.links().iter().map(Context::id).collect();
                ids.extend(now.parent().map(Context::id));
                ids.push(now.id());
                ids
            })
        };
        let handlers = Handlers::new()
            .exclusive(Source::join((&a, &b)).unwrap(), move |_: Exclusive<()>, _: (u8, u8)| {
                let out = out.clone();
                async move {
                    yield_now().await;
                    out.post(now()).unwrap();
                }
            })
            .concurrent(Source::take(&b, 3), move |_: Snapshot<()>, _: Vec<u8>| {
                both_out.post(now()).unwrap();
                async {}
            })
            .teardown(&stop, move |(), ()| async move { last.post(now()).unwrap() });
        let (x, y) = (Context::named("x").build(), Context::named("y").build());
        let interleave = Interleave::start(dispatcher.handle(), (), handlers);
        x.run(|| a.post(1).unwrap());
        y.run(|| b.post(1).unwrap());
        let ids = block_on(seen.receive()).unwrap();
        assert!(ids.contains(&x.id()) && ids.contains(&y.id()), "{ids:?}");
        y.run(|| (0..3).for_each(|_| b.post(1).unwrap()));
        assert_eq!(block_on(seen.receive()).unwrap(), [y.id()]);
        // A pair without a context is handled in no context, whichever context the turn had before.
        a.post(1).unwrap();
        b.post(1).unwrap();
        assert_eq!(block_on(seen.receive()).unwrap(), []);
        x.run(|| stop.post(()).unwrap());
        assert_eq!(block_on(seen.receive()).unwrap(), [x.id()]);
        block_on(interleave.ended()).unwrap();
    });
}

// Catalogue: 52, 74
#[test]
fn a_context_that_is_cancelled_stops_the_handlers_of_its_items_and_no_others() {
    on_each(|dispatcher| {
        let (work, pairs, gate, failures) = (Port::named("work"), Port::named("pairs"), Gate::new(), Port::new());
        let (pass, also, told) = (gate.clone(), gate.clone(), failures.clone());
        let handlers = Handlers::new()
            .exclusive(&work, move |_: Exclusive<()>, name: &'static str| pass.pass(name))
            .exclusive(Source::take(&pairs, 2), move |_: Exclusive<()>, names: Vec<&'static str>| also.pass(names[0]));
        let settings = Settings::new().on_failure(move |failure| told.post(failure.error).unwrap());
        let interleave = settings.start(dispatcher.handle(), (), handlers);
        let request = Context::named("request").cancellable().build();
        request.run(|| {
            work.post("runs").unwrap();
            assert_eq!(gate.next_begun(), "runs");
            work.post("waits").unwrap();
            (0..2).for_each(|_| pairs.post("pair").unwrap());
        });
        // A take counts as arrived when its turn has seen that there are enough items.
        crate::until(|| interleave.activity().pending_exclusive == 2);
        work.post("stranger").unwrap();
        assert!(request.cancel());
        // The running handler, the waiting item and the pair are cancelled; the stranger is not.
        assert_eq!(block_on(failures.take(3)).unwrap(), [const { TaskError::Cancelled }; 3]);
        assert_eq!((gate.next_begun(), gate.let_go()), ("stranger", "stranger"));
        // The branch has lost no turn through the cancellation.
        work.post("later").unwrap();
        assert_eq!((gate.next_begun(), gate.let_go()), ("later", "later"));
        crate::until(|| interleave.activity().exclusive == 0);
        assert_eq!((interleave.activity().cancelled, gate.begun.len()), (3, 0));
        assert_eq!(block_on(interleave.stop()), Ok(()));
    });
}
