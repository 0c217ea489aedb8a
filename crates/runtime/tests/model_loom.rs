//! Checks the protocols of this crate with loom: every interleaving of two or three threads, with memory orderings.
//!
//! `RUSTFLAGS="--cfg loom" CARGO_TARGET_DIR=target/loom cargo test -p lehr-runtime --release --test model_loom`
#![cfg(loom)]
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    reason = "loom's own atomics and threads build the models"
)]

use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use lehr_runtime::model::{End, Gate, Latch, Sleep};
use lehr_runtime::{Port, block_on, join};
use lehr_sync::spin_lock::SpinLock;
use loom::cell::UnsafeCell;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::sync::{Arc, Condvar, Mutex};
use loom::thread;

/// Explores all schedules with at most `preemptions` forced switches.
fn model(preemptions: usize, body: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(body);
}

/// Queued work as the protocol for sleeping sees it: a count. The accesses to the queues are as weak as allowed, so
/// that only the protocol's fences order them.
struct World {
    sleep: Sleep,
    queued: AtomicUsize,
    /// The number of jobs that have been run; the worker that runs the last job ends the model.
    done: AtomicUsize,
    jobs: usize,
}

impl World {
    fn new(workers: usize, jobs: usize) -> Arc<Self> {
        Arc::new(Self {
            sleep: Sleep::new(workers, None),
            queued: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            jobs,
        })
    }

    fn post(&self) {
        self.queued.fetch_add(1, Ordering::Relaxed);
        self.sleep.notify();
    }

    fn has_work(&self) -> bool {
        self.queued.load(Ordering::Relaxed) > 0
    }

    fn take(&self) -> bool {
        let mut queued = self.queued.load(Ordering::Relaxed);
        while queued > 0 {
            match self.queued.compare_exchange(queued, queued - 1, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(seen) => queued = seen,
            }
        }
        false
    }

    fn is_over(&self) -> bool {
        self.done.load(Ordering::Relaxed) == self.jobs
    }

    /// Works as a worker of `dispatch/worker.rs` does, but sleeps at once.
    fn work(&self, worker: usize) {
        loop {
            self.sleep.start_search();
            let found = loop {
                if self.take() {
                    break true;
                }
                if self.is_over() {
                    break false;
                }
                self.sleep.sleep(worker, || self.has_work() || self.is_over());
            };
            if self.sleep.stop_search() && self.has_work() {
                self.sleep.notify();
            }
            if !found {
                return;
            }
            if self.done.fetch_add(1, Ordering::Relaxed) + 1 == self.jobs {
                self.sleep.wake_all();
                return;
            }
        }
    }
}

// After a lost wake-up, a worker never ends; loom reports this as a deadlock.
#[test]
fn no_post_is_slept_through_by_the_only_worker() {
    model(3, || {
        let world = World::new(1, 2);
        let worker = {
            let world = world.clone();
            thread::spawn(move || world.work(0))
        };
        world.post();
        world.post();
        worker.join().unwrap();
        assert!(!world.has_work());
    });
}

#[test]
fn no_post_is_slept_through_by_two_workers() {
    model(2, || {
        let world = World::new(2, 2);
        let workers = [0, 1].map(|worker| {
            let world = world.clone();
            thread::spawn(move || world.work(worker))
        });
        world.post();
        world.post();
        for worker in workers {
            worker.join().unwrap();
        }
        assert!(!world.has_work());
    });
}

#[test]
fn no_post_of_two_posters_is_slept_through() {
    model(3, || {
        let world = World::new(1, 2);
        let posters = [(), ()].map(|()| {
            let world = world.clone();
            thread::spawn(move || world.post())
        });
        world.work(0);
        for poster in posters {
            poster.join().unwrap();
        }
        assert!(!world.has_work());
    });
}

