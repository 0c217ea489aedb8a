//! The rows from which the number of clusters is chosen: all rows, or a sample that still shows groups of a thousandth
//! of the rows.

use lehr_data::Points;
use lehr_numerics::compensated::Sum;
use lehr_numerics::random::Stream;

use super::rounding;
use crate::rows::Input;

/// The maximum numbers of rows and of values that are examined. If there are enough rows, at least `LEAST_ROWS` are
/// examined.
const MOST_ROWS: usize = 16_384;
const MOST_NUMBERS: usize = 1 << 20;
const LEAST_ROWS: usize = 2_048;
/// Rows with more columns than `MOST_COLUMNS` are projected onto `PROJECTED` columns.
const MOST_COLUMNS: usize = 1_024;
const PROJECTED: usize = 256;
/// Rows are on a sphere if their squared lengths differ by at most this share.
const SAME_LENGTH: f64 = 1e-5;

/// Some rows relative to their mean, divided by a power of two near the largest deviation, in double precision.
#[derive(Clone, Debug)]
pub(crate) struct Sample {
    pub dimension: usize,
    /// The unit of the sample, in the unit of the input.
    pub length: f64,
    /// The number of rows of positive weight in the input.
    pub rows_of: usize,
    /// The origin of the input, in the sample's coordinates.
    origin: Vec<f64>,
    /// Whether all rows are equally far from the origin, such as positions on the globe, or rows scaled to length 1.
    is_on_sphere: bool,
    values: Vec<f64>,
    weights: Vec<f64>,
}

impl Sample {
    /// Divides the rows of positive weight into runs of equal length, and draws one row from each run.
    pub fn of(input: Input<'_>, seed: u64) -> Self {
        let positive = (0..input.len()).filter(|&row| input.weight(row) > 0.0).count();
        let columns = input.dimension();
        let dimension = if columns > MOST_COLUMNS { PROJECTED } else { columns };
        let count = positive.min(MOST_ROWS).min((MOST_NUMBERS / dimension).max(LEAST_ROWS));
        let draw = Stream::new(seed, "rows to choose the number of clusters by");
        // Drawing one row from each run makes the drawn rows distinct and keeps their order.
        let start = |run: usize| (run as u128 * positive as u128 / count as u128) as usize;
        let drawn = |run: usize| {
            let length = start(run + 1) - start(run);
            start(run) + ((draw.uniform(run as u64) * length as f64) as usize).min(length - 1)
        };
        let mut sample = Self {
            dimension,
            length: 1.0,
            rows_of: positive,
            origin: vec![0.0; dimension],
            is_on_sphere: false,
            values: Vec::with_capacity(count * dimension),
            weights: Vec::new(),
        };
        let mut runs = (0..count).map(drawn);
        let mut next = runs.next();
        let with_weight = (0..input.len()).filter(|&row| input.weight(row) > 0.0);
        for (rank, row) in with_weight.enumerate() {
            if next == Some(rank) {
                sample.push(input, row);
                next = runs.next();
            }
        }
        sample.is_on_sphere = sample.has_one_length();
        sample.center();
        if !sample.is_on_sphere {
            let dimension = sample.dimension;
            rounding::give_back(&mut sample.values, dimension, seed);
        }
        sample
    }

    /// Appends a row. If the row has many columns, it is projected: each column is added to one of fewer columns, with
    /// a sign. The column's number determines both. Distances stay approximately the same, and a density with one mode
    /// keeps one mode.
    fn push(&mut self, input: Input<'_>, row: usize) {
        let start = self.values.len();
        self.values.resize(start + self.dimension, 0.0);
        let out = &mut self.values[start..];
        if self.dimension == input.dimension() {
            input.read(row, out);
        } else {
            let draw = projection();
            input.for_each_value(row, |column, value| project(&draw, column, value, out));
        }
        self.weights.push(input.weight(row));
    }

