//! The `lehr` command: arguments become a plan, the plan runs, the exit code says how it ended.
//!
//! Read in this order: [`arguments`] (as typed), [`plan`] (as needed; the one step where a command line can be wrong),
//! [`command`] (what is done), [`company`] (by several processes), [`folder`] (how results get on disk all at once), [`report`] (the page people open).

#![forbid(unsafe_code)]

mod application;
mod arguments;
mod command;
mod company;
mod demography;
mod exit;
mod folder;
mod input;
mod interrupt;
mod items;
mod matrix;
mod output;
mod plan;
mod progress;
mod report;
mod resume;
mod rows;
mod samples;
mod study;
mod summary;
mod tables;
mod trace;
mod weights;

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use lehr_methods::Method;
use lehr_methods::cluster::Cluster;
use lehr_ranks_mpi::{Kept, Launcher, Process, keep};

use crate::application::{Application, Subject};
use crate::arguments::{
    ApplicationArguments, Arguments, Command, CompoundsArguments, Dataset, DemoApplication, DemoArguments,
};
use crate::company::Company;
use crate::exit::{Failure, Kind};
use crate::interrupt::Interrupt;
use crate::plan::method::MethodPlan;

fn main() -> ExitCode {
    let typed: Vec<OsString> = std::env::args_os().collect();
    let launcher = Launcher::of_this_process();
    // Of several processes that find the same fault, one says it.
    let speaks = launcher.as_ref().is_none_or(|launcher| launcher.process() == 0);
    // Help and version end here with 0, a command line that cannot be parsed with 2.
    let arguments = match Arguments::try_parse_from(&typed) {
        Ok(arguments) => arguments,
        Err(error) if speaks => error.exit(),
        Err(error) => return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(1)),
    };
    let done = match arguments.command {
        Command::Job { folder } => part(&folder),
        Command::Lab { arguments } => command::lab::run(&arguments),
        Command::Serve(_) | Command::Run(_) | Command::Apply(_) | Command::Watch(_)
            if launcher.as_ref().is_some_and(Launcher::is_several) =>
        {
            Err(Failure::new(Kind::Usage, "services are not run by several processes: run it without mpiexec"))
        }
        Command::Demo(demo)
            if demo.dataset == Dataset::TwoNodes && launcher.as_ref().is_some_and(Launcher::is_several) =>
        {
            Err(Failure::new(Kind::Usage, "two-nodes starts its own processes: run it without mpiexec"))
        }
        Command::Demo(DemoArguments { application: Some(DemoApplication::Demography(_)), .. })
            if launcher.as_ref().is_some_and(Launcher::is_several) =>
        {
            let message = "regions are clustered by one process: run lehr demo demography without mpiexec";
            Err(Failure::new(Kind::Usage, message))
        }
        Command::Demo(DemoArguments { application: Some(DemoApplication::Demography(demography)), .. }) => {
            command::demography::run(&demography).map(|()| ExitCode::SUCCESS)
        }
        Command::Serve(serve) => command::serve::run(*serve).map(|()| ExitCode::SUCCESS),
        Command::Run(run) => command::run::run(run).map(|()| ExitCode::SUCCESS),
        Command::Apply(apply) => command::apply::run(apply).map(|()| ExitCode::SUCCESS),
        Command::Ls(ls) => command::ask::ls(ls).map(|()| ExitCode::SUCCESS),
        Command::Get(get) => command::ask::get(get).map(|()| ExitCode::SUCCESS),
        Command::Query(query) => command::ask::query(query).map(|()| ExitCode::SUCCESS),
        Command::Submit(submit) => command::ask::submit(submit).map(|()| ExitCode::SUCCESS),
        Command::Watch(watch) => command::ask::watch(watch).map(|()| ExitCode::SUCCESS),
        Command::Upload(upload) => command::upload::run(upload).map(|()| ExitCode::SUCCESS),
        Command::Drop(drop) => command::ask::drop_service(drop).map(|()| ExitCode::SUCCESS),
        Command::Predict(_) if launcher.as_ref().is_some_and(Launcher::is_several) => {
            Err(Failure::new(Kind::Usage, "rows are placed by one process: run lehr predict without mpiexec"))
        }
        Command::Place(_) if launcher.as_ref().is_some_and(Launcher::is_several) => {
            Err(Failure::new(Kind::Usage, "items are placed by one process: run lehr place without mpiexec"))
        }
        Command::Place(place) => command::place::run(*place, &typed).map(|()| ExitCode::SUCCESS),
        Command::Predict(predict) => command::predict::run(*predict).map(|()| ExitCode::SUCCESS),
        command => start(Arguments { command }, &typed),
    };
    match done {
        Ok(code) => code,
        Err(failure) if speaks => failure.report(),
        Err(failure) => ExitCode::from(failure.kind.code()),
    }
}

fn environment(cause: &dyn std::fmt::Display) -> Failure {
    Failure::new(Kind::Environment, cause.to_string())
}

/// Under a launcher, starts this program again and keeps it: the exit code in the keeper, nothing in the kept.
fn kept() -> Result<Option<ExitCode>, Failure> {
    match keep(Interrupt::ignore).map_err(|cause| environment(&cause))? {
        Kept::GoOn => Ok(None),
        Kept::Ended { code } => Ok(Some(ExitCode::from(code))),
        Kept::Killed(killed) => {
            output::failure("error", killed.message(), None);
            killed.follow();
        }
    }
}

