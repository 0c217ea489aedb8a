//! Runs the typed command; only this file knows all commands.
//!
//! A command runs alone, or together with the other processes that a launcher such as mpiexec started. Commands for one
//! process say why they refuse several.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use lehr_demos::application::{Application, Subject};
use lehr_methods::Method;
use lehr_methods::cluster::Cluster;
use lehr_ranks_mpi::Process;

use crate::arguments::{
    ApplicationArguments, Command, CompoundsArguments, Dataset, DeclaredArguments, DemoApplication, DemoArguments,
    DistancesArguments,
};
use crate::command;
use crate::exit::{Failure, Kind};
use crate::group::{self, ProcessGroup};
use crate::plan::method::MethodPlan;

/// A run of this process alone, which gets the command line as typed.
type Run = Box<dyn FnOnce(&[OsString]) -> Result<ExitCode, Failure>>;

/// The typed command, ready to run.
pub enum Task {
    /// Runs in this process, regardless of others.
    Own(Run),
    /// Runs only if this process is the only one; with the reason.
    Alone(&'static str, Run),
    /// Runs in all processes that a launcher started.
    Collective(Box<dyn Collective>),
}

/// A run that several processes share.
pub trait Collective {
    /// Runs as the first process, or as the only one.
    ///
    /// # Errors
    /// Returns the reason why there is no result.
    fn lead(self: Box<Self>, typed: &[OsString], group: &ProcessGroup<'_>) -> Result<(), Failure>;

    /// Takes part as another process; returns the exit code. Prints nothing, because the first process prints.
    ///
    /// # Errors
    /// Returns the outcome of this process alone.
    fn follow(self: Box<Self>, process: Process) -> Result<u8, Failure>;
}

/// Creates a run that ends with success or a failure.
fn run(run: impl FnOnce(&[OsString]) -> Result<(), Failure> + 'static) -> Run {
    Box::new(|typed| run(typed).map(|()| ExitCode::SUCCESS))
}

impl Task {
    /// Returns the task of a command.
    pub fn of(asked: Command) -> Self {
        const SERVICES: &str = "services are not run by several processes: run it without mpiexec";
        match asked {
            Command::Method(method) => Task::Collective(Box::new(method)),
            Command::Distances(distances) => Task::Collective(distances),
            Command::Demo(demo) => Task::demonstration(*demo),
            Command::Predict(predict) => Task::Alone(
                "rows are placed by one process: run lehr predict without mpiexec",
                run(|_| command::predict::run(*predict)),
            ),
            Command::Evaluate(evaluate) => Task::Own(run(|_| command::evaluate::run(*evaluate))),
            Command::Export(export) => Task::Own(run(|_| command::export::run(export))),
            Command::Place(place) => Task::Alone(
                "items are placed by one process: run lehr place without mpiexec",
                run(|typed| command::place::run(*place, typed)),
            ),
            Command::Serve(serve) => Task::Alone(SERVICES, run(|_| command::serve::run(*serve))),
            Command::CheckPolicy(check) => Task::Own(run(move |_| command::serve::check_policy(&check))),
            Command::Keep(keep) => Task::Own(run(|_| command::keep::run(keep))),
            Command::Run(asked) => Task::Alone(SERVICES, run(|_| command::run::run(asked))),
            Command::Apply(apply) => Task::Alone(SERVICES, run(|_| command::apply::run(apply))),
            Command::Watch(watch) => Task::Alone(SERVICES, run(|_| command::ask::watch(watch))),
            Command::Ls(ls) => Task::Own(run(|_| command::ask::ls(ls))),
            Command::Get(get) => Task::Own(run(|_| command::ask::get(get))),
            Command::Query(query) => Task::Own(run(|_| command::ask::query(query))),
            Command::Submit(submit) => Task::Own(run(|_| command::ask::submit(submit))),
            Command::Upload(upload) => Task::Own(run(|_| command::upload::run(upload))),
            Command::Drop(drop) => Task::Own(run(|_| command::ask::drop_service(drop))),
            Command::Job(job) => Task::Own(run(|_| command::job::run(*job))),
            Command::Part { folder, mark } => Task::Own(Box::new(move |_| command::part::take_part(&folder, &mark))),
            Command::Lab { arguments } => Task::Own(Box::new(move |_| command::lab::run(&arguments))),
            Command::Completions { shell } => Task::Own(run(move |_| command::manual::completions(shell))),
            Command::Man { folder } => Task::Own(run(move |_| command::manual::pages(&folder))),
        }
    }

