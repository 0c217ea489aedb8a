//! The behaviours of services over HTTP, and the guarantees of the network edge.

#[path = "../../services/tests/behaviours/mod.rs"]
mod behaviours;
mod bounds;
mod breaking;
mod deadlines;
mod edge;
mod elsewhere;
mod hostile;
mod joined;
mod load;
mod nodes;
mod proxied;
mod raw;
mod security;
mod taking;
mod telemetry;
mod viewing;
mod watching;
mod wire;

use std::time::Duration;

use lehr_node::{Client, Limits, Node, Settings};
use lehr_runtime::{Builder, Clock, Dispatcher, block_on};
use lehr_services::{Contract, Host, Reference};

/// A node to try something on, and a way to its services.
pub struct World {
    node: Node,
    client: Client,
    clock: Clock,
}

impl World {
    /// The host.
    pub fn host(&self) -> &Host {
        self.node.host()
    }

    /// Its clock, which a test moves by hand.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The service at a path. No test waits for a time to pass.
    pub fn to<D: Contract>(&self, path: &str) -> Reference<D> {
        let link = self.client.link(&format!("http://{}{path}", self.node.address())).unwrap();
        Reference::over(link).within(FOR_EVER)
    }
}

const FOR_EVER: Duration = Duration::from_secs(86_400);

/// Settings for tests: a port of the system's choice, and no sign of life that could be late.
pub fn settings() -> Settings {
    let patient = Limits {
        heartbeat: FOR_EVER,
        header_time: FOR_EVER,
        body_time: FOR_EVER,
        take_time: FOR_EVER,
        idle_time: FOR_EVER,
        connection_age: FOR_EVER,
        answer_time_max: FOR_EVER,
        ..Limits::default()
    };
    Settings { address: ([127, 0, 0, 1], 0).into(), limits: patient, ..Settings::new() }
}

fn dispatcher(workers: usize) -> (Dispatcher, Clock) {
    let clock = Clock::virtual_time();
    (Builder::new().threads(workers).clock(clock.clone()).start().unwrap(), clock)
}

/// Tries something over HTTP, on a host with a virtual clock.
pub fn everywhere(behaviour: impl AsyncFn(World)) {
    for workers in [1, 2, 8] {
        let (dispatcher, clock) = dispatcher(workers);
        let host = Host::new(dispatcher.handle());
        let node = Node::start(host.clone(), settings()).unwrap();
        let world = World { node, client: Client::new(None).unwrap(), clock };
        block_on(behaviour(world));
        let report = block_on(host.shutdown(FOR_EVER));
        assert_eq!(report.cut_off, Vec::<String>::new());
    }
}

/// Tries something with a host alone.
pub fn on_hosts(behaviour: impl AsyncFn(Host, Clock)) {
    for workers in [1, 2, 8] {
        let (dispatcher, clock) = dispatcher(workers);
        block_on(behaviour(Host::new(dispatcher.handle()), clock));
    }
}

/// Tries something with a node of these settings.
pub fn on_node(settings: Settings, behaviour: impl AsyncFn(&Node)) {
    let (dispatcher, _clock) = dispatcher(2);
    let node = Node::start(Host::new(dispatcher.handle()), settings).unwrap();
    block_on(behaviour(&node));
    block_on(node.shutdown(FOR_EVER));
}
