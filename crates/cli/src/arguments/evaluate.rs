//! The arguments of `lehr evaluate`: labels, and the classes, rows or dissimilarities to compare them with.

use std::path::PathBuf;

use clap::Args;

use super::table::ScaleArgument;
use super::{at_least_one, thread_count};

/// The arguments of `lehr evaluate`.
#[derive(Debug, Args)]
#[command(after_help = EVALUATE_HELP)]
pub struct EvaluateArguments {
    /// Labels: the labels.csv of a run or its folder, or a CSV file with a column of identifiers and one of clusters
    #[arg(value_name = "LABELS")]
    pub labels: PathBuf,

    /// Compare the clusters with the known classes in this column; of LABELS, or of the table of --classes
    #[arg(long, value_name = "COLUMN")]
    pub by: Option<String>,

    /// Read the known classes from this table; its rows are found by identifier, or by their order if the run had none
    #[arg(long, value_name = "TABLE", requires = "by")]
    pub classes: Option<PathBuf>,

    /// Measure how separate the clusters are in the rows of this table, by Euclidean distance; each row counts once.
    /// Rows are found as for --classes
    #[arg(long, value_name = "TABLE", conflicts_with = "matrix")]
    pub rows: Option<PathBuf>,

    /// Use these columns of --rows; by name or 0-based index [default: all numeric columns]
    #[arg(long, value_name = "A,B,…", value_delimiter = ',', requires = "rows")]
    pub columns: Option<Vec<String>>,

    /// Scale the columns of --rows first, as the run did [default: none]
    #[arg(long, value_enum, requires = "rows")]
    pub scale: Option<ScaleArgument>,

    /// Measure how separate the clusters are by these dissimilarities; the dissimilarities.json of lehr distances
    #[arg(long, value_name = "MATRIX")]
    pub matrix: Option<PathBuf>,

    /// Take the clusters from this column of LABELS [default: cluster, else component]
    #[arg(long, value_name = "COLUMN", hide_short_help = true)]
    pub cluster: Option<String>,

    /// Use this column of the tables as identifiers
    #[arg(long, value_name = "COLUMN", default_value = "id", hide_short_help = true)]
    pub id: String,

    /// Draw at most this many rows for silhouettes; each is compared with all rows
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = at_least_one, hide_short_help = true)]
    pub sample: usize,

    /// Use this many threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = thread_count)]
    pub threads: Option<usize>,

    /// Print the figures as JSON
    #[arg(long)]
    pub json: bool,
}

const EVALUATE_HELP: &str = "\
Example:
  lehr cluster iris.csv --columns petal_length,petal_width -k 3 --out flowers
  lehr evaluate flowers --by species --classes iris.csv
      how well the clusters agree with the species

  lehr evaluate flowers --rows iris.csv --columns petal_length,petal_width
      silhouettes, and the indices of Davies and Bouldin, and of Calinski and Harabasz

Exit codes: 0 done, 1 no result, 2 usage, 3 data, 4 environment.";
