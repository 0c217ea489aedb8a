//! The threads that run Tokio: sockets, name resolution and timers of the network edge, of clients and of sources.

use std::io;

use lehr_sync::thread::Joined;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// A thread with a Tokio runtime. Dropping this value ends the runtime and joins the thread.
///
/// # Example
/// ```
/// let thread = lehr_node::TokioThread::start("example")?;
/// let (answer, answered) = tokio::sync::oneshot::channel();
/// thread.handle().spawn(async { answer.send(7) });
/// assert_eq!(answered.blocking_recv(), Ok(7));
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct TokioThread {
    handle: Handle,
    /// Makes the thread end when it is dropped. Fields are dropped in order, so this happens before the thread is
    /// joined.
    _end: Option<oneshot::Sender<()>>,
    _thread: Joined,
}

impl TokioThread {
    /// Starts a thread with this name, for tasks that are spawned on its [`handle`](Self::handle).
    ///
    /// # Errors
    /// Fails if the system cannot start a thread, or cannot wait for sockets.
    ///
    /// # Example
    /// See [`TokioThread`].
    pub fn start(name: &str) -> io::Result<Self> {
        let (end, ended) = oneshot::channel::<()>();
        let until_dropped = async {
            let _ = ended.await;
        };
        Ok(Self { _end: Some(end), ..Self::run(name, until_dropped)? })
    }

    /// Starts a thread with this name for one future: the thread ends with the future, and dropping the `TokioThread`
    /// waits for that end.
    pub(crate) fn run(name: &str, future: impl Future<Output = ()> + Send + 'static) -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
        let handle = runtime.handle().clone();
        let thread = Joined::start(name, move || runtime.block_on(future))?;
        Ok(Self { handle, _end: None, _thread: thread })
    }

    /// Returns the handle that spawns tasks.
    ///
    /// # Example
    /// See [`TokioThread`].
    pub fn handle(&self) -> &Handle {
        &self.handle
    }
}
