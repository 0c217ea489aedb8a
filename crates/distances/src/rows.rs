//! Dissimilarities of rows of numbers, some of which may be missing.
//!
//! A pair is compared in the columns where both have a value. Distances are then scaled up to all columns, as if
//! missing differences equalled the mean of those present. For example, a squared distance is multiplied by the number
//! of columns, divided by the number of columns compared. Cosine, correlation and Gower's mean need no scaling. Rows
//! without a column in common have no dissimilarity. With the correlation, neither have pairs of which one row is
//! constant in the common columns.
//!
//! A row of zeros has no direction. Its cosine with any other row counts as 0, so its distance is 1, as in
//! scikit-learn. A constant row has no correlation, so Lehr refuses it.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use lehr_data::Incomplete;
use serde_json::{Map, Value, json};

use crate::Error;
use crate::dispatch;
use crate::metric::Metric;

/// A measure of the dissimilarity of two rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Measure {
    /// The root of the sum of squared differences.
    #[default]
    Euclidean,
    /// The sum of squared differences. With this measure, pairwise annealing gives the same clusters as annealing of
    /// the rows.
    SquaredEuclidean,
    /// The sum of absolute differences.
    Manhattan,
    /// 1 minus the cosine of the angle between the rows, from 0 to 2. A row of zeros is at distance 1 from all other
    /// rows.
    Cosine,
    /// 1 minus the correlation of the rows, from 0 to 2. Constant rows have no correlation and are refused.
    Correlation,
    /// The mean of the absolute differences, each limited to 1. For rows that [`lehr_data::gower::rows`] prepared, this
    /// is Gower's dissimilarity: differences of numbers are shares of their range, and categories differ by 0 or 1.
    Gower,
}

impl Measure {
    /// All measures of this type.
    pub const ALL: [Self; 6] =
        [Self::Euclidean, Self::SquaredEuclidean, Self::Manhattan, Self::Cosine, Self::Correlation, Self::Gower];

    /// Returns the name in headers and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Euclidean => "euclidean",
            Self::SquaredEuclidean => "squared-euclidean",
            Self::Manhattan => "manhattan",
            Self::Cosine => "cosine",
            Self::Correlation => "correlation",
            Self::Gower => "gower",
        }
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

impl FromStr for Measure {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|measure| measure.name() == text).ok_or_else(|| format!("no such measure: {text:?}"))
    }
}

/// Rows with a measure, as a [`Metric`].
///
/// # Example
/// ```
/// use lehr_data::Incomplete;
/// use lehr_distances::{Metric, rows::{Compared, Measure}};
/// let rows = Incomplete::new(vec![0.0, 0.0, 3.0, 4.0, f64::NAN, 4.0], 2)?;
/// let mut values = [0.0; 9];
/// Compared::new(&rows, Measure::Euclidean)?.tile(0..3, 0..3, &mut values);
/// assert_eq!(values[1], 5.0);
/// assert_eq!(values[2], 32f64.sqrt()); // one column of two: the square, 16, counts twice
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Compared {
    /// The values, row after row; 0 where a value is missing. For the cosine and the correlation, each row is divided
    /// by a power of two. For the correlation, the row's mean is also subtracted.
    values: Vec<f64>,
    /// 1 where a value is present, 0 where it is missing; empty if no value is missing.
    presence: Vec<f64>,
    dimension: usize,
    measure: Measure,
    fingerprint: u64,
}

