//! Several processes that run one program together, as the engines see them.
//!
//! This crate starts no processes. A crate that can reach other processes (`lehr-ranks-mpi`) implements [`Processes`]
//! and passes a [`Job`] in [`Execution`](super::Execution). From then on a method's ranks are those of all processes.

use std::fmt;

use crate::communicator::Communicator;
use crate::error::Error;

/// The processes of a job, each of which makes the same calls.
pub trait Processes: fmt::Debug + Sync {
    /// This process's number, from 0.
    fn process(&self) -> usize;

    /// The number of processes.
    fn processes(&self) -> usize;

    /// This process's number among those of the job on its machine, from 0, and how many they are. Their workers wait
    /// for each other, and get cores of their own.
    fn near(&self) -> (usize, usize);

    /// Begins a run: the communicators of this process's ranks, in order of rank. `may_spin` says that each has a
    /// worker to itself.
    ///
    /// # Errors
    /// Returns [`Error::Invalid`] if there are too many ranks; [`Error::Transport`].
    fn begin(&self, ranks: usize, may_spin: bool) -> Result<Vec<Communicator>, Error>;

    /// Ends a run, after its communicators have been dropped. Reports to the other processes how it ended here, and
    /// returns the failure, if there is one, on which all agree. Waits for the others.
    ///
    /// # Errors
    /// Returns [`Error::Transport`].
    fn end(&self, own: Option<Outcome>) -> Result<Option<Outcome>, Error>;
}

/// The failure of a run in one process.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outcome {
    /// Whether it failed by a panic, of which other failures may be a consequence.
    pub is_panic: bool,
    /// The message for the user.
    pub message: String,
}

/// A job to take part in; see [`Processes`].
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
