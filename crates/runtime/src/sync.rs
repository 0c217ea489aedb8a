//! The only door to atomics, locks, threads and the clock.
//!
//! Ordinary builds get `std`. Under `--cfg loom` and `--cfg shuttle` the same names are those of the model checkers, so that
//! the protocols of this crate run unchanged inside them. Two things stay `std` on purpose: [`Arc`], because no protocol here
//! hangs on its counts, and the process-wide counter of identities, which outlives any one model.
//!
//! What is left to the dependencies (the stealing deques of `crossbeam-deque`, the task cell of `async-task`) is not modelled:
//! to the checkers each of their calls is one step.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "this is the door")]

pub(crate) use std::sync::Arc;

#[cfg(loom)]
use loom as imp;
#[cfg(shuttle)]
use shuttle as imp;
#[cfg(not(any(loom, shuttle)))]
use std as imp;

#[allow(unsafe_code, reason = "a lock gives out what is in its cell; the file says why that is right")]
#[cfg(not(shuttle))]
pub(crate) mod lock;

pub(crate) use imp::sync::atomic::{Ordering, fence};
pub(crate) use imp::thread_local;

#[cfg(not(any(loom, shuttle)))]
pub(crate) use lock::{Guard as MutexGuard, Lock as Mutex};
#[cfg(any(loom, shuttle))]
pub(crate) use modelled::{Mutex, MutexGuard};

/// The lock of the model checkers: one step to them, where [`lock::Lock`] would be a waiting loop to be explored.
#[cfg(any(loom, shuttle))]
mod modelled {
    pub(crate) use super::imp::sync::MutexGuard;

    #[derive(Debug, Default)]
    pub(crate) struct Mutex<T>(super::imp::sync::Mutex<T>);

    impl<T> Mutex<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(super::imp::sync::Mutex::new(value))
        }

        pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
            self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
        }
    }
}

/// A flag that is compared and exchanged.
#[cfg(not(shuttle))]
pub(crate) type AtomicFlag = imp::sync::atomic::AtomicBool;

/// A cell without rules, for [`lock::Lock`] and latches; loom's own watches that nobody breaks theirs.
#[allow(unsafe_code, reason = "hands its caller's promise on")]
pub(crate) mod cell {
    #[cfg(loom)]
    pub(crate) struct UnsafeCell<T>(loom::cell::UnsafeCell<T>);
    #[cfg(not(loom))]
    pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

    #[cfg(loom)]
    impl<T> UnsafeCell<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(loom::cell::UnsafeCell::new(value))
        }

        /// # Safety
        /// Nobody else writes while the reference lives.
        pub(crate) unsafe fn shared(&self) -> &T {
            // SAFETY: the caller's promise; the access is checked by loom when the pointer is asked for.
            self.0.with(|value| unsafe { &*value })
        }

        /// # Safety
        /// Nobody else reads or writes while the reference lives.
        #[allow(clippy::mut_from_ref, reason = "the point of a cell")]
        pub(crate) unsafe fn exclusive(&self) -> &mut T {
            // SAFETY: the caller's promise; as above.
            self.0.with_mut(|value| unsafe { &mut *value })
        }
    }

    #[cfg(not(loom))]
    impl<T> UnsafeCell<T> {
        pub(crate) fn new(value: T) -> Self {
            Self(std::cell::UnsafeCell::new(value))
        }

        /// # Safety
        /// Nobody else writes while the reference lives.
        #[inline]
        pub(crate) unsafe fn shared(&self) -> &T {
            // SAFETY: the caller's promise.
            unsafe { &*self.0.get() }
        }

        /// # Safety
        /// Nobody else reads or writes while the reference lives.
        #[inline]
        #[allow(clippy::mut_from_ref, reason = "the point of a cell")]
        pub(crate) unsafe fn exclusive(&self) -> &mut T {
            // SAFETY: the caller's promise.
            unsafe { &mut *self.0.get() }
        }
    }
}

/// An atomic number. A type of its own, since to the lints a re-export is still the type of `std`, which they ban outside
/// this file.
#[derive(Debug)]
pub(crate) struct AtomicUsize(imp::sync::atomic::AtomicUsize);

macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) -> $output:ty;)*) => {
        impl AtomicUsize {
            pub(crate) fn new(value: usize) -> Self {
                Self(imp::sync::atomic::AtomicUsize::new(value))
            }

            $(#[inline]
            pub(crate) fn $name(&self, $($argument: $type),*) -> $output {
                self.0.$name($($argument),*)
            })*
        }
    };
}

