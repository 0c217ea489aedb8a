//! tokio: mpsc channels on both runtimes, spawned handlers, oneshot replies, pending receives, Barrier.
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use lehr_port_peers::rendezvous::{on_tasks, on_tokio, tokio_runtime};
use lehr_port_peers::services::{Client, clients_on_tokio};
use lehr_port_peers::spawned::{self, Spawner};
use lehr_port_peers::{Answer, Form, Job, Pattern, asynchronous, resident_bytes, serve};
use tokio::sync::{mpsc, oneshot};

asynchronous!(
    Bounded,
    mpsc::Sender<u64>,
    mpsc::Receiver<u64>,
    mpsc::channel(2),
    |s, v| s.send(v).await.expect("a receiver"),
    |r| r.recv().await.expect("a sender")
);
asynchronous!(
    Unbounded,
    mpsc::UnboundedSender<u64>,
    mpsc::UnboundedReceiver<u64>,
    mpsc::unbounded_channel(),
    |s, v| s.send(v).expect("a receiver"),
    |r| r.recv().await.expect("a sender")
);

#[derive(Clone)]
struct Tasks;

impl Spawner for Tasks {
    fn spawn(&self, handler: impl FnOnce() + Send + 'static) {
        tokio::spawn(async move { handler() });
    }
}

fn main() {
    let engines = [
        "tokio mpsc bounded",
        "tokio mpsc unbounded",
        "tokio mpsc unbounded, current_thread",
        "tokio::spawn",
        "tokio oneshot",
    ];
    serve(&["tokio"], &engines, |engine, job| match (engine, job) {
        (0, Job::Pattern(run)) if run.form == Form::Rendezvous => {
            Answer::Seconds(on_tasks::<Bounded>(run, |ranks| on_tokio(run.workers, ranks)))
        }
        (1, Job::Pattern(run)) if run.form == Form::Rendezvous => {
            Answer::Seconds(on_tasks::<Unbounded>(run, |ranks| on_tokio(run.workers, ranks)))
        }
        (2, Job::Pattern(run)) if run.form == Form::Rendezvous && run.workers == 1 => {
            Answer::Seconds(on_tasks::<Unbounded>(run, |ranks| on_tokio(0, ranks)))
        }
        (3, Job::Pattern(run)) if run.form == Form::Spawned || run.pattern == Pattern::None => {
            let runtime = tokio_runtime(run.workers);
            let _entered = runtime.enter();
            Answer::Seconds(spawned::run(run, Tasks))
        }
        (1, Job::Requests { clients, workers, each }) => Answer::Seconds(requests(clients, workers, each)),
        (2, Job::Requests { clients, workers: 1, each }) => Answer::Seconds(requests(clients, 0, each)),
        (1, Job::Barrier { ranks, workers, rounds }) => {
            let barrier = Arc::new(tokio::sync::Barrier::new(ranks));
            let futures = (0..ranks).map(|_| {
                let barrier = barrier.clone();
                let future: lehr_port_peers::rendezvous::BoxedRank = Box::pin(async move {
                    for _ in 0..rounds {
                        barrier.wait().await;
                    }
                    0
                });
                future
            });
            Answer::Seconds(on_tokio(workers, futures.collect()))
        }
        (4, Job::Pending { count }) => pending(count),
        _ => Answer::Absent,
    });
}

#[derive(Clone)]
struct Asking(mpsc::UnboundedSender<(u64, oneshot::Sender<u64>)>);

impl Client for Asking {
    async fn ask(&self, value: u64) -> u64 {
        let (reply, replied) = oneshot::channel();
        self.0.send((value, reply)).expect("the service is there");
        replied.await.expect("the service answers")
    }
}

/// Sends requests over an mpsc channel to one service task, with a oneshot channel for each reply.
fn requests(clients: usize, workers: usize, each: usize) -> f64 {
    tokio_runtime(workers).block_on(async {
        let (ask, mut asked) = mpsc::unbounded_channel::<(u64, oneshot::Sender<u64>)>();
        tokio::spawn(async move {
            while let Some((value, reply)) = asked.recv().await {
                reply.send(value + 1).expect("the client waits");
            }
        });
        clients_on_tokio(clients, each, Asking(ask)).await
    })
}

/// Measures tasks that each wait at their own oneshot channel. The senders are in a vector that was made before, which
/// is not counted.
fn pending(count: usize) -> Answer {
    tokio_runtime(2).block_on(async {
        let mut senders = Vec::with_capacity(count);
        // The vector is touched now, so that its pages do not count as the receives' memory.
        senders.resize_with(count, || None);
        let waiting = Arc::new(AtomicUsize::new(0));
        let before = resident_bytes();
        let start = Instant::now();
        for slot in &mut senders {
            let (sender, receiver) = oneshot::channel::<u64>();
            *slot = Some(sender);
            let waiting = waiting.clone();
            tokio::spawn(async move {
                waiting.fetch_add(1, Relaxed);
                assert_eq!(receiver.await, Ok(1));
                waiting.fetch_sub(1, Relaxed);
            });
        }
        while waiting.load(Relaxed) < count {
            tokio::task::yield_now().await;
        }
        let create = start.elapsed().as_secs_f64();
        let bytes = (resident_bytes() - before) / count as f64;
        let start = Instant::now();
        for sender in senders {
            sender.expect("filled above").send(1).expect("its task waits");
        }
        while waiting.load(Relaxed) > 0 {
            tokio::task::yield_now().await;
        }
        Answer::Pending(bytes, create, start.elapsed().as_secs_f64())
    })
}
