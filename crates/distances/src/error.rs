//! Errors of computing dissimilarities, one variant for each thing that you can handle differently.

use std::path::PathBuf;

/// The reason why there are no dissimilarities.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range: correct it.
    #[error("{name}: expected {expected}, found {found}")]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// The values that are allowed.
        expected: String,
        /// The value given.
        found: String,
    },
    /// The data do not suit the dissimilarity: choose another one, or correct the data.
    #[error("{name}: expected {expected}, found {found}")]
    Unsuited {
        /// The name of the data in messages.
        name: String,
        /// The dissimilarity's requirement.
        expected: String,
        /// The value found instead.
        found: String,
    },
    /// The result does not fit in the memory that was allowed: take a smaller element, or a sample.
    #[error(
        "{items} items have {pairs} pairs, which take {bytes} bytes as {element}: more than the {limit} bytes there are for them; take numbers of fewer bits, a sample, or collapse equal items"
    )]
    TooLarge {
        /// N.
        items: usize,
        /// N (N - 1) / 2.
        pairs: u64,
        /// The bytes that they take.
        bytes: u64,
        /// As which element.
        element: &'static str,
        /// The limit in bytes.
        limit: u64,
    },
    /// A dissimilarity is larger than its element holds: take a larger element, or smaller numbers.
    #[error(
        "items {first} and {second}, counted from 0, are further apart than {element} can store{}",
        if *pairs > 1 { format!("; so are {} other pairs", pairs - 1) } else { String::new() }
    )]
    Overflow {
        /// The first item of the first such pair.
        first: usize,
        /// The second.
        second: usize,
        /// The number of such pairs.
        pairs: u64,
        /// The element.
        element: &'static str,
    },
    /// The observer asked it to stop; the finished part was offered to it just before.
    #[error("stopped")]
    Stopped,
    /// The checkpoint is of other data or another dissimilarity: resume with those it was written for, or start again
    /// from the beginning.
    #[error("{path}: expected the checkpoint of {expected}, found that of {found}")]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// The run of now.
        expected: String,
        /// The run that it was written for.
        found: String,
    },
    /// The file is no checkpoint of dissimilarities, or its head was cut or changed.
    #[error("{path}: not a checkpoint of dissimilarities ({reason})")]
    CheckpointDamaged {
        /// The file.
        path: PathBuf,
        /// The reason why the file is refused.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A rank failed; the message is its own.
    #[error(transparent)]
    Ranks(#[from] lehr_ranks::Error),
}
