//! `lehr job`: writes a script for Slurm's `sbatch`, after checking the command that it runs.
//!
//! The script contains the command twice: as typed, and as the command that resumes it. A job that Slurm returns to the
//! queue runs the same script again, and finds out by the checkpoint which of the two it needs.

mod script;

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::FromArgMatches;
use lehr_data::memory;
use lehr_data::object;
use lehr_data::read::Selection;
use lehr_methods::Takes;
use lehr_ranks::{Communicator, Error, Job, Outcome, Processes};

use super::cluster_environment;
use crate::arguments::{Arguments, Command, JobArguments};
use crate::exit::{Failure, Kind};
use crate::help;
use crate::output;
use crate::plan::distances::{DistancesPlan, Holds};
use crate::plan::method::{MethodPlan, Origin};
use script::Script;

/// The memory of a run grows by at most 3.6 times the numbers of its input, as measured.
const INPUT_FACTOR: u64 = 4;
/// The memory of a process beside the numbers, in bytes.
const PROCESS_BYTES: u64 = 256 << 20;

/// The processes of a job that is still to be submitted, for the checks of a plan.
#[derive(Debug)]
struct Planned(usize);

impl Processes for Planned {
    fn process(&self) -> usize {
        0
    }

    fn processes(&self) -> usize {
        self.0
    }

    fn near(&self) -> (usize, usize) {
        (0, 1)
    }

    fn begin(&self, _ranks: usize, _may_spin: bool) -> Result<Vec<Communicator>, Error> {
        Err(Error::Transport { message: "the job has not been submitted".to_owned() })
    }

    fn end(&self, own: Option<Outcome>) -> Result<Option<Outcome>, Error> {
        Ok(own)
    }
}

/// The facts of a checked command.
struct Checked {
    /// The name of the command.
    name: String,
    /// The folder with the results and the checkpoint.
    out: PathBuf,
    /// The command that continues the run, quoted for a shell, with `lehr` as its first word.
    resume: String,
    /// The number of bytes of its input in memory, if it is known.
    bytes: Option<u64>,
}

/// Writes the script to standard output.
///
/// # Errors
/// Returns [`Kind::Usage`] if the options or the command's options contradict each other; [`Kind::Environment`] or
/// [`Kind::BadData`] if the input cannot be read.
pub fn run(arguments: JobArguments) -> Result<(), Failure> {
    let processes = arguments.nodes * arguments.tasks;
    if let Some(limit) = &arguments.time
        && limit.seconds <= arguments.grace
    {
        let message = format!(
            "--time {}: expected more than the {} seconds of --grace, found {}",
            limit.text, arguments.grace, limit.seconds
        );
        return Err(Failure::new(Kind::Usage, message).with_hint("a shorter --grace leaves more time to the run"));
    }
    let typed: Vec<OsString> = std::iter::once("lehr".into()).chain(arguments.command.iter().cloned()).collect();
    let checked = checked(&typed, processes)?;
    let folder = std::env::current_dir().and_then(std::path::absolute);
    let program = std::env::current_exe();
    let environment = |cause: std::io::Error| Failure::new(Kind::Environment, cause.to_string());
    let estimate = checked.bytes.map(|bytes| {
        let bytes = arguments.tasks as u64 * (INPUT_FACTOR.saturating_mul(bytes) + PROCESS_BYTES);
        format!("{}M", bytes.div_ceil(1 << 20))
    });
    let memory = arguments.memory.clone().or(estimate);
    if memory.is_none() {
        output::note(
            "the input does not state its size, so the script reserves no memory; if Slurm's default is too small, give --memory",
        );
    }
    let library = cluster_environment::mpi_library().filter(|_| processes > 1);
    output::result(
        &Script {
            arguments: &arguments,
            memory: memory.as_deref(),
            folder: &folder.map_err(environment)?,
            program: &program.map_err(environment)?,
            library: library.as_deref(),
            name: &checked.name,
            out: &checked.out,
            first: &typed[1..],
            resume: checked.resume.strip_prefix("lehr ").unwrap_or(&checked.resume),
        }
        .text(),
    )
}

