//! The cores that a job may use.

use std::io;

/// Binds the calling thread, and all threads and processes that it starts later, to these cores.
///
/// # Errors
/// Returns the error of the system if a core does not exist, or if this process may not use it.
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

/// Returns an error: outside Linux, binding a thread to cores needs unsafe code.
#[cfg(not(target_os = "linux"))]
pub(crate) fn bind_to(_: &[usize]) -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "threads are bound to cores on Linux only"))
}
