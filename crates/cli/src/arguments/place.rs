//! What `lehr place` takes: new items, the map that they are placed in, how they are compared with its items.

use std::path::PathBuf;

use clap::Args;

use super::distances::{ComparisonOptions, FileArguments};
use super::{at_least_one, thread_count};

/// The arguments of `lehr place`.
#[derive(Debug, Args)]
#[command(after_help = PLACE_HELP)]
pub struct PlaceArguments {
    /// The new items: sequences (FASTA), fingerprints (FPS) or a table (.csv, .tsv, .txt, .npy), each also gzipped, or .parquet
    #[arg(value_name = "ITEMS")]
    pub input: PathBuf,

    /// The folder of the map: what lehr embed left there
    #[arg(long, value_name = "FOLDER")]
    pub map: PathBuf,

    /// The file with the items of the map, which are found in it by their ids; others in it do no harm [default: ITEMS]
    #[arg(long, value_name = "FILE")]
    pub among: Option<PathBuf>,

    /// Items of the map that place an item: the nearest of it
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    pub neighbours: usize,

    /// How items are compared, with the options of lehr distances for the map.
    #[command(flatten)]
    pub comparison: ComparisonOptions,

    /// Of tables.
    #[command(flatten)]
    pub table: FileArguments,

    /// Threads [default: the processors there are]
    #[arg(long, value_name = "N", value_parser = thread_count)]
    pub threads: Option<usize>,

    /// The folder for positions.csv, positions.npy and summary.json; results of an earlier run of the same command in it are replaced, other files are left alone [default: lehr-place, or the
    /// folder of --resume]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// Go on with the run whose checkpoint is in this folder: same input and options
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
}

const PLACE_HELP: &str = "\
Example:
  lehr distances sample.fasta --out sample
  lehr embed sample/dissimilarities.json --dimension 3 --out sample-map
  lehr place all.fasta --map sample-map --among sample.fasta
      a map of any number of sequences, laid out by a sample of them

  lehr place new.csv --map iris-map --among iris.csv --columns sepal_length,petal_length --json | jq .result.median_error
      how far the places of new flowers are from what was measured of them";
