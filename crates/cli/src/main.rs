//! The `lehr` command: arguments become a plan, the plan runs, the exit code says how it ended.
//!
//! Read in this order: [`arguments`] (as typed), [`plan`] (as needed; the one step where a command line can be wrong),
//! [`command`] (what is done), [`folder`] (how results get on disk all at once), [`report`] (the page people open).

#![forbid(unsafe_code)]

mod arguments;
mod command;
mod exit;
mod folder;
mod interrupt;
mod numbers;
mod output;
mod plan;
mod progress;
mod report;
mod space;
mod summary;
mod tables;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Arguments, Command, LabCommand};
use crate::plan::Plan;

fn main() -> ExitCode {
    let typed: Vec<OsString> = std::env::args_os().collect();
    // Help and version end here with 0, a command line that cannot be parsed with 2.
    let arguments = Arguments::parse_from(&typed);
    let done = match arguments.command {
        Command::Lab(LabCommand::Ports(ports)) => command::lab::ports(ports),
        command => Plan::new(Arguments { command }, &typed).and_then(command::cluster::run),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}
