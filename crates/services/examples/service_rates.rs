//! What a request through the main port of a service costs, beside a bare interleave and a bare port: nanoseconds for a request and its
//! answer, minimum and median of 15 runs, taken in turn.
//!
//! `cargo run --release -p lehr-services --example service_rates`
#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "an example measures and prints")]

use std::time::Instant;

use lehr_runtime::{Dispatcher, Exclusive as Guard, Handlers as Branches, Interleave, Port, Reply, block_on};
use lehr_services::{
    Call, Concurrent, Contract, Exclusive, Fault, Handlers, Host, Operation, Reference, Service, Version, verb,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const REQUESTS: u64 = 20_000;
const SAMPLES: usize = 15;

#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
struct Counter {
    value: u64,
}

impl Contract for Counter {
    const NAME: &'static str = "example/counter";
    const VERSION: Version = Version::new(1, 0);
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct Add {
    amount: u64,
}

impl Operation for Add {
    type Contract = Counter;
    type Verb = verb::Update;
    type Reply = u64;
    const NAME: &'static str = "add";
}

#[derive(Clone, Serialize, Deserialize, JsonSchema)]
struct Read {}

impl Operation for Read {
    type Contract = Counter;
    type Verb = verb::Query;
    type Reply = u64;
    const NAME: &'static str = "read";
}

impl Service for Counter {
    type Document = Self;

    fn document(&self) -> &Self {
        self
    }

    fn document_mut(&mut self) -> &mut Self {
        self
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.exclusive::<Add>().concurrent::<Read>();
    }
}

impl Exclusive<Add> for Counter {
    async fn handle(&mut self, add: Add, _: &Call) -> Result<u64, Fault> {
        self.value += add.amount;
        Ok(self.value)
    }
}

impl Concurrent<Read> for Counter {
    async fn handle(&self, _: Read, _: &Call) -> Result<u64, Fault> {
        Ok(self.value)
    }
}

/// Nanoseconds a request, of one client that asks one after the other.
fn measure<F: Future<Output = u64> + Send>(dispatcher: &Dispatcher, ask: impl Fn() -> F + Send + 'static) -> f64 {
    let start = Instant::now();
    let client = dispatcher.spawn(async move {
        for _ in 0..REQUESTS {
            ask().await;
        }
    });
    block_on(client).unwrap();
    start.elapsed().as_secs_f64() * 1e9 / REQUESTS as f64
}

fn main() {
    println!("{:56} {:>9} {:>9}", "nanoseconds a request and its answer", "minimum", "median");
    for threads in [1, 2] {
        let dispatcher = Dispatcher::new(threads).unwrap();
        let plain = Port::<(u64, Reply<u64>)>::new();
        let _receiver =
            plain.on(dispatcher.handle(), 1, |(number, reply)| async move { reply.answer(number).unwrap() });
        let bare = Port::<(u64, Reply<u64>)>::new();
        let handlers =
            Branches::new().exclusive(&bare, |mut sum: Guard<u64>, (number, reply): (u64, Reply<u64>)| async move {
                *sum += number;
                let answer = *sum;
                drop(sum);
                reply.answer(answer).unwrap();
            });
        let _interleave = Interleave::start(dispatcher.handle(), 0, handlers);
        let host = Host::new(dispatcher.handle());
        let counter: Reference<Counter> = block_on(host.start("/counter", Counter::default)).unwrap();
        let mut figures = [const { Vec::new() }; 4];
        for _ in 0..SAMPLES {
            let (to_plain, to_bare) = (plain.clone(), bare.clone());
            let (to_add, to_read) = (counter.clone(), counter.clone());
            figures[0].push(measure(&dispatcher, move || {
                let answer = to_plain.ask(|reply| (1, reply)).unwrap();
                async { answer.await.unwrap() }
            }));
            figures[1].push(measure(&dispatcher, move || {
                let answer = to_bare.ask(|reply| (1, reply)).unwrap();
                async { answer.await.unwrap() }
            }));
            figures[2].push(measure(&dispatcher, move || {
                let counter = to_add.clone();
                async move { counter.call(Add { amount: 1 }).await.unwrap() }
            }));
            figures[3].push(measure(&dispatcher, move || {
                let counter = to_read.clone();
                async move { counter.call(Read {}).await.unwrap() }
            }));
        }
        let names = ["persistent receiver", "bare interleave, exclusive", "service, update", "service, query"];
        for (name, mut runs) in names.into_iter().zip(figures) {
            runs.sort_by(f64::total_cmp);
            let what = format!("{name}, {threads} workers");
            println!("{what:56} {:9.1} {:9.1}", runs[0], runs[SAMPLES / 2]);
        }
    }
}
