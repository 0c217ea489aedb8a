//! The arguments of `lehr export`: a model, and the file to write.

use std::path::PathBuf;

use clap::Args;

/// The arguments of `lehr export`.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_HELP)]
pub struct ExportArguments {
    /// Model: the model.json of lehr cluster or minibatch, or of a service, or one that Python exported
    #[arg(value_name = "MODEL")]
    pub model: PathBuf,

    /// Write to this file, which ends in .pmml; an existing file is replaced
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,

    /// Print nothing; warnings and errors are still shown
    #[arg(long, short)]
    pub quiet: bool,
}

const EXPORT_HELP: &str = "\
Example:
  lehr export lehr-out/model.json --out customers.pmml
      the clusters, for a program that reads PMML

Exit codes: 0 done, 2 usage, 3 data, 4 environment.";
