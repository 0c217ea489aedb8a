//! What waits in a queue. Admission policies, priorities and suspension will stand in front of it, here.

use super::closure::Closure;
use crate::context::closure_panicked;

/// A piece of work. Four words: it is moved into and out of a queue at every wake.
pub(crate) enum Job {
    /// A task to be polled once.
    Task(async_task::Runnable),
    /// A closure to be called once: one of a user's, or a parallel region that would like help.
    Call(Closure),
}

impl Job {
    /// Whether it is a closure that a shutdown reports.
    pub(crate) fn is_counted_call(&self) -> bool {
        matches!(self, Self::Call(closure) if closure.is_counted())
    }

    pub(crate) fn run(self) {
        match self {
            Self::Task(runnable) => {
                runnable.run();
            }
            Self::Call(closure) => {
                if let Err(message) = closure.call() {
                    closure_panicked(message);
                }
            }
        }
    }
}

const _: () = assert!(size_of::<Job>() <= 32);
