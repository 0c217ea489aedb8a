//! One half of a symmetric matrix, in the tiles in which it was computed.

use lehr_ranks::LeafCells;

use crate::schedule::{PART_ROWS, Schedule};
use crate::{Error, Metric};

/// A type of number in which values are stored until they are written.
pub trait Precision: Copy + Send + Sync + PartialEq + std::fmt::Debug + 'static {
    /// The name of the type: `f32` or `f64`.
    const NAME: &'static str;
    /// The number of bytes of a value.
    const BYTES: usize;
    /// The smallest positive value with all its digits.
    const LEAST: f64;
    /// Rounds to the nearest value; NaN stays NaN.
    fn from_f64(value: f64) -> Self;
    /// Converts to `f64`, exactly.
    fn to_f64(self) -> f64;
    /// Appends the bytes of the value, little-endian.
    fn write(self, bytes: &mut Vec<u8>);
    /// Reads a value from its bytes.
    ///
    /// # Panics
    /// Panics if `bytes` does not have length [`Precision::BYTES`].
    fn read(bytes: &[u8]) -> Self;
}

macro_rules! precision {
    ($type:ty, $name:literal) => {
        impl Precision for $type {
            const NAME: &'static str = $name;
            const BYTES: usize = size_of::<$type>();
            const LEAST: f64 = <$type>::MIN_POSITIVE as f64;

            fn from_f64(value: f64) -> Self {
                value as $type
            }
            fn to_f64(self) -> f64 {
                self as f64
            }
            fn write(self, bytes: &mut Vec<u8>) {
                bytes.extend_from_slice(&self.to_le_bytes());
            }
            fn read(bytes: &[u8]) -> Self {
                <$type>::from_le_bytes(bytes.try_into().expect("the bytes of one value"))
            }
        }
    };
}

precision!(f32, "f32");
precision!(f64, "f64");

/// The dissimilarities of all pairs, each stored once.
///
/// Memory: [`Half::bytes`]. Reading one pair costs a few divisions; [`Half::row`] and [`Half::for_each`] read whole
/// tiles.
///
/// # Example
/// ```
/// use lehr_data::Incomplete;
/// use lehr_distances::{Silent, all_pairs, rows::{Compared, Measure}};
/// let metric = Compared::new(&Incomplete::new(vec![0.0, 3.0, 7.0], 1)?, Measure::Manhattan)?;
/// let half = all_pairs::<f64>(&metric, &lehr_ranks::Execution::default(), None, &mut Silent)?;
/// let mut row = [f64::NAN; 3];
/// half.row(1, &mut row);
/// assert_eq!(row, [3.0, 0.0, 4.0]);
/// let mut sum = 0.0;
/// half.for_each(|value| sum += value);
/// assert_eq!(sum, 3.0 + 7.0 + 4.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Half<T> {
    items: usize,
    schedule: Schedule,
    /// The values of a tile, row after row, by leaf and then by step; empty if a leaf has no tile in the step.
    tiles: Vec<Vec<Vec<T>>>,
}

impl<T: Precision> Half<T> {
    pub(crate) fn new(items: usize, cells: LeafCells<Vec<Vec<T>>>) -> Self {
        Self { items, schedule: Schedule::new(items), tiles: cells.into_values().collect() }
    }

    /// Returns the number of bytes for the values of `items` items: N (N - 1) / 2 values, and a few more along the
    /// diagonal.
    ///
    /// # Example
    /// ```
    /// use lehr_distances::Half;
    /// assert_eq!(Half::<f32>::bytes(10_000), 4 * 10_000 * 10_032 / 2);
    /// ```
    pub fn bytes(items: usize) -> u64 {
        // A tile on the diagonal is stored as a square, or as the part right of it: this adds half of a part's rows for
        // each item.
        ((items as u64).saturating_mul(items as u64 + PART_ROWS as u64) / 2).saturating_mul(T::BYTES as u64)
    }

    /// Checks that the values of `items` items fit into `limit` bytes.
    ///
    /// # Errors
    /// Returns [`Error::TooLarge`] if the values do not fit.
    ///
    /// # Example
    /// ```
    /// use lehr_distances::{Error, Half};
    /// assert!(Half::<f32>::fits(35_339, 4 << 30).is_ok());
    /// assert!(matches!(Half::<f64>::fits(35_339, 4 << 30), Err(Error::TooLarge { .. })));
    /// ```
    pub fn fits(items: usize, limit: u64) -> Result<(), Error> {
        let bytes = Self::bytes(items);
        if bytes <= limit {
            return Ok(());
        }
        let pairs = (items as u64).saturating_mul(items as u64 - 1) / 2;
        Err(Error::TooLarge { items, pairs, bytes, element: T::NAME, limit })
    }

