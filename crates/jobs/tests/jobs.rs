//! Tests of data sets and methods as services in one process, on 1, 2 and 8 workers, and over HTTP.

mod cases;
#[path = "../examples/joined_method.rs"]
mod joined_method;

use lehr_runtime::{Builder, Clock, block_on};
use lehr_services::Host;

/// Runs a test with a host on a virtual clock, for several numbers of workers.
pub fn on_hosts(behaviour: impl AsyncFn(Host)) {
    for workers in [1, 2, 8] {
        on_host(workers, &behaviour);
    }
}

/// Runs a test with one host, if the number of workers does not matter.
pub fn on_one_host(behaviour: impl AsyncFn(Host)) {
    on_host(2, &behaviour);
}

fn on_host(workers: usize, behaviour: &impl AsyncFn(Host)) {
    let clock = Clock::virtual_time();
    let dispatcher = Builder::new().threads(workers).clock(clock).start().unwrap();
    let host = Host::new(dispatcher.handle());
    block_on(behaviour(host.clone()));
    // The shutdown also ends the services that a test leaves.
    let report = block_on(host.shutdown(std::time::Duration::from_secs(3600)));
    assert_eq!(report.cut_off, Vec::<String>::new());
}

#[test]
fn a_new_method_joins_with_one_file_of_under_80_lines() {
    joined_method::main().unwrap();
    assert!(include_str!("../examples/joined_method.rs").lines().count() < 80);
}
