//! Behaviour of ports, arbiters, tasks, parallel loops and shutdown. The numbers in comments are the numbers of the
//! behaviour catalogue in the specification. Every test of concurrency runs on 1, 2 and 8 workers; 8 workers are more
//! than there are cores.
#![cfg(not(any(loom, shuttle)))]
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "tests count and post from threads of their own"
)]

#[path = "runtime/blocking.rs"]
mod blocking;
#[path = "runtime/capacity.rs"]
mod capacity;
#[path = "runtime/choice.rs"]
mod choice;
#[path = "runtime/context.rs"]
mod context;
#[path = "runtime/examples.rs"]
mod examples;
#[path = "runtime/exchange.rs"]
mod exchange;
#[path = "runtime/fork_join.rs"]
mod fork_join;
#[path = "runtime/gather.rs"]
mod gather;
#[path = "runtime/in_place.rs"]
mod in_place;
#[path = "runtime/inspect.rs"]
mod inspect;
#[path = "runtime/interleave.rs"]
mod interleave;
#[path = "runtime/join.rs"]
mod join;
#[path = "runtime/once.rs"]
mod once;
#[path = "runtime/parallel.rs"]
mod parallel;
#[path = "runtime/policies.rs"]
mod policies;
#[path = "runtime/port.rs"]
mod port;
#[path = "runtime/port_set.rs"]
mod port_set;
#[path = "runtime/priority.rs"]
mod priority;
#[path = "runtime/queue.rs"]
mod queue;
#[path = "runtime/receive.rs"]
mod receive;
#[path = "runtime/reply.rs"]
mod reply;
#[path = "runtime/rounds.rs"]
mod rounds;
#[path = "runtime/shutdown.rs"]
mod shutdown;
#[path = "runtime/take.rs"]
mod take;
#[path = "runtime/task.rs"]
mod task;
#[path = "runtime/timer.rs"]
mod timer;
#[path = "runtime/watchdog.rs"]
mod watchdog;
#[path = "runtime/workers.rs"]
mod workers;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use lehr_runtime::{Builder, Dispatcher};

/// Calls a test with a dispatcher of 1, 2 and 8 workers.
fn on_each(test: impl Fn(&Dispatcher)) {
    for threads in [1, 2, 8] {
        test(&Builder::new().name("test").threads(threads).start().unwrap());
    }
}

/// Waits until `is_so` returns true, without a limit.
///
/// Looks several times without a pause, and then sleeps between looks, longer and longer. On a busy machine, a wait
/// that only yielded its core would get it back after the time slices of all other threads.
fn until(is_so: impl Fn() -> bool) {
    for _ in 0..100 {
        if is_so() {
            return;
        }
        std::hint::spin_loop();
    }
    let mut pause = Duration::from_micros(20);
    while !is_so() {
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
    }
}

/// Polls a future once, with a waker that does nothing.
fn poll_once<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// A waker that counts how often a future that is polled by hand is woken.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Wakes {
    /// Polls a future once, with this waker, so that its wake-ups are counted.
    fn poll<F: Future>(self: &Arc<Self>, future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(&Waker::from(self.clone())))
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
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
