//! Handlers that make requests to their own interleave, or wait for a handler that does.

use lehr_runtime::{Exclusive, Handlers, Interleave, Port, Refusal, Settings, Snapshot, block_on, yield_now};

use super::Question;
use crate::on_each;

// Catalogue: 43
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
        // The same request is answered if it comes from outside the interleave.
        assert_eq!(block_on(inner.ask(|reply| Question { reply }).unwrap()), Ok(7));
        drop(interleave);
    });
}

// Catalogue: 43
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

// Catalogue: 43
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

// Catalogue: 43
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
        // The handler that makes the request uses up the limit itself.
        let interleave = Settings::new().max_concurrent(1).start(dispatcher.handle(), 3, handlers);
        outer.post(()).unwrap();
        block_on(begun.receive()).unwrap();
        write.post(()).unwrap();
        go.post(()).unwrap();
        assert_eq!(block_on(answers.receive()), Ok(Ok(3)));
        crate::until(|| interleave.activity().started >= 3);
        assert_eq!(block_on(interleave.stop()), Ok(9));
    });
}
