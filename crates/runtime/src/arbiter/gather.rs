//! Waits for successes and failures that add up to a total. An example are the answers to a batch of requests, of which
//! any number may fail.
//!
//! A gather holds nothing while it waits; it takes all its items in one step. From one port of results, a gather takes
//! the oldest items, in order. With two ports, a gather is woken when one port has half of the missing number of items
//! (rounded up). As long as each port has less than half, both ports together cannot have enough. So a gather of n
//! items looks about 2 log₂ n times and not n times.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::{Late, Ready, unwatch, watch};
use crate::dispatch::may_go_on;
use crate::error::{ReceiveError, ReceiveErrorKind};
use crate::port::counting_filter::{Classify, CountingFilter};
use crate::port::waiters::{Ticket, Want};
use crate::port::wake::Wake;
use crate::port::{Port, State};

/// The condition under which a gather ends.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    total: usize,
    is_failing_fast: bool,
    successes: usize,
}

impl Goal {
    /// Returns whether these numbers of successes and failures end the gather.
    fn is_met(&self, successes: usize, failures: usize) -> bool {
        successes + failures >= self.total || successes >= self.successes || (self.is_failing_fast && failures > 0)
    }
}

mod sealed {
    pub trait Results {}
}

/// The ports that give a gather its results: `&Port<Result<T, E>>`, or `(&Port<T>, &Port<E>)` for successes and
/// failures. Sealed.
pub trait Results: sealed::Results + Unpin {
    /// The type of a success.
    type Success;
    /// The type of a failure.
    type Failure;

    #[doc(hidden)]
    fn poll(&self, goal: &Goal, tickets: &mut Tickets, context: &mut Context<'_>) -> Gathering<Self>;
    #[doc(hidden)]
    fn leave(&self, tickets: &mut Tickets);
}

/// The registrations of a gather. A gather from two ports has a registration at each port. A gather from one port has
/// registrations for the total, for the first failure and for the last requested success.
pub type Tickets = [Option<Ticket>; 3];

/// The output of a gather: successes and failures.
pub type Gathered<R> = Result<(Vec<<R as Results>::Success>, Vec<<R as Results>::Failure>), ReceiveError>;

type Gathering<R> = Poll<Gathered<R>>;

/// Waits until successes and failures add up to `total`, and takes them together. A total of 0 gives empty lists at
/// once.
///
/// `results` is one port of `Result`s, or a port of successes with a port of failures. From one port, a gather takes
/// the oldest items. From two ports, a gather takes failures first, so that a success never takes the place of a
/// failure. Items beyond the total stay in their ports. Cancel-safe: until the gather is over, all items stay in the
/// ports, visible to other receivers.
///
/// [`fail_fast`](Gather::fail_fast) and [`first`](Gather::first) end the gather earlier.
///
/// Cost: one lock for each port each time the gather looks: once with one port, and about 2 log₂ `total` times with two
/// ports.
///
/// # Errors
/// Returns [`ReceiveErrorKind::Closed`](crate::ReceiveErrorKind::Closed) if the missing items can no longer come; the
/// items in the ports stay there. Returns [`ReceiveErrorKind::SamePort`](crate::ReceiveErrorKind::SamePort) if both
/// ports are the same.
///
/// # Example
/// ```
/// use lehr_runtime::{Port, block_on, gather};
/// let answers: Port<Result<u32, &str>> = Port::new();
/// [Ok(1), Err("late"), Ok(3), Ok(4)].into_iter().for_each(|answer| answers.post(answer).unwrap());
/// assert_eq!(block_on(gather(&answers, 3)), Ok((vec![1, 3], vec!["late"])));
/// assert_eq!(answers.len(), 1);
///
/// let (done, failed) = (Port::new(), Port::new());
/// failed.post("broken").unwrap();
/// done.post(7).unwrap();
/// assert_eq!(block_on(gather((&done, &failed), 2)), Ok((vec![7], vec!["broken"])));
/// ```
pub fn gather<R: Results>(results: R, total: usize) -> Gather<R> {
    Gather { results, goal: Goal { total, is_failing_fast: false, successes: usize::MAX }, tickets: [None; 3] }
}

/// The future of [`gather`].
///
/// # Example
/// See [`gather`].
#[must_use = "a gather does nothing unless awaited"]
pub struct Gather<R: Results> {
    results: R,
    goal: Goal,
    tickets: Tickets,
}

impl<R: Results> Gather<R> {
    /// Also ends the gather at the first failure. With one port, the gather then gives the results up to that failure.
    /// With two ports, the gather gives that failure and the successes that are in their port, which are fewer than the
    /// total.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Port, block_on, gather};
    /// let answers: Port<Result<u32, &str>> = Port::new();
    /// [Ok(1), Err("broken")].into_iter().for_each(|answer| answers.post(answer).unwrap());
    /// assert_eq!(block_on(gather(&answers, 100).fail_fast()), Ok((vec![1], vec!["broken"])));
    /// ```
    pub fn fail_fast(mut self) -> Self {
        self.goal.is_failing_fast = true;
        self
    }

