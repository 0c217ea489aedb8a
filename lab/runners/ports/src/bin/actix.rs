//! actix: single-threaded arbiters, among which the actors are distributed in turn.
use std::sync::Arc;
use std::time::Instant;

use actix::prelude::*;
use lehr_port_peers::actors::{Post, Rank, Ring, is_for_actors};
use lehr_port_peers::{Answer, Job, Run, serve};

#[derive(Message)]
#[rtype(result = "()")]
struct Posted(Post);

struct Stages(Rank<Addr<Stages>>);

impl Actor for Stages {
    type Context = Context<Self>;
}

impl Handler<Posted> for Stages {
    type Result = ();

    fn handle(&mut self, Posted(message): Posted, _: &mut Context<Self>) {
        self.0.handle(message, |to, post| to.do_send(Posted(post)));
    }
}

#[derive(Message)]
#[rtype(result = "u64")]
struct Question(u64);

struct Service;

impl Actor for Service {
    type Context = Context<Self>;
}

impl Handler<Question> for Service {
    type Result = u64;

    fn handle(&mut self, Question(value): Question, _: &mut Context<Self>) -> u64 {
        value + 1
    }
}

fn main() {
    // Arbiters belong to the system of the thread that starts them.
    let _system = System::new();
    serve(&["actix"], &["actix, one arbiter a worker"], |_, job| match job {
        Job::Pattern(run) if is_for_actors(&run) => Answer::Seconds(pattern(run)),
        Job::Requests { clients, workers, each } => Answer::Seconds(requests(clients, workers, each)),
        _ => Answer::Absent,
    });
}

fn on_arbiters<T>(workers: usize, work: impl FnOnce(&[Arbiter]) -> T) -> T {
    let arbiters: Vec<_> = (0..workers).map(|_| Arbiter::new()).collect();
    let done = work(&arbiters);
    for arbiter in arbiters {
        arbiter.stop();
        arbiter.join().expect("an arbiter panicked");
    }
    done
}

fn pattern(run: Run) -> f64 {
    on_arbiters(run.workers, |arbiters| {
        let ring: Arc<Ring<Addr<Stages>>> = Ring::new(run);
        let actors = (0..run.ranks).map(|rank| {
            let state = Rank::new(&ring, rank);
            Stages::start_in_arbiter(&arbiters[rank % arbiters.len()].handle(), move |_| Stages(state))
        });
        ring.measure(actors.collect(), |to, post| to.do_send(Posted(post)))
    })
}

/// The service is on the first arbiter; the clients are on the others, if there are others.
fn requests(clients: usize, workers: usize, each: usize) -> f64 {
    on_arbiters(workers, |arbiters| {
        let service = Service::start_in_arbiter(&arbiters[0].handle(), |_| Service);
        let others = if arbiters.len() > 1 { &arbiters[1..] } else { arbiters };
        let (ended, ends) = std::sync::mpsc::channel();
        let start = Instant::now();
        for client in 0..clients {
            let (service, ended) = (service.clone(), ended.clone());
            others[client % others.len()].spawn(async move {
                let mut x = 0;
                for _ in 0..each {
                    x = service.send(Question(x)).await.expect("the service answers");
                }
                ended.send(x).expect("the runner waits");
            });
        }
        for _ in 0..clients {
            assert_eq!(ends.recv().expect("a client panicked"), each as u64);
        }
        start.elapsed().as_secs_f64()
    })
}
