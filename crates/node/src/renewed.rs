//! Values that are made from files, and made again when the files change.
//!
//! There is no watcher and no signal: the code that is about to use the value checks the files. This check compares the
//! bytes of the files, because their times are too coarse to show quick changes. Files that change one after the other
//! (a certificate, then its key) may not match for a while. Until files match again, the earlier value stays in use.

use std::fmt;
use std::hash::{BuildHasher, RandomState};
use std::path::PathBuf;

use lehr_services::Fault;
use lehr_sync::Mutex;

use crate::certificate::read;

type Make<T> = Box<dyn Fn(&[Vec<u8>]) -> Result<T, Fault> + Send + Sync>;

/// A value made from files; see the [module](self).
pub(crate) struct Renewed<T> {
    files: Vec<PathBuf>,
    /// Makes the value from the bytes of the files, in the order of the files.
    make: Make<T>,
    hasher: RandomState,
    last: Mutex<Last<T>>,
}

struct Last<T> {
    /// The hash of the files' content at the last check, valid or not.
    stamp: u64,
    made: T,
}

/// The result of a look at the files.
#[derive(Debug)]
pub(crate) enum News {
    /// The files have not changed since the last check.
    Same,
    /// The value was made again.
    Renewed,
    /// The files have changed, and their current content is invalid.
    Refused(Fault),
}

impl<T> fmt::Debug for Renewed<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Renewed").field("files", &self.files).finish_non_exhaustive()
    }
}

impl<T: Clone> Renewed<T> {
    /// Makes the value from these files.
    ///
    /// # Errors
    /// Returns a fault if the current files are invalid.
    pub(crate) fn new(
        files: Vec<PathBuf>,
        make: impl Fn(&[Vec<u8>]) -> Result<T, Fault> + Send + Sync + 'static,
    ) -> Result<Self, Fault> {
        let (hasher, found) = (RandomState::new(), contents(&files));
        let stamp = stamp(&hasher, &found);
        let made = make(&found?)?;
        Ok(Self { files, make: Box::new(make), hasher, last: Mutex::new(Last { stamp, made }) })
    }

    /// Returns the value of the current files or, if they are invalid, the value of the last valid files. Reports each
    /// change once.
    ///
    /// Each call reads the files. Only one call runs at a time, so that an older result does not overwrite a newer
    /// result.
    pub(crate) fn look(&self) -> (T, News) {
        let mut last = self.last.lock();
        let found = contents(&self.files);
        let stamp = stamp(&self.hasher, &found);
        if stamp == last.stamp {
            return (last.made.clone(), News::Same);
        }
        last.stamp = stamp;
        let news = match found.and_then(|found| (self.make)(&found)) {
            Ok(made) => {
                last.made = made;
                News::Renewed
            }
            Err(fault) => News::Refused(fault),
        };
        (last.made.clone(), news)
    }
}

fn contents(files: &[PathBuf]) -> Result<Vec<Vec<u8>>, Fault> {
    files.iter().map(|file| read(file)).collect()
}

fn stamp(hasher: &RandomState, found: &Result<Vec<Vec<u8>>, Fault>) -> u64 {
    hasher.hash_one(found.as_ref().map_err(Fault::reason))
}

#[cfg(test)]
mod tests {
    use lehr_services::Code;

    use super::*;

    /// Returns the number in a file.
    fn number(bytes: &[Vec<u8>]) -> Result<u32, Fault> {
        let text = String::from_utf8_lossy(&bytes[0]);
        text.parse().map_err(|_| Fault::new(Code::InvalidValue, format!("no number: {text}")))
    }

    #[test]
    fn each_change_is_told_once_and_what_is_of_no_use_changes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("number");
        assert!(Renewed::new(vec![file.clone()], number).is_err());
        std::fs::write(&file, "1").unwrap();
        let renewed = Renewed::new(vec![file.clone()], number).unwrap();
        assert!(matches!(renewed.look(), (1, News::Same)));
        std::fs::write(&file, "2").unwrap();
        assert!(matches!(renewed.look(), (2, News::Renewed)));
        assert!(matches!(renewed.look(), (2, News::Same)));
        std::fs::write(&file, "x").unwrap();
        assert!(matches!(renewed.look(), (2, News::Refused(fault)) if fault.reason() == "no number: x"));
        assert!(matches!(renewed.look(), (2, News::Same)));
        std::fs::remove_file(&file).unwrap();
        assert!(matches!(renewed.look(), (2, News::Refused(fault)) if fault.reason().contains("number: ")));
        std::fs::write(&file, "2").unwrap();
        assert!(matches!(renewed.look(), (2, News::Renewed)));
    }
}
