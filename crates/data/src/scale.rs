//! Scales columns to comparable spreads, only on request.
//!
//! Distances add squares over columns, so the column with the largest spread dominates them. Only you know
//! whether this is right: metres east and metres north should stay unchanged, but milligrams and percentages should
//! not. So nothing is scaled without a request, and [`Spreads`] reports when you should consider it.
//!
//! All statistics are weighted: a row of weight 3 counts as three equal rows, and a row of weight 0 does not count.
//!
//! - [`Scale::Std`]: (x - mean) / standard deviation; the divisor of the variance is the total weight (population
//!   form).
//! - [`Scale::Robust`]: (x - median) / interquartile range, which a few extreme rows do not affect. A quantile is the
//!   smallest value with at least the given share of the weight at or below it. If the share is met exactly, the
//!   quantile is the midpoint between this value and the next (type 2 of Hyndman and Fan). So the median of an even
//!   number of rows is the usual one.
//!
//! A constant column gets the divisor 1: it becomes 0 everywhere and still influences no distance. If more than half of
//! a column's rows have the same value, its interquartile range may be 0 although it is not constant. [`Scale::Robust`]
//! then uses the standard deviation; otherwise the column would keep a unit that may dominate all distances.

use std::fmt;
use std::str::FromStr;

use lehr_numerics::compensated::Sum;
use lehr_spill::Builder;
use serde::{Deserialize, Serialize};

use crate::describe::NumberFacts;
use crate::error::Error;
use crate::incomplete::Incomplete;
use crate::points::Points;
use crate::preparation::log_reason;
use crate::sparse::Sparse;

/// The ratio of spreads above which Lehr warns.
const RATIO_MAX: f64 = 1e3;

/// How columns are scaled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Unchanged.
    #[default]
    None,
    /// Mean 0, standard deviation 1.
    Std,
    /// Median 0, interquartile range 1.
    Robust,
}

impl Scale {
    /// All kinds of scaling, in the order in which help lists them.
    pub const ALL: [Scale; 3] = [Scale::None, Scale::Std, Scale::Robust];
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scale::None => "none",
            Scale::Std => "std",
            Scale::Robust => "robust",
        })
    }
}

/// The text is not one of `none`, `std`, `robust`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected none, std or robust, found {0:?}")]
pub struct NoSuchScale(
    /// The given text.
    pub String,
);

impl FromStr for Scale {
    type Err = NoSuchScale;

    fn from_str(text: &str) -> Result<Self, NoSuchScale> {
        Scale::ALL.into_iter().find(|scale| scale.to_string() == text).ok_or_else(|| NoSuchScale(text.into()))
    }
}

/// A shift and a divisor for each column, fitted to points.
///
/// # Example
/// ```
/// use lehr_data::{scale::{Scale, Scaling}, Points};
/// let points = Points::new(vec![0.0, 10.0, 2.0, 10.0, 4.0, 10.0], 2)?.with_weights(vec![1.0, 2.0, 1.0])?;
/// let scaling = Scaling::fit(&points, Scale::Std);
/// let scaled = scaling.apply(&points)?;
/// assert_eq!(scaled.row(1), [0.0, 0.0]);
/// assert_eq!(scaled.row(2)[0], 2.0 / 2f64.sqrt());
/// let mut center = scaled.row(2).to_vec();
/// scaling.invert(&mut center);
/// assert_eq!(center, [4.0, 10.0]);
/// # Ok::<(), lehr_data::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scaling {
    scale: Scale,
    shifts: Vec<f64>,
    /// The divisors, finite and positive.
    divisors: Vec<f64>,
}

impl Scaling {
    /// Returns the shifts and divisors that bring these points to the scale.
    ///
    /// Cost: a few passes over the values; for `Robust`, a pass and a sort for each column.
    pub fn fit(points: &Points, scale: Scale) -> Self {
        let columns = 0..points.dimension();
        let (shifts, divisors) = match scale {
            Scale::None => columns.map(|_| (0.0, 1.0)).unzip(),
            Scale::Std => Moments::of(points).iter().map(Moments::shift_and_divisor).unzip(),
            Scale::Robust => {
                let moments = Moments::of(points);
                columns.map(|column| robust(points, column, moments[column].deviation)).unzip()
            }
        };
        Scaling { scale, shifts, divisors }
    }

