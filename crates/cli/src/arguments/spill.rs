//! The option for the folder that keeps rows on disk.

use std::path::PathBuf;

use clap::Args;

/// The folder for rows that are too large for memory.
#[derive(Debug, Args)]
pub struct SpillArguments {
    /// Keep the rows in files in this folder during the run: for tables larger than memory. Does not change the
    /// results; takes 16 bytes of disk per value, and a third copy with --scale or --lonlat
    #[arg(long, value_name = "FOLDER", hide_short_help = true)]
    pub spill: Option<PathBuf>,
}
