//! Work that borrows from your stack: parallel loops, closures lent to other threads, and whole futures.
//!
//! All of this work rests on the [`Gate`]. Helpers on other workers hold only a counted reference to the gate. To use
//! borrowed data, helpers must enter the gate, which fails once the lender has closed it. The lender does not return
//! before every worker that entered has left. So the lender never waits for a helper that did not enter, and a late
//! helper finds the gate closed and leaves.
//!
//! The compiler cannot check the lifetimes of the values that are borrowed in this file. Therefore this file uses
//! `unsafe`, and each block gives its reason.

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

/// The number of checks in a loop before the lender yields its core. After these checks, the lender yields its core up
/// to `YIELDS` times before it sleeps.
const SPINS: u32 = 2000;
const YIELDS: u32 = 50;

/// The bit that says that a lender holds the gate. The lender sets and clears this bit.
const TAKEN: usize = 1 << (usize::BITS - 1);
/// The bit that says that other threads may enter. The lender sets and clears this bit, only while `TAKEN` is set.
const OPEN: usize = 1 << (usize::BITS - 2);
/// The bits that hold the number of threads inside: the rest of the word.
const INSIDE: usize = OPEN - 1;

/// A gate that other threads may enter while it is open. Closing the gate waits until these threads have left.
///
/// | bit of `word` | meaning | who sets and clears it |
/// | --- | --- | --- |
/// | highest, `TAKEN` | a lender holds the gate | `take`, `release` |
/// | second, `OPEN` | other threads may enter | `open`, `close`; never without `TAKEN` |
/// | the rest | the number of threads inside | `try_enter` up (only while `OPEN`), `leave` down |
pub struct Gate {
    word: CachePadded<AtomicUsize>,
    /// The handle of the lender, once it has given up spinning.
    lender: SpinLock<Option<thread::Thread>>,
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

impl Gate {
    /// Creates a gate without a lender.
    pub fn new() -> Self {
        Self { word: CachePadded::new(AtomicUsize::new(0)), lender: SpinLock::new(None) }
    }

    /// Takes the gate as its lender; returns false if the gate has a lender already.
    pub fn take(&self) -> bool {
        // Acquire: pairs with the Release in `release`, so that everything the last lender did is over and visible.
        self.word.compare_exchange(0, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Opens the gate, so that other threads may enter. Only the lender may call it.
    pub fn open(&self) {
        // Release: publishes what the lender wrote since `take` to the threads that enter.
        self.word.store(TAKEN | OPEN, Ordering::Release);
    }

    /// Enters the gate; returns false if it is not open.
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

    /// Leaves the gate, after a `try_enter` that succeeded.
    pub fn leave(&self) {
        // Release: what was done inside is visible to the lender once it sees that no thread is inside; pairs with the
        // Acquire loads in `close`.
        let before = self.word.fetch_sub(1, Ordering::Release);
        if before & (OPEN | INSIDE) == 1 {
            // We are the last to leave a closed gate. The lock orders this against the lender: either it finds that we
            // are gone after it has left its handle, or we find its handle.
            if let Some(lender) = self.lender.lock().take() {
                lender.unpark();
            }
        }
    }

    /// Closes the gate and waits until every thread has left. Only the lender may call it.
    pub fn close(&self) {
        // Acquire: needed if no thread is inside; pairs with the Release in `leave`.
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
            // Stored again each time: a visitor of an earlier opening may have been late to unpark, and have taken the
            // handle away.
            *self.lender.lock() = Some(thread::current());
            if is_empty() {
                break;
            }
            thread::park();
        }
        *self.lender.lock() = None;
    }

    /// Gives the gate up after `close`, so that another lender may take it.
    pub fn release(&self) {
        // Release: pairs with the Acquire in `take`.
        self.word.store(0, Ordering::Release);
    }
}

/// Waits for a while without sleeping; returns whether the event has happened. Under a model checker, this function
/// does not spin, because the model must contain every sleep.
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
/// Threads with a shared reference to the loan use [`call`](Self::call), which calls the closure if
/// [`lend`](Self::lend) is in progress, and returns false otherwise.
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
    /// The closure. The lender writes it between `take` and `open`; threads inside the gate read it.
    body: UnsafeCell<Option<*const (dyn Fn(A) + Sync + 'static)>>,
}

// SAFETY: the pointer is written only by the thread that took the gate, before it opens the gate, and is read only by
// threads inside it; the gate orders the two. Its target is `Sync`, and is called only while `lend` keeps it borrowed.
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
    /// Creates a loan without a closure.
    ///
    /// # Example
    /// See [`Loan`].
    pub fn new() -> Self {
        Self { gate: Gate::new(), body: UnsafeCell::new(None) }
    }

