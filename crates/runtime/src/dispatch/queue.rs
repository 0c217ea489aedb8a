//! An entry of a queue: one word that holds a task or a closure.
//!
//! An entry is only one word, because one thread writes a queue while others may read it, so entries pass through
//! memory. The processor forwards one word as soon as it is written. Two words that are written separately and read
//! together must reach the cache first, which takes some five nanoseconds at every wake.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use super::Runnable;
use super::closure::Closure;
use crate::context::closure_panicked;

/// A piece of work: a task to be polled once, or a closure to be called once. The closure comes from a user, or from a
/// parallel region that looks for help. Dropping the job cancels the task or drops the closure.
///
/// The word is the task's or the closure's own pointer. Tasks and closures are aligned to a word, so the lowest bit of
/// the pointer is free as a tag: [`CALL`] marks a closure.
pub(crate) struct Job(NonNull<()>);

const CALL: usize = 1;

// SAFETY: a `Job` owns only a `Runnable` or a `Closure`, and both are `Send`.
unsafe impl Send for Job {}

enum Opened {
    Task(Runnable),
    Call(Closure),
}

impl Job {
    #[inline]
    pub(crate) fn task(runnable: Runnable) -> Self {
        let word = runnable.into_raw();
        debug_assert!(word.addr().get() & CALL == 0, "a task begins with a pointer, and is aligned as one");
        Self(word)
    }

    #[inline]
    pub(crate) fn call(closure: Closure) -> Self {
        Self(closure.into_raw().map_addr(|address| address | CALL))
    }

    fn is_call(&self) -> bool {
        self.0.addr().get() & CALL != 0
    }

    /// Returns whether the job is a closure that a shutdown reports.
    #[inline]
    pub(crate) fn is_counted_call(&self) -> bool {
        // SAFETY: the word came from `Closure::into_raw`; the closure made from it here is not dropped, so `self` still
        // owns it.
        self.is_call() && unsafe { ManuallyDrop::new(Closure::from_raw(untagged(self.0))) }.is_counted()
    }

    #[inline]
    fn open(self) -> Opened {
        let this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used again and not dropped.
        unsafe { this.reopen() }
    }

    /// # Safety
    /// Call this method only once, and don't use `self` afterwards.
    #[inline]
    unsafe fn reopen(&self) -> Opened {
        if self.is_call() {
            // SAFETY: the bit says that `call` made this word by `Closure::into_raw`, and the caller guarantees that it
            // is taken only once.
            Opened::Call(unsafe { Closure::from_raw(untagged(self.0)) })
        } else {
            // SAFETY: likewise, `task` made this word by `Runnable::into_raw`.
            Opened::Task(unsafe { Runnable::from_raw(self.0) })
        }
    }

    #[inline]
    pub(crate) fn run(self) {
        match self.open() {
            Opened::Task(runnable) => {
                runnable.run();
            }
            Opened::Call(closure) => {
                if let Err(message) = closure.call() {
                    closure_panicked(message);
                }
            }
        }
    }
}

#[inline]
fn untagged(word: NonNull<()>) -> NonNull<()> {
    word.map_addr(|address| std::num::NonZero::new(address.get() & !CALL).expect("no closure lies at the address 1"))
}

impl Drop for Job {
    fn drop(&mut self) {
        // SAFETY: nothing uses `self` after it was dropped.
        drop(unsafe { self.reopen() });
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(if self.is_call() { "Job::Call" } else { "Job::Task" })
    }
}

const _: () = assert!(size_of::<Option<Job>>() == size_of::<usize>());
