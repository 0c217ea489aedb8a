//! Measures Lehr beside its peers and beside the limits of the machine.
//!
//! A measurement is: a definition (`lab/definitions`), sides that do the same work, rounds in which the sides take turns, a check of every
//! answer, a table with min, median and max, and a record. `lab/METHOD.md` says why each step is as it is.
//!
//! Run from the project's folder through `make bench` and `make quality`.
#![forbid(unsafe_code)]

mod arguments;
mod command;
mod compare;
mod definition;
mod inputs;
mod machine;
mod measure;
mod output;
mod record;
mod runner;
mod score;

use std::process::ExitCode;

use arguments::{Arguments, Task};

fn main() -> ExitCode {
    #[allow(
        clippy::disallowed_methods,
        reason = "the harness's one look at the environment: where the larger data sets are"
    )]
    let data = std::env::var("LEHR_DATA").ok().filter(|folder| !folder.is_empty());
    let arguments = match Arguments::parse(std::env::args().skip(1), data) {
        Ok(arguments) => arguments,
        Err(message) => {
            output::note(&format!("{message}\n\n{}", arguments::USAGE));
            return ExitCode::from(2);
        }
    };
    let done = match arguments.task {
        Task::Kernels => command::kernels::run(&arguments),
        Task::Runs => command::runs::run(&arguments),
        Task::Overhead => command::overhead::run(&arguments),
        Task::Quality => command::quality::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}
