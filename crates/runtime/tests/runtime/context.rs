use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use lehr_runtime::{
    Builder, Cause, Clock, Context, ContextError, Dispatcher, Inheritance, Port, Reply, TaskError, TraceParent, all,
    block_on, join, set_error_hook, yield_now,
};

use crate::on_each;

/// Returns the port of the texts that the process's hook gets. All tests share this port, and each test waits for its
/// own text.
fn hooked() -> &'static Port<String> {
    static HOOKED: OnceLock<Port<String>> = OnceLock::new();
    HOOKED.get_or_init(|| {
        let port = Port::named("hook");
        let out = port.clone();
        set_error_hook(move |error| out.post(error.message()).unwrap());
        port
    })
}

fn wait_for_hook(text: &str) {
    let expected = text.to_owned();
    block_on(hooked().receive_if(move |told| told.contains(&expected))).unwrap();
}

/// A value that counts its drops.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Passes each item of one port on to another port.
fn relay(dispatcher: &Dispatcher, from: &Port<u32>, to: &Port<u32>) {
    let to = to.clone();
    from.on(dispatcher.handle(), 1, move |item| {
        let to = to.clone();
        async move {
            yield_now().await;
            to.post(item).unwrap();
        }
    })
    .detach();
}

// Catalogue: 69
#[test]
fn an_error_three_hops_away_goes_to_the_innermost_sink_and_then_outwards() {
    hooked();
    on_each(|dispatcher| {
        let (inner_errors, outer_errors, seen) = (Port::new(), Port::new(), Port::new());
        let outer = Context::named("outer").errors_to(&outer_errors).build();
        let inner = outer.child("inner").errors_to(&inner_errors).build();
        let ports: [Port<u32>; 4] = std::array::from_fn(|_| Port::new());
        ports.windows(2).for_each(|pair| relay(dispatcher, &pair[0], &pair[1]));
        ports[3].on(dispatcher.handle(), 1, |item| async move { panic!("item {item}") }).detach();
        let last = format!("the outer handler, {} workers", dispatcher.threads());
        for (errors, text) in [(&inner_errors, "the inner handler".to_owned()), (&outer_errors, last.clone())] {
            let seen = seen.clone();
            let handler = move |error: ContextError| {
                let (seen, text) = (seen.clone(), text.clone());
                async move {
                    seen.post(error.message()).unwrap();
                    panic!("{text}");
                }
            };
            errors.on(dispatcher.handle(), 1, handler).detach();
        }
        inner.run(|| ports[0].post(7)).unwrap();
        wait_for_hook(&last);
        assert_eq!(seen.drain(), ["item 7", "the inner handler"], "each once, each to one");
    });
}

// Catalogue: 15, 69
#[test]
fn a_panic_that_nobody_asks_for_goes_to_the_sink_or_the_hook() {
    hooked();
    on_each(|dispatcher| {
        let text = format!("detached on {}", dispatcher.threads());
        let panicking = text.clone();
        dispatcher.spawn(async move { panic!("{panicking}") }).detach();
        wait_for_hook(&text);

        let errors = Port::new();
        let context = Context::named("request").errors_to(&errors).build();
        context.run(|| dispatcher.spawn(async { panic!("to the sink") }).detach());
        assert_eq!(block_on(errors.receive()).unwrap().message(), "to the sink");

        let refused = context.run(|| dispatcher.handle().execute(|| panic!("a closure"))).is_err();
        assert!(!refused);
        assert_eq!(block_on(errors.receive()).unwrap().message(), "a closure");

        // If the owner awaits the task, the error goes to the owner, and to no sink.
        let asked = context.run(|| dispatcher.spawn(async { panic!("to its owner") }));
        assert_eq!(block_on(asked), Err::<(), _>(TaskError::Panicked { message: "to its owner".to_owned() }));
        assert!(errors.is_empty());
    });
}

