//! The plan of `lehr place`: the items, how they are compared, and the map for them.

use std::ffi::OsString;
use std::path::PathBuf;

use lehr_data::object;
use lehr_methods::distances::{ItemKind, Metric, Options};
use lehr_mining::Execution;
use lehr_mining::smacof::Interpolation;

use super::distances::{Holds, holding};
use crate::arguments::PlaceArguments;
use crate::exit::{Failure, Kind};
use crate::progress::CHECKPOINT_SECONDS;

/// The default folder for results.
const OUT_DEFAULT: &str = "lehr-place";

/// One run of the command.
pub struct PlacePlan {
    /// The file with the new items, as typed.
    pub input: PathBuf,
    /// The folder of the map.
    pub map: PathBuf,
    /// The file with the items of the map.
    pub among: PathBuf,
    /// The kind of the items in both files.
    pub kind: ItemKind,
    /// How items are compared.
    pub options: Options,
    /// The character between fields of tables, if it was given.
    pub delimiter: Option<u8>,
    /// How an item's neighbours determine its position.
    pub interpolation: Interpolation,
    /// The engine, ranks and threads.
    pub execution: Execution,
    /// The folder for results.
    pub out: PathBuf,
    /// The folder with the checkpoint to resume from.
    pub resumed: Option<PathBuf>,
    /// Whether to replace files that would otherwise be protected.
    pub force: bool,
    /// The seconds between two saves of the finished part.
    pub checkpoint_seconds: f64,
    /// Whether to print the summary.
    pub json: bool,
    /// Whether to show no progress.
    pub quiet: bool,
    /// The command that continues this run after it was stopped.
    pub resume_command: String,
    /// The typed command without the folder of results.
    pub command: String,
}

impl PlacePlan {
    /// Checks the arguments together, and against the kind of input file. `typed` is the command line as typed.
    ///
    /// # Errors
    /// Returns [`Kind::Usage`] for options that contradict each other or do not suit the input.
    pub fn new(arguments: PlaceArguments, typed: &[OsString]) -> Result<Self, Failure> {
        let PlaceArguments { input, map, among, neighbours, comparison, table, threads, .. } = arguments;
        let (options, delimiter) = (comparison.0, table.delimiter);
        let Holds::Items(kind) = holding(&input, &options, delimiter)? else {
            let message =
                format!("{}: expected items, found a matrix, which does not have them", object::shown(&input));
            return Err(Failure::new(Kind::Usage, message));
        };
        takes(&options)?;
        let mut execution = Execution::default();
        if let Some(threads) = threads {
            (execution.threads, execution.ranks) = (threads, threads);
        }
        let out = arguments.out.or(arguments.resume.clone()).unwrap_or_else(|| PathBuf::from(OUT_DEFAULT));
        Ok(Self {
            among: among.unwrap_or_else(|| input.clone()),
            input,
            map,
            kind,
            options,
            delimiter,
            interpolation: Interpolation { neighbours, leaves_out: true, ..Interpolation::default() },
            execution,
            resume_command: super::resume_command(typed, &out),
            command: super::command_without_results(typed),
            out,
            resumed: arguments.resume,
            force: arguments.force,
            checkpoint_seconds: CHECKPOINT_SECONDS,
            json: arguments.json,
            quiet: arguments.quiet,
        })
    }
}

/// Refuses a metric with which items cannot be placed one by one.
///
/// # Errors
/// Returns [`Kind::Usage`] for such a metric.
pub fn takes(options: &Options) -> Result<(), Failure> {
    if options.metric != Some(Metric::Gower) {
        return Ok(());
    }
    let message = "--metric: expected one by which a new item is compared by itself, found gower, whose ranges are those of all rows";
    Err(Failure::new(Kind::Usage, message).with_hint("run lehr distances and lehr embed with both tables together"))
}
