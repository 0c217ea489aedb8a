//! Wakers that are collected under a lock and called after its release.

use std::task::Waker;

/// Wakers collected under a lock. Dropping this value calls these wakers. Declare it before the guard, so that it is
/// dropped after the lock is released. Calling a waker and dropping a waker may both run other code of Lehr.
#[derive(Default)]
pub struct Wake {
    first: Option<Waker>,
    rest: Vec<Waker>,
}

impl Wake {
    #[inline]
    pub(crate) fn add(&mut self, waker: Option<Waker>) {
        let Some(waker) = waker else { return };
        if self.first.is_none() {
            self.first = Some(waker);
        } else {
            self.rest.push(waker);
        }
    }
}

impl Wake {
    /// Wakes the tasks in the order in which they were added. Call this method before the value is dropped. Calling the
    /// wakers here costs less than in `drop`, to which the value would have to be moved.
    #[inline]
    pub(crate) fn ring(&mut self) {
        // Nearly always there is only one waker, and every message runs this code.
        if let Some(first) = self.first.take() {
            first.wake();
        }
        if !self.rest.is_empty() {
            std::mem::take(&mut self.rest).into_iter().for_each(Waker::wake);
        }
    }
}

impl Drop for Wake {
    #[inline]
    fn drop(&mut self) {
        self.ring();
    }
}
