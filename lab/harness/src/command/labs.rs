//! The labs as subcommands: turns arguments into a session, and its outcome into an exit code.

use lehr_data::memory;
use lehr_ranks::Job;

use crate::arguments::{ChemistryArguments, GrowthArguments, LabArguments, OverheadArguments, ScaleArguments};
use crate::bench::Stop;
use crate::bench::session::{End, Options};
use crate::chemistry::compounds::Files;
use crate::exit::{Failure, Kind};
use crate::overhead::task::Task;
use crate::scale::given::Given;
use crate::{chemistry, environment, growth, interrupt, overhead, ports, program, ranks, scale, services};

/// Measures the port runtime in turns with its peers and the machine's floors.
///
/// The first Ctrl-C ends the session after the current sample: the figures so far are printed and kept.
///
/// # Errors
/// Returns [`Kind::NoResult`] if a result of Lehr is wrong or the record cannot be written, and [`Kind::Stopped`] after
/// Ctrl-C.
pub fn ports(arguments: LabArguments) -> Result<(), Failure> {
    measure(arguments, ports::run)
}

/// Measures ranks on threads, over ports and on MPI in turns with every MPI and the machine's floors.
///
/// # Errors
/// Returns the errors of [`ports()`].
pub fn ranks(arguments: LabArguments) -> Result<(), Failure> {
    measure(arguments, ranks::run)
}

/// Measures messages to services in turns with actor libraries, and `lehr serve` in turns with a bare HTTP handler.
///
/// # Errors
/// Returns the errors of [`ports()`], and [`Kind::Environment`] if there is no `lehr` to measure.
pub fn services(arguments: LabArguments) -> Result<(), Failure> {
    let program = program::lehr()?;
    measure(arguments, move |options, stop| services::run(options, &program, stop))
}

fn measure(arguments: LabArguments, run: impl FnOnce(&Options, Stop) -> anyhow::Result<End>) -> Result<(), Failure> {
    let LabArguments { quick, json, only, rounds, peers, record } = arguments;
    let options = Options { quick, json, only, rounds, peers, record };
    let stop = interrupt::listen()?;
    said(run(&options, stop))
}

/// Turns the end of a measurement into a failure or success.
fn said(ended: anyhow::Result<End>) -> Result<(), Failure> {
    match ended? {
        End::Whole => Ok(()),
        End::Stopped => Err(Failure::new(Kind::Stopped, "what was measured until then is above")),
    }
}

/// Measures the overhead of dividing clustering runs.
///
/// # Errors
/// Returns the errors of [`ports()`], and [`Kind::Environment`] if this program cannot find its own file.
pub fn overhead(arguments: OverheadArguments) -> Result<(), Failure> {
    let OverheadArguments { quick, json, only, rounds, data, mpiexec, record } = arguments;
    let program = program::own()?;
    let data = data.or_else(environment::data_folder);
    let options = overhead::Options { quick, json, only, rounds, data, mpiexec, record, program };
    let stop = interrupt::listen()?;
    said(overhead::run(&options, stop))
}

/// Measures how the costs of distances, clusters and maps grow with the number of items.
///
/// # Errors
/// Returns the errors of [`ports()`], and [`Kind::Environment`] if there is no `lehr` to measure.
pub fn scale(arguments: ScaleArguments) -> Result<(), Failure> {
    let ScaleArguments { quick, json, only, rounds, memory, sequences, clusters, folder, record } = arguments;
    let options = Options { quick, json, only, rounds, peers: None, record };
    let bad_data = |error| Failure::new(Kind::BadData, format!("{error:#}"));
    let given = sequences.map(|path| Given::read(&path, clusters)).transpose().map_err(bad_data)?;
    let (program, free_memory) = (program::lehr()?, memory::available());
    let setting = scale::Setting { program, folder, free_memory, gibibytes: memory, given };
    let stop = interrupt::listen()?;
    said(scale::run(&options, &setting, stop))
}

/// Measures how the costs of clusters, mixtures and maps grow with rows, columns, clusters and ranks.
///
/// # Errors
/// Returns the errors of [`ports()`], and [`Kind::Environment`] if there is no `lehr` to measure.
pub fn growth(arguments: GrowthArguments) -> Result<(), Failure> {
    let GrowthArguments { quick, json, only, rounds, folder, record } = arguments;
    let options = Options { quick, json, only, rounds, peers: None, record };
    let setting = growth::Setting { program: program::lehr()?, folder, free_memory: memory::available() };
    let stop = interrupt::listen()?;
    said(growth::run(&options, &setting, stop))
}

/// Measures the gain of bits over numbers, and how well clusters of compounds separate active compounds.
///
/// # Errors
/// Returns the errors of [`ports()`], and [`Kind::Environment`] if there is no `lehr` to measure.
pub fn chemistry(arguments: ChemistryArguments) -> Result<(), Failure> {
    let ChemistryArguments { quick, json, only, rounds, fingerprints, activities, folder, record } = arguments;
    let options = Options { quick, json, only, rounds, peers: None, record };
    let files = fingerprints.zip(activities).map(|(fingerprints, activities)| Files { fingerprints, activities });
    let setting = chemistry::Setting { program: program::lehr()?, files, folder, free_memory: memory::available() };
    let stop = interrupt::listen()?;
    said(chemistry::run(&options, &setting, stop))
}

/// Does a task of a measurement; returns its answer as a line.
///
/// # Errors
/// Returns [`Kind::Usage`] if the text is not a task, and [`Kind::NoResult`] if the task failed.
pub fn job(task: &str, job: Option<Job>) -> Result<String, Failure> {
    let task: Task = serde_json::from_str(task)
        .map_err(|cause| Failure::new(Kind::Usage, format!("expected a task of a measurement in JSON: {cause}")))?;
    let answer = task.work(job)?;
    let line = serde_json::to_string(&answer)
        .map_err(|cause| Failure::new(Kind::NoResult, format!("an answer cannot be written as JSON: {cause}")))?;
    Ok(line + "\n")
}
