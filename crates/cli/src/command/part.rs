//! `lehr part`: this process's part of a job that a node spreads over several processes. A node runs it through a
//! launcher; users don't.
//!
//! Output goes to three places. Progress goes to the node on standard output, one line of JSON each. The outcome goes
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
/// Returns the outcome of this process alone; the others may wait for it.
fn run(folder: &Path, mark: &str, process: Option<&Process>) -> Result<(), Failure> {
    let is_lead = process.is_none_or(|process| process.number() == 0);
    let mut order =
        if is_lead { processes::order(folder, mark).map_err(|failure| on(process, failure))? } else { Vec::new() };
    if let Some(process) = process {
        order = process.share(order).map_err(|cause| Failure::new(Kind::Environment, cause.to_string()))?;
    }
    let part = if is_lead { processes::Part::lead(&order, folder) } else { processes::Part::follow(&order) };
    let part = part.map_err(|failure| on(process, failure))?;
    drop(order);
    if is_lead {
        let (at_signal, at_end) = (part.stopper(), part.stopper());
        Interrupt::tell(move || at_signal.stop())?;
        // The node holds the other end, and closes it when the job must stop; if the node is killed, the system closes
        // it.
        Interrupt::tell_at_end_of_input(move || at_end.stop())?;
    } else {
        // The lead receives the signal too, and stops the run for all processes.
        Interrupt::tell(|| ())?;
    }
    part.run(process.map(Process::job), say).map_err(told)
}

fn say(progress: &Progress) {
    if let Ok(line) = serde_json::to_string(progress) {
        // If standard output is closed, the node that reads it is gone.
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

/// Names the host of a failure that may concern this host alone.
fn on(process: Option<&Process>, failure: lehr_jobs::Failure) -> Failure {
    let failure = told(failure);
    match process {
        Some(process) => Failure::new(failure.kind, format!("host {}: {}", process.machine(), failure.message)),
        None => failure,
    }
}

/// Takes part in a job of a node, alone or as one of several processes.
///
/// # Errors
/// Returns the error that ends this process alone.
pub fn take_part(folder: &Path, mark: &str) -> Result<ExitCode, Failure> {
    if let Some(code) = kept()? {
        return Ok(code);
    }
    let process = Process::join().map_err(|cause| environment(&cause))?;
    let done = run(folder, mark, process.as_ref());
    let Some(process) = process else { return done.map(|()| ExitCode::SUCCESS) };
    if let Err(failure) = done {
        // A process that fails alone reports the error, and ends the others, which may wait for it.
        let code = failure.kind.code();
        output::failure(&failure);
        process.abort(code);
    }
    process.finish().map_err(|cause| environment(&cause))?;
    Ok(ExitCode::SUCCESS)
}
