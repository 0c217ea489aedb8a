//! Work that borrows from your stack: parallel loops, loans of a body to other threads, and whole futures.
//!
//! The one idea: a [`Gate`]. Helpers on other workers hold only a counted reference to the gate. To use borrowed data
//! they must enter, which fails once the lender has closed the gate. The lender does not return before every worker
//! that entered has left. So it never waits for a helper that never came, and a late helper finds the gate closed and
//! goes away.
//!
//! The lifetimes of the borrowed values are not the compiler's to see here, hence `unsafe`: each block says why it is
//! right.

use std::any::Any;
use std::cell::UnsafeCell;
use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crossbeam_utils::CachePadded;
use lehr_sync::{Arc, AtomicUsize, Ordering, SpinLock, spin_loop, thread};

use crate::dispatch::{Closure, Dispatcher, Handle, Job, is_on_worker, woken};
use crate::error::TaskError;
use crate::task::{Task, admit, block_on};

/// Turns of a waiting loop before the lender gives its core to others, and then before it sleeps.
const SPINS: u32 = 2000;
const YIELDS: u32 = 50;

/// Somebody holds the gate. Set and cleared by the lender.
const TAKEN: usize = 1 << (usize::BITS - 1);
/// Others may enter. Set and cleared by the lender, only while `TAKEN`.
const OPEN: usize = 1 << (usize::BITS - 2);
/// The rest of the word: how many are inside.
const INSIDE: usize = OPEN - 1;

/// Lets others in while it is open, and waits for them to leave before it is closed.
///
/// | bit of `word` | meaning | who sets and clears it |
/// | --- | --- | --- |
/// | highest, `TAKEN` | a lender holds the gate | `take`, `release` |
/// | second, `OPEN` | others may enter | `open`, `close`; never without `TAKEN` |
/// | the rest | how many are inside | `try_enter` up (only while `OPEN`), `leave` down |
pub struct Gate {
    word: CachePadded<AtomicUsize>,
    /// The lender, once it has given up spinning.
    lender: SpinLock<Option<thread::Thread>>,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// Creates a gate without a holder.
    pub fn new() -> Self {
        Self { word: CachePadded::new(AtomicUsize::new(0)), lender: SpinLock::new(None) }
    }

