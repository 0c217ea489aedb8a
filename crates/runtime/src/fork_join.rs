//! Fork and join: runs two closures, or a set of closures, partly on idle workers, and does useful work while it waits.
//!
//! [`join`] puts its second closure into a queue from which idle workers steal. Then `join` calls the first closure,
//! and takes the second closure back if no worker took it. A worker that waits for a taken fork *helps*: meanwhile it
//! runs the forks of the worker that took it. A waiting worker never runs anything else on its stack, neither a task
//! nor another worker's fork. So the worker cannot wait for itself, and its stack gets no deeper than if it called both
//! closures one after the other. For the reasons and the cost, see `docs/design/fork-join.md`.
//!
//! For work that outlives its caller, use tasks; to wait for messages, use futures. On a worker, the loop over a range,
//! [`ParallelLoop`](crate::ParallelLoop), consists of joins. Read next: `fork_join/half.rs`.

#[allow(unsafe_code, reason = "a half lies on its owner's stack; the file says why that is right")]
mod half;
#[allow(unsafe_code, reason = "a latch lies on its owner's stack; the file says why that is right")]
pub(crate) mod latch;
#[allow(unsafe_code, reason = "what a scope spawns borrows from outside it; the file says why that is right")]
mod scope;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use crossbeam_deque::Steal;
use lehr_sync::{Arc, Moment, Ordering, SpinLock, fence, spin_loop, thread};

use crate::dispatch::sleep::WATCH;
use crate::dispatch::{Closure, Current, Handle, Job, with_current};
use crate::parallel::{Loan, wait_awake};
pub(crate) use half::Fork;
use half::{Half, Head, Outcome};
use latch::{End, Latch};
pub use scope::{Scope, scope};

/// The interval at which a waiter looks for forks to help with. A look takes the cache lines of a queue from the worker
/// that uses it.
const HELP_EVERY: Duration = Duration::from_nanos(500);

/// The first sleep of a waiter, after which it looks for forks to help with; later sleeps are longer.
const FIRST_SLEEP: Duration = Duration::from_micros(50);

/// Calls two closures, possibly in parallel, and returns both results.
///
/// Your thread calls `a`. Meanwhile an idle worker may call `b`; if no worker took it, your thread calls `b` itself
/// when `a` has ended. Both closures may borrow from your stack. While it waits for a `b` that another worker has
/// begun, your thread runs the forks of that worker. Your thread sleeps only if that worker has no forks. In a task,
/// `join` blocks the worker until both closures have ended. So a long join delays the worker's other tasks, as any long
/// poll does.
///
/// On a thread that is not a worker, and on a dispatcher with one worker, `join` is `(a(), b())`. To run `join` on a
/// worker, use [`Handle::install`].
///
/// Neither closure may wait for the other by other means, such as a channel, or a lock that is held across `join`. The
/// closures need not run at the same time: your thread may run both, one after the other.
///
/// Cost: if no worker takes `b`, adding and removing an entry in the worker's own queue (some 20 ns); no allocation.
///
/// # Panics
/// Panics if a closure panics, after both have ended. If both panic, `join` passes on the panic of `a`.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, fork_join::join};
///
/// fn sort(numbers: &mut [u32]) {
///     let Some((&mut pivot, _)) = numbers.split_first_mut() else { return };
///     let mut middle = 0;
///     for i in 1..numbers.len() {
///         if numbers[i] < pivot {
///             middle += 1;
///             numbers.swap(i, middle);
///         }
///     }
///     numbers.swap(0, middle);
///     let (low, high) = numbers.split_at_mut(middle);
///     join(|| sort(low), || sort(&mut high[1..]));
/// }
///
/// let dispatcher = Dispatcher::new(2).unwrap();
/// let mut numbers = [3, 1, 4, 1, 5, 9, 2, 6];
/// dispatcher.handle().install(|| sort(&mut numbers));
/// assert_eq!(numbers, [1, 1, 2, 3, 4, 5, 6, 9]);
/// ```
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    with_current(|current| match current.filter(|current| current.has_thieves()) {
        Some(current) => fork(current, a, b),
        None => match catch_unwind(AssertUnwindSafe(a)) {
            Ok(a) => (a, b()),
            Err(payload) => after_panic(payload, || catch_unwind(AssertUnwindSafe(b))),
        },
    })
}