    /// Returns the standard deviation of each column of sparse rows as its divisor. Nothing is subtracted: a shift
    /// changes no distance, and zeros stay zeros.
    ///
    /// Cost: three passes over the nonzero values.
    ///
    /// # Example
    /// ```
    /// use lehr_data::{Sparse, scale::Scaling};
    /// let rows = Sparse::from_rows([vec![(0, 4.0)], vec![], vec![(1, 3.0)], vec![(1, 3.0)]], 2)?;
    /// let scaling = Scaling::deviations_of(&rows);
    /// assert_eq!((scaling.shifts(), scaling.divisors()), (&[0.0, 0.0][..], &[3f64.sqrt(), 1.5][..]));
    /// # Ok::<(), lehr_data::Error>(())
    /// ```
    pub fn deviations_of(rows: &Sparse) -> Self {
        let dimension = rows.dimension();
        let heavy = || (0..rows.len()).filter(|row| rows.weight(*row) > 0.0);
        let each =
            |row: usize| rows.row(row).0.iter().map(|column| *column as usize).zip(rows.row(row).1.iter().copied());
        let (mut all, mut count) = (Sum::default(), 0usize);
        let mut there = vec![Presence::default(); dimension];
        for row in heavy() {
            all.add(rows.weight(row));
            count += 1;
            each(row).for_each(|(j, value)| there[j].add(rows.weight(row), value));
        }
        let total = all.value();
        // A column with values in every row may be far from 0. So, as in `Moments`, differences are taken from the
        // middle of its range, which keeps their digits. In other columns, 0 is one of the values.
        let middle: Vec<f64> =
            there.iter().map(|there| if there.rows == count { there.middle() } else { 0.0 }).collect();
        // Scale differences to about 1, so that no square overflows.
        let far: Vec<f64> = there.iter().zip(&middle).map(|(there, middle)| there.far_from(*middle)).collect();
        let mut means = vec![0.0; dimension];
        for row in heavy() {
            let share = rows.weight(row) / total;
            each(row).for_each(|(j, value)| means[j] += share * ((value - middle[j]) / far[j]));
        }
        let absent = |there: &Presence| {
            if there.rows == count { 0.0 } else { ((total - there.weight.value()) / total).max(0.0) }
        };
        let mut variances: Vec<f64> =
            means.iter().zip(&there).map(|(mean, there)| absent(there) * mean * mean).collect();
        for row in heavy() {
            let share = rows.weight(row) / total;
            for (j, value) in each(row) {
                let apart = (value - middle[j]) / far[j] - means[j];
                variances[j] += share * apart * apart;
            }
        }
        let of = |j: usize| {
            let is_constant = there[j].rows == count && there[j].low == there[j].high;
            divisor(if is_constant { 0.0 } else { variances[j].sqrt() * far[j] })
        };
        Scaling { scale: Scale::Std, shifts: vec![0.0; dimension], divisors: (0..dimension).map(of).collect() }
    }

    /// Like [`fit`](Scaling::fit), for rows with missing values: it uses the values present in each column. A column
    /// without any value stays unchanged.
    ///
    /// # Example
    /// ```
    /// use lehr_data::{Incomplete, scale::{Scale, Scaling}};
    /// let rows = Incomplete::new(vec![1.0, f64::NAN, 3.0, 8.0], 2)?;
    /// let scaling = Scaling::fit_incomplete(&rows, Scale::Std);
    /// assert_eq!((scaling.shifts()[0], scaling.divisors()[0]), (2.0, 1.0));
    /// assert_eq!(scaling.apply_incomplete(&rows).row(1)[0], 1.0);
    /// # Ok::<(), lehr_data::Error>(())
    /// ```
    pub fn fit_incomplete(rows: &Incomplete, scale: Scale) -> Self {
        let of_column = |column: usize| -> (f64, f64) {
            rows.present(column).map_or((0.0, 1.0), |there| {
                let scaling = Scaling::fit(&there, scale);
                (scaling.shifts[0], scaling.divisors[0])
            })
        };
        let (shifts, divisors) = (0..rows.dimension()).map(of_column).unzip();
        Scaling { scale, shifts, divisors }
    }

