//! The arguments of `lehr keep`: the folder of a node, and that of its backup.

use std::path::PathBuf;

use clap::Subcommand;

/// The commands on a node's kept data.
#[derive(Debug, Subcommand)]
pub enum KeepCommand {
    /// Copy what a node keeps into a new backup, with checksums
    ///
    /// Checks it first, and refuses what is damaged.
    #[command(after_help = "Example:
  lehr keep export /var/lib/lehr /backup/lehr-2026-01-31")]
    Export {
        /// The folder of the node: its --keep
        keep: PathBuf,
        /// The folder of the backup, which is made
        backup: PathBuf,
    },
    /// Copy a backup into a new folder for a node
    ///
    /// Checks each file by its checksum first, and refuses what is damaged.
    #[command(after_help = "Example:
  lehr keep import /backup/lehr-2026-01-31 /var/lib/lehr
      then lehr serve --keep /var/lib/lehr")]
    Import {
        /// The folder of the backup
        backup: PathBuf,
        /// The folder for the node: a new or an empty one
        keep: PathBuf,
    },
    /// Check what a node keeps, or a backup of it
    ///
    /// Names each file that is not what was written.
    #[command(after_help = "Example:
  lehr keep verify /var/lib/lehr && echo in order")]
    Verify {
        /// The folder of the node or of the backup
        folder: PathBuf,
    },
}
