//! The tasks to wake once a lock is free.

use std::task::Waker;

/// Wakers gathered under a lock, to be woken after it, when this is dropped. Waking may run other code of Lehr, and
/// dropping a waker may too. Declare it before the guard.
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
    /// Wakes them, in the order in which they were added. They are called in place: to move the field into `drop` costs
    /// more than to find it empty.
    #[inline]
    pub(crate) fn ring(&mut self) {
        // Nearly always one, and its way out of here is on the path of every message.
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
