//! Behaviour of ports, arbiters, tasks, parallel loops and shutdown. The numbers in comments are those of the behaviour
//! catalogue in the specification; every test of concurrency runs on 1 and 2 workers and on 8, more than there are cores.
#![cfg(not(any(loom, shuttle)))]
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "tests count and post from threads of their own"
)]

#[path = "runtime/join.rs"]
mod join;
#[path = "runtime/once.rs"]
mod once;
#[path = "runtime/parallel.rs"]
mod parallel;
#[path = "runtime/port.rs"]
mod port;
#[path = "runtime/priority.rs"]
mod priority;
#[path = "runtime/queue.rs"]
mod queue;
#[path = "runtime/receive.rs"]
mod receive;
#[path = "runtime/reply.rs"]
mod reply;
#[path = "runtime/shutdown.rs"]
mod shutdown;
#[path = "runtime/take.rs"]
mod take;
#[path = "runtime/task.rs"]
mod task;

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use lehr_runtime::{Builder, Dispatcher};

/// Calls a test with a dispatcher of 1, 2 and 8 workers.
fn on_each(test: impl Fn(&Dispatcher)) {
    for threads in [1, 2, 8] {
        test(&Builder::new().name("test").threads(threads).start().unwrap());
    }
}

/// Polls a future once, with a waker that does nothing.
fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A source of arbitrary but repeatable numbers (xorshift).
struct Arbitrary(u64);

impl Arbitrary {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}