    /// Like [`apply`](Scaling::apply), for rows with missing values, which stay missing.
    ///
    /// # Panics
    /// Panics if the number of columns differs from the number in the fit.
    pub fn apply_incomplete(&self, rows: &Incomplete) -> Incomplete {
        assert_eq!(rows.dimension(), self.shifts.len(), "columns of the rows and of the scaling");
        if self.scale == Scale::None {
            return rows.clone();
        }
        let mut values = rows.values().to_vec();
        for row in values.chunks_exact_mut(rows.dimension()) {
            for ((value, shift), divisor) in row.iter_mut().zip(&self.shifts).zip(&self.divisors) {
                // NaN stays NaN.
                *value = ((*value - shift) / divisor).clamp(-f64::MAX, f64::MAX);
            }
        }
        rows.with_values(values)
    }

    /// Returns the kind of scaling.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Returns the number subtracted from each column.
    pub fn shifts(&self) -> &[f64] {
        &self.shifts
    }

    /// Returns the divisor of each column after the shift, finite and positive.
    pub fn divisors(&self) -> &[f64] {
        &self.divisors
    }

    /// Returns the points in the new scale; weights, ids and column names stay. `Scale::None` does not change any bit.
    ///
    /// A value that would overflow (more than 10³⁰⁸ spreads away) becomes the largest finite one. Values in a file are
    /// scaled into another file of the same folder.
    ///
    /// # Errors
    /// Returns [`Error::Spill`] if the folder cannot store the scaled values; [`Error::Memory`] if memory cannot hold
    /// the points twice.
    ///
    /// # Panics
    /// Panics if the number of columns differs from the number in [`fit`](Scaling::fit).
    pub fn apply(&self, points: &Points) -> Result<Points, Error> {
        assert_eq!(points.dimension(), self.shifts.len(), "columns of the points and of the scaling");
        if self.scale == Scale::None {
            return Ok(points.clone());
        }
        let kept = |error| Error::kept(points.name(), error);
        let mut values = Builder::new(points.spill(), points.values().len()).map_err(kept)?;
        let mut scaled = vec![0.0; points.dimension()];
        for row in points.values().chunks_exact(points.dimension()) {
            for (((scaled, value), shift), divisor) in scaled.iter_mut().zip(row).zip(&self.shifts).zip(&self.divisors)
            {
                *scaled = ((value - shift) / divisor).clamp(-f64::MAX, f64::MAX);
            }
            values.extend(&scaled).map_err(kept)?;
        }
        points.with_stored(values.finish()?, points.columns().to_vec())
    }

    /// Converts a centre from the new scale back to the unit of the data, in place.
    ///
    /// # Panics
    /// Panics if the number of values differs from the number of columns.
    pub fn invert(&self, center: &mut [f64]) {
        assert_eq!(center.len(), self.shifts.len(), "columns of the centre and of the scaling");
        if self.scale == Scale::None {
            return;
        }
        for ((value, shift), divisor) in center.iter_mut().zip(&self.shifts).zip(&self.divisors) {
            *value = *value * divisor + shift;
        }
    }
}

/// The spread of each column of a table, to judge its distances.
pub struct Spreads<'a> {
    points: &'a Points,
    moments: Vec<Moments>,
}

impl<'a> Spreads<'a> {
    /// Measures the columns, in three passes over the rows.
    pub fn of(points: &'a Points) -> Self {
        Self { points, moments: Moments::of(points) }
    }

    /// Returns the weighted mean of a column.
    ///
    /// # Panics
    /// Panics if the column does not exist.
    pub fn mean(&self, column: usize) -> f64 {
        self.moments[column].mean
    }

    /// Returns the weighted population standard deviation of a column; 0 if all its values are equal.
    ///
    /// # Panics
    /// Panics if the column does not exist.
    pub fn deviation(&self, column: usize) -> f64 {
        self.moments[column].deviation
    }

    /// Returns a warning if the spreads differ by a factor of more than 1,000, as with unscaled measurements in
    /// different units.
    ///
    /// Columns without spread do not count. Returns `None` if there is no such difference, or only one column.
    ///
    /// # Example
    /// ```
    /// use lehr_data::{scale::Spreads, Points};
    /// let points = Points::new(vec![0.001, 1500.0, 0.003, 500.0], 2)?.with_columns(vec!["acid".into(), "price".into()])?;
    /// assert_eq!(
    ///     Spreads::of(&points).differ().unwrap(),
    ///     "the spread of column \"price\" (standard deviation 500) is 500000 times that of \"acid\" (0.001): \
    ///      distances see little but \"price\"; scale the columns unless their units are the same"
    /// );
    /// # Ok::<(), lehr_data::Error>(())
    /// ```
    pub fn differ(&self) -> Option<String> {
        spreads_differ(self.points.columns(), |column| self.moments[column].deviation)
    }

