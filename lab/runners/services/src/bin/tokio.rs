//! tokio: a task that owns the number, an mpsc channel for its messages, a oneshot channel for each answer.

use lehr_service_peers::{Answer, Client, Form, Job, Sum, on_tokio, serve, tokio_runtime};
use tokio::sync::{mpsc, oneshot};

/// The capacity of the channel, which holds any group.
const BOUND: usize = 16_384;

enum Message {
    Add(u64),
    AddAndSay(u64, oneshot::Sender<u64>),
    Say(oneshot::Sender<u64>),
}

trait Inbox: Send + 'static {
    fn next(&mut self) -> impl Future<Output = Option<Message>> + Send;
}

trait Outbox: Send + 'static {
    fn send(&self, message: Message) -> impl Future<Output = ()> + Send;
}

impl Inbox for mpsc::UnboundedReceiver<Message> {
    fn next(&mut self) -> impl Future<Output = Option<Message>> + Send {
        self.recv()
    }
}

impl Outbox for mpsc::UnboundedSender<Message> {
    async fn send(&self, message: Message) {
        Self::send(self, message).ok().expect("the service is there");
    }
}

impl Inbox for mpsc::Receiver<Message> {
    fn next(&mut self) -> impl Future<Output = Option<Message>> + Send {
        self.recv()
    }
}

impl Outbox for mpsc::Sender<Message> {
    async fn send(&self, message: Message) {
        Self::send(self, message).await.ok().expect("the service is there");
    }
}

async fn service(mut inbox: impl Inbox) {
    let mut sum = 0;
    while let Some(message) = inbox.next().await {
        match message {
            Message::Add(amount) => sum += amount,
            Message::AddAndSay(amount, reply) => {
                sum += amount;
                reply.send(sum).expect("the client waits");
            }
            Message::Say(reply) => reply.send(sum).expect("the client waits"),
        }
    }
}

struct Asking<O> {
    outbox: O,
    sum: Sum,
}

impl<O: Outbox + Sync> Client for Asking<O> {
    async fn group(&mut self, form: Form, messages: usize) -> Result<(), String> {
        match form {
            Form::InTurn => {
                for _ in 0..messages {
                    let (reply, replied) = oneshot::channel();
                    self.outbox.send(Message::AddAndSay(1, reply)).await;
                    self.sum.added(1, replied.await.expect("the service answers"))?;
                }
            }
            Form::AtOnce => {
                let mut answers = Vec::with_capacity(messages);
                for _ in 0..messages {
                    let (reply, replied) = oneshot::channel();
                    self.outbox.send(Message::AddAndSay(1, reply)).await;
                    answers.push(replied);
                }
                for replied in answers {
                    self.sum.added(1, replied.await.expect("the service answers"))?;
                }
            }
            Form::OneWay => {
                for _ in 0..messages {
                    self.outbox.send(Message::Add(1)).await;
                    self.sum.add(1);
                }
                let (reply, replied) = oneshot::channel();
                self.outbox.send(Message::Say(reply)).await;
                self.sum.check(replied.await.expect("the service answers"))?;
            }
        }
        Ok(())
    }
}

fn main() {
    let engines = ["tokio mpsc unbounded + oneshot", "tokio mpsc bounded + oneshot"];
    serve(&["tokio"], &engines, |engine, job| {
        let Job::Messages(work) = job else { return Answer::Absent };
        let taken = tokio_runtime(work.workers).block_on(async {
            if engine == 0 {
                let (outbox, inbox) = mpsc::unbounded_channel();
                tokio::spawn(service(inbox));
                on_tokio(Asking { outbox, sum: Sum::default() }, work).await
            } else {
                let (outbox, inbox) = mpsc::channel(BOUND);
                tokio::spawn(service(inbox));
                on_tokio(Asking { outbox, sum: Sum::default() }, work).await
            }
        });
        Answer::Groups(taken)
    });
}
