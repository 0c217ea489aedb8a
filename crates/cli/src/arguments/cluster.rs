//! What `lehr cluster` takes: the input, the method, what becomes of the results.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use lehr_data::sparse::FirstColumn;

use super::execution::ExecutionArguments;
use super::spill::SpillArguments;
use super::table::TableArguments;
use super::{at_least_one, positive};

/// What `lehr cluster` takes.
#[derive(Debug, Args)]
#[command(after_help = CLUSTER_HELP)]
pub struct ClusterArguments {
    /// The table: .csv, .tsv, .txt (each may be gzipped), .npy or .parquet; fingerprints: .fps (may be gzipped), or .npy with --bits; or sparse rows: SVMlight's text or Matrix Market .mtx (each may be gzipped)
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// The .npy holds rows of this many bits, packed as numpy.packbits(rows, axis=1) packs them: clustered as columns of 0 and 1, in a 64th of the memory
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub bits: Option<usize>,

    /// Of SVMlight's text: what its first column is numbered [default: 0 if a column 0 occurs, else 1]
    #[arg(long, value_name = "0|1", value_parser = first_column)]
    pub first_column: Option<FirstColumn>,

    /// Of fingerprints, packed bits and sparse rows: the table whose column --weights has their weights, in the row with the same id in the column --id, or without --id row by row
    #[arg(long, value_name = "TABLE", requires = "weights")]
    pub weights_from: Option<PathBuf>,

    /// Where its rows are kept.
    #[command(flatten)]
    pub spill: SpillArguments,

    /// Which columns mean what.
    #[command(flatten)]
    pub table: TableArguments,

    /// What the clustering does.
    #[command(flatten)]
    pub method: MethodArguments,

    /// How it is computed.
    #[command(flatten)]
    pub execution: ExecutionArguments,

    /// What becomes of the results.
    #[command(flatten)]
    pub results: ResultsArguments,
}

/// What the clustering does.
#[derive(Debug, Args)]
#[command(next_help_heading = "The clustering")]
pub struct MethodArguments {
    /// How clusters are found [default: da, or the method of --resume]
    #[arg(long, value_enum, value_name = "METHOD")]
    pub method: Option<ClusterMethod>,

    /// Stop at this many clusters
    #[arg(long, short = 'k', alias = "k", value_name = "K", value_parser = clusters)]
    pub clusters: Option<usize>,

    /// Stop at this temperature (squared unit of the columns; km² with --lonlat)
    #[arg(long, value_name = "T", value_parser = positive, allow_negative_numbers = true)]
    pub stop_temperature: Option<f64>,

    /// Stop at this length scale, the square root of T/2 (unit of the columns; km with --lonlat)
    #[arg(
        long,
        value_name = "LENGTH",
        value_parser = positive,
        allow_negative_numbers = true,
        conflicts_with = "stop_temperature"
    )]
    pub stop_length: Option<f64>,

    /// Without --clusters: the most clusters [default: 32, or no limit with a stop temperature or length]
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with = "clusters")]
    pub max_clusters: Option<usize>,

    /// Rows farther than this from every centre are outliers, labelled -1, and move none (unit of the columns as they are scaled; km with --lonlat)
    #[arg(long, value_name = "RADIUS", value_parser = positive, allow_negative_numbers = true)]
    pub sponge: Option<f64>,

    /// What a row costs in a cluster; with bernoulli temperatures are in nats [default: squared]
    #[arg(long, value_enum, value_name = "COST")]
    pub cost: Option<CostArgument>,

    /// With --cost bernoulli: what is added to the ones and to the zeros of each column of a cluster before its frequency is formed, as weight (a row without weights has 1), 0 to 1000 [default: 0.5]
    #[arg(long, value_name = "WEIGHT", value_parser = prior, allow_negative_numbers = true)]
    pub prior: Option<f64>,

    /// With --method kmeans: this many starts, of which the best is kept [default: 10]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub starts: Option<usize>,

    /// With --method kmeans: the most sweeps of a start [default: 300]
    #[arg(long, value_name = "N", value_parser = sweeps)]
    pub max_sweeps: Option<u64>,

    /// With --method kmeans: what a sweep looks at; the result is the same [default: bounded]
    #[arg(long, value_enum)]
    pub sweeps: Option<SweepsArgument>,

    /// Decides between equals, and draws the starts; the same seed gives the same result [default: 0]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,

    /// How coordinates are stored; sums are always 64 bits wide [default: f64]
    #[arg(long, value_enum)]
    pub precision: Option<PrecisionArgument>,
}