    /// Becomes the lender; false if there is one already.
    pub fn take(&self) -> bool {
        // Acquire: pairs with the Release in `release`; what the last lender did is over and visible.
        self.word.compare_exchange(0, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Lets others in. Only the lender has the gate.
    pub fn open(&self) {
        // Release: publishes what the lender wrote since `take` to those who enter.
        self.word.store(TAKEN | OPEN, Ordering::Release);
    }

    /// Goes in; false if the gate is not open.
    pub fn try_enter(&self) -> bool {
        // Relaxed: only a guess for the exchange below.
        let mut word = self.word.load(Ordering::Relaxed);
        while word & OPEN != 0 {
            // Acquire: pairs with the Release in `open`.
            match self.word.compare_exchange_weak(word, word + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(seen) => word = seen,
            }
        }
        false
    }

    /// Goes out, after a `try_enter` that succeeded.
    pub fn leave(&self) {
        // Release: what was done inside is visible to the lender once it sees nobody inside; pairs with the Acquire
        // loads in `close`.
        let before = self.word.fetch_sub(1, Ordering::Release);
        if before & (OPEN | INSIDE) == 1 {
            // Last out of a closed gate. The lock orders this against the lender: either it finds us gone after it has
            // left its name, or we find its name.
            if let Some(lender) = self.lender.lock().take() {
                lender.unpark();
            }
        }
    }

    /// Closes the gate and waits until every worker has left. The lender only.
    pub fn close(&self) {
        // Acquire: for the case that nobody is inside; pairs with the Release in `leave`.
        let before = self.word.fetch_and(!OPEN, Ordering::Acquire);
        if before & INSIDE == 0 {
            return;
        }
        // Acquire: pairs with the Release in `leave`.
        let is_empty = || self.word.load(Ordering::Acquire) & INSIDE == 0;
        if wait_awake(is_empty) {
            return;
        }
        loop {
            // Left anew each time: a visitor of an earlier opening may have been late to ring, and have taken the name
            // away.
            *self.lender.lock() = Some(thread::current());
            if is_empty() {
                break;
            }
            thread::park();
        }
        *self.lender.lock() = None;
    }

    /// Gives the gate up after `close`.
    pub fn release(&self) {
        // Release: pairs with the Acquire in `take`.
        self.word.store(0, Ordering::Release);
    }
}

/// Waits for a while without sleeping; whether its event has arrived. A model has no patience: it must see every sleep.
pub(crate) fn wait_awake(has_come: impl Fn() -> bool) -> bool {
    if cfg!(any(loom, shuttle)) {
        return has_come();
    }
    for look in 0..SPINS + YIELDS {
        if has_come() {
            return true;
        }
        if look < SPINS { spin_loop() } else { thread::yield_now() }
    }
    false
}

/// A closure on the lender's stack that other threads may call while it is lent.
///
/// Threads that hold a shared reference to the loan call [`call`](Self::call); it reaches the closure if
/// [`lend`](Self::lend) is in progress, and says no otherwise.
///
/// # Example
/// ```
/// use lehr_runtime::Loan;
/// let loan = Loan::<usize>::new();
/// assert!(!loan.call(1), "nothing is lent");
/// let mut base = 40;
/// base += 1;
/// loan.lend(&|i| assert_eq!(base + i, 42), || assert!(loan.call(1)));
/// ```
pub struct Loan<A> {
    gate: Gate,
    /// Written by the lender between `take` and `open`, read by those inside.
    body: UnsafeCell<Option<*const (dyn Fn(A) + Sync + 'static)>>,
}

// SAFETY: the pointer is written only by the thread that took the gate, before it opens, and read only by threads
// inside it; the gate orders the two. Its target is `Sync`, and is called only while `lend` keeps it borrowed.
unsafe impl<A> Send for Loan<A> {}
// SAFETY: as above.
unsafe impl<A> Sync for Loan<A> {}

impl<A> Default for Loan<A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<A> fmt::Debug for Loan<A> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Loan").finish_non_exhaustive()
    }
}

impl<A> Loan<A> {
    /// Nothing is lent yet.
    ///
    /// # Example
    /// See [`Loan`].
    pub fn new() -> Self {
        Self { gate: Gate::new(), body: UnsafeCell::new(None) }
    }

    /// Lends `body` for as long as `during` runs, and returns once no worker is in `body` any more, also if `during`
    /// panics.
    ///
    /// # Panics
    /// Panics if something is lent already.
    ///
    /// # Example
    /// See [`Loan`].
    pub fn lend<R>(&self, body: &(dyn Fn(A) + Sync), during: impl FnOnce() -> R) -> R {
        assert!(self.gate.take(), "a loan holds one body at a time");
        let body: *const (dyn Fn(A) + Sync + '_) = body;
        // SAFETY: only the lifetime of the pointer's type changes. It is dereferenced in `call` alone, inside the gate,
        // and `Closing` below does not let this function end, by return or by panic, before everybody is out for good.
        let body =
            unsafe { std::mem::transmute::<*const (dyn Fn(A) + Sync + '_), *const (dyn Fn(A) + Sync + 'static)>(body) };
        // SAFETY: we have the gate and it is not open, so nobody reads the cell.
        unsafe { *self.body.get() = Some(body) };
        let closing = Closing(&self.gate);
        self.gate.open();
        let result = during();
        drop(closing);
        result
    }

    /// Calls the lent closure; false, without a call, if nothing is.
    ///
    /// # Example
    /// See [`Loan`].
    pub fn call(&self, argument: A) -> bool {
        if !self.gate.try_enter() {
            return false;
        }
        let leaving = Leaving(&self.gate);
        // SAFETY: we are inside the gate, so the lender wrote the cell before it opened and does not write again before
        // we leave.
        if let Some(body) = unsafe { *self.body.get() } {
            // SAFETY: `lend` keeps the target borrowed until we have left, which `leaving` does after the call, even if
            // it panics.
            unsafe { (*body)(argument) };
        }
        drop(leaving);
        true
    }
}

struct Closing<'a>(&'a Gate);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
        self.0.release();
    }
}

