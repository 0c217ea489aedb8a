//! `lehr-harness`: the measurements of kernels, overheads, whole runs and quality. Run from the project's folder through `make bench` and `make quality`.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use lehr_harness::arguments::{self, Arguments, Task};
use lehr_harness::{command, environment, output};

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1), environment::data_folder()) {
        Ok(arguments) => arguments,
        Err(message) => {
            output::note(&format!("{message}\n\n{}", arguments::USAGE));
            return ExitCode::from(2);
        }
    };
    let done = match arguments.task {
        Task::Kernels => command::kernels::run(&arguments),
        Task::Distances => command::distances::run(&arguments),
        Task::Maps => command::maps::run(&arguments),
        Task::Pairwise => command::pairwise::run(&arguments),
        Task::Runs => command::runs::run(&arguments),
        Task::Overhead => command::overhead::run(&arguments),
        Task::People => command::people::run(&arguments),
        Task::Quality => command::quality::run(&arguments),
        Task::Mixtures => command::mixtures::run(&arguments),
        Task::Topographic => command::topographic::run(&arguments),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::note(&format!("{error:#}"));
            ExitCode::FAILURE
        }
    }
}