    /// Whether all rows are equally far from the origin, within the rounding of single precision.
    fn has_one_length(&self) -> bool {
        let lengths = self.values.chunks_exact(self.dimension).map(|row| row.iter().map(|x| x * x).sum::<f64>());
        let (low, high) = lengths.fold((f64::INFINITY, 0.0f64), |(low, high), at| (low.min(at), high.max(at)));
        self.dimension > 1 && high.is_normal() && high - low <= SAME_LENGTH * high
    }

    fn center(&mut self) {
        let total = Sum::of(self.weights.iter().copied());
        let dimension = self.dimension;
        for column in 0..dimension {
            let weighted = self.weights.iter().zip(self.values.iter().skip(column).step_by(dimension));
            let mean = Sum::of(weighted.map(|(weight, value)| weight / total * value));
            self.values.iter_mut().skip(column).step_by(dimension).for_each(|value| *value -= mean);
            self.origin[column] -= mean;
        }
        let largest = self.values.iter().fold(0.0f64, |largest, value| largest.max(value.abs()));
        if largest.is_normal() {
            self.length = 2f64.powi(libm::log2(largest).floor() as i32);
            self.values.iter_mut().chain(&mut self.origin).for_each(|value| *value /= self.length);
        }
        let weight = total / self.weights.len().max(1) as f64;
        self.weights.iter_mut().for_each(|own| *own /= weight);
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.dimension..][..self.dimension]
    }

    /// The centre of the sphere on which the rows lie, if they lie on one.
    pub fn sphere(&self) -> Option<&[f64]> {
        self.is_on_sphere.then_some(&self.origin)
    }

    /// Converts a position of the input to the sample's coordinates.
    pub fn image(&self, position: &[f64]) -> Vec<f64> {
        let mut image = vec![0.0; self.dimension];
        if position.len() == self.dimension {
            image.copy_from_slice(position);
        } else {
            let draw = projection();
            position.iter().enumerate().for_each(|(column, &value)| project(&draw, column, value, &mut image));
        }
        image.iter_mut().zip(&self.origin).for_each(|(at, origin)| *at = *at / self.length + origin);
        image
    }

    /// The weight of a row, divided by the mean weight.
    pub fn weight(&self, row: usize) -> f64 {
        self.weights[row]
    }

    /// Returns the rows as points for clustering.
    pub fn points(&self) -> Option<Points> {
        Points::new(self.values.clone(), self.dimension)
            .and_then(|points| points.with_weights(self.weights.clone()))
            .ok()
    }
}

/// The random numbers for projecting many columns onto fewer.
fn projection() -> Stream {
    Stream::new(0, "columns projected on fewer")
}

/// Adds the value of one of many columns to one of fewer columns.
fn project(draw: &Stream, column: usize, value: f64, fewer: &mut [f64]) {
    let bits = draw.bits(column as u64);
    let sign = if bits & 1 == 0 { 1.0 } else { -1.0 };
    fewer[(bits >> 1) as usize % fewer.len()] += sign * value;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_of_rows_with_weight_in_their_order_and_of_all_of_few() {
        let rows = 3 * MOST_ROWS;
        let values: Vec<f64> = (0..rows).map(|row| (row as f64).sqrt()).collect();
        let weights: Vec<f64> = (0..rows).map(|row| f64::from(u8::from(row % 2 == 0))).collect();
        let points = Points::new(values, 1).unwrap().with_weights(weights).unwrap();
        let sample = Sample::of((&points).into(), 7);
        assert_eq!(sample.len(), MOST_ROWS);
        assert!((1..sample.len()).all(|row| sample.row(row - 1) < sample.row(row)));
        let few = Points::new(vec![3.0, 1.0, 2.0], 1).unwrap();
        let sample = Sample::of((&few).into(), 7);
        assert_eq!((0..3).map(|row| sample.row(row)[0] * sample.length + 2.0).collect::<Vec<_>>(), [3.0, 1.0, 2.0]);
    }
}