forward! {
    load(order: Ordering) -> usize;
    store(value: usize, order: Ordering) -> ();
    fetch_add(value: usize, order: Ordering) -> usize;
    fetch_sub(value: usize, order: Ordering) -> usize;
    fetch_and(value: usize, order: Ordering) -> usize;
    compare_exchange(old: usize, new: usize, ok: Ordering, fail: Ordering) -> Result<usize, usize>;
    compare_exchange_weak(old: usize, new: usize, ok: Ordering, fail: Ordering) -> Result<usize, usize>;
}

/// An atomic flag; a type of its own as [`AtomicUsize`].
#[derive(Debug)]
pub(crate) struct AtomicBool(imp::sync::atomic::AtomicBool);

impl AtomicBool {
    pub(crate) fn new(value: bool) -> Self {
        Self(imp::sync::atomic::AtomicBool::new(value))
    }

    #[inline]
    pub(crate) fn store(&self, value: bool, order: Ordering) {
        self.0.store(value, order);
    }

    /// Puts a raised flag down; false if it was not up. Acquire if it was: pairs with the Release of whoever raised it.
    ///
    /// An exchange and not a swap: loom lets a swap read an older value and yet be the latest to write, which loses the flag.
    #[inline]
    pub(crate) fn put_down(&self) -> bool {
        self.0.compare_exchange(true, false, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }
}

/// Threads: started here and nowhere else.
pub(crate) mod thread {
    use super::imp;

    pub(crate) use imp::thread::{JoinHandle, yield_now};
    #[cfg(not(loom))]
    pub(crate) use imp::thread::{Thread, current, park};
    #[cfg(loom)]
    pub(crate) use parking::{Thread, current, park};

    /// Parking as `std` promises it. Loom's own lets an unpark that comes late break a thread out of a lock it waits for.
    #[cfg(loom)]
    mod parking {
        use std::sync::Arc;

        /// Whom to unpark.
        #[derive(Clone)]
        pub(crate) struct Thread(Arc<(loom::sync::Mutex<bool>, loom::sync::Condvar)>);

        loom::thread_local! {
            static OWN: Thread = Thread(Arc::new((loom::sync::Mutex::new(false), loom::sync::Condvar::new())));
        }

        pub(crate) fn current() -> Thread {
            OWN.with(Clone::clone)
        }

        pub(crate) fn park() {
            let Thread(own) = current();
            let mut token = own.0.lock().unwrap();
            while !*token {
                token = own.1.wait(token).unwrap();
            }
            *token = false;
        }

        impl Thread {
            pub(crate) fn unpark(&self) {
                *self.0.0.lock().unwrap() = true;
                self.0.1.notify_one();
            }
        }
    }

    /// Starts a named thread.
    ///
    /// # Errors
    /// Whatever the system says when it has no more threads to give.
    pub(crate) fn spawn(name: String, body: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
        spawn_with_stack(name, None, body)
    }

    /// Starts a named thread with a stack of so many bytes, or of as many as is usual.
    ///
    /// # Errors
    /// As [`spawn`].
    pub(crate) fn spawn_with_stack(
        name: String,
        stack_bytes: Option<usize>,
        body: impl FnOnce() + Send + 'static,
    ) -> std::io::Result<JoinHandle<()>> {
        let builder = imp::thread::Builder::new().name(name);
        // A model brings stacks of its own.
        #[cfg(not(any(loom, shuttle)))]
        let builder = match stack_bytes {
            Some(bytes) => builder.stack_size(bytes),
            None => builder,
        };
        let _ = stack_bytes;
        builder.spawn(body)
    }

    /// Starts a named thread that nobody joins; gives whom to unpark.
    ///
    /// # Errors
    /// As [`spawn`].
    pub(crate) fn spawn_detached(name: String, body: impl FnOnce() + Send + 'static) -> std::io::Result<Thread> {
        #[cfg(not(loom))]
        return Ok(spawn(name, body)?.thread().clone());
        #[cfg(loom)]
        {
            let (told, heard) = std::sync::mpsc::channel();
            spawn(name, move || {
                let _ = told.send(current());
                body();
            })?;
            Ok(heard.recv().expect("a thread that starts tells who it is"))
        }
    }