// Catalogue: 70
#[test]
fn a_sink_that_always_fails_makes_no_loop() {
    hooked();
    on_each(|dispatcher| {
        let (calls, errors) = (Arc::new(AtomicUsize::new(0)), Port::<ContextError>::new());
        let text = format!("the sink failed on {}", dispatcher.threads());
        let (counted, panicking) = (calls.clone(), text.clone());
        let closure = Context::named("closure")
            .on_error(move |_| {
                counted.fetch_add(1, Ordering::Relaxed);
                panic!("{panicking}")
            })
            .build();
        closure.fail("first");
        wait_for_hook(&text);
        assert_eq!(calls.load(Ordering::Relaxed), 1);

        // The handler of the port for errors is registered in the context whose errors it handles.
        let text = format!("the handler failed on {}", dispatcher.threads());
        let (counted, panicking) = (calls.clone(), text.clone());
        let port = Context::named("port").errors_to(&errors).build();
        port.run(|| {
            let handler = move |_| {
                counted.fetch_add(1, Ordering::Relaxed);
                let text = panicking.clone();
                async move { panic!("{text}") }
            };
            errors.on(dispatcher.handle(), 1, handler).detach();
        });
        port.fail("second");
        wait_for_hook(&text);
        assert_eq!((calls.load(Ordering::Relaxed), errors.len()), (2, 0));

        // If the port refuses the error, the same error goes to the next outer sink.
        let (inner, outer) = (Port::new(), Port::new());
        inner.close();
        let context = Context::named("outer").errors_to(&outer).build().child("inner").errors_to(&inner).build();
        context.fail("third");
        assert_eq!(outer.try_receive().unwrap().message(), "third");
    });
}

// Catalogue: 71
#[test]
fn an_error_in_a_join_goes_to_each_sink_once_and_links_the_traces() {
    on_each(|dispatcher| {
        let traces = [1_u128, 2].map(|trace| TraceParent { trace, span: 3, flags: 1 });
        let (x_errors, y_errors) = (Port::new(), Port::new());
        let x = Context::named("x").errors_to(&x_errors).trace(traces[0]).build();
        let y = Context::named("y").errors_to(&y_errors).trace(traces[1]).build();
        let (p, q, ended) = (Port::new(), Port::new(), Port::new());
        let out = ended.clone();
        let receiver = join((&p, &q)).on(dispatcher.handle(), 1, move |(a, b): (u32, u32)| {
            let out = out.clone();
            async move {
                out.post(()).unwrap();
                panic!("{a} and {b}")
            }
        });
        let receiver = receiver.unwrap();
        x.run(|| p.post(1)).unwrap();
        y.run(|| q.post(2)).unwrap();
        let told = [&x_errors, &y_errors].map(|errors| block_on(errors.receive()).unwrap());
        assert!(told.iter().all(|error| error.message() == "1 and 2" && error.traces() == traces));

        // Two contexts share one sink, so the sink gets the error once.
        let shared = Port::new();
        let root = Context::named("root").errors_to(&shared).build();
        root.child("a").build().run(|| p.post(3)).unwrap();
        root.child("b").build().run(|| q.post(4)).unwrap();
        assert_eq!(block_on(shared.receive()).unwrap().message(), "3 and 4");
        // The receiver continued after its handler's panics, and has delivered both errors when its next turn begins.
        x.run(|| p.post(5)).unwrap();
        q.post(6).unwrap();
        assert_eq!(block_on(x_errors.receive()).unwrap().message(), "5 and 6");
        assert_eq!((x_errors.len(), y_errors.len(), shared.len(), ended.len()), (0, 0, 0, 3));
        drop(receiver);
    });
}

// Catalogue: 72
#[test]
fn a_token_that_is_posted_detached_collects_no_contexts() {
    on_each(|dispatcher| {
        let tokens = Port::new();
        tokens.post_detached(0_u32).unwrap();
        let requests: Vec<_> = (0..4)
            .map(|user| {
                let tokens = tokens.clone();
                dispatcher.spawn(async move {
                    for i in 0..25_000 {
                        let request = Context::named(format!("request {i} of {user}")).build();
                        let use_token = async {
                            let (token, context) = tokens.receive().with_context().await.unwrap();
                            assert!(context.is_none(), "the token brought {context:?} along");
                            tokens.post_detached(token + 1).unwrap();
                        };
                        request.scope(use_token).await;
                    }
                })
            })
            .collect();
        assert!(block_on(all(requests)).iter().all(Result::is_ok));
        assert_eq!(tokens.try_receive(), Some(100_000));
    });
}

