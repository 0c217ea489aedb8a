//! The outcome of the program, with the exit codes of the `lehr` command, which scripts know.

use std::process::ExitCode;

use crate::output;

/// The reason why a measurement is incomplete, in words for the user.
#[derive(Debug)]
pub struct Failure {
    /// The kind of failure, which determines the exit code.
    pub kind: Kind,
    /// A complete message of one or more lines: the problem, its place, and what was expected.
    pub message: String,
}

/// The kinds of failure, each with its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A measurement failed: a wrong answer, or a missing peer.
    NoResult,
    /// The command line is invalid.
    Usage,
    /// The input data are invalid.
    BadData,
    /// The environment caused the failure: files, programs, signals.
    Environment,
    /// Ctrl-C or a termination signal stopped the program.
    Stopped,
}

impl Kind {
    /// Returns the process's exit code.
    pub fn code(self) -> u8 {
        match self {
            Kind::NoResult => 1,
            Kind::Usage => 2,
            Kind::BadData => 3,
            Kind::Environment => 4,
            Kind::Stopped => 130,
        }
    }
}

impl Failure {
    /// Makes a failure of a kind.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Reports the failure on standard error and returns the exit code.
    pub fn report(&self) -> ExitCode {
        // Being stopped is not an error: the user asked for it.
        let label = if self.kind == Kind::Stopped { "stopped" } else { "error" };
        output::note(&format!("{label}: {}", self.message.replace('\n', "\n       ")));
        ExitCode::from(self.kind.code())
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::new(Kind::NoResult, format!("{error:#}"))
    }
}