struct Leaving<'a>(&'a Gate);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// A parallel loop as its helpers see it.
pub(crate) struct Region {
    loan: Loan<()>,
    /// The first index that no worker has taken. Every thread of the loop writes it; the rest of this struct is hardly
    /// ever written.
    next: CachePadded<AtomicUsize>,
    end: AtomicUsize,
    grain: AtomicUsize,
    /// Calls for help still in a queue.
    calls: AtomicUsize,
    panic: SpinLock<Option<Box<dyn Any + Send>>>,
}

impl Region {
    /// A worker's answer to a call for help.
    pub(crate) fn help(&self) {
        // Relaxed: a count of queue entries, for economy only.
        self.calls.fetch_sub(1, Ordering::Relaxed);
        self.loan.call(());
    }

    /// Takes blocks and runs them until none is left.
    fn work(&self, on_panic: OnPanic, body: impl Fn(Range<usize>)) {
        // Relaxed, all three: `end` and `grain` were written before the gate opened; `next` only hands out indices.
        let end = self.end.load(Ordering::Relaxed);
        let grain = self.grain.load(Ordering::Relaxed);
        loop {
            let start = self.next.fetch_add(grain, Ordering::Relaxed);
            if start >= end {
                return;
            }
            let block = start..end.min(start + grain);
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| body(block))) {
                // Not under the lock: a later payload is dropped, and its destructor is the user's.
                let _later = {
                    let mut first = self.panic.lock();
                    if first.is_none() { first.replace(payload) } else { Some(payload) }
                };
                if on_panic == OnPanic::Cancel {
                    // The blocks that nobody has begun are given up. Relaxed: as above.
                    self.next.store(end, Ordering::Relaxed);
                    return;
                }
            }
        }
    }
}

/// How the other blocks of a parallel loop end when one panics. Either way the loop panics with the first payload once
/// no block is running any more.
///
/// # Example
/// ```
/// use std::panic::{AssertUnwindSafe, catch_unwind};
/// use std::sync::atomic::{AtomicUsize, Ordering};
/// use lehr_runtime::{Dispatcher, OnPanic, ParallelLoop};
/// let dispatcher = Dispatcher::new(2).unwrap();
/// let mut parallel = ParallelLoop::new(dispatcher.handle()).on_panic(OnPanic::Finish);
/// let done = AtomicUsize::new(0);
/// let body = |i| {
///     assert!(i != 3, "three");
///     done.fetch_add(1, Ordering::Relaxed);
/// };
/// assert!(catch_unwind(AssertUnwindSafe(|| parallel.run(0..100, 1, body))).is_err());
/// assert_eq!(done.into_inner(), 99);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnPanic {
    /// Blocks that have begun end, the others are given up.
    #[default]
    Cancel,
    /// All blocks run. The indices of the panicked block after the panic are given up.
    Finish,
}

/// A parallel loop that can be run again and again without allocating.
///
/// # Example
/// ```
/// use lehr_runtime::{Dispatcher, ParallelLoop};
/// let dispatcher = Dispatcher::new(2).unwrap();
/// let mut parallel = ParallelLoop::new(dispatcher.handle());
/// let mut cells: Vec<_> = (0..100).map(|_| std::sync::OnceLock::new()).collect();
/// parallel.run(0..100, 8, |i| cells[i].set(i * i).unwrap());
/// assert_eq!(cells[9].take(), Some(81));
/// ```
pub struct ParallelLoop {
    handle: Handle,
    on_panic: OnPanic,
    region: Arc<Region>,
}