/// How clusters are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ClusterMethod {
    /// Deterministic annealing: no starts to choose, and --clusters may be left out
    Da,
    /// K-means: starts drawn by k-means++, Lloyd's sweeps to the fixed point; needs --clusters
    Kmeans,
}

/// What a row costs in a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CostArgument {
    /// The squared distance from its centre
    Squared,
    /// Of fingerprints and packed bits: how unlikely the row is by the frequencies of the cluster's bits, -ln p; a rare bit says more than a frequent one
    Bernoulli,
}

/// What a sweep of k-means looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SweepsArgument {
    /// Only the centres that can be nearest to some row of a group
    Bounded,
    /// Every centre, for every row: as Lloyd's algorithm says, and slower
    Plain,
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
pub struct ResultsArguments {
    /// The folder for labels.csv, centers.csv, model.json, summary.json and report.html; results of an earlier run in it are replaced,
    /// other files are left alone [default: lehr-out, or the folder of --resume]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// Continue the run whose checkpoint is in this folder: same input and table options, parameters from the checkpoint
    #[arg(long, value_name = "FOLDER")]
    pub resume: Option<PathBuf>,

    /// Replace an unfinished run's checkpoint, results of another command, and files that look like results but are not known to be Lehr's
    #[arg(long)]
    pub force: bool,

    /// Print the content of summary.json to standard output, and nothing else there
    #[arg(long)]
    pub json: bool,

    /// No progress on standard error; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,

    /// Write what each rank did when (computing, waiting, communicating) to this file, for ui.perfetto.dev or chrome://tracing; with --engine ranks or map-reduce
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

const CLUSTER_HELP: &str = "\
Example:
  lehr cluster blocks.csv.gz --columns lon,lat --lonlat --weights pop --id geoid --clusters 20
      twenty centres of population, distances in km; open lehr-out/report.html

  lehr cluster measurements.csv --scale std --json | jq .result.clusters
      how many clusters the data suggest

  lehr cluster measurements.csv --clusters 20 --sponge 3.5
      what is farther than 3.5 from all twenty centres is an outlier

  lehr cluster measurements.csv --method kmeans --clusters 20 --starts 50
      k-means to compare with: the best of fifty starts

  lehr cluster compounds.fps.gz --clusters 20
      compounds by their fingerprints; centers.csv has how frequent each bit is

  lehr cluster compounds.fps.gz --clusters 20 --cost bernoulli
      the same by the likelihood of each bit, so that rare bits count

  lehr cluster news20.svm.gz --clusters 20
      texts by their words, of which only those that they have are kept

  lehr cluster compounds.fps.gz --clusters 20 --weights-from screen.csv --weights potency --id compound
      the same with weights, which stand in a table beside

  lehr cluster large.npy --clusters 20 --spill /var/tmp
      a table larger than memory, kept on the disk of /var/tmp while the run lasts

  mpiexec -n 4 lehr cluster measurements.csv --clusters 20
      the same result, bit for bit, computed by four processes

  lehr cluster measurements.csv --clusters 20 --trace trace.json
      what each rank did when; open trace.json in ui.perfetto.dev

Ctrl-C stops the run, keeps a checkpoint and says how to continue.
Exit codes: 0 done, 1 no result, 2 usage, 3 bad data, 4 environment, 130 stopped.";

pub(super) fn first_column(text: &str) -> Result<FirstColumn, String> {
    match text {
        "0" => Ok(FirstColumn::Zero),
        "1" => Ok(FirstColumn::One),
        _ => Err("expected 0 or 1".to_owned()),
    }
}

fn clusters(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("at least one cluster is needed".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("expected a whole number of at least 1".to_owned()),
    }
}

fn prior(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(number) if (0.0..=1000.0).contains(&number) => Ok(number),
        _ => Err("expected a number from 0 to 1000".to_owned()),
    }
}

fn sweeps(text: &str) -> Result<u64, String> {
    at_least_one(text).map(|number| number as u64)
}
