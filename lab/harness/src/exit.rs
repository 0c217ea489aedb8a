//! How the program ends: with the exit codes of the `lehr` command, which scripts know.

use std::process::ExitCode;

use crate::output;

/// Why nothing was measured to its end, in the words the user reads.
#[derive(Debug)]
pub struct Failure {
    /// What the exit code says.
    pub kind: Kind,
    /// One or more lines, complete: what, where, what was expected.
    pub message: String,
}

/// The kinds of failure, each with its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A measurement that failed: a wrong answer, a peer that is not there.
    NoResult,
    /// The command line cannot be meant.
    Usage,
    /// The data that were given.
    BadData,
    /// Files, programs, signals.
    Environment,
    /// Stopped by Ctrl-C or a termination signal.
    Stopped,
}

impl Kind {
    /// The process's exit code.
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
    /// A failure of a kind.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    /// Says what happened on standard error and gives the exit code.
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
