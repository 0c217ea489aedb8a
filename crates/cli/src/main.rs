//! The `lehr` command: arguments become a plan, the plan runs, and the exit code says how it ended.
//!
//! Read in this order:
//!
//! 1. [`arguments`]: the command line as typed.
//! 2. [`plan`]: the command line as checked and completed. Only this step rejects a command line.
//! 3. [`dispatch`]: chooses the code that runs it.
//! 4. [`command`]: the work.
//! 5. [`group`]: the work of several processes.
//! 6. [`folder`]: puts all results on disk at once.
//! 7. [`lehr_report`]: the HTML report.

#![forbid(unsafe_code)]

mod arguments;
mod beside;
mod command;
mod dispatch;
mod exit;
mod figure;
mod folder;
mod group;
mod help;
mod input;
mod interrupt;
mod items;
mod matrix;
mod output;
mod plan;
mod progress;
mod resume;
mod rows;
mod summary;
mod trace;
mod weights;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::FromArgMatches;
use lehr_ranks_mpi::{Launcher, Process, Supervised, keep};

use crate::arguments::{Arguments, former_names};
use crate::dispatch::{Collective, Task};
use crate::exit::{Failure, Kind};
use crate::group::ProcessGroup;
use crate::interrupt::Interrupt;

fn main() -> ExitCode {
    interrupt::survive_file_size_limits();
    lehr_stores::install(lehr_stores::Versions::First);
    let typed: Vec<OsString> = help::rewritten(std::env::args_os().collect());
    let launcher = Launcher::of_this_process();
    // If several processes find the same fault, only one reports it.
    let speaks = launcher.as_ref().is_none_or(|launcher| launcher.process() == 0);
    if help::is_of_program(&typed) {
        return help::show(typed.len() > 1);
    }
    // Help and version end here with exit code 0, a command line that cannot be parsed with 2.
    let parsed = help::command(help::is_long(&typed))
        .try_get_matches_from(&typed)
        .and_then(|matches| Arguments::from_arg_matches(&matches));
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) if speaks => error.exit(),
        Err(error) => return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1)),
    };
    let is_several = launcher.as_ref().is_some_and(Launcher::is_several);
    let done = match Task::of(arguments.command) {
        Task::Own(run) => run(&typed),
        Task::Alone(refusal, _) if is_several => Err(Failure::new(Kind::Usage, refusal)),
        Task::Alone(_, run) => {
            warn_of_former_names(&typed);
            run(&typed)
        }
        Task::Collective(task) => start(task, &typed),
    };
    match done {
        Ok(code) => code,
        Err(failure) if speaks => output::failure(&failure),
        Err(failure) => ExitCode::from(failure.kind.code()),
    }
}

pub(crate) fn environment(cause: &dyn std::fmt::Display) -> Failure {
    Failure::new(Kind::Environment, cause.to_string())
}

/// Under a launcher, starts this program again as a child: returns the exit code in the supervisor, `None` in the
/// child.
pub(crate) fn kept() -> Result<Option<ExitCode>, Failure> {
    match keep(Interrupt::ignore).map_err(|cause| environment(&cause))? {
        Supervised::GoOn => Ok(None),
        Supervised::Ended { code } => Ok(Some(ExitCode::from(code))),
        Supervised::Killed(killed) => {
            output::failure(&Failure::new(Kind::Environment, killed.message()));
            killed.follow();
        }
    }
}

fn warn_of_former_names(typed: &[OsString]) {
    former_names(typed).iter().for_each(|former| output::warning(former));
}

/// Runs the command line: alone, or as one of the processes that a launcher started.
fn start(task: Box<dyn Collective>, typed: &[OsString]) -> Result<ExitCode, Failure> {
    if let Some(code) = kept()? {
        return Ok(code);
    }
    match Process::join().map_err(|cause| environment(&cause))? {
        None => {
            warn_of_former_names(typed);
            task.lead(typed, &ProcessGroup::new(None)).map(|()| ExitCode::SUCCESS)
        }
        Some(process) if process.number() == 0 => {
            warn_of_former_names(typed);
            let group = ProcessGroup::new(Some(&process));
            let done = task.lead(typed, &group);
            let code = match &done {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => output::failure(failure),
            };
            ProcessGroup::end(process, done.map_or_else(|failure| failure.kind.code(), |()| 0))?;
            Ok(code)
        }
        Some(process) => task.follow(process).map(ExitCode::from),
    }
}