// Catalogue: 73
#[test]
fn a_task_keeps_its_own_context_and_is_given_the_items() {
    on_each(|dispatcher| {
        let port = Port::new();
        let inbox = port.clone();
        let name = || Context::current().and_then(|context| context.name().map(str::to_owned));
        let task = Context::named("own").build().run(|| {
            dispatcher.spawn(async move {
                let (item, context) = inbox.receive().with_context().await.unwrap();
                let items = context.and_then(|context| context.name().map(str::to_owned));
                (item, items, name())
            })
        });
        Context::named("other").build().run(|| port.post(5)).unwrap();
        assert_eq!(block_on(task), Ok((5, Some("other".to_owned()), Some("own".to_owned()))));

        // A persistent handler has no context of its own. It runs in the item's context, even after it was suspended.
        let names = Port::new();
        let out = names.clone();
        let receiver = Context::named("registrar").build().run(|| {
            port.on(dispatcher.handle(), 1, move |_| {
                let out = out.clone();
                async move {
                    let before = name();
                    yield_now().await;
                    out.post((before, name())).unwrap();
                }
            })
        });
        Context::named("item").build().run(|| port.post(6)).unwrap();
        port.post(7).unwrap();
        let item = Some("item".to_owned());
        assert_eq!(block_on(names.receive()), Ok((item.clone(), item)));
        assert_eq!(block_on(names.receive()), Ok((None, None)));
        drop(receiver);
    });
}

// Catalogue: 73
#[test]
fn only_what_is_marked_crosses_to_another_task() {
    on_each(|dispatcher| {
        let context = Context::named("request")
            .baggage("tenant", "acme", Inheritance::Crosses)
            .baggage("password", "1234", Inheritance::Stays)
            .build();
        let look = || {
            let context = Context::current().unwrap();
            ["tenant", "password"].map(|key| context.baggage(key).map(str::to_owned))
        };
        let (acme, password) = (Some("acme".to_owned()), Some("1234".to_owned()));
        assert_eq!(context.run(look), [acme.clone(), password.clone()]);
        assert_eq!(context.child("inside").build().run(look), [acme.clone(), password]);
        let crossed = context.child("inside").build().run(|| dispatcher.spawn(async move { look() }));
        assert_eq!(block_on(crossed), Ok([acme, None]));
    });
}

enum Ask {
    Sum(u32, Reply<u32>),
}

// Catalogue: 74
#[test]
fn a_deadline_cancels_the_callee_and_tells_the_caller_once() {
    for threads in [1, 2, 8] {
        let clock = Clock::virtual_time();
        let dispatcher = Builder::new().threads(threads).clock(clock.clone()).start().unwrap();
        let (service, begun, never) = (Port::new(), Port::new(), Port::<u32>::new());
        let drops = Arc::new(AtomicUsize::new(0));
        let (out, wait, counted) = (begun.clone(), never.clone(), drops.clone());
        let receiver = service.on(dispatcher.handle(), 1, move |Ask::Sum(number, reply): Ask| {
            let (out, wait, held) = (out.clone(), wait.clone(), Counted(counted.clone()));
            async move {
                let _held = held;
                out.post(number).unwrap();
                reply.answer(number + wait.receive().await.unwrap()).ok();
            }
        });
        let call = |number: u32, seconds: u64| {
            let context =
                Context::named(format!("call {number}")).timeout(&clock, Duration::from_secs(seconds)).build();
            let service = service.clone();
            dispatcher.spawn(async move {
                let ask = async { service.ask(|reply| Ask::Sum(number, reply)).unwrap().await };
                context.call(ask).await
            })
        };
        // The first call is being handled and the second call is still queued when the second call's time is over. Then
        // the first call's time is over.
        let first = call(0, 5);
        assert_eq!(block_on(begun.receive()), Ok(0));
        let second = call(1, 4);
        crate::until(|| !service.is_empty());
        let callers = vec![second, first];
        clock.advance(Duration::from_secs(4));
        clock.advance(Duration::from_secs(1));
        for outcome in block_on(all(callers)) {
            let error = outcome.unwrap().unwrap_err();
            assert!(matches!(error.cause(), Cause::DeadlineExceeded), "{error:?}");
        }
        // The next call is answered: the turn of the first call was cancelled, and the second call never began.
        crate::until(|| drops.load(Ordering::Relaxed) != 0);
        never.post(1).unwrap();
        let answer = block_on(service.ask(|reply| Ask::Sum(9, reply)).unwrap());
        assert_eq!((answer, begun.drain()), (Ok(10), vec![9]));
        service.close();
        block_on(receiver.ended()).unwrap();
        assert_eq!((drops.load(Ordering::Relaxed), never.waiting(), clock.pending()), (2, 0, 0));
    }
}

