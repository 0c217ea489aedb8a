//! What `lehr mixture` takes: the input, the mixture, what becomes of the results.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::at_least_one;
use super::execution::ExecutionArguments;
use super::spill::SpillArguments;
use super::table::TableArguments;

/// What `lehr mixture` takes.
#[derive(Debug, Args)]
#[command(after_help = MIXTURE_HELP)]
pub struct MixtureArguments {
    /// The table: .csv, .tsv, .txt (each may be gzipped), .npy or .parquet
    #[arg(value_name = "INPUT")]
    pub input: PathBuf,

    /// Where its rows are kept.
    #[command(flatten)]
    pub spill: SpillArguments,

    /// Which columns mean what.
    #[command(flatten)]
    pub table: TableArguments,

    /// Empty cells, NA and the like are missing values, of which a component says what the rest of the row does; without it they are faults
    #[arg(long, conflicts_with = "weights", help_heading = "The table")]
    pub missing: bool,

    /// What is fitted.
    #[command(flatten)]
    pub mixture: MixtureMethod,

    /// How it is computed.
    #[command(flatten)]
    pub execution: ExecutionArguments,

    /// What becomes of the results.
    #[command(flatten)]
    pub results: MixtureResults,
}

/// What is fitted.
#[derive(Debug, Args)]
#[command(next_help_heading = "The mixture")]
pub struct MixtureMethod {
    /// This many components; without it, the number with the least BIC
    #[arg(long, short = 'k', alias = "k", value_name = "K", value_parser = at_least_one)]
    pub components: Option<usize>,

    /// Without --components: the most that are tried [default: 10]
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with = "components")]
    pub max_components: Option<usize>,

    /// What the covariances of components look like [default: full]
    #[arg(long, value_enum)]
    pub covariance: Option<CovarianceArgument>,

    /// How narrow a component may become: this share of each column's variance, 0 to 0.1 [default: 0.000001]
    #[arg(long, value_name = "SHARE", value_parser = share, allow_negative_numbers = true)]
    pub regularisation: Option<f64>,

    /// Decides between equals; the same seed gives the same result [default: 0]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
}

/// What covariances look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CovarianceArgument {
    /// A variance a component, the same in every direction
    Spherical,
    /// A variance a component and column
    Diagonal,
    /// One matrix for all components
    Tied,
    /// A matrix a component
    Full,
}

/// What becomes of the results.
#[derive(Debug, Args)]
#[command(next_help_heading = "The results")]
pub struct MixtureResults {
    /// The folder for labels.csv, components.csv, model.json, summary.json and report.html; results of an earlier mixture in it are replaced,
    /// other files are left alone [default: lehr-mixture, or the folder of --resume]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// Continue the run whose checkpoint is in this folder: same input and table options, parameters from the checkpoint
    #[arg(long, value_name = "FOLDER")]
    pub resume: Option<PathBuf>,

    /// Replace an unfinished run's checkpoint, results of another command, and files that look like results but are not known to be a mixture's
    #[arg(long)]
    pub force: bool,

    /// Print the content of summary.json to standard output, and nothing else there
    #[arg(long)]
    pub json: bool,

    /// No progress on standard error; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,
}

const MIXTURE_HELP: &str = "\
Example:
  lehr mixture flowers.csv --columns sepal_length,sepal_width,petal_length,petal_width --components 3
      three components with covariances of their own; open lehr-mixture/report.html

  lehr mixture measurements.csv --scale std --covariance tied --json | jq '.candidates[] | {components, bic: .criteria.bic}'
      BIC for 1 to 10 components

Ctrl-C stops the run, keeps a checkpoint and says how to continue.
Exit codes: 0 done, 1 no result, 2 usage, 3 bad data, 4 environment, 130 stopped.";

fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=0.1).contains(&number) => Ok(number),
        _ => Err("expected a number from 0 to 0.1".to_owned()),
    }
}
