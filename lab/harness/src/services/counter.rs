//! Lehr's side of [`group`]: a service that holds a number, and its client.

use std::hint::black_box;

use anyhow::{Result, anyhow};
use lehr_runtime::{Dispatcher, block_on};
use lehr_services::{
    Call, Concurrent, Contract, Exclusive, Fault, Handlers, Host, Operation, Placement, Reference, Service, Version,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::group::{self, Client, Form, Sum, Taken, Work};
use crate::measure::now;
use crate::unit::units;

/// The path of the service.
pub const PATH: &str = "/counter";

/// The state: a number to which messages add. The service can also compute, which does not change the number.
#[derive(Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct Counter {
    /// The number.
    pub sum: u64,
}

impl Contract for Counter {
    const NAME: &'static str = "lehr.lab/counter";
    const VERSION: Version = Version::new(1, 0);
}

/// Adds to the number; the answer is the sum.
#[derive(Clone, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Counter, verb = Update, name = "add", reply = u64)]
pub struct Add {
    /// The amount to add.
    pub amount: u64,
}

/// Returns the sum.
#[derive(Clone, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Counter, verb = Query, name = "say", reply = u64)]
pub struct Say {}

/// Does this many units of computation from a seed.
#[derive(Clone, Serialize, Deserialize, JsonSchema, Operation)]
#[operation(contract = Counter, verb = Query, name = "compute", reply = u64)]
pub struct Compute {
    /// The first value of the generator.
    pub seed: u64,
    /// The number of units.
    pub units: u32,
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
        on.exclusive::<Add>().concurrent::<Say>().concurrent::<Compute>();
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

impl Concurrent<Compute> for Counter {
    async fn handle(&self, Compute { seed, units: count }: Compute, _: &Call) -> Result<u64, Fault> {
        Ok(black_box(units(seed, count)))
    }
}

struct Asking {
    counter: Reference<Counter>,
    sum: Sum,
}

impl Client for Asking {
    async fn group(&mut self, form: Form, messages: usize) -> Result<(), String> {
        let fault = |fault: Fault| fault.to_string();
        match form {
            Form::InTurn => {
                for _ in 0..messages {
                    let answered = self.counter.call(Add { amount: 1 }).await.map_err(fault)?;
                    self.sum.added(1, answered)?;
                }
            }
            Form::AtOnce => {
                let mut answers = Vec::with_capacity(messages);
                for _ in 0..messages {
                    answers.push(self.counter.ask(Add { amount: 1 }));
                }
                for answer in answers {
                    self.sum.added(1, answer.await.map_err(fault)?)?;
                }
            }
            Form::OneWay => {
                for _ in 0..messages {
                    self.counter.post(Add { amount: 1 }).await.map_err(fault)?;
                    self.sum.add(1);
                }
                self.sum.check(self.counter.call(Say {}).await.map_err(fault)?)?;
            }
        }
        Ok(())
    }
}

/// Measures Lehr in this process.
///
/// # Errors
/// Returns an error if an answer is wrong, or if the service reports a fault.
pub fn run(work: Work) -> Result<Taken> {
    let dispatcher = Dispatcher::new(work.workers)?;
    let host = Host::new(dispatcher.handle());
    // The queue holds a whole group, as an unbounded mailbox does.
    let placement = Placement::at(PATH).queue(2 * work.group + 16);
    let counter = block_on(host.start(placement, Counter::default)).map_err(|fault| anyhow!("{fault}"))?;
    let mut client = Asking { counter, sum: Sum::default() };
    let sent = dispatcher.spawn(async move { group::measure(&mut client, work, now).await });
    block_on(sent)?.map_err(|wrong| anyhow!("a wrong result of ours: {wrong}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_every_form_and_size_are_answered_with_the_right_sums() {
        for workers in [1, 2, 8] {
            for form in Form::ALL {
                for group in [1, 7, 300] {
                    let work = Work { form, group, workers, groups: 3 };
                    let taken = run(work).unwrap();
                    assert_eq!(taken.warm.len(), 3);
                    assert!(taken.cold > 0.0 && taken.warm.iter().all(|seconds| *seconds > 0.0));
                }
            }
        }
    }

    #[test]
    fn a_wrong_answer_is_seen() {
        let mut sum = Sum::default();
        sum.added(1, 1).unwrap();
        assert_eq!(sum.added(1, 3).unwrap_err(), "answered 3, the sum is 2");
    }

    #[test]
    fn words_are_read_back() {
        for form in Form::ALL {
            let work = Work { form, group: 200, workers: 2, groups: 30 };
            assert_eq!(Work::parse(work.words().split(' ')), Some(work));
        }
        for words in ["", "in_turn", "in_turn 200 2", "in_turn 0 2 30", "sideways 1 1 1"] {
            assert_eq!(Work::parse(words.split(' ')), None, "{words}");
        }
    }
}
