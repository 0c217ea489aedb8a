//! Options for the folder of rows that are kept on disk.

use std::path::PathBuf;

use clap::Args;

/// A folder for what is large.
#[derive(Debug, Args)]
pub struct SpillArguments {
    /// Keep the rows in files in this folder while the run lasts: for tables larger than memory. The results are the same; it takes 16 bytes of disk a value, and a third copy with --scale or --lonlat
    #[arg(long, value_name = "FOLDER", hide_short_help = true)]
    pub spill: Option<PathBuf>,
}
