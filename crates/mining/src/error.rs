//! Errors of the methods: one variant for each case that you can handle differently.

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
        /// The allowed values.
        expected: &'static str,
        /// The value that was given.
        found: String,
    },
    /// There are fewer rows than requested clusters: request fewer clusters.
    #[error(
        "you requested {clusters} clusters, but only {points} rows have a weight above 0: request {points} or fewer"
    )]
    TooManyClusters {
        /// The requested number of clusters.
        clusters: usize,
        /// The number of rows with a weight above 0.
        points: usize,
    },
    /// There are fewer rows than requested components of a mixture: request fewer components.
    #[error(
        "you requested {components} components, but only {points} rows have a weight above 0: request {points} or fewer"
    )]
    TooManyComponents {
        /// The requested number of components.
        components: usize,
        /// The number of rows with a weight above 0.
        points: usize,
    },
    /// A map has more dimensions than the rows have columns: request fewer dimensions, or use more columns.
    #[error(
        "a map of {dimensions} dimensions needs as many columns, found {columns}: ask for fewer dimensions, or use more columns"
    )]
    TooManyDimensions {
        /// The requested number of dimensions.
        dimensions: usize,
        /// The number of columns.
        columns: usize,
    },
    /// There are more rows than 32-bit row numbers: split the data.
    #[error("found {points} rows: expected at most 4294967295, which row numbers can count; take a sample of the rows")]
    TooManyPoints {
        /// The number of rows.
        points: usize,
    },
    /// Squared distances would overflow: divide the columns by a power of ten.
    #[error(
        "a row is {distance:e} from the mean of its column: expected less than {most:e}, whose square a number can hold; divide the columns by a power of ten"
    )]
    TooFar {
        /// The largest deviation of a coordinate.
        distance: f64,
        /// The upper limit of deviations.
        most: f64,
    },
    /// Pairs without a dissimilarity divide the items into separate parts. Cluster the parts one by one, or give values
    /// to pairs between them.
    #[error(
        "pairs without a dissimilarity cut the items into {parts} separate parts, of {} items: expected a chain of pairs with values from each item to all others; outside the largest part: {}; leave these out, take each part alone, or give values to pairs between the parts",
        listed(sizes, *parts),
        items(first, ids, *outside)
    )]
    Disconnected {
        /// The number of parts.
        parts: usize,
        /// The numbers of items in the ten largest parts, the largest first.
        sizes: Vec<usize>,
        /// The number of items outside the largest part.
        outside: usize,
        /// The first ten items outside the largest part, counted from 0.
        first: Vec<usize>,
        /// The identifiers of the items in `first`, if known: see [`Error::with_ids`].
        ids: Vec<String>,
    },
    /// Items have no dissimilarity to any other item: leave them out, or give values to their pairs.
    #[error(
        "{} no dissimilarity to any other item: {}; leave {} out, or give values to the pairs (items of weight 0 do not count)",
        if *count == 1 { "1 item has".to_owned() } else { format!("{count} items have") },
        items(first, ids, *count),
        if *count == 1 { "it" } else { "them" }
    )]
    Unrelated {
        /// The number of items without a dissimilarity.
        count: usize,
        /// The first ten items without a dissimilarity, counted from 0.
        first: Vec<usize>,
        /// The identifiers of the items in `first`, if known: see [`Error::with_ids`].
        ids: Vec<String>,
    },
    /// The method needs all pairs, but some have no dissimilarity: give them values, or use pairwise annealing.
    #[error(
        "{} no dissimilarity: expected one for every pair; give them values, or use pairwise annealing (lehr pairwise, PairwiseClustering), which takes missing pairs",
        if *pairs == 1 { "1 pair has".to_owned() } else { format!("{pairs} pairs have") }
    )]
    Incomplete {
        /// The number of pairs without a dissimilarity.
        pairs: u64,
    },
    /// Columns are constant, so that a density along them would be infinite: leave them out.
    #[error(
        "{count} of the columns are the same in all rows of positive weight: {}; expected columns that vary",
        named(first, *count)
    )]
    Constant {
        /// The number of constant columns.
        count: usize,
        /// The names of the first ten constant columns.
        first: Vec<String>,
    },
    /// Columns have no values: leave them out.
    #[error(
        "{count} of the columns have no value in any row of positive weight: {}; expected at least one in each column",
        named(first, *count)
    )]
    Unobserved {
        /// The number of columns without values.
        count: usize,
        /// The names of the first ten columns without values.
        first: Vec<String>,
    },
    /// Variances would underflow: multiply the columns by a power of ten.
    #[error(
        "no row is further than {distance:e} from the mean of its column: expected at least {least:e}, so that a number can hold variances; multiply the columns by a power of ten"
    )]
    TooNear {
        /// The scale of the largest deviation.
        distance: f64,
        /// The lower limit of this scale.
        least: f64,
    },
    /// The covariance of a component is no longer positive definite: raise the regularisation, or use fewer components
    /// or a simpler covariance.
    #[error(
        "component {component} (counted from 0) of {components} has collapsed: its covariance is not positive definite; ask for fewer components, a simpler covariance, or more regularisation"
    )]
    Collapsed {
        /// The component, counted from 0.
        component: usize,
        /// The number of components.
        components: usize,
    },
    /// Most of the weight is outside the outlier radius, so the clusters would describe only the few remaining rows:
    /// choose a larger radius.
    #[error(
        "{percent:.1} % of the weight is farther than the outlier radius {radius} from every centre: expected at most 50 %; take a larger radius, or more clusters"
    )]
    MostlyOutside {
        /// The percentage of the weight that is outside the radius.
        percent: f64,
        /// The outlier radius.
        radius: f64,
    },
    /// The computation needs more memory than the machine has free; `cure` says what to do.
    #[error(
        "{what} take about {} of memory, and {} are free: {cure}",
        lehr_spill::size(*bytes as usize),
        lehr_spill::size(*available as usize)
    )]
    Memory {
        /// The part of the computation that needs the memory.
        what: String,
        /// The number of bytes needed, approximately.
        bytes: u64,
        /// The number of bytes available.
        available: u64,
        /// The suggested remedy.
        cure: &'static str,
    },
    /// The observer stopped the run; it received the checkpoint just before.
    #[error("stopped")]
    Stopped,
    /// The checkpoint was written for other data: resume with those data, or start from the beginning.
    #[error("the checkpoint was written for other data (fingerprint {checkpoint:016x}, these have {data:016x})")]
    OtherData {
        /// The fingerprint in the checkpoint.
        checkpoint: u64,
        /// The fingerprint of the present data.
        data: u64,
    },
    /// The checkpoint has another format: resume with the version that wrote it, or start from the beginning.
    #[error("{path}: a checkpoint of format {found}, expected format {expected}")]
    CheckpointVersion {
        /// The file.
        path: PathBuf,
        /// The format of the file.
        found: String,
        /// The format that this version reads.
        expected: u32,
    },
    /// The file is not a checkpoint of this method, or it was truncated or changed.
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
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// Rows could not be written to the spill folder: free disk space there, or name another folder.
    #[error(transparent)]
    Spill(#[from] lehr_spill::Error),
    /// The data could not be read or written.
    #[error(transparent)]
    Data(#[from] lehr_data::Error),
    /// A rank failed; the message is that of the rank.
    #[error(transparent)]
    Ranks(#[from] lehr_ranks::Error),
}

impl Error {
    /// Adds identifiers to the items that the error names. `all` has one for each item of the data.
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
            // Identifiers that equal the items' numbers add nothing. Without identifiers, the message says that items
            // are counted from 0.
            if first.iter().any(|item| all[*item] != item.to_string()) {
                *ids = first.iter().map(|item| all[*item].clone()).collect();
            }
        }
        self
    }
}

/// Lists the first few items, by identifier if known, and marks whether there are more.
fn items(numbers: &[usize], ids: &[String], all: usize) -> String {
    if ids.is_empty() { listed(numbers, all) + " (counted from 0)" } else { named(ids, all) }
}

/// Lists the first few names, and marks whether there are more.
fn named(names: &[String], all: usize) -> String {
    format!("{}{}", names.join(", "), if all > names.len() { ", …" } else { "" })
}

/// Lists the first few numbers, and marks whether there are more.
fn listed(numbers: &[usize], all: usize) -> String {
    let shown: Vec<String> = numbers.iter().map(usize::to_string).collect();
    format!("{}{}", shown.join(", "), if all > numbers.len() { ", …" } else { "" })
}
