//! What is wrong with a file that describes something: every fault with its line and field, the first ten shown.

use std::fmt;

use lehr_services::{Code, Fault};
use serde::{Deserialize, Serialize};

/// One fault: where, and what was expected and found.
///
/// # Example
/// See [`Findings`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Finding {
    /// The file.
    pub file: String,
    /// The line, counted from 1; nothing if the fault is of no line.
    pub line: Option<usize>,
    /// The field, such as `steps.read.service`; empty for the file as a whole.
    pub field: String,
    /// What was expected, and what was found.
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

/// All faults of a description, by line: the first [`Findings::KEPT`] are kept, all are counted.
///
/// # Example
/// ```
/// use lehr_node::manifest::{Manifest, Findings};
/// let findings: Findings = Manifest::read("node.toml", "[services.\"/notes\"]\ncontract = 5\n").unwrap_err();
/// assert_eq!(findings.to_string(), "node.toml, line 2, services.\"/notes\".contract: expected a text, found 5");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    all: Vec<Finding>,
}

impl Findings {
    /// How many are shown.
    pub const KEPT: usize = 10;

    /// Adds one.
    pub fn add(&mut self, finding: Finding) {
        if !self.all.contains(&finding) {
            self.all.push(finding);
        }
    }

    /// Adds those of another.
    pub fn extend(&mut self, other: Findings) {
        other.all.into_iter().for_each(|finding| self.add(finding));
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The first ones, by file and line.
    pub fn shown(&self) -> Vec<&Finding> {
        let mut shown: Vec<&Finding> = self.all.iter().collect();
        // Stable: faults of one line stay as they were found.
        shown.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
        shown.truncate(Self::KEPT);
        shown
    }

    /// Nothing, or all of them as an error.
    ///
    /// # Errors
    /// These findings, if there are any.
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
