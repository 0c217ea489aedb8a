//! Measures the cost of a message to a service, compared with a Tokio channel, and the share of each layer below the
//! service.
//!
//! `cargo run --release -p lehr-services --example message_cost [-- FILTER]`, where FILTER is a part of a line's name.
//!
//! One client sends groups of messages to a counter that adds them up. *In turn*: the client sends each message after
//! the answer to the previous one. *At once*: it sends all messages, and then awaits all answers. *One-way*: it asks
//! only one question, at the end. All implementations take turns in every round, and a round's figure is the median of
//! its groups. The example prints the minimum, the median and the maximum over the rounds: nanoseconds per message, and
//! the ratio to Tokio in the same round.
//!
//! Tokio uses an unbounded mpsc channel, and a oneshot channel for each answer. It always runs on its current-thread
//! runtime, which is the faster one here. Lehr's layers are a port with a persistent receiver, an interleave with one
//! exclusive branch, and the service.
#![allow(clippy::disallowed_macros, clippy::disallowed_methods, reason = "an example measures and prints")]

use std::future::Future;
use std::hint::black_box;
use std::time::Instant;

use lehr_runtime::{Dispatcher, Exclusive as Guard, Handlers as Branches, Interleave, Port, Reply, block_on, in_place};
use lehr_services::{
    Call, Concurrent, Contract, Exclusive, Fault, Handlers, Host, Operation, Placement, Reference, Service, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};

/// The number of messages in a group.
const GROUP: u64 = 1000;
/// The number of groups that are sent before the first timed group.
const WARMING: usize = 4;
/// The number of timed groups in a round.
const GROUPS: usize = 15;
const ROUNDS: usize = 15;

#[derive(Clone, Copy, PartialEq)]
enum Form {
    InTurn,
    AtOnce,
    OneWay,
}

/// A client that sends groups of messages.
trait Client: Send + 'static {
    /// Sends a group; the future returns the sum after it.
    fn group(&mut self, form: Form) -> impl Future<Output = u64> + Send;
}

/// The median time of a group, in nanoseconds per message.
async fn measure(mut client: impl Client, form: Form) -> f64 {
    let mut times = Vec::with_capacity(GROUPS);
    for group in 0..WARMING + GROUPS {
        let start = Instant::now();
        let sum = client.group(form).await;
        let time = start.elapsed().as_nanos() as f64 / GROUP as f64;
        assert_eq!(sum, GROUP * (group as u64 + 1), "a message was lost, doubled or overtaken");
        if group >= WARMING {
            times.push(time);
        }
    }
    median(&mut times)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A message to the counter behind a channel or a port.
enum Message<R> {
    Add(u64),
    AddAndSay(u64, R),
}

struct Channel(mpsc::UnboundedSender<Message<oneshot::Sender<u64>>>);

impl Channel {
    fn ask(&self, amount: u64) -> oneshot::Receiver<u64> {
        let (reply, answer) = oneshot::channel();
        self.0.send(Message::AddAndSay(amount, reply)).ok().unwrap();
        answer
    }
}

impl Client for Channel {
    async fn group(&mut self, form: Form) -> u64 {
        let mut sum = 0;
        match form {
            Form::InTurn => {
                for _ in 0..GROUP {
                    sum = black_box(self.ask(1).await.unwrap());
                }
            }
            Form::AtOnce => {
                let answers: Vec<_> = (0..GROUP).map(|_| self.ask(1)).collect();
                for answer in answers {
                    sum = black_box(answer.await.unwrap());
                }
            }
            Form::OneWay => {
                for _ in 0..GROUP {
                    self.0.send(Message::Add(1)).ok().unwrap();
                }
                sum = self.ask(0).await.unwrap();
            }
        }
        sum
    }
}

fn tokio(form: Form) -> f64 {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
        let (outbox, mut inbox) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut sum = 0;
            while let Some(message) = inbox.recv().await {
                match message {
                    Message::Add(amount) => sum += amount,
                    Message::AddAndSay(amount, reply) => {
                        sum += amount;
                        oneshot::Sender::send(reply, sum).unwrap();
                    }
                }
            }
        });
        tokio::spawn(measure(Channel(outbox), form)).await.unwrap()
    })
}

/// A client that posts to a port.
struct Posting(Port<Message<Reply<u64>>>);

impl Client for Posting {
    async fn group(&mut self, form: Form) -> u64 {
        let ask = |amount| self.0.ask(|reply| Message::AddAndSay(amount, reply)).unwrap();
        let mut sum = 0;
        match form {
            Form::InTurn => {
                for _ in 0..GROUP {
                    sum = black_box(in_place(|| ask(1)).await.unwrap());
                }
            }
            Form::AtOnce => {
                let answers: Vec<_> = (0..GROUP).map(|_| ask(1)).collect();
                for answer in answers {
                    sum = black_box(answer.await.unwrap());
                }
            }
            Form::OneWay => {
                for _ in 0..GROUP {
                    self.0.post(Message::Add(1)).unwrap();
                }
                sum = in_place(|| ask(0)).await.unwrap();
            }
        }
        sum
    }
}

fn add(sum: &mut u64, message: Message<Reply<u64>>) {
    match message {
        Message::Add(amount) => *sum += amount,
        Message::AddAndSay(amount, reply) => {
            *sum += amount;
            reply.answer(*sum).unwrap();
        }
    }
}

