//! The interface between methods and the code that runs their leaves. Each round of a method is a map over leaves and a
//! combine; an engine runs the round.
//!
//! There are four engines, which paper 003 compares. All engines produce the same bits:
//!
//! - [`Engine::Ranks`]: tasks, one for each rank, which all run the method's loop; each round is an all-reduce.
//! - [`Engine::Loop`]: one loop whose rounds are parallel loops on the dispatcher (figure 3).
//! - [`Engine::Ports`]: one loop whose rounds post the numbers of blocks of leaves to persistent receivers (figure 2).
//! - [`Engine::MapReduce`]: ranks whose rounds are rounds of an iterative map-reduce, the alternative that the paper
//!   mentions at the end of section 3.
//!
//! A method is written once, as a [`Program`] over some [`Rounds`], and cannot tell the engines apart. Rows need not be
//! independent: a leaf's map may read any rows.

mod groups;
mod job;
mod leaf_cells;
mod one_thread;
mod parallel_loop;
mod ports;
mod ranks;

use std::fmt;
use std::future::Future;
use std::ops::Range;
use std::pin::Pin;
use std::str::FromStr;

use lehr_runtime::{Builder, Dispatcher, TaskError};

pub use job::{Job, Outcome, Processes};
pub use leaf_cells::{CellBytes, LeafCells};
pub use one_thread::OneThread;

use crate::communicator::Communicator;
use crate::error::Error;
use crate::launch::run;
use crate::layout::Layout;
use crate::partition::Partition;
use crate::timing::{Phases, Spread};
use crate::trace::Trace;

/// One step of a method over all rows: a map over leaves and a combine.
///
/// All workers that run leaves share the round. A leaf's state between rounds, besides its partial, belongs in
/// [`LeafCells`].
#[allow(clippy::len_without_is_empty, reason = "the length is chosen by the method; nothing is contained")]
pub trait Round: Sync {
    /// Returns the length of a partial.
    fn len(&self) -> usize;

    /// Computes the partial of a leaf, and overwrites `partial` with it. The partial may depend on any row, but not on
    /// the worker or the time of the call.
    fn map(&self, leaf: usize, partial: &mut [f64]);

    /// Combines the partial of a run of leaves, `left`, with the partial of the next run, `right`. The result replaces
    /// `left`. By default, adds the partials.
    fn combine(&self, left: &mut [f64], right: &[f64]) {
        for (left, right) in left.iter_mut().zip(right) {
            *left += right;
        }
    }

    /// Returns the length of the runs of numbers in a partial that belong together. Under map-reduce, each such run is
    /// the value of a key. The rank of the key combines and reduces the run on its own. The length must be at least 1,
    /// and `combine` must treat all runs in the same way and separately. By default the whole partial is one run, which
    /// is right for every `combine`.
    fn key_len(&self) -> usize {
        self.len().max(1)
    }

    /// The name of a leaf's computation in a trace.
    fn name(&self) -> &'static str {
        "compute"
    }
}

/// The future that a call of [`Rounds`] returns. The future is boxed, so that a method is compiled once for all
/// engines. A round takes microseconds or more, the allocation about ten nanoseconds.
pub type Pending<'a, T> = Pin<Box<dyn Future<Output = Result<T, Error>> + Send + 'a>>;

