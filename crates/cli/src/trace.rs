//! `--trace FILE`: the actions of each rank with their times, for a viewer of traces.
//!
//! The file is claimed before the run, and put into place after the results. So a long run does not end at a folder in
//! which the file cannot be written. A run that ends without results leaves none.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use lehr_data::write::AtomicFile;
use lehr_ranks::trace::Trace;

use crate::exit::{Failure, Kind};
use crate::folder::Folder;

/// How every trace of ours begins.
const HEAD: &[u8] = b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";

/// The file that was asked for, and its future content.
pub struct TraceFile {
    path: PathBuf,
    trace: Trace,
}

impl TraceFile {
    /// Checks that the file can be written and that nothing is lost by it. It may replace an earlier trace, another
    /// file only with `force`, and the input and the results never.
    ///
    /// # Errors
    /// [`Kind::Environment`].
    pub fn claim(path: &Path, input: Option<&Path>, folder: &Folder, force: bool) -> Result<Self, Failure> {
        let refuse = |reason: &str, hint: &str| {
            Err(Failure::new(Kind::Environment, format!("{}: {reason}", path.display())).with_hint(hint))
        };
        if folder.takes(path) {
            return refuse("the trace would stand in the place of a result", "name another file with --trace");
        }
        let same = |input: &Path| matches!((input.canonicalize(), path.canonicalize()), (Ok(a), Ok(b)) if a == b);
        if input.is_some_and(same) {
            return refuse("the input would be overwritten by the trace", "name another file with --trace");
        }
        // Creates and removes a temporary file beside it: what permission bits do not tell.
        drop(AtomicFile::create(path)?);
        if path.exists() && !force && !is_trace(path) {
            return refuse(
                "is there and is no trace of lehr",
                "name another file with --trace, or replace it with --force",
            );
        }
        Ok(Self { path: path.into(), trace: Trace::new() })
    }

    /// The trace of the run.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Writes the file under a temporary name; it takes its own by [`AtomicFile::commit`].
    ///
    /// # Errors
    /// [`Kind::Environment`]: the disk does not take it.
    pub fn write(self) -> Result<AtomicFile, Failure> {
        let mut file = AtomicFile::create(&self.path)?;
        file.write_all(self.trace.json().as_bytes())
            .and_then(|()| file.flush())
            .map_err(|cause| Failure::from(file.failed(cause)))?;
        Ok(file)
    }
}

fn is_trace(path: &Path) -> bool {
    let mut head = [0; HEAD.len()];
    File::open(path).and_then(|mut file| file.read_exact(&mut head)).is_ok() && head == HEAD
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trace_begins_as_traces_are_known() {
        assert!(Trace::new().json().as_bytes().starts_with(HEAD));
    }
}
