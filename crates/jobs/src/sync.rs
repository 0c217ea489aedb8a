//! The only door of this crate to locks, threads, cores and the time of day.
//!
//! What waits, waits in ports and replies of `lehr-runtime`. What is left here are short critical sections without a wait inside, and the
//! threads on which methods compute: a method starts ranks of its own, which no worker of a dispatcher may do.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, reason = "this is the door")]

use std::io;

pub(crate) use std::sync::Arc;

/// A lock whose guard comes back even if a holder panicked: what it protects is changed in single steps.
#[derive(Debug, Default)]
pub(crate) struct Mutex<T>(std::sync::Mutex<T>);

impl<T> Mutex<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(std::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> std::sync::MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Starts a thread that ends by itself. Who must know of its end is told through a port.
pub(crate) fn start_thread(name: String, body: impl FnOnce() + Send + 'static) -> io::Result<()> {
    std::thread::Builder::new().name(name).spawn(body).map(drop)
}

/// Binds the calling thread, and all threads and processes that it starts, to these cores.
///
/// # Errors
/// What the system says: a core that is not there, or that this process may not use.
#[cfg(target_os = "linux")]
pub(crate) fn bind_to(cores: &[usize]) -> io::Result<()> {
    use rustix::thread::{CpuSet, sched_setaffinity};
    let mut set = CpuSet::new();
    for &core in cores {
        if core >= CpuSet::MAX_CPU {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("there is no core {core}")));
        }
        set.set(core);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// Elsewhere a thread cannot be held to a set of cores without unsafe code.
#[cfg(not(target_os = "linux"))]
pub(crate) fn bind_to(_: &[usize]) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "threads are bound to cores on Linux only"))
}

/// Milliseconds since the beginning of 1970: when something happened, for people. No result depends on it.
pub(crate) fn unix_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
