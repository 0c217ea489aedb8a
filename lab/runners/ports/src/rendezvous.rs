//! Rendezvous: P long-running ranks on channels. Each rank has two inbound channels, from its left and from its right,
//! so that a receive names its source, as MPI does. A message is the number of its stage, and every rank checks each
//! that it gets.

use std::future::Future;
use std::sync::{Arc, Barrier};
use std::thread::JoinHandle;
use std::time::Instant;

use crate::{Pattern, Run, pin, units};

/// A channel whose receive blocks the thread.
pub trait Blocking: 'static {
    /// The sending end.
    type Sender: Send + Clone + 'static;
    /// The receiving end.
    type Receiver: Send + 'static;
    /// Makes a channel.
    fn channel() -> (Self::Sender, Self::Receiver);
    /// Sends a value, and waits for room if necessary.
    fn send(sender: &Self::Sender, value: u64);
    /// Receives a value, and waits for it if necessary.
    fn receive(receiver: &Self::Receiver) -> u64;
}

/// A channel whose receive is a future.
pub trait Asynchronous: 'static {
    /// The sending end.
    type Sender: Send + Sync + Clone + 'static;
    /// The receiving end.
    type Receiver: Send + 'static;
    /// Makes a channel.
    fn channel() -> (Self::Sender, Self::Receiver);
    /// Sends a value, and waits for room if necessary.
    fn send(sender: &Self::Sender, value: u64) -> impl Future<Output = ()> + Send;
    /// Receives a value, and waits for it if necessary.
    fn receive(receiver: &mut Self::Receiver) -> impl Future<Output = u64> + Send;
}

/// Declares a blocking channel.
#[macro_export]
macro_rules! blocking {
    ($name:ident, $sender:ty, $receiver:ty, $make:expr) => {
        struct $name;
        impl $crate::rendezvous::Blocking for $name {
            type Sender = $sender;
            type Receiver = $receiver;
            fn channel() -> ($sender, $receiver) {
                $make
            }
            #[inline(always)]
            fn send(sender: &$sender, value: u64) {
                sender.send(value).expect("the receiver is there");
            }
            #[inline(always)]
            fn receive(receiver: &$receiver) -> u64 {
                receiver.recv().expect("the sender is there")
            }
        }
    };
}

/// Declares an asynchronous channel.
#[macro_export]
macro_rules! asynchronous {
    ($name:ident, $sender:ty, $receiver:ty, $make:expr, |$s:ident, $v:ident| $send:expr, |$r:ident| $receive:expr) => {
        struct $name;
        impl $crate::rendezvous::Asynchronous for $name {
            type Sender = $sender;
            type Receiver = $receiver;
            fn channel() -> ($sender, $receiver) {
                $make
            }
            #[inline(always)]
            async fn send($s: &$sender, $v: u64) {
                $send
            }
            #[inline(always)]
            async fn receive($r: &mut $receiver) -> u64 {
                $receive
            }
        }
    };
}

/// The four ends of a rank's channels, and a channel to itself.
struct Ends<S, R> {
    to_self: S,
    to_left: S,
    to_right: S,
    from_left: R,
    from_right: R,
}

fn ring<S: Clone, R>(ranks: usize, channel: impl Fn() -> (S, R)) -> Vec<Ends<S, R>> {
    let rightward: Vec<_> = (0..ranks).map(|_| channel()).collect();
    let leftward: Vec<_> = (0..ranks).map(|_| channel()).collect();
    let to: Vec<(S, S)> = rightward.iter().zip(&leftward).map(|(a, b)| (a.0.clone(), b.0.clone())).collect();
    let receivers = rightward.into_iter().zip(leftward).map(|(a, b)| (a.1, b.1));
    receivers
        .enumerate()
        .map(|(rank, (from_left, from_right))| Ends {
            to_self: to[rank].0.clone(),
            to_right: to[(rank + 1) % ranks].0.clone(),
            to_left: to[(rank + ranks - 1) % ranks].1.clone(),
            from_left,
            from_right,
        })
        .collect()
}

