//! Further files that a user names: `--trace FILE`, `--figure FILE`.
//!
//! Such a file is claimed before the run, and put into place after the results. So a long run does not fail at its end
//! because the file cannot be written. A run that ends without results leaves no such file.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use lehr_data::write::AtomicFile;

use crate::exit::{Failure, Kind};
use crate::folder::Folder;

/// The number of bytes that identify the program that wrote a file.
const HEAD: u64 = 64;

/// A kind of file that a user names.
pub struct Beside {
    /// The name in messages: `trace`.
    pub name: &'static str,
    /// The option: `--trace`.
    pub option: &'static str,
}

impl Beside {
    /// Checks that the file can be written and overwrites nothing of value. It may replace an earlier file of its kind,
    /// which `is_ours` recognises by its first bytes. It replaces another file only with `force`, and never the input
    /// or the results.
    ///
    /// # Errors
    /// Returns [`Kind::Environment`].
    pub fn claim(
        &self,
        path: &Path,
        is_ours: impl Fn(&[u8]) -> bool,
        (input, folder, force): (Option<&Path>, &Folder, bool),
    ) -> Result<PathBuf, Failure> {
        let Self { name, option } = self;
        let refuse = |reason: &str, hint: String| {
            Err(Failure::new(Kind::Environment, format!("{}: {reason}", path.display())).with_hint(hint))
        };
        let another = format!("name another file with {option}");
        if folder.takes(path) {
            return refuse(&format!("the {name} would replace a result"), another);
        }
        let same = |input: &Path| matches!((input.canonicalize(), path.canonicalize()), (Ok(a), Ok(b)) if a == b);
        if input.is_some_and(same) {
            return refuse(&format!("the input would be overwritten by the {name}"), another);
        }
        // Creates and removes a temporary file next to it, because permission bits do not show whether it can be
        // written.
        drop(AtomicFile::create(path)?);
        if path.exists() && !force && !head_of(path).is_some_and(|head| is_ours(&head)) {
            return refuse(
                &format!("is there and is no {name} of lehr"),
                format!("{another}, or replace it with --force"),
            );
        }
        Ok(path.into())
    }
}

/// Writes a file under a temporary name; [`AtomicFile::commit`] renames it.
///
/// # Errors
/// Returns [`Kind::Environment`] if the file cannot be written.
pub fn write(path: &Path, bytes: &[u8]) -> Result<AtomicFile, Failure> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).and_then(|()| file.flush()).map_err(|cause| Failure::from(file.failed(cause)))?;
    Ok(file)
}

fn head_of(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path).and_then(|file| file.take(HEAD).read_to_end(&mut head)).ok()?;
    Some(head)
}
