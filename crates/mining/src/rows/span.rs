//! Converts rows to coordinates of the space that they span, if there are far more columns than rows.
//!
//! N rows lie in a space of at most N - 1 dimensions through their mean, however many columns they have. In orthonormal
//! coordinates of this space, all distances and clusters stay the same. A pass then takes N x K x N instead of N x K x
//! D operations. Rows are orthogonalised one after another by the Gram-Schmidt process. Coordinates that are computed
//! from products of rows would lose half of the digits.

use lehr_data::Points;
use lehr_numerics::dot::dot;
use lehr_numerics::random::Stream;

use super::input::Input;
use crate::Error;
use crate::round::{LeafCells, on_threads};

/// The minimum number of columns for each row. With fewer columns, rows are not converted.
const COLUMNS_A_ROW: usize = 4;
/// The minimum number of values in a table. Passes over a smaller table are fast without conversion.
const LEAST_VALUES: usize = 1 << 17;
/// Rows count as equally long if their squared lengths differ by at most this share.
const ONE_LENGTH: f64 = 1e-5;
/// The number of rows that become directions in one step. Every other row is read only once for all of these
/// directions.
const PANEL: usize = 8;
/// The rest of a row counts as short if its squared length is below this share of the row's squared length.
const SHORT: f64 = 0.01;
/// The number of columns that are processed together, so that their values stay in the cache.
const BLOCK: usize = 1024;

/// Rows in orthonormal coordinates of the space that they span.
#[derive(Debug)]
pub(crate) struct Span {
    pub rows: Points,
    /// The mean of the original rows, which is the origin of the coordinates.
    mean: Vec<f64>,
    /// The orthonormal directions, one for each coordinate before [`reflect`] is applied.
    directions: Vec<Vec<f64>>,
}

impl Span {
    /// Converts rows to coordinates of the space that they span. Returns `None` if the rows are better used unchanged,
    /// for example because there are too few columns for each row. Equal rows have equal coordinates. The result is
    /// bit-identical for any number of threads.
    ///
    /// Cost: N² x D multiply-adds. Memory: a copy of the rows.
    ///
    /// # Errors
    /// Returns the errors of the threads.
    pub fn of(input: Input<'_>, threads: usize) -> Result<Option<Self>, Error> {
        let Input::Numbers(points) = input else { return Ok(None) };
        let (count, dimension) = (points.len(), points.dimension());
        let values = count.saturating_mul(dimension);
        if count.saturating_mul(COLUMNS_A_ROW) > dimension || values < LEAST_VALUES || points.spill().is_some() {
            return Ok(None);
        }
        let lengths: Vec<f64> = (0..count).map(|row| dot(points.row(row), points.row(row))).collect();
        let ends =
            lengths.iter().fold((f64::INFINITY, 0.0f64), |ends, &length| (ends.0.min(length), ends.1.max(length)));
        if !ends.1.is_finite() || ends.1 - ends.0 <= ONE_LENGTH * ends.1 {
            // Rows of equal length are on a sphere about 0. The choice of the number of clusters needs rows on this
            // sphere.
            return Ok(None);
        }
        // The mean is computed relative to the first row, which makes the mean of equal rows exact.
        let first = points.row(0);
        let mut mean = vec![0.0; dimension];
        for row in 1..count {
            mean.iter_mut().zip(points.row(row)).zip(first).for_each(|((mean, x), first)| *mean += x - first);
        }
        mean.iter_mut().zip(first).for_each(|(mean, first)| *mean = first + *mean / count as f64);
        let of_mean = dot(&mean, &mean);
        let rest = |row: usize| {
            let mut rest = Vec::with_capacity(dimension);
            rest.extend(points.row(row).iter().zip(&mean).map(|(x, mean)| x - mean));
            Rest::new(rest, lengths[row] + of_mean)
        };
        let rests: Vec<Rest> = (0..count).map(rest).collect();
        if !rests.iter().all(|rest| rest.whole.is_finite()) {
            return Ok(None);
        }
        let equal = first_equal(points, &rests);
        let found = orthogonalized(rests, &equal, threads)?;
        let width = found.directions.len();
        if width == 0 {
            // The rows differ only by rounding errors.
            return Ok(None);
        }
        let mut coordinates = vec![0.0; count * width];
        for (own, &row) in coordinates.chunks_exact_mut(width).zip(&equal) {
            let of_row = &found.coordinates[row];
            own[..of_row.len()].copy_from_slice(of_row);
            reflect(own);
        }
        let rows = Points::new(coordinates, width)?.with_name(points.name());
        let rows = match points.weights() {
            Some(weights) => rows.with_weights(weights.to_vec())?,
            None => rows,
        };
        Ok(Some(Self { rows, mean, directions: found.directions }))
    }

    /// The number of columns of the input.
    pub fn dimension(&self) -> usize {
        self.mean.len()
    }

