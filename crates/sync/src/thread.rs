//! Threads. Only this module starts threads.

use std::io;
use std::time::Duration;

use super::imp;

pub use imp::thread::{JoinHandle, yield_now};
#[cfg(not(loom))]
pub use imp::thread::{Thread, current, park};
#[cfg(loom)]
pub use parking::{Thread, current, park};

/// Parking with the guarantees of `std`. With loom's own parking, a late unpark can wake a thread that is waiting for a
/// lock.
#[cfg(loom)]
mod parking {
    use std::sync::Arc;

    /// The thread to unpark.
    #[derive(Clone, Debug)]
    pub struct Thread(Arc<(loom::sync::Mutex<bool>, loom::sync::Condvar)>);

    loom::thread_local! {
        static OWN: Thread = Thread(Arc::new((loom::sync::Mutex::new(false), loom::sync::Condvar::new())));
    }

    /// Returns the handle of this thread.
    pub fn current() -> Thread {
        OWN.with(Clone::clone)
    }

    /// Waits until another thread unparks this thread. Returns at once if another thread has already done so.
    pub fn park() {
        let Thread(own) = current();
        let mut token = own.0.lock().unwrap();
        while !*token {
            token = own.1.wait(token).unwrap();
        }
        *token = false;
    }

    impl Thread {
        /// Wakes the thread if it is parked; otherwise its next `park` returns at once.
        pub fn unpark(&self) {
            *self.0.0.lock().unwrap() = true;
            self.0.1.notify_one();
        }
    }
}

/// Starts a named thread, which continues if its handle is dropped.
///
/// # Errors
/// Returns the system's error if it cannot start another thread.
pub fn spawn<T: Send + 'static>(
    name: impl Into<String>,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    spawn_with_stack(name, None, body)
}

/// Starts a named thread with a stack of `stack_bytes` bytes, or of the default size.
///
/// # Errors
/// Returns the errors of [`spawn`].
pub fn spawn_with_stack<T: Send + 'static>(
    name: impl Into<String>,
    stack_bytes: Option<usize>,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    let builder = imp::thread::Builder::new().name(name.into());
    // A model has its own stacks.
    #[cfg(not(any(loom, shuttle)))]
    let builder = match stack_bytes {
        Some(bytes) => builder.stack_size(bytes),
        None => builder,
    };
    let _ = stack_bytes;
    builder.spawn(body)
}

/// Starts a named thread that is never joined. Returns the handle of the thread, for unparking.
///
/// # Errors
/// Returns the errors of [`spawn`].
pub fn spawn_detached(name: impl Into<String>, body: impl FnOnce() + Send + 'static) -> io::Result<Thread> {
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

/// A thread that is joined when this value is dropped.
#[derive(Debug)]
pub struct Joined(Option<JoinHandle<()>>);

impl Joined {
    /// Starts the thread.
    ///
    /// # Errors
    /// Returns the errors of [`spawn`].
    pub fn start(name: impl Into<String>, body: impl FnOnce() + Send + 'static) -> io::Result<Self> {
        spawn(name, body).map(|thread| Self(Some(thread)))
    }
}

impl Drop for Joined {
    fn drop(&mut self) {
        if let Some(thread) = self.0.take() {
            // The thread's own last task may drop this value. A thread must not join itself.
            if thread.thread().id() != current_id() {
                let _ = thread.join();
            }
        }
    }
}

/// Returns the identity of the current thread.
pub fn current_id() -> imp::thread::ThreadId {
    imp::thread::current().id()
}

/// Parks until another thread unparks this thread or `limit` has passed; may also return spuriously. In a model, which
/// has no clock, this function only yields.
pub fn park_timeout(limit: Duration) {
    #[cfg(not(any(loom, shuttle)))]
    std::thread::park_timeout(limit);
    #[cfg(any(loom, shuttle))]
    {
        let _ = limit;
        yield_now();
    }
}

/// Sleeps for `time`. In a model, which has no clock, this function only yields.
pub fn sleep(time: Duration) {
    #[cfg(not(any(loom, shuttle)))]
    std::thread::sleep(time);
    #[cfg(any(loom, shuttle))]
    {
        let _ = time;
        yield_now();
    }
}

/// Returns the number of threads that the machine can run at once; 1 if the system does not report it.
pub fn available() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn dropping_a_joined_thread_waits_for_its_end() {
        let (said, heard) = channel();
        let thread = Joined::start("lehr-joined", move || {
            sleep(Duration::from_millis(20));
            let _ = said.send(std::thread::current().name().map(str::to_owned));
        });
        drop(thread.unwrap());
        assert_eq!(heard.try_recv().unwrap().as_deref(), Some("lehr-joined"));
    }

    #[test]
    fn a_joined_thread_may_drop_its_own_handle() {
        let (handle, handed) = channel::<Joined>();
        let (said, heard) = channel();
        let body = move || {
            drop(handed.recv());
            said.send(()).unwrap();
        };
        handle.send(Joined::start("lehr-own", body).unwrap()).unwrap();
        assert_eq!(heard.recv_timeout(Duration::from_secs(60)), Ok(()));
    }
}
