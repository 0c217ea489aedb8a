//! MPI jobs of several Python processes: all processes run the same script, and methods compute together.
//!
//! A process joins the job when it first calls a method, begins a program on ranks, or asks for its number. Before this
//! call, nothing uses MPI, so MPI does not affect scripts that compute nothing. A single thread makes all MPI calls of
//! the process from start to finish, as MPI requires. Python threads send requests to the MPI thread, and release the
//! interpreter lock while they wait.
//!
//! Every process must call the same methods on the same data in the same order. Each run first compares method,
//! parameters and data ([`ProcessGroup::agree`]). If one process reads other data, the call fails with the same error
//! on all processes, instead of giving a wrong result or hanging.
//!
//! Processes end together ([`finish`], which Python calls at its exit), or through [`abort`] when one of them fails.

use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::time::Duration;

use lehr_ranks::{Communicator, Execution, Job, Outcome};
use lehr_ranks_mpi::{Launcher, Process};
use lehr_runtime::Dispatcher;
use lehr_sync::{
    Mutex, OnceLock,
    thread::{sleep, spawn},
};
use pyo3::prelude::*;
use xxhash_rust::xxh3::xxh3_64;

use crate::errors;
use crate::waiting::receive;

/// The maximum time to wait until MPI has aborted the job. After that time, this process exits, and the launcher ends
/// the other processes.
const ABORT: Duration = Duration::from_secs(2);

/// A request to the MPI thread.
enum Request {
    /// Collects a number from every process, in the order of the processes.
    Compare { number: u64, reply: SyncSender<Result<Vec<u64>, String>> },
    /// Ends this process's part of the job together with the other processes.
    Finish { reply: SyncSender<Result<(), String>> },
    /// Aborts all processes of the job.
    Abort { code: u8 },
}

/// This process's membership in a job.
struct Membership {
    job: Job,
    number: usize,
    count: usize,
    /// The system's id of the process that joined the job. A fork of this process does not belong to the job.
    id: u32,
    requests: Sender<Request>,
    /// Whether a user's program runs on ranks of the whole job.
    has_program: Mutex<bool>,
}

static PLACE: OnceLock<Result<Option<Membership>, String>> = OnceLock::new();