/// Checks a command as its run would, for this number of processes.
fn checked(typed: &[OsString], processes: usize) -> Result<Checked, Failure> {
    let usage = |message: &str| Failure::new(Kind::Usage, message);
    // Help and faults of the command line are those of the command.
    let parsed = help::command(false).try_get_matches_from(typed);
    let parsed = parsed.and_then(|matches| Arguments::from_arg_matches(&matches)).unwrap_or_else(|error| error.exit());
    // The plan keeps a job for as long as the process lives.
    let job = (processes > 1).then(|| Job(Box::leak(Box::new(Planned(processes)))));
    let (execution, resume) = match &parsed.command {
        Command::Method(method) => (&method.execution, &method.results.resume),
        Command::Distances(distances) => (&distances.execution, &distances.results.resume),
        _ => {
            let message = "the command cannot be continued after a time limit, so there is no script for it";
            return Err(usage(message).with_hint(
                "lehr job takes cluster, minibatch, mixture, gtm, distances, pairwise, kmedoids, hierarchy, hdbscan and embed",
            ));
        }
    };
    if execution.threads.is_some() || execution.layout.is_some() {
        let message = "--threads and --layout: expected before the --, where Slurm learns of them";
        return Err(usage(message).with_hint("lehr job --nodes N --tasks N --threads N -- COMMAND"));
    }
    if resume.is_some() {
        let message = "--resume: the script resumes by itself if the folder of --out has a checkpoint";
        return Err(usage(message).with_hint("leave --resume out, and give that folder as --out"));
    }
    match parsed.command {
        Command::Method(method) => of_method(MethodPlan::new(method, typed, job)?),
        Command::Distances(distances) => of_distances(DistancesPlan::new(*distances, typed, job)?),
        _ => unreachable!("other commands have been refused"),
    }
}

fn of_method(plan: MethodPlan) -> Result<Checked, Failure> {
    if plan.source.origin == Origin::StandardInput {
        return Err(Failure::new(Kind::Usage, "-: a job of Slurm has no standard input")
            .with_hint("name a file that the machines of the job can read"));
    }
    let path = &plan.source.path;
    is_there(path)?;
    let bytes = match plan.method.about().takes {
        // Rows on disk and batches are in memory only in part.
        _ if plan.source.spill.is_some() => None,
        Takes::Stream(_) => None,
        // Packed rows are described by --bits, and prepared tables have other columns.
        Takes::Rows(_) if plan.source.bits.is_some() || plan.source.preparing.is_some() => None,
        Takes::Rows(_) => memory::bytes_of_rows(path, &plan.source.selection)?.map(|bytes| bytes as u64),
        Takes::Matrix(_) => lehr_data::read::dissimilarities::header(path).ok().map(|header| pairs(header.items, 4)),
    };
    let name = plan.method.about().name.to_owned();
    Ok(Checked { name, out: plan.out, resume: plan.resume_command, bytes })
}

fn of_distances(plan: DistancesPlan) -> Result<Checked, Failure> {
    is_there(&plan.input)?;
    if plan.holds == Holds::Matrix {
        return Err(Failure::new(Kind::Usage, "converting a matrix cannot be continued after a time limit")
            .with_hint("run lehr distances itself; it takes as long as writing the file"));
    }
    let rows = memory::bytes_of_rows(&plan.input, &Selection::default())?;
    let items = rows.and(lehr_data::read::array_shape(&plan.input)?).map(|[items, _]| items);
    let width = if plan.element == lehr_data::dissimilarities::Element::F64 { 8 } else { 4 };
    let bytes = items.zip(rows).map(|(items, rows)| rows as u64 + pairs(items, width));
    Ok(Checked { name: "distances".to_owned(), out: plan.out, resume: plan.resume_command, bytes })
}

/// Returns the number of bytes of all pairs of items.
fn pairs(items: usize, width: u64) -> u64 {
    (items as u64).saturating_mul(items.saturating_sub(1) as u64) / 2 * width
}

/// Checks that an input exists, before a job waits in a queue for it.
fn is_there(path: &Path) -> Result<(), Failure> {
    if object::url(path).is_some() {
        // The login node asks the server, as the job will do.
        lehr_data::read::open(path)?;
        return Ok(());
    }
    match std::fs::metadata(path) {
        Ok(_) => Ok(()),
        Err(cause) => Err(Failure::new(Kind::Environment, format!("{}: {cause}", path.display()))),
    }
}
