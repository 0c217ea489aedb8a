//! `--trace FILE`: the actions of each rank with their times, for a viewer of traces.

use std::path::{Path, PathBuf};

use lehr_data::write::AtomicFile;
use lehr_ranks::trace::Trace;

use crate::beside::{self, Beside};
use crate::exit::Failure;
use crate::folder::Folder;

/// The first bytes of every trace that Lehr writes.
const HEAD: &[u8] = b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";
const TRACE: Beside = Beside { name: "trace", option: "--trace" };

/// The requested file, and the trace that it will hold.
pub struct TraceFile {
    path: PathBuf,
    trace: Trace,
}

impl TraceFile {
    /// Checks that the file can be written and overwrites nothing of value.
    ///
    /// # Errors
    /// Returns the errors of [`Beside::claim`].
    pub fn claim(path: &Path, among: (Option<&Path>, &Folder, bool)) -> Result<Self, Failure> {
        let path = TRACE.claim(path, |head| head.starts_with(HEAD), among)?;
        Ok(Self { path, trace: Trace::new() })
    }

    /// Returns the trace of the run.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// Writes the file under a temporary name; [`AtomicFile::commit`] renames it.
    ///
    /// # Errors
    /// Returns [`Kind::Environment`](crate::exit::Kind::Environment) if the file cannot be written.
    pub fn write(self) -> Result<AtomicFile, Failure> {
        beside::write(&self.path, self.trace.json().as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_trace_begins_as_traces_are_known() {
        assert!(Trace::new().json().as_bytes().starts_with(HEAD));
    }
}
