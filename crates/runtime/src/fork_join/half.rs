//! The second half of a fork, on the stack of the forking worker, for others to take.
//!
//! A [`Half`] lives in the frame of `join`, which does not end before the half has been taken back or its latch has
//! been set. So a queue holds one pointer of it, [`Fork`], and a fork allocates nothing.
//!
//! A fork is done once. It comes out of its queue once, and the worker that has it either runs it or gives it back to
//! its owner.

use std::any::Any;
use std::cell::UnsafeCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use lehr_sync::{AtomicUsize, Ordering};

use super::latch::{End, Latch};
use crate::context::{self, Context};

/// No worker has taken it.
const NOBODY: usize = usize::MAX;

/// The outcome of a closure: its result, or the payload of its panic.
pub(crate) type Outcome<R> = Result<R, Box<dyn Any + Send>>;

/// The part that halves of all types have in common.
pub(crate) struct Head {
    run: unsafe fn(*const Head),
    latch: Latch,
    /// The index of the worker that runs it. Written by it alone.
    thief: AtomicUsize,
}

impl Head {
    pub(crate) fn latch(&self) -> &Latch {
        &self.latch
    }

    /// Returns the worker that runs it, as soon as that has begun.
    pub(crate) fn thief(&self) -> Option<usize> {
        // Relaxed: a place to look at; what is found there is judged by the latch.
        Some(self.thief.load(Ordering::Relaxed)).filter(|&thief| thief != NOBODY)
    }
}

/// A closure and the place for its result.
// The head is first, so that a pointer to it is one to the whole.
#[repr(C)]
pub(crate) struct Half<F, R> {
    head: Head,
    /// In which its owner runs.
    context: Option<Context>,
    /// Taken out by the one that runs it: the thief, or the owner when it has it back.
    closure: UnsafeCell<Option<F>>,
    /// Written by the thief before it sets the latch, read by the owner after.
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
    /// It is called once, and the half neither moves nor ends before the fork has come back or the latch has been set.
    #[inline]
    pub(crate) unsafe fn fork(&self) -> Fork {
        Fork(std::ptr::from_ref(self).cast())
    }

    /// Returns the closure, when it came back.
    ///
    /// # Safety
    /// The fork has come out of the owner's own queue, or the latch says that it was returned.
    #[inline]
    pub(crate) unsafe fn take_back(self) -> F {
        self.closure.into_inner().expect("a fork is run once")
    }

    /// Returns its outcome elsewhere.
    ///
    /// # Safety
    /// The latch says that it is done.
    pub(crate) unsafe fn into_outcome(self) -> Outcome<R> {
        self.outcome.into_inner().expect("a half that is done has an outcome")
    }
}

/// # Safety
/// `head` is the head of a `Half<F, R>` that lives until its latch is set, and whose closure nothing else takes.
unsafe fn run<F: FnOnce() -> R + Send, R: Send>(head: *const Head) {
    let half = head.cast::<Half<F, R>>();
    // SAFETY: the caller's promise; the head is the first field.
    let closure = unsafe { (*(*half).closure.get()).take() }.expect("a fork is run once");
    // SAFETY: as above; the owner does not touch it before the latch is set.
    let context = unsafe { (*half).context.clone() };
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let _entered = context::current::in_use().then(|| context::current::enter(context));
        closure()
    }));
    // SAFETY: as above: nobody reads it before the latch is set.
    unsafe { *(*half).outcome.get() = Some(outcome) };
    // SAFETY: as above, and the one who runs it is the only one to end it. The half may be gone after this.
    unsafe { Latch::set(&raw const (*head).latch, End::Done) };
}

/// A half in a queue. Must not be lost: its owner waits for it.
#[must_use = "its owner waits until it has been run or given back"]
pub(crate) struct Fork(*const Head);

// SAFETY: `Half::fork` makes it of a closure and for a result that may be sent.
unsafe impl Send for Fork {}

impl Fork {
    /// Returns whether it is this half's.
    #[inline]
    pub(crate) fn is_of(&self, head: &Head) -> bool {
        std::ptr::eq(self.0, head)
    }

    /// Runs it as the worker of this index. Never panics: its owner gets the closure's panic.
    pub(crate) fn run(self, index: usize) {
        // SAFETY: `Half::fork` promised that the half lives until its latch is set, which only who has the fork can do.
        unsafe {
            // Relaxed: see `Head::thief`.
            (*self.0).thief.store(index, Ordering::Relaxed);
            ((*self.0).run)(self.0);
        }
    }

    /// Leaves it to its owner.
    pub(crate) fn give_back(self) {
        // SAFETY: as in `run`.
        unsafe { Latch::set(&raw const (*self.0).latch, End::Returned) };
    }
}
