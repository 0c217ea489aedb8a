//! The arguments of `lehr place`: new items, the map for them, and how they are compared with its items.

use std::path::PathBuf;

use clap::Args;

use super::distances::{ComparisonOptions, FileArguments};
use super::{at_least_one, thread_count};

/// The arguments of `lehr place`.
#[derive(Debug, Args)]
#[command(after_help = PLACE_HELP)]
pub struct PlaceArguments {
    /// New items: sequences (FASTA), fingerprints (FPS) or a table (.csv, .tsv, .txt, .npy), each may be gzipped, or
    /// .parquet
    #[arg(value_name = "ITEMS")]
    pub input: PathBuf,

    /// Place the items in the map in this folder, as lehr embed wrote it
    #[arg(long, value_name = "FOLDER")]
    pub map: PathBuf,

    /// Find the items of the map in this file, by their ids; it may have more items [default: ITEMS]
    #[arg(long, value_name = "FILE")]
    pub among: Option<PathBuf>,

    /// Use this many nearest items of the map to place an item
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = at_least_one)]
    pub neighbours: usize,

    /// How to compare items; by default as for the map.
    #[command(flatten)]
    pub comparison: ComparisonOptions,

    /// The options of tables.
    #[command(flatten)]
    pub table: FileArguments,

    /// Use this many threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = thread_count)]
    pub threads: Option<usize>,

    /// Write the results to this folder; positions.csv, positions.npy, report.html and summary.json. Replaces results
    /// of an earlier run of the same command [default: lehr-place, or the folder of --resume]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// Continue the run in this folder; it has a checkpoint. Needs the same input and options
    #[arg(long, value_name = "FOLDER")]
    pub resume: Option<PathBuf>,

    /// Replace protected files: an unfinished run's checkpoint, other commands' results, and files that Lehr may not
    /// have written
    #[arg(long, hide_short_help = true)]
    pub force: bool,

    /// Print summary.json to standard output
    #[arg(long, hide_short_help = true)]
    pub json: bool,

    /// Show no progress; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,
}

const PLACE_HELP: &str = "\
Example:
  lehr distances sample.fasta --out sample
  lehr embed sample/dissimilarities.json --dimensions 3 --out sample-map
  lehr place all.fasta --map sample-map --among sample.fasta
      map any number of sequences by a sample of them: all.fasta has the sample too

  lehr place new.csv --map iris-map --among iris.csv
      new flowers among old ones, compared as the map's were; open lehr-place/report.html";