    /// Also ends the gather at success number `count`. With two ports, the gather then also gives the failures that are
    /// in the port, up to the total.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Port, block_on, gather};
    /// let answers: Port<Result<u32, &str>> = Port::new();
    /// [Err("slow"), Ok(1), Ok(2), Ok(3)].into_iter().for_each(|answer| answers.post(answer).unwrap());
    /// assert_eq!(block_on(gather(&answers, 100).first(2)), Ok((vec![1, 2], vec!["slow"])));
    /// ```
    pub fn first(mut self, count: usize) -> Self {
        self.goal.successes = count;
        self
    }
}

impl<R: Results> fmt::Debug for Gather<R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Gather").field("goal", &self.goal).finish_non_exhaustive()
    }
}

impl<R: Results> Future for Gather<R> {
    type Output = Gathered<R>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        if this.goal.is_met(0, 0) {
            return Poll::Ready(Ok((Vec::new(), Vec::new())));
        }
        if this.tickets == [None; 3] && !may_go_on(context) {
            return Poll::Pending;
        }
        this.results.poll(&this.goal, &mut this.tickets, context)
    }
}

impl<R: Results> Drop for Gather<R> {
    fn drop(&mut self) {
        self.results.leave(&mut self.tickets);
    }
}

impl<T, E> sealed::Results for &Port<Result<T, E>> {}

impl<T, E> Results for &Port<Result<T, E>> {
    type Success = T;
    type Failure = E;

    fn poll(&self, goal: &Goal, tickets: &mut Tickets, context: &mut Context<'_>) -> Gathering<Self> {
        let mut state = self.core.state.lock();
        // Find the shortest run of oldest items that is enough.
        let (mut successes, mut failures) = (0, 0);
        for (_, item) in state.queue.available_items() {
            match item {
                Ok(_) => successes += 1,
                Err(_) => failures += 1,
            }
            if goal.is_met(successes, failures) {
                break;
            }
        }
        let is_due = goal.is_met(successes, failures);
        // If one of the registrations was woken itself, the gather does not give way.
        let gives_way = |ticket: &Option<Ticket>| ticket.is_none() || state.waiters.must_yield(*ticket);
        let yields = is_due && state.waiters.must_yield(None) && tickets.iter().all(gives_way);
        if is_due && !yields {
            state.waiters.takes_as_one(tickets);
            let mut output = (Vec::with_capacity(successes), Vec::with_capacity(failures));
            for _ in 0..successes + failures {
                match state.queue.take_oldest().expect("counted under the same lock") {
                    Ok(success) => output.0.push(success),
                    Err(failure) => output.1.push(failure),
                }
            }
            let late = tickets.each_mut().map(|ticket| unwatch(&mut state, ticket));
            drop(state);
            drop(late);
            return Poll::Ready(Ok(output));
        }
        if !is_due && state.is_closed {
            let late = tickets.each_mut().map(|ticket| unwatch(&mut state, ticket));
            drop(state);
            drop(late);
            return Poll::Ready(Err(self.closed()));
        }
        let [all, failure, success] = tickets;
        let mut late = vec![watch(&mut state, all, || Want::Take(goal.total), yields, context)];
        if goal.is_failing_fast {
            late.push(watch_class(&mut state, failure, 1, |item| item.is_err().then_some(0), context));
        }
        if goal.successes < goal.total {
            let lacking = goal.successes.saturating_sub(successes).max(1);
            late.push(watch_class(&mut state, success, lacking, |item| item.is_ok().then_some(0), context));
        }
        let mut wake = Wake::default();
        let available = state.queue.available();
        state.waiters.wake_takes(available, &mut wake);
        drop(state);
        drop(late);
        drop(wake);
        if yields {
            context.waker().wake_by_ref();
        }
        Poll::Pending
    }

