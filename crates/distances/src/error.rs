//! Errors of computing dissimilarities: one variant for each case that you can handle differently.

use std::path::PathBuf;

/// The reason why there are no dissimilarities.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is outside its range. Correct the parameter.
    #[error("{name}: expected {expected}, found {found}")]
    Parameter {
        /// The parameter's name.
        name: &'static str,
        /// The values that are allowed.
        expected: String,
        /// The value given.
        found: String,
    },
    /// The data do not suit the dissimilarity. Choose another dissimilarity, or correct the data.
    #[error("{name}: expected {expected}, found {found}")]
    Unsuited {
        /// The name of the data in messages.
        name: String,
        /// The requirement that the data violate.
        expected: String,
        /// The part of the data that violates this requirement.
        found: String,
    },
    /// The result does not fit in the memory limit. Use a smaller element type, or a sample.
    #[error(
        "{items} items have {pairs} pairs, which take {bytes} bytes as {element}: more than the {limit} bytes there are for them; take numbers of fewer bits, a sample, or collapse equal items"
    )]
    TooLarge {
        /// The number of items, N.
        items: usize,
        /// The number of pairs, N (N - 1) / 2.
        pairs: u64,
        /// The number of bytes that the pairs take.
        bytes: u64,
        /// The name of the element type.
        element: &'static str,
        /// The memory limit, in bytes.
        limit: u64,
    },
    /// A dissimilarity exceeds the range of its element type. Use a larger element type, or smaller numbers.
    #[error(
        "items {first} and {second}, counted from 0, are further apart than {element} can store{}",
        if *pairs > 1 { format!("; so are {} other pairs", pairs - 1) } else { String::new() }
    )]
    Overflow {
        /// The first item of the first pair with such a dissimilarity.
        first: usize,
        /// The second item of the same pair.
        second: usize,
        /// The number of pairs with such dissimilarities.
        pairs: u64,
        /// The name of the element type.
        element: &'static str,
    },
    /// All dissimilarities are smaller than the element type stores with all its digits. Use a larger element type, or
    /// larger numbers.
    #[error("all items are nearer to each other than {element} can store")]
    Underflow {
        /// The name of the element type.
        element: &'static str,
    },
    /// The observer stopped the computation. The finished part was offered to the observer just before.
    #[error("stopped")]
    Stopped,
    /// The checkpoint belongs to other data or another dissimilarity. Resume with the data and the dissimilarity that
    /// it was written for, or start from the beginning.
    #[error("{path}: expected the checkpoint of {expected}, found that of {found}")]
    OtherRun {
        /// The path of the checkpoint.
        path: PathBuf,
        /// The data and the dissimilarity of the present run.
        expected: String,
        /// The data and the dissimilarity that the checkpoint was written for.
        found: String,
    },
    /// The file is not a checkpoint of dissimilarities, or its header was truncated or changed.
    #[error("{path}: not a checkpoint of dissimilarities ({reason})")]
    CheckpointDamaged {
        /// The path of the file.
        path: PathBuf,
        /// The reason why the file is refused.
        reason: String,
    },
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// A rank failed; the message comes from that rank.
    #[error(transparent)]
    Ranks(#[from] lehr_ranks::Error),
}