    fn demonstration(demo: DemoArguments) -> Self {
        let of = |subject, arguments: ApplicationArguments| {
            Task::Collective(Box::new(Demonstration { subject, files: None, arguments }))
        };
        match demo.application {
            Some(DemoApplication::Demography(demography)) => Task::Alone(
                "regions are clustered by one process: run lehr demo demography without mpiexec",
                run(move |_| command::demography::run(&demography)),
            ),
            Some(DemoApplication::Pubchem(pubchem)) => Task::Alone(
                "compounds are fetched by one process: run lehr demo pubchem without mpiexec",
                run(move |_| command::pubchem::run(&pubchem)),
            ),
            Some(DemoApplication::Genes(arguments)) => of(Subject::Genes, *arguments),
            Some(DemoApplication::Patients(arguments)) => of(Subject::Patients, *arguments),
            Some(DemoApplication::Chemistry(arguments)) => {
                let CompoundsArguments { fingerprints, activities, application: arguments } = *arguments;
                let (subject, files) = (Subject::Compounds, fingerprints.zip(activities));
                Task::Collective(Box::new(Demonstration { subject, files, arguments }))
            }
            None if demo.dataset == Dataset::TwoNodes => Task::Alone(
                "two-nodes starts its own processes: run it without mpiexec",
                run(|typed| Box::new(demo).lead(typed, &ProcessGroup::new(None))),
            ),
            None => Task::Collective(Box::new(demo)),
        }
    }
}

impl Collective for DeclaredArguments {
    fn lead(self: Box<Self>, typed: &[OsString], group: &ProcessGroup<'_>) -> Result<(), Failure> {
        command::method::run(&MethodPlan::new(*self, typed, group.job())?, group)
    }

    fn follow(self: Box<Self>, process: Process) -> Result<u8, Failure> {
        group::method::follow(process, self.method.about().takes, &self.execution)
    }
}

impl Collective for DistancesArguments {
    fn lead(self: Box<Self>, typed: &[OsString], group: &ProcessGroup<'_>) -> Result<(), Failure> {
        command::distances::run(*self, typed, group)
    }

    fn follow(self: Box<Self>, process: Process) -> Result<u8, Failure> {
        group::pairs::follow(process, *self)
    }
}

/// Clusters built-in points, in a single process as a workflow of services.
impl Collective for DemoArguments {
    fn lead(self: Box<Self>, typed: &[OsString], group: &ProcessGroup<'_>) -> Result<(), Failure> {
        let (dataset, part, job) = (self.dataset, self.part, group.job());
        let is_workflow = job.is_none() && command::demo::is_workflow(&self);
        let plan = MethodPlan::of_demo(*self, typed, job)?;
        if is_workflow && command::demo::is_of_jobs(&plan) {
            return command::demo::run(plan, dataset, part);
        }
        if dataset == Dataset::TwoNodes {
            let message = "two-nodes is a workflow: options of the clustering, --engine, --ranks, --resume, --figure and --trace go with census";
            return Err(Failure::new(Kind::Usage, message));
        }
        command::method::run(&plan, group)
    }

    fn follow(self: Box<Self>, process: Process) -> Result<u8, Failure> {
        group::method::follow(process, Cluster.about().takes, &self.execution)
    }
}

/// A demonstration that compares items, clusters them and maps them in one run.
struct Demonstration {
    subject: Subject,
    /// The user's fingerprints and activities, instead of the built-in ones.
    files: Option<(PathBuf, PathBuf)>,
    arguments: ApplicationArguments,
}

impl Collective for Demonstration {
    fn lead(self: Box<Self>, typed: &[OsString], group: &ProcessGroup<'_>) -> Result<(), Failure> {
        let Self { subject, files, arguments } = *self;
        let read = |asked| match &files {
            Some((fingerprints, activities)) => Application::of_files(fingerprints, activities, asked),
            None => Application::new(subject, asked),
        };
        command::application::run(subject, read, arguments, typed, group)
    }

    fn follow(self: Box<Self>, process: Process) -> Result<u8, Failure> {
        group::application::follow(process, self.subject, &self.arguments)
    }
}
