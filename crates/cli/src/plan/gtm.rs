//! The plan of `lehr gtm`: what its command line means together.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use lehr_data::Spill;
use lehr_data::read::Selection;
use lehr_mining::gtm::{Checkpoint, Parameters, Start};
use lehr_ranks::{Execution, Job, Layout};

use crate::arguments::{GtmArguments, GtmMethod, MapStartArgument};
use crate::exit::{Failure, Kind};
use crate::plan::{Frame, execution, frame, resume_command, spill_of, stays_in_memory};
use crate::resume::{Repeated, checkpoint_of};

/// The folder for results when none is named.
const OUT_DEFAULT: &str = "lehr-gtm";

/// One fit: where the points come from, what is fitted, what becomes of the results.
pub struct GtmPlan {
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
    pub start: GtmStart,
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
pub enum GtmStart {
    /// At the highest temperature.
    Fresh(Parameters),
    /// The state of an earlier run, and the folder it came from.
    Resumed(Box<Checkpoint>, PathBuf),
}

impl GtmPlan {
    /// Checks the arguments together. `typed` is the command line as it came, for [`GtmPlan::resume_command`]; `job` the processes that compute
    /// together, if there are several.
    ///
    /// # Errors
    /// - [`Kind::Usage`]: options that contradict each other or the checkpoint.
    /// - [`Kind::Environment`], [`Kind::BadData`]: a checkpoint that cannot be read, or is damaged or of another version or method.
    pub fn new(arguments: GtmArguments, typed: &[OsString], job: Option<Job>) -> Result<Self, Failure> {
        let GtmArguments { input, spill, table, missing, map, execution: computed, results } = arguments;
        if table.lonlat {
            return Err(Failure::new(
                Kind::Usage,
                "--lonlat: a map is made of many columns; positions on a sphere have a map already",
            )
            .with_hint("leave --lonlat out and name the columns with --columns, or use lehr cluster"));
        }
        if missing && job.is_some() {
            return Err(Failure::new(Kind::Usage, "--missing: rows with missing cells are mapped by one process")
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
            Some(folder) => GtmStart::Resumed(Box::new(checkpoint(folder, &map)?), folder.clone()),
            None => GtmStart::Fresh(parameters(&map)),
        };
        let (execution, layout) = execution(&computed, job)?;
        let out = results.out.or(results.resume).unwrap_or_else(|| PathBuf::from(OUT_DEFAULT));
        Ok(GtmPlan {
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

fn parameters(method: &GtmMethod) -> Parameters {
    let default = Parameters::default();
    Parameters {
        latent: method.dimensions.unwrap_or(default.latent),
        nodes: method.nodes,
        basis: method.basis,
        width: method.width.unwrap_or(default.width),
        regularisation: method.regularisation.unwrap_or(default.regularisation),
        start: method.start.and_then(start),
        ..default
    }
}

/// The one beginning that is asked for; nothing for both.
fn start(argument: MapStartArgument) -> Option<Start> {
    match argument {
        MapStartArgument::Both => None,
        MapStartArgument::Annealed => Some(Start::Annealed),
        MapStartArgument::Plane => Some(Start::Plane),
    }
}

/// Reads the checkpoint of `folder`, and refuses options that say something else than it does.
fn checkpoint(folder: &Path, method: &GtmMethod) -> Result<Checkpoint, Failure> {
    let checkpoint = Checkpoint::read(&checkpoint_of(folder)?)?;
    let stored = checkpoint.parameters();
    let mut repeated = Repeated::default();
    repeated.option("--dimensions", method.dimensions, Some(stored.latent), usize::to_string);
    repeated.option("--nodes", method.nodes, stored.nodes, usize::to_string);
    repeated.option("--basis", method.basis, stored.basis, usize::to_string);
    repeated.option("--width", method.width, Some(stored.width), f64::to_string);
    repeated.option("--regularisation", method.regularisation, Some(stored.regularisation), f64::to_string);
    let began = |start: &Option<Start>| match start {
        None => "both".to_owned(),
        Some(Start::Annealed) => "annealed".to_owned(),
        Some(Start::Plane) => "plane".to_owned(),
    };
    repeated.option("--start", method.start.map(start), Some(stored.start), began);
    repeated.agree()?;
    Ok(checkpoint)
}