    /// Lends `body` while `during` runs, and returns once no thread is in `body` any more, even if `during` panics.
    ///
    /// # Panics
    /// Panics if a closure is lent already.
    ///
    /// # Example
    /// See [`Loan`].
    pub fn lend<R>(&self, body: &(dyn Fn(A) + Sync), during: impl FnOnce() -> R) -> R {
        assert!(self.gate.take(), "a loan holds one body at a time");
        let body: *const (dyn Fn(A) + Sync + '_) = body;
        // SAFETY: only the lifetime of the pointer's type changes. It is dereferenced only in `call`, inside the gate,
        // and `Closing` below does not let this function end, by return or by panic, before all threads have left for
        // good.
        let body =
            unsafe { std::mem::transmute::<*const (dyn Fn(A) + Sync + '_), *const (dyn Fn(A) + Sync + 'static)>(body) };
        // SAFETY: we have the gate and it is not open, so no thread reads the cell.
        unsafe { *self.body.get() = Some(body) };
        let closing = Closing(&self.gate);
        self.gate.open();
        let result = during();
        drop(closing);
        result
    }

    /// Calls the lent closure; returns false, without a call, if no closure is lent.
    ///
    /// # Example
    /// See [`Loan`].
    pub fn call(&self, argument: A) -> bool {
        if !self.gate.try_enter() {
            return false;
        }
        let leaving = Leaving(&self.gate);
        // SAFETY: we are inside the gate, so the lender wrote the cell before it opened the gate, and does not write
        // again before we leave.
        if let Some(body) = unsafe { *self.body.get() } {
            // SAFETY: `lend` keeps the target borrowed until we have left. `leaving` leaves after the call, even if the
            // call panics.
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

/// The part of a parallel loop that its helpers share.
pub(crate) struct Region {
    loan: Loan<()>,
    /// The first index of the loop that no thread has taken. Every thread of the loop writes this field; the other
    /// fields are hardly ever written.
    next: CachePadded<AtomicUsize>,
    end: AtomicUsize,
    grain: AtomicUsize,
    /// The number of calls for help that are still in a queue.
    calls: AtomicUsize,
    panic: SpinLock<Option<Box<dyn Any + Send>>>,
}

impl Region {
    /// Answers a call for help as a worker.
    pub(crate) fn help(&self) {
        // Relaxed: the number of queue entries, used only to save entries.
        self.calls.fetch_sub(1, Ordering::Relaxed);
        self.loan.call(());
    }

    /// Takes blocks and runs them until no block is left.
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
                // Not under the lock: a later payload is dropped, and its destructor is user code.
                let _later = {
                    let mut first = self.panic.lock();
                    if first.is_none() { first.replace(payload) } else { Some(payload) }
                };
                if on_panic == OnPanic::Cancel {
                    // The blocks that have not begun are given up. Relaxed: as above.
                    self.next.store(end, Ordering::Relaxed);
                    return;
                }
            }
        }
    }
}

/// The effect of a panicking block on the other blocks of a parallel loop. In either case the loop panics with the
/// first payload once no block runs any more.
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
    /// Blocks that have begun run to their end; the other blocks are given up.
    #[default]
    Cancel,
    /// All blocks run, even after a panic. In the block that panicked, the indices after the panic are given up.
    Finish,
}

/// A parallel loop that can run repeatedly without allocating.
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

