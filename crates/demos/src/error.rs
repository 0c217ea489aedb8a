//! Errors that prevent a demonstration from starting.

/// The reason why a demonstration cannot start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Invalid options, with the names that the command uses.
    #[error("{0}")]
    Usage(String),
    /// A fault in a file or its contents.
    #[error(transparent)]
    Data(#[from] lehr_data::Error),
    /// The error of a method that rejects the data.
    #[error(transparent)]
    Method(#[from] lehr_mining::Error),
}
