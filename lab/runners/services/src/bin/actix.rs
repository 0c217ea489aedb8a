//! actix: single-threaded arbiters. With one worker, client and actor share an arbiter; with more, each has its own.

use std::time::Instant;

use actix::prelude::*;
use lehr_service_peers::{Answer, Client, Form, Job, Sum, Taken, Work, group, serve};

struct Counter(u64);

impl Actor for Counter {
    type Context = Context<Self>;

    fn started(&mut self, context: &mut Context<Self>) {
        context.set_mailbox_capacity(0);
    }
}

#[derive(Message)]
#[rtype(result = "()")]
struct Add(u64);

#[derive(Message)]
#[rtype(result = "u64")]
struct AddAndSay(u64);

#[derive(Message)]
#[rtype(result = "u64")]
struct Say;

impl Handler<Add> for Counter {
    type Result = ();

    fn handle(&mut self, Add(amount): Add, _: &mut Context<Self>) {
        self.0 += amount;
    }
}

impl Handler<AddAndSay> for Counter {
    type Result = u64;

    fn handle(&mut self, AddAndSay(amount): AddAndSay, _: &mut Context<Self>) -> u64 {
        self.0 += amount;
        self.0
    }
}

impl Handler<Say> for Counter {
    type Result = u64;

    fn handle(&mut self, _: Say, _: &mut Context<Self>) -> u64 {
        self.0
    }
}

struct Asking {
    counter: Addr<Counter>,
    sum: Sum,
}

impl Client for Asking {
    async fn group(&mut self, form: Form, messages: usize) -> Result<(), String> {
        match form {
            Form::InTurn => {
                for _ in 0..messages {
                    let answered = self.counter.send(AddAndSay(1)).await.expect("the actor answers");
                    self.sum.added(1, answered)?;
                }
            }
            Form::AtOnce => {
                // A full mailbox keeps a message until its request is polled, which happens in order here.
                let answers: Vec<_> = (0..messages).map(|_| self.counter.send(AddAndSay(1))).collect();
                for answer in answers {
                    self.sum.added(1, answer.await.expect("the actor answers"))?;
                }
            }
            Form::OneWay => {
                for _ in 0..messages {
                    self.counter.do_send(Add(1));
                    self.sum.add(1);
                }
                self.sum.check(self.counter.send(Say).await.expect("the actor answers"))?;
            }
        }
        Ok(())
    }
}

fn main() {
    // Arbiters belong to the system of the thread that starts them.
    let _system = System::new();
    serve(&["actix"], &["actix, one arbiter a worker"], |_, job| match job {
        Job::Messages(work) => Answer::Groups(messages(work)),
        _ => Answer::Absent,
    });
}

fn messages(work: Work) -> Taken {
    let arbiters: Vec<_> = (0..work.workers).map(|_| Arbiter::new()).collect();
    let counter = Counter::start_in_arbiter(&arbiters[0].handle(), |_| Counter(0));
    let (ended, end) = std::sync::mpsc::channel();
    arbiters[arbiters.len() - 1].spawn(async move {
        let mut client = Asking { counter, sum: Sum::default() };
        ended.send(group::measure(&mut client, work, Instant::now).await).expect("the runner waits");
    });
    let taken = end.recv().expect("the client panicked").unwrap_or_else(|wrong| panic!("{wrong}"));
    for arbiter in arbiters {
        arbiter.stop();
        arbiter.join().expect("an arbiter panicked");
    }
    taken
}