    /// Decides what happens to the other blocks when a block panics. Default: [`OnPanic::Cancel`].
    ///
    /// # Example
    /// See [`OnPanic`].
    pub fn on_panic(mut self, on_panic: OnPanic) -> Self {
        self.on_panic = on_panic;
        self
    }

    /// Calls `body` once for each index of `range`, in blocks of `grain` indices, on your thread and on every worker
    /// that comes to help.
    ///
    /// Your thread works too, and returns when all blocks have ended; it waits only for blocks that other threads have
    /// begun. If your thread is a worker, it helps meanwhile as [`join`](crate::fork_join::join) does. A helping worker
    /// runs forks of those blocks, including forks of loops and scopes in them. Blocks are handed out in ascending
    /// order, each to the next worker that asks; within a block the indices ascend. You may call this method on a
    /// worker and on any other thread.
    ///
    /// Cost: one atomic addition for each block. On a worker, one fork for each helper and no allocation. On other
    /// threads, one queue entry for each helper, which allocates.
    ///
    /// # Panics
    /// Panics with the first panic of `body`, after all blocks that had begun have ended; [`on_panic`](Self::on_panic)
    /// decides about the other blocks. Panics if `grain` is 0. With helpers, also panics if the range ends at
    /// `usize::MAX / 2` or above.
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
        // Relaxed: published by the opening of the gate. No thread reads them before; a helper left over from the last
        // run that comes now finds the gate closed, and one that comes later helps with this run.
        region.next.store(range.start, Ordering::Relaxed);
        region.end.store(range.end, Ordering::Relaxed);
        // No larger than the range, so that `next` cannot overflow, however many helpers find no block left.
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

    /// Runs the loop with up to `helpers` workers, on a thread that is not a worker. No worker could steal from such a
    /// thread, so the thread calls for help and lends its work.
    fn lend(&self, helpers: usize, work: &(impl Fn() + Sync)) {
        let (region, shared) = (&self.region, &self.handle.shared);
        region.loan.lend(&|()| work(), || {
            // Relaxed: only to save entries; an old value means one helper more or less.
            let waiting = region.calls.load(Ordering::Relaxed);
            for _ in waiting..helpers {
                region.calls.fetch_add(1, Ordering::Relaxed);
                // Queued for any idle worker: in this worker's own queue it would wait for this very worker.
                let region = region.clone();
                shared.share(Job::call(Closure::uncounted(move || region.help())));
            }
            work();
        });
    }
}

impl Handle {
    /// Calls `body` once for each index of `range`, in blocks of `grain` indices, on your thread and on every worker
    /// that comes to help.
    ///
    /// A call does the same as one run of a [`ParallelLoop`], with the same guarantees and panics. To repeat the loop
    /// without allocating, keep a `ParallelLoop`.
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
    /// Runs your futures, which may borrow, as tasks of this dispatcher, and returns their outputs in order once all
    /// have ended.
    ///
    /// This method is for threads that are not workers, because your thread sleeps meanwhile. A future that panics ends
    /// as [`TaskError::Panicked`], and the other futures continue. So futures that wait for each other must detect a
    /// panic themselves.
    ///
    /// # Panics
    /// Panics if called on a dispatcher's worker.
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
                // borrows from the caller, and `ending` keeps the caller here until the handle has reported that the
                // future was dropped: `async-task` answers a handle only after it has dropped the future, whether it
                // ran or was cancelled, and the output is moved out here. A waker that lives longer keeps only the
                // cell's header.
                unsafe { home.spawn_unchecked(|_| future, woken) }
            });
            ending.tasks.push(Task::new(task));
            shared.start(runnable);
        }
        ending.wait();
        std::mem::take(&mut ending.outputs)
    }
}

/// The tasks of a [`run_all`](Dispatcher::run_all). Dropping this value cancels the remaining tasks and waits for them,
/// even after a panic.
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
        // Tasks are left only after a panic between the first spawn and the wait.
        for task in self.tasks.drain(..) {
            let _ = block_on(task.cancel());
        }
    }
}
