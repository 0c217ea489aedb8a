//! `lehr lab`: measurements that a stranger can repeat.

use lehr_harness::overhead::{self, task::Task};
use lehr_harness::ports::{self, End, Options};
use lehr_ranks::Job;

use crate::arguments::{OverheadArguments, PortsArguments};
use crate::exit::{Failure, Kind};
use crate::interrupt::Interrupt;

/// Measures the port runtime beside its peers and the machine's floors.
///
/// A first Ctrl-C ends it after the sample that is being taken: what was measured until then is printed and kept.
///
/// # Errors
/// [`Kind::NoResult`] for a wrong result on any side or a peer that ended, [`Kind::Stopped`] after Ctrl-C.
pub fn ports(arguments: PortsArguments) -> Result<(), Failure> {
    let PortsArguments { quick, json, only, rounds, peers, record } = arguments;
    let mut options = Options { quick, json, only, rounds, record, ..Options::default() };
    if let Some(peers) = peers {
        options.peers = peers;
    }
    let mut interrupt = Interrupt::listen()?;
    let end = ports::run(&options, Box::new(move || interrupt.is_requested()))
        .map_err(|error| Failure::new(Kind::NoResult, format!("{error:#}")))?;
    match end {
        End::Whole => Ok(()),
        End::Stopped => Err(Failure::new(Kind::Stopped, "what was measured until then is above")),
    }
}

/// Measures what is lost by dividing clustering runs.
///
/// # Errors
/// As for [`ports`]; [`Kind::Environment`] if this program cannot find itself.
pub fn overhead(arguments: OverheadArguments) -> Result<(), Failure> {
    let OverheadArguments { quick, json, only, rounds, mpiexec, record } = arguments;
    let program = std::env::current_exe()
        .map_err(|cause| Failure::new(Kind::Environment, format!("cannot find this program's file: {cause}")))?;
    let options = overhead::Options { quick, json, only, rounds, mpiexec, record, program };
    let mut interrupt = Interrupt::listen()?;
    let end = overhead::run(&options, Box::new(move || interrupt.is_requested()))
        .map_err(|error| Failure::new(Kind::NoResult, format!("{error:#}")))?;
    match end {
        overhead::End::Whole => Ok(()),
        overhead::End::Stopped => Err(Failure::new(Kind::Stopped, "what was measured until then is above")),
    }
}

/// Does a task of a measurement: its answer as a line.
///
/// # Errors
/// [`Kind::Usage`] for what is no task, [`Kind::NoResult`] for one that failed.
pub fn job(task: &str, job: Option<Job>) -> Result<String, Failure> {
    let task: Task = serde_json::from_str(task)
        .map_err(|cause| Failure::new(Kind::Usage, format!("expected a task of a measurement in JSON: {cause}")))?;
    let answer = task.work(job).map_err(|error| Failure::new(Kind::NoResult, format!("{error:#}")))?;
    let line = serde_json::to_string(&answer)
        .map_err(|cause| Failure::new(Kind::NoResult, format!("an answer cannot be written as JSON: {cause}")))?;
    Ok(line + "\n")
}