impl Compared {
    /// Creates a `Compared` from a copy of the rows. Cost: one pass.
    ///
    /// # Errors
    /// If the measure is the correlation, returns [`Error::Unsuited`] for the first row that has several values, all
    /// equal.
    pub fn new(rows: &Incomplete, measure: Measure) -> Result<Self, Error> {
        let (dimension, has_gaps) = (rows.dimension(), rows.missing() > 0);
        let mut values = rows.values().to_vec();
        let presence = |values: &[f64]| values.iter().map(|value| f64::from(u8::from(!value.is_nan()))).collect();
        let presence = if has_gaps { presence(&values) } else { Vec::new() };
        for (number, row) in values.chunks_exact_mut(dimension).enumerate() {
            if matches!(measure, Measure::Cosine | Measure::Correlation) {
                scale_to_one(row);
            }
            let present = || row.iter().filter(|value| !value.is_nan());
            let count = present().count();
            let mut center = 0.0;
            if measure == Measure::Correlation && count > 0 {
                // If a row has a single value, its pairs are missing, as for a row without values.
                if count > 1 && present().all(|value| Some(value) == present().next()) {
                    return Err(Error::Unsuited {
                        name: rows.name().into(),
                        expected: "rows whose values differ, as a correlation needs; leave constant rows out, or use another metric".into(),
                        found: format!("one value alone in row {number} (counted from 0)"),
                    });
                }
                center = present().sum::<f64>() / count as f64;
            }
            row.iter_mut().for_each(|value| *value = if value.is_nan() { 0.0 } else { *value - center });
        }
        Ok(Self { values, presence, dimension, measure, fingerprint: rows.fingerprint() })
    }

    fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.dimension..][..self.dimension]
    }

    /// Returns a block of rows in column order: the values of all rows in the first column, then in the next column.
    fn across(&self, of: &[f64], rows: &Range<usize>) -> Vec<f64> {
        let of = &of[rows.start * self.dimension..rows.end * self.dimension];
        (0..self.dimension).flat_map(|column| of[column..].iter().step_by(self.dimension)).copied().collect()
    }

    fn tile_complete(&self, rows: Range<usize>, columns: Range<usize>, values: &mut [f64]) {
        let count = columns.len();
        let others = self.across(&self.values, &columns);
        let squares = |row: &[f64]| row.iter().map(|value| value * value).fold(0.0, |sum, square| sum + square);
        let lengths: Vec<f64> = columns.clone().map(|column| squares(self.row(column))).collect();
        for (row, values) in rows.zip(values.chunks_exact_mut(count)) {
            let row = self.row(row);
            match self.measure {
                Measure::Euclidean => {
                    dispatch::squared_differences(row, &others, values);
                    for (j, value) in values.iter_mut().enumerate() {
                        *value = if is_held(*value) {
                            value.sqrt()
                        } else {
                            length_of(row.iter().zip(others[j..].iter().step_by(count)).map(|(x, y)| x - y))
                        };
                    }
                }
                Measure::SquaredEuclidean => dispatch::squared_differences(row, &others, values),
                Measure::Manhattan => dispatch::differences(row, &others, values),
                Measure::Gower => {
                    dispatch::capped_differences(row, &others, values);
                    values.iter_mut().for_each(|value| *value /= self.dimension as f64);
                }
                Measure::Cosine | Measure::Correlation => {
                    dispatch::products(row, &others, values);
                    let own = squares(row);
                    values
                        .iter_mut()
                        .zip(&lengths)
                        .for_each(|(value, length)| *value = unlike(*value, own, *length).unwrap_or(1.0));
                }
            }
        }
    }

    fn tile_with_gaps(&self, rows: Range<usize>, columns: Range<usize>, values: &mut [f64]) {
        let count = columns.len();
        let (others, theirs) = (self.across(&self.values, &columns), self.across(&self.presence, &columns));
        let mut sums: Sums = Default::default();
        sums.iter_mut().for_each(|sum| sum.resize(count, 0.0));
        let columns = self.dimension as f64;
        for (row, values) in rows.zip(values.chunks_exact_mut(count)) {
            let mine = &self.presence[row * self.dimension..][..self.dimension];
            let is_angle = matches!(self.measure, Measure::Cosine | Measure::Correlation);
            if is_angle {
                dispatch::moments_present(self.row(row), mine, &others, &theirs, &mut sums);
            } else if self.measure == Measure::Gower {
                dispatch::capped_differences_present(self.row(row), mine, &others, &theirs, &mut sums);
            } else {
                let is_absolute = self.measure == Measure::Manhattan;
                dispatch::differences_present(self.row(row), mine, &others, &theirs, is_absolute, &mut sums);
            }
            for (j, value) in values.iter_mut().enumerate() {
                let [compared, xy, xx, yy, x, y] = std::array::from_fn(|sum| sums[sum][j]);
                *value = match self.measure {
                    _ if compared == 0.0 => f64::NAN,
                    Measure::Euclidean if is_held(xy) => (xy * (columns / compared)).sqrt(),
                    Measure::Euclidean => {
                        let theirs = theirs[j..].iter().step_by(count);
                        let both = mine.iter().zip(theirs).map(|(mine, theirs)| mine * theirs);
                        let pairs = self.row(row).iter().zip(others[j..].iter().step_by(count));
                        length_of(pairs.zip(both).map(|((x, y), both)| (x - y) * both)) * (columns / compared).sqrt()
                    }
                    Measure::SquaredEuclidean | Measure::Manhattan => xy * (columns / compared),
                    Measure::Gower => xy / compared,
                    Measure::Cosine => unlike(xy, xx, yy).unwrap_or(1.0),
                    // The means are over the compared columns, not over whole rows.
                    Measure::Correlation => {
                        let spread = |squares: f64, sum: f64| {
                            let spread = compared * squares - sum * sum;
                            // Equal values leave a rounding error of about this size.
                            if spread > 4.0 * f64::EPSILON * compared * compared * squares { spread } else { 0.0 }
                        };
                        unlike(compared * xy - x * y, spread(xx, x), spread(yy, y)).unwrap_or(f64::NAN)
                    }
                };
            }
        }
    }
}

