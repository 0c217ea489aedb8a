//! kameo: an actor is a task of tokio.
use std::convert::Infallible;
use std::sync::Arc;

use kameo::prelude::*;
use lehr_port_peers::actors::{Post, Rank, Ring, is_for_actors};
use lehr_port_peers::rendezvous::tokio_runtime;
use lehr_port_peers::services::{Client, clients_on_tokio};
use lehr_port_peers::{Answer, Job, Run, serve};

struct Posted(Post);

struct Stages(Rank<ActorRef<Stages>>);

impl Actor for Stages {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(state: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(state)
    }
}

impl Message<Posted> for Stages {
    type Reply = ();

    async fn handle(&mut self, Posted(message): Posted, _: &mut Context<Self, ()>) {
        self.0.handle(message, send);
    }
}

fn send(to: &ActorRef<Stages>, post: Post) {
    to.tell(Posted(post)).try_send().expect("the rank lives until the last stage");
}

struct Service;

impl Actor for Service {
    type Args = Self;
    type Error = Infallible;

    async fn on_start(state: Self, _: ActorRef<Self>) -> Result<Self, Infallible> {
        Ok(state)
    }
}

struct Question(u64);

impl Message<Question> for Service {
    type Reply = u64;

    async fn handle(&mut self, Question(value): Question, _: &mut Context<Self, u64>) -> u64 {
        value + 1
    }
}

#[derive(Clone)]
struct Asking(ActorRef<Service>);

impl Client for Asking {
    async fn ask(&self, value: u64) -> u64 {
        self.0.ask(Question(value)).await.expect("the service answers")
    }
}

fn main() {
    serve(&["kameo", "tokio"], &["kameo on tokio"], |_, job| match job {
        Job::Pattern(run) if is_for_actors(&run) => Answer::Seconds(pattern(run)),
        Job::Requests { clients, workers, each } => Answer::Seconds(requests(clients, workers, each)),
        _ => Answer::Absent,
    });
}

fn pattern(run: Run) -> f64 {
    let runtime = tokio_runtime(run.workers);
    let _entered = runtime.enter();
    let ring: Arc<Ring<ActorRef<Stages>>> = Ring::new(run);
    let actors = (0..run.ranks)
        .map(|rank| Stages::spawn_with_mailbox(Stages(Rank::new(&ring, rank)), kameo::mailbox::unbounded()));
    let seconds = ring.measure(actors.collect(), send);
    for actor in ring.mailboxes() {
        actor.kill();
    }
    seconds
}

fn requests(clients: usize, workers: usize, each: usize) -> f64 {
    tokio_runtime(workers).block_on(async {
        let service = Service::spawn_with_mailbox(Service, kameo::mailbox::unbounded());
        clients_on_tokio(clients, each, Asking(service)).await
    })
}