    /// Returns a warning for each column in which at most one row in a hundred accounts for nine tenths of the
    /// variance. Such rows become clusters of their own, whatever the scaling.
    ///
    /// # Example
    /// ```
    /// use lehr_data::{scale::Spreads, Points};
    /// let mut revenues: Vec<f64> = (1..=1000).map(f64::from).collect();
    /// revenues.push(1e7);
    /// let points = Points::new(revenues, 1)?.with_columns(vec!["revenue".into()])?;
    /// assert_eq!(
    ///     Spreads::of(&points).few_rows_rule(),
    ///     ["column \"revenue\": 1 of 1001 rows makes 99.9 % of its variance, and clusters follow those rows; \
    ///       --log revenue takes its logarithm, --auto prepares all columns"]
    /// );
    /// # Ok::<(), lehr_data::Error>(())
    /// ```
    pub fn few_rows_rule(&self) -> Vec<String> {
        let rows = self.points.len();
        let suspects = self.moments.iter().zip(self.points.columns()).enumerate();
        // If at most a hundredth of the rows have nine tenths of the variance, one of them has 90 times the mean share.
        let suspects = suspects.filter(|(_, (moments, _))| moments.farthest * moments.farthest >= 90.0);
        let warning = |(index, (_, name)): (usize, (&Moments, &String))| {
            let facts = NumberFacts::of(self.points.column(index))?;
            let dominant = facts.dominant?.words(rows);
            let cure = match log_reason(&facts, rows) {
                Some(_) => format!("--log {name} takes its logarithm, --auto prepares all columns"),
                None => "--auto prepares the columns and sets rows that lie alone aside".to_owned(),
            };
            Some(format!("column {name:?}: {dominant}, and clusters follow those rows; {cure}"))
        };
        suspects.filter_map(warning).collect()
    }
}

/// Returns the warning of [`Spreads::differ`] for rows with missing values, from the values present.
///
/// # Example
/// ```
/// use lehr_data::{Incomplete, scale::scales_differ_incomplete};
/// let rows = Incomplete::new(vec![0.001, 1500.0, f64::NAN, 500.0, 0.003, f64::NAN], 2)?;
/// assert!(scales_differ_incomplete(&rows).unwrap().contains("is 500000 times that of \"x0\""));
/// # Ok::<(), lehr_data::Error>(())
/// ```
pub fn scales_differ_incomplete(rows: &Incomplete) -> Option<String> {
    spreads_differ(rows.columns(), |column| rows.present(column).map_or(0.0, |there| Moments::of(&there)[0].deviation))
}

fn spreads_differ(names: &[String], spread: impl Fn(usize) -> f64) -> Option<String> {
    let spreads: Vec<(usize, f64)> =
        (0..names.len()).map(|column| (column, spread(column))).filter(|(_, spread)| *spread > 0.0).collect();
    let spreads = spreads.iter().copied();
    let smallest = spreads.clone().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let largest = spreads.max_by(|a, b| a.1.total_cmp(&b.1))?;
    let ratio = largest.1 / smallest.1;
    let name = |column: usize| &names[column];
    (ratio > RATIO_MAX).then(|| {
        format!(
            "the spread of column {:?} (standard deviation {}) is {} times that of {:?} ({}): \
             distances see little but {0:?}; scale the columns unless their units are the same",
            name(largest.0),
            digits(largest.1),
            digits(ratio),
            name(smallest.0),
            digits(smallest.1),
        )
    })
}

/// Formats a number with three significant digits, without an exponent.
fn digits(number: f64) -> String {
    format!("{number:.2e}").parse::<f64>().unwrap_or(number).to_string()
}

struct Moments {
    mean: f64,
    /// The standard deviation; exactly 0 for a column without spread.
    deviation: f64,
    /// The distance of the farthest value from the mean, in standard deviations.
    farthest: f64,
}

