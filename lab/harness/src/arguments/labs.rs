//! What the labs take: how much of a measurement, and where it is kept.

use std::path::PathBuf;

use clap::Args;

use super::{at_least_one, positive};

/// What every lab takes.
#[derive(Debug, Args)]
pub struct LabArguments {
    /// Fewer cases and shorter samples: about two minutes
    #[arg(long)]
    pub quick: bool,

    /// Print an array of records (experiment, case, engine, unit, min, median, max, runs) and nothing else to standard output
    #[arg(long)]
    pub json: bool,

    /// Only cases whose name contains this: "exchange, P = 2", ", 20 units"
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,

    /// Rounds of turns [default: 5, or 3 with --quick]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub rounds: Option<usize>,

    /// The folder with the peers' programs [default: the lab's own in target/peers]
    #[arg(long, value_name = "FOLDER")]
    pub peers: Option<PathBuf>,

    /// Keep what is measured in this file, case by case; go on with the record that is there
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// What `lehr-lab overhead` takes.
#[derive(Debug, Args)]
#[command(after_help = OVERHEAD_HELP)]
pub struct OverheadArguments {
    /// Fewer and smaller cases: under two minutes
    #[arg(long)]
    pub quick: bool,

    /// Print an array of records (experiment, case, engine, unit, min, median, max, runs) and nothing else to standard output
    #[arg(long)]
    pub json: bool,

    /// Only cases whose name contains this: "K = 20", "N = 200000", "stages", "scaling, alu"
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,

    /// Rounds of turns [default: 7, or 3 with --quick]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub rounds: Option<usize>,

    /// The folder of the tables that the largest sets are taken from [default: what LEHR_DATA says; without one they are left out]
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,

    /// The launcher of processes [default: target/mpi/bin/mpiexec, else mpiexec on the path]
    #[arg(long, value_name = "FILE")]
    pub mpiexec: Option<PathBuf>,

    /// Keep what is measured in this file, case by case; go on with the record that is there
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// What `lehr-lab scale` takes.
#[derive(Debug, Args)]
pub struct ScaleArguments {
    /// Fewer and smaller cases: under two minutes
    #[arg(long)]
    pub quick: bool,

    /// Print an array of records (experiment, case, engine, unit, min, median, max, runs) and nothing else to standard output
    #[arg(long)]
    pub json: bool,

    /// Only cases whose name contains this: "35339 items", ", f32"
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,

    /// Rounds of the sizes that exponents are fitted to [default: 3]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub rounds: Option<usize>,

    /// What the largest matrices fill [default: 24]
    #[arg(long, value_name = "GIB", value_parser = positive)]
    pub memory: Option<f64>,

    /// Measure the stages on the sequences of this FASTA file, aligned pair by pair, in the place of made ones; equal ones are one with a weight
    #[arg(long, value_name = "FILE", conflicts_with = "quick")]
    pub sequences: Option<PathBuf>,

    /// How many clusters of these sequences [default: what the data suggest]
    #[arg(long, value_name = "K", requires = "sequences", value_parser = at_least_one)]
    pub clusters: Option<usize>,

    /// Where items, matrices and results lie while they are needed [default: where the system has such files]
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Keep what is measured in this file, case by case; go on with the record that is there
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// What `lehr-lab growth` takes.
#[derive(Debug, Args)]
pub struct GrowthArguments {
    /// Fewer and smaller cases: under two minutes
    #[arg(long)]
    pub quick: bool,

    /// Print an array of records (experiment, case, engine, unit, min, median, max, runs) and nothing else to standard output
    #[arg(long)]
    pub json: bool,

    /// Only cases whose name contains this: "k-means", "mixture, N = 20000", "P = 2"
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,

    /// Rounds of each case [default: 3]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub rounds: Option<usize>,

    /// Where rows and results lie while they are needed [default: where the system has such files]
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Keep what is measured in this file, case by case; go on with the record that is there
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

/// What `lehr-lab chemistry` takes.
#[derive(Debug, Args)]
pub struct ChemistryArguments {
    /// Fewer and smaller cases: under two minutes
    #[arg(long)]
    pub quick: bool,

    /// Print an array of records (experiment, case, engine, unit, min, median, max, runs) and nothing else to standard output
    #[arg(long)]
    pub json: bool,

    /// Only cases whose name contains this: "step, f64", "K = 10, runs", "1000000 synthetic"
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,

    /// Rounds of whole runs [default: 3 in ten clusters, 1 in more]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub rounds: Option<usize>,

    /// Other compounds than the 10,280 that are built in: their fingerprints, as FPS, also gzipped
    #[arg(long, value_name = "FILE.fps", requires = "activities")]
    pub fingerprints: Option<PathBuf>,

    /// Which of them are active: a table, also gzipped, with the columns id and active (1 or 0)
    #[arg(long, value_name = "TABLE", requires = "fingerprints")]
    pub activities: Option<PathBuf>,

    /// Where inputs and results lie while they are needed [default: where the system has such files]
    #[arg(long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Keep what is measured in this file, case by case; go on with the record that is there
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,
}

pub(super) const PORTS_HELP: &str = "\
Example:
  lehr-lab ports --quick
      tables with ratios to the best peer and to the C program of this run

  lehr-lab ports --only 'rendezvous exchange, P = 2' --json | jq '.[] | [.engine, .median]'";

pub(super) const RANKS_HELP: &str = "\
Example:
  lehr-lab ranks --quick
      tables with ratios to the best MPI and to the C program of this run

  lehr-lab ranks --only 'all-reduce, P = 2' --json | jq '.[] | [.case, .engine, .median]'";

pub(super) const SERVICES_HELP: &str = "\
Example:
  lehr-lab services --quick
      one table, the papers' figures under it

  lehr-lab services --only 'http POST' --json | jq '.[] | [.case, .engine, .median]'";

const OVERHEAD_HELP: &str = "\
Example:
  lehr-lab overhead --quick
      tables of overheads, laws and fluctuations

  lehr-lab overhead --only 'K = 20' --json | jq '.[] | select(.experiment == \"fit\") | [.case, .engine, .median]'";

pub(super) const SCALE_HELP: &str = "\
Example:
  lehr-lab scale --quick
      time, memory and passes of each stage, and how they grow

  lehr-lab scale --only '35339 items'
      the sequences of the largest set of paper 003, once: some minutes and 2.5 GB

  lehr-lab scale --sequences reads.fasta.gz --clusters 10
      alignments, clusters and map of these reads: time and memory of each stage";

pub(super) const GROWTH_HELP: &str = "\
Example:
  lehr-lab growth --quick
      time, memory and passes of small sizes, and how they grow

  lehr-lab growth --only 'clusters, N = 10000000'
      ten million rows in ten clusters, three times: some minutes and 2 GB";

pub(super) const CHEMISTRY_HELP: &str = "\
Example:
  lehr-lab chemistry --quick
      two thousand compounds, and eight thousand synthetic ones

  lehr-lab chemistry --fingerprints keys.fps.gz --activities screen.tsv.gz --only 'K = 10'
      compounds of one's own in ten clusters

  lehr-lab chemistry --only '10000000 synthetic' --folder /var/tmp
      ten million: an hour or two, some 5 GB of memory and 2 GB of disk";
