//! ractor: an actor is a task of tokio.
use std::sync::Arc;

use lehr_port_peers::actors::{Post, Rank, Ring, is_for_actors};
use lehr_port_peers::rendezvous::tokio_runtime;
use lehr_port_peers::services::{Client, clients_on_tokio};
use lehr_port_peers::{Answer, Job, Run, serve};
use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort};

struct Posted(Post);

struct Stages;

impl Actor for Stages {
    type Msg = Posted;
    type State = Rank<ActorRef<Posted>>;
    type Arguments = Self::State;

    async fn pre_start(&self, _: ActorRef<Posted>, state: Self::State) -> Result<Self::State, ActorProcessingErr> {
        Ok(state)
    }

    async fn handle(
        &self,
        _: ActorRef<Posted>,
        Posted(message): Posted,
        state: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        state.handle(message, send);
        Ok(())
    }
}

fn send(to: &ActorRef<Posted>, post: Post) {
    to.cast(Posted(post)).expect("the rank lives until the last stage");
}

struct Service;

struct Question(u64, RpcReplyPort<u64>);

impl Actor for Service {
    type Msg = Question;
    type State = ();
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Question>, (): ()) -> Result<(), ActorProcessingErr> {
        Ok(())
    }

    async fn handle(
        &self,
        _: ActorRef<Question>,
        Question(value, reply): Question,
        (): &mut (),
    ) -> Result<(), ActorProcessingErr> {
        Ok(reply.send(value + 1)?)
    }
}

#[derive(Clone)]
struct Asking(ActorRef<Question>);

impl Client for Asking {
    async fn ask(&self, value: u64) -> u64 {
        ractor::call!(self.0, Question, value).expect("the service answers")
    }
}

fn main() {
    serve(&["ractor", "tokio"], &["ractor on tokio"], |_, job| match job {
        Job::Pattern(run) if is_for_actors(&run) => Answer::Seconds(pattern(run)),
        Job::Requests { clients, workers, each } => Answer::Seconds(requests(clients, workers, each)),
        _ => Answer::Absent,
    });
}

fn pattern(run: Run) -> f64 {
    let runtime = tokio_runtime(run.workers);
    let ring: Arc<Ring<ActorRef<Posted>>> = Ring::new(run);
    let actors = (0..run.ranks).map(|rank| {
        let state = Rank::new(&ring, rank);
        runtime.block_on(async { Actor::spawn(None, Stages, state).await.expect("an actor").0 })
    });
    let seconds = ring.measure(actors.collect(), send);
    for actor in ring.mailboxes() {
        actor.stop(None);
    }
    seconds
}

fn requests(clients: usize, workers: usize, each: usize) -> f64 {
    tokio_runtime(workers).block_on(async {
        let (service, _) = Actor::spawn(None, Service, ()).await.expect("an actor");
        clients_on_tokio(clients, each, Asking(service)).await
    })
}