/// Runs the rounds of a method's loop. The default methods suit an engine with one loop, which runs all leaves. An
/// implementation that wraps other rounds must forward the default methods too.
pub trait Rounds: Send {
    /// Runs a round over all leaves and overwrites `total` with the root of the tree over them. All ranks get the same
    /// bits, for any engine, number of ranks and number of threads. Without leaves, `total` does not change.
    ///
    /// # Errors
    /// Returns the errors of the ranks' all-reduce, if the engine has ranks. Pass these errors on with `?`.
    ///
    /// # Panics
    /// Panics if `total` is not as long as the round's partials, or if the round panics.
    fn round<'a>(&'a mut self, round: &'a dyn Round, total: &'a mut [f64]) -> Pending<'a, ()>;

    /// Broadcasts the lead's flag to all ranks, and returns it. Use this method for decisions that do not follow from
    /// the bits of a round, such as whether to stop on request.
    ///
    /// # Errors
    /// Returns the same errors as [`round`](Self::round).
    fn agree(&mut self, flag: bool) -> Pending<'_, bool> {
        done(flag)
    }

    /// Whether this is the one loop that reports and writes files.
    fn is_lead(&self) -> bool {
        true
    }

    /// Whether this is the one loop of its process that returns the result; in the lead's process, this is the lead's
    /// loop.
    fn is_first_here(&self) -> bool {
        self.is_lead()
    }

    /// Like [`share`](#method.share), for cells that are read and written as bytes.
    ///
    /// # Errors
    /// Returns the same errors as [`round`](Self::round).
    fn share_bytes<'a>(&'a mut self, cells: &'a dyn CellBytes) -> Pending<'a, ()> {
        let _ = cells;
        done(())
    }

    /// Records the actions of the ranks from now on in a trace. In a job, each process has its own trace. Engines
    /// without ranks record nothing.
    ///
    /// # Errors
    /// Returns the same errors as [`round`](Self::round).
    fn record<'a>(&'a mut self, trace: &'a Trace) -> Pending<'a, ()> {
        let _ = trace;
        done(())
    }

    /// Begins a phase of the method in the trace, and ends the previous phase.
    fn note_phase(&mut self, name: &'static str) {
        let _ = name;
    }

    /// Ends the trace, which is then complete in the lead's process. Returns a table of the seconds that ranks spent in
    /// each phase: the phases in `phases`, and `computing`, `communicating` and `waiting`. All ranks get the same
    /// table; it is empty for engines without ranks.
    ///
    /// # Errors
    /// Returns the same errors as [`round`](Self::round).
    fn gather_timers<'a>(&'a mut self, trace: &'a Trace, phases: Phases) -> Pending<'a, Vec<Spread>> {
        let _ = (trace, phases);
        done(Vec::new())
    }

    /// Returns how the rows are cut into leaves and assigned to ranks.
    fn partition(&self) -> Partition;

    /// Returns the leaves that this loop runs: all leaves, unless each rank has its own loop.
    fn leaves(&self) -> Range<usize> {
        0..self.partition().leaves()
    }

    /// Returns the number of rows of the rank with the most rows, divided by the mean over the ranks.
    fn imbalance(&self) -> f64 {
        self.partition().imbalance()
    }
}

impl dyn Rounds + '_ {
    /// Copies the content of the leaves' cells to every process, if ranks are in several processes; otherwise does
    /// nothing. Afterwards, every rank may read all cells. `write` appends a cell's content to bytes, and `read`
    /// overwrites a cell with the content.
    ///
    /// # Errors
    /// Returns the same errors as [`round`](Rounds::round).
    pub async fn share<T: Send>(
        &mut self,
        cells: &LeafCells<T>,
        write: impl Fn(&T, &mut Vec<u8>) + Sync,
        read: impl Fn(&mut T, &[u8]) + Sync,
    ) -> Result<(), Error> {
        self.share_bytes(&leaf_cells::AsBytes { cells, write, read }).await
    }
}

/// Returns a future that is ready at once.
fn done<'a, T: Send + 'a>(value: T) -> Pending<'a, T> {
    Box::pin(std::future::ready(Ok(value)))
}

/// A method, written once for all engines.
pub trait Program: Sync {
    /// The result.
    type Output: Send;
    /// The program's errors, which include the ranks' errors.
    type Error: From<Error> + fmt::Display + Send;

    /// Runs the method's loop. Under [`Engine::Ranks`] and [`Engine::MapReduce`] it runs on each rank, otherwise once.
    /// All ranks must reach the same decisions. The decisions are the same if they depend only on the totals of rounds
    /// and on [`Rounds::agree`].
    fn run(&self, rounds: &mut dyn Rounds) -> impl Future<Output = Result<Self::Output, Self::Error>> + Send;
}

/// The engine that runs the leaves of each round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Engine {
    /// One task for each rank, which has its own run of leaves. Each round is an all-reduce.
    #[default]
    Ranks,
    /// One loop, whose rounds are parallel loops on the dispatcher.
    Loop,
    /// Persistent receivers at a port, which get the numbers of blocks of leaves and count down the blocks that are
    /// left.
    Ports,
    /// One task for each rank, which has its own run of leaves. Each round consists of map, shuffle, reduce and gather
    /// ([`Round::key_len`]).
    MapReduce,
}

impl Engine {
    /// All engines.
    pub const ALL: [Self; 4] = [Self::Ranks, Self::Loop, Self::Ports, Self::MapReduce];

    /// Whether this engine runs the method's loop on each of several ranks, which may be in several processes; the
    /// other engines run it once.
    pub const fn has_ranks(self) -> bool {
        matches!(self, Self::Ranks | Self::MapReduce)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Ranks => "ranks",
            Self::Loop => "loop",
            Self::Ports => "ports",
            Self::MapReduce => "map-reduce",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Engine {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|engine| engine.name() == text).ok_or_else(|| Error::Invalid {
            message: format!("expected one of the engines ranks, loop, ports, map-reduce, found {text:?}"),
        })
    }
}