/// Runs [`join`] on a worker from which other workers may steal.
#[inline]
#[allow(unsafe_code, reason = "keeps the half in this frame; each block says how")]
fn fork<A, B, RA, RB>(current: &Current, a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let half = Half::new(b);
    // SAFETY: this is the only fork of the half. Until the fork has come back or the latch is set, nothing below leaves
    // this function: the closure's panic is caught, and neither the queue nor the wait panics.
    current.push_fork(unsafe { half.fork() });
    let a = catch_unwind(AssertUnwindSafe(a));
    // All later forks have been taken back or run. So the next fork out of the queue is this one, unless it was stolen.
    let end = match current.pop_fork() {
        Some(fork) if fork.is_of(half.head()) => End::Returned,
        // An older fork can only be there if this fork was not stolen, because thieves take the oldest. So this is our
        // bug, and leaving the frame would leave a pointer to it.
        Some(_) => std::process::abort(),
        None => wait_for(current, half.head()),
    };
    match (a, end) {
        // SAFETY: the fork has come out of our own queue, or the latch says that it was returned.
        (Ok(a), End::Returned) => (a, unsafe { half.take_back() }()),
        // SAFETY: the latch says that the half is done.
        (Ok(a), End::Done) => (a, unsafe { half.into_outcome() }.unwrap_or_else(|payload| resume_unwind(payload))),
        (Err(payload), End::Returned) => {
            // SAFETY: as above.
            let b = unsafe { half.take_back() };
            after_panic(payload, || catch_unwind(AssertUnwindSafe(b)))
        }
        // SAFETY: as above.
        (Err(payload), End::Done) => after_panic(payload, || unsafe { half.into_outcome() }),
    }
}

/// Lets the second closure end, and then passes on the panic of the first.
#[cold]
fn after_panic<RA, RB>(payload: Box<dyn Any + Send>, b: impl FnOnce() -> Outcome<RB>) -> (RA, RB) {
    drop(b());
    resume_unwind(payload)
}

/// Waits for a half that was stolen, and helps its thief.
#[cold]
fn wait_for(current: &Current, half: &Head) -> End {
    current.fork_was_taken();
    let latch = half.latch();
    let help = || help(current, half.thief(), || latch.end().is_none());
    wait_until(current, || latch.end().is_some(), help, |limit| latch.sleep(limit));
    latch.end().expect("the wait is over")
}

/// Runs the oldest fork of `thief`, if the thief is still busy with our fork; returns whether there was a fork.
///
/// A waiting worker has no fork left in its own queue. The reason is that the oldest forks are stolen first, and the
/// awaited fork was stolen. A worker that takes a fork begins with an empty queue. So everything in the thief's queue
/// belongs to its work for us. If the thief has ended that work meanwhile, the fork that we took may belong to any
/// worker, and is given back to its owner.
fn help(current: &Current, thief: Option<usize>, is_at_it: impl Fn() -> bool) -> bool {
    let Some(queue) = thief.and_then(|thief| current.shared.forks.get(thief)) else { return false };
    if queue.is_empty() {
        return false;
    }
    let Steal::Success(fork) = queue.steal() else { return false };
    // Checked after the theft: if the thief is still busy with our fork, it was busy with it at the theft too.
    if is_at_it() {
        current.count_steal();
        fork.run(current.index);
    } else {
        fork.give_back();
    }
    true
}

