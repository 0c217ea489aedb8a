//! A closure in a queue, without an allocation if it is small: the cheapest form of work that there is.
//!
//! A task needs a cell of its own because others hold on to it: its handle, its wakers. A closure that runs once to its end is
//! held by its queue alone, so it can lie in it. What is larger than three words, or aligned more strictly than a word, goes into a
//! box, and the box into the queue.

use std::mem::{ManuallyDrop, MaybeUninit, align_of, size_of};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::panic_message;

/// Room for the closures of most programs: a port or two, and a number.
type Room = [usize; 3];

/// What can be done with the closure in the room.
struct Acts {
    /// Moves it out of the room and calls it.
    call: unsafe fn(&mut MaybeUninit<Room>),
    /// Drops it where it is.
    drop: unsafe fn(&mut MaybeUninit<Room>),
    /// Whether somebody outside asked for it: then a shutdown reports what became of it.
    is_counted: bool,
}

/// A closure to be called once, or dropped.
pub(crate) struct Closure {
    room: MaybeUninit<Room>,
    acts: &'static Acts,
}

// SAFETY: `new` asks for a closure that may be sent, and the room holds nothing else.
unsafe impl Send for Closure {}

impl Closure {
    /// What a user of the crate wants to have called.
    pub(crate) fn new<F: FnOnce() + Send + 'static>(closure: F) -> Self {
        Self::of::<F, true>(closure)
    }

    /// What this crate wants to have called, and reports to nobody.
    pub(crate) fn uncounted<F: FnOnce() + Send + 'static>(closure: F) -> Self {
        Self::of::<F, false>(closure)
    }

    /// Whether a shutdown reports it.
    pub(crate) fn is_counted(&self) -> bool {
        self.acts.is_counted
    }

    fn of<F: FnOnce() + Send + 'static, const IS_COUNTED: bool>(closure: F) -> Self {
        if fits::<F>() {
            Self::put::<F, IS_COUNTED>(closure)
        } else {
            Self::put::<Box<F>, IS_COUNTED>(Box::new(closure))
        }
    }

    fn put<F: FnOnce() + Send + 'static, const IS_COUNTED: bool>(closure: F) -> Self {
        debug_assert!(fits::<F>());
        let mut room = MaybeUninit::<Room>::uninit();
        // SAFETY: the room is as large as the closure and aligned as strictly (`fits`), and holds nothing yet.
        unsafe { room.as_mut_ptr().cast::<F>().write(closure) };
        Self { room, acts: const { &Acts { call: call::<F>, drop: drop_in::<F>, is_counted: IS_COUNTED } } }
    }

    /// Calls it; the text of its panic if it does not come to its end.
    pub(crate) fn call(self) -> Result<(), String> {
        let mut this = ManuallyDrop::new(self);
        let call = this.acts.call;
        // Unwind safety: what the closure held is gone with it. SAFETY: the room holds the closure that `acts` were made for, and
        // it is not dropped again, `this` being kept from it.
        catch_unwind(AssertUnwindSafe(|| unsafe { call(&mut this.room) }))
            .map_err(|payload| panic_message(payload.as_ref()))
    }
}

impl Drop for Closure {
    fn drop(&mut self) {
        // SAFETY: the room holds the closure that `acts` were made for: only `call` moves it out, and then this does not run.
        unsafe { (self.acts.drop)(&mut self.room) };
    }
}

/// Whether a closure may lie in the room itself.
const fn fits<F>() -> bool {
    size_of::<F>() <= size_of::<Room>() && align_of::<F>() <= align_of::<Room>()
}

/// # Safety
/// The room holds an `F`, which is gone afterwards.
unsafe fn call<F: FnOnce()>(room: &mut MaybeUninit<Room>) {
    // SAFETY: the caller's promise.
    let closure = unsafe { room.as_ptr().cast::<F>().read() };
    closure();
}

/// # Safety
/// The room holds an `F`, which is gone afterwards.
unsafe fn drop_in<F>(room: &mut MaybeUninit<Room>) {
    // SAFETY: the caller's promise.
    unsafe { room.as_mut_ptr().cast::<F>().drop_in_place() };
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::Arc;

    use super::Closure;

    #[test]
    fn small_and_large_closures_are_called_once_or_dropped_once() {
        for is_called in [true, false] {
            let held = Arc::new(());
            let (small, large) = (held.clone(), (held.clone(), [7_u64; 9]));
            #[repr(align(64))]
            struct Strict(Arc<()>);
            let strict = Strict(held.clone());
            let closures = [
                Closure::new(move || drop(small)),
                Closure::new(move || {
                    let (_held, numbers) = &large;
                    assert_eq!(numbers.iter().sum::<u64>(), 63);
                }),
                Closure::new(move || {
                    let strict = strict;
                    assert_eq!(std::ptr::from_ref(&strict).addr() % 64, 0);
                    drop(strict.0);
                }),
            ];
            assert_eq!(Arc::strong_count(&held), 4);
            for closure in closures {
                if is_called {
                    closure.call().unwrap();
                }
            }
            assert_eq!(Arc::strong_count(&held), 1);
        }
    }

    #[test]
    fn a_panic_is_told_and_what_the_closure_held_is_dropped() {
        let held = Arc::new(());
        let inside = held.clone();
        let told = Closure::new(move || {
            let _held = inside;
            panic!("as planned");
        })
        .call();
        assert_eq!((told, Arc::strong_count(&held)), (Err("as planned".to_owned()), 1));
    }
}
