//! Spawns that wait for admission, in the order in which they began to wait.
//!
//! A place that becomes free is given to the first waiter in line before the waiter is woken. From then on, the place
//! counts as taken, so that no later task can take it. A waiter that leaves passes its place on to the next waiter.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use lehr_sync::Ordering;
use pin_project_lite::pin_project;

use super::admission::Gauge;
use super::{Entrance, Queue, Rejected, Rejection, State};
use crate::task::Task;

/// Wakers to call after the lock is released.
#[derive(Default)]
#[must_use = "somebody waits for it"]
pub(super) struct Wake(Vec<Waker>);

impl Wake {
    pub(super) fn all(self) {
        self.0.into_iter().for_each(Waker::wake);
    }
}

/// The line of spawns that wait for admission to a queue.
#[derive(Default)]
pub(super) struct Waiting {
    line: VecDeque<Waiter>,
    next_number: u64,
    /// The number of waiters at the head of the line that have a place.
    granted: usize,
}

struct Waiter {
    /// The number of the waiter, ascending along the line.
    number: u64,
    waker: Waker,
}

impl Waiting {
    pub(super) fn len(&self) -> usize {
        self.line.len()
    }

    /// Returns whether no spawn waits for a place.
    pub(super) fn is_empty(&self) -> bool {
        self.line.len() == self.granted
    }

    /// Gives free places to the first waiters in line.
    pub(super) fn grant(&mut self, gauge: &mut Gauge, depth: usize, now: Option<Duration>) -> Wake {
        let mut wake = Wake::default();
        while self.granted < self.line.len() && gauge.take_place(depth, now) {
            wake.0.push(self.line[self.granted].waker.clone());
            self.granted += 1;
        }
        wake
    }

    pub(super) fn wake_everybody(&self) -> Wake {
        Wake(self.line.iter().map(|waiter| waiter.waker.clone()).collect())
    }

    /// Joins the line; returns the waiter's number.
    fn join(&mut self, waker: Waker) -> u64 {
        let number = self.next_number;
        self.next_number += 1;
        self.line.push_back(Waiter { number, waker });
        number
    }

    fn position(&self, number: u64) -> usize {
        self.line.binary_search_by_key(&number, |waiter| waiter.number).expect("a waiter stays in line until it leaves")
    }

    /// Leaves the line; returns whether the waiter had a place, and its waker, to be dropped after the lock.
    fn leave(&mut self, number: u64) -> (bool, Option<Waker>) {
        let position = self.position(number);
        let had_place = position < self.granted;
        self.granted -= usize::from(had_place);
        (had_place, self.line.remove(position).map(|waiter| waiter.waker))
    }
}

pin_project! {
    /// A spawn that may have to wait; see [`Queue::spawn_wait`].
    ///
    /// # Example
    /// See [`Queue::spawn_wait`](super::Queue::spawn_wait).
    #[must_use = "futures do nothing unless awaited"]
    pub struct SpawnWait<'a, F> {
        place: LinePosition<'a>,
        future: Option<F>,
    }
}

impl<F> fmt::Debug for SpawnWait<'_, F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("SpawnWait").field("queue", &self.place.queue.name()).finish_non_exhaustive()
    }
}

/// A position in the line of waiting spawns; dropping this value gives up the position.
struct LinePosition<'a> {
    queue: &'a Queue,
    number: Option<u64>,
}

enum Answer {
    Wait,
    Go,
    Back(Rejection),
}

impl LinePosition<'_> {
    /// Polls whether the spawn may go ahead. Also returns the replaced waker, to be dropped after the lock is released.
    fn poll(&mut self, context: &Context<'_>) -> (Answer, Option<Waker>) {
        let core = &self.queue.core;
        let accepts = self.queue.handle.shared.accepts();
        let now = core.now(&self.queue.handle.shared);
        let mut state = core.state.lock();
        let State { gauge, waiting, is_closed, fresh, .. } = &mut *state;
        if let Some(number) = self.number {
            let position = waiting.position(number);
            let has_place = position < waiting.granted;
            if *is_closed || !accepts {
                self.number = None;
                let (_, old) = waiting.leave(number);
                if has_place {
                    gauge.give_back();
                }
                return (Answer::Back(Rejection::Closed), old);
            }
            if has_place {
                // The place stays taken until the task fills it.
                self.number = None;
                core.count_admitted();
                return (Answer::Go, waiting.leave(number).1);
            }
            let waker = &mut waiting.line[position].waker;
            let old = (!waker.will_wake(context.waker())).then(|| std::mem::replace(waker, context.waker().clone()));
            return (Answer::Wait, old);
        }
        if *is_closed || !accepts {
            return (Answer::Back(Rejection::Closed), None);
        }
        if !waiting.is_empty() || !gauge.take_place(fresh.len(), now) {
            self.number = Some(waiting.join(context.waker().clone()));
            let is_rate = gauge.is_rate();
            drop(state);
            if is_rate {
                core.tick(&self.queue.handle.shared);
            }
            return (Answer::Wait, None);
        }
        core.count_admitted();
        (Answer::Go, None)
    }
}

impl Drop for LinePosition<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number else { return };
        let (wake, _dropped_after_the_lock) = {
            let mut state = self.queue.core.state.lock();
            let State { gauge, waiting, fresh, .. } = &mut *state;
            let (had_place, waker) = waiting.leave(number);
            if had_place {
                gauge.give_back();
            }
            (waiting.grant(gauge, fresh.len(), None), waker)
        };
        wake.all();
        // Another waiter may now use the token of the rate.
        self.queue.core.tick(&self.queue.handle.shared);
    }
}

impl<'a, F> SpawnWait<'a, F> {
    pub(super) fn new(queue: &'a Queue, future: F) -> Self {
        Self { place: LinePosition { queue, number: None }, future: Some(future) }
    }
}

impl<F> Future for SpawnWait<'_, F>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    type Output = Result<Task<F::Output>, Rejected<F>>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let queue = this.place.queue;
        let (core, shared) = (&queue.core, &queue.handle.shared);
        let take = |future: &mut Option<F>| future.take().expect("a spawn that was answered is not polled again");
        let lets_wait = core.state.lock().gauge.lets_wait();
        if !lets_wait {
            return Poll::Ready(queue.spawn(take(this.future)));
        }
        let (answer, _dropped_after_the_lock) = this.place.poll(context);
        match answer {
            Answer::Wait => Poll::Pending,
            Answer::Go => Poll::Ready(Ok(core.admit(shared, take(this.future), Entrance::Asked))),
            Answer::Back(reason) => {
                // Relaxed: the count is only for statistics.
                core.tally.rejected.fetch_add(1, Ordering::Relaxed);
                Poll::Ready(Err(Rejected { future: take(this.future), reason }))
            }
        }
    }
}
