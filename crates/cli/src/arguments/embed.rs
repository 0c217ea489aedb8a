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
    /// The dissimilarities of all pairs: dissimilarities.json as lehr distances writes it, or the array beside it; or any NPY array of f4 or f8, square, or of the N (N - 1) / 2 pairs above
    /// the diagonal in one dimension, as SciPy's pdist gives it. NaN is a pair without a value. Names and weights of the items are those of the ids.csv beside the header
    #[arg(value_name = "MATRIX")]
    pub input: PathBuf,

    /// Dimensions of the map [default: 2]
    #[arg(long, short = 'd', value_name = "L", value_parser = at_least_one)]
    pub dimension: Option<usize>,

    /// What the map begins as [default: classical]
    #[arg(long, value_enum)]
    pub start: Option<StartArgument>,

    /// With --start random: how many starts, of which the best is kept [default: 4]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub starts: Option<usize>,

    /// Which pairs the map should be true to [default: equal]
    #[arg(long, value_enum)]
    pub weighting: Option<WeightingArgument>,

    /// Anneal the dissimilarities, which avoids poor maps from random starts and with weights
    #[arg(long)]
    pub anneal: bool,

    /// When to end: stress (the error of the map) falls by less than this share of itself in an iteration [default: 1e-6]
    #[arg(long, value_name = "SHARE", value_parser = positive)]
    pub tolerance: Option<f64>,

    /// Iterations at most, of each start [default: 1000]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub max_iterations: Option<usize>,

    /// With --start random: the seed; the same seed gives the same map [default: 0]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// Colour the map by classes from this table, such as the labels.csv of lehr pairwise: for each item a row with its name in the column id and its class in that of --by. Items without
    /// names are called 0, 1, …
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,

    /// The column of --labels that has the classes, numbers or words
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
    /// All alike, so that large dissimilarities decide
    Equal,
    /// By one over the dissimilarity: small ones count for more
    Sammon,
    /// By the square of that: an error counts as a share of the dissimilarity
    InverseSquare,
}

const EMBED_HELP: &str = "\
Example:
  lehr embed genes/dissimilarities.json --dimension 3 --labels genes/labels.csv --out genes-map
      a map to be turned in the page, coloured by cluster; open genes-map/report.html

  lehr embed lehr-genes/dissimilarities.json --labels lehr-genes/ids.csv --by family
      the map of lehr demo genes in two dimensions, coloured by what is known

  lehr embed d.npy --json | jq .result.stress
      how well two dimensions say the dissimilarities: 0 is exact

The folder has positions.csv (a row an item: name, coordinates, stress, and its class if --labels
says it), positions.npy (the coordinates alone), summary.json and report.html. New items are placed
in the map by lehr place.";
