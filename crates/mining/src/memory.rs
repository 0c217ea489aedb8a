//! Estimates the memory that a run needs in addition to its rows, and compares it with the available memory before the
//! run.
//!
//! Readers check that the rows fit in memory, but the data computed from rows may be far larger. Centres are not
//! sparse, matrices grow with the square of the number of items, and covariances with the square of the number of
//! columns. The estimates are based on measured runs. Only large estimates are compared, so that small runs make no
//! system call.

use lehr_data::memory::available;

use crate::Error;

/// Runs that need fewer bytes than this are not checked.
const SMALL: f64 = (64u32 << 20) as f64;
/// The size of a number, in bytes.
const NUMBER: f64 = 8.0;
/// In k-means, the number of copies of sparse rows' centres that a rank holds at once (measured).
const OF_KMEANS: f64 = 15.0;
/// In annealing, the number of copies of sparse rows' centres that a rank holds at once (measured).
const OF_ANNEALING: f64 = 60.0;
/// The share of these copies that a rank holds if rows are not sparse and leaves are small.
const SHARE_OF_NUMBERS: f64 = 0.25;

/// The memory that a run needs, in bytes, and its description for messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub bytes: f64,
    /// The data that need the memory, such as `20 centres of 100000 columns on 2 ranks`.
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Centers { clusters: usize, columns: usize, ranks: usize },
    Covariances { components: usize, columns: usize },
    Map { nodes: usize, functions: usize, columns: usize },
    Pairs { items: usize },
}

impl Need {
    /// The memory that k-means needs.
    pub fn of_kmeans(clusters: usize, columns: usize, ranks: usize, is_sparse: bool) -> Self {
        Self::of_centers(OF_KMEANS, clusters, columns, ranks, is_sparse)
    }

    /// The memory that annealing needs.
    pub fn of_annealing(clusters: usize, columns: usize, ranks: usize, is_sparse: bool) -> Self {
        Self::of_centers(OF_ANNEALING, clusters, columns, ranks, is_sparse)
    }

    fn of_centers(copies: f64, clusters: usize, columns: usize, ranks: usize, is_sparse: bool) -> Self {
        let copies = if is_sparse { copies } else { copies * SHARE_OF_NUMBERS };
        let bytes = NUMBER * copies * clusters as f64 * columns as f64 * ranks.max(1) as f64;
        Self { bytes, what: What::Centers { clusters, columns, ranks } }
    }

    /// The memory that a mixture with full or tied covariances needs: the model, its sums, and the sums of each rank.
    pub fn of_covariances(components: usize, columns: usize, ranks: usize) -> Self {
        let bytes = NUMBER * (3.0 + 2.0 * ranks as f64) * components as f64 * (columns as f64).powi(2);
        Self { bytes, what: What::Covariances { components, columns } }
    }

    /// The memory that a topographic map needs: the sheet, its basis functions, and the sums of each rank.
    pub fn of_map(nodes: usize, functions: usize, columns: usize, ranks: usize) -> Self {
        let (k, m, d) = (nodes as f64, functions as f64, columns as f64);
        let bytes = NUMBER * (k * m + 3.0 * m * m + k * d * (3.0 + 2.0 * ranks as f64));
        Self { bytes, what: What::Map { nodes, functions, columns } }
    }

    /// The memory for a full copy of a matrix that is condensed or rewritten. Each number takes `bytes_each` bytes.
    pub fn of_pairs(items: usize, bytes_each: usize) -> Self {
        Self { bytes: bytes_each as f64 * (items as f64).powi(2), what: What::Pairs { items } }
    }

    /// Checks that the machine has enough memory.
    ///
    /// # Errors
    /// Returns [`Error::Memory`].
    pub fn check(self) -> Result<(), Error> {
        if self.bytes < SMALL { Ok(()) } else { self.held_against(available()) }
    }

    fn held_against(self, available: Option<u64>) -> Result<(), Error> {
        match available {
            Some(available) if self.bytes > available as f64 => Err(Error::Memory {
                what: self.what.to_string(),
                bytes: self.bytes as u64,
                available,
                cure: self.what.cure(),
            }),
            _ => Ok(()),
        }
    }
}

impl What {
    fn cure(self) -> &'static str {
        match self {
            Self::Centers { ranks: 2.., .. } => {
                "ask for fewer clusters, use fewer columns, or compute with one rank (--ranks 1)"
            }
            Self::Centers { .. } => "ask for fewer clusters, or use fewer columns",
            Self::Covariances { .. } => "ask for fewer components or diagonal covariances, or use fewer columns",
            Self::Map { .. } => "ask for fewer nodes, or use fewer columns",
            Self::Pairs { .. } => "take a sample of the items, or store numbers of fewer bits",
        }
    }
}

impl std::fmt::Display for What {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Centers { clusters, columns, ranks } => {
                write!(f, "{clusters} centres of {columns} columns, with {ranks} ranks,")
            }
            Self::Covariances { components, columns } => {
                write!(f, "{components} covariances of {columns} x {columns} numbers")
            }
            Self::Map { nodes, functions, columns } => {
                write!(f, "a map of {nodes} nodes with {functions} functions in {columns} columns")
            }
            Self::Pairs { items } => write!(f, "the dissimilarities of {items} x {items} items"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_with_how_much_there_is_and_what_to_do_28() {
        let need = Need::of_covariances(10, 20_000, 2);
        assert_eq!(need.bytes, 8.0 * 7.0 * 10.0 * 4e8);
        let error = need.held_against(Some(8 << 30)).unwrap_err().to_string();
        assert_eq!(
            error,
            "10 covariances of 20000 x 20000 numbers take about 208.6 GiB of memory, and 8.0 GiB are free: \
             ask for fewer components or diagonal covariances, or use fewer columns"
        );
        assert!(need.held_against(Some(1 << 40)).is_ok() && need.held_against(None).is_ok());
        let error = Need::of_kmeans(20, 1_000_000, 4, true).held_against(Some(1 << 30)).unwrap_err().to_string();
        assert!(error.ends_with("or compute with one rank (--ranks 1)"), "{error}");
        // A small need is not compared with the system's memory.
        assert!(Need::of_pairs(1000, 8).check().is_ok());
        assert!(Need::of_pairs(1 << 30, 8).check().is_err());
    }
}
