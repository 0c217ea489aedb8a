//! Several processes, started by `mpiexec`, that compute one result: process 0 leads, the others follow.
//!
//! Only the lead reads the input and prints messages. It sends the others one *request*: the data and the state from
//! which the run begins. Then all processes compute. The lead creates the files of rows and sends the path of each, and
//! all processes write their rows into it ([`crate::rows`]). The lead writes the small results and puts everything into
//! place. Then it sends an *exit status*, with which all processes end. If the lead fails before there is anything to
//! compute, it sends the exit status instead of the request. So each file is read once, each message appears once, and
//! no process waits for one that has ended.
//!
//! | message | bytes |
//! | --- | --- |
//! | request | of the methods of `lehr-methods` on rows, see [`method`]; on dissimilarities, [`matrix`]; of pairs to compare, [`pairs`] |
//! | place | JSON: the file that all write their rows to |
//! | exit status | one byte: the exit code |
//!
//! If a process ends in any other way, all processes end. After a panic or a second Ctrl-C, MPI ends them; after a
//! kill, the launcher does. The supervisor reports which process ended ([`lehr_ranks_mpi::keep`]).

pub mod application;
mod matrix;
pub mod method;
pub mod pairs;

use lehr_methods::Options;
use lehr_mining::anneal;
use lehr_ranks::Job;
use lehr_ranks::trace::Trace;
use lehr_ranks_mpi::Process;
use serde::{Deserialize, Serialize};

use crate::exit::{Failure, Kind};
use crate::interrupt::Interrupt;

/// The lead's connection to the others, if there are any.
pub struct ProcessGroup<'a> {
    process: Option<&'a Process>,
}

impl<'a> ProcessGroup<'a> {
    /// Creates the group of a job's processes; `None` for a single process.
    pub fn new(process: Option<&'a Process>) -> Self {
        Self { process }
    }

    /// Sends the exit status to the other processes, and ends together with them.
    ///
    /// # Errors
    /// Returns [`Kind::Environment`] if the others cannot be reached.
    pub fn end(process: Process, code: u8) -> Result<(), Failure> {
        process.share(vec![code]).map_err(unreachable)?;
        process.finish().map_err(unreachable)
    }

    /// Returns the job, for the plan.
    pub fn job(&self) -> Option<Job> {
        self.process.map(Process::job)
    }
}

/// The method and settings of a run, on rows or on dissimilarities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Request {
    method: String,
    options: Options,
    /// The content of the checkpoint from which the run is resumed.
    checkpoint: Option<String>,
    /// Whether all processes record the actions of their ranks.
    is_traced: bool,
}

/// The observer of a follower, which shows nothing and keeps nothing. It passes on a request to stop, and sends its
/// process's part of the trace to the lead.
struct Follower {
    trace: Option<Trace>,
    interrupt: anneal::Interrupt,
}

impl Follower {
    fn new(interrupt: &Interrupt) -> Self {
        Self { trace: None, interrupt: interrupt.within_steps() }
    }
}

impl anneal::Observer for Follower {
    fn interrupt(&self) -> Option<anneal::Interrupt> {
        Some(self.interrupt.clone())
    }

    fn trace(&self) -> Option<&Trace> {
        self.trace.as_ref()
    }
}

fn misread(cause: &str) -> Failure {
    Failure::new(Kind::NoResult, format!("the request of process 0 cannot be read: {cause}"))
}

fn unreachable(error: lehr_ranks_mpi::Error) -> Failure {
    Failure::new(Kind::Environment, error.to_string())
}