    /// Checks that the element type can store the dissimilarities of `metric`, of which `largest` is the largest value
    /// that you have found.
    ///
    /// Cost: one pass over all values if `largest` is infinite, and one row of the metric if it is tiny or 0.
    ///
    /// # Errors
    /// Returns [`Error::Overflow`] with the first pair whose dissimilarity has become infinite. Returns
    /// [`Error::Underflow`] if all values are so small that the type stores them with fewer digits, or as 0.
    ///
    /// # Example
    /// ```
    /// use lehr_data::Incomplete;
    /// use lehr_distances::{Error, Silent, all_pairs, rows::{Compared, Measure}};
    /// let metric = Compared::new(&Incomplete::new(vec![0.0, 1e20, -1e20], 1)?, Measure::SquaredEuclidean)?;
    /// let half = all_pairs::<f32>(&metric, &lehr_ranks::Execution::default(), None, &mut Silent)?;
    /// let refused = half.held(f64::INFINITY, &metric);
    /// assert!(matches!(refused, Err(Error::Overflow { first: 0, second: 1, pairs: 3, element: "f32" })));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn held(&self, largest: f64, metric: &dyn Metric) -> Result<(), Error> {
        if largest.is_finite() {
            // If every value is stored as 0, the items are equal or too near. Equal items are at 0 in 64 bits too.
            let is_tiny = largest > 0.0 && largest < T::LEAST;
            let is_lost = is_tiny || (largest == 0.0 && are_apart(metric));
            return if is_lost { Err(Error::Underflow { element: T::NAME }) } else { Ok(()) };
        }
        let mut row = vec![0.0; self.items];
        let (mut found, mut pairs) = (None, 0);
        for first in 0..self.items {
            self.row(first, &mut row);
            for (second, _) in row.iter().enumerate().skip(first + 1).filter(|(_, value)| value.is_infinite()) {
                found = found.or(Some((first, second)));
                pairs += 1;
            }
        }
        found.map_or(Ok(()), |(first, second)| Err(Error::Overflow { first, second, pairs, element: T::NAME }))
    }

    /// Returns the number of items.
    pub fn items(&self) -> usize {
        self.items
    }

    /// Returns the dissimilarity of two items: NaN if the pair has none, and 0 for an item and itself.
    ///
    /// # Panics
    /// Panics if either item does not exist.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        assert!(i < self.items && j < self.items, "({i}, {j}) of {}", self.items);
        if i == j {
            return 0.0;
        }
        let (leaf, step, row, column) = self.schedule.place(i, j);
        let (rows, columns) = self.schedule.tile(leaf, step).expect("the pair's tile");
        debug_assert!(row < rows.len());
        self.tiles[leaf][step][row * columns.len() + column].to_f64()
    }

    /// Overwrites `values` with the dissimilarities of item `i` to all items.
    ///
    /// Cost: reads N values, which come from one leaf after another.
    ///
    /// # Panics
    /// Panics if the item does not exist, or if `values` does not have length N.
    pub fn row(&self, i: usize, values: &mut [f64]) {
        assert_eq!(values.len(), self.items, "a value for each item");
        assert!(i < self.items, "item {i} of {}", self.items);
        for leaf in 0..self.schedule.leaves() {
            let others = self.schedule.leaf_rows(leaf);
            if others.contains(&i) {
                others.for_each(|j| values[j] = self.get(i, j));
                continue;
            }
            let mut j = others.start;
            while j < others.end {
                let (home, step, row, column) = self.schedule.place(i, j);
                let (rows, columns) = self.schedule.tile(home, step).expect("the pair's tile");
                let (tile, width) = (&self.tiles[home][step], columns.len());
                if rows.contains(&i) {
                    // The leaf of i holds these values, in one row.
                    let kept = tile[row * width..][..width].iter();
                    values[columns].iter_mut().zip(kept).for_each(|(value, kept)| *value = kept.to_f64());
                    j = others.end;
                } else {
                    // The other leaf holds these values, in one column of each of its parts.
                    let kept = tile[column..].iter().step_by(width);
                    values[rows.clone()].iter_mut().zip(kept).for_each(|(value, kept)| *value = kept.to_f64());
                    j = rows.end;
                }
            }
        }
    }

    /// Returns the pairs (0,1), (0,2), …, (1,2), …, each converted by `stored`. A pair without a value is NaN.
    ///
    /// Memory: N (N - 1) / 2 converted values, and a row. Cost: [`Half::row`] of every item.
    ///
    /// # Example
    /// ```
    /// use lehr_data::Incomplete;
    /// use lehr_distances::{Silent, all_pairs, rows::{Compared, Measure}};
    /// let metric = Compared::new(&Incomplete::new(vec![0.0, 3.0, 7.0], 1)?, Measure::Manhattan)?;
    /// let half = all_pairs::<f64>(&metric, &lehr_ranks::Execution::default(), None, &mut Silent)?;
    /// assert_eq!(half.condensed(|value| value as f32), [3.0, 7.0, 4.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn condensed<V>(&self, stored: impl Fn(f64) -> V) -> Vec<V> {
        let mut values = Vec::with_capacity(self.items * self.items.saturating_sub(1) / 2);
        let mut row = vec![0.0; self.items];
        for item in 0..self.items {
            self.row(item, &mut row);
            values.extend(row[item + 1..].iter().map(|&value| stored(value)));
        }
        values
    }

    /// Calls `each` with the value of every pair, in the order of tiles; the value is NaN if the pair has none.
    pub fn for_each(&self, mut each: impl FnMut(f64)) {
        for (leaf, tiles) in self.tiles.iter().enumerate() {
            for (step, values) in tiles.iter().enumerate() {
                let Some((rows, columns)) = self.schedule.tile(leaf, step) else { continue };
                let is_diagonal = rows.start == columns.start;
                for (row, values) in values.chunks_exact(columns.len()).enumerate() {
                    let first = if is_diagonal { row + 1 } else { 0 };
                    values[first..].iter().for_each(|value| each(value.to_f64()));
                }
            }
        }
    }
}

/// Returns whether the first item differs from any other one.
fn are_apart(metric: &dyn Metric) -> bool {
    let mut row = vec![0.0; metric.items()];
    metric.tile(0..1, 0..metric.items(), &mut row);
    row.iter().skip(1).any(|value| *value > 0.0)
}
