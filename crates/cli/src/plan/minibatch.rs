//! The plan of `lehr minibatch`: what its command line means together.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lehr_data::read::Selection;
use lehr_data::scale::Scale;
use lehr_mining::minibatch::{Checkpoint, Parameters};
use lehr_mining::vector::Precision;
use lehr_ranks::{Execution, Layout};

use crate::arguments::{MinibatchArguments, MinibatchMethod, PrecisionArgument, ScaleBySample};
use crate::exit::{Failure, Kind};
use crate::plan::{execution, resume_command};
use crate::resume::{Repeated, checkpoint_of};

/// The folder for results when none is named.
const OUT_DEFAULT: &str = "lehr-minibatch";

/// What stands for standard input.
const STANDARD_INPUT: &str = "-";

/// One stream: where the rows come from, what is done with them, what becomes of the results.
pub struct MinibatchPlan {
    /// The file, as typed; none for standard input.
    pub path: Option<PathBuf>,
    /// Which of its columns mean what.
    pub selection: Selection,
    /// Columns as they are, or scaled.
    pub scale: Scale,
    /// From the beginning, or from a checkpoint and the folder it came from.
    pub start: MinibatchStart,
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

/// Where a stream begins.
pub enum MinibatchStart {
    /// At its sample.
    Fresh(Parameters),
    /// The state of an earlier run, and the folder it came from.
    Resumed(Box<Checkpoint>, PathBuf),
}

impl MinibatchPlan {
    /// Checks the arguments together. `typed` is the command line as it came, for [`MinibatchPlan::resume_command`].
    ///
    /// # Errors
    /// - [`Kind::Usage`]: options that contradict each other or the checkpoint, or no number of clusters.
    /// - [`Kind::Environment`], [`Kind::BadData`]: a checkpoint that cannot be read, or is damaged or of another version or method.
    pub fn new(arguments: MinibatchArguments, typed: &[OsString]) -> Result<Self, Failure> {
        let MinibatchArguments { input, table, minibatch, execution: computed, results } = arguments;
        let header = match (table.header, table.no_header) {
            (true, _) => Some(true),
            (_, true) => Some(false),
            _ => None,
        };
        let selection =
            Selection { columns: table.columns, weights: table.weights, id: None, delimiter: table.delimiter, header };
        let start = match &results.resume {
            Some(folder) => MinibatchStart::Resumed(Box::new(checkpoint(folder, &minibatch)?), folder.clone()),
            None => MinibatchStart::Fresh(parameters(&minibatch)?),
        };
        let (execution, layout) = execution(&computed, None)?;
        let out = results.out.or(results.resume).unwrap_or_else(|| PathBuf::from(OUT_DEFAULT));
        Ok(MinibatchPlan {
            path: (input.as_os_str() != STANDARD_INPUT).then_some(input),
            selection,
            scale: match table.scale {
                ScaleBySample::None => Scale::None,
                ScaleBySample::Std => Scale::Std,
                ScaleBySample::Robust => Scale::Robust,
            },
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

    /// What the method is told.
    pub fn parameters(&self) -> &Parameters {
        match &self.start {
            MinibatchStart::Fresh(parameters) => parameters,
            MinibatchStart::Resumed(checkpoint, _) => checkpoint.parameters(),
        }
    }

    /// What messages call the stream.
    pub fn source(&self) -> String {
        self.path.as_ref().map_or_else(|| "standard input".to_owned(), |path| path.display().to_string())
    }
}

/// Of more clusters than the sample has rows.
pub fn too_many(error: lehr_mining::Error) -> Failure {
    Failure::from(error).with_hint("clusters are found in the sample: --sample-rows takes a larger one")
}

fn precision(argument: PrecisionArgument) -> Precision {
    match argument {
        PrecisionArgument::F64 => Precision::F64,
        PrecisionArgument::F32 => Precision::F32,
    }
}

fn precision_name(precision: &Precision) -> String {
    match precision {
        Precision::F64 => "f64",
        Precision::F32 => "f32",
    }
    .to_owned()
}

fn parameters(method: &MinibatchMethod) -> Result<Parameters, Failure> {
    let Some(clusters) = method.clusters else {
        let message = "lehr minibatch needs --clusters: only lehr cluster can tell how many there are";
        return Err(Failure::new(Kind::Usage, message));
    };
    let default = Parameters::default();
    let parameters = Parameters {
        clusters,
        batch_rows: method.batch_rows.unwrap_or(default.batch_rows),
        sample_rows: method.sample_rows,
        half_life: method.half_life,
        seed: method.seed.unwrap_or(default.seed),
        precision: method.precision.map_or(default.precision, precision),
    };
    // Before the sample is read, which may be long in coming.
    match parameters.check() {
        Ok(()) => Ok(parameters),
        Err(error @ lehr_mining::Error::TooManyClusters { .. }) => Err(too_many(error)),
        Err(error) => Err(error.into()),
    }
}

/// Reads the checkpoint of `folder`, and refuses options that say something else than it does.
fn checkpoint(folder: &Path, method: &MinibatchMethod) -> Result<Checkpoint, Failure> {
    let checkpoint = Checkpoint::read(&checkpoint_of(folder)?)?;
    let stored = checkpoint.parameters();
    let mut repeated = Repeated::default();
    repeated.option("--clusters", method.clusters, Some(stored.clusters), usize::to_string);
    repeated.option("--batch-rows", method.batch_rows, Some(stored.batch_rows), usize::to_string);
    repeated.option("--sample-rows", method.sample_rows, Some(stored.sample()), usize::to_string);
    repeated.option("--half-life", method.half_life, stored.half_life, f64::to_string);
    repeated.option("--seed", method.seed, Some(stored.seed), u64::to_string);
    let asked = method.precision.map(precision);
    repeated.option("--precision", asked, Some(stored.precision), precision_name);
    repeated.agree()?;
    Ok(checkpoint)
}