impl fmt::Debug for ParallelLoop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("ParallelLoop").field("handle", &self.handle).finish_non_exhaustive()
    }
}

impl ParallelLoop {
    /// Creates a loop whose helpers are the workers of `handle`'s dispatcher.
    ///
    /// # Example
    /// See [`ParallelLoop`].
    pub fn new(handle: &Handle) -> Self {
        let region = Region {
            loan: Loan::new(),
            next: CachePadded::new(AtomicUsize::new(0)),
            end: AtomicUsize::new(0),
            grain: AtomicUsize::new(1),
            calls: AtomicUsize::new(0),
            panic: SpinLock::new(None),
        };
        Self { handle: handle.clone(), on_panic: OnPanic::Cancel, region: Arc::new(region) }
    }

    /// Decides the fate of the other blocks when one panics. Default: [`OnPanic::Cancel`].
    ///
    /// # Example
    /// See [`OnPanic`].
    pub fn on_panic(mut self, on_panic: OnPanic) -> Self {
        self.on_panic = on_panic;
        self
    }

    /// Calls `body` once for each index of `range`, in blocks of `grain` indices, on your thread and every worker that
    /// comes.
    ///
    /// Your thread works too, and returns when all blocks have ended; it waits only for blocks that others have begun.
    /// On a worker it helps meanwhile, as [`join`](crate::fork_join::join) does: with the forks of those blocks, loops
    /// and scopes in them included. Blocks are handed out in ascending order, each to the next worker that asks; in a
    /// block the indices ascend. It may be called on a worker and outside.
    ///
    /// Cost: one atomic addition per block, one queue entry per helper, called from outside, or one fork; no
    /// allocation.
    ///
    /// # Panics
    /// Panics with the first panic of `body`, after all blocks that had begun have ended; the fate of the others,
    /// [`on_panic`](Self::on_panic) says. Panics if `grain` is 0.
    ///
    /// # Example
    /// See [`ParallelLoop`].
    pub fn run(&mut self, range: Range<usize>, grain: usize, body: impl Fn(usize) + Sync) {
        assert!(grain > 0, "a block has at least one index");
        let blocks = range.len().div_ceil(grain);
        let shared = &self.handle.shared;
        let is_inside = crate::dispatch::with_current(|current| current.is_some_and(|current| current.is_of(shared)));
        let helpers = (shared.threads - usize::from(is_inside)).min(blocks.saturating_sub(1));
        if helpers == 0 && self.on_panic == OnPanic::Cancel {
            range.for_each(body);
            return;
        }
        assert!(range.end < usize::MAX / 2, "the range ends beyond what the counter of blocks can hold");
        let region = &self.region;
        let block = |block: Range<usize>| block.for_each(&body);
        let on_panic = self.on_panic;
        // Relaxed: published by the opening of the gate. Nobody reads them before; a helper left over from the last run
        // that comes now finds the gate closed, and one that comes later helps with this run.
        region.next.store(range.start, Ordering::Relaxed);
        region.end.store(range.end, Ordering::Relaxed);
        // No larger than the range, so that `next` cannot overflow however many helpers ask in vain.
        region.grain.store(grain.min(range.len()).max(1), Ordering::Relaxed);
        let work = || region.work(on_panic, block);
        if is_inside {
            // Forks that other workers take, and a wait that helps them.
            crate::fork_join::spread(helpers + 1, &work);
        } else {
            self.lend(helpers, &work);
        }
        let panic = region.panic.lock().take();
        if let Some(payload) = panic {
            resume_unwind(payload);
        }
    }