/// Returns this process's membership. The first call joins the job, and waits for the other processes to join.
fn place(py: Python<'_>) -> PyResult<Option<&'static Membership>> {
    let place = match PLACE.get() {
        Some(place) => place,
        None => py.detach(|| PLACE.get_or_init(join)),
    };
    match place {
        Err(message) => Err(errors::runtime(message.clone())),
        Ok(None) => Ok(None),
        Ok(Some(place)) if place.id != std::process::id() => Err(errors::runtime(
            "this process was forked from one that takes part in an MPI job, whose connections it cannot share. \
             Start processes with the \"spawn\" method, or compute in the process that mpiexec started.",
        )),
        Ok(Some(place)) => Ok(Some(place)),
    }
}

fn join() -> Result<Option<Membership>, String> {
    if Launcher::of_this_process().is_none() {
        return Ok(None);
    }
    let (tell, told) = sync_channel(1);
    let (requests, asked) = channel();
    spawn("lehr-mpi", move || serve(&tell, &asked)).map_err(|cause| format!("no thread for MPI: {cause}"))?;
    match told.recv().map_err(|_| "MPI did not start".to_owned())?? {
        None => Ok(None),
        Some((job, number, count)) => {
            let (id, has_program) = (std::process::id(), Mutex::new(false));
            Ok(Some(Membership { job, number, count, id, requests, has_program }))
        }
    }
}

/// The job, the number of this process and the number of processes; `None` for a process outside a job.
type Joined = Result<Option<(Job, usize, usize)>, String>;

/// Joins the job, and answers requests until it ends.
fn serve(tell: &SyncSender<Joined>, asked: &Receiver<Request>) {
    let joined = Process::join().map_err(|error| error.to_string());
    let place = joined.as_ref().map(|process| process.as_ref().map(|of| (of.job(), of.number(), of.count())));
    let _ = tell.send(place.map_err(String::clone));
    let Ok(Some(process)) = joined else { return };
    while let Ok(request) = asked.recv() {
        match request {
            Request::Compare { number, reply } => {
                let _ = reply.send(compare(&process, number));
            }
            Request::Finish { reply } => {
                let _ = reply.send(process.finish().map_err(|error| error.to_string()));
                return;
            }
            Request::Abort { code } => process.abort(code),
        }
    }
}

fn compare(process: &Process, number: u64) -> Result<Vec<u64>, String> {
    let dispatcher = Dispatcher::new(1).map_err(|error| error.to_string())?;
    let ended = process.run(&dispatcher, 1, |mut comm| async move {
        let mut all = vec![0; comm.size()];
        comm.all_gather(&[number], &mut all).await.map(|()| all)
    });
    let first = ended.map_err(|error| error.to_string())?.swap_remove(0);
    first.map_err(|error| error.to_string())
}

/// Waits for an answer, and handles signals meanwhile.
fn answer<T: Send>(py: Python<'_>, from: Receiver<Result<T, String>>) -> PyResult<T> {
    let answer = receive(py, from)?.ok_or_else(|| errors::runtime("the MPI job is over"))?;
    answer.map_err(errors::runtime)
}

/// The threads and processes on which a method runs.
#[derive(Clone, Copy)]
pub(crate) struct ProcessGroup {
    pub execution: Execution,
    pub is_in_job: bool,
    /// Whether this process shows warnings and writes files.
    pub is_lead: bool,
}

impl ProcessGroup {
    /// Uses `threads` threads. In a job, uses all processes, with one thread in each process unless `threads` is given.
    pub(crate) fn new(py: Python<'_>, threads: Option<usize>) -> PyResult<Self> {
        let place = place(py)?;
        if place.is_some_and(|place| place.has_program.with(|it_has| *it_has)) {
            return Err(errors::runtime(
                "a program of lehr.ranks runs on all processes of this MPI job, which can do one thing at a time. \
                 Call lehr's methods outside of lehr.ranks.run, in all processes and with all rows.",
            ));
        }
        let mut execution = Execution { job: place.map(|place| place.job), ..Execution::default() };
        if place.is_some() {
            (execution.threads, execution.ranks) = (1, 1);
        }
        if let Some(threads) = threads {
            (execution.threads, execution.ranks) = (threads, threads);
        }
        Ok(Self { execution, is_in_job: place.is_some(), is_lead: place.is_none_or(|place| place.number == 0) })
    }

    /// Checks that all processes are about to compute the same. `of` returns the bytes that the processes compare, and
    /// is called only in a job.
    ///
    /// # Errors
    /// Returns `ValueError` on all processes if one of them is about to compute something else.
    pub(crate) fn agree(&self, py: Python<'_>, method: &str, of: impl FnOnce() -> Vec<u8>) -> PyResult<()> {
        if !self.is_in_job {
            return Ok(());
        }
        let Some(place) = place(py)? else { return Ok(()) };
        let number = xxh3_64(&[method.as_bytes(), of().as_slice()].concat());
        let (reply, replies) = sync_channel(1);
        let request = Request::Compare { number, reply };
        place.requests.send(request).map_err(|_| errors::runtime("the MPI job is over"))?;
        let all = answer(py, replies)?;
        match all.iter().position(|other| *other != all[0]) {
            None => Ok(()),
            Some(process) => Err(errors::value(format!(
                "{method}: process {process} of the MPI job has other data or parameters than process 0. All processes must \
                 call the same methods with the same arguments: seed random numbers, and read the same files."
            ))),
        }
    }
}

/// A user's program on ranks of the whole job.
pub(crate) struct Program {
    place: &'static Membership,
}

/// Begins a program on the given number of ranks in each process of the job. Returns the communicators of this
/// process's ranks.
pub(crate) fn begin(py: Python<'_>, ranks: usize) -> PyResult<(Vec<Communicator>, Program)> {
    let place = place(py)?.ok_or_else(|| errors::runtime("this process is in no MPI job"))?;
    if place.has_program.with(|it_has| std::mem::replace(it_has, true)) {
        return Err(errors::runtime("another thread has begun a program of lehr.ranks in this process of the MPI job"));
    }
    // Each rank has its own Python thread, and spins without the interpreter lock.
    let begun = py.detach(|| place.job.0.begin(ranks, true));
    let world = begun.map_err(|error| {
        place.has_program.with(|it_has| *it_has = false);
        errors::of_ranks(&error)
    })?;
    Ok((world, Program { place }))
}

impl Program {
    /// Waits for the ranks of the other processes to end. `own` is the error of this process. Returns the message of
    /// the error on which all processes agree, or `None` if no process failed.
    pub(crate) fn end(&self, py: Python<'_>, own: Option<Outcome>) -> PyResult<Option<String>> {
        let (reply, replies) = sync_channel(1);
        let place = self.place;
        spawn("lehr-ranks", move || {
            let agreed = place.job.0.end(own).map(|outcome| outcome.map(|outcome| outcome.message));
            let _ = reply.send(agreed.map_err(|error| error.to_string()));
        })
        .map_err(|cause| errors::runtime(format!("no thread to wait on: {cause}")))?;
        let agreed = answer(py, replies)?;
        place.has_program.with(|it_has| *it_has = false);
        Ok(agreed)
    }
}

/// Returns the number of processes in the job; 1 without a job.
pub(crate) fn count(py: Python<'_>) -> PyResult<usize> {
    Ok(place(py)?.map_or(1, |place| place.count))
}

/// Returns this process's number and the number of processes in the job that mpiexec started; `(0, 1)` without a job.
#[pyfunction]
pub(crate) fn process(py: Python<'_>) -> PyResult<(usize, usize)> {
    Ok(place(py)?.map_or((0, 1), |place| (place.number, place.count)))
}

/// Returns whether this process has joined a job, without joining one.
#[pyfunction]
pub(crate) fn is_joined() -> bool {
    matches!(PLACE.get(), Some(Ok(Some(place))) if place.id == std::process::id())
}

/// Returns the number of threads for a call: the given number, or one for each processor. On a worker, the number is
/// always 1, because the other threads serve other requests. In a job, the default is 1, because the other processes
/// use the other processors.
pub(crate) fn threads(given: Option<usize>) -> usize {
    let is_one_of_many = lehr_runtime::is_on_worker() || (given.is_none() && is_joined());
    if is_one_of_many { 1 } else { given.unwrap_or_else(|| Execution::default().threads) }
}

/// Ends the job together with the other processes. Does nothing without a job.
#[pyfunction]
pub(crate) fn finish(py: Python<'_>) -> PyResult<()> {
    if !is_joined() {
        return Ok(());
    }
    let Some(place) = place(py)? else { return Ok(()) };
    let (reply, replies) = sync_channel(1);
    if place.requests.send(Request::Finish { reply }).is_err() {
        return Ok(());
    }
    answer(py, replies)
}

/// Ends all processes of the job with an exit code. Returns only if MPI cannot end them.
#[pyfunction]
pub(crate) fn abort(py: Python<'_>, code: u8) {
    if let Some(Ok(Some(place))) = PLACE.get()
        && place.requests.send(Request::Abort { code }).is_ok()
    {
        // The MPI thread ends the program. If the MPI thread is waiting for other processes, the caller exits after
        // this time.
        py.detach(|| sleep(ABORT));
    }
}