/// The engine, the ranks and the threads of a run.
///
/// # Example
/// ```
/// use lehr_ranks::{Engine, Execution};
/// let execution = Execution { engine: "loop".parse().unwrap(), ..Execution::default() };
/// assert_eq!(execution.engine, Engine::Loop);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution {
    /// The engine. Default: [`Engine::Ranks`].
    pub engine: Engine,
    /// The number of ranks in this process, at least 1; there may be more ranks than threads. Only engines that [have
    /// ranks](Engine::has_ranks) use this number. Default: the number of threads that the machine runs at once.
    pub ranks: usize,
    /// The number of worker threads, at least 1. Default: the number of threads that the machine runs at once.
    pub threads: usize,
    /// The processes that compute together; each process has this many ranks and threads. Only engines that have ranks
    /// can use several processes. Default: `None`.
    pub job: Option<Job>,
}

impl Execution {
    /// The maximum number of threads or ranks in a process. Each thread or rank takes memory before it computes
    /// anything.
    pub const THREADS_MAX: usize = 1024;

    /// # Errors
    /// Returns [`Error::Invalid`] for 0 ranks or threads, or more than [`Execution::THREADS_MAX`].
    fn check(&self) -> Result<(), Error> {
        for (what, count) in [("threads", self.threads), ("ranks", self.ranks)] {
            if !(1..=Self::THREADS_MAX).contains(&count) {
                let message = format!("{count} {what} in a process: expected 1 to {}", Self::THREADS_MAX);
                return Err(Error::Invalid { message });
            }
        }
        Ok(())
    }

    /// Returns the number of the program's loops that run in this process.
    const fn loops(&self) -> usize {
        if self.engine.has_ranks() { self.ranks } else { 1 }
    }
}

impl Default for Execution {
    fn default() -> Self {
        let available = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self { engine: Engine::default(), ranks: available, threads: available, job: None }
    }
}

/// Runs a method over `rows` rows with an engine, on its own dispatcher. Returns the lead's result; in each process of
/// a job, the result of its first rank.
///
/// Your program may borrow, because your thread sleeps until the program is done.
///
/// # Errors
/// Returns the program's own error; [`Error::Panicked`] if its code panicked; [`Error::Elsewhere`] if a rank in another
/// process failed. Returns [`Error::Invalid`] for 0 ranks or threads, or too many; [`Error::Start`] if the system
/// cannot start threads.
///
/// # Panics
/// Panics if called on a worker of a dispatcher.
///
/// # Example
/// ```
/// use lehr_ranks::{Error, Execution, Program, Round, Rounds, drive};
///
/// struct Sum(Vec<f64>);
/// struct Leaf<'a>(&'a [f64], lehr_ranks::Partition);
///
/// impl Round for Leaf<'_> {
///     fn len(&self) -> usize { 1 }
///     fn map(&self, leaf: usize, partial: &mut [f64]) { partial[0] = self.0[self.1.leaf_rows(leaf)].iter().sum(); }
/// }
/// impl Program for Sum {
///     type Output = f64;
///     type Error = Error;
///     async fn run(&self, rounds: &mut dyn Rounds) -> Result<f64, Error> {
///         let mut total = [0.0];
///         let round = Leaf(&self.0, rounds.partition());
///         rounds.round(&round, &mut total).await?;
///         Ok(total[0])
///     }
/// }
/// let sum = Sum((1..=100).map(f64::from).collect());
/// assert_eq!(drive(&Execution::default(), 100, &sum), Ok(5050.0));
/// ```
pub fn drive<P: Program>(execution: &Execution, rows: usize, program: &P) -> Result<P::Output, P::Error> {
    execution.check()?;
    let ends = LeafCells::new(execution.loops(), |_| None);
    let begin = |place: usize, mut rounds: Box<dyn Rounds>| -> Loop<'_> {
        let ends = &ends;
        Box::pin(async move {
            let end = program.run(&mut *rounds).await;
            let failure = end.as_ref().err().map(ToString::to_string);
            ends.with(place, |cell| *cell = Some(end));
            failure
        })
    };
    let place = carry_out(execution, rows, &begin)?;
    ends.into_values().nth(place).flatten().expect("that loop has ended")
}

/// A method's loop on one rank, which returns the reason for its failure, if it failed. The loop stores its result
/// where [`drive`] finds it.
type Loop<'a> = Pin<Box<dyn Future<Output = Option<String>> + Send + 'a>>;

/// Begins a loop, given its number among the loops of this process.
type Begin<'a> = dyn Fn(usize, Box<dyn Rounds>) -> Loop<'a> + Sync + 'a;

