//! Runs a program on all ranks of all processes, and makes all processes agree on how the run ended.
//!
//! When the ranks of a process have ended, the process reports their worst failure to process 0. Process 0 then sends
//! the worst failure of all processes to every process. So every process knows the same failure, and one process can
//! print it. All processes end in order with the same exit code, and the launcher need not intervene. Only a process
//! that dies or is lost cannot report its failure; then the launcher ends the job.

use std::future::Future;

use lehr_ranks::{Communicator, Error, Outcome};
use lehr_runtime::{Dispatcher, TaskError};
use lehr_sync::thread::yield_now;

use crate::fabric::{endpoints, transport};
use crate::post::Post;
use crate::process::Process;
use crate::trailer::{Kind, Trailer};

/// The process that decides how a run ended.
const JUDGE: usize = 0;

impl Process {
    /// Runs `program` on `threads` ranks in this process, as every other process of the job does. Each rank gets its
    /// communicator of all ranks of all processes. Returns the results of this process's ranks only, in order of rank.
    ///
    /// Your futures may borrow, because your thread sleeps until they are done; for the rest, see [`lehr_ranks::run`].
    ///
    /// # Errors
    /// All processes return the same failure. If a rank panicked, its process returns [`Error::Panicked`], and the
    /// other processes return the message as [`Error::Elsewhere`]. Returns [`Error::Invalid`] for an impossible number
    /// of ranks; [`Error::Transport`] if MPI fails.
    ///
    /// # Panics
    /// Panics if called on a worker of a dispatcher.
    ///
    /// # Example
    /// ```no_run
    /// // mpiexec -n 2 this_program: ranks 0 and 1 in process 0, ranks 2 and 3 in process 1.
    /// let process = lehr_ranks_mpi::Process::join()?.expect("started by mpiexec");
    /// let dispatcher = lehr_runtime::Dispatcher::new(2)?;
    /// let sums = process.run(&dispatcher, 2, |mut comm| async move {
    ///     let mut sum = [comm.rank() as u64];
    ///     comm.all_reduce(&mut sum, |left, right| left[0] += right[0]).await.map(|()| sum[0])
    /// })?;
    /// assert_eq!(sums, [Ok(6), Ok(6)]);
    /// process.finish()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run<T, F, P>(&self, dispatcher: &Dispatcher, threads: usize, program: P) -> Result<Vec<T>, Error>
    where
        P: Fn(Communicator) -> F,
        F: Future<Output = T> + Send,
        T: Send,
    {
        let may_spin = threads <= dispatcher.threads() && !dispatcher.handle().is_oversubscribed();
        let (ends, run) = endpoints(self.post(), threads, may_spin)?;
        let ended = dispatcher.run_all(ends.into_iter().map(Communicator::over).map(program).collect());
        let first = self.number() * threads;
        let own = ended.iter().enumerate().find_map(|(thread, outcome)| match outcome {
            Err(TaskError::Panicked { message }) => {
                Some(Error::Panicked { rank: first + thread, message: message.clone() })
            }
            Err(_) => Some(Error::Cancelled { rank: first + thread }),
            Ok(_) => None,
        });
        let report = own
            .as_ref()
            .map(|error| Outcome { is_panic: matches!(error, Error::Panicked { .. }), message: error.to_string() });
        match (judge(self.post(), run, report.clone())?, own) {
            (None, _) => Ok(ended.into_iter().flatten().collect()),
            (verdict, Some(own)) if verdict == report => Err(own),
            (Some(Outcome { message, .. }), _) => Err(Error::Elsewhere { message }),
        }
    }
}

/// Returns the failure that the processes agree on, given this process's own failure; `None` stands for no failure. A
/// panic takes precedence over other failures, and then the process with the lowest number.
pub(crate) fn judge(post: &Post, run: u32, own: Option<Outcome>) -> Result<Option<Outcome>, Error> {
    let process = post.process();
    let send = |to: usize, kind: Kind, outcome: &Option<Outcome>| {
        let trailer = Trailer { run, source: process as u32, to: to as u32, context: 0, tag: 0, receipt: 0, kind };
        post.send(to, encode(outcome), trailer).map_err(transport)
    };
    if process != JUDGE {
        send(JUDGE, Kind::Report, &own)?;
        return Ok(decode(&wait(post, Kind::Verdict)?.1));
    }
    let mut reports = vec![None; post.processes()];
    reports[JUDGE] = own;
    for _ in 1..post.processes() {
        let (source, report) = wait(post, Kind::Report)?;
        reports[source] = decode(&report);
    }
    let panicked = |report: &&Option<Outcome>| report.as_ref().is_some_and(|outcome| outcome.is_panic);
    let worst = reports.iter().find(panicked).or_else(|| reports.iter().find(|report| report.is_some()));
    let verdict = worst.cloned().flatten();
    for to in 1..post.processes() {
        send(to, Kind::Verdict, &verdict)?;
    }
    Ok(verdict)
}

/// Encodes an outcome as bytes: no bytes if there is no failure; otherwise a byte that says whether it was a panic, and
/// the message.
fn encode(outcome: &Option<Outcome>) -> Vec<u8> {
    match outcome {
        None => Vec::new(),
        Some(Outcome { is_panic, message }) => [&[u8::from(*is_panic)], message.as_bytes()].concat(),
    }
}

fn decode(bytes: &[u8]) -> Option<Outcome> {
    let (is_panic, message) = bytes.split_first()?;
    Some(Outcome { is_panic: *is_panic != 0, message: String::from_utf8_lossy(message).into_owned() })
}

/// Waits for a frame of the wanted kind (a report, a verdict or a word); returns its sender and its content.
pub(crate) fn wait(post: &Post, wanted: Kind) -> Result<(usize, Vec<u8>), Error> {
    loop {
        match post.paper(wanted).map_err(transport)? {
            Some(paper) => return Ok(paper),
            None => yield_now(),
        }
    }
}
