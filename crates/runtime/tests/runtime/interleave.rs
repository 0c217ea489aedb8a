//! Tests of interleaves, and the parts that these tests share.

#[path = "interleave/branches.rs"]
mod branches;
#[path = "interleave/calls.rs"]
mod calls;
#[path = "interleave/end.rs"]
mod end;
#[path = "interleave/order.rs"]
mod order;
#[path = "interleave/state.rs"]
mod state;

use lehr_runtime::{Dispatcher, Exclusive, Handlers, Interleave, Port, Reply, Settings, Snapshot, block_on};

/// The gate of a handler, which reports that it has begun, waits for permission, and reports that it has ended.
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

/// Two ports with concurrent handlers and two ports with exclusive handlers; items are names.
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

/// A request for a number.
struct Question {
    reply: Reply<u32>,
}
