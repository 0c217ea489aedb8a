//! Tests the behaviours of services over typed and over encoded references, on 1, 2 and 8 workers. The crate
//! `lehr-node` runs the same files over HTTP.

mod behaviours;
mod dynamic;
mod keeping;

use std::time::Duration;

use lehr_runtime::{Builder, Clock, Dispatcher, block_on};
use lehr_services::{Contract, Host, Reference};

/// A host for a test, and the way in which references reach its services.
pub struct World {
    host: Host,
    clock: Clock,
    way: Way,
}

#[derive(Clone, Copy)]
enum Way {
    Typed,
    Encoded,
}

impl World {
    /// Returns the host with the services.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Returns the clock of the host, which a test advances by hand.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns a reference to the service at a path.
    pub fn to<D: Contract>(&self, path: &str) -> Reference<D> {
        match self.way {
            Way::Typed => self.host.reference(path).unwrap(),
            Way::Encoded => Reference::over(behaviours::Resolving::new(&self.host, path)),
        }
    }
}

/// Runs a test for each number of workers and each kind of reference, on hosts with virtual clocks.
pub fn everywhere(behaviour: impl AsyncFn(World)) {
    for workers in [1, 2, 8] {
        for way in [Way::Typed, Way::Encoded] {
            let (dispatcher, clock) = dispatcher(workers);
            let host = Host::new(dispatcher.handle());
            let world = World { host: host.clone(), clock: clock.clone(), way };
            block_on(behaviour(world));
            // The shutdown also ends the services that a test leaves.
            let report = block_on(host.shutdown(Duration::from_secs(3600)));
            assert_eq!(report.cut_off, Vec::<String>::new());
        }
    }
}

/// Runs a test that needs only a host, for each number of workers.
pub fn on_hosts(behaviour: impl AsyncFn(Host, Clock)) {
    for workers in [1, 2, 8] {
        let (dispatcher, clock) = dispatcher(workers);
        block_on(behaviour(Host::new(dispatcher.handle()), clock));
    }
}

fn dispatcher(workers: usize) -> (Dispatcher, Clock) {
    let clock = Clock::virtual_time();
    (Builder::new().threads(workers).clock(clock.clone()).start().unwrap(), clock)
}
