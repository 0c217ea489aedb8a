//! Where rows are kept that memory should not hold.

use std::path::PathBuf;

use clap::Args;

/// A folder for what is large.
#[derive(Debug, Args)]
pub struct SpillArguments {
    /// For a table larger than memory: its rows, and what is made of them, go to files in this folder, deleted when the run ends; the results are the same, byte for byte. Takes 16 bytes of
    /// disk a value, and a third copy with --scale or --lonlat
    #[arg(long, value_name = "FOLDER")]
    pub spill: Option<PathBuf>,
}