/// Runs the loops of this process to their end, and returns the position of the loop whose result counts. This function
/// is compiled once for all programs.
fn carry_out(execution: &Execution, rows: usize, begin: &Begin<'_>) -> Result<usize, Error> {
    if cfg!(target_family = "wasm") {
        // The platform starts no threads.
        return one_thread::run(begin(0, Box::new(OneThread::new(rows))));
    }
    let Execution { engine, ranks, threads, job } = *execution;
    // Ranks wait for each other in loops, and so do the workers of a parallel loop at its end. So each worker gets its
    // own cores, apart from the workers of the other processes on this machine.
    let (place, near) = job.map_or((0, 1), |Job(job)| job.near());
    let dispatcher = Builder::new()
        .name("lehr")
        .threads(threads)
        .apart(place * threads, near.saturating_mul(threads))
        .start()
        .map_err(|error| Error::Start { message: error.to_string() })?;
    match (engine, job) {
        (Engine::Ranks | Engine::MapReduce, Some(job)) => together(&dispatcher, engine, job, ranks, rows, begin),
        (Engine::Loop | Engine::Ports, Some(_)) => {
            let message = format!("--engine {engine} runs in one process; several processes take --engine ranks");
            Err(Error::Invalid { message })
        }
        (Engine::Ranks | Engine::MapReduce, None) => {
            let partition = Partition::new(rows, ranks);
            let on_rank = |communicator: Communicator| {
                let rank = communicator.rank();
                begin(rank, Box::new(ranks::OnRanks::new(communicator, engine, partition, ranks)))
            };
            run(&dispatcher, Layout::threads(ranks), on_rank)?;
            Ok(0)
        }
        (Engine::Loop, None) => {
            alone(&dispatcher, begin(0, Box::new(parallel_loop::OnLoop::new(dispatcher.handle(), rows))))
        }
        (Engine::Ports, None) => alone(&dispatcher, begin(0, Box::new(ports::OnPorts::new(dispatcher.handle(), rows)))),
    }
}

/// Runs the loops of this process's ranks, while the other processes of the job run theirs.
fn together(
    dispatcher: &Dispatcher,
    engine: Engine,
    job: Job,
    ranks: usize,
    rows: usize,
    begin: &Begin<'_>,
) -> Result<usize, Error> {
    let Job(job) = job;
    let may_spin = ranks <= dispatcher.threads() && !dispatcher.handle().is_oversubscribed();
    let partition = Partition::new(rows, ranks * job.processes());
    let loops = job.begin(ranks, may_spin)?.into_iter().enumerate();
    let loops = loops.map(|(place, communicator)| {
        begin(place, Box::new(ranks::OnRanks::new(communicator, engine, partition, ranks)))
    });
    let ended = dispatcher.run_all(loops.collect());
    let panic = ended.iter().enumerate().find_map(|(place, outcome)| match outcome {
        Err(TaskError::Panicked { message }) => {
            Some(Error::Panicked { rank: job.process() * ranks + place, message: message.clone() })
        }
        Err(_) => Some(Error::Cancelled { rank: job.process() * ranks + place }),
        Ok(_) => None,
    });
    let failed = ended.iter().position(|outcome| matches!(outcome, Ok(Some(_))));
    let own = match (&panic, failed) {
        (Some(error), _) => Some(Outcome { is_panic: true, message: error.to_string() }),
        (None, Some(place)) => {
            let message = ended[place].as_ref().ok().cloned().flatten().expect("it failed");
            Some(Outcome { is_panic: false, message })
        }
        (None, None) => None,
    };
    let agreed = job.end(own.clone())?;
    match (agreed, panic) {
        // If the processes agree on this process's failure, the caller gets its own error, whose type says more than a
        // text.
        (None, None) => Ok(failed.unwrap_or(0)),
        (Some(agreed), None) if Some(&agreed) == own.as_ref() => Ok(failed.unwrap_or(0)),
        (None, Some(panic)) => Err(panic),
        (Some(agreed), Some(panic)) if Some(&agreed) == own.as_ref() => Err(panic),
        (Some(agreed), _) => Err(Error::Elsewhere { message: agreed.message }),
    }
}

/// Runs an engine that has one loop.
fn alone(dispatcher: &Dispatcher, the_loop: Loop<'_>) -> Result<usize, Error> {
    match dispatcher.run_all(vec![the_loop]).pop().expect("one future has one outcome") {
        Ok(_) => Ok(0),
        Err(TaskError::Panicked { message }) => Err(Error::Panicked { rank: 0, message }),
        Err(_) => Err(Error::Cancelled { rank: 0 }),
    }
}
