//! What `lehr gtm` takes: the input, the map, what becomes of the results.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::execution::ExecutionArguments;
use super::spill::SpillArguments;
use super::table::TableArguments;
use super::{at_least_one, positive};

/// What `lehr gtm` takes.
#[derive(Debug, Args)]
#[command(after_help = GTM_HELP)]
pub struct GtmArguments {
    /// The table: .csv, .tsv, .txt (each may be gzipped), .npy or .parquet
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// Where its rows are kept.
    #[command(flatten)]
    pub spill: SpillArguments,

    /// Which columns mean what.
    #[command(flatten)]
    pub table: TableArguments,

    /// Empty cells, NA and the like are missing values, which are left out of every distance; without it they are faults
    #[arg(long, conflicts_with = "weights", help_heading = "The table")]
    pub missing: bool,

    /// What is fitted.
    #[command(flatten)]
    pub map: GtmMethod,

    /// How it is computed.
    #[command(flatten)]
    pub execution: ExecutionArguments,

    /// What becomes of the results.
    #[command(flatten)]
    pub results: GtmResults,
}

/// What is fitted.
#[derive(Debug, Args)]
#[command(next_help_heading = "The map")]
pub struct GtmMethod {
    /// Dimensions of the map, 1 to 3 [default: 2]
    #[arg(long, value_name = "L", value_parser = at_least_one)]
    pub dimensions: Option<usize>,

    /// Nodes along each axis [default: 15, from 2,000 rows on 20; 50 in one dimension, 8 in three]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub nodes: Option<usize>,

    /// Basis functions along each axis: more of them follow the rows more closely [default: 5; 8 in one dimension, 3 in three]
    #[arg(long, value_name = "M", value_parser = at_least_one)]
    pub basis: Option<usize>,

    /// Width of a basis function over the distance to the next, 0.1 to 10 [default: 1]
    #[arg(long, value_name = "WIDTH", value_parser = positive, allow_negative_numbers = true)]
    pub width: Option<f64>,

    /// How stiff the map is: the prior's precision in one over the mean variance of a column [default: 0.1]
    #[arg(long, value_name = "PRECISION", allow_negative_numbers = true)]
    pub regularisation: Option<f64>,

    /// Where the map begins [default: both]
    #[arg(long, value_enum)]
    pub start: Option<MapStartArgument>,
}

/// Where a map begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum MapStartArgument {
    /// Follow both beginnings, one after the other, and keep the end of more likelihood
    Both,
    /// As a point, annealed
    Annealed,
    /// As the plane of the principal axes, without annealing
    Plane,
}

/// What becomes of the results.
#[derive(Debug, Args)]
#[command(next_help_heading = "The results")]
pub struct GtmResults {
    /// The folder for places.csv, nodes.csv, model.json, summary.json and report.html; results of an earlier map in it are replaced,
    /// other files are left alone [default: lehr-gtm, or the folder of --resume]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// Continue the run whose checkpoint is in this folder: same input and table options, parameters from the checkpoint
    #[arg(long, value_name = "FOLDER")]
    pub resume: Option<PathBuf>,

    /// Replace an unfinished run's checkpoint, results of another command, and files that look like results but are not known to be a map's
    #[arg(long)]
    pub force: bool,

    /// Print the content of summary.json to standard output, and nothing else there
    #[arg(long)]
    pub json: bool,

    /// No progress on standard error; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,
}

const GTM_HELP: &str = "\
Example:
  lehr gtm wine.csv --scale std
      a map of 15 x 15 nodes of all columns; open lehr-gtm/report.html

  lehr predict lehr-gtm/model.json new-wine.csv > places.csv
      where on that map other rows are

Ctrl-C stops the run, keeps a checkpoint and says how to continue.
Exit codes: 0 done, 1 no result, 2 usage, 3 bad data, 4 environment, 130 stopped.";
