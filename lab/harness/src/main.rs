//! `lehr-lab`: measures Lehr. `make bench` and `make quality` run kernels, whole runs and quality in the project's
//! folder.
#![forbid(unsafe_code)]

use std::fmt::Display;
use std::process::ExitCode;

use clap::Parser;
use lehr_lab::arguments::{Arguments, Bench, BenchArguments, Command, MeasurementArguments, Quality, QualityArguments};
use lehr_lab::command::{self, labs};
use lehr_lab::exit::{Failure, Kind};
use lehr_lab::{environment, interrupt, output};
use lehr_ranks_mpi::{Launcher, Process, Supervised, keep};

fn main() -> ExitCode {
    let launcher = Launcher::of_this_process();
    // If several processes find the same fault, only process 0 reports it.
    let speaks = launcher.as_ref().is_none_or(|launcher| launcher.process() == 0);
    // Help and version end here with 0, an invalid command line with 2.
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) if speaks => error.exit(),
        Err(error) => return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1)),
    };
    let done = match arguments.command {
        Command::Job { task } => job(&task),
        _ if launcher.as_ref().is_some_and(Launcher::is_several) => {
            Err(Failure::new(Kind::Usage, "measurements start their own processes: run lehr-lab without mpiexec"))
        }
        command => measure(command).map(|()| ExitCode::SUCCESS),
    };
    match done {
        Ok(code) => code,
        Err(failure) if speaks => failure.report(),
        Err(failure) => ExitCode::from(failure.kind.code()),
    }
}

fn measure(command: Command) -> Result<(), Failure> {
    match command {
        Command::Ports(ports) => labs::ports(ports),
        Command::Ranks(ranks) => labs::ranks(ranks),
        Command::Services(services) => labs::services(services),
        Command::Overhead(overhead) => labs::overhead(overhead),
        Command::Scale(scale) => labs::scale(scale),
        Command::Growth(growth) => labs::growth(growth),
        Command::Chemistry(chemistry) => labs::chemistry(chemistry),
        Command::Bench(arguments) => Ok(bench(arguments)?),
        Command::Quality(arguments) => Ok(quality(arguments)?),
        Command::Job { .. } => unreachable!("a job has been handed over"),
    }
}

fn bench(BenchArguments { subject, measurement }: BenchArguments) -> anyhow::Result<()> {
    let measurement = with_data(measurement);
    match subject {
        Bench::Kernels => command::kernels::run(&measurement),
        Bench::Distances => command::distances::run(&measurement),
        Bench::Pairwise => command::pairwise::run(&measurement),
        Bench::Maps => command::maps::run(&measurement),
        Bench::Runs => command::runs::run(&measurement),
        Bench::Overhead => command::overhead::run(&measurement),
        Bench::People => command::people::run(&measurement),
    }
}

fn quality(QualityArguments { subject, measurement }: QualityArguments) -> anyhow::Result<()> {
    let measurement = with_data(measurement);
    match subject {
        None => command::quality::run(&measurement),
        Some(Quality::Mixtures) => command::mixtures::run(&measurement),
        Some(Quality::Topographic) => command::topographic::run(&measurement),
    }
}

/// Sets the data folder from the environment, if the command line names none.
fn with_data(measurement: MeasurementArguments) -> MeasurementArguments {
    let data = measurement.data.or_else(environment::data_folder);
    MeasurementArguments { data, ..measurement }
}

/// Does the task of a measurement, alone or as one of several processes.
fn job(task: &str) -> Result<ExitCode, Failure> {
    match keep(interrupt::ignore).map_err(of_system)? {
        Supervised::GoOn => {}
        Supervised::Ended { code } => return Ok(ExitCode::from(code)),
        Supervised::Killed(killed) => {
            output::note(&format!("error: {}", killed.message()));
            killed.follow();
        }
    }
    let process = Process::join().map_err(of_system)?;
    let answered = labs::job(task, process.as_ref().map(Process::job));
    let Some(process) = process else {
        output::answer(&answered?).map_err(of_system)?;
        return Ok(ExitCode::SUCCESS);
    };
    match answered {
        Ok(answer) if process.number() == 0 => output::answer(&answer).map_err(of_system)?,
        Ok(_) => {}
        // A failing process reports its failure and ends the others, which may be waiting for it.
        Err(failure) => {
            let code = failure.kind.code();
            failure.report();
            process.abort(code);
        }
    }
    process.finish().map_err(of_system)?;
    Ok(ExitCode::SUCCESS)
}

fn of_system(cause: impl Display) -> Failure {
    Failure::new(Kind::Environment, cause.to_string())
}