impl Metric for Compared {
    fn items(&self) -> usize {
        self.values.len() / self.dimension
    }

    fn name(&self) -> &'static str {
        self.measure.name()
    }

    fn parameters(&self) -> Map<String, Value> {
        let mut parameters = Map::new();
        parameters.insert("columns".into(), json!(self.dimension));
        parameters.insert("has_gaps".into(), json!(!self.presence.is_empty()));
        parameters
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn tile(&self, rows: Range<usize>, columns: Range<usize>, values: &mut [f64]) {
        assert_eq!(values.len(), rows.len() * columns.len(), "a value for each pair of the tile");
        if columns.is_empty() {
        } else if self.presence.is_empty() {
            self.tile_complete(rows, columns, values);
        } else {
            self.tile_with_gaps(rows, columns, values);
        }
    }
}

/// Returns 1 minus the cosine of two vectors, from their product and squared lengths; `None` if either has length 0.
/// The result is bit-identical if the two are swapped.
fn unlike(product: f64, first: f64, second: f64) -> Option<f64> {
    let length = first.sqrt() * second.sqrt();
    (length > 0.0).then(|| (1.0 - product / length).clamp(0.0, 2.0))
}

/// Returns whether a sum of squares is exact enough: no square overflowed, and squares that underflowed do not matter.
fn is_held(squares: f64) -> bool {
    // For any possible number of columns, squares that underflow are too small to change a sum of this size.
    (1e-290..f64::INFINITY).contains(&squares)
}

/// Returns the length of a vector whose squares may overflow or underflow. The sign of a difference does not matter, so
/// the result is bit-identical if the two rows are swapped.
fn length_of(differences: impl Iterator<Item = f64> + Clone) -> f64 {
    let largest = differences.clone().fold(0.0_f64, |largest, difference| largest.max(difference.abs()));
    if largest == 0.0 || largest.is_infinite() {
        return largest;
    }
    let squares = differences.map(|difference| (difference / largest) * (difference / largest));
    largest * squares.fold(0.0, |sum, square| sum + square).sqrt()
}

/// Divides a row by the largest power of two that its largest value reaches, so that no square overflows or underflows.
/// Angles stay bit-identical.
fn scale_to_one(row: &mut [f64]) {
    let largest = row.iter().filter(|value| !value.is_nan()).fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if largest > 0.0 {
        let exponent = libm::log2(largest).floor() as i32;
        // Multiply in two steps, because the whole factor may overflow or underflow.
        let (first, second) = (2f64.powi(-exponent / 2), 2f64.powi(-exponent - -exponent / 2));
        row.iter_mut().for_each(|value| *value = *value * first * second);
    }
}

/// Sums over the columns that both rows have, one vector for each sum. The first is the number of columns, and the
/// second has products or differences. The others are squares of the first row and of the second, and values of the
/// first row and of the second.
pub(crate) type Sums = [Vec<f64>; 6];

// These loops compare one row with a block of other rows, which are stored across. They multiply and add with two
// roundings, in the order of columns. So an instruction set with fused operations or wider registers gives the same
// bits.

