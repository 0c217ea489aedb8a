//! What the measurements take whose records are tables: `bench` and `quality`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::at_least_one;

/// What `lehr-lab bench` measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Bench {
    /// One E+M step against C floors
    Kernels,
    /// Dissimilarities of all pairs against peers
    Distances,
    /// Clusters of items known by their dissimilarities against peers
    Pairwise,
    /// Maps of items known by their dissimilarities against scikit-learn's
    Maps,
    /// Whole runs against peers
    Runs,
    /// Parallel overhead of each engine
    Overhead,
    /// Blocks with weights against a row for each of their people
    People,
}

/// What `lehr-lab quality` measures in the place of clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Quality {
    /// Mixtures of Gaussians against the best known and scikit-learn's many starts
    Mixtures,
    /// Topographic maps against ugtm's
    Topographic,
}

/// What `lehr-lab bench` takes.
#[derive(Clone, Debug, Args)]
pub struct BenchArguments {
    /// What to measure
    #[arg(value_enum)]
    pub subject: Bench,

    /// How much of it.
    #[command(flatten)]
    pub measurement: MeasurementArguments,
}

/// What `lehr-lab quality` takes.
#[derive(Clone, Debug, Args)]
pub struct QualityArguments {
    /// What to fit [default: clusters]
    #[arg(value_enum)]
    pub subject: Option<Quality>,

    /// How much of it.
    #[command(flatten)]
    pub measurement: MeasurementArguments,
}

/// How much is measured, with what, and where its record is put.
#[derive(Clone, Debug, Args)]
pub struct MeasurementArguments {
    /// The folder with gis/ and benchmarks/ [default: what LEHR_DATA says]
    #[arg(long, value_name = "FOLDER")]
    pub data: Option<PathBuf>,

    /// Only sets or cases whose name contains this
    #[arg(long, value_name = "TEXT")]
    pub only: Option<String>,

    /// Sets of the tier `all` too
    #[arg(long)]
    pub all: bool,

    /// Rounds of turns [default: 15 of kernels, 7 of distances and overhead], or seeds [default: 10 of quality, 3 of all else]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub rounds: Option<usize>,

    /// Threads of both sides, where they take any [default: what the machine has]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub threads: Option<usize>,

    /// The peers' Python, which `make peers` makes
    #[arg(long, value_name = "PYTHON", default_value = "target/peers/bin/python")]
    pub peers: PathBuf,

    /// The folder of the record below lab/records; git ignores the default
    #[arg(long, value_name = "NAME", default_value = "local")]
    pub record: String,
}

impl MeasurementArguments {
    /// Whether a case of this name is wanted.
    pub fn wants(&self, name: &str) -> bool {
        self.only.as_deref().is_none_or(|part| name.contains(part))
    }
}
