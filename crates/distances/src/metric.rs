//! The dissimilarity of two items, computed for a block of pairs at a time.

use std::ops::Range;

use serde_json::{Map, Value};

/// A dissimilarity of numbered items: symmetric, not negative, and 0 for an item and itself.
///
/// Implementations are immutable. They give the same bits on every thread, in every block, and in both orders of a
/// pair. So a matrix does not depend on how its blocks were distributed.
///
/// # Example
/// ```
/// use std::ops::Range;
/// use lehr_distances::{Metric, Silent, all_pairs};
///
/// // How many years lie between two.
/// struct Years(Vec<i32>);
///
/// impl Metric for Years {
///     fn items(&self) -> usize {
///         self.0.len()
///     }
///     fn name(&self) -> &'static str {
///         "years between"
///     }
///     fn parameters(&self) -> serde_json::Map<String, serde_json::Value> {
///         serde_json::Map::new()
///     }
///     fn fingerprint(&self) -> u64 {
///         self.0.iter().fold(0, |hash, year| hash * 31 + *year as u64)
///     }
///     fn tile(&self, rows: Range<usize>, columns: Range<usize>, values: &mut [f64]) {
///         let pairs = rows.flat_map(|i| columns.clone().map(move |j| (i, j)));
///         values.iter_mut().zip(pairs).for_each(|(value, (i, j))| *value = f64::from((self.0[i] - self.0[j]).abs()));
///     }
/// }
///
/// let half = all_pairs::<f32>(&Years(vec![1969, 1989, 2026]), &lehr_ranks::Execution::default(), None, &mut Silent)?;
/// assert_eq!((half.get(0, 1), half.get(2, 1)), (20.0, 37.0));
/// # Ok::<(), lehr_distances::Error>(())
/// ```
pub trait Metric: Sync {
    /// Returns the number of items, at least 1.
    fn items(&self) -> usize;

    /// Returns the name of the dissimilarity.
    fn name(&self) -> &'static str;

    /// Returns the parameters of the measure by name, for the header.
    fn parameters(&self) -> Map<String, Value>;

    /// Returns a number that identifies the data.
    fn fingerprint(&self) -> u64;

    /// Overwrites `values` (`rows.len()` x `columns.len()`, row after row) with the dissimilarities of `rows` and
    /// `columns`; NaN means missing. If both ranges begin with the same item, only values above the diagonal count, and
    /// the implementation may leave the other values unchanged.
    ///
    /// # Panics
    /// Panics if a range exceeds the items, or if `values` has a different length.
    fn tile(&self, rows: Range<usize>, columns: Range<usize>, values: &mut [f64]);
}