    fn leave(&self, tickets: &mut Tickets) {
        for ticket in tickets.iter_mut().filter_map(Option::take) {
            Port::leave(self, ticket);
        }
    }
}

/// Registers a waiter for `lacking` further items of one class.
fn watch_class<T>(
    state: &mut State<T>,
    ticket: &mut Option<Ticket>,
    lacking: usize,
    class: fn(&T) -> Option<usize>,
    context: &Context<'_>,
) -> Late<T> {
    let late = watch(
        state,
        ticket,
        || Want::Sort(Box::new(CountingFilter::new(1, Classify::Function(class)))),
        false,
        context,
    );
    if let Want::Sort(sorter) = state.waiters.want_mut(ticket.expect("just registered")) {
        sorter.lacks([lacking]);
    }
    late
}

impl<T, E> sealed::Results for (&Port<T>, &Port<E>) {}

impl<T, E> Results for (&Port<T>, &Port<E>) {
    type Success = T;
    type Failure = E;

    fn poll(&self, goal: &Goal, tickets: &mut Tickets, context: &mut Context<'_>) -> Gathering<Self> {
        let (done, failed) = (&self.0.core, &self.1.core);
        if done.identity == failed.identity {
            return Poll::Ready(Err(ReceiveErrorKind::SamePort { port: self.0.name() }.into()));
        }
        // Lock ports in ascending identity.
        let (mut done, mut failed) = if done.identity < failed.identity {
            let done = done.state.lock();
            (done, failed.state.lock())
        } else {
            let failed = failed.state.lock();
            (done.state.lock(), failed)
        };
        let [of_done, of_failed, _] = tickets;
        let (successes, failures) = (done.queue.available(), failed.queue.available());
        let must_yield = done.waiters.must_yield(*of_done) || failed.waiters.must_yield(*of_failed);
        let ready = if goal.is_met(successes, failures) {
            if must_yield { Ready::Later } else { Ready::Yes }
        } else if done.is_closed && failed.is_closed {
            Ready::Never
        } else {
            Ready::NotYet
        };
        let mut output = None;
        let late = match ready {
            Ready::Yes => {
                let failures = if goal.is_failing_fast { failures.min(1) } else { failures.min(goal.total) };
                let successes = successes.min(goal.successes).min(goal.total - failures);
                let failures = failures.min(goal.total - successes);
                output = Some(Ok((oldest(&mut done, *of_done, successes), oldest(&mut failed, *of_failed, failures))));
                (unwatch(&mut done, of_done), unwatch(&mut failed, of_failed))
            }
            Ready::Never => (unwatch(&mut done, of_done), unwatch(&mut failed, of_failed)),
            Ready::Later | Ready::NotYet => {
                let yields = ready == Ready::Later;
                let half = goal.total.saturating_sub(successes + failures).div_ceil(2).max(1);
                let enough = (successes + half).min(goal.successes).max(1);
                let late = watch_count(&mut done, of_done, enough, yields, context);
                let enough = if goal.is_failing_fast { 1 } else { failures + half };
                (late, watch_count(&mut failed, of_failed, enough, yields, context))
            }
        };
        drop((done, failed));
        drop(late);
        match ready {
            Ready::Later => context.waker().wake_by_ref(),
            Ready::Never => output = Some(Err(self.0.closed())),
            Ready::Yes | Ready::NotYet => {}
        }
        output.map_or(Poll::Pending, Poll::Ready)
    }

    fn leave(&self, tickets: &mut Tickets) {
        let [of_done, of_failed, _] = tickets;
        if let Some(ticket) = of_done.take() {
            self.0.leave(ticket);
        }
        if let Some(ticket) = of_failed.take() {
            self.1.leave(ticket);
        }
    }
}

/// Removes this many of the oldest available items.
fn oldest<T>(state: &mut State<T>, ticket: Option<Ticket>, count: usize) -> Vec<T> {
    if count > 0 {
        state.waiters.takes(ticket);
    }
    (0..count).map(|_| state.queue.take_oldest().expect("counted under the same lock")).collect()
}

/// Registers a watcher that is woken when the port has `enough` items, or changes the number of a registered watcher.
fn watch_count<T>(
    state: &mut State<T>,
    ticket: &mut Option<Ticket>,
    enough: usize,
    yields: bool,
    context: &Context<'_>,
) -> Late<T> {
    let late = watch(state, ticket, || Want::Watch(enough), yields, context);
    *state.waiters.want_mut(ticket.expect("just registered")) = Want::Watch(enough);
    late
}
