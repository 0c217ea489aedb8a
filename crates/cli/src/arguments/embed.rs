//! What `lehr embed` takes: a matrix, how the map is made, what becomes of the results.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::execution::ExecutionArguments;
use super::matrix::MatrixResultsArguments;
use super::{at_least_one, positive};

/// What `lehr embed` takes.
#[derive(Debug, Args)]
#[command(after_help = EMBED_HELP)]
pub struct EmbedArguments {
    /// The matrix: dissimilarities.json or its array as lehr distances writes them, or any square or condensed NPY array of floating point
    #[arg(value_name = "MATRIX")]
    pub input: PathBuf,

    /// Dimensions of the map [default: 2]
    #[arg(long, short = 'd', value_name = "L", value_parser = at_least_one)]
    pub dimension: Option<usize>,

    /// Where it starts [default: classical]
    #[arg(long, value_enum)]
    pub start: Option<StartArgument>,

    /// Random starts, of which the best is kept [default: 4]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub starts: Option<usize>,

    /// How pairs are weighted [default: equal]
    #[arg(long, value_enum)]
    pub weighting: Option<WeightingArgument>,

    /// Anneal the dissimilarities, which avoids poor maps from random starts and with weights
    #[arg(long)]
    pub anneal: bool,

    /// The end: stress falls by less than this share of itself in an iteration [default: 1e-6]
    #[arg(long, value_name = "SHARE", value_parser = positive)]
    pub tolerance: Option<f64>,

    /// Iterations at most, of each start [default: 1000]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub max_iterations: Option<usize>,

    /// The seed of random starts [default: 0]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Colour the map by a column of this table, which has a column id: the labels.csv of another run, or known classes
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,

    /// The column of --labels
    #[arg(long, value_name = "COLUMN", default_value = "cluster", requires = "labels")]
    pub by: String,

    /// How it is computed.
    #[command(flatten)]
    pub execution: ExecutionArguments,

    /// What becomes of the results.
    #[command(flatten)]
    pub results: MatrixResultsArguments,
}

/// Where a map starts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StartArgument {
    /// The leading eigenvectors of the centred squares (Torgerson)
    Classical,
    /// Normal random positions
    Random,
}

/// How pairs are weighted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WeightingArgument {
    /// All alike
    Equal,
    /// One over the dissimilarity
    Sammon,
    /// The square of that
    InverseSquare,
}

const EMBED_HELP: &str = "\
Example:
  lehr embed genes/dissimilarities.json --dimension 3 --labels genes/labels.csv --out genes-map
      a map to be turned in the page, coloured by cluster; open genes-map/report.html

  lehr embed lehr-genes/dissimilarities.json --labels lehr-genes/ids.csv --by family
      the map of lehr demo genes in two dimensions, coloured by what is known

  lehr embed d.npy --json | jq .result.stress
      how well two dimensions say the dissimilarities: 0 is exact";