impl Moments {
    /// Returns the weighted mean and population standard deviation of each column. No intermediate result overflows
    /// unless the final result does.
    ///
    /// All columns are processed together, because the rows may be in a file: they are read three times, for any number
    /// of columns.
    fn of(points: &Points) -> Vec<Self> {
        let (dimension, total) = (points.dimension(), points.total_weight());
        let rows = || points.values().chunks_exact(dimension).enumerate();
        let rows = || rows().map(|(row, values)| (points.weight(row), values)).filter(|(weight, _)| *weight > 0.0);
        let (mut low, mut high) = (vec![f64::INFINITY; dimension], vec![f64::NEG_INFINITY; dimension]);
        for (_, values) in rows() {
            for ((low, high), x) in low.iter_mut().zip(&mut high).zip(values) {
                (*low, *high) = (low.min(*x), high.max(*x));
            }
        }
        // Subtract the middle of the range first, so that sums of differences do not lose digits. The mean stays
        // between low and high.
        let middle: Vec<f64> = low.iter().zip(&high).map(|(low, high)| low / 2.0 + high / 2.0).collect();
        let mut sums = vec![0.0; dimension];
        for (w, values) in rows() {
            for ((sum, x), middle) in sums.iter_mut().zip(values).zip(&middle) {
                *sum += w / total * (x - middle);
            }
        }
        let mean: Vec<f64> = (0..dimension).map(|j| (middle[j] + sums[j]).clamp(low[j], high[j])).collect();
        let far: Vec<f64> = (0..dimension).map(|j| (high[j] - mean[j]).max(mean[j] - low[j]).min(f64::MAX)).collect();
        let mut variances = vec![0.0; dimension];
        for (w, values) in rows() {
            for (((variance, x), mean), far) in variances.iter_mut().zip(values).zip(&mean).zip(&far) {
                *variance += w / total * ((x - mean) / far) * ((x - mean) / far);
            }
        }
        let moments = |j: usize| {
            if low[j] == high[j] {
                return Moments { mean: low[j], deviation: 0.0, farthest: 0.0 };
            }
            let root = f64::sqrt(variances[j]);
            Moments { mean: mean[j], deviation: far[j] * root, farthest: 1.0 / root }
        };
        (0..dimension).map(moments).collect()
    }

    fn shift_and_divisor(&self) -> (f64, f64) {
        (self.mean, divisor(self.deviation))
    }
}

/// Returns the median and the interquartile range of a column. If the range is 0, the standard deviation replaces it.
fn robust(points: &Points, column: usize, deviation: f64) -> (f64, f64) {
    let mut rows: Vec<(f64, f64)> = points
        .column(column)
        .enumerate()
        .map(|(row, value)| (value, points.weight(row)))
        .filter(|(_, weight)| *weight > 0.0)
        .collect();
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    let range = quantile(&rows, 0.75) - quantile(&rows, 0.25);
    let spread = if range > 0.0 { range.min(f64::MAX) } else { deviation };
    (quantile(&rows, 0.5), divisor(spread))
}

/// Returns the weighted quantile of sorted (value, weight) pairs with positive weights.
fn quantile(rows: &[(f64, f64)], share: f64) -> f64 {
    let mut sum = Sum::default();
    rows.iter().for_each(|(_, weight)| sum.add(*weight));
    let total = sum.value();
    let wanted = share * total;
    // Weights such as 0.1 have no exact sums, so a share counts as met if only the last digits differ.
    let slack = 4.0 * f64::EPSILON * total;
    let mut sum = Sum::default();
    for (index, (value, weight)) in rows.iter().enumerate() {
        sum.add(*weight);
        let below = sum.value();
        if (below - wanted).abs() <= slack && index + 1 < rows.len() {
            return value / 2.0 + rows[index + 1].0 / 2.0;
        }
        if below >= wanted {
            return *value;
        }
    }
    // For a share near 1, rounding may leave `below` slightly less than `wanted`.
    rows[rows.len() - 1].0
}

/// The values in a column of sparse rows, over rows with positive weight.
#[derive(Clone)]
struct Presence {
    rows: usize,
    weight: Sum,
    low: f64,
    high: f64,
}

impl Default for Presence {
    fn default() -> Self {
        Presence { rows: 0, weight: Sum::default(), low: f64::INFINITY, high: f64::NEG_INFINITY }
    }
}

