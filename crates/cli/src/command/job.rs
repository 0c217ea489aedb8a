//! `lehr job`: this process's part of a job that a node spreads over several. A node runs it, behind `mpiexec`; users
//! don't.
//!
//! Output goes to three places. Progress goes to the node, a line of JSON each, on standard output. The outcome goes
//! into the folder. An error that ends this process alone goes to standard error.

use std::path::Path;
use std::process::ExitCode;

use lehr_jobs::{Progress, processes};
use lehr_ranks_mpi::Process;

use crate::exit::{Failure, Kind};
use crate::interrupt::Interrupt;
use crate::{environment, kept, output};

/// Takes part in the job of a folder, alone or with the other processes.
///
/// # Errors
/// The outcome of this process alone: the others may wait for it.
fn run(folder: &Path, process: Option<&Process>) -> Result<(), Failure> {
    let is_lead = process.is_none_or(|process| process.number() == 0);
    let mut order = if is_lead { processes::order(folder).map_err(told)? } else { Vec::new() };
    if let Some(process) = process {
        order = process.share(order).map_err(|cause| Failure::new(Kind::Environment, cause.to_string()))?;
    }
    let part = if is_lead { processes::Part::lead(&order, folder) } else { processes::Part::follow(&order) };
    let part = part.map_err(told)?;
    drop(order);
    if is_lead {
        let (at_signal, at_end) = (part.stopper(), part.stopper());
        Interrupt::tell(move || at_signal.stop())?;
        // The node holds the other end, and lets go when the job is to stop; the system does if the node is killed.
        Interrupt::tell_at_end_of_input(move || at_end.stop())?;
    } else {
        // The lead hears it too, and stops the run for all.
        Interrupt::tell(|| ())?;
    }
    part.run(process.map(Process::job), say).map_err(told)
}

fn say(progress: &Progress) {
    if let Ok(line) = serde_json::to_string(progress) {
        // Nobody to tell that nobody listens.
        let _ = output::result(&(line + "\n"));
    }
}

fn told(failure: lehr_jobs::Failure) -> Failure {
    let kind = match &failure {
        lehr_jobs::Failure::Stopped => Kind::Stopped,
        lehr_jobs::Failure::Input(_) => Kind::BadData,
        lehr_jobs::Failure::Environment(_) => Kind::Environment,
        lehr_jobs::Failure::Internal(_) => Kind::NoResult,
    };
    Failure::new(kind, failure.to_string())
}

/// Takes part in a job of a node, alone or as one of several processes.
///
/// # Errors
/// The error that ends this process alone.
pub fn take_part(folder: &Path) -> Result<ExitCode, Failure> {
    if let Some(code) = kept()? {
        return Ok(code);
    }
    let process = Process::join().map_err(|cause| environment(&cause))?;
    let done = run(folder, process.as_ref());
    let Some(process) = process else { return done.map(|()| ExitCode::SUCCESS) };
    if let Err(failure) = done {
        // Who fails alone speaks, and ends the others, who may wait for it.
        let code = failure.kind.code();
        output::failure(&failure);
        process.abort(code);
    }
    process.finish().map_err(|cause| environment(&cause))?;
    Ok(ExitCode::SUCCESS)
}
