//! The arguments of `lehr keep`: the folder of a node, and the folder of its backup.

use std::path::PathBuf;

use clap::Subcommand;

/// The commands on a node's kept data.
#[derive(Debug, Subcommand)]
pub enum KeepCommand {
    /// Copy the kept data of a node to a new backup, with checksums
    ///
    /// Checks the data first, and refuses damaged files.
    #[command(after_help = "Example:
  lehr keep export /var/lib/lehr /backup/lehr-2026-01-31")]
    Export {
        /// The folder of the node: its --keep
        keep: PathBuf,
        /// The folder for the backup, which is created
        backup: PathBuf,
    },
    /// Copy a backup into a new folder for a node
    ///
    /// Checks each file's checksum first, and refuses damaged files.
    #[command(after_help = "Example:
  lehr keep import /backup/lehr-2026-01-31 /var/lib/lehr
      then lehr serve --keep /var/lib/lehr")]
    Import {
        /// The folder of the backup
        backup: PathBuf,
        /// The folder for the node: new or empty
        keep: PathBuf,
    },
    /// Check the kept data of a node, or a backup
    ///
    /// Names each file whose content differs from what the node wrote.
    #[command(after_help = "Example:
  lehr keep verify /var/lib/lehr && echo in order")]
    Verify {
        /// The folder of the node or of the backup
        folder: PathBuf,
    },
}
