//! `lehr keep`: backs up, restores and checks the folder of a node.

use lehr_jobs::backup::{self, Counted, Error};
use lehr_methods::numbers::counted;

use crate::arguments::KeepCommand;
use crate::exit::{Failure, Kind};
use crate::output;

/// Carries out the command, and prints the amount of data.
///
/// # Errors
/// Returns [`Kind::BadData`] for damaged files; [`Kind::Environment`] for folders that cannot be used.
pub fn run(command: KeepCommand) -> Result<(), Failure> {
    let (folder, done, what) = match &command {
        KeepCommand::Export { keep, backup } => (backup, "written", backup::export(keep, backup)),
        KeepCommand::Import { backup, keep } => (keep, "written", backup::import(backup, keep)),
        KeepCommand::Verify { folder } => (folder, "in order", backup::verify(folder)),
    };
    let Counted { files, bytes, states, datasets } = what.map_err(failure)?;
    output::result(&format!(
        "{}: {done}: {}, {bytes} bytes; {} and {}\n",
        folder.display(),
        counted(files as u64, "file"),
        counted(states as u64, "state"),
        counted(datasets as u64, "data set"),
    ))
}

fn failure(error: Error) -> Failure {
    let message = error.to_string();
    match error {
        Error::Damaged(_) => Failure::new(Kind::BadData, message)
            .with_hint("lehr keep import BACKUP FOLDER restores a backup; a node restores a damaged state from its copy when it starts"),
        Error::Refused(_) | Error::Disk(..) => Failure::new(Kind::Environment, message),
    }
}