    /// Works with up to this many workers, on a thread that is no worker. No worker could steal from it, so it calls
    /// for help and lends its work.
    fn lend(&self, helpers: usize, work: &(impl Fn() + Sync)) {
        let (region, shared) = (&self.region, &self.handle.shared);
        region.loan.lend(&|()| work(), || {
            // Relaxed: for economy only; a stale value means one helper more or less.
            let waiting = region.calls.load(Ordering::Relaxed);
            for _ in waiting..helpers {
                region.calls.fetch_add(1, Ordering::Relaxed);
                // For whoever is idle: queued here it would wait for this very worker.
                let region = region.clone();
                shared.share(Job::call(Closure::uncounted(move || region.help())));
            }
            work();
        });
    }
}

impl Handle {
    /// Calls `body` once for each index of `range`, in blocks of `grain` indices, on your thread and every worker that
    /// comes.
    ///
    /// One run of a [`ParallelLoop`], with its promises and panics; keep one of those to repeat the loop without
    /// allocating.
    ///
    /// # Example
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let sum = AtomicUsize::new(0);
    /// dispatcher.handle().parallel_for(0..101, 10, |i| {
    ///     sum.fetch_add(i, Ordering::Relaxed);
    /// });
    /// assert_eq!(sum.into_inner(), 5050);
    /// ```
    pub fn parallel_for(&self, range: Range<usize>, grain: usize, body: impl Fn(usize) + Sync) {
        ParallelLoop::new(self).run(range, grain, body);
    }
}

impl Dispatcher {
    /// Runs your futures, which may borrow, as tasks here, and returns their outputs in order once all have ended.
    ///
    /// For threads outside: your thread sleeps meanwhile. A future that panics ends as [`TaskError::Panicked`]; the
    /// others run on, so futures that wait for each other must notice by themselves.
    ///
    /// # Panics
    /// Panics on a dispatcher's worker.
    ///
    /// # Example
    /// ```
    /// let dispatcher = lehr_runtime::Dispatcher::new(2).unwrap();
    /// let words = ["one".to_owned(), "three".to_owned()];
    /// let lengths = dispatcher.run_all(words.iter().map(|word| async { word.len() }).collect());
    /// assert_eq!(lengths, [Ok(3), Ok(5)]);
    /// ```
    pub fn run_all<F>(&self, futures: Vec<F>) -> Vec<Result<F::Output, TaskError>>
    where
        F: Future + Send,
        F::Output: Send,
    {
        assert!(!is_on_worker(), "run_all was called on a dispatcher's worker, which it would block: spawn instead");
        let shared = &self.handle.shared;
        let mut ending =
            Ending { tasks: Vec::with_capacity(futures.len()), outputs: Vec::with_capacity(futures.len()) };
        for future in futures {
            let home = async_task::Builder::new().metadata(shared.clone());
            let (runnable, task) = admit(&shared.live, future, |future| {
                // SAFETY: the future and its output are `Send`, and the schedule function holds nothing. The future
                // borrows from the caller, who is kept here by `ending` until the handle has told that the future was
                // dropped: `async-task` answers a handle only after it has dropped the future, be it run or cancelled,
                // and the output is moved out here. A waker that lives longer keeps the cell's header alone.
                unsafe { home.spawn_unchecked(|_| future, woken) }
            });
            ending.tasks.push(Task::new(task));
            shared.start(runnable);
        }
        ending.wait();
        std::mem::take(&mut ending.outputs)
    }
}

/// Waits for its tasks in any case.
struct Ending<T> {
    tasks: Vec<Task<T>>,
    outputs: Vec<Result<T, TaskError>>,
}

impl<T> Ending<T> {
    fn wait(&mut self) {
        for task in self.tasks.drain(..) {
            self.outputs.push(block_on(task));
        }
    }
}

impl<T> Drop for Ending<T> {
    fn drop(&mut self) {
        // Only after a panic between the first spawn and the wait is anything left.
        for task in self.tasks.drain(..) {
            let _ = block_on(task.cancel());
        }
    }
}
