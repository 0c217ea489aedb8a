//! A closure in a queue, which is the cheapest form of work: a small closure needs no allocation.
//!
//! A task needs its own cell because its handle and its wakers refer to it. A closure that runs once to its end is held
//! only by its queue, so its cell can be reused for the next closure. A worker keeps the cells of the closures that it
//! has called, and reuses them for the closures that it queues. A closure that is larger than three words, or aligned
//! more strictly than a word, goes into a box, and the box into the cell.

use std::cell::RefCell;
use std::mem::{ManuallyDrop, MaybeUninit, align_of, size_of};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use super::current::with_current;
use crate::error::panic_message;

/// The space in a cell. This space suffices for the closures of most programs, which hold a port or two and a number.
type Room = [usize; 3];

/// A cell of memory for a closure. The cell owns the closure only as long as a [`Closure`] holds the cell.
pub(super) struct Cell {
    room: MaybeUninit<Room>,
    acts: &'static Acts,
}

/// The maximum number of cells that a worker keeps for its next closures.
const KEPT: usize = 256;

/// The empty cells that a worker keeps for its next closures.
#[derive(Default)]
pub(super) struct Cells {
    #[allow(clippy::vec_box, reason = "the boxes themselves go from hand to hand")]
    empty: RefCell<Vec<Box<Cell>>>,
}

impl Cells {
    /// Returns an empty cell: a cell that the worker keeps, or else a new cell.
    #[inline]
    fn get() -> Box<Cell> {
        let kept = with_current(|current| current.and_then(|current| current.cells.empty.borrow_mut().pop()));
        kept.unwrap_or_else(|| Box::new(Cell { room: MaybeUninit::uninit(), acts: NOTHING }))
    }

    /// Keeps an empty cell, or frees it.
    #[inline]
    fn put(cell: Box<Cell>) {
        with_current(|current| {
            let Some(current) = current else { return };
            let mut empty = current.cells.empty.borrow_mut();
            if empty.len() < KEPT {
                empty.push(cell);
            }
        });
    }
}

/// The operations on the closure in a cell.
struct Acts {
    /// Moves the closure out of its cell, returns the cell to the worker, and calls the closure.
    call: unsafe fn(Box<Cell>),
    /// Drops the closure in place.
    drop: unsafe fn(&mut MaybeUninit<Room>),
    /// Whether a user of the crate queued the closure, so that a shutdown reports it.
    is_counted: bool,
}

/// The operations of an empty cell, which do nothing.
static NOTHING: &Acts = &Acts { call: |_| {}, drop: |_| {}, is_counted: false };

/// A closure that is called once, or dropped.
pub(crate) struct Closure {
    cell: ManuallyDrop<Box<Cell>>,
}

// SAFETY: `new` and `uncounted` accept only closures that are `Send`, and the cell holds nothing else.
unsafe impl Send for Closure {}

impl Closure {
    /// Creates a closure of a user of the crate.
    #[inline]
    pub(crate) fn new<F: FnOnce() + Send + 'static>(closure: F) -> Self {
        Self::of::<F, true>(closure)
    }

    /// Creates a closure of this crate, which a shutdown does not report.
    pub(crate) fn uncounted<F: FnOnce() + Send + 'static>(closure: F) -> Self {
        Self::of::<F, false>(closure)
    }

    /// Returns whether a shutdown reports the closure.
    #[inline]
    pub(crate) fn is_counted(&self) -> bool {
        self.cell.acts.is_counted
    }

    #[inline]
    fn of<F: FnOnce() + Send + 'static, const IS_COUNTED: bool>(closure: F) -> Self {
        if fits::<F>() {
            Self::put::<F, IS_COUNTED>(closure)
        } else {
            Self::put::<Box<F>, IS_COUNTED>(Box::new(closure))
        }
    }

    #[inline]
    fn put<F: FnOnce() + Send + 'static, const IS_COUNTED: bool>(closure: F) -> Self {
        debug_assert!(fits::<F>());
        let mut cell = Cells::get();
        // SAFETY: the room is as large as the closure and aligned as strictly (`fits`), and an empty cell holds
        // nothing.
        unsafe { cell.room.as_mut_ptr().cast::<F>().write(closure) };
        cell.acts = const { &Acts { call: call::<F>, drop: drop_in::<F>, is_counted: IS_COUNTED } };
        Self { cell: ManuallyDrop::new(cell) }
    }

    /// Calls the closure; returns the text of its panic if it does not finish.
    #[inline]
    pub(crate) fn call(self) -> Result<(), String> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used or dropped afterwards, so the box has one owner.
        let cell = unsafe { ManuallyDrop::take(&mut this.cell) };
        let call = cell.acts.call;
        // Unwind safety: what the closure held is dropped with it. SAFETY: the cell holds the closure that `acts` were
        // made for.
        catch_unwind(AssertUnwindSafe(|| unsafe { call(cell) })).map_err(|payload| panic_message(payload.as_ref()))
    }

    /// Returns the closure as one word, for a queue; the word is aligned as a pointer is.
    #[inline]
    pub(super) fn into_raw(self) -> NonNull<()> {
        let mut this = ManuallyDrop::new(self);
        // SAFETY: `this` is not used or dropped afterwards, so the box has one owner.
        let cell = unsafe { ManuallyDrop::take(&mut this.cell) };
        NonNull::from(Box::leak(cell)).cast()
    }

    /// # Safety
    /// The word must come from `into_raw`, and must not be used or dropped elsewhere.
    #[inline]
    pub(super) unsafe fn from_raw(word: NonNull<()>) -> Self {
        // SAFETY: the caller guarantees it; `into_raw` leaked a box.
        Self { cell: ManuallyDrop::new(unsafe { Box::from_raw(word.cast::<Cell>().as_ptr()) }) }
    }
}

impl Drop for Closure {
    fn drop(&mut self) {
        // SAFETY: the room holds the closure that `acts` were made for: only `call` and `into_raw` take the cell, and
        // in those cases this does not run. If the closure's destructor panics, only the cell is leaked.
        unsafe { (self.cell.acts.drop)(&mut self.cell.room) };
        // SAFETY: nothing uses `self` after it was dropped.
        Cells::put(unsafe { ManuallyDrop::take(&mut self.cell) });
    }
}

/// Returns whether a closure fits into the room itself.
const fn fits<F>() -> bool {
    size_of::<F>() <= size_of::<Room>() && align_of::<F>() <= align_of::<Room>()
}

/// # Safety
/// The cell must hold an `F`.
unsafe fn call<F: FnOnce()>(cell: Box<Cell>) {
    // SAFETY: the caller guarantees it; the cell is returned as an empty one, so the closure is not dropped in it.
    let closure = unsafe { cell.room.as_ptr().cast::<F>().read() };
    // The cell is returned before the call. So a closure that this closure queues gets the same cell, which is still in
    // the cache.
    Cells::put(cell);
    closure();
}

/// # Safety
/// The room must hold an `F`; it is dropped.
unsafe fn drop_in<F>(room: &mut MaybeUninit<Room>) {
    // SAFETY: the caller guarantees it.
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
