//! A task: a future on a dispatcher. Panics are caught at each poll and become [`TaskError::Panicked`].

use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Wake, Waker};

use lehr_sync::{Arc, AtomicBool, Ordering, thread};
use pin_project_lite::pin_project;

use crate::context::{self, Unclaimed};
use crate::dispatch::{Guard, Live, Shared, Spawned, with_current};
use crate::error::TaskError;

/// The handle of a spawned future: awaiting it gives the future's output.
///
/// Dropping the handle *cancels* the task. A worker drops the future soon afterwards, or after the current poll. To
/// wait for this, use `cancel`. To let a task run without an owner, call [`detach`](Self::detach).
///
/// Not cancel-safe: the handle is the future, so dropping it before it is ready cancels the task.
///
/// # Errors
/// If there is no output, awaiting the handle returns [`TaskError::Panicked`], [`TaskError::Cancelled`] or, for a task
/// of a queue, [`TaskError::Discarded`].
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, block_on};
/// let dispatcher = Dispatcher::new(1).unwrap();
/// assert_eq!(block_on(dispatcher.spawn(async { 6 * 7 })), Ok(42));
/// ```
#[must_use = "dropping the handle cancels the task: await it, or call `detach`"]
pub struct Task<T> {
    inner: async_task::FallibleTask<Result<T, Unclaimed>, Arc<Shared>>,
}

impl<T> fmt::Debug for Task<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Task").field("is_finished", &self.is_finished()).finish_non_exhaustive()
    }
}

impl<T> Task<T> {
    pub(crate) fn new(task: async_task::Task<Result<T, Unclaimed>, Arc<Shared>>) -> Self {
        Self { inner: task.fallible() }
    }

    /// Lets the task run without an owner. The task's output is dropped; its panic goes to the sink of its
    /// [`Context`](crate::Context), or else to the process's [hook](crate::set_error_hook).
    ///
    /// # Example
    /// See [`Dispatcher`](crate::Dispatcher).
    pub fn detach(self) {
        self.inner.detach();
    }

    /// Cancels the task and waits until its future has been dropped; returns the output if it ended first.
    ///
    /// # Errors
    /// Returns [`TaskError::Cancelled`] if the task was stopped, and [`TaskError::Panicked`] if it panicked before.
    ///
    /// # Example
    /// See [`TaskError`].
    pub async fn cancel(self) -> Result<T, TaskError> {
        outcome(self.inner.cancel().await)
    }

    /// Returns whether the task has ended, in any way.
    ///
    /// # Example
    /// ```
    /// use lehr_runtime::{Dispatcher, block_on};
    /// let dispatcher = Dispatcher::new(1).unwrap();
    /// let task = dispatcher.spawn(std::future::pending::<()>());
    /// assert!(!task.is_finished());
    /// assert!(block_on(task.cancel()).is_err());
    /// ```
    pub fn is_finished(&self) -> bool {
        self.inner.is_finished()
    }
}

impl<T> Future for Task<T> {
    type Output = Result<T, TaskError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.inner).poll(context).map(outcome)
    }
}

/// Returns the result that the owner of a task gets.
fn outcome<T>(output: Option<Result<T, Unclaimed>>) -> Result<T, TaskError> {
    output.map_or(Err(TaskError::Cancelled), |output| output.map_err(Unclaimed::claim))
}

/// Returns the outputs of several tasks, in the given order, once all tasks have ended.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, all, block_on};
/// let dispatcher = Dispatcher::new(2).unwrap();
/// let squares = (0..3).map(|i| dispatcher.spawn(async move { i * i })).collect();
/// assert_eq!(block_on(all(squares)), [Ok(0), Ok(1), Ok(4)]);
/// ```
pub async fn all<T>(tasks: Vec<Task<T>>) -> Vec<Result<T, TaskError>> {
    let mut outputs = Vec::with_capacity(tasks.len());
    for task in tasks {
        outputs.push(task.await);
    }
    outputs
}

/// Lets other tasks run if this task has used up its budget. Each call of this function takes one unit of the budget
/// and usually returns at once. When the budget is used up, the call waits for the task's next turn. Use this function
/// in operations that return at once on every call, because a loop of such calls would otherwise never let other tasks
/// run.
///
/// Outside a worker, as in [`block_on`], there is no budget: each call lets the other futures of the same task be
/// polled.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, block_on, consume_budget};
/// let dispatcher = Dispatcher::new(1).unwrap();
/// let (handle, mut turns) = (dispatcher.handle().clone(), 0);
/// let greedy = dispatcher.spawn(async move {
///     let other = handle.spawn(async {});
///     while !other.is_finished() {
///         consume_budget().await;
///         turns += 1;
///     }
///     turns
/// });
/// assert!(block_on(greedy).unwrap() > 1);
/// ```
pub async fn consume_budget() {
    if !crate::dispatch::is_counted() {
        return yield_now().await;
    }
    std::future::poll_fn(|context| if crate::dispatch::may_go_on(context) { Poll::Ready(()) } else { Poll::Pending })
        .await;
}

