//! Stopping and resuming runs.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use lehr_data::write::AtomicFile;

use crate::exit::{Failure, Kind};
use crate::folder;
use crate::progress::Saved;

/// Returns the message for a stopped run. `command` is the command that continues it.
pub fn stopped(checkpoint: &Path, saved: &Saved, command: &str) -> Failure {
    match saved {
        Saved::Checkpoint => Failure::new(
            Kind::Stopped,
            format!("no results were written; checkpoint saved in {}", checkpoint.display()),
        )
        .with_hint(format!("continue with: {command}")),
        Saved::Nothing => Failure::new(Kind::Stopped, "no results were written; there was nothing to save yet"),
        Saved::Failed(reason) => {
            Failure::new(Kind::Stopped, format!("no results were written, and no checkpoint: {reason}"))
        }
    }
}

/// Returns the message for a log that has only part of the finished work, because the rest could not be written.
pub fn stopped_short(checkpoint: &Path, reason: &str, command: &str) -> Failure {
    let message =
        format!("no results were written, and {} has only part of what was finished: {reason}", checkpoint.display());
    Failure::new(Kind::Stopped, message).with_hint(format!("continue from there with: {command}"))
}

/// Lets a run that was stopped in another folder continue in the folder of its results. Copies the checkpoint,
/// completely or not at all.
///
/// # Errors
/// Returns [`Kind::Environment`] if the checkpoint cannot be read or written.
pub fn take_over(from: &Path, checkpoint: &Path) -> Result<(), Failure> {
    if let (Ok(from), Ok(to)) = (from.canonicalize(), checkpoint.canonicalize())
        && from == to
    {
        return Ok(());
    }
    let unreadable = |cause| Failure::new(Kind::Environment, format!("{}: {cause}", from.display()));
    let mut kept = File::open(from).map_err(unreadable)?;
    let mut file = AtomicFile::create(checkpoint)?;
    io::copy(&mut kept, &mut file).map_err(|cause| file.failed(cause))?;
    file.commit()?;
    Ok(())
}

/// Returns the failure of a method on a matrix.
pub fn failed(error: lehr_mining::Error) -> Failure {
    let is_of_other_data = matches!(error, lehr_mining::Error::OtherData { .. });
    let failure = Failure::from(error);
    if !is_of_other_data {
        return failure;
    }
    failure
        .with_hint("--resume needs the matrix, and the weights in the ids.csv beside it, of the run that was stopped")
}

/// Returns the path of a folder's checkpoint.
///
/// # Errors
/// Returns [`Kind::Environment`] if there is no checkpoint.
pub fn checkpoint_of(folder: &Path) -> Result<PathBuf, Failure> {
    let path = folder.join(folder::CHECKPOINT);
    if path.is_file() {
        return Ok(path);
    }
    Err(Failure::new(Kind::Environment, format!("{}: no such file", path.display()))
        .with_hint("--resume takes the folder of a run that was stopped; a run that ended well leaves no checkpoint"))
}

/// Checks that options given beside a checkpoint agree with it.
#[derive(Default)]
pub struct Repeated {
    contradictions: Vec<String>,
}

impl Repeated {
    /// Compares an option, if it is given, with that of the checkpoint.
    pub fn option<T: PartialEq>(
        &mut self,
        name: &str,
        asked: Option<T>,
        stored: Option<T>,
        show: impl Fn(&T) -> String,
    ) {
        let Some(asked) = asked else { return };
        if stored.as_ref() != Some(&asked) {
            let stored = stored.as_ref().map_or_else(|| "none".to_owned(), &show);
            self.contradictions.push(format!("{name} {} contradicts the checkpoint, which has {stored}", show(&asked)));
        }
    }

    /// # Errors
    /// Returns [`Kind::Usage`] with each contradiction.
    pub fn agree(self) -> Result<(), Failure> {
        if self.contradictions.is_empty() {
            return Ok(());
        }
        Err(Failure::new(Kind::Usage, self.contradictions.join("\n")).with_hint(
            "a run that is resumed keeps its parameters: leave these options out, or start again without --resume",
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_say_the_same_or_nothing_agree_and_all_others_are_named() {
        let mut repeated = Repeated::default();
        repeated.option("--clusters", Some(3), Some(3), usize::to_string);
        repeated.option("--seed", None, Some(7), usize::to_string);
        assert!(repeated.agree().is_ok());
        let mut repeated = Repeated::default();
        repeated.option("--clusters", Some(3), Some(4), usize::to_string);
        repeated.option("--stop-temperature", Some(0.5), None, f64::to_string);
        assert_eq!(
            repeated.agree().unwrap_err().message,
            "--clusters 3 contradicts the checkpoint, which has 4\n--stop-temperature 0.5 contradicts the checkpoint, which has none"
        );
    }
}
