//! Computes accurate squared distances of sparse rows during clustering.
//!
//! Kernels ([`lehr_numerics::sparse`]) only compare distances. They subtract squared lengths, so a squared distance has
//! an error of a few units in the last place of these lengths. Reported values are computed from differences, as for
//! rows of numbers. Other distances whose value affects a result are computed in the same way. Spreads, the initial
//! centres of k-means, and membership within a radius use such distances. The columns in which a row is 0 contribute
//! the sum of the empty row, minus the terms of the few other columns. These terms are added and subtracted in twice
//! the precision, so no digits are lost.

use lehr_data::Sparse;
use lehr_numerics::compensated::Sum;

/// The contribution of columns in which a row is 0 counts as 0 below this share of the empty row's squared distance.
/// The error of a compensated sum is smaller than this share, even over millions of columns.
const RESIDUE: f64 = 1e-26;

/// Computes squared distances of sparse rows from one position.
#[derive(Debug)]
pub(crate) struct SparseDistance<'a> {
    origin: &'a [f64],
    center: Vec<f64>,
    /// The squared distance of the empty row, which is 0 in every column.
    empty: Sum,
}

impl<'a> SparseDistance<'a> {
    /// Prepares to compute distances from a position, whose coordinates are relative to the origin.
    pub fn to(origin: &'a [f64], center: &[f64]) -> Self {
        let mut empty = Sum::default();
        origin.iter().zip(center).for_each(|(zero, y)| empty.add(squared(0.0, *zero, *y)));
        Self { origin, center: center.to_vec(), empty }
    }

    /// Returns the squared distance of a row. The row is given by its columns and values, in the unit of the position.
    pub fn of(&self, row: impl Iterator<Item = (usize, f64)>) -> f64 {
        let (mut elsewhere, mut there) = (self.empty, 0.0);
        for (j, x) in row {
            let (zero, y) = (self.origin[j], self.center[j]);
            elsewhere.add(-squared(0.0, zero, y));
            there += squared(x, zero, y);
        }
        let elsewhere = elsewhere.value();
        if elsewhere <= RESIDUE * self.empty.value() { there } else { elsewhere + there }
    }

    /// Returns the squared distance of a row, accurate to ten digits. Plain sums are used unless they cancel. The row
    /// is given by its columns and values; the values are divided by `unit`.
    pub fn nearly(&self, columns: &[u32], values: &[f64], unit: f64) -> f64 {
        let (empty, mut elsewhere, mut there) = (self.empty.value(), 0.0, 0.0);
        for (&j, value) in columns.iter().zip(values) {
            let (zero, y) = (self.origin[j as usize], self.center[j as usize]);
            elsewhere += squared(0.0, zero, y);
            there += squared(value / unit, zero, y);
        }
        let found = (empty - elsewhere) + there;
        // The difference of two sums of n terms has an error of about n units in the last place of the larger sum.
        if found > empty * 1e-5 && found.is_finite() {
            found
        } else {
            self.of(columns.iter().zip(values).map(|(column, value)| (*column as usize, value / unit)))
        }
    }
}

/// Returns a squared difference. It is computed as for rows of numbers, so that the distance of a row from itself is 0.
fn squared(x: f64, zero: f64, y: f64) -> f64 {
    let apart = (x - zero) - y;
    apart * apart
}

/// Returns the columns of a row, and its values divided by `unit`.
pub(crate) fn entries(rows: &Sparse, index: usize, unit: f64) -> impl Iterator<Item = (usize, f64)> + '_ {
    let (columns, values) = rows.row(index);
    columns.iter().zip(values).map(move |(column, value)| (*column as usize, value / unit))
}

#[cfg(test)]
mod tests {
    use lehr_numerics::random::Stream;

    use super::*;

    #[test]
    fn distances_are_those_of_all_differences_and_0_from_a_row_itself() {
        let stream = Stream::new(5, "sparse distances");
        for offset in [0.0, 1.0, 1e6] {
            // Column 0 is `offset` plus a random number in every row. In the other columns, one value in ten is not 0.
            let dimension = 300;
            let row = |row: u64| -> Vec<f64> {
                let there = |j: u64| stream.uniform(row * 1000 + j) < 0.1;
                let value = |j: u64| stream.normal(row * 1000 + j);
                (0..dimension)
                    .map(|j| {
                        if j == 0 {
                            offset + value(0)
                        } else if there(j) {
                            value(j)
                        } else {
                            0.0
                        }
                    })
                    .collect()
            };
            let rows: Vec<Vec<f64>> = (0..20).map(row).collect();
            let mean = |j: usize| rows.iter().map(|row| row[j]).sum::<f64>() / rows.len() as f64;
            let origin: Vec<f64> = (0..dimension as usize).map(mean).collect();
            let from_origin = |row: &[f64]| -> Vec<f64> { row.iter().zip(&origin).map(|(x, o)| x - o).collect() };
            let there = |row: &[f64]| -> Vec<(usize, f64)> {
                row.iter().copied().enumerate().filter(|(_, x)| *x != 0.0).collect()
            };
            for a in &rows {
                let center = from_origin(a);
                let distance = SparseDistance::to(&origin, &center);
                assert_eq!(distance.of(there(a).into_iter()), 0.0, "offset {offset}");
                let (columns, values): (Vec<u32>, Vec<f64>) = there(a).iter().map(|(j, x)| (*j as u32, *x)).unzip();
                assert_eq!(distance.nearly(&columns, &values, 1.0), 0.0, "offset {offset}");
                for b in rows.iter().filter(|b| *b != a) {
                    let expected: f64 = from_origin(b).iter().zip(&center).map(|(x, y)| (x - y) * (x - y)).sum();
                    let found = distance.of(there(b).into_iter());
                    assert!((found - expected).abs() < 1e-13 * expected, "offset {offset}: {found} for {expected}");
                    let (columns, values): (Vec<u32>, Vec<f64>) = there(b).iter().map(|(j, x)| (*j as u32, *x)).unzip();
                    let nearly = distance.nearly(&columns, &values, 1.0);
                    assert!((nearly - expected).abs() < 1e-10 * expected, "offset {offset}: {nearly} for {expected}");
                }
            }
        }
    }
}
