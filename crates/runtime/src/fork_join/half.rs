//! The second half of a fork, on the stack of the forking worker, where other workers can take it.
//!
//! A [`Half`] lives in the frame of `join`, which does not end before the half has been taken back or its latch has
//! been set. So a queue holds only a pointer to the half, [`Fork`], and a fork allocates nothing.
//!
//! A fork comes out of its queue once, and the worker that takes it either runs it or gives it back to its owner. So a
//! fork runs once.

use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lehr_sync::{AtomicUsize, Ordering};

use super::latch::{End, Latch};
use crate::context::{self, Context};

/// The value of `thief` while no worker has taken the half.
const NOBODY: usize = usize::MAX;

/// The outcome of a closure: its result, or the payload of its panic.
pub(crate) type Outcome<R> = Result<R, Box<dyn Any + Send>>;

/// The part of a half that is the same for closures of all types.
pub(crate) struct Head {
    run: unsafe fn(*const Head),
    latch: Latch,
    /// The index of the worker that runs the half. Only that worker writes it.
    thief: AtomicUsize,
}

impl Head {
    pub(crate) fn latch(&self) -> &Latch {
        &self.latch
    }

    /// Returns the worker that runs the half, once that worker has begun.
    pub(crate) fn thief(&self) -> Option<usize> {
        // Relaxed: the index is only a hint where to look; the latch decides whether we may run the fork found there.
        Some(self.thief.load(Ordering::Relaxed)).filter(|&thief| thief != NOBODY)
    }
}

/// A closure and the place for its result.
// The head is first, so that a pointer to it is a pointer to the whole half.
#[repr(C)]
pub(crate) struct Half<F, R> {
    head: Head,
    /// The context in which the owner runs.
    context: Option<Context>,
    /// The closure. The thread that runs it takes it out: the thief, or the owner after it was given back.
    closure: UnsafeCell<Option<F>>,
    /// The outcome of the closure. The thief writes the outcome before it sets the latch; the owner reads it after the
    /// latch is set.
    outcome: UnsafeCell<Option<Outcome<R>>>,
}

impl<F: FnOnce() -> R + Send, R: Send> Half<F, R> {
    #[inline]
    pub(crate) fn new(closure: F) -> Self {
        Self {
            head: Head { run: run::<F, R>, latch: Latch::new(), thief: AtomicUsize::new(NOBODY) },
            context: context::current::current(),
            closure: UnsafeCell::new(Some(closure)),
            outcome: UnsafeCell::new(None),
        }
    }

    #[inline]
    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    /// Returns the half's entry in a queue.
    ///
    /// # Safety
    /// The caller must call this method once. The half must not be moved or dropped before the fork has come back or
    /// the latch has been set.
    #[inline]
    pub(crate) unsafe fn fork(&self) -> Fork {
        Fork(std::ptr::from_ref(self).cast())
    }

    /// Returns the closure of a half that came back to its owner.
    ///
    /// # Safety
    /// The fork must have come out of the owner's own queue, or the latch must say that it was returned.
    #[inline]
    pub(crate) unsafe fn take_back(self) -> F {
        self.closure.into_inner().expect("a fork is run once")
    }

    /// Returns the outcome of a half that another worker ran.
    ///
    /// # Safety
    /// The latch must say that the half is done.
    pub(crate) unsafe fn into_outcome(self) -> Outcome<R> {
        self.outcome.into_inner().expect("a half that is done has an outcome")
    }
}

/// # Safety
/// `head` must be the head of a `Half<F, R>` that lives until its latch is set, and whose closure nothing else takes.
unsafe fn run<F: FnOnce() -> R + Send, R: Send>(head: *const Head) {
    let half = head.cast::<Half<F, R>>();
    // SAFETY: the caller guarantees it; the head is the first field.
    let closure = unsafe { (*(*half).closure.get()).take() }.expect("a fork is run once");
    // SAFETY: as above; the owner does not touch the context before the latch is set.
    let context = unsafe { (*half).context.clone() };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let _entered = context::current::in_use().then(|| context::current::enter(context));
        closure()
    }));
    // SAFETY: as above: the outcome is not read before the latch is set.
    unsafe { *(*half).outcome.get() = Some(outcome) };
    // SAFETY: as above, and only the thread that runs the half ends it. The half may be gone after this.
    unsafe { Latch::set(&raw const (*head).latch, End::Done) };
}

/// A half in a queue. A `Fork` must not be lost, because the half's owner waits for it.
#[must_use = "its owner waits until it has been run or given back"]
pub(crate) struct Fork(*const Head);

// SAFETY: `Half::fork` makes it from a closure and for a result that are `Send`.
unsafe impl Send for Fork {}

impl Fork {
    /// Returns whether the fork belongs to this half.
    #[inline]
    pub(crate) fn is_of(&self, head: &Head) -> bool {
        std::ptr::eq(self.0, head)
    }

    /// Runs the half as the worker with this index. This method never panics, because the owner gets the closure's
    /// panic.
    pub(crate) fn run(self, index: usize) {
        // SAFETY: the caller of `Half::fork` promised that the half lives until its latch is set, which only the holder
        // of the fork can do.
        unsafe {
            // Relaxed: see `Head::thief`.
            (*self.0).thief.store(index, Ordering::Relaxed);
            ((*self.0).run)(self.0);
        }
    }

    /// Gives the half back to its owner.
    pub(crate) fn give_back(self) {
        // SAFETY: as in `run`.
        unsafe { Latch::set(&raw const (*self.0).latch, End::Returned) };
    }
}