/// Waits on a worker until `is_over` returns true. The worker helps, spins and yields as the idle policy says, then
/// sleeps and helps from time to time.
fn wait_until(current: &Current, is_over: impl Fn() -> bool, help: impl Fn() -> bool, sleep: impl Fn(Duration)) {
    let idle = current.shared.idle;
    let mut since = Moment::now();
    let (mut looked, mut pause) = (None, FIRST_SLEEP);
    while !is_over() {
        let now = Moment::now();
        if looked.is_none_or(|looked| now.since(looked) >= HELP_EVERY) {
            if help() {
                (since, looked, pause) = (Moment::now(), None, FIRST_SLEEP);
                continue;
            }
            looked = Some(now);
        }
        let waited = now.since(since);
        if waited < idle.spin {
            spin_loop();
        } else if waited - idle.spin < idle.yielding {
            thread::yield_now();
        } else {
            sleep(pause);
            pause = (pause * 2).min(WATCH);
            looked = None;
        }
    }
}

/// Calls `work` up to `parts` times in parallel, at least once on this thread.
pub(crate) fn spread(parts: usize, work: &(impl Fn() + Sync)) {
    if parts <= 1 {
        return work();
    }
    join(|| spread(parts - parts / 2, work), || spread(parts / 2, work));
}

impl Handle {
    /// Runs a closure on a worker of this dispatcher and returns its result. Use this method to call [`join`] and
    /// [`scope()`] from other threads.
    ///
    /// On a worker of this dispatcher, `install` is a plain call. On other threads, your thread sleeps until a worker
    /// has run the closure, so the closure may borrow from your stack. If your thread is a worker of another
    /// dispatcher, this method blocks that worker. If this dispatcher ends before the closure has begun, your thread
    /// runs it itself.
    ///
    /// Cost from other threads: two allocations, and waking a worker if all sleep.
    ///
    /// # Panics
    /// Panics if the closure does.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, fork_join::join, is_on_worker};
    /// let dispatcher = Dispatcher::new(2).unwrap();
    /// let words = ["warp", "weft"];
    /// let lengths = dispatcher.handle().install(|| {
    ///     assert!(is_on_worker());
    ///     join(|| words[0].len(), || words[1].len())
    /// });
    /// assert_eq!(lengths, (4, 4));
    /// ```
    pub fn install<R: Send>(&self, closure: impl FnOnce() -> R + Send) -> R {
        if with_current(|current| current.is_some_and(|current| current.is_of(&self.shared))) {
            return closure();
        }
        let context = crate::context::current::current();
        let closure = SpinLock::new(Some(closure));
        let outcome = SpinLock::new(None);
        let call = |()| {
            let closure = closure.lock().take();
            let result = closure.map(|closure| {
                catch_unwind(AssertUnwindSafe(|| {
                    let _entered =
                        crate::context::current::in_use().then(|| crate::context::current::enter(context.clone()));
                    closure()
                }))
            });
            *outcome.lock() = result;
        };
        if self.shared.accepts() {
            let visit = Visit { loan: Arc::default(), latch: Arc::default() };
            let (loan, latch) = (visit.loan.clone(), visit.latch.clone());
            loan.lend(&call, || {
                self.shared.share(Job::call(Closure::uncounted(move || {
                    visit.loan.call(());
                })));
                // Orders the entry before the look at the stage. The fence in `end` is between the change of the stage
                // and the last look at the queues. So either that look finds the entry, or we see the end and do not
                // wait for the entry.
                fence(Ordering::SeqCst);
                let is_over = || latch.end().is_some();
                if !self.is_aborting() && !wait_awake(is_over) {
                    while !is_over() {
                        // The entry is called or dropped in any case, and either ends the wait.
                        latch.sleep(Duration::MAX);
                    }
                }
            });
        }
        let begun = outcome.lock().take();
        match begun {
            Some(Ok(result)) => result,
            Some(Err(payload)) => resume_unwind(payload),
            None => (closure.lock().take().expect("it has not begun"))(),
        }
    }
}

/// A closure that is on its way to a worker, and the wait for the closure's end. Dropping a `Visit`, even before its
/// closure was called, ends the wait.
struct Visit {
    loan: Arc<Loan<()>>,
    latch: Arc<Latch>,
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.latch.set_counted();
    }
}