#[inline(always)]
pub(crate) fn squared_differences(row: &[f64], others: &[f64], sums: &mut [f64]) {
    sums.fill(0.0);
    let count = sums.len();
    for (x, others) in row.iter().zip(others.chunks_exact(count)) {
        for j in 0..count {
            let difference = x - others[j];
            sums[j] += difference * difference;
        }
    }
}

#[inline(always)]
pub(crate) fn differences(row: &[f64], others: &[f64], sums: &mut [f64]) {
    sums.fill(0.0);
    let count = sums.len();
    for (x, others) in row.iter().zip(others.chunks_exact(count)) {
        for j in 0..count {
            sums[j] += (x - others[j]).abs();
        }
    }
}

/// Sums absolute differences, each limited to 1.
#[inline(always)]
pub(crate) fn capped_differences(row: &[f64], others: &[f64], sums: &mut [f64]) {
    sums.fill(0.0);
    let count = sums.len();
    for (x, others) in row.iter().zip(others.chunks_exact(count)) {
        for j in 0..count {
            sums[j] += (x - others[j]).abs().min(1.0);
        }
    }
}

#[inline(always)]
pub(crate) fn products(row: &[f64], others: &[f64], sums: &mut [f64]) {
    sums.fill(0.0);
    let count = sums.len();
    for (x, others) in row.iter().zip(others.chunks_exact(count)) {
        for j in 0..count {
            sums[j] += x * others[j];
        }
    }
}

/// Sums squared or absolute differences, and counts their columns. A missing value is stored as 0, with presence 0.
#[inline(always)]
pub(crate) fn differences_present(
    row: &[f64],
    mine: &[f64],
    others: &[f64],
    theirs: &[f64],
    is_absolute: bool,
    sums: &mut Sums,
) {
    let [counts, sums, ..] = sums;
    let count = counts.len();
    counts.fill(0.0);
    sums.fill(0.0);
    let (counts, sums) = (&mut counts[..], &mut sums[..count]);
    for (column, (x, present)) in row.iter().zip(mine).enumerate() {
        let (others, theirs) = (&others[column * count..][..count], &theirs[column * count..][..count]);
        for j in 0..count {
            let both = present * theirs[j];
            let difference = (x - others[j]) * both;
            sums[j] += if is_absolute { difference.abs() } else { difference * difference };
            counts[j] += both;
        }
    }
}

/// Sums absolute differences, each limited to 1, and counts their columns. A missing value is stored as 0, with
/// presence 0.
#[inline(always)]
pub(crate) fn capped_differences_present(row: &[f64], mine: &[f64], others: &[f64], theirs: &[f64], sums: &mut Sums) {
    let [counts, sums, ..] = sums;
    let count = counts.len();
    counts.fill(0.0);
    sums.fill(0.0);
    let (counts, sums) = (&mut counts[..], &mut sums[..count]);
    for (column, (x, present)) in row.iter().zip(mine).enumerate() {
        let (others, theirs) = (&others[column * count..][..count], &theirs[column * count..][..count]);
        for j in 0..count {
            let both = present * theirs[j];
            sums[j] += ((x - others[j]) * both).abs().min(1.0);
            counts[j] += both;
        }
    }
}

/// Computes all sums that a cosine or a correlation needs. A missing value is stored as 0, with presence 0.
#[inline(always)]
pub(crate) fn moments_present(row: &[f64], mine: &[f64], others: &[f64], theirs: &[f64], sums: &mut Sums) {
    let count = sums[0].len();
    sums.iter_mut().for_each(|sum| sum.fill(0.0));
    let [counts, xy, xx, yy, x, y] = sums.each_mut().map(|sum| &mut sum[..count]);
    for (column, (value, present)) in row.iter().zip(mine).enumerate() {
        let (others, theirs) = (&others[column * count..][..count], &theirs[column * count..][..count]);
        for j in 0..count {
            counts[j] += present * theirs[j];
            xy[j] += value * others[j];
            xx[j] += value * value * theirs[j];
            yy[j] += others[j] * others[j] * present;
            x[j] += value * theirs[j];
            y[j] += others[j] * present;
        }
    }
}
