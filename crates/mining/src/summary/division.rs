//! Divides weighted points into k-d cells. Each division cuts the cell of the largest scatter, at its mean, along the
//! column in which it scatters most.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::rows::{RowMajor, Rows, Scalar};

/// Weighted points, in an order that divisions change.
#[derive(Debug)]
pub(super) struct Positions {
    dimension: usize,
    /// The coordinates, one row for each point.
    values: Vec<f64>,
    weights: Vec<f64>,
}

impl Positions {
    pub fn new(dimension: usize) -> Self {
        Self { dimension, values: Vec::new(), weights: Vec::new() }
    }

    /// The rows of a leaf, in stored units.
    pub fn of_leaf<T: Scalar>(rows: &Rows<T>, leaf: usize) -> Self {
        let (store, dimension) = (&rows.leaves[leaf].store, rows.dimension);
        let mut values = vec![0.0; store.len() * dimension];
        for (index, row) in values.chunks_exact_mut(dimension).enumerate() {
            store.read_row(&rows.units, index, row);
        }
        Self { dimension, values, weights: (0..store.len()).map(|index| store.weight(index)).collect() }
    }

    pub fn push(&mut self, position: &[f64], weight: f64) {
        self.values.extend_from_slice(position);
        self.weights.push(weight);
    }

    fn row(&self, index: usize) -> &[f64] {
        RowMajor::new(&self.values, self.dimension).row(index)
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.weights.swap(a, b);
        for j in 0..self.dimension {
            self.values.swap(a * self.dimension + j, b * self.dimension + j);
        }
    }

    /// Computes the cell of a range of points.
    fn cell(&self, range: Range<usize>) -> Cell {
        let rows = || {
            RowMajor::new(&self.values[range.start * self.dimension..range.end * self.dimension], self.dimension)
                .rows()
                .zip(&self.weights[range.clone()])
        };
        let mut mean = vec![0.0; self.dimension];
        let mut weight = 0.0;
        for (row, w) in rows() {
            weight += w;
            mean.iter_mut().zip(row).for_each(|(sum, x)| *sum += w * x);
        }
        mean.iter_mut().for_each(|sum| *sum /= weight);
        let mut scatters = vec![0.0; self.dimension];
        for (row, w) in rows() {
            for ((scatter, x), mean) in scatters.iter_mut().zip(row).zip(&mean) {
                *scatter += w * (x - mean) * (x - mean);
            }
        }
        let mut widest = 0;
        (1..self.dimension).for_each(|j| {
            if scatters[j] > scatters[widest] {
                widest = j
            }
        });
        Cell { scatter: scatters.iter().sum(), range, weight, mean, widest }
    }

    /// Partitions the points of a cell: points below its mean in its widest column come first. Returns the index at
    /// which the remaining points begin.
    fn part(&mut self, cell: &Cell) -> usize {
        let (mut from, mut to, column) = (cell.range.start, cell.range.end, cell.widest);
        let cut = cell.mean[column];
        while from < to {
            if self.row(from)[column] < cut {
                from += 1;
            } else {
                to -= 1;
                self.swap(from, to);
            }
        }
        from
    }
}

/// A range of points.
#[derive(Debug)]
struct Cell {
    range: Range<usize>,
    weight: f64,
    mean: Vec<f64>,
    /// The sum over the points of weight times squared distance from the mean.
    scatter: f64,
    /// The column with most of the scatter.
    widest: usize,
}

/// Points that are divided into ever smaller cells.
#[derive(Debug)]
pub(super) struct Division<'a> {
    positions: &'a mut Positions,
    cells: Vec<Cell>,
    /// The scatter of each cell that can be divided, as bits, which sort like the numbers. If several scatters are
    /// equal, the cell with the lower index comes first.
    widest: BinaryHeap<(u64, Reverse<usize>)>,
    scatter: f64,
}

impl<'a> Division<'a> {
    /// Starts with all points in one cell.
    pub fn new(positions: &'a mut Positions) -> Self {
        let mut division = Self { cells: Vec::new(), widest: BinaryHeap::new(), scatter: 0.0, positions };
        if !division.positions.weights.is_empty() {
            let cell = division.positions.cell(0..division.positions.weights.len());
            division.scatter = cell.scatter;
            division.widest.push((cell.scatter.to_bits(), Reverse(0)));
            division.cells.push(cell);
        }
        division
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// The total scatter within cells, up to rounding errors.
    pub fn scatter(&self) -> f64 {
        self.scatter
    }

    /// Divides the cell of the largest scatter. Returns false if no cell has a scatter above `bound`, or if no cell can
    /// be divided.
    pub fn divide_widest(&mut self, bound: f64) -> bool {
        while let Some((bits, Reverse(place))) = self.widest.pop() {
            if f64::from_bits(bits) <= bound {
                return false;
            }
            let cell = &self.cells[place];
            let (start, end) = (cell.range.start, cell.range.end);
            let cut = self.positions.part(cell);
            if cut == start || cut == end {
                // The points differ only by rounding.
                continue;
            }
            let (below, above) = (self.positions.cell(start..cut), self.positions.cell(cut..end));
            self.scatter = (self.scatter - (cell.scatter - (below.scatter + above.scatter))).max(0.0);
            self.widest.push((below.scatter.to_bits(), Reverse(place)));
            self.widest.push((above.scatter.to_bits(), Reverse(self.cells.len())));
            self.cells[place] = below;
            self.cells.push(above);
            return true;
        }
        false
    }

    /// Calls `each` with the weight and the mean of each cell, and returns the scatter within the cells.
    pub fn end(self, mut each: impl FnMut(f64, &[f64])) -> f64 {
        self.cells.iter().for_each(|cell| each(cell.weight, &cell.mean));
        self.cells.iter().map(|cell| cell.scatter).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scatter_within_cells_and_that_of_their_means_is_that_of_the_points() {
        let mut positions = Positions::new(2);
        for i in 0..500u32 {
            let x = f64::from(i * 7919 % 1009) / 100.0;
            positions.push(&[x, (x * x + f64::from(i % 13)).sin()], f64::from(i % 4 + 1));
        }
        let scatter = Division::new(&mut positions).scatter();
        let mut last = f64::INFINITY;
        for most in [1, 2, 10, 100, 400] {
            let mut division = Division::new(&mut positions);
            while division.len() < most && division.divide_widest(0.0) {}
            assert_eq!(division.len(), most);
            let told = division.scatter();
            let mut means = Positions::new(2);
            let within = division.end(|weight, mean| means.push(mean, weight));
            let between = Division::new(&mut means).scatter();
            assert!((within + between - scatter).abs() < 1e-12 * scatter, "{within} + {between} for {scatter}");
            assert!((told - within).abs() < 1e-12 * scatter && within < last);
            last = within;
        }
    }

    #[test]
    fn equal_points_are_one_cell() {
        let mut positions = Positions::new(1);
        (0..10).for_each(|i| positions.push(&[0.125 + f64::from(i / 5)], 0.25));
        let mut division = Division::new(&mut positions);
        while division.divide_widest(0.0) {}
        let mut found = Vec::new();
        assert_eq!(division.end(|weight, mean| found.push((weight, mean[0]))), 0.0);
        found.sort_by(|a, b| a.1.total_cmp(&b.1));
        assert_eq!(found, [(1.25, 0.125), (1.25, 1.125)]);
    }
}
