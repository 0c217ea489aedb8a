//! Errors that keep a demonstration from beginning.

/// The reason why a demonstration has nothing to begin with.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Invalid options, by their names in the command.
    #[error("{0}")]
    Usage(String),
    /// A file, or its content.
    #[error(transparent)]
    Data(#[from] lehr_data::Error),
    /// A method's error about the data.
    #[error(transparent)]
    Method(#[from] lehr_mining::Error),
}
