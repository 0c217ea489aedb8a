//! Groups of messages from one client to one service: the protocol, and the measurement of each side. The runners in
//! `lab/runners/services` compile this file too, so that both sides of the pipe have the same protocol.
//!
//! The service holds a number. A message adds to the number; the answer to a question is the sum. So each side knows
//! every right answer, and notices lost, duplicated and reordered messages.

use std::fmt;
use std::future::Future;
use std::time::Instant;

/// The number of messages to a service before groups count as warm.
const WARMING: usize = 4000;

/// The way in which a group is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Two-way: each message follows the answer to the previous one.
    InTurn,
    /// Two-way: all messages, and then all answers.
    AtOnce,
    /// One-way: no answers, except to one question at the end, which waits until all messages have arrived.
    OneWay,
}

impl Form {
    /// All forms.
    pub const ALL: [Self; 3] = [Self::InTurn, Self::AtOnce, Self::OneWay];

    /// Returns the name of the form in a request.
    pub fn word(self) -> &'static str {
        match self {
            Self::InTurn => "in_turn",
            Self::AtOnce => "at_once",
            Self::OneWay => "one_way",
        }
    }

    /// Returns the form of this name.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|form| form.word() == word)
    }
}

impl fmt::Display for Form {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::InTurn => "two-way in turn",
            Self::AtOnce => "two-way at once",
            Self::OneWay => "one-way",
        })
    }
}

/// A request to a side: one new service on this many workers, one client, groups of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// The way in which groups are sent.
    pub form: Form,
    /// The number of messages in a group.
    pub group: usize,
    /// The number of worker threads.
    pub workers: usize,
    /// The number of groups that are timed after the service is warm.
    pub groups: usize,
}

/// The seconds of each group.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Taken {
    /// The seconds of the first group that the service gets.
    pub cold: f64,
    /// The seconds of the groups after the service is warm.
    pub warm: Vec<f64>,
}

impl Work {
    /// Returns the words of the request after the engine's number and `messages`.
    pub fn words(&self) -> String {
        format!("{} {} {} {}", self.form.word(), self.group, self.workers, self.groups)
    }

    /// Reads [`words`](Self::words).
    pub fn parse<'a>(mut words: impl Iterator<Item = &'a str>) -> Option<Self> {
        let form = Form::parse(words.next()?)?;
        let mut count = || words.next()?.parse::<usize>().ok();
        let work = Self { form, group: count()?, workers: count()?, groups: count()? };
        (work.group > 0 && work.workers > 0 && work.groups > 0).then_some(work)
    }

    /// Returns the number of groups that are sent and not timed.
    pub fn warming(&self) -> usize {
        WARMING.div_ceil(self.group)
    }
}

/// A client of a side's service, which checks the answers.
pub trait Client: Send {
    /// Sends a group and returns after the last answer.
    ///
    /// # Errors
    /// Returns a text with the wrong answer and the expected one.
    fn group(&mut self, form: Form, messages: usize) -> impl Future<Output = Result<(), String>> + Send;
}

/// Has a client send its groups, the cold one first. `now` is the side's clock.
///
/// # Errors
/// Returns the errors of the client.
pub async fn measure(client: &mut impl Client, work: Work, now: fn() -> Instant) -> Result<Taken, String> {
    let Work { form, group, .. } = work;
    let start = now();
    client.group(form, group).await?;
    let mut taken = Taken { cold: (now() - start).as_secs_f64(), warm: Vec::with_capacity(work.groups) };
    for _ in 0..work.warming() {
        client.group(form, group).await?;
    }
    for _ in 0..work.groups {
        let start = now();
        client.group(form, group).await?;
        taken.warm.push((now() - start).as_secs_f64());
    }
    Ok(taken)
}

/// The sum that a client expects in the next answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sum(u64);

impl Sum {
    /// Adds an amount without an answer.
    pub fn add(&mut self, amount: u64) {
        self.0 += amount;
    }

    /// Compares an answer with the sum.
    ///
    /// # Errors
    /// Returns a text with the wrong answer and the expected one.
    pub fn check(&self, answered: u64) -> Result<(), String> {
        if answered == self.0 { Ok(()) } else { Err(format!("answered {answered}, the sum is {}", self.0)) }
    }

    /// Adds an amount, and compares the answer with the new sum.
    ///
    /// # Errors
    /// Returns the errors of [`check`](Self::check).
    pub fn added(&mut self, amount: u64, answered: u64) -> Result<(), String> {
        self.add(amount);
        self.check(answered)
    }
}