impl Presence {
    fn add(&mut self, weight: f64, value: f64) {
        self.rows += 1;
        self.weight.add(weight);
        (self.low, self.high) = (self.low.min(value), self.high.max(value));
    }

    fn middle(&self) -> f64 {
        self.low / 2.0 + self.high / 2.0
    }

    /// Returns the distance from `middle` to the farther end of the values; 1 if it is not positive.
    fn far_from(&self, middle: f64) -> f64 {
        let far = (self.high - middle).max(middle - self.low);
        if far > 0.0 { far } else { 1.0 }
    }
}

fn divisor(spread: f64) -> f64 {
    if spread > 0.0 && spread.is_finite() { spread } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[f64]) -> Points {
        Points::new(values.to_vec(), 1).unwrap()
    }

    fn fitted(points: &Points, scale: Scale) -> (f64, f64) {
        let scaling = Scaling::fit(points, scale);
        (scaling.shifts()[0], scaling.divisors()[0])
    }

    #[test]
    fn standard_deviation_is_the_populations() {
        assert_eq!(fitted(&column(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]), Scale::Std), (5.0, 2.0));
    }

    #[test]
    fn median_and_interquartile_range_are_the_usual_ones() {
        assert_eq!(fitted(&column(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]), Scale::Robust), (4.5, 4.0));
        assert_eq!(fitted(&column(&[9.0, 1.0, 5.0]), Scale::Robust), (5.0, 8.0));
        assert_eq!(fitted(&column(&[1.0, 2.0, 3.0, 4.0, 1e9]), Scale::Robust), (3.0, 2.0));
    }

    #[test]
    fn a_weight_of_3_counts_as_three_rows_and_0_as_none() {
        let weighted = column(&[1.0, 2.0, 50.0, 7.0]).with_weights(vec![1.0, 3.0, 0.0, 4.0]).unwrap();
        let repeated = column(&[1.0, 2.0, 2.0, 2.0, 7.0, 7.0, 7.0, 7.0]);
        for scale in [Scale::Std, Scale::Robust] {
            let (a, b) = (fitted(&weighted, scale), fitted(&repeated, scale));
            assert!((a.0 - b.0).abs() < 1e-15 * 7.0 && (a.1 - b.1).abs() < 1e-15 * 7.0, "{scale}: {a:?} {b:?}");
        }
    }

    #[test]
    fn the_unit_of_the_weights_does_not_matter() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        for rows in 4..=10 {
            let plain = column(&values[..rows]);
            for unit in [0.1, 0.3, 1e-300, 7e200] {
                let weighted = plain.clone().with_weights(vec![unit; rows]).unwrap();
                assert_eq!(fitted(&weighted, Scale::Robust), fitted(&plain, Scale::Robust), "{rows} rows of {unit}");
            }
        }
    }

    #[test]
    fn a_row_of_weight_0_influences_no_bit() {
        let values = [0.1, 0.7, 0.2, 1e12, 0.9];
        let with = |wild: f64| {
            let mut values = values;
            values[3] = wild;
            column(&values).with_weights(vec![0.3, 1.0, 2.0, 0.0, 0.1]).unwrap()
        };
        for scale in [Scale::Std, Scale::Robust] {
            assert_eq!(fitted(&with(1e12), scale), fitted(&with(-3.0), scale));
        }
    }

    #[test]
    fn a_constant_column_is_divided_by_1() {
        for scale in [Scale::Std, Scale::Robust] {
            assert_eq!(fitted(&column(&[0.1; 7]), scale), (0.1, 1.0));
        }
    }

    #[test]
    fn a_column_of_mostly_one_value_is_divided_by_its_standard_deviation() {
        // Two counts of 1000 among zeros: the interquartile range is 0, but the column is not constant.
        let counts = column(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1000.0, 1000.0]);
        assert_eq!(fitted(&counts, Scale::Robust), (0.0, 400.0));
    }

    #[test]
    fn sparse_columns_have_the_deviations_of_the_same_columns_with_their_zeros() {
        let values = [0.0, 3.0, 0.1, 0.0, 0.0, 0.1, -2.0, 0.0, 0.1, 0.0, 5e200, 0.1, 7.0, 1.0, 0.1];
        let weights = vec![1.0, 0.5, 3.0, 2.0, 0.0];
        let points = Points::new(values.to_vec(), 3).unwrap().with_weights(weights).unwrap();
        let (dense, sparse) =
            (Scaling::fit(&points, Scale::Std), Scaling::deviations_of(&Sparse::from_points(&points).unwrap()));
        for (a, b) in sparse.divisors().iter().zip(dense.divisors()) {
            assert!((a - b).abs() < 1e-14 * b, "{a} for {b}");
        }
        assert_eq!((sparse.shifts(), sparse.divisors()[2]), (&[0.0; 3][..], 1.0));
    }

    #[test]
    fn a_sparse_column_of_one_value_has_no_deviation_and_one_of_nearly_one_its_own() {
        const ROWS: usize = 10_000;
        // One value everywhere; almost one value; one value in all rows but one; one value in all rows with positive
        // weight; and two neighbouring numbers.
        let (low, high) = (1e6, 1e6f64.next_up());
        let row = |row: usize| {
            let nearly = 1e6 + (row % 3) as f64 * 1e-4;
            let but = |other| if row == other { 0.0 } else { 0.1 };
            [0.1, nearly, but(77), but(5), if row.is_multiple_of(2) { low } else { high }]
        };
        let weights: Vec<f64> = (0..ROWS).map(|row| if row == 5 { 0.0 } else { 0.1 + (row % 7) as f64 }).collect();
        let points = Points::new((0..ROWS).flat_map(row).collect(), 5).unwrap().with_weights(weights).unwrap();
        let (dense, sparse) =
            (Scaling::fit(&points, Scale::Std), Scaling::deviations_of(&Sparse::from_points(&points).unwrap()));
        let (dense, sparse) = (dense.divisors(), sparse.divisors());
        // A column without a deviation stays unchanged.
        for constant in [0, 3] {
            assert_eq!((sparse[constant], dense[constant]), (1.0, 1.0));
        }
        for spread in [1, 2] {
            let (sparse, dense) = (sparse[spread], dense[spread]);
            assert!((sparse - dense).abs() < 1e-9 * dense, "column {spread}: {sparse} for {dense}");
        }
        // There is no number between neighbours, so the mean of the dense column is rounded to one of them.
        assert!((sparse[4] - (high - low) / 2.0).abs() < 1e-3 * (high - low), "{}", sparse[4]);
    }

    #[test]
    fn no_scale_changes_no_bit() {
        let points = column(&[0.1, -0.0, 3e200]);
        let scaling = Scaling::fit(&points, Scale::None);
        assert_eq!(scaling.apply(&points).unwrap(), points);
        let mut center = [0.1];
        scaling.invert(&mut center);
        assert_eq!(center, [0.1]);
    }

    #[test]
    fn the_largest_numbers_do_not_overflow() {
        let points = column(&[f64::MAX, -f64::MAX, f64::MAX]);
        for scale in [Scale::Std, Scale::Robust] {
            let scaled = Scaling::fit(&points, scale).apply(&points).unwrap();
            assert!(scaled.values().iter().all(|value| value.is_finite()));
        }
        let (_, deviation) = fitted(&column(&[1e200, -1e200]), Scale::Std);
        assert_eq!(deviation, 1e200);
    }

    #[test]
    fn spreads_are_compared_without_constant_columns() {
        let points = |values: Vec<f64>| Points::new(values, 2).unwrap();
        assert_eq!(Spreads::of(&points(vec![1.0, 5000.0, 1.0, 0.0])).differ(), None);
        assert_eq!(Spreads::of(&points(vec![0.0, 999.0, 1.0, 0.0])).differ(), None);
        assert!(Spreads::of(&points(vec![0.0, 1001.0, 1.0, 0.0])).differ().unwrap().contains("1000 times"));
        // Missing values do not reduce a spread, and a column with only missing values has none.
        let mut values = vec![0.0, 3000.0, f64::NAN, 1.0, 0.0, f64::NAN];
        values.extend([f64::NAN; 3].repeat(50));
        let rows = Incomplete::new(values, 3).unwrap();
        assert!(scales_differ_incomplete(&rows).unwrap().contains("is 3000 times that of \"x0\" (0.5)"));
    }

    #[test]
    fn names_go_there_and_back() {
        for scale in Scale::ALL {
            assert_eq!(scale.to_string().parse(), Ok(scale));
        }
        assert_eq!("z".parse::<Scale>().unwrap_err().to_string(), "expected none, std or robust, found \"z\"");
    }
}
