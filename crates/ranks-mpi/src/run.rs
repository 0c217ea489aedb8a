//! Running a program on all ranks of all processes, and agreeing on how it ended.
//!
//! When the ranks of a process have ended, it reports their worst failure to process 0, which tells all the worst of all. So every
//! process returns the same error, one of them can say it, and all end in order, with the same exit code: nothing is left to the
//! launcher. Only a process that dies or is lost cannot report; then the launcher ends the job.

use std::future::Future;

use lehr_ranks::{Communicator, Error, Layout};
use lehr_runtime::{Dispatcher, TaskError};

use crate::fabric::{endpoints, transport};
use crate::post::Post;
use crate::process::Process;
use crate::sync::yield_now;
use crate::trailer::{Kind, Trailer};

/// The process that judges.
const JUDGE: usize = 0;

impl Process {
    /// Runs `program` on `threads` ranks in this process, as every other process of the job does, each rank with its communicator of all ranks of
    /// all processes. Returns what this process's ranks returned, in order of rank.
    ///
    /// The futures may borrow from the caller, who sleeps meanwhile; see [`lehr_ranks::run`] for the rest.
    ///
    /// # Errors
    /// The same on all processes: [`Error::Panicked`] in the process whose rank panicked, and its words as [`Error::Elsewhere`] in the
    /// others. [`Error::Invalid`] for a number of ranks that cannot be; [`Error::Transport`] if MPI fails.
    ///
    /// # Panics
    /// On a worker of a dispatcher.
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
        let ranks = threads.checked_mul(self.count());
        if !ranks.is_some_and(|ranks| (1..=Layout::RANKS_MAX).contains(&ranks)) {
            let message =
                format!("{threads} ranks in each of {} processes: 1 to {} in all", self.count(), Layout::RANKS_MAX);
            return Err(Error::Invalid { message });
        }
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
        match judge(self.post(), run, own)? {
            Some(error) => Err(error),
            None => Ok(ended.into_iter().flatten().collect()),
        }
    }
}

/// What the processes agree on, given what this one has to report: the report of the lowest process that has one.
fn judge(post: &Post, run: u32, own: Option<Error>) -> Result<Option<Error>, Error> {
    let process = post.process();
    let send = |to: usize, kind: Kind, text: &str| {
        let trailer = Trailer { run, source: process as u32, to: to as u32, context: 0, tag: 0, receipt: 0, kind };
        post.send(to, text.as_bytes().to_vec(), trailer).map_err(transport)
    };
    let text = own.as_ref().map_or_else(String::new, Error::to_string);
    let verdict = if process == JUDGE {
        let mut reports = vec![String::new(); post.processes()];
        reports[JUDGE] = text.clone();
        for _ in 1..post.processes() {
            let (source, report) = wait(post, Kind::Report)?;
            reports[source] = report;
        }
        let worst = reports.into_iter().find(|report| !report.is_empty()).unwrap_or_default();
        for to in 1..post.processes() {
            send(to, Kind::Verdict, &worst)?;
        }
        worst
    } else {
        send(JUDGE, Kind::Report, &text)?;
        wait(post, Kind::Verdict)?.1
    };
    Ok(match own {
        Some(own) if verdict == text => Some(own),
        _ if verdict.is_empty() => None,
        _ => Some(Error::Elsewhere { message: verdict }),
    })
}

/// Waits for a paper of a kind: who sent it, and its text.
fn wait(post: &Post, wanted: Kind) -> Result<(usize, String), Error> {
    loop {
        match post.paper().map_err(transport)? {
            Some((source, kind, text)) if kind == wanted => {
                return Ok((source, String::from_utf8_lossy(&text).into_owned()));
            }
            Some((source, kind, _)) => {
                let message = format!("process {source} sent a {kind:?} where a {wanted:?} was expected");
                return Err(Error::Transport { message });
            }
            None => yield_now(),
        }
    }
}