/// Of two jobs, the job taken first cannot end before the other job has ended. So a worker must be woken for the other
/// job.
#[test]
fn the_last_searcher_hands_its_duty_on() {
    model(2, || {
        let world = World::new(2, 2);
        let other = Arc::new((Mutex::new(0), Condvar::new()));
        let work = |world: &World, other: &(Mutex<usize>, Condvar), worker| {
            world.sleep.start_search();
            while !world.take() {
                world.sleep.sleep(worker, || world.has_work());
            }
            if world.sleep.stop_search() && world.has_work() {
                world.sleep.notify();
            }
            let mut begun = other.0.lock().unwrap();
            *begun += 1;
            other.1.notify_all();
            while *begun < 2 {
                begun = other.1.wait(begun).unwrap();
            }
        };
        let workers = [0, 1].map(|worker| {
            let (world, other) = (world.clone(), other.clone());
            thread::spawn(move || work(&world, &other, worker))
        });
        world.post();
        world.post();
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

/// A worker queues a job for itself, and is then busy until that job has been run. So the other worker must run the
/// job, whether it searches, sleeps, or is on watch when the job comes.
#[test]
fn what_a_busy_worker_queues_for_itself_is_seen() {
    model(3, || {
        let sleep = Arc::new(Sleep::new(2, Some(std::time::Duration::ZERO)));
        let (queued, done) = (Arc::new(AtomicUsize::new(0)), Arc::new((Mutex::new(false), Condvar::new())));
        let other = {
            let (sleep, queued, done) = (sleep.clone(), queued.clone(), done.clone());
            thread::spawn(move || {
                sleep.start_search();
                while queued.load(Ordering::Relaxed) == 0 {
                    sleep.sleep(1, || queued.load(Ordering::Relaxed) == 1);
                }
                let _ = sleep.stop_search();
                *done.0.lock().unwrap() = true;
                done.1.notify_one();
            })
        };
        queued.store(1, Ordering::Relaxed);
        sleep.notify_near(0, || 1);
        let mut is_done = done.0.lock().unwrap();
        while !*is_done {
            is_done = done.1.wait(is_done).unwrap();
        }
        drop(is_done);
        other.join().unwrap();
    });
}

/// As above, but the watch may end. The worker that is woken from outside finds that the other workers sleep without a
/// watch.
#[test]
fn whoever_is_woken_when_nobody_watches_rings_for_its_own_work() {
    model(2, || {
        let sleep = Arc::new(Sleep::new(2, Some(std::time::Duration::ZERO)));
        let outside = Arc::new(AtomicUsize::new(0));
        let near = Arc::new(AtomicUsize::new(0));
        let done = Arc::new((Mutex::new(false), Condvar::new()));
        let work = |sleep: &Sleep, outside: &AtomicUsize, near: &AtomicUsize, done: &(Mutex<bool>, Condvar), worker| {
            loop {
                sleep.start_search();
                let found = loop {
                    if outside.compare_exchange(1, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
                        break true;
                    }
                    if near.load(Ordering::Relaxed) == 1 {
                        break false;
                    }
                    sleep.sleep(worker, || outside.load(Ordering::Relaxed) == 1 || near.load(Ordering::Relaxed) == 1);
                };
                if sleep.stop_search() && outside.load(Ordering::Relaxed) == 1 {
                    sleep.notify();
                }
                if !found {
                    *done.0.lock().unwrap() = true;
                    done.1.notify_all();
                    return;
                }
                // The job from outside queues a job on the same worker, and is busy until another worker has run that
                // job.
                near.store(1, Ordering::Relaxed);
                sleep.notify_near(0, || 1);
                let mut is_done = done.0.lock().unwrap();
                while !*is_done {
                    is_done = done.1.wait(is_done).unwrap();
                }
                return;
            }
        };
        let workers = [0, 1].map(|worker| {
            let (sleep, outside, near, done) = (sleep.clone(), outside.clone(), near.clone(), done.clone());
            thread::spawn(move || work(&sleep, &outside, &near, &done, worker))
        });
        outside.store(1, Ordering::Relaxed);
        sleep.notify();
        for worker in workers {
            worker.join().unwrap();
        }
    });
}

#[test]
fn one_holder_at_a_time_and_each_sees_what_the_last_wrote() {
    model(3, || {
        let lock = Arc::new(SpinLock::new(0));
        let other = {
            let lock = lock.clone();
            thread::spawn(move || *lock.lock() += 1)
        };
        *lock.lock() += 1;
        *lock.lock() += 1;
        other.join().unwrap();
        assert_eq!(*lock.lock(), 3);
    });
}

#[test]
fn a_closed_gate_is_empty_and_what_was_done_inside_is_seen() {
    model(3, || {
        let gate = Arc::new((Gate::new(), loom::cell::UnsafeCell::new(0), AtomicUsize::new(0)));
        let visitors = [(), ()].map(|()| {
            let gate = gate.clone();
            thread::spawn(move || {
                if gate.0.try_enter() {
                    // Reads what the lender wrote before it opened the gate; loom reports an error if the lender writes
                    // meanwhile.
                    gate.1.with(|lent| {
                        // SAFETY: loom checks the access; the test exists for this check.
                        assert_eq!(unsafe { *lent }, 1);
                    });
                    gate.2.fetch_add(1, Ordering::Relaxed);
                    gate.0.leave();
                    1
                } else {
                    0
                }
            })
        });
        assert!(gate.0.take());
        // SAFETY: as above.
        gate.1.with_mut(|lent| unsafe { *lent = 1 });
        gate.0.open();
        gate.0.close();
        // SAFETY: as above: after `close`, no thread is inside.
        gate.1.with_mut(|lent| unsafe { *lent = 2 });
        let seen = gate.2.load(Ordering::Relaxed);
        gate.0.release();
        let entered: usize = visitors.map(|visitor| visitor.join().unwrap()).into_iter().sum();
        assert_eq!(entered, seen, "whoever was inside had left, and its work is seen");
    });
}

/// A visitor of the first opening may still be about to unpark the lender when the lender already waits at the end of
/// the second opening.
#[test]
fn a_gate_used_again_is_not_left_waiting_by_a_late_bell() {
    model(3, || {
        let gate = Arc::new(Gate::new());
        let visitors = [(), ()].map(|()| {
            assert!(gate.take());
            gate.open();
            // This thread enters for the visitor, so that the model uses its switches for the visitor's leaving.
            assert!(gate.try_enter());
            let visitor = {
                let gate = gate.clone();
                thread::spawn(move || gate.leave())
            };
            gate.close();
            gate.release();
            visitor
        });
        for visitor in visitors {
            visitor.join().unwrap();
        }
    });
}

#[test]
fn a_receive_gets_the_item_however_the_post_comes() {
    model(4, || {
        let port = Port::new();
        let poster = {
            let port = port.clone();
            thread::spawn(move || port.post(1).unwrap())
        };
        assert_eq!(block_on(port.receive()), Ok(1));
        poster.join().unwrap();
        assert_eq!((port.len(), port.waiting()), (0, 0));
    });
}

#[test]
fn two_receives_and_a_post_and_a_cancellation_lose_nothing() {
    model(3, || {
        let port = Port::new();
        let waits = {
            let port = port.clone();
            thread::spawn(move || block_on(port.receive()))
        };
        let cancels = {
            let port = port.clone();
            thread::spawn(move || {
                let mut receive = pin!(port.receive());
                match receive.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Ready(item) => item.ok(),
                    Poll::Pending => None,
                }
            })
        };
        port.post(1).unwrap();
        let taken = cancels.join().unwrap();
        if taken.is_some() {
            port.post(2).unwrap();
        }
        assert_eq!(waits.join().unwrap().ok(), if taken.is_some() { Some(2) } else { Some(1) });
        assert_eq!((port.len(), port.waiting()), (0, 0));
    });
}

#[test]
fn a_join_takes_from_both_ports_at_once() {
    model(3, || {
        let (p, q) = (Port::new(), Port::new());
        let posters = [p.clone(), q.clone()].map(|port| thread::spawn(move || port.post(1).unwrap()));
        assert_eq!(block_on(join((&q, &p))), Ok((1, 1)));
        for poster in posters {
            poster.join().unwrap();
        }
        assert_eq!((p.waiting(), q.waiting()), (0, 0));
    });
}

#[test]
fn two_joins_in_opposite_order_do_not_lock_each_other_out() {
    model(2, || {
        let (p, q) = (Port::new(), Port::new());
        let other = {
            let (p, q) = (p.clone(), q.clone());
            thread::spawn(move || block_on(join((&q, &p))).unwrap())
        };
        p.post(1).unwrap();
        q.post(10).unwrap();
        p.post(2).unwrap();
        q.post(20).unwrap();
        let mine = block_on(join((&p, &q))).unwrap();
        let (q_other, p_other) = other.join().unwrap();
        assert_eq!((mine.0 + p_other, mine.1 + q_other), (3, 30));
        assert!(p.is_empty() && q.is_empty());
    });
}

#[test]
fn a_close_ends_a_receive_that_waits() {
    model(4, || {
        let port = Port::<u8>::new();
        let closer = {
            let port = port.clone();
            thread::spawn(move || port.close())
        };
        assert!(block_on(port.receive()).is_err());
        closer.join().unwrap();
    });
}

/// The contents of a join's frame: the latch, and the place for the result.
struct Frame {
    latch: Latch,
    result: UnsafeCell<usize>,
}

/// A pointer to a frame, as a queue holds it.
#[derive(Clone, Copy)]
struct Pointer(*mut Frame);

// SAFETY: the latch orders the accesses of the two threads that have the pointer; the model checks this order.
unsafe impl Send for Pointer {}

#[test]
fn a_latch_is_not_slept_through_and_its_frame_not_touched_after_the_end() {
    for end in [End::Done, End::Returned] {
        model(3, move || {
            let frame = Box::into_raw(Box::new(Frame { latch: Latch::new(), result: UnsafeCell::new(0) }));
            let pointer = Pointer(frame);
            let thief = thread::spawn(move || {
                let Pointer(frame) = { pointer };
                // SAFETY: the owner keeps the frame until the end is set, and does not touch the result before.
                unsafe {
                    (*frame).result.with_mut(|result| *result = 7);
                    Latch::set(&raw const (*frame).latch, end);
                }
            });
            // SAFETY: the frame is given back below, after the end.
            let owned = unsafe { &*frame };
            while owned.latch.end().is_none() {
                // Under loom there is no time limit, so an end that wakes no thread is a deadlock.
                owned.latch.sleep(Duration::ZERO);
            }
            assert_eq!(owned.latch.end(), Some(end));
            // SAFETY: the end is set, so the thief no longer uses the frame.
            assert_eq!(owned.result.with(|result| unsafe { *result }), 7);
            // SAFETY: as above; loom reports an error if the frame's cells are used again.
            drop(unsafe { Box::from_raw(frame) });
            thief.join().unwrap();
        });
    }
}