/// Takes part in a job of a node, alone or as one of several processes.
fn part(folder: &Path) -> Result<ExitCode, Failure> {
    if let Some(code) = kept()? {
        return Ok(code);
    }
    let process = Process::join().map_err(|cause| environment(&cause))?;
    let done = command::job::run(folder, process.as_ref());
    let Some(process) = process else { return done.map(|()| ExitCode::SUCCESS) };
    if let Err(failure) = done {
        // Who fails alone speaks, and ends the others, who may wait for it.
        let code = failure.kind.code();
        failure.report();
        process.abort(code);
    }
    process.finish().map_err(|cause| environment(&cause))?;
    Ok(ExitCode::SUCCESS)
}

/// Does what was typed: alone, or as one of the processes that a launcher started.
fn start(arguments: Arguments, typed: &[OsString]) -> Result<ExitCode, Failure> {
    if let Some(code) = kept()? {
        return Ok(code);
    }
    let execution = match &arguments.command {
        Command::Demo(demo) => demo.execution(),
        Command::Distances(distances) => &distances.execution,
        Command::Method(method) => &method.execution,
        _ => unreachable!("what runs in one process has been handed over"),
    };
    match Process::join().map_err(|cause| environment(&cause))? {
        None => alone(arguments, typed).map(|()| ExitCode::SUCCESS),
        Some(process) if process.number() == 0 => {
            let company = Company::new(Some(&process));
            let done = lead(arguments, typed, &company);
            let code = match &done {
                Ok(()) => ExitCode::SUCCESS,
                Err(failure) => failure.report(),
            };
            Company::end(process, done.map_or_else(|failure| failure.kind.code(), |()| 0))?;
            Ok(code)
        }
        Some(process) => match arguments.command {
            Command::Distances(distances) => company::pairs::follow(process, *distances).map(ExitCode::from),
            Command::Demo(DemoArguments { application: Some(DemoApplication::Genes(arguments)), .. }) => {
                company::application::follow(process, Subject::Genes, &arguments).map(ExitCode::from)
            }
            Command::Demo(DemoArguments { application: Some(DemoApplication::Patients(arguments)), .. }) => {
                company::application::follow(process, Subject::Patients, &arguments).map(ExitCode::from)
            }
            Command::Demo(DemoArguments { application: Some(DemoApplication::Chemistry(arguments)), .. }) => {
                company::application::follow(process, Subject::Compounds, &arguments.application).map(ExitCode::from)
            }
            Command::Method(ref method) => {
                company::method::follow(process, method.method.about().takes, execution).map(ExitCode::from)
            }
            // The demonstrations with points that are built in.
            _ => company::method::follow(process, Cluster.about().takes, execution).map(ExitCode::from),
        },
    }
}

/// Does it in this process.
fn alone(arguments: Arguments, typed: &[OsString]) -> Result<(), Failure> {
    match arguments.command {
        Command::Demo(demo) if command::demo::is_workflow(&demo) => {
            let (dataset, part) = (demo.dataset, demo.part);
            command::demo::run(MethodPlan::of_demo(demo, typed, None)?, dataset, part)
        }
        Command::Demo(demo) if demo.dataset == Dataset::TwoNodes => {
            let message = "two-nodes is a workflow: options of the clustering, --resume and --trace go with census";
            Err(Failure::new(Kind::Usage, message))
        }
        command => lead(Arguments { command }, typed, &Company::new(None)),
    }
}

/// Does the work, together with the other processes if there are any.
fn lead(arguments: Arguments, typed: &[OsString], company: &Company<'_>) -> Result<(), Failure> {
    match arguments.command {
        Command::Distances(distances) => command::distances::run(*distances, typed, company),
        Command::Demo(DemoArguments { application: Some(DemoApplication::Genes(arguments)), .. }) => {
            let read = |arguments: &ApplicationArguments| Application::new(Subject::Genes, arguments);
            command::application::run(Subject::Genes, read, *arguments, typed, company)
        }
        Command::Demo(DemoArguments { application: Some(DemoApplication::Patients(arguments)), .. }) => {
            let read = |arguments: &ApplicationArguments| Application::new(Subject::Patients, arguments);
            command::application::run(Subject::Patients, read, *arguments, typed, company)
        }
        Command::Demo(DemoArguments { application: Some(DemoApplication::Chemistry(arguments)), .. }) => {
            let CompoundsArguments { fingerprints, activities, application } = *arguments;
            let read = |application: &ApplicationArguments| match (&fingerprints, &activities) {
                (Some(fingerprints), Some(activities)) => Application::of_files(fingerprints, activities, application),
                _ => Application::new(Subject::Compounds, application),
            };
            command::application::run(Subject::Compounds, read, application, typed, company)
        }
        Command::Method(method) => {
            MethodPlan::new(method, typed, company.job()).and_then(|plan| command::method::run(&plan, company))
        }
        Command::Demo(demo) => {
            MethodPlan::of_demo(demo, typed, company.job()).and_then(|plan| command::method::run(&plan, company))
        }
        _ => unreachable!("what runs in one process has been handed over"),
    }
}