/// Runs each rank on its own thread, pinned to a core; returns the time from the first rank's start to the last rank's
/// end.
pub fn on_threads<C: Blocking>(run: Run) -> f64 {
    let gate = Arc::new(Barrier::new(run.ranks));
    let threads = ring(run.ranks, C::channel).into_iter().enumerate().map(|(index, ends)| {
        let gate = gate.clone();
        std::thread::spawn(move || {
            pin(index);
            gate.wait();
            let start = Instant::now();
            let mut wrong = 0;
            let mut x = index as u64;
            for stage in 0..run.stages as u64 {
                match run.pattern {
                    Pattern::None => {}
                    Pattern::Pipeline => {
                        C::send(&ends.to_self, stage);
                        wrong |= C::receive(&ends.from_left) ^ stage;
                    }
                    Pattern::Shift => {
                        C::send(&ends.to_right, stage);
                        wrong |= C::receive(&ends.from_left) ^ stage;
                    }
                    Pattern::TwoShifts => {
                        C::send(&ends.to_right, stage);
                        wrong |= C::receive(&ends.from_left) ^ stage;
                        C::send(&ends.to_left, stage);
                        wrong |= C::receive(&ends.from_right) ^ stage;
                    }
                    Pattern::Exchange => {
                        C::send(&ends.to_right, stage);
                        C::send(&ends.to_left, stage);
                        wrong |= C::receive(&ends.from_left) ^ stage;
                        wrong |= C::receive(&ends.from_right) ^ stage;
                    }
                }
                if run.units > 0 {
                    x = units(x, run.units);
                }
            }
            let end = Instant::now();
            std::hint::black_box(x);
            assert_eq!(wrong, 0, "a message of another stage");
            // All ends stay open until all ranks have finished, so that no send fails because its receiver is gone.
            gate.wait();
            (start, end)
        })
    });
    span(threads.collect())
}

/// Returns the time from the first start to the last end, as the ranks measured them.
pub fn span(threads: Vec<JoinHandle<(Instant, Instant)>>) -> f64 {
    let times: Vec<_> = threads.into_iter().map(|thread| thread.join().expect("a rank panicked")).collect();
    let start = times.iter().map(|time| time.0).min().expect("a rank");
    let end = times.iter().map(|time| time.1).max().expect("a rank");
    (end - start).as_secs_f64()
}

async fn rank<C: Asynchronous>(index: usize, mut ends: Ends<C::Sender, C::Receiver>, run: Run) -> (u64, u64) {
    let mut wrong = 0;
    let mut x = index as u64;
    for stage in 0..run.stages as u64 {
        match run.pattern {
            Pattern::None => {}
            Pattern::Pipeline => {
                C::send(&ends.to_self, stage).await;
                wrong |= C::receive(&mut ends.from_left).await ^ stage;
            }
            Pattern::Shift => {
                C::send(&ends.to_right, stage).await;
                wrong |= C::receive(&mut ends.from_left).await ^ stage;
            }
            Pattern::TwoShifts => {
                C::send(&ends.to_right, stage).await;
                wrong |= C::receive(&mut ends.from_left).await ^ stage;
                C::send(&ends.to_left, stage).await;
                wrong |= C::receive(&mut ends.from_right).await ^ stage;
            }
            Pattern::Exchange => {
                C::send(&ends.to_right, stage).await;
                C::send(&ends.to_left, stage).await;
                wrong |= C::receive(&mut ends.from_left).await ^ stage;
                wrong |= C::receive(&mut ends.from_right).await ^ stage;
            }
        }
        if run.units > 0 {
            x = units(x, run.units);
        }
    }
    (wrong, x)
}

/// Makes the ranks of a run as futures, each of which returns 0 if all its messages were right. `all` runs them and
/// returns the time.
pub fn on_tasks<C: Asynchronous>(run: Run, all: impl FnOnce(Vec<BoxedRank>) -> f64) -> f64 {
    // The receiving ends stay open until every rank has finished: a send to a rank that has ended must find its channel
    // open.
    let ranks = ring(run.ranks, C::channel).into_iter().enumerate();
    all(ranks
        .map(|(index, ends)| {
            let future: BoxedRank = Box::pin(async move {
                let (wrong, x) = rank::<C>(index, ends, run).await;
                std::hint::black_box(x);
                wrong
            });
            future
        })
        .collect())
}

/// A rank's future. It is boxed once for each run, so that executors get one type; a stage needs no allocation for it.
pub type BoxedRank = std::pin::Pin<Box<dyn Future<Output = u64> + Send>>;

/// Makes a tokio runtime with this many workers; 0 is a current-thread runtime.
pub fn tokio_runtime(workers: usize) -> tokio::runtime::Runtime {
    if workers == 0 {
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
    } else {
        tokio::runtime::Builder::new_multi_thread().worker_threads(workers).enable_all().build().expect("a runtime")
    }
}

/// Runs the ranks as tasks of a tokio runtime.
pub fn on_tokio(workers: usize, ranks: Vec<BoxedRank>) -> f64 {
    tokio_runtime(workers).block_on(async {
        let start = Instant::now();
        let tasks: Vec<_> = ranks.into_iter().map(tokio::spawn).collect();
        for task in tasks {
            assert_eq!(task.await.expect("a rank panicked"), 0, "a message of another stage");
        }
        start.elapsed().as_secs_f64()
    })
}