// Catalogue: 52
#[test]
fn cancelling_a_context_drops_what_was_spawned_in_it_and_below() {
    on_each(|dispatcher| {
        let (port, drops) = (Port::<u8>::new(), Arc::new(AtomicUsize::new(0)));
        let outer = Context::named("outer").cancellable().build();
        let inner = outer.child("inner").cancellable().build();
        let spawn = |context: &Context| {
            let (port, held) = (port.clone(), Counted(drops.clone()));
            context.run(|| {
                dispatcher.spawn(async move {
                    let _held = held;
                    port.receive().await
                })
            })
        };
        let (above, below) = (spawn(&outer), spawn(&inner));
        crate::until(|| port.waiting() >= 2);
        assert!(inner.cancel() && !inner.cancel());
        assert_eq!(block_on(below), Err(TaskError::Cancelled));
        assert_eq!((drops.load(Ordering::Relaxed), port.waiting(), above.is_finished()), (1, 1, false));
        assert!(outer.cancel());
        assert_eq!(block_on(above), Err(TaskError::Cancelled));
        assert_eq!((drops.load(Ordering::Relaxed), port.waiting()), (2, 0));
        assert_eq!(block_on(spawn(&inner)), Err(TaskError::Cancelled), "what comes later does not begin");
        assert_eq!(drops.load(Ordering::Relaxed), 3);
    });
}

// Catalogue: 53
#[test]
fn a_handler_that_fails_is_an_error_to_the_body_that_awaits_it() {
    on_each(|dispatcher| {
        let port = Port::<&str>::new();
        let (inbox, handle) = (port.clone(), dispatcher.handle().clone());
        let body = dispatcher.spawn(async move {
            let mut outcomes = Vec::new();
            for _ in 0..2 {
                let inbox = inbox.clone();
                let handler = async move { inbox.receive().await.unwrap().parse::<u8>().expect("a number") };
                outcomes.push(handle.spawn(handler).await.map_err(|error| error.is_panic()));
            }
            outcomes
        });
        ["seven", "7"].iter().for_each(|text| port.post(*text).unwrap());
        assert_eq!(block_on(body), Ok(vec![Err(true), Ok(7)]));
    });
}

// Catalogue: 54
#[test]
fn a_failure_in_a_nested_call_shows_both_places() {
    on_each(|dispatcher| {
        let (outer_line, inner_line) = (line!() + 3, line!() + 5);
        let task = dispatcher.spawn(async {
            let outer = Context::named("order").build();
            let call = outer.call(async {
                let inner = Context::named("parse").build();
                let number = inner.call(async { "seven".parse::<u8>() });
                number.await
            });
            call.await
        });
        let error = block_on(task).unwrap().unwrap_err();
        assert_eq!(error.to_string(), "invalid digit found in string");
        let place = |step: &lehr_runtime::Step| (step.context.clone().unwrap(), step.location.line());
        let first = place(&error.trail()[0]);
        let last = place(error.trail().last().unwrap());
        assert_eq!((first, last), (("parse".to_owned(), inner_line), ("order".to_owned(), outer_line)));
        let shown = format!("{error:#}");
        assert!(shown.contains("\"parse\" at") && shown.contains("\"order\" at"), "{shown}");
    });
}

// Catalogue: 15
#[test]
fn a_receiver_gets_on_after_a_panic_that_has_a_sink() {
    on_each(|dispatcher| {
        let (errors, port, seen) = (Port::new(), Port::new(), Port::new());
        let context = Context::named("request").errors_to(&errors).build();
        let out = seen.clone();
        let receiver = port.on(dispatcher.handle(), 1, move |item: u32| {
            let out = out.clone();
            async move {
                assert!(item.is_multiple_of(2), "{item} is odd");
                out.post(item).unwrap();
            }
        });
        context.run(|| (0..4).for_each(|item| port.post(item).unwrap()));
        port.close();
        assert_eq!(block_on(receiver.ended()), Ok(()));
        assert_eq!(seen.drain(), [0, 2]);
        let told: Vec<_> = errors.drain().iter().map(ContextError::message).collect();
        assert_eq!(told, ["1 is odd", "3 is odd"]);
    });
}
