//! What becomes of the results of `lehr pairwise` and `lehr embed`.

use std::path::PathBuf;

use clap::Args;

/// What becomes of the results.
#[derive(Debug, Args)]
#[command(next_help_heading = "The results")]
pub struct MatrixResultsArguments {
    /// The folder for tables, summary.json and report.html; results of an earlier run of the same command in it are replaced, other files
    /// are left alone [default: lehr-pairwise or lehr-embed, or the folder of --resume]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,

    /// Continue the run whose checkpoint is in this folder: same input, parameters from the checkpoint
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
