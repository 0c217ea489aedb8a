//! What a demonstration cannot begin with.

/// Why a demonstration has nothing to begin with.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// What was asked for cannot be meant; names options as the command has them.
    #[error("{0}")]
    Asked(String),
    /// A file, or what it holds.
    #[error(transparent)]
    Data(#[from] lehr_data::Error),
    /// What a method says of the data.
    #[error(transparent)]
    Method(#[from] lehr_mining::Error),
}
