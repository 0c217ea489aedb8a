//! This process as a member of a job: starts, finishes, or ends all processes of the job.
//!
//! **Thread level.** Lehr requests `MPI_THREAD_SERIALIZED`: any worker may call, one at a time. The level `FUNNELED`
//! would tie every call to the thread that started MPI, so that each message of a task would go through another thread.
//! The level `MULTIPLE` makes the library take locks in every call, and some installations do not offer it. A single
//! lock in Lehr, held for a whole poll of MPI, is cheaper.
//!
//! **Ends.** If a process simply exits, the other processes wait for ever or, worse, the launcher counts the exit as a
//! success. So there are only two ways to end: [`Process::finish`], in which all processes take part, and
//! [`Process::abort`], which ends all processes. A `Process` that is dropped without either of them aborts the job.

use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

use lehr_ranks::Job;
use lehr_sync::{Arc, thread::sleep};

use crate::error::Error;
use crate::launcher::Launcher;
use crate::library::Library;
use crate::link::Link;
use crate::mpi::Mpi;
use crate::mpi_job::{MpiJob, share};
use crate::post::Post;
use crate::supervisor::{Note, note};

/// The major version of the ABI that `abi.rs` declares.
const ABI_MAJOR: i32 = 1;
/// The exit code if a `Process` is dropped without being finished or aborted.
const UNFINISHED: i32 = 1;
/// The delay before this process tells MPI to end all processes, so that the launcher can first pass on the latest
/// output.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// This process, as one of the processes that an MPI launcher started.
///
/// The value stays on the thread that created it, because MPI must be finalised there.
///
/// # Example
/// ```
/// // Started by hand and not by mpiexec, this process is alone, whether MPI is installed or not.
/// use lehr_ranks_mpi::{Launcher, Process};
/// if Launcher::of_this_process().is_none() {
///     assert!(Process::join()?.is_none());
/// }
/// # Ok::<(), lehr_ranks_mpi::Error>(())
/// ```
pub struct Process {
    post: Arc<Post>,
    job: Job,
    library: String,
    machine: String,
    is_over: bool,
    on_its_thread: PhantomData<*const ()>,
}

impl fmt::Debug for Process {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { library, machine, .. } = self;
        write!(formatter, "process {} of {} on {machine}, {library}", self.number(), self.count())
    }
}

impl Process {
    /// Joins the job that this process was started for, if a launcher started it. Returns `None` if no launcher started
    /// it, or if it is the only process and no MPI is installed. Waits for the other processes of the job.
    ///
    /// # Errors
    /// Returns [`Error::NotFound`], [`Error::Unusable`] or [`Error::Strangers`] if this is one of several processes and
    /// they cannot reach each other. Do not continue after such an error: each process would do all the work alone.
    /// Returns [`Error::Call`] if MPI does not start.
    pub fn join() -> Result<Option<Self>, Error> {
        let Some(launcher) = Launcher::of_this_process() else { return Ok(None) };
        match Self::start(&launcher) {
            Err(Error::NotFound { .. }) if !launcher.is_several() => Ok(None),
            started => started.map(Some),
        }
    }

    /// Starts MPI and compares the library's number of processes with the launcher's.
    fn start(launcher: &Launcher) -> Result<Self, Error> {
        let Library { functions, path } = Library::find(launcher)?;
        let mpi = Mpi::start(functions)?;
        let (major, minor) = mpi.abi_version()?;
        if major != ABI_MAJOR {
            let reason =
                format!("its ABI has version {major}.{minor}, and this program was made for version {ABI_MAJOR}");
            return Err(Error::Unusable { library: path, reason });
        }
        let (library, machine) = (mpi.library_version()?, mpi.processor_name()?);
        let link = Link::new(mpi)?;
        if launcher.processes().is_some_and(|claimed| claimed != link.processes()) {
            let (started, processes) = (launcher.describe(), link.processes());
            return Err(Error::Strangers { started, library, processes });
        }
        note(Note::Joined);
        let post = Arc::new(Post::new(link));
        // The job lives as long as the process, as MPI does.
        let job = Job(Box::leak(Box::new(MpiJob { post: post.clone() })));
        Ok(Self { post, job, library, machine, is_over: false, on_its_thread: PhantomData })
    }

    /// Returns this process's number, from 0.
    pub fn number(&self) -> usize {
        self.post.process()
    }

    /// Returns the number of processes.
    pub fn count(&self) -> usize {
        self.post.processes()
    }

    /// Returns the library's own name and version.
    pub fn library(&self) -> &str {
        &self.library
    }

    /// Returns the name of this process's machine, as MPI gives it.
    pub fn machine(&self) -> &str {
        &self.machine
    }

    /// Returns the number of frames that this process has sent to other processes, and the number that it has received
    /// from them.
    pub fn frames(&self) -> (u64, u64) {
        self.post.with(|traffic| traffic.frames())
    }

    /// Returns this job, for [`lehr_ranks::Execution`]: methods then run on the ranks of all processes. Every process
    /// must run the same methods in the same order, until [`finish`](Self::finish).
    pub fn job(&self) -> Job {
        self.job
    }

    /// Sends process 0's bytes to every process. All processes call this method together; only the argument of process
    /// 0 counts.
    ///
    /// Waits for process 0. The bytes go along a binomial tree.
    ///
    /// # Errors
    /// Returns [`Error::Call`].
    pub fn share(&self, bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
        share(&self.post, bytes).map_err(|error| Error::Call { function: "broadcast", message: error.to_string() })
    }

    /// Returns the connection to the other processes.
    pub(crate) fn post(&self) -> &Arc<Post> {
        &self.post
    }

    /// Ends MPI in this process. Waits until all processes have called `finish`. If MPI fails here, this process ends
    /// the whole job with exit code 1.
    ///
    /// # Errors
    /// Returns [`Error::Call`].
    pub fn finish(mut self) -> Result<(), Error> {
        self.post.drop_messages();
        self.post.with(|traffic| {
            traffic.settle()?;
            traffic.close()?;
            traffic.mpi().finalize()
        })?;
        self.is_over = true;
        note(Note::Left);
        Ok(())
    }

    /// Ends all processes of the job without waiting for them, this process with exit code `code`. First waits 100 ms,
    /// so that the launcher can pass on the output. Report the reason before you call `abort`.
    pub fn abort(mut self, code: u8) -> ! {
        self.end_all(i32::from(code))
    }

    fn end_all(&mut self, code: i32) -> ! {
        self.is_over = true;
        note(Note::Left);
        // A launcher that is told to end the job may do so before it has passed on the latest output.
        sleep(LAST_WORDS);
        self.post.with(|traffic| traffic.mpi().abort(code));
        // Some libraries return after they have told the launcher.
        std::process::exit(code)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if !self.is_over {
            self.end_all(UNFINISHED)
        }
    }
}
