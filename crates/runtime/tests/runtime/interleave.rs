use lehr_runtime::{Dispatcher, Exclusive, Handlers, Interleave, Port, Settings, Snapshot, block_on, yield_now};

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