    /// Converts centres to the columns of the input.
    pub fn widened(&self, centers: &[f64]) -> Vec<f64> {
        let coordinates = self.rows.dimension();
        let mut wide = Vec::with_capacity(centers.len() / coordinates * self.mean.len());
        for center in centers.chunks_exact(coordinates) {
            let mut center = center.to_vec();
            reflect(&mut center);
            let first = wide.len();
            wide.extend_from_slice(&self.mean);
            for (coordinate, direction) in center.iter().zip(&self.directions) {
                wide[first..].iter_mut().zip(direction).for_each(|(x, d)| *x += coordinate * d);
            }
        }
        wide
    }
}

/// Reflects coordinates at a plane with a random normal. A second reflection restores the coordinates.
///
/// Each row has no component along the directions of later rows. Without the reflection, the columns of these
/// coordinates would be 0 in most rows, and look like columns of rounded values.
fn reflect(coordinates: &mut [f64]) {
    let stream = Stream::new(0, "span");
    let mirror: Vec<f64> = (0..coordinates.len() as u64).map(|j| stream.normal(j)).collect();
    let along = 2.0 * dot(&mirror, coordinates) / dot(&mirror, &mirror);
    coordinates.iter_mut().zip(&mirror).for_each(|(x, m)| *x -= along * m);
}

/// The rest of a row: its part that is orthogonal to the directions found so far.
#[derive(Debug)]
struct Rest {
    values: Vec<f64>,
    /// The sum of the squared lengths of the vectors from which the rest was computed. It determines the rounding error
    /// of the rest.
    whole: f64,
    /// The squared length of `values` before any direction is subtracted.
    square: f64,
    /// The squared length of `values` now.
    left: f64,
    coordinates: Vec<f64>,
}

impl Rest {
    fn new(values: Vec<f64>, whole: f64) -> Self {
        let square = dot(&values, &values);
        Self { values, whole, square, left: square, coordinates: Vec::new() }
    }

    /// Returns whether only rounding errors are left of the row's rest.
    fn is_spent(&self) -> bool {
        self.left <= self.whole * self.values.len() as f64 * (4.0 * f64::EPSILON * f64::EPSILON)
    }

    /// Subtracts the components along some orthonormal directions, and appends these components to the coordinates.
    fn subtract(&mut self, directions: &[Vec<f64>]) {
        let first = self.coordinates.len();
        self.coordinates.resize(first + directions.len(), 0.0);
        let along = &mut self.coordinates[first..];
        for (block, values) in self.values.chunks(BLOCK).enumerate() {
            for (along, direction) in along.iter_mut().zip(directions) {
                *along += dot(values, &direction[block * BLOCK..][..values.len()]);
            }
        }
        self.left = 0.0;
        for (block, values) in self.values.chunks_mut(BLOCK).enumerate() {
            for (along, direction) in along.iter().zip(directions) {
                let direction = &direction[block * BLOCK..][..values.len()];
                values.iter_mut().zip(direction).for_each(|(x, d)| *x -= along * d);
            }
            self.left += dot(values, values);
        }
    }
}

/// Orthonormal directions, and the coordinates of each row along them. If a row has fewer coordinates, the missing
/// coordinates are 0.
struct Orthogonalized {
    directions: Vec<Vec<f64>>,
    coordinates: Vec<Vec<f64>>,
}

/// Finds orthonormal directions and the coordinates of all rows. The rows with the longest rests become the next
/// directions, a few at a time, until nothing is left of any row.
fn orthogonalized(mut rests: Vec<Rest>, equal: &[usize], threads: usize) -> Result<Orthogonalized, Error> {
    let mut directions: Vec<Vec<f64>> = Vec::new();
    // A row that equals an earlier row gets the coordinates of the earlier row.
    let mut waiting: Vec<usize> = (0..rests.len()).filter(|&row| equal[row] == row && !rests[row].is_spent()).collect();
    while !waiting.is_empty() {
        waiting.sort_by(|&a, &b| rests[b].left.total_cmp(&rests[a].left).then(a.cmp(&b)));
        let before = directions.len();
        let chosen: Vec<usize> = waiting.drain(..PANEL.min(waiting.len())).collect();
        for row in chosen {
            let rest = &mut rests[row];
            rest.subtract(&directions[before..]);
            if !rest.is_spent() {
                let length = rest.left.sqrt();
                let values = rest.values.iter().map(|x| x / length).collect();
                rest.coordinates.push(length);
                // Because of rounding, a short rest still has components along the earlier directions.
                let is_short = rest.left < SHORT * rest.square;
                directions.push(if is_short { orthogonal_to(&directions, values) } else { values });
            }
            rest.values = Vec::new();
        }
        let of_panel = &directions[before..];
        let cells =
            LeafCells::new(waiting.len(), |at| std::mem::replace(&mut rests[waiting[at]], Rest::new(Vec::new(), 0.0)));
        on_threads(threads, cells.len(), |at| cells.with(at, |rest| rest.subtract(of_panel)))?;
        for (&row, rest) in waiting.iter().zip(cells.into_values()) {
            rests[row] = rest;
        }
        waiting.retain(|&row| !rests[row].is_spent());
    }
    Ok(Orthogonalized { directions, coordinates: rests.into_iter().map(|rest| rest.coordinates).collect() })
}

