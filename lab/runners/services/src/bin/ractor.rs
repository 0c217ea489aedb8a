//! ractor: an actor is a task of tokio; a reply port is a oneshot channel of tokio.

use lehr_service_peers::{Answer, Client, Form, Job, Sum, on_tokio, serve, tokio_runtime};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};

struct Counter;

enum Message {
    Add(u64),
    AddAndSay(u64, RpcReplyPort<u64>),
    Say(RpcReplyPort<u64>),
}

impl Actor for Counter {
    type Msg = Message;
    type State = u64;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Message>, (): ()) -> Result<u64, ActorProcessingErr> {
        Ok(0)
    }

    async fn handle(&self, _: ActorRef<Message>, message: Message, sum: &mut u64) -> Result<(), ActorProcessingErr> {
        match message {
            Message::Add(amount) => *sum += amount,
            Message::AddAndSay(amount, reply) => {
                *sum += amount;
                reply.send(*sum)?;
            }
            Message::Say(reply) => reply.send(*sum)?,
        }
        Ok(())
    }
}

struct Asking {
    counter: ActorRef<Message>,
    sum: Sum,
}

impl Client for Asking {
    async fn group(&mut self, form: Form, messages: usize) -> Result<(), String> {
        match form {
            Form::InTurn => {
                for _ in 0..messages {
                    let answered = ractor::call!(self.counter, Message::AddAndSay, 1).expect("the actor answers");
                    self.sum.added(1, answered)?;
                }
            }
            Form::AtOnce => {
                let mut answers = Vec::with_capacity(messages);
                for _ in 0..messages {
                    let (reply, replied) = ractor::concurrency::oneshot();
                    self.counter.cast(Message::AddAndSay(1, reply.into())).expect("the actor is there");
                    answers.push(replied);
                }
                for replied in answers {
                    self.sum.added(1, replied.await.expect("the actor answers"))?;
                }
            }
            Form::OneWay => {
                for _ in 0..messages {
                    self.counter.cast(Message::Add(1)).expect("the actor is there");
                    self.sum.add(1);
                }
                self.sum.check(ractor::call!(self.counter, Message::Say).expect("the actor answers"))?;
            }
        }
        Ok(())
    }
}

fn main() {
    serve(&["ractor", "tokio"], &["ractor on tokio"], |_, job| {
        let Job::Messages(work) = job else { return Answer::Absent };
        Answer::Groups(tokio_runtime(work.workers).block_on(async {
            let (counter, _) = Actor::spawn(None, Counter, ()).await.expect("an actor");
            on_tokio(Asking { counter, sum: Sum::default() }, work).await
        }))
    });
}
