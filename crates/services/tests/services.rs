//! The behaviours of services, over typed references and over encoded ones, on 1, 2 and 8 workers. The crate
//! `lehr-node` runs the same files over HTTP.

mod behaviours;
mod dynamic;
mod keeping;

use std::time::Duration;

use lehr_runtime::{Builder, Clock, Dispatcher, block_on};
use lehr_services::{Contract, Host, Reference};

/// A host to try something on, and a way to its services.
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
    /// The host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// Its clock, which a test moves by hand.
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The service at a path.
    pub fn to<D: Contract>(&self, path: &str) -> Reference<D> {
        match self.way {
            Way::Typed => self.host.reference(path).unwrap(),
            Way::Encoded => Reference::over(behaviours::Resolving::new(&self.host, path)),
        }
    }
}

/// Tries something in every way, on a host with a virtual clock.
pub fn everywhere(behaviour: impl AsyncFn(World)) {
    for workers in [1, 2, 8] {
        for way in [Way::Typed, Way::Encoded] {
            let (dispatcher, clock) = dispatcher(workers);
            let host = Host::new(dispatcher.handle());
            let world = World { host: host.clone(), clock: clock.clone(), way };
            block_on(behaviour(world));
            // What a test leaves is ended too.
            let report = block_on(host.shutdown(Duration::from_secs(3600)));
            assert_eq!(report.cut_off, Vec::<String>::new());
        }
    }
}

/// Tries something with a host alone.
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
