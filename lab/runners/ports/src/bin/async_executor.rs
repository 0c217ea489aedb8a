//! async-executor with async-channel.
use std::sync::Arc;
use std::time::Instant;

use async_executor::Executor;
use lehr_port_peers::rendezvous::{BoxedRank, on_tasks};
use lehr_port_peers::spawned::{self, Spawner};
use lehr_port_peers::{Answer, Form, Job, Pattern, asynchronous, serve};

asynchronous!(
    Channel,
    async_channel::Sender<u64>,
    async_channel::Receiver<u64>,
    async_channel::bounded(2),
    |s, v| s.send(v).await.expect("a receiver"),
    |r| r.recv().await.expect("a sender")
);

/// An executor whose threads end when this is dropped.
struct Pool {
    executor: Arc<Executor<'static>>,
    stop: async_channel::Sender<()>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Pool {
    fn new(workers: usize) -> Self {
        let executor = Arc::new(Executor::new());
        let (stop, stopped) = async_channel::bounded::<()>(1);
        let threads = (0..workers)
            .map(|_| {
                let (executor, stopped) = (executor.clone(), stopped.clone());
                std::thread::spawn(move || {
                    // Nothing is sent to this channel; the receive ends when the channel is closed.
                    let _ = futures_lite::future::block_on(executor.run(stopped.recv()));
                })
            })
            .collect();
        Self { executor, stop, threads }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.stop.close();
        for thread in self.threads.drain(..) {
            thread.join().expect("a worker panicked");
        }
    }
}

#[derive(Clone)]
struct Tasks(Arc<Executor<'static>>);

impl Spawner for Tasks {
    fn spawn(&self, handler: impl FnOnce() + Send + 'static) {
        self.0.spawn(async move { handler() }).detach();
    }
}

fn all(pool: &Pool, ranks: Vec<BoxedRank>) -> f64 {
    let start = Instant::now();
    let tasks: Vec<_> = ranks.into_iter().map(|rank| pool.executor.spawn(rank)).collect();
    futures_lite::future::block_on(async {
        for task in tasks {
            assert_eq!(task.await, 0, "a message of another stage");
        }
    });
    start.elapsed().as_secs_f64()
}

fn main() {
    let engines = ["async-channel on async-executor", "async-executor spawn"];
    serve(&["async-executor", "async-channel"], &engines, |engine, job| match (engine, job) {
        (0, Job::Pattern(run)) if run.form == Form::Rendezvous => {
            let pool = Pool::new(run.workers);
            Answer::Seconds(on_tasks::<Channel>(run, |ranks| all(&pool, ranks)))
        }
        (1, Job::Pattern(run)) if run.form == Form::Spawned || run.pattern == Pattern::None => {
            let pool = Pool::new(run.workers);
            Answer::Seconds(spawned::run(run, Tasks(pool.executor.clone())))
        }
        _ => Answer::Absent,
    });
}