/// Removes the components of a unit vector along some directions, and normalises the result.
fn orthogonal_to(directions: &[Vec<f64>], values: Vec<f64>) -> Vec<f64> {
    let mut rest = Rest::new(values, 1.0);
    rest.subtract(directions);
    let length = rest.left.sqrt();
    rest.values.iter_mut().for_each(|x| *x /= length);
    rest.values
}

/// Returns, for each row, the number of the first row that equals it.
fn first_equal(points: &Points, rests: &[Rest]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&a, &b| rests[a].square.total_cmp(&rests[b].square).then(a.cmp(&b)));
    let mut equal: Vec<usize> = (0..points.len()).collect();
    for run in order.chunk_by(|&a, &b| rests[a].square == rests[b].square) {
        for (at, &row) in run.iter().enumerate() {
            let before = run[..at].iter().find(|&&other| points.row(other) == points.row(row));
            equal[row] = before.map_or(row, |&other| equal[other]);
        }
    }
    equal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(count: usize, dimension: usize) -> Points {
        let stream = Stream::new(1, "span");
        let mut values: Vec<f64> =
            (0..count * dimension).map(|i| stream.normal(i as u64) + (i / dimension % 3) as f64).collect();
        // Row 5 equals row 2, and row 7 is the middle of rows 3 and 4.
        values.copy_within(2 * dimension..3 * dimension, 5 * dimension);
        (0..dimension).for_each(|j| {
            values[7 * dimension + j] = (values[3 * dimension + j] + values[4 * dimension + j]) / 2.0;
        });
        Points::new(values, dimension).unwrap()
    }

    #[test]
    fn distances_stay_and_centres_return() {
        let points = wide(40, 5_000);
        let span = Span::of((&points).into(), 1).unwrap().unwrap();
        assert_eq!(span.rows.dimension(), 37, "40 rows less their mean, one that is equal, one between others");
        let squared = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        for (a, b) in (0..40).flat_map(|a| (0..a).map(move |b| (a, b))) {
            let (before, after) = (squared(points.row(a), points.row(b)), squared(span.rows.row(a), span.rows.row(b)));
            assert!((after - before).abs() <= 1e-12 * before, "{a} {b}: {after} for {before}");
        }
        assert_eq!(span.rows.row(2), span.rows.row(5));
        let wide = span.widened(span.rows.values());
        for (found, expected) in wide.iter().zip(points.values()) {
            assert!((found - expected).abs() < 1e-12);
        }
        for threads in [2, 5] {
            assert_eq!(Span::of((&points).into(), threads).unwrap().unwrap().rows, span.rows);
        }
    }

    #[test]
    fn small_differences_of_long_rows_stay() {
        let stream = Stream::new(2, "span");
        let far: Vec<f64> = (0..5_000).map(|j| 1e6 * stream.normal(j)).collect();
        let near = |i: u64, j: usize| far[j] * (1.0 + 1e-4 * i as f64) + stream.normal(10_000 * (i + 1) + j as u64);
        let values = (0..30u64).flat_map(|i| (0..5_000).map(move |j| (i, j))).map(|(i, j)| near(i, j)).collect();
        let points = Points::new(values, 5_000).unwrap();
        let span = Span::of((&points).into(), 1).unwrap().unwrap();
        let squared = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        for a in 1..30 {
            let before = squared(points.row(a), points.row(0));
            assert!((squared(span.rows.row(a), span.rows.row(0)) / before - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn only_few_rows_of_many_columns_are_rewritten() {
        assert!(Span::of((&wide(40, 159)).into(), 1).unwrap().is_none());
        assert!(Span::of((&wide(40, 1_000)).into(), 1).unwrap().is_none(), "too few values to matter");
        let equal = Points::new(vec![1.5; 20 * 10_000], 10_000).unwrap();
        assert!(Span::of((&equal).into(), 1).unwrap().is_none(), "rows of one length");
        let mut values = vec![1.5; 20 * 10_000];
        values[..10_000].fill(2.5);
        let two = Points::new(values, 10_000).unwrap();
        let span = Span::of((&two).into(), 1).unwrap().unwrap();
        assert_eq!(span.rows.dimension(), 1);
        assert!((span.rows.row(0)[0] - span.rows.row(1)[0]).abs() - 100.0 < 1e-12);
        let wide = span.widened(&[span.rows.row(0)[0], span.rows.row(1)[0]]);
        assert!(wide.iter().zip(two.values()).all(|(found, expected)| (found - expected).abs() < 1e-14));
    }
}
