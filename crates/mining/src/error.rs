//! Errors of the methods, one variant for each thing that you can handle differently.

use std::path::PathBuf;

/// The reason why a method has no result.
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
    /// More clusters than rows were requested: ask for fewer.
    #[error(
        "you requested {clusters} clusters, but only {points} rows have a weight above 0: request {points} or fewer"
    )]
    TooManyClusters {
        /// The requested number of clusters.
        clusters: usize,
        /// Rows there are.
        points: usize,
    },
    /// More rows than row numbers: split the data.
    #[error("found {points} rows: expected at most 4294967295, which row numbers can count; take a sample of the rows")]
    TooManyPoints {
        /// Rows there are.
        points: usize,
    },
    /// Squared distances would overflow: divide the columns by a power of ten.
    #[error(
        "a row is {distance:e} from the mean of its column: expected less than {most:e}, whose square a number can hold; divide the columns by a power of ten"
    )]
    TooFar {
        /// The largest deviation of a coordinate.
        distance: f64,
        /// The limit.
        most: f64,
    },
    /// Pairs without a dissimilarity cut the items into separate parts. Cluster the parts one by one, or give values to
    /// pairs between them.
    #[error(
        "pairs without a dissimilarity cut the items into {parts} separate parts, of {} items: expected a chain of pairs with values from each item to all others; outside the largest part: {}; leave these out, take each part alone, or give values to pairs between the parts",
        listed(sizes, *parts),
        items(first, ids, *outside)
    )]
    Disconnected {
        /// The number of parts.
        parts: usize,
        /// The items in each, the largest first; the first ten.
        sizes: Vec<usize>,
        /// The number of items outside the largest part.
        outside: usize,
        /// The first ten of them, counted from 0.
        first: Vec<usize>,
        /// Their identifiers, if they are known: [`Error::with_ids`].
        ids: Vec<String>,
    },
    /// Items that no pair says anything about: leave them out, or give them values.
    #[error(
        "{} no dissimilarity to any other item: {}; leave {} out, or give values to the pairs (items of weight 0 do not count)",
        if *count == 1 { "1 item has".to_owned() } else { format!("{count} items have") },
        items(first, ids, *count),
        if *count == 1 { "it" } else { "them" }
    )]
    Unrelated {
        /// The number of them.
        count: usize,
        /// The first ten, counted from 0.
        first: Vec<usize>,
        /// Their identifiers, if they are known: [`Error::with_ids`].
        ids: Vec<String>,
    },
    /// Pairs without a dissimilarity, for a method that needs all of them: give them values, or use pairwise annealing.
    #[error(
        "{pairs} pairs have no dissimilarity: expected one for every pair; give them values, or use pairwise annealing (lehr pairwise, PairwiseClustering), which takes missing pairs"
    )]
    Incomplete {
        /// The number of them.
        pairs: u64,
    },
    /// Columns without a width: a density along them would be infinite. Leave them out.
    #[error(
        "{count} of the columns are the same in all rows of positive weight: {}; expected columns that vary",
        named(first, *count)
    )]
    Constant {
        /// The number of them.
        count: usize,
        /// The names of the first ten.
        first: Vec<String>,
    },
    /// Columns without a single value: leave them out.
    #[error(
        "{count} of the columns have no value in any row of positive weight: {}; expected at least one in each column",
        named(first, *count)
    )]
    Unobserved {
        /// The number of them.
        count: usize,
        /// The names of the first ten.
        first: Vec<String>,
    },
    /// Variances would be too small for a number to hold: multiply the columns by a power of ten.
    #[error(
        "no row is further than {distance:e} from the mean of its column: expected at least {least:e}, so that a number can hold variances; multiply the columns by a power of ten"
    )]
    TooNear {
        /// The unit of the deviations.
        distance: f64,
        /// The limit.
        least: f64,
    },
    /// A component's covariance is no longer positive definite: raise the regularisation, or ask for fewer components
    /// or a simpler covariance.
    #[error(
        "component {component} (counted from 0) of {components} has collapsed: its covariance is not positive definite; ask for fewer components, a simpler covariance, or more regularisation"
    )]
    Collapsed {
        /// Counted from 0.
        component: usize,
        /// Their number.
        components: usize,
    },
    /// Most of the weight is outside the outlier radius, so the clusters would be of the few rows that are left: take a
    /// larger radius.
    #[error(
        "{percent:.1} % of the weight is farther than the outlier radius {radius} from every centre: expected at most 50 %; take a larger radius, or more clusters"
    )]
    MostlyOutside {
        /// The share of the weight in it.
        percent: f64,
        /// Its radius.
        radius: f64,
    },
    /// The computation takes more memory than the machine has free: do as `cure` says.
    #[error(
        "{what} take about {} of memory, and {} are free: {cure}",
        lehr_spill::size(*bytes as usize),
        lehr_spill::size(*available as usize)
    )]
    Memory {
        /// The part that takes it.
        what: String,
        /// About how many bytes.
        bytes: u64,
        /// The number of them.
        available: u64,
        /// A hint at a cure.
        cure: &'static str,
    },
    /// The observer asked it to stop; it was handed the checkpoint just before.
    #[error("stopped")]
    Stopped,
    /// The checkpoint was written for other data: resume with those data, or start again from the beginning.
    #[error("the checkpoint was written for other data (fingerprint {checkpoint:016x}, these have {data:016x})")]
    OtherData {
        /// Fingerprint in the checkpoint.
        checkpoint: u64,
        /// Fingerprint of the data at hand.
        data: u64,
    },
    /// The checkpoint has another format: resume with the version that wrote it, or start again from the beginning.
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
    /// The folder for rows that memory should not hold does not take them: free its disk, or name another.
    #[error(transparent)]
    Spill(#[from] lehr_spill::Error),
    /// Writing failed.
    #[error(transparent)]
    Data(#[from] lehr_data::Error),
    /// A rank failed; the message is its own.
    #[error(transparent)]
    Ranks(#[from] lehr_ranks::Error),
}

impl Error {
    /// The same error; items that it names have their identifiers. `ids` has one for each item of the data.
    ///
    /// # Example
    /// ```
    /// use lehr_mining::Error;
    /// let error = Error::Unrelated { count: 1, first: vec![1], ids: Vec::new() };
    /// let message = error.with_ids(&["a".to_owned(), "rev".to_owned()]).to_string();
    /// assert!(message.starts_with("1 item has no dissimilarity to any other item: rev; leave it out"));
    /// ```
    #[must_use]
    pub fn with_ids(mut self, all: &[String]) -> Self {
        if let Error::Unrelated { first, ids, .. } | Error::Disconnected { first, ids, .. } = &mut self {
            // Where the identifiers are numbers, the message says how it counts.
            if first.iter().any(|item| all[*item] != item.to_string()) {
                *ids = first.iter().map(|item| all[*item].clone()).collect();
            }
        }
        self
    }
}

/// The first few of some items, by their identifiers if these are known, and whether there are more.
fn items(numbers: &[usize], ids: &[String], all: usize) -> String {
    if ids.is_empty() { listed(numbers, all) + " (counted from 0)" } else { named(ids, all) }
}

/// The first few of some names, and whether there are more.
fn named(names: &[String], all: usize) -> String {
    format!("{}{}", names.join(", "), if all > names.len() { ", …" } else { "" })
}

/// The first few of some numbers, and whether there are more.
fn listed(numbers: &[usize], all: usize) -> String {
    let shown: Vec<String> = numbers.iter().map(usize::to_string).collect();
    format!("{}{}", shown.join(", "), if all > numbers.len() { ", …" } else { "" })
}
