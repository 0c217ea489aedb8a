//! Faults in a description file, each with its line and field; the first ten are shown.

use std::collections::BTreeSet;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

use lehr_services::{Code, Fault};
use serde::{Deserialize, Serialize};

/// One fault: its place, the expected value and the value found.
///
/// # Example
/// See [`Findings`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Finding {
    /// The name of the file.
    pub file: String,
    /// The line, counted from 1; `None` if the fault belongs to no line.
    pub line: Option<usize>,
    /// The field, such as `steps.read.service`; empty for the file as a whole.
    pub field: String,
    /// The expected value, and the value found.
    pub text: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(formatter, ", line {line}")?;
        }
        if !self.field.is_empty() {
            write!(formatter, ", {}", self.field)?;
        }
        write!(formatter, ": {}", self.text)
    }
}

/// The faults of a description file, by line. All faults are counted, and the first [`Findings::KEPT`] are kept.
///
/// # Example
/// ```
/// use lehr_node::manifest::{Manifest, Findings};
/// let findings: Findings = Manifest::read("node.toml", "[services.\"/notes\"]\ncontract = 5\n").unwrap_err();
/// assert_eq!(findings.to_string(), "node.toml, line 2, services.\"/notes\".contract: expected a text, found 5");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The first faults by file and line; faults in one line are in the order in which they were found.
    kept: Vec<Finding>,
    /// The hashes of all faults: a fault that is found twice counts once, and a file full of faults takes little
    /// memory.
    seen: BTreeSet<u64>,
}

impl Findings {
    /// The maximum number of findings that are shown.
    pub const KEPT: usize = 10;

    /// Adds a finding.
    pub fn add(&mut self, finding: Finding) {
        let mut hasher = DefaultHasher::new();
        finding.hash(&mut hasher);
        if !self.seen.insert(hasher.finish()) {
            return;
        }
        let place = (&finding.file, finding.line);
        let at = self.kept.partition_point(|kept| (&kept.file, kept.line) <= place);
        if at < Self::KEPT {
            self.kept.insert(at, finding);
            self.kept.truncate(Self::KEPT);
        }
    }

    /// Adds the findings of another set.
    pub fn extend(&mut self, other: Findings) {
        other.kept.into_iter().for_each(|finding| self.add(finding));
        self.seen.extend(other.seen);
    }

    /// Returns the number of findings.
    pub fn count(&self) -> usize {
        self.seen.len()
    }

    /// Returns whether there are no findings.
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    /// Returns the first findings, by file and line.
    pub fn shown(&self) -> Vec<&Finding> {
        self.kept.iter().collect()
    }

    /// Returns `Ok` if there are no findings, otherwise all findings as an error.
    ///
    /// # Errors
    /// Returns these findings as an error, if there are any.
    pub fn into_result(self) -> Result<(), Self> {
        if self.is_empty() { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.shown().into_iter().map(ToString::to_string).collect();
        formatter.write_str(&lines.join("\n"))?;
        match self.count().saturating_sub(Self::KEPT) {
            0 => Ok(()),
            _ => write!(formatter, "\n{} faults in all; the first {} are shown", self.count(), Self::KEPT),
        }
    }
}

impl std::error::Error for Findings {}

impl From<Findings> for Fault {
    fn from(findings: Findings) -> Self {
        Fault::new(Code::InvalidValue, findings.to_string())
    }
}
