//! What `lehr minibatch` takes: the stream, the clusters, what becomes of the results.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::execution::ExecutionArguments;
use super::table::delimiter;
use super::{at_least_one, positive};

/// What `lehr minibatch` takes.
#[derive(Debug, Args)]
#[command(after_help = MINIBATCH_HELP)]
pub struct MinibatchArguments {
    /// The stream: a table, .csv, .tsv, .txt or .npy (each may be gzipped) or .parquet, or - for text or .npy on standard input
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// Which columns mean what.
    #[command(flatten)]
    pub table: StreamArguments,

    /// What the clustering does.
    #[command(flatten)]
    pub minibatch: MinibatchMethod,

    /// How it is computed.
    #[command(flatten)]
    pub execution: ExecutionArguments,

    /// What becomes of the results.
    #[command(flatten)]
    pub results: MinibatchResults,
}

/// Which columns of the stream mean what.
#[derive(Debug, Args)]
#[command(next_help_heading = "The stream")]
pub struct StreamArguments {
    /// The columns to work on, by name or 0-based index [default: those that are numeric in the first rows]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',')]
    pub columns: Option<Vec<String>>,

    /// The column of weights (at least 0; rows of weight 0 are passed over)
    #[arg(long, value_name = "COLUMN")]
    pub weights: Option<String>,

    /// Scale the columns as the sample says; results are told in the columns' own units
    #[arg(long, value_enum, default_value_t = ScaleBySample::None)]
    pub scale: ScaleBySample,

    /// The character between fields, or tab, space, comma, semicolon, pipe [default: detected]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub delimiter: Option<u8>,

    /// The first row is a header [default: detected]
    #[arg(long, overrides_with = "no_header")]
    pub header: bool,

    /// The first row is data [default: detected]
    #[arg(long, overrides_with = "header")]
    pub no_header: bool,
}

/// How columns are scaled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScaleBySample {
    /// As they are
    None,
    /// By mean and standard deviation of the sample
    Std,
    /// By median and interquartile range of the sample
    Robust,
}

/// What the clustering does.
#[derive(Debug, Args)]
#[command(next_help_heading = "The clustering")]
pub struct MinibatchMethod {
    /// This many clusters; needed, but with --resume
    #[arg(long, short = 'k', alias = "k", value_name = "K", value_parser = at_least_one)]
    pub clusters: Option<usize>,

    /// Rows of a batch: the most that are in memory at once, beside the sample [default: 10000]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub batch_rows: Option<usize>,

    /// Rows at the beginning that are clustered by annealing, before batches go by; they should be like the rest [default: those of a batch]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub sample_rows: Option<usize>,

    /// After so many rows more what a row counts is halved, so that centres follow a stream that changes [default: nothing is forgotten]
    #[arg(long, value_name = "ROWS", value_parser = positive, allow_negative_numbers = true)]
    pub half_life: Option<f64>,

    /// Decides between equals in the sample; the same seed gives the same result [default: 0]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,

    /// How coordinates are stored; sums are always 64 bits wide [default: f64]
    #[arg(long, value_enum)]
    pub precision: Option<PrecisionArgument>,
}

/// How coordinates are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PrecisionArgument {
    /// 64 bits
    F64,
    /// 32 bits: half the memory, and faster
    F32,
}

/// What becomes of the results.
#[derive(Debug, Args)]
#[command(next_help_heading = "The results")]
pub struct MinibatchResults {
    /// The folder for centers.csv, model.json and summary.json; results of an earlier stream in it are replaced, other files are left alone
    /// [default: lehr-minibatch, or the folder of --resume]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// Continue the run whose checkpoint is in this folder: the same stream from its beginning, parameters from the checkpoint
    #[arg(long, value_name = "FOLDER")]
    pub resume: Option<PathBuf>,

    /// Replace an unfinished run's checkpoint, results of another command, and files that look like results but are not known to be a stream's
    #[arg(long)]
    pub force: bool,

    /// Print the content of summary.json to standard output, and nothing else there
    #[arg(long)]
    pub json: bool,

    /// No progress on standard error; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,
}

const MINIBATCH_HELP: &str = "\
An approximation: a row is looked at once, and forgotten but for what it did to its centre. The objective is that of the batches as they passed, each row from its centre as that stood then, and not that
of all rows at the centres that are written. lehr cluster --spill goes over all rows of a table larger than memory, and is exact.

Example:
  lehr minibatch measurements.csv.gz --clusters 20
      twenty centres from one pass over the table

  zcat day-*.csv.gz | lehr minibatch - --columns speed,load --clusters 20 --batch-rows 5000 --half-life 1e6
      a stream on standard input, of which the last million rows count most

  lehr predict lehr-minibatch/model.json measurements.csv.gz
      which centre is nearest to each row, and how far away

Ctrl-C stops the run, keeps a checkpoint and says how to continue: the stream is then read again from its beginning, and what had passed is not computed again.
Exit codes: 0 done, 1 no result, 2 usage, 3 bad data, 4 environment, 130 stopped.";
