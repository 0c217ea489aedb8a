//! The interface between the engines and several processes that run one program together.
//!
//! This crate starts no processes. A crate that can reach other processes (`lehr-ranks-mpi`) implements [`Processes`]
//! and passes a [`Job`] in [`Execution`](super::Execution). A method's ranks then include the ranks of all processes.

use std::fmt;

use crate::communicator::Communicator;
use crate::error::Error;

/// The processes of a job, which all make the same calls.
pub trait Processes: fmt::Debug + Sync {
    /// Returns this process's number, from 0.
    fn process(&self) -> usize;

    /// Returns the number of processes.
    fn processes(&self) -> usize;

    /// Returns this process's number among the job's processes on its machine, from 0, and the number of those
    /// processes. The workers of processes on one machine wait for each other, so each process gets its own cores.
    fn near(&self) -> (usize, usize);

    /// Begins a run, and returns the communicators of this process's ranks, in order of rank. `may_spin` says that each
    /// rank has its own worker.
    ///
    /// # Errors
    /// Returns [`Error::Invalid`] if there are no ranks or too many; [`Error::Transport`] if communication fails.
    fn begin(&self, ranks: usize, may_spin: bool) -> Result<Vec<Communicator>, Error>;

    /// Ends a run, after its communicators have been dropped. Tells the other processes how the run ended in this
    /// process, and waits for their outcomes. Returns the failure that all processes agree on; `None` if no process
    /// failed.
    ///
    /// # Errors
    /// Returns [`Error::Transport`].
    fn end(&self, own: Option<Outcome>) -> Result<Option<Outcome>, Error>;
}

/// The failure of a run in one process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome {
    /// Whether the failure was a panic; another failure may only be the consequence of a panic.
    pub is_panic: bool,
    /// The message that the user gets about the failure.
    pub message: String,
}

/// A job, whose processes run one program together; see [`Processes`].
#[derive(Clone, Copy)]
pub struct Job(pub &'static dyn Processes);

impl fmt::Debug for Job {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl PartialEq for Job {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::addr_eq(self.0, other.0)
    }
}

impl Eq for Job {}