    /// Which thread this is.
    pub(crate) fn current_id() -> imp::thread::ThreadId {
        imp::thread::current().id()
    }

    /// Parks until unparked, until `limit` has passed, or for no reason at all. A model has no clock: there it only yields.
    pub(crate) fn park_timeout(limit: std::time::Duration) {
        #[cfg(not(any(loom, shuttle)))]
        std::thread::park_timeout(limit);
        #[cfg(any(loom, shuttle))]
        {
            let _ = limit;
            yield_now();
        }
    }

    /// Sleeps for so long. A model has no clock: there it only yields.
    #[cfg(not(shuttle))]
    pub(crate) fn sleep(time: std::time::Duration) {
        #[cfg(not(loom))]
        std::thread::sleep(time);
        #[cfg(loom)]
        {
            let _ = time;
            yield_now();
        }
    }

    /// How many threads the machine runs at once; 1 if it will not say.
    pub(crate) fn available() -> usize {
        std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
    }
}

/// Tells the core that this is a waiting loop. In a model, where a waiting loop must give the others their turn, a yield.
pub(crate) fn spin_loop() {
    #[cfg(not(any(loom, shuttle)))]
    std::hint::spin_loop();
    #[cfg(any(loom, shuttle))]
    thread::yield_now();
}

/// A point in time from which a wait is measured.
#[derive(Clone, Copy)]
pub(crate) struct Moment(#[cfg(not(any(loom, shuttle)))] std::time::Instant);

impl Moment {
    pub(crate) fn now() -> Self {
        Self(
            #[cfg(not(any(loom, shuttle)))]
            std::time::Instant::now(),
        )
    }

    /// Time from an earlier point to this one; for ever in a model, as [`elapsed`](Self::elapsed).
    pub(crate) fn since(self, earlier: Self) -> std::time::Duration {
        #[cfg(not(any(loom, shuttle)))]
        return self.0.duration_since(earlier.0);
        #[cfg(any(loom, shuttle))]
        {
            let _ = earlier;
            std::time::Duration::MAX
        }
    }

    /// Time since then; for ever in a model, where patience would only multiply the schedules to be explored.
    pub(crate) fn elapsed(self) -> std::time::Duration {
        #[cfg(not(any(loom, shuttle)))]
        return self.0.elapsed();
        #[cfg(any(loom, shuttle))]
        return std::time::Duration::MAX;
    }
}

/// The next of the identities 1, 2, 3, … of this process, in order of creation.
pub(crate) fn next_identity() -> u64 {
    static NEXT: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
    // Relaxed: only distinctness and each thread's own order are promised; nothing is published through it.
    NEXT.fetch_add(1, std::sync::atomic::Ordering::Relaxed)
}

/// What belongs to the process and not to any model: `std` always, as the counter of identities above.
pub(crate) mod process {
    pub(crate) use std::sync::OnceLock as Once;
    use std::sync::{Arc, PoisonError, RwLock, atomic};

    /// A flag that is raised once and stays up.
    pub(crate) struct Flag(atomic::AtomicBool);

    impl Flag {
        pub(crate) const fn new() -> Self {
            Self(atomic::AtomicBool::new(false))
        }

        /// Whether it is up; one load that a processor predicts.
        #[inline]
        pub(crate) fn is_up(&self) -> bool {
            // Relaxed: says only that looking further is worth it. Who raised it and who needs to see it are ordered by
            // whatever passes the thing itself between them (a port's lock, the start of a task).
            self.0.load(atomic::Ordering::Relaxed)
        }

        pub(crate) fn raise(&self) {
            // Relaxed: as in `is_up`.
            self.0.store(true, atomic::Ordering::Relaxed);
        }
    }

    /// A setting of the process: read often, written hardly ever.
    pub(crate) struct Setting<T: ?Sized>(RwLock<Option<Arc<T>>>);

    impl<T: ?Sized> Setting<T> {
        pub(crate) const fn new() -> Self {
            Self(RwLock::new(None))
        }

        pub(crate) fn read(&self) -> Option<Arc<T>> {
            self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
        }

        /// Sets it and gives back what it was, to be dropped by the caller.
        pub(crate) fn replace(&self, value: Option<Arc<T>>) -> Option<Arc<T>> {
            std::mem::replace(&mut *self.0.write().unwrap_or_else(PoisonError::into_inner), value)
        }
    }
}
