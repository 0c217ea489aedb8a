//! Compares the cost of a message in an interleave with its cost in a persistent receiver. Prints nanoseconds per
//! message: the minimum and the median of 15 runs.
//!
//! `cargo run --release -p lehr-runtime --example interleave_rates`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "an example measures and prints")]

use std::time::Instant;

use lehr_runtime::{Dispatcher, Exclusive, Handlers, Interleave, Port, Snapshot, block_on};

const MESSAGES: u64 = 20_000;
const SAMPLES: usize = 15;

/// Measures a task that posts one message after the other, each after the previous message has been handled.
fn measure(what: &str, dispatcher: &Dispatcher, port: &Port<u64>, done: &Port<u64>) {
    let mut figures: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let (port, done) = (port.clone(), done.clone());
            let start = Instant::now();
            let poster = dispatcher.spawn(async move {
                for i in 0..MESSAGES {
                    port.post(i).unwrap();
                    assert_eq!(done.receive().await, Ok(i));
                }
            });
            block_on(poster).unwrap();
            start.elapsed().as_secs_f64() * 1e9 / MESSAGES as f64
        })
        .collect();
    figures.sort_by(f64::total_cmp);
    println!("{what:58} {:9.1} {:9.1}", figures[0], figures[SAMPLES / 2]);
}

fn main() {
    println!("{:58} {:>9} {:>9}", "nanoseconds a message", "minimum", "median");
    for threads in [1, 2] {
        let dispatcher = Dispatcher::new(threads).unwrap();
        let (plain, read, write, done) = (Port::new(), Port::new(), Port::new(), Port::new());
        let (first, second, third) = (done.clone(), done.clone(), done.clone());
        let _receiver = plain.on(dispatcher.handle(), 1, move |i| {
            first.post(i).unwrap();
            async {}
        });
        let handlers = Handlers::new()
            .concurrent(&read, move |_: Snapshot<u64>, i| {
                second.post(i).unwrap();
                async {}
            })
            .exclusive(&write, move |mut state: Exclusive<u64>, i| {
                *state += 1;
                third.post(i).unwrap();
                async {}
            });
        let interleave = Interleave::start(dispatcher.handle(), 0, handlers);
        measure(&format!("persistent receiver, to and fro, {threads} workers"), &dispatcher, &plain, &done);
        measure(&format!("concurrent handler, to and fro, {threads} workers"), &dispatcher, &read, &done);
        measure(&format!("exclusive handler, to and fro, {threads} workers"), &dispatcher, &write, &done);
        assert_eq!(block_on(interleave.stop()), Ok(MESSAGES * SAMPLES as u64));
    }
}
