//! What can go wrong in a method, one variant per thing a caller can do differently.

use std::path::PathBuf;

/// Why a method has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range: correct it.
    #[error("{name}: expected {expected}, found {found}")]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// The values that are allowed.
        expected: &'static str,
        /// The value given.
        found: String,
    },
    /// More clusters than rows were asked for: ask for fewer.
    #[error("{clusters} clusters of {points} points: expected at most as many clusters as points")]
    TooManyClusters {
        /// Clusters asked for.
        clusters: usize,
        /// Rows there are.
        points: usize,
    },
    /// More rows than row numbers: split the data.
    #[error("{points} points: expected at most 4294967295")]
    TooManyPoints {
        /// Rows there are.
        points: usize,
    },
    /// Squared distances would overflow: divide the columns by a power of ten.
    #[error(
        "a point is {distance:e} from the mean of its column: expected less than {most:e}, whose square a number can hold"
    )]
    TooFar {
        /// The largest deviation of a coordinate.
        distance: f64,
        /// The limit.
        most: f64,
    },
    /// The observer said stop; it was handed the checkpoint just before.
    #[error("stopped")]
    Stopped,
    /// The checkpoint was written for other data: resume with the data it was written for, or start anew.
    #[error("the checkpoint was written for other data (fingerprint {checkpoint:016x}, these have {data:016x})")]
    OtherData {
        /// Fingerprint in the checkpoint.
        checkpoint: u64,
        /// Fingerprint of the data at hand.
        data: u64,
    },
    /// The checkpoint's format is another: resume with the version that wrote it, or start anew.
    #[error("{path}: a checkpoint of format {found}, expected format {expected}")]
    CheckpointVersion {
        /// The file.
        path: PathBuf,
        /// The format it names.
        found: String,
        /// The format this version reads.
        expected: u32,
    },
    /// The file is no checkpoint, or was cut or changed.
    #[error("{path}: not a whole checkpoint ({reason})")]
    CheckpointDamaged {
        /// The file.
        path: PathBuf,
        /// What does not fit.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Writing failed.
    #[error(transparent)]
    Data(#[from] lehr_data::Error),
    /// A rank failed; the message is its own.
    #[error(transparent)]
    Ranks(#[from] lehr_ranks::Error),
}
