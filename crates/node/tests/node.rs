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

/// A node for a test, with references to its services over HTTP.
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

    /// Returns the clock of the node, which the test advances.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns a reference to the service at a path. Its time limit is so long that it never passes in a test.
    pub fn to<D: Contract>(&self, path: &str) -> Reference<D> {
        let link = self.client.link(&format!("http://{}{path}", self.node.address())).unwrap();
        Reference::over(link).within(FOR_EVER)
    }
}

const FOR_EVER: Duration = Duration::from_secs(86_400);

/// Returns settings for tests: a free port, and time limits that never pass in a test.
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

/// Runs a behaviour over HTTP, on nodes with 1, 2 and 8 workers and a virtual clock.
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

/// Runs a behaviour on hosts with 1, 2 and 8 workers, without a node.
pub fn on_hosts(behaviour: impl AsyncFn(Host, Clock)) {
    for workers in [1, 2, 8] {
        let (dispatcher, clock) = dispatcher(workers);
        block_on(behaviour(Host::new(dispatcher.handle()), clock));
    }
}

/// Runs a behaviour on a node with these settings.
pub fn on_node(settings: Settings, behaviour: impl AsyncFn(&Node)) {
    let (dispatcher, _clock) = dispatcher(2);
    let node = Node::start(Host::new(dispatcher.handle()), settings).unwrap();
    block_on(behaviour(&node));
    block_on(node.shutdown(FOR_EVER));
}