fn port(form: Form, workers: usize) -> f64 {
    let dispatcher = Dispatcher::new(workers).unwrap();
    let numbers = Port::new();
    let inbox = numbers.clone();
    let receiver = async move {
        let mut sum = 0;
        while let Ok(message) = inbox.receive().await {
            add(&mut sum, message);
        }
    };
    dispatcher.spawn(receiver).detach();
    block_on(dispatcher.spawn(measure(Posting(numbers), form))).unwrap()
}

fn interleave(form: Form, workers: usize) -> f64 {
    let dispatcher = Dispatcher::new(workers).unwrap();
    let numbers = Port::new();
    let handlers =
        Branches::new().exclusive(&numbers, |mut sum: Guard<u64>, message| async move { add(&mut sum, message) });
    let _interleave = Interleave::start(dispatcher.handle(), 0, handlers);
    block_on(dispatcher.spawn(measure(Posting(numbers), form))).unwrap()
}

#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
struct Counter {
    sum: u64,
}

impl Contract for Counter {
    const NAME: &'static str = "example.org/counter";
    const VERSION: Version = Version::new(1, 0);
}

#[derive(Clone, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Counter, verb = Update, name = "add", reply = u64)]
struct Add {
    amount: u64,
}

#[derive(Clone, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Counter, verb = Query, name = "say", reply = u64)]
struct Say {}

impl Service for Counter {
    type Document = Self;

    fn document(&self) -> &Self {
        self
    }

    fn document_mut(&mut self) -> &mut Self {
        self
    }

    fn handlers(on: &mut Handlers<Self>) {
        on.exclusive::<Add>().concurrent::<Say>();
    }
}

impl Exclusive<Add> for Counter {
    async fn handle(&mut self, add: Add, _: &Call) -> Result<u64, Fault> {
        self.sum += add.amount;
        Ok(self.sum)
    }
}

impl Concurrent<Say> for Counter {
    async fn handle(&self, _: Say, _: &Call) -> Result<u64, Fault> {
        Ok(self.sum)
    }
}

struct Calling(Reference<Counter>);

impl Client for Calling {
    async fn group(&mut self, form: Form) -> u64 {
        let Self(counter) = self;
        let mut sum = 0;
        match form {
            Form::InTurn => {
                for _ in 0..GROUP {
                    sum = black_box(counter.call(Add { amount: 1 }).await.unwrap());
                }
            }
            Form::AtOnce => {
                let answers: Vec<_> = (0..GROUP).map(|_| counter.ask(Add { amount: 1 })).collect();
                for answer in answers {
                    sum = black_box(answer.await.unwrap());
                }
            }
            Form::OneWay => {
                for _ in 0..GROUP {
                    counter.post(Add { amount: 1 }).await.unwrap();
                }
                sum = counter.call(Say {}).await.unwrap();
            }
        }
        sum
    }
}

fn service(form: Form, workers: usize) -> f64 {
    let dispatcher = Dispatcher::new(workers).unwrap();
    let host = Host::new(dispatcher.handle());
    let placement = Placement::at("/counter").queue(2 * GROUP as usize);
    let counter = block_on(host.start(placement, Counter::default)).unwrap();
    block_on(dispatcher.spawn(measure(Calling(counter), form))).unwrap()
}

/// The name of a layer of Lehr, and the function that measures it with a given number of workers.
type Layer = (&'static str, fn(Form, usize) -> f64);

const LAYERS: [Layer; 3] = [("port", port), ("interleave", interleave), ("service", service)];

fn main() {
    let filter = std::env::args().nth(1).unwrap_or_default();
    println!("{:34} {:>22} {:>22}", "min/median/max", "ns a message", "times tokio");
    for (form, word) in [(Form::InTurn, "in turn"), (Form::AtOnce, "at once"), (Form::OneWay, "one-way")] {
        let mut sides: Vec<_> = [1, 2].into_iter().flat_map(|workers| LAYERS.map(|layer| (layer, workers))).collect();
        let name = |((layer, _), workers): &(Layer, usize)| {
            format!("{word}, {layer}, {workers} worker{}", if *workers == 1 { "" } else { "s" })
        };
        sides.retain(|side| name(side).contains(&filter));
        if sides.is_empty() {
            continue;
        }
        let mut floor = Vec::new();
        let mut found = vec![(Vec::new(), Vec::new()); sides.len()];
        for _ in 0..ROUNDS {
            let least = tokio(form);
            floor.push(least);
            for (((_, side), workers), (times, ratios)) in sides.iter().zip(&mut found) {
                let time = side(form, *workers);
                times.push(time);
                ratios.push(time / least);
            }
        }
        let spread = |values: &mut Vec<f64>, digits: usize| {
            let middle = median(values);
            format!("{:.digits$}/{middle:.digits$}/{:.digits$}", values[0], values[values.len() - 1])
        };
        println!("{:34} {:>22}", format!("{word}, tokio mpsc + oneshot"), spread(&mut floor, 0));
        for (side, (times, ratios)) in sides.iter().zip(&mut found) {
            println!("{:34} {:>22} {:>22}", name(side), spread(times, 0), spread(ratios, 2));
        }
    }
}
