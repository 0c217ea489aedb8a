//! The plan of `lehr mixture`: what its command line means together.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lehr_data::Spill;
use lehr_data::read::Selection;
use lehr_mining::mixture::{Checkpoint, Covariance, Parameters};
use lehr_ranks::{Execution, Job, Layout};

use crate::arguments::{CovarianceArgument, MixtureArguments, MixtureMethod};
use crate::exit::{Failure, Kind};
use crate::plan::{Frame, execution, frame, resume_command, spill_of, stays_in_memory};
use crate::resume::{Repeated, checkpoint_of};

/// The folder for results when none is named.
const OUT_DEFAULT: &str = "lehr-mixture";

/// One fit: where the points come from, what is fitted, what becomes of the results.
pub struct MixturePlan {
    /// The file, as typed.
    pub path: PathBuf,
    /// Which of its columns mean what.
    pub selection: Selection,
    /// Cells without a value are missing, not faults.
    pub missing: bool,
    /// Where rows are kept that memory should not hold.
    pub spill: Option<Spill>,
    /// Columns as they are, or scaled.
    pub frame: Frame,
    /// From the beginning, or from a checkpoint and the folder it came from.
    pub start: MixtureStart,
    /// Engine, ranks and threads.
    pub execution: Execution,
    /// Where the ranks are.
    pub layout: Layout,
    /// The folder for results.
    pub out: PathBuf,
    /// Replace what would otherwise be protected.
    pub force: bool,
    /// Print the summary as JSON.
    pub json: bool,
    /// No progress.
    pub quiet: bool,
    /// The command that continues this run after it was stopped.
    pub resume_command: String,
}

/// Where a fit begins.
pub enum MixtureStart {
    /// At the first number of components that is tried.
    Fresh(Parameters),
    /// The state of an earlier run, and the folder it came from.
    Resumed(Box<Checkpoint>, PathBuf),
}

impl MixturePlan {
    /// Checks the arguments together. `typed` is the command line as it came, for [`MixturePlan::resume_command`]; `job` the processes that compute
    /// together, if there are several.
    ///
    /// # Errors
    /// - [`Kind::Usage`]: options that contradict each other or the checkpoint.
    /// - [`Kind::Environment`], [`Kind::BadData`]: a checkpoint that cannot be read, or is damaged or of another version or method.
    pub fn new(arguments: MixtureArguments, typed: &[OsString], job: Option<Job>) -> Result<Self, Failure> {
        let MixtureArguments { input, spill, table, missing, mixture, execution: computed, results } = arguments;
        if table.lonlat {
            return Err(Failure::new(
                Kind::Usage,
                "--lonlat: a mixture of Gaussians is one of columns, not of positions on a sphere",
            )
            .with_hint("project the positions first (km east and north), or use lehr cluster"));
        }
        if missing && job.is_some() {
            return Err(Failure::new(Kind::Usage, "--missing: rows with missing cells are fitted by one process")
                .with_hint("run it without mpiexec; --threads uses all cores of this machine"));
        }
        let spill = spill_of(spill, job.as_ref())?;
        if missing {
            stays_in_memory(spill.as_ref(), "--missing has rows with gaps")?;
        }
        let header = match (table.header, table.no_header) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let frame = frame(false, table.scale, table.columns.as_deref())?;
        let selection = Selection {
            columns: table.columns,
            weights: table.weights,
            id: table.id,
            delimiter: table.delimiter,
            header,
        };
        let start = match &results.resume {
            Some(folder) => MixtureStart::Resumed(Box::new(checkpoint(folder, &mixture)?), folder.clone()),
            None => MixtureStart::Fresh(parameters(&mixture)),
        };
        let (execution, layout) = execution(&computed, job)?;
        let out = results.out.or(results.resume).unwrap_or_else(|| PathBuf::from(OUT_DEFAULT));
        Ok(MixturePlan {
            path: input,
            selection,
            missing,
            spill,
            frame,
            start,
            execution,
            layout,
            resume_command: resume_command(typed, &out),
            out,
            force: results.force,
            json: results.json,
            quiet: results.quiet,
        })
    }
}

fn covariance(argument: CovarianceArgument) -> Covariance {
    match argument {
        CovarianceArgument::Spherical => Covariance::Spherical,
        CovarianceArgument::Diagonal => Covariance::Diagonal,
        CovarianceArgument::Tied => Covariance::Tied,
        CovarianceArgument::Full => Covariance::Full,
    }
}

fn parameters(method: &MixtureMethod) -> Parameters {
    let default = Parameters::default();
    Parameters {
        components: method.components,
        max_components: method.max_components,
        covariance: method.covariance.map_or(default.covariance, covariance),
        regularisation: method.regularisation.unwrap_or(default.regularisation),
        seed: method.seed.unwrap_or(default.seed),
        ..default
    }
}

/// Reads the checkpoint of `folder`, and refuses options that say something else than it does.
fn checkpoint(folder: &Path, method: &MixtureMethod) -> Result<Checkpoint, Failure> {
    let checkpoint = Checkpoint::read(&checkpoint_of(folder)?)?;
    let stored = checkpoint.parameters();
    let mut repeated = Repeated::default();
    repeated.option("--components", method.components, stored.components, usize::to_string);
    repeated.option("--max-components", method.max_components, stored.max_components, usize::to_string);
    let asked = method.covariance.map(covariance);
    repeated.option("--covariance", asked, Some(stored.covariance), Covariance::to_string);
    repeated.option("--regularisation", method.regularisation, Some(stored.regularisation), f64::to_string);
    repeated.option("--seed", method.seed, Some(stored.seed), u64::to_string);
    repeated.agree()?;
    Ok(checkpoint)
}
