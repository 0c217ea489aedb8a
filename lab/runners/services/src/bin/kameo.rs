//! kameo: an actor is a task of tokio. Its mailbox is unbounded here, which is its fastest form.

use std::convert::Infallible;

use kameo::prelude::*;
use lehr_service_peers::{Answer, Client, Form, Job, Sum, on_tokio, serve, tokio_runtime};

struct Counter(u64);

impl Actor for Counter {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(state: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(state)
    }
}

struct Add(u64);
struct AddAndSay(u64);
struct Say;

impl Message<Add> for Counter {
    type Reply = ();

    async fn handle(&mut self, Add(amount): Add, _: &mut Context<Self, ()>) {
        self.0 += amount;
    }
}

impl Message<AddAndSay> for Counter {
    type Reply = u64;

    async fn handle(&mut self, AddAndSay(amount): AddAndSay, _: &mut Context<Self, u64>) -> u64 {
        self.0 += amount;
        self.0
    }
}

impl Message<Say> for Counter {
    type Reply = u64;

    async fn handle(&mut self, _: Say, _: &mut Context<Self, u64>) -> u64 {
        self.0
    }
}

struct Asking {
    counter: ActorRef<Counter>,
    sum: Sum,
}

impl Client for Asking {
    async fn group(&mut self, form: Form, messages: usize) -> Result<(), String> {
        match form {
            Form::InTurn => {
                for _ in 0..messages {
                    let answered = self.counter.ask(AddAndSay(1)).await.expect("the actor answers");
                    self.sum.added(1, answered)?;
                }
            }
            Form::AtOnce => {
                let mut answers = Vec::with_capacity(messages);
                for _ in 0..messages {
                    answers.push(self.counter.ask(AddAndSay(1)).enqueue().await.expect("the actor is there"));
                }
                for answer in answers {
                    self.sum.added(1, answer.await.expect("the actor answers"))?;
                }
            }
            Form::OneWay => {
                for _ in 0..messages {
                    self.counter.tell(Add(1)).try_send().expect("the actor is there");
                    self.sum.add(1);
                }
                self.sum.check(self.counter.ask(Say).await.expect("the actor answers"))?;
            }
        }
        Ok(())
    }
}

fn main() {
    serve(&["kameo", "tokio"], &["kameo on tokio"], |_, job| {
        let Job::Messages(work) = job else { return Answer::Absent };
        Answer::Groups(tokio_runtime(work.workers).block_on(async {
            let counter = Counter::spawn_with_mailbox(Counter(0), kameo::mailbox::unbounded());
            on_tokio(Asking { counter, sum: Sum::default() }, work).await
        }))
    });
}
