//! What `lehr pairwise` takes: a matrix, when to stop, what becomes of the results.

use std::path::PathBuf;

use clap::Args;

use super::execution::ExecutionArguments;
use super::matrix::MatrixResultsArguments;
use super::{at_least_one, positive};

/// What `lehr pairwise` takes.
#[derive(Debug, Args)]
#[command(after_help = PAIRWISE_HELP)]
pub struct PairwiseArguments {
    /// The dissimilarities of all pairs: dissimilarities.json as lehr distances writes it, or the array beside it; or any NPY array of f4 or f8, square, or of the N (N - 1) / 2 pairs above
    /// the diagonal in one dimension, as SciPy's pdist gives it. NaN is a pair without a value. Names and weights of the items are those of the ids.csv beside the header
    #[arg(value_name = "MATRIX")]
    pub input: PathBuf,

    /// The number of clusters [default: the number that lasts longest while the temperature falls]
    #[arg(long, short = 'k', value_name = "K", value_parser = at_least_one, help_heading = "When to stop")]
    pub clusters: Option<usize>,

    /// The temperature to stop at, in the unit of the dissimilarities
    #[arg(long, value_name = "T", value_parser = positive, conflicts_with = "clusters", help_heading = "When to stop")]
    pub stop_temperature: Option<f64>,

    /// The most clusters, where their number is not given
    #[arg(long, value_name = "K", value_parser = at_least_one, conflicts_with = "clusters", help_heading = "When to stop")]
    pub max_clusters: Option<usize>,

    /// The seed of the few random numbers there are [default: 0]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,

    /// How it is computed.
    #[command(flatten)]
    pub execution: ExecutionArguments,

    /// What becomes of the results.
    #[command(flatten)]
    pub results: MatrixResultsArguments,
}

const PAIRWISE_HELP: &str = "\
Example:
  lehr pairwise genes/dissimilarities.json --clusters 10 --out genes
      ten clusters of the sequences that lehr distances compared; open genes/report.html

  lehr pairwise d.npy --json | jq .result.clusters
      how many clusters the dissimilarities suggest

The folder has labels.csv (a row an item: name, cluster, how surely), clusters.csv (a row a cluster:
its medoid, which is the item most like the others of it, and how alike they are), summary.json and
report.html. lehr embed --labels takes labels.csv.

Dissimilarities are used as they are given. Squared Euclidean distances give the clusters that lehr cluster finds among the points.";