/// Wakes a task, and lets any worker run it.
///
/// A worker queues the tasks that it wakes for itself, because a task that wakes another is usually about to wait. The
/// two tasks then communicate on one core, without a message crossing to another core. If the waking task continues
/// without a wait, for example to spin until the other task answers, the other task would wait behind it. Use this
/// function if the waking task continues in this way. Outside a worker, this function does the same as [`Waker::wake`].
///
/// Cost: the common queue and a fence; a system call if all other workers sleep.
///
/// # Example
/// ```
/// use std::future::poll_fn;
/// use std::task::Poll;
/// use lehr_runtime::{Dispatcher, block_on, wake_elsewhere};
/// let dispatcher = Dispatcher::new(2).unwrap();
/// let mut polls = 0;
/// let task = dispatcher.spawn(poll_fn(move |context| {
///     polls += 1;
///     if polls > 1 {
///         return Poll::Ready(polls);
///     }
///     wake_elsewhere(context.waker().clone());
///     Poll::Pending
/// }));
/// assert_eq!(block_on(task), Ok(2));
/// ```
pub fn wake_elsewhere(waker: Waker) {
    with_current(|current| match current {
        Some(current) => current.sharing(|| waker.wake()),
        None => waker.wake(),
    });
}

/// Lets the other tasks of this worker run.
///
/// # Example
/// ```
/// lehr_runtime::block_on(lehr_runtime::yield_now());
/// ```
pub fn yield_now() -> YieldNow {
    YieldNow { has_yielded: false }
}

/// The future of [`yield_now`].
///
/// # Example
/// See [`yield_now`].
#[must_use = "futures do nothing unless awaited"]
#[derive(Debug)]
pub struct YieldNow {
    has_yielded: bool,
}

impl Future for YieldNow {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.has_yielded {
            return Poll::Ready(());
        }
        self.has_yielded = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Runs a future on the calling thread, which sleeps whenever the future waits.
///
/// Use this function on threads outside any dispatcher. A worker that blocked here could be the worker that must run
/// the task that the future waits for.
///
/// # Panics
/// Panics on a dispatcher's worker, and if the future panics.
///
/// # Example
/// ```
/// assert_eq!(lehr_runtime::block_on(async { 1 + 1 }), 2);
/// ```
pub fn block_on<F: Future>(future: F) -> F::Output {
    assert!(
        !crate::dispatch::is_on_worker(),
        "block_on was called on a dispatcher's worker, where the future may need the very thread it blocks: await it instead"
    );
    let bell = Arc::new(Bell { thread: thread::current(), has_rung: AtomicBool::new(false) });
    let waker = Waker::from(bell.clone());
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        let polled = future.as_mut().poll(&mut context);
        context::current::settle();
        if let Poll::Ready(output) = polled {
            return output;
        }
        // `put_down` pairs with the Release store in `wake_by_ref`; what the waker wrote is visible to the next poll.
        while !bell.has_rung.put_down() {
            thread::park();
        }
    }
}

struct Bell {
    thread: thread::Thread,
    has_rung: AtomicBool,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Release: pairs with `put_down` in `block_on`.
        self.has_rung.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

pin_project! {
    /// A future as a task. The task runs in the context in which it was spawned, and its panics are caught. The task is
    /// on the list of living tasks until it is dropped.
    ///
    /// The task takes three words in addition to the future (checked below), because ten million tasks may wait at
    /// once.
    pub(crate) struct Guarded<F> {
        #[pin]
        future: F,
        context: Option<context::Context>,
        // Declared after `future`: the task leaves the list when its future has been dropped.
        guard: Guard,
    }

    impl<F> PinnedDrop for Guarded<F> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            if let Some(node) = this.context.as_ref().and_then(context::Context::node) {
                node.forget(this.guard.key());
            }
        }
    }
}

#[cfg(not(any(loom, shuttle)))]
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Guarded<u64>>() <= size_of::<u64>() + 3 * size_of::<usize>());

/// Makes a task from a future by `spawn`, in the current context: cancelling the context will wake the task.
pub(crate) fn admit<F: Future, T>(live: &Live, future: F, spawn: impl FnOnce(Guarded<F>) -> Spawned<T>) -> Spawned<T> {
    let context = context::current::capture();
    let listening = context.clone();
    let mut key = None;
    let (runnable, task) = live.admit(|guard| {
        key = Some(guard.key());
        spawn(Guarded { future, context, guard })
    });
    if let (Some(context), Some(key)) = (listening, key) {
        if let Some(node) = context.node() {
            // If the context has stopped already, the first poll notices it.
            node.listen(key, &runnable.waker());
        }
        live.note_context(key, context);
    }
    (runnable, task)
}

impl<F: Future> Future for Guarded<F> {
    type Output = Result<F::Output, Unclaimed>;

    fn poll(self: Pin<&mut Self>, polling: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let is_in_use = context::current::in_use();
        if is_in_use && this.context.as_ref().is_some_and(|context| context.stopped().is_some()) {
            return Poll::Ready(Err(Unclaimed::cancelled()));
        }
        let future = this.future;
        // Unwind safety: the future is not polled again after a panic, only dropped.
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let _entered = is_in_use.then(|| context::current::enter(this.context.clone()));
            future.poll(polling)
        }));
        context::current::settle();
        match polled {
            Ok(Poll::Pending) => Poll::Pending,
            Ok(Poll::Ready(output)) => {
                this.guard.finish();
                Poll::Ready(Ok(output))
            }
            Err(payload) => {
                this.guard.finish();
                Poll::Ready(Err(context::panicked(payload.as_ref(), this.context.clone())))
            }
        }
    }
}
